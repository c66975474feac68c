"""Late interaction behind the Reranker port: each word of the question finds its best counterpart in the passage.

MaxSim of ColBERT (Khattab and Zaharia 2020) over MiniLM's token states, each question token weighted by how rare its word is.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from everlore.models.products import product
from everlore.ports.reranker import PassageCandidate, Reranked, WeightedQuestion


class LateInteraction:
    name = "late interaction"
    needs: Literal["tokens", "text"] = "tokens"

    async def score(self, question: WeightedQuestion, candidates: Sequence[PassageCandidate]) -> Reranked:
        """Weighted mean of the best cosines, about 0.2 (unrelated) to 1 (the same words)."""
        encoded = question.encoded
        if encoded is None or encoded.tokens is None or not len(encoded.tokens):
            return Reranked([None] * len(candidates))
        matches = np.zeros((len(candidates), len(encoded.tokens)), np.float32)
        known = [
            (at, one.tokens)
            for at, one in enumerate(candidates)
            if one.tokens is not None and len(one.tokens)
        ]
        scored: list[float | None] = [None] * len(candidates)
        if known:
            places, matrices = zip(*known, strict=True)
            starts = np.cumsum([0] + [len(matrix) for matrix in matrices[:-1]])
            # Bytes of -127 to 127 are cosines of -1 to 1.
            across = np.ascontiguousarray(encoded.tokens.T) / np.float32(127)
            similarities = product(np.concatenate(matrices), across)
            matches[list(places)] = np.maximum.reduceat(similarities, starts, axis=0)
            for place, value in zip(places, (matches @ question.weights)[list(places)].tolist(), strict=True):
                scored[place] = min(value, 1.0)  # rounding to bytes may exceed it by a little
        return Reranked(scored, matches)
