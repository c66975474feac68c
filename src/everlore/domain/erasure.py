"""What an erasure took away: the receipt. It names ids and counts, never words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated
from uuid import UUID

from everlore.domain.answers import Doc


@dataclass(frozen=True, slots=True)
class ErasureReceipt:
    """Ids of what went entirely. `versions`: single versions of memories that stay. `counts`: how many rows of each kind,
    passages and names of entities included. `to_read_again`: windows (thread and first position) that will be distilled anew,
    because something that went had other sources in them. What is not there any more leaves an empty receipt."""

    messages: Annotated[tuple[UUID, ...], Doc("Messages.")] = ()
    memories: Annotated[tuple[UUID, ...], Doc("Memories that went entirely.")] = ()
    versions: Annotated[tuple[UUID, ...], Doc("Single versions of memories that stay.")] = ()
    facts: Annotated[tuple[UUID, ...], Doc("Facts.")] = ()
    entities: Annotated[tuple[UUID, ...], Doc("Entities.")] = ()
    counts: Annotated[Mapping[str, int], Doc("How many rows of each kind.")] = field(
        default_factory=dict[str, int]
    )
    to_read_again: Annotated[
        tuple[tuple[UUID, int], ...],
        Doc("Windows (thread, first position) that are distilled anew: what went had other sources in them."),
    ] = ()
