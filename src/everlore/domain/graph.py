"""What the graph shows: nodes, edges with all their evidence, neighbourhoods, paths; and what a person may decide about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias
from uuid import UUID

from everlore.domain.memories import Entity, EntityType, Fact, Source

# `fact`: a fact joins both. `mentioned with`: a memory speaks of both, which is weak.
EdgeKind: TypeAlias = Literal["fact", "mentioned with"]
ChangeKind: TypeAlias = Literal["merge", "split"]

MENTIONED_WITH = "mentioned with"


@dataclass(frozen=True, slots=True)
class Node:
    """An entity in the graph. `label` is its name, with a description beside it where others have the same name.
    `distance` counts edges from where the walk began."""

    entity_id: UUID
    name: str
    label: str
    type: EntityType
    distance: int = 0


@dataclass(frozen=True, slots=True)
class Edge:
    """A fact between two entities, or that memories speak of both. `lineages` are the facts or the memories behind it.
    `weight` is 0-1: how much of an activation it passes on."""

    subject_id: UUID
    predicate: str
    object_id: UUID
    kind: EdgeKind
    weight: float
    valid_from: datetime
    valid_to: datetime | None
    lineages: tuple[UUID, ...]
    sources: tuple[Source, ...] = ()

    @property
    def ends(self) -> tuple[UUID, UUID]:
        return self.subject_id, self.object_id


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Nodes in the order in which the walk came to them, the first one being where it began; all edges among them that the
    walk saw. `cut`: there was more than the limits let in."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    cut: bool


@dataclass(frozen=True, slots=True)
class Path:
    """The shortest connection: `hops[i]` are the edges, in either direction, between `nodes[i]` and `nodes[i + 1]`."""

    nodes: tuple[Node, ...]
    hops: tuple[tuple[Edge, ...], ...]


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """An entity in a list. `facts` counts the current ones. `score` is 0-1, and `variant` the name by which a search found it
    (1 and the entity's own name in a list without a query)."""

    entity: Entity
    label: str
    facts: int
    variant: str
    score: float


@dataclass(frozen=True, slots=True)
class EntityDetail:
    """An entity with its names and facts. `namesakes`: others of the same name."""

    entity: Entity
    label: str
    facts: tuple[Fact, ...]
    namesakes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class LinkSuggestion:
    """Two entities that may be one, and why; for a person to decide."""

    suggestion_id: UUID
    one: Node
    other: Node
    reason: str
    score: float
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class EntityChange:
    """A merge or a split that a person made. `moved` counts the rows that were re-pointed, by what they are."""

    change_id: UUID
    kind: ChangeKind
    kept: Node
    other: Node
    moved: Mapping[str, int]
    made_at: datetime
    undone_at: datetime | None


@dataclass(frozen=True, slots=True)
class TaxonomyNode:
    """A path with its label. `threads` counts those at the path itself, `below` those anywhere under it, itself included."""

    path: str
    label: str | None
    threads: int
    below: int


@dataclass(frozen=True, slots=True)
class TaxonomySuggestion:
    """A path that a thread may belong to; `times` it was suggested."""

    suggestion_id: UUID
    thread: str
    path: str
    times: int
    recorded_at: datetime
