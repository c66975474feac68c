"""The words of all languages that dates are said with, as tables and as fragments of patterns. The words are data."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import get_args

from everlore.text.dates.calendar import Unit
from everlore.text.lexicon import numbered, phrases, table

MONTHS = numbered("dates.months", 1)
DOUBTFUL_MONTHS, DOUBTFUL_ABROAD = phrases("dates.doubtful_months"), phrases("dates.doubtful_abroad")
WEEKDAYS, SHORT_WEEKDAYS = numbered("dates.weekdays", 0), numbered("dates.short_weekdays", 0)
DOUBTFUL_WEEKDAYS = phrases("dates.doubtful_weekdays")
SEASONS: Mapping[str, int] = table("dates.seasons")
DAYS: Mapping[str, int] = table("dates.days")
NOT_AFTER: Mapping[str, str] = table("dates.not_after")
PERIODS_SAID: Mapping[str, tuple[Unit, int]] = table("dates.periods")
COUNTS = dict.fromkeys(phrases("dates.half_a"), 0) | dict(numbered("dates.counts", 1))
VAGUE, FINAL = phrases("dates.vague"), phrases("dates.final")
ORDINALS = numbered("dates.ordinals", 1)
_ALL_UNITS: tuple[Unit, ...] = get_args(Unit)
UNITS: Mapping[str, Unit] = {word: unit for unit in _ALL_UNITS for word in phrases(f"dates.units.{unit}")}
PERIODS = {word: unit for word, unit in UNITS.items() if unit not in {"minute", "hour", "day", "fortnight"}}
COUNTABLE = {word: unit for word, unit in UNITS.items() if unit != "weekend"}
TOLD_FROM_ANOTHER = phrases("dates.told_from_another")


def said(words: str) -> str:
    """The form under which a table is looked up: single blanks, no apostrophes."""
    return " ".join(words.replace("'", "").split())


HOLIDAYS: Mapping[str, Mapping[str, int]] = {
    said(name): meant for name, meant in table("dates.holidays").items()
}
DAYS_SAID = {said(word): step for word, step in DAYS.items()}


def any_of(words: Iterable[str]) -> str:
    """One of the words, the longest first; an apostrophe may be left out."""
    longest_first = sorted(words, key=len, reverse=True)
    return "|".join(re.escape(word).replace("\\ ", " ").replace("'", "'?") for word in longest_first)


def of(*names: str) -> str:
    """One of the words of these classes."""
    return any_of(phrase for name in names for phrase in phrases(f"dates.{name}"))


class Pattern:
    """A pattern that is compiled when it is first used: there are sixty, and a text needs a few of them."""

    def __init__(self, written: str) -> None:
        self._written = written

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._written)

    def search(self, text: str) -> re.Match[str] | None:
        return self._compiled.search(text)

    def match(self, text: str, begin: int) -> re.Match[str] | None:
        return self._compiled.match(text, begin)

    def fullmatch(self, text: str, begin: int, end: int) -> re.Match[str] | None:
        return self._compiled.fullmatch(text, begin, end)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self._compiled.finditer(text)


def pattern(written: str, begin: str = r"(?<!\w)", stop: str = r"(?!\w)") -> Pattern:
    """A blank stands for one to three: without a bound, long runs of blanks take quadratic time."""
    return Pattern(f"{begin}(?:{written}){stop}".replace(" ", r"\s{1,3}"))


NEXT, LAST, THIS = of("next"), of("last"), of("this")
ARTICLE, OF, AND = of("articles"), of("of"), of("and")
ONE = rf"(?:(?P<next>{NEXT})|(?P<last>{LAST})|(?P<this>{THIS}))"
BEHIND = rf"(?: (?:(?P<coming>{of('next_after')})|(?P<over>{of('last_after')})))"
AMOUNT_BEHIND = rf"(?!%| (?:{of('amounts')})\b)"
BARE_YEAR = rf"(?:19|20)\d\d(?!\w|[.,:]\d){AMOUNT_BEHIND}"
_YEARS = any_of(word for word, unit in UNITS.items() if unit == "year")
YEAR = (
    rf"(?:,? (?:(?:{OF}) )?|,)(?:(?P<year>{BARE_YEAR})"
    rf"|(?:(?P<year_next>{NEXT})|(?P<year_last>{LAST})|(?P<year_this>{THIS})) (?:{_YEARS}))"
)
MONTH = rf"(?P<month>{any_of(MONTHS)})"
_DAY_NUMBER = r"(?:3[01]|[12]\d|0?[1-9])(?!\d|:\d|\.\d|,\d{1,3}(?!\d))"
DAY = rf"(?P<day>{_DAY_NUMBER}){AMOUNT_BEHIND}(?:st|nd|rd|th|er|º)?"
TO_DAY = rf"(?: )?(?:-|–|(?:{of('to', 'and')}))(?: )?(?P<until>{_DAY_NUMBER})(?:st|nd|rd|th)?"
WEEKDAY = rf"(?P<weekday>{any_of(WEEKDAYS)})"
COUNT = rf"(?P<count>{any_of(COUNTS)}|\d{{1,3}})"
UNIT, PERIOD = rf"(?P<unit>{any_of(COUNTABLE)})", rf"(?P<unit>{any_of(PERIODS)})"
WEEK = any_of(word for word, unit in UNITS.items() if unit == "week")
QUARTER = any_of(word for word, unit in UNITS.items() if unit == "quarter")
