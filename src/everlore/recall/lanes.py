"""The lanes: each offers its best passages with its own score. Lexical, vector, time."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from everlore.domain.errors import promised
from everlore.recall import bm25
from everlore.recall.request import Ask, Lane, Request
from everlore.store import index
from everlore.store import recall as store
from everlore.store.recall import Filter
from everlore.store.run import Transaction

# Words, candidates and hits make an answer at all, so they may take so long whatever is left of the deadline.
ESSENTIAL_MS = 250.0
# A filter that leaves at most so many passages is applied first, and all that it leaves are compared exactly.
NARROW = 5000


async def look(request: Request) -> None:
    """Ask all lanes, each for as many passages as `depth` says. One that is late offers nothing; words always have some time."""
    tx, watch = request.tx, request.watch
    nothing: Lane = []
    request.lanes["lexical"] = await watch.lane(
        tx, "lexical", lambda: lexical_lane(request), nothing, at_least_ms=ESSENTIAL_MS
    )
    watch.mark("lexical")
    request.lanes |= {"vector": [], "time": []}
    if request.encoded is not None:
        request.lanes["vector"] = await watch.lane(tx, "vector", lambda: vector_lane(request), nothing)
    if request.plan.times:
        request.lanes["time"] = await watch.lane(tx, "time", lambda: time_lane(request), nothing)
    watch.mark("vector")


async def narrowed(tx: Transaction, ask: Ask) -> Filter:
    """The filter with project and taxonomy turned into threads."""
    within = ask.within
    if ask.project is not None:
        threads = await store.threads_within(tx, ask.project, None)
        if within.threads is not None:
            threads = tuple(thread for thread in within.threads if thread in threads)
        within = replace(within, threads=threads)
    if ask.taxonomy is not None:
        branch = await store.threads_within(tx, None, ask.taxonomy)
        within = replace(within, taxonomy=ask.taxonomy, branch=branch)
    return within


async def allowed_by(tx: Transaction, within: Filter) -> NDArray[np.int64] | None:
    """All passages that a filter leaves, if they are few; None if they are many, or there is no filter."""
    if within.is_open:
        return None
    allowed = await store.passages_within(tx, within, NARROW + 1)
    return allowed if len(allowed) <= NARROW else None


async def lexical_lane(request: Request) -> Lane:
    """The best by BM25."""
    scores, wanted = request.lexical.scores, request.depth
    if request.allowed is not None or request.within.is_open:
        return bm25.best(scores, wanted, request.allowed)
    # A wide filter: look through the best, deeper each time, until enough of them pass it.
    depth = wanted * 4
    while True:
        ranked = bm25.best(scores, depth)
        kept = await _passing(request, ranked)
        if len(kept) >= wanted or len(ranked) < depth:
            return kept[:wanted]
        depth *= 4


async def vector_lane(request: Request) -> Lane:
    """The nearest by cosine: compared exactly where they are few, by the HNSW index where they are many."""
    if request.model is None or request.encoded is None:
        return []
    tx, model_id, vector = request.tx, request.model.model_id, request.encoded.vector
    depth = request.depth
    if request.allowed is not None:
        found = await store.vector_among(tx, model_id, vector, request.allowed.tolist(), depth)
    elif request.view.last_passage <= request.settings.exact_below:
        found = await _filtered_exact(request, model_id, depth)
    elif await index.has_vector_index(tx, model_id, "said"):
        found = await store.vector_hnsw(tx, model_id, vector, depth, request.within)
    else:
        request.watch.degraded.append("the vector index is not built yet: vectors were compared one by one")
        found = await _filtered_exact(request, model_id, depth)
    return [(number, 1 - distance) for number, distance in found]


async def time_lane(request: Request) -> Lane:
    """What lies in the times that the question names: the nearest by meaning and the best by words among it."""
    found: Lane = []
    for span in request.plan.times:
        within = request.within
        since = max((t for t in (span.start, within.since) if t is not None), default=None)
        until = min((t for t in (span.end, within.until) if t is not None), default=None)
        inside = replace(within, since=since, until=until)
        allowed = await allowed_by(request.tx, inside)
        limited = replace(request, within=inside, allowed=allowed)
        near = await vector_lane(limited)
        found += near
        if allowed is not None:
            # What has no vector (yet, or because there is no model): the last recorded first.
            others = np.setdiff1d(allowed, [number for number, _ in near])[::-1]
            found += [(int(number), 0.0) for number in others[: max(request.depth - len(near), 0)]]
        found += await lexical_lane(limited)
    return found


async def _filtered_exact(request: Request, model_id: int, depth: int) -> Lane:
    """The nearest of all vectors that pass a wide filter, looked for deeper each time."""
    encoded = promised(request.encoded, "the vector lane is asked only with a vector")
    asked = depth if request.within.is_open else depth * 4
    while True:
        found = await store.vector_exact(request.tx, model_id, encoded.vector, asked)
        kept = found if request.within.is_open else await _passing(request, found)
        if request.within.is_open or len(kept) >= depth or len(found) < asked:
            return kept[:depth]
        asked *= 4


async def _passing(request: Request, ranked: Lane) -> Lane:
    """Those that pass the filter, in order."""
    numbers = [number for number, _ in ranked]
    passing = set((await store.passages_within(request.tx, request.within, len(numbers), numbers)).tolist())
    return [(number, value) for number, value in ranked if number in passing]
