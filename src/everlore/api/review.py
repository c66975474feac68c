"""Review: what waits for a person, and the decision on it."""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from everlore.api.directory import Verbs
from everlore.api.entities import Graph
from everlore.domain.answers import Doc, Page
from everlore.domain.knowledge import ReviewItem
from everlore.knowledge import curation
from everlore.paging import after, moment, page
from everlore.paging import identifier as by_id
from everlore.store import review
from everlore.validation import Cursor, Id, Limit, checked, found_by_id

ITEM_ID = "The item's id, or at least its last 8 characters."


@dataclass(frozen=True, slots=True)
class Review(Verbs):
    """The verbs on what waits for a person."""

    @checked
    async def review(self, *, limit: Limit = 100, cursor: Cursor = None) -> Page[ReviewItem]:
        """List what waits for a person, the oldest first.

        Memories that were set aside, entities that may be one, paths for threads."""
        async with self.reading() as tx:
            found, total = await review.waiting(tx, limit + 1, after=after(cursor, moment, by_id))
        return page(found, total, limit, lambda item: (item.recorded_at, item.id))

    async def accept(self, identifier: Annotated[Id, Doc(ITEM_ID)]) -> None:
        """Accept what waits.

        A memory is used from then on, two entities are merged, a thread gets the path. Raises NotFound, InvalidInput."""
        await self.decide(identifier, accept=True)

    async def decline(self, identifier: Annotated[Id, Doc(ITEM_ID)]) -> None:
        """Reject what waits, for good. Raises NotFound, InvalidInput."""
        await self.decide(identifier, accept=False)

    async def decide(self, identifier: str | UUID, *, accept: bool) -> None:
        """Accept what waits, or reject it for good. Raises NotFound, InvalidInput."""
        found: dict[UUID, ReviewItem] = {}

        async def ending(digits: str) -> list[UUID]:
            async with self.reading() as tx:
                waiting, _ = await review.waiting(tx, 2, ending=digits)
            found.update((item.id, item) for item in waiting)
            return list(found)

        chosen = await found_by_id(str(identifier), "review item", ending)
        await self._decide(found[chosen], accept=accept)

    async def _decide(self, item: ReviewItem, *, accept: bool) -> None:
        graph = Graph(self.directory, self.name)
        match item.kind:
            case "link":
                await graph.decide_link(item.id, accept)
            case "taxonomy":
                await graph.decide_taxonomy(item.id, accept)
            case "memory":
                by_hand = curation.confirm if accept else curation.reject
                await by_hand(self.runtime, await self.found(), item.id)
