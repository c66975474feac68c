"""Review: what waits for a person, and the decision on it."""

from dataclasses import dataclass
from uuid import UUID

from everlore.api.directory import Verbs
from everlore.api.entities import Graph
from everlore.api.memories import MAX_LIMIT
from everlore.domain.errors import NotFound
from everlore.domain.knowledge import ReviewItem
from everlore.knowledge import curation
from everlore.store import review
from everlore.validation import between, digits_of, only


@dataclass(frozen=True, slots=True)
class Review(Verbs):
    """The verbs on what waits for a person."""

    async def review(self, *, limit: int = 100) -> list[ReviewItem]:
        """What waits for a person, the oldest first: memories set aside, entities that may be one, paths for threads."""
        limit = between(limit, "limit", 1, MAX_LIMIT)
        async with self.reading() as tx:
            return await review.waiting(tx, limit)

    async def decide(self, identifier: str | UUID, *, accept: bool) -> None:
        """Accept or reject what waits for review: a memory, a link of two entities, a thread's path. Raises NotFound,
        InvalidInput."""
        digits = digits_of(str(identifier), "review item")
        async with self.reading() as tx:
            found = await review.waiting(tx, 2, ending=digits)
        if not found:
            raise NotFound(f"Nothing that waits for review has the id {identifier}.")
        only(str(identifier), "review item", [item.id for item in found])
        item = found[0]
        if item.kind == "link":
            await self._graph.decide_link(item.id, accept)
        elif item.kind == "taxonomy":
            await self._graph.decide_taxonomy(item.id, accept)
        elif accept:
            await curation.confirm(self.runtime, await self.found(), item.id)
        else:
            await curation.reject(self.runtime, await self.found(), item.id)

    @property
    def _graph(self) -> Graph:
        return Graph(self.directory, self.name)
