"""What one recall is about: the question with its limits, the stopwatch, and what was read for it so far."""

import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from everlore.config import RecallSettings
from everlore.domain.memories import AsOf
from everlore.domain.recall import KINDS, Hit, Layer
from everlore.ports.embedder import EncodedQuestion
from everlore.ports.reranker import Reranker
from everlore.recall.bm25 import Lexical
from everlore.recall.plan import Plan
from everlore.store.entities import Called
from everlore.store.index import EmbeddingModel
from everlore.store.postings import LexicalView
from everlore.store.recall import Filter, Key, OtherPassages
from everlore.store.run import DeadlineMissed, Transaction
from everlore.text.words import in_a_row

_T = TypeVar("_T")
# Passages with a lane's raw score, best first.
Lane: TypeAlias = list[tuple[int, float]]


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
class Stopwatch:
    """What is left of the deadline, what each step took, and what was left out because it was late or missing."""

    deadline_ms: float | None
    started: float = field(default_factory=time.perf_counter)
    degraded: list[str] = field(default_factory=list[str])
    took_ms: dict[str, float] = field(default_factory=dict[str, float])

    def remaining_ms(self) -> float:
        """Infinite without a deadline."""
        return math.inf if self.deadline_ms is None else self.deadline_ms - self._elapsed_ms()

    def mark(self, step: str) -> None:
        """The time since the mark before belongs to this step."""
        self.took_ms[step] = round(self._elapsed_ms() - sum(self.took_ms.values()), 3)

    def late(self, lane: str) -> None:
        self.degraded.append(f"the {lane} lane missed the deadline of {self.deadline_ms:g} ms")

    async def lane(
        self,
        tx: Transaction,
        name: str,
        work: Callable[[], Awaitable[_T]],
        otherwise: _T,
        *,
        at_least_ms: float = 0,
    ) -> _T:
        """What `work` gives. Where that takes longer than what is left of the deadline (or `at_least_ms`), all its statements
        together, `otherwise`; and the lane is noted as late."""
        if self.deadline_ms is None:
            return await work()
        end = self._elapsed_ms() + max(self.remaining_ms(), at_least_ms)
        try:
            async with tx.until(lambda: end - self._elapsed_ms()):
                return await work()
        except DeadlineMissed:
            self.late(name)
            return otherwise

    def _elapsed_ms(self) -> float:
        return (time.perf_counter() - self.started) * 1000


@dataclass(frozen=True, slots=True)
class Near:
    """What is near to the question in another layer than what was said. `relevance` is 0-1 over it; `cosines` is None without a
    vector of the question; `late` has the reranker's raw scores by passage; `counts` how often each term of the question occurs
    in each; `keys` are the messages that the best of it rest on."""

    candidates: OtherPassages
    relevance: NDArray[np.float64]
    cosines: NDArray[np.float64] | None
    late: Mapping[int, float]
    counts: NDArray[np.float64]
    lexical: Lexical
    keys: tuple[Key, ...] = ()


@dataclass
class Request:
    """One question on its way. `within` is the filter with project and taxonomy turned into threads; `allowed` are all passages
    that it leaves, if they are few. `views` are the postings of its terms by layer, `lexical` the scores of what was said.
    `runs` are those of its words that may be a name, by their keys, and `called` what bears them. `marks` tell sources that were
    confirmed or refused for questions like it (`everlore.recall.feedback`). `depth` is how many passages each lane offers.
    `encoded` is None when there is no vector of the question, or it came too late. `lanes` is what each lane offers of what was
    said, `near` what is near to the question in the other layers; `hits` the messages that answer, once they are known."""

    tx: Transaction
    ask: Ask
    plan: Plan
    settings: RecallSettings
    reranker: Reranker | None
    watch: Stopwatch
    within: Filter
    allowed: NDArray[np.int64] | None
    views: Mapping[Layer, LexicalView]
    lexical: Lexical
    runs: Mapping[str, str]
    called: Sequence[Called]
    marks: Mapping[bytes, float]
    model: EmbeddingModel | None
    encoded: EncodedQuestion | None
    depth: int
    lanes: dict[str, Lane] = field(default_factory=dict[str, Lane])
    near: dict[Layer, Near] = field(default_factory=dict[Layer, Near])
    hits: tuple[Hit, ...] = ()

    @cached_property
    def spoken(self) -> str:
        """The words of all hits, in a row. For when they are known: hits may be long, and many are asked after."""
        return "\n".join(in_a_row(hit.text) for hit in self.hits)

    @property
    def view(self) -> LexicalView:
        """What was said."""
        return self.views["said"]
