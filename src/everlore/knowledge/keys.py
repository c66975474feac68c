"""Keys: memories that are never shown. They lead a recall to the messages that they rest on, and go when nobody says it again.

A key has words, sources and a passage in a layer of its own (docs/path.md); it names no entity, states no fact and has one
version, so nothing else is left of one that goes. In the caller's transaction, under the workspace's lock.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from everlore.store import memories, passages
from everlore.store.run import Transaction


async def remove(tx: Transaction, lineages: Sequence[UUID]) -> None:
    """Take keys away, with their postings, vectors and sources."""
    if lineages:
        await passages.remove_lineages(tx, "keys", lineages)
        await memories.delete_keys(tx, lineages)


async def remove_old(tx: Transaction, now: datetime, at_most: int) -> int:
    """Take away keys that nobody said again in time; returns how many."""
    old = await memories.old_keys(tx, now, at_most)
    await remove(tx, old)
    return len(old)
