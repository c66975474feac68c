"""How much speaks for a hit: two numbers from the same evidence as its rank.

    evidence = the larger of: how much of the question stands in the hit,
                              standing x how much of it stands in the best of the first ten
    confidence = evidence x (1 + 3 standing^2) / 4

Standing is where the hit's score lies between the mean of all candidates (0) and the best of them (1): what tells the turn that
answers from those that come along. How much of the question stands in a hit tells a question that was answered from one about
what was never said: late interaction, half of the passage alone and half together with its neighbours, stretched from what
unrelated texts reach to what answers do; half of the share of the question's words, each counted by its rarity, that the passage
and its neighbours have; or what a memory that rests on it lends: the largest of these. It counts 0.75 where another person
speaks than the one asked about. Words that name a time are met by what lies in that time.

No weight is fitted, but the form was chosen on the development conversations of docs/path.md. There the confidence tells answers
from other hits among the first ten with an AUC of 0.85, and the first hits of questions that are answered from those of category
5 with one of 0.71.
Evidence is what the floor is held against: with confidence it would drop what is merely not among the first.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from everlore.recall import fuse, named
from everlore.recall.fuse import Scores
from everlore.recall.rank import Ranking
from everlore.recall.request import Request
from everlore.store.recall import Surroundings
from everlore.text.words import tokens

# Late interaction of the best hit where all is said: for questions that are answered the median is 0.73.
_ALL = 0.8
# And where nothing is: the best of many unrelated texts matches better than the best of few. (0.15 to 0.3 for two texts, 0.31 for
# 700; each power of ten adds so much.)
_NOTHING, _BY_SIZE = 0.15, 0.05
# What the words of the question count where they stand: they may stand there for something else.
_WORDS = 0.5
# What a word counts at least: where few things are known, all are common.
_COMMON = 1.0
# The best so many may speak for an answer.
_FIRST = 10
# Who speaks is the one thing that tells "said" from "never said" across kinds of data.
_ANOTHER_SPEAKER = 0.75


@dataclass(frozen=True, slots=True)
class Judged:
    """Of each candidate, 0 to 1."""

    evidence: Scores
    confidence: Scores
    # Without states of single words there is nothing that a message close in meaning could be told by from one that is not.
    is_telling: bool = True


def judged(request: Request, candidates: Surroundings, ranking: Ranking) -> Judged:
    speaking = np.flatnonzero(ranking.eligible & ~ranking.again)
    best = speaking[np.argsort(-ranking.scores[speaking], kind="stable")[:_FIRST]]
    if not len(best):
        return Judged(np.zeros_like(ranking.scores), np.zeros_like(ranking.scores))
    by_speaker = np.ones(len(ranking.scores))
    if ranking.named:
        by_speaker[[author not in ranking.named for author in candidates.authors]] = _ANOTHER_SPEAKER
    of_question = by_speaker * _of_question(request, candidates, ranking)
    stands = standing(ranking.scores)
    evidence = np.maximum(of_question, stands * float(of_question[best].max()) * by_speaker)
    by_words = request.encoded is None or ranking.late.matches is not None
    return Judged(evidence, evidence * (1 + 3 * stands**2) / 4, is_telling=by_words)


def standing(scores: Scores) -> Scores:
    """From 0 (no better than the mean) to 1 (the best); all are the best where none is better than another."""
    high, mean = scores.max(), scores.mean()
    return np.clip((scores - mean) / (high - mean), 0, 1) if high > mean else np.ones_like(scores)


def _of_question(request: Request, candidates: Surroundings, ranking: Ranking) -> Scores:
    """How much of the question stands in each candidate, or in what rests on it."""
    found = np.maximum(_WORDS * _share(request, candidates, ranking.counts), ranking.lent)
    if (late := ranking.late).matches is not None and late.weights is not None:
        alone, *_, beside = named.window_matches(candidates, late.matches, max(request.settings.reach, 1))
        mean = ((alone @ late.weights + beside @ late.weights) / 2).astype(np.float64)
        nothing = _NOTHING + _BY_SIZE * math.log10(max(request.view.passages, 1))
        found = np.maximum(found, (mean - nothing) / (_ALL - nothing))
    found = np.minimum(found, 1)
    return found if ranking.inside is None else _in_time(request, found, ranking.inside)


def _share(request: Request, candidates: Surroundings, counts: NDArray[np.float64]) -> Scores:
    """The share of the question's words, each counted by its rarity, that candidates have together with their neighbours."""
    rarity = np.maximum(request.lexical.idf, _COMMON)
    *_, beside = fuse.windows(counts, candidates, request.settings.reach)
    return (beside > 0) @ rarity / rarity.sum() if len(rarity) else np.zeros(len(counts))


def _in_time(request: Request, found: Scores, inside: NDArray[np.bool_]) -> Scores:
    """`found` for the words that name no time; those that do are met by what lies in it. `inside` says which candidates do."""
    dated = {word.text for span in request.plan.times for word in tokens(span.text)}
    rarity = {word: request.lexical.rarity(term) for word, term in request.view.words if term is not None}
    total = sum(rarity.values())
    share = sum(rarity[word] for word in rarity.keys() & dated) / total if total else 1.0
    return (1 - share) * found + share * inside
