"""The composition root: settings in, everything wired out."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from everlore.capture.accept import name
from everlore.capture.resplit import resplit_workspace
from everlore.capture.split import WordCounts
from everlore.config import Settings, load_settings
from everlore.domain.errors import ConfigurationError, NotFound
from everlore.encode.index import ensure_vector_indexes, pack_tail, rebuild
from everlore.models.late_interaction import LateInteraction
from everlore.models.minilm import MiniLM, count_wordpieces
from everlore.models.openai_embedder import OpenAIEmbedder
from everlore.ports.clock import Clock, system_clock
from everlore.ports.embedder import Embedder
from everlore.ports.reranker import Reranker
from everlore.store import index, migrate, operations
from everlore.store.database import APP, WORKER, Database
from everlore.store.inspection import inspect
from everlore.store.operations import ModelProgress, ParkedJob, WorkspaceSummary
from everlore.store.server import SUPERUSER, Server, open_server
from everlore.work.jobs import STALLED_AFTER_S, Work, job_app
from everlore.work.worker import Worker, run_queued
from everlore.workspace import Parts, Workspace

DEFAULT_WORKSPACE = "default"


@dataclass(frozen=True, slots=True)
class Status:
    """The whole installation at a glance. `jobs` counts by state; `parked` are those that a person should look at."""

    postgres: str
    embedded: bool
    weak_isolation: bool
    workspaces: int
    messages: int
    models: list[ModelProgress]
    jobs: dict[str, int]
    parked: list[ParkedJob]
    workers: int


@dataclass(slots=True)
class Everlore:
    """An open memory. Use `Everlore.open()`; all workspaces are reached from here."""

    settings: Settings
    server: Server | None
    _app: Database
    _worker_database: Database
    _embedders: dict[str, Embedder]
    _reranker: Reranker | None
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
        say: Callable[[str], None] = lambda _: None,
        **flags: Any,
    ) -> AsyncGenerator["Everlore"]:
        """Open the memory: start or join the embedded Postgres (or connect to the given one) and bring it up to date.

        `worker`: index in the background while it is open. `embedders` replaces the configured ones (the first is the
        default). `flags` are settings (`data_dir=...`). Raises ConfigurationError, DatabaseUnavailable.
        """
        settings = settings or load_settings(**flags)
        async with AsyncExitStack() as stack:
            server, urls = await _database_urls(settings, stack, say)
            app = Database(urls.app, APP, pool_size=settings.pool_size)
            worker_database = Database(urls.worker, WORKER, pool_size=settings.pool_size)
            for database in (app, worker_database):
                await database.open()
                stack.push_async_callback(database.close)
            await _require_migrated(app)
            used = configured_embedders(settings) if embedders is None else embedders
            for embedder in used.values():
                stack.push_async_callback(embedder.close)
            by_name = {embedder.name: embedder for embedder in used.values()}
            async with app.outside() as connection:
                for embedder in used.values():
                    await index.register_model(connection, embedder.name, embedder.dimensions)
            lore = cls(settings, server, app, worker_database, by_name, LateInteraction(), clock)
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
            async with self._worker_database.outside() as connection:
                if not await operations.workspace_exists(connection, called):
                    raise NotFound(
                        f"There is no workspace {called}. `everlore workspaces` lists them; recording makes a new one."
                    )
        async with self._app.outside() as connection:
            workspace_id = await operations.open_workspace(connection, called)
        parts = Parts(
            self._app, self._embedders, self._reranker, _wordpieces, self._clock, self.settings.recall
        )
        return Workspace(workspace_id, called, parts)

    async def workspaces(self) -> list[WorkspaceSummary]:
        """All workspaces. For the operator: needs the workers' login."""
        async with self._worker_database.outside() as connection:
            return await operations.list_workspaces(connection)

    async def status(self) -> Status:
        async with self._worker_database.outside() as connection:
            workspaces = await operations.list_workspaces(connection)
            return Status(
                postgres=await operations.version(connection),
                embedded=self.server is not None,
                weak_isolation=self.server is None
                and (await inspect(self._app.conninfo)).isolation == "weaker",
                workspaces=len(workspaces),
                messages=sum(w.messages for w in workspaces),
                models=await operations.embedding_progress(connection),
                jobs=await operations.jobs_by_status(connection),
                parked=await operations.parked_jobs(connection),
                workers=await operations.live_workers(connection, STALLED_AFTER_S),
            )

    async def catch_up(self, *, progress: Callable[[int], None] = lambda _: None) -> None:
        """Index everything that waits, here and now, and return when it is done. `progress` hears of passages embedded."""
        await run_queued(self._work(progress))

    async def worker_is_alive(self) -> bool:
        """Whether some process runs a worker on this database."""
        async with self._worker_database.outside() as connection:
            return await operations.live_workers(connection, STALLED_AFTER_S) > 0

    async def use_model(self, model: str) -> None:
        """Let another embedding model answer questions. Raises ConfigurationError while its vectors are not complete."""
        if model not in self._embedders:
            raise ConfigurationError(f"No embedder for the model {model} is configured here.")
        for summary in await self.workspaces():
            # A large workspace without the model's HNSW index would answer slowly from the moment of the switch.
            await ensure_vector_indexes(
                self._worker_database, summary.workspace_id, self.settings.recall.exact_below
            )
        async with self._worker_database.outside() as connection:
            await operations.use_embedding_model(connection, model)

    async def rebuild_index(self, *, progress: Callable[[int], None] = lambda _: None) -> None:
        """Forget passages, postings and vectors of all workspaces and write them anew from the messages.

        Raises ConfigurationError when the model in use is not configured here: nobody could make its vectors again.
        """
        in_use = next((model.name for model in (await self.status()).models if model.in_use), None)
        if in_use is not None and in_use not in self._embedders:
            raise ConfigurationError(
                f"The embedding model in use, {in_use}, is not configured here; reindexing would lose its vectors."
            )
        for summary in await self.workspaces():
            await rebuild(self._worker_database, summary.workspace_id)
            await resplit_workspace(self._worker_database, summary.workspace_id, _wordpieces)
            await pack_tail(self._worker_database, summary.workspace_id, at_least=1)
        await self.catch_up(progress=progress)

    async def retry_parked(self) -> int:
        """Queue all parked jobs again; returns how many."""
        async with self._worker_database.outside() as connection:
            parked = await operations.parked_jobs(connection)
        async with job_app(self._work()).open_async() as app:
            for job in parked:
                await app.job_manager.retry_job_by_id_async(job.job_id, retry_at=self._clock())
        return len(parked)

    def _work(self, progress: Callable[[int], None] = lambda _: None) -> Work:
        return Work(self._worker_database, self._embedders, self.settings.recall.exact_below, progress)


_wordpieces = WordCounts(count_wordpieces)


def configured_embedders(settings: Settings) -> dict[str, Embedder]:
    """The embedders that the settings name, the default one first; none if it is `none`."""
    embedders: dict[str, Embedder] = {
        called: OpenAIEmbedder(called, **configured.model_dump())
        for called, configured in settings.embedders.items()
    }
    if settings.embedder == "none":
        return {}
    embedders["minilm"] = MiniLM(threads=settings.threads)
    if settings.embedder not in embedders:
        raise ConfigurationError(
            f"The setting embedder is {settings.embedder!r}; it must be minilm, none, or one of {sorted(embedders)}."
        )
    return {settings.embedder: embedders.pop(settings.embedder), **embedders}


@dataclass(frozen=True, slots=True)
class _Urls:
    app: str
    worker: str


async def _database_urls(
    settings: Settings, stack: AsyncExitStack, say: Callable[[str], None]
) -> tuple[Server | None, _Urls]:
    if settings.database_url is not None:
        return None, _Urls(settings.database_url, settings.worker_url or settings.database_url)
    server = await _opened(settings.data_dir, say)
    stack.push_async_callback(asyncio.to_thread, server.close)
    await prepare_embedded(server)
    return server, _Urls(server.conninfo(APP), server.conninfo(WORKER))


async def _opened(data_dir: Path | None, say: Callable[[str], None]) -> Server:
    """The embedded server. Who is cancelled while it starts waits for it and closes it: nobody else would."""
    starting = asyncio.ensure_future(asyncio.to_thread(open_server, data_dir, say=say))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        await asyncio.wait([starting])
        if starting.exception() is None:
            await asyncio.to_thread(starting.result().close)
        raise


async def prepare_embedded(server: Server) -> list[str]:
    """Make the embedded database and bring it up to date; returns the names of the migrations applied."""
    await migrate.create_database(server.conninfo(SUPERUSER, "postgres"), "everlore")
    return await migrate.migrate(server.conninfo(SUPERUSER))


async def _require_migrated(app: Database) -> None:
    async with app.outside() as connection:
        if missing := await migrate.pending(connection):
            raise ConfigurationError(
                f"The database lacks {len(missing)} migrations ({missing[0]} first); run `everlore db migrate`."
            )
