"""What recall reads of memories, and the messages that they rest on."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from everlore.domain.memories import Memory
from everlore.domain.recall import Citation
from everlore.store import recall
from everlore.store.memories import memory_of, with_passage
from everlore.store.queries import queries
from everlore.store.recall import Filter, Key
from everlore.store.run import Transaction

_QUERIES = queries("recall_memories")
_EVERYTHING = Filter()


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which memories a structured question asks for. `said_before`, `since`, `until`: when it was said, or happened;
    `open_at`: nothing had taken its place then; `in_view_at`: it had not expired then; `done_by`, `done_since`: something
    took its place in that time; `expired_by`: it had expired then. `entities` and `authors`: whom it is about, or from."""

    types: tuple[str, ...]
    said_before: datetime | None = None
    since: datetime | None = None
    until: datetime | None = None
    open_at: datetime | None = None
    in_view_at: datetime | None = None
    done_by: datetime | None = None
    done_since: datetime | None = None
    expired_by: datetime | None = None
    entities: tuple[UUID, ...] | None = None
    authors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Use:
    """A memory was used so often since, the last time `at`."""

    memory_id: UUID
    uses: int
    at: datetime


async def keys(tx: Transaction, passages: Sequence[int], recorded_at: datetime | None) -> list[Key]:
    """The messages that usable memories of these passages rest on."""
    return await tx.rows(_QUERIES["keys"], Key, binary=True, passages=list(passages), recorded_at=recorded_at)


async def memories(
    tx: Transaction, passages: Sequence[int], within: Filter, recorded_at: datetime | None
) -> list[tuple[int, Memory]]:
    """The usable memories whose words stand in the passages, as they were believed then (None: now)."""
    return await tx.rows(
        _QUERIES["memories"],
        with_passage,
        passages=list(passages),
        recorded_at=recorded_at,
        **within.parameters(),
    )


async def by_lineage(
    tx: Transaction, lineages: Sequence[UUID], recorded_at: datetime | None
) -> dict[UUID, Memory]:
    rows = await tx.rows(_QUERIES["lineages"], memory_of, lineages=list(lineages), recorded_at=recorded_at)
    return {memory.lineage_id: memory for memory in rows}


async def citations(
    tx: Transaction, lineages: Sequence[UUID], recorded_at: datetime | None
) -> dict[UUID, tuple[Citation, ...]]:
    """The messages that memories rest on, the first said first."""
    return recall.by_lineage(
        await tx.rows(_QUERIES["citations"], recall.cited, lineages=list(lineages), recorded_at=recorded_at)
    )


async def structured(
    tx: Transaction,
    wanted: Wanted,
    recorded_at: datetime | None,
    at_most: int,
    within: Filter = _EVERYTHING,
) -> list[tuple[int | None, Memory]]:
    """Memories by type, state, time and entity, the latest first, with the passages that their words stand in; only those that
    pass the filter."""
    parameters: dict[str, Any] = within.parameters() | {
        name: getattr(wanted, name) for name in Wanted.__slots__
    }
    parameters |= {
        # Both limit times: what the question says, and what the caller does.
        "within_since": within.since,
        "within_until": within.until,
        "types": list(wanted.types),
        "entities": None if wanted.entities is None else list(wanted.entities),
        "authors": [author.lower() for author in wanted.authors],
        "at_most": at_most,
    }
    return await tx.rows(_QUERIES["structured"], with_passage, recorded_at=recorded_at, **parameters)


async def last_person(tx: Transaction) -> tuple[UUID, str] | None:
    """The person whom the latest messages name, but none of those who write them: whom "she" or "he" is likely to be."""
    row = await tx.tuple(_QUERIES["last_person"])
    return (row[0], row[1]) if row else None


async def note_uses(tx: Transaction, uses: Sequence[Use]) -> list[UUID]:
    """Memories were used. Returns which could be noted: not those that a step is writing to just now, nor those that are gone."""
    return await tx.values(
        _QUERIES["note_uses"],
        memories=[use.memory_id for use in uses],
        uses=[use.uses for use in uses],
        times=[use.at for use in uses],
    )
