"""What a person tells about memories and facts, checked before anything is done with it."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from everlore.capture.accept import aware, name, valid_text
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

CHANGEABLE = ("content", "type", "category", "tags", "importance", "expires_at", "event_at")


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
    if isinstance(values, str) or len(values) > MAX_TAGS:
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


def moments(as_of: AsOf) -> AsOf:
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
