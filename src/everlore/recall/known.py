"""Memories and facts as hits: which of them are shown, and in which order.

A memory's score is a composite of relevance (0-1 over the candidates), importance, recency and use, with a bonus for some
types. Relevance decides first who is listed at all: what has too little support is left out, however important it is.
"""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypeAlias
from uuid import UUID

import numpy as np

from everlore.domain.memories import Fact, Memory
from everlore.domain.recall import FactHit, MemoryHit, Support
from everlore.recall.distilled import Distilled
from everlore.recall.plan import fold
from everlore.recall.search import Search, Weights
from everlore.recall.support import confidence, support
from everlore.store import recall_distilled

# Accesses from which on more of them add nothing.
_MANY_ACCESSES = 100
# Facts below this confidence come after all others.
_SURE = 0.5
# Sources from which on more of them add nothing.
_MANY_SOURCES = 10
# What a word counts at least, and what one that nothing distilled has.
_COMMON, _UNHEARD = 1.0, 0.5
_FACT_RELEVANCE, _FACT_CONFIDENCE, _FACT_SOURCES = 0.45, 0.45, 0.10


Scored: TypeAlias = tuple[Memory, dict[str, float], Support]


async def memory_hits(search: Search, found: Distilled) -> tuple[MemoryHit, ...]:
    """The best memories that are true, in view and supported well enough."""
    ask = search.ask
    places = _supported(search, found, "memory")
    rows = await recall_distilled.memories(
        search.connection, list(places), search.within, ask.as_of.recorded_at
    )
    shown = [(number, memory) for number, memory in rows if is_shown(search, memory)]
    scored = [
        (memory, composite(search, memory, float(found.relevance[places[number][0]])), places[number][1])
        for number, memory in shown
    ]
    return await cited(search, sorted(scored, key=order_of)[: ask.memories])


def order_of(one: Scored) -> tuple[float, float, UUID]:
    """By score; of equal ones the one that became true last."""
    memory, why, _ = one
    return -sum(why.values()), -memory.valid_from.timestamp(), memory.memory_id


async def fact_hits(search: Search, found: Distilled) -> tuple[FactHit, ...]:
    """The best facts: those that hold at the moment or in the time that was asked about; for a question about the past those
    that held once, too, and first. Unsure ones never come before sure ones."""
    ask = search.ask
    places = _supported(search, found, "fact")
    rows = await recall_distilled.facts(search.connection, list(places), search.within, ask.as_of.recorded_at)
    shown = [(number, fact) for number, fact in rows if _holds(search, fact)]
    sources = await recall_distilled.citations(
        search.connection, [fact.lineage_id for _, fact in shown], ask.as_of.recorded_at
    )
    hits: list[FactHit] = []
    for number, fact in shown:
        place, believed = places[number]
        cited_by = sources.get(fact.lineage_id, ())
        why = {
            "relevance": round(float(found.relevance[place]), 4),
            "confidence": round(fact.confidence, 4),
            "sources": round(min(math.log(max(len(cited_by), 1), _MANY_SOURCES), 1.0), 4),
        }
        score = (
            _FACT_RELEVANCE * why["relevance"]
            + _FACT_CONFIDENCE * why["confidence"]
            + _FACT_SOURCES * why["sources"]
        )
        current = fact.valid_to is None or fact.valid_to > ask.moment
        hits.append(FactHit(fact, cited_by, round(score, 6), believed, current, why))
    past = search.plan.about_past

    def order(hit: FactHit) -> tuple[bool, bool, float, float, UUID]:
        unsure = hit.fact.confidence < _SURE
        return unsure, past and hit.current, -hit.score, -hit.fact.valid_from.timestamp(), hit.fact.fact_id

    return tuple(sorted(hits, key=order)[: ask.facts])


def composite(search: Search, memory: Memory, relevance: float) -> dict[str, float]:
    """The parts of a memory's score, each weighted already: their sum is the score."""
    weights = search.weights
    used = max(filter(None, (memory.valid_from, memory.last_access_at)))
    age = max(search.ask.moment - used, timedelta(0)) / timedelta(days=1)
    parts = {
        "relevance": weights.memory_relevance * relevance,
        "importance": weights.memory_importance * memory.importance,
        "recency": weights.memory_recency * math.exp(-age / weights.recency_days),
        "access": weights.memory_access
        * min(math.log1p(memory.access_count) / math.log1p(_MANY_ACCESSES), 1.0),
        "type": _bonus(weights, memory.type),
    }
    return {name: round(value, 4) for name, value in parts.items()}


def is_shown(search: Search, memory: Memory) -> bool:
    """Whether it was true at the moment that is asked about, and in view then (or expired ones are wanted as well)."""
    moment = search.ask.moment
    if memory.valid_from > moment and search.ask.as_of.valid_at is not None:
        return False
    if memory.valid_to is not None and memory.valid_to <= moment:
        return False
    return search.ask.include_expired or memory.expires_at is None or memory.expires_at > moment


async def cited(search: Search, chosen: Sequence[Scored]) -> tuple[MemoryHit, ...]:
    """Hits of memories, with the messages that they rest on."""
    sources = await recall_distilled.citations(
        search.connection, [memory.lineage_id for memory, _, _ in chosen], search.ask.as_of.recorded_at
    )
    return tuple(
        MemoryHit(memory, sources.get(memory.lineage_id, ()), round(sum(why.values()), 6), believed, why)
        for memory, why, believed in chosen
    )


def supports(search: Search, found: Distilled, places: Sequence[int]) -> list[Support]:
    """The support of distilled candidates, as of messages. Whose words they are does not count here."""
    lexical = found.lexical
    rarity = {term: float(value) for term, value in zip(lexical.terms, lexical.idf, strict=True)}
    return [
        support(
            search.view.words,
            rarity,
            frozenset(lexical.terms[column] for column in np.flatnonzero(found.counts[place]).tolist()),
            "unknown",
            found.late.get(int(found.candidates.passage_ids[place])),
        )
        for place in places
    ]


def _supported(search: Search, found: Distilled, kind: str) -> dict[int, tuple[int, Support]]:
    """Passages of a kind that are near enough to the question to be listed, with their place."""
    numbers: list[int] = found.candidates.passage_ids.tolist()
    places = [
        place
        for place, near in enumerate(_nearness(search, found))
        if found.candidates.kinds[place] == kind and near >= search.weights.memory_floor
    ]
    believed = supports(search, found, places)
    return {numbers[place]: (place, one) for place, one in zip(places, believed, strict=True)}


def _nearness(search: Search, found: Distilled) -> list[float]:
    """As the confidence of a support, but forgiving where little is known: words that nothing distilled has tell less, common
    ones not much less than rare ones, and those that name a time nothing (that is compared apart)."""
    lexical = found.lexical
    of_time = {fold(word) for span in search.plan.times for word in span.text.split()}
    counted = {term for word, term in search.view.words if word not in of_time}
    weights = np.array(
        [
            0.0 if term not in counted else max(float(idf), _COMMON) if len(places) else _UNHEARD
            for term, idf, places in zip(lexical.terms, lexical.idf, lexical.places, strict=True)
        ]
    )
    shares = (found.counts > 0) @ weights / max(float(weights.sum()), 1e-9)
    numbers: list[int] = found.candidates.passage_ids.tolist()
    return [
        confidence(float(share), found.late.get(number))
        for share, number in zip(shares, numbers, strict=True)
    ]


def _bonus(weights: Weights, kind: str) -> float:
    bonuses = {
        "relationship": weights.relationship_bonus,
        "preference": weights.preference_bonus,
        "goal": weights.goal_bonus,
    }
    return bonuses.get(kind, 0.0)


def _holds(search: Search, fact: Fact) -> bool:
    """Whether a fact is what is asked for by its time."""
    moment, plan = search.ask.moment, search.plan
    if search.ask.as_of.valid_at is None:
        if plan.about_past:
            return fact.valid_from <= moment
        if plan.times:
            return any(_overlaps(fact, span.start, span.end) for span in plan.times)
    return fact.valid_from <= moment and (fact.valid_to is None or fact.valid_to > moment)


def _overlaps(fact: Fact, start: datetime | None, end: datetime | None) -> bool:
    return (end is None or fact.valid_from < end) and (
        start is None or fact.valid_to is None or fact.valid_to > start
    )
