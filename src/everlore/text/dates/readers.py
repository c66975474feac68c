"""Readers: from a match of one kind of expression to what it means; None where it is none of that kind after all."""

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta

from everlore.text.dates import calendar
from everlore.text.dates import vocabulary as v
from everlore.text.dates.calendar import Span
from everlore.text.dates.expressions import (
    Calendar,
    Counted,
    Decade,
    Fixed,
    Grain,
    Meaning,
    NoDate,
    Rolling,
    Weekday,
    Which,
    Yearly,
)
from everlore.text.dates.surroundings import DatedText, count_of, is_led, part_of
from everlore.text.dates.vocabulary import of, pattern

Match = re.Match[str]
_WHICH: Mapping[str, Which] = {
    "last": -1, "over": -1, "year_last": -1, "week_last": -1, "this": 0, "year_this": 0, "week_this": 0,
    "next": 1, "coming": 1, "year_next": 1, "week_next": 1,
}  # fmt: skip
_OF_YEARS, _OF_WEEKS = ("year_last", "year_this", "year_next"), ("week_last", "week_this", "week_next")


def group(match: Match, name: str) -> str | None:
    return match[name] if name in match.re.groupindex else None


def which_of(
    match: Match, names: tuple[str, ...] = ("last", "over", "this", "next", "coming")
) -> Which | None:
    """Which one is said: -1 the last, 0 this one, 1 the next; None where nothing says it."""
    said = next((name for name in names if group(match, name)), None)
    return None if said is None else _WHICH[said]


def read_nothing(match: Match, said: DatedText) -> Meaning:
    return NoDate()


def read_iso(match: Match, said: DatedText) -> Meaning:
    year, month, day = int(match["y"]), int(match["m"]), group(match, "d")
    if day:
        return Fixed(calendar.days(date(year, month, int(day))), "day")
    first = date(year, month, 1)  # refuses month 13, which `months` would carry over
    return Fixed(calendar.months(first.year, first.month), "month", sure=is_led(said, match.start()))


def read_digits(match: Match, said: DatedText) -> Meaning:
    """5/7/2023 is the 7th of May in English, and the 5th of July elsewhere, unless that cannot be."""
    first, second, year = int(match["a"]), int(match["b"]), int(match["y"])
    month, day = (first, second) if said.english and match["mark"] == "/" else (second, first)
    if month > 12:
        month, day = day, month
    return Fixed(calendar.days(date(year + (2000 if year < 100 else 0), month, day)), "day")


def _yearly(
    match: Match,
    span_of: Callable[[int], Span],
    grain: Grain,
    *,
    broad_of: Callable[[int], Span] | None = None,
    sure: bool = True,
) -> Yearly:
    year = group(match, "year")
    return Yearly(
        span_of,
        grain,
        which=which_of(match),
        year=int(year) if year else None,
        step=which_of(match, _OF_YEARS),
        broad_of=broad_of,
        sure=sure,
    )


def read_date(match: Match, said: DatedText) -> Meaning:
    month, day = v.MONTHS[match["month"]], int(match["day"])
    until = int(match["until"] or day)
    return _yearly(
        match, lambda year: (date(year, month, day), calendar.days(date(year, month, until))[1]), "day"
    )


def read_month(match: Match, said: DatedText) -> Meaning | None:
    named = group(match, "year") or which_of(match, _OF_YEARS) is not None
    if not named and not _is_month(match, said):
        return None
    month = v.MONTHS[match["month"]]
    sure = bool(named) or which_of(match) is not None or is_led(said, match.start())
    return _yearly(match, lambda year: calendar.months(year, month), "month", sure=sure)


def read_season(match: Match, said: DatedText) -> Meaning | None:
    if match["year"] is None and which_of(match) is None and which_of(match, _OF_YEARS) is None:
        lead = _LEAD_FALL if match["season"] == "fall" else LEAD_SEASON
        if not lead.search(said.ahead(match.start())):
            return None
    begins = v.SEASONS[match["season"]]
    return _yearly(match, lambda year: calendar.months(year, begins, 3), "season")


def read_quarter(match: Match, said: DatedText) -> Meaning:
    nth = group(match, "nth")
    quarter = int(match["quarter"]) if group(match, "quarter") else v.ORDINALS.get(nth or "", 4)
    sure = bool(group(match, "year")) or which_of(match) is not None or is_led(said, match.start())
    return _yearly(match, lambda year: calendar.months(year, quarter * 3 - 2, 3), "season", sure=sure)


def read_holiday(match: Match, said: DatedText) -> Meaning:
    meant = v.HOLIDAYS[v.said(match["holiday"])]
    before, after = (timedelta(days=meant.get(name, 0)) for name in ("before", "after"))

    def day(year: int) -> date:
        if "easter" in meant:
            return calendar.easter(year) + timedelta(days=meant["easter"])
        return date(year, meant["month"], meant["day"])

    return _yearly(
        match,
        lambda year: calendar.days(day(year)),
        "day",
        broad_of=lambda year: (day(year) - before, calendar.days(day(year) + after)[1]),
    )


def read_weekday(match: Match, said: DatedText) -> Meaning:
    return Weekday(v.WEEKDAYS[match["weekday"]], which_of(match), which_of(match, _OF_WEEKS))


def read_short_weekday(match: Match, said: DatedText) -> Meaning | None:
    name = match["weekday"]
    led = which_of(match) is not None or LEAD_DAY.search(said.ahead(match.start()))
    ends = name not in v.DOUBTFUL_WEEKDAYS or _ENDING.match(said.low, match.end())
    return Weekday(v.SHORT_WEEKDAYS[name], which_of(match)) if led and ends else None


def read_day(match: Match, said: DatedText) -> Meaning | None:
    word = v.said(match[0])
    in_front = said.ahead(match.start()).rsplit(maxsplit=1)[-1:]
    if word in v.NOT_AFTER and in_front and in_front[0] in v.NOT_AFTER[word].split("|"):
        return None
    return Calendar("day", v.DAYS_SAID[word])


def read_period(match: Match, said: DatedText) -> Meaning:
    unit, offset = v.PERIODS_SAID[" ".join(match[0].split())]
    return Calendar(unit, offset)


def read_calendar(match: Match, said: DatedText) -> Meaning:
    return Calendar(v.UNITS[" ".join(match["unit"].split())], which_of(match))


def read_before_last(match: Match, said: DatedText) -> Meaning:
    return Calendar(v.UNITS[match["unit"]], -2)


def read_narrowed(match: Match, said: DatedText) -> Meaning | None:
    """ "The month" is a time only where something narrows it: "the end of the month"."""
    return Calendar(v.UNITS[" ".join(match["unit"].split())], 0) if part_of(said, match.start())[0] else None


def read_years(match: Match, said: DatedText) -> Meaning | None:
    first, last = int(match["first"]), int(group(match, "last_year") or match["first"])
    if _AMOUNT_AHEAD.search(said.ahead(match.start())):
        return None
    if last < first:
        return NoDate()
    return Fixed(
        calendar.months(first, 1, 12 * (last - first + 1)),
        "year",
        sure=first == last and is_led(said, match.start()),
    )


def read_decade(match: Match, said: DatedText) -> Meaning:
    return Decade(int(match["decade"]))


def read_counted(match: Match, said: DatedText) -> Meaning:
    unit, count = v.UNITS[match["unit"]], count_of(match)
    sign = -1 if group(match, "ago") else 1
    if unit == "year" and (count == 0 or group(match, "more") or group(match, "half")):
        unit, count = "month", count * 12 + 6
    return Counted(sign * count, unit, match["count"] in v.VAGUE, lasts=bool(group(match, "lasts")))


def read_rolling(match: Match, said: DatedText) -> Meaning:
    count = count_of(match) if "count" in match.re.groupindex else 1
    return Rolling(count if which_of(match) == 1 else -count, v.UNITS[match["unit"]])


def _is_month(match: Match, said: DatedText) -> bool:
    """Whether a lone month name is a month, not a verb ("I may go") or a person ("did June call")."""
    name, begin = match["month"], match.start("month")
    written = said.written[begin : match.end("month")]
    if (which := which_of(match)) is not None:
        may_be = name == "may" and which == 0 and written != "May"
        return not may_be or _ENDING.match(said.low, match.end()) is not None
    ahead = said.ahead(begin)
    if name in v.DOUBTFUL_ABROAD:
        return _LEAD_ABROAD.search(ahead) is not None or part_of(said, begin)[0] is not None
    if name not in v.DOUBTFUL_MONTHS or _LEAD_MONTH.search(ahead) or part_of(said, begin)[0]:
        return True
    return written.istitle() and _MID_SENTENCE.search(ahead) is not None and not _LEAD_PERSON.search(ahead)


_ENDING = re.compile(r"\s{0,3}(?:$|[?.!,;])")
_MID_SENTENCE = re.compile(r"[^\s.?!:;\"“(]\s{1,3}$")
_MONTHS_AHEAD = v.any_of(v.MONTHS)
_LEAD_MONTH = pattern(
    rf"(?:{of('leads', 'month_leads')}) "
    rf"|(?:{of('between', 'from')}) (?:early |mid |late )?(?:{_MONTHS_AHEAD})(?:,? \d{{4}})? (?:{of('and', 'to')}) "
    rf"|(?:{_MONTHS_AHEAD}) (?:{of('and', 'or', 'to')}) ",
    stop="$",
)
_LEAD_PERSON = pattern(rf"(?:{of('person_leads')}) ", stop="$")
_LEAD_ABROAD = pattern(rf"(?:{of('abroad_leads')}) ", stop="$")
LEAD_SEASON = pattern(rf"(?:{of('season_leads')})(?: (?:{v.ARTICLE}))? ", stop="$")
_LEAD_FALL = pattern(rf"(?:{of('fall_leads')})(?: (?:{v.ARTICLE}))? ", stop="$")
LEAD_DAY = pattern(rf"(?:{of('on')}) ", stop="$")
_AMOUNT_AHEAD = pattern(rf"(?:{of('amount_verbs')})(?: (?:about|around|over|under|only|for))? ", stop="$")
