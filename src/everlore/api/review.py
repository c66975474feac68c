"""Review: what waits for a person, and the decision on it."""

from dataclasses import dataclass
from uuid import UUID

from everlore.api.directory import Verbs
from everlore.api.entities import Graph
from everlore.api.memories import MAX_LIMIT
from everlore.domain.errors import NotFound
from everlore.domain.ids import SHORT_ID_LENGTH
from everlore.domain.knowledge import ReviewItem
from everlore.knowledge import curation
from everlore.store import memories
from everlore.store.memories import Listing
from everlore.validation import between


@dataclass(frozen=True, slots=True)
class Review(Verbs):
    """The verbs on what waits for a person."""

    async def review(self, *, limit: int = 100) -> list[ReviewItem]:
        """What waits for a person, the oldest first: memories set aside, entities that may be one, paths for threads."""
        limit = between(limit, "limit", 1, MAX_LIMIT)
        async with self.reading() as tx:
            aside = [
                memory
                for state in ("suggested", "quarantined", "rejected")
                for memory in await memories.listed(tx, Listing(status=state, limit=limit), self.now())
                if memory.review_reason != curation.REJECTED_BY_HAND
            ]
        items = [
            ReviewItem("memory", m.memory_id, str(m.review), m.content, m.review_reason or "", m.recorded_at)
            for m in aside
        ]
        for link in await self._graph.link_suggestions(limit=limit):
            said = f"{link.one.label} and {link.other.label}"
            items.append(
                ReviewItem("link", link.suggestion_id, "suggested", said, link.reason, link.recorded_at)
            )
        for path in await self._graph.taxonomy_suggestions(limit=limit):
            said = f"thread {path.thread}: {path.path}"
            why = f"suggested {path.times} times"
            items.append(ReviewItem("taxonomy", path.suggestion_id, "suggested", said, why, path.recorded_at))
        return sorted(items, key=lambda item: item.recorded_at)[:limit]

    async def decide(self, identifier: str | UUID, *, accept: bool) -> None:
        """Accept or reject what `review` lists: a memory, a link of two entities, a thread's path. Raises NotFound."""
        waiting = await self.review(limit=MAX_LIMIT)
        wanted = str(identifier).strip().lower()
        found = [item for item in waiting if str(item.id).endswith(wanted)]
        if len(wanted) < SHORT_ID_LENGTH or len(found) != 1:
            raise NotFound(f"Nothing that waits for review has the id {identifier}.")
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
