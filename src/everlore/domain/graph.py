"""What the graph shows: nodes, edges with all their evidence, neighbourhoods, paths; and what a person may decide about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, TypeAlias
from uuid import UUID

from everlore.domain.answers import Doc
from everlore.domain.ids import short_id
from everlore.domain.memories import Entity, EntityType, Fact, Source

# `fact`: a fact joins both. `mentioned with`: a memory speaks of both, which is weak.
EdgeKind: TypeAlias = Literal["fact", "mentioned with"]
ChangeKind: TypeAlias = Literal["merge", "split"]

MENTIONED_WITH = "mentioned with"


@dataclass(frozen=True, slots=True)
class Node:
    """An entity in the graph. `label` is its name, with a description beside it where others have the same name.
    `distance` counts edges from where the walk began."""

    entity_id: Annotated[UUID, Doc("Its id.")]
    name: Annotated[str, Doc("Its name.")]
    label: Annotated[str, Doc("Its name, with a description where others have the same.")]
    type: Annotated[EntityType, Doc("What it is.")]
    distance: Annotated[int, Doc("Steps from where the walk began.")] = 0

    @property
    def short_id(self) -> str:
        """The end of the id, which a person types."""
        return short_id(self.entity_id)


@dataclass(frozen=True, slots=True)
class Edge:
    """A fact between two entities, or that memories speak of both. `lineages` are the facts or the memories behind it.
    `weight` is 0-1: how much of an activation it passes on."""

    subject_id: Annotated[UUID, Doc("The entity that it is about.")]
    predicate: Annotated[str, Doc("What is said of it.")]
    object_id: Annotated[UUID, Doc("The entity on the other side.")]
    kind: Annotated[EdgeKind, Doc("A fact, or a mere mention together.")]
    weight: Annotated[float, Doc("0-1: how strong.")]
    valid_from: Annotated[datetime, Doc("Since when it holds.")]
    valid_to: Annotated[datetime | None, Doc("Until when; null: still.")]
    lineages: Annotated[tuple[UUID, ...], Doc("The facts, or the memories, behind it.")]
    sources: Annotated[tuple[Source, ...], Doc("Every message that states it.")] = ()

    def ends(self) -> tuple[UUID, UUID]:
        """Both entities."""
        return self.subject_id, self.object_id


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Nodes in the order in which the walk came to them, the first one being where it began; all edges among them that the
    walk saw. `cut`: there was more than the limits let in."""

    nodes: Annotated[tuple[Node, ...], Doc("Entities; where the walk began first.")]
    edges: Annotated[tuple[Edge, ...], Doc("What connects them.")]
    cut: Annotated[bool, Doc("Whether there was more than the limit let in.")]


@dataclass(frozen=True, slots=True)
class Path:
    """The shortest connection: `hops[i]` are the edges, in either direction, between `nodes[i]` and `nodes[i + 1]`."""

    nodes: Annotated[tuple[Node, ...], Doc("Entities on the way.")]
    hops: Annotated[tuple[tuple[Edge, ...], ...], Doc("What connects each with the next.")]


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """An entity in a list. `facts` counts the current ones. `score` is 0-1, and `variant` the name by which a search found it
    (1 and the entity's own name in a list without a query)."""

    entity: Annotated[Entity, Doc("The entity.")]
    label: Annotated[str, Doc("Its name, with a description where others have the same.")]
    facts: Annotated[int, Doc("How many facts about it hold.")]
    variant: Annotated[str, Doc("The name by which it was found.")]
    score: Annotated[float, Doc("0-1: how well that fits.")]


@dataclass(frozen=True, slots=True)
class EntityDetail:
    """An entity with its names and facts. `namesakes`: others of the same name."""

    entity: Annotated[Entity, Doc("The entity.")]
    label: Annotated[str, Doc("Its name, with a description where others have the same.")]
    facts: Annotated[tuple[Fact, ...], Doc("What is known of it.")]
    namesakes: Annotated[tuple[Node, ...], Doc("Others of the same name.")]


@dataclass(frozen=True, slots=True)
class LinkSuggestion:
    """Two entities that may be one, and why; for a person to decide."""

    suggestion_id: Annotated[UUID, Doc("Its id.")]
    one: Annotated[Node, Doc("An entity.")]
    other: Annotated[Node, Doc("Another one.")]
    reason: Annotated[str, Doc("Why they may be one.")]
    score: Annotated[float, Doc("0-1: how likely.")]
    recorded_at: Annotated[datetime, Doc("Since when.")]

    @property
    def short_id(self) -> str:
        """The end of the id, which a person types."""
        return short_id(self.suggestion_id)


@dataclass(frozen=True, slots=True)
class EntityChange:
    """A merge or a split that a person made. `moved` counts the rows that were re-pointed, by what they are."""

    change_id: Annotated[UUID, Doc("Its id, for undo.")]
    kind: Annotated[ChangeKind, Doc("Which of both.")]
    kept: Annotated[Node, Doc("The entity that stays.")]
    other: Annotated[Node, Doc("The one that was merged into it, or split off it.")]
    moved: Annotated[Mapping[str, int], Doc("How many rows were re-pointed, by what they are.")]
    made_at: Annotated[datetime, Doc("When.")]
    undone_at: Annotated[datetime | None, Doc("When it was taken back.")]

    @property
    def short_id(self) -> str:
        """The end of the id, which a person types."""
        return short_id(self.change_id)


@dataclass(frozen=True, slots=True)
class TaxonomyNode:
    """A path with its label. `threads` counts those at the path itself, `below` those anywhere under it, itself included."""

    path: Annotated[str, Doc("The path.")]
    label: Annotated[str | None, Doc("What it is called.")]
    threads: Annotated[int, Doc("How many threads are at the path itself.")]
    below: Annotated[int, Doc("How many are anywhere under it, itself included.")]


@dataclass(frozen=True, slots=True)
class TaxonomySuggestion:
    """A path that a thread may belong to; `times` it was suggested."""

    suggestion_id: Annotated[UUID, Doc("Its id.")]
    thread: Annotated[str, Doc("The thread.")]
    path: Annotated[str, Doc("The path that it may belong to.")]
    times: Annotated[int, Doc("How often it was suggested.")]
    recorded_at: Annotated[datetime, Doc("Since when.")]

    @property
    def short_id(self) -> str:
        """The end of the id, which a person types."""
        return short_id(self.suggestion_id)
