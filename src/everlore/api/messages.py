"""Messages: recording, recalling, showing and deleting them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from everlore.api.directory import Verbs
from everlore.capture.record import record
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.ids import SHORT_ID_LENGTH
from everlore.domain.memories import AsOf
from everlore.domain.messages import NewMessage, Receipt
from everlore.domain.recall import Kind, Recall
from everlore.knowledge.erasure import erase_messages, erase_thread
from everlore.recall.recall import Ask, recall
from everlore.recall.sources import SOURCES
from everlore.recall.sources.memories import used
from everlore.store import conversation
from everlore.store.conversation import StoredMessage, ThreadSummary
from everlore.store.recall import Filter
from everlore.store.run import Transaction
from everlore.validation import aware, name, taxonomy_path

MAX_LIMIT = 1000
MAX_NEIGHBOURS = 20
MAX_QUESTION_CHARACTERS = 8000
DEFAULT_THREAD = "main"


@dataclass(frozen=True, slots=True)
class Messages(Verbs):
    """The verbs on messages. One is named by its id, or the last 8 characters of it at least."""

    async def record(
        self,
        messages: Sequence[NewMessage | Mapping[str, Any]],
        *,
        thread: str = DEFAULT_THREAD,
        session: str | None = None,
        project: str | None = None,
        taxonomy: str | None = None,
    ) -> Receipt:
        """Keep messages, 1 to 10,000, in the order given. The receipt comes after the commit.

        `session` names the sitting they belong to; without it, a gap of more than 6 hours in the thread begins a new one.
        `project` and `taxonomy` (a path like `work.studio`) are set on the thread. Raises InvalidInput, with nothing stored,
        when a message cannot be kept; a message whose external id is taken by other content is refused in its outcome.
        """
        return await record(
            self.runtime,
            await self.made(),
            messages,
            thread=thread,
            session=session,
            project=project,
            taxonomy=taxonomy,
        )

    async def recall(
        self,
        query: str,
        *,
        limit: int = 10,
        now: datetime | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        author: str | None = None,
        thread: str | None = None,
        project: str | None = None,
        taxonomy: str | None = None,
        kinds: Sequence[Kind] | None = None,
        as_of: AsOf | None = None,
        include_expired: bool = False,
        limit_memories: int = 10,
        limit_facts: int = 10,
        neighbours: int = 0,
        deadline_ms: float | None = None,
        trace: bool = False,
    ) -> Recall:
        """The messages that answer a question, best first, with citations and the reasons to believe them; beside them the
        memories and facts that answer it.

        `now` is the moment that "last week" is relative to; times are aware. `since` (inclusive) and `until` (exclusive),
        author, thread, project and taxonomy subtree limit what may be found. `neighbours` messages on each side come along
        with each hit. Past `deadline_ms` the answer is made of what is there. `as_of`: what was true, or what was believed,
        at another moment than now; for the latter only messages that were recorded by then. Raises InvalidInput.
        """
        question = _question(query)
        as_of = AsOf() if as_of is None else as_of
        for field, moment in (("valid_at", as_of.valid_at), ("recorded_at", as_of.recorded_at)):
            if moment is not None:
                aware(moment, f"as_of.{field}")
        within = Filter(
            since=None if since is None else aware(since, "since"),
            until=None if until is None else aware(until, "until"),
            author=None if author is None else name(author, "author"),
            threads=None if thread is None else (await self._thread(thread),),
            recorded_by=as_of.recorded_at,
        )
        if within.since is not None and within.until is not None and within.since >= within.until:
            raise InvalidInput("until", "is not after since, so nothing lies between")
        ask = Ask(
            question=question,
            now=self.now() if now is None else _with_zone(now),
            limit=_between(limit, "limit", 1, MAX_LIMIT),
            within=within,
            project=None if project is None else name(project, "project"),
            taxonomy=None if taxonomy is None else taxonomy_path(taxonomy, "taxonomy"),
            neighbours=_between(neighbours, "neighbours", 0, MAX_NEIGHBOURS),
            deadline_ms=None if deadline_ms is None else _deadline(deadline_ms),
            trace=trace,
            as_of=as_of,
            kinds=tuple(source.kind for source in SOURCES) if kinds is None else _kinds(kinds),
            memories=_between(limit_memories, "limit_memories", 0, MAX_LIMIT),
            facts=_between(limit_facts, "limit_facts", 0, MAX_LIMIT),
            include_expired=include_expired,
        )
        workspace_id = await self.found()
        answer = await recall(
            self.runtime.database,
            workspace_id,
            ask,
            embedders=self.runtime.embedders,
            reranker=self.runtime.reranker,
            settings=self.runtime.settings.recall,
        )
        self.directory.uses.note(workspace_id, used(ask, answer))
        return answer

    async def threads(self) -> list[ThreadSummary]:
        async with self.reading() as tx:
            return await conversation.list_threads(tx)

    async def show(self, identifier: str | UUID) -> StoredMessage:
        """One message by its id, or by the end of it (at least 8 characters). Raises NotFound, InvalidInput."""
        async with self.reading() as tx:
            message_id = identifier if isinstance(identifier, UUID) else await _resolve(tx, identifier)
            message = await conversation.show_message(tx, message_id)
        if message is None:
            raise NotFound(f"There is no message {identifier} in the workspace {self.name}.")
        return message

    async def delete(self, identifier: str | UUID) -> StoredMessage:
        """Erase a message and everything derived from it; returns what it was. Raises NotFound, InvalidInput."""
        async with self.writing() as tx:
            message_id = identifier if isinstance(identifier, UUID) else await _resolve(tx, identifier)
            message = await conversation.show_message(tx, message_id)
            receipt = await erase_messages(tx, [message_id], self.now())
            if message is None or not receipt.messages:
                raise NotFound(f"There is no message {identifier} in the workspace {self.name}.")
        return message

    async def delete_thread(self, thread: str) -> int:
        """Erase a thread with everything in it and derived from it; returns the number of its messages."""
        called = name(thread, "thread")
        async with self.writing() as tx:
            thread_id = await conversation.lock_thread(tx, called)
            if thread_id is None:
                raise NotFound(f"There is no thread {thread} in the workspace {self.name}.")
            receipt = await erase_thread(tx, thread_id, called, self.now())
        return len(receipt.messages)

    async def _thread(self, thread: str) -> UUID:
        async with self.reading() as tx:
            return await self.thread_id(tx, thread)


def _question(query: str) -> str:
    if not isinstance(query, str) or not query.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("query", "is empty; ask something")
    if len(query) > MAX_QUESTION_CHARACTERS:
        raise InvalidInput(
            "query", f"has {len(query):,} characters; the limit is {MAX_QUESTION_CHARACTERS:,}"
        )
    if "\0" in query or any(0xD800 <= ord(character) <= 0xDFFF for character in query):
        raise InvalidInput("query", "contains a NUL byte or a lone surrogate")
    return query


async def _resolve(tx: Transaction, ending: str) -> UUID:
    digits = ending.strip().lower().replace("-", "")
    if len(digits) < SHORT_ID_LENGTH or len(digits) > 32 or set(digits) - set("0123456789abcdef"):
        raise InvalidInput(
            "id", f"must be the last {SHORT_ID_LENGTH} to 32 characters of a message id, not {ending!r}"
        )
    found = await conversation.find_message(tx, digits)
    if not found:
        raise NotFound(f"There is no message whose id ends with {ending}.")
    if len(found) > 1:
        raise InvalidInput("id", f"several message ids end with {ending}; type more of it")
    return found[0]


def _between(value: int, field: str, low: int, high: int) -> int:
    if not isinstance(value, int) or not low <= value <= high:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(field, f"must be a number from {low} to {high:,}, not {value!r}")
    return value


def _deadline(value: float) -> float:
    if not isinstance(value, int | float) or not 0 < value <= 3_600_000:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            "deadline_ms", f"must be above 0 and at most 3,600,000 milliseconds, not {value!r}"
        )
    return float(value)


def _with_zone(value: datetime) -> datetime:
    """Keeps the zone: calendar words like "yesterday" are read in it."""
    aware(value, "now")
    return value


def _kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    known = [source.kind for source in SOURCES]
    for kind in kinds:
        if kind not in known:
            raise InvalidInput("kinds", f"{kind!r} is not one of {', '.join(known)}")
    return tuple(kinds)
