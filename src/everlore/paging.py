"""Lists in parts: a cursor is the sort key of the last item given, so that what comes or goes meanwhile moves nothing.

To a caller it is an opaque word; what it says is no secret, and it gives no right to anything.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar, cast
from uuid import UUID

from everlore.domain.answers import Page
from everlore.domain.errors import InvalidInput

T = TypeVar("T")


def cursor_of(key: Sequence[Any]) -> str:
    """The key of an item as a word: times, ids, numbers and texts in the order of the sort."""
    said = json.dumps([_text(part) for part in key], separators=(",", ":"), ensure_ascii=False)
    return urlsafe_b64encode(said.encode()).decode().rstrip("=")


def after(cursor: str | None, *types: Callable[[str], Any]) -> list[Any] | None:
    """The key that a cursor stands for, its parts read by `types`; None at the beginning. Raises InvalidInput."""
    if cursor is None:
        return None
    try:
        parts = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return [read(part) for read, part in zip(types, cast("list[str]", parts), strict=True)]
    except (Error, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput("cursor", "is none that this list gave; leave it out to begin anew") from error


def page(found: Sequence[T], total: int, limit: int, key: Callable[[T], Sequence[Any]]) -> Page[T]:
    """Of one item more than the limit, which says that there is more."""
    items = tuple(found[:limit])
    return Page(items, total, cursor_of(key(items[-1])) if len(found) > limit else None)


def paged(
    everything: Sequence[T],
    limit: int,
    cursor: str | None,
    key: Callable[[T], Sequence[Any]],
    *types: Callable[[str], Any],
    descending: bool = False,
) -> Page[T]:
    """The part of a short list that follows the cursor; it must be sorted by the key."""
    begin = after(cursor, *types)
    left = everything
    if begin is not None:
        left = [
            one for one in everything if (list(key(one)) < begin if descending else list(key(one)) > begin)
        ]
    return page(left[: limit + 1], len(everything), limit, key)


def _text(part: Any) -> str:
    if isinstance(part, datetime):
        return part.astimezone(UTC).isoformat(timespec="microseconds")
    return str(part)


def truth(part: str) -> bool:
    """Raises ValueError for what is neither."""
    return ("False", "True").index(part) == 1


moment = datetime.fromisoformat
identifier = UUID
