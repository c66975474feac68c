"""What recall reads of the distilled layer: memories and facts, and the messages that they rest on."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from everlore.domain.memories import Fact, Memory
from everlore.domain.recall import Citation
from everlore.ports.embedder import Vector
from everlore.store import facts as fact_rows
from everlore.store import memories as memory_rows
from everlore.store.queries import queries
from everlore.store.recall import Filter, vectors_of_rows
from everlore.store.run import Transaction

_QUERIES = queries("recall_distilled")
_EVERYTHING = Filter()


@dataclass(frozen=True, slots=True)
class DistilledCandidates:
    """Distilled passages, column by column, by number; `vectors` as in `everlore.store.recall.Surroundings`."""

    passage_ids: NDArray[np.int64]
    kinds: tuple[str, ...]
    vectors: Vector | None


@dataclass(frozen=True, slots=True)
class Key:
    """A distilled passage rests on a message: the message's passage, and the 16 bytes of its id."""

    passage_id: int
    source: int
    message_id: bytes


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


async def candidates(tx: Transaction, passages: Sequence[int], model_id: int | None) -> DistilledCandidates:
    parameters = {"passages": list(passages), "model_id": model_id}
    rows = await (await tx.execute(_QUERIES["passages"], parameters, binary=True)).fetchall()
    return DistilledCandidates(
        passage_ids=np.array([row[0] for row in rows], dtype=np.int64),
        kinds=tuple(row[1] for row in rows),
        vectors=vectors_of_rows([row[2] for row in rows]),
    )


async def keys(tx: Transaction, passages: Sequence[int]) -> list[Key]:
    """The messages that usable memories and facts of these passages rest on."""
    rows = await (await tx.execute(_QUERIES["keys"], {"passages": list(passages)}, binary=True)).fetchall()
    return [Key(*row) for row in rows]


async def memories(
    tx: Transaction, passages: Sequence[int], within: Filter, recorded_at: datetime | None
) -> list[tuple[int, Memory]]:
    """The usable memories whose words stand in the passages, as they were believed then (None: now)."""
    parameters: dict[str, Any] = {
        "passages": list(passages),
        "recorded_at": recorded_at,
        **within.parameters(),
    }
    return await tx.rows(_QUERIES["memories"], memory_rows.with_passage, **parameters)


async def by_lineage(
    tx: Transaction, lineages: Sequence[UUID], recorded_at: datetime | None
) -> dict[UUID, Memory]:
    rows = await tx.rows(
        _QUERIES["lineages"], memory_rows.memory_of, lineages=list(lineages), recorded_at=recorded_at
    )
    return {memory.lineage_id: memory for memory in rows}


async def facts(
    tx: Transaction, passages: Sequence[int], within: Filter, recorded_at: datetime | None
) -> list[tuple[int, Fact]]:
    """The usable facts whose words stand in the passages, as they were believed then (None: now)."""
    parameters: dict[str, Any] = {
        "passages": list(passages),
        "recorded_at": recorded_at,
        **within.parameters(),
    }
    return await tx.rows(_QUERIES["facts"], fact_rows.with_passage, **parameters)


async def citations(
    tx: Transaction, lineages: Sequence[UUID], recorded_at: datetime | None
) -> dict[UUID, tuple[Citation, ...]]:
    """The messages that memories and facts rest on, the first said first."""
    parameters = {"lineages": list(lineages), "recorded_at": recorded_at}
    found: dict[UUID, list[Citation]] = {}
    for lineage, *cited in await (await tx.execute(_QUERIES["citations"], parameters)).fetchall():
        found.setdefault(lineage, []).append(Citation(*cited))
    return {lineage: tuple(cited) for lineage, cited in found.items()}


async def structured(
    tx: Transaction,
    wanted: Wanted,
    recorded_at: datetime | None,
    at_most: int,
    within: Filter = _EVERYTHING,
) -> list[tuple[int | None, Memory]]:
    """Memories by type, state, time and entity, the latest first, with the passages that their words stand in; only those that
    pass the filter."""
    wanted_by = {name: getattr(wanted, name) for name in Wanted.__slots__}
    parameters: dict[str, Any] = (
        within.parameters()
        | wanted_by
        | {
            # Both limit times: what the question says, and what the caller does.
            "within_since": within.since,
            "within_until": within.until,
            "types": list(wanted.types),
            "entities": None if wanted.entities is None else list(wanted.entities),
            "authors": [author.lower() for author in wanted.authors],
            "at_most": at_most,
        }
    )
    return await tx.rows(
        _QUERIES["structured"], memory_rows.with_passage, **parameters, recorded_at=recorded_at
    )


async def last_person(tx: Transaction) -> tuple[UUID, str] | None:
    """The person whom the latest messages name, but none of those who write them: whom "she" or "he" is likely to be."""
    row = await (await tx.execute(_QUERIES["last_person"])).fetchone()
    return (row[0], row[1]) if row else None


async def note_access(tx: Transaction, memory_ids: Sequence[UUID], at: datetime) -> None:
    """Memories were used. One that a step is writing to just now is left out: nobody waits for this."""
    await tx.execute(_QUERIES["note_access"], {"memories": list(memory_ids), "at": at})
