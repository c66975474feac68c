"""The worker: runs jobs until it is stopped. It has one contract: start, stop, and nothing is lost in between."""

import asyncio
import contextlib
import logging
from uuid import UUID

import procrastinate
import procrastinate.exceptions

from everlore.domain.errors import EverloreError
from everlore.work.jobs import HEARTBEAT_S, QUEUE, STALLED_AFTER_S, Work, job_app, run_held, sweep

log = logging.getLogger(__name__)

SWEEP_EVERY_S = 10.0
_RESTART_AFTER_S = 2.0
_GRACE_S = 30.0
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
            try:
                await app.run_worker_async(
                    queues=[QUEUE],
                    concurrency=self._concurrency,
                    wait=True,
                    install_signal_handlers=False,
                    delete_jobs="successful",
                    update_heartbeat_interval=HEARTBEAT_S,
                    stalled_worker_timeout=STALLED_AFTER_S,
                    shutdown_graceful_timeout=_GRACE_S,
                )
            finally:
                sweeping.cancel()

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
    seen: set[tuple[UUID, UUID]] = set()
    async with job_app(work).open_async() as app:
        while True:
            await sweep(app, work)
            await app.run_worker_async(
                queues=[QUEUE],
                concurrency=1,
                wait=False,
                install_signal_handlers=False,
                delete_jobs="successful",
                update_heartbeat_interval=HEARTBEAT_S,
                stalled_worker_timeout=STALLED_AFTER_S,
                shutdown_graceful_timeout=_IMPATIENT_S,
            )
            left = set(await run_held(app, work))
            if left <= seen:
                return
            seen |= left
