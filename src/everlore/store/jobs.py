"""Background steps and their jobs: the door through which jobs are left, and the operator's view of the queue."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from everlore.domain.operations import ParkedJob
from everlore.store.queries import queries
from everlore.store.run import Transaction

_QUERIES = queries("jobs")


@dataclass(frozen=True, slots=True)
class StepRow:
    """What the database knows of a background step; `everlore.step.Step` says what the columns mean."""

    name: str
    queue: str
    scope: str
    every: int | None
    watermark: bool


@dataclass(frozen=True, slots=True)
class WaitingJob:
    """A job that is put off."""

    job_id: int
    step: str
    scope_id: UUID
    close: bool


async def defer(tx: Transaction, step: str, scope_id: UUID, *, close: bool = False) -> None:
    """Leave a job of a step for a thread, or for the workspace, on the caller's transaction. Nothing happens where that is
    not of the transaction's workspace. `close`: what would wait for more is to be done, too."""
    await tx.done(_QUERIES["defer"], step=step, scope_id=scope_id, close=close)


async def defer_recorded(
    tx: Transaction, steps: Iterable[str], thread_id: UUID, went: tuple[int, int], *, session_ended: bool
) -> None:
    """Leave the jobs of those of the named steps that have something new to do in a thread, which `went` from one position to
    another."""
    await tx.done(
        _QUERIES["defer_recorded"],
        steps=list(steps),
        thread_id=thread_id,
        went_from=went[0],
        went_to=went[1],
        session_ended=session_ended,
    )


async def defer_known(tx: Transaction) -> None:
    """Leave the jobs of the steps that follow what is distilled or told, on the caller's transaction."""
    await tx.done(_QUERIES["defer_known"])


async def steps(tx: Transaction) -> list[StepRow]:
    """The steps that the database knows, by name."""
    return await tx.rows(_QUERIES["steps"], StepRow)


async def describe_step(tx: Transaction, step: StepRow) -> None:
    """Make a step known. For the owner."""
    await tx.done(
        _QUERIES["describe_step"],
        name=step.name,
        queue=step.queue,
        scope=step.scope,
        every=step.every,
        watermark=step.watermark,
    )


async def by_step(tx: Transaction) -> Mapping[str, Mapping[str, int]]:
    """How many jobs of each step there are, by state (todo, doing, failed)."""
    counted: dict[str, dict[str, int]] = {}
    for step, state, count in await tx.tuples(_QUERIES["by_step"]):
        counted.setdefault(step, {})[state] = count
    return counted


async def parked(tx: Transaction) -> list[ParkedJob]:
    """Jobs of all workspaces that failed for good, the oldest first."""
    return await tx.rows(_QUERIES["parked"], ParkedJob)


async def note_failure(tx: Transaction, job_id: int, error: str) -> None:
    """Keep why a job failed."""
    await tx.done(_QUERIES["note_failure"], job_id=job_id, error=error[:4000].replace("\0", " "))


async def forget_failures(tx: Transaction) -> None:
    """Of jobs that have succeeded or gone since."""
    await tx.done(_QUERIES["forget_failures"])


async def live_lanes(tx: Transaction, seconds: float) -> int:
    """Lanes of workers that were heard of within so many seconds."""
    return await tx.value(_QUERIES["live_lanes"], seconds=seconds)


async def put_off(tx: Transaction, step: str, locks: Sequence[str]) -> list[int]:
    """Jobs of a step that wait for a moment (tomorrow's budget), of the scopes with these locks."""
    return await tx.values(_QUERIES["put_off"], step=step, locks=locks)


async def put_off_until(tx: Transaction, workspace_id: UUID, times: Sequence[datetime]) -> list[WaitingJob]:
    """Jobs of a workspace that wait for one of these moments."""
    return await tx.rows(_QUERIES["put_off_until"], WaitingJob, workspace_id=workspace_id, times=times)


async def unfinished(tx: Transaction, step: str, locks: Sequence[str]) -> list[str]:
    """Of the scopes with these locks those with a job of the step that runs, or that may run now."""
    return await tx.values(_QUERIES["unfinished"], step=step, locks=locks)
