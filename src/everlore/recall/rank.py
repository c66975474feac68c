"""Ranking: signals of the candidates are fused, the best reranked, and what the question itself says is added."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from everlore.recall import fuse
from everlore.recall.near import lent
from everlore.recall.plan import authors_named
from everlore.recall.request import Request
from everlore.recall.rerank import late_scores
from everlore.store import recall as store
from everlore.store.recall import Surroundings


@dataclass(frozen=True, slots=True)
class Ranking:
    """Scores per candidate. `late` has the reranker's raw score where there is one, by the candidate's place; `counts` how
    often each term occurs in each; `named` are authors asked about; only `eligible` candidates may be hits."""

    scores: fuse.Scores
    late: dict[int, float]
    counts: NDArray[np.float64]
    named: frozenset[str]
    eligible: NDArray[np.bool_]


async def rank(request: Request, candidates: Surroundings) -> Ranking:
    settings = request.settings
    counts = request.lexical.counts(candidates.passage_ids)
    signals = [(settings.lexical, fuse.lexical_signal(candidates, counts, request.lexical, settings.reach))]
    if request.encoded is not None and candidates.vectors is not None:
        signals.append(
            (settings.vector, fuse.vector_signal(candidates, request.encoded.vector, settings.reach))
        )
    indexed = _indexed(candidates) if len(signals) > 1 else None
    late: dict[int, float] = {}
    if settings.late_interaction > 0 and settings.rerank_depth > 0:
        order = np.argsort(-fuse.weighted(signals, indexed), kind="stable")[: settings.rerank_depth]
        numbers = candidates.passage_ids[order].tolist()
        scored = await late_scores(request, numbers, request.view, request.lexical)
        late = {
            int(place): scored[number]
            for place, number in zip(order, numbers, strict=True)
            if number in scored
        }
        if late:
            known = [late.get(place) for place in range(len(candidates.passage_ids))]
            signals.append((settings.late_interaction, fuse.with_unknown(known)))
    named = authors_named(request.ask.question, set(candidates.authors))
    relevance = fuse.weighted(signals, indexed)
    if request.near and settings.keys > 0:
        relevance = relevance + settings.keys * lent(request, candidates, late)
    scores = _adjusted(request, candidates, relevance, named)
    return Ranking(scores, late, counts, named, await _eligible(request, candidates))


def _indexed(candidates: Surroundings) -> NDArray[np.bool_] | None:
    """Which candidates have a vector; None where there are none at all."""
    if candidates.vectors is None:
        return None
    return np.asarray(np.any(candidates.vectors != 0, axis=1), dtype=np.bool_)


def _adjusted(
    request: Request, candidates: Surroundings, relevance: fuse.Scores, named: frozenset[str]
) -> fuse.Scores:
    """Relevance (0-1) plus what the question says of its answer: whose words, when, and in which company."""
    settings, asked = request.settings, request.plan
    scores = relevance + settings.author * np.array([author in named for author in candidates.authors])
    if asked.prefers:
        scores = scores + settings.role * np.array([role == asked.prefers for role in candidates.roles])
    if asked.times:
        scores = scores + settings.time * np.array(
            [any(_inside(at, span.start, span.end) for span in asked.times) for at in candidates.times]
        )
    return scores + settings.session * fuse.best_of_session(scores, candidates.session)


async def _eligible(request: Request, candidates: Surroundings) -> NDArray[np.bool_]:
    """Neighbours help to score, but only what passes the filter may be a hit."""
    if request.within.is_open:
        return np.ones(len(candidates.passage_ids), dtype=bool)
    allowed = request.allowed
    if allowed is None:
        numbers = candidates.passage_ids.tolist()
        allowed = await store.passages_within(request.tx, request.within, len(numbers), numbers)
    return np.isin(candidates.passage_ids, allowed)


def _inside(at: datetime, start: datetime | None, end: datetime | None) -> bool:
    return (start is None or at >= start) and (end is None or at < end)
