"""The jobs. A job is a hint: watermarks decide what is to be done, and a job that finds nothing left ends at once."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

import procrastinate
import procrastinate.exceptions
from procrastinate import BaseRetryStrategy, JobContext, RetryDecision
from procrastinate.jobs import Job

from everlore.domain.errors import CallerError, InternalError, WorldError
from everlore.encode.index import index_thread
from everlore.ports.embedder import Embedder
from everlore.store import operations
from everlore.store.database import Database
from everlore.store.job_queue import connector

log = logging.getLogger(__name__)

QUEUE = "index"
MAX_ATTEMPTS = 10
# Heartbeats tell a killed worker from a busy one. Its jobs hold their threads' locks, so it should not take long.
HEARTBEAT_S = 2.0
STALLED_AFTER_S = 10.0
_SWEEP_AT_MOST = 1000


@dataclass(frozen=True, slots=True)
class Work:
    """What jobs need. `progress` hears how many passages were embedded."""

    database: Database
    embedders: Mapping[str, Embedder]
    exact_below: int
    progress: Callable[[int], None] = field(default=lambda _: None)


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


def job_app(work: Work) -> procrastinate.App:
    """The queue with its jobs; open it before use."""
    app = procrastinate.App(connector=connector(work.database))

    async def noted(context: JobContext, step: Awaitable[None]) -> None:
        """Run a step; if it fails, keep the reason where `everlore status` shows it."""
        try:
            await step
        except Exception as error:
            log.warning("job %s (%s) failed: %s", context.job.id, context.job.task_name, error)
            async with work.database.outside() as connection:
                await operations.note_failure(
                    connection, context.job.id or 0, f"{type(error).__name__}: {error}"
                )
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

    app.task(name="index_thread", queue=QUEUE, pass_context=True, retry=Retry())(run_index_thread)
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
    async with work.database.outside() as connection:
        behind = await operations.threads_behind(
            connection, work.embedders, _SWEEP_AT_MOST, thorough=thorough
        )
        await operations.forget_failures(connection)
    waiting = {job.lock for job in await app.job_manager.list_jobs_async(queue=QUEUE, status="todo")}
    parked = {job.lock for job in await app.job_manager.list_jobs_async(queue=QUEUE, status="failed")}
    lagging = [pair for pair in behind if str(pair[1]) not in waiting | parked]
    for workspace_id, thread_id in lagging:
        deferrer = app.configure_task("index_thread", queue=QUEUE, lock=str(thread_id))
        await deferrer.defer_async(workspace_id=str(workspace_id), thread_id=str(thread_id))
    return len(stalled) + len(lagging)


async def run_held(app: procrastinate.App, work: Work) -> list[tuple[UUID, UUID]]:
    """Index, without their jobs, the threads that lag while a worker holds their job; returns all threads that lagged.

    After a crash nobody can tell for some seconds that the worker is dead. Should it be alive, the work is done twice.
    """
    async with work.database.outside() as connection:
        behind = await operations.threads_behind(connection, work.embedders, _SWEEP_AT_MOST, thorough=True)
    if not behind:
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
    return behind
