"""Messages off the path of their thread: what was edited, answered otherwise, branched off. Found only by who asks for them."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from everlore.domain.recall import BRANCH, Hit, Layer
from everlore.recall.listing import supported
from everlore.recall.request import Request
from everlore.recall.sources.source import RecallSource
from everlore.store import passages
from everlore.store import recall as store


class BranchSource(RecallSource):
    kind: str = BRANCH
    layer: Layer = "branches"

    async def answer(self, request: Request) -> Mapping[str, Any]:
        found = request.near.get("branches")
        if found is None:
            return {}
        listed = supported(request, found, "message")
        numbers = list(listed)
        if not request.within.is_open and numbers:
            kept = await store.passages_within(request.tx, request.within, len(numbers), numbers)
            numbers = [number for number in numbers if number in set(kept.tolist())]
        owners = await passages.owners(request.tx, numbers)
        best: dict[UUID, int] = {}
        for number in sorted(numbers, key=lambda one: -found.relevance[listed[one][0]]):
            best.setdefault(owners[number], number)
        chosen = list(best)[: request.ask.limit]
        shown = await store.messages(request.tx, chosen)
        hits = [
            Hit(
                text=shown[message_id].text,
                captions=shown[message_id].captions,
                citation=shown[message_id].citation,
                score=round(float(found.relevance[listed[best[message_id]][0]]), 6),
                support=listed[best[message_id]][1],
                off_the_record=shown[message_id].off_the_record,
            )
            for message_id in chosen
            if message_id in shown
        ]
        return {"branches": tuple(hits)}
