"""The whole of a recall: the question is embedded, its words and the lanes are read, then each source shows what it has.

One read-only snapshot for all that is read; no connection is held while the question is embedded. Nothing is written.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

from everlore.config import RecallSettings
from everlore.domain.errors import DatabaseUnavailable, ModelUnavailable
from everlore.domain.recall import BRANCH, LAYERS, Layer, Recall
from everlore.ports.embedder import Embedder, EncodedQuestion
from everlore.ports.reranker import Reranker
from everlore.recall import bm25
from everlore.recall.feedback import marks_of
from everlore.recall.lanes import allowed_by, look, narrowed
from everlore.recall.names import runs
from everlore.recall.near import OfKind, look_near
from everlore.recall.plan import plan
from everlore.recall.request import Ask, Request, Stopwatch
from everlore.recall.sources import SOURCES
from everlore.store import entities, feedback, index, postings
from everlore.store.database import Database
from everlore.store.index import EmbeddingModel
from everlore.store.recall import Key
from everlore.store.run import Transaction

__all__ = ["Ask", "recall"]

# How long an embedding model is waited for without a deadline; with one, for so much of it.
PATIENCE_S = 10.0
# Without postings there is no answer: they are waited for so long, however short the deadline is.
LEAST_PATIENCE_S = 1.0
_SHARE = 0.5


async def recall(
    database: Database,
    workspace_id: UUID,
    ask: Ask,
    *,
    embedders: Mapping[str, Embedder],
    reranker: Reranker | None,
    settings: RecallSettings,
) -> Recall:
    """Answer one question from one workspace. What is missing or late is left out and named in `degraded`. Raises
    DatabaseUnavailable where there is nothing to make an answer of by the deadline (or within a second)."""
    watch = Stopwatch(ask.deadline_ms)
    patience = None if ask.deadline_ms is None else max(ask.deadline_ms / 1000, LEAST_PATIENCE_S)
    try:
        async with asyncio.timeout(patience) as limit:
            name = await database.at_once(workspace_id, index.NAME_IN_USE)
            embedder = embedders.get(name)
            encoded = None if embedder is None else await _encoded(embedder, ask.question, watch)
            watch.mark("embedding")
            async with database.workspace(workspace_id, read_only=True, plan_once=True) as tx:
                model = await _model_in_use(tx, embedders, watch)
                if model is None or model.name != name:
                    # Another model was switched to just now: its vectors cannot be compared with this one's.
                    encoded = None
                request = await _request(tx, ask, settings, reranker, watch, model, encoded)
                # From here on each lane minds the deadline.
                limit.reschedule(None)
                return await _answer(request)
    except TimeoutError as error:
        if patience is None:
            raise
        raise DatabaseUnavailable(
            f"The database gave nothing to make an answer of within {patience:g} seconds."
        ) from error


async def _model_in_use(
    tx: Transaction, embedders: Mapping[str, Embedder], watch: Stopwatch
) -> EmbeddingModel | None:
    in_use = await index.model_in_use(tx)
    if in_use is None:
        watch.degraded.append("no embedding model is installed: found by words and time only")
        return None
    if in_use.model.name not in embedders:
        watch.degraded.append(
            f"the embedding model {in_use.model.name} is not configured here: found by words and time only"
        )
        return None
    if in_use.messages_behind:
        watch.degraded.append(
            "some messages are not indexed yet: those are found by their words and time only"
        )
    if in_use.others_behind:
        watch.degraded.append("some memories are not indexed yet: those are found by their words only")
    return in_use.model


async def _request(
    tx: Transaction,
    ask: Ask,
    settings: RecallSettings,
    reranker: Reranker | None,
    watch: Stopwatch,
    model: EmbeddingModel | None,
    encoded: EncodedQuestion | None,
) -> Request:
    """Everything that needs no vector: the plan, what the filter leaves, BM25 of all that was said, what people said of
    sources for questions like this one, and whom it names."""
    within = await narrowed(tx, ask)
    async with tx.pipeline():
        words = await postings.asked(tx, ask.question)
        judged = await feedback.asked(tx, ask.question)
        called = await entities.called(tx, found := runs(ask.question))
    views = await postings.received(words)
    lexical = bm25.score(views["said"])
    return Request(
        tx=tx,
        ask=ask,
        plan=plan(ask.question, ask.now),
        settings=settings,
        reranker=reranker,
        watch=watch,
        within=within,
        allowed=await allowed_by(tx, within),
        views=views,
        lexical=lexical,
        runs=found,
        called=await called.fetchall(),
        marks=marks_of(await judged.fetchall(), lexical),
        model=model,
        encoded=encoded,
        depth=max(settings.lane_depth, ask.limit),
    )


async def _answer(request: Request) -> Recall:
    ask, watch = request.ask, request.watch
    await look(request)
    left_out = _left_out(request)
    await look_near(request, [one for one in LAYERS if one in request.views and one not in left_out], _keys)
    watch.mark("near")
    answer = Recall(ask.question, (), took_ms=watch.took_ms)
    for source in SOURCES:
        if source.kind in ask.kinds:
            answer = replace(answer, **await source.answer(request))
            request.hits = answer.hits
    watch.mark("known")
    return replace(answer, degraded=tuple(dict.fromkeys(watch.degraded)))


def _left_out(request: Request) -> set[Layer]:
    """Layers beside what was said that nothing in this answer comes from."""
    left_out: set[Layer] = {"said"}
    if BRANCH not in request.ask.kinds:
        left_out.add("branches")
    if request.settings.keys == 0 or "message" not in request.ask.kinds:
        left_out.add("keys")
    return left_out


async def _keys(request: Request, passages: OfKind) -> list[Key]:
    """The messages that passages of some kinds rest on; each source answers for those that it was handed."""
    found: list[Key] = []
    for source in SOURCES:
        if some := passages.get((source.layer, source.kind)):
            handed = set(some)
            found += [key for key in await source.keys(request, some) if key.passage_id in handed]
    return found


async def _encoded(embedder: Embedder, question: str, watch: Stopwatch) -> EncodedQuestion | None:
    patience = min(max(watch.remaining_ms(), 0) * _SHARE / 1000, PATIENCE_S)
    encoding = asyncio.ensure_future(embedder.encode_question(question))
    try:
        return await asyncio.wait_for(asyncio.shield(encoding), patience)
    except TimeoutError:
        # It goes on in its thread and fills the cache; nobody waits for it any more.
        encoding.add_done_callback(lambda done: done.cancelled() or done.exception())
        if patience == PATIENCE_S:
            watch.degraded.append(
                f"the embedding model did not answer within {PATIENCE_S:g} s: found by words and time only"
            )
        else:
            watch.late("vector")
    except ModelUnavailable as error:
        watch.degraded.append(f"the embedding model cannot be used: {error}")
    return None
