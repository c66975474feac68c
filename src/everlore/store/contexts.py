"""Contexts: what they are made of beside what recall finds, and the log of what was given, with the heads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg

from everlore.domain.context import LoggedContext
from everlore.domain.errors import Conflict
from everlore.domain.memories import Memory
from everlore.store.memories import memory_of
from everlore.store.queries import queries
from everlore.store.run import Transaction

_QUERIES = queries("contexts")


@dataclass(frozen=True, slots=True)
class GivenRow:
    """Something that was given: a message, a version of a memory, or a fact."""

    slot: str
    number: int | None
    message_id: UUID | None
    memory_id: UUID | None
    lineage_id: UUID | None
    fact_id: UUID | None
    fact_version: UUID | None


@dataclass(frozen=True, slots=True)
class ItemRow:
    """Something that stands in a context. Of a head it has its words, of a tail none; what belongs to no slot is ''."""

    part: str
    slot: str
    number: int | None
    tokens: int
    message_id: UUID | None = None
    memory_id: UUID | None = None
    lineage_id: UUID | None = None
    fact_id: UUID | None = None
    fact_version: UUID | None = None
    words: str | None = None


@dataclass(frozen=True, slots=True)
class NewContext:
    """A context to be logged."""

    context_id: UUID
    parent_id: UUID | None
    thread_id: UUID | None
    profile: str
    budget: int
    made_at: datetime


async def pinned(tx: Transaction, now: datetime, most: int) -> list[Memory]:
    return await tx.rows(_QUERIES["pinned"], memory_of, now=now, most=most)


async def core(tx: Transaction, now: datetime, least: float, most: int) -> list[Memory]:
    """Memories of at least that importance."""
    return await tx.rows(_QUERIES["core"], memory_of, now=now, least=least, most=most)


async def standing(tx: Transaction, now: datetime, kind: str, most: int) -> list[Memory]:
    """Memories of one type."""
    return await tx.rows(_QUERIES["standing"], memory_of, now=now, type=kind, most=most)


async def current(tx: Transaction, lineages: Sequence[UUID]) -> list[Memory]:
    """Memories as they are believed now, whatever became of them; in the order given."""
    return await tx.rows(_QUERIES["current"], memory_of, lineages=list(lineages)) if lineages else []


async def versions(tx: Transaction, memory_ids: Sequence[UUID]) -> list[Memory]:
    """Single versions of memories."""
    return await tx.rows(_QUERIES["versions"], memory_of, versions=list(memory_ids)) if memory_ids else []


async def last_message(tx: Transaction, thread_id: UUID, now: datetime) -> datetime | None:
    """When the last message of a thread's path was said; None if there is none yet."""
    return await tx.value(_QUERIES["last_message"], thread_id=thread_id, now=now)


async def passages(tx: Transaction, message_ids: Sequence[UUID]) -> dict[UUID, list[str]]:
    """The passages of messages, in their order."""
    found: dict[UUID, list[str]] = {}
    for message_id, text in await tx.tuples(_QUERIES["passages"], messages=list(message_ids)):
        found.setdefault(message_id, []).append(text)
    return found


async def given(tx: Transaction, context_id: UUID) -> list[GivenRow]:
    """What stands in a context and in all before it, the first given first."""
    return await tx.rows(_QUERIES["given"], GivenRow, context_id=context_id)


async def write(tx: Transaction, context: NewContext, items: Sequence[ItemRow]) -> None:
    """Log a context with what stands in it, in its order. Raises Conflict where some of it was erased just now."""
    columns = {
        "parts": "part",
        "slots": "slot",
        "numbers": "number",
        "tokens": "tokens",
        "messages": "message_id",
        "memories": "memory_id",
        "facts": "fact_id",
        "fact_versions": "fact_version",
        "words": "words",
    }
    rows = {name: [getattr(item, column) for item in items] for name, column in columns.items()}
    try:
        await tx.done(
            _QUERIES["write"],
            context_id=context.context_id,
            parent_id=context.parent_id,
            thread_id=context.thread_id,
            profile=context.profile,
            budget=context.budget,
            made_at=context.made_at,
        )
        await tx.done(
            _QUERIES["write_items"], context_id=context.context_id, places=list(range(len(items))), **rows
        )
    except psycopg.errors.ForeignKeyViolation as error:
        raise Conflict("Something of the context was erased while it was made.") from error


async def find(tx: Transaction, ending: str) -> list[UUID]:
    """Up to two contexts whose id ends so."""
    return await tx.values(_QUERIES["find"], ending=ending)


async def show(tx: Transaction, context_id: UUID) -> tuple[LoggedContext, UUID | None] | None:
    """A context, and the id of its thread."""
    return await tx.row(_QUERIES["show"], _logged, context_id=context_id)


async def items(tx: Transaction, context_id: UUID) -> list[ItemRow]:
    """What stands in a context, in its order."""
    return await tx.rows(_QUERIES["items"], ItemRow, context_id=context_id)


async def listed(
    tx: Transaction, thread_id: UUID | None, limit: int, after: Sequence[Any] | None
) -> tuple[list[LoggedContext], int]:
    """Contexts behind a key (when they were made, id), the latest first; and how many there are in all."""
    after_at, after_id = after or (None, None)
    found = await tx.rows(
        _QUERIES["listed"], _logged, thread_id=thread_id, limit=limit, after_at=after_at, after_id=after_id
    )
    return [context for context, _ in found], await tx.value(_QUERIES["count"], thread_id=thread_id)


def _logged(
    *, thread_id: UUID | None, slots: Mapping[str, int], **columns: Any
) -> tuple[LoggedContext, UUID | None]:
    return LoggedContext(**columns, slots=slots), thread_id
