"""What somebody likes, owns and is: facts that no single argument of a verb shows."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from everlore.models.rules.clauses import Clause, auxiliaries, child, is_negated
from everlore.models.rules.habits import age, of_owner
from everlore.models.rules.kin import PETS
from everlore.models.rules.phrases import (
    NOTHING,
    Said,
    called,
    is_fit,
    is_the,
    listed,
    name_span,
    object_of,
    phrase_span,
    slot,
)
from everlore.models.rules.scene import Scene, kin_of, name_of
from everlore.text.lexicon import words

if TYPE_CHECKING:
    from spacy.tokens import Token


_DISLIKES: Final = frozenset({"hate", "dislike", "detest", "loathe"})
TASTES: Final = frozenset({"love", "like", "enjoy", "adore", "prefer", *_DISLIKES})


def taste(head: "Token", subject: str) -> Iterator[Said]:
    lemma = head.lemma_.lower()
    if head.tag_ not in {"VBP", "VBZ", "VB"} or any(
        one.lower_ in {"did", "to", "used"} for one in auxiliaries(head)
    ):
        return
    predicate = "dislikes" if lemma in _DISLIKES else "prefers" if lemma == "prefer" else "likes"
    over = is_negated(head) and any(one.lower_ in {"more", "longer", "anymore"} for one in head.subtree)
    if is_negated(head) and not over:
        if predicate != "likes":
            return
        predicate = "dislikes"
    for one in () if (thing := child(head, "dobj")) is None else listed(thing):
        fits = is_fit(one, "anything") and one.lemma_.lower() not in NOTHING and kin_of(one) is None
        if fits and child(one, "relcl") is None and (said := object_of(one, subject, predicate)) is not None:
            yield replace(said, ended=over)
    doing = child(head, "xcomp")
    for one in (
        ()
        if doing is None
        else (doing, *(part for part in doing.children if part.dep_ == "conj" and part.pos_ == "VERB"))
    ):
        if one.tag_ == "VBG" and (span := _activity(one)) is not None:
            yield Said(subject, predicate, one.doc[span[0] : span[1]].text, *span)


_NO_ACTIVITY: Final = words("statements.no_activity", "en")


def _activity(doing: "Token") -> tuple[int, int] | None:
    """ "hiking", "playing the piano", as far as it says what is done at all."""
    if doing.lemma_ in _NO_ACTIVITY:
        return None
    stop = doing.i + 1
    for one in doing.rights:
        if one.dep_ in {"cc", "conj", "punct", "npadvmod", "advmod", "advcl"}:
            break
        fits = one.dep_ in {"dobj", "prt", "prep", "xcomp"} and one.left_edge.i == stop
        if not fits or any(
            part.pos_ == "PRON" or (part.pos_ == "DET" and part.lower_ not in {"the", "a", "an"})
            for part in one.subtree
        ):
            return None
        stop = one.right_edge.i + 1
    return (
        (doing.i, stop)
        if stop - doing.i < 6
        and not any(one.pos_ == "SCONJ" or one.dep_ == "relcl" for one in doing.doc[doing.i : stop])
        else None
    )


# --- what is owned, what somebody is -----------------------------------------------------------------------


def _pets(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    things = slot(head, ("with",)) if head.lemma_ == "live" else slot(head, ("dobj",))
    if is_negated(head) or (head.lemma_ in {"get", "buy"} and head.tag_ not in {"VBD", "VBN"}):
        return
    for one in (part for thing in things for part in listed(thing)):
        if one.lemma_.lower() not in PETS or kin_of(one) is not None:
            continue
        if names := called(one):
            for name in names:
                yield Said(subject, "has_pet", name.text, name.i, name.i + 1, True)
        elif (
            one.tag_ == "NN" and not is_the(one) and (said := object_of(one, subject, "has_pet")) is not None
        ):
            yield said


def _is(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    if head.tag_ not in {"VBP", "VBZ"} or head != clause.head:
        return
    adjective, noun, negated = child(head, "acomp"), child(head, "attr"), is_negated(head)
    if adjective is not None and adjective.lower_ == "allergic":
        for one in (part for token in slot(adjective, ("to",)) for part in listed(token)):
            if (
                said := object_of(one, subject, "allergic_to")
            ) is not None and one.lemma_.lower() not in NOTHING:
                yield replace(said, ended=negated)
    for origin in slot(head, ("from",)):
        if (
            not negated
            and origin.ent_type_ == "GPE"
            and (said := object_of(origin, subject, "comes_from")) is not None
        ):
            yield said
    if noun is None or negated:
        return
    if noun.lemma_.lower() in {"fan", "lover"}:
        for one in (part for token in slot(noun, ("of",)) for part in listed(token)):
            if not is_the(one) and (said := object_of(one, subject, "likes")) is not None:
                yield said
    yield from _profession(noun, subject, clause)


def _profession(noun: "Token", subject: str, clause: Clause) -> Iterator[Said]:
    if noun.lemma_.lower() not in words("statements.professions", "en") or noun.pos_ not in {"NOUN", "PROPN"}:
        return
    if any(
        one.dep_ == "poss"
        or one.lower_ in {"the", "no", "such", "great", "good", "real", "former", "best", "bit"}
        for one in noun.children
    ):
        return
    begin, stop = phrase_span(noun)
    yield Said(subject, "works_as", noun.doc[begin:stop].text, begin, stop)
    for place in slot(noun, ("at", "for")):
        if is_fit(place, "name") and (said := object_of(place, subject, "works_at")) is not None:
            yield said


_KEEN: Final = {
    "passionate": ("about",),
    "crazy": ("about",),
    "obsessed": ("with",),
    "interested": ("in",),
    "fond": ("of",),
    "be": ("into",),
}


def _keen(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    """ "I am passionate about pottery", "she is into climbing"."""
    word = child(head, "acomp") or head
    if head.tag_ == "VBD" or is_negated(head) or any(one.tag_ == "VBD" for one in auxiliaries(head)):
        return
    for one in (
        part
        for token in slot(word, _KEEN.get(word.lemma_.lower(), _KEEN.get(word.lower_, ())))
        for part in listed(token)
    ):
        if is_fit(one, "anything") and (said := object_of(one, subject, "likes")) is not None:
            yield said


_SPELLED: Final = {"color": "colour", "flavor": "flavour"}


def _titled(said: Said, token: "Token") -> Said:
    """With the small words that a title holds: "The Station at Dusk"."""
    begin, stop, doc = said.begin, said.stop, token.doc
    while stop + 1 < len(doc) and doc[stop].pos_ in {"ADP", "DET"} and doc[stop + 1].text[:1].isupper():
        stop += 2
    if begin and doc[begin - 1].text == "The":
        begin -= 1
    return replace(said, object=doc[begin:stop].text, begin=begin, stop=stop) if said.is_name else said


_MAIL: Final = frozenset({"email", "e-mail", "mail"})
_PHONE: Final = frozenset({"phone", "number", "mobile"})


def _contact(clause: Clause, scene: Scene) -> Iterator[Said]:
    """ "My e-mail is lea@nord.example", "Mia's number is 555 010 2030"."""
    subject, doc = clause.subject, clause.head.doc
    whose = child(subject, "poss") if subject is not None else None
    if subject is None or whose is None or clause.head.lemma_ != "be" or is_negated(clause.head):
        return
    owner = scene.speaker if whose.lower_ in {"my", "our"} else name_of(whose, {*scene.known, whose.lower_})
    behind = [one for one in doc[clause.head.i + 1 :] if one in clause.words]
    mail = next((one for one in behind if one.like_email), None)
    digits = [one for one in behind if sum(map(str.isdigit, one.text)) > 1 or one.text in {"-", "+"}]
    said = {one.lower_ for one in (subject, *subject.children)}
    if owner and mail is not None and said & {*_MAIL, "address"}:
        yield Said(owner, "email", mail.text, mail.i, mail.i + 1)
    elif (
        owner and digits and said & _PHONE and sum(map(str.isdigit, "".join(one.text for one in digits))) > 5
    ):
        begin, stop = digits[0].i, digits[-1].i + 1
        yield Said(owner, "phone", doc[begin:stop].text, begin, stop)


def of_possession(clause: Clause, scene: Scene) -> Iterator[Said]:
    """What a clause says of something that is somebody's: their favourites, how they are reached."""
    yield from favourites(clause, scene)
    yield from _contact(clause, scene)
    yield from of_owner(clause, scene)


_BONDS: Final = {"engaged": "engaged_to", "married": "married_to", "divorced": "married_to"}


def _bond(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    """ "Ola and I got married", "I am engaged to Ola"; of two the speaker is the subject."""
    word = next((one for one in (head, *head.children) if one.lower_ in _BONDS), None)
    first = clause.subject
    if word is None or first is None or is_negated(head):
        return
    others = [one for one in (first, *first.children) if one == first or one.dep_ == "conj"]
    if subject != scene.speaker and any(one.lower_ in {"i", "we"} for one in others):
        return
    others += [one for part in (head, word) for one in slot(part, ("to", "with"))]
    before = first.doc[first.i - 2 : first.i]
    others += [before[0]] if len(before) == 2 and before[1].lower_ == "and" else []
    for one in others:
        if one.pos_ == "PROPN" and name_of(one, {*scene.known, one.lower_}):
            begin, stop = name_span(one)
            said = one.doc[begin:stop].text
            if said == subject:
                continue
            yield Said(subject, _BONDS[word.lower_], said, begin, stop, True, word.lower_ == "divorced")


def favourites(clause: Clause, scene: Scene) -> Iterator[Said]:
    """ "My favourite band is Low", "Blue is my favourite colour"."""
    subject, complement = clause.subject, clause.child("attr", "acomp")
    if (
        clause.head.lemma_ != "be"
        or clause.head.tag_ == "VBD"
        or subject is None
        or complement is None
        or is_negated(clause.head)
    ):
        return
    for kind, value in ((subject, complement), (complement, subject)):
        adjective = next(
            (one for one in kind.children if one.lower_ in {"favorite", "favourite", "fave"}), None
        )
        whose = child(kind, "poss")
        if (
            adjective is None
            or whose is None
            or kind.pos_ != "NOUN"
            or kind.tag_ == "NNS"
            or value.pos_ not in {"NOUN", "PROPN", "ADJ"}
        ):
            continue
        owner = scene.speaker if whose.lower_ in {"my", "our"} else name_of(whose, scene.known)
        if (
            owner
            and (not is_the(value) or value.pos_ == "PROPN")
            and value.lemma_.lower() not in NOTHING
            and (
                said := object_of(value, owner, f"favourite_{_SPELLED.get(kind.lemma_, kind.lemma_.lower())}")
            )
        ):
            yield _titled(said, value)


_Rule: TypeAlias = "Callable[[Token, str, Clause, Scene], Iterator[Said]]"
RULES: Final[tuple[tuple[frozenset[str], _Rule], ...]] = (
    (frozenset({"have", "own", "get", "adopt", "buy", "live"}), _pets),
    (frozenset({"be"}), _is),
    (frozenset({"be", "turn"}), age),
    (frozenset({"be", "interest", "obsess"}), _keen),
    (frozenset({"be", "get", "marry", "engage", "divorce"}), _bond),
)
