"""Recording: messages, their passages and the job that indexes them become one commit."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from everlore.capture.accept import Accepted, accept, name, taxonomy_path
from everlore.capture.split import Count, passages, split
from everlore.domain.ids import new_ids
from everlore.domain.messages import NewMessage, Outcome, Receipt
from everlore.store import conversation
from everlore.store.conversation import ThreadState
from everlore.store.database import Connection, Database

SESSION_GAP = timedelta(hours=6)
# From so many messages on, checking and splitting would hold up the event loop noticeably.
_BULK = 50


@dataclass(frozen=True, slots=True)
class _Prepared:
    message: Accepted
    passages: list[str]


async def record(
    database: Database,
    workspace_id: UUID,
    messages: Sequence[NewMessage | Mapping[str, Any]],
    *,
    thread: str,
    session: str | None,
    project: str | None,
    taxonomy: str | None,
    now: datetime,
    wordpieces: Count,
) -> Receipt:
    """Write messages to a thread. Returns after the commit; raises InvalidInput before anything is written.

    A message whose external id the thread has already is not written again: the same content is "already there", other
    content is refused.
    """
    thread = name(thread, "thread")
    session = None if session is None else name(session, "session")
    project = None if project is None else name(project, "project")
    taxonomy = None if taxonomy is None else taxonomy_path(taxonomy, "taxonomy")
    if len(messages) < _BULK:
        prepared = _prepare(messages, now, wordpieces)
    else:
        prepared = await asyncio.to_thread(_prepare, messages, now, wordpieces)
    external_ids = [p.message.external_id for p in prepared if p.message.external_id is not None]

    async with database.workspace(workspace_id) as connection:
        known = await conversation.known_external_ids(connection, thread, external_ids)
        fresh = [p for p in prepared if p.message.external_id not in known]
        last_passage = await conversation.take_passages(connection, sum(len(p.passages) for p in fresh)) if fresh else 0
    if not fresh:
        return Receipt(thread, _outcomes(prepared, known, iter(())))

    async with database.workspace(workspace_id) as connection:
        state = await conversation.open_thread(connection, thread, project, taxonomy)
        # Once more, under the lock: another writer may have brought some of them meanwhile.
        known = await conversation.known_external_ids(connection, thread, external_ids)
        fresh = _first_of_each(p for p in prepared if p.message.external_id not in known)
        ids = new_ids(len(fresh))
        if fresh:
            await _write(connection, state, session, fresh, ids, last_passage)
            await conversation.audit(connection, "record", thread, messages=len(fresh))
    return Receipt(thread, _outcomes(prepared, known, iter(zip(fresh, ids, strict=True))))


def _prepare(
    messages: Sequence[NewMessage | Mapping[str, Any]], now: datetime, wordpieces: Count
) -> list[_Prepared]:
    return [_Prepared(message, _passages(message, wordpieces)) for message in accept(messages, now)]


def _passages(message: Accepted, wordpieces: Count) -> list[str]:
    """The searchable pieces of a message: plain text under its author's name, the captions after the last."""
    pieces = passages(message.text, wordpieces) if message.text and not message.text.isspace() else []
    shares = "".join(f" [shares {caption}]" for caption in message.captions)
    if shares:
        pieces = [*pieces[:-1], *split((pieces[-1] if pieces else "") + shares, wordpieces)]
    return [f"{message.author}: {piece}" for piece in pieces] if message.named else pieces


def _first_of_each(prepared: Iterable[_Prepared]) -> list[_Prepared]:
    """Without those that repeat an external id within the call."""
    seen: set[str] = set()
    kept: list[_Prepared] = []
    for one in prepared:
        external_id = one.message.external_id
        if external_id is not None:
            if external_id in seen:
                continue
            seen.add(external_id)
        kept.append(one)
    return kept


async def _write(
    connection: Connection,
    state: ThreadState,
    session: str | None,
    fresh: list[_Prepared],
    ids: list[UUID],
    last_passage: int,
) -> None:
    sessions = await _sessions(connection, state, session, [p.message.at for p in fresh])
    message_rows: list[tuple[Any, ...]] = []
    passage_rows: list[tuple[Any, ...]] = []
    position, sequence = state.last_position, state.last_sequence
    for one, message_id, session_id in zip(fresh, ids, sessions, strict=True):
        m = one.message
        position += 1
        message_rows.append(
            (message_id, session_id, position, m.role, m.author, m.at, m.text, m.captions, m.system_prompt)
            + (m.tool_calls, m.external_id, m.reply_to, m.metadata, m.taxonomy, m.content_hash)
        )
        for text in one.passages:
            sequence += 1
            last_passage += 1
            passage_rows.append(
                (last_passage, message_id, session_id, sequence, position, m.role, m.author, m.at, m.taxonomy, text)
            )
    await conversation.insert(connection, state.thread_id, message_rows, passage_rows)
    await conversation.advance(
        connection, ThreadState(state.thread_id, position, sequence, sessions[-1], fresh[-1].message.at)
    )


async def _sessions(
    connection: Connection, state: ThreadState, session: str | None, times: list[datetime]
) -> list[UUID]:
    """The session of each message: the named one, else the thread's current one until a gap of more than six hours."""
    if session is not None:
        named = await conversation.open_session(connection, state.thread_id, session, min(times), max(times))
        return [named] * len(times)
    sessions: list[UUID] = []
    current, last_at = state.last_session_id, state.last_at
    for run in _runs(times):
        first = times[run.start]
        goes_on = current is not None and last_at is not None and abs(first - last_at) <= SESSION_GAP
        span = times[run.start : run.stop]
        if goes_on and current is not None:
            await conversation.extend_session(connection, current, min(span), max(span))
        else:
            current = await conversation.open_session(connection, state.thread_id, None, min(span), max(span))
        last_at = span[-1]
        sessions += [current] * len(span)
    return sessions


def _runs(times: list[datetime]) -> list[range]:
    """Stretches of messages that follow each other without a gap."""
    starts = [0] + [place for place in range(1, len(times)) if abs(times[place] - times[place - 1]) > SESSION_GAP]
    return [range(start, stop) for start, stop in zip(starts, [*starts[1:], len(times)], strict=True)]


def _outcomes(
    prepared: list[_Prepared],
    known: Mapping[str, tuple[UUID, bytes]],
    written: Iterator[tuple[_Prepared, UUID]],
) -> tuple[Outcome, ...]:
    stored = {id(one): message_id for one, message_id in written}
    by_external_id = dict(known)
    outcomes: list[Outcome] = []
    for one in prepared:
        external_id, content = one.message.external_id, one.message.content_hash
        if id(one) in stored:
            outcomes.append(Outcome("stored", stored[id(one)]))
            if external_id is not None:
                by_external_id[external_id] = (stored[id(one)], content)
            continue
        message_id, there = by_external_id[external_id or ""]
        if there == content:
            outcomes.append(Outcome("already there", message_id))
        else:
            reason = f"external_id {external_id!r} is taken by a message with other content"
            outcomes.append(Outcome("refused", message_id, reason))
    return tuple(outcomes)
