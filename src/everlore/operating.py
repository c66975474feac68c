"""What an operator asks of an open memory, whichever the face: its state, jobs, models, distilling by a worker or at once."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Annotated
from uuid import UUID

from everlore.api.workspace import Workspace
from everlore.config import Settings
from everlore.domain.answers import Doc
from everlore.domain.errors import ConfigurationError, InvalidInput, WorldError
from everlore.domain.knowledge import DistilEstimate, Distilled
from everlore.domain.operations import (
    DistilDone,
    DistilStarted,
    Health,
    InUse,
    ModelProgress,
    ModelTest,
    Parked,
    Status,
    Tried,
)
from everlore.everlore import DEFAULT_WORKSPACE, Everlore, Retried
from everlore.validation import Name, Position, checked
from everlore.wiring import try_model, undistilled_because
from everlore.work import steps

HEALTH_TIMEOUT_S = 3.0

Here = Annotated[Name, Doc("The memory to use; it must exist.")]
Quietly = Callable[[int], None]


def _unheard(_: int) -> None: ...


async def health(lore: Everlore) -> Health:
    """Whether the database answers, and what is missing."""
    try:
        async with asyncio.timeout(HEALTH_TIMEOUT_S):
            answers = await lore.database_answers()
            worker = answers and await lore.worker_is_alive()
    except (WorldError, TimeoutError):
        answers = worker = False
    if not answers:
        return Health(
            False, False, False, ("The database does not answer; nothing can be recorded or recalled.",)
        )
    degraded: list[str] = []
    if not worker:
        degraded.append(
            "No worker runs; new messages are found by their words, and by their meaning once one has run."
        )
    if lore.settings.embedder == "none":
        degraded.append("No embedding model is set; messages are found by their words and times only.")
    if lore.undistilled_because is not None:
        degraded.append(lore.undistilled_because)
    return Health(True, True, worker, tuple(degraded))


@checked
async def status(lore: Everlore, *, workspace: Here = DEFAULT_WORKSPACE) -> Status:
    """Show how the installation and one workspace are doing.

    With the jobs that are parked, what steps could not do and left, and why jobs wait."""
    here = await lore.workspace(workspace, create=False)
    state = await lore.status()
    return Status(
        **{name: getattr(state, name) for name in Status.__dataclass_fields__ if name != "workspace"},
        workspace=await here.status(),
    )


async def jobs(lore: Everlore) -> Parked:
    """List what failed for good, with the reason.

    Jobs that are parked, and what steps could not do and left: stretches of messages that could not be read, passages that an
    embedding model would not take."""
    state = await lore.status()
    return Parked(state.parked, state.failures)


async def retry(lore: Everlore) -> Tried:
    """Try again what failed for good.

    Parked jobs of all workspaces are queued again, a worker does again what steps could not do, and a model that is left alone is
    tried at once."""
    return Tried((await lore.retry_parked()).count)


async def retry_here(lore: Everlore, progress: Quietly = _unheard) -> Tried:
    """Try again what failed for good, here and now unless a worker runs."""
    retried = await lore.retry_parked()
    if retried.count and not await lore.worker_is_alive():
        await lore.catch_up()
        await _read_again(lore, retried, progress)
    return Tried(retried.count)


async def _read_again(lore: Everlore, retried: Retried, progress: Quietly) -> None:
    if retried.runs:
        # Only what had failed: what else waits may cost a lot, and nobody agreed to that.
        await lore.run_retried(retried, progress=progress)
        await lore.catch_up()


async def models(lore: Everlore) -> tuple[ModelProgress, ...]:
    """List the embedding models that the memory knows."""
    return (await lore.status()).models


@checked
async def use_model(lore: Everlore, name: Annotated[Name, Doc("A model that the memory knows.")]) -> InUse:
    """Let another embedding model answer questions; refused until it has vectors of everything."""
    try:
        await lore.use_model(name)
    except ConfigurationError as error:
        raise InvalidInput("name", str(error)) from error
    return InUse(name)


async def test_model(settings: Settings) -> ModelTest:
    """Ask the language model one question and say what would fail. Needs no database, and no budget is charged.

    Raises ConfigurationError where none is set, or its key or package is missing."""
    found = await try_model(settings)
    if settings.distil.analyst == "model":
        return found
    unused = f'Nobody asks it: distil.analyst is "{settings.distil.analyst}"; set it to "model".'
    return replace(found, remarks=(unused, *found.remarks))


# Distilling


@checked
async def start_distil(
    lore: Everlore,
    *,
    workspace: Here = DEFAULT_WORKSPACE,
    thread: Annotated[Name | None, Doc("Only this thread; it must exist.")] = None,
    again: Annotated[bool, Doc("Also what was read before; what it yields replaces that.")] = False,
    since_position: Annotated[Position | None, Doc("With `again`: from this position on.")] = None,
    until_position: Annotated[Position | None, Doc("With `again`: up to this position.")] = None,
    close: Annotated[bool, Doc("Read the last messages, too, or only full windows of 10.")] = True,
    estimate_only: Annotated[bool, Doc("Only say what waits and what it would take.")] = False,
) -> DistilStarted:
    """Distil what waits, by a worker.

    Leaves jobs, and says what waits and what a model would take for it. Nothing is waited for."""
    if not again and (since_position, until_position) != (None, None):
        raise InvalidInput(
            "again", "must be true where positions are given: they are for what was read before"
        )
    here = await lore.workspace(workspace, create=False)
    waiting = await here.estimate_distil(
        thread, again=again, since=since_position, until=until_position, close=close
    )
    threads = 0
    if not estimate_only:
        if again:
            await _again(here, thread, since_position, until_position)
        threads = await lore.start_distil(here, thread, close=close)
    return DistilStarted(threads, waiting, await lore.worker_is_alive())


async def estimate(
    lore: Everlore,
    workspace: str | None,
    thread: str | None = None,
    *,
    again: bool = False,
    since: int | None = None,
    until: int | None = None,
    close: bool = True,
) -> DistilEstimate:
    """What waits in a workspace, or in all (None), and what it would take."""
    return together(
        [
            await one.estimate_distil(thread, again=again, since=since, until=until, close=close)
            for one in await _chosen(lore, workspace)
        ]
    )


async def distil(
    lore: Everlore,
    workspace: str | None,
    thread: str | None = None,
    *,
    again: bool = False,
    since: int | None = None,
    until: int | None = None,
    close: bool = True,
    progress: Quietly = _unheard,
) -> DistilDone:
    """Distil what waits, here and now, in a workspace or in all (None), and say why something is left.

    Raises ConfigurationError when nothing distils here."""
    workspaces = await _chosen(lore, workspace)
    waited = await estimate(lore, workspace, thread, again=again, since=since, until=until, close=close)
    if waited.analyst == "none":
        raise ConfigurationError(undistilled_because(lore.runtime.settings))
    before_parked = {job.job_id for job in (await lore.status()).parked}
    read, waiting, threads = Distilled(), 0, set[tuple[UUID, UUID]]()
    for one in workspaces:
        before = await one.distilled()
        if again:
            await _again(one, thread, since, until)
        threads.update((one.workspace_id, found) for found in await one.threads_to_distil(thread))
        await lore.distil(one, thread, close=close, progress=progress)
        read += await one.distilled() - before
        waiting += (await one.estimate_distil(thread)).messages
    if read.windows:
        await lore.catch_up()
    parked = [
        job
        for job in (await lore.status()).parked
        if job.job_id not in before_parked and (job.workspace_id, job.scope_id) in threads
    ]
    unread = (waiting and close) or read.failed or parked
    names = tuple(one.name for one in workspaces)
    errors = await reasons(lore, set(names)) if unread else ()
    return DistilDone(names, waited, read, waiting, tuple(errors), len(parked))


async def distil_at_no_cost(
    lore: Everlore, workspace: Workspace, progress: Quietly = _unheard
) -> Distilled | DistilEstimate | None:
    """By rules at once, since that costs nothing; with a model only what it would take. None if nothing waits, or nothing is
    distilled here."""
    waiting = await workspace.estimate_distil()
    if waiting.analyst == "none" or not waiting.messages:
        return None
    if waiting.calls:
        return waiting
    before = await workspace.distilled()
    await lore.distil(workspace, progress=progress)
    await lore.catch_up()
    return await workspace.distilled() - before


async def reasons(lore: Everlore, workspaces: set[str]) -> list[str]:
    """Why messages of these workspaces are left: windows that could not be read, jobs that are parked, models that may not be
    asked now."""
    state = await lore.status()
    said = [
        f"{one.workspace}, thread {one.thread}, {one.what}: {one.error}"
        for one in state.failures
        if one.workspace in workspaces and steps.STEPS[one.step].verb == "distil"
    ]
    said += [
        f"{job.workspace}, {job.step}: {job.error or 'the job failed'}"
        for job in state.parked
        if job.workspace in workspaces
    ]
    for one in state.held_up:
        if one.workspace in workspaces:
            model = "no model is asked" if one.model is None else f"{one.model} is left alone"
            said.append(f"{one.workspace}: {model} until {one.until:%Y-%m-%d %H:%M} UTC: {one.reason}")
    return list(dict.fromkeys(said))


def together(found: Sequence[DistilEstimate]) -> DistilEstimate:
    """Estimates of several workspaces as one."""
    costs = [one.cost for one in found if one.cost is not None]
    return DistilEstimate(
        sum(one.threads for one in found),
        sum(one.messages for one in found),
        found[0].analyst if found else "none",
        sum(one.calls for one in found),
        sum(one.tokens_in for one in found),
        sum(one.tokens_out for one in found),
        sum(costs, Decimal(0)) if costs else None,
        found[0].undistilled_because if found else None,
    )


async def _again(workspace: Workspace, thread: str | None, since: int | None, until: int | None) -> None:
    """Have what was read before read anew, in a thread or in all of them."""
    for one in [thread] if thread else await workspace.thread_names():
        await workspace.distil_again(one, since=since, until=until)


async def _chosen(lore: Everlore, name: str | None) -> list[Workspace]:
    names = [one.name for one in await lore.workspaces()] if name is None else [name]
    return [await lore.workspace(one, create=False) for one in names]
