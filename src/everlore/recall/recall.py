"""The whole of a recall: plan, lanes, candidates with their neighbours, ranking, hits.

One read-only snapshot for everything; the question is embedded while the lexical lane reads.
"""

import asyncio
from collections.abc import Mapping
from uuid import UUID

from everlore.domain.errors import ModelUnavailable
from everlore.domain.recall import Recall
from everlore.ports.embedder import Embedder, EncodedQuestion
from everlore.ports.reranker import Reranker
from everlore.recall import bm25
from everlore.recall.hits import make_hits
from everlore.recall.lanes import Lane, lexical_lane, narrowed, time_lane, vector_lane
from everlore.recall.plan import plan
from everlore.recall.rank import rank
from everlore.recall.search import Ask, Clock, Search, Weights
from everlore.store import index, postings
from everlore.store import recall as store
from everlore.store.database import Connection, Database
from everlore.store.index import EmbeddingModel
from everlore.store.recall import LaneTimeout

__all__ = ["Ask", "Weights", "recall"]

# A connection is held while the question is embedded; a model that hangs must not keep it from others for long.
PATIENCE_S = 10.0


async def recall(
    database: Database,
    workspace_id: UUID,
    ask: Ask,
    *,
    embedders: Mapping[str, Embedder],
    reranker: Reranker | None,
    weights: Weights,
) -> Recall:
    """Answer one question from one workspace. What is missing or late is left out and named in `degraded`."""
    clock = Clock(ask.deadline_ms)
    async with database.workspace(workspace_id, read_only=True) as connection:
        model, embedder = await _model_in_use(connection, embedders, clock)
        encoding = asyncio.ensure_future(embedder.encode_question(ask.question)) if embedder else None
        try:
            search = await _read_words(connection, ask, weights, clock, model)
            return await _answer(search, encoding, reranker)
        finally:
            if encoding is not None and not encoding.done():
                # It goes on in its thread and fills the cache; nobody waits for it any more.
                encoding.add_done_callback(lambda done: done.cancelled() or done.exception())


async def _model_in_use(
    connection: Connection, embedders: Mapping[str, Embedder], clock: Clock
) -> tuple[EmbeddingModel | None, Embedder | None]:
    model = next((m for m in await index.models(connection) if m.in_use), None)
    if model is None:
        clock.degraded.append("no embedding model is installed: found by words and time only")
        return None, None
    embedder = embedders.get(model.name)
    if embedder is None:
        clock.degraded.append(
            f"the embedding model {model.name} is not configured here: found by words and time only"
        )
        return None, None
    return model, embedder


async def _read_words(
    connection: Connection, ask: Ask, weights: Weights, clock: Clock, model: EmbeddingModel | None
) -> Search:
    """Everything that needs no vector: the plan, what the filter leaves, and BM25 of all passages."""
    within, allowed = await narrowed(connection, ask)
    view = await postings.read(connection, ask.question)
    return Search(
        connection=connection,
        ask=ask,
        plan=plan(ask.question, ask.now),
        weights=weights,
        clock=clock,
        within=within,
        allowed=allowed,
        view=view,
        lexical=bm25.score(view),
        model=model,
        encoded=None,
    )


async def _answer(
    search: Search, encoding: "asyncio.Future[EncodedQuestion] | None", reranker: Reranker | None
) -> Recall:
    clock, connection = search.clock, search.connection
    lanes: dict[str, Lane] = {"lexical": await lexical_lane(search), "vector": [], "time": []}
    clock.mark("lexical")
    search.encoded = await _encoded(encoding, clock)
    clock.mark("embedding")
    try:
        async with store.lane(connection, clock.remaining_ms()):
            lanes["vector"] = await vector_lane(search)
    except LaneTimeout:
        if search.encoded is not None:
            clock.late("vector")
        search.encoded = None
    clock.mark("vector")
    try:
        async with store.lane(connection, clock.remaining_ms()):
            lanes["time"] = await time_lane(search)
    except LaneTimeout:
        if search.plan.times:
            clock.late("time")
    seeds = sorted({number for lane in lanes.values() for number, _ in lane})
    if not seeds:
        return Recall(search.ask.question, (), tuple(clock.degraded), clock.took_ms)
    model_id = search.model.model_id if search.model and search.encoded else None
    candidates = await store.around(connection, seeds, search.weights.reach, model_id)
    clock.mark("candidates")
    ranking = await rank(search, candidates, reranker)
    clock.mark("rank")
    hits = await make_hits(search, candidates, ranking, lanes)
    clock.mark("hits")
    return Recall(search.ask.question, hits, tuple(clock.degraded), clock.took_ms)


async def _encoded(
    encoding: "asyncio.Future[EncodedQuestion] | None", clock: Clock
) -> EncodedQuestion | None:
    if encoding is None:
        return None
    remaining = clock.remaining_ms()
    patience = PATIENCE_S if remaining is None else min(max(remaining, 0) / 1000, PATIENCE_S)
    try:
        return await asyncio.wait_for(asyncio.shield(encoding), patience)
    except TimeoutError:
        if patience == PATIENCE_S:
            clock.degraded.append(
                f"the embedding model did not answer within {PATIENCE_S:g} s: found by words and time only"
            )
        else:
            clock.late("vector")
    except ModelUnavailable as error:
        clock.degraded.append(f"the embedding model cannot be used: {error}")
    return None
