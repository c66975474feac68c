"""What is recorded: a message as the caller gives it, and the receipt that the caller gets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias
from uuid import UUID

from everlore.domain.answers import Doc
from everlore.domain.ids import short_id

Role: TypeAlias = Literal["user", "assistant", "system", "developer", "tool"]
ROLES: tuple[Role, ...] = ("user", "assistant", "system", "developer", "tool")
Finish: TypeAlias = Literal["complete", "aborted", "error"]
FINISHES: tuple[Finish, ...] = ("complete", "aborted", "error")

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

    role: Annotated[Role, Doc("Who speaks.")]
    text: Annotated[
        str,
        Doc(
            f"Markdown, at most {MAX_TEXT_BYTES:,} bytes of UTF-8; empty only beside captions or tool calls."
            " `content` is accepted for it."
        ),
    ] = ""
    author: Annotated[str | None, Doc("The speaker's display name; left out, only the role is known.")] = None
    at: Annotated[
        datetime | None, Doc("When it was said, with a zone; left out, the moment of recording.")
    ] = None
    captions: Annotated[Sequence[str], Doc("What attachments show or contain, in words.")] = ()
    system_prompt: Annotated[str | None, Doc("The system prompt in force when it was said.")] = None
    tool_calls: Annotated[
        Sequence[Mapping[str, Any]],
        Doc("Calls of tools and their results, kept as they are; at most 1 MB as JSON."),
    ] = ()
    external_id: Annotated[
        str | None,
        Doc("Your own id of the message: the same id with the same content is stored once per thread."),
    ] = None
    reply_to: Annotated[str | None, Doc("The external id of the message that this one answers.")] = None
    metadata: Annotated[Mapping[str, Any], Doc("Anything else worth keeping; at most 1 MB as JSON.")] = field(
        default_factory=dict[str, Any]
    )
    taxonomy: Annotated[str | None, Doc("A path such as work.studio.billing for this message.")] = None
    off_the_record: Annotated[bool, Doc("Keep it as a message, and never make memories of it.")] = False
    finish: Annotated[
        Finish, Doc("How it ended: complete, aborted (somebody stopped it), or error (it broke off).")
    ] = "complete"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one message: `message_id` names the stored row, also when it was there already."""

    status: Annotated[Literal["stored", "already there", "refused"], Doc("What became of it.")]
    message_id: Annotated[UUID | None, Doc("The stored message, also when it was there already.")]
    reason: Annotated[str | None, Doc("Why it was refused; null otherwise.")] = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """Given after the commit: one outcome per message, in the order of the call."""

    workspace: Annotated[str, Doc("The memory that was written to.")]
    thread: Annotated[str, Doc("The thread that was written to.")]
    outcomes: Annotated[tuple[Outcome, ...], Doc("One per message, in the order of the request.")]

    @property
    def stored(self) -> int:
        """How many were stored."""
        return sum(outcome.status == "stored" for outcome in self.outcomes)

    @property
    def already_there(self) -> int:
        """How many were there already with the same content."""
        return sum(outcome.status == "already there" for outcome in self.outcomes)

    @property
    def refused(self) -> tuple[Outcome, ...]:
        """Those whose external id is taken by other content."""
        return tuple(outcome for outcome in self.outcomes if outcome.status == "refused")


@dataclass(frozen=True, slots=True)
class ThreadSummary:
    """A conversation in a list."""

    thread_id: Annotated[UUID, Doc("Its id.")]
    name: Annotated[str, Doc("Its name.")]
    project: Annotated[str | None, Doc("The project that it belongs to.")]
    taxonomy: Annotated[str | None, Doc("The path that it is filed under.")]
    last_at: Annotated[datetime | None, Doc("When its last message was said.")]
    messages: Annotated[int, Doc("How many messages its path has.")]
    off_path: Annotated[
        int, Doc("How many more it has that are off the path: edited, regenerated, branched off.")
    ]


@dataclass(frozen=True, slots=True)
class ReconciledTurn:
    """What became of one turn of a history."""

    status: Annotated[
        Literal["known", "stored", "erased", "skipped"],
        Doc(
            "known: it was there; stored: it is new; erased: it was erased, and stays so; skipped: it is no turn of its own"
            " (instructions of the client, or a summary)."
        ),
    ]
    message_id: Annotated[UUID | None, Doc("The stored message.")]


@dataclass(frozen=True, slots=True)
class Reconciled:
    """Given after the commit: what became of each turn of a history, in its order."""

    workspace: Annotated[str, Doc("The memory that was written to.")]
    thread: Annotated[str, Doc("The thread.")]
    tip: Annotated[UUID | None, Doc("The last message of the thread's path.")]
    turns: Annotated[tuple[ReconciledTurn, ...], Doc("One per message of the request, in its order.")]

    @property
    def stored(self) -> int:
        """How many were new."""
        return sum(one.status == "stored" for one in self.turns)


@dataclass(frozen=True, slots=True)
class ThreadPath:
    """The path of a thread: the branch of its messages that is real."""

    thread: Annotated[str, Doc("The thread.")]
    tip: Annotated[UUID, Doc("The last message of the path, which the next one follows.")]
    messages: Annotated[int, Doc("How many messages the path has.")]
    off_path: Annotated[int, Doc("How many messages are off the path.")]


@dataclass(frozen=True, slots=True)
class ThreadDeleted:
    """A thread that went for good, with everything in it and derived from it."""

    thread: Annotated[str, Doc("Its name.")]
    deleted: Annotated[int, Doc("How many messages went.")]


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """All of one message as it was given."""

    message_id: Annotated[UUID, Doc("Its id.")]
    thread: Annotated[str, Doc("The conversation that it belongs to.")]
    session: Annotated[str | None, Doc("The sitting, if it was given a name.")]
    position: Annotated[int, Doc("Its number in the thread, from 1.")]
    role: Annotated[str, Doc("Who speaks.")]
    author: Annotated[str, Doc("The speaker's display name, or the role.")]
    at: Annotated[datetime, Doc("When it was said.")]
    recorded_at: Annotated[datetime, Doc("When it was recorded.")]
    text: Annotated[str, Doc("Its words, as markdown.")]
    captions: Annotated[list[str], Doc("What attachments show or contain, in words.")]
    system_prompt: Annotated[str | None, Doc("The system prompt in force when it was said.")]
    tool_calls: Annotated[list[dict[str, Any]], Doc("Calls of tools and their results.")]
    external_id: Annotated[str | None, Doc("The id that it was given by whoever recorded it.")]
    reply_to: Annotated[str | None, Doc("The external id of the message that it answers.")]
    metadata: Annotated[dict[str, Any], Doc("Whatever else came along.")]
    taxonomy: Annotated[str | None, Doc("Its own path.")]
    off_the_record: Annotated[bool, Doc("Whether it is kept out of memories.")]
    parent_id: Annotated[UUID | None, Doc("The message that it follows; null at the start of the thread.")]
    on_path: Annotated[bool, Doc("Whether it is on the path of its thread, the branch that is real.")]
    revision_of: Annotated[UUID | None, Doc("The message that it took the place of.")]
    finish: Annotated[str, Doc("How it ended: complete, aborted, or error.")]

    @property
    def short_id(self) -> str:
        """The end of the id, which a person types."""
        return short_id(self.message_id)
