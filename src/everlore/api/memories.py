"""Memories: what is remembered, and a person's word on it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal
from uuid import UUID

from everlore.api.directory import Verbs
from everlore.api.entities import Graph
from everlore.domain.answers import UNCHANGED, Doc, Page, Unchanged
from everlore.domain.erasure import ErasureReceipt
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.knowledge import MemoryDetail
from everlore.domain.memories import AsOf, KeptMemory, Memory, MemoryType, Status, as_seen
from everlore.knowledge import curation
from everlore.knowledge.curation import Told
from everlore.knowledge.erasure import erase_memory
from everlore.paging import after, moment, page
from everlore.paging import identifier as by_id
from everlore.store import facts, memories
from everlore.store.memories import Listing
from everlore.store.run import Transaction
from everlore.validation import (
    Content,
    Cursor,
    Id,
    Limit,
    Moment,
    Name,
    Named,
    Share,
    Tags,
    TaxonomyPath,
    Times,
    checked,
    found_by_id,
)

NOW = AsOf()
MEMORY_ID = "A memory's id (of the lineage or a version), or at least its last 8 characters."


@dataclass(frozen=True, slots=True)
class Memories(Verbs):
    """The verbs on memories. One is named by its id, or the last 8 characters of it at least."""

    @checked
    async def remember(
        self,
        content: Annotated[Content, Doc("What to remember.")],
        *,
        type: Annotated[MemoryType, Doc("Its type, which says how long it stays in view.")] = "general",
        category: Annotated[Name | None, Doc("A category of your own.")] = None,
        tags: Annotated[Tags, Doc("Tags of your own.")] = (),
        importance: Annotated[Share, Doc("How much it matters.")] = curation.IMPORTANCE,
        at: Annotated[Moment | None, Doc("Since when it is true; left out, since now.")] = None,
        event_at: Annotated[Moment | None, Doc("When what it tells of happens.")] = None,
        expires_at: Annotated[Moment | None, Doc("When it goes out of view; left out, by its type.")] = None,
        pin: Annotated[bool, Doc("Always in context.")] = False,
        author: Annotated[Name, Doc("Whose word it is: who I and my are.")] = curation.USER,
        entities: Annotated[Sequence[Named], Doc("Whom it speaks of, beside those that it names.")] = (),
    ) -> KeptMemory:
        """Keep a memory directly.

        The same words again make what is known surer. Raises InvalidInput, NotFound."""
        told = Told(
            content=content,
            type=type,
            at=self.now() if at is None else at,
            category=category,
            tags=tuple(tags),
            importance=importance,
            event_at=event_at,
            expires_at=expires_at,
            pinned=pin,
            author=author,
            entities=tuple(map(str, entities)),
        )
        memory, _ = await curation.remember(self.runtime, await self.made(), told)
        return self._kept(self._seen(memory))

    @checked
    async def memories(
        self,
        *,
        types: Annotated[Sequence[MemoryType] | None, Doc("Only of these types.")] = None,
        status: Annotated[
            Literal["all", Status] | None,
            Doc("Instead of those in use: all, or one status such as expired."),
        ] = None,
        entity: Annotated[Named | None, Doc("Only those that speak of this entity: a name or an id.")] = None,
        text: Annotated[Name | None, Doc("Only those that say this.")] = None,
        since: Annotated[Moment | None, Doc("Only true from then on.")] = None,
        until: Annotated[Moment | None, Doc("Only true from before then.")] = None,
        thread: Annotated[Name | None, Doc("Only out of this thread; it must exist.")] = None,
        taxonomy: Annotated[TaxonomyPath | None, Doc("Only what lies under this path.")] = None,
        pinned: Annotated[bool | None, Doc("Only pinned ones, or only others.")] = None,
        as_of: Annotated[Times, Doc("Another moment than now to ask about.")] = NOW,
        include_expired: Annotated[bool, Doc("Also what is out of view by now.")] = False,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[Memory]:
        """List memories, the latest first.

        Those that pass all filters; without any, those in use. Raises InvalidInput, NotFound.
        """
        async with self.reading() as tx:
            thread_id = None if thread is None else await self.thread_id(tx, thread)
        what = Listing(
            types=types,
            status=status,
            entities=None if entity is None else [await Graph(self.directory, self.name).find(entity)],
            text=text,
            since=since,
            until=until,
            thread_id=thread_id,
            taxonomy=taxonomy,
            pinned=pinned,
            as_of=as_of,
            include_expired=include_expired,
            limit=limit + 1,
            after=after(cursor, moment, by_id),
        )
        async with self.reading() as tx:
            found, total = await memories.listed(tx, what, self.now())
        shown = [self._seen(memory) for memory in found]
        return page(shown, total, limit, lambda one: (one.valid_from, one.memory_id))

    @checked
    async def memory(
        self,
        identifier: Annotated[Id, Doc(MEMORY_ID)],
        *,
        as_of: Annotated[Times, Doc("Another moment than now to ask about.")] = NOW,
    ) -> MemoryDetail:
        """Show all of one memory.

        Its sources, its versions and the facts that it states; with `as_of` the version of then. Raises NotFound."""
        async with self.reading() as tx:
            memory_id = await self._memory_id(tx, identifier)
            found = await memories.show(tx, memory_id)
            if found is None:
                raise NotFound(f"There is no memory {identifier} in the workspace {self.name}.")
            versions = await memories.versions(tx, found.lineage_id)
            shown = _version(versions, as_of)
            if shown is None:
                raise NotFound(f"The memory {identifier} was not known, or not true, at that time.")
            sources = await memories.sources(tx, [found.lineage_id], as_of.recorded_at)
            stated = await facts.of_memories(tx, [found.lineage_id])
            shown_facts = [await facts.show(tx, fact.fact_id) for _, fact in stated]
        found_facts = tuple(fact for fact in shown_facts if fact is not None)
        said = tuple(sources.get(found.lineage_id, ()))
        return MemoryDetail(self._seen(shown), said, tuple(map(self._seen, versions)), found_facts)

    async def history(self, identifier: Annotated[Id, Doc(MEMORY_ID)]) -> tuple[Memory, ...]:
        """List the versions of a memory, the first one first: what was believed when. Raises NotFound."""
        return (await self.memory(identifier)).versions

    @checked
    async def correct(
        self,
        identifier: Annotated[Id, Doc(MEMORY_ID)],
        content: Annotated[Content | Unchanged, Doc("The words as they should be.")] = UNCHANGED,
        *,
        type: Annotated[MemoryType | Unchanged, Doc("Its type.")] = UNCHANGED,
        category: Annotated[Name | Unchanged | None, Doc("A category of your own; none: null.")] = UNCHANGED,
        tags: Annotated[Tags | Unchanged, Doc("All of its tags.")] = UNCHANGED,
        importance: Annotated[Share | Unchanged, Doc("How much it matters.")] = UNCHANGED,
        event_at: Annotated[
            Moment | Unchanged | None, Doc("When what it tells of happens; not known: null.")
        ] = UNCHANGED,
        expires_at: Annotated[
            Moment | Unchanged | None, Doc("When it goes out of view; never: null.")
        ] = UNCHANGED,
    ) -> KeptMemory:
        """Correct a memory: a new version with what is given.

        The old one stays in the history. What only the old words stated as facts was never true. What changes nothing makes no
        version. Raises InvalidInput, NotFound."""
        given = {
            "content": content,
            "type": type,
            "category": category,
            "tags": tags if tags is UNCHANGED else list(tags),
            "importance": importance,
            "event_at": event_at,
            "expires_at": expires_at,
        }
        changes = {field: value for field, value in given.items() if value is not UNCHANGED}
        if not changes:
            raise InvalidInput("changes", f"names nothing to change; give one of {', '.join(given)}")
        return self._kept(
            await self._by_hand(curation.correct, identifier, changes), read="content" in changes
        )

    @checked
    async def pin(
        self,
        identifier: Annotated[Id, Doc(MEMORY_ID)],
        *,
        pinned: Annotated[bool, Doc("Or no longer.")] = True,
    ) -> Memory:
        """Pin a memory: it is always in context."""
        memory_id = await self._resolved(identifier)
        return self._seen(await curation.pin(self.runtime, await self.found(), memory_id, pinned=pinned))

    async def unpin(self, identifier: Annotated[Id, Doc(MEMORY_ID)]) -> Memory:
        """Unpin a memory: undo `pin`."""
        return await self.pin(identifier, pinned=False)

    async def forget(self, identifier: Annotated[Id, Doc(MEMORY_ID)]) -> Memory:
        """Forget a memory: out of every answer, with what only it states.

        `restore` undoes it, `erase` is for good."""
        return await self._by_hand(curation.forget, identifier)

    async def restore(self, identifier: Annotated[Id, Doc(MEMORY_ID)]) -> Memory:
        """Restore a memory: undo `forget`."""
        return await self._by_hand(curation.restore, identifier)

    async def confirm(self, identifier: Annotated[Id, Doc(MEMORY_ID)]) -> KeptMemory:
        """Confirm a memory: it is so.

        What waited for review is in use from then on."""
        return self._kept(await self._by_hand(curation.confirm, identifier))

    async def reject(self, identifier: Annotated[Id, Doc(MEMORY_ID)]) -> Memory:
        """Reject a memory: it is not so.

        It stays visible among the rejected, and is not distilled again."""
        return await self._by_hand(curation.reject, identifier)

    @checked
    async def erase(
        self,
        identifier: Annotated[Id, Doc(MEMORY_ID)],
        *,
        sources: Annotated[
            bool, Doc("Also the messages that it was read from, and all that was made of them.")
        ] = False,
    ) -> ErasureReceipt:
        """Erase a memory for good.

        In all its versions, with what only it states. The receipt names what went. Raises NotFound, InvalidInput."""
        async with self.writing() as tx:
            memory_id = await self._memory_id(tx, identifier)
            found = await memories.show(tx, memory_id)
            if found is None:
                raise NotFound(f"There is no memory {identifier} in the workspace {self.name}.")
            return await erase_memory(tx, found.lineage_id, self.now(), sources=sources)

    async def _resolved(self, identifier: str | UUID) -> UUID:
        async with self.reading() as tx:
            return await self._memory_id(tx, identifier)

    async def _memory_id(self, tx: Transaction, identifier: str | UUID) -> UUID:
        return await found_by_id(identifier, "memory", lambda digits: memories.find(tx, digits))

    def _seen(self, memory: Memory) -> Memory:
        return as_seen(memory, self.now())

    async def _by_hand(
        self, do: Callable[..., Awaitable[Memory]], identifier: str | UUID, *more: Any
    ) -> Memory:
        memory_id = await self._resolved(identifier)
        return self._seen(await do(self.runtime, await self.found(), memory_id, *more))

    def _kept(self, memory: Memory, *, read: bool = True) -> KeptMemory:
        """The memory with what is missing to read facts off its words, where they were read."""
        known = {one.name: getattr(memory, one.name) for one in fields(memory)}
        return KeptMemory(**known, notice=self.runtime.unread_because if read else None)


def _version(versions: Sequence[Memory], as_of: AsOf) -> Memory | None:
    """The version that was believed and true then; without times the one that stands."""
    believed = [
        m
        for m in versions
        if (as_of.recorded_at is None and m.superseded_at is None)
        or (
            as_of.recorded_at is not None
            and m.recorded_at <= as_of.recorded_at
            and (m.superseded_at is None or m.superseded_at > as_of.recorded_at)
        )
    ]
    moment = as_of.valid_at
    if moment is not None:
        believed = [
            m for m in believed if m.valid_from <= moment and (m.valid_to is None or m.valid_to > moment)
        ]
    return believed[-1] if believed else None
