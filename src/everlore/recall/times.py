"""Reads the time expressions of a question ("last May", "since 2021", "two weeks ago") into ranges.

A question is read in three steps:

1. every rule of `_RULES` looks for its own kind of expression; where two overlap, the longer one wins,
2. words in front may narrow it ("early 2022"), and two may form one range ("from May to July 2023"),
3. words in front may open one end ("since May", "before 2020") or step aside ("the week after Christmas").

What the ranges mean:

- All bounds are midnights in the time zone of `now`. Clock times are ignored; "last night" is yesterday.
- A month, day, season or holiday without a year is the latest that has begun ("in May", "May 7"); "last" is
  the latest that is over, "this" that of the running year, "next" the first to come. A weekday is the latest
  before today.
- Seasons are the northern meteorological ones: spring is March to May. "Winter 2023" begins in December 2023,
  unless that is still to come: then it is the winter that ended in 2023.
- "Last week" is the calendar week (Monday first); "the past week" and "in the last week" are the seven days
  up to now, today included.
- "N days ago" is that day; weeks reach 3 days either side, months 15, years half a year and at least that
  whole calendar year. "A few", "several" and "a couple of" reach further still.
- Early, mid and late are thirds. "By May" and "until May" include May.
- 5/7/2023 is 7 May (month first, unless that is impossible), 5.7.2023 is 5 July.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

_T = TypeVar("_T")
_Span = tuple[datetime, datetime]
_Match = re.Match[str]


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A stretch of time that a question names."""

    start: datetime | None  # inclusive; None is open ("before May")
    end: datetime | None  # exclusive; None is open ("since May")
    text: str  # the words it was read from


def read_times(question: str, now: datetime) -> tuple[TimeRange, ...]:
    """Read the ranges that `question` names, in order of appearance, in the time zone of `now` (aware)."""
    text = _lowered(question)
    found = _find(text, question)
    ranges: list[TimeRange | None] = []
    while found:
        here = found.popleft()
        after = found[0] if found else None
        if after and _are_pair(text, here, after):
            found.popleft()
            ranges.append(_possible(_range_of_pair, question, text, here, after, now))
        else:
            ranges.append(_possible(_range_of_one, question, text, here, after, now))
    return tuple(read for read in ranges if read)


# --- vocabulary --------------------------------------------------------------------------------------------


def _numbered(words: str, first: int) -> dict[str, int]:
    """A table from "one|a, two, three|few": every word of the first group means `first`, and so on."""
    groups = words.split(", ")
    return {word: number for number, group in enumerate(groups, first) for word in group.split("|")}


# English, then Swedish, German, Spanish, French, Portuguese; names that several of them share stand once.
_MONTHS = _numbered(
    "january|jan|januari|januar|jänner|enero|janvier|janeiro, "
    "february|feb|februari|februar|febrero|février|fevrier|fevereiro, "
    "march|mar|mars|märz|marzo|março, "
    "april|apr|abril|avril, "
    "may|maj|mai|mayo|maio, "
    "june|jun|juni|junio|juin|junho, "
    "july|jul|juli|julio|juillet|julho, "
    "august|aug|augusti|agosto|août|aout, "
    "september|sep|sept|septiembre|septembre|setembro, "
    "october|oct|oktober|okt|octubre|octobre|outubro, "
    "november|nov|noviembre|novembre|novembro, "
    "december|dec|dezember|dez|diciembre|décembre|decembre|dezembro",
    first=1,
)
# These are also other words or first names: alone they need a word in front that makes them a month.
_DOUBTFUL = _numbered("jan|feb|mar|march|apr|april|may|jun|june|aug|august|sep|sept|oct|nov|dec", first=0)
_DOUBTFUL_ABROAD = frozenset(("mars", "mai", "mayo", "dez", "okt", "jul"))

_WEEKDAYS = _numbered(
    "monday|måndag|måndags|måndagen|montag|lunes|lundi|segunda-feira, "
    "tuesday|tisdag|tisdags|tisdagen|dienstag|martes|mardi|terça-feira, "
    "wednesday|onsdag|onsdags|onsdagen|mittwoch|miércoles|mercredi|quarta-feira, "
    "thursday|torsdag|torsdags|torsdagen|donnerstag|jueves|jeudi|quinta-feira, "
    "friday|fredag|fredags|fredagen|freitag|viernes|vendredi|sexta-feira, "
    "saturday|lördag|lördags|lördagen|samstag|sábado|samedi, "
    "sunday|söndag|söndags|söndagen|sonntag|domingo|dimanche",
    first=0,
)
_SHORT_WEEKDAYS = _numbered("mon, tue|tues, wed, thu|thur|thurs, fri, sat, sun", first=0)

_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # the month in which they begin
_HOLIDAYS = {  # month, day, number of days
    "christmas": (12, 24, 3),
    "xmas": (12, 24, 3),
    "christmas eve": (12, 24, 1),
    "christmas day": (12, 25, 1),
    "boxing day": (12, 26, 1),
    "new year's eve": (12, 31, 1),
    "new year's day": (1, 1, 1),
    "valentine's day": (2, 14, 1),
    "st patrick's day": (3, 17, 1),
    "independence day": (7, 4, 1),
    "halloween": (10, 31, 1),
}

_PHRASE_LISTS = {  # unit, and how many of them from the present one
    "day before yesterday|förrgår|vorgestern|anteayer|anteontem|avant-hier": ("day", -2),
    "yesterday|last night|igår|i går|gestern|ayer|ontem|hier soir|hier matin": ("day", -1),
    "today|tonight|this morning|this afternoon|this evening|idag|i dag|heute|hoy|hoje|aujourd'hui": (
        "day",
        0,
    ),
    "tomorrow": ("day", 1),
    "day after tomorrow": ("day", 2),
    "week before last": ("week", -2),
    "förra veckan|letzte woche|letzter woche|la semana pasada|semana passada|la semaine dernière": (
        "week",
        -1,
    ),
    "weekend before last": ("weekend", -2),
    "over the weekend|at the weekend|on the weekend|during the weekend": ("weekend", -1),
    "month before last": ("month", -2),
    "förra månaden|letzten monat|el mes pasado|mês passado|le mois dernier": ("month", -1),
    "year before last": ("year", -2),
    "förra året|i fjol|letztes jahr|letzten jahr|el año pasado|ano passado|l'an dernier|l'année dernière": (
        "year",
        -1,
    ),
}
_PHRASES = {phrase: meant for phrases, meant in _PHRASE_LISTS.items() for phrase in phrases.split("|")}

_WHICH = _numbered(
    "last|past|this past|previous|förra|letzten, this|current, next|coming|upcoming|following|nästa|nächsten",
    first=-1,
)
_NUMBERS = _numbered(
    "half a, one|a|an, two|couple of|a couple of, three|few|a few, four|several, five, six, seven, eight, "
    "nine, ten, eleven, twelve",
    first=0,
)
_VAGUE = frozenset(("a couple of", "couple of", "a few", "few", "several"))
_SLACK = {"day": 0, "week": 3, "month": 15, "year": 183, "decade": 1826}  # days either side of "N units ago"
_SLACK_VAGUE = {"day": 2, "week": 7, "month": 31, "year": 365, "decade": 3652}
_UNIT_DAYS = {"day": 1, "week": 7}
_UNIT_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}


# --- arithmetic --------------------------------------------------------------------------------------------


def _date(year: int, month: int, day: int, now: datetime) -> datetime:
    return datetime(year, month, day, tzinfo=now.tzinfo)


def _days(start: datetime, count: int) -> _Span:
    return start, start + timedelta(days=count)


def _months(year: int, month: int, count: int, now: datetime) -> _Span:
    """`count` months from the first of `month`; month 0 is the December before, 13 the next January."""
    bounds = (divmod(year * 12 + month - 1 + step, 12) for step in (0, count))
    start, end = (_date(year, month + 1, 1, now) for year, month in bounds)
    return start, end


def _stepped(day: datetime, unit: str, count: int) -> datetime:
    """`day` moved by `count` units; a day that its month lacks becomes the month's last."""
    if unit in _UNIT_DAYS:
        return day + timedelta(days=count * _UNIT_DAYS[unit])
    first, end = _months(day.year, day.month + count * _UNIT_MONTHS[unit], 1, day)
    return min(first + timedelta(days=day.day - 1), end - timedelta(days=1))


def _calendar(unit: str, offset: int, now: datetime) -> _Span:
    """The calendar day, week, month ... that lies `offset` of its kind from the present one."""
    today = _date(now.year, now.month, now.day, now)
    monday = today - timedelta(days=today.weekday())
    match unit:
        case "day":
            return _days(today + timedelta(days=offset), 1)
        case "week":
            return _days(monday + timedelta(days=7 * offset), 7)
        case "weekend":
            return _days(monday + timedelta(days=7 * offset + 5), 2)
        case "month":
            return _months(now.year, now.month + offset, 1, now)
        case "quarter":
            return _months(now.year, (now.month - 1) // 3 * 3 + 1 + 3 * offset, 3, now)
        case "decade":
            return _months(now.year // 10 * 10 + 10 * offset, 1, 120, now)
        case _:
            return _months(now.year + offset, 1, 12, now)


def _possible(make: Callable[..., _T | None], *given: object) -> _T | None:
    """What `make` gives, or None for a date that no calendar has (31 February, the year 12,000)."""
    try:
        return make(*given)
    except (ValueError, OverflowError):
        return None


def _said(words: str) -> str:
    """The form under which a table is looked up: single blanks, no apostrophes."""
    return " ".join(words.replace("'", "").replace("’", "").split())


def _group(match: _Match, name: str) -> str | None:
    return match[name] if name in match.re.groupindex else None


def _yearly(match: _Match, now: datetime, span_of: Callable[[int], _Span]) -> _Span | None:
    """The one occurrence that the match means of something that comes round every year."""
    if year := _group(match, "year"):
        return span_of(int(year) if year.isdigit() else now.year + _WHICH[year.split()[0]])
    which = _WHICH.get(_group(match, "which") or "")
    if which == 0:
        return span_of(now.year)
    # Eight years hold a 29 February even where a century has none.
    if which == 1:
        coming = (_possible(span_of, now.year + step) for step in range(9))
        return next((span for span in coming if span and span[0] > now), None)
    past = (_possible(span_of, now.year - step) for step in range(9))
    return next((span for span in past if span and (span[1] if which else span[0]) <= now), None)


# --- readers, one for each kind of expression --------------------------------------------------------------


def _read_nothing(match: _Match, now: datetime) -> None:
    """For words that look like a time and are none: they win over the shorter, wrong reading."""


def _read_iso(match: _Match, now: datetime) -> _Span:
    year, month = int(match["year"]), int(match["month"])
    if day := _group(match, "day"):
        return _days(_date(year, month, int(day), now), 1)
    _date(year, month, 1, now)  # refuses month 13, which `_months` would carry over
    return _months(year, month, 1, now)


def _read_numeric(match: _Match, now: datetime) -> _Span | None:
    import dateparser  # 0.1 s to import, needed by one question in hundreds

    century = "20" if len(match["year"]) == 2 else ""
    day = dateparser.parse(
        f"{match['first']}/{match['second']}/{century}{match['year']}",
        languages=["en"],
        settings={
            "DATE_ORDER": "MDY" if match["mark"] == "/" else "DMY",
            "PREFER_LOCALE_DATE_ORDER": False,
            "PARSERS": ["absolute-time"],
            "STRICT_PARSING": True,
        },
    )
    return _days(_date(day.year, day.month, day.day, now), 1) if day else None


def _read_date(match: _Match, now: datetime) -> _Span | None:
    month, day = _MONTHS[match["month"]], int(match["day"])
    until = int(_group(match, "until") or day)
    return _yearly(
        match, now, lambda year: (_date(year, month, day, now), _days(_date(year, month, until, now), 1)[1])
    )


def _read_month(match: _Match, now: datetime) -> _Span | None:
    return _yearly(match, now, lambda year: _months(year, _MONTHS[match["month"]], 1, now))


def _read_season(match: _Match, now: datetime) -> _Span | None:
    begins = _SEASONS[match["season"]]
    if begins < 12:
        return _yearly(match, now, lambda year: _months(year, begins, 3, now))
    if match["which"] in ("this", "current") and now.month <= 6:
        return _months(now.year, 0, 3, now)
    span = _yearly(match, now, lambda year: _months(year, begins, 3, now))
    if span and match["year"] and span[0] > now:
        return _months(span[0].year, 0, 3, now)
    return span


def _read_holiday(match: _Match, now: datetime) -> _Span | None:
    month, day, days = _HOLIDAYS_SAID[_said(match["holiday"])]
    return _yearly(match, now, lambda year: _days(_date(year, month, day, now), days))


def _read_quarter(match: _Match, now: datetime) -> _Span | None:
    return _yearly(match, now, lambda year: _months(year, int(match["quarter"]) * 3 - 2, 3, now))


def _read_decade(match: _Match, now: datetime) -> _Span:
    decade = int(match["decade"])
    if decade < 100:
        decade += now.year // 100 * 100
        decade -= 100 if decade > now.year else 0
    return _months(decade, 1, 120, now)


def _read_years(match: _Match, now: datetime) -> _Span | None:
    first, last = int(match["first"]), int(_group(match, "last") or match["first"])
    return _months(first, 1, 12 * (last - first + 1), now) if last >= first else None


def _read_ago(match: _Match, now: datetime) -> _Span:
    today, _ = _calendar("day", 0, now)
    count, unit = _counted(match), match["unit"]
    sign = -1 if match["side"] == "ago" else 1
    if unit in ("minute", "hour"):
        moment = now + sign * count * timedelta(minutes=1 if unit == "minute" else 60)
        return _calendar("day", 0, moment)
    if unit == "year" and "half" in match[0]:
        unit, count = "month", count * 12 + 6
    point = _stepped(today, unit, sign * count)
    slack = (_SLACK_VAGUE if match["count"] in _VAGUE else _SLACK)[unit]
    start, end = point - timedelta(days=slack), point + timedelta(days=slack + 1)
    if unit == "year":
        whole = _calendar("year", 0, point)
        start, end = min(start, whole[0]), max(end, whole[1])
    return start, end


def _read_rolling(match: _Match, now: datetime) -> _Span:
    """So many days, weeks ... up to and including today, or from tomorrow on."""
    today, tomorrow = _calendar("day", 0, now)
    unit, count = match["unit"], _counted(match)
    if unit in ("minute", "hour"):
        unit, count = "day", count // (24 if unit == "hour" else 1440)
    if _WHICH[match["which"]] == 1:
        return tomorrow, _stepped(tomorrow, unit, max(count, 1))
    return _stepped(today, unit, -count), tomorrow


def _read_calendar(match: _Match, now: datetime) -> _Span:
    return _calendar(match["unit"], _WHICH[_group(match, "which") or "this"], now)


def _read_phrase(match: _Match, now: datetime) -> _Span:
    unit, offset = _PHRASES_SAID[_said(match[0])]
    return _calendar(unit, offset, now)


def _read_weekday(match: _Match, now: datetime) -> _Span:
    name = match["weekday"]
    day = _WEEKDAYS[name] if name in _WEEKDAYS else _SHORT_WEEKDAYS[name]
    if week := _group(match, "week"):
        monday, _ = _calendar("week", _WHICH[week], now)
        return _days(monday + timedelta(days=day), 1)
    today, _ = _calendar("day", 0, now)
    distance = day - today.weekday()
    match _WHICH.get(match["which"] or "last"):
        case 0:
            return _days(today + timedelta(days=distance), 1)
        case 1:
            return _days(today + timedelta(days=distance % 7 or 7), 1)
        case _:
            return _days(today - timedelta(days=-distance % 7 or 7), 1)


def _counted(match: _Match) -> int:
    count = _group(match, "count")
    if not count:
        return 1
    return int(count) if count.isdigit() else _NUMBERS[" ".join(count.split())]


# --- which matches count -----------------------------------------------------------------------------------


def _is_month(match: _Match, question: str) -> bool:
    """Whether a lone month name is a month, not a verb ("I may go") or a person ("did June call")."""
    name, begin = match["month"], match.start("month")
    written = question[begin : match.end("month")]
    if which := match["which"]:
        may_be = name == "may" and which == "this" and written != "May"
        return not may_be or _ENDING.match(match.string, match.end()) is not None
    ahead = match.string[max(0, begin - 48) : begin]
    if name in _DOUBTFUL_ABROAD:
        return _LEAD_ABROAD.search(ahead) is not None
    if name not in _DOUBTFUL or _LEAD_MONTH.search(ahead):
        return True
    return written.istitle() and _MID_SENTENCE.search(ahead) is not None and not _LEAD_PERSON.search(ahead)


def _is_season(match: _Match, question: str) -> bool:
    """Whether a season's name is a season, not a verb or a thing ("fall asleep", "a hot spring")."""
    if match["year"] or match["which"]:
        return True
    lead = _LEAD_FALL if match["season"] == "fall" else _LEAD_SEASON
    return lead.search(match.string[max(0, match.start() - 24) : match.start()]) is not None


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


def _pattern(written: str, begin: str = r"(?<!\w)", stop: str = r"(?!\w)") -> re.Pattern[str]:
    """Compile; a blank stands for one to three: without a bound, long runs of blanks take quadratic time."""
    return re.compile(f"{begin}(?:{written}){stop}".replace(" ", r"\s{1,3}"))


_ENDING = re.compile(r"\s{0,3}(?:$|[?.!,;])")
_MID_SENTENCE = re.compile(r"[^\s.?!:;\"“(]\s{1,3}$")
_LEAD_MONTH = _pattern(
    r"(?:in|since|of|during|early|mid|late|by|before|after|until|till|through|between|from|for|around) "
    rf"|(?:between|from) (?:early |mid |late )?(?:{_any(_MONTHS)})(?:,? \d{{4}})? (?:and|to|until|through) "
    rf"|(?:{_any(_MONTHS)}) (?:and|or|to) ",
    stop="$",
)
_LEAD_PERSON = _pattern(
    r"(?:did|does|do|is|was|has|had|will|would|can|could|should|with|and|or|to|about|than|friend|named|called|aunt"
    r"|tell|told|ask|asked|met|meet) ",
    stop="$",
)
_LEAD_ABROAD = _pattern(
    r"(?:i|im|en|em|de|le|den|seit|sedan|desde|depuis|vor|före|avant|förra|letzten) ", stop="$"
)
_LEAD_SEASON = _pattern(
    r"(?:in|during|over|since|until|before|after|by|of|early|mid|late|through|from|between)(?: the| that)? ",
    stop="$",
)
_LEAD_FALL = _pattern(r"(?:in|during|over|since|early|mid|late)(?: the)? ", stop="$")


# --- the table of rules ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    words: frozenset[str]  # without one of these in the question the pattern cannot match: spares the search
    read: Callable[[_Match, datetime], _Span | None]
    counts: Callable[[_Match, str], bool] | None = None
    returns: timedelta | None = (
        None  # how often it comes round, where neither "last" nor a year says which one
    )


_DIGITS = frozenset("0123456789")
_YEARLY, _WEEKLY = timedelta(days=365), timedelta(days=7)
_COUNT = rf"(?P<count>{_any(_NUMBERS)}|\d{{1,3}})"
_UNIT = r"(?P<unit>minute|hour|day|week|month|year|decade)"
_SCALED = "(?P<unit>week|weekend|month|quarter|year|decade)"
_ONE = rf"(?P<which>{_any(_WHICH)})"
_NO_AMOUNT = (
    r"(?!%| (?:dollars|euros?|pounds|bucks|usd|eur|sek|kr|kronor|people|users|members|guests|steps|words"
    r"|pages|points|items|times|calories|kcal|miles|km|kg|grams|ml|meters|metres|feet|pixels|tokens|lines|files|seconds|minutes"
    r"|hours|days|weeks|months|years|percent|copies|photos|books)\b)"
)
_Y = rf"(?:19|20)\d\d(?!\w|[.,:]\d){_NO_AMOUNT}"
_YEAR = rf"(?:,? (?:of |de |del )?|,)(?P<year>{_Y}|(?:last|this|next) year)"
_MONTH = rf"(?P<month>{_any(_MONTHS)})"
_DAY_NUMBER = r"(?:3[01]|[12]\d|0?[1-9])(?!\d|:\d)"
_DAY = rf"(?P<day>{_DAY_NUMBER}){_NO_AMOUNT}(?:st|nd|rd|th|er|º)?"
_TO_DAY = rf"(?: )?(?:-|–|to|and|until|through|bis)(?: )?(?P<until>{_DAY_NUMBER})(?:st|nd|rd|th)?"
_WEEKDAY = rf"(?:{_any([*_WEEKDAYS, *_SHORT_WEEKDAYS])})"
_NUMBERED = (
    r"room|version|windows|office|model|page|line|step|port|number|no\.|nr|level|code|pin|route|flight|gate|unit|bus"
    r"|apt|apartment|suite|chapter|order|ticket|invoice|issue|error"
)
_NO_YEAR_AHEAD = r"(?:(?<![-\w.,:/$€£#+@])|(?<=mid-)|(?<=pre-)|(?<=post-)|(?<=early-)|(?<=late-))"

_monthly = partial(_Rule, words=frozenset(_MONTHS), returns=_YEARLY)
_weekday = partial(_Rule, read=_read_weekday, returns=_WEEKLY)
_numeral = partial(_Rule, words=_DIGITS)

_RULES = (
    # What only looks like a time.
    _numeral(_pattern(rf"(?:{_NUMBERED})(?: |: )#?{_Y}(?!-\d)"), read=_read_nothing),
    _Rule(
        _pattern(rf"(?:every|each) (?:{_any([*_WEEKDAYS, *_MONTHS, *_SEASONS])}|christmas)"),
        frozenset(("every", "each")),
        _read_nothing,
    ),
    # Days.
    _numeral(
        _pattern(
            r"(?P<year>(?:19|20)\d\d)(?P<mark>[-/])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)(?!-?\d)", stop=""
        ),
        read=_read_iso,
    ),
    _numeral(_pattern(r"(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)(?!-?\d)"), read=_read_iso),
    _numeral(
        _pattern(r"(?P<first>\d{1,2})(?P<mark>[/.])(?P<second>\d{1,2})(?P=mark)(?P<year>(?:19|20)\d\d)"),
        read=_read_numeric,
    ),
    _numeral(
        _pattern(r"(?P<first>\d{1,2})(?P<mark>/)(?P<second>\d{1,2})/(?P<year>\d\d)"), read=_read_numeric
    ),
    _monthly(
        _pattern(rf"(?:{_WEEKDAY},? )?(?:{_ONE} )?{_MONTH}\.? (?:the )?{_DAY}(?:{_TO_DAY})?(?:{_YEAR})?"),
        read=_read_date,
    ),
    _monthly(
        _pattern(
            rf"(?:{_WEEKDAY},? )?(?:the )?{_DAY}\.?(?:{_TO_DAY}\.?)?"
            rf" (?:of |de )?(?:{_ONE} )?{_MONTH}(?:\.?{_YEAR})?"
        ),
        read=_read_date,
    ),
    _weekday(
        _pattern(rf"(?P<weekday>{_any(_WEEKDAYS)}) (?:of )?(?P<week>last|this|next) week"),
        frozenset(_WEEKDAYS),
    ),
    _weekday(
        _pattern(rf"(?:{_ONE} )?(?P<weekday>{_any(_WEEKDAYS)})"),
        frozenset(w.split("-")[0] for w in _WEEKDAYS),
    ),
    _weekday(
        _pattern(
            rf"(?:on|(?P<which>last|this|next)) (?P<weekday>{_any(_SHORT_WEEKDAYS)})",
            stop=r"(?=\s{0,3}(?:$|[?.!,;]))",  # "on Sun?" but not "on sun protection"
        ),
        frozenset(_SHORT_WEEKDAYS),
    ),
    _Rule(
        _pattern(_any(_PHRASES).replace("'", "['’]")),
        frozenset(max(re.findall(r"\w+", phrase), key=len) for phrase in _PHRASES),
        _read_phrase,
    ),
    _Rule(
        _pattern(rf"(?:{_ONE} )?(?P<holiday>{_any(_HOLIDAYS)})(?:{_YEAR})?".replace("'", "['’]?")),
        frozenset(("christmas", "xmas", "halloween", "eve", "day")),
        _read_holiday,
        returns=_YEARLY,
    ),
    # Months, seasons, quarters.
    _monthly(_pattern(rf"{_MONTH}\.?(?:{_YEAR})"), read=_read_month),
    _monthly(_pattern(rf"(?:{_ONE} )?{_MONTH}"), read=_read_month, counts=_is_month),
    _Rule(
        _pattern(rf"(?:{_ONE} )?(?P<season>{_any(_SEASONS)})(?:{_YEAR}(?:[/-]\d\d)?|(?! of\b))"),
        frozenset(_SEASONS),
        _read_season,
        _is_season,
        _YEARLY,
    ),
    _Rule(_pattern(rf"q(?P<quarter>[1-4])(?:{_YEAR})"), _DIGITS, _read_quarter),
    _Rule(_pattern(r"(?P<which>last|this|next) q(?P<quarter>[1-4])"), _DIGITS, _read_quarter),
    # Years and decades.
    _numeral(
        _pattern(rf"(?P<first>(?:19|20)\d\d)[-–/](?P<last>{_Y})", begin=_NO_YEAR_AHEAD, stop=r"(?![-–/]\d)"),
        read=_read_years,
    ),
    _numeral(
        _pattern(rf"(?:the year )?(?P<first>{_Y})", begin=_NO_YEAR_AHEAD, stop=r"(?![-–/]\d)"),
        read=_read_years,
    ),
    _numeral(_pattern(r"(?P<decade>(?:19|20)\d0)['’]?s"), read=_read_decade),
    _numeral(
        _pattern(
            r"['’]?(?P<decade>\d0)s",
            begin=r"(?:(?<=\bthe\s)|(?<=\bearly\s)|(?<=\bmid\s)|(?<=\bmid-)|(?<=\blate\s))",
        ),
        read=_read_decade,
    ),
    # Counted from now.
    _Rule(
        _pattern(rf"{_COUNT} {_UNIT}s?(?: and a half)? (?P<side>ago|from now)"),
        frozenset(("ago", "now")),
        _read_ago,
    ),
    _Rule(_pattern(rf"(?:the )?{_ONE} {_COUNT} {_UNIT}s?(?! of\b)"), frozenset(_WHICH), _read_rolling),
    _Rule(
        _pattern(
            r"(?:(?:in|over|during|within|for) the (?=last|past)|(?:the |this )?(?=past))"
            rf"(?P<which>last|past) {_UNIT}(?! of\b)"
        ),
        frozenset(("last", "past")),
        _read_rolling,
    ),
    _Rule(_pattern(rf"{_ONE} {_SCALED}(?! of\b)"), frozenset(_WHICH), _read_calendar),
    _Rule(
        _pattern(
            rf"the {_SCALED}",
            begin=r"(?:(?<=end\sof\s)|(?<=start\sof\s)|(?<=beginning\sof\s)|(?<=middle\sof\s))",
        ),
        frozenset(("end", "start", "beginning", "middle")),
        _read_calendar,
    ),
)


# --- finding, narrowing, joining, opening ------------------------------------------------------------------

_WORD = re.compile(r"[^\W\d_]+|\d")
_PART = _pattern(
    r"(?:(?P<early>early|(?:the )?(?:beginning|start|first third) of)"
    r"|(?P<mid>mid|(?:the )?middle of)"
    r"|(?P<late>late|(?:the )?end of)"
    r"|(?P<first_half>(?:the )?first half of)"
    r"|(?P<second_half>(?:the )?(?:second|last) half of)"
    r"|(?P<first_week>(?:the )?first week (?:of|in))"
    r"|(?P<last_week>(?:the )?last week (?:of|in)))(?: the)?(?: |-)",
    stop="$",
)
_PARTS = {
    "early": (0, 1, 3),
    "mid": (1, 2, 3),
    "late": (2, 3, 3),
    "first_half": (0, 1, 2),
    "second_half": (1, 2, 2),
}
_PAIR_LEAD = _pattern(r"(?:from|between)(?: the)? ", stop="$")
_TO = re.compile(r"\s{1,3}(?:to|until|till|through|thru|bis)\s{1,3}(?:the\s{1,3})?|\s{0,3}[-–—]\s{0,3}")
_AND = re.compile(r"\s{1,3}and\s{1,3}(?:the\s{1,3})?")
_LISTED = re.compile(r"(?:,|,?\s{1,3}(?:and|or))\s{1,3}(?:in\s{1,3})?")
_OPENING = _pattern(
    r"(?:(?P<since>since|sedan|seit|desde|depuis)"
    r"|(?P<before>before|prior to|earlier than|pre|före|innan|vor|antes de|avant)"
    r"|(?P<after>after|later than|post|efter|nach|después de|depois de|après)"
    r"|(?P<until>until|till|up to|through|by|bis|hasta|até|jusqu['’]en))(?: the)?(?: |-)",
    stop="$",
)
_ASIDE = _pattern(
    rf"(?:the |{_COUNT} )?(?P<unit>day|week|month|year)s? (?P<side>before|after)(?: the)? ", stop="$"
)
_ONWARDS = _pattern(r" (?:onwards?|(?:to|until|till) (?:now|the present|present|date))", begin="")
_HOLIDAYS_SAID = {_said(name): meant for name, meant in _HOLIDAYS.items()}
_PHRASES_SAID = {_said(phrase): meant for phrase, meant in _PHRASES.items()}


@dataclass(frozen=True, slots=True)
class _Found:
    rule: _Rule
    match: _Match
    begin: int  # of the match, or of the words in front that narrow it
    part: str | None

    @property
    def stop(self) -> int:
        return self.match.end()

    @property
    def floats(self) -> bool:
        """Whether it comes round again and nothing says which one: another expression beside it may."""
        named = any(_group(self.match, group) for group in ("year", "which", "week"))
        return self.rule.returns is not None and not named

    def read(self, now: datetime) -> _Span | None:
        span = self.rule.read(self.match, now)
        return _narrowed(span, self.part) if span and self.part else span


def _lowered(question: str) -> str:
    """`question` in lower case with every character in its place (some would become two)."""
    text = question.lower()
    return (
        text
        if len(text) == len(question)
        else "".join(c if len(c.lower()) > 1 else c.lower() for c in question)
    )


def _find(text: str, question: str) -> deque[_Found]:
    """The expressions of `text` in order; of two that overlap the longer, else the upper in the table."""
    words = set(_WORD.findall(text))
    matches = [
        (rule, match)
        for rule in _RULES
        if not rule.words.isdisjoint(words)
        for match in rule.pattern.finditer(text)
        if rule.counts is None or rule.counts(match, question)
    ]
    taken = bytearray(len(text))
    found: list[_Found] = []
    for rule, match in sorted(matches, key=lambda pair: pair[1].start() - pair[1].end()):
        begin, stop = match.span()
        if not any(taken[begin:stop]):
            taken[begin:stop] = b"\1" * (stop - begin)
            part = _PART.search(text[max(0, begin - 40) : begin])
            found.append(
                _Found(rule, match, begin - len(part[0]) if part else begin, part.lastgroup if part else None)
            )
    return deque(sorted(found, key=lambda one: one.begin))


def _narrowed(span: _Span, part: str) -> _Span:
    """The part of `span`, in whole months where they come out even, else in days; a week stays whole."""
    start, end = span
    days = (end - start).days
    if days <= 7:
        return span
    if part.endswith("week"):
        return _days(start, 7) if part == "first_week" else (end - timedelta(days=7), end)
    first, last, of = _PARTS[part]
    months = (end.year - start.year) * 12 + end.month - start.month
    if start.day == end.day == 1 and months % of == 0:
        return _months(start.year, start.month + months * first // of, months * (last - first) // of, start)
    return start + timedelta(days=days * first // of), start + timedelta(days=days * last // of)


def _are_pair(text: str, here: _Found, after: _Found) -> bool:
    """Whether the two are the ends of one range: "X to Y", "between X and Y"."""
    if _TO.fullmatch(text, here.stop, after.begin):
        return True
    between = text[max(0, here.begin - 16) : here.begin].split()[-2:]
    return "between" in between and _AND.fullmatch(text, here.stop, after.begin) is not None


def _range_of_pair(question: str, text: str, here: _Found, after: _Found, now: datetime) -> TimeRange | None:
    if here.floats and not after.floats:  # "May to July 2023": the May before that July's end
        last = after.read(now)
        first = last and here.read(last[1] - timedelta(seconds=1))
    else:  # "May 2022 to July": the July after that May
        first = here.read(now)
        returns = after.rule.returns
        last = first and after.read(
            first[0] + returns - timedelta(days=1) if after.floats and returns else now
        )
    if not first or not last:
        return None
    lead = _PAIR_LEAD.search(text[max(0, here.begin - 16) : here.begin])
    begin = here.begin - len(lead[0]) if lead else here.begin
    return TimeRange(min(first[0], last[0]), max(first[1], last[1]), question[begin : after.stop])


def _range_of_one(
    question: str, text: str, here: _Found, after: _Found | None, now: datetime
) -> TimeRange | None:
    span = here.read(_said_beside(text, here, after, now) or now)
    if not span:
        return None
    (start, end), begin = span, here.begin
    if onwards := _ONWARDS.match(text, here.stop):
        return TimeRange(start, None, question[begin : onwards.end()])
    ahead = text[max(0, begin - 40) : begin]
    if aside := _ASIDE.search(ahead):
        count, unit = _counted(aside), aside["unit"]
        words = question[begin - len(aside[0]) : here.stop]
        if count == 0:
            return TimeRange(start, end, words)
        if aside["side"] == "before":
            return TimeRange(_stepped(start, unit, -count), start, words)
        return TimeRange(end, _stepped(end, unit, count), words)
    opening = _OPENING.search(ahead)
    words = question[begin - len(opening[0]) if opening else begin : here.stop]
    match opening and opening.lastgroup:
        case "since":
            return TimeRange(start, None, words)
        case "before":
            return TimeRange(None, start, words)
        case "after":
            return TimeRange(end, None, words)
        case "until":
            return TimeRange(None, end, words)
        case _:
            return TimeRange(start, end, words)


def _said_beside(text: str, here: _Found, after: _Found | None, now: datetime) -> datetime | None:
    """From when to look back for `here`, if what follows names the year for both ("May and June 2022")."""
    if not after or not here.floats or after.floats or here.rule.returns != after.rule.returns:
        return None
    if not _LISTED.fullmatch(text, here.stop, after.begin):
        return None
    span = _possible(after.read, now)
    return span and span[1] - timedelta(seconds=1)
