"""Dates as models write them. What is no date, or lies beyond all sense, counts as not said."""

from datetime import UTC, datetime

_FIRST_YEAR, _LAST_YEAR = 1800, 2300


def read_date(text: str | None, at: datetime) -> datetime | None:
    """A date, or a date and time, in ISO form; in the time zone of `at` where it names none. Also only a year and month."""
    if not text:
        return None
    bare = text.strip().replace("Z", "+00:00")
    for written in (bare, f"{bare}-01", f"{bare}-01-01"):
        try:
            read = datetime.fromisoformat(written)
            aware = read if read.tzinfo is not None else read.replace(tzinfo=at.tzinfo or UTC)
            return aware.astimezone(UTC) if _FIRST_YEAR <= aware.year <= _LAST_YEAR else None
        except (ValueError, OverflowError):
            continue
    return None
