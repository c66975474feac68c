"""Names put right in the tree: the small pipeline reads "My cousin Tom works" as two subjects, and "Nils lives" as a plural."""

from typing import TYPE_CHECKING, Final

from everlore.models.rules.clauses import opens
from everlore.models.rules.kin import ROLES
from everlore.text.lexicon import words

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_ARGUMENTS: Final = frozenset({"nsubj", "nsubjpass", "dobj", "pobj", "attr", "conj", "poss", "dative"})
_NO_NAMES: Final = words("starters") | words("small", "en")
_NO_OPENERS: Final = words("no_names") | words("statements.capitalised", "en")
_FINITE: Final = frozenset({"VBZ", "VBD"})


def mend(doc: "Doc") -> None:
    for token in doc[:-1]:
        behind = token.nbor(1)
        if token.text in ROLES and token.pos_ in {"NOUN", "PROPN"} and _may_be_name(behind):
            _joined(token, behind)
        elif token.i and token.lower_ in {"called", "named"}:
            _under_its_noun(token)
        elif (
            opens(token)
            and _may_be_name(token)
            and token.lower_ not in _NO_OPENERS
            and _is_subject(token, behind)
        ):
            _named(token)


def _may_be_name(token: "Token") -> bool:
    owns = token.i + 1 < len(token.doc) and token.nbor(1).tag_ == "POS"
    large = token.text[:1].isupper() and token.is_alpha and (len(token) < 3 or not token.text.isupper())
    return large and not owns and token.lower_ not in _NO_NAMES


def _named(token: "Token") -> None:
    token.tag_, token.pos_ = "NNP", "PROPN"


def _joined(role: "Token", name: "Token") -> None:
    """The role is what the verb governs, and the name stands beside it."""
    if name.dep_ == "compound" and name.head.i == name.i + 1 and _may_be_name(name.head):
        name = name.head
    if name.head == name or role.head == role or name.dep_ in {"attr", "oprd"}:
        return
    outer = role if name.head == role or (role.head != name and role.dep_ in _ARGUMENTS) else name
    if outer == name and (name.head == role or name.head.is_ancestor(role) is False):
        return
    head, label = outer.head, outer.dep_
    role.head, role.dep_ = head, label
    for one in list(name.children):
        if one.dep_ not in {"compound", "nmod"} and one != role:
            one.head = role
    name.head, name.dep_ = role, "appos"
    _named(name)


def _under_its_noun(naming: "Token") -> None:
    """ "A parrot called Captain", read as a captain that parrots."""
    noun, name = naming.nbor(-1), naming.nbor(1)
    if not (noun.pos_ == "NOUN" and _may_be_name(name) and naming.head == name and noun.head == naming):
        return
    noun.head, noun.dep_ = name.head, name.dep_
    for one in list(name.lefts):
        if one not in (naming, noun):
            one.head = noun
    naming.head, naming.dep_ = noun, "acl"
    name.head, name.dep_ = naming, "oprd"


def _is_subject(token: "Token", behind: "Token") -> bool:
    """A bare word that opens its sentence and does something by itself: no plural "lives", no thing is one of two with "I"."""
    if behind.lower_ == "and" and behind.i + 1 < len(token.doc) and behind.nbor(1).lower_ == "i":
        return token.dep_ in {"nsubj", "nsubjpass"}
    if token.dep_ in {"nsubj", "nsubjpass"}:
        return token.tag_ == "NNS" and token.head.tag_ == "VBZ"
    alone = behind.tag_ in _FINITE and token.head == behind and token.dep_ in {"amod", "compound", "npadvmod"}
    if alone and not any(one.dep_ in {"nsubj", "nsubjpass", "expl"} for one in behind.children):
        token.dep_ = "nsubj"
        return True
    return False
