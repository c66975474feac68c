"""Keys: what was distilled and is never shown. They only lead to the messages that they rest on."""

from collections.abc import Mapping, Sequence
from typing import Any

from everlore.domain.recall import KEY, Layer
from everlore.recall.request import Request
from everlore.recall.sources.source import RecallSource
from everlore.store import recall_memories
from everlore.store.recall import Key


class KeySource(RecallSource):
    kind: str = KEY
    layer: Layer = "keys"

    async def keys(self, request: Request, passages: Sequence[int]) -> list[Key]:
        return await recall_memories.keys(request.tx, passages, request.ask.as_of.recorded_at)

    async def answer(self, request: Request) -> Mapping[str, Any]:
        return {}
