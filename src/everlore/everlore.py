"""Everlore, opened: the operator's verbs, and the way to every workspace."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from everlore.api.distilling import Means
from everlore.api.workspace import Parts, Workspace
from everlore.budget import SpendGovernor, held_up, probe_at_once
from everlore.capture.resplit import resplit_workspace
from everlore.config import Settings, load_settings
from everlore.distil.step import Tools
from everlore.domain.answers import Doc, Page
from everlore.domain.errors import ConfigurationError, NotFound
from everlore.domain.operations import HeldUp, Status, WorkspaceDeleted, WorkspaceSummary
from everlore.index.step import ensure_vector_indexes, pack_tail, rebuild
from everlore.models.late_interaction import LateInteraction
from everlore.models.rules import RuleAnalyst
from everlore.paging import paged
from everlore.ports.analyst import Analyst
from everlore.ports.clock import Clock, system_clock
from everlore.ports.embedder import Embedder
from everlore.ports.reranker import Reranker
from everlore.store import distilling, index, operations
from everlore.store.database import APP, WORKER, Database
from everlore.store.inspection import inspect
from everlore.store.server import Server
from everlore.validation import MAX_LIMIT, Cursor, Limit, Name, checked, name
from everlore.wiring import (
    configured_analyst,
    configured_embedders,
    database_urls,
    limits,
    linking,
    require_migrated,
    wordpieces,
)
from everlore.work.jobs import STALLED_AFTER_S, Work, defer_distil, job_app, wake_distil
from everlore.work.worker import Worker, run_distil, run_queued

DEFAULT_WORKSPACE = "default"


@dataclass(frozen=True, slots=True)
class Retried:
    """What is tried again: how many jobs and failed windows, and the threads (workspace, thread) to distil for it, each with
    whether its last window is read, too, however short."""

    count: int
    threads: dict[tuple[UUID, UUID], bool]


@dataclass(slots=True)
class Everlore:
    """An open memory. Use `Everlore.open()`; all workspaces are reached from here."""

    settings: Settings
    server: Server | None
    _app: Database
    _worker_database: Database
    _embedders: dict[str, Embedder]
    _reranker: Reranker | None
    _analyst: Analyst | None
    _clock: Clock
    _worker: Worker | None = field(default=None)

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
            app = Database(urls.app, APP, pool_size=settings.pool_size)
            worker_database = Database(urls.worker, WORKER, pool_size=settings.pool_size)
            for database in (app, worker_database):
                await database.open()
                stack.push_async_callback(database.close)
            await require_migrated(app)
            used = configured_embedders(settings) if embedders is None else embedders
            for embedder in used.values():
                stack.push_async_callback(embedder.close)
            by_name = {embedder.name: embedder for embedder in used.values()}
            async with app.outside() as tx:
                for embedder in used.values():
                    await index.register_model(tx, embedder.name, embedder.dimensions)
            analyst = analyst or configured_analyst(settings)
            if analyst is not None:
                stack.push_async_callback(analyst.close)
            lore = cls(settings, server, app, worker_database, by_name, LateInteraction(), analyst, clock)
            await lore.workspace(DEFAULT_WORKSPACE)
            if worker:
                lore._worker = Worker(lore._work())
                lore._worker.start()
                stack.push_async_callback(lore._worker.stop)
            yield lore

    async def workspace(self, called: str = DEFAULT_WORKSPACE, *, create: bool = True) -> Workspace:
        """The workspace of that name, made if it does not exist. With `create=False` raises NotFound instead."""
        called = name(called, "workspace")
        if not create:
            async with self._worker_database.outside() as tx:
                if not await operations.workspace_exists(tx, called):
                    raise NotFound(
                        f"There is no workspace {called}. `everlore workspaces` lists them; recording makes a new one."
                    )
        async with self._app.outside() as tx:
            workspace_id = await operations.open_workspace(tx, called)
        means = Means(
            self._app,
            self._embedders,
            RuleAnalyst(),
            self._analyst,
            linking(self.settings),
            limits(self.settings),
            self.settings.distil.context_messages,
            self.settings.distil.context_tokens,
            self.settings.recall.exact_below,
            self._clock,
            timedelta(minutes=self.settings.distil.silence_minutes),
        )
        parts = Parts(
            self._app,
            self._embedders,
            self._reranker,
            wordpieces,
            self._clock,
            self.settings.recall,
            self.settings.aliases,
            means,
        )
        return Workspace(workspace_id, called, parts)

    @checked
    async def workspaces(self, *, limit: Limit = MAX_LIMIT, cursor: Cursor = None) -> Page[WorkspaceSummary]:
        """List all workspaces by name. For the operator: needs the workers' login."""
        found = sorted(await self._workspaces(), key=_by_name)
        return paged(found, limit, cursor, _by_name, str)

    @checked
    async def delete_workspace(self, name: Annotated[Name, Doc("The workspace.")]) -> WorkspaceDeleted:
        """Delete a workspace for good, with everything in it and its waiting jobs.

        The receipt says how many rows of each kind went. Raises NotFound."""
        async with self._worker_database.outside() as tx:
            gone = await operations.delete_workspace(tx, name)
        if gone is None:
            raise NotFound(f"There is no workspace {name}; `everlore workspaces` lists them.")
        return WorkspaceDeleted(gone[0], name, gone[1], self._clock())

    async def _workspaces(self) -> list[WorkspaceSummary]:
        async with self._worker_database.outside() as tx:
            return await operations.list_workspaces(tx)

    async def status(self) -> Status:
        """How the whole installation is doing."""
        weaker = self.server is None and (await inspect(self._app.conninfo)).isolation == "weaker"
        async with self._worker_database.outside() as tx:
            workspaces = await operations.list_workspaces(tx)
            names = {str(one.workspace_id): one.name for one in workspaces}
            return Status(
                postgres=await operations.version(tx),
                embedded=self.server is not None,
                data_dir=str(self.server.data_dir) if self.server else None,
                isolation="weaker" if weaker else "full",
                workspaces=len(workspaces),
                messages=sum(w.messages for w in workspaces),
                models=tuple(await operations.embedding_progress(tx)),
                jobs=await operations.jobs_by_status(tx),
                parked=tuple(
                    replace(job, workspace=names.get(str(job.arguments.get("workspace_id"))))
                    for job in await operations.parked_jobs(tx)
                ),
                workers=await operations.live_workers(tx, STALLED_AFTER_S),
                failed_windows=tuple(await distilling.failed_windows(tx)),
                held_up=tuple(await self._held_up(workspaces)),
            )

    async def catch_up(self, *, progress: Callable[[int], None] = lambda _: None) -> None:
        """Index everything that waits, here and now, and return when it is done. `progress` hears of passages embedded."""
        await run_queued(self._work(progress))

    async def worker_is_alive(self) -> bool:
        """Whether some process runs a worker on this database."""
        async with self._worker_database.outside() as tx:
            return await operations.live_workers(tx, STALLED_AFTER_S) > 0

    async def use_model(self, model: str) -> None:
        """Let another embedding model answer questions. Raises ConfigurationError while its vectors are not complete."""
        if model not in self._embedders:
            raise ConfigurationError(f"No embedder for the model {model} is configured here.")
        for summary in await self._workspaces():
            # A large workspace without the model's HNSW index would answer slowly from the moment of the switch.
            await ensure_vector_indexes(
                self._worker_database, summary.workspace_id, self.settings.recall.exact_below
            )
        async with self._worker_database.outside() as tx:
            await operations.use_embedding_model(tx, model)

    async def rebuild_index(self, *, progress: Callable[[int], None] = lambda _: None) -> None:
        """Forget passages, postings and vectors of all workspaces and write them anew from the messages.

        Raises ConfigurationError when the model in use is not configured here: nobody could make its vectors again.
        """
        in_use = next((model.name for model in (await self.status()).models if model.in_use), None)
        if in_use is not None and in_use not in self._embedders:
            raise ConfigurationError(
                f"The embedding model in use, {in_use}, is not configured here; reindexing would lose its vectors."
            )
        for summary in await self._workspaces():
            await rebuild(self._worker_database, summary.workspace_id)
            await resplit_workspace(self._worker_database, summary.workspace_id, wordpieces)
            await pack_tail(self._worker_database, summary.workspace_id, at_least=1)
        await self.catch_up(progress=progress)

    async def retry_parked(self) -> Retried:
        """Queue all parked jobs again, and have the failed windows read again. A model that is left alone need not wait any
        longer: the next call decides, and jobs that waited for that are queued, too."""
        now = self._clock()
        async with self._worker_database.outside() as tx:
            parked = await operations.parked_jobs(tx)
            windows = await distilling.failed_windows(tx)
        threads: dict[tuple[UUID, UUID], bool] = {}
        for window in windows:
            async with self._worker_database.workspace(window.workspace_id) as tx:
                await distilling.ask_again(tx, window.thread_id, [window.first], now)
                await distilling.defer(tx, window.thread_id)
            threads[window.workspace_id, window.thread_id] = False
        ended = await self._end_cooldowns(now)
        async with job_app(self._work()).open_async() as app:
            for job in parked:
                await app.job_manager.retry_job_by_id_async(job.job_id, retry_at=now)
            woken = await wake_distil(app, ended, now)
        again = [job.arguments for job in parked if job.task == "distil_thread"] + woken
        for arguments in again:
            thread = UUID(str(arguments["workspace_id"])), UUID(str(arguments["thread_id"]))
            threads[thread] = threads.get(thread, False) or bool(arguments.get("close"))
        return Retried(len(parked) + len(windows) + len(woken), threads)

    async def distil_retried(
        self, retried: Retried, *, progress: Callable[[int], None] = lambda _: None
    ) -> None:
        """Distil, here and now, the threads that `retry_parked` names and no others. See `distil`."""
        for close in (True, False):
            threads = [thread for thread, closing in retried.threads.items() if closing is close]
            if threads and self._analyst is not None:
                await run_distil(self._work(distilled=progress), threads, close=close)

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
        if self._analyst is None:
            raise ConfigurationError("Nothing is distilled here: the setting distil.analyst is none.")
        workspaces = (
            [await self.workspace(one.name) for one in await self._workspaces()]
            if workspace is None
            else [workspace]
        )
        threads = [
            (one.workspace_id, thread_id)
            for one in workspaces
            for thread_id in await one.threads_to_distil(thread)
        ]
        read = 0

        def count(messages: int) -> None:
            nonlocal read
            read += messages
            progress(messages)

        if threads:
            await run_distil(self._work(distilled=count), threads, close=close)
        return read

    async def start_distil(
        self, workspace: Workspace, thread: str | None = None, *, close: bool = True
    ) -> int:
        """Leave jobs that distil what waits, for a worker to run; returns for how many threads. See `distil`."""
        if self._analyst is None:
            raise ConfigurationError("Nothing is distilled here: the setting distil.analyst is none.")
        threads = await workspace.threads_to_distil(thread)
        async with job_app(self._work()).open_async() as app:
            for thread_id in threads:
                await defer_distil(app, workspace.workspace_id, thread_id, close=close)
        return len(threads)

    async def _held_up(self, workspaces: Sequence[WorkspaceSummary]) -> list[HeldUp]:
        """Why models may not be called now. Rules call none."""
        if self._analyst is None or self._analyst.model is None:
            return []
        found: list[HeldUp] = []
        for one in workspaces:
            async with self._worker_database.workspace(one.workspace_id, read_only=True) as tx:
                found += await held_up(tx, one.workspace_id, one.name, self._clock(), limits(self.settings))
        return found

    async def _end_cooldowns(self, now: datetime) -> dict[UUID, list[datetime]]:
        """Let models that are left alone be tried at once; returns until when they would have been, by workspace."""
        if self._analyst is None or self._analyst.model is None:
            return {}
        ended: dict[UUID, list[datetime]] = {}
        for one in await self._workspaces():
            async with self._worker_database.workspace(one.workspace_id) as tx:
                if times := await probe_at_once(tx, now):
                    ended[one.workspace_id] = times
        return ended

    def _work(
        self,
        progress: Callable[[int], None] = lambda _: None,
        distilled: Callable[[int], None] = lambda _: None,
    ) -> Work:
        tools = None
        if self._analyst is not None:
            settings = self.settings
            tools = Tools(
                analyst=self._analyst,
                governor=lambda workspace_id: SpendGovernor(
                    self._worker_database, workspace_id, self._clock, limits(settings)
                ),
                embedders=self._embedders,
                clock=self._clock,
                silence=timedelta(minutes=settings.distil.silence_minutes),
                context_messages=settings.distil.context_messages,
                exact_below=settings.recall.exact_below,
                linking=linking(settings),
                progress=distilled,
            )
        return Work(self._worker_database, self._embedders, self.settings.recall.exact_below, progress, tools)


def _by_name(workspace: WorkspaceSummary) -> tuple[str]:
    return (workspace.name,)
