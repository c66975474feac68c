"""The addresses: one for each verb, made from its parameters, and those that are the server's own."""

import inspect
import json
import re
from html import escape
from typing import Annotated, Any, cast

from fastapi import APIRouter, Body, Depends, Path, Query, Request
from starlette.responses import HTMLResponse, Response

from everlore import operating
from everlore.api.verbs import (
    Parameter,
    Verb,
    answer_of,
    answers_lines,
    call,
    lines_of,
    parameters_of,
    summary_of,
    verbs,
)
from everlore.domain.answers import to_json
from everlore.domain.errors import InvalidInput
from everlore.domain.operations import Health
from everlore.everlore import Everlore
from everlore.faces.http import models
from everlore.faces.http.errors import RETRY_AFTER_S, ErrorAnswer
from everlore.faces.http.lines import LINES_TYPE, LinesResponse, split_lines

_ID_CHARACTERS = 2020
LINES = {LINES_TYPE: {"schema": {"type": "string", "description": "A JSON object a line."}}}


def _lore(request: Request) -> Everlore:
    return request.app.state.lore


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The error answers of a route, for the OpenAPI document."""
    said = {
        400: "The body is not JSON that can be read.",
        403: "The request comes from a page of another origin.",
        404: "There is no such workspace, or nothing of that name or id in it.",
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


READS = errors(404, 422, 503)
WRITES = errors(400, 404, 413, 415, 422, 503)


def router() -> APIRouter:
    """All addresses, with the verbs that are registered now."""
    made = APIRouter()
    made.add_api_route("/healthz", health, operation_id="health", summary="How the server is doing",
                       responses={200: {"model": models.answer_model(Health)}, **errors(),
                                  503: {"model": models.answer_model(Health),
                                        "description": "The database does not answer."}})  # fmt: skip
    made.add_api_route("/docs", docs, include_in_schema=False)
    # A name may have slashes, so what ends with one comes after what goes on behind it.
    for verb in sorted(verbs(), key=lambda verb: verb.path.endswith(":path}")):
        _add(made, verb)
    return made


def _add(routes: APIRouter, verb: Verb) -> None:
    lines = lines_of(verb) is not None
    body = verb.method not in {"GET", "DELETE"}
    summary, told = summary_of(verb)
    answer = answer_of(verb)
    known: dict[int | str, dict[str, Any]] = dict(WRITES if body else READS)
    if answers_lines(verb):
        known[200] = {"content": LINES, "description": "Lines of JSON."}
    elif answer is not None:
        known[verb.status] = {"model": models.answer_model(answer), "description": "What the verb answers."}
    if verb.command == "record":
        known[200] = {**known[201], "description": "Nothing new: all were there already or were refused."}
    routes.add_api_route(
        verb.path,
        _endpoint(verb, body=body and not lines),
        methods=[verb.method],
        operation_id=verb.name,
        summary=summary,
        description=told,
        status_code=verb.status,
        response_class=Response,
        responses=known,
        openapi_extra={"requestBody": {"required": True, "content": LINES}} if lines else None,
    )


def _endpoint(verb: Verb, *, body: bool) -> Any:
    in_path = set(re.findall(r"{(\w+)", verb.path))
    given = parameters_of(verb)
    lines = lines_of(verb)
    rest = [one for one in given if one.name not in in_path and one is not lines]
    model = models.request_model(
        f"{verb.name.title().replace('_', '')}Request", f"{summary_of(verb)[0]}.", rest, query=not body
    )

    async def endpoint(**sent: Any) -> Response:
        said = cast("models.RequestModel", sent["request"])
        arguments = {name: sent[name] for name in in_path} | said.arguments()
        if lines is not None:
            arguments[lines.name] = split_lines(sent["whole"].stream())
        try:
            return _response(verb, await call(verb, sent["lore"], arguments))
        except InvalidInput as error:
            if body or not error.field.startswith("as_of."):
                raise
            # In a query the two questions of time stand by themselves.
            raise InvalidInput(error.field.removeprefix("as_of."), error.reason) from error

    here = inspect.Parameter.KEYWORD_ONLY
    place = Body() if body else Query()
    default = inspect.Parameter.empty if any(one.required for one in rest) else model.model_validate({})
    endpoint.__signature__ = inspect.Signature(  # pyright: ignore[reportFunctionMemberAccess] - read by FastAPI
        [
            *(
                inspect.Parameter(one.name, here, annotation=_path(one))
                for one in given
                if one.name in in_path
            ),
            inspect.Parameter("request", here, annotation=Annotated[model, place], default=default),
            inspect.Parameter("lore", here, annotation=Annotated[Everlore, Depends(_lore)]),
            *([inspect.Parameter("whole", here, annotation=Request)] if lines else []),
        ]
    )
    return endpoint


def _path(one: Parameter) -> Any:
    return Annotated[str, Path(max_length=_ID_CHARACTERS, description=one.described)]


def _response(verb: Verb, answer: Any) -> Response:
    if verb.status == 204:
        return Response(status_code=204)
    if answers_lines(verb):
        return LinesResponse(answer, media_type=LINES_TYPE)
    nothing_new = verb.status == 201 and getattr(answer, "stored", 1) == 0
    return written(answer, 200 if nothing_new else verb.status)


def written(answer: Any, status: int = 200) -> Response:
    """An answer as JSON."""
    text = json.dumps(to_json(answer), ensure_ascii=False, separators=(",", ":"))
    return Response(text.encode(errors="backslashreplace"), status, media_type="application/json")


async def health(lore: Annotated[Everlore, Depends(_lore)]) -> Response:
    found = await operating.health(lore)
    answered = written(found, 200 if found.ok else 503)
    if not found.ok:
        answered.headers["Retry-After"] = str(RETRY_AFTER_S)
    return answered


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
