"""The whole of a recall: plan, lanes, candidates with their neighbours, fusion, rerank, score, hits.

One read-only snapshot for everything; the question is embedded while the lexical lane reads.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from everlore.domain.errors import ModelUnavailable
from everlore.domain.recall import Hit, LaneTrace, Recall
from everlore.ports.embedder import Embedder, EncodedQuestion
from everlore.ports.reranker import Candidate, Question, Reranker
from everlore.recall import bm25, fuse
from everlore.recall.bm25 import Lexical
from everlore.recall.plan import Plan, authors_named, plan, words
from everlore.recall.support import Speaker, support
from everlore.store import index, postings
from everlore.store import recall as lanes
from everlore.store.database import Connection, Database
from everlore.store.index import EmbeddingModel
from everlore.store.postings import LexicalView
from everlore.store.recall import Filter, LaneTimeout, Surroundings

# A filter that leaves at most so many passages is applied first, and all that it leaves are compared exactly.
NARROW = 5000
# Two messages whose vectors are nearer than this speak about the same thing.
_SAME_THING = 0.5
_SAME_THING_DEPTH = 10
_STOP_WORD_WEIGHT = 0.1
Lane = list[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Weights:
    """See `everlore.config.RecallSettings`, which these are read from."""

    lexical: float
    vector: float
    late_interaction: float
    author: float
    time: float
    session: float
    role: float
    lane_depth: int
    reach: int
    rerank_depth: int
    exact_below: int


@dataclass(frozen=True, slots=True)
class Ask:
    """One question with everything that limits it. Times are aware."""

    question: str
    now: datetime
    limit: int
    within: Filter
    project: str | None
    taxonomy: str | None
    neighbours: int
    deadline_ms: float | None
    trace: bool


@dataclass(slots=True)
class _Clock:
    """What is left of the deadline, and what was left out because of it or of something missing."""

    deadline_ms: float | None
    started: float = field(default_factory=time.perf_counter)
    degraded: list[str] = field(default_factory=list[str])
    took_ms: dict[str, float] = field(default_factory=dict[str, float])

    def remaining_ms(self) -> float | None:
        return None if self.deadline_ms is None else self.deadline_ms - self.elapsed_ms()

    def elapsed_ms(self) -> float:
        return (time.perf_counter() - self.started) * 1000

    def mark(self, step: str) -> None:
        self.took_ms[step] = round(self.elapsed_ms() - sum(self.took_ms.values()), 3)

    def late(self, lane: str) -> None:
        self.degraded.append(f"the {lane} lane missed the deadline of {self.deadline_ms:g} ms")


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
    clock = _Clock(ask.deadline_ms)
    the_plan = plan(ask.question, ask.now)
    async with database.workspace(workspace_id, read_only=True) as connection:
        model, embedder = await _model_in_use(connection, embedders, clock)
        encoding = asyncio.ensure_future(embedder.encode_question(ask.question)) if embedder else None
        try:
            return await _recall(connection, ask, the_plan, clock, model, encoding, reranker, weights)
        finally:
            if encoding is not None and not encoding.done():
                # It goes on in its thread and fills the cache; nobody waits for it any more.
                encoding.add_done_callback(lambda done: done.cancelled() or done.exception())


async def _recall(
    connection: Connection,
    ask: Ask,
    the_plan: Plan,
    clock: _Clock,
    model: EmbeddingModel | None,
    encoding: "asyncio.Future[EncodedQuestion] | None",
    reranker: Reranker | None,
    weights: Weights,
) -> Recall:
    within, allowed = await _narrowed(connection, ask)
    view = await postings.read(connection, ask.question)
    lexical = bm25.score(view)
    lexical_lane = await _lexical_lane(connection, lexical, within, allowed, weights)
    clock.mark("lexical")
    encoded = await _encoded(encoding, clock)
    clock.mark("embedding")
    vector_lane: Lane = []
    time_lane: Lane = []
    try:
        if model and encoded:
            async with lanes.lane(connection, clock.remaining_ms()):
                vector_lane = await _vector_lane(connection, model, encoded, within, allowed, view, weights, clock)
    except LaneTimeout:
        clock.late("vector")
        encoded = None
    clock.mark("vector")
    try:
        async with lanes.lane(connection, clock.remaining_ms()):
            time_lane = await _time_lane(connection, the_plan, model, encoded, lexical, within, allowed, weights)
    except LaneTimeout:
        clock.late("time")
    seeds = sorted({number for lane in (lexical_lane, vector_lane, time_lane) for number, _ in lane})
    if not seeds:
        return Recall(ask.question, (), tuple(clock.degraded), clock.took_ms)
    candidates = await lanes.around(connection, seeds, weights.reach, model.model_id if model and encoded else None)
    clock.mark("candidates")
    ranking = await _rank(
        connection, ask, the_plan, candidates, lexical, view, model, encoded, reranker, weights, clock, within, allowed
    )
    hits = await _hits(connection, ask, candidates, ranking, view, lexical, lexical_lane, vector_lane, time_lane)
    clock.mark("hits")
    return Recall(ask.question, hits, tuple(clock.degraded), clock.took_ms)


async def _model_in_use(
    connection: Connection, embedders: Mapping[str, Embedder], clock: _Clock
) -> tuple[EmbeddingModel | None, Embedder | None]:
    model = next((m for m in await index.models(connection) if m.in_use), None)
    if model is None:
        clock.degraded.append("no embedding model is installed: found by words and time only")
        return None, None
    embedder = embedders.get(model.name)
    if embedder is None:
        clock.degraded.append(f"the embedding model {model.name} is not configured here: found by words and time only")
        return None, None
    return model, embedder


async def _narrowed(connection: Connection, ask: Ask) -> tuple[Filter, NDArray[np.int64] | None]:
    """The filter with project and taxonomy turned into threads, and all passages that it leaves if they are few."""
    within = ask.within
    if ask.project is not None or ask.taxonomy is not None:
        threads = await lanes.threads_within(connection, ask.project, ask.taxonomy)
        if within.threads is not None:
            threads = tuple(thread for thread in within.threads if thread in threads)
        within = Filter(within.since, within.until, within.author, threads, ask.taxonomy, within.kinds)
    if within.is_open:
        return within, None
    allowed = await lanes.passages_within(connection, within, NARROW + 1)
    return within, allowed if len(allowed) <= NARROW else None


async def _lexical_lane(
    connection: Connection, lexical: Lexical, within: Filter, allowed: NDArray[np.int64] | None, weights: Weights
) -> Lane:
    if allowed is not None or within.is_open:
        return bm25.best(lexical.scores, weights.lane_depth, allowed)
    # A wide filter: look through the best, twice as deep each time, until enough of them pass it.
    depth = weights.lane_depth * 4
    while True:
        ranked = bm25.best(lexical.scores, depth)
        passing = set(
            (await lanes.passages_within(connection, within, depth, [number for number, _ in ranked])).tolist()
        )
        kept = [(number, value) for number, value in ranked if number in passing]
        if len(kept) >= weights.lane_depth or len(ranked) < depth:
            return kept[: weights.lane_depth]
        depth *= 4


async def _encoded(encoding: "asyncio.Future[EncodedQuestion] | None", clock: _Clock) -> EncodedQuestion | None:
    if encoding is None:
        return None
    remaining = clock.remaining_ms()
    try:
        timeout = None if remaining is None else max(remaining, 0) / 1000
        return await asyncio.wait_for(asyncio.shield(encoding), timeout)
    except TimeoutError:
        clock.late("vector")
    except ModelUnavailable as error:
        clock.degraded.append(f"the embedding model cannot be used: {error}")
    return None


async def _vector_lane(
    connection: Connection,
    model: EmbeddingModel,
    encoded: EncodedQuestion,
    within: Filter,
    allowed: NDArray[np.int64] | None,
    view: LexicalView,
    weights: Weights,
    clock: _Clock,
) -> Lane:
    """The nearest passages: compared exactly where they are few, by the HNSW index where they are many."""
    depth = weights.lane_depth
    if allowed is not None:
        found = await lanes.vector_among(connection, model.model_id, encoded.vector, allowed.tolist(), depth)
    elif view.last_passage <= weights.exact_below:
        found = await lanes.vector_exact(connection, model.model_id, encoded.vector, depth)
    elif await index.has_vector_index(connection, model.model_id):
        found = await lanes.vector_hnsw(connection, model.model_id, encoded.vector, depth, within)
    else:
        clock.degraded.append("the vector index is not built yet: vectors were compared one by one")
        found = await lanes.vector_exact(connection, model.model_id, encoded.vector, depth if within.is_open else depth * 20)
        if not within.is_open:
            passing = await lanes.passages_within(connection, within, len(found), [number for number, _ in found])
            found = [pair for pair in found if pair[0] in set(passing.tolist())][:depth]
    return [(number, 1 - distance) for number, distance in found]


async def _time_lane(
    connection: Connection,
    the_plan: Plan,
    model: EmbeddingModel | None,
    encoded: EncodedQuestion | None,
    lexical: Lexical,
    within: Filter,
    allowed: NDArray[np.int64] | None,
    weights: Weights,
) -> Lane:
    """What lies in the times that the question names: the nearest by meaning and the best by words among it."""
    found: Lane = []
    for span in the_plan.times:
        since = max((t for t in (span.start, within.since) if t is not None), default=None)
        until = min((t for t in (span.end, within.until) if t is not None), default=None)
        inside = Filter(since, until, within.author, within.threads, within.taxonomy, within.kinds)
        numbers = await lanes.passages_within(connection, inside, NARROW + 1)
        if len(numbers) > NARROW or not len(numbers):
            continue
        depth = weights.lane_depth
        if model and encoded:
            near = await lanes.vector_among(connection, model.model_id, encoded.vector, numbers.tolist(), depth)
            found += [(number, 1 - distance) for number, distance in near]
        else:
            found += [(int(number), 0.0) for number in np.sort(numbers)[::-1][:depth]]
        found += bm25.best(lexical.scores, depth, numbers)
    return found


@dataclass(frozen=True, slots=True)
class _Ranking:
    """Scores per candidate; `late` has raw late interaction where it was computed; `named` are authors asked about."""

    scores: fuse.Scores
    late: dict[int, float]
    counts: NDArray[np.float64]
    named: frozenset[str]
    eligible: NDArray[np.bool_]
    about_present: bool


async def _rank(
    connection: Connection,
    ask: Ask,
    the_plan: Plan,
    candidates: Surroundings,
    lexical: Lexical,
    view: LexicalView,
    model: EmbeddingModel | None,
    encoded: EncodedQuestion | None,
    reranker: Reranker | None,
    weights: Weights,
    clock: _Clock,
    within: Filter,
    allowed: NDArray[np.int64] | None,
) -> _Ranking:
    counts = lexical.counts(candidates.passage_ids)
    signals = [(weights.lexical, fuse.lexical_signal(candidates, counts, lexical, weights.reach))]
    if encoded is not None and candidates.vectors is not None:
        signals.append((weights.vector, fuse.vector_signal(candidates, encoded.vector, weights.reach)))
    late: dict[int, float] = {}
    if reranker is not None and weights.late_interaction > 0 and weights.rerank_depth > 0:
        order = np.argsort(-fuse.weighted(signals), kind="stable")[: weights.rerank_depth]
        try:
            async with lanes.lane(connection, clock.remaining_ms()):
                late = await _reranked(connection, ask, candidates, order, lexical, view, model, encoded, reranker)
        except LaneTimeout:
            clock.late("rerank")
        except ModelUnavailable as error:
            clock.degraded.append(f"the reranker cannot be used: {error}")
        if late:
            signals.append(
                (weights.late_interaction, fuse.with_unknown([late.get(i) for i in range(len(candidates.passage_ids))]))
            )
    scores = fuse.weighted(signals)
    named = authors_named(ask.question, set(candidates.authors))
    scores = scores + weights.author * np.array([author in named for author in candidates.authors])
    if the_plan.prefers:
        scores = scores + weights.role * np.array([role == the_plan.prefers for role in candidates.roles])
    if the_plan.times:
        scores = scores + weights.time * np.array(
            [any(_within(at, span.start, span.end) for span in the_plan.times) for at in candidates.times]
        )
    scores = scores + weights.session * fuse.best_of_session(scores, candidates.session)
    clock.mark("rank")
    return _Ranking(
        scores, late, counts, named, await _eligible(connection, candidates, within, allowed), the_plan.about_present
    )


async def _eligible(
    connection: Connection, candidates: Surroundings, within: Filter, allowed: NDArray[np.int64] | None
) -> NDArray[np.bool_]:
    """Neighbours help to score, but only what passes the filter may be a hit."""
    if within.is_open:
        return np.ones(len(candidates.passage_ids), dtype=bool)
    if allowed is None:
        numbers = candidates.passage_ids.tolist()
        allowed = await lanes.passages_within(connection, within, len(numbers), numbers)
    return np.isin(candidates.passage_ids, allowed)


async def _reranked(
    connection: Connection,
    ask: Ask,
    candidates: Surroundings,
    order: NDArray[np.intp],
    lexical: Lexical,
    view: LexicalView,
    model: EmbeddingModel | None,
    encoded: EncodedQuestion | None,
    reranker: Reranker,
) -> dict[int, float]:
    numbers = candidates.passage_ids[order].tolist()
    if reranker.needs == "tokens":
        if model is None or encoded is None or encoded.tokens is None:
            return {}
        matrices = await lanes.tokens(connection, numbers, model.model_id)
        asked = [Candidate(number, None, matrices.get(number)) for number in numbers]
    else:
        of_passage = await lanes.texts(connection, numbers)
        asked = [Candidate(number, of_passage.get(number), None) for number in numbers]
    question = Question(ask.question, encoded, token_weights(ask.question, encoded, view, lexical))
    scored = await reranker.score(question, asked)
    return {int(place): value for place, value in zip(order, scored, strict=True) if value is not None}


def token_weights(
    question: str, encoded: EncodedQuestion | None, view: LexicalView, lexical: Lexical
) -> NDArray[np.float32]:
    """How much each token of the question tells: its word's inverse document frequency; punctuation nothing."""
    if encoded is None or encoded.tokens is None:
        return np.zeros(0, dtype=np.float32)
    term_of = dict(view.words)
    unseen = bm25.inverse_document_frequency(max(view.passages, 1), 0)
    spans = words(question)
    weights = np.zeros(len(encoded.spans), dtype=np.float32)
    for place, (start, _) in enumerate(encoded.spans):
        word = next((text for first, end, text in spans if first <= start < end), None)
        if word is None:
            continue
        if word in term_of:
            term = term_of[word]
            weights[place] = _STOP_WORD_WEIGHT if term is None else lexical.rarity(term)
        else:
            weights[place] = unseen
    total = weights.sum()
    return weights / total if total > 0 else np.full_like(weights, 1 / max(len(weights), 1))


def _within(at: datetime, start: datetime | None, end: datetime | None) -> bool:
    return (start is None or at >= start) and (end is None or at < end)


async def _hits(
    connection: Connection,
    ask: Ask,
    candidates: Surroundings,
    ranking: _Ranking,
    view: LexicalView,
    lexical: Lexical,
    lexical_lane: Lane,
    vector_lane: Lane,
    time_lane: Lane,
) -> tuple[Hit, ...]:
    chosen = _best_messages(candidates, ranking, ask.limit)
    ids = [UUID(bytes=candidates.message_ids[place]) for place in chosen]
    shown = await lanes.messages(connection, ids)
    near = await lanes.neighbours(connection, ids, ask.neighbours) if ask.neighbours else {}
    rarity = {term: float(value) for term, value in zip(lexical.terms, lexical.idf, strict=True)}
    present = _terms_of_messages(candidates, ranking.counts, lexical.terms, {candidates.message_ids[p] for p in chosen})
    traces = {
        "lexical": _trace(lexical_lane),
        "vector": _trace(vector_lane),
        "time": _trace(time_lane),
        "rerank": _trace(sorted(((int(candidates.passage_ids[i]), v) for i, v in ranking.late.items()), key=lambda x: -x[1])),
    }
    hits: list[Hit] = []
    for place, message_id in zip(chosen, ids, strict=True):
        number = int(candidates.passage_ids[place])
        message = shown[message_id]
        hits.append(
            Hit(
                text=message.text,
                captions=message.captions,
                citation=message.citation,
                score=round(float(ranking.scores[place]), 6),
                support=support(
                    view.words,
                    rarity,
                    present[message_id.bytes],
                    _speaker(ranking.named, message.citation.author),
                    ranking.late.get(place),
                ),
                neighbours=near.get(message_id, ()),
                trace={name: lane.get(number, LaneTrace(None, None)) for name, lane in traces.items()} if ask.trace else {},
            )
        )
    return tuple(hits)


def _best_messages(candidates: Surroundings, ranking: _Ranking, limit: int) -> list[int]:
    """The best passage of each of the best messages; of equal ones the latest. Places in `candidates`."""
    times = np.array([at.timestamp() for at in candidates.times])
    order = np.lexsort((-times, -ranking.scores))
    chosen: list[int] = []
    seen: set[bytes] = set()
    for place in order.tolist():
        message_id = candidates.message_ids[place]
        if ranking.eligible[place] and message_id not in seen:
            seen.add(message_id)
            chosen.append(place)
            if len(chosen) == limit:
                break
    if ranking.about_present and candidates.vectors is not None:
        return latest_first(chosen, candidates.vectors, times)
    return chosen


def latest_first(chosen: Sequence[int], vectors: NDArray[np.float32], times: NDArray[np.float64]) -> list[int]:
    """For a question about the present: among the first hits, of two about the same thing the later one goes first.

    Pairs only: additive recency costs every other kind of question more than it gives.
    """
    ordered = list(chosen)
    for later in range(1, min(len(ordered), _SAME_THING_DEPTH)):
        place = ordered[later]
        for earlier in range(later):
            other = ordered[earlier]
            if times[place] > times[other] and float(vectors[place] @ vectors[other]) > _SAME_THING:
                ordered.insert(earlier, ordered.pop(later))
                break
    return ordered


def _terms_of_messages(
    candidates: Surroundings, counts: NDArray[np.float64], terms: Sequence[str], wanted: set[bytes]
) -> dict[bytes, frozenset[str]]:
    present: dict[bytes, set[str]] = {message_id: set() for message_id in wanted}
    for place, message_id in enumerate(candidates.message_ids):
        if message_id in wanted:
            present[message_id].update(terms[column] for column in np.flatnonzero(counts[place]))
    return {message_id: frozenset(found) for message_id, found in present.items()}


def _speaker(named: frozenset[str], author: str) -> Speaker:
    if not named:
        return "unknown"
    return "asked about" if author in named else "another"


def _trace(lane: Sequence[tuple[int, float]]) -> dict[int, LaneTrace]:
    traced: dict[int, LaneTrace] = {}
    for number, value in lane:
        traced.setdefault(number, LaneTrace(len(traced) + 1, round(float(value), 6)))
    return traced
