"""Windows: where a thread is cut. Pure, and the same whether messages came one by one or all at once."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from everlore.store.distilling import SaidRow

# A window is so many positions of a thread; deleted messages, and those off the path, leave holes and shift nothing.
WINDOW = 10


def last_of_window(
    said: Sequence[SaidRow],
    first: int,
    end: int,
    *,
    now: datetime,
    silence: timedelta,
    close: bool,
    settled: Callable[[int], bool],
) -> int | None:
    """The last position of the window that begins at `first`, or None while it may still grow, or change.

    `said` are the messages of the path from `first` on, one more than a window at least where there are so many; `end` is the
    thread's last position. A window ends after 10 positions, where the session ends, and at a pause longer than `silence`; the
    last one of a thread when nobody has written for so long, or when `close` says so. `settled`: whether what was said up to a
    position stands; what does not may be said anew in a moment (edited, regenerated), so the window waits.
    """
    full = first + WINDOW - 1
    previous: SaidRow | None = None
    for message in said:
        if message.position > full:
            break
        if previous is not None and _breaks(previous, message, silence):
            return message.position - 1
        previous = message
    if end >= full:
        return full if close or settled(full) else None
    if end < first:
        return None
    quiet = previous is None or now - previous.recorded_at > silence
    return end if close or (quiet and settled(end)) else None


def _breaks(one: SaidRow, following: SaidRow, silence: timedelta) -> bool:
    return one.session_id != following.session_id or abs(following.at - one.at) > silence
