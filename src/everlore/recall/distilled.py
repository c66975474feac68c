"""The distilled layer of a recall: which memories and facts are near to the question, and the turns that they are keys to.

A key lends its relevance to a turn only as far as it says more of what is asked than the turn itself does: where a memory has
the words of its turn, the turn has been found by them already, and lending would only count them twice (docs/path.md).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from everlore.ports.reranker import Reranker
from everlore.recall import bm25, fuse
from everlore.recall.bm25 import Lexical
from everlore.recall.request import Search
from everlore.recall.rerank import late_scores
from everlore.store import index, recall_distilled
from everlore.store import recall as store
from everlore.store.recall import LaneTimeout, Surroundings
from everlore.store.recall_distilled import DistilledCandidates, Key

# Where there are vectors, words add nothing to these (they stand for what has no vector yet).
_COSINE, _LATE = 1.0, 2.0
_STEEPNESS = 3
# Cosines, or scores of late interaction, that lie within this of each other are not told apart wholly.
_NARROW = 0.2
# A key that matches so much better than its turn (late interaction, else cosine: both are at most 1) lends all it has.
_FULL_LIFT = 0.2
# So many of the best memories and facts are keys; the turns of the first of them become candidates.
_KEYS = 40
_SEEDS = 20


@dataclass(frozen=True, slots=True)
class Distilled:
    """Memories and facts near to the question. `relevance` is 0-1 over them; `cosines` is None without a vector of the
    question; `late` has the reranker's raw scores by passage; `counts` how often each term of the question occurs in each;
    `keys` are those of the best."""

    candidates: DistilledCandidates
    relevance: fuse.Scores
    cosines: fuse.Scores | None
    late: dict[int, float]
    counts: NDArray[np.float64]
    lexical: Lexical
    keys: tuple[Key, ...] = ()


async def distilled(search: Search, reranker: Reranker | None) -> Distilled | None:
    """The best of the layer by words and by meaning; None when nothing is near, or it is too late."""
    if search.view.distilled is None:
        return None
    try:
        async with store.lane(search.tx, search.clock.remaining_ms()):
            return await _distilled(search, reranker)
    except LaneTimeout:
        search.clock.late("distilled")
        return None


async def scored(
    search: Search, lexical: Lexical, numbers: Iterable[int], reranker: Reranker | None
) -> Distilled | None:
    """The given distilled passages with their relevance."""
    assert search.view.distilled is not None  # noqa: S101 - asked only where there is something distilled
    if not (chosen := sorted(set(numbers))):
        return None
    model_id = search.model.model_id if search.model and search.encoded else None
    found = await recall_distilled.candidates(search.tx, chosen, model_id)
    has_vectors = search.encoded is not None and found.vectors is not None
    words = fuse.scaled(lexical.scores[found.passage_ids].astype(np.float64))
    signals = [(0.0 if has_vectors else 1.0, words)]
    indexed: NDArray[np.bool_] | None = None
    cosines: fuse.Scores | None = None
    if search.encoded is not None and found.vectors is not None:
        indexed = np.asarray(np.any(found.vectors != 0, axis=1), dtype=np.bool_)
        cosines = (found.vectors @ search.encoded.vector).astype(np.float64)
        signals.append((_COSINE, _scaled(cosines)))
    late: dict[int, float] = {}
    weights = search.weights
    if reranker is not None and weights.late_interaction > 0 and weights.rerank_depth > 0:
        order = np.argsort(-fuse.weighted(signals, indexed), kind="stable")[: weights.rerank_depth]
        late = await late_scores(
            search, found.passage_ids[order].tolist(), reranker, search.view.distilled, lexical
        )
        if late:
            lowest = min(late.values())
            matched = [late.get(number, lowest) for number in found.passage_ids.tolist()]
            signals.append((_LATE, _scaled(np.array(matched))))
    relevance = fuse.weighted(signals, indexed)
    # The best of them is as relevant as can be here.
    relevance = relevance + (1 - relevance.max())
    return Distilled(found, relevance, cosines, late, lexical.counts(found.passage_ids), lexical)


def _scaled(values: fuse.Scores) -> fuse.Scores:
    """To 0-1 as in `fuse.scaled`, but values that hardly differ stay near to each other, at the upper end: where few things
    are known, all of them may be as near."""
    high = values.max()
    return 1 - (high - values) / max(high - values.min(), _NARROW)


def seeds(found: Distilled) -> list[tuple[int, float]]:
    """Passages of the turns that the best memories and facts rest on, with their relevance."""
    relevance = dict(zip(found.candidates.passage_ids.tolist(), found.relevance.tolist(), strict=True))
    best = set(sorted(relevance, key=lambda number: -relevance[number])[:_SEEDS])
    offered = [(key.source, relevance[key.passage_id]) for key in found.keys if key.passage_id in best]
    return sorted(offered, key=lambda one: -one[1])


def lent(
    search: Search, found: Distilled, candidates: Surroundings, late: Mapping[int, float]
) -> fuse.Scores:
    """For each candidate turn what the best memory or fact that rests on it lends; 0 where there is none. `late` has the
    reranker's raw scores of the turns, by place: a turn that did not come so far takes all that is lent."""
    matches, own = _compared(search, found, candidates, late)
    places: dict[bytes, list[int]] = {}
    for place, message_id in enumerate(candidates.message_ids):
        places.setdefault(message_id, []).append(place)
    scores = np.zeros(len(candidates.message_ids))
    numbers: list[int] = found.candidates.passage_ids.tolist()
    relevance = dict(zip(numbers, _spread(found.relevance).tolist(), strict=True))
    for key in found.keys:
        for place in places.get(key.message_id, ()):
            lift = 1.0
            if key.passage_id in matches and place in own:
                lift = min(max((matches[key.passage_id] - own[place]) / _FULL_LIFT, 0.0), 1.0)
            scores[place] = max(scores[place], relevance[key.passage_id] ** _STEEPNESS * lift)
    return scores


def _spread(relevance: fuse.Scores) -> fuse.Scores:
    """Over all of 0-1, but 1 for what is alone or as good as all others."""
    return fuse.scaled(relevance) if np.ptp(relevance) > 0 else np.ones_like(relevance)


def _compared(
    search: Search, found: Distilled, candidates: Surroundings, late: Mapping[int, float]
) -> tuple[dict[int, float], Mapping[int, float]]:
    """How well keys (by passage) and turns (by place) match the question, in one measure: by late interaction, else by
    cosine, else not at all."""
    if found.late and late:
        return found.late, late
    if found.cosines is not None and candidates.vectors is not None and search.encoded is not None:
        keys: list[float] = found.cosines.tolist()
        turns: list[float] = (candidates.vectors @ search.encoded.vector).astype(np.float64).tolist()
        numbers: list[int] = found.candidates.passage_ids.tolist()
        return dict(zip(numbers, keys, strict=True)), dict(enumerate(turns))
    return {}, {}


async def _distilled(search: Search, reranker: Reranker | None) -> Distilled | None:
    view = search.view.distilled
    assert view is not None  # noqa: S101 - asked only where there is something distilled
    lexical = bm25.score(view)
    depth = max(search.weights.lane_depth, search.ask.memories + search.ask.facts)
    words = bm25.best(lexical.scores, depth)
    near = await _nearest(search, view.passages, depth)
    numbers = {number for number, _ in words} | {number for number, _ in near}
    found = await scored(search, lexical, numbers, reranker)
    if found is None or search.weights.keys == 0 or "message" not in search.ask.kinds:
        return found
    best = np.argsort(-found.relevance, kind="stable")[:_KEYS]
    chosen: list[int] = found.candidates.passage_ids[best].tolist()
    return replace(found, keys=tuple(await recall_distilled.keys(search.tx, chosen)))


async def _nearest(search: Search, size: int, depth: int) -> list[tuple[int, float]]:
    if search.model is None or search.encoded is None:
        return []
    tx, model_id, vector = search.tx, search.model.model_id, search.encoded.vector
    if size > search.weights.exact_below and await index.has_vector_index(tx, model_id, distilled=True):
        return await store.vector_hnsw(tx, model_id, vector, depth, store.Filter(), distilled=True)
    return await store.vector_exact(tx, model_id, vector, depth, distilled=True)
