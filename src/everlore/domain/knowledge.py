"""What the verbs on memories and facts answer."""

from dataclasses import dataclass, fields
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal, NamedTuple, TypeAlias
from uuid import UUID

from everlore.domain.answers import Doc
from everlore.domain.ids import short_id
from everlore.domain.memories import Fact, Memory, Source

ReviewKind: TypeAlias = Literal["memory", "link", "taxonomy"]
REVIEW_KINDS: tuple[ReviewKind, ...] = ("memory", "link", "taxonomy")


@dataclass(frozen=True, slots=True)
class MemoryDetail:
    """All of one memory: the version that stands, where it was said, every version it had, and the facts it states."""

    memory: Annotated[Memory, Doc("The version that stands, or stood at the time asked about.")]
    sources: Annotated[tuple[Source, ...], Doc("Where it was said.")]
    versions: Annotated[tuple[Memory, ...], Doc("All versions, the first one first.")]
    facts: Annotated[tuple[Fact, ...], Doc("The facts that it states.")]


@dataclass(frozen=True, slots=True)
class FactDetail:
    """All of one fact: the version that stands, and what was believed of it when."""

    fact: Annotated[Fact, Doc("The version that stands.")]
    versions: Annotated[tuple[Fact, ...], Doc("All versions, the first one first.")]


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """Something that waits for a person: a memory that was set aside, two entities that may be one, a thread's path.

    `state` of a memory: suggested, rejected or quarantined; of the others: suggested.
    """

    kind: Annotated[ReviewKind, Doc("A memory set aside, a link of two entities, or a thread's path.")]
    id: Annotated[UUID, Doc("What to decide on.")]
    state: Annotated[str, Doc("Why a memory waits; suggested for the others.")]
    text: Annotated[str, Doc("What it is.")]
    reason: Annotated[str, Doc("Why it waits.")]
    recorded_at: Annotated[datetime, Doc("Since when.")]

    @property
    def short_id(self) -> str:
        """The end of the id, which a person types."""
        return short_id(self.id)


@dataclass(frozen=True, slots=True)
class DistilEstimate:
    """What waits to be distilled, and roughly what a model would take for it; rules take nothing."""

    threads: Annotated[int, Doc("Threads with messages that wait.")]
    messages: Annotated[int, Doc("Messages that wait.")]
    analyst: Annotated[str, Doc("Who distils; none if nothing does.")]
    calls: Annotated[int, Doc("Model calls; 0 by rules.")]
    tokens_in: Annotated[int, Doc("Tokens of prompts.")]
    tokens_out: Annotated[int, Doc("Tokens of answers.")]
    cost: Annotated[Decimal | None, Doc("In the currency of your prices; null where there are none.")]
    undistilled_because: Annotated[
        str | None, Doc("Why nothing is distilled here, or no facts are, although it is to be; else null.")
    ] = None


@dataclass(frozen=True, slots=True)
class Distilled:
    """What reading came to: windows and messages read, memories and statements of facts kept, drafts set aside, and windows
    that could not be read."""

    windows: Annotated[int, Doc("Windows that were read.")] = 0
    messages: Annotated[int, Doc("Messages in them.")] = 0
    memories: Annotated[int, Doc("Memories kept.")] = 0
    facts: Annotated[int, Doc("Statements of facts kept.")] = 0
    rejected: Annotated[int, Doc("Drafts that were set aside.")] = 0
    failed: Annotated[int, Doc("Windows that could not be read.")] = 0

    def __add__(self, more: "Distilled") -> "Distilled":
        return Distilled(*(getattr(self, one.name) + getattr(more, one.name) for one in fields(self)))

    def __sub__(self, earlier: "Distilled") -> "Distilled":
        return Distilled(*(getattr(self, one.name) - getattr(earlier, one.name) for one in fields(self)))


@dataclass(frozen=True, slots=True)
class UsageDay:
    """One model on one day (UTC). `cost` is in the currency of the prices in the settings."""

    day: Annotated[date, Doc("The day (UTC).")]
    model: Annotated[str, Doc("The model.")]
    calls: Annotated[int, Doc("Calls, failed ones included.")]
    failed: Annotated[int, Doc("Calls that failed.")]
    tokens_in: Annotated[int, Doc("Tokens of prompts.")]
    tokens_out: Annotated[int, Doc("Tokens of answers.")]
    cost: Annotated[Decimal, Doc("In the currency of your prices; 0 where there are none.")]


class LeftAlone(NamedTuple):
    """A model that failed too often."""

    model: Annotated[str, Doc("The model.")]
    until: Annotated[datetime, Doc("When it is tried again.")]


@dataclass(frozen=True, slots=True)
class Usage:
    """What model calls cost. `soft_caps` and `hard_caps` name those that today has reached; `left_alone` the models that the
    breaker keeps from being called, and until when."""

    days: Annotated[tuple[UsageDay, ...], Doc("Per day and model, the latest first.")]
    soft_caps: Annotated[tuple[str, ...], Doc("Soft caps that today has passed, in words.")]
    hard_caps: Annotated[tuple[str, ...], Doc("Hard caps that today has reached, in words.")]
    left_alone: Annotated[tuple[LeftAlone, ...], Doc("Models that are not called for a while.")]
