"""Who may speak to the server: programs on this machine, and pages that it served itself.

Listening on 127.0.0.1 does not keep web pages out, for the browser that shows them runs on this machine too. So:
- the Host must be a loopback name with our port: a stranger's name that was pointed at 127.0.0.1 (DNS rebinding) is refused;
- an Origin must be our own: browsers send it with every cross-site POST;
- a POST, PUT or PATCH must be declared as JSON, or as lines of it where lines are taken: without the server's consent, which
  is never given, a foreign page cannot send that.
"""

import re
from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from everlore.faces.http.errors import refusal
from everlore.faces.http.lines import LINES_TYPE

MAX_BODY_BYTES = 64 * 1024 * 1024
# Lines are read one by one: what they may have in all is for the disk.
MAX_LINES_BYTES = 4 * 1024 * 1024 * 1024

_LOOPBACK = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(?::([0-9]{1,5}))?", re.IGNORECASE)
_DEFAULT_PORT = 80


class Guard:
    """ASGI middleware: refuses what does not belong here, and stops reading a body past the limit. `lines`: the methods and
    paths that take lines of JSON."""

    def __init__(
        self,
        app: ASGIApp,
        max_body_bytes: int = MAX_BODY_BYTES,
        lines: Collection[tuple[str, str]] = (),
        max_lines_bytes: int = MAX_LINES_BYTES,
    ) -> None:
        self._app = app
        self._max_body_bytes, self._max_lines_bytes = max_body_bytes, max_lines_bytes
        self._lines = lines

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif refused := self._refusal(scope):
            await refused(scope, receive, send)
        else:
            await self._app(scope, self._limited(receive, self._limit(scope)), send)

    def _takes_lines(self, scope: Scope) -> bool:
        return (scope["method"], scope["path"]) in self._lines

    def _limit(self, scope: Scope) -> int:
        return self._max_lines_bytes if self._takes_lines(scope) else self._max_body_bytes

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.getlist("host")
        if len(host) != 1 or not _is_ours(host[0], scope):
            return refusal(
                421, "wrong_host", "This server answers to 127.0.0.1, localhost and [::1] with its port only."
            )
        if any(origin.lower() != f"http://{host[0].lower()}" for origin in headers.getlist("origin")):
            return refusal(403, "foreign_origin", "Pages of other origins may not use this server.")
        wanted = LINES_TYPE if self._takes_lines(scope) else "application/json"
        if scope["method"] in {"POST", "PUT", "PATCH"} and not _is(wanted, headers.getlist("content-type")):
            return refusal(415, "wrong_content_type", f"Send JSON, with the header content-type: {wanted}.")
        if _declares_more_than(headers.get("content-length", "0"), limit := self._limit(scope)):
            return refusal(413, "too_large", _too_large(limit))
        return None

    def _limited(self, receive: Receive, limit: int) -> Receive:
        """Counts what really arrives: a chunked body declares no length."""
        arrived = 0

        async def limited() -> Message:
            nonlocal arrived
            message = await receive()
            arrived += len(message.get("body", b""))
            if arrived > limit:
                raise HTTPException(413, _too_large(limit))
            return message

        return limited


def _too_large(limit: int) -> str:
    return f"The body is larger than {limit:,} bytes; send the messages in several requests."


def _is_ours(host: str, scope: Scope) -> bool:
    match = _LOOPBACK.fullmatch(host)
    server = scope.get("server")
    port = server[1] if server and server[1] is not None else _DEFAULT_PORT
    return match is not None and int(match[2] or _DEFAULT_PORT) == port


def _is(wanted: str, content_types: list[str]) -> bool:
    return len(content_types) == 1 and content_types[0].partition(";")[0].strip().lower() == wanted


def _declares_more_than(length: str, limit: int) -> bool:
    digits = re.fullmatch(r"[0-9]+", length)
    # Compared by length first: Python refuses to read numbers of thousands of digits.
    return digits is not None and (len(length.lstrip("0")) > len(str(limit)) or int(length[-18:]) > limit)
