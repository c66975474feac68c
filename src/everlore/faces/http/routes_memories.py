"""The addresses of memories and facts."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Body, Path, Query

from everlore.api.workspace import Workspace
from everlore.domain.memories import Memory
from everlore.faces.http.base import Place, Within
from everlore.faces.http.bodies_memories import (
    CorrectBody,
    EraseQuery,
    ErasureAnswer,
    FactAnswer,
    FactDetailAnswer,
    FactsAnswer,
    FactsQuery,
    MemoriesAnswer,
    MemoriesQuery,
    MemoryAnswer,
    MemoryDetailAnswer,
    MemoryHistoryAnswer,
    RememberBody,
    TimesQuery,
)
from everlore.faces.http.parts import READS, WRITES, Lore, answer

router = APIRouter()

MemoryId: TypeAlias = Annotated[
    str, Path(max_length=36, description="A memory's id (of the lineage or a version), or the end of it.")
]
FactId: TypeAlias = Annotated[
    str, Path(max_length=36, description="A fact's id (of the lineage or a version), or the end of it.")
]
Verb: TypeAlias = Callable[[Workspace, str], Awaitable[Memory]]
HERE = Within.model_validate({})


@router.get(
    "/v1/memories", operation_id="list_memories", summary="List memories, the latest first", responses=READS
)
async def list_memories(query: Annotated[MemoriesQuery, Query()], lore: Lore) -> MemoriesAnswer:
    """Those that pass all filters; without any those in use."""
    workspace = await lore.workspace(query.workspace, create=False)
    limits = {name: value for name, value in query if name not in {"workspace", "valid_at", "recorded_at"}}
    found = await workspace.memories(**limits, as_of=query.as_of)
    return answer(MemoriesAnswer, {"memories": found}, workspace)


@router.post(
    "/v1/memories",
    operation_id="remember",
    summary="Keep a memory directly",
    status_code=201,
    responses=WRITES,
)
async def remember(body: RememberBody, lore: Lore) -> MemoryAnswer:
    """The same words again make what is known surer."""
    workspace = await lore.workspace(body.workspace)
    given = {name: value for name, value in body if name != "workspace" and value is not None}
    return answer(MemoryAnswer, await workspace.remember(**given), workspace)


@router.get(
    "/v1/memories/{memory_id}",
    operation_id="show_memory",
    summary="Show all of one memory",
    responses=READS,
)
async def show_memory(
    memory_id: MemoryId, query: Annotated[TimesQuery, Query()], lore: Lore
) -> MemoryDetailAnswer:
    """With a time: the version that was true or believed then."""
    workspace = await lore.workspace(query.workspace, create=False)
    return answer(MemoryDetailAnswer, await workspace.memory(memory_id, as_of=query.as_of), workspace)


@router.get(
    "/v1/memories/{memory_id}/history",
    operation_id="memory_history",
    summary="List the versions of a memory",
    responses=READS,
)
async def memory_history(
    memory_id: MemoryId, query: Annotated[Place, Query()], lore: Lore
) -> MemoryHistoryAnswer:
    """What was believed when, the first version first."""
    workspace = await lore.workspace(query.workspace, create=False)
    return answer(MemoryHistoryAnswer, await workspace.memory(memory_id), workspace)


@router.patch(
    "/v1/memories/{memory_id}", operation_id="correct_memory", summary="Correct a memory", responses=WRITES
)
async def correct_memory(memory_id: MemoryId, body: CorrectBody, lore: Lore) -> MemoryAnswer:
    """A new version with what the body says; the old one stays in the history."""
    workspace = await lore.workspace(body.workspace, create=False)
    changes: dict[str, Any] = {
        name: getattr(body, name) for name in body.model_fields_set if name != "workspace"
    }
    return answer(MemoryAnswer, await workspace.correct(memory_id, **changes), workspace)


@router.delete(
    "/v1/memories/{memory_id}",
    operation_id="erase_memory",
    summary="Erase a memory for good",
    responses=READS,
)
async def erase_memory(
    memory_id: MemoryId, query: Annotated[EraseQuery, Query()], lore: Lore
) -> ErasureAnswer:
    """In all its versions, with what only it states; the answer names what went."""
    workspace = await lore.workspace(query.workspace, create=False)
    receipt = await workspace.erase(memory_id, sources=query.sources)
    again = [{"thread_id": thread_id, "first": first} for thread_id, first in receipt.to_read_again]
    return answer(ErasureAnswer, asdict(receipt) | {"to_read_again": again}, workspace)


def _add(verb: str, summary: str, told: str, do: Verb) -> None:
    """A route for a verb that needs nothing but the memory's id."""

    async def change(memory_id: MemoryId, lore: Lore, body: Annotated[Within, Body()] = HERE) -> MemoryAnswer:
        workspace = await lore.workspace(body.workspace, create=False)
        return answer(MemoryAnswer, await do(workspace, memory_id), workspace)

    router.add_api_route(
        f"/v1/memories/{{memory_id}}/{verb}",
        change,
        methods=["POST"],
        operation_id=f"{verb}_memory",
        summary=summary,
        description=told,
        responses=WRITES,
    )


_add("pin", "Pin a memory", "It is always in context.", lambda w, m: w.pin(m))
_add("unpin", "Unpin a memory", "Undoes pin.", lambda w, m: w.pin(m, pinned=False))
_add("forget", "Forget a memory", "Out of every answer, with what only it states.", lambda w, m: w.forget(m))
_add("restore", "Restore a memory", "Undoes forget.", lambda w, m: w.restore(m))
_add("confirm", "Confirm a memory", "It is so: sure, and out of review.", lambda w, m: w.confirm(m))
_add("reject", "Reject a memory", "It is not so: not used, not distilled again.", lambda w, m: w.reject(m))


@router.get(
    "/v1/facts",
    operation_id="list_facts",
    summary="List facts, those that hold first",
    responses=READS,
)
async def list_facts(query: Annotated[FactsQuery, Query()], lore: Lore) -> FactsAnswer:
    """Those that hold now, or at the time asked about; with `history` also those that held once."""
    workspace = await lore.workspace(query.workspace, create=False)
    limits = {name: value for name, value in query if name not in {"workspace", "valid_at", "recorded_at"}}
    found = await workspace.facts(**limits, as_of=query.as_of)
    return answer(FactsAnswer, {"facts": found}, workspace)


@router.get("/v1/facts/{fact_id}", operation_id="show_fact", summary="Show all of one fact", responses=READS)
async def show_fact(fact_id: FactId, query: Annotated[Place, Query()], lore: Lore) -> FactDetailAnswer:
    """With every source, and what was believed of it when."""
    workspace = await lore.workspace(query.workspace, create=False)
    versions = await workspace.fact_versions(fact_id)
    return answer(FactDetailAnswer, {"fact": versions[-1], "versions": versions}, workspace)


@router.post(
    "/v1/facts/{fact_id}/confirm",
    operation_id="confirm_fact",
    summary="Confirm a fact",
    responses=WRITES,
)
async def confirm_fact(fact_id: FactId, lore: Lore, body: Annotated[Within, Body()] = HERE) -> FactAnswer:
    """It is so: sure from now on."""
    workspace = await lore.workspace(body.workspace, create=False)
    return answer(FactAnswer, await workspace.confirm_fact(fact_id), workspace)


@router.post(
    "/v1/facts/{fact_id}/reject", operation_id="reject_fact", summary="Reject a fact", responses=WRITES
)
async def reject_fact(fact_id: FactId, lore: Lore, body: Annotated[Within, Body()] = HERE) -> FactAnswer:
    """It is not so: it never held, and is not stated again."""
    workspace = await lore.workspace(body.workspace, create=False)
    return answer(FactAnswer, await workspace.reject_fact(fact_id), workspace)
