"""Ranking: signals of the candidates are fused, the best reranked, and what the question itself says is added."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from everlore.domain.errors import ModelUnavailable
from everlore.ports.embedder import EncodedQuestion
from everlore.ports.reranker import Candidate, Question, Reranker
from everlore.recall import bm25, fuse
from everlore.recall.bm25 import Lexical
from everlore.recall.plan import authors_named, words
from everlore.recall.search import Search
from everlore.store import recall as store
from everlore.store.postings import LexicalView
from everlore.store.recall import LaneTimeout, Surroundings

_STOP_WORD_WEIGHT = 0.1


@dataclass(frozen=True, slots=True)
class Ranking:
    """Scores per candidate. `late` has the reranker's raw score where there is one, by the candidate's place; `counts` how
    often each term occurs in each; `named` are authors asked about; only `eligible` candidates may be hits."""

    scores: fuse.Scores
    late: dict[int, float]
    counts: NDArray[np.float64]
    named: frozenset[str]
    eligible: NDArray[np.bool_]


async def rank(search: Search, candidates: Surroundings, reranker: Reranker | None) -> Ranking:
    weights = search.weights
    counts = search.lexical.counts(candidates.passage_ids)
    signals = [(weights.lexical, fuse.lexical_signal(candidates, counts, search.lexical, weights.reach))]
    if search.encoded is not None and candidates.vectors is not None:
        signals.append((weights.vector, fuse.vector_signal(candidates, search.encoded.vector, weights.reach)))
    indexed = _indexed(candidates) if len(signals) > 1 else None
    late: dict[int, float] = {}
    if reranker is not None and weights.late_interaction > 0 and weights.rerank_depth > 0:
        order = np.argsort(-fuse.weighted(signals, indexed), kind="stable")[: weights.rerank_depth]
        late = await _late(search, candidates, order, reranker)
        if late:
            known = [late.get(place) for place in range(len(candidates.passage_ids))]
            signals.append((weights.late_interaction, fuse.with_unknown(known)))
    named = authors_named(search.ask.question, set(candidates.authors))
    scores = _adjusted(search, candidates, fuse.weighted(signals, indexed), named)
    return Ranking(scores, late, counts, named, await _eligible(search, candidates))


def _indexed(candidates: Surroundings) -> NDArray[np.bool_] | None:
    """Which candidates have a vector; None where there are none at all."""
    if candidates.vectors is None:
        return None
    return np.asarray(np.any(candidates.vectors != 0, axis=1), dtype=np.bool_)


def _adjusted(
    search: Search, candidates: Surroundings, relevance: fuse.Scores, named: frozenset[str]
) -> fuse.Scores:
    """Relevance (0-1) plus what the question says of its answer: whose words, when, and in which company."""
    weights, asked = search.weights, search.plan
    scores = relevance + weights.author * np.array([author in named for author in candidates.authors])
    if asked.prefers:
        scores = scores + weights.role * np.array([role == asked.prefers for role in candidates.roles])
    if asked.times:
        scores = scores + weights.time * np.array(
            [any(_inside(at, span.start, span.end) for span in asked.times) for at in candidates.times]
        )
    return scores + weights.session * fuse.best_of_session(scores, candidates.session)


async def _eligible(search: Search, candidates: Surroundings) -> NDArray[np.bool_]:
    """Neighbours help to score, but only what passes the filter may be a hit."""
    if search.within.is_open:
        return np.ones(len(candidates.passage_ids), dtype=bool)
    allowed = search.allowed
    if allowed is None:
        numbers = candidates.passage_ids.tolist()
        allowed = await store.passages_within(search.connection, search.within, len(numbers), numbers)
    return np.isin(candidates.passage_ids, allowed)


async def _late(
    search: Search, candidates: Surroundings, order: NDArray[np.intp], reranker: Reranker
) -> dict[int, float]:
    """The reranker's scores of the named candidates; empty when it cannot be used or is late."""
    try:
        async with store.lane(search.connection, search.clock.remaining_ms()):
            return await _reranked(search, candidates, order, reranker)
    except LaneTimeout:
        search.clock.late("rerank")
    except ModelUnavailable as error:
        search.clock.degraded.append(f"the reranker cannot be used: {error}")
    return {}


async def _reranked(
    search: Search, candidates: Surroundings, order: NDArray[np.intp], reranker: Reranker
) -> dict[int, float]:
    numbers = candidates.passage_ids[order].tolist()
    encoded = search.encoded
    if reranker.needs == "tokens":
        if search.model is None or encoded is None or encoded.tokens is None:
            return {}
        matrices = await store.tokens(search.connection, numbers, search.model.model_id)
        asked = [Candidate(number, None, matrices.get(number)) for number in numbers]
    else:
        of_passage = await store.texts(search.connection, numbers)
        asked = [Candidate(number, of_passage.get(number), None) for number in numbers]
    question = search.ask.question
    weights = token_weights(question, encoded, search.view, search.lexical)
    scored = await reranker.score(Question(question, encoded, weights), asked)
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


def _inside(at: datetime, start: datetime | None, end: datetime | None) -> bool:
    return (start is None or at >= start) and (end is None or at < end)
