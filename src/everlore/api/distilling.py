"""Distilling: what waits, what it takes, what came of it; and how a workspace is doing."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, cast
from uuid import UUID

from everlore.api.directory import Verbs
from everlore.budget import caps_reached, estimate, spent_today
from everlore.distil.step import ask_again
from everlore.distil.windows import WINDOW
from everlore.domain.answers import Doc
from everlore.domain.errors import InvalidInput
from everlore.domain.knowledge import DistilEstimate, Distilled, LeftAlone, Usage, UsageDay
from everlore.domain.operations import WorkspaceStatus
from everlore.store import conversation, distilling, index, passages, postings, usage
from everlore.validation import Name, Position, checked, number


@dataclass(frozen=True, slots=True)
class Distilling(Verbs):
    """The verbs on distilling, and the state of the workspace."""

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
        runtime, settings = self.runtime, self.runtime.settings.distil
        _span(since, until)
        async with self.reading() as tx:
            if thread is not None:
                await self.thread_id(tx, thread)
            waiting = await distilling.to_read(
                tx,
                thread,
                again=again,
                since=since,
                until=until,
                window=WINDOW,
                silence=settings.silence,
                now=self.now(),
                close=close,
            )
        analyst = "none" if runtime.analyst is None else runtime.analyst.name
        because = runtime.undistilled_because
        if runtime.analyst is None or runtime.analyst.model is None:
            return DistilEstimate(waiting.threads, waiting.messages, analyst, 0, 0, 0, None, because)
        rough = estimate(
            waiting.windows,
            waiting.messages,
            waiting.characters,
            settings,
        )
        return DistilEstimate(
            waiting.threads,
            waiting.messages,
            analyst,
            rough.calls,
            rough.tokens_in,
            rough.tokens_out,
            rough.cost,
            because,
        )

    async def distilled(self, thread: str | None = None) -> Distilled:
        """What all reading so far came to, that of earlier times included. Raises NotFound."""
        async with self.reading() as tx:
            if thread is not None:
                await self.thread_id(tx, thread)
            return await distilling.tally(tx, thread)

    async def threads_to_distil(self, thread: str | None = None) -> list[UUID]:
        """Ids of the threads that have messages to distil, or windows to read anew; `thread`: only that one."""
        async with self.reading() as tx:
            if thread is not None:
                await self.thread_id(tx, thread)
            return await distilling.unfinished(tx, thread)

    async def distil_again(self, thread: str, *, since: int | None = None, until: int | None = None) -> int:
        """Have the windows of a thread read anew that overlap the positions `since` to `until`; returns how many. What they
        yield supersedes what they yielded before. A job is left; `Everlore.distil` runs it."""
        _span(since, until)
        async with self.reading() as tx:
            thread_id = await self.thread_id(tx, thread)
        return await ask_again(self.runtime, await self.found(), thread_id, since=since, until=until)

    @checked
    async def usage(
        self, *, days: Annotated[int, number(1, 3660), Doc("So many days, today included.")] = 30
    ) -> Usage:
        """Show what model calls cost, per day (UTC) and model; failed ones count.

        With the caps that are reached and the models that are left alone."""
        now = self.now()
        since = (now - timedelta(days=days - 1)).date()
        async with self.reading() as tx:
            rows = await usage.usage(tx, since)
            today = await spent_today(tx, now)
            open_ = [b for b in await usage.open_breakers(tx) if b.open_until and b.open_until > now]
        settings = self.runtime.settings.distil
        return Usage(
            tuple(
                UsageDay(r.day, r.model, r.calls, r.failed, r.tokens_in, r.tokens_out, r.cost) for r in rows
            ),
            caps_reached(today, settings, "soft"),
            caps_reached(today, settings, "hard"),
            tuple(LeftAlone(b.model, cast("datetime", b.open_until)) for b in open_),
        )

    async def status(self) -> WorkspaceStatus:
        async with self.reading() as tx:
            threads = await conversation.list_threads(tx)
            unpacked = await postings.tail_size(tx)
            models = await index.models(tx)
            unembedded = {
                model.name: (await index.behind(tx, model.step))[1]
                + await passages.waiting(tx, model.model_id)
                for model in models
            }
            _, undistilled, failed = await distilling.waiting(tx)
            count = await distilling.count(tx)
        return WorkspaceStatus(
            self.name,
            len(threads),
            sum(t.messages for t in threads),
            unpacked,
            unembedded,
            count,
            undistilled,
            failed,
        )


def _span(since: int | None, until: int | None) -> None:
    if since is not None and until is not None and since > until:
        raise InvalidInput("until", f"is {until}, before since, which is {since}; positions count from 1")
