"""The operator's side: workspaces, models, version. Most of it is for the workers' role only."""

from dataclasses import dataclass
from datetime import datetime
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


async def open_workspace(tx: Transaction, name: str) -> UUID:
    """The workspace of that name, made if need be. For a transaction that is bound to none."""
    return await tx.value(_QUERIES["open_workspace"], id=new_id(), name=name)


async def find_workspace(tx: Transaction, name: str) -> UUID | None:
    """The workspace of that name. For a transaction that is bound to none."""
    return await tx.value(_QUERIES["find_workspace"], name=name)


async def list_workspaces(tx: Transaction) -> list[WorkspaceSummary]:
    return await tx.rows(_QUERIES["list_workspaces"], WorkspaceSummary)


async def embedding_progress(tx: Transaction) -> list[ModelProgress]:
    return await tx.rows(_QUERIES["embedding_progress"], ModelProgress)


async def use_embedding_model(tx: Transaction, name: str) -> None:
    await tx.done(_QUERIES["use_embedding_model"], name=name)


async def version(tx: Transaction) -> str:
    return await tx.value(_QUERIES["version"])
