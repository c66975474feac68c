"""Reranker: the best candidates, looked at once more together with the question."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from everlore.ports.embedder import EncodedQuestion, TokenMatrix

Matches = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class WeightedQuestion:
    """`weights` has one weight per token of `encoded` (how much the token's word tells), summing to 1, if it has tokens."""

    text: str
    encoded: EncodedQuestion | None
    weights: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class PassageCandidate:
    """A passage with what the reranker asked for: its text, or its stored token vectors (None where there are none)."""

    passage_id: int
    text: str | None
    tokens: TokenMatrix | None


@dataclass(frozen=True, slots=True)
class Reranked:
    """`scores`: one per candidate, higher is better, comparable within the call; None where it cannot tell. `matches`, from a
    reranker that compares word by word: (candidates, tokens of the question), how well each candidate matches each token, with
    the weights of the question the scores again; rows of zeros where it cannot tell."""

    scores: Sequence[float | None]
    matches: Matches | None = None


class Reranker(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def needs(self) -> Literal["tokens", "text"]:
        """What candidates must carry; the other is left out, because reading it costs time."""
        ...

    async def score(self, question: WeightedQuestion, candidates: Sequence[PassageCandidate]) -> Reranked: ...
