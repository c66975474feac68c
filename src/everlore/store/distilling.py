"""What the distil step reads and leaves behind: windows, marks, spans to be read anew."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from psycopg.rows import scalar_row, tuple_row

from everlore.domain.ids import new_id
from everlore.domain.knowledge import Distilled
from everlore.domain.operations import Failure
from everlore.store import jobs
from everlore.store.facts import GroupKey
from everlore.store.queries import queries
from everlore.store.run import Transaction
from everlore.store.texts import with_texts

# The step whose store this is.
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
class DistilProgress:
    """How far a thread is distilled, how far it goes, and when it was last written to; the position of the last message of its
    path, and when that was recorded."""

    position: int
    written: int
    last_at: datetime | None
    taxonomy: str | None
    tip: int | None
    tip_at: datetime | None

    def settled(self, last: int, now: datetime, settle: timedelta) -> bool:
        """Whether what was said up to a position stands: it was continued, or is older than `settle`."""
        return self.tip is None or self.tip_at is None or self.tip > last or now - self.tip_at > settle


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


async def mark(tx: Transaction, thread_id: UUID) -> DistilProgress | None:
    return await tx.row(_QUERIES["mark"], DistilProgress, thread_id=thread_id)


def _said(*, captions: Sequence[str], **columns: Any) -> SaidRow:
    return SaidRow(captions=tuple(captions), **columns)


async def said(tx: Transaction, thread_id: UUID, first: int, last: int) -> list[SaidRow]:
    """The messages of the path at positions `first` to `last`, in order."""
    return await with_texts(tx, _QUERIES["said"], _said, thread_id=thread_id, first=first, last=last)


async def off_path(tx: Transaction, thread_id: UUID, first: int, last: int) -> list[UUID]:
    """The messages at positions `first` to `last` that are off the path."""
    return await tx.values(_QUERIES["off_path"], thread_id=thread_id, first=first, last=last)


async def unmention(tx: Transaction, messages: Sequence[UUID]) -> list[UUID]:
    """Messages that are off the path name nobody any more; returns the entities that they named."""
    if not messages:
        return []
    return list(dict.fromkeys(await tx.values(_QUERIES["unmention"], messages=list(messages))))


async def earlier(tx: Transaction, thread_id: UUID, before: int, at_most: int) -> list[SaidRow]:
    """The messages before a position, at most so many, in order."""
    query = _QUERIES["earlier"]
    return (await with_texts(tx, query, _said, thread_id=thread_id, before=before, at_most=at_most))[::-1]


async def lock_workspace(tx: Transaction) -> None:
    """The lock under which what is new is held against what is known: one commit of a workspace at a time."""
    await tx.done(_QUERIES["lock_workspace"])


@dataclass(frozen=True, slots=True)
class Locked:
    """What a commit finds under its locks: the position that the thread is distilled to (None if the thread has gone), whether
    the window says what it did (nothing of it was erased, left the path or joined it), and whether it is asked for again."""

    position: int | None
    unchanged: bool
    again: bool


async def lock_window(
    tx: Transaction,
    thread_id: UUID,
    first: int,
    last: int,
    *,
    said: Sequence[UUID],
    earlier: Sequence[UUID],
) -> Locked:
    """Keep the thread's mark, what was `said` in a window and the `earlier` messages that were read with it until the commit."""
    messages = [*earlier, *said]
    async with tx.pipeline():
        mark = await tx.sent(_QUERIES["lock_mark"], scalar_row, thread_id=thread_id)
        alive = await tx.sent(_QUERIES["lock_messages"], scalar_row, messages=messages)
        on_path = await tx.sent(_QUERIES["on_path"], scalar_row, thread_id=thread_id, first=first, last=last)
        again = await tx.sent(_QUERIES["lock_again"], scalar_row, thread_id=thread_id, first=first)
    found = await mark.fetchone(), len(await alive.fetchall()), await on_path.fetchone()
    return Locked(found[0], found[1:] == (len(messages), len(said)), await again.fetchone() is not None)


async def retract(
    tx: Transaction, message_ids: Sequence[UUID], at: datetime
) -> tuple[list[GroupKey], list[UUID]]:
    """What extraction found in these messages no longer counts; returns what was stated there, and the memories that had it."""
    messages = list(message_ids)
    async with tx.pipeline():
        stated = await tx.sent(_QUERIES["retract_statements"], tuple_row, messages=messages, retracted_at=at)
        said = await tx.sent(_QUERIES["retract_sources"], scalar_row, messages=messages, retracted_at=at)
    keys = [(row[0], row[1], row[2]) for row in await stated.fetchall()]
    return list(dict.fromkeys(keys)), list(dict.fromkeys(await said.fetchall()))


async def advance(tx: Transaction, thread_id: UUID, upto: int) -> None:
    await tx.done(_QUERIES["advance"], thread_id=thread_id, upto=upto)


async def note(tx: Transaction, done: Distillation, at: datetime, *, again: bool) -> None:
    """Write down what became of a window; `again`: it was asked for, and the earlier reading of it is superseded."""
    if again:
        await tx.done(_QUERIES["take_again"], thread_id=done.thread_id, first=done.first)
        await tx.done(
            _QUERIES["supersede_windows"], thread_id=done.thread_id, first=done.first, last=done.last, at=at
        )
    columns = {name: getattr(done, name) for name in _DISTILLATION}
    await tx.done(_QUERIES["note"], **columns, distillation_id=new_id(), at=at)


async def windows(
    tx: Transaction, thread_id: UUID, since: int | None = None, until: int | None = None
) -> list[tuple[int, int]]:
    """First and last position of the windows of a thread that were distilled and overlap the span."""
    found = await tx.tuples(_QUERIES["windows"], thread_id=thread_id, since=since, until=until)
    return [(first, last) for first, last in found]


async def ask_again(tx: Transaction, thread_id: UUID, firsts: Sequence[int], at: datetime) -> None:
    """Have windows read anew, and leave a job for that, on the caller's transaction."""
    await tx.done(_QUERIES["ask_again"], thread_id=thread_id, firsts=list(firsts), at=at)
    await jobs.defer(tx, STEP, thread_id)


async def ask_for_messages(tx: Transaction, message_ids: Sequence[UUID], at: datetime) -> None:
    """Have the windows read anew that these messages were read in."""
    windows: dict[UUID, list[int]] = {}
    for thread_id, first in await tx.tuples(_QUERIES["windows_of"], messages=list(message_ids)):
        windows.setdefault(thread_id, []).append(first)
    for thread_id, firsts in windows.items():
        await ask_again(tx, thread_id, firsts, at)


async def asked_again(tx: Transaction, thread_id: UUID) -> tuple[int, int] | None:
    """The next window of a thread that is to be read anew: first and last position."""
    found = await tx.tuple(_QUERIES["asked_again"], thread_id=thread_id)
    return (found[0], found[1]) if found else None


async def waiting(tx: Transaction) -> tuple[int, int, int]:
    """Of the workspace: threads and messages that are not distilled, and windows that failed."""
    threads, messages, failed = await tx.tuple(_QUERIES["waiting"]) or (0, 0, 0)
    return threads, messages, failed


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
    found = await tx.row(
        _QUERIES["to_read"],
        ToRead,
        thread=thread,
        again=again,
        since=since,
        until=until,
        window=window,
        silence=silence,
        quiet_since=now - silence,
        close=close,
    )
    return found or ToRead()


async def tally(tx: Transaction, thread: str | None) -> Distilled:
    """What all reading came to, in a thread or in the workspace."""
    return await tx.row(_QUERIES["tally"], Distilled, thread=thread) or Distilled()


async def unfinished(tx: Transaction, thread: str | None) -> list[UUID]:
    """Threads of the workspace with messages to distil or windows to read anew."""
    return await tx.values(_QUERIES["unfinished"], thread=thread)


async def threads_to_distil(
    tx: Transaction, quiet_since: datetime, settled_since: datetime, at_most: int, *, held: bool
) -> list[tuple[UUID, UUID]]:
    """Workspace and thread where a window waits and nobody has a job for it, or (`held`) it is being run. For the sweep: needs
    the workers' role."""
    found = await tx.tuples(
        _QUERIES["threads_to_distil"],
        quiet_since=quiet_since,
        settled_since=settled_since,
        held=held,
        at_most=at_most,
    )
    return [(workspace_id, thread_id) for workspace_id, thread_id in found]


async def workspaces_with_old_keys(
    tx: Transaction, step: str, now: datetime, at_most: int, *, held: bool
) -> list[UUID]:
    """Workspaces with keys that nobody said again in time, where nobody has a job of the step, or (`held`) it is being run. For
    the sweep: needs the workers' role."""
    return await tx.values(
        _QUERIES["workspaces_with_old_keys"], step=step, now=now, held=held, at_most=at_most
    )


async def failures(tx: Transaction) -> list[Failure]:
    """Windows of all workspaces that could not be read. Needs the workers' role."""
    return await tx.rows(_QUERIES["failures"], partial(Failure, step=STEP))


async def suggest_taxonomy(tx: Transaction, thread_id: UUID, path: str, at: datetime) -> None:
    """A path that a thread may belong to; suggested again it counts once more."""
    await tx.done(_QUERIES["suggest_taxonomy"], suggestion_id=new_id(), thread_id=thread_id, path=path, at=at)


async def count(tx: Transaction) -> int:
    """How many memories of the workspace are current."""
    return await tx.value(_QUERIES["count"])
