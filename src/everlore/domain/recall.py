"""What recall answers: hits with citations, their support, and what was missing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias
from uuid import UUID

Kind: TypeAlias = Literal["message"]
KINDS: tuple[Kind, ...] = ("message",)


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
class Recall:
    """The answer to one question. `degraded` names what was missing and why, in words; empty when all worked."""

    question: str
    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()
    took_ms: Mapping[str, float] = field(default_factory=dict[str, float])
