"""The times that a question asks about: ranges, with slack where people are vague.

A question is read in three steps: the grammar finds the expressions; words in front may narrow one ("early 2022"), and two may
form one range ("from May to July 2023"); words in front may open one end ("since May", "before 2020") or step aside ("the week
after Christmas"). What the ranges mean:

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
- Early, mid and late are thirds; the second to fourth week of a month reach 3 days either side.
- "By May" and "until May" include May.
- "In two weeks" is a time, unless the question is about what was: then it says how long something took.
"""

from collections import deque
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from everlore.text.dates import calendar
from everlore.text.dates import vocabulary as v
from everlore.text.dates.calendar import Span
from everlore.text.dates.expressions import Counted, Expression, Part, Rolling
from everlore.text.dates.grammar import find, longest
from everlore.text.dates.resolve import beside, narrowed, possible, resolve
from everlore.text.dates.surroundings import DatedText, aside_of
from everlore.text.dates.vocabulary import of, pattern
from everlore.text.folding import lowered
from everlore.text.languages import language_of

# Days either side of "N units ago".
_SLACK = {"day": 0, "week": 3, "fortnight": 3, "month": 15, "quarter": 45, "year": 183, "decade": 1826}
_SLACK_VAGUE = {"day": 2, "week": 7, "fortnight": 7, "month": 31, "quarter": 91, "year": 365, "decade": 3652}
_MINUTES_OF_A_DAY = {"hour": 24, "minute": 1440}

_LOOKS_BACK = pattern(of("looks_back"))
_PAIR_LEAD = pattern(rf"(?:{of('from', 'between')})(?: (?:{v.ARTICLE}))? ", stop="$")
_TO = pattern(rf" (?:{of('to')}) (?:(?:{v.ARTICLE}) )?|\s{{0,3}}[-–—]\s{{0,3}}", begin="", stop="")
_BETWEEN = pattern(rf"(?:{of('between')}) (?:[^\s]{{1,20}} )?", stop="$")
_AND = pattern(rf" (?:{v.AND}) (?:(?:{v.ARTICLE}) )?", begin="", stop="")
_LISTED = pattern(rf"(?:,|,?\s{{1,3}}(?:{of('and', 'or')})) (?:in )?", begin="", stop="")
_ONWARDS = pattern(rf" (?:{of('onwards')}|(?:{of('to')}) (?:{of('now')}))", begin="")


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A stretch of time that a question names."""

    start: datetime | None  # inclusive; None is open ("before May")
    end: datetime | None  # exclusive; None is open ("since May")
    text: str  # the words it was read from


@dataclass(frozen=True, slots=True)
class _Question:
    said: DatedText
    now: datetime

    def read(self, one: Expression, since: datetime | None = None) -> Span | None:
        """The span of an expression as seen from `since` (else now)."""
        return possible(_span, one, since or self.now)

    def range(self, start: date | None, end: date | None, begin: int, stop: int) -> TimeRange:
        return TimeRange(
            start and self.midnight(start), end and self.midnight(end), self.said.written[begin:stop]
        )

    def midnight(self, day: date) -> datetime:
        return datetime.combine(day, time(), self.now.tzinfo)


def read_times(question: str, now: datetime) -> tuple[TimeRange, ...]:
    """Read the ranges that `question` names, in order of appearance, in the time zone of `now` (aware)."""
    said = DatedText(lowered(question), question, "/" not in question or language_of(question) == "en")
    about_past = _LOOKS_BACK.search(said.low) is not None
    found = deque(longest((one for one in find(said) if not (about_past and _lasts(one))), len(question)))
    asked, ranges = _Question(said, now), list[TimeRange | None]()
    while found:
        here = found.popleft()
        after = found[0] if found else None
        if after and _are_pair(said, here, after):
            found.popleft()
            ranges.append(_range_of_pair(asked, here, after))
        else:
            ranges.append(_range_of_one(asked, here, after))
    return tuple(read for read in ranges if read)


def _lasts(one: Expression) -> bool:
    return isinstance(one.meaning, Counted) and one.meaning.lasts


# --- one expression ----------------------------------------------------------------------------------------


def _span(one: Expression, now: datetime) -> Span | None:
    match one.meaning:
        case Counted():
            span = _around(one.meaning, now)
        case Rolling():
            span = _rolling(one.meaning, now.date())
        case _:
            span = resolve(one.meaning, now, ahead=False, broad=True)
    return _part(span, one.part) if span and one.part else span


def _part(span: Span, part: Part) -> Span:
    """Where the second week of a month begins, people see differently; its first and last are tied to its ends."""
    start, end = narrowed(span, part)
    slack = timedelta(days=_SLACK["week"] if part[0] == "week" and part[1] > 0 else 0)
    return start - slack, end + slack


def _around(counted: Counted, now: datetime) -> Span:
    count, unit = counted.count, counted.unit
    if unit in _MINUTES_OF_A_DAY:
        return calendar.days((now + count * timedelta(minutes=1 if unit == "minute" else 60)).date())
    point = calendar.stepped(now.date(), unit, count)
    slack = (_SLACK_VAGUE if counted.vague else _SLACK)[unit]
    start, end = point - timedelta(days=slack), point + timedelta(days=slack + 1)
    if unit == "year":
        whole = calendar.calendar("year", 0, point)
        start, end = min(start, whole[0]), max(end, whole[1])
    return start, end


def _rolling(rolling: Rolling, today: date) -> Span:
    """So many days, weeks ... up to and including today, or from tomorrow on."""
    count, unit, tomorrow = rolling.count, rolling.unit, today + timedelta(days=1)
    if unit in _MINUTES_OF_A_DAY:
        count, unit = int(count / _MINUTES_OF_A_DAY[unit]), "day"
    if rolling.count > 0:
        return tomorrow, calendar.stepped(tomorrow, unit, max(count, 1))
    return calendar.stepped(today, unit, count), tomorrow


def _range_of_one(asked: _Question, here: Expression, after: Expression | None) -> TimeRange | None:
    span = asked.read(here, _said_beside(asked, here, after))
    if not span:
        return None
    (start, end), low = span, asked.said.low
    if onwards := _ONWARDS.match(low, here.stop):
        return asked.range(start, None, here.begin, onwards.end())
    if aside := aside_of(asked.said, here.begin):
        stepped = possible(beside, span, aside) if aside.count else span
        return stepped and asked.range(*stepped, aside.begin, here.stop)
    match here.side:
        case "since":
            return asked.range(start, None, here.side_begin, here.stop)
        case "before":
            return asked.range(None, start, here.side_begin, here.stop)
        case "after":
            return asked.range(end, None, here.side_begin, here.stop)
        case "until":
            return asked.range(None, end, here.side_begin, here.stop)
        case _:
            return asked.range(start, end, here.begin, here.stop)


# --- two expressions ---------------------------------------------------------------------------------------


def _are_pair(said: DatedText, here: Expression, after: Expression) -> bool:
    """Whether the two are the ends of one range: "X to Y", "between X and Y"."""
    if _TO.fullmatch(said.low, here.stop, after.begin):
        return True
    between = _BETWEEN.search(said.ahead(here.begin))
    return between is not None and _AND.fullmatch(said.low, here.stop, after.begin) is not None


def _range_of_pair(asked: _Question, here: Expression, after: Expression) -> TimeRange | None:
    if here.returns and not after.returns:  # "May to July 2023": the May before that July's end
        last = asked.read(after)
        first = last and asked.read(here, asked.midnight(last[1] - timedelta(days=1)))
    else:  # "May 2022 to July": the July after that May
        first = asked.read(here)
        last = first and asked.read(after, _in_time(asked, first, after))
    if not first or not last:
        return None
    lead = _PAIR_LEAD.search(asked.said.ahead(here.begin))
    begin = here.begin - len(lead[0]) if lead else here.begin
    return asked.range(min(first[0], last[0]), max(first[1], last[1]), begin, after.stop)


def _in_time(asked: _Question, first: Span, after: Expression) -> datetime | None:
    """From when to look back for the end of a range: just before its beginning comes round again."""
    try:
        return asked.midnight(first[0] + after.returns - timedelta(days=1)) if after.returns else None
    except OverflowError:
        return None


def _said_beside(asked: _Question, here: Expression, after: Expression | None) -> datetime | None:
    """From when to look back for `here`, if what follows names the year for both ("May and June 2022")."""
    if not after or not here.returns or after.returns or type(here.meaning) is not type(after.meaning):
        return None
    if not _LISTED.fullmatch(asked.said.low, here.stop, after.begin):
        return None
    span = asked.read(after)
    return span and asked.midnight(span[1] - timedelta(days=1))
