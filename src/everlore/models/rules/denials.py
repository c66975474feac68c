"""Denials of everything: "I'm not allergic to anything", "we have no pets at all". All of a predicate ends."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from everlore.models.rules.clauses import Clause, child, is_negated
from everlore.models.rules.facts import subjects
from everlore.models.rules.phrases import SaidFact, slot
from everlore.models.rules.scene import Scene
from everlore.models.rules.wording import Wording

if TYPE_CHECKING:
    from spacy.tokens import Token

# What there is none of, by the word that governs it: its slots, and the nouns that say the same as "anything".
_DENIED: Final[dict[str, tuple[tuple[str, tuple[str, ...], frozenset[str]], ...]]] = {
    "allergic": (("allergic_to", ("to",), frozenset({"food", "substance", "thing"})),),
    "have": (("allergic_to", ("dobj",), frozenset({"allergy"})), ("has_pet", ("dobj",), frozenset({"pet", "animal"}))),
    "get": (("allergic_to", ("dobj",), frozenset({"allergy"})), ("has_pet", ("dobj",), frozenset({"pet", "animal"}))),
    "speak": (("speaks", ("dobj",), frozenset({"language"})),),
    "play": (("plays", ("dobj",), frozenset({"instrument"})),),
    "member": (("member_of", ("of",), frozenset({"club", "party", "choir", "team", "group"})),),
}  # fmt: skip
_EXCEPT: Final = frozenset(
    {"but", "except", "besides", "apart", "other", "save", "else", "new", "just", "only"}
)
_PLACED: Final = frozenset({"with", "in", "on", "here"})


def denials(clause: Clause, wording: Wording, scene: Scene) -> Iterator[SaidFact]:
    """What the clause denies altogether, as facts that end; their object is the word for everything."""
    told_apart = any(one.dep_ == "prep" and one.lower_ in _PLACED for one in clause.head.subtree)
    if told_apart or any(one.lower_ in _EXCEPT for one in clause.head.subtree):
        return
    word = child(clause.head, "acomp", "attr") if clause.head.lemma_ == "be" else clause.head
    for predicate, slots, nouns in _DENIED.get(word.lemma_.lower(), ()) if word is not None else ():
        for thing in slot(word, slots) if word is not None else ():
            said = _everything(thing, nouns)
            # Exactly one of the two says no: not "allergic to anything", nor "not allergic to nothing".
            if said is not None and said.lower().startswith("no") != is_negated(clause.head):
                for subject in subjects(clause, wording, scene):
                    yield SaidFact(subject, predicate, said, thing.left_edge.i, thing.i + 1, ended=True)


def _everything(thing: "Token", nouns: frozenset[str]) -> str | None:
    """ "anything", "nothing", "any pets", "no allergies", as it is said."""
    if thing.lower_ in {"anything", "nothing"} and "pet" not in nouns and "allergy" not in nouns:
        return thing.text
    lead = next((one for one in thing.children if one.lower_ in {"any", "no"}), None)
    return (
        thing.doc[lead.i : thing.i + 1].text if lead is not None and thing.lemma_.lower() in nouns else None
    )
