"""The worker: runs jobs until it is stopped. It has one contract: start, stop, and nothing is lost in between."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence

import procrastinate

from everlore.domain.errors import WorldError
from everlore.index.step import make_models_known
from everlore.runtime import Runtime
from everlore.step import Scope, Step
from everlore.store import jobs
from everlore.store.job_queue import queue_errors
from everlore.work import steps
from everlore.work.jobs import (
    HEARTBEAT_S,
    STALLED_AFTER_S,
    defer,
    end_waiting,
    job_app,
    leave_jobs,
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
    """Runs in the caller's event loop. After `stop` no job is half done: it ended, or it will be run again.

    A database that is away is waited for. Any other error ends the worker, and whoever waits for `ended` hears of it.
    """

    def __init__(self, runtime: Runtime, *, concurrency: int = 2) -> None:
        self._runtime = runtime
        self._concurrency = concurrency
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="everlore worker")

    async def stop(self) -> None:
        """Raises what ended the worker before, if nobody asked for its end."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def ended(self) -> None:
        """Returns when the worker was stopped; raises what ended it otherwise."""
        task = self._task  # `stop` takes it away
        if task is not None:
            await asyncio.wait([task])
            if not task.cancelled():
                task.result()

    async def _run(self) -> None:
        while True:
            try:
                with queue_errors():
                    await self._run_once()
            except (WorldError, OSError) as error:
                # The database may be restarting; what was running will be run again.
                log.warning("the worker lost its database and starts anew: %s", error)
            except Exception:
                log.exception("the worker ends")
                raise
            await asyncio.sleep(_RESTART_AFTER_S)

    async def _run_once(self) -> None:
        await make_models_known(self._runtime)
        async with job_app(self._runtime).open_async() as app:
            # A lane for each queue: a slow language model must not hold up the index. One that fails takes the others along.
            running = [
                asyncio.create_task(self._run_lane(app, queue))
                for queue in steps.queues(steps.wanted(self._runtime))
            ]
            running.append(asyncio.create_task(self._sweep_forever(app)))
            try:
                await asyncio.gather(*running)
            finally:
                for task in running:
                    task.cancel()
                await asyncio.gather(*running, return_exceptions=True)

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
            await sweep(app, self._runtime, thorough=thorough)
            thorough = False
            await asyncio.sleep(SWEEP_EVERY_S)


async def run_queued(runtime: Runtime, *, progress: Callable[[int], None] = lambda _: None) -> None:
    """Run all that is queued or lags now of the steps that a command runs itself, then return: where no worker runs."""
    await make_models_known(runtime)
    mine = steps.inline(runtime)
    seen: set[tuple[str, Scope]] = set()
    with queue_errors():
        async with job_app(runtime, progress=progress).open_async() as app:
            while True:
                found = set(await leave_jobs(runtime, mine))
                for queue in steps.queues(mine):
                    await _drain(app, queue)
                found.update(await run_held(runtime, mine, progress))
                if found <= seen:
                    return
                seen |= found


async def run_scopes(
    runtime: Runtime,
    step: Step,
    scopes: Sequence[Scope],
    *,
    close: bool,
    progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Run a step on the named scopes and return when their jobs are done, by this process or by a worker that took them
    first."""
    # Jobs of other scopes wait for their worker: whoever agreed to what these cost did not agree to more.
    locks = [scope.lock(step.name) for scope in scopes]
    with queue_errors():
        async with job_app(runtime, progress=progress, only=frozenset(scopes)).open_async() as app:
            await end_waiting(app, runtime, step, scopes)
            for scope in scopes:
                await defer(runtime, step.name, scope, close=close)
            while True:
                await _drain(app, step.queue)
                async with runtime.database.outside() as tx:
                    if not await jobs.unfinished(tx, step.name, locks):
                        return
                # A job of a dead worker is given back after a while; one of a living worker ends.
                await sweep(app, runtime, thorough=False)
                await asyncio.sleep(_LOOK_AGAIN_S)


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
