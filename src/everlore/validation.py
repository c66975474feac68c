"""What every face's input passes: each value is checked here, and an error names its field and limit."""

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.ids import SHORT_ID_LENGTH
from everlore.domain.memories import (
    MAX_CONTENT_CHARACTERS,
    MAX_TAG_CHARACTERS,
    MAX_TAGS,
    MEMORY_TYPES,
    AsOf,
    MemoryType,
)
from everlore.domain.messages import MAX_NAME_CHARACTERS
from everlore.domain.predicates import KNOWN

_TAXONOMY = re.compile(r"[A-Za-z0-9_-]{1,100}(\.[A-Za-z0-9_-]{1,100}){0,19}")
CHANGEABLE = ("content", "type", "category", "tags", "importance", "expires_at", "event_at")


def valid_text(value: str, field: str, limit: int) -> str:
    """Text that Postgres can hold: no NUL, no lone surrogate, at most `limit` bytes of UTF-8."""
    if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(field, f"must be text, not {type(value).__name__}")
    if "\0" in value:
        raise InvalidInput(field, "contains a NUL byte, which Postgres cannot store")
    if value.isascii():
        size = len(value)
    else:
        try:
            size = len(value.encode())
        except UnicodeEncodeError as error:
            raise InvalidInput(
                field, f"contains a lone surrogate at character {error.start}: it is not valid Unicode"
            ) from error
    if size > limit:
        raise InvalidInput(field, f"has {size:,} bytes; the limit is {limit:,}")
    return value


def name(value: str, field: str) -> str:
    """A name of a thread, session, project, workspace or author: 1 to 200 characters, not blank."""
    text = valid_text(value, field, MAX_NAME_CHARACTERS * 4).strip()
    if not 1 <= len(text) <= MAX_NAME_CHARACTERS:
        raise InvalidInput(field, f"must have 1 to {MAX_NAME_CHARACTERS} characters; it has {len(text)}")
    return text


def taxonomy_path(value: str, field: str) -> str:
    """A path such as `work.studio.billing`: labels of letters, digits, _ and -, joined by dots."""
    if not isinstance(value, str) or not _TAXONOMY.fullmatch(value):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            field, "must be labels of letters, digits, _ and - joined by dots, at most 20 of 100 characters"
        )
    return value


def aware(value: datetime, field: str) -> datetime:
    """The same moment in UTC. Raises InvalidInput for a time without a zone or outside the calendar."""
    if not isinstance(value, datetime):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(field, f"must be a datetime, not {type(value).__name__}")
    if value.utcoffset() is None:
        raise InvalidInput(field, "has no time zone; give one, for example +00:00")
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise InvalidInput(field, "lies outside the years 1 to 9999 in UTC") from error


def content_of(value: str) -> str:
    content = valid_text(value, "content", MAX_CONTENT_CHARACTERS * 4).strip()
    if not 1 <= len(content) <= MAX_CONTENT_CHARACTERS:
        raise InvalidInput(
            "content", f"must have 1 to {MAX_CONTENT_CHARACTERS:,} characters; it has {len(content):,}"
        )
    return content


def type_of(value: str) -> MemoryType:
    if value not in MEMORY_TYPES:
        raise InvalidInput("type", f"must be one of {', '.join(MEMORY_TYPES)}; it is {value!r}")
    return value


def tags_of(values: Sequence[str]) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence) or len(values) > MAX_TAGS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("tags", f"must be a list of at most {MAX_TAGS} tags")
    tags = tuple(valid_text(value, "tags", MAX_TAG_CHARACTERS * 4).strip() for value in values)
    if any(not 1 <= len(tag) <= MAX_TAG_CHARACTERS for tag in tags):
        raise InvalidInput("tags", f"each must have 1 to {MAX_TAG_CHARACTERS} characters")
    return tags


def share(value: float, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(field, f"must be a number from 0 to 1, not {value!r}")
    return float(value)


def between(value: int, field: str, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(field, f"must be a number from {low} to {high:,}, not {value!r}")
    return value


def changes_of(changes: Mapping[str, Any]) -> dict[str, Any]:
    if not changes:
        raise InvalidInput("changes", f"names nothing to change; give one of {', '.join(CHANGEABLE)}")
    checked: dict[str, Any] = {}
    for field, value in changes.items():
        match field:
            case "content":
                checked[field] = content_of(value)
            case "type":
                checked[field] = type_of(value)
            case "category":
                checked[field] = None if value is None else name(value, field)
            case "tags":
                checked[field] = list(tags_of(value))
            case "importance":
                checked[field] = share(value, field)
            case "expires_at" | "event_at":
                checked[field] = None if value is None else aware(value, field)
            case _:
                raise InvalidInput(field, f"cannot be changed; what can is {', '.join(CHANGEABLE)}")
    return checked


def predicate_of(value: str, used: Collection[str]) -> str:
    """A predicate that facts may have: a known one, a role (`sister_of`), a favourite, or one that is in use here."""
    predicate = name(value, "predicate")
    known = sorted({*KNOWN, *used})
    if predicate in known or predicate.startswith("favourite_") or predicate.endswith("_of"):
        return predicate
    near = difflib.get_close_matches(predicate, known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else f"; known are {', '.join(known)}"
    raise InvalidInput("predicate", f"{predicate!r} is none that facts have{hint}")


def moments(as_of: AsOf) -> AsOf:
    """Checked moments, in UTC."""
    if not isinstance(as_of, AsOf):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            "as_of",
            "must be AsOf(valid_at=...) for what was true then, or AsOf(recorded_at=...) for what was believed then",
        )
    return AsOf(
        None if as_of.valid_at is None else aware(as_of.valid_at, "valid_at"),
        None if as_of.recorded_at is None else aware(as_of.recorded_at, "recorded_at"),
    )


def digits_of(identifier: str, what: str) -> str:
    digits = identifier.strip().lower().replace("-", "")
    if not SHORT_ID_LENGTH <= len(digits) <= 32 or set(digits) - set("0123456789abcdef"):
        raise InvalidInput(
            "id", f"must be the last {SHORT_ID_LENGTH} to 32 characters of a {what}'s id, not {identifier!r}"
        )
    return digits


def only(identifier: str, what: str, found: Sequence[UUID]) -> UUID:
    if not found:
        raise NotFound(f"There is no {what} whose id ends with {identifier}.")
    if len(found) > 1:
        raise InvalidInput("id", f"several ids end with {identifier}; type more of it")
    return found[0]
