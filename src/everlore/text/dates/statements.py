"""The dates of a statement, resolved against the moment at which it was said: exact, each with a grain.

- Bounds are midnights in the time zone of `at`; clock times are read by `clock`.
- What comes round again (a weekday, a date without a year, a month, a holiday) lies ahead when the sentence looks ahead, and
  behind when it looks back: the caller says which (`ahead`). "Next", "last", "this" say it themselves.
- "Next Friday" is the first to come after today; "next week" begins on the coming Monday, "last summer" on the 1st of June.
- "In two weeks" and "two years ago" are one day; a count of months or years keeps the day and says it is only near.
- A lone month or year is a date only behind a preposition; decades and stretches ("the past three months") are none.
- "The end of the month" is its last day; early, mid and late are thirds.
- "Every Friday", "on Fridays" and "los viernes" are habits and no dates.
"""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Literal, TypeAlias

from everlore.text.dates import calendar
from everlore.text.dates.calendar import Span
from everlore.text.dates.expressions import (
    Aside,
    Calendar,
    Counted,
    Decade,
    Expression,
    Fixed,
    Grain,
    Meaning,
    NoDate,
    Part,
    Rolling,
    Yearly,
)
from everlore.text.dates.grammar import find, longest
from everlore.text.dates.resolve import beside, narrowed, resolve
from everlore.text.dates.surroundings import DatedText, aside_of
from everlore.text.folding import lowered

Side: TypeAlias = Literal["at", "since", "until"]
_GRAINS: dict[str, Grain] = {
    "week": "week", "fortnight": "week", "month": "month", "quarter": "season", "year": "year", "decade": "year",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SaidDate:
    """A time that a statement names: from `start` up to `end`, as exact as `grain`. `begin` and `stop` are its characters.

    `side`: "since" and "until" where a word in front says so ("by Friday" is "until").
    """

    start: datetime
    end: datetime
    grain: Grain
    side: Side
    begin: int
    stop: int


def read_dates(text: str, at: datetime, *, ahead: bool = False, english: bool = True) -> tuple[SaidDate, ...]:
    """The dates that `text` names, in order; of two that overlap the longer counts."""
    said = DatedText(lowered(text), text, english)
    dates = (_date_of(one, said, at, ahead) for one in longest(filter(_is_sure, find(said)), len(text)))
    return tuple(one for one in dates if one is not None)


def _is_sure(one: Expression) -> bool:
    match one.meaning:
        case Rolling() | Decade():
            return False
        case Fixed(sure=sure) | Yearly(sure=sure):
            return sure and not one.told_from_another
        case _:
            return not one.told_from_another


def _date_of(one: Expression, said: DatedText, at: datetime, ahead: bool) -> SaidDate | None:
    aside = aside_of(said, one.begin)
    try:
        span, grain = _read(one.meaning, at, ahead)
        if span and one.part:
            span, grain = _narrowed(span, grain, one.part)
        if span and aside and aside.count:
            span, grain = _beside(span, aside)
    except (ValueError, OverflowError):
        return None
    if span is None:
        return None
    start, end = (datetime.combine(day, time(), at.tzinfo) for day in span)
    if aside:
        return SaidDate(start, end, grain, "at", aside.begin, one.stop)
    return SaidDate(start, end, grain, _side(one), one.lead, one.stop)


def _side(one: Expression) -> Side:
    match one.side:
        case "since" | "starting":
            return "since"
        case "before" | "until" | "due":
            return "until"
        case "from" if one.lead < one.core:
            return "since"
        case _:
            return "at"


def _read(meaning: Meaning, at: datetime, ahead: bool) -> tuple[Span | None, Grain]:
    match meaning:
        case NoDate():
            return None, "day"
        case Counted(count=count, unit=unit):
            return calendar.days(_counted(count, unit, at)), _GRAINS.get(
                unit, "day"
            ) if unit in calendar.MONTHS else "day"
        case Fixed(grain=grain) | Yearly(grain=grain):
            return resolve(meaning, at, ahead=ahead, broad=False), grain
        case Calendar(unit=unit):
            return resolve(meaning, at, ahead=ahead, broad=False), _GRAINS.get(unit, "day")
        case _:
            return resolve(meaning, at, ahead=ahead, broad=False), "day"


def _counted(count: int, unit: calendar.Unit, at: datetime) -> date:
    if unit in {"hour", "minute"}:
        return (at + count * timedelta(minutes=60 if unit == "hour" else 1)).date()
    return calendar.stepped(at.date(), unit, count)


def _beside(span: Span, aside: Aside) -> tuple[Span, Grain]:
    """The very day where days are counted, else the whole stretch."""
    start, end = beside(span, aside)
    if aside.unit == "day":
        return calendar.days(start if aside.before else end - timedelta(days=1)), "day"
    return (start, end), _GRAINS.get(aside.unit, "day")


def _narrowed(span: Span, grain: Grain, part: Part) -> tuple[Span, Grain]:
    """The last day of a time where its end is named (Friday, of a week); else the part, with the grain it has left."""
    if part[0] == "end":
        return calendar.days(span[1] - timedelta(days=3 if grain == "week" else 1)), "day"
    start, end = narrowed(span, part)
    if (start, end) == span:
        return span, grain
    length = (end - start).days
    return (start, end), "week" if length < 28 else "month" if length < 32 else "season"
