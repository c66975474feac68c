"""Answers to structured questions: memories by type, state, entity, time and topic."""

from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

import numpy as np

from everlore.domain.memories import Memory
from everlore.domain.recall import MemoryHit, Reading, Support
from everlore.ports.reranker import Reranker
from everlore.recall import bm25
from everlore.recall.distilled import Distilled, scored
from everlore.recall.memory_ranking import cited, composite, order_of, supports
from everlore.recall.request import Search
from everlore.recall.structured_questions import Structured, limits, read_structured, reading
from everlore.store import entities, recall_distilled
from everlore.store.recall_distilled import Wanted
from everlore.text.folding import fold
from everlore.text.variants import key

# Read at most so many memories of the asked types, the latest first.
_AT_MOST = 500
# Late interaction from which on a memory is about a topic although it shares none of its words.
_NEAR_TOPIC = 0.5
_NO_SUPPORT = Support(0.0, (), (), "unknown", None)


async def structured_hits(
    search: Search, reranker: Reranker | None
) -> tuple[Reading, tuple[MemoryHit, ...]] | None:
    """The memories that a structured question asks for; None for any other question, or where the reading finds nothing that
    the question must have meant so."""
    asked = read_structured(search.ask.question, search.plan.times)
    if asked is None or search.view.distilled is None:
        return None
    who, names, about = await _whom(search, asked)
    wanted = Wanted(
        types=asked.types,
        entities=tuple(who) if who else None,
        authors=tuple(names),
        **asdict(
            limits(
                asked,
                search.ask.moment,
                past=search.plan.about_past,
                include_expired=search.ask.include_expired,
            )
        ),
    )
    recorded_at = search.ask.as_of.recorded_at
    rows = await recall_distilled.structured(search.tx, wanted, recorded_at, _AT_MOST, search.within)
    chosen = await _ranked(search, rows, about, reranker)
    if not chosen and (about or not (asked.status or asked.times)):
        # The words may not have been meant so: then memories are found by what they say.
        return None
    hits = await cited(search, chosen[: search.ask.memories])
    return reading(asked, names, about), hits


async def _whom(search: Search, asked: Structured) -> tuple[list[UUID], list[str], list[str]]:
    """The entities that the question names, their names, and the words of the topic that are left."""
    keys = {key(run): run for run in asked.names}
    matches = await entities.by_keys(search.tx, keys) if keys else []
    best = {match.given: match for match in sorted(matches, key=lambda match: match.weight)}
    if not best and asked.pronoun and (person := await recall_distilled.last_person(search.tx)):
        return [person[0]], [person[1]], list(asked.about)
    # Every entity of a name counts: which of two namesakes is meant, the question does not say.
    found = [match for match in matches if match.given in best]
    said = {fold(word) for given in best for word in keys[given].split()}
    names = list(dict.fromkeys(match.variant for match in best.values()))
    ids = list(dict.fromkeys(match.entity_id for match in found))
    return ids, names, [word for word in asked.about if word not in said]


async def _ranked(
    search: Search,
    rows: Sequence[tuple[int | None, Memory]],
    about: Sequence[str],
    reranker: Reranker | None,
) -> list[tuple[Memory, dict[str, float], Support]]:
    """Those about the topic, by the composite; without a topic all of them, as if equally relevant."""
    view = search.view.distilled
    assert view is not None  # noqa: S101 - asked only where there is something distilled
    numbers = [number for number, _ in rows if number is not None]
    found = await scored(search, bm25.score(view), numbers, reranker)
    places = {number: at for at, number in enumerate(found.candidates.passage_ids.tolist())} if found else {}
    believed = supports(search, found, range(len(found.candidates.passage_ids))) if found else []
    near = _near(search, found, about) if found and about else None
    ranked: list[tuple[Memory, dict[str, float], Support]] = []
    for number, memory in rows:
        place = places.get(number) if number is not None else None
        if near is not None and (place is None or not near[place]):
            continue
        relevance = float(found.relevance[place]) if near is not None and found and place is not None else 1.0
        support = believed[place] if place is not None else _NO_SUPPORT
        ranked.append((memory, composite(search, memory, relevance), support))
    return sorted(ranked, key=order_of)


def _near(search: Search, found: Distilled, about: Sequence[str]) -> list[bool]:
    """Which candidates are about the topic: those with a word of it; if none has any, those that come near enough."""
    term_of = dict(search.view.words)
    terms = {term_of.get(word) for word in about}
    columns = [column for column, term in enumerate(found.lexical.terms) if term in terms]
    said = np.asarray(found.counts[:, columns].sum(axis=1) > 0, dtype=np.bool_)
    if said.any():
        return said.tolist()
    return [found.late.get(number, 0.0) >= _NEAR_TOPIC for number in found.candidates.passage_ids.tolist()]
