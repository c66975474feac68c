"""What is recorded: a message as the caller gives it, and the receipt that the caller gets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias
from uuid import UUID

Role: TypeAlias = Literal["user", "assistant", "system", "tool"]
ROLES: tuple[Role, ...] = ("user", "assistant", "system", "tool")

MAX_MESSAGES = 10_000
MAX_TEXT_BYTES = 1_000_000
MAX_NAME_CHARACTERS = 200
MAX_EXTERNAL_ID_CHARACTERS = 500
MAX_CAPTIONS = 100
MAX_JSON_BYTES = 1_000_000
MAX_JSON_DEPTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """One message to record.

    `text` is markdown, at most 1 MB of UTF-8. It may be empty only where tool calls or captions say something.
    `at` must carry a time zone; left out, it is the moment of recording. `author` is a display name; left out, only the
    role is known. `external_id` makes a retry harmless: the same id with the same content is stored once per thread.
    `off_the_record`: kept and recalled as a message, and never distilled into memories.
    """

    role: Role
    text: str = ""
    author: str | None = None
    at: datetime | None = None
    captions: Sequence[str] = ()
    system_prompt: str | None = None
    tool_calls: Sequence[Mapping[str, Any]] = ()
    external_id: str | None = None
    reply_to: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    taxonomy: str | None = None
    off_the_record: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one message: `message_id` names the stored row, also when it was there already."""

    status: Literal["stored", "already there", "refused"]
    message_id: UUID | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """Given after the commit: one outcome per message, in the order of the call."""

    thread: str
    outcomes: tuple[Outcome, ...]

    @property
    def stored(self) -> int:
        return sum(outcome.status == "stored" for outcome in self.outcomes)

    @property
    def already_there(self) -> int:
        return sum(outcome.status == "already there" for outcome in self.outcomes)

    @property
    def refused(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.status == "refused")
