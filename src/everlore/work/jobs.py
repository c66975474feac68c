"""The jobs of all steps. A job is a hint: watermarks decide what is to be done; one that finds nothing left ends at once."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from uuid import UUID

import procrastinate
import procrastinate.exceptions
from procrastinate import BaseRetryStrategy, JobContext, RetryDecision
from procrastinate.jobs import Job

from everlore.domain.errors import CallerError, InternalError, SpendLimit, WorkspaceGone, WorldError
from everlore.runtime import Runtime
from everlore.step import Lagging, Scope, Step
from everlore.store import jobs
from everlore.store.job_queue import connector
from everlore.work import steps

log = logging.getLogger(__name__)

# Heartbeats tell a killed worker from a busy one. Its jobs hold their scopes' locks, so it should not take long.
HEARTBEAT_S = 2.0
STALLED_AFTER_S = 10.0
_SWEEP_AT_MOST = 1000
# How long a job that was taken by the wrong process is left alone.
_BACK_IN_S = 3


class NotMine(Exception):
    """A job of a scope that this process was not asked to work on: it goes back for a worker."""


class Retry(BaseRetryStrategy):
    """The world's faults are tried again after 1, 2, 4, ... seconds; the caller's and ours are parked at once, and so are those
    that the step parks on. Where a cap or the circuit breaker forbids a call, the job waits until it may.

    A job that was stopped with its worker is nobody's fault: it runs again at once, however often that happened.
    """

    def __init__(self, step: Step) -> None:
        self._step = step

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        match exception:
            case asyncio.CancelledError():
                return RetryDecision(retry_in={"seconds": 0})
            case NotMine():
                return RetryDecision(retry_in={"seconds": _BACK_IN_S})
            case SpendLimit():
                return RetryDecision(retry_at=exception.until)
            case CallerError() | InternalError():
                return None
            case _ if isinstance(exception, self._step.parks_on) or job.attempts + 1 >= self._step.attempts:
                return None
            case _:
                return RetryDecision(retry_in={"seconds": 2**job.attempts})


def job_app(
    runtime: Runtime,
    *,
    progress: Callable[[int], None] = lambda _: None,
    only: frozenset[Scope] | None = None,
) -> procrastinate.App:
    """The queue with a task for each step; open it before use. `progress` hears of what is done, in the steps' own counts.
    `only`: the scopes that may be worked on, where somebody asked for these and no others."""
    app = procrastinate.App(connector=connector(runtime.database))
    for step in steps.wanted(runtime):
        task = _task(runtime, step, progress, only)
        app.task(name=step.name, queue=step.queue, pass_context=True, retry=Retry(step))(task)
    return app


def _task(
    runtime: Runtime, step: Step, progress: Callable[[int], None], only: frozenset[Scope] | None
) -> Callable[..., Awaitable[None]]:
    async def run(context: JobContext, workspace_id: str, scope_id: str, *, close: bool = False) -> None:
        """Run the step; if it fails, keep the reason where `everlore status` shows it."""
        scope = step.scope_of(UUID(workspace_id), UUID(scope_id))
        if only is not None and scope not in only:
            raise NotMine(scope_id)
        try:
            await step.run(runtime, scope, close=close, progress=progress)
        except WorkspaceGone:
            log.info("job %s (%s): its workspace has gone", context.job.id, step.name)
        except Exception as error:
            log.warning("job %s (%s) failed: %s", context.job.id, step.name, error)
            async with runtime.database.outside() as tx:
                await jobs.note_failure(tx, context.job.id or 0, f"{type(error).__name__}: {error}")
            raise

    return run


async def sweep(app: procrastinate.App, runtime: Runtime, *, thorough: bool = True) -> int:
    """Leave a job for every scope that lags without one, and give back the jobs of workers that died; returns how many of both.

    Nothing depends on it while all goes well: it mends what a crash between two steps may have left, and finds what became
    ripe by time alone. `thorough`: see `everlore.step.Lagging`.
    """
    returned = await _give_back_stalled(app)
    return returned + len(await leave_jobs(runtime, steps.wanted(runtime), thorough=thorough))


async def _give_back_stalled(app: procrastinate.App) -> int:
    stalled = list(await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_AFTER_S))
    for job in stalled:
        # It may have ended after all, or another process's sweep came first.
        with contextlib.suppress(procrastinate.exceptions.ConnectorException):
            await app.job_manager.retry_job(job)
    return len(stalled)


async def leave_jobs(
    runtime: Runtime, of: Iterable[Step], *, thorough: bool = True
) -> list[tuple[str, Scope]]:
    """Leave a job for every scope that lags and has none; returns them with the names of their steps."""
    asked = Lagging(_SWEEP_AT_MOST, thorough=thorough)
    async with runtime.database.outside() as tx:
        await jobs.forget_failures(tx)
        found = [(step.name, scope) for step in of for scope in await step.lags(tx, runtime, asked)]
    for step, scope in found:
        await defer(runtime, step, scope)
    return found


async def defer(runtime: Runtime, step: str, scope: Scope, *, close: bool = False) -> None:
    """Leave a job in a transaction of its own; for a workspace that has gone meanwhile there is none to leave."""
    with contextlib.suppress(WorkspaceGone):
        async with runtime.database.workspace(scope.workspace_id) as tx:
            await jobs.defer(tx, step, scope.id, close=close)


async def end_waiting(app: procrastinate.App, runtime: Runtime, step: Step, scopes: Sequence[Scope]) -> None:
    """Take jobs of these scopes away that are put off: one that waits for tomorrow's budget keeps its scope's lock, and whoever
    asks by hand means now."""
    async with runtime.database.outside() as tx:
        waiting = await jobs.put_off(tx, step.name, [scope.lock(step.name) for scope in scopes])
    for job_id in waiting:
        await app.job_manager.cancel_job_by_id_async(job_id, delete_job=True)


async def wake(
    app: procrastinate.App, runtime: Runtime, workspace_id: UUID, times: Sequence[datetime], now: datetime
) -> list[tuple[str, Scope, bool]]:
    """Queue anew, to run `now`, the jobs of a workspace that were put off until one of these times; returns step, scope and
    `close` of each."""
    async with runtime.database.outside() as tx:
        waiting = await jobs.put_off_until(tx, workspace_id, times)
    woken: list[tuple[str, Scope, bool]] = []
    for job in waiting:
        if job.step in steps.STEPS and await app.job_manager.cancel_job_by_id_async(
            job.job_id, delete_job=True
        ):
            step, scope = steps.STEPS[job.step], steps.STEPS[job.step].scope_of(workspace_id, job.scope_id)
            given = {"workspace_id": str(workspace_id), "scope_id": str(scope.id), "close": job.close}
            deferrer = app.configure_task(
                step.name, queue=step.queue, lock=scope.lock(step.name), schedule_at=now
            )
            await deferrer.defer_async(**given)
            woken.append((job.step, scope, job.close))
    return woken


async def run_held(
    runtime: Runtime, of: Iterable[Step], progress: Callable[[int], None]
) -> list[tuple[str, Scope]]:
    """Run steps, without their jobs, on the scopes that lag while a worker holds their job; returns those.

    After a crash nobody can tell for some seconds that the worker is dead. Should it be alive, the work is done twice.
    """
    done: list[tuple[str, Scope]] = []
    for step in of:
        async with runtime.database.outside() as tx:
            held = await step.lags(tx, runtime, Lagging(_SWEEP_AT_MOST, held=True))
        for scope in held:
            try:
                await step.run(runtime, scope, close=False, progress=progress)
            except WorldError as error:
                log.warning("%s of %s failed, its job will try again: %s", step.name, scope.id, error)
            done.append((step.name, scope))
    return done
