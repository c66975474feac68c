"""Fusion: the lanes' signals over the candidates become one relevance. Pure functions on arrays.

Every signal is scaled to 0-1 over the candidates (min-max) before it is weighed: raw cosines of one model lie within 0.1 of
each other and BM25 has no bound. Reciprocal ranks with the usual constant lose to this on pools of hundreds (docs/path.md).
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from everlore.domain.errors import promised
from everlore.recall.bm25 import Lexical, window_score
from everlore.store.recall import Pairs, Surroundings

Scores = NDArray[np.float64]
Float = TypeVar("Float", np.float32, np.float64)


def scaled(values: Scores) -> Scores:
    """To 0-1 over all values; equal ones become 0."""
    if not len(values):
        return values
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.zeros_like(values)


def neighbour_pairs(session: NDArray[np.int64], sequence: NDArray[np.int64], distance: int) -> Pairs:
    """Places (i, j) where candidate j comes `distance` passages after candidate i in the same session."""
    # One sortable key per candidate; sessions are far enough apart that no distance reaches from one into the next.
    keys = session * (int(sequence.max(initial=0)) + 1000) + sequence
    order = np.argsort(keys, kind="stable")
    at = np.searchsorted(keys, keys + distance, sorter=order)
    inside = at < len(keys)
    later = order[np.where(inside, at, 0)]
    met = inside & (keys[later] == keys + distance)
    return np.flatnonzero(met), later[met]


def neighbours(candidates: Surroundings, distance: int) -> Pairs:
    """The same for the candidates of a recall, which are asked for again and again."""
    if distance not in candidates.pairs:
        candidates.pairs[distance] = neighbour_pairs(candidates.session, candidates.sequence, distance)
    return candidates.pairs[distance]


def windows(values: NDArray[Float], candidates: Surroundings, reach: int) -> list[NDArray[Float]]:
    """Sums over each candidate and its neighbours up to 0, 1, ... `reach` away: one array per width, shaped like `values`."""
    sums = [values]
    for distance in range(1, reach + 1):
        earlier, later = neighbours(candidates, distance)
        wider = sums[-1].copy()
        # Each candidate has one neighbour at this distance on each side, so no place is added to twice.
        wider[earlier] += values[later]
        wider[later] += values[earlier]
        sums.append(wider)
    return sums


def lexical_signal(
    candidates: Surroundings, counts: NDArray[np.float64], lexical: Lexical, reach: int
) -> Scores:
    """BM25 of each passage and of its windows, each scaled, then averaged."""
    of_counts = windows(counts, candidates, reach)
    of_lengths = windows(candidates.lengths, candidates, reach)
    widths = [
        scaled(window_score(c, n, lexical.idf, lexical.mean_length * (2 * width + 1)))
        for width, (c, n) in enumerate(zip(of_counts, of_lengths, strict=True))
    ]
    return np.mean(widths, axis=0)


def vector_signal(candidates: Surroundings, question: NDArray[np.float32], reach: int) -> Scores:
    """Cosine of each passage and of its windows (a window's vector is the sum of its passages'), scaled, then averaged."""
    vectors = promised(candidates.vectors, "only where there is a model are vectors compared")
    widths: list[Scores] = []
    for sums in windows(vectors, candidates, reach):
        lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))
        cosines = sums @ question / np.maximum(lengths, 1e-9)
        widths.append(scaled(cosines.astype(np.float64)))
    return np.mean(widths, axis=0)


def with_unknown(scores: Scores) -> Scores:
    """Scaled scores in which what was not scored (NaN) counts as the lowest."""
    unknown = np.isnan(scores)
    if unknown.all():
        return np.zeros_like(scores)
    return scaled(np.where(unknown, scores[~unknown].min(), scores))


def weighted(signals: Sequence[tuple[float, Scores]], indexed: NDArray[np.bool_] | None = None) -> Scores:
    """The weighted mean of signals; of those at hand, so that a missing lane does not lower everything.

    The first signal is of words and known of every candidate; the others are of vectors. A candidate that has no vector
    yet (`indexed` is False) is judged by its words alone: a fresh message must not sink below all others.
    """
    total = sum(weight for weight, _ in signals)
    if total == 0:
        return np.zeros_like(signals[0][1])
    mean = np.sum([weight * signal for weight, signal in signals], axis=0) / total
    return mean if indexed is None else np.where(indexed, mean, signals[0][1])


def best_of_session(scores: Scores, session: NDArray[np.int64]) -> Scores:
    """For each candidate the best score that its session has."""
    best = np.full(int(session.max(initial=-1)) + 1, -np.inf)
    np.maximum.at(best, session, scores)
    return best[session]
