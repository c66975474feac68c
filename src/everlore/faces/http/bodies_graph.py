"""Entities, the graph and the taxonomy, as JSON."""

from typing import Annotated
from uuid import UUID

from pydantic import BeforeValidator, Field, computed_field

from everlore.api.entities import MAX_DEPTH, MAX_NODES
from everlore.domain.graph import ChangeKind, EdgeKind
from everlore.domain.ids import short_id
from everlore.domain.memories import AliasOrigin, EntityType
from everlore.faces.http.base import Answer, Name, Place, Utc, Within
from everlore.faces.http.bodies_memories import FactAnswer, Limit, SourceAnswer, TimesQuery

MAX_SPLIT = 1000


def _uuid(value: object) -> UUID:
    """Only a whole id counts: bodies are not converted otherwise."""
    try:
        return value if isinstance(value, UUID) else UUID(str(value))
    except ValueError as error:
        raise ValueError("must be the whole id of a message") from error


MessageId = Annotated[UUID, BeforeValidator(_uuid)]


class AliasBody(Within):
    """Another name."""

    alias: Name = Field(description="The name.")


class AliasQuery(Place):
    """A name that is not the entity's own."""

    alias: Name = Field(description="The name.")


class MergeBody(Within):
    """What is the same."""

    other: Name = Field(description="The other entity: a name or an id. Its name gives way.")


class SplitBody(Within):
    """What goes to a new entity."""

    name: Name = Field(description="What the new entity is called.")
    aliases: list[Name] = Field(
        default_factory=list[Name], max_length=MAX_SPLIT, description="Names that go to it."
    )
    messages: list[MessageId] | None = Field(
        None,
        max_length=MAX_SPLIT,
        description="Messages that speak of it; left out, those that contain one of the names.",
    )


class LabelBody(Within):
    """What a path is called."""

    label: Name = Field(description="The label.")


class EntitiesQuery(Place):
    """Which entities."""

    query: Name | None = Field(
        None, description="Only those with a name like this, the best first; else the most mentioned."
    )
    type: EntityType | None = Field(None, description="Only of this type.")
    limit: Limit = Field(50, description="At most so many.")


class LimitQuery(Place):
    """How many."""

    limit: Limit = Field(50, description="At most so many.")


class SearchQuery(Place):
    """What to look for."""

    query: Name = Field(description="A name, or something like it.")
    limit: Limit = Field(20, description="At most so many.")


class ShowQuery(TimesQuery):
    """Where to begin, and how far to go."""

    entity: Name = Field(description="A name or an id.")
    depth: int = Field(1, ge=1, le=MAX_DEPTH, description="How many steps.")
    limit: int = Field(50, ge=1, le=MAX_NODES, description="At most so many entities.")


class PathQuery(TimesQuery):
    """From where to where."""

    start: Name = Field(alias="from", description="An entity: a name or an id.")
    end: Name = Field(alias="to", description="Another one.")


class AliasAnswer(Answer):
    """One name of an entity."""

    alias_id: UUID = Field(description="The name's id.")
    variant: str = Field(description="The name.")
    weight: float = Field(description="0-1: how surely it means this entity.")
    origin: AliasOrigin = Field(description="Where it comes from.")


class EntityAnswer(Answer):
    """A person, place or thing."""

    entity_id: UUID = Field(description="Its id.")
    name: str = Field(description="The name under which it is shown.")
    type: EntityType = Field(description="What it is.")
    recorded_at: Utc = Field(description="Since when it is known.")
    mentions: int = Field(description="How many messages name it.")
    aliases: list[AliasAnswer] = Field(description="All of its names, the surest first.")

    @computed_field(description="The end of the id, which the command line takes too.")
    @property
    def short_id(self) -> str:
        return short_id(self.entity_id)


class NodeAnswer(Answer):
    """An entity in the graph."""

    entity_id: UUID = Field(description="Its id.")
    name: str = Field(description="Its name.")
    label: str = Field(description="Its name, with a description where others have the same.")
    type: EntityType = Field(description="What it is.")
    distance: int = Field(description="Steps from where the walk began.")

    @computed_field(description="The end of the id, which the command line takes too.")
    @property
    def short_id(self) -> str:
        return short_id(self.entity_id)


class FoundEntityAnswer(Answer):
    """An entity in a list."""

    entity: EntityAnswer = Field(description="The entity.")
    label: str = Field(description="Its name, with a description where others have the same.")
    facts: int = Field(description="How many facts about it hold.")
    variant: str = Field(description="The name by which it was found.")
    score: float = Field(description="0-1: how well that fits.")


class EntitiesAnswer(Answer):
    """Entities."""

    entities: list[FoundEntityAnswer] = Field(description="Those that pass.")


class EntityDetailAnswer(Answer):
    """All of one entity."""

    entity: EntityAnswer = Field(description="The entity.")
    label: str = Field(description="Its name, with a description where others have the same.")
    facts: list[FactAnswer] = Field(description="What is known of it.")
    namesakes: list[NodeAnswer] = Field(description="Others of the same name.")


class EdgeAnswer(Answer):
    """A fact between two entities, or that memories speak of both."""

    subject_id: UUID = Field(description="The entity that it is about.")
    predicate: str = Field(description="What is said of it.")
    object_id: UUID = Field(description="The entity on the other side.")
    kind: EdgeKind = Field(description="A fact, or a mere mention together.")
    weight: float = Field(description="0-1: how strong.")
    valid_from: Utc = Field(description="Since when it holds.")
    valid_to: Utc | None = Field(description="Until when; null: still.")
    lineages: list[UUID] = Field(description="The facts, or the memories, behind it.")
    sources: list[SourceAnswer] = Field(description="Every message that states it.")


class NeighbourhoodAnswer(Answer):
    """What is connected to an entity."""

    nodes: list[NodeAnswer] = Field(description="Entities; where the walk began first.")
    edges: list[EdgeAnswer] = Field(description="What connects them.")
    cut: bool = Field(description="Whether there was more than the limit let in.")


class PathAnswer(Answer):
    """A shortest connection."""

    nodes: list[NodeAnswer] = Field(description="Entities on the way.")
    hops: list[list[EdgeAnswer]] = Field(description="What connects each with the next.")


class ConnectionAnswer(Answer):
    """Whether two entities are connected."""

    path: PathAnswer | None = Field(description="The shortest connection; null where there is none.")


class EntityChangeAnswer(Answer):
    """A merge or a split by hand."""

    change_id: UUID = Field(description="Its id, for undo.")
    kind: ChangeKind = Field(description="Which of both.")
    kept: NodeAnswer = Field(description="The entity that stays.")
    other: NodeAnswer = Field(description="The one that was merged into it, or split off it.")
    moved: dict[str, int] = Field(description="How many rows were re-pointed, by what they are.")
    made_at: Utc = Field(description="When.")
    undone_at: Utc | None = Field(description="When it was taken back.")

    @computed_field(description="The end of the id, which the command line takes too.")
    @property
    def short_id(self) -> str:
        return short_id(self.change_id)


class EntityChangesAnswer(Answer):
    """Changes by hand."""

    changes: list[EntityChangeAnswer] = Field(description="The latest first.")


class TaxonomyNodeAnswer(Answer):
    """A path."""

    path: str = Field(description="The path.")
    label: str | None = Field(description="What it is called.")
    threads: int = Field(description="How many threads are at the path itself.")
    below: int = Field(description="How many are anywhere under it, itself included.")


class TaxonomyAnswer(Answer):
    """All paths."""

    taxonomy: list[TaxonomyNodeAnswer] = Field(description="In their order.")
