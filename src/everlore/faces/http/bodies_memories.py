"""Memories and facts, as JSON: what the verbs of `Knowledge` take and give, by the same names."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Annotated, Any, TypeAlias, cast
from uuid import UUID

from pydantic import Field, ValidationInfo, computed_field, model_validator

from everlore.api.memories import MAX_LIMIT, MAX_OFFSET
from everlore.domain.ids import short_id
from everlore.domain.memories import (
    MAX_CONTENT_CHARACTERS,
    MAX_TAG_CHARACTERS,
    MAX_TAGS,
    AsOf,
    Memory,
    MemoryType,
    Review,
    SourceKind,
    Status,
)
from everlore.faces.http.base import Answer, Moment, Name, Place, Taxonomy, Utc, Within

Tag: TypeAlias = Annotated[str, Field(min_length=1, max_length=MAX_TAG_CHARACTERS)]
Tags: TypeAlias = Annotated[list[Tag], Field(max_length=MAX_TAGS)]
Content: TypeAlias = Annotated[str, Field(min_length=1, max_length=MAX_CONTENT_CHARACTERS)]
Share: TypeAlias = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Limit: TypeAlias = Annotated[int, Field(ge=1, le=MAX_LIMIT)]
Offset: TypeAlias = Annotated[int, Field(ge=0, le=MAX_OFFSET)]


class RememberBody(Within):
    """A memory to keep. The workspace is made if it does not exist."""

    content: Content = Field(description="What to remember.")
    type: MemoryType = Field("general", description="Its type, which says how long it stays in view.")
    category: Name | None = Field(None, description="A category of your own.")
    tags: Tags = Field(default_factory=list[Tag], description="Tags of your own.")
    importance: Share | None = Field(None, description="How much it matters; left out, 0.7.")
    at: Moment | None = Field(
        None, description="Since when it is true, with a zone; left out, the present moment."
    )
    event_at: Moment | None = Field(None, description="When what it tells of happens.")
    expires_at: Moment | None = Field(None, description="When it goes out of view; left out, by its type.")
    pin: bool = Field(False, description="Always in context.")
    author: Name | None = Field(None, description="Whose word it is: who I and my are; left out, user.")
    entities: list[Name] = Field(
        default_factory=list[Name],
        max_length=MAX_TAGS,
        description="Whom it speaks of, beside those that it names.",
    )


class CorrectBody(Within):
    """What is to be different; what is left out stays as it is."""

    content: Content | None = Field(None, description="The words as they should be.")
    type: MemoryType | None = Field(None, description="Its type.")
    category: Name | None = Field(None, description="A category of your own; null takes it away.")
    tags: Tags | None = Field(None, description="All of its tags.")
    importance: Share | None = Field(None, description="How much it matters.")
    event_at: Moment | None = Field(None, description="When what it tells of happens; null takes it away.")
    expires_at: Moment | None = Field(None, description="When it goes out of view; null: never.")


class TimesQuery(Place):
    """The two questions of time."""

    valid_at: Moment | None = Field(
        None, description="What was true then, as it is known today; with a zone, its + written as %2B."
    )
    recorded_at: Moment | None = Field(None, description="What was believed then.")

    @property
    def as_of(self) -> AsOf:
        return AsOf(self.valid_at, self.recorded_at)


class MemoriesQuery(TimesQuery):
    """Filters; a memory must pass all of them."""

    types: list[MemoryType] | None = Field(
        None, max_length=20, description="Only of these types; may be given several times."
    )
    status: str | None = Field(
        None, max_length=20, description="Instead of those in use: all, or one status such as expired."
    )
    entity: Name | None = Field(None, description="Only those that speak of this entity: a name or an id.")
    text: Name | None = Field(None, description="Only those that say this.")
    since: Moment | None = Field(None, description="Only true from then on.")
    until: Moment | None = Field(None, description="Only true from before then.")
    thread: Name | None = Field(None, description="Only out of this thread; it must exist.")
    taxonomy: Taxonomy | None = Field(None, description="Only what lies under this path.")
    pinned: bool | None = Field(None, description="Only pinned ones, or only others.")
    include_expired: bool = Field(False, description="Also what is out of view by now.")
    limit: Limit = Field(50, description="At most so many.")
    offset: Offset = Field(0, description="Leave out the first so many.")


class EraseQuery(Place):
    """How far an erasure goes."""

    sources: bool = Field(
        False, description="Also the messages that it was read from, and all that was made of them."
    )


class FactsQuery(TimesQuery):
    """Filters; a fact must pass all of them."""

    subject: Name | None = Field(None, description="Only of this entity: a name or an id.")
    about: Name | None = Field(None, description="Only with this entity on either side.")
    predicate: Name | None = Field(None, description="Only this one, such as lives_in.")
    object: Name | None = Field(None, description="Only whose object says this.")
    history: bool = Field(False, description="Also what held once.")
    limit: Limit = Field(50, description="At most so many.")
    offset: Offset = Field(0, description="Leave out the first so many.")


class SourceAnswer(Answer):
    """Where something was said."""

    message_id: UUID | None = Field(description="The message; null for what a person told directly.")
    start: int | None = Field(description="Where the words begin in the message.")
    end: int | None = Field(description="Where they end.")
    quote: str | None = Field(description="The words.")
    author: str | None = Field(description="Who said them.")
    role: str | None = Field(description="The author's role.")
    at: Utc | None = Field(description="When they were said.")
    thread: str | None = Field(description="The message's thread.")

    @computed_field(description="The end of the message's id, which the command line takes too.")
    @property
    def short_id(self) -> str | None:
        return None if self.message_id is None else short_id(self.message_id)


class MemoryAnswer(Answer):
    """One version of one memory."""

    memory_id: UUID = Field(description="This version.")
    lineage_id: UUID = Field(description="The memory: the id of its first version, the same for all.")
    version: int = Field(description="Counts from 1.")
    status: Status = Field(description="What it is today.")
    type: MemoryType = Field(description="Its type.")
    content: str = Field(description="Its words.")
    category: str | None = Field(description="A category of your own.")
    tags: list[str] = Field(description="Tags.")
    importance: float = Field(description="0-1: how much it matters.")
    confidence: float = Field(description="0-1: how sure it is.")
    valid_from: Utc = Field(description="Since when it is true.")
    valid_to: Utc | None = Field(description="Until when; null: still.")
    recorded_at: Utc = Field(description="Since when this version was believed.")
    superseded_at: Utc | None = Field(description="Until when; null: still.")
    superseded_by: UUID | None = Field(description="The memory or version that took its place.")
    event_at: Utc | None = Field(description="When what it tells of happens.")
    expires_at: Utc | None = Field(description="From then on it is out of view.")
    generation: int = Field(description="0, or more for what was merged of others.")
    pinned: bool = Field(description="Always in context.")
    confirmed: bool = Field(description="A person said that it is so.")
    source_kind: SourceKind = Field(description="Whether it was read out of messages or told by hand.")
    review: Review | None = Field(description="Why it waits for a person; null for what is in use.")
    review_reason: str | None = Field(description="The reason in words.")
    forgotten_at: Utc | None = Field(description="When it was taken out of every answer.")
    author: str | None = Field(description="Whose words it rests on.")
    role: str | None = Field(description="The author's role.")
    thread: str | None = Field(description="The thread that it comes from.")
    taxonomy: str | None = Field(description="The path that it is filed under.")
    reasoning: str | None = Field(description="Why it was kept, as the analyst has it.")
    extractor: str | None = Field(description="Who drafted it; null for what was told by hand.")
    extractor_version: str | None = Field(description="In which version.")
    entities: list[str] = Field(description="Whom and what it speaks of.")
    access_count: int = Field(description="How often it was used in an answer.")
    last_access_at: Utc | None = Field(description="When it was last.")

    @computed_field(description="The end of the lineage's id, which the command line takes too.")
    @property
    def short_id(self) -> str:
        return short_id(self.lineage_id)

    @model_validator(mode="before")
    @classmethod
    def _with_status(cls, given: object, info: ValidationInfo) -> object:
        """What a memory is depends on the time, which is handed in as the context's `now`."""
        if not isinstance(given, Memory):
            return given
        now = cast("Mapping[str, datetime]", info.context)["now"]
        values: dict[str, Any] = {one.name: getattr(given, one.name) for one in fields(given)}
        return values | {"status": given.status(now)}


class FactAnswer(Answer):
    """One version of one fact."""

    fact_id: UUID = Field(description="This version.")
    lineage_id: UUID = Field(description="The fact: the id of its first version, the same for all.")
    version: int = Field(description="Counts from 1.")
    subject_id: UUID = Field(description="The entity that it is about.")
    subject: str = Field(description="Its name.")
    predicate: str = Field(description="What is said of it, such as lives_in.")
    object_id: UUID | None = Field(description="The entity on the other side; null for mere words.")
    object: str = Field(description="Its name, or the words.")
    confidence: float = Field(description="0-1: how sure it is.")
    valid_from: Utc = Field(description="Since when it holds.")
    valid_to: Utc | None = Field(description="Until when; null: still.")
    recorded_at: Utc = Field(description="Since when this version was believed.")
    superseded_at: Utc | None = Field(description="Until when; null: still.")
    superseded_by: UUID | None = Field(description="The fact or version that took its place.")
    review: Review | None = Field(description="rejected: a person said that it is not so.")
    review_reason: str | None = Field(description="The reason in words.")
    sources: list[SourceAnswer] = Field(description="Every message that states it.")

    @computed_field(description="The end of the lineage's id, which the command line takes too.")
    @property
    def short_id(self) -> str:
        return short_id(self.lineage_id)


class MemoriesAnswer(Answer):
    """Memories, the latest first."""

    memories: list[MemoryAnswer] = Field(description="Those that pass.")


class MemoryDetailAnswer(Answer):
    """All of one memory."""

    memory: MemoryAnswer = Field(description="The version that stands, or stood at the time asked about.")
    sources: list[SourceAnswer] = Field(description="Where it was said.")
    versions: list[MemoryAnswer] = Field(description="All versions, the first one first.")
    facts: list[FactAnswer] = Field(description="The facts that it states.")


class MemoryHistoryAnswer(Answer):
    """What was believed when."""

    versions: list[MemoryAnswer] = Field(description="All versions, the first one first.")


class FactsAnswer(Answer):
    """Facts, the latest first."""

    facts: list[FactAnswer] = Field(description="Those that pass.")


class FactDetailAnswer(Answer):
    """All of one fact."""

    fact: FactAnswer = Field(description="The version that stands.")
    versions: list[FactAnswer] = Field(description="All versions, the first one first.")


class WindowAnswer(Answer):
    """A stretch of messages that is read at once."""

    thread_id: UUID = Field(description="The thread.")
    first: int = Field(description="The position at which it begins.")


class ErasureAnswer(Answer):
    """What went for good: ids and counts, never words."""

    messages: list[UUID] = Field(description="Messages.")
    memories: list[UUID] = Field(description="Memories that went entirely.")
    versions: list[UUID] = Field(description="Single versions of memories that stay.")
    facts: list[UUID] = Field(description="Facts.")
    entities: list[UUID] = Field(description="Entities.")
    counts: dict[str, int] = Field(description="How many rows of each kind.")
    to_read_again: list[WindowAnswer] = Field(
        description="Windows that are distilled anew, because what went had other sources in them."
    )
