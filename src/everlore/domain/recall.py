"""What recall answers: hits with citations, their support, and what was missing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal, TypeAlias
from uuid import UUID

from everlore.domain.answers import Doc
from everlore.domain.ids import short_id
from everlore.domain.memories import Fact, Memory, MemoryType

Kind: TypeAlias = Literal["message", "memory", "fact"]
KINDS: tuple[Kind, ...] = ("message", "memory", "fact")
# The kind of messages off the path of their thread, which is found only where it is asked for.
BRANCH = "branch"
# The kind of keys that are not shown: they lead to messages and answer nothing.
KEY = "key"
# The layers of the search index: what was said, what was said off the path of its thread, what is known from it, keys to it that
# are not shown, what was told, documents. Each has statistics of its own.
Layer: TypeAlias = Literal["said", "branches", "known", "keys", "told", "documents"]
LAYERS: tuple[Layer, ...] = ("said", "branches", "known", "keys", "told", "documents")
# How well a hit is supported, in a word.
Grade: TypeAlias = Literal["strong", "fair", "weak"]
# The confidence from which on a hit is called so (what it means on the development conversations: docs/path.md).
STRONG, FAIR = 0.75, 0.5
# What a structured question asks of a memory's state. `open`: true then, and not done; `done`: something took its place.
Asked: TypeAlias = Literal["open", "done", "expired"]


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a hit comes from. Times are aware (UTC)."""

    message_id: Annotated[UUID, Doc("The message.")]
    thread: Annotated[str, Doc("Its thread.")]
    author: Annotated[str, Doc("Who said it.")]
    role: Annotated[str, Doc("The author's role.")]
    at: Annotated[datetime, Doc("When it was said, in UTC.")]

    @property
    def short_id(self) -> str:
        """The end of the message's id, which a person types."""
        return short_id(self.message_id)


@dataclass(frozen=True, slots=True)
class Support:
    """Why a hit is believed; no probability.

    `confidence` is 0-1, from the same evidence as the rank of a message (see `everlore.recall.evidence`), from words and meaning
    for what is known besides (`everlore.recall.support`). `covered` and `missing` are words of the question, the rarest first;
    `speaker` says whose words they are in relation to the question: the person asked about, another person, or unknown.
    `late_interaction` is the mean similarity (0-1) of the question's words to their best counterparts in the hit.
    """

    confidence: Annotated[float, Doc("0-1: how much speaks for it.")]
    covered: Annotated[tuple[str, ...], Doc("Words of the question that it covers, the rarest first.")]
    missing: Annotated[tuple[str, ...], Doc("Words of the question that it lacks, the rarest first.")]
    speaker: Annotated[
        Literal["asked about", "another", "unknown"],
        Doc("Whose words they are, in relation to the question."),
    ]
    late_interaction: Annotated[
        float | None,
        Doc("0-1: mean similarity of the question's words to their best counterparts; null if not computed."),
    ]
    reasons: Annotated[tuple[str, ...], Doc("What speaks for it and against it, in words.")] = ()
    grade: Annotated[Grade, Doc("The confidence in a word.")] = field(init=False)

    def __post_init__(self) -> None:
        grade: Grade = (
            "strong" if self.confidence >= STRONG else "fair" if self.confidence >= FAIR else "weak"
        )
        object.__setattr__(self, "grade", grade)


@dataclass(frozen=True, slots=True)
class LaneTrace:
    """A lane's view of a hit: its rank among the lane's candidates (1 = best; None = not found by it) and raw score."""

    rank: Annotated[int | None, Doc("1 is the best; null if the lane did not find it.")]
    score: Annotated[float | None, Doc("The lane's raw score.")]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A message next to a hit, in the same session. `offset` is -2, -1, 1, 2..."""

    offset: Annotated[int, Doc("Its place relative to the hit: -1 is the message before it.")]
    text: Annotated[str, Doc("The message, as it was recorded.")]
    citation: Annotated[Citation, Doc("Where it comes from.")]


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that answers. `score` means nothing across recalls; within one it orders the hits, except that for a question
    about the present the later of two statements about the same thing goes first."""

    text: Annotated[str, Doc("The message, as it was recorded.")]
    captions: Annotated[tuple[str, ...], Doc("The captions of its attachments.")]
    citation: Annotated[Citation, Doc("Where it comes from.")]
    score: Annotated[float, Doc("Orders the hits of this answer; means nothing across answers.")]
    support: Annotated[Support, Doc("Why it is believed.")]
    off_the_record: Annotated[bool, Doc("Whether it is kept out of memories.")] = False
    neighbours: Annotated[tuple[Neighbour, ...], Doc("The messages around it, if they were asked for.")] = ()
    trace: Annotated[Mapping[str, LaneTrace], Doc("Each lane's view of it, if it was asked for.")] = field(
        default_factory=dict[str, LaneTrace]
    )

    @property
    def confidence(self) -> float:
        """0-1, the same as in `support`."""
        return self.support.confidence


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A memory that answers. `sources`: the messages that it rests on. `why`: the parts of the score by name, among them
    `relevance` (0-1 within the recall) and, for what came by way of the graph, `related`."""

    memory: Annotated[Memory, Doc("The memory.")]
    sources: Annotated[tuple[Citation, ...], Doc("The messages that it rests on.")]
    score: Annotated[float, Doc("Orders the memories of this answer; means nothing across answers.")]
    support: Annotated[Support, Doc("Why it is believed to answer.")]
    why: Annotated[Mapping[str, float], Doc("The parts of the score by name.")]

    @property
    def confidence(self) -> float:
        """0-1, the same as in `support`."""
        return self.support.confidence


@dataclass(frozen=True, slots=True)
class FactHit:
    """A fact that answers, and since when: `fact.valid_from`. `current`: it holds at the moment that was asked about."""

    fact: Annotated[Fact, Doc("The fact; `valid_from` is since when.")]
    sources: Annotated[tuple[Citation, ...], Doc("The messages that state it.")]
    score: Annotated[float, Doc("Orders the facts of this answer; means nothing across answers.")]
    support: Annotated[Support, Doc("Why it is believed to answer.")]
    current: Annotated[bool, Doc("Whether it holds at the moment that was asked about.")]
    why: Annotated[Mapping[str, float], Doc("The parts of the score by name.")]

    @property
    def confidence(self) -> float:
        """0-1, the same as in `support`."""
        return self.support.confidence


@dataclass(frozen=True, slots=True)
class OtherHit:
    """Something of another kind that answers: its text, and the messages that it rests on."""

    kind: Annotated[str, Doc("What it is.")]
    lineage_id: Annotated[UUID, Doc("Its id.")]
    text: Annotated[str, Doc("Its words.")]
    sources: Annotated[tuple[Citation, ...], Doc("The messages that it rests on.")]
    score: Annotated[float, Doc("How well it answers; higher is better.")]
    support: Annotated[Support, Doc("Why it is believed.")]

    @property
    def confidence(self) -> float:
        """0-1, the same as in `support`."""
        return self.support.confidence


@dataclass(frozen=True, slots=True)
class Feedback:
    """What was said of the sources of an answer, by the ids of messages and of memories (lineages)."""

    confirmed: Annotated[tuple[UUID, ...], Doc("Messages and memories that answer the question.")]
    refused: Annotated[tuple[UUID, ...], Doc("Those that do not.")]


@dataclass(frozen=True, slots=True)
class Reading:
    """How a structured question was read: memories of these types, in this state, about these entities, from this stretch of
    time, about these words. Empty and None: not limited. `text` is the reading in words."""

    types: Annotated[tuple[MemoryType, ...], Doc("Memories of these types.")]
    status: Annotated[Asked | None, Doc("In this state.")]
    entities: Annotated[tuple[str, ...], Doc("About these.")]
    since: Annotated[datetime | None, Doc("From then on.")]
    until: Annotated[datetime | None, Doc("Before then.")]
    about: Annotated[tuple[str, ...], Doc("About these words.")]
    text: Annotated[str, Doc("The reading in words.")]


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to one question: messages, and beside them memories and facts. `reading` says how a question was read that
    asks for memories by type, state, entity or time. `others`: hits of kinds that have no field of their own. `degraded` names
    what was missing and why, in words; empty when all worked."""

    question: Annotated[str, Doc("The question.")]
    hits: Annotated[tuple[Hit, ...], Doc("The messages that answer, best first.")]
    degraded: Annotated[
        tuple[str, ...], Doc("What was missing and why, in words; empty when all worked.")
    ] = ()
    unsupported: Annotated[
        int,
        Doc(
            "So many messages came nearest and were left out: too little speaks for them. Without hits: nothing answers."
        ),
    ] = 0
    took_ms: Annotated[Mapping[str, float], Doc("Milliseconds, per step.")] = field(
        default_factory=dict[str, float]
    )
    memories: Annotated[tuple[MemoryHit, ...], Doc("The memories that answer, best first.")] = ()
    facts: Annotated[tuple[FactHit, ...], Doc("The facts that answer, best first.")] = ()
    branches: Annotated[
        tuple[Hit, ...], Doc("Messages off the path of their thread that answer, if they were asked for.")
    ] = ()
    others: Annotated[tuple[OtherHit, ...], Doc("Hits of kinds that have no field of their own.")] = ()
    reading: Annotated[
        Reading | None,
        Doc("How the question was read, if it asks for memories by type, state, entity or time."),
    ] = None
