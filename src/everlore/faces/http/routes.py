"""The addresses. Each hands its body to a verb of the library and shows what came back."""

import asyncio
from html import escape

from fastapi import APIRouter, Request, Response
from starlette.responses import HTMLResponse

from everlore.domain.errors import WorldError
from everlore.faces.http.bodies import (
    HealthAnswer,
    OutcomeAnswer,
    RecallAnswer,
    RecallBody,
    ReceiptAnswer,
    RecordBody,
)
from everlore.faces.http.errors import RETRY_AFTER_S
from everlore.faces.http.parts import WRITES, Lore, answer, errors

HEALTH_TIMEOUT_S = 3.0

router = APIRouter()


@router.get(
    "/healthz",
    operation_id="health",
    summary="How the server is doing",
    responses={**errors(), 503: {"model": HealthAnswer, "description": "The database does not answer."}},
)
async def health(lore: Lore, response: Response) -> HealthAnswer:
    try:
        async with asyncio.timeout(HEALTH_TIMEOUT_S):
            answers = await lore.database_answers()
            worker = answers and await lore.worker_is_alive()
    except (WorldError, TimeoutError):
        answers = worker = False
    if not answers:
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
        **errors(400, 413, 415, 422, 503),
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
    summary="Recall the messages, memories and facts that answer a question",
    response_description="The hits, best first; empty lists where nothing was found.",
    responses=WRITES,
)
async def recall(body: RecallBody, lore: Lore) -> RecallAnswer:
    """Find what answers a question, with citations and the reasons to believe it."""
    workspace = await lore.workspace(body.workspace, create=False)
    return answer(RecallAnswer, await workspace.recall(**body.arguments()), workspace)


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
