"""Answers to structured questions: memories by type, state, entity, time and topic."""

from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

import numpy as np

from everlore.domain.memories import Memory
from everlore.domain.recall import MemoryHit, Reading, Support
from everlore.recall import bm25
from everlore.recall.composite import cited, composite, order_of
from everlore.recall.listing import supports
from everlore.recall.near import scored
from everlore.recall.request import Near, Request
from everlore.recall.structured_questions import Structured, limits, read_structured, reading
from everlore.store import entities, recall_memories
from everlore.store.recall_memories import Wanted
from everlore.text.folding import fold
from everlore.text.variants import key

# Read at most so many memories of the asked types, the latest first.
_AT_MOST = 500
# Late interaction from which on a memory is about a topic although it shares none of its words.
_NEAR_TOPIC = 0.5
_NO_SUPPORT = Support(0.0, (), (), "unknown", None)


async def structured_hits(request: Request) -> tuple[Reading, tuple[MemoryHit, ...]] | None:
    """The memories that a structured question asks for; None for any other question, or where the reading finds nothing that
    the question must have meant so."""
    asked = read_structured(request.ask.question, request.plan.times)
    if asked is None:
        return None
    who, names, about = await _whom(request, asked)
    wanted = Wanted(
        types=asked.types,
        entities=tuple(who) if who else None,
        authors=tuple(names),
        **asdict(
            limits(
                asked,
                request.ask.moment,
                past=request.plan.about_past,
                include_expired=request.ask.include_expired,
            )
        ),
    )
    recorded_at = request.ask.as_of.recorded_at
    rows = await recall_memories.structured(request.tx, wanted, recorded_at, _AT_MOST, request.within)
    chosen = await _ranked(request, rows, about)
    if not chosen and (about or not (asked.status or asked.times)):
        # The words may not have been meant so: then memories are found by what they say.
        return None
    hits = await cited(request, chosen[: request.ask.memories])
    return reading(asked, names, about), hits


async def _whom(request: Request, asked: Structured) -> tuple[list[UUID], list[str], list[str]]:
    """The entities that the question names, their names, and the words of the topic that are left."""
    keys = {key(run): run for run in asked.names}
    matches = await entities.by_keys(request.tx, keys) if keys else []
    best = {match.given: match for match in sorted(matches, key=lambda match: match.weight)}
    if not best and asked.pronoun and (person := await recall_memories.last_person(request.tx)):
        return [person[0]], [person[1]], list(asked.about)
    # Every entity of a name counts: which of two namesakes is meant, the question does not say.
    found = [match for match in matches if match.given in best]
    said = {fold(word) for given in best for word in keys[given].split()}
    names = list(dict.fromkeys(match.variant for match in best.values()))
    ids = list(dict.fromkeys(match.entity_id for match in found))
    return ids, names, [word for word in asked.about if word not in said]


async def _ranked(
    request: Request,
    rows: Sequence[tuple[int | None, Memory]],
    about: Sequence[str],
) -> list[tuple[Memory, dict[str, float], Support]]:
    """Those about the topic, by the composite; without a topic all of them, as if equally relevant."""
    numbers = [number for number, _ in rows if number is not None]
    lexical = bm25.score(request.views["known"])
    found = (await scored(request, {"known": lexical}, {"known": numbers})).get("known")
    places = {number: at for at, number in enumerate(found.candidates.passage_ids.tolist())} if found else {}
    believed = supports(request, found, range(len(found.candidates.passage_ids))) if found else []
    near = _near(request, found, about) if found and about else None
    ranked: list[tuple[Memory, dict[str, float], Support]] = []
    for number, memory in rows:
        place = places.get(number) if number is not None else None
        if near is not None and (place is None or not near[place]):
            continue
        relevance = float(found.relevance[place]) if near is not None and found and place is not None else 1.0
        support = believed[place] if place is not None else _NO_SUPPORT
        ranked.append((memory, composite(request, memory, relevance), support))
    return sorted(ranked, key=order_of)


def _near(request: Request, found: Near, about: Sequence[str]) -> list[bool]:
    """Which candidates are about the topic: those with a word of it; if none has any, those that come near enough."""
    term_of = dict(request.view.words)
    terms = {term_of.get(word) for word in about}
    columns = [column for column, term in enumerate(found.lexical.terms) if term in terms]
    said = np.asarray(found.counts[:, columns].sum(axis=1) > 0, dtype=np.bool_)
    if said.any():
        return said.tolist()
    return [found.late.get(number, 0.0) >= _NEAR_TOPIC for number in found.candidates.passage_ids.tolist()]
