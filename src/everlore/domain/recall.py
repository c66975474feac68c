"""What recall answers: hits with citations, their support, and what was missing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias
from uuid import UUID

from everlore.domain.memories import Fact, Memory, MemoryType

Kind: TypeAlias = Literal["message", "memory", "fact"]
KINDS: tuple[Kind, ...] = ("message", "memory", "fact")
# The layers of the search index: what was said, what is known from it, what was told, documents. Each has statistics of its own.
Layer: TypeAlias = Literal["said", "known", "told", "documents"]
LAYERS: tuple[Layer, ...] = ("said", "known", "told", "documents")
# What a structured question asks of a memory's state. `open`: true then, and not done; `done`: something took its place.
Asked: TypeAlias = Literal["open", "done", "expired"]


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a hit comes from. Times are aware (UTC)."""

    message_id: UUID
    thread: str
    author: str
    role: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Support:
    """Why a hit is believed; no probability.

    `confidence` is 0-1: how much of the question's rare words the hit covers and how closely its words match the
    question's (see `everlore.recall.support`). `covered` and `missing` are words of the question, the rarest first;
    `speaker` says whose words they are in relation to the question: the person asked about, another person, or unknown.
    `late_interaction` is the mean similarity (0-1) of the question's words to their best counterparts in the hit.
    """

    confidence: float
    covered: tuple[str, ...]
    missing: tuple[str, ...]
    speaker: Literal["asked about", "another", "unknown"]
    late_interaction: float | None


@dataclass(frozen=True, slots=True)
class LaneTrace:
    """A lane's view of a hit: its rank among the lane's candidates (1 = best; None = not found by it) and raw score."""

    rank: int | None
    score: float | None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A message next to a hit, in the same session. `offset` is -2, -1, 1, 2..."""

    offset: int
    text: str
    citation: Citation


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that answers. `score` means nothing across recalls; within one it orders the hits, except that for a question
    about the present the later of two statements about the same thing goes first."""

    text: str
    captions: tuple[str, ...]
    citation: Citation
    score: float
    support: Support
    neighbours: tuple[Neighbour, ...] = ()
    trace: Mapping[str, LaneTrace] = field(default_factory=dict[str, LaneTrace])

    @property
    def confidence(self) -> float:
        return self.support.confidence


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A memory that answers. `sources`: the messages that it rests on. `why`: the parts of the score by name, among them
    `relevance` (0-1 within the recall) and, for what came by way of the graph, `related`."""

    memory: Memory
    sources: tuple[Citation, ...]
    score: float
    support: Support
    why: Mapping[str, float]

    @property
    def confidence(self) -> float:
        return self.support.confidence


@dataclass(frozen=True, slots=True)
class FactHit:
    """A fact that answers, and since when: `fact.valid_from`. `current`: it holds at the moment that was asked about."""

    fact: Fact
    sources: tuple[Citation, ...]
    score: float
    support: Support
    current: bool
    why: Mapping[str, float]

    @property
    def confidence(self) -> float:
        return self.support.confidence


@dataclass(frozen=True, slots=True)
class OtherHit:
    """Something of another kind that answers: its text, and the messages that it rests on."""

    kind: str
    lineage_id: UUID
    text: str
    sources: tuple[Citation, ...]
    score: float
    support: Support

    @property
    def confidence(self) -> float:
        return self.support.confidence


@dataclass(frozen=True, slots=True)
class Reading:
    """How a structured question was read: memories of these types, in this state, about these entities, from this stretch of
    time, about these words. Empty and None: not limited. `text` is the reading in words."""

    types: tuple[MemoryType, ...]
    status: Asked | None
    entities: tuple[str, ...]
    since: datetime | None
    until: datetime | None
    about: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to one question: messages, and beside them memories and facts. `reading` says how a question was read that
    asks for memories by type, state, entity or time. `others`: hits of kinds that have no field of their own. `degraded` names
    what was missing and why, in words; empty when all worked."""

    question: str
    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()
    took_ms: Mapping[str, float] = field(default_factory=dict[str, float])
    memories: tuple[MemoryHit, ...] = ()
    facts: tuple[FactHit, ...] = ()
    others: tuple[OtherHit, ...] = ()
    reading: Reading | None = None
