"""What is near to the question in the layers beside what was said, and the turns that it is keys to.

A key lends its relevance to a turn only as far as it says more of what is asked than the turn itself does: where a memory has
the words of its turn, the turn has been found by them already, and lending would only count them twice (docs/path.md).
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from everlore.domain.recall import Layer
from everlore.recall import bm25, fuse
from everlore.recall.bm25 import Lexical
from everlore.recall.request import Near, Request
from everlore.recall.rerank import Reranking, late_scores
from everlore.store import index
from everlore.store import recall as store
from everlore.store.recall import Key, OtherPassages, Surroundings

# Passages by their layer and kind, and what gives the messages that they rest on.
OfKind: TypeAlias = Mapping[tuple[Layer, str], Sequence[int]]
KeysOf: TypeAlias = Callable[[Request, OfKind], Awaitable[list[Key]]]

# Where there are vectors, words add nothing to these (they stand for what has no vector yet).
_COSINE, _LATE = 1.0, 2.0
_STEEPNESS = 3
# Cosines, or scores of late interaction, that lie within this of each other are not told apart wholly.
_NARROW = 0.2
# A key that matches so much better than its turn (late interaction, else cosine: both are at most 1) lends all it has.
_FULL_LIFT = 0.2
# What is not worth showing lends so much of what a memory would. (Lending all cost half a point of nDCG@10.)
_SHARE_OF_KEYS = 0.5
# So many of the best memories and facts are keys; the turns of the first of them become candidates.
_KEYS = 40
_SEEDS = 20


@dataclass(frozen=True, slots=True)
class _Compared:
    """Passages of a layer and how well they match by words and by vector: signals with their weights; `indexed` and `cosines` are
    None where there are no vectors."""

    lexical: Lexical
    found: OtherPassages
    signals: list[tuple[float, fuse.Scores]]
    indexed: NDArray[np.bool_] | None
    cosines: fuse.Scores | None

    def best(self, at_most: int) -> list[int]:
        order = np.argsort(-fuse.weighted(self.signals, self.indexed), kind="stable")[:at_most]
        return self.found.passage_ids[order].tolist()


async def look_near(request: Request, layers: Sequence[Layer], keys: KeysOf) -> None:
    """Find the best of each layer by words and by meaning, and the messages that they rest on; nothing when it is too late. All
    layers are read together: each statement more would cost more than what it does."""
    if layers:
        request.near |= await request.watch.lane(
            request.tx, "known", lambda: _nearest_of(request, layers, keys), {}
        )


async def scored(
    request: Request, lexical: Mapping[Layer, Lexical], numbers: Mapping[Layer, Iterable[int]]
) -> dict[Layer, Near]:
    """The given passages of some layers with their relevance; without those layers of which none is given."""
    chosen: dict[Layer, list[int]] = {
        layer: sorted(one) for layer, given in numbers.items() if (one := set(given))
    }
    if not chosen:
        return {}
    vector = request.encoded.vector if request.model and request.encoded else None
    model_id = request.model.model_id if request.model and request.encoded else None
    found = await store.found(request.tx, chosen, model_id, vector)
    compared: dict[Layer, _Compared] = {
        layer: _compared_by(request, lexical[layer], one) for layer, one in found.items()
    }
    late = await _late(request, compared)
    found_near: dict[Layer, Near] = {layer: _near(one, late[layer]) for layer, one in compared.items()}
    return found_near


def _compared_by(request: Request, lexical: Lexical, found: OtherPassages) -> _Compared:
    words = fuse.scaled(lexical.scores[found.passage_ids].astype(np.float64))
    if found.cosines is None:
        return _Compared(lexical, found, [(1.0, words)], None, None)
    cosines = np.nan_to_num(found.cosines)
    signals = [(0.0, words), (_COSINE, _scaled(cosines))]
    return _Compared(lexical, found, signals, ~np.isnan(found.cosines), cosines)


async def _late(request: Request, compared: Mapping[Layer, _Compared]) -> dict[Layer, Mapping[int, float]]:
    """What the reranker says of the best of each layer, by number."""
    settings = request.settings
    if settings.late_interaction == 0 or settings.rerank_depth == 0:
        nothing: dict[Layer, Mapping[int, float]] = {layer: {} for layer in compared}
        return nothing
    reranked = await late_scores(
        request,
        *(
            Reranking(one.best(settings.rerank_depth), request.views[layer], one.lexical)
            for layer, one in compared.items()
        ),
    )
    return {layer: one.scores for layer, one in zip(compared, reranked, strict=True)}


def _near(compared: _Compared, late: Mapping[int, float]) -> Near:
    found, signals = compared.found, compared.signals
    if late:
        lowest = min(late.values())
        matched = [late.get(number, lowest) for number in found.passage_ids.tolist()]
        signals = [*signals, (_LATE, _scaled(np.array(matched)))]
    relevance = fuse.weighted(signals, compared.indexed)
    # The best of them is as relevant as can be here.
    relevance = relevance + (1 - relevance.max())
    counts = compared.lexical.counts(found.passage_ids)
    return Near(found, relevance, compared.cosines, late, counts, compared.lexical)


def _scaled(values: fuse.Scores) -> fuse.Scores:
    """To 0-1 as in `fuse.scaled`, but values that hardly differ stay near to each other, at the upper end: where few things
    are known, all of them may be as near."""
    high = values.max()
    return 1 - (high - values) / max(high - values.min(), _NARROW)


def seeds(request: Request) -> list[tuple[int, float]]:
    """Passages of the turns that the best of the other layers rest on, with their relevance."""
    offered: list[tuple[int, float]] = []
    for found in request.near.values():
        relevance = dict(zip(found.candidates.passage_ids.tolist(), found.relevance.tolist(), strict=True))
        best = set(sorted(relevance, key=lambda number: -relevance[number])[:_SEEDS])
        offered += [(key.source, relevance[key.passage_id]) for key in found.keys if key.passage_id in best]
    return sorted(offered, key=lambda one: -one[1])


def lent(request: Request, candidates: Surroundings, late: Mapping[int, float]) -> fuse.Scores:
    """For each candidate turn what the best that rests on it lends; 0 where there is nothing. `late` has the reranker's raw
    scores of the turns, by place: a turn that did not come so far takes all that is lent."""
    scores = np.zeros(len(candidates.message_ids))
    for layer, found in request.near.items():
        share = _SHARE_OF_KEYS if layer == "keys" else 1.0
        scores = np.maximum(scores, share * _lent_by(request, found, candidates, late))
    return scores


def _lent_by(
    request: Request, found: Near, candidates: Surroundings, late: Mapping[int, float]
) -> fuse.Scores:
    matches, own = _compared(request, found, candidates, late)
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
    request: Request, found: Near, candidates: Surroundings, late: Mapping[int, float]
) -> tuple[Mapping[int, float], Mapping[int, float]]:
    """How well keys (by passage) and turns (by place) match the question, in one measure: by late interaction, else by
    cosine, else not at all."""
    if found.late and late:
        return found.late, late
    if found.cosines is not None and candidates.vectors is not None and request.encoded is not None:
        keys: list[float] = found.cosines.tolist()
        turns: list[float] = (candidates.vectors @ request.encoded.vector).astype(np.float64).tolist()
        numbers: list[int] = found.candidates.passage_ids.tolist()
        return dict(zip(numbers, keys, strict=True)), dict(enumerate(turns))
    return {}, {}


async def _nearest_of(request: Request, layers: Sequence[Layer], keys: KeysOf) -> dict[Layer, Near]:
    lexical: dict[Layer, Lexical] = {layer: bm25.score(request.views[layer]) for layer in layers}
    depth = max(request.settings.lane_depth, request.ask.memories + request.ask.facts)
    near = await _nearest(request, layers, depth)
    offered: dict[Layer, set[int]] = {
        layer: {number for number, _ in (*bm25.best(lexical[layer].scores, depth), *near.get(layer, ()))}
        for layer in layers
    }
    found = await scored(request, lexical, offered)
    if not found or request.settings.keys == 0 or "message" not in request.ask.kinds:
        return found
    layer_of: dict[int, Layer] = {}
    of_kind: dict[tuple[Layer, str], list[int]] = {}
    for layer, one in found.items():
        best: list[int] = np.argsort(-one.relevance, kind="stable")[:_KEYS].tolist()
        for place in best:
            number = int(one.candidates.passage_ids[place])
            of_kind.setdefault((layer, one.candidates.kinds[place]), []).append(number)
            layer_of[number] = layer
    rests_on: dict[Layer, list[Key]] = {}
    for key in await keys(request, of_kind):
        rests_on.setdefault(layer_of[key.passage_id], []).append(key)
    return {layer: replace(one, keys=tuple(rests_on.get(layer, ()))) for layer, one in found.items()}


async def _nearest(
    request: Request, layers: Sequence[Layer], depth: int
) -> dict[Layer, list[tuple[int, float]]]:
    if request.model is None or request.encoded is None:
        return {}
    tx, model_id, vector = request.tx, request.model.model_id, request.encoded.vector
    large: list[Layer] = [one for one in layers if request.views[one].passages > request.settings.exact_below]
    by_index: list[Layer] = [layer for layer in large if await index.has_vector_index(tx, model_id, layer)]
    compared: list[Layer] = [one for one in layers if one not in by_index]
    found = await store.vectors_exact(tx, model_id, vector, depth, compared)
    for layer in by_index:
        found[layer] = await store.vector_hnsw(tx, model_id, vector, depth, store.Filter(), layer)
    return found
