"""What is distilled: memories, facts, entities; their types, lifetimes and states. Frozen values, nothing else."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, TypeAlias, get_args
from uuid import UUID

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

    message_id: UUID | None
    start: int | None = None
    end: int | None = None
    quote: str | None = None
    author: str | None = None
    role: str | None = None
    at: datetime | None = None
    thread: str | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One version of one memory. `lineage_id` is the id of its first version, the same for all of them.

    `valid_from` to `valid_to`: when it is true in the world (`valid_to` None: still). `recorded_at` to `superseded_at`: when
    we believed this version. `superseded_by`: the memory, or the version, that took its place. Importance and confidence
    are 0-1. `event_at`: when what it tells of happens or happened. `expires_at`: from then on it is out of context and
    recall, not out of the store.
    """

    memory_id: UUID
    lineage_id: UUID
    version: int
    type: MemoryType
    content: str
    category: str | None
    tags: tuple[str, ...]
    importance: float
    confidence: float
    valid_from: datetime
    valid_to: datetime | None
    recorded_at: datetime
    superseded_at: datetime | None
    superseded_by: UUID | None
    event_at: datetime | None
    expires_at: datetime | None
    generation: int
    pinned: bool
    confirmed: bool
    source_kind: SourceKind
    review: Review | None
    review_reason: str | None
    forgotten_at: datetime | None
    author: str | None
    role: str | None
    thread: str | None
    taxonomy: str | None
    reasoning: str | None
    extractor: str | None
    extractor_version: str | None
    entities: tuple[str, ...] = ()
    access_count: int = 0
    last_access_at: datetime | None = None

    def status(self, now: datetime) -> Status:
        return status_of(self, now)


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

    fact_id: UUID
    lineage_id: UUID
    version: int
    subject_id: UUID
    subject: str
    predicate: str
    object_id: UUID | None
    object: str
    confidence: float
    valid_from: datetime
    valid_to: datetime | None
    recorded_at: datetime
    superseded_at: datetime | None
    superseded_by: UUID | None
    review: Review | None
    review_reason: str | None
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Alias:
    """One name of an entity. Weight is 0-1: how surely the variant means this entity."""

    alias_id: UUID
    variant: str
    weight: float
    origin: AliasOrigin


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, place, thing... under its canonical name. `mentions` counts messages that name it."""

    entity_id: UUID
    name: str
    type: EntityType
    recorded_at: datetime
    mentions: int
    aliases: tuple[Alias, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class AsOf:
    """The two questions of time. `valid_at`: what was true then. `recorded_at`: what we believed then. None means now."""

    valid_at: datetime | None = None
    recorded_at: datetime | None = None
