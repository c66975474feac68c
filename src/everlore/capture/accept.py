"""What may be recorded: every field of a message is checked here, once, before anything is written."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple, cast

from everlore.capture.turns import turn_key
from everlore.domain.errors import InvalidInput
from everlore.domain.messages import (
    FINISHES,
    MAX_CAPTIONS,
    MAX_EXTERNAL_ID_CHARACTERS,
    MAX_JSON_BYTES,
    MAX_JSON_DEPTH,
    MAX_MESSAGES,
    MAX_TEXT_BYTES,
    ROLES,
    NewMessage,
)
from everlore.store.conversation import Destination
from everlore.validation import aware, name, taxonomy_path, valid_text

_ORDER = tuple(field.name for field in fields(NewMessage))
_FIELDS = frozenset(_ORDER)
_of_message = attrgetter(*_ORDER)
# One encoder for all: json.dumps with options makes a new one at each call, and this runs for every message.
_canonical = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True).encode


class Accepted(NamedTuple):
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
    off_the_record: bool
    finish: str
    content_hash: bytes
    turn_key: bytes


def destination(thread: str, session: str | None, project: str | None, taxonomy: str | None) -> Destination:
    """Where messages go, checked. Raises InvalidInput."""
    return Destination(
        thread=name(thread, "thread"),
        session=None if session is None else name(session, "session"),
        project=None if project is None else name(project, "project"),
        taxonomy=None if taxonomy is None else taxonomy_path(taxonomy, "taxonomy"),
    )


def accept(messages: Sequence[NewMessage | Mapping[str, Any]], now: datetime) -> list[Accepted]:
    """Check all messages of a call. Raises InvalidInput for the first that cannot be recorded; then none is."""
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("messages", "must be a list of messages")
    if not messages:
        raise InvalidInput("messages", "is empty; give 1 to 10,000 messages")
    if len(messages) > MAX_MESSAGES:
        raise InvalidInput(
            "messages", f"has {len(messages):,} messages; the limit is {MAX_MESSAGES:,} a call"
        )
    return [accept_one(message, f"messages[{place}]", now) for place, message in enumerate(messages)]


def accept_one(given: NewMessage | Mapping[str, Any], field: str, now: datetime) -> Accepted:
    """Check one message, which errors call so."""
    values, sent_as = _values(given, field)
    role, raw_text, author, at, captions, prompt, calls, external, reply, meta, taxonomy, private, finish = (
        values
    )
    if role not in ROLES:
        raise InvalidInput(f"{field}.role", f"must be one of {', '.join(ROLES)}; it is {role!r}")
    text = valid_text("" if raw_text is None else raw_text, f"{field}.{sent_as}", MAX_TEXT_BYTES)
    captions = _captions(captions, f"{field}.captions") if captions else []
    tool_calls = _json(_plain_list(calls, f"{field}.tool_calls"), f"{field}.tool_calls") if calls else "[]"
    if (not text or text.isspace()) and not captions and tool_calls == "[]":
        raise InvalidInput(f"{field}.{sent_as}", "is empty or blank, and there are no captions or tool calls")
    author = None if author is None else name(author, f"{field}.author")
    at = None if at is None else aware(at, f"{field}.at")
    system_prompt = None if prompt is None else valid_text(prompt, f"{field}.system_prompt", MAX_TEXT_BYTES)
    external_id = None if external is None else _identifier(external, f"{field}.external_id")
    reply_to = None if reply is None else _identifier(reply, f"{field}.reply_to")
    metadata = _json(_plain_object(meta, f"{field}.metadata"), f"{field}.metadata") if meta else "{}"
    taxonomy = None if taxonomy is None else taxonomy_path(taxonomy, f"{field}.taxonomy")
    off_the_record = _flag(private, f"{field}.off_the_record")
    if finish is not None and finish not in FINISHES:
        raise InvalidInput(f"{field}.finish", f"must be one of {', '.join(FINISHES)}; it is {finish!r}")
    # All that was given, as it was given: a retry hashes the same, any other message differently.
    said = (
        role,
        author,
        at and at.isoformat(),
        text,
        captions,
        system_prompt,
        tool_calls,
        reply_to,
        metadata,
        taxonomy,
        # A mark that is not set leaves the hash as it was before there was one.
        *(["off the record"] if off_the_record else []),
    )
    return Accepted(
        role=role,
        author=author or role,
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
        off_the_record=off_the_record,
        finish=finish or FINISHES[0],
        content_hash=hashlib.sha256(_canonical(said).encode()).digest(),
        turn_key=turn_key(role, text, captions, tool_calls),
    )


def _values(given: NewMessage | Mapping[str, Any], field: str) -> tuple[tuple[Any, ...], str]:
    """The fields in the order of NewMessage, None where a mapping leaves one out; and what the text was called."""
    if isinstance(given, NewMessage):
        return _of_message(given), "text"
    if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(field, f"must be a NewMessage or a mapping, not {type(given).__name__}")
    sent_as = "content" if "content" in given and "text" not in given else "text"
    if "content" in given:
        given = _with_text(given, field)
    if not given.keys() <= _FIELDS:
        unknown = sorted(set(map(str, given)) - _FIELDS)
        raise InvalidInput(
            f"{field}.{unknown[0]}", f"is not a field; the fields are {', '.join(sorted(_FIELDS))}"
        )
    return tuple(map(given.get, _ORDER)), sent_as


def _with_text(given: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    """`content` is what others call our `text`; it is null where there are only tool calls."""
    content = given["content"]
    if given.get("text", content) != content:
        raise InvalidInput(f"{field}.content", "differs from text, which means the same; give one of both")
    return {name: value for name, value in given.items() if name != "content"} | {"text": content}


def _flag(value: bool | None, field: str) -> bool:
    if value is not None and not isinstance(value, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(field, f"must be true or false, not {value!r}")
    return bool(value)


def _identifier(value: str, field: str) -> str:
    text = valid_text(value, field, MAX_EXTERNAL_ID_CHARACTERS * 4)
    if not 1 <= len(text) <= MAX_EXTERNAL_ID_CHARACTERS:
        raise InvalidInput(
            field, f"must have 1 to {MAX_EXTERNAL_ID_CHARACTERS} characters; it has {len(text)}"
        )
    return text


def _captions(values: Sequence[str], field: str) -> list[str]:
    if isinstance(values, str) or not isinstance(values, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(field, "must be a list of texts")
    if len(values) > MAX_CAPTIONS:
        raise InvalidInput(field, f"has {len(values)} captions; the limit is {MAX_CAPTIONS}")
    captions = [
        valid_text(value, f"{field}[{place}]", MAX_TEXT_BYTES // MAX_CAPTIONS).strip()
        for place, value in enumerate(values)
    ]
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
    _check_json(value, field, 0)
    try:
        text = _canonical(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(field, f"cannot be written as JSON: {error}") from error
    return valid_text(text, field, MAX_JSON_BYTES)


def _check_json(value: Any, field: str, depth: int) -> None:
    """What the encoder lets pass but Postgres, or another reader of the JSON, does not."""
    match value:
        case str():
            # In JSON text a NUL is escaped; looking for the escape would also find a harmless backslash before "u0000".
            if "\0" in value:
                raise InvalidInput(field, "contains a NUL byte, which Postgres cannot store")
        case dict() | list() | tuple():
            if depth == MAX_JSON_DEPTH:
                raise InvalidInput(field, f"is nested too deeply; the limit is {MAX_JSON_DEPTH} levels")
            if isinstance(value, dict):
                for key in cast("dict[Any, Any]", value):
                    if not isinstance(key, str):
                        raise InvalidInput(field, f"has the key {key!r}; the keys of a JSON object are texts")
                    _check_json(key, field, depth)
            whole = cast("dict[str, Any] | list[Any]", value)
            parts: Iterable[Any] = whole.values() if isinstance(whole, dict) else whole
            for part in parts:
                _check_json(part, field, depth + 1)
        case _:
            pass
