"""Threads, sessions and messages: what was said, in the order in which it was said."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from everlore.domain.ids import new_id
from everlore.domain.messages import StoredMessage, ThreadSummary
from everlore.store.queries import queries
from everlore.store.run import Transaction, fetched

_QUERIES = queries("conversation")


@dataclass(frozen=True, slots=True)
class ThreadState:
    """A locked thread: the numbers given out so far, and where the conversation stands."""

    thread_id: UUID
    last_position: int
    last_sequence: int
    last_session_id: UUID | None
    last_at: datetime | None


@dataclass(frozen=True, slots=True)
class SearchedMessage:
    """Of a stored message what is searched."""

    position: int
    role: str
    author: str
    text: str
    captions: list[str]


async def open_thread(tx: Transaction, name: str, project: str | None, taxonomy: str | None) -> ThreadState:
    """The thread of that name, made if need be, locked until the end of the transaction."""
    project_id: UUID | None = None
    if project is not None:
        await tx.execute(_QUERIES["make_project"], {"id": new_id(), "name": project})
        cursor = await tx.execute(_QUERIES["find_project"], {"name": project})
        project_id = fetched(await cursor.fetchone())
    cursor = await tx.execute(
        _QUERIES["open_thread"],
        {"id": new_id(), "name": name, "project_id": project_id, "taxonomy": taxonomy},
    )
    row = await cursor.fetchone()
    assert row is not None  # noqa: S101 - an upsert always returns its row
    return ThreadState(*row)


async def find_thread(tx: Transaction, name: str) -> UUID | None:
    row = await (await tx.execute(_QUERIES["find_thread"], {"name": name})).fetchone()
    return row[0] if row else None


async def known_external_ids(
    tx: Transaction, thread: str, external_ids: Sequence[str]
) -> dict[str, tuple[UUID, bytes]]:
    """Of the given external ids those that the thread holds, with the message's id and the hash of its content."""
    if not external_ids:
        return {}
    cursor = await tx.execute(
        _QUERIES["known_external_ids"], {"thread": thread, "external_ids": list(external_ids)}
    )
    return {
        external_id: (message_id, bytes(content))
        for external_id, message_id, content in await cursor.fetchall()
    }


async def take_passages(tx: Transaction, count: int) -> range:
    """Take `count` passage numbers of the workspace; other writers wait for them until the transaction ends."""
    last = fetched(await (await tx.execute(_QUERIES["take_passages"], {"count": count})).fetchone())
    return range(last + 1, last + 1 + count)


async def commit_lazily(tx: Transaction) -> None:
    """Let this transaction's commit not wait for the disk: for numbers taken ahead. The log is written in order, so they
    are safe once the transaction that uses them is."""
    await tx.execute("set local synchronous_commit = off")


async def open_session(
    tx: Transaction, thread_id: UUID, name: str | None, started_at: datetime, ended_at: datetime
) -> UUID:
    """A new session, or the thread's session of that name; its span covers the given one."""
    cursor = await tx.execute(
        _QUERIES["open_session"],
        {
            "id": new_id(),
            "thread_id": thread_id,
            "name": name,
            "started_at": started_at,
            "ended_at": ended_at,
        },
    )
    return fetched(await cursor.fetchone())


async def extend_session(tx: Transaction, session_id: UUID, started_at: datetime, ended_at: datetime) -> None:
    await tx.execute(
        _QUERIES["extend_session"], {"id": session_id, "started_at": started_at, "ended_at": ended_at}
    )


async def give_back_passages(tx: Transaction, unused: range) -> None:
    """Return numbers that were taken and not used, unless another writer has taken some since: then a gap stays."""
    await tx.execute(_QUERIES["give_back_passages"], {"last": unused[-1], "used": unused[0] - 1})


async def make_staging(tx: Transaction) -> None:
    """The temporary tables that rows are copied to; once made they stay with the tx, empty after each commit."""
    await tx.execute("set local client_min_messages = warning")
    await tx.execute(_QUERIES["make_staging"])


async def stage(
    tx: Transaction, messages: Iterable[Sequence[Any]], passages: Iterable[Sequence[Any]]
) -> None:
    """Copy rows to the staging tables; their columns are those of conversation.sql: make_staging."""
    for table, rows in (("copy_messages", messages), ("copy_passages", passages)):
        async with tx.copy(_QUERIES[table]) as copy:
            for row in rows:
                await copy.write_row(row)


async def insert_staged(tx: Transaction, thread_id: UUID, after: int, recorded_at: datetime) -> None:
    """Write staged messages and passages beyond the position `after` into the thread."""
    parameters = {"thread_id": thread_id, "after": after}
    await tx.execute(_QUERIES["insert_messages"], {**parameters, "recorded_at": recorded_at})
    await tx.execute(_QUERIES["insert_passages"], parameters)


async def messages_to_search(
    tx: Transaction, thread_id: UUID, after: int, at_most: int
) -> list[SearchedMessage]:
    """The next messages of a thread beyond the position `after`."""
    parameters = {"thread_id": thread_id, "after": after, "at_most": at_most}
    rows = await (await tx.execute(_QUERIES["messages_to_search"], parameters)).fetchall()
    return [SearchedMessage(*row) for row in rows]


async def insert_staged_passages(tx: Transaction, thread_id: UUID, after: int) -> None:
    """Write staged passages of messages that are stored already, beyond the position `after`."""
    await tx.execute(_QUERIES["insert_staged_passages"], {"thread_id": thread_id, "after": after})


async def delete_passages(tx: Transaction, thread_id: UUID) -> None:
    """All passages of a thread, with vectors and tokens. Postings must have been removed before."""
    await tx.execute(_QUERIES["delete_passages"], {"thread_id": thread_id})


async def lock_thread_id(tx: Transaction, thread_id: UUID) -> None:
    await tx.execute(_QUERIES["lock_thread_id"], {"thread_id": thread_id})


async def restart_steps(tx: Transaction, thread_id: UUID, last_sequence: int) -> None:
    """After the passages of a thread were made anew: every step begins again with it."""
    parameters = {"thread_id": thread_id, "last_sequence": last_sequence}
    await tx.execute(_QUERIES["restart_thread"], parameters)
    await tx.execute(_QUERIES["restart_watermarks"], {"thread_id": thread_id})


async def advance(tx: Transaction, state: ThreadState, *, window_closed: bool) -> None:
    """Note where the thread stands now, raise the watermarks and leave the jobs: all in the caller's transaction.

    `window_closed`: a window of the thread can be distilled now. (Where one closes by silence, the sweep finds it.)
    """
    await tx.execute(
        _QUERIES["advance_thread"],
        {
            "thread_id": state.thread_id,
            "last_position": state.last_position,
            "last_sequence": state.last_sequence,
            "session_id": state.last_session_id,
            "at": state.last_at,
        },
    )
    await tx.execute(
        _QUERIES["raise_watermarks"], {"thread_id": state.thread_id, "last_position": state.last_position}
    )
    await tx.execute(_QUERIES["defer_index"], {"thread_id": state.thread_id})
    if window_closed:
        await tx.execute(_QUERIES["defer_distil"], {"thread_id": state.thread_id})


async def audit(tx: Transaction, action: str, subject: str | None, **detail: Any) -> None:
    """Note a write in the audit log."""
    await tx.execute(
        _QUERIES["audit"], {"id": new_id(), "action": action, "subject": subject, "detail": Jsonb(detail)}
    )


async def list_threads(tx: Transaction) -> list[ThreadSummary]:
    rows = await (await tx.execute(_QUERIES["list_threads"])).fetchall()
    return [ThreadSummary(*row) for row in rows]


async def find_message(tx: Transaction, ending: str) -> list[UUID]:
    """Up to two messages whose id ends so: none, the one, or proof that more must be typed."""
    rows = await (await tx.execute(_QUERIES["find_message"], {"ending": ending})).fetchall()
    return [row[0] for row in rows]


async def show_message(tx: Transaction, message_id: UUID) -> StoredMessage | None:
    row = await (await tx.execute(_QUERIES["show_message"], {"message_id": message_id})).fetchone()
    return StoredMessage(*row) if row else None


async def lock_thread_of_message(tx: Transaction, message_id: UUID) -> tuple[UUID, str] | None:
    row = await (await tx.execute(_QUERIES["lock_thread_of_message"], {"message_id": message_id})).fetchone()
    return (row[0], row[1]) if row else None


async def lock_thread(tx: Transaction, name: str) -> UUID | None:
    row = await (await tx.execute(_QUERIES["lock_thread"], {"name": name})).fetchone()
    return row[0] if row else None


async def passages_of_message(tx: Transaction, message_id: UUID) -> list[int]:
    rows = await (await tx.execute(_QUERIES["passages_of_message"], {"message_id": message_id})).fetchall()
    return [row[0] for row in rows]


async def passages_of_thread(tx: Transaction, thread_id: UUID) -> list[int]:
    rows = await (await tx.execute(_QUERIES["passages_of_thread"], {"thread_id": thread_id})).fetchall()
    return [row[0] for row in rows]


async def delete_message(tx: Transaction, thread_id: UUID, message_id: UUID) -> None:
    await tx.execute(_QUERIES["delete_message"], {"message_id": message_id})
    await tx.execute(_QUERIES["count_down"], {"thread_id": thread_id})
    await tx.execute(_QUERIES["delete_empty_sessions"], {"thread_id": thread_id})


async def delete_thread(tx: Transaction, thread_id: UUID) -> int:
    """Delete a thread with everything in it; returns the number of its messages."""
    cursor = await tx.execute(_QUERIES["delete_messages_of_thread"], {"thread_id": thread_id})
    await tx.execute(_QUERIES["delete_thread"], {"thread_id": thread_id})
    return cursor.rowcount
