"""Late interaction behind the Reranker port: each word of the question finds its best counterpart in the passage.

MaxSim of ColBERT (Khattab and Zaharia 2020) over MiniLM's token states, each question token weighted by how rare its word is.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from everlore.ports.embedder import TokenMatrix, Vector
from everlore.ports.reranker import PassageCandidate, WeightedQuestion

# OpenBLAS multiplies on one thread up to so many products.
_SINGLE_THREADED = 200_000


class LateInteraction:
    name = "late interaction"
    needs: Literal["tokens", "text"] = "tokens"

    async def score(
        self, question: WeightedQuestion, candidates: Sequence[PassageCandidate]
    ) -> list[float | None]:
        """Weighted mean of the best cosines, about 0.2 (unrelated) to 1 (the same words)."""
        encoded = question.encoded
        if encoded is None or encoded.tokens is None or not len(encoded.tokens):
            return [None] * len(candidates)
        scored: list[float | None] = [None] * len(candidates)
        places = [
            at
            for at, candidate in enumerate(candidates)
            if candidate.tokens is not None and len(candidate.tokens)
        ]
        matrices = [
            tokens for candidate in candidates if (tokens := candidate.tokens) is not None and len(tokens)
        ]
        if not matrices:
            return scored
        starts = np.cumsum([0] + [len(matrix) for matrix in matrices[:-1]])
        similarities = _similarities(np.concatenate(matrices), encoded.tokens)
        best = np.maximum.reduceat(similarities, starts, axis=0) @ question.weights
        for place, value in zip(places, best, strict=True):
            scored[place] = min(float(value), 1.0)  # rounding to bytes may exceed it by a little
        return scored


def _similarities(tokens: TokenMatrix, question: Vector) -> Vector:
    """Cosines (tokens, question tokens). In blocks so small that the linear algebra library does not wake its threads:
    waking them costs more than the work, above all on a busy machine."""
    across = np.ascontiguousarray(question.T) / np.float32(127)
    rows = max(1, _SINGLE_THREADED // question.size)
    found = np.empty((len(tokens), len(question)), dtype=np.float32)
    for start in range(0, len(tokens), rows):
        np.matmul(tokens[start : start + rows].astype(np.float32), across, out=found[start : start + rows])
    return found
