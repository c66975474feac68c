"""What is distilled: memories, facts, entities; their types, lifetimes and states. Frozen values, nothing else."""

from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Annotated, Literal, TypeAlias, get_args
from uuid import UUID

from everlore.domain.answers import Doc
from everlore.domain.ids import short_id

MemoryType: TypeAlias = Literal[
    "fact",
    "preference",
    "identity",
    "relationship",
    "goal",
    "task",
    "event",
    "habit",
    "skill",
    "lesson",
    "decision",
    "project",
    "system_config",
    "blocker",
    "reminder",
    "note",
    "context",
    "casual",
    "general",
]
MEMORY_TYPES: tuple[MemoryType, ...] = get_args(MemoryType)

EntityType: TypeAlias = Literal[
    "person", "place", "organisation", "project", "concept", "technical_term", "event", "other"
]
ENTITY_TYPES: tuple[EntityType, ...] = get_args(EntityType)

# How a memory came about: distilled from messages, or told directly to `remember`, or made by a person's correction.
SourceKind: TypeAlias = Literal["extracted", "by hand"]
SOURCE_KINDS: tuple[SourceKind, ...] = get_args(SourceKind)

# What a memory is for: to be shown; or only to lead a recall to the messages that it rests on. Keys are never listed.
Tier: TypeAlias = Literal["shown", "key"]

# Why a memory waits for a person instead of being used. None of these is ever recalled.
Review: TypeAlias = Literal["suggested", "rejected", "quarantined"]
REVIEWS: tuple[Review, ...] = get_args(Review)

# Derived from times and marks, never stored: see `status_of`.
Status: TypeAlias = Literal[
    "active", "expired", "superseded", "forgotten", "suggested", "rejected", "quarantined"
]
STATUSES: tuple[Status, ...] = get_args(Status)

AliasOrigin: TypeAlias = Literal["by hand", "extracted", "inferred"]
ALIAS_ORIGINS: tuple[AliasOrigin, ...] = get_args(AliasOrigin)

MAX_CONTENT_CHARACTERS = 2000
MAX_TAGS = 20
MAX_TAG_CHARACTERS = 60
MAX_PREDICATE_CHARACTERS = 60
MAX_OBJECT_CHARACTERS = 500
MAX_REASONING_CHARACTERS = 1000

# How long a memory stays in view, counted from the moment from which it is true. Types that are not here never expire;
# a reminder expires at its date. (The table M4.)
LIFETIMES: dict[MemoryType, timedelta] = {
    "system_config": timedelta(days=182),
    "project": timedelta(days=91),
    "decision": timedelta(days=61),
    "event": timedelta(days=30),
    "blocker": timedelta(days=14),
    "casual": timedelta(days=14),
    "task": timedelta(days=7),
}


@dataclass(frozen=True, slots=True)
class Source:
    """Where something was said: characters `start` to `end` of a message's text. `message_id` is None for what a person
    told directly."""

    message_id: Annotated[UUID | None, Doc("The message; null for what a person told directly.")]
    start: Annotated[int | None, Doc("Where the words begin in the message.")] = None
    end: Annotated[int | None, Doc("Where they end.")] = None
    quote: Annotated[str | None, Doc("The words.")] = None
    author: Annotated[str | None, Doc("Who said them.")] = None
    role: Annotated[str | None, Doc("The author's role.")] = None
    at: Annotated[datetime | None, Doc("When they were said.")] = None
    thread: Annotated[str | None, Doc("The message's thread.")] = None

    @property
    def short_id(self) -> str | None:
        """The end of the message's id, which a person types."""
        return None if self.message_id is None else short_id(self.message_id)


@dataclass(frozen=True, slots=True)
class Memory:
    """One version of one memory. `lineage_id` is the id of its first version, the same for all of them.

    `valid_from` to `valid_to`: when it is true in the world (`valid_to` None: still). `recorded_at` to `superseded_at`: when
    we believed this version. `superseded_by`: the memory, or the version, that took its place. Importance and confidence
    are 0-1. `event_at`: when what it tells of happens or happened. `expires_at`: from then on it is out of context and
    recall, not out of the store; a key is gone then.
    """

    memory_id: Annotated[UUID, Doc("This version.")]
    lineage_id: Annotated[UUID, Doc("The memory: the id of its first version, the same for all.")]
    version: Annotated[int, Doc("Counts from 1.")]
    type: Annotated[MemoryType, Doc("Its type.")]
    content: Annotated[str, Doc("Its words.")]
    category: Annotated[str | None, Doc("A category of your own.")]
    tags: Annotated[tuple[str, ...], Doc("Tags.")]
    importance: Annotated[float, Doc("0-1: how much it matters.")]
    confidence: Annotated[float, Doc("0-1: how sure it is.")]
    valid_from: Annotated[datetime, Doc("Since when it is true.")]
    valid_to: Annotated[datetime | None, Doc("Until when; null: still.")]
    recorded_at: Annotated[datetime, Doc("Since when this version was believed.")]
    superseded_at: Annotated[datetime | None, Doc("Until when; null: still.")]
    superseded_by: Annotated[UUID | None, Doc("The memory or version that took its place.")]
    event_at: Annotated[datetime | None, Doc("When what it tells of happens.")]
    expires_at: Annotated[datetime | None, Doc("From then on it is out of view.")]
    generation: Annotated[int, Doc("0, or more for what was merged of others.")]
    pinned: Annotated[bool, Doc("Always in context.")]
    confirmed: Annotated[bool, Doc("A person said that it is so.")]
    source_kind: Annotated[SourceKind, Doc("Whether it was read out of messages or told by hand.")]
    review: Annotated[Review | None, Doc("Why it waits for a person; null for what is in use.")]
    review_reason: Annotated[str | None, Doc("The reason in words.")]
    forgotten_at: Annotated[datetime | None, Doc("When it was taken out of every answer.")]
    author: Annotated[str | None, Doc("Whose words it rests on.")]
    role: Annotated[str | None, Doc("The author's role.")]
    thread: Annotated[str | None, Doc("The thread that it comes from.")]
    taxonomy: Annotated[str | None, Doc("The path that it is filed under.")]
    reasoning: Annotated[str | None, Doc("Why it was kept, as the analyst has it.")]
    extractor: Annotated[str | None, Doc("Who drafted it; null for what was told by hand.")]
    extractor_version: Annotated[str | None, Doc("In which version.")]
    entities: Annotated[tuple[str, ...], Doc("Whom and what it speaks of.")] = ()
    tier: Annotated[Tier, Doc("shown; or key: it only helps recall and is never listed.")] = "shown"
    access_count: Annotated[int, Doc("How often it was used in an answer.")] = 0
    last_access_at: Annotated[datetime | None, Doc("When it was last.")] = None
    status: Annotated[Status | None, Doc("What it is at the moment of the answer.")] = field(
        default=None, compare=False
    )

    @property
    def short_id(self) -> str:
        """The end of the lineage's id, which a person types."""
        return short_id(self.lineage_id)


@dataclass(frozen=True, slots=True, eq=False)
class KeptMemory(Memory):
    """A memory that was told, corrected or confirmed directly, as it is kept."""

    notice: Annotated[
        str | None, Doc("What is missing here to read facts off it, in a sentence; null when all is well.")
    ] = field(default=None, compare=False)

    # Equal to the same memory as it is listed: a notice is no part of it.
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Memory):
            return NotImplemented
        compared = (one.name for one in fields(Memory) if one.compare)
        return all(getattr(self, name) == getattr(other, name) for name in compared)

    def __hash__(self) -> int:
        return Memory.__hash__(self)


def as_seen(memory: Memory, now: datetime) -> Memory:
    """The memory with the status that it has at the moment `now`."""
    return replace(memory, status=status_of(memory, now))


def status_of(memory: Memory, now: datetime) -> Status:
    """What a memory is at the moment `now`."""
    if memory.forgotten_at is not None:
        return "forgotten"
    if memory.review is not None:
        return memory.review
    if memory.superseded_at is not None or (memory.valid_to is not None and memory.valid_to <= now):
        return "superseded"
    if memory.expires_at is not None and memory.expires_at <= now:
        return "expired"
    return "active"


@dataclass(frozen=True, slots=True)
class Fact:
    """Subject, predicate, object: one version of one edge. Times as in `Memory`. `object_id` is None for a literal."""

    fact_id: Annotated[UUID, Doc("This version.")]
    lineage_id: Annotated[UUID, Doc("The fact: the id of its first version, the same for all.")]
    version: Annotated[int, Doc("Counts from 1.")]
    subject_id: Annotated[UUID, Doc("The entity that it is about.")]
    subject: Annotated[str, Doc("Its name.")]
    predicate: Annotated[str, Doc("What is said of it, such as lives_in.")]
    object_id: Annotated[UUID | None, Doc("The entity on the other side; null for mere words.")]
    object: Annotated[str, Doc("Its name, or the words.")]
    confidence: Annotated[float, Doc("0-1: how sure it is.")]
    valid_from: Annotated[datetime, Doc("Since when it holds.")]
    valid_to: Annotated[datetime | None, Doc("Until when; null: still.")]
    recorded_at: Annotated[datetime, Doc("Since when this version was believed.")]
    superseded_at: Annotated[datetime | None, Doc("Until when; null: still.")]
    superseded_by: Annotated[UUID | None, Doc("The fact or version that took its place.")]
    review: Annotated[Review | None, Doc("rejected: a person said that it is not so.")]
    review_reason: Annotated[str | None, Doc("The reason in words.")]
    sources: Annotated[tuple[Source, ...], Doc("Every message that states it.")] = ()

    @property
    def short_id(self) -> str:
        """The end of the lineage's id, which a person types."""
        return short_id(self.lineage_id)


@dataclass(frozen=True, slots=True)
class Alias:
    """One name of an entity. Weight is 0-1: how surely the variant means this entity."""

    alias_id: Annotated[UUID, Doc("The name's id.")]
    variant: Annotated[str, Doc("The name.")]
    weight: Annotated[float, Doc("0-1: how surely it means this entity.")]
    origin: Annotated[AliasOrigin, Doc("Where it comes from.")]


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, place, thing... under its canonical name. `mentions` counts messages that name it."""

    entity_id: Annotated[UUID, Doc("Its id.")]
    name: Annotated[str, Doc("The name under which it is shown.")]
    type: Annotated[EntityType, Doc("What it is.")]
    recorded_at: Annotated[datetime, Doc("Since when it is known.")]
    mentions: Annotated[int, Doc("How many messages name it.")]
    aliases: Annotated[tuple[Alias, ...], Doc("All of its names, the surest first.")] = field(default=())

    @property
    def short_id(self) -> str:
        """The end of the id, which a person types."""
        return short_id(self.entity_id)


@dataclass(frozen=True, slots=True)
class AsOf:
    """The two questions of time. `valid_at`: what was true then. `recorded_at`: what we believed then. None means now."""

    valid_at: Annotated[datetime | None, Doc("What was true then, as it is known today; with a zone.")] = None
    recorded_at: Annotated[datetime | None, Doc("What was believed then; with a zone.")] = None
