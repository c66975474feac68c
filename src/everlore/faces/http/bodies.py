"""What goes in and what comes out, as JSON. The limits here also stand in the OpenAPI document; the library checks the rest.

Fields bear the names of the library: `MessageBody` those of `NewMessage`, `RecallBody` the parameters of `Workspace.recall`.
"""

from typing import Any, Literal
from uuid import UUID

from pydantic import Field, computed_field

from everlore.api.messages import DEFAULT_THREAD, MAX_LIMIT, MAX_NEIGHBOURS, MAX_QUESTION_CHARACTERS
from everlore.domain.ids import short_id
from everlore.domain.memories import AsOf, MemoryType
from everlore.domain.messages import (
    MAX_CAPTIONS,
    MAX_MESSAGES,
    MAX_TEXT_BYTES,
    NewMessage,
    Role,
)
from everlore.domain.recall import Asked, Kind
from everlore.everlore import DEFAULT_WORKSPACE
from everlore.faces.http.base import Answer, Body, Identifier, Moment, Name, Taxonomy, Utc, Within
from everlore.faces.http.bodies_memories import FactAnswer, MemoryAnswer

MAX_DEADLINE_MS = 3_600_000


class MessageBody(Body):
    """One message to record."""

    role: Role = Field(description="Who speaks.")
    text: str = Field(
        "",
        max_length=MAX_TEXT_BYTES,
        description=f"Markdown, at most {MAX_TEXT_BYTES:,} bytes of UTF-8. Empty only beside captions or tool calls.",
    )
    author: Name | None = Field(
        None, description="The speaker's display name; left out, only the role is known."
    )
    at: Moment | None = Field(
        None, description="When it was said, with a zone; left out, the moment of recording."
    )
    captions: list[str] = Field(
        default_factory=list[str],
        max_length=MAX_CAPTIONS,
        description="What attachments show or contain, in words.",
    )
    system_prompt: str | None = Field(
        None, max_length=MAX_TEXT_BYTES, description="The system prompt in force when it was said."
    )
    tool_calls: list[dict[str, Any]] = Field(
        default_factory=list[dict[str, Any]],
        description="Calls of tools and their results, kept as they are; at most 1 MB as JSON.",
    )
    external_id: Identifier | None = Field(
        None,
        description="Your own id of the message: the same id with the same content is stored once per thread.",
    )
    reply_to: Identifier | None = Field(
        None, description="The external id of the message that this one answers."
    )
    metadata: dict[str, Any] = Field(
        default_factory=dict[str, Any], description="Anything else worth keeping; at most 1 MB as JSON."
    )
    taxonomy: Taxonomy | None = Field(
        None, description="A path such as work.studio.billing for this message."
    )
    off_the_record: bool = Field(False, description="Keep it as a message, and never make memories of it.")

    def to_new_message(self) -> NewMessage:
        # Not model_dump(): that would walk the callers' JSON, which may be nested deeper than it can follow.
        return NewMessage(**dict(self))


class RecordBody(Body):
    """Messages of one thread, in the order they were said."""

    workspace: Name = Field(
        DEFAULT_WORKSPACE, description="The memory to record into; made if it does not exist."
    )
    thread: Name = Field(
        DEFAULT_THREAD, description="The conversation they belong to; made if it does not exist."
    )
    session: Name | None = Field(
        None, description="The sitting they belong to; left out, a gap of more than 6 hours begins a new one."
    )
    project: Name | None = Field(None, description="Set on the thread: the project it belongs to.")
    taxonomy: Taxonomy | None = Field(None, description="Set on the thread: a path such as work.studio.")
    messages: list[MessageBody] = Field(
        min_length=1, max_length=MAX_MESSAGES, fail_fast=True, description="The messages, in order."
    )


class OutcomeAnswer(Answer):
    """What became of one message."""

    status: Literal["stored", "already there", "refused"] = Field(description="What became of it.")
    message_id: UUID | None = Field(description="The stored message, also when it was there already.")
    reason: str | None = Field(description="Why it was refused; null otherwise.")


class ReceiptAnswer(Answer):
    """Given after the commit: what is named as stored here survives a crash."""

    thread: str = Field(description="The thread that was written to.")
    outcomes: list[OutcomeAnswer] = Field(description="One per message, in the order of the request.")
    stored: int = Field(description="How many were stored.")
    already_there: int = Field(description="How many were there already with the same content.")
    refused: int = Field(
        description="How many were refused because their external id is taken by other content."
    )


class AsOfBody(Body):
    """The two questions of time."""

    valid_at: Moment | None = Field(
        None, description="What was true then, as it is known today; with a zone."
    )
    recorded_at: Moment | None = Field(None, description="What was believed then; with a zone.")


class RecallBody(Within):
    """One question, and what limits the answer."""

    query: str = Field(
        min_length=1, max_length=MAX_QUESTION_CHARACTERS, description="The question, or words to look for."
    )
    limit: int = Field(10, ge=1, le=MAX_LIMIT, description="At most so many hits.")
    now: Moment | None = Field(
        None, description='The moment that "last week" is relative to, with a zone; left out, the present.'
    )
    since: Moment | None = Field(None, description="Only messages from this moment on, with a zone.")
    until: Moment | None = Field(None, description="Only messages before this moment, with a zone.")
    author: Name | None = Field(None, description="Only messages of this author.")
    thread: Name | None = Field(None, description="Only messages of this thread; it must exist.")
    project: Name | None = Field(None, description="Only threads of this project.")
    taxonomy: Taxonomy | None = Field(None, description="Only what is filed under this path or below it.")
    kinds: list[Kind] | None = Field(
        None, max_length=20, description="Only these: messages, memories, facts; left out, all three."
    )
    as_of: AsOfBody | None = Field(None, description="Another moment than now to ask about.")
    include_expired: bool = Field(False, description="Also memories that are out of view by now.")
    limit_memories: int = Field(10, ge=0, le=MAX_LIMIT, description="At most so many memories.")
    limit_facts: int = Field(10, ge=0, le=MAX_LIMIT, description="At most so many facts.")
    neighbours: int = Field(
        0, ge=0, le=MAX_NEIGHBOURS, description="So many messages before and after each hit come along."
    )
    deadline_ms: float | None = Field(
        None,
        gt=0,
        le=MAX_DEADLINE_MS,
        allow_inf_nan=False,
        description="After so many milliseconds the answer is made of what is there, and says so in `degraded`.",
    )
    trace: bool = Field(False, description="Whether each hit tells every lane's rank and score.")

    def arguments(self) -> dict[str, Any]:
        """As `Workspace.recall` takes them."""
        given = dict(self)
        del given["workspace"]
        if self.as_of is not None:
            given["as_of"] = AsOf(self.as_of.valid_at, self.as_of.recorded_at)
        return given


class CitationAnswer(Answer):
    """Where a text comes from."""

    message_id: UUID = Field(description="The message.")
    thread: str = Field(description="Its thread.")
    author: str = Field(description="Who said it.")
    role: str = Field(description="The author's role.")
    at: Utc = Field(description="When it was said, in UTC.")

    @computed_field(description="The end of the message's id, which the command line takes too.")
    @property
    def short_id(self) -> str:
        return short_id(self.message_id)


class SupportAnswer(Answer):
    """Why a hit is believed; no probability."""

    confidence: float = Field(description="0-1: how much of the question the hit covers, and how closely.")
    covered: list[str] = Field(description="Words of the question that it covers, the rarest first.")
    missing: list[str] = Field(description="Words of the question that it lacks, the rarest first.")
    speaker: Literal["asked about", "another", "unknown"] = Field(
        description="Whose words they are, in relation to the question."
    )
    late_interaction: float | None = Field(
        description="0-1: mean similarity of the question's words to their best counterparts; null if not computed."
    )


class NeighbourAnswer(Answer):
    """A message next to a hit, in the same session."""

    offset: int = Field(description="Its place relative to the hit: -1 is the message before it.")
    text: str = Field(description="The message, as it was recorded.")
    citation: CitationAnswer = Field(description="Where it comes from.")


class LaneTraceAnswer(Answer):
    """One lane's view of a hit."""

    rank: int | None = Field(description="1 is the best; null if the lane did not find it.")
    score: float | None = Field(description="The lane's raw score.")


class HitAnswer(Answer):
    """A message that answers."""

    text: str = Field(description="The message, as it was recorded.")
    captions: list[str] = Field(description="The captions of its attachments.")
    citation: CitationAnswer = Field(description="Where it comes from.")
    score: float = Field(description="Orders the hits of this answer; means nothing across answers.")
    confidence: float = Field(description="0-1, the same as in `support`.")
    support: SupportAnswer = Field(description="Why it is believed.")
    neighbours: list[NeighbourAnswer] = Field(description="The messages around it, if they were asked for.")
    trace: dict[str, LaneTraceAnswer] = Field(description="Each lane's view of it, if it was asked for.")


class MemoryHitAnswer(Answer):
    """A memory that answers."""

    memory: MemoryAnswer = Field(description="The memory.")
    sources: list[CitationAnswer] = Field(description="The messages that it rests on.")
    score: float = Field(description="Orders the memories of this answer; means nothing across answers.")
    confidence: float = Field(description="0-1, the same as in `support`.")
    support: SupportAnswer = Field(description="Why it is believed to answer.")
    why: dict[str, float] = Field(description="The parts of the score by name.")


class FactHitAnswer(Answer):
    """A fact that answers."""

    fact: FactAnswer = Field(description="The fact; `valid_from` is since when.")
    sources: list[CitationAnswer] = Field(description="The messages that state it.")
    score: float = Field(description="Orders the facts of this answer; means nothing across answers.")
    confidence: float = Field(description="0-1, the same as in `support`.")
    support: SupportAnswer = Field(description="Why it is believed to answer.")
    current: bool = Field(description="Whether it holds at the moment that was asked about.")
    why: dict[str, float] = Field(description="The parts of the score by name.")


class ReadingAnswer(Answer):
    """How a question for tasks, decisions and the like was read."""

    types: list[MemoryType] = Field(description="Memories of these types.")
    status: Asked | None = Field(description="In this state.")
    entities: list[str] = Field(description="About these.")
    since: Utc | None = Field(description="From then on.")
    until: Utc | None = Field(description="Before then.")
    about: list[str] = Field(description="About these words.")
    text: str = Field(description="The reading in words.")


class RecallAnswer(Answer):
    """Messages, and beside them memories and facts, best first."""

    hits: list[HitAnswer] = Field(description="The messages that answer, best first.")
    memories: list[MemoryHitAnswer] = Field(description="The memories that answer, best first.")
    facts: list[FactHitAnswer] = Field(description="The facts that answer, best first.")
    reading: ReadingAnswer | None = Field(
        description="How the question was read, if it asks for memories by type, state, entity or time."
    )
    degraded: list[str] = Field(description="What was missing and why, in words; empty when all worked.")
    took_ms: dict[str, float] = Field(description="Milliseconds, per step.")


class HealthAnswer(Answer):
    """How the server is doing."""

    ok: bool = Field(description="Whether it can record and recall.")
    database: bool = Field(description="Whether the database answers.")
    worker: bool = Field(
        description="Whether a worker runs on this database, in this process or in another one."
    )
    degraded: list[str] = Field(
        description="What is missing and what that means, in words; empty when all is well."
    )
