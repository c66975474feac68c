"""From a meaning and a moment to days: what both policies read alike. What has a policy of its own is left to it."""

from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta

from everlore.text.dates import calendar
from everlore.text.dates.calendar import Span
from everlore.text.dates.expressions import Aside, Calendar, Decade, Fixed, Meaning, Part, Weekday, Yearly

# Eight years hold a 29 February even where a century has none.
_YEARS = range(9)
# Until when in the year "this winter" is the one that is not over, or was the last.
_WINTER_IS_OVER, _WINTER_IS_PAST = 2, 6


def resolve(meaning: Meaning, now: datetime, *, ahead: bool, broad: bool) -> Span | None:
    """The days that are meant; `ahead`: the coming one of what comes round again; `broad`: with the days that belong to it.

    Raises ValueError or OverflowError for what no calendar has.
    """
    today = now.date()
    match meaning:
        case Fixed(span=span):
            return span
        case Yearly():
            return _yearly(meaning, today, ahead, broad)
        case Weekday():
            return _weekday(meaning, today, ahead)
        case Calendar(unit=unit, offset=offset):
            return calendar.calendar(unit, (0 if ahead else -1) if offset is None else offset, today)
        case Decade(first=first):
            if first < 100:
                first += today.year // 100 * 100
                first -= 100 if first > today.year else 0
            return calendar.months(first, 1, 120)
        case _:
            return None


def possible(make: Callable[..., Span | None], *given: object) -> Span | None:
    """What `make` gives, or None for a date that no calendar has (31 February, the year 12,000)."""
    try:
        return make(*given)
    except (ValueError, OverflowError):
        return None


def narrowed(span: Span, part: Part) -> Span:
    """The part of `span`, in whole months where they come out even, else in days; a week stays whole."""
    start, end = span
    count = (end - start).days
    if count <= 7:
        return span
    kind, nth = part
    if kind == "week":
        first = (
            end - timedelta(days=7)
            if nth < 0
            else min(start + timedelta(days=7 * nth), end - timedelta(days=7))
        )
        return calendar.days(first, 7)
    of = 2 if kind == "half" else 3
    nth = nth if 0 <= nth < of else of - 1
    months = (end.year - start.year) * 12 + end.month - start.month
    if start.day == end.day == 1 and months % of == 0:
        return calendar.months(start.year, start.month + months * nth // of, months // of)
    return start + timedelta(days=count * nth // of), start + timedelta(days=count * (nth + 1) // of)


def beside(span: Span, aside: Aside) -> Span:
    """So much before or after a span, up to it."""
    if aside.before:
        return calendar.stepped(span[0], aside.unit, -aside.count), span[0]
    return span[1], calendar.stepped(span[1], aside.unit, aside.count)


def _yearly(one: Yearly, today: date, ahead: bool, broad: bool) -> Span | None:
    year = _year_meant(one, today, ahead)
    return year if year is None else (one.broad_of if broad and one.broad_of else one.span_of)(year)


def _year_meant(one: Yearly, today: date, ahead: bool) -> int | None:
    if one.year is not None or one.step is not None:
        year = one.year if one.year is not None else today.year + (one.step or 0)
        span = one.span_of(year)
        return year - 1 if _turns(span) and span[0] > today and not ahead else year
    if one.which == 0:
        in_last = _turns(one.span_of(today.year)) and today.month <= (
            _WINTER_IS_OVER if ahead else _WINTER_IS_PAST
        )
        return today.year - in_last
    if one.which == 1:
        return _first(one.span_of, (today.year + step for step in _YEARS), lambda span: span[0] > today)
    if one.which is None and ahead:
        return _first(one.span_of, (today.year - 1 + step for step in _YEARS), lambda span: span[1] > today)
    over = one.which == -1
    back = (today.year - step for step in _YEARS)
    return _first(one.broad_of or one.span_of, back, lambda span: (span[1] if over else span[0]) <= today)


def _first(
    span_of: Callable[[int], Span], years: Iterable[int], is_meant: Callable[[Span], bool]
) -> int | None:
    for year in years:
        span = possible(span_of, year)
        if span and is_meant(span):
            return year
    return None


def _turns(span: Span) -> bool:
    """Whether it ends in another year than it begins: winter does."""
    return (span[1] - timedelta(days=1)).year > span[0].year


def _weekday(one: Weekday, today: date, ahead: bool) -> Span:
    distance = one.day - today.weekday()
    if one.week is not None:
        return calendar.days(today + timedelta(days=distance + 7 * one.week))
    if one.which == 1:
        return calendar.days(today + timedelta(days=distance % 7 or 7))
    if one.which == -1 or (one.which is None and not ahead):
        return calendar.days(today - timedelta(days=-distance % 7 or 7))
    return calendar.days(today + timedelta(days=distance % 7 if ahead else distance))
