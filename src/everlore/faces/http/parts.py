"""What all routes share: the open memory, how answers are made, and the error answers of the OpenAPI document."""

from typing import Annotated, Any, TypeAlias, TypeVar, cast

from fastapi import Depends, Request

from everlore.api.workspace import Workspace
from everlore.everlore import Everlore
from everlore.faces.http.base import Answer
from everlore.faces.http.errors import ErrorAnswer

A = TypeVar("A", bound=Answer)


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


async def _lore(request: Request) -> Everlore:
    return cast("Everlore", request.app.state.lore)


Lore: TypeAlias = Annotated[Everlore, Depends(_lore)]


def answer(kind: type[A], value: object, workspace: Workspace) -> A:
    """Our own value as an answer; what a memory is depends on the time."""
    return kind.model_validate(value, context={"now": workspace.now()})
