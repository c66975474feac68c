"""What one recall is about: the question with its limits, the clock, and what was read for it so far."""

import time
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from everlore.domain.memories import AsOf
from everlore.domain.recall import KINDS
from everlore.ports.embedder import EncodedQuestion
from everlore.recall.bm25 import Lexical
from everlore.recall.plan import Plan
from everlore.store.index import EmbeddingModel
from everlore.store.postings import LexicalView
from everlore.store.recall import Filter
from everlore.store.run import Transaction


@dataclass(frozen=True, slots=True)
class Weights:
    """See `everlore.config.RecallSettings`, which these are read from."""

    lexical: float
    vector: float
    late_interaction: float
    author: float
    time: float
    session: float
    role: float
    keys: float
    lane_depth: int
    reach: int
    rerank_depth: int
    exact_below: int
    memory_relevance: float
    memory_importance: float
    memory_recency: float
    memory_access: float
    recency_days: float
    relationship_bonus: float
    preference_bonus: float
    goal_bonus: float
    memory_floor: float
    related: int


@dataclass(frozen=True, slots=True)
class Ask:
    """One question with everything that limits it. Times are aware. `kinds` are what may be answered with; `memories` and
    `facts` at most so many of each."""

    question: str
    now: datetime
    limit: int
    within: Filter
    project: str | None
    taxonomy: str | None
    neighbours: int
    deadline_ms: float | None
    trace: bool
    as_of: AsOf = field(default_factory=AsOf)
    kinds: tuple[str, ...] = KINDS
    memories: int = 10
    facts: int = 10
    include_expired: bool = False

    @property
    def moment(self) -> datetime:
        """The moment whose truth is asked for."""
        return self.as_of.valid_at or self.as_of.recorded_at or self.now


@dataclass(slots=True)
class Clock:
    """What is left of the deadline, what each step took, and what was left out because it was late or missing."""

    deadline_ms: float | None
    started: float = field(default_factory=time.perf_counter)
    degraded: list[str] = field(default_factory=list[str])
    took_ms: dict[str, float] = field(default_factory=dict[str, float])

    def remaining_ms(self) -> float | None:
        return None if self.deadline_ms is None else self.deadline_ms - self._elapsed_ms()

    def mark(self, step: str) -> None:
        """The time since the mark before belongs to this step."""
        self.took_ms[step] = round(self._elapsed_ms() - sum(self.took_ms.values()), 3)

    def late(self, lane: str) -> None:
        self.degraded.append(f"the {lane} lane missed the deadline of {self.deadline_ms:g} ms")

    def _elapsed_ms(self) -> float:
        return (time.perf_counter() - self.started) * 1000


@dataclass(slots=True)
class Search:
    """`within` is the filter with project and taxonomy turned into threads; `allowed` are all passages that it leaves, if
    they are few. `depth` is how many passages each lane offers. `encoded` is None when there is no vector of the question,
    or it came too late."""

    tx: Transaction
    ask: Ask
    plan: Plan
    weights: Weights
    clock: Clock
    within: Filter
    allowed: NDArray[np.int64] | None
    view: LexicalView
    lexical: Lexical
    model: EmbeddingModel | None
    encoded: EncodedQuestion | None
    depth: int
