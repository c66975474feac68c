"""Everlore, opened: the operator's verbs, and the way to every workspace."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import ceil
from typing import Annotated, Any
from uuid import UUID

from everlore.api.directory import Directory
from everlore.api.transfer import export_lines, import_lines
from everlore.api.workspace import Workspace
from everlore.budget import held_up, probe_at_once
from everlore.capture.resplit import resplit_workspace
from everlore.config import Settings, load_settings
from everlore.domain.answers import Doc, Page
from everlore.domain.errors import (
    ConfigurationError,
    Conflict,
    EverloreError,
    InternalError,
    NotFound,
    WorldError,
)
from everlore.domain.operations import HeldUp, Status, WorkspaceDeleted, WorkspaceImported, WorkspaceSummary
from everlore.index.step import ensure_vector_indexes, pack_tail, rebuild
from everlore.paging import paged
from everlore.ports.analyst import Analyst
from everlore.ports.clock import Clock, system_clock
from everlore.ports.embedder import Embedder
from everlore.recall.uses import Uses
from everlore.runtime import Runtime
from everlore.step import Scope, Step
from everlore.store import jobs, operations
from everlore.store.database import WORKER, Database
from everlore.store.inspection import inspect
from everlore.store.job_queue import queue_errors
from everlore.store.run import Transaction
from everlore.store.server import Server
from everlore.validation import MAX_LIMIT, Cursor, Limit, Lines, Name, checked, name
from everlore.wiring import DEFAULT_WORKSPACE, database_urls, make_runtime, undistilled_because
from everlore.work import steps
from everlore.work.jobs import STALLED_AFTER_S, defer, job_app, wake
from everlore.work.worker import Worker, run_queued, run_scopes

log = logging.getLogger(__name__)

# How often the embedded server is looked at, and after how many failures to start it again nobody tries any more.
_LOOK_EVERY_S = 1.0
_GIVE_UP_AFTER = 3

__all__ = ["DEFAULT_WORKSPACE", "Everlore", "Retried"]


@dataclass(frozen=True, slots=True)
class Retried:
    """What is tried again: how many jobs and failures, and the steps that no command runs unasked, by name, with what they are
    to be run on; each with whether what would wait for more is done, too."""

    count: int
    runs: Mapping[tuple[str, Scope], bool]


@dataclass(slots=True)
class Everlore:
    """An open memory. Use `Everlore.open()`; all workspaces are reached from here.

    `runtime` has the application's login, `workers` that of the workers, for whoever operates the installation: it is used
    only then.
    """

    settings: Settings
    server: Server | None
    runtime: Runtime
    workers: Runtime
    directory: Directory
    _worker: Worker | None = field(default=None)
    _keeper: asyncio.Task[None] | None = field(default=None)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        settings: Settings | None = None,
        *,
        worker: bool = True,
        clock: Clock = system_clock,
        embedders: dict[str, Embedder] | None = None,
        analyst: Analyst | None = None,
        say: Callable[[str], None] = lambda _: None,
        **flags: Any,
    ) -> AsyncGenerator["Everlore"]:
        """Open the memory: start or join the embedded Postgres (or connect to the given one) and bring it up to date.

        `worker`: index and distil in the background while it is open. `embedders` replaces the configured ones (the first is
        the default), `analyst` the configured one. `flags` are settings (`data_dir=...`). Raises ConfigurationError,
        DatabaseUnavailable.
        """
        settings = settings or load_settings(**flags)
        async with AsyncExitStack() as stack:
            server, urls = await database_urls(settings, stack, say)
            runtime = await make_runtime(
                settings, urls, stack, clock=clock, embedders=embedders, analyst=analyst
            )
            database = Database(urls.worker, WORKER, pool_size=settings.pool_size)
            stack.push_async_callback(database.close)
            workers = replace(runtime, database=database)
            uses = Uses(runtime.database)
            stack.push_async_callback(uses.flush)
            lore = cls(settings, server, runtime, workers, Directory(runtime, uses))
            if server is not None:
                lore._keeper = asyncio.create_task(_keep_alive(server), name="everlore server keeper")
                stack.push_async_callback(_cancelled, lore._keeper)
            if worker:
                await database.open()
                lore._worker = Worker(workers)
                lore._worker.start()
                stack.push_async_callback(lore._worker.stop)
                if (reason := lore.undistilled_because) is not None:
                    log.warning(reason)
                    say(reason)
            yield lore

    @property
    def undistilled_because(self) -> str | None:
        """Why nothing is distilled here, or no facts are, although it is to be; None where all is as the settings say."""
        return self.runtime.undistilled_because

    async def workspace(self, called: str = DEFAULT_WORKSPACE, *, create: bool | None = None) -> Workspace:
        """The workspace of that name, made when something is first kept in it. `create`: made now if it does not exist; with
        False raises NotFound then."""
        called = name(called, "workspace")
        if create is not None:
            await (self.directory.made(called) if create else self.directory.found(called))
        return Workspace(self.directory, called)

    @checked
    async def workspaces(self, *, limit: Limit = MAX_LIMIT, cursor: Cursor = None) -> Page[WorkspaceSummary]:
        """List all workspaces by name. For the operator: needs the workers' login."""
        found = sorted(await self._workspaces(), key=_by_name)
        return paged(found, limit, cursor, _by_name, str)

    @checked
    async def delete_workspace(self, name: Annotated[Name, Doc("The workspace.")]) -> WorkspaceDeleted:
        """Delete a workspace for good, with everything in it and its waiting jobs.

        The receipt says how many rows of each kind went. Raises NotFound."""
        gone = await self._deleted(name)
        if gone is None:
            raise NotFound(f"There is no workspace {name}; `everlore workspaces` lists them.")
        self.directory.ids.pop(name, None)
        return WorkspaceDeleted(gone[0], name, gone[1], self.runtime.clock())

    async def _deleted(self, name: str) -> tuple[UUID, dict[str, int]] | None:
        """Where a worker is at it, the two may deadlock: the one that gives in begins again."""
        for last in (False, False, True):
            try:
                async with self.workers.database.outside() as tx:
                    return await operations.delete_workspace(tx, name)
            except Conflict:
                if last:
                    raise
        raise InternalError("the last attempt neither returned nor raised")

    @checked
    async def export_workspace(self, name: Annotated[Name, Doc("The workspace.")]) -> AsyncIterator[str]:
        """Export a workspace: lines of JSON that `import` makes the same workspace of, here or elsewhere.

        All lines are of one moment. Vectors and what else can be made anew are left out. Raises NotFound."""
        return export_lines(self.runtime, await self.directory.found(name), name)

    @checked
    async def import_workspace(
        self,
        lines: Lines,
        *,
        name: Annotated[Name | None, Doc("What it is called here; else as it was.")] = None,
    ) -> WorkspaceImported:
        """Import a workspace that was exported, under a name that does not exist yet or holds nothing.

        All or nothing; a line that cannot be imported is named. Ids and times are kept. What is said in it is found by its words
        at once, by its meaning when a worker has indexed it, and what was distilled is not read again."""
        return await import_lines(self.directory, lines, name)

    async def _workspaces(self) -> list[WorkspaceSummary]:
        async with self.workers.database.outside() as tx:
            return await operations.list_workspaces(tx)

    async def status(self) -> Status:
        """How the whole installation is doing."""
        weaker = self.server is None and (await inspect(self.runtime.database.conninfo)).isolation == "weaker"
        async with self.workers.database.outside() as tx:
            workspaces = await operations.list_workspaces(tx)
            by_step = await jobs.by_step(tx)
            return Status(
                postgres=await operations.version(tx),
                embedded=self.server is not None,
                data_dir=str(self.server.data_dir) if self.server else None,
                isolation="weaker" if weaker else "full",
                workspaces=len(workspaces),
                messages=sum(w.messages for w in workspaces),
                models=tuple(await operations.embedding_progress(tx)),
                steps={step.name: by_step.get(step.name, {}) for step in steps.wanted(self.workers)}
                | dict(by_step),
                jobs=_summed(by_step),
                parked=tuple(await jobs.parked(tx)),
                workers=await self._live_workers(tx),
                failures=tuple(await steps.failures(tx)),
                held_up=tuple(await self._held_up(workspaces)),
                undistilled_because=self.undistilled_because,
            )

    async def catch_up(self, *, progress: Callable[[int], None] = lambda _: None) -> None:
        """Index everything that waits, here and now, and return when it is done. `progress` hears of passages embedded."""
        await run_queued(self.workers, progress=progress)

    async def failed(self) -> None:
        """Waits until something that runs in the background of this open memory ends unasked (its worker, or whoever keeps the
        embedded server alive), and raises what ended it. Whoever serves waits for this, so as not to go on without it."""
        watched = [self._keeper] if self._keeper is not None else []
        if self._worker is not None:
            watched.append(asyncio.create_task(self._worker.ended()))
        if not watched:
            await asyncio.Event().wait()
        done, _ = await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()

    async def database_answers(self) -> bool:
        """Whether the application's login gets an answer, and new sessions are let in."""
        try:
            async with self.runtime.database.outside() as tx:
                await operations.version(tx)
        except WorldError:
            return False
        return self.server is None or await asyncio.to_thread(self.server.answers)

    async def worker_is_alive(self) -> bool:
        """Whether some process runs a worker on this database."""
        async with self.workers.database.outside() as tx:
            return await jobs.live_lanes(tx, STALLED_AFTER_S) > 0

    async def _live_workers(self, tx: Transaction) -> int:
        """Each lane of a worker is heard of by itself, and each worker has a lane for each queue."""
        lanes = await jobs.live_lanes(tx, STALLED_AFTER_S)
        return ceil(lanes / len(steps.queues(steps.wanted(self.workers))))

    async def use_model(self, model: str) -> None:
        """Let another embedding model answer questions. Raises ConfigurationError while its vectors are not complete."""
        if model not in self.runtime.embedders:
            raise ConfigurationError(f"No embedder for the model {model} is configured here.")
        for summary in await self._workspaces():
            # A large workspace without the model's HNSW index would answer slowly from the moment of the switch.
            await ensure_vector_indexes(self.workers, summary.workspace_id)
        async with self.workers.database.outside() as tx:
            await operations.use_embedding_model(tx, model)

    async def rebuild_index(self, *, progress: Callable[[int], None] = lambda _: None) -> None:
        """Forget passages, postings and vectors of all workspaces and write them anew from the messages.

        Raises ConfigurationError when the model in use is not configured here: nobody could make its vectors again.
        """
        in_use = next((model.name for model in (await self.status()).models if model.in_use), None)
        if in_use is not None and in_use not in self.runtime.embedders:
            raise ConfigurationError(
                f"The embedding model in use, {in_use}, is not configured here; reindexing would lose its vectors."
            )
        for summary in await self._workspaces():
            await resplit_workspace(self.workers, summary.workspace_id)
            await rebuild(self.workers, summary.workspace_id)
            await pack_tail(self.workers, summary.workspace_id, at_least=1)
        await self.catch_up(progress=progress)

    async def retry_parked(self) -> Retried:
        """Queue all parked jobs again, and have done again what steps could not do. A model that is left alone need not wait any
        longer: the next call decides, and jobs that waited for that are queued, too."""
        now = self.runtime.clock()
        async with self.workers.database.outside() as tx:
            parked = await jobs.parked(tx)
            failures = await steps.failures(tx)
        runs = dict.fromkeys(await steps.try_again(self.workers, failures), False)
        woken = 0
        with queue_errors():
            async with job_app(self.workers).open_async() as app:
                for job in parked:
                    await app.job_manager.retry_job_by_id_async(job.job_id, retry_at=now)
                    if step := steps.STEPS.get(job.step):
                        run = step.name, step.scope_of(job.workspace_id, job.scope_id)
                        runs[run] = runs.get(run, False) or job.close
                for workspace_id, times in (await self._end_cooldowns(now)).items():
                    for step, scope, close in await wake(app, self.workers, workspace_id, times, now):
                        runs[step, scope] = runs.get((step, scope), False) or close
                        woken += 1
        unasked = {run: close for run, close in runs.items() if not steps.STEPS[run[0]].inline}
        return Retried(len(parked) + len(failures) + woken, unasked)

    async def run_retried(
        self, retried: Retried, *, progress: Callable[[int], None] = lambda _: None
    ) -> None:
        """Run, here and now, what `retry_parked` names and nothing else. See `distil`."""
        for step in steps.wanted(self.workers):
            for close in (True, False):
                scopes = [
                    run[1] for run, to_end in retried.runs.items() if (run[0], to_end) == (step.name, close)
                ]
                if scopes:
                    await run_scopes(self.workers, step, scopes, close=close, progress=progress)

    async def distil(
        self,
        workspace: Workspace | None = None,
        thread: str | None = None,
        *,
        close: bool = True,
        progress: Callable[[int], None] = lambda _: None,
    ) -> int:
        """Distil what waits, here and now, in one workspace or in all; returns how many messages were read. `close`: the last
        window of each thread, too, however short. `progress` hears of messages read.

        Raises ConfigurationError when nothing distils here. What fails is parked, and `status` shows it.
        """
        step = self._distilling()
        workspaces = (
            [await self.workspace(one.name) for one in await self._workspaces()]
            if workspace is None
            else [workspace]
        )
        threads = [
            Scope(one.workspace_id, thread_id)
            for one in workspaces
            for thread_id in await one.threads_to_distil(thread)
        ]
        read = 0

        def count(messages: int) -> None:
            nonlocal read
            read += messages
            progress(messages)

        if threads:
            await run_scopes(self.workers, step, threads, close=close, progress=count)
        return read

    async def start_distil(
        self, workspace: Workspace, thread: str | None = None, *, close: bool = True
    ) -> int:
        """Leave jobs that distil what waits, for a worker to run; returns for how many threads. See `distil`."""
        step = self._distilling()
        threads = await workspace.threads_to_distil(thread)
        for thread_id in threads:
            await defer(self.runtime, step.name, Scope(workspace.workspace_id, thread_id), close=close)
        return len(threads)

    def _distilling(self) -> Step:
        step = steps.by_verb("distil", self.runtime)
        if step is None:
            raise ConfigurationError(undistilled_because(self.settings))
        return step

    async def _held_up(self, workspaces: Sequence[WorkspaceSummary]) -> list[HeldUp]:
        """Why models may not be called now. Rules call none."""
        if not self._spending():
            return []
        found: list[HeldUp] = []
        for one in workspaces:
            async with self.workers.database.workspace(one.workspace_id, read_only=True) as tx:
                found += await held_up(
                    tx, one.workspace_id, one.name, self.runtime.clock(), self.settings.distil
                )
        return found

    async def _end_cooldowns(self, now: datetime) -> dict[UUID, list[datetime]]:
        """Let models that are left alone be tried at once; returns until when they would have been, by workspace."""
        if not self._spending():
            return {}
        ended: dict[UUID, list[datetime]] = {}
        for one in await self._workspaces():
            async with self.workers.database.workspace(one.workspace_id) as tx:
                if times := await probe_at_once(tx, now):
                    ended[one.workspace_id] = times
        return ended

    def _spending(self) -> bool:
        return any(step.spends(self.workers) for step in steps.wanted(self.workers))


async def _keep_alive(server: Server) -> None:
    """Start the embedded server again whenever it was ended under us; gives up, loudly, when that fails again and again."""
    failures = 0
    while True:
        await asyncio.sleep(_LOOK_EVERY_S)
        if await asyncio.to_thread(server.answers):
            failures = 0
            continue
        log.warning("the embedded Postgres has ended; it is started again")
        try:
            await asyncio.to_thread(server.revive)
        except EverloreError as error:
            failures += 1
            log.warning("the embedded Postgres could not be started again: %s", error)
            if failures >= _GIVE_UP_AFTER:
                raise


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


def _summed(by_step: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    states = sorted({state for counted in by_step.values() for state in counted})
    return {state: sum(counted.get(state, 0) for counted in by_step.values()) for state in states}


def _by_name(workspace: WorkspaceSummary) -> tuple[str]:
    return (workspace.name,)
