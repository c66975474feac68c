"""Facts whose predicate is the verb or the noun that was said: what somebody does by habit, and what theirs is."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from everlore.models.rules.clauses import Clause, auxiliaries, child, is_negated
from everlore.models.rules.kin import PETS, ROLES
from everlore.models.rules.phrases import SaidFact, is_fit, listed, object_of, phrase_span
from everlore.models.rules.scene import Scene, kin_of, name_of, owner_of
from everlore.models.rules.wording import inflected
from everlore.text.lexicon import words

if TYPE_CHECKING:
    from spacy.tokens import Token

_VAGUE: Final = words("statements.vague", "en") | words("statements.referring", "en")
# Verbs that tell of no habit, or of one that has a predicate of its own.
_NO_HABIT: Final = frozenset[str]().union(
    *(words(f"statements.{one}", "en") for one in
      ("passing", "light", "reporting", "liking", "wanting", "deciding", "no_activity", "happening"))
)  # fmt: skip
_NO_DEED: Final = frozenset[str]().union(
    *(words(f"statements.{one}", "en") for one in ("passing", "reporting", "liking", "deciding", "light"))
)
_COPULAS: Final = words("statements.copulas", "en")
_AGE: Final = frozenset({"old", "year", "years"})


def habit(head: "Token", subject: str, frames: "frozenset[str]") -> Iterator[SaidFact]:
    """ "I design lighting", "she wears glasses", "he drinks decaf": a present tense with a thing that is told."""
    if head.tag_ in {"VBP", "VBZ"} and head.lemma_.lower() not in _NO_HABIT | frames:
        yield from _done_with(head, subject, inflected(head.lemma_.lower()))


def deed(head: "Token", subject: str) -> Iterator[SaidFact]:
    """ "He engraved a tiny fish", "Inês wants a light for the water": what was done once, or is wanted, with a thing that is told
    from others."""
    lemma = head.lemma_.lower()
    if (head.tag_ == "VBD" and lemma not in _NO_DEED) or (head.tag_ in {"VBP", "VBZ"} and lemma == "want"):
        predicate = head.lower_ if head.tag_ == "VBD" else inflected(lemma)
        for said in _done_with(head, subject, predicate):
            if said.is_name or " " in said.object:
                yield said


def _done_with(head: "Token", subject: str, predicate: str) -> Iterator[SaidFact]:
    if head.lemma_.lower() in _COPULAS or is_negated(head) or auxiliaries(head):
        return
    if child(head, "prt", "ccomp", "dative", "xcomp") is not None:
        return
    for thing in (one for one in head.children if one.dep_ == "dobj"):
        for one in listed(thing):
            if (
                is_fit(one, "anything")
                and one.lemma_.lower() not in _VAGUE
                and child(one, "relcl") is None
                and not any(part.dep_ == "poss" or part.tag_ == "PRP$" for part in one.subtree)
            ):
                said = object_of(one, subject, predicate)
                if said is not None:
                    yield said


def of_owner(clause: Clause, scene: Scene) -> Iterator[SaidFact]:
    """ "My laptop is a ThinkPad", "my birthday is on 12 May", "Anna's car is called Torsten", "my sister's name is Emma"."""
    subject, head = clause.subject, clause.head
    whose = child(subject, "poss") if subject is not None else None
    if (
        subject is None
        or whose is None
        or next(iter(auxiliaries(head)), head).tag_ not in {"VBZ", "VBP"}
        or is_negated(head)
        or head.lemma_ not in {"be", "call"}
    ):
        return
    if subject.lower_ == "name" and kin_of(whose) is None and whose.lower_ not in {"my", "our"}:
        return
    owner = scene.speaker if whose.lower_ in {"my", "our"} else _named(whose, scene)
    value = clause.child("attr", "oprd")
    if owner is None or kin_of(subject) is not None or subject.pos_ != "NOUN" or subject.tag_ == "NNS":
        return
    if subject.lemma_.lower() in {"birthday", "bday"}:
        yield from _birthday(clause, owner)
    elif (
        value is not None
        and value.pos_ == "PROPN"
        and subject.lemma_.lower() not in _VAGUE | PETS | ROLES.keys() | {"name"}
    ):
        begin, stop = phrase_span(value)
        text = value.doc[begin:stop].text
        if any(one.lower_ in {"favorite", "favourite", "fave", "best"} for one in subject.children):
            return
        noun = "_".join(
            [*(one.lower_ for one in subject.lefts if one.dep_ == "compound"), subject.lemma_.lower()]
        )
        yield SaidFact(owner, f"has_{noun}", text, begin, stop, True)


def _named(whose: "Token", scene: Scene) -> str | None:
    if kin_of(whose) is not None:
        owner = owner_of(whose, scene)
        return f"{scene.speaker if owner == 'The user' else owner}'s {whose.lower_}" if owner else None
    return name_of(whose, scene.known)


def _birthday(clause: Clause, owner: str) -> Iterator[SaidFact]:
    """The day as it is said, whatever the year."""
    dates = [one for one in clause.words if one.ent_type_ == "DATE" and one.i > clause.head.i]
    if any(one.like_num or any(map(str.isdigit, one.text)) for one in dates):
        begin, stop = dates[0].i, dates[-1].i + 1
        if dates[0].lower_ == "the" and stop - begin > 1:
            begin += 1
        yield SaidFact(owner, "born_on", dates[0].doc[begin:stop].text, begin, stop)


def age(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[SaidFact]:
    """ "I turned 34", "she is 64", "Max is four years old"."""
    ahead = any(
        one.ent_type_ in {"DATE", "TIME"} and one.dep_ != "attr" and one.lower_ not in _AGE
        for one in head.subtree
        if not one.like_num
    )
    several = clause.subject is not None and clause.subject.lower_ == "we"
    held = any(one.dep_ in {"prep", "mark"} and one.i < head.i for one in head.children)  # "till I am 85"
    if (
        is_negated(head)
        or several
        or held
        or (head.lemma_ == "be" and (ahead or head.tag_ not in {"VBP", "VBZ"}))
    ):
        return
    value = child(head, "attr", "acomp", "dobj", "oprd", "npadvmod")
    if value is None:
        return
    number = value if value.like_num else next((one for one in value.subtree if one.like_num), None)
    said = value.like_num or {value.lower_, *(one.lower_ for one in value.children)} & _AGE
    alone = value.like_num and all(
        one.dep_ in {"cc", "conj", "punct", "prep", "advmod"} for one in value.children
    )
    if (
        number is None
        or not said
        or (value.like_num and not alone)
        or (value.lower_ != "old" and not value.like_num)
    ):
        return
    plain = number.text.isdigit() and 0 < int(number.text) < 120
    if not plain and not (number.is_alpha and said):
        return
    stop = value.i + 1 if value.lower_ == "old" else number.i + 1
    yield SaidFact(subject, "age", number.doc[number.i : stop].text, number.i, stop)
