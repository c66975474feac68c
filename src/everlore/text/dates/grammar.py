"""The grammar of time expressions: which words of a text name a time, and what they mean. One for statements and questions.

Every rule of `_RULES` looks for its own kind of expression. What a rule finds is read into a meaning (`expressions`), not into
a date: that is the business of the two policies. Every pass over a text is linear: each repetition in a pattern has a bound.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from everlore.text.dates import readers
from everlore.text.dates import vocabulary as v
from everlore.text.dates.expressions import Expression, Meaning, NoDate
from everlore.text.dates.surroundings import LEAD, NTH, DatedText, part_of, side_of
from everlore.text.dates.vocabulary import Pattern, of, pattern

_WORD = re.compile(r"[^\W\d_]+|\d")


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: Pattern
    words: frozenset[str]  # without one of these the pattern cannot match: spares the search
    read: Callable[[re.Match[str], DatedText], Meaning | None]
    lead: Pattern | None = None  # the preposition in front that belongs to it


def find(said: DatedText) -> Iterator[Expression]:
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


def _expression(rule: _Rule, match: re.Match[str], meaning: Meaning, said: DatedText) -> Expression:
    core = match.start()
    part, begin = part_of(said, core)
    lead = rule.lead.search(said.ahead(core)) if rule.lead and part is None else None
    side, side_begin = side_of(said, begin)
    return Expression(
        core=core,
        begin=begin,
        stop=match.end(),
        lead=core - len(lead[0]) if lead else begin,
        meaning=meaning,
        part=part,
        side=side,
        side_begin=side_begin,
        told_from_another=any(readers.group(match, name) in v.TOLD_FROM_ANOTHER for name in ("next", "last")),
    )


def _possible(
    read: Callable[[re.Match[str], DatedText], Meaning | None], match: re.Match[str], said: DatedText
) -> Meaning | None:
    """What `read` gives; no date where no calendar has it (31 February, the month 13)."""
    try:
        return read(match, said)
    except (ValueError, OverflowError):
        return NoDate()


# --- the table of rules ------------------------------------------------------------------------------------

_OF_PERIOD = pattern(rf"(?:(?:over|at) )?(?:{v.ARTICLE}) ", stop="$")
_DIGITS = frozenset("0123456789")


def _keys(words: Iterable[str]) -> frozenset[str]:
    """Of each of the words or phrases the longest word: what a text that holds it holds."""
    return frozenset(max(_WORD.findall(phrase), key=len) for phrase in words)


_IN_MONTHS, _IN_WEEKDAYS, _IN_UNITS = _keys(v.MONTHS), _keys(v.WEEKDAYS), _keys(v.UNITS)
_IN_ROUND = frozenset(
    key + s for key in _keys([*v.WEEKDAYS, *v.MONTHS, *v.SEASONS, *v.HOLIDAYS, *v.UNITS]) for s in ("", "s")
)
_ROUND = rf"(?:{v.any_of([*v.WEEKDAYS, *v.MONTHS, *v.SEASONS, *v.HOLIDAYS])}|{v.any_of(v.UNITS)})"
_DAYS_IN_ROW = rf"(?: (?:{of('and', 'or')}) (?:(?:{of('habits_on')}) )?(?:{v.any_of(v.WEEKDAYS)})s?)?"
_NO_YEAR_AHEAD = r"(?:(?<![-\w.,:/$€£#+@])|(?<=mid-)|(?<=pre-)|(?<=post-)|(?<=early-)|(?<=late-))"
_NO_YEAR_BEHIND = r"(?![-–/]\d)"

_RULES = (
    # What only looks like a time.
    _Rule(pattern(rf"(?:{of('numbered')})(?: |: )#?(?:19|20)\d\d(?!-\d)"), _DIGITS, readers.read_nothing),
    _Rule(
        pattern(rf"(?:{of('habits')}) (?:{_ROUND})s?{_DAYS_IN_ROW}"),
        _IN_ROUND,
        readers.read_nothing,
    ),
    _Rule(
        pattern(
            rf"(?:{of('habits_on')}) (?:{v.any_of(v.WEEKDAYS)})s{_DAYS_IN_ROW}|los (?:{v.any_of(v.WEEKDAYS)}){_DAYS_IN_ROW}"
        ),
        _IN_ROUND,
        readers.read_nothing,
    ),
    _Rule(pattern(of("not_dates")), _keys(v.phrases("dates.not_dates")), readers.read_nothing),
    # Days.
    _Rule(
        pattern(r"(?P<y>(?:19|20)\d\d)(?P<mark>[-/])(?P<m>\d\d?)(?P=mark)(?P<d>\d\d?)(?!-?\d)", stop=""),
        _DIGITS,
        readers.read_iso,
    ),
    _Rule(pattern(r"(?P<y>(?:19|20)\d\d)-(?P<m>\d\d)(?!-?\d)"), _DIGITS, readers.read_iso),
    _Rule(
        pattern(
            r"(?P<a>\d\d?)(?P<mark>[./-])(?P<b>\d\d?)(?P=mark)(?P<y>(?:19|20)\d\d)", stop=r"(?![\d/.]\d|\d)"
        ),
        _DIGITS,
        readers.read_digits,
    ),
    _Rule(
        pattern(r"(?P<a>\d\d?)(?P<mark>[./])(?P<b>\d\d?)(?P=mark)(?P<y>\d\d)", stop=r"(?![\d/.]\d|\d)"),
        _DIGITS,
        readers.read_digits,
    ),
    _Rule(
        pattern(
            rf"(?:{v.WEEKDAY},? )?(?:the )?(?:{v.ONE} )?{v.MONTH}\.? (?:the )?{v.DAY}(?:{v.TO_DAY})?(?:{v.YEAR})?"
        ),
        _IN_MONTHS,
        readers.read_date,
    ),
    _Rule(
        pattern(
            rf"(?:{v.WEEKDAY},? )?(?:(?:{v.ARTICLE}|{of('on')}) )?{v.DAY}\.?(?:{v.TO_DAY}\.?)?"
            rf" (?:(?:{v.OF}) )?(?:{v.ONE} )?{v.MONTH}(?:\.?{v.YEAR})?"
        ),
        _IN_MONTHS,
        readers.read_date,
    ),
    _Rule(
        pattern(
            rf"(?:{v.ONE} )?{v.WEEKDAY}{v.BEHIND}?"
            rf"(?:(?: of)? (?:(?P<week_next>{v.NEXT})|(?P<week_last>{v.LAST})|(?P<week_this>{v.THIS})) (?:{v.WEEK}))?"
        ),
        _IN_WEEKDAYS,
        readers.read_weekday,
        readers.LEAD_DAY,
    ),
    _Rule(
        pattern(rf"(?:{v.ONE} )?(?P<weekday>{v.any_of(v.SHORT_WEEKDAYS)})"),
        _keys(v.SHORT_WEEKDAYS),
        readers.read_short_weekday,
        readers.LEAD_DAY,
    ),
    _Rule(pattern(v.any_of(v.DAYS)), _keys(v.DAYS), readers.read_day),
    _Rule(
        pattern(rf"(?:{v.ONE} )?(?P<holiday>{v.any_of(v.table('dates.holidays'))}){v.BEHIND}?(?:{v.YEAR})?"),
        _keys(v.table("dates.holidays")),
        readers.read_holiday,
    ),
    # Months, seasons, quarters.
    _Rule(pattern(rf"{v.MONTH}\.?(?:{v.YEAR})"), _IN_MONTHS, readers.read_month, LEAD),
    _Rule(pattern(rf"(?:{v.ONE} )?{v.MONTH}{v.BEHIND}?"), _IN_MONTHS, readers.read_month, LEAD),
    _Rule(
        pattern(
            rf"(?:{v.ONE} (?:the )?)?(?P<season>{v.any_of(v.SEASONS)}){v.BEHIND}?(?:{v.YEAR}(?:[/-]\d\d)?|(?! of\b))"
        ),
        frozenset(v.SEASONS),
        readers.read_season,
        readers.LEAD_SEASON,
    ),
    _Rule(pattern(rf"(?:{v.ONE} )?q(?P<quarter>[1-4])(?:{v.YEAR})?"), _DIGITS, readers.read_quarter, LEAD),
    _Rule(
        pattern(rf"(?:(?:{v.ARTICLE}) )?(?P<nth>{NTH}) (?:{v.QUARTER})(?:{v.YEAR})"),
        _keys(v.PERIODS),
        readers.read_quarter,
        LEAD,
    ),
    # Years and decades.
    _Rule(
        pattern(
            rf"(?P<first>(?:19|20)\d\d)[-–/](?P<last_year>{v.BARE_YEAR})",
            begin=_NO_YEAR_AHEAD,
            stop=_NO_YEAR_BEHIND,
        ),
        _DIGITS,
        readers.read_years,
    ),
    _Rule(
        pattern(rf"(?:the year )?(?P<first>{v.BARE_YEAR})", begin=_NO_YEAR_AHEAD, stop=_NO_YEAR_BEHIND),
        _DIGITS,
        readers.read_years,
        LEAD,
    ),
    _Rule(pattern(r"(?P<decade>(?:19|20)\d0)'?s"), _DIGITS, readers.read_decade),
    _Rule(
        pattern(
            r"'?(?P<decade>\d0)s",
            begin=r"(?:(?<=\bthe\s)|(?<=\bearly\s)|(?<=\bmid\s)|(?<=\bmid-)|(?<=\blate\s))",
        ),
        _DIGITS,
        readers.read_decade,
    ),
    # Counted from now.
    _Rule(
        pattern(
            rf"{v.COUNT}(?P<half> (?:{of('and_a_half')}))? {v.UNIT}(?P<more> (?:{of('and_a_half')}))?"
            rf" (?:(?P<ago>{of('ago_after')})|{of('ahead_after')})"
        ),
        _keys(v.phrases("dates.ago_after") | v.phrases("dates.ahead_after")),
        readers.read_counted,
    ),
    _Rule(
        pattern(rf"(?P<ago>{of('ago_before')}) {v.COUNT} {v.UNIT}(?! (?:{of('lasting')})\b)"),
        _keys(v.phrases("dates.ago_before")),
        readers.read_counted,
    ),
    _Rule(
        pattern(rf"(?P<lasts>{of('ahead_before')}) {v.COUNT} {v.UNIT}(?!'s)", stop=r"(?![\w-])"),
        _IN_UNITS,
        readers.read_counted,
    ),
    _Rule(
        pattern(rf"(?:(?:{v.ARTICLE}) )?{v.ONE} {v.COUNT} {v.UNIT}(?! of\b)"), _IN_UNITS, readers.read_rolling
    ),
    _Rule(
        pattern(
            rf"(?:(?:{of('rolling_leads')}) (?:{v.ARTICLE}) (?P<last>{of('rolling_last')})|(?:the |this )?{of('bare_past')})"
            rf" {v.UNIT}(?! of\b)"
        ),
        _keys(v.phrases("dates.rolling_last") | v.phrases("dates.bare_past")),
        readers.read_rolling,
    ),
    _Rule(pattern(rf"{v.ONE} {v.PERIOD}(?! of\b)"), _IN_UNITS, readers.read_calendar, _OF_PERIOD),
    _Rule(pattern(rf"{v.PERIOD}{v.BEHIND}"), _IN_UNITS, readers.read_calendar, _OF_PERIOD),
    _Rule(
        pattern(
            rf"{v.PERIOD} (?:{of('before_last')})",
        ),
        _IN_UNITS,
        readers.read_before_last,
        _OF_PERIOD,
    ),
    _Rule(
        pattern(rf"(?:{of('weekend_leads')}) (?P<unit>{v.any_of(v.phrases('dates.units.weekend'))})"),
        _IN_UNITS,
        readers.read_calendar,
    ),
    _Rule(pattern(rf"(?:(?:{v.ARTICLE}) )?{v.PERIOD}"), _IN_UNITS, readers.read_narrowed),
    _Rule(pattern(v.any_of(v.PERIODS_SAID)), _keys(v.PERIODS_SAID), readers.read_period),
)
