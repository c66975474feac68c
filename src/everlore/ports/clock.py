"""Time is handed in, so that tests can jump it."""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    def __call__(self) -> datetime:
        """The present moment, aware, in UTC."""
        ...


def system_clock() -> datetime:
    return datetime.now(UTC)
