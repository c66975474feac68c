"""Memories: what is remembered, and a person's word on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from everlore.api.directory import Verbs
from everlore.api.entities import Graph
from everlore.domain.erasure import ErasureReceipt
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.knowledge import MemoryDetail
from everlore.domain.memories import STATUSES, AsOf, Memory, MemoryType
from everlore.knowledge import curation
from everlore.knowledge.curation import Told
from everlore.knowledge.erasure import erase_memory
from everlore.store import facts, memories
from everlore.store.memories import Listing
from everlore.store.run import Transaction
from everlore.validation import (
    aware,
    between,
    changes_of,
    content_of,
    digits_of,
    moments,
    name,
    only,
    share,
    tags_of,
    taxonomy_path,
    type_of,
)

MAX_LIMIT = 1000
MAX_OFFSET = 1_000_000
NOW = AsOf()


@dataclass(frozen=True, slots=True)
class Memories(Verbs):
    """The verbs on memories. One is named by its id, or the last 8 characters of it at least."""

    async def remember(
        self,
        content: str,
        *,
        type: MemoryType = "general",
        category: str | None = None,
        tags: Sequence[str] = (),
        importance: float = curation.IMPORTANCE,
        at: datetime | None = None,
        event_at: datetime | None = None,
        expires_at: datetime | None = None,
        pin: bool = False,
        author: str = curation.USER,
        entities: Sequence[str | UUID] = (),
    ) -> Memory:
        """Keep a memory directly. `at`: since when it is true (now, if left out); `entities`: whom it speaks of, by name or id,
        beside those that its words name. The same words again corroborate what is known. Raises InvalidInput, NotFound."""
        told = Told(
            content=content_of(content),
            type=type_of(type),
            at=self.now() if at is None else aware(at, "at"),
            category=None if category is None else name(category, "category"),
            tags=tags_of(tags),
            importance=share(importance, "importance"),
            event_at=None if event_at is None else aware(event_at, "event_at"),
            expires_at=None if expires_at is None else aware(expires_at, "expires_at"),
            pinned=pin,
            author=name(author, "author"),
            entities=tuple(name(str(one), "entities") for one in entities),
        )
        memory, _ = await curation.remember(self.runtime, await self.made(), told)
        return memory

    async def memories(
        self,
        *,
        types: Sequence[MemoryType] | None = None,
        status: str | None = None,
        entity: str | UUID | None = None,
        text: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        thread: str | None = None,
        taxonomy: str | None = None,
        pinned: bool | None = None,
        as_of: AsOf = NOW,
        include_expired: bool = False,
        limit: int = 50,
        offset: int = 0,
    ) -> list[Memory]:
        """Memories that pass all filters, the latest first; those in use, unless `status` names others ("all": every one).

        `as_of.valid_at`: what was true then, as we know today; `as_of.recorded_at`: what we believed then. Raises
        InvalidInput, NotFound. `text`: whole words in their order, the last one possibly only begun ("sprin" finds "spring",
        "ring" does not).
        """
        if status is not None and status != "all" and status not in STATUSES:
            raise InvalidInput("status", f"must be all, or one of {', '.join(STATUSES)}; it is {status!r}")
        thread_id = None
        async with self.reading() as tx:
            if thread is not None:
                thread_id = await self.thread_id(tx, thread)
        what = Listing(
            types=None if types is None else [type_of(one) for one in types],
            status=status,
            entities=None if entity is None else [await Graph(self.directory, self.name).find(entity)],
            text=None if text is None else name(text, "text"),
            since=None if since is None else aware(since, "since"),
            until=None if until is None else aware(until, "until"),
            thread_id=thread_id,
            taxonomy=None if taxonomy is None else taxonomy_path(taxonomy, "taxonomy"),
            pinned=pinned,
            as_of=moments(as_of),
            include_expired=include_expired,
            limit=between(limit, "limit", 1, MAX_LIMIT),
            offset=between(offset, "offset", 0, MAX_OFFSET),
        )
        async with self.reading() as tx:
            return await memories.listed(tx, what, self.now())

    async def memory(self, identifier: str | UUID, *, as_of: AsOf = NOW) -> MemoryDetail:
        """One memory with its sources, its lineage and its facts; with `as_of` the version of then. Raises NotFound."""
        as_of = moments(as_of)
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
        return MemoryDetail(
            shown,
            tuple(sources.get(found.lineage_id, ())),
            tuple(versions),
            tuple(fact for fact in shown_facts if fact is not None),
        )

    async def correct(self, identifier: str | UUID, **changes: Any) -> Memory:
        """A new version with other words, type, category, tags, importance, event_at or expires_at; the old one stays in the
        lineage. What the old words stated as facts was never true. Raises InvalidInput, NotFound."""
        checked = changes_of(changes)
        return await curation.correct(
            self.runtime, await self.found(), await self._resolved(identifier), checked
        )

    async def pin(self, identifier: str | UUID, *, pinned: bool = True) -> Memory:
        """Always in context (or no longer)."""
        return await curation.pin(
            self.runtime, await self.found(), await self._resolved(identifier), pinned=pinned
        )

    async def forget(self, identifier: str | UUID) -> Memory:
        """Out of every answer, with what only it states; `restore` undoes it, `erase` is for good."""
        return await curation.forget(self.runtime, await self.found(), await self._resolved(identifier))

    async def restore(self, identifier: str | UUID) -> Memory:
        """Undo `forget`."""
        return await curation.restore(self.runtime, await self.found(), await self._resolved(identifier))

    async def confirm(self, identifier: str | UUID) -> Memory:
        """It is so. What waited for review is in use from now on."""
        return await curation.confirm(self.runtime, await self.found(), await self._resolved(identifier))

    async def reject(self, identifier: str | UUID) -> Memory:
        """It is not so. It stays visible among the rejected, and is not distilled again."""
        return await curation.reject(self.runtime, await self.found(), await self._resolved(identifier))

    async def erase(self, identifier: str | UUID, *, sources: bool = False) -> ErasureReceipt:
        """Erase a memory for good, in all its versions, with what only it states; with `sources` the messages that it was read
        from, too, and all that was made of them. The receipt names what went. Raises NotFound, InvalidInput."""
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
        if isinstance(identifier, UUID):
            return identifier
        return only(identifier, "memory", await memories.find(tx, digits_of(identifier, "memory")))


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
