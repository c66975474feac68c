"""Memories that come by way of the graph: of what the question names, and of what is linked to it (spreading activation)."""

import math
from dataclasses import replace

from everlore.domain.recall import MemoryHit, Support
from everlore.recall.composite import cited, composite, is_said, is_shown
from everlore.recall.request import Request
from everlore.store import graph, recall_memories

_NO_SUPPORT = Support(0.0, (), (), "unknown", None)


async def related(request: Request, near: tuple[MemoryHit, ...]) -> tuple[MemoryHit, ...]:
    """More memories of the entities that are named and of those near to them, the most activated first. They come after
    `near`, which answer by themselves, with no better score, and hold none of those; together they are no more than asked for.
    What stands in the hits is none of them."""
    ask = request.ask
    most = min(request.settings.related, ask.memories - len(near))
    named = {one.entity_id: one.weight for one in sorted(request.called, key=lambda one: one.weight)}
    if not (most > 0 and named and request.within.is_open):
        return ()
    active = await graph.activate(request.tx, named, now=ask.now, as_of=ask.as_of)
    there = {hit.memory.lineage_id for hit in near}
    reached = await graph.memories_of(
        request.tx,
        active,
        most + len(there) + len(request.hits),
        now=ask.now,
        as_of=ask.as_of,
        include_expired=ask.include_expired,
    )
    activation = {lineage: value for lineage, value in reached.items() if lineage not in there}
    if not activation:
        return ()
    found = await recall_memories.by_lineage(request.tx, list(activation), ask.as_of.recorded_at)
    chosen = [
        memory
        for lineage in activation
        if (memory := found.get(lineage)) is not None
        and is_shown(request, memory)
        and not is_said(request, memory)
    ]
    hits = await cited(
        request,
        [
            (
                memory,
                composite(request, memory, 0.0)
                | {"related": round(request.settings.memory_relevance * activation[memory.lineage_id], 4)},
                _NO_SUPPORT,
            )
            for memory in chosen[:most]
        ],
    )
    highest = near[-1].score if near else math.inf
    return tuple(replace(hit, score=min(hit.score, highest)) for hit in hits)
