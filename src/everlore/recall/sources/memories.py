"""Memories: by what they say, by what a structured question asks for, and by way of the graph."""

from collections.abc import Mapping, Sequence
from typing import Any

from everlore.domain.memories import AsOf
from everlore.domain.recall import Layer, MemoryHit, Recall
from everlore.recall.composite import cited, composite, is_said, is_shown, order_of
from everlore.recall.listing import supported
from everlore.recall.related import related
from everlore.recall.request import Ask, Near, Request
from everlore.recall.sources.source import RecallSource
from everlore.recall.structured_answers import structured_hits
from everlore.store import recall_memories
from everlore.store.recall import Key
from everlore.store.recall_memories import Use

# The first so many memories of an answer count as used.
_USED = 5


class MemorySource(RecallSource):
    kind: str = "memory"
    layer: Layer = "known"

    async def keys(self, request: Request, passages: Sequence[int]) -> list[Key]:
        return await recall_memories.keys(request.tx, passages, request.ask.as_of.recorded_at)

    async def answer(self, request: Request) -> Mapping[str, Any]:
        if not request.ask.memories or self.layer not in request.views:
            return {}
        nothing: Mapping[str, Any] = {}
        return await request.watch.lane(request.tx, self.kind, lambda: self._answer(request), nothing)

    async def _answer(self, request: Request) -> Mapping[str, Any]:
        if (structured := await structured_hits(request)) is not None:
            reading, memories = structured
            return {"reading": reading, "memories": memories}
        if (found := request.near.get(self.layer)) is None:
            return {}
        near = await _memory_hits(request, found)
        return {"memories": near + await related(request, near)}


def used(ask: Ask, answer: Recall) -> list[Use]:
    """The memories that an answer used: how often one is used is a part of its score. What came by way of the graph does not
    count, nor do questions about another time."""
    if ask.as_of != AsOf():
        return []
    memories = [hit.memory.memory_id for hit in answer.memories if "related" not in hit.why]
    return [Use(memory_id, 1, ask.now) for memory_id in memories[:_USED]]


async def _memory_hits(request: Request, found: Near) -> tuple[MemoryHit, ...]:
    """The best memories that are true, in view and supported well enough, and say what no hit says."""
    ask = request.ask
    if not (places := supported(request, found, "memory")):
        return ()
    rows = await recall_memories.memories(request.tx, list(places), request.within, ask.as_of.recorded_at)
    shown = [
        (number, memory)
        for number, memory in rows
        if is_shown(request, memory) and not is_said(request, memory)
    ]
    scored = [
        (memory, composite(request, memory, float(found.relevance[places[number][0]])), places[number][1])
        for number, memory in shown
    ]
    return await cited(request, sorted(scored, key=order_of)[: ask.memories])
