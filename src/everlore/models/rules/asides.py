"""What is said on the way, without a verb: "Ben, 34,", "the curator, Inês Carvalho", "Ben, the plumber"."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from everlore.models.rules.clauses import child
from everlore.models.rules.kin import PROFESSIONS
from everlore.models.rules.phrases import (
    SaidFact,
    called,
    is_fit,
    name_span,
    object_of,
    phrase_span,
    slot,
)
from everlore.models.rules.scene import Scene, name_of
from everlore.text.lexicon import words

if TYPE_CHECKING:
    from spacy.tokens import Token

_DAYS: Final = words("statements.capitalised", "en")
_CLOSES: Final = frozenset({",", ")", ".", ";"})


def asides(said: "Iterable[Token]", scene: Scene) -> Iterator[SaidFact]:
    for token in said:
        if token.pos_ == "NOUN" and token.lower_ in PROFESSIONS and child(token, "poss") is None:
            for name in (one for one in called(token) if one.lower_ not in _DAYS):
                yield from _works(token, name.doc[slice(*name_span(name))].text)
        if (name := _somebody(token, scene)) is not None:
            yield from _age(token, name)
            for job in (one for one in token.children if one.dep_ == "appos" and one.lower_ in PROFESSIONS):
                if child(job, "poss") is None:
                    yield from _works(job, name)


def _somebody(token: "Token", scene: Scene) -> str | None:
    known = token.ent_type_ == "PERSON" or token.lower_ in scene.known
    return (
        name_of(token, scene.known) if known and token.pos_ == "PROPN" and token.dep_ != "compound" else None
    )


def _works(job: "Token", name: str) -> Iterator[SaidFact]:
    begin, stop = phrase_span(job)
    if any(one.lower_ in {"not", "no"} for one in job.doc[max(0, begin - 2) : begin]):
        return
    yield SaidFact(name, "works_as", job.doc[begin:stop].text, begin, stop)
    for place in slot(job, ("at", "for")):
        if is_fit(place, "name") and (said := object_of(place, name, "works_at")) is not None:
            yield said


def _age(token: "Token", name: str) -> Iterator[SaidFact]:
    if token.dep_ not in {"nsubj", "nsubjpass", "attr", "appos"}:
        return  # "a seat next to Ben, 34, by the window"
    behind = token.doc[token.i + 1 : token.i + 4]
    if len(behind) < 2 or behind[0].text not in {",", "("} or not behind[1].is_digit:
        return
    if 0 < int(behind[1].text) < 120 and (len(behind) == 2 or behind[2].text in _CLOSES):
        yield SaidFact(name, "age", behind[1].text, behind[1].i, behind[1].i + 1)
