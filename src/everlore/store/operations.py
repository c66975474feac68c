"""The operator's side: workspaces, models, jobs. Most of it is for the workers' role only."""

from collections.abc import Iterable
from uuid import UUID

from everlore.domain.ids import new_id
from everlore.domain.operations import ModelProgress, ParkedJob, WorkspaceSummary
from everlore.store.queries import queries
from everlore.store.run import Transaction, fetched

_QUERIES = queries("operations")


async def open_workspace(tx: Transaction, name: str) -> UUID:
    """The workspace of that name, made if need be. For a transaction that is bound to none."""
    return fetched(
        await (await tx.execute(_QUERIES["open_workspace"], {"id": new_id(), "name": name})).fetchone()
    )


async def workspace_exists(tx: Transaction, name: str) -> bool:
    return fetched(await (await tx.execute(_QUERIES["workspace_exists"], {"name": name})).fetchone())


async def list_workspaces(tx: Transaction) -> list[WorkspaceSummary]:
    return [
        WorkspaceSummary(*row) for row in await (await tx.execute(_QUERIES["list_workspaces"])).fetchall()
    ]


async def delete_workspace(tx: Transaction, name: str) -> tuple[UUID, dict[str, int]] | None:
    """Its id and how many rows of each kind went; None if there was none."""
    workspace_id = await tx.value(_QUERIES["find_workspace"], name=name)
    if workspace_id is None:
        return None
    return workspace_id, await tx.value(_QUERIES["delete_workspace"], workspace_id=workspace_id)


async def embedding_progress(tx: Transaction) -> list[ModelProgress]:
    return [
        ModelProgress(*row) for row in await (await tx.execute(_QUERIES["embedding_progress"])).fetchall()
    ]


async def use_embedding_model(tx: Transaction, name: str) -> None:
    await tx.execute(_QUERIES["use_embedding_model"], {"name": name})


async def threads_behind(
    tx: Transaction, models: Iterable[str], at_most: int, *, thorough: bool
) -> list[tuple[UUID, UUID]]:
    """Workspace and thread where one of the models has passages to embed. `thorough` also looks for threads that a model
    has no mark in, which means reading all threads."""
    parameters = {"models": list(models), "thorough": thorough, "at_most": at_most}
    rows = await (await tx.execute(_QUERIES["threads_behind"], parameters)).fetchall()
    return [(workspace_id, thread_id) for workspace_id, thread_id in rows]


async def workspaces_unembedded(tx: Transaction, models: Iterable[str], at_most: int) -> list[UUID]:
    """Workspaces where something distilled lacks vectors of one of the models."""
    parameters = {"models": list(models), "at_most": at_most}
    return [
        row[0] for row in await (await tx.execute(_QUERIES["workspaces_unembedded"], parameters)).fetchall()
    ]


async def jobs_by_status(tx: Transaction) -> dict[str, int]:
    return dict(await (await tx.execute(_QUERIES["jobs_by_status"])).fetchall())


async def parked_jobs(tx: Transaction) -> list[ParkedJob]:
    return [ParkedJob(*row) for row in await (await tx.execute(_QUERIES["parked_jobs"])).fetchall()]


async def note_failure(tx: Transaction, job_id: int, error: str) -> None:
    await tx.execute(_QUERIES["note_failure"], {"job_id": job_id, "error": error[:4000].replace("\0", " ")})


async def forget_failures(tx: Transaction) -> None:
    await tx.execute(_QUERIES["forget_failures"])


async def live_workers(tx: Transaction, seconds: float) -> int:
    return fetched(await (await tx.execute(_QUERIES["live_workers"], {"seconds": seconds})).fetchone())


async def version(tx: Transaction) -> str:
    return fetched(await (await tx.execute(_QUERIES["version"])).fetchone())
