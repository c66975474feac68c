"""Reranking: the best candidates of a layer, looked at once more together with the question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from everlore.domain.errors import ModelUnavailable
from everlore.ports.embedder import EncodedQuestion
from everlore.ports.reranker import Matches, PassageCandidate, Reranker, WeightedQuestion
from everlore.recall import bm25
from everlore.recall.bm25 import Lexical
from everlore.recall.request import Request
from everlore.store import recall as store
from everlore.store.postings import LexicalView
from everlore.text.words import tokens

_STOP_WORD_WEIGHT = 0.1


@dataclass(frozen=True, slots=True)
class Late:
    """The reranker's scores of passages, by number. `matches` (passages as they were given, tokens of the question) and `weights`
    (of those tokens) are None where the reranker does not compare word by word."""

    scores: Mapping[int, float]
    matches: Matches | None = None
    weights: NDArray[np.float32] | None = None


NOT_RERANKED = Late({})


@dataclass(frozen=True, slots=True)
class Reranking:
    """Passages of one layer that are to be reranked. `view` and `lexical`, of that layer, say how rare a word is there."""

    numbers: Sequence[int]
    view: LexicalView
    lexical: Lexical


async def late_scores(request: Request, *asked: Reranking) -> list[Late]:
    """What the reranker says of passages of one or more layers, all read at once; nothing when there is no reranker, or it
    cannot be used or is late."""
    nothing = [NOT_RERANKED] * len(asked)
    reranker = request.reranker
    if reranker is None:
        return nothing
    try:
        return await request.watch.lane(
            request.tx, "rerank", lambda: _reranked(request, asked, reranker), nothing
        )
    except ModelUnavailable as error:
        request.watch.degraded.append(f"the reranker cannot be used: {error}")
        return nothing


async def _reranked(request: Request, asked: Sequence[Reranking], reranker: Reranker) -> list[Late]:
    candidates = await _candidates(request, [n for one in asked for n in one.numbers], reranker)
    if candidates is None:
        return [NOT_RERANKED] * len(asked)
    return [await _scored(request, one, [candidates[n] for n in one.numbers], reranker) for one in asked]


async def _candidates(
    request: Request, numbers: Sequence[int], reranker: Reranker
) -> dict[int, PassageCandidate] | None:
    """What the reranker looks at, by number; None where the question has not been encoded for it."""
    if reranker.needs == "text":
        texts = await store.texts(request.tx, numbers)
        return {number: PassageCandidate(number, texts.get(number), None) for number in numbers}
    if request.model is None or request.encoded is None or request.encoded.tokens is None:
        return None
    matrices = await store.tokens(request.tx, numbers, request.model.model_id)
    return {number: PassageCandidate(number, None, matrices.get(number)) for number in numbers}


async def _scored(
    request: Request, asked: Reranking, candidates: Sequence[PassageCandidate], reranker: Reranker
) -> Late:
    question, encoded = request.ask.question, request.encoded
    weights = token_weights(question, encoded, asked.view, asked.lexical)
    reranked = await reranker.score(WeightedQuestion(question, encoded, weights), candidates)
    scores = {
        number: value
        for number, value in zip(asked.numbers, reranked.scores, strict=True)
        if value is not None
    }
    return Late(scores, reranked.matches, weights) if scores else NOT_RERANKED


def token_weights(
    question: str, encoded: EncodedQuestion | None, view: LexicalView, lexical: Lexical
) -> NDArray[np.float32]:
    """How much each token of the question tells: its word's inverse document frequency; punctuation nothing."""
    if encoded is None or encoded.tokens is None:
        return np.zeros(0, dtype=np.float32)
    term_of = dict(view.words)
    unseen = bm25.inverse_document_frequency(max(view.passages, 1), 0)
    spans = tokens(question)
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
