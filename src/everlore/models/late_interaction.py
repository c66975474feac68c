"""Late interaction behind the Reranker port: each word of the question finds its best counterpart in the passage.

MaxSim of ColBERT (Khattab and Zaharia 2020) over MiniLM's token states, each question token weighted by how rare its word is.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from everlore.ports.reranker import Candidate, Question


class LateInteraction:
    name = "late interaction"
    needs: Literal["tokens", "text"] = "tokens"

    async def score(self, question: Question, candidates: Sequence[Candidate]) -> list[float | None]:
        """Weighted mean of the best cosines, about 0.2 (unrelated) to 1 (the same words)."""
        encoded = question.encoded
        if encoded is None or encoded.tokens is None or not len(encoded.tokens):
            return [None] * len(candidates)
        scored: list[float | None] = [None] * len(candidates)
        places = [at for at, candidate in enumerate(candidates) if candidate.tokens is not None and len(candidate.tokens)]
        matrices = [tokens for candidate in candidates if (tokens := candidate.tokens) is not None and len(tokens)]
        if not matrices:
            return scored
        starts = np.cumsum([0] + [len(matrix) for matrix in matrices[:-1]])
        similarities = np.concatenate(matrices).astype(np.float32) @ encoded.tokens.T / np.float32(127)
        best = np.maximum.reduceat(similarities, starts, axis=0) @ question.weights
        for place, value in zip(places, best, strict=True):
            scored[place] = float(value)
        return scored
