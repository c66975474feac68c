"""The jobs. A job is a hint: watermarks decide what is to be done, and a job that finds nothing left ends at once."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import procrastinate
import procrastinate.exceptions
from procrastinate import BaseRetryStrategy, JobContext, RetryDecision
from procrastinate.jobs import Job

from everlore.distil.step import Tools, distil_thread
from everlore.domain.errors import CallerError, InternalError, ModelUnavailable, SpendLimit, WorldError
from everlore.index.step import index_distilled, index_thread
from everlore.ports.embedder import Embedder
from everlore.store import distilling, operations
from everlore.store.database import Database
from everlore.store.job_queue import connector

log = logging.getLogger(__name__)

QUEUE = "index"
DISTIL_QUEUE = "distil"
MAX_ATTEMPTS = 10
# Heartbeats tell a killed worker from a busy one. Its jobs hold their threads' locks, so it should not take long.
HEARTBEAT_S = 2.0
STALLED_AFTER_S = 10.0
_SWEEP_AT_MOST = 1000
# How long a job that was taken by the wrong process is left alone.
_BACK_IN_S = 3


@dataclass(frozen=True, slots=True)
class Work:
    """What jobs need. `progress` hears how many passages were embedded. `distil` is None where nothing is distilled;
    `only`: the threads that may be, where somebody asked for these and no others."""

    database: Database
    embedders: Mapping[str, Embedder]
    exact_below: int
    progress: Callable[[int], None] = field(default=lambda _: None)
    distil: Tools | None = None
    only: frozenset[UUID] | None = None


class Retry(BaseRetryStrategy):
    """The world's faults are tried again after 1, 2, 4, ... seconds; the caller's and ours are parked at once.

    A job that was stopped with its worker is nobody's fault: it runs again at once, however often that happened.
    """

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, asyncio.CancelledError):
            return RetryDecision(retry_in={"seconds": 0})
        if isinstance(exception, CallerError | InternalError) or job.attempts + 1 >= MAX_ATTEMPTS:
            return None
        return RetryDecision(retry_in={"seconds": 2**job.attempts})


class NotMine(Exception):
    """A job of a thread that this process was not asked to distil: it goes back for a worker."""


class DistilRetry(Retry):
    """A model that fails was asked again already: its job is parked. One that may not be asked now waits until it may."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, NotMine):
            return RetryDecision(retry_in={"seconds": _BACK_IN_S})
        if isinstance(exception, SpendLimit):
            return RetryDecision(retry_at=exception.until)
        if isinstance(exception, ModelUnavailable):
            return None
        return super().get_retry_decision(exception=exception, job=job)


def job_app(work: Work) -> procrastinate.App:
    """The queue with its jobs; open it before use."""
    app = procrastinate.App(connector=connector(work.database))

    async def noted(context: JobContext, step: Awaitable[object]) -> None:
        """Run a step; if it fails, keep the reason where `everlore status` shows it."""
        try:
            await step
        except Exception as error:
            log.warning("job %s (%s) failed: %s", context.job.id, context.job.task_name, error)
            async with work.database.outside() as tx:
                await operations.note_failure(tx, context.job.id or 0, f"{type(error).__name__}: {error}")
            raise

    async def run_index_thread(context: JobContext, workspace_id: str, thread_id: str) -> None:
        step = index_thread(
            work.database,
            UUID(workspace_id),
            UUID(thread_id),
            work.embedders,
            exact_below=work.exact_below,
            progress=work.progress,
        )
        await noted(context, step)

    async def run_index_distilled(context: JobContext, workspace_id: str) -> None:
        step = index_distilled(
            work.database,
            UUID(workspace_id),
            work.embedders,
            exact_below=work.exact_below,
            progress=work.progress,
        )
        await noted(context, step)

    async def run_distil_thread(
        context: JobContext, workspace_id: str, thread_id: str, *, close: bool = False
    ) -> None:
        if work.only is not None and UUID(thread_id) not in work.only:
            raise NotMine(thread_id)
        if work.distil is not None:
            ids = UUID(workspace_id), UUID(thread_id)
            await noted(context, distil_thread(work.database, *ids, work.distil, close=close))

    app.task(name="distil_thread", queue=DISTIL_QUEUE, pass_context=True, retry=DistilRetry())(
        run_distil_thread
    )
    app.task(name="index_thread", queue=QUEUE, pass_context=True, retry=Retry())(run_index_thread)
    app.task(name="index_distilled", queue=QUEUE, pass_context=True, retry=Retry())(run_index_distilled)
    return app


async def sweep(app: procrastinate.App, work: Work, *, thorough: bool = True) -> int:
    """Leave a job for every thread that lags, and give back the jobs of workers that died; returns how many of both.

    Nothing depends on it while all goes well: it mends what a crash between two steps may have left. `thorough`: see
    `everlore.store.operations.threads_behind`.
    """
    stalled = list(await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_AFTER_S))
    for job in stalled:
        # It may have ended after all, or another process's sweep came first.
        with contextlib.suppress(procrastinate.exceptions.ConnectorException):
            await app.job_manager.retry_job(job)
    async with work.database.outside() as tx:
        behind = await operations.threads_behind(tx, work.embedders, _SWEEP_AT_MOST, thorough=thorough)
        unembedded = await operations.workspaces_unembedded(tx, work.embedders, _SWEEP_AT_MOST)
        await operations.forget_failures(tx)
    waiting = {job.lock for job in await app.job_manager.list_jobs_async(queue=QUEUE, status="todo")}
    parked = {job.lock for job in await app.job_manager.list_jobs_async(queue=QUEUE, status="failed")}
    lagging = [pair for pair in behind if str(pair[1]) not in waiting | parked]
    for workspace_id, thread_id in lagging:
        deferrer = app.configure_task("index_thread", queue=QUEUE, lock=str(thread_id))
        await deferrer.defer_async(workspace_id=str(workspace_id), thread_id=str(thread_id))
    distilled = [ws for ws in unembedded if _distilled_lock(ws) not in waiting | parked]
    for workspace_id in distilled:
        deferrer = app.configure_task("index_distilled", queue=QUEUE, lock=_distilled_lock(workspace_id))
        await deferrer.defer_async(workspace_id=str(workspace_id))
    return len(stalled) + len(lagging) + len(distilled) + await _sweep_distil(app, work)


async def _sweep_distil(app: procrastinate.App, work: Work) -> int:
    """Leave a job for every thread with a window that closed by silence, or whose job was lost."""
    if work.distil is None:
        return 0
    async with work.database.outside() as tx:
        quiet_since = work.distil.clock() - work.distil.silence
        threads = await distilling.threads_to_distil(tx, quiet_since, _SWEEP_AT_MOST)
    queued = {
        job.lock
        for status in ("todo", "doing", "failed")
        for job in await app.job_manager.list_jobs_async(queue=DISTIL_QUEUE, status=status)
    }
    waiting = [pair for pair in threads if distil_lock(pair[1]) not in queued]
    for workspace_id, thread_id in waiting:
        await defer_distil(app, workspace_id, thread_id, close=False)
    return len(waiting)


async def defer_distil(app: procrastinate.App, workspace_id: UUID, thread_id: UUID, *, close: bool) -> None:
    """Leave a distil job; `close` takes the last window however short it is."""
    deferrer = app.configure_task("distil_thread", queue=DISTIL_QUEUE, lock=distil_lock(thread_id))
    await deferrer.defer_async(workspace_id=str(workspace_id), thread_id=str(thread_id), close=close)


async def wake_distil(
    app: procrastinate.App, ended: Mapping[UUID, Sequence[datetime]], now: datetime
) -> list[dict[str, Any]]:
    """Queue anew, by workspace, the distil jobs that were put off until one of these times; returns their arguments."""
    woken: list[dict[str, Any]] = []
    for job in await app.job_manager.list_jobs_async(queue=DISTIL_QUEUE, status="todo"):
        given, at = job.task_kwargs, job.scheduled_at
        times = ended.get(UUID(str(given["workspace_id"])), ())
        # The queue may keep whole seconds only.
        if at is None or job.id is None or not any(abs(at - time) < timedelta(seconds=1) for time in times):
            continue
        if await app.job_manager.cancel_job_by_id_async(job.id, delete_job=True):
            deferrer = app.configure_task("distil_thread", queue=DISTIL_QUEUE, lock=job.lock, schedule_at=now)
            await deferrer.defer_async(**given)
            woken.append(dict(given))
    return woken


def distil_lock(thread_id: UUID) -> str:
    """As `everlore.defer_distil` names it."""
    return f"distil:{thread_id}"


def _distilled_lock(workspace_id: UUID) -> str:
    """As `everlore.defer_index_distilled` names it."""
    return f"distilled:{workspace_id}"


async def run_held(app: procrastinate.App, work: Work) -> list[tuple[UUID, UUID | None]]:
    """Index, without their jobs, the threads that lag while a worker holds their job; returns all threads that lagged. What
    is distilled in a workspace counts as a thread without an id.

    After a crash nobody can tell for some seconds that the worker is dead. Should it be alive, the work is done twice.
    """
    async with work.database.outside() as tx:
        behind = await operations.threads_behind(tx, work.embedders, _SWEEP_AT_MOST, thorough=True)
        unembedded = await operations.workspaces_unembedded(tx, work.embedders, _SWEEP_AT_MOST)
    if not (behind or unembedded):
        return []
    held = {job.lock for job in await app.job_manager.list_jobs_async(queue=QUEUE, status="doing")}
    for workspace_id, thread_id in behind:
        if str(thread_id) in held:
            try:
                await index_thread(
                    work.database,
                    workspace_id,
                    thread_id,
                    work.embedders,
                    exact_below=work.exact_below,
                    progress=work.progress,
                )
            except WorldError as error:
                log.warning("thread %s could not be indexed, its job will try again: %s", thread_id, error)
    for workspace_id in unembedded:
        if _distilled_lock(workspace_id) in held:
            try:
                await index_distilled(
                    work.database,
                    workspace_id,
                    work.embedders,
                    exact_below=work.exact_below,
                    progress=work.progress,
                )
            except WorldError as error:
                log.warning(
                    "memories of %s could not be indexed, their job will try again: %s", workspace_id, error
                )
    return [*behind, *((workspace_id, None) for workspace_id in unembedded)]
