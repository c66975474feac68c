"""Knowledge: the verbs on what is remembered and known, apart from the words themselves. `Workspace` has them all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID

from everlore.api.entities import Graph
from everlore.budget import Limits, caps_reached, estimate, spent_today
from everlore.distil.step import ask_again
from everlore.distil.windows import WINDOW
from everlore.domain.erasure import ErasureReceipt
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.knowledge import DistilEstimate, Distilled, MemoryDetail, ReviewItem, Usage, UsageDay
from everlore.domain.memories import STATUSES, AsOf, Fact, Memory, MemoryType
from everlore.knowledge import curation
from everlore.knowledge.curation import Hand, Told
from everlore.knowledge.entity_candidates import Linking
from everlore.knowledge.erasure import erase_memory
from everlore.ports.analyst import Analyst
from everlore.ports.clock import Clock
from everlore.ports.embedder import Embedder
from everlore.store import conversation, distilling, facts, memories, review, usage
from everlore.store.database import Database
from everlore.store.facts import FactListing
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
    predicate_of,
    share,
    tags_of,
    taxonomy_path,
    type_of,
)

MAX_LIMIT = 1000
MAX_OFFSET = 1_000_000
NOW = AsOf()


@dataclass(frozen=True, slots=True)
class Means:
    """What these verbs work with; put together by `everlore.everlore`. `analyst`: the one that distils, None if nothing is."""

    database: Database
    embedders: Mapping[str, Embedder]
    reader: Analyst
    analyst: Analyst | None
    linking: Linking
    limits: Limits
    context_messages: int
    context_tokens: int
    exact_below: int
    clock: Clock
    silence: timedelta


class Knowledge:
    """Memories and facts of one workspace. A memory or fact is named by its id, or the last 8 characters of it at least."""

    def __init__(self, workspace_id: UUID, called: str, means: Means, graph: Graph) -> None:
        self.workspace_id = workspace_id
        self.name = called
        self.graph = graph
        self._means = means

    def now(self) -> datetime:
        """The present, by the clock of this memory."""
        return self._means.clock()

    # Memories

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
            at=self._means.clock() if at is None else aware(at, "at"),
            category=None if category is None else name(category, "category"),
            tags=tags_of(tags),
            importance=share(importance, "importance"),
            event_at=None if event_at is None else aware(event_at, "event_at"),
            expires_at=None if expires_at is None else aware(expires_at, "expires_at"),
            pinned=pin,
            author=name(author, "author"),
            entities=tuple(name(str(one), "entities") for one in entities),
        )
        memory, _ = await curation.remember(self._hand(), told)
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
        async with self._reading() as tx:
            if thread is not None:
                thread_id = await self._thread_id(tx, thread)
        what = Listing(
            types=None if types is None else [type_of(one) for one in types],
            status=status,
            entities=None if entity is None else [await self.graph.find(entity)],
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
        async with self._reading() as tx:
            return await memories.listed(tx, what, self._means.clock())

    async def memory(self, identifier: str | UUID, *, as_of: AsOf = NOW) -> MemoryDetail:
        """One memory with its sources, its lineage and its facts; with `as_of` the version of then. Raises NotFound."""
        as_of = moments(as_of)
        async with self._reading() as tx:
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
        return await curation.correct(self._hand(), await self._resolved(identifier), checked)

    async def pin(self, identifier: str | UUID, *, pinned: bool = True) -> Memory:
        """Always in context (or no longer)."""
        return await curation.pin(self._hand(), await self._resolved(identifier), pinned=pinned)

    async def forget(self, identifier: str | UUID) -> Memory:
        """Out of every answer, with what only it states; `restore` undoes it, `erase` is for good."""
        return await curation.forget(self._hand(), await self._resolved(identifier))

    async def restore(self, identifier: str | UUID) -> Memory:
        """Undo `forget`."""
        return await curation.restore(self._hand(), await self._resolved(identifier))

    async def confirm(self, identifier: str | UUID) -> Memory:
        """It is so. What waited for review is in use from now on."""
        return await curation.confirm(self._hand(), await self._resolved(identifier))

    async def reject(self, identifier: str | UUID) -> Memory:
        """It is not so. It stays visible among the rejected, and is not distilled again."""
        return await curation.reject(self._hand(), await self._resolved(identifier))

    async def erase(self, identifier: str | UUID, *, sources: bool = False) -> ErasureReceipt:
        """Erase a memory for good, in all its versions, with what only it states; with `sources` the messages that it was read
        from, too, and all that was made of them. The receipt names what went. Raises NotFound, InvalidInput."""
        async with self._means.database.workspace(self.workspace_id) as tx:
            memory_id = await self._memory_id(tx, identifier)
            found = await memories.show(tx, memory_id)
            if found is None:
                raise NotFound(f"There is no memory {identifier} in the workspace {self.name}.")
            return await erase_memory(tx, found.lineage_id, self._means.clock(), sources=sources)

    # Facts

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
        what = FactListing(
            subjects=None if subject is None else [await self.graph.find(subject)],
            about=None if about is None else [await self.graph.find(about)],
            predicate=None if predicate is None else await self._predicate(predicate),
            object=None if object is None else name(object, "object"),
            as_of=moments(as_of),
            history=history,
            limit=between(limit, "limit", 1, MAX_LIMIT),
            offset=between(offset, "offset", 0, MAX_OFFSET),
        )
        async with self._reading() as tx:
            return await facts.listed(tx, what, self._means.clock())

    async def fact(self, identifier: str | UUID) -> Fact:
        """One fact with its sources, as it stands today, whichever of its versions is named. Raises NotFound, InvalidInput."""
        return (await self.fact_versions(identifier))[-1]

    async def fact_versions(self, identifier: str | UUID) -> list[Fact]:
        """All versions of a fact, the first one first: what was believed of it when. Raises NotFound, InvalidInput."""
        async with self._reading() as tx:
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

    # Review

    async def review(self, *, limit: int = 100) -> list[ReviewItem]:
        """What waits for a person, the oldest first: memories set aside, entities that may be one, paths for threads."""
        limit = between(limit, "limit", 1, MAX_LIMIT)
        async with self._reading() as tx:
            return await review.waiting(tx, limit)

    async def decide(self, identifier: str | UUID, *, accept: bool) -> None:
        """Accept or reject what waits for review: a memory, a link of two entities, a thread's path. Raises NotFound,
        InvalidInput."""
        digits = digits_of(str(identifier), "review item")
        async with self._reading() as tx:
            found = await review.waiting(tx, 2, ending=digits)
        if not found:
            raise NotFound(f"Nothing that waits for review has the id {identifier}.")
        only(str(identifier), "review item", [item.id for item in found])
        item = found[0]
        if item.kind == "link":
            await self.graph.decide_link(item.id, accept)
        elif item.kind == "taxonomy":
            await self.graph.decide_taxonomy(item.id, accept)
        elif accept:
            await curation.confirm(self._hand(), item.id)
        else:
            await curation.reject(self._hand(), item.id)

    # Distilling

    async def estimate_distil(
        self,
        thread: str | None = None,
        *,
        again: bool = False,
        since: int | None = None,
        until: int | None = None,
        close: bool = True,
    ) -> DistilEstimate:
        """What waits to be distilled, and roughly what the model would take for it. `again`: also what was read already, at the
        positions `since` to `until`. `close`: the last window of each thread is read, too, however short. Raises NotFound,
        InvalidInput."""
        means = self._means
        _span(since, until)
        async with self._reading() as tx:
            if thread is not None:
                await self._thread_id(tx, thread)
            waiting = await distilling.to_read(
                tx,
                thread,
                again=again,
                since=since,
                until=until,
                window=WINDOW,
                silence=means.silence,
                now=means.clock(),
                close=close,
            )
        analyst = "none" if means.analyst is None else means.analyst.name
        if means.analyst is None or means.analyst.model is None:
            return DistilEstimate(waiting.threads, waiting.messages, analyst, 0, 0, 0, None)
        rough = estimate(
            waiting.windows,
            waiting.messages,
            waiting.characters,
            means.limits,
            context_messages=means.context_messages,
            context_tokens=means.context_tokens,
        )
        return DistilEstimate(
            waiting.threads,
            waiting.messages,
            analyst,
            rough.calls,
            rough.tokens_in,
            rough.tokens_out,
            rough.cost,
        )

    async def distilled(self, thread: str | None = None) -> Distilled:
        """What all reading so far came to, that of earlier times included. Raises NotFound."""
        async with self._reading() as tx:
            if thread is not None:
                await self._thread_id(tx, thread)
            return await distilling.tally(tx, thread)

    async def threads_to_distil(self, thread: str | None = None) -> list[UUID]:
        """Ids of the threads that have messages to distil, or windows to read anew; `thread`: only that one."""
        async with self._reading() as tx:
            if thread is not None:
                await self._thread_id(tx, thread)
            return await distilling.unfinished(tx, thread)

    async def distil_again(self, thread: str, *, since: int | None = None, until: int | None = None) -> int:
        """Have the windows of a thread read anew that overlap the positions `since` to `until`; returns how many. What they
        yield supersedes what they yielded before. A job is left; `Everlore.distil` runs it."""
        _span(since, until)
        async with self._reading() as tx:
            thread_id = await self._thread_id(tx, thread)
        return await ask_again(
            self._means.database, self.workspace_id, thread_id, self._means.clock(), since=since, until=until
        )

    async def usage(self, *, days: int = 30) -> Usage:
        """What model calls cost in the last days, today included, and which caps are reached."""
        now = self._means.clock()
        since = (now - timedelta(days=between(days, "days", 1, 3660) - 1)).date()
        async with self._reading() as tx:
            rows = await usage.usage(tx, since)
            today = await spent_today(tx, now)
            open_ = [b for b in await usage.open_breakers(tx) if b.open_until and b.open_until > now]
        limits = self._means.limits
        return Usage(
            tuple(
                UsageDay(r.day, r.model, r.calls, r.failed, r.tokens_in, r.tokens_out, r.cost) for r in rows
            ),
            caps_reached(today, limits, "soft"),
            caps_reached(today, limits, "hard"),
            tuple((b.model, cast("datetime", b.open_until)) for b in open_),
        )

    # What the verbs share

    def _reading(self) -> Any:
        return self._means.database.workspace(self.workspace_id, read_only=True)

    def _hand(self) -> Hand:
        means = self._means
        return Hand(
            means.database,
            self.workspace_id,
            means.reader,
            means.embedders,
            means.linking,
            means.exact_below,
            means.clock(),
        )

    async def _thread_id(self, tx: Transaction, thread: str) -> UUID:
        found = await conversation.find_thread(tx, name(thread, "thread"))
        if found is None:
            raise NotFound(f"There is no thread {thread} in the workspace {self.name}.")
        return found

    async def _predicate(self, given: str) -> str:
        async with self._reading() as tx:
            return predicate_of(given, await facts.predicates(tx))

    async def _resolved(self, identifier: str | UUID) -> UUID:
        async with self._reading() as tx:
            return await self._memory_id(tx, identifier)

    async def _memory_id(self, tx: Transaction, identifier: str | UUID) -> UUID:
        if isinstance(identifier, UUID):
            return identifier
        return only(identifier, "memory", await memories.find(tx, digits_of(identifier, "memory")))

    async def _fact_id(self, tx: Transaction, identifier: str | UUID) -> UUID:
        if isinstance(identifier, UUID):
            return identifier
        return only(identifier, "fact", await facts.find(tx, digits_of(identifier, "fact")))

    async def _decide_fact(self, identifier: str | UUID, *, right: bool) -> Fact:
        found = await self.fact(identifier)
        await curation.decide_fact(self._hand(), found.fact_id, right=right)
        return await self.fact(found.lineage_id)


def _span(since: int | None, until: int | None) -> None:
    if since is not None and until is not None and since > until:
        raise InvalidInput("until", f"is {until}, before since, which is {since}; positions count from 1")


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
