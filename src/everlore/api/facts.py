"""Facts: what is stated of entities, and a person's word on it."""

from dataclasses import dataclass
from uuid import UUID

from everlore.api.directory import Verbs
from everlore.api.entities import Graph
from everlore.api.memories import MAX_LIMIT, MAX_OFFSET, NOW
from everlore.domain.errors import NotFound
from everlore.domain.memories import AsOf, Fact
from everlore.knowledge import curation
from everlore.store import facts
from everlore.store.facts import FactListing
from everlore.store.run import Transaction
from everlore.validation import between, digits_of, moments, name, only, predicate_of


@dataclass(frozen=True, slots=True)
class Facts(Verbs):
    """The verbs on facts. One is named by its id, or the last 8 characters of it at least."""

    async def facts(
        self,
        *,
        subject: str | UUID | None = None,
        about: str | UUID | None = None,
        predicate: str | None = None,
        object: str | None = None,
        as_of: AsOf = NOW,
        history: bool = False,
        limit: int = 50,
        offset: int = 0,
    ) -> list[Fact]:
        """Facts that pass, with every source: those that hold now (or at `as_of`), with `history` those that held once, too.
        `about`: the entity is subject or object. Raises InvalidInput, NotFound."""
        graph = Graph(self.directory, self.name)
        what = FactListing(
            subjects=None if subject is None else [await graph.find(subject)],
            about=None if about is None else [await graph.find(about)],
            predicate=None if predicate is None else await self._predicate(predicate),
            object=None if object is None else name(object, "object"),
            as_of=moments(as_of),
            history=history,
            limit=between(limit, "limit", 1, MAX_LIMIT),
            offset=between(offset, "offset", 0, MAX_OFFSET),
        )
        async with self.reading() as tx:
            return await facts.listed(tx, what, self.now())

    async def fact(self, identifier: str | UUID) -> Fact:
        """One fact with its sources, as it stands today, whichever of its versions is named. Raises NotFound, InvalidInput."""
        return (await self.fact_versions(identifier))[-1]

    async def fact_versions(self, identifier: str | UUID) -> list[Fact]:
        """All versions of a fact, the first one first: what was believed of it when. Raises NotFound, InvalidInput."""
        async with self.reading() as tx:
            found = await facts.show(tx, await self._fact_id(tx, identifier))
            if found is None:
                raise NotFound(f"There is no fact {identifier} in the workspace {self.name}.")
            return await facts.versions(tx, found.lineage_id)

    async def confirm_fact(self, identifier: str | UUID) -> Fact:
        """It is so: sure from now on."""
        return await self._decide_fact(identifier, right=True)

    async def reject_fact(self, identifier: str | UUID) -> Fact:
        """It is not so: it never held, and is not stated again."""
        return await self._decide_fact(identifier, right=False)

    async def _predicate(self, given: str) -> str:
        async with self.reading() as tx:
            return predicate_of(given, await facts.predicates(tx))

    async def _fact_id(self, tx: Transaction, identifier: str | UUID) -> UUID:
        if isinstance(identifier, UUID):
            return identifier
        return only(identifier, "fact", await facts.find(tx, digits_of(identifier, "fact")))

    async def _decide_fact(self, identifier: str | UUID, *, right: bool) -> Fact:
        found = await self.fact(identifier)
        await curation.decide_fact(self.runtime, await self.found(), found.fact_id, right=right)
        return await self.fact(found.lineage_id)
