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
from everlore.recall.request import Search, Weights
from everlore.recall.support import support
from everlore.store import entities, recall_distilled
from everlore.text.variants import key
from everlore.text.words import tokens

# Accesses from which on more of them add nothing.
_MANY_ACCESSES = 100
# Facts below this confidence come after all others.
_SURE = 0.5
# Sources from which on more of them add nothing.
_MANY_SOURCES = 10
# What a word counts at least, and what one that nothing distilled has.
_COMMON, _UNHEARD = 1.0, 0.5
# Late interaction of words that are not covered, from which on a passage is about what they mean. (Measured with the bundled
# model: "Bob's job" and "Bob works as a nurse" 0.64, "Bob's hobbies" and "Bob plays chess" 0.25. What is listed wrongly costs
# less than what is missing.)
_NEAR = 0.25
_FACT_RELEVANCE, _FACT_CONFIDENCE, _FACT_SOURCES = 0.45, 0.45, 0.10


Names: TypeAlias = Sequence[frozenset[str]]
Scored: TypeAlias = tuple[Memory, dict[str, float], Support]


async def memory_hits(search: Search, found: Distilled, names: Names) -> tuple[MemoryHit, ...]:
    """The best memories that are true, in view and supported well enough."""
    ask = search.ask
    places = _supported(search, found, "memory", names)
    rows = await recall_distilled.memories(search.tx, list(places), search.within, ask.as_of.recorded_at)
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


async def fact_hits(search: Search, found: Distilled, names: Names) -> tuple[FactHit, ...]:
    """The best facts: those that hold at the moment or in the time that was asked about; for a question about the past those
    that held once, too, and first. Unsure ones never come before sure ones."""
    ask = search.ask
    places = _supported(search, found, "fact", names)
    rows = await recall_distilled.facts(search.tx, list(places), search.within, ask.as_of.recorded_at)
    shown = [(number, fact) for number, fact in rows if _holds(search, fact)]
    sources = await recall_distilled.citations(
        search.tx, [fact.lineage_id for _, fact in shown], ask.as_of.recorded_at
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
        search.tx, [memory.lineage_id for memory, _, _ in chosen], search.ask.as_of.recorded_at
    )
    return tuple(
        MemoryHit(memory, sources.get(memory.lineage_id, ()), round(sum(why.values()), 6), believed, why)
        for memory, why, believed in chosen
    )


def supports(search: Search, found: Distilled, places: Sequence[int]) -> list[Support]:
    """The support of distilled candidates, as of messages but forgiving where little is known (`_weights`). Whose words they
    are does not count here."""
    lexical = found.lexical
    weights = _weights(search, found)
    return [
        support(
            search.view.words,
            weights,
            frozenset(lexical.terms[column] for column in np.flatnonzero(found.counts[place]).tolist()),
            "unknown",
            found.late.get(int(found.candidates.passage_ids[place])),
        )
        for place in places
    ]


def _supported(search: Search, found: Distilled, kind: str, names: Names) -> dict[int, tuple[int, Support]]:
    """Passages of a kind that are near enough to the question to be listed, with their place."""
    numbers: list[int] = found.candidates.passage_ids.tolist()
    places = [place for place, one in enumerate(found.candidates.kinds) if one == kind]
    if not places:
        return {}
    floor = search.weights.memory_floor
    return {
        numbers[place]: (place, one)
        for place, one in zip(places, supports(search, found, places), strict=True)
        if one.confidence >= floor and _says_more(search, found, one, names)
    }


def _says_more(search: Search, found: Distilled, believed: Support, names: Names) -> bool:
    """Whether it says more of what is asked than a name: another word of the question, a second name, or something near to
    the words that it lacks. Without that, all that is known of Bob would answer whatever is asked about him."""
    covered = set(believed.covered)
    asked = {word for word, term in search.view.words if term is not None} - _of_time(search)
    asked = asked.difference(*names)
    if not asked or asked & covered or sum(1 for name in names if name & covered) > 1:
        return True
    if believed.late_interaction is None:
        return False
    # Late interaction is a mean over the words of the question, and 1 for those that are covered.
    rarity = {word: found.lexical.rarity(term) for word, term in search.view.words if term is not None}
    total = sum(rarity[word] for word in (*believed.covered, *believed.missing))
    share = sum(rarity[word] for word in covered) / max(total, 1e-9)
    return believed.late_interaction - share >= _NEAR * (1 - share)


async def names_asked(search: Search) -> Names:
    """Names of somebody or something in the question, each with its words: those with a capital within it, and what people
    are called who are known (things, too, have entities: "tea" is no name)."""
    question = search.ask.question
    written = tokens(question)
    keys = {key(question[start:end]): word for start, end, word in written}
    matches = await entities.by_keys(search.tx, keys)
    found = await entities.load(search.tx, [match.entity_id for match in matches], counted=False)
    people = {entity.entity_id for entity in found if entity.type == "person"}
    called = {keys[match.given] for match in matches if match.entity_id in people}
    names: list[set[str]] = []
    last = -1
    for at, (start, end, word) in enumerate(written):
        if word in called or (at and question[start].isupper()):
            if names and question[last:start].isspace():
                names[-1].add(word)
            else:
                names.append({word})
            last = end
    return [frozenset(name) for name in names]


def _of_time(search: Search) -> set[str]:
    return {word.text for span in search.plan.times for word in tokens(span.text)}


def _weights(search: Search, found: Distilled) -> dict[str, float]:
    """What each term of the question counts: its rarity, but terms that nothing distilled has count less, common ones not much
    less than rare ones, and those that name a time nothing (that is compared apart)."""
    lexical = found.lexical
    of_time = _of_time(search)
    counted = {term for word, term in search.view.words if word not in of_time}
    return {
        term: 0.0 if term not in counted else max(float(idf), _COMMON) if len(places) else _UNHEARD
        for term, idf, places in zip(lexical.terms, lexical.idf, lexical.places, strict=True)
    }


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
