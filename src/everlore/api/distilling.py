"""Distilling, as the verbs of one workspace see it: what waits, what it would take, what it cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, cast
from uuid import UUID

from everlore.api.entities import Graph
from everlore.budget import Limits, caps_reached, estimate, spent_today
from everlore.distil.step import ask_again
from everlore.distil.windows import WINDOW
from everlore.domain.answers import Doc
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.knowledge import (
    DistilEstimate,
    Distilled,
    LeftAlone,
    Usage,
    UsageDay,
)
from everlore.domain.memories import AsOf
from everlore.knowledge.entity_linking import Linking
from everlore.ports.analyst import Analyst
from everlore.ports.clock import Clock
from everlore.ports.embedder import Embedder
from everlore.store import conversation, distilling, usage
from everlore.store.database import Database
from everlore.store.run import Transaction
from everlore.validation import (
    Name,
    Position,
    checked,
    name,
    number,
)

MAX_LISTED = 1_000_000
NOW = AsOf()
MEMORY_ID = "A memory's id (of the lineage or a version), or at least its last 8 characters."
FACT_ID = "A fact's id (of the lineage or a version), or at least its last 8 characters."


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


class Distilling:
    """What waits to be read in one workspace, and what reading cost."""

    def __init__(self, workspace_id: UUID, called: str, means: Means, graph: Graph) -> None:
        self.workspace_id = workspace_id
        self.name = called
        self.graph = graph
        self._means = means

    def now(self) -> datetime:
        """The present, by the clock of this memory."""
        return self._means.clock()

    @checked
    async def estimate_distil(
        self,
        thread: Name | None = None,
        *,
        again: bool = False,
        since: Position | None = None,
        until: Position | None = None,
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

    @checked
    async def usage(
        self, *, days: Annotated[int, number(1, 3660), Doc("So many days, today included.")] = 30
    ) -> Usage:
        """Show what model calls cost, per day (UTC) and model; failed ones count.

        With the caps that are reached and the models that are left alone."""
        now = self._means.clock()
        since = (now - timedelta(days=days - 1)).date()
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
            tuple(LeftAlone(b.model, cast("datetime", b.open_until)) for b in open_),
        )

    def _reading(self) -> Any:
        return self._means.database.workspace(self.workspace_id, read_only=True)

    async def _thread_id(self, tx: Transaction, thread: str) -> UUID:
        found = await conversation.find_thread(tx, name(thread, "thread"))
        if found is None:
            raise NotFound(f"There is no thread {thread} in the workspace {self.name}.")
        return found


def _span(since: int | None, until: int | None) -> None:
    if since is not None and until is not None and since > until:
        raise InvalidInput("until", f"is {until}, before since, which is {since}; positions count from 1")
