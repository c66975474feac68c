"""Facts: those that hold at the moment or in the time that was asked about."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from everlore.domain.memories import Fact
from everlore.domain.recall import FactHit, Layer
from everlore.recall.listing import supported
from everlore.recall.request import Near, Request
from everlore.recall.sources.source import RecallSource
from everlore.store import recall_facts
from everlore.store.recall import Key

# Facts below this confidence come after all others.
_SURE = 0.5
# Sources from which on more of them add nothing.
_MANY_SOURCES = 10
_FACT_RELEVANCE, _FACT_CONFIDENCE, _FACT_SOURCES = 0.45, 0.45, 0.10


class FactSource(RecallSource):
    kind: str = "fact"
    layer: Layer = "known"

    async def keys(self, request: Request, passages: Sequence[int]) -> list[Key]:
        return await recall_facts.keys(request.tx, passages, request.ask.as_of.recorded_at)

    async def answer(self, request: Request) -> Mapping[str, Any]:
        found = request.near.get(self.layer)
        if found is None or not request.ask.facts:
            return {}
        nothing: tuple[FactHit, ...] = ()
        hits = await request.watch.lane(request.tx, self.kind, lambda: _fact_hits(request, found), nothing)
        return {"facts": hits}


async def _fact_hits(request: Request, found: Near) -> tuple[FactHit, ...]:
    """The best facts: those that hold at the moment or in the time that was asked about, those that hold still first; for a
    question about the past those that held once, too, and first. Unsure ones never come before sure ones."""
    ask = request.ask
    if not (places := supported(request, found, "fact")):
        return ()
    rows = await recall_facts.facts(request.tx, list(places), request.within, ask.as_of.recorded_at)
    shown = [(number, fact) for number, fact in rows if _holds(request, fact)]
    sources = await recall_facts.citations(
        request.tx, [fact.lineage_id for _, fact in shown], ask.as_of.recorded_at
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
    past = request.plan.about_past

    def order(hit: FactHit) -> tuple[bool, bool, float, float, UUID]:
        unsure = hit.fact.confidence < _SURE
        return unsure, hit.current == past, -hit.score, -hit.fact.valid_from.timestamp(), hit.fact.fact_id

    return tuple(sorted(hits, key=order)[: ask.facts])


def _holds(request: Request, fact: Fact) -> bool:
    """Whether a fact is what is asked for by its time."""
    moment, plan = request.ask.moment, request.plan
    if request.ask.as_of.valid_at is None:
        if plan.about_past:
            return fact.valid_from <= moment
        if plan.times:
            return any(_overlaps(fact, span.start, span.end) for span in plan.times)
    return fact.valid_from <= moment and (fact.valid_to is None or fact.valid_to > moment)


def _overlaps(fact: Fact, start: datetime | None, end: datetime | None) -> bool:
    return (end is None or fact.valid_from < end) and (
        start is None or fact.valid_to is None or fact.valid_to > start
    )
