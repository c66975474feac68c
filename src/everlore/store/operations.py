"""The operator's side: workspaces, models, jobs. Most of it is for the workers' role only."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from everlore.domain.ids import new_id
from everlore.store.database import Connection, fetched
from everlore.store.queries import queries

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


async def open_workspace(connection: Connection, name: str) -> UUID:
    """The workspace of that name, made if need be. For a transaction that is bound to none."""
    return fetched(
        await (
            await connection.execute(_QUERIES["open_workspace"], {"id": new_id(), "name": name})
        ).fetchone()
    )


async def workspace_exists(connection: Connection, name: str) -> bool:
    return fetched(await (await connection.execute(_QUERIES["workspace_exists"], {"name": name})).fetchone())


async def list_workspaces(connection: Connection) -> list[WorkspaceSummary]:
    return [
        WorkspaceSummary(*row)
        for row in await (await connection.execute(_QUERIES["list_workspaces"])).fetchall()
    ]


async def embedding_progress(connection: Connection) -> list[ModelProgress]:
    return [
        ModelProgress(*row)
        for row in await (await connection.execute(_QUERIES["embedding_progress"])).fetchall()
    ]


async def use_embedding_model(connection: Connection, name: str) -> None:
    await connection.execute(_QUERIES["use_embedding_model"], {"name": name})


async def threads_behind(
    connection: Connection, models: Iterable[str], at_most: int, *, thorough: bool
) -> list[tuple[UUID, UUID]]:
    """Workspace and thread where one of the models has passages to embed. `thorough` also looks for threads that a model
    has no mark in, which means reading all threads."""
    parameters = {"models": list(models), "thorough": thorough, "at_most": at_most}
    rows = await (await connection.execute(_QUERIES["threads_behind"], parameters)).fetchall()
    return [(workspace_id, thread_id) for workspace_id, thread_id in rows]


async def workspaces_unembedded(connection: Connection, models: Iterable[str], at_most: int) -> list[UUID]:
    """Workspaces where something distilled lacks vectors of one of the models."""
    parameters = {"models": list(models), "at_most": at_most}
    return [
        row[0]
        for row in await (await connection.execute(_QUERIES["workspaces_unembedded"], parameters)).fetchall()
    ]


async def jobs_by_status(connection: Connection) -> dict[str, int]:
    return dict(await (await connection.execute(_QUERIES["jobs_by_status"])).fetchall())


async def parked_jobs(connection: Connection) -> list[ParkedJob]:
    return [ParkedJob(*row) for row in await (await connection.execute(_QUERIES["parked_jobs"])).fetchall()]


async def note_failure(connection: Connection, job_id: int, error: str) -> None:
    await connection.execute(
        _QUERIES["note_failure"], {"job_id": job_id, "error": error[:4000].replace("\0", " ")}
    )


async def forget_failures(connection: Connection) -> None:
    await connection.execute(_QUERIES["forget_failures"])


async def live_workers(connection: Connection, seconds: float) -> int:
    return fetched(
        await (await connection.execute(_QUERIES["live_workers"], {"seconds": seconds})).fetchone()
    )


async def version(connection: Connection) -> str:
    return fetched(await (await connection.execute(_QUERIES["version"])).fetchone())
