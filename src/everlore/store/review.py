"""What waits for a person: memories that were set aside, entities that may be one, paths for threads."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from everlore.domain.knowledge import ReviewItem, ReviewKind
from everlore.store import entities
from everlore.store.queries import queries
from everlore.store.run import Transaction

_QUERIES = queries("review")


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A review item; of a link also its two entities."""

    kind: ReviewKind
    id: UUID
    state: str
    text: str
    reason: str
    recorded_at: datetime
    one: UUID | None
    other: UUID | None
    total: int


async def waiting(
    tx: Transaction, at_most: int, *, ending: str | None = None, after: Sequence[Any] | None = None
) -> tuple[list[ReviewItem], int]:
    """What waits and comes after the key (`recorded_at`, id), the oldest first, and how much waits in all; `ending`: only what
    has an id that ends with these hexadecimal digits."""
    after_at, after_id = after or (None, None)
    found = await tx.rows(
        _QUERIES["waiting"], _Waiting, at_most=at_most, ending=ending, after_at=after_at, after_id=after_id
    )
    if not found and after is not None:
        return [], (await waiting(tx, 1, ending=ending))[1]
    linked = {one: 0 for item in found for one in (item.one, item.other) if one is not None}
    nodes, _ = await entities.nodes(tx, linked)
    items: list[ReviewItem] = []
    for row in found:
        item = ReviewItem(row.kind, row.id, row.state, row.text, row.reason, row.recorded_at)
        if row.one is not None and row.other is not None:
            # Labels tell namesakes apart.
            item = replace(item, text=f"{nodes[row.one].label} and {nodes[row.other].label}")
        items.append(item)
    return items, found[0].total if found else 0
