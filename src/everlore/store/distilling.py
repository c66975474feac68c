"""What the distil step reads and leaves behind: windows, marks, spans to be read anew."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from everlore.domain.ids import new_id
from everlore.domain.knowledge import Distilled
from everlore.domain.operations import FailedWindow
from everlore.store.queries import queries
from everlore.store.run import Transaction, fetched

STEP = "distil"

_QUERIES = queries("distilling")


@dataclass(frozen=True, slots=True)
class SaidRow:
    """A message with what the distil step needs of it."""

    message_id: UUID
    position: int
    session_id: UUID
    role: str
    author: str
    at: datetime
    recorded_at: datetime
    text: str
    captions: tuple[str, ...]
    off_the_record: bool
    system_prompt: str | None


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a thread is distilled, how far it goes, and when it was last written to."""

    position: int
    written: int
    last_at: datetime | None
    taxonomy: str | None


@dataclass(frozen=True, slots=True)
class ToRead:
    """What waits to be read. `windows` are those that are read now: a last one that may still grow is not among them."""

    threads: int = 0
    messages: int = 0
    characters: int = 0
    windows: int = 0


@dataclass(frozen=True, slots=True)
class Distillation:
    """What became of one window."""

    thread_id: UUID
    first: int
    last: int
    extractor: str
    extractor_version: str
    memories: int
    facts: int
    rejected: int
    error: str | None


_DISTILLATION = [field.name for field in fields(Distillation)]


async def mark(tx: Transaction, thread_id: UUID) -> Mark | None:
    row = await (await tx.execute(_QUERIES["mark"], {"thread_id": thread_id})).fetchone()
    return Mark(*row) if row else None


def _said(row: Sequence[Any]) -> SaidRow:
    return SaidRow(*row[:8], captions=tuple(row[8]), off_the_record=row[9], system_prompt=row[10])


async def said(tx: Transaction, thread_id: UUID, first: int, last: int) -> list[SaidRow]:
    """The messages at positions `first` to `last`, in order."""
    rows = await (
        await tx.execute(_QUERIES["said"], {"thread_id": thread_id, "first": first, "last": last})
    ).fetchall()
    return [_said(row) for row in rows]


async def earlier(tx: Transaction, thread_id: UUID, before: int, at_most: int) -> list[SaidRow]:
    """The messages before a position, at most so many, in order."""
    rows = await (
        await tx.execute(_QUERIES["earlier"], {"thread_id": thread_id, "before": before, "at_most": at_most})
    ).fetchall()
    return [_said(row) for row in reversed(rows)]


async def lock_workspace(tx: Transaction) -> None:
    """The lock under which what is new is held against what is known: one commit of a workspace at a time."""
    await tx.execute(_QUERIES["lock_workspace"])


async def lock_mark(tx: Transaction, thread_id: UUID) -> int | None:
    """The position that the thread is distilled to, locked; None if the thread has gone."""
    row = await (await tx.execute(_QUERIES["lock_mark"], {"thread_id": thread_id})).fetchone()
    return row[0] if row else None


async def advance(tx: Transaction, thread_id: UUID, upto: int) -> None:
    await tx.execute(_QUERIES["advance"], {"thread_id": thread_id, "upto": upto})


async def lock_messages(tx: Transaction, message_ids: Sequence[UUID]) -> set[UUID]:
    """Of these messages those that still exist, kept until the commit."""
    rows = await (await tx.execute(_QUERIES["lock_messages"], {"messages": list(message_ids)})).fetchall()
    return {row[0] for row in rows}


async def note(tx: Transaction, done: Distillation, at: datetime, *, again: bool) -> None:
    """Write down what became of a window; `again`: the earlier reading of it is superseded."""
    if again:
        await tx.execute(
            _QUERIES["supersede_windows"],
            {"thread_id": done.thread_id, "first": done.first, "last": done.last, "at": at},
        )
    await tx.execute(
        _QUERIES["note"],
        {name: getattr(done, name) for name in _DISTILLATION} | {"distillation_id": new_id(), "at": at},
    )


async def windows(
    tx: Transaction, thread_id: UUID, since: int | None = None, until: int | None = None
) -> list[tuple[int, int]]:
    """First and last position of the windows of a thread that were distilled and overlap the span."""
    rows = await (
        await tx.execute(_QUERIES["windows"], {"thread_id": thread_id, "since": since, "until": until})
    ).fetchall()
    return [(row[0], row[1]) for row in rows]


async def ask_again(tx: Transaction, thread_id: UUID, firsts: Sequence[int], at: datetime) -> None:
    """Have windows read anew; the job finds them."""
    await tx.execute(_QUERIES["ask_again"], {"thread_id": thread_id, "firsts": list(firsts), "at": at})


async def asked_again(tx: Transaction, thread_id: UUID) -> tuple[int, int] | None:
    """The next window of a thread that is to be read anew: first and last position."""
    row = await (await tx.execute(_QUERIES["asked_again"], {"thread_id": thread_id})).fetchone()
    return (row[0], row[1]) if row else None


async def take_again(tx: Transaction, thread_id: UUID, first: int) -> bool:
    """Strike a window off the list of those to be read anew; whether it stood there."""
    cursor = await tx.execute(_QUERIES["take_again"], {"thread_id": thread_id, "first": first})
    return cursor.rowcount > 0


async def defer(tx: Transaction, thread_id: UUID) -> None:
    """Leave a distil job for the thread, on the caller's transaction."""
    await tx.execute(_QUERIES["defer"], {"thread_id": thread_id})


async def waiting(tx: Transaction) -> tuple[int, int, int]:
    """Of the workspace: threads and messages that are not distilled, and windows that failed."""
    row = await (await tx.execute(_QUERIES["waiting"])).fetchone()
    return (row[0], row[1], row[2]) if row else (0, 0, 0)


async def to_read(
    tx: Transaction,
    thread: str | None,
    *,
    again: bool,
    since: int | None,
    until: int | None,
    window: int,
    silence: timedelta,
    now: datetime,
    close: bool,
) -> ToRead:
    """What waits; with `again` also what was read already and overlaps a span of positions. `window`, `silence`, `close`: how
    the distil step cuts threads."""
    parameters = {
        "thread": thread,
        "again": again,
        "since": since,
        "until": until,
        "window": window,
        "silence": silence,
        "quiet_since": now - silence,
        "close": close,
    }
    row = await (await tx.execute(_QUERIES["to_read"], parameters)).fetchone()
    return ToRead(*(row or ()))


async def tally(tx: Transaction, thread: str | None) -> Distilled:
    """What all reading came to, in a thread or in the workspace."""
    row = await (await tx.execute(_QUERIES["tally"], {"thread": thread})).fetchone()
    return Distilled(*(row or ()))


async def unfinished(tx: Transaction, thread: str | None) -> list[UUID]:
    """Threads of the workspace with messages to distil or windows to read anew."""
    rows = await (await tx.execute(_QUERIES["unfinished"], {"thread": thread})).fetchall()
    return [row[0] for row in rows]


async def threads_to_distil(tx: Transaction, quiet_since: datetime, at_most: int) -> list[tuple[UUID, UUID]]:
    """Workspace and thread where a window waits. For the sweep: needs the workers' role."""
    rows = await (
        await tx.execute(_QUERIES["threads_to_distil"], {"quiet_since": quiet_since, "at_most": at_most})
    ).fetchall()
    return [(row[0], row[1]) for row in rows]


async def failed_windows(tx: Transaction) -> list[FailedWindow]:
    """Of all workspaces. Needs the workers' role."""
    rows = await (await tx.execute(_QUERIES["failed_windows"])).fetchall()
    return [FailedWindow(*row) for row in rows]


async def suggest_taxonomy(tx: Transaction, thread_id: UUID, path: str, at: datetime) -> None:
    """A path that a thread may belong to; suggested again it counts once more."""
    await tx.execute(
        _QUERIES["suggest_taxonomy"],
        {"suggestion_id": new_id(), "thread_id": thread_id, "path": path, "at": at},
    )


async def count(tx: Transaction) -> int:
    return fetched(await (await tx.execute(_QUERIES["count"])).fetchone())
