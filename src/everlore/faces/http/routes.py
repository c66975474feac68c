"""The addresses. Each hands its body to a verb of the library and shows what came back."""

import asyncio
from html import escape
from typing import Annotated, Any, TypeAlias, cast

from fastapi import APIRouter, Depends, Request, Response
from starlette.responses import HTMLResponse

from everlore.app import Everlore
from everlore.domain.errors import WorldError
from everlore.faces.http.bodies import (
    HealthAnswer,
    OutcomeAnswer,
    RecallAnswer,
    RecallBody,
    ReceiptAnswer,
    RecordBody,
)
from everlore.faces.http.errors import RETRY_AFTER_S, ErrorAnswer

HEALTH_TIMEOUT_S = 3.0

router = APIRouter()


def _errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The error answers of a route, for the OpenAPI document."""
    said = {
        400: "The body is not JSON that can be read.",
        403: "The request comes from a page of another origin.",
        404: "There is no such workspace or thread.",
        413: "The body is too large.",
        415: "The body is not declared as JSON.",
        421: "The Host header does not name this server.",
        422: "A field is outside its limits; the answer names it.",
        500: "Everlore is set up wrongly or failed inside.",
        503: "The database or a model does not answer; try again.",
    }
    return {
        status: {"model": ErrorAnswer, "description": said[status]} for status in (*statuses, 403, 421, 500)
    }


async def _lore(request: Request) -> Everlore:
    return cast("Everlore", request.app.state.lore)


Lore: TypeAlias = Annotated[Everlore, Depends(_lore)]


@router.get(
    "/healthz",
    operation_id="health",
    summary="How the server is doing",
    responses={**_errors(), 503: {"model": HealthAnswer, "description": "The database does not answer."}},
)
async def health(lore: Lore, response: Response) -> HealthAnswer:
    try:
        async with asyncio.timeout(HEALTH_TIMEOUT_S):
            worker = await lore.worker_is_alive()
    except (WorldError, TimeoutError):
        response.status_code = 503
        response.headers["Retry-After"] = str(RETRY_AFTER_S)
        reason = "The database does not answer; nothing can be recorded or recalled."
        return HealthAnswer(ok=False, database=False, worker=False, degraded=[reason])
    degraded: list[str] = []
    if not worker:
        degraded.append(
            "No worker runs; new messages are found by their words, and by their meaning once one has run."
        )
    if lore.settings.embedder == "none":
        degraded.append("No embedding model is set; messages are found by their words and times only.")
    return HealthAnswer(ok=True, database=True, worker=worker, degraded=degraded)


@router.post(
    "/v1/messages",
    operation_id="record_messages",
    summary="Record messages",
    status_code=201,
    response_description="At least one message was stored.",
    responses={
        **_errors(400, 413, 415, 422, 503),
        200: {"model": ReceiptAnswer, "description": "Nothing new: all were there already or were refused."},
    },
)
async def record_messages(body: RecordBody, lore: Lore, response: Response) -> ReceiptAnswer:
    """Keep messages of one thread. The answer comes after the commit, with an outcome per message.

    Sending the same request again is harmless where messages carry an `external_id`.
    """
    workspace = await lore.workspace(body.workspace)
    receipt = await workspace.record(
        [message.to_new_message() for message in body.messages],
        thread=body.thread,
        session=body.session,
        project=body.project,
        taxonomy=body.taxonomy,
    )
    if not receipt.stored:
        response.status_code = 200
    return ReceiptAnswer(
        thread=receipt.thread,
        outcomes=[OutcomeAnswer.model_validate(outcome) for outcome in receipt.outcomes],
        stored=receipt.stored,
        already_there=receipt.already_there,
        refused=len(receipt.refused),
    )


@router.post(
    "/v1/recall",
    operation_id="recall",
    summary="Recall the messages that answer a question",
    response_description="The hits, best first; an empty list where nothing was found.",
    responses=_errors(400, 404, 413, 415, 422, 503),
)
async def recall(body: RecallBody, lore: Lore) -> RecallAnswer:
    """Find the messages that answer a question, with citations and the reasons to believe them."""
    arguments = dict(body)
    workspace = await lore.workspace(arguments.pop("workspace"), create=False)
    return RecallAnswer.model_validate(await workspace.recall(**arguments))


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> HTMLResponse:
    """The routes as a plain page: it loads nothing, from here or from the internet."""
    rows = "".join(
        f"<tr><td><code>{escape(method.upper())} {escape(path)}</code></td><td>{escape(operation['summary'])}</td></tr>"
        for path, operations in request.app.openapi()["paths"].items()
        for method, operation in operations.items()
    )
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Everlore</title><h1>Everlore</h1>'
        f'<table>{rows}</table><p>All fields and answers: <a href="/openapi.json">/openapi.json</a></p></html>'
    )
    return HTMLResponse(page, headers={"Content-Security-Policy": "default-src 'none'"})
