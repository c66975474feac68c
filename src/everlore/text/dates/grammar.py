"""The grammar of time expressions: which words of a text name a time, and what they mean. One for statements and questions.

Every rule of `_RULES` looks for its own kind of expression. What a rule finds is read into a meaning (`expressions`), not into
a date: that is the business of the two policies. Every pass over a text is linear: each repetition in a pattern has a bound.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from everlore.text.dates import calendar
from everlore.text.dates import vocabulary as v
from everlore.text.dates.calendar import Span
from everlore.text.dates.expressions import (
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
    Side,
    Weekday,
    Which,
    Yearly,
)
from everlore.text.dates.vocabulary import of, pattern

_Match = re.Match[str]
_WHICH: Mapping[str, Which] = {
    "last": -1, "over": -1, "year_last": -1, "week_last": -1, "this": 0, "year_this": 0, "week_this": 0,
    "next": 1, "coming": 1, "year_next": 1, "week_next": 1,
}  # fmt: skip
_OF_YEARS, _OF_WEEKS = ("year_last", "year_this", "year_next"), ("week_last", "week_this", "week_next")
_PARTS: Mapping[str, Part] = {"early": ("third", 0), "mid": ("third", 1), "late": ("third", -1), "end": ("end", -1)}
_AHEAD = 48  # characters in front of an expression that are looked at


@dataclass(frozen=True, slots=True)
class Said:
    """A text in lower case, as it was written, and whether its dates in digits are English (month first)."""

    low: str
    written: str
    english: bool

    def ahead(self, begin: int) -> str:
        return self.low[max(0, begin - _AHEAD) : begin]


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    words: frozenset[str]  # without one of these the pattern cannot match: spares the search
    read: Callable[[_Match, Said], Meaning | None]
    lead: re.Pattern[str] | None = None  # the preposition in front that belongs to it


def find(said: Said) -> Iterator[Expression]:
    """All expressions of a text, overlapping ones too, in the order of the rules."""
    words = set(_WORD.findall(said.low))
    for rule in _RULES:
        if rule.words.isdisjoint(words):
            continue
        for match in rule.pattern.finditer(said.low):
            meaning = _possible(rule.read, match, said)
            if meaning is not None:
                yield _expression(rule, match, meaning, said)


def longest(expressions: Iterable[Expression], length: int) -> list[Expression]:
    """Of expressions of a text of `length` characters that overlap the longer ones, else the first; in order."""
    taken = bytearray(length)
    kept: list[Expression] = []
    for one in sorted(expressions, key=lambda one: one.core - one.stop):
        if not any(taken[one.core : one.stop]):
            taken[one.core : one.stop] = b"\1" * (one.stop - one.core)
            kept.append(one)
    return sorted(kept, key=lambda one: one.begin)


def count_of(match: _Match) -> int:
    count = match["count"]
    return 1 if not count else int(count) if count.isdigit() else v.COUNTS[" ".join(count.split())]


def _expression(rule: _Rule, match: _Match, meaning: Meaning, said: Said) -> Expression:
    core = match.start()
    ahead = said.ahead(core)
    narrowed = _PART.search(ahead)
    begin = core - len(narrowed[0]) if narrowed else core
    lead = rule.lead.search(ahead) if rule.lead and not narrowed else None
    side = _SIDE.search(said.ahead(begin))
    return Expression(
        core=core,
        begin=begin,
        stop=match.end(),
        lead=core - len(lead[0]) if lead else begin,
        meaning=meaning,
        part=_part(narrowed) if narrowed else None,
        side=_side(side),
        side_begin=begin - len(side[0]) if side else begin,
        told_from_another=any(_group(match, name) in v.TOLD_FROM_ANOTHER for name in ("next", "last")),
    )


def _side(match: _Match | None) -> Side | None:
    for side in ("since", "from", "before", "after", "until", "due"):
        if match and match[side]:
            return side
    return None


def _part(match: _Match) -> Part:
    nth = v.ORDINALS.get(match["nth_half"] or match["nth_week"] or "", 0) - 1
    if match["nth_half"]:
        return "half", nth
    if match["nth_week"]:
        return "week", nth
    return _PARTS[match.lastgroup or "end"]


def _possible(read: Callable[[_Match, Said], Meaning | None], match: _Match, said: Said) -> Meaning | None:
    """What `read` gives; no date where no calendar has it (31 February, the month 13)."""
    try:
        return read(match, said)
    except (ValueError, OverflowError):
        return NoDate()


def _group(match: _Match, name: str) -> str | None:
    return match[name] if name in match.re.groupindex else None


def _which(match: _Match, names: tuple[str, ...] = ("last", "over", "this", "next", "coming")) -> Which | None:
    """Which one is said: -1 the last, 0 this one, 1 the next; None where nothing says it."""
    said = next((name for name in names if _group(match, name)), None)
    return None if said is None else _WHICH[said]


# --- readers, one for each kind of expression --------------------------------------------------------------


def _read_nothing(match: _Match, said: Said) -> Meaning:
    return NoDate()


def _read_iso(match: _Match, said: Said) -> Meaning:
    year, month, day = int(match["y"]), int(match["m"]), _group(match, "d")
    if day:
        return Fixed(calendar.days(date(year, month, int(day))), "day")
    first = date(year, month, 1)  # refuses month 13, which `months` would carry over
    return Fixed(calendar.months(first.year, first.month), "month", sure=_is_led(match, said))


def _read_digits(match: _Match, said: Said) -> Meaning:
    """5/7/2023 is the 7th of May in English, and the 5th of July elsewhere, unless that cannot be."""
    first, second, year = int(match["a"]), int(match["b"]), int(match["y"])
    month, day = (first, second) if said.english and match["mark"] == "/" else (second, first)
    if month > 12:
        month, day = day, month
    return Fixed(calendar.days(date(year + (2000 if year < 100 else 0), month, day)), "day")


def _yearly(
    match: _Match,
    span_of: Callable[[int], Span],
    grain: Grain,
    *,
    broad_of: Callable[[int], Span] | None = None,
    sure: bool = True,
) -> Yearly:
    year = _group(match, "year")
    return Yearly(
        span_of,
        grain,
        which=_which(match),
        year=int(year) if year else None,
        step=_which(match, _OF_YEARS),
        broad_of=broad_of,
        sure=sure,
    )


def _read_date(match: _Match, said: Said) -> Meaning:
    month, day = v.MONTHS[match["month"]], int(match["day"])
    until = int(match["until"] or day)
    return _yearly(match, lambda year: (date(year, month, day), calendar.days(date(year, month, until))[1]), "day")


def _read_month(match: _Match, said: Said) -> Meaning | None:
    named = _group(match, "year") or _which(match, _OF_YEARS) is not None
    if not named and not _is_month(match, said):
        return None
    month = v.MONTHS[match["month"]]
    sure = bool(named) or _which(match) is not None or _is_led(match, said)
    return _yearly(match, lambda year: calendar.months(year, month), "month", sure=sure)


def _read_season(match: _Match, said: Said) -> Meaning | None:
    if match["year"] is None and _which(match) is None and _which(match, _OF_YEARS) is None:
        lead = _LEAD_FALL if match["season"] == "fall" else _LEAD_SEASON
        if not lead.search(said.ahead(match.start())):
            return None
    begins = v.SEASONS[match["season"]]
    return _yearly(match, lambda year: calendar.months(year, begins, 3), "season")


def _read_quarter(match: _Match, said: Said) -> Meaning:
    nth = _group(match, "nth")
    quarter = int(match["quarter"]) if _group(match, "quarter") else v.ORDINALS.get(nth or "", 4)
    sure = bool(_group(match, "year")) or _which(match) is not None or _is_led(match, said)
    return _yearly(match, lambda year: calendar.months(year, quarter * 3 - 2, 3), "season", sure=sure)


def _read_holiday(match: _Match, said: Said) -> Meaning:
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


def _read_weekday(match: _Match, said: Said) -> Meaning:
    return Weekday(v.WEEKDAYS[match["weekday"]], _which(match), _which(match, _OF_WEEKS))


def _read_short_weekday(match: _Match, said: Said) -> Meaning | None:
    name = match["weekday"]
    led = _which(match) is not None or _LEAD_DAY.search(said.ahead(match.start()))
    ends = name not in v.DOUBTFUL_WEEKDAYS or _ENDING.match(said.low, match.end())
    return Weekday(v.SHORT_WEEKDAYS[name], _which(match)) if led and ends else None


def _read_day(match: _Match, said: Said) -> Meaning | None:
    word = v.said(match[0])
    in_front = said.ahead(match.start()).rsplit(maxsplit=1)[-1:]
    if word in v.NOT_AFTER and in_front and in_front[0] in v.NOT_AFTER[word].split("|"):
        return None
    return Calendar("day", v.DAYS_SAID[word])


def _read_period(match: _Match, said: Said) -> Meaning:
    unit, offset = v.PERIODS_SAID[" ".join(match[0].split())]
    return Calendar(unit, offset)


def _read_calendar(match: _Match, said: Said) -> Meaning:
    return Calendar(v.UNITS[" ".join(match["unit"].split())], _which(match))


def _read_before_last(match: _Match, said: Said) -> Meaning:
    return Calendar(v.UNITS[match["unit"]], -2)


def _read_narrowed(match: _Match, said: Said) -> Meaning | None:
    """"The month" is a time only where something narrows it: "the end of the month"."""
    return Calendar(v.UNITS[" ".join(match["unit"].split())], 0) if _PART.search(said.ahead(match.start())) else None


def _read_years(match: _Match, said: Said) -> Meaning | None:
    first, last = int(match["first"]), int(_group(match, "last_year") or match["first"])
    if _AMOUNT_AHEAD.search(said.ahead(match.start())):
        return None
    if last < first:
        return NoDate()
    return Fixed(calendar.months(first, 1, 12 * (last - first + 1)), "year", sure=first == last and _is_led(match, said))


def _read_decade(match: _Match, said: Said) -> Meaning:
    return Decade(int(match["decade"]))


def _read_counted(match: _Match, said: Said) -> Meaning:
    unit, count = v.UNITS[match["unit"]], count_of(match)
    sign = -1 if _group(match, "ago") else 1
    if unit == "year" and (count == 0 or _group(match, "more")):
        unit, count = "month", count * 12 + 6
    return Counted(sign * count, unit, match["count"] in v.VAGUE, lasts=bool(_group(match, "lasts")))


def _read_rolling(match: _Match, said: Said) -> Meaning:
    count = count_of(match) if "count" in match.re.groupindex else 1
    return Rolling(count if _which(match) == 1 else -count, v.UNITS[match["unit"]])


# --- which matches count -----------------------------------------------------------------------------------


def _is_led(match: _Match, said: Said) -> bool:
    ahead = said.ahead(match.start())
    return _LEAD.search(ahead) is not None or _PART.search(ahead) is not None


def _is_month(match: _Match, said: Said) -> bool:
    """Whether a lone month name is a month, not a verb ("I may go") or a person ("did June call")."""
    name, begin = match["month"], match.start("month")
    written = said.written[begin : match.end("month")]
    if (which := _which(match)) is not None:
        may_be = name == "may" and which == 0 and written != "May"
        return not may_be or _ENDING.match(said.low, match.end()) is not None
    ahead = said.ahead(begin)
    if name in v.DOUBTFUL_ABROAD:
        return _LEAD_ABROAD.search(ahead) is not None or _PART.search(ahead) is not None
    if name not in v.DOUBTFUL_MONTHS or _LEAD_MONTH.search(ahead) or _PART.search(ahead):
        return True
    return written.istitle() and _MID_SENTENCE.search(ahead) is not None and not _LEAD_PERSON.search(ahead)


_ENDING = re.compile(r"\s{0,3}(?:$|[?.!,;])")
_MID_SENTENCE = re.compile(r"[^\s.?!:;\"“(]\s{1,3}$")
_MONTHS_AHEAD = v.any_of(v.MONTHS)
_LEAD = pattern(rf"(?:{of('leads')})(?: (?:{v.ARTICLE}))?(?: |-)", stop="$")
_LEAD_MONTH = pattern(
    rf"(?:{of('leads', 'month_leads')}) "
    rf"|(?:{of('between', 'from')}) (?:early |mid |late )?(?:{_MONTHS_AHEAD})(?:,? \d{{4}})? (?:{of('and', 'to')}) "
    rf"|(?:{_MONTHS_AHEAD}) (?:{of('and', 'or', 'to')}) ",
    stop="$",
)
_LEAD_PERSON = pattern(rf"(?:{of('person_leads')}) ", stop="$")
_LEAD_ABROAD = pattern(rf"(?:{of('abroad_leads')}) ", stop="$")
_LEAD_SEASON = pattern(rf"(?:{of('season_leads')})(?: (?:{v.ARTICLE}))? ", stop="$")
_LEAD_FALL = pattern(rf"(?:{of('fall_leads')})(?: (?:{v.ARTICLE}))? ", stop="$")
_LEAD_DAY = pattern(rf"(?:{of('on')}) ", stop="$")
_LEAD_PERIOD = pattern(rf"(?:(?:over|at) )?(?:{v.ARTICLE}) ", stop="$")
_AMOUNT_AHEAD = pattern(rf"(?:{of('amount_verbs')})(?: (?:about|around|over|under|only|for))? ", stop="$")
_NTH = v.any_of([*v.ORDINALS, *v.FINAL])
_PART = pattern(
    rf"(?:(?P<early>{of('early')})|(?P<mid>{of('mid')})|(?P<late>{of('late')})|(?P<end>{of('end')})"
    rf"|(?:(?:{v.ARTICLE}) )?(?P<nth_half>{_NTH}) (?:{of('half')})"
    rf"|(?:(?:{v.ARTICLE}) )?(?P<nth_week>{_NTH}) (?:{v.WEEK}) (?:{v.OF}))(?: (?:{v.ARTICLE}))?(?: |-)",
    stop="$",
)
_SIDE = pattern(
    "|".join(f"(?P<{side}>{of(side)})" for side in ("since", "from", "before", "after", "until", "due"))
    + "",
    stop=rf"(?:\s{{1,3}}(?:{v.ARTICLE}|{of('on')}))?(?:\s{{1,3}}|-)$",
)


# --- the table of rules ------------------------------------------------------------------------------------

_WORD = re.compile(r"[^\W\d_]+|\d")
_DIGITS = frozenset("0123456789")


def _keys(words: Iterable[str]) -> frozenset[str]:
    """Of each of the words or phrases the longest word: what a text that holds it holds."""
    return frozenset(max(_WORD.findall(phrase), key=len) for phrase in words)


_IN_MONTHS, _IN_WEEKDAYS, _IN_UNITS = _keys(v.MONTHS), _keys(v.WEEKDAYS), _keys(v.UNITS)
_IN_WHICH = _keys(v.phrases("dates.next") | v.phrases("dates.last") | v.phrases("dates.this"))
_ROUND = rf"(?:{v.any_of([*v.WEEKDAYS, *v.MONTHS, *v.SEASONS, *v.HOLIDAYS])}|{v.any_of(v.UNITS)})"
_DAYS_IN_ROW = rf"(?: (?:{of('and', 'or')}) (?:(?:{of('habits_on')}) )?(?:{v.any_of(v.WEEKDAYS)})s?)?"
_NO_YEAR_AHEAD = r"(?:(?<![-\w.,:/$€£#+@])|(?<=mid-)|(?<=pre-)|(?<=post-)|(?<=early-)|(?<=late-))"
_NO_YEAR_BEHIND = r"(?![-–/]\d)"

_RULES = (
    # What only looks like a time.
    _Rule(pattern(rf"(?:{of('numbered')})(?: |: )#?(?:19|20)\d\d(?!-\d)"), _DIGITS, _read_nothing),
    _Rule(
        pattern(rf"(?:{of('habits')}) (?:{_ROUND})s?{_DAYS_IN_ROW}"),
        _keys(v.phrases("dates.habits")),
        _read_nothing,
    ),
    _Rule(
        pattern(rf"(?:{of('habits_on')}) (?:{v.any_of(v.WEEKDAYS)})s{_DAYS_IN_ROW}|los (?:{v.any_of(v.WEEKDAYS)}){_DAYS_IN_ROW}"),
        _keys(v.phrases("dates.habits_on")),
        _read_nothing,
    ),
    _Rule(pattern(of("not_dates")), _keys(v.phrases("dates.not_dates")), _read_nothing),
    # Days.
    _Rule(
        pattern(r"(?P<y>(?:19|20)\d\d)(?P<mark>[-/])(?P<m>\d\d?)(?P=mark)(?P<d>\d\d?)(?!-?\d)", stop=""), _DIGITS, _read_iso
    ),
    _Rule(pattern(r"(?P<y>(?:19|20)\d\d)-(?P<m>\d\d)(?!-?\d)"), _DIGITS, _read_iso),
    _Rule(
        pattern(r"(?P<a>\d\d?)(?P<mark>[./-])(?P<b>\d\d?)(?P=mark)(?P<y>(?:19|20)\d\d)", stop=r"(?![\d/.]\d|\d)"),
        _DIGITS,
        _read_digits,
    ),
    _Rule(
        pattern(r"(?P<a>\d\d?)(?P<mark>[./])(?P<b>\d\d?)(?P=mark)(?P<y>\d\d)", stop=r"(?![\d/.]\d|\d)"),
        _DIGITS,
        _read_digits,
    ),
    _Rule(
        pattern(
            rf"(?:{v.WEEKDAY},? )?(?:the )?(?:{v.ONE} )?{v.MONTH}\.? (?:the )?{v.DAY}(?:{v.TO_DAY})?(?:{v.YEAR})?"
        ),
        _IN_MONTHS,
        _read_date,
    ),
    _Rule(
        pattern(
            rf"(?:{v.WEEKDAY},? )?(?:(?:{v.ARTICLE}|{of('on')}) )?{v.DAY}\.?(?:{v.TO_DAY}\.?)?"
            rf" (?:(?:{v.OF}) )?(?:{v.ONE} )?{v.MONTH}(?:\.?{v.YEAR})?"
        ),
        _IN_MONTHS,
        _read_date,
    ),
    _Rule(
        pattern(
            rf"(?:{v.ONE} )?{v.WEEKDAY}{v.BEHIND}?"
            rf"(?:(?: of)? (?:(?P<week_next>{v.NEXT})|(?P<week_last>{v.LAST})|(?P<week_this>{v.THIS})) (?:{v.WEEK}))?"
        ),
        _IN_WEEKDAYS,
        _read_weekday,
        _LEAD_DAY,
    ),
    _Rule(
        pattern(rf"(?:{v.ONE} )?(?P<weekday>{v.any_of(v.SHORT_WEEKDAYS)})"),
        _keys(v.SHORT_WEEKDAYS),
        _read_short_weekday,
        _LEAD_DAY,
    ),
    _Rule(pattern(v.any_of(v.DAYS)), _keys(v.DAYS), _read_day),
    _Rule(
        pattern(rf"(?:{v.ONE} )?(?P<holiday>{v.any_of(v.table('dates.holidays'))}){v.BEHIND}?(?:{v.YEAR})?"),
        _keys(v.table("dates.holidays")),
        _read_holiday,
    ),
    # Months, seasons, quarters.
    _Rule(pattern(rf"{v.MONTH}\.?(?:{v.YEAR})"), _IN_MONTHS, _read_month, _LEAD),
    _Rule(pattern(rf"(?:{v.ONE} )?{v.MONTH}{v.BEHIND}?"), _IN_MONTHS, _read_month, _LEAD),
    _Rule(
        pattern(
            rf"(?:{v.ONE} (?:the )?)?(?P<season>{v.any_of(v.SEASONS)}){v.BEHIND}?(?:{v.YEAR}(?:[/-]\d\d)?|(?! of\b))"
        ),
        frozenset(v.SEASONS),
        _read_season,
        _LEAD_SEASON,
    ),
    _Rule(pattern(rf"(?:{v.ONE} )?q(?P<quarter>[1-4])(?:{v.YEAR})?"), _DIGITS, _read_quarter, _LEAD),
    _Rule(
        pattern(rf"(?:(?:{v.ARTICLE}) )?(?P<nth>{_NTH}) (?:{v.QUARTER})(?:{v.YEAR})"),
        _keys(v.PERIODS),
        _read_quarter,
        _LEAD,
    ),
    # Years and decades.
    _Rule(
        pattern(rf"(?P<first>(?:19|20)\d\d)[-–/](?P<last_year>{v.BARE_YEAR})", begin=_NO_YEAR_AHEAD, stop=_NO_YEAR_BEHIND),
        _DIGITS,
        _read_years,
    ),
    _Rule(
        pattern(rf"(?:the year )?(?P<first>{v.BARE_YEAR})", begin=_NO_YEAR_AHEAD, stop=_NO_YEAR_BEHIND),
        _DIGITS,
        _read_years,
        _LEAD,
    ),
    _Rule(pattern(r"(?P<decade>(?:19|20)\d0)'?s"), _DIGITS, _read_decade),
    _Rule(
        pattern(r"'?(?P<decade>\d0)s", begin=r"(?:(?<=\bthe\s)|(?<=\bearly\s)|(?<=\bmid\s)|(?<=\bmid-)|(?<=\blate\s))"),
        _DIGITS,
        _read_decade,
    ),
    # Counted from now.
    _Rule(
        pattern(rf"{v.COUNT} {v.UNIT}(?P<more> (?:{of('and_a_half')}))? (?:(?P<ago>{of('ago_after')})|{of('ahead_after')})"),
        _keys(v.phrases("dates.ago_after") | v.phrases("dates.ahead_after")),
        _read_counted,
    ),
    _Rule(
        pattern(rf"(?P<ago>{of('ago_before')}) {v.COUNT} {v.UNIT}(?! (?:{of('lasting')})\b)"),
        _keys(v.phrases("dates.ago_before")),
        _read_counted,
    ),
    _Rule(
        pattern(rf"(?P<lasts>{of('ahead_before')}) {v.COUNT} {v.UNIT}(?!'s)", stop=r"(?![\w-])"),
        _keys(v.phrases("dates.ahead_before")),
        _read_counted,
    ),
    _Rule(pattern(rf"(?:(?:{v.ARTICLE}) )?{v.ONE} {v.COUNT} {v.UNIT}(?! of\b)"), _IN_WHICH, _read_rolling),
    _Rule(
        pattern(
            rf"(?:(?:{of('rolling_leads')}) (?:{v.ARTICLE}) (?P<last>{of('rolling_last')})|(?:the |this )?{of('bare_past')})"
            rf" {v.UNIT}(?! of\b)"
        ),
        _keys(v.phrases("dates.rolling_last") | v.phrases("dates.bare_past")),
        _read_rolling,
    ),
    _Rule(pattern(rf"{v.ONE} {v.PERIOD}(?! of\b)"), _IN_WHICH, _read_calendar, _LEAD_PERIOD),
    _Rule(pattern(rf"{v.PERIOD}{v.BEHIND}"), _IN_UNITS, _read_calendar, _LEAD_PERIOD),
    _Rule(pattern(rf"{v.PERIOD} (?:{of('before_last')})", ), _IN_UNITS, _read_before_last, _LEAD_PERIOD),
    _Rule(
        pattern(rf"(?:{of('weekend_leads')}) (?P<unit>{v.any_of(v.phrases('dates.units.weekend'))})"),
        _IN_UNITS,
        _read_calendar,
    ),
    _Rule(pattern(rf"(?:(?:{v.ARTICLE}) )?{v.PERIOD}"), _IN_UNITS, _read_narrowed),
    _Rule(pattern(v.any_of(v.PERIODS_SAID)), _keys(v.PERIODS_SAID), _read_period),
)
