"""The dates of a clause: what is told of is turned back by "did" and ahead by "will", and a relative date is written out."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from everlore.models.rules.clauses import Clause, auxiliaries
from everlore.text.dates import SaidDate, read_dates
from everlore.text.lexicon import words

if TYPE_CHECKING:
    from spacy.tokens import Token

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_LONE_DAY = re.compile(
    r"\bthe (?:[12]?\d|3[01])(?:st|nd|rd|th)\b(?! (?:of|floor|time|place|century|grade|edition|birthday|anniversary))"
)
_MINUTES = re.compile(r"\b(?:minutes?|hours?|mins?|seconds?)\b")
_SINCE = re.compile(r"\bsince\b")
_BACK: Final = frozenset({"VBD", "VBN"})
_BEFORE_A_DATE: Final = words("statements.before_a_date", "en")


@dataclass(frozen=True, slots=True)
class Time:
    """A date of a clause. `words`: the indices of its words; `written`: what a statement says instead, or None where the words
    say it themselves."""

    said: SaidDate
    words: frozenset[int]
    written: str | None


@dataclass(frozen=True, slots=True)
class Times:
    """`unclear`: a day is named whose month only the conversation knows."""

    dates: tuple[Time, ...] = ()
    unclear: bool = False

    @property
    def first(self) -> datetime | None:
        """When it happens or happened, as far as that is one moment."""
        return next((one.said.start for one in self.dates if one.said.side != "until"), None)

    def at(self, word: int) -> Time | None:
        return next((one for one in self.dates if word in one.words), None)


def times_of(clause: Clause, at: datetime) -> Times:
    text = clause.head.doc.text
    inside = [one for one in clause.words if one.pos_ != "SPACE"]
    ahead = looks_ahead(clause)
    back = {(one.begin, one.stop): one for one in read_dates(text, at)} if ahead else {}
    said = [_since(one, back, text, at) for one in read_dates(text, at, ahead=ahead)]
    found = [_time(date, inside) for date in said if not _MINUTES.search(text[date.begin : date.stop])]
    dates = tuple(one for one in found if one.words)
    covered = {place for one in dates for place in range(one.said.begin, one.said.stop)}
    lone = any(
        match.start() not in covered and any(one.idx == match.start() for one in inside)
        for match in _LONE_DAY.finditer(text)
    )
    return Times(dates, lone)


def _since(date: SaidDate, back: "dict[tuple[int, int], SaidDate]", text: str, at: datetime) -> SaidDate:
    """ "Since October" lies behind, whatever the verb says."""
    led = _SINCE.search(text[max(0, date.begin - 6) : date.stop]) is not None
    return back.get((date.begin, date.stop), date) if led and date.start > at else date


def looks_ahead(clause: Clause) -> bool:
    """Whether what comes round again is still to come: everything but a past tense looks ahead."""
    head = clause.head
    if head.tag_ in _BACK:
        return not (
            head.tag_ == "VBD" or any(one.lemma_ == "have" or one.tag_ == "VBD" for one in auxiliaries(head))
        )
    return not any(one.tag_ == "VBD" for one in auxiliaries(head))


def _time(date: SaidDate, inside: "Sequence[Token]") -> Time:
    words = [one for one in inside if date.begin <= one.idx < date.stop]
    if not words:
        return Time(date, frozenset(), None)
    said = words[0].doc.text[date.begin : date.stop]
    written = None if _YEAR.search(said) else _lead(words[0], date) + in_words(date)
    return Time(date, frozenset(one.i for one in words), written)


def _lead(first: "Token", date: SaidDate) -> str:
    """The preposition of a date that is written out, where the words before have none."""
    before = first.nbor(-1) if first.i else None
    said = first.lower_
    if date.side == "since":
        return (
            ""
            if before is not None and before.lower_ in {"since", "from", "starting"}
            else f"{said if said in {'since', 'from'} else 'since'} "
        )
    if date.side == "until":
        return (
            ""
            if before is not None and before.lower_ in _BEFORE_A_DATE
            else f"{said if said in {'until', 'till', 'by', 'before'} else 'by'} "
        )
    if before is not None and (before.lower_ in _BEFORE_A_DATE or before.text == "("):
        return ""
    return "on " if date.grain in {"day", "moment"} else "in "


def in_words(date: SaidDate) -> str:
    """As a statement writes it."""
    start = date.start
    match date.grain:
        case "week":
            return f"the week of {start.day} {start:%B %Y}"
        case "month":
            return f"{start:%B %Y}"
        case "season":
            return f"{_SEASONS.get(start.month, 'spring')} {start:%Y}"
        case "year":
            return f"{start:%Y}"
        case _:
            return f"{start.day} {start:%B %Y}"


_SEASONS: Final = {3: "spring", 6: "summer", 9: "autumn", 12: "winter"}
