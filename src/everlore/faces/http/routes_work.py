"""The addresses of distilling, review, usage and the state of the installation."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path, Query

from everlore.domain.errors import InvalidInput
from everlore.faces.http.base import Body, Place
from everlore.faces.http.bodies_work import (
    DecideBody,
    DistilAnswer,
    DistilBody,
    RetryAnswer,
    ReviewAnswer,
    ReviewQuery,
    StatusAnswer,
    UsageAnswer,
    UsageQuery,
)
from everlore.faces.http.parts import READS, WRITES, Lore, answer

router = APIRouter()


class Nothing(Body):
    """A body without fields."""


NOTHING = Nothing()


@router.post(
    "/v1/distil", operation_id="distil", summary="Distil what waits", status_code=202, responses=WRITES
)
async def distil(body: DistilBody, lore: Lore) -> DistilAnswer:
    """Leave jobs for a worker, and say what waits and what a model would take for it. Nothing is waited for."""
    if not body.again and (body.since_position, body.until_position) != (None, None):
        raise InvalidInput(
            "again", "must be true where positions are given: they are for what was read before"
        )
    workspace = await lore.workspace(body.workspace, create=False)
    since, until = body.since_position, body.until_position
    waiting = await workspace.estimate_distil(
        body.thread, again=body.again, since=since, until=until, close=body.close
    )
    threads = 0
    if not body.estimate_only:
        if body.again:
            names = [one.name for one in await workspace.threads()] if body.thread is None else [body.thread]
            for thread in names:
                await workspace.distil_again(thread, since=since, until=until)
        threads = await lore.start_distil(workspace, body.thread, close=body.close)
    worker = await lore.worker_is_alive()
    return answer(DistilAnswer, {"threads": threads, "estimate": waiting, "worker": worker}, workspace)


@router.get("/v1/review", operation_id="list_review", summary="List what waits for a person", responses=READS)
async def list_review(query: Annotated[ReviewQuery, Query()], lore: Lore) -> ReviewAnswer:
    """Memories that were set aside, entities that may be one, paths for threads; the oldest first."""
    workspace = await lore.workspace(query.workspace, create=False)
    return answer(ReviewAnswer, {"review": await workspace.review(limit=query.limit)}, workspace)


@router.post(
    "/v1/review/{item_id}",
    operation_id="decide_review",
    summary="Decide on what waits",
    status_code=204,
    responses=WRITES,
)
async def decide_review(
    item_id: Annotated[str, Path(max_length=36, description="The item's id, or the end of it.")],
    body: DecideBody,
    lore: Lore,
) -> None:
    """An answer without a body."""
    workspace = await lore.workspace(body.workspace, create=False)
    await workspace.decide(item_id, accept=body.accept)


@router.get("/v1/usage", operation_id="usage", summary="Show what model calls cost", responses=READS)
async def usage(query: Annotated[UsageQuery, Query()], lore: Lore) -> UsageAnswer:
    """Per day and model, with the caps that are reached and the models that are left alone."""
    workspace = await lore.workspace(query.workspace, create=False)
    found = await workspace.usage(days=query.days)
    left_alone = [{"model": model, "until": until} for model, until in found.left_alone]
    return answer(UsageAnswer, asdict(found) | {"left_alone": left_alone}, workspace)


@router.get(
    "/v1/status",
    operation_id="status",
    summary="Show how the installation and one workspace are doing",
    responses=READS,
)
async def status(query: Annotated[Place, Query()], lore: Lore) -> StatusAnswer:
    """With the jobs that are parked, the stretches of messages that could not be read, and why jobs wait."""
    workspace = await lore.workspace(query.workspace, create=False)
    state = await lore.status()
    shown = {name: getattr(state, name) for name in StatusAnswer.model_fields if hasattr(state, name)}
    shown["data_dir"] = str(lore.server.data_dir) if lore.server else None
    shown["isolation"] = "weaker" if state.weak_isolation else "full"
    return answer(StatusAnswer, shown | {"workspace": await workspace.status()}, workspace)


@router.post(
    "/v1/jobs/retry", operation_id="retry_jobs", summary="Try again what failed for good", responses=WRITES
)
async def retry_jobs(lore: Lore, body: Nothing = NOTHING) -> RetryAnswer:
    """Queue parked jobs, of all workspaces, and have failed windows read again, by a worker. A model that is left alone is
    tried at once."""
    return RetryAnswer(retried=(await lore.retry_parked()).count)
