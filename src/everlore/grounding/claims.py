"""Claims: the names, numbers, dates, addresses, paths and versions of a statement, each looked for in what it rests on.

Nothing of this understands a sentence. It compares: a date with the dates that the messages name, relative ones resolved
against the moment at which they were said; a number with their numbers, in digits or in words; a name with their words, with
the names of those who speak, and with the other names of the same entity.
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from everlore.grounding.claimed_dates import dates_in, implies, same_day_of_year
from everlore.grounding.claimed_names import name_is_said, names_in
from everlore.grounding.claimed_numbers import numbers_in
from everlore.grounding.evidence import Evidence
from everlore.text.dates import SaidDate, read_dates
from everlore.text.numbers import marks
from everlore.text.words import fold

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_AS_OF = re.compile(
    r"(?:as of|said on|told on|mentioned on|in a conversation on|stand|a fecha de)\s{0,2}$", re.IGNORECASE
)


def unfounded(text: str, source: Evidence) -> str | None:
    """What of `text` was never said, in words; None when everything that can be checked was."""
    rest, at = text, [message.at for message in source.messages]
    for mark in marks(text):
        kind = "version" if _DOTTED.fullmatch(mark.text) and mark.kind != "phone" else mark.kind
        if kind == "number" or (kind == "version" and _is_date(mark.text, at)):
            continue
        if not _is_said(kind, mark.text, source.said):
            return f"the {_CALLED[kind]} {mark.text} was not said"
        rest = _without(rest, mark.begin, mark.stop)
    for date in dates_in(rest, at):
        written = rest[date[0].begin : date[0].stop]
        if not written.strip() or _is_year_like_number(written, source):
            continue
        if fold(written) not in fold(source.said) and not _date_is_said(date, written, text, source):
            return f'the date "{written}" cannot be derived from what was said'
        rest = _without(rest, date[0].begin, date[0].stop)
    for written, value in numbers_in(rest):
        if value not in source.numbers:
            return f'the number "{written}" was not said'
    for name in names_in(rest, source):
        if not name_is_said(name, source):
            return f'the name "{name}" was not said'
    return None


def derived(moment: datetime, source: Evidence) -> bool:
    """Whether a moment is one that the sources name, or the day on which they were said."""
    slack = timedelta(days=1)
    if any(abs(moment - message.at) <= slack for message in source.messages):
        return True
    return any(date.start - slack <= moment <= date.end + slack for date in source.dates)


def _date_is_said(readings: Sequence[SaidDate], written: str, text: str, source: Evidence) -> bool:
    yearless = not _YEAR.search(written) and re.search(r"\d|[^\W\d_]{3}", written) is not None
    for mine in readings:
        if _AS_OF.search(text[: mine.begin]) and any(
            mine.start <= message.at < mine.end for message in source.messages
        ):
            return True
        for said in source.dates:
            if implies(mine, said):
                return True
            if yearless and mine.grain == said.grain == "day" and same_day_of_year(mine, said):
                return True
    return False


def _is_year_like_number(written: str, source: Evidence) -> bool:
    """A year that was said is said, whatever it was the year of."""
    return _YEAR.fullmatch(written.strip()) is not None and float(written) in source.numbers


_SCHEME = re.compile(r"\bhttps?://(?:www\.)?|\bwww\.")
_CALLED = {"url": "address", "email": "e-mail address", "handle": "name", "phone": "telephone number", "path": "path",
           "version": "version"}  # fmt: skip


_DOTTED = re.compile(r"[vV]?\d{1,4}(?:\.\d{1,5}){2,3}(?:-[\w.]{1,20})?")


def _is_date(written: str, at: Sequence[datetime]) -> bool:
    """14.03.2025 has three parts too."""
    return bool(at) and len(read_dates(written, at[0], english=False)) > 0


def _is_said(kind: str, written: str, said: str) -> bool:
    if kind == "phone":
        digits = re.sub(r"\D", "", written)
        return digits in re.sub(r"[^\d\n]", "", re.sub(r"(?<=\d)[ ().-]{1,3}(?=[\d(])", "", said))
    if kind in ("url", "email", "handle"):
        written, said = (_SCHEME.sub("", text.lower()).rstrip("/") for text in (written, said))
    if kind == "version":
        written = written.lstrip("vV")
    before = (
        r"(?<![\w.@/-])"
        if kind in ("email", "handle")
        else r"(?<![\d.])"
        if kind == "version"
        else r"(?<![\w])"
    )
    # A dot goes on where something follows it: in "config.toml", not at the end of a sentence.
    return re.search(rf"{before}{re.escape(written)}(?![\w-]|[./@][\w])", said) is not None


def _without(text: str, begin: int, stop: int) -> str:
    return text[:begin] + " " * (stop - begin) + text[stop:]
