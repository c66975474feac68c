"""What may be recorded: every field of a message is checked here, once, before anything is written."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, cast

from everlore.domain.errors import InvalidInput
from everlore.domain.messages import (
    MAX_CAPTIONS,
    MAX_EXTERNAL_ID_CHARACTERS,
    MAX_JSON_BYTES,
    MAX_MESSAGES,
    MAX_NAME_CHARACTERS,
    MAX_TEXT_BYTES,
    ROLES,
    NewMessage,
)

_TAXONOMY = re.compile(r"[A-Za-z0-9_-]{1,100}(\.[A-Za-z0-9_-]{1,100}){0,19}")
_FIELDS = frozenset(field.name for field in fields(NewMessage))


@dataclass(frozen=True, slots=True)
class Accepted:
    """A checked message, ready to be written. `author` falls back to the role; JSON is text."""

    role: str
    author: str
    named: bool
    at: datetime
    text: str
    captions: list[str]
    system_prompt: str | None
    tool_calls: str
    external_id: str | None
    reply_to: str | None
    metadata: str
    taxonomy: str | None
    content_hash: bytes


def accept(messages: Sequence[NewMessage | Mapping[str, Any]], now: datetime) -> list[Accepted]:
    """Check all messages of a call. Raises InvalidInput for the first that cannot be recorded; then none is."""
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("messages", "must be a list of messages")
    if not messages:
        raise InvalidInput("messages", "is empty; give 1 to 10,000 messages")
    if len(messages) > MAX_MESSAGES:
        raise InvalidInput("messages", f"has {len(messages):,} messages; the limit is {MAX_MESSAGES:,} a call")
    return [_accept(message, f"messages[{place}]", now) for place, message in enumerate(messages)]


def name(value: str, field: str) -> str:
    """A name of a thread, session, project, workspace or author: 1 to 200 characters, not blank."""
    text = _text(value, field, MAX_NAME_CHARACTERS * 4).strip()
    if not 1 <= len(text) <= MAX_NAME_CHARACTERS:
        raise InvalidInput(field, f"must have 1 to {MAX_NAME_CHARACTERS} characters; it has {len(text)}")
    return text


def taxonomy_path(value: str, field: str) -> str:
    """A path such as `work.studio.billing`: labels of letters, digits, _ and -, joined by dots."""
    if not isinstance(value, str) or not _TAXONOMY.fullmatch(value):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(field, "must be labels of letters, digits, _ and - joined by dots, at most 20 of 100 characters")
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


def _accept(given: NewMessage | Mapping[str, Any], field: str, now: datetime) -> Accepted:
    message = given if isinstance(given, NewMessage) else _from_mapping(given, field)
    if message.role not in ROLES:
        raise InvalidInput(f"{field}.role", f"must be one of {', '.join(ROLES)}; it is {message.role!r}")
    text = _text(message.text, f"{field}.text", MAX_TEXT_BYTES)
    captions = _captions(message.captions, f"{field}.captions")
    tool_calls = _json(_plain_list(message.tool_calls, f"{field}.tool_calls"), f"{field}.tool_calls")
    if not (captions or tool_calls != "[]") and (not text or text.isspace()):
        raise InvalidInput(f"{field}.text", "is empty or blank, and there are no captions or tool calls")
    author = None if message.author is None else name(message.author, f"{field}.author")
    at = None if message.at is None else aware(message.at, f"{field}.at")
    system_prompt = _optional(message.system_prompt, f"{field}.system_prompt", MAX_TEXT_BYTES)
    external_id = _identifier(message.external_id, f"{field}.external_id")
    reply_to = _identifier(message.reply_to, f"{field}.reply_to")
    metadata = _json(_plain_object(message.metadata, f"{field}.metadata"), f"{field}.metadata")
    taxonomy = None if message.taxonomy is None else taxonomy_path(message.taxonomy, f"{field}.taxonomy")
    return Accepted(
        role=message.role,
        author=author or message.role,
        named=author is not None,
        at=at or now,
        text=text,
        captions=captions,
        system_prompt=system_prompt,
        tool_calls=tool_calls,
        external_id=external_id,
        reply_to=reply_to,
        metadata=metadata,
        taxonomy=taxonomy,
        # All that was given, as it was given: a retry hashes the same, any other message differently.
        content_hash=_hash(
            message.role, author, at and at.isoformat(), text, captions, system_prompt, tool_calls, reply_to, metadata, taxonomy
        ),
    )


def _from_mapping(given: Mapping[str, Any], field: str) -> NewMessage:
    if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(field, f"must be a NewMessage or a mapping, not {type(given).__name__}")
    if unknown := sorted(set(map(str, given)) - _FIELDS):
        raise InvalidInput(f"{field}.{unknown[0]}", f"is not a field; the fields are {', '.join(sorted(_FIELDS))}")
    if "role" not in given:
        raise InvalidInput(f"{field}.role", f"is missing; it must be one of {', '.join(ROLES)}")
    return NewMessage(**given)


def _text(value: str, field: str, limit: int) -> str:
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
            raise InvalidInput(field, f"contains a lone surrogate at character {error.start}: it is not valid Unicode") from error
    if size > limit:
        raise InvalidInput(field, f"has {size:,} bytes; the limit is {limit:,}")
    return value


def _optional(value: str | None, field: str, limit: int) -> str | None:
    return None if value is None else _text(value, field, limit)


def _identifier(value: str | None, field: str) -> str | None:
    if value is None:
        return None
    text = _text(value, field, MAX_EXTERNAL_ID_CHARACTERS * 4)
    if not 1 <= len(text) <= MAX_EXTERNAL_ID_CHARACTERS:
        raise InvalidInput(field, f"must have 1 to {MAX_EXTERNAL_ID_CHARACTERS} characters; it has {len(text)}")
    return text


def _captions(values: Sequence[str], field: str) -> list[str]:
    if not values:
        return []
    if isinstance(values, str) or not isinstance(values, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(field, "must be a list of texts")
    if len(values) > MAX_CAPTIONS:
        raise InvalidInput(field, f"has {len(values)} captions; the limit is {MAX_CAPTIONS}")
    captions = [_text(value, f"{field}[{place}]", MAX_TEXT_BYTES // MAX_CAPTIONS).strip() for place, value in enumerate(values)]
    return [caption for caption in captions if caption]


def _plain_list(value: Any, field: str) -> list[Any]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
        raise InvalidInput(field, "must be a list of objects")
    items = list(cast("Sequence[Any]", value))
    if not all(isinstance(item, Mapping) for item in items):
        raise InvalidInput(field, "must be a list of objects")
    return [dict(item) for item in items]


def _plain_object(value: Any, field: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(field, "must be an object")
    return dict(cast("Mapping[str, Any]", value))


def _json(value: list[Any] | dict[str, Any], field: str) -> str:
    if not value:
        return "{}" if isinstance(value, dict) else "[]"
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(field, f"cannot be written as JSON: {error}") from error
    # In JSON text a NUL is escaped; looking for the escape would also find a harmless backslash before "u0000".
    if _holds_nul(value):
        raise InvalidInput(field, "contains a NUL byte, which Postgres cannot store")
    return _text(text, field, MAX_JSON_BYTES)


def _holds_nul(value: Any) -> bool:
    match value:
        case str():
            return "\0" in value
        case dict():
            return any(_holds_nul(part) for pair in cast("dict[Any, Any]", value).items() for part in pair)
        case list() | tuple():
            return any(_holds_nul(part) for part in cast("list[Any]", value))
        case _:
            return False


def _hash(*parts: Any) -> bytes:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).digest()
