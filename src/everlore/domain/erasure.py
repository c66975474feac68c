"""What an erasure took away: the receipt. It names ids and counts, never words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID


@dataclass(frozen=True, slots=True)
class ErasureReceipt:
    """Ids of what went entirely. `versions`: single versions of memories that stay. `counts`: how many rows of each kind,
    passages and names of entities included. `to_read_again`: windows (thread and first position) that will be distilled anew,
    because something that went had other sources in them. What is not there any more leaves an empty receipt."""

    messages: tuple[UUID, ...] = ()
    memories: tuple[UUID, ...] = ()
    versions: tuple[UUID, ...] = ()
    facts: tuple[UUID, ...] = ()
    entities: tuple[UUID, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    to_read_again: tuple[tuple[UUID, int], ...] = ()
