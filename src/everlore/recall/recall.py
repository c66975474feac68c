"""The whole of a recall: plan, lanes, candidates with their neighbours, ranking, hits; memories and facts beside them.

One read-only snapshot for everything; the question is embedded while the lexical lane reads.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

from everlore.domain.errors import ModelUnavailable
from everlore.domain.memories import AsOf
from everlore.domain.recall import Hit, Recall
from everlore.ports.embedder import Embedder, EncodedQuestion
from everlore.ports.reranker import Reranker
from everlore.recall import bm25
from everlore.recall.distilled import Distilled, distilled, seeds
from everlore.recall.hits import make_hits
from everlore.recall.lanes import Lane, allowed_by, lexical_lane, narrowed, time_lane, vector_lane
from everlore.recall.memory_ranking import fact_hits, memory_hits, names_asked
from everlore.recall.plan import plan
from everlore.recall.rank import rank
from everlore.recall.related import related
from everlore.recall.request import Ask, Clock, Search, Weights
from everlore.recall.structured_answers import structured_hits
from everlore.store import conversation, index, postings, recall_distilled
from everlore.store import recall as store
from everlore.store.database import Database
from everlore.store.index import EmbeddingModel
from everlore.store.recall import LaneTimeout, Surroundings
from everlore.store.run import Transaction

__all__ = ["Ask", "Weights", "recall"]

# A connection is held while the question is embedded; a model that hangs must not keep it from others for long.
PATIENCE_S = 10.0
# How much deeper the lanes are read when long messages crowd out others, and how deep at the most.
_DEEPER = 4
# With less left of a deadline, nothing is written down after the answer.
_NOTING_MS = 20.0
# The first so many memories of an answer count as used.
_NOTED = 5
_DEEPEST = 4000


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
    async with database.workspace(workspace_id, read_only=True) as tx:
        model, embedder = await _model_in_use(tx, embedders, clock)
        encoding = asyncio.ensure_future(embedder.encode_question(ask.question)) if embedder else None
        try:
            search = await _read_words(tx, ask, weights, clock, model)
            answer = await _answer(search, encoding, reranker)
        finally:
            if encoding is not None and not encoding.done():
                # It goes on in its thread and fills the cache; nobody waits for it any more.
                encoding.add_done_callback(lambda done: done.cancelled() or done.exception())
    await _note_access(database, workspace_id, ask, answer, clock)
    return answer


async def _note_access(
    database: Database, workspace_id: UUID, ask: Ask, answer: Recall, clock: Clock
) -> None:
    """How often a memory answers is a part of its score. What came by way of the graph does not count, nor do questions about
    what was believed once."""
    remaining = clock.remaining_ms()
    used = [hit.memory.memory_id for hit in answer.memories if "related" not in hit.why][:_NOTED]
    if used and ask.as_of == AsOf() and (remaining is None or remaining > _NOTING_MS):
        async with database.workspace(workspace_id) as tx:
            await conversation.commit_lazily(tx)
            await recall_distilled.note_access(tx, used, ask.now)


async def _model_in_use(
    tx: Transaction, embedders: Mapping[str, Embedder], clock: Clock
) -> tuple[EmbeddingModel | None, Embedder | None]:
    in_use = await index.model_in_use(tx)
    if in_use is None:
        clock.degraded.append("no embedding model is installed: found by words and time only")
        return None, None
    model, is_behind, distilled_is_behind = in_use
    embedder = embedders.get(model.name)
    if embedder is None:
        clock.degraded.append(
            f"the embedding model {model.name} is not configured here: found by words and time only"
        )
        return None, None
    if is_behind:
        clock.degraded.append(
            "some messages are not indexed yet: those are found by their words and time only"
        )
    if distilled_is_behind:
        clock.degraded.append("some memories are not indexed yet: those are found by their words only")
    return model, embedder


async def _read_words(
    tx: Transaction, ask: Ask, weights: Weights, clock: Clock, model: EmbeddingModel | None
) -> Search:
    """Everything that needs no vector: the plan, what the filter leaves, and BM25 of all passages."""
    within = await narrowed(tx, ask)
    allowed = await allowed_by(tx, within)
    view = await postings.read(tx, ask.question)
    return Search(
        tx=tx,
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
        depth=max(weights.lane_depth, ask.limit),
    )


async def _answer(
    search: Search, encoding: "asyncio.Future[EncodedQuestion] | None", reranker: Reranker | None
) -> Recall:
    clock = search.clock
    words = await lexical_lane(search)
    clock.mark("lexical")
    search.encoded = await _encoded(encoding, clock)
    clock.mark("embedding")
    lanes = {"lexical": words} | await _other_lanes(search)
    clock.mark("vector")
    found = None
    if search.view.distilled is not None:
        found = await distilled(search, reranker)
        clock.mark("distilled")
    hits: tuple[Hit, ...] = ()
    if "message" in search.ask.kinds:
        hits = await _message_hits(search, lanes, found, reranker)
    answer = Recall(search.ask.question, hits, (), clock.took_ms)
    if search.view.distilled is not None:
        answer = await _with_known(search, answer, found, reranker)
        clock.mark("known")
    return replace(answer, degraded=tuple(dict.fromkeys(clock.degraded)))


async def _message_hits(
    search: Search, lanes: dict[str, Lane], found: Distilled | None, reranker: Reranker | None
) -> tuple[Hit, ...]:
    clock = search.clock
    # Memories and facts are keys to the turns that they rest on.
    keys: dict[str, Lane] = {"keys": seeds(found)} if found is not None and search.weights.keys > 0 else {}
    candidates = await _candidates(search, lanes | keys)
    while _crowded(search, lanes, candidates):
        # Long messages hold many passages and crowd out others: look deeper.
        search.depth *= _DEEPER
        lanes = {"lexical": await lexical_lane(search)} | await _other_lanes(search)
        candidates = await _candidates(search, lanes | keys)
    if candidates is None:
        return ()
    clock.mark("candidates")
    ranking = await rank(search, candidates, reranker, found)
    clock.mark("rank")
    hits = await make_hits(search, candidates, ranking, lanes | keys)
    clock.mark("hits")
    return hits


async def _with_known(
    search: Search, answer: Recall, found: Distilled | None, reranker: Reranker | None
) -> Recall:
    """The answer with memories and facts; without them if they are late."""
    kinds = search.ask.kinds
    try:
        async with store.lane(search.tx, search.clock.remaining_ms()):
            names = await names_asked(search) if found is not None else ()
            if "memory" in kinds and search.ask.memories:
                if (structured := await structured_hits(search, reranker)) is not None:
                    answer = replace(answer, reading=structured[0], memories=structured[1])
                elif found is not None:
                    near = await memory_hits(search, found, names)
                    answer = replace(answer, memories=near + await related(search, near))
            if "fact" in kinds and search.ask.facts and found is not None:
                answer = replace(answer, facts=await fact_hits(search, found, names))
    except LaneTimeout:
        search.clock.late("memory")
    return answer


async def _other_lanes(search: Search) -> dict[str, Lane]:
    """The lanes that are left out when they are late."""
    clock = search.clock
    lanes: dict[str, Lane] = {"vector": [], "time": []}
    try:
        async with store.lane(search.tx, clock.remaining_ms()):
            lanes["vector"] = await vector_lane(search)
    except LaneTimeout:
        if search.encoded is not None:
            clock.late("vector")
        search.encoded = None
    try:
        async with store.lane(search.tx, clock.remaining_ms()):
            lanes["time"] = await time_lane(search)
    except LaneTimeout:
        if search.plan.times:
            clock.late("time")
    return lanes


async def _candidates(search: Search, lanes: Mapping[str, Lane]) -> Surroundings | None:
    """What the lanes offer, with neighbours; None if they offer nothing."""
    seeds = sorted({number for lane in lanes.values() for number, _ in lane})
    if not seeds:
        return None
    model_id = search.model.model_id if search.model and search.encoded else None
    return await store.around(search.tx, seeds, search.weights.reach, model_id)


def _crowded(search: Search, lanes: Mapping[str, Lane], candidates: Surroundings | None) -> bool:
    """Whether fewer messages were found than asked for although a lane has more to offer, and there is time."""
    if candidates is None or search.depth >= _DEEPEST or len(set(candidates.message_ids)) >= search.ask.limit:
        return False
    remaining = search.clock.remaining_ms()
    return (remaining is None or remaining > 0) and any(len(lane) >= search.depth for lane in lanes.values())


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
