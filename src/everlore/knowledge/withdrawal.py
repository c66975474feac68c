"""Withdrawing: messages that left the path count no more, and what rests on them alone holds no more.

It comes back when the path does: the windows of the messages are read anew. In the caller's transaction, under the workspace's
lock.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from everlore.knowledge.batch import BatchContext
from everlore.knowledge.erasure import forget_unsaid_names
from everlore.knowledge.supersession import Group, group_of
from everlore.knowledge.write import close_unsupported, write
from everlore.store import distilling, entities
from everlore.store.run import Transaction


@dataclass(frozen=True, slots=True)
class Retracted:
    """What lost a source: groups of facts, and memories."""

    groups: Sequence[Group] = ()
    lineages: Sequence[UUID] = ()


async def retract(tx: Transaction, messages: Sequence[UUID], now: datetime) -> Retracted:
    """What was read in messages counts no more. The caller writes what comes of it, and closes what nothing supports any more."""
    stated, lineages = await distilling.retract(tx, messages, now)
    return Retracted(list(dict.fromkeys(group_of(*one) for one in stated)), lineages)


async def withdraw(tx: Transaction, off_path: Sequence[UUID], run: BatchContext) -> bool:
    """What rests on messages off the path alone holds no more, and whom only they named is forgotten. Returns whether there was
    anything."""
    if not off_path:
        return False
    retracted = await retract(tx, off_path, run.now)
    if retracted.groups or retracted.lineages:
        await write(tx, [], [], run, vectors={}, touched=retracted.groups, retracted=retracted.lineages)
        await close_unsupported(tx, retracted.lineages, run.now)
    named = await distilling.unmention(tx, off_path)
    await entities.delete_unspoken(tx, named)
    await forget_unsaid_names(tx, named)
    return bool(retracted.groups or retracted.lineages or named)
