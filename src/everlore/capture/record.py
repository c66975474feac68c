"""Recording: messages, their passages and the job that indexes them become one commit."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from everlore.capture.accept import Accepted, accept
from everlore.capture.searchable import searchable
from everlore.domain.ids import new_ids
from everlore.domain.messages import NewMessage, Outcome, Receipt
from everlore.ports.tokens import Count
from everlore.runtime import Runtime
from everlore.store import conversation, jobs
from everlore.store.conversation import ThreadState
from everlore.store.run import Transaction
from everlore.validation import name, taxonomy_path

_T = TypeVar("_T")

SESSION_GAP = timedelta(hours=6)
# From so many messages on, checking them would hold up the event loop noticeably.
_BULK = 50
# A large call is written in chunks: while Postgres inserts one, the next is split into passages.
_CHUNK = 1000
_Row = tuple[Any, ...]


async def record(
    runtime: Runtime,
    workspace_id: UUID,
    messages: Sequence[NewMessage | Mapping[str, Any]],
    *,
    thread: str,
    session: str | None,
    project: str | None,
    taxonomy: str | None,
) -> Receipt:
    """Write messages to a thread. Returns after the commit; raises InvalidInput before anything is written.

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

    async with runtime.database.workspace(workspace_id) as tx:
        known = await conversation.known_external_ids(tx, thread, external_ids)
        fresh = _first_of_each(accepted, known)
        numbers = await _reserve(tx, fresh) if fresh else range(0)
    if not fresh:
        return Receipt(thread, _outcomes(accepted, known, {}))

    async with runtime.database.workspace(workspace_id) as tx:
        state = await conversation.open_thread(tx, thread, project, taxonomy)
        # Once more, under the lock: another writer may have brought some of them meanwhile.
        known = await conversation.known_external_ids(tx, thread, external_ids)
        fresh = _first_of_each(accepted, known)
        ids = dict(zip(map(id, fresh), new_ids(len(fresh)), strict=True))
        if fresh:
            await _write(tx, state, session, fresh, ids, numbers, runtime, now)
            await conversation.audit(tx, "record", thread, messages=len(fresh))
    return Receipt(thread, _outcomes(accepted, known, ids))


async def _aside(size: int, function: Callable[..., _T], *arguments: Any) -> _T:
    """Run a function on a thread of its own if there is much to do; starting one for little costs more."""
    return function(*arguments) if size < _BULK else await asyncio.to_thread(function, *arguments)


async def _reserve(tx: Transaction, fresh: list[Accepted]) -> range:
    """Passage numbers for about as many passages as the messages will have, in a transaction that ends at once: writers
    of one workspace would otherwise wait for each other."""
    likely = sum(1 + len(message.text) // 400 + len(message.captions) // 4 for message in fresh)
    await conversation.commit_lazily(tx)
    return await conversation.take_passages(tx, likely)


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


async def _write(
    tx: Transaction,
    state: ThreadState,
    session: str | None,
    fresh: list[Accepted],
    ids: Mapping[int, UUID],
    numbers: range,
    runtime: Runtime,
    now: datetime,
) -> None:
    """Write chunk after chunk; one is prepared while the one before it is inserted."""
    sessions = await _sessions(tx, state, session, [message.at for message in fresh])
    await conversation.make_staging(tx)
    position, sequence = state.last_position, state.last_sequence
    inserting: asyncio.Task[None] | None = None
    try:
        for start in range(0, len(fresh), _CHUNK):
            chunk = fresh[start : start + _CHUNK]
            pieces = await _aside(len(chunk), _all_passages, chunk, runtime.wordpieces)
            needed = sum(map(len, pieces))
            if needed > len(numbers):
                numbers = await conversation.take_passages(tx, needed)
            rows = _rows(chunk, pieces, sessions[start:], ids, position, sequence, numbers)
            if inserting is not None:
                await inserting
            await conversation.stage(tx, *rows)
            inserting = asyncio.create_task(conversation.insert_staged(tx, state.thread_id, position, now))
            # Let the statement leave before the next chunk takes the processor.
            await asyncio.sleep(0)
            position, sequence, numbers = position + len(chunk), sequence + needed, numbers[needed:]
        if inserting is not None:
            await inserting
    except BaseException:
        if inserting is not None and not inserting.done():
            inserting.cancel()
            await asyncio.wait([inserting])
        raise
    if numbers:
        await conversation.give_back_passages(tx, numbers)
    await conversation.advance(
        tx, ThreadState(state.thread_id, position, sequence, sessions[-1], fresh[-1].at)
    )
    ended = state.last_session_id is not None and {state.last_session_id} != set(sessions)
    went = state.last_position, position
    await jobs.defer_recorded(tx, runtime.steps, state.thread_id, went, session_ended=ended)


def _all_passages(messages: list[Accepted], wordpieces: Count) -> list[list[str]]:
    return [searchable(m.author if m.named else None, m.text, m.captions, wordpieces) for m in messages]


def _rows(
    messages: list[Accepted],
    pieces: list[list[str]],
    sessions: list[UUID],
    ids: Mapping[int, UUID],
    position: int,
    sequence: int,
    numbers: range,
) -> tuple[list[_Row], list[_Row]]:
    """Rows for the staging tables, counted on from the given position and sequence."""
    message_rows: list[_Row] = []
    passage_rows: list[_Row] = []
    place = 0
    for m, texts, session_id in zip(messages, pieces, sessions, strict=False):
        position += 1
        message_rows.append(
            (
                *(
                    ids[id(m)],
                    session_id,
                    position,
                    m.role,
                    m.author,
                    m.at,
                    m.text,
                    m.captions,
                    m.system_prompt,
                ),
                *(m.tool_calls, m.external_id, m.reply_to, m.metadata, m.taxonomy, m.content_hash),
                m.off_the_record,
            )
        )
        for text in texts:
            passage_rows.append((numbers[place], position, sequence + place + 1, text))
            place += 1
    return message_rows, passage_rows


async def _sessions(
    tx: Transaction, state: ThreadState, session: str | None, times: list[datetime]
) -> list[UUID]:
    """The session of each message: the named one, else the thread's current one until a gap of more than six hours."""
    if session is not None:
        named = await conversation.open_session(tx, state.thread_id, session, min(times), max(times))
        return [named] * len(times)
    sessions: list[UUID] = []
    current, last_at = state.last_session_id, state.last_at
    for run in _runs(times):
        first = times[run.start]
        goes_on = current is not None and last_at is not None and abs(first - last_at) <= SESSION_GAP
        span = times[run.start : run.stop]
        if goes_on and current is not None:
            await conversation.extend_session(tx, current, min(span), max(span))
        else:
            current = await conversation.open_session(tx, state.thread_id, None, min(span), max(span))
        last_at = span[-1]
        sessions += [current] * len(span)
    return sessions


def _runs(times: list[datetime]) -> list[range]:
    """Stretches of messages that follow each other without a gap."""
    starts = [0] + [
        place for place in range(1, len(times)) if abs(times[place] - times[place - 1]) > SESSION_GAP
    ]
    return [range(start, stop) for start, stop in zip(starts, [*starts[1:], len(times)], strict=True)]


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
