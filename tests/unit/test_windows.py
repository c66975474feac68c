"""Windows are cut at the same places whether messages come one by one or all at once, and they cover everything once."""

from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from operator import gt
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from everlore.distil.windows import WINDOW, last_of_window
from everlore.store.distilling import SaidRow

SILENCE = timedelta(minutes=30)
BEGIN = datetime(2025, 6, 1, tzinfo=UTC)

# Of each message: seconds since the one before (0, a minute, five minutes, an hour), whether it opens a session, whether it
# was deleted since.
_STEPS = st.tuples(
    st.sampled_from([0, 60, 300, 3600]), st.booleans(), st.integers(0, 9).map(lambda n: n == 0)
)


def thread_of(steps: list[tuple[int, bool, bool]]) -> list[SaidRow]:
    """Every message of a thread, deleted ones left out."""
    rows: list[SaidRow] = []
    at, session = BEGIN, 0
    for position, (seconds, opens, deleted) in enumerate(steps, start=1):
        at += timedelta(seconds=seconds)
        session += opens
        if not deleted:
            rows.append(row(position, at, session))
    return rows


def row(position: int, at: datetime, session: int = 0) -> SaidRow:
    return SaidRow(
        UUID(int=position), position, UUID(int=session), "user", "Anna", at, at, "words", (), False, None
    )


def cut(rows: list[SaidRow], ends: list[int]) -> list[tuple[int, int]]:
    """The windows that are read when the thread grows to each of the given lengths in turn, and is closed at the end."""
    windows: list[tuple[int, int]] = []
    for end, close in [*((end, False) for end in ends), (ends[-1], True)]:
        while True:
            first = windows[-1][1] + 1 if windows else 1
            ahead = [one for one in rows if first <= one.position <= min(end, first + WINDOW)]
            # Right after the last message: nobody has been silent yet.
            now = max((one.recorded_at for one in ahead), default=BEGIN)
            last = last_of_window(
                ahead, first, end, now=now, silence=SILENCE, close=close, settled=partial(gt, end)
            )
            if last is None:
                break
            windows.append((first, last))
    return windows


@given(st.lists(_STEPS, min_size=1, max_size=45), st.data())
def test_windows_do_not_depend_on_when_messages_arrive(
    steps: list[tuple[int, bool, bool]], data: st.DataObject
) -> None:
    rows, length = thread_of(steps), len(steps)
    grows = sorted(data.draw(st.sets(st.integers(1, length))) | {length})
    at_once = cut(rows, [length])
    if not any(deleted for _, _, deleted in steps):
        assert cut(rows, grows) == at_once == cut(rows, list(range(1, length + 1)))
    # Every position once, in order, and none in a window of more than ten.
    assert [n for first, last in at_once for n in range(first, last + 1)] == list(range(1, length + 1))
    assert all(last - first < WINDOW for first, last in at_once)


@given(st.lists(_STEPS, min_size=1, max_size=45))
def test_no_window_crosses_a_session_or_a_pause(steps: list[tuple[int, bool, bool]]) -> None:
    rows = thread_of(steps)
    for first, last in cut(rows, [len(steps)]):
        inside = [one for one in rows if first <= one.position <= last]
        for one, following in pairwise(inside):
            assert one.session_id == following.session_id
            assert following.at - one.at <= SILENCE


def last(
    rows: list[SaidRow], end: int, *, minutes: float = 0, close: bool = False, settled: bool = True
) -> int | None:
    now = rows[-1].recorded_at + timedelta(minutes=minutes) if rows else BEGIN
    return last_of_window(rows, 1, end, now=now, silence=SILENCE, close=close, settled=lambda _: settled)


def test_a_short_window_waits_for_silence_or_for_being_closed() -> None:
    rows = [row(1, BEGIN), row(2, BEGIN)]
    assert last(rows, 2) is None
    assert last(rows, 2, minutes=30) is None
    assert last(rows, 2, minutes=30.1) == 2
    assert last(rows, 2, close=True) == 2


def test_a_thread_without_more_messages_has_no_window() -> None:
    assert last([], 0, close=True) is None


def test_a_window_of_deleted_messages_is_passed_over() -> None:
    assert last([row(11, BEGIN)], 11) == 10
    assert last([], 10) == 10
    assert last([], 3) == 3


def test_what_was_said_earlier_than_the_message_before_breaks_by_the_gap_alone() -> None:
    rows = [row(1, BEGIN), row(2, BEGIN - timedelta(days=30)), row(3, BEGIN - timedelta(days=30))]
    assert last(rows, 3) == 1


def test_a_window_waits_until_its_last_message_stands() -> None:
    rows = [row(position, BEGIN) for position in range(1, WINDOW + 1)]
    assert last(rows, WINDOW, settled=False) is None
    assert last(rows, WINDOW, minutes=31, settled=False) is None
    assert last(rows, WINDOW, close=True, settled=False) == WINDOW
    assert last(rows[:2], 2, minutes=31, settled=False) is None
