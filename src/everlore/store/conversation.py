"""Threads, sessions and messages: what was said, in the order in which it was said."""

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NewType
from uuid import UUID

from psycopg.rows import class_row, scalar_row, tuple_row
from psycopg.types.json import Jsonb

from everlore.domain.errors import InternalError
from everlore.domain.ids import new_id
from everlore.domain.messages import StoredMessage, ThreadSummary
from everlore.store.database import Database
from everlore.store.queries import queries
from everlore.store.run import Transaction
from everlore.store.texts import with_texts

MessagesAsJson = NewType("MessagesAsJson", str)
_QUERIES = queries("conversation")


@dataclass(frozen=True, slots=True)
class ThreadState:
    """A locked thread: the numbers given out so far, and where the conversation stands: `tip_id` is the last message of its
    path."""

    thread_id: UUID
    last_position: int
    last_sequence: int
    last_session_id: UUID | None
    last_at: datetime | None
    tip_id: UUID | None


@dataclass(frozen=True, slots=True)
class Destination:
    """Where messages are written: the thread, the sitting that is named, and what is set on the thread."""

    thread: str
    session: str | None = None
    project: str | None = None
    taxonomy: str | None = None


@dataclass(frozen=True, slots=True)
class OpenThread:
    """A locked thread, the id of its session of a name, and of external ids those that it has, with the message's id and the
    hash of its content."""

    state: ThreadState
    session_id: UUID | None
    known: Mapping[str, tuple[UUID, bytes]]

    def at(self, state: ThreadState) -> "OpenThread":
        """The same thread, as it stands later in the transaction."""
        return replace(self, state=state)


@dataclass(frozen=True, slots=True)
class MessagePassage:
    """A passage of the message at `position`; `sequence` counts the passages of the thread."""

    number: int
    position: int
    sequence: int
    text: str


@dataclass(frozen=True, slots=True)
class SearchedMessage:
    """Of a stored message what is searched."""

    message_id: UUID
    position: int
    role: str
    author: str
    text: str
    captions: list[str]


async def open_thread(tx: Transaction, into: Destination, external_ids: Sequence[str] = ()) -> OpenThread:
    """The thread of that name, made if need be, locked until the end of the transaction; then what is in it of the given
    session's name and external ids. One round trip."""
    # Of a single statement a pipeline makes two.
    alone = into.project is None and into.session is None and not external_ids
    async with nullcontext() if alone else tx.pipeline():
        if into.project is not None:
            await tx.done(_QUERIES["make_project"], id=new_id(), name=into.project)
        opened = await tx.sent(
            _QUERIES["open_thread"],
            class_row(ThreadState),
            id=new_id(),
            name=into.thread,
            project=into.project,
            taxonomy=into.taxonomy,
        )
        # Statements of their own: what another writer brought while this one waited for the lock is seen by these only.
        known, named = None, None
        if external_ids:
            known = await tx.sent(
                _QUERIES["known_external_ids"], tuple_row, thread=into.thread, external_ids=list(external_ids)
            )
        if into.session is not None:
            named = await tx.sent(_QUERIES["find_session"], scalar_row, thread=into.thread, name=into.session)
    state = await opened.fetchone()
    if state is None:
        raise InternalError("an upsert that always returns its row gave none")
    return OpenThread(
        state,
        await named.fetchone() if named else None,
        {
            key: (message_id, bytes(content))
            for key, message_id, content in (await known.fetchall() if known else ())
        },
    )


async def external_ids_on_path(tx: Transaction, thread_id: UUID, external_ids: Sequence[str]) -> list[str]:
    """Which of these external ids messages of a thread's path have."""
    if not external_ids:
        return []
    return await tx.values(
        _QUERIES["external_ids_on_path"], thread_id=thread_id, external_ids=list(external_ids)
    )


async def find_thread(tx: Transaction, name: str) -> UUID | None:
    return await tx.value(_QUERIES["find_thread"], name=name)


async def reserve_passages(database: Database, workspace_id: UUID, count: int) -> range:
    """Take `count` passage numbers of the workspace in a transaction of its own, in one round trip: writers of one workspace
    would otherwise wait for each other's commits. Numbers that are lost leave a gap, which harms nobody."""
    if not count:
        return range(0)
    last = await database.at_once(workspace_id, _QUERIES["take_passages"], count=count)
    return range(last + 1, last + 1 + count)


async def take_passages(tx: Transaction, count: int) -> range:
    """Take `count` passage numbers of the workspace; other writers wait for them until the transaction ends."""
    last = await tx.value(_QUERIES["take_passages"], count=count)
    return range(last + 1, last + 1 + count)


async def take_passages_of(tx: Transaction, thread_id: UUID, count: int) -> range:
    """The same for who writes to a thread: under the locks that a step takes before it takes numbers."""
    last = await tx.value(_QUERIES["take_passages_of"], thread_id=thread_id, count=count)
    return range(last + 1, last + 1 + count)


async def give_back_passages(tx: Transaction, unused: range) -> None:
    """Return numbers that were taken and not used, unless another writer has taken some since: then a gap stays."""
    if unused:
        await tx.done(_QUERIES["give_back_passages"], last=unused[-1], used=unused[0] - 1)


def as_json(messages: Sequence[Mapping[str, Any]]) -> MessagesAsJson:
    """Messages as they travel. The fields of each are the columns of conversation.sql: write_messages; of its passages those of
    the messages before it are counted (`passages_before`)."""
    return MessagesAsJson(json.dumps(messages, ensure_ascii=False, separators=(",", ":")))


async def write_messages(
    tx: Transaction,
    state: ThreadState,
    session: str | None,
    messages: MessagesAsJson,
    last_passage: int,
    recorded_at: datetime,
) -> None:
    """Write messages with their sessions and passages into a thread that stands so; `last_passage` is the number before their
    first passage's."""
    await tx.done(
        _QUERIES["write_messages"],
        thread_id=state.thread_id,
        session=session,
        messages=messages,
        recorded_at=recorded_at,
        last_passage=last_passage,
        last_sequence=state.last_sequence,
    )


async def write_passages(tx: Transaction, thread_id: UUID, passages: Sequence[MessagePassage]) -> None:
    """Write passages of messages that are stored already."""
    await tx.done(
        _QUERIES["write_passages"],
        thread_id=thread_id,
        numbers=[passage.number for passage in passages],
        positions=[passage.position for passage in passages],
        sequences=[passage.sequence for passage in passages],
        texts=[passage.text for passage in passages],
    )


async def messages_to_search(
    tx: Transaction, thread_id: UUID, after: int, at_most: int
) -> list[SearchedMessage]:
    """The next messages of a thread beyond the position `after`."""
    query = _QUERIES["messages_to_search"]
    return await with_texts(tx, query, SearchedMessage, thread_id=thread_id, after=after, at_most=at_most)


async def lock_thread_id(tx: Transaction, thread_id: UUID) -> None:
    await tx.done(_QUERIES["lock_thread_id"], thread_id=thread_id)


async def restart_steps(tx: Transaction, thread_id: UUID, last_sequence: int) -> None:
    """After the passages of a thread were made anew: every step begins again with it."""
    await tx.done(_QUERIES["restart_thread"], thread_id=thread_id, last_sequence=last_sequence)
    await tx.done(_QUERIES["restart_watermarks"], thread_id=thread_id)


async def advance(tx: Transaction, state: ThreadState) -> None:
    """Note where the thread stands now and raise the watermarks, in the caller's transaction."""
    await tx.done(
        _QUERIES["advance"],
        thread_id=state.thread_id,
        last_position=state.last_position,
        last_sequence=state.last_sequence,
        session_id=state.last_session_id,
        at=state.last_at,
        tip_id=state.tip_id,
    )


async def audit(tx: Transaction, action: str, subject: str | None, **detail: Any) -> None:
    """Note a write in the audit log."""
    await tx.done(_QUERIES["audit"], id=new_id(), action=action, subject=subject, detail=Jsonb(detail))


async def list_threads(tx: Transaction) -> list[ThreadSummary]:
    return await tx.rows(_QUERIES["list_threads"], ThreadSummary)


async def find_message(tx: Transaction, ending: str) -> list[UUID]:
    """Up to two messages whose id ends so: none, the one, or proof that more must be typed."""
    return await tx.values(_QUERIES["find_message"], ending=ending)


async def show_message(tx: Transaction, message_id: UUID) -> StoredMessage | None:
    found = await with_texts(tx, _QUERIES["show_message"], StoredMessage, message_id=message_id)
    return found[0] if found else None


async def lock_thread(tx: Transaction, name: str) -> UUID | None:
    return await tx.value(_QUERIES["lock_thread"], name=name)


async def messages_of_thread(tx: Transaction, thread_id: UUID) -> list[UUID]:
    return await tx.values(_QUERIES["messages_of_thread"], thread_id=thread_id)
