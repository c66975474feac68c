"""Hits: the best passages become messages with citation, support and, on request, trace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from everlore.domain.recall import Hit, LaneTrace, Support
from everlore.recall import feedback
from everlore.recall.evidence import judged
from everlore.recall.fuse import Scores
from everlore.recall.rank import Ranking
from everlore.recall.request import Lane, Request
from everlore.recall.support import Speaker, support
from everlore.store import recall as store
from everlore.store.recall import Surroundings

# Two messages whose vectors are nearer than this speak about the same thing.
_SAME_THING = 0.5
_SAME_THING_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Listed:
    """The hits, and how many messages came nearest and were left out because too little speaks for them."""

    hits: tuple[Hit, ...] = ()
    unsupported: int = 0


async def make_hits(
    request: Request, candidates: Surroundings, ranking: Ranking, lanes: Mapping[str, Lane]
) -> Listed:
    """The best messages, each by its best passage, without those for which too little speaks."""
    best = _best_messages(request, candidates, ranking)
    believed = judged(request, candidates, ranking)
    floor = request.settings.floor if believed.is_telling else 0.0
    chosen = [place for place in best if believed.evidence[place] >= floor]
    ids = [UUID(bytes=candidates.message_ids[place]) for place in chosen]
    shown = await store.messages(request.tx, ids, reach=request.ask.neighbours)
    supports = _supports(request, candidates, ranking, chosen, believed.confidence)
    traces = _traces(candidates, ranking, lanes) if request.ask.trace else {}
    hits = tuple(
        Hit(
            text=shown[message_id].text,
            captions=shown[message_id].captions,
            citation=shown[message_id].citation,
            score=round(float(ranking.scores[place]), 6),
            support=why,
            off_the_record=shown[message_id].off_the_record,
            neighbours=shown[message_id].neighbours,
            trace={
                name: lane.get(int(candidates.passage_ids[place]), LaneTrace(None, None))
                for name, lane in traces.items()
            },
        )
        for place, message_id, why in zip(chosen, ids, supports, strict=True)
    )
    return Listed(hits, len(best) - len(chosen))


def _supports(
    request: Request, candidates: Surroundings, ranking: Ranking, chosen: Sequence[int], confidence: Scores
) -> list[Support]:
    """Why each of the chosen candidates is believed."""
    terms = request.lexical.terms
    rarity = {term: float(value) for term, value in zip(terms, request.lexical.idf, strict=True)}
    messages = {candidates.message_ids[place] for place in chosen}
    present = _terms_of(candidates, ranking.counts, terms, messages)
    return [
        support(
            request.view.words,
            rarity,
            present[candidates.message_ids[place]],
            _speaker(ranking.named, candidates.authors[place]),
            ranking.late.scores.get(place),
            float(confidence[place]),
            _more_reasons(ranking, place),
        )
        for place in chosen
    ]


def _more_reasons(ranking: Ranking, place: int) -> list[str]:
    reasons: list[str] = []
    if ranking.inside is not None:
        reasons.append("is of the time asked about" if ranking.inside[place] else "is of another time")
    if ranking.lent[place] > 0:
        reasons.append("a memory of it comes nearer")
    if ranking.again[place]:
        reasons.append("asks the same")
    return reasons + feedback.reasons(float(ranking.marks[place]))


def _best_messages(request: Request, candidates: Surroundings, ranking: Ranking) -> list[int]:
    """Places of the best passage of each of the best messages; of equal ones the latest."""
    times = np.array([at.timestamp() for at in candidates.times])
    chosen: list[int] = []
    seen: set[bytes] = set()
    order: list[int] = np.lexsort((-times, -ranking.scores)).tolist()
    for place in order:
        message_id = candidates.message_ids[place]
        if ranking.eligible[place] and message_id not in seen:
            seen.add(message_id)
            chosen.append(place)
            if len(chosen) == request.ask.limit:
                break
    if request.plan.about_present and candidates.vectors is not None:
        return latest_first(chosen, candidates.vectors, times)
    return chosen


def latest_first(
    chosen: Sequence[int], vectors: NDArray[np.float32], times: NDArray[np.float64]
) -> list[int]:
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


def _terms_of(
    candidates: Surroundings, counts: NDArray[np.float64], terms: Sequence[str], wanted: set[bytes]
) -> dict[bytes, frozenset[str]]:
    """The question's terms that each wanted message has, in any of its passages among the candidates."""
    present: dict[bytes, set[str]] = {message_id: set() for message_id in wanted}
    for place, message_id in enumerate(candidates.message_ids):
        if message_id in wanted:
            present[message_id].update(terms[column] for column in np.flatnonzero(counts[place]).tolist())
    return {message_id: frozenset(found) for message_id, found in present.items()}


def _speaker(named: frozenset[str], author: str) -> Speaker:
    if not named:
        return "unknown"
    return "asked about" if author in named else "another"


def _traces(
    candidates: Surroundings, ranking: Ranking, lanes: Mapping[str, Lane]
) -> dict[str, dict[int, LaneTrace]]:
    """Per lane the rank and raw score of each passage that it offered."""
    reranked = [(int(candidates.passage_ids[place]), value) for place, value in ranking.late.scores.items()]
    return {name: _traced(lane) for name, lane in lanes.items()} | {
        "rerank": _traced(sorted(reranked, key=lambda pair: -pair[1]))
    }


def _traced(lane: Lane) -> dict[int, LaneTrace]:
    traced: dict[int, LaneTrace] = {}
    for number, value in lane:
        traced.setdefault(number, LaneTrace(len(traced) + 1, round(float(value), 6)))
    return traced
