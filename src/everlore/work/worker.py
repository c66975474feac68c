"""The worker: runs jobs until it is stopped. It has one contract: start, stop, and nothing is lost in between."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from uuid import UUID

import procrastinate
import procrastinate.exceptions

from everlore.domain.errors import EverloreError
from everlore.work.jobs import (
    DISTIL_QUEUE,
    HEARTBEAT_S,
    QUEUE,
    STALLED_AFTER_S,
    Work,
    defer_distil,
    distil_lock,
    job_app,
    run_held,
    sweep,
)

log = logging.getLogger(__name__)

SWEEP_EVERY_S = 10.0
_RESTART_AFTER_S = 2.0
_GRACE_S = 30.0
_LOOK_AGAIN_S = 0.5
# Who presses Ctrl-C wants to leave; what is embedded so far was committed, the rest is done another time.
_IMPATIENT_S = 1.0


class Worker:
    """Runs in the caller's event loop. After `stop` no job is half done: it ended, or it will be run again."""

    def __init__(self, work: Work, *, concurrency: int = 2) -> None:
        self._work = work
        self._concurrency = concurrency
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="everlore worker")

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _run(self) -> None:
        while True:
            try:
                await self._run_once()
            except (procrastinate.exceptions.ProcrastinateException, EverloreError, OSError) as error:
                # The edge of the worker's loop: the database may be restarting; what was running will be run again.
                log.warning("the worker lost its database and starts anew: %s", error)
            await asyncio.sleep(_RESTART_AFTER_S)

    async def _run_once(self) -> None:
        async with job_app(self._work).open_async() as app:
            sweeping = asyncio.create_task(self._sweep_forever(app))
            # A lane for each queue: a slow language model must not hold up the index. One that fails takes the other along.
            lanes = [
                asyncio.create_task(self._run_lane(app, queue))
                for queue in ((QUEUE, DISTIL_QUEUE) if self._work.distil is not None else (QUEUE,))
            ]
            try:
                await asyncio.gather(*lanes)
            finally:
                sweeping.cancel()
                for lane in lanes:
                    lane.cancel()
                await asyncio.gather(*lanes, return_exceptions=True)

    async def _run_lane(self, app: procrastinate.App, queue: str) -> None:
        await app.run_worker_async(
            queues=[queue],
            concurrency=self._concurrency,
            wait=True,
            install_signal_handlers=False,
            delete_jobs="successful",
            update_heartbeat_interval=HEARTBEAT_S,
            stalled_worker_timeout=STALLED_AFTER_S,
            shutdown_graceful_timeout=_GRACE_S,
        )

    async def _sweep_forever(self, app: procrastinate.App) -> None:
        thorough = True
        while True:
            try:
                await sweep(app, self._work, thorough=thorough)
                thorough = False
            except (procrastinate.exceptions.ProcrastinateException, EverloreError, OSError) as error:
                log.warning("the sweep failed and will be tried again: %s", error)
            await asyncio.sleep(SWEEP_EVERY_S)


async def run_queued(work: Work) -> None:
    """Run all that is queued or lags now, then return: what a command line does when no worker runs."""
    seen: set[tuple[UUID, UUID | None]] = set()
    async with job_app(work).open_async() as app:
        while True:
            await sweep(app, work)
            await _drain(app, QUEUE)
            left = set(await run_held(app, work))
            if left <= seen:
                return
            seen |= left


async def run_distil(
    work: Work,
    threads: Sequence[tuple[UUID, UUID]],
    *,
    close: bool,
    progress: Callable[[], None] = lambda: None,
) -> None:
    """Distil the named threads (workspace, thread) and return when their jobs are done, by this process or by a worker that
    took them first. `progress` is called now and then while others work."""
    # Jobs of other threads wait for their worker: whoever agreed to what these cost did not agree to more.
    mine = replace(work, only=frozenset(thread_id for _, thread_id in threads))
    async with job_app(mine).open_async() as app:
        wanted = {distil_lock(thread_id) for _, thread_id in threads}
        # One that waits for tomorrow's budget keeps its thread's lock: whoever asks by hand means now.
        for job in await app.job_manager.list_jobs_async(queue=DISTIL_QUEUE, status="todo"):
            if job.lock in wanted and job.scheduled_at is not None and job.id is not None:
                await app.job_manager.cancel_job_by_id_async(job.id, delete_job=True)
        for workspace_id, thread_id in threads:
            await defer_distil(app, workspace_id, thread_id, close=close)
        while True:
            await _drain(app, DISTIL_QUEUE)
            if not wanted & await _running(app):
                return
            progress()
            # A job of a dead worker is given back after a while; one of a living worker ends.
            await sweep(app, work, thorough=False)
            await asyncio.sleep(_LOOK_AGAIN_S)


async def _running(app: procrastinate.App) -> set[str | None]:
    """Locks of distil jobs that run, or may run now. Behind one that is put off (the budget is spent) nothing moves."""
    waiting = list(await app.job_manager.list_jobs_async(queue=DISTIL_QUEUE, status="todo"))
    doing = {job.lock for job in await app.job_manager.list_jobs_async(queue=DISTIL_QUEUE, status="doing")}
    put_off = {job.lock for job in waiting if job.scheduled_at is not None}
    return doing | ({job.lock for job in waiting} - put_off)


async def _drain(app: procrastinate.App, queue: str) -> None:
    """Run what is queued, one job at a time, until nothing is left that may run now."""
    await app.run_worker_async(
        queues=[queue],
        concurrency=1,
        wait=False,
        install_signal_handlers=False,
        delete_jobs="successful",
        update_heartbeat_interval=HEARTBEAT_S,
        stalled_worker_timeout=STALLED_AFTER_S,
        shutdown_graceful_timeout=_IMPATIENT_S,
    )
