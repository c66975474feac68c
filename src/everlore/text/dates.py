"""Resolves the dates of a statement against the moment at which it was said: "tomorrow", "next Friday", "hace dos años".

What is read, and how:

- Bounds are midnights in the time zone of `at`; clock times are read by `clock`.
- What comes round again (a weekday, a date without a year, a month, a holiday) lies ahead when the sentence looks ahead, and
  behind when it looks back: the caller says which (`ahead`). "Next", "last", "this" say it themselves.
- "Next Friday" is the first to come after today; "next week" begins on the coming Monday, "last summer" on the 1st of June.
- "In two weeks" and "two years ago" are one day; a count of months or years keeps the day and says it is only near.
- "Every Friday", "on Fridays" and "los viernes" are habits and no dates.
- 5/7/2024 is the 7th of May in English (unless that cannot be) and the 5th of July elsewhere.
"""

import re
from bisect import bisect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from everlore.text.date_words import (
    DAY_WORDS,
    DOUBTFUL,
    HOLIDAYS,
    LAST,
    MONTHS,
    NEXT,
    NUMBERS,
    SEASONS,
    SHORT,
    THIS,
    UNIT,
    UNITS,
    WEEKDAYS,
)  # fmt: skip
from everlore.text.sentences import lowered, word_set

Grain: TypeAlias = Literal["day", "week", "month", "season", "year"]
Side: TypeAlias = Literal["at", "since", "until"]
_Span = tuple[datetime, datetime, Grain]
_Match = re.Match[str]


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
    low = lowered(text)
    words = set(_WORD.findall(low))
    found: list[tuple[int, int, SaidDate]] = []
    for rule in _RULES:
        if rule.words.isdisjoint(words):
            continue
        for match in rule.pattern.finditer(low):
            span = _possible(rule.read, match, _Said(at, ahead, english, text))
            if span is not None or rule.read is _read_nothing:
                found.append((match.start(), match.end(), _said(low, match, span, at)))
    taken: list[tuple[int, int]] = []
    kept: list[SaidDate] = []
    for begin, stop, date in sorted(found, key=lambda one: one[0] - one[1]):
        place = bisect(taken, (begin, stop))
        if (not place or taken[place - 1][1] <= begin) and (place == len(taken) or taken[place][0] >= stop):
            taken.insert(place, (begin, stop))
            if date.end > date.start:
                kept.append(date)
    return tuple(sorted(kept, key=lambda one: one.begin))


_UNIT_OF = {name: re.compile(words) for name, words in UNITS.items()}


def _any(words: Iterable[str]) -> str:
    return "|".join(re.escape(word).replace("\\ ", " ") for word in sorted(words, key=len, reverse=True))


def _pattern(written: str, begin: str = r"(?<![\w-])", stop: str = r"(?![\w-])") -> re.Pattern[str]:
    """Compile; a blank stands for one or two: without a bound, long runs of blanks take quadratic time."""
    return re.compile(f"{begin}(?:{written}){stop}".replace(" ", r"\s{1,2}"))


# --- arithmetic --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Said:
    """What a reader is told beside the match: the moment, which way the sentence looks, its language, the text itself."""

    at: datetime
    ahead: bool
    english: bool
    text: str

    @property
    def today(self) -> datetime:
        return self.at.replace(hour=0, minute=0, second=0, microsecond=0)


def _day(day: datetime) -> _Span:
    return day, day + timedelta(days=1), "day"


def _month(said: _Said, year: int, month: int, count: int = 1, grain: Grain = "month") -> _Span:
    """`count` months from `month`, which may lie outside 1-12."""
    bounds = (divmod(year * 12 + month - 1 + step, 12) for step in (0, count))
    start, end = (said.today.replace(year=year, month=month + 1, day=1) for year, month in bounds)
    return start, end, grain


def _possible(read: Callable[[_Match, _Said], _Span | None], match: _Match, said: _Said) -> _Span | None:
    """What `read` gives, or None for a date that no calendar has."""
    try:
        return read(match, said)
    except (ValueError, OverflowError):
        return None


def _yearly(said: _Said, span_of: Callable[[int], _Span], which: int | None = None) -> _Span | None:
    """The one that is meant of something that comes every year: `which` -1 the last, 0 of this year, 1 the next."""
    year = said.today.year
    if which == 0:
        return span_of(year)
    found: list[_Span] = []
    for step in (-4, -3, -2, -1, 0, 1, 2, 3, 4):  # eight years hold a 29 February
        try:
            found.append(span_of(year + step))
        except ValueError:
            continue
    if which == 1 or (which is None and said.ahead):
        return next((span for span in found if span[1] > said.today + timedelta(days=which or 0)), None)
    return next((span for span in reversed(found) if (span[1] if which else span[0]) <= said.today), None)


def _stepped(day: datetime, unit: str, count: int) -> datetime:
    """`day` moved by `count` units; a day that its month lacks becomes the month's last."""
    if unit in {"day", "week"}:
        return day + timedelta(days=count * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 + count * (12 if unit == "year" else 1)
    for back in range(4):
        try:
            return day.replace(year=months // 12, month=months % 12 + 1, day=day.day - back)
        except ValueError:
            if back == 3:
                raise
    return day


def _group(match: _Match, name: str) -> str | None:
    return match[name] if name in match.re.groupindex else None


def _which(match: _Match) -> int | None:
    for name, meant in (("next", 1), ("nach", 1), ("last", -1), ("back", -1), ("this", 0)):
        if _group(match, name):
            return meant
    return None


def _unit(written: str) -> str:
    return next(name for name, words in _UNIT_OF.items() if words.fullmatch(written))


# --- readers, one for each kind of expression --------------------------------------------------------------


def _read_nothing(match: _Match, said: _Said) -> None:
    """For what looks like a date and is none: it wins over the shorter, wrong reading."""


def _read_iso(match: _Match, said: _Said) -> _Span:
    return _day(said.today.replace(year=int(match["y"]), month=int(match["m"]), day=int(match["d"])))


def _read_numeric(match: _Match, said: _Said) -> _Span:
    first, second, year = int(match["a"]), int(match["b"]), int(match["y"])
    year += 2000 if year < 100 else 0
    month_first = said.english and match["mark"] == "/" and first <= 12
    month, day = (first, second) if month_first or second > 12 else (second, first)
    return _day(said.today.replace(year=year, month=month, day=day))


def _read_date(match: _Match, said: _Said) -> _Span | None:
    month, day, year = MONTHS[match["month"]], int(match["day"]), match["year"]
    base = said.today.replace(day=1)
    if year:
        return _day(base.replace(year=int(year), month=month, day=day))
    return _yearly(said, lambda one: _day(base.replace(year=one, month=month, day=day)), _which(match))


def _read_month(match: _Match, said: _Said) -> _Span | None:
    month, year, which = match["month"], _group(match, "year"), _which(match)
    if year:
        return _month(said, int(year), MONTHS[month])
    written = said.text[match.start("month") : match.end("month")]
    if month in DOUBTFUL and which is None and not (match["lead"] and written[:1].isupper()):
        return None
    if which is None and not match["lead"]:
        return None
    return _yearly(said, lambda one: _month(said, one, MONTHS[month]), which)


def _read_season(match: _Match, said: _Said) -> _Span | None:
    begins, year, which = SEASONS[match["season"]], _group(match, "year"), _which(match)
    if year:
        return _month(said, int(year), begins, 3, "season")
    if which == 0 and begins == 12 and said.today.month <= (2 if said.ahead else 6):
        return _month(said, said.today.year, 0, 3, "season")
    return _yearly(said, lambda one: _month(said, one, begins, 3, "season"), which)


def _read_holiday(match: _Match, said: _Said) -> _Span | None:
    month, day = HOLIDAYS[" ".join(match["holiday"].split())]
    base = said.today.replace(day=1)
    if match["year"]:
        return _day(base.replace(year=int(match["year"]), month=month, day=day))
    return _yearly(said, lambda one: _day(base.replace(year=one, month=month, day=day)), _which(match))


def _read_weekday(match: _Match, said: _Said) -> _Span | None:
    name = match["weekday"]
    if name in SHORT and not (match["on"] or _which(match) is not None):
        return None
    distance = WEEKDAYS[name] - said.today.weekday()
    which = _which(match)
    if _group(match, "week"):
        week = {"next": 7, "last": -7, "this": 0}[match["week"]]
        return _day(said.today + timedelta(days=distance + week))
    if which == -1 or (which is None and not said.ahead):
        return _day(said.today - timedelta(days=-distance % 7 or 7))
    if which is None or which == 0:
        return _day(said.today + timedelta(days=distance % 7))
    return _day(said.today + timedelta(days=distance % 7 or 7))


def _read_word(match: _Match, said: _Said) -> _Span:
    return _day(said.today + timedelta(days=DAY_WORDS[" ".join(match[0].split())]))


def _read_manana(match: _Match, said: _Said) -> _Span:
    return _day(said.today + timedelta(days=1))


def _read_counted(match: _Match, said: _Said) -> _Span | None:
    written = " ".join(match["count"].split())
    count = int(written) if written.isdigit() else NUMBERS[written]
    unit, sign = _unit(match["unit"]), 1 if match.re.groupindex.get("ahead") else -1
    if unit in {"hour", "minute"}:
        moment = said.at + sign * count * timedelta(minutes=60 if unit == "hour" else 1)
        return _day(moment.replace(hour=0, minute=0, second=0, microsecond=0))
    start, end, _ = _day(_stepped(said.today, unit, sign * count))
    return start, end, "month" if unit == "month" else "year" if unit == "year" else "day"


def _read_calendar(match: _Match, said: _Said) -> _Span | None:
    unit, which = match["scale"], _which(match) or 0
    today = said.today
    monday = today - timedelta(days=today.weekday())
    if re.match("week|semana|woche|semaine", unit) and not unit.startswith(("weekend", "wochenende")):
        start = monday + timedelta(days=7 * which)
        return start, start + timedelta(days=7), "week"
    if re.match("weekend|fin de|wochenende", unit):
        # "Last weekend" is the latest that is over, "this" and "next" the ones that end this week and the next.
        start = monday + timedelta(days=5 + 7 * which)
        return start, start + timedelta(days=2), "day"
    if re.match("month|mes|monat|mois", unit):
        return _month(said, today.year, today.month + which)
    if unit in {"quarter", "trimestre"}:
        return _month(said, today.year, (today.month - 1) // 3 * 3 + 1 + 3 * which, 3, "season")
    return _month(said, today.year + which, 1, 12, "year")


def _read_end(match: _Match, said: _Said) -> _Span | None:
    """The last day of this week, month or year, or of a named month."""
    if month := _group(match, "month"):
        span = _yearly(said, lambda one: _month(said, one, MONTHS[month]))
    else:
        span = _read_calendar(match, said)
    return span and _day(span[1] - timedelta(days=3 if span[2] == "week" else 1))


def _read_year(match: _Match, said: _Said) -> _Span:
    return _month(said, int(match["y"]), 1, 12, "year")


# --- the table of rules ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    words: frozenset[str]  # without one of these the pattern cannot match: spares the search
    read: Callable[[_Match, _Said], _Span | None]


_WORD = re.compile(r"[^\W\d_]+|\d")
_DIGITS = frozenset("0123456789")
_MONTH_WORDS, _DAY_OF_WEEK = frozenset(MONTHS), frozenset(one.split("-")[0] for one in WEEKDAYS)
_Y = r"(?:19|20)\d\d(?![\d.,]\d|\d)"
_M = rf"(?P<month>{_any(MONTHS)})"
_D = r"(?P<day>3[01]|[12]\d|0?[1-9])(?!\d|:\d|[.,]\d)"
_ONE = rf"(?:(?P<next>{NEXT})|(?P<last>{LAST})|(?P<this>{THIS}))"
_COUNT = rf"(?P<count>{_any(NUMBERS)}|\d{{1,3}})"
_SCALE = (
    "(?P<scale>weekend|week|month|quarter|year|fin de semana|semana|mes|trimestre|año|wochenende|woche|monat|jahr"
    "|semaine|mois|année)"
)
_SCALE_WORDS = word_set(
    "week weekend month quarter year fin semana mes trimestre año woche wochenende monat jahr semaine mois année"
)
_WEEKDAY = _any(WEEKDAYS)
_RULES = (
    _Rule(
        _pattern(
            rf"(?:every|each|cada|todos los|todas las|jeden|jede|chaque|most|a|any)"
            rf" (?:other |second )?(?:{_WEEKDAY}|{_any(MONTHS)}"
            rf"|{_any(SEASONS)}|day|week|month|year)s?(?: (?:and|or|y) (?:{_WEEKDAY})s?)?"
            rf"|(?:on |los )(?:{_WEEKDAY})s(?: (?:and|y) (?:los )?(?:{_WEEKDAY})s?)?"
            rf"|los (?:{_WEEKDAY})(?: y (?:los )?(?:{_WEEKDAY}))?"
        ),
        frozenset(
            (
                "every",
                "each",
                "cada",
                "todos",
                "todas",
                "los",
                "on",
                "jeden",
                "jede",
                "chaque",
                "most",
                "a",
                "any",
            )
        ),
        _read_nothing,
    ),
    _Rule(
        _pattern(
            r"(?:room|version|windows|office|model|page|port|route|flight|order|ticket|issue|error|build) #?\d{4}"
        ),
        _DIGITS,
        _read_nothing,
    ),
    _Rule(
        _pattern(r"(?P<y>(?:19|20)\d\d)[-/](?P<m>\d\d?)[-/](?P<d>\d\d?)", stop=r"(?!\d)"), _DIGITS, _read_iso
    ),
    _Rule(
        _pattern(
            r"(?P<a>\d\d?)(?P<mark>[./-])(?P<b>\d\d?)(?P=mark)(?P<y>(?:19|20)\d\d|\d\d)",
            stop=r"(?![\d/.]\d|\d)",
        ),
        _DIGITS,
        _read_numeric,
    ),
    _Rule(
        _pattern(
            rf"(?:(?:{_WEEKDAY}),? )?(?:the )?(?:{_ONE} )?{_M}\.? (?:the )?{_D}(?:st|nd|rd|th)?(?:,? (?:of )?(?P<year>{_Y}))?"
        ),
        _MONTH_WORDS,
        _read_date,
    ),
    _Rule(
        _pattern(
            rf"(?:(?:{_WEEKDAY}),? )?(?:the |el |le |am |den |dem )?{_D}(?:st|nd|rd|th|er|º|\.)? (?:of |de )?(?:{_ONE} )?{_M}"
            rf"(?:\.?,? (?:de |del )?(?P<year>{_Y}))?"
        ),
        _MONTH_WORDS,
        _read_date,
    ),
    _Rule(
        _pattern(
            rf"(?:(?:in|since|by|until|en|desde|hasta|im|seit|bis|depuis) )?{_M}\.?,? (?:of |de |del )?(?P<year>{_Y})"
        ),
        _MONTH_WORDS,
        _read_month,
    ),
    _Rule(
        _pattern(
            rf"(?:(?P<lead>in|since|by|until|during|early|late|mid|en|desde|hasta|im|seit|bis|em|depuis|of|from)(?: the)? )?"
            rf"(?:{_ONE} )?{_M}(?P<nach> próximo| que viene)?(?P<back> pasado)?"
        ),
        _MONTH_WORDS,
        _read_month,
    ),
    _Rule(
        _pattern(
            rf"(?:{_ONE} (?:the )?|in the |in |over the |during the |by |since |en |el |la |este |esta )"
            rf"(?P<season>{_any(SEASONS)})"
            rf"(?P<nach> próxim[oa]| que viene)?(?P<back> pasad[oa])?(?: (?:of |de |del )?(?P<year>{_Y}))?"
        ),
        frozenset(SEASONS),
        _read_season,
    ),
    _Rule(
        _pattern(rf"(?:{_ONE} )?(?P<holiday>{_any(HOLIDAYS)})(?: (?:de )?(?P<year>{_Y}))?"),
        frozenset(word for name in HOLIDAYS for word in re.findall(r"\w{2,}", name)),
        _read_holiday,
    ),
    _Rule(
        _pattern(
            rf"(?P<on>on |am |el |le )?(?:{_ONE} )?(?P<weekday>{_WEEKDAY})(?P<nach> que viene| próximo)?(?P<back> pasado)?"
            r"(?: of)?(?: (?P<week>last|this|next) week)?"
        ),
        _DAY_OF_WEEK,
        _read_weekday,
    ),
    _Rule(
        _pattern(_any(DAY_WORDS)),
        frozenset(word for one in DAY_WORDS for word in re.findall(r"\w+", one)),
        _read_word,
    ),
    _Rule(
        _pattern("mañana", begin=r"(?<![\w-])(?<!la\s)(?<!esta\s)(?<!una\s)(?<!cada\s)(?<!pasado\s)"),
        frozenset(("mañana",)),
        _read_manana,
    ),
    _Rule(
        _pattern("morgen", begin=r"(?<![\w-])(?<!guten\s)(?<!am\s)(?<!jeden\s)(?<!diesen\s)(?<!en\s)"),
        frozenset(("morgen",)),
        _read_manana,
    ),
    _Rule(_pattern(rf"{_COUNT} {UNIT} ago"), frozenset(("ago",)), _read_counted),
    _Rule(
        _pattern(rf"(?:hace|vor|il y a|há) {_COUNT} {UNIT}(?! que)"),
        frozenset(("hace", "vor", "il", "há")),
        _read_counted,
    ),
    _Rule(
        _pattern(rf"(?P<ahead>in|within|dentro de|en|dans) {_COUNT} {UNIT}(?!['’]s| time\w)"),
        frozenset(("in", "within", "dentro", "en", "dans")),
        _read_counted,
    ),
    _Rule(_pattern(rf"{_COUNT} {UNIT} (?P<ahead>from now)"), frozenset(("now",)), _read_counted),
    _Rule(
        _pattern(rf"(?:the |el |la |over the |at the )?{_ONE} {_SCALE}"),
        _SCALE_WORDS,
        _read_calendar,
    ),
    _Rule(
        _pattern(
            rf"(?:el |la |este |esta )?{_SCALE}(?:(?P<nach> que viene| próxim[oa])|(?P<back> pasad[oa]))"
        ),
        _SCALE_WORDS,
        _read_calendar,
    ),
    _Rule(
        _pattern(
            rf"(?:(?:the )?end of|(?:el |a )?(?:final|finales|fin) de) (?:the |este |esta |{_ONE} )?(?:{_SCALE}|{_M})"
        ),
        frozenset(("end", "final", "finales", "fin")),
        _read_end,
    ),
    _Rule(
        _pattern(
            rf"(?:in|since|until|by|during|from|en|desde|hasta|seit|depuis|im jahr|around|of|de|early|late|mid-?) ?(?P<y>{_Y})",
            stop=r"(?![\w%-])",
        ),
        _DIGITS,
        _read_year,
    ),
)
_SINCE = _pattern(
    r"(?:ever )?(?:since|desde|seit|depuis|as of|starting|a partir de)(?: (?:the|el|la|early|late|mid))?\s?",
    stop="$",
)
_UNTIL = _pattern(
    r"(?:by|until|till|before|due|hasta|bis|antes de|para|no later than)(?: (?:on|the|el|la|del))?\s?",
    stop="$",
)
_SIDE_WITHIN = re.compile(r"(?:(since|desde|seit|depuis|from)|(by|until|before|hasta|bis))\b")


def _said(low: str, match: _Match, span: _Span | None, at: datetime) -> SaidDate:
    """The match as a date; an empty one (which only takes its place) where there is no span."""
    begin, stop = match.span()
    if span is None:
        return SaidDate(at, at, "day", "at", begin, stop)
    within = _SIDE_WITHIN.match(low, begin, stop)
    ahead = low[max(0, begin - 24) : begin]
    if (within and within[1]) or _SINCE.search(ahead):
        side: Side = "since"
    elif (within and within[2]) or _UNTIL.search(ahead):
        side = "until"
    else:
        side = "at"
    return SaidDate(span[0], span[1], span[2], side, begin, stop)
