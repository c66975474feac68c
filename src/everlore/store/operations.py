"""The operator's side: workspaces, models, jobs. Most of it is for the workers' role only."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from everlore.domain.ids import new_id
from everlore.store.queries import queries
from everlore.store.run import Transaction

_QUERIES = queries("operations")


@dataclass(frozen=True, slots=True)
class WorkspaceSummary:
    workspace_id: UUID
    name: str
    created_at: datetime
    threads: int
    messages: int
    last_at: datetime | None


@dataclass(frozen=True, slots=True)
class ModelProgress:
    """An embedding model, and how many threads, and how many memories and facts, still lack vectors of it."""

    name: str
    dimensions: int
    in_use: bool
    threads_behind: int
    distilled_behind: int = 0


@dataclass(frozen=True, slots=True)
class ParkedJob:
    """A job that failed for good; retry it with `everlore jobs retry`."""

    job_id: int
    task: str
    attempts: int
    arguments: dict[str, Any]
    failed_at: datetime | None
    error: str | None


async def open_workspace(tx: Transaction, name: str) -> UUID:
    """The workspace of that name, made if need be. For a transaction that is bound to none."""
    return await tx.value(_QUERIES["open_workspace"], id=new_id(), name=name)


async def workspace_exists(tx: Transaction, name: str) -> bool:
    return await tx.value(_QUERIES["workspace_exists"], name=name)


async def list_workspaces(tx: Transaction) -> list[WorkspaceSummary]:
    return await tx.rows(_QUERIES["list_workspaces"], WorkspaceSummary)


async def embedding_progress(tx: Transaction) -> list[ModelProgress]:
    return await tx.rows(_QUERIES["embedding_progress"], ModelProgress)


async def use_embedding_model(tx: Transaction, name: str) -> None:
    await tx.done(_QUERIES["use_embedding_model"], name=name)


async def threads_behind(
    tx: Transaction, models: Iterable[str], at_most: int, *, thorough: bool
) -> list[tuple[UUID, UUID]]:
    """Workspace and thread where one of the models has passages to embed. `thorough` also looks for threads that a model
    has no mark in, which means reading all threads."""
    rows = await tx.tuples(
        _QUERIES["threads_behind"], models=list(models), thorough=thorough, at_most=at_most
    )
    return [(workspace_id, thread_id) for workspace_id, thread_id in rows]


async def workspaces_unembedded(tx: Transaction, models: Iterable[str], at_most: int) -> list[UUID]:
    """Workspaces where something distilled lacks vectors of one of the models."""
    return await tx.values(_QUERIES["workspaces_unembedded"], models=list(models), at_most=at_most)


async def jobs_by_status(tx: Transaction) -> dict[str, int]:
    return dict(await tx.tuples(_QUERIES["jobs_by_status"]))


async def parked_jobs(tx: Transaction) -> list[ParkedJob]:
    return await tx.rows(_QUERIES["parked_jobs"], ParkedJob)


async def note_failure(tx: Transaction, job_id: int, error: str) -> None:
    await tx.done(_QUERIES["note_failure"], job_id=job_id, error=error[:4000].replace("\0", " "))


async def forget_failures(tx: Transaction) -> None:
    await tx.done(_QUERIES["forget_failures"])


async def live_workers(tx: Transaction, seconds: float) -> int:
    return await tx.value(_QUERIES["live_workers"], seconds=seconds)


async def version(tx: Transaction) -> str:
    return await tx.value(_QUERIES["version"])
