"""Streams of lines over HTTP: sent as they are made, and read as they arrive."""

from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing
from typing import cast

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from everlore.domain.errors import InvalidInput
from everlore.validation import MAX_LINE_BYTES

LINES_TYPE = "application/x-ndjson"


class LinesResponse(StreamingResponse):
    """Sends lines; where the client goes away early, what makes them is closed at once, and its transaction with it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(cast("AsyncGenerator[str]", self.body_iterator)):
            await super().__call__(scope, receive, send)


async def split_lines(chunks: AsyncIterable[bytes]) -> AsyncGenerator[bytes]:
    """The lines of a body that arrives in chunks. Raises InvalidInput for one that does not end."""
    rest: list[bytes] = []
    size = number = 0
    async for chunk in chunks:
        *whole, last = chunk.split(b"\n")
        for line in whole:
            number += 1
            yield b"".join((*rest, line))
            rest, size = [], 0
        rest.append(last)
        size += len(last)
        if size > MAX_LINE_BYTES:
            raise InvalidInput(f"line {number + 1}", f"has more than {MAX_LINE_BYTES:,} bytes")
    if size:
        yield b"".join(rest)
