"""What the verbs on memories and facts answer."""

from dataclasses import dataclass, fields
from datetime import date, datetime
from decimal import Decimal
from typing import Literal, TypeAlias
from uuid import UUID

from everlore.domain.memories import Fact, Memory, Source

ReviewKind: TypeAlias = Literal["memory", "link", "taxonomy"]
REVIEW_KINDS: tuple[ReviewKind, ...] = ("memory", "link", "taxonomy")


@dataclass(frozen=True, slots=True)
class MemoryDetail:
    """All of one memory: the version that stands, where it was said, every version it had, and the facts it states."""

    memory: Memory
    sources: tuple[Source, ...]
    versions: tuple[Memory, ...]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """Something that waits for a person: a memory that was set aside, two entities that may be one, a thread's path.

    `state` of a memory: suggested, rejected or quarantined; of the others: suggested.
    """

    kind: ReviewKind
    id: UUID
    state: str
    text: str
    reason: str
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class DistilEstimate:
    """What waits to be distilled, and roughly what a model would take for it. All zero but the first two by rules."""

    threads: int
    messages: int
    analyst: str
    calls: int
    tokens_in: int
    tokens_out: int
    cost: Decimal | None


@dataclass(frozen=True, slots=True)
class Distilled:
    """What reading came to: windows and messages read, memories and statements of facts kept, drafts set aside, and windows
    that could not be read."""

    windows: int = 0
    messages: int = 0
    memories: int = 0
    facts: int = 0
    rejected: int = 0
    failed: int = 0

    def __add__(self, more: "Distilled") -> "Distilled":
        return Distilled(*(getattr(self, one.name) + getattr(more, one.name) for one in fields(self)))

    def __sub__(self, earlier: "Distilled") -> "Distilled":
        return Distilled(*(getattr(self, one.name) - getattr(earlier, one.name) for one in fields(self)))


@dataclass(frozen=True, slots=True)
class UsageDay:
    """One model on one day (UTC). `cost` is in the currency of the prices in the settings."""

    day: date
    model: str
    calls: int
    failed: int
    tokens_in: int
    tokens_out: int
    cost: Decimal


@dataclass(frozen=True, slots=True)
class Usage:
    """What model calls cost. `soft_caps` and `hard_caps` name those that today has reached; `left_alone` the models that the
    breaker keeps from being called, and until when."""

    days: tuple[UsageDay, ...]
    soft_caps: tuple[str, ...]
    hard_caps: tuple[str, ...]
    left_alone: tuple[tuple[str, datetime], ...]
