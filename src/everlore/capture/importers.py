"""Importers: histories of other tools as messages. Each gives every message an external id, so that a second run is harmless."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from everlore.domain.errors import InvalidInput
from everlore.domain.messages import NewMessage

_LOCOMO_SESSION = re.compile(r"session_(\d+)")
_LOCOMO_TIME = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class LocomoSession:
    """One sitting of a LoCoMo conversation. Turns are a second apart, because LoCoMo dates sessions only."""

    name: str
    messages: tuple[NewMessage, ...]


@dataclass(frozen=True, slots=True)
class LocomoConversation:
    """`questions` and `observation` are as in the file: question, evidence, category; per session and speaker the facts that
    were said, each with its turns."""

    name: str
    sessions: tuple[LocomoSession, ...]
    questions: tuple[dict[str, Any], ...]
    observation: dict[str, Any] = field(default_factory=dict[str, Any])


def read_locomo(path: Path) -> list[LocomoConversation]:
    """The conversations of a LoCoMo file. Raises InvalidInput if it is none."""
    document = _read_json(path)
    if not isinstance(document, list):
        raise InvalidInput(str(path), "is not a LoCoMo file: a list of conversations was expected")
    try:
        return [_locomo_conversation(item, place) for place, item in enumerate(cast("list[Any]", document))]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(str(path), f"is not a LoCoMo file: {type(error).__name__} {error}") from error


def _locomo_conversation(item: dict[str, Any], place: int) -> LocomoConversation:
    conversation = item["conversation"]
    numbers = sorted(int(m.group(1)) for key in conversation if (m := _LOCOMO_SESSION.fullmatch(key)))
    sessions = tuple(
        _locomo_session(conversation, number) for number in numbers if conversation[f"session_{number}"]
    )
    return LocomoConversation(
        str(item.get("sample_id", f"conversation-{place + 1}")),
        sessions,
        tuple(item.get("qa", ())),
        dict(item.get("observation") or {}),
    )


def _locomo_session(conversation: dict[str, Any], number: int) -> LocomoSession:
    begins = datetime.strptime(conversation[f"session_{number}_date_time"], _LOCOMO_TIME).replace(tzinfo=UTC)
    turns = enumerate(conversation[f"session_{number}"])
    messages = tuple(
        _locomo_message(turn, begins + timedelta(seconds=order))
        for order, turn in turns
        if turn["text"].strip() or turn.get("blip_caption")  # a turn that says nothing cannot be kept
    )
    return LocomoSession(f"session {number}", messages)


def _locomo_message(turn: dict[str, Any], at: datetime) -> NewMessage:
    caption = turn.get("blip_caption")
    return NewMessage(
        role="user",
        author=turn["speaker"],
        at=at,
        text=turn["text"],
        captions=(caption,) if caption else (),
        external_id=turn["dia_id"],
    )


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a JSONL file: where it goes and what it says, in its own words, or why it cannot be read."""

    number: int
    thread: str
    session: str | None
    message: Mapping[str, Any] | None
    problem: str | None = None


def read_jsonl(path: Path) -> Iterator[Line]:
    """The lines of a file of messages, one JSON object a line (docs/operations.md has the schema); blank lines are skipped.

    A message without an `external_id` gets one made of all that its line says (and, if that has no time, of the file's
    name), so that importing the file again adds nothing, also after lines were inserted.
    """
    seen: Counter[str] = Counter()
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                if raw.strip():
                    yield _line(number, raw, path.name, seen)
    except OSError as error:
        raise InvalidInput(str(path), f"cannot be read: {error.strerror}") from error


def _line(number: int, raw: bytes, file: str, seen: Counter[str]) -> Line:
    try:
        given = json.loads(raw.decode("utf-8-sig" if number == 1 else "utf-8"))
        if not isinstance(given, dict):
            raise InvalidInput("line", "is not a JSON object")
        fields = cast("dict[str, Any]", given).copy()
        thread, session = fields.pop("thread", None), fields.pop("session", None)
        if "at" in fields and fields["at"] is not None:
            fields["at"] = parse_time(fields["at"], "at")
        if fields.get("external_id") is None:
            fields["external_id"] = _derived_id(cast("dict[str, Any]", given), file, seen)
        thread = "main" if thread is None else str(thread)
        return Line(number, thread, None if session is None else str(session), fields)
    except UnicodeDecodeError as error:
        return Line(number, "", None, None, f"is not valid UTF-8 (byte {error.start + 1})")
    except json.JSONDecodeError as error:
        return Line(number, "", None, None, f"is not valid JSON: {error.msg} at character {error.pos + 1}")
    except RecursionError:
        return Line(number, "", None, None, "is nested too deeply")
    except ValueError as error:  # Python's own limit on the digits of a whole number
        return Line(number, "", None, None, f"cannot be read: {error}")
    except InvalidInput as error:
        return Line(number, "", None, None, str(error))


def _derived_id(given: dict[str, Any], file: str, seen: Counter[str]) -> str:
    """The same line gives the same id; the second line that says just the same gets another."""
    said = json.dumps([given, None if given.get("at") is not None else file], sort_keys=True)
    digest = hashlib.sha256(said.encode()).hexdigest()[:32]
    seen[digest] += 1
    return f"line-{digest}" if seen[digest] == 1 else f"line-{digest}-{seen[digest]}"


def parse_time(value: Any, field: str) -> datetime:
    """An ISO 8601 time with a zone (2025-05-12T14:03:00+02:00), or seconds since 1970. Raises InvalidInput."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC)
        except (OverflowError, OSError, ValueError) as error:
            raise InvalidInput(field, f"{value} is not a moment that a calendar has") from error
    try:
        moment = datetime.fromisoformat(cast("str", value))
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            field, f"{value!r} is not an ISO 8601 time such as 2025-05-12T14:03:00+02:00"
        ) from error
    if moment.tzinfo is None:
        raise InvalidInput(field, f"{value!r} has no time zone; add one, for example Z or +02:00")
    return moment


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise InvalidInput(str(path), f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(str(path), f"is not valid UTF-8 (byte {error.start + 1})") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(str(path), f"is not valid JSON: {error}") from error
