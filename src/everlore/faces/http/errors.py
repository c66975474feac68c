"""One shape for every refusal: `{"error": {"type": ..., "field": ..., "message": ...}}`, for ours, FastAPI's and the guard's."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from everlore.domain.errors import (
    ConfigurationError,
    EverloreError,
    InternalError,
    InvalidInput,
    NotFound,
    WorldError,
)

log = logging.getLogger(__name__)

RETRY_AFTER_S = 5
# A refusal repeats names that the caller chose; nobody needs a megabyte of them back.
_MAX_FIELD_CHARACTERS = 300
_MAX_MESSAGE_CHARACTERS = 2000

ProblemType: TypeAlias = Literal[
    "invalid_input",
    "broken_json",
    "not_found",
    "method_not_allowed",
    "too_large",
    "wrong_content_type",
    "wrong_host",
    "foreign_origin",
    "misconfigured",
    "internal",
    "unavailable",
]


class ErrorDetail(BaseModel):
    """What is wrong and what to do about it."""

    type: ProblemType = Field(description="What kind of problem it is.")
    field: str | None = Field(
        description="The field of the request, such as messages[3].text; null if it is none of them."
    )
    message: str = Field(description="One or two plain sentences.")


class ErrorAnswer(BaseModel):
    """The answer to every request that is refused or fails."""

    error: ErrorDetail = Field(description="The problem.")


def refusal(
    status: int,
    kind: ProblemType,
    message: str,
    *,
    field: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """An error answer. Texts are made fit for UTF-8: they may repeat a lone surrogate that the caller sent."""
    problem = ErrorDetail(
        type=kind,
        field=None if field is None else _presentable(field, _MAX_FIELD_CHARACTERS),
        message=_presentable(message, _MAX_MESSAGE_CHARACTERS),
    )
    body = ErrorAnswer(error=problem).model_dump_json()
    return Response(body, status, headers, media_type="application/json")


def answer_errors(app: FastAPI) -> None:
    """Let the app answer every error in our shape."""
    for kind in (EverloreError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _answer)


async def _answer(_: Request, error: Exception) -> Response:
    match error:
        case InvalidInput():
            return refusal(422, "invalid_input", str(error), field=error.field)
        case NotFound():
            return refusal(404, "not_found", str(error))
        case ConfigurationError():
            log.error("%s", error)
            return refusal(500, "misconfigured", str(error))
        case WorldError():
            log.warning("%s", error)
            return refusal(503, "unavailable", str(error), headers={"Retry-After": str(RETRY_AFTER_S)})
        case RequestValidationError():
            return _invalid(error.errors())
        case HTTPException():
            return _http(error)
        case InternalError():
            log.error("a request failed", exc_info=error)
        case _:
            pass  # Starlette raises it again once this answer is sent, and the server logs it.
    return refusal(500, "internal", "Everlore failed inside; its log says more.")


def _invalid(problems: Sequence[Any]) -> Response:
    """Pydantic's first complaint, in the library's spelling."""
    first = problems[0]
    if first["type"] == "json_invalid":
        message = f"The body is not valid JSON: {first['ctx']['error']} at character {first['loc'][-1]}."
        return refusal(400, "broken_json", message, field="body")
    field = spelled(first["loc"])
    match first["type"]:
        case "missing":
            reason = "is missing"
        case "extra_forbidden":
            reason = "is not a field of this request"
        case _:
            reason = first["msg"].removeprefix("Value error, ")
    return refusal(422, "invalid_input", f"{field}: {reason}", field=field)


def spelled(place: Sequence[str | int]) -> str:
    """`("body", "messages", 3, "text")` as `messages[3].text`; the body itself is `body`. In a query likewise."""
    parts = place[1:] if len(place) > 1 and place[0] in {"body", "query", "path"} else place
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).removeprefix(".")


def _http(error: HTTPException) -> Response:
    """What Starlette, FastAPI or the guard raised."""
    match error.status_code:
        case 404:
            return refusal(
                404, "not_found", "There is nothing at this address; GET /docs lists what there is."
            )
        case 405:
            message = "This address does not take that method; GET /docs lists what there is."
            return refusal(405, "method_not_allowed", message, headers=error.headers)
        case 413:
            return refusal(413, "too_large", error.detail)
        case _:
            # FastAPI's answer to everything but a plain syntax error.
            message = "The body cannot be read as JSON: it is not UTF-8, is nested too deeply or holds far too long a number."
            return refusal(400, "broken_json", message, field="body")


def _presentable(text: str, limit: int) -> str:
    short = text if len(text) <= limit else f"{text[:limit]}..."
    return short.encode(errors="backslashreplace").decode()
