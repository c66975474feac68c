"""The verbs on the taxonomy: paths that threads are filed under."""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from everlore.api.directory import Verbs
from everlore.domain.answers import Doc, Page
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.graph import (
    TaxonomyNode,
    TaxonomySuggestion,
)
from everlore.paging import identifier as by_id
from everlore.paging import paged
from everlore.store import conversation, taxonomy
from everlore.validation import (
    MAX_LIMIT,
    Cursor,
    Limit,
    Name,
    TaxonomyPath,
    checked,
    whole_id,
)

MAX_LISTED = 1_000_000


@dataclass(frozen=True, slots=True)
class Taxonomy(Verbs):
    """The paths of one workspace."""

    @checked
    async def taxonomy(self, *, limit: Limit = MAX_LIMIT, cursor: Cursor = None) -> Page[TaxonomyNode]:
        """List all paths with their labels, and how many threads are filed there."""
        async with self.reading() as tx:
            found = sorted(await taxonomy.tree(tx), key=lambda node: node.path.split("."))
        return paged(found, limit, cursor, lambda node: node.path.split("."), *[str] * 20)

    @checked
    async def label_taxonomy(
        self,
        path: Annotated[TaxonomyPath, Doc("Such as work.studio.")],
        label: Annotated[Name, Doc("What it is called.")],
    ) -> None:
        """Say what a path is called."""
        async with self.writing() as tx:
            await taxonomy.label(tx, path, label, self.now())
            await conversation.audit(tx, "label taxonomy", path, label=label)

    @checked
    async def taxonomy_suggestions(
        self, *, limit: Limit = 50, cursor: Cursor = None
    ) -> Page[TaxonomySuggestion]:
        """List paths that threads may belong to, the most frequent first."""
        async with self.reading() as tx:
            found = await taxonomy.suggestions(tx, MAX_LISTED)
        found.sort(key=_commonest)
        return paged(found, limit, cursor, _commonest, int, by_id)

    async def decide_taxonomy(self, suggestion_id: str | UUID, accept: bool) -> None:
        """Accept a suggested path, which moves the thread there, or reject it for good. Raises NotFound, InvalidInput."""
        suggestion = whole_id(suggestion_id, "suggestion")
        async with self.writing() as tx:
            found = await taxonomy.lock_suggestion(tx, suggestion)
            if found is None:
                raise NotFound(f"There is no suggestion {suggestion_id}.")
            thread_id, path, decided_at = found
            if decided_at is not None:
                raise InvalidInput("suggestion", "was decided already")
            await taxonomy.decide(tx, suggestion, accept, self.now())
            if accept:
                await taxonomy.set_path(tx, thread_id, path)
            action = "accept taxonomy" if accept else "reject taxonomy"
            await conversation.audit(tx, action, str(thread_id), suggestion=str(suggestion))


def _commonest(suggestion: TaxonomySuggestion) -> tuple[int, UUID]:
    return -suggestion.times, suggestion.suggestion_id
