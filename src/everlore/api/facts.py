"""Facts: what is stated of entities, and a person's word on it."""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from everlore.api.directory import Verbs
from everlore.api.entities import Graph
from everlore.api.memories import NOW
from everlore.domain.answers import Doc, Page
from everlore.domain.errors import NotFound
from everlore.domain.knowledge import FactDetail
from everlore.domain.memories import Fact
from everlore.knowledge import curation
from everlore.paging import after, moment, page, truth
from everlore.paging import identifier as by_id
from everlore.store import facts
from everlore.store.facts import FactListing
from everlore.store.run import Transaction
from everlore.validation import Cursor, Id, Limit, Name, Named, Times, checked, found_by_id, predicate_of

FACT_ID = "A fact's id (of the lineage or a version), or at least its last 8 characters."


@dataclass(frozen=True, slots=True)
class Facts(Verbs):
    """The verbs on facts. One is named by its id, or the last 8 characters of it at least."""

    @checked
    async def facts(
        self,
        *,
        subject: Annotated[Named | None, Doc("Only of this entity: a name or an id.")] = None,
        about: Annotated[Named | None, Doc("Only with this entity on either side.")] = None,
        predicate: Annotated[Name | None, Doc("Only this one, such as lives_in.")] = None,
        object: Annotated[Name | None, Doc("Only whose object says this.")] = None,
        as_of: Annotated[Times, Doc("Another moment than now to ask about.")] = NOW,
        history: Annotated[bool, Doc("Also what held once.")] = False,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[Fact]:
        """List facts, those that hold first, each with every source.

        Those that hold now, or at the time asked about; with `history` also those that held once. Raises InvalidInput,
        NotFound."""
        graph = Graph(self.directory, self.name)
        what = FactListing(
            subjects=None if subject is None else [await graph.find(subject)],
            about=None if about is None else [await graph.find(about)],
            predicate=None if predicate is None else await self._predicate(predicate),
            object=object,
            as_of=as_of,
            history=history,
            limit=limit + 1,
            after=after(cursor, truth, moment, float, by_id),
        )
        async with self.reading() as tx:
            found, total = await facts.listed(tx, what, self.now())
        return page(found, total, limit, facts.list_key)

    async def fact_detail(self, identifier: Annotated[Id, Doc(FACT_ID)]) -> FactDetail:
        """Show all of one fact: every source, and what was believed of it when."""
        versions = await self.fact_versions(identifier)
        return FactDetail(versions[-1], tuple(versions))

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

    async def confirm_fact(self, identifier: Annotated[Id, Doc(FACT_ID)]) -> Fact:
        """Confirm a fact: it is so, and sure from now on."""
        return await self._decide_fact(identifier, right=True)

    async def reject_fact(self, identifier: Annotated[Id, Doc(FACT_ID)]) -> Fact:
        """Reject a fact: it is not so.

        It never held, and is not stated again."""
        return await self._decide_fact(identifier, right=False)

    async def _predicate(self, given: str) -> str:
        async with self.reading() as tx:
            return predicate_of(given, await facts.predicates(tx))

    async def _fact_id(self, tx: Transaction, identifier: str | UUID) -> UUID:
        return await found_by_id(identifier, "fact", lambda digits: facts.find(tx, digits))

    async def _decide_fact(self, identifier: str | UUID, *, right: bool) -> Fact:
        found = await self.fact(identifier)
        await curation.decide_fact(self.runtime, await self.found(), found.fact_id, right=right)
        return await self.fact(found.lineage_id)
