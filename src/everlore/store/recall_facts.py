"""What recall reads of facts, and the messages that they rest on."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from everlore.domain.memories import Fact
from everlore.domain.recall import Citation
from everlore.store import recall
from everlore.store.facts import with_passage
from everlore.store.queries import queries
from everlore.store.recall import Filter, Key
from everlore.store.run import Transaction

_QUERIES = queries("recall_facts")


async def keys(tx: Transaction, passages: Sequence[int], recorded_at: datetime | None) -> list[Key]:
    """The messages that usable facts of these passages rest on."""
    return await tx.rows(_QUERIES["keys"], Key, binary=True, passages=list(passages), recorded_at=recorded_at)


async def facts(
    tx: Transaction, passages: Sequence[int], within: Filter, recorded_at: datetime | None
) -> list[tuple[int, Fact]]:
    """The usable facts whose words stand in the passages, as they were believed then (None: now)."""
    return await tx.rows(
        _QUERIES["facts"],
        with_passage,
        passages=list(passages),
        recorded_at=recorded_at,
        **within.parameters(),
    )


async def citations(
    tx: Transaction, lineages: Sequence[UUID], recorded_at: datetime | None
) -> dict[UUID, tuple[Citation, ...]]:
    """The messages that facts rest on, the first said first."""
    return recall.by_lineage(
        await tx.rows(_QUERIES["citations"], recall.cited, lineages=list(lineages), recorded_at=recorded_at)
    )
