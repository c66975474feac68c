"""Writing messages into a thread, each after the one before it, with their sessions, their passages and the jobs of the
background steps. In the transaction of whoever opened the thread."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from everlore.capture.accept import Accepted
from everlore.capture.searchable import searchable
from everlore.domain.errors import InternalError, promised
from everlore.domain.ids import new_id, new_ids
from everlore.ports.tokens import Count
from everlore.runtime import Runtime
from everlore.store import conversation, jobs
from everlore.store.conversation import Destination, MessagesAsJson, OpenThread, ThreadState
from everlore.store.run import Transaction

_T = TypeVar("_T")

SESSION_GAP = timedelta(hours=6)
# From so many messages on, checking them would hold up the event loop noticeably.
_BULK = 50
# A large call is written in chunks: while Postgres inserts one, the next is split into passages.
_CHUNK = 1000
_CHUNK_CHARACTERS = 4_000_000


@dataclass(slots=True)
class Recording:
    """What one call brings, ready before its transaction begins: `pieces` are the passages of its first messages, by their
    identity, `numbers` those that their passages may take."""

    runtime: Runtime
    workspace_id: UUID
    now: datetime
    pieces: dict[int, list[str]]
    numbers: range


@asynccontextmanager
async def writing(runtime: Runtime, workspace_id: UUID) -> AsyncGenerator[Transaction]:
    """A transaction that writes messages. If it fails, the passage numbers that were taken ahead are not used any more."""
    with runtime.passage_numbers.forgotten_on_failure(workspace_id):
        async with runtime.database.workspace(workspace_id) as tx:
            yield tx


async def prepared(
    runtime: Runtime, workspace_id: UUID, accepted: Sequence[Accepted], now: datetime
) -> Recording:
    """What needs no transaction: passages, and numbers for them."""
    pieces = await aside(len(accepted), _split, accepted[:_CHUNK], runtime.wordpieces)
    numbers = await runtime.passage_numbers.take(runtime.database, workspace_id, _likely(accepted, pieces))
    return Recording(runtime, workspace_id, now, pieces, numbers)


async def prepared_within(
    tx: Transaction, runtime: Runtime, thread_id: UUID, accepted: Sequence[Accepted], now: datetime
) -> Recording:
    """The same for who knows only within a transaction what is new. Other writers may wait for its end for their numbers."""
    workspace_id = promised(tx.workspace_id, "messages are written into a workspace")
    pieces = await aside(len(accepted), _split, accepted[:_CHUNK], runtime.wordpieces)
    count = _likely(accepted, pieces)
    numbers = runtime.passage_numbers.left(workspace_id, count)
    if numbers is None:
        numbers = await conversation.take_passages_of(tx, thread_id, count)
    return Recording(runtime, workspace_id, now, pieces, numbers)


async def write(
    tx: Transaction,
    recording: Recording,
    opened: OpenThread,
    messages: Sequence[Accepted],
    *,
    into: Destination,
    action: str,
    revision_of: UUID | None = None,
) -> tuple[Mapping[int, UUID], ThreadState]:
    """Write messages to where the path of an opened thread ends. Returns their ids, by their identity, and where it stands then.
    `action` is how the audit log calls it, `revision_of` what the first takes the place of."""
    ids = dict(zip(map(id, messages), new_ids(len(messages)), strict=True))
    sessions = _sessions(opened, into.session, [message.at for message in messages])
    written = _Written(opened.state, into.session, sessions, ids, recording.now, revision_of)
    last = await _write_all_but_last(tx, recording, written, messages)
    async with tx.pipeline():
        await last.write(tx, written)
        await conversation.advance(tx, last.after)
        await written.leave_jobs(tx, last.after, recording.runtime.steps)
        await conversation.audit(tx, action, into.thread, messages=len(messages))
    return ids, last.after


async def give_back(tx: Transaction, recording: Recording) -> None:
    """Return the numbers that were not needed, at the end of the transaction."""
    await recording.runtime.passage_numbers.give_back(tx, recording.workspace_id, recording.numbers)
    recording.numbers = range(0)


async def aside(size: int, function: Callable[..., _T], *arguments: Any) -> _T:
    """Run a function on a thread of its own if there is much to do; starting one for little costs more."""
    return function(*arguments) if size < _BULK else await asyncio.to_thread(function, *arguments)


def _split(messages: Sequence[Accepted], wordpieces: Count) -> dict[int, list[str]]:
    """The passages of each message, by its identity."""
    return {
        id(m): searchable(m.author if m.named else None, m.text, m.captions, wordpieces) for m in messages
    }


def _likely(accepted: Sequence[Accepted], pieces: Mapping[int, list[str]]) -> int:
    """How many passages the messages have, or those beyond the first chunk may have."""
    later = sum(1 + len(message.text) // 400 + len(message.captions) // 4 for message in accepted[_CHUNK:])
    return sum(map(len, pieces.values())) + later


@dataclass(frozen=True, slots=True)
class _Written:
    """What messages are written with. `before`: where the thread stood; `sessions`: the session of each message, in order; `ids`:
    of each message, by its identity; `revision_of`: what the first of them takes the place of."""

    before: ThreadState
    session: str | None
    sessions: list[UUID]
    ids: Mapping[int, UUID]
    now: datetime
    revision_of: UUID | None

    async def leave_jobs(self, tx: Transaction, after: ThreadState, steps: Sequence[str]) -> None:
        """Of the background steps that have something new to do."""
        begun = self.before.last_session_id
        went = self.before.last_position, after.last_position
        ended = begun is not None and {begun} != set(self.sessions)
        await jobs.defer_recorded(tx, steps, after.thread_id, went, session_ended=ended)


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Messages as they travel, and where the thread stands before and after them."""

    messages: MessagesAsJson
    last_passage: int
    before: ThreadState
    after: ThreadState

    async def write(self, tx: Transaction, written: _Written) -> None:
        await conversation.write_messages(
            tx, self.before, written.session, self.messages, self.last_passage, written.now
        )


async def _write_all_but_last(
    tx: Transaction, recording: Recording, written: _Written, fresh: Sequence[Accepted]
) -> _Chunk:
    """Write chunk after chunk; one is prepared while the one before it is inserted. Returns the last one, which travels with what
    ends the recording."""
    chunk: _Chunk | None = None
    inserting: asyncio.Task[None] | None = None
    try:
        for messages in _chunks(fresh):
            if chunk is not None:
                inserting = asyncio.create_task(chunk.write(tx, written))
                # Let the statement leave before the next chunk takes the processor.
                await asyncio.sleep(0)
            unsplit = [message for message in messages if id(message) not in recording.pieces]
            recording.pieces |= await aside(len(unsplit), _split, unsplit, recording.runtime.wordpieces)
            before = written.before if chunk is None else chunk.after
            travelling, needed = await aside(
                len(messages), _prepared, written, before, messages, recording.pieces
            )
            if inserting is not None:
                await inserting
            if needed > len(recording.numbers):
                recording.numbers = await conversation.take_passages_of(tx, written.before.thread_id, needed)
            chunk = _Chunk(
                travelling,
                recording.numbers.start - 1,
                before,
                _after(before, written, messages, needed),
            )
            recording.numbers = recording.numbers[needed:]
    except BaseException:
        if inserting is not None and not inserting.done():
            inserting.cancel()
            await asyncio.wait([inserting])
        raise
    if chunk is None:
        raise InternalError("a call without new messages writes none")
    return chunk


def _after(before: ThreadState, written: _Written, chunk: list[Accepted], passages: int) -> ThreadState:
    """Where the thread stands after a chunk that has so many passages."""
    position = before.last_position + len(chunk)
    return replace(
        before,
        last_position=position,
        last_sequence=before.last_sequence + passages,
        last_session_id=written.sessions[position - written.before.last_position - 1],
        last_at=chunk[-1].at,
        tip_id=written.ids[id(chunk[-1])],
    )


def _chunks(messages: Sequence[Accepted]) -> Iterator[list[Accepted]]:
    """Stretches of at most so many messages, and so many characters: each travels as one text."""
    chunk: list[Accepted] = []
    size = 0
    for message in messages:
        chunk.append(message)
        size += sum(
            map(len, (message.text, message.system_prompt or "", message.tool_calls, message.metadata))
        )
        if len(chunk) == _CHUNK or size > _CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _prepared(
    written: _Written, state: ThreadState, chunk: list[Accepted], pieces: Mapping[int, list[str]]
) -> tuple[MessagesAsJson, int]:
    """What can be worked out while the chunk before is written, counted on from where the thread stands then; and how many
    passages it has."""
    first = state.last_position - written.before.last_position
    sessions = written.sessions[first : first + len(chunk)]
    rows: list[dict[str, Any]] = []
    passages = 0
    parent, revision_of = state.tip_id, None if first else written.revision_of
    for position, (message, session) in enumerate(
        zip(chunk, sessions, strict=True), start=state.last_position + 1
    ):
        texts = pieces[id(message)]
        message_id = written.ids[id(message)]
        row = _row(message, message_id, session, position)
        rows.append(
            row | {"parent_id": parent and str(parent), "revision_of": revision_of and str(revision_of)}
        )
        rows[-1] |= {"passages": texts, "passages_before": passages}
        passages += len(texts)
        parent, revision_of = message_id, None
    return conversation.as_json(rows), passages


def _row(message: Accepted, message_id: UUID, session_id: UUID, position: int) -> dict[str, Any]:
    """A message as JSON, with the columns of conversation.sql: write_messages."""
    return {
        "message_id": str(message_id),
        "session_id": str(session_id),
        "position": position,
        "role": message.role,
        "author": message.author,
        "occurred_at": message.at.isoformat(),
        "text": message.text,
        "captions": message.captions,
        "system_prompt": message.system_prompt,
        "tool_calls": message.tool_calls,
        "external_id": message.external_id,
        "reply_to": message.reply_to,
        "metadata": message.metadata,
        "taxonomy": message.taxonomy,
        "content_hash": f"\\x{message.content_hash.hex()}",
        "off_the_record": message.off_the_record,
        "finish": message.finish,
        "turn_key": f"\\x{message.turn_key.hex()}",
    }


def _sessions(opened: OpenThread, session: str | None, times: list[datetime]) -> list[UUID]:
    """The session of each message: the named one, else the thread's current one until a gap of more than six hours."""
    if session is not None:
        return [opened.session_id or new_id()] * len(times)
    sessions: list[UUID] = []
    current, last_at = opened.state.last_session_id, opened.state.last_at
    for at in times:
        if current is None or last_at is None or abs(at - last_at) > SESSION_GAP:
            current = new_id()
        sessions.append(current)
        last_at = at
    return sessions
