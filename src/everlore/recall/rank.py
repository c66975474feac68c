"""Ranking: signals of the candidates are fused, the best reranked, and what the question itself says is added."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from everlore.recall import fuse, named
from everlore.recall.asked_again import asked_again
from everlore.recall.near import lent
from everlore.recall.request import Request
from everlore.recall.rerank import NOT_RERANKED, Late, Reranking, late_scores
from everlore.store import recall as store
from everlore.store.recall import Surroundings


@dataclass(frozen=True, slots=True)
class Ranking:
    """Scores per candidate. `late` is what the reranker said, by the candidate's place; `counts` how often each term occurs in
    each; `named` are authors asked about; `again` says which ask the same as the question, `inside` which lie in the time that
    it names (None: it names none); `lent` is what memories that rest on them lend; `marks` what people said
    of them; only `eligible` ones may be hits."""

    scores: fuse.Scores
    late: Late
    counts: NDArray[np.float64]
    named: frozenset[str]
    again: NDArray[np.bool_]
    inside: NDArray[np.bool_] | None
    lent: fuse.Scores
    marks: fuse.Scores
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
    late = await _reranked(request, candidates, fuse.weighted(signals, indexed))
    authors = named.named_authors(request, candidates)
    if late.scores:
        signals.append(_late_signal(request, candidates, late, is_named=bool(authors)))
    relevance = fuse.weighted(signals, indexed)
    keys = np.zeros_like(relevance)
    if request.near and settings.keys > 0:
        keys = lent(request, candidates, late.scores)
    relevance = relevance + settings.keys * keys
    inside = _in_time(request, candidates)
    scores = _adjusted(request, candidates, relevance, authors, inside)
    if authors:
        scores = _in_conversation(request, candidates, scores, late)
    scores = scores + settings.session * fuse.best_of_session(scores, candidates.session)
    again = asked_again(request, candidates, counts)
    marks = np.array([request.marks.get(source, 0.0) for source in candidates.message_ids])
    scores = scores - settings.asked_again * again + settings.feedback * marks
    return Ranking(
        scores, late, counts, authors, again, inside, keys, marks, await _eligible(request, candidates)
    )


def _indexed(candidates: Surroundings) -> NDArray[np.bool_] | None:
    """Which candidates have a vector; None where there are none at all."""
    if candidates.vectors is None:
        return None
    return np.asarray(np.any(candidates.vectors != 0, axis=1), dtype=np.bool_)


async def _reranked(request: Request, candidates: Surroundings, relevance: fuse.Scores) -> Late:
    """What the reranker says of the best candidates: scores by place, matches of all (rows of zeros for the others)."""
    settings = request.settings
    if settings.late_interaction == 0 or settings.rerank_depth == 0:
        return NOT_RERANKED
    best = np.argsort(-relevance, kind="stable")[: settings.rerank_depth]
    numbers: list[int] = candidates.passage_ids[best].tolist()
    (late,) = await late_scores(request, Reranking(numbers, request.view, request.lexical))
    places: list[int] = best.tolist()
    scores = {
        place: late.scores[number]
        for place, number in zip(places, numbers, strict=True)
        if number in late.scores
    }
    if late.matches is None:
        return Late(scores)
    matches = np.zeros((len(relevance), late.matches.shape[1]), late.matches.dtype)
    matches[best] = late.matches
    return Late(scores, matches, late.weights)


def _late_signal(
    request: Request, candidates: Surroundings, late: Late, *, is_named: bool
) -> tuple[float, fuse.Scores]:
    """The reranker's weight and signal: over a candidate alone, or with its neighbours where the question names an author."""
    known = np.full(len(candidates.passage_ids), np.nan)
    known[list(late.scores)] = list(late.scores.values())
    settings = request.settings
    if is_named and late.matches is not None and late.weights is not None:
        return settings.named_late_interaction, named.window_signal(
            candidates, late.matches, late.weights, ~np.isnan(known), settings.reach
        )
    return settings.late_interaction, fuse.with_unknown(known)


def _in_time(request: Request, candidates: Surroundings) -> NDArray[np.bool_] | None:
    """Which candidates lie in a time that the question names; None where it names none."""
    if not (spans := request.plan.times):
        return None
    return np.array([any(_inside(at, span.start, span.end) for span in spans) for at in candidates.times])


def _adjusted(
    request: Request,
    candidates: Surroundings,
    relevance: fuse.Scores,
    authors: frozenset[str],
    inside: NDArray[np.bool_] | None,
) -> fuse.Scores:
    """Relevance (0-1) plus what the question says of its answer: whose words, and when."""
    settings, asked = request.settings, request.plan
    scores = relevance + settings.author * np.array([author in authors for author in candidates.authors])
    if asked.prefers:
        scores = scores + settings.role * np.array([role == asked.prefers for role in candidates.roles])
    return scores if inside is None else scores + settings.time * inside


def _in_conversation(
    request: Request, candidates: Surroundings, scores: fuse.Scores, late: Late
) -> fuse.Scores:
    """Scores with what the conversation around each candidate adds, where the question names an author."""
    settings = request.settings
    scores = scores + settings.named_answer * named.answered(candidates, scores)
    scores = scores - settings.named_asking * candidates.asks
    if late.matches is not None and late.weights is not None:
        scores = scores + settings.named_session * named.session_signal(
            candidates, late.matches, late.weights
        )
    return scores


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
