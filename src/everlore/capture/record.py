"""Recording: messages, their passages and the job that indexes them become one commit."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from everlore.capture.accept import Accepted, accept
from everlore.capture.searchable import searchable
from everlore.domain.errors import InternalError
from everlore.domain.ids import new_id, new_ids
from everlore.domain.messages import NewMessage, Outcome, Receipt
from everlore.ports.tokens import Count
from everlore.runtime import Runtime
from everlore.store import conversation, jobs
from everlore.store.conversation import MessagesAsJson, OpenThread, ThreadState
from everlore.store.run import Transaction
from everlore.validation import name, taxonomy_path

_T = TypeVar("_T")

SESSION_GAP = timedelta(hours=6)
# From so many messages on, checking them would hold up the event loop noticeably.
_BULK = 50
# A large call is written in chunks: while Postgres inserts one, the next is split into passages.
_CHUNK = 1000
_CHUNK_CHARACTERS = 4_000_000


async def record(
    runtime: Runtime,
    workspace_id: UUID,
    messages: Sequence[NewMessage | Mapping[str, Any]],
    *,
    workspace: str,
    thread: str,
    session: str | None,
    project: str | None,
    taxonomy: str | None,
) -> Receipt:
    """Write messages to a thread of the workspace, whose name the receipt repeats. Returns after the commit; raises InvalidInput
    before anything is written.

    A message whose external id the thread has already is not written again: the same content is "already there", other
    content is refused.
    """
    thread = name(thread, "thread")
    session = None if session is None else name(session, "session")
    project = None if project is None else name(project, "project")
    taxonomy = None if taxonomy is None else taxonomy_path(taxonomy, "taxonomy")
    now = runtime.clock()
    size = len(messages) if isinstance(messages, Sequence) else 0  # pyright: ignore[reportUnnecessaryIsInstance]
    accepted = await _aside(size, accept, messages, now)
    external_ids = [message.external_id for message in accepted if message.external_id is not None]
    pieces = await _aside(size, _split, accepted[:_CHUNK], runtime.wordpieces)
    try:
        numbers = await runtime.passage_numbers.take(
            runtime.database, workspace_id, _likely(accepted, pieces)
        )
        async with runtime.database.workspace(workspace_id) as tx:
            opened = await conversation.open_thread(
                tx, thread, project=project, taxonomy=taxonomy, session=session, external_ids=external_ids
            )
            fresh = _first_of_each(accepted, opened.known)
            ids = dict(zip(map(id, fresh), new_ids(len(fresh)), strict=True))
            if fresh:
                sessions = _sessions(opened, session, [message.at for message in fresh])
                written = _Written(opened.state, session, sessions, ids, now)
                last, numbers = await _write_all_but_last(
                    tx, written, fresh, pieces, numbers, runtime.wordpieces
                )
                async with tx.pipeline():
                    await last.write(tx, written)
                    await conversation.advance(tx, last.after)
                    await written.leave_jobs(tx, last.after, runtime.steps)
                    await conversation.audit(tx, "record", thread, messages=len(fresh))
                    await runtime.passage_numbers.give_back(tx, workspace_id, numbers)
            else:
                await runtime.passage_numbers.give_back(tx, workspace_id, numbers)
    except BaseException:
        runtime.passage_numbers.forget(workspace_id)
        raise
    return Receipt(workspace, thread, _outcomes(accepted, opened.known, ids))


async def _aside(size: int, function: Callable[..., _T], *arguments: Any) -> _T:
    """Run a function on a thread of its own if there is much to do; starting one for little costs more."""
    return function(*arguments) if size < _BULK else await asyncio.to_thread(function, *arguments)


def _split(messages: list[Accepted], wordpieces: Count) -> dict[int, list[str]]:
    """The passages of each message, by its identity."""
    return {
        id(m): searchable(m.author if m.named else None, m.text, m.captions, wordpieces) for m in messages
    }


def _likely(accepted: list[Accepted], pieces: Mapping[int, list[str]]) -> int:
    """How many passages the messages have, or those beyond the first chunk may have."""
    later = sum(1 + len(message.text) // 400 + len(message.captions) // 4 for message in accepted[_CHUNK:])
    return sum(map(len, pieces.values())) + later


def _first_of_each(accepted: list[Accepted], known: Mapping[str, tuple[UUID, bytes]]) -> list[Accepted]:
    """Those that the thread does not have, without repetitions of an external id within the call."""
    seen = set(known)
    fresh: list[Accepted] = []
    for message in accepted:
        if message.external_id is not None:
            if message.external_id in seen:
                continue
            seen.add(message.external_id)
        fresh.append(message)
    return fresh


@dataclass(frozen=True, slots=True)
class _Written:
    """What a call's messages are written with. `before`: where the thread stood; `sessions`: the session of each message, in
    order; `ids`: of each message, by its identity."""

    before: ThreadState
    session: str | None
    sessions: list[UUID]
    ids: Mapping[int, UUID]
    now: datetime

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
    tx: Transaction,
    written: _Written,
    fresh: list[Accepted],
    pieces: dict[int, list[str]],
    numbers: range,
    wordpieces: Count,
) -> tuple[_Chunk, range]:
    """Write chunk after chunk; one is prepared while the one before it is inserted. `pieces` has the passages of the first.
    Returns the last one, which travels with what ends the call, and the numbers that are left."""
    chunk: _Chunk | None = None
    inserting: asyncio.Task[None] | None = None
    try:
        for messages in _chunks(fresh):
            if chunk is not None:
                inserting = asyncio.create_task(chunk.write(tx, written))
                # Let the statement leave before the next chunk takes the processor.
                await asyncio.sleep(0)
            unsplit = [message for message in messages if id(message) not in pieces]
            pieces |= await _aside(len(unsplit), _split, unsplit, wordpieces)
            before = written.before if chunk is None else chunk.after
            travelling, needed = await _aside(len(messages), _prepared, written, before, messages, pieces)
            if inserting is not None:
                await inserting
            if needed > len(numbers):
                numbers = await conversation.take_passages(tx, needed)
            chunk = _Chunk(
                travelling,
                numbers.start - 1,
                before,
                _after(before, written, messages, needed),
            )
            numbers = numbers[needed:]
    except BaseException:
        if inserting is not None and not inserting.done():
            inserting.cancel()
            await asyncio.wait([inserting])
        raise
    if chunk is None:
        raise InternalError("a call without new messages writes none")
    return chunk, numbers


def _after(before: ThreadState, written: _Written, chunk: list[Accepted], passages: int) -> ThreadState:
    """Where the thread stands after a chunk that has so many passages."""
    position = before.last_position + len(chunk)
    return replace(
        before,
        last_position=position,
        last_sequence=before.last_sequence + passages,
        last_session_id=written.sessions[position - written.before.last_position - 1],
        last_at=chunk[-1].at,
    )


def _chunks(messages: list[Accepted]) -> Iterator[list[Accepted]]:
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
    for position, (message, session) in enumerate(
        zip(chunk, sessions, strict=True), start=state.last_position + 1
    ):
        texts = pieces[id(message)]
        rows.append(_row(message, written.ids[id(message)], session, position, texts, passages))
        passages += len(texts)
    return conversation.as_json(rows), passages


def _row(
    message: Accepted, message_id: UUID, session_id: UUID, position: int, passages: list[str], before: int
) -> dict[str, Any]:
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
        "passages": passages,
        "passages_before": before,
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


def _outcomes(
    accepted: list[Accepted], known: Mapping[str, tuple[UUID, bytes]], written: Mapping[int, UUID]
) -> tuple[Outcome, ...]:
    """`written` has the ids of the messages that this call stored, by the identity of the accepted message."""
    there = dict(known)
    outcomes: list[Outcome] = []
    for message in accepted:
        message_id = written.get(id(message))
        if message_id is not None:
            outcomes.append(Outcome("stored", message_id))
            if message.external_id is not None:
                there[message.external_id] = (message_id, message.content_hash)
            continue
        message_id, content = there[message.external_id or ""]
        if content == message.content_hash:
            outcomes.append(Outcome("already there", message_id))
        else:
            reason = f"external_id {message.external_id!r} is taken by a message with other content"
            outcomes.append(Outcome("refused", message_id, reason))
    return tuple(outcomes)
