"""The dates of messages and statements, each in all its readings; relative ones count from when they were said."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache

from everlore.grounding.claimed_numbers import value_of
from everlore.ports.analyst import WindowMessage
from everlore.text.dates import SaidDate, read_dates
from everlore.text.languages import language_of
from everlore.text.words import fold

_WEEK_OF = timedelta(days=7)


@lru_cache(maxsize=256)
def dates_of(message: WindowMessage) -> tuple[SaidDate, ...]:
    """All readings of the dates that a message names: looking back and looking ahead."""
    found: dict[tuple[datetime, datetime], SaidDate] = {}
    for text in (message.text, *message.captions):
        english = language_of(text) == "en"
        for ahead in (False, True):
            for date in read_dates(text, message.at, ahead=ahead, english=english):
                found.setdefault((date.start, date.end), date)
        found |= {(date.start, date.end): date for date in _durations(text, message.at)}
    return tuple(found.values())


_DURATION = re.compile(
    r"\b(?:for|next|durante|por|für|pendant) (?:the (?:next )?)?(?P<count>a|an|\d{1,3}|[a-z]{3,9}) (?P<unit>day|week|month|year"
    r"|día|semana|mes|año|tag|woche|monat|jahr|jour|semaine|an)(?:e?s|en?)?\b",
    re.IGNORECASE,
)
_DAYS = {"d": 1, "t": 1, "w": 7, "s": 7, "m": 30, "y": 365, "a": 365}


def _durations(text: str, at: datetime) -> Iterator[SaidDate]:
    """ "For two weeks" lasts until two weeks from now."""
    for match in _DURATION.finditer(text):
        written = fold(match["count"])
        count = 1 if written in ("a", "an") else value_of(written)
        if count and count <= 400:
            unit = fold(match["unit"])
            days = 1 if unit in ("jour", "dia") else 365 if unit.startswith("jahr") else _DAYS[unit[0]]
            end = at + timedelta(days=count * days)
            yield SaidDate(
                end - timedelta(days=1), end + timedelta(days=1), "day", "until", match.start(), match.end()
            )


def dates_in(text: str, at: Sequence[datetime]) -> list[tuple[SaidDate, ...]]:
    """The dates of a statement, each in all its readings."""
    if not at:
        return []
    english = language_of(text) == "en"
    found: dict[tuple[int, int], dict[tuple[datetime, datetime], SaidDate]] = {}
    for moment in dict.fromkeys(at):
        for ahead in (False, True):
            for date in read_dates(text, moment, ahead=ahead, english=english):
                found.setdefault((date.begin, date.stop), {}).setdefault((date.start, date.end), date)
    return [tuple(readings.values()) for _, readings in sorted(found.items())]


def implies(mine: SaidDate, said: SaidDate) -> bool:
    """Whether who said `said` said `mine`: the same, or a longer stretch around it; for a week also the day it begins on."""
    if mine.start <= said.start and said.end <= mine.end:
        return True
    length = said.end - said.start
    if length <= timedelta(days=2):
        return said.start <= mine.start and mine.end <= said.end
    return length <= _WEEK_OF and mine.start == said.start


def same_day_of_year(one: SaidDate, other: SaidDate) -> bool:
    return (one.start.month, one.start.day) == (other.start.month, other.start.day)
