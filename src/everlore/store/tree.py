"""The tree of a thread's messages: which one follows which, and which of its branches is the path, the one that is real."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from psycopg.rows import tuple_row

from everlore.domain.errors import InternalError
from everlore.store.conversation import ThreadState
from everlore.store.queries import queries
from everlore.store.run import Transaction
from everlore.store.texts import with_texts

_QUERIES = queries("tree")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message stands. A parent's position is smaller than its children's."""

    message_id: UUID
    thread_id: UUID
    parent_id: UUID | None
    position: int
    on_path: bool
    role: str


@dataclass(frozen=True, slots=True)
class Following:
    """A message of the path with what it says."""

    message_id: UUID
    parent_id: UUID | None
    position: int
    role: str
    text: str
    captions: Sequence[str]
    tool_calls: str


class KnownTurn(NamedTuple):
    """A message by what it says (`everlore.capture.turns.turn_key`)."""

    message_id: UUID
    parent_id: UUID | None
    turn_key: bytes
    position: int
    on_path: bool


class KnownTurns(NamedTuple):
    """What a thread has of a history. `path`: the messages of the path that say what the history begins with, the last of them at
    `position`; `goes_on`: whether others come behind that, and the history goes on otherwise; `turns`: what says the same as any
    of its later turns (as any at all, if so), in their order; `erased`: marks of what was erased from the thread.
    """

    path: Sequence[UUID]
    position: int
    goes_on: bool
    turns: list[KnownTurn]
    erased: set[bytes]


async def place(tx: Transaction, message_id: UUID) -> Place | None:
    return await tx.row(_QUERIES["place"], Place, message_id=message_id)


async def up(tx: Transaction, message_id: UUID) -> list[tuple[UUID, int, bool]]:
    """A message and those above it, up to the first that is on the path: id, position, whether it is on the path; the uppermost
    first."""
    rows = await tx.tuples(_QUERIES["up"], message_id=message_id)
    return [(found, position, on_path) for found, position, on_path in rows]


async def leave(tx: Transaction, thread_id: UUID, after: int) -> list[UUID]:
    """Take what is behind a position off the path; returns which messages that were."""
    return await tx.values(_QUERIES["leave"], thread_id=thread_id, after=after)


async def join(tx: Transaction, messages: Sequence[UUID]) -> None:
    """Put messages on the path."""
    if messages:
        await tx.done(_QUERIES["join"], messages=list(messages))


async def end_at(tx: Transaction, thread_id: UUID, message_id: UUID | None, left: int) -> ThreadState:
    """The path ends with that message, and has so many messages fewer; returns where the thread stands then."""
    state = await tx.row(
        _QUERIES["end_at"], ThreadState, thread_id=thread_id, message_id=message_id, left=left
    )
    if state is None:
        raise InternalError("a locked thread is gone")
    return state


async def lock(tx: Transaction, thread_id: UUID) -> tuple[ThreadState, str] | None:
    """Lock a thread; where it stands, and its name. None if it is gone."""
    found = await tx.tuple(_QUERIES["lock"], thread_id=thread_id)
    return None if found is None else (ThreadState(*found[:-1]), found[-1])


async def counts(tx: Transaction, thread_id: UUID) -> tuple[int, int]:
    """How many messages of a thread are on its path, and off it."""
    on_path, off_path = await tx.tuple(_QUERIES["counts"], thread_id=thread_id) or (0, 0)
    return on_path, off_path


async def known_turns(tx: Transaction, thread_id: UUID, keys: Sequence[bytes]) -> KnownTurns:
    """What a thread has of a history with these keys. From now on what is erased from the thread is kept in mind."""
    async with tx.pipeline():
        await tx.done(_QUERIES["note_reconciled"], thread_id=thread_id)
        # As one value: a list of 500 takes longer to write than to look up.
        found = await tx.sent(
            _QUERIES["known_turns"], tuple_row, binary=True, thread_id=thread_id, keys=b"".join(keys)
        )
    nothing = ((), 0, False, (), (), (), (), (), ())
    path, position, goes_on, *columns, erased = await found.fetchone() or nothing
    return KnownTurns(
        path,
        position,
        goes_on,
        [KnownTurn(*turn) for turn in zip(*columns, strict=True)],
        {bytes(mark) for mark in erased},
    )


async def between(tx: Transaction, thread_id: UUID, after: int | None, before: int) -> int:
    """How many messages of the path lie between two positions, or before one."""
    return await tx.value(_QUERIES["between"], thread_id=thread_id, after=after or 0, before=before)


async def following(tx: Transaction, thread_id: UUID, after: int) -> Place | None:
    """The turn of the path behind a position."""
    return await tx.row(_QUERIES["following"], Place, thread_id=thread_id, after=after)


async def following_said(tx: Transaction, thread_id: UUID, after: int) -> Following | None:
    """The same with what it says."""
    found = await with_texts(tx, _QUERIES["following_said"], Following, thread_id=thread_id, after=after)
    return found[0] if found else None


async def end_of(tx: Transaction, message_id: UUID) -> UUID:
    """The end of the branch that goes on from a message: always with what was written last."""
    return await tx.value(_QUERIES["end_of"], message_id=message_id)


async def erase(tx: Transaction, messages: Sequence[UUID]) -> None:
    """Before messages of locked threads are deleted: what follows them is linked to what stays."""
    gone = list(messages)
    await tx.done(_QUERIES["note_erased"], messages=gone)
    await tx.done(_QUERIES["relink"], messages=gone)
    await tx.done(_QUERIES["unrevise"], messages=gone)
