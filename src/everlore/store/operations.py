"""The operator's side: workspaces, models, version. Most of it is for the workers' role only."""

from uuid import UUID

from everlore.domain.ids import new_id
from everlore.domain.operations import ModelProgress, WorkspaceSummary
from everlore.store.queries import queries
from everlore.store.run import Transaction

_QUERIES = queries("operations")


async def open_workspace(tx: Transaction, name: str) -> UUID:
    """The workspace of that name, made if need be. For a transaction that is bound to none."""
    return await tx.value(_QUERIES["open_workspace"], id=new_id(), name=name)


async def find_workspace(tx: Transaction, name: str) -> UUID | None:
    """The workspace of that name. For a transaction that is bound to none."""
    return await tx.value(_QUERIES["find_workspace"], name=name)


async def list_workspaces(tx: Transaction) -> list[WorkspaceSummary]:
    return await tx.rows(_QUERIES["list_workspaces"], WorkspaceSummary)


async def delete_workspace(tx: Transaction, name: str) -> tuple[UUID, dict[str, int]] | None:
    """Its id and how many rows of each kind went; None if there was none."""
    workspace_id = await tx.value(_QUERIES["find_workspace"], name=name)
    if workspace_id is None:
        return None
    return workspace_id, await tx.value(_QUERIES["delete_workspace"], workspace_id=workspace_id)


async def embedding_progress(tx: Transaction) -> list[ModelProgress]:
    return await tx.rows(_QUERIES["embedding_progress"], ModelProgress)


async def use_embedding_model(tx: Transaction, name: str) -> None:
    await tx.done(_QUERIES["use_embedding_model"], name=name)


async def version(tx: Transaction) -> str:
    return await tx.value(_QUERIES["version"])
