"""Messages: recording, recalling, listing, showing and deleting them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

from everlore.api.directory import Verbs
from everlore.capture.accept import destination
from everlore.capture.reconcile import reconcile
from everlore.capture.record import record
from everlore.capture.tree import sibling, switch
from everlore.domain.answers import Doc, Page
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.memories import AsOf, as_seen
from everlore.domain.messages import (
    MAX_MESSAGES,
    Finish,
    NewMessage,
    Receipt,
    Reconciled,
    StoredMessage,
    ThreadDeleted,
    ThreadPath,
    ThreadSummary,
)
from everlore.domain.recall import BRANCH, Recall
from everlore.knowledge.erasure import erase_messages, erase_thread
from everlore.paging import after, moment, page, paged
from everlore.paging import identifier as by_id
from everlore.store import conversation, lists
from everlore.store.recall import Filter
from everlore.store.run import Transaction
from everlore.validation import (
    Check,
    Cursor,
    Id,
    Limit,
    LimitOrNone,
    Milliseconds,
    Moment,
    Name,
    Present,
    Question,
    TaxonomyPath,
    Times,
    checked,
    found_by_id,
    number,
)

MAX_NEIGHBOURS = 20
DEFAULT_THREAD = "main"
MESSAGE_ID = "A message's id, or at least its last 8 characters."


def _kind(value: str, field: str) -> str:
    known = _kinds()
    if value not in known:
        raise InvalidInput(field, f"must be one of {', '.join(known)}; it is {value!r}")
    return value


def _kinds() -> tuple[str, ...]:
    """Of what recall finds."""
    from everlore.recall.sources import SOURCES

    return tuple(source.kind for source in SOURCES)


def _wanted(kinds: Sequence[str] | None, *, branches: bool) -> tuple[str, ...]:
    wanted = [kind for kind in _kinds() if kind != BRANCH] if kinds is None else [*kinds]
    return tuple(dict.fromkeys([*wanted, BRANCH] if branches else wanted))


@dataclass(frozen=True, slots=True)
class Messages(Verbs):
    """The verbs on messages. One is named by its id, or the last 8 characters of it at least."""

    async def record(
        self,
        messages: Annotated[
            Sequence[NewMessage | Mapping[str, Any]],
            Doc("The messages, in order."),
            Check(lambda given, _: given, {"minItems": 1, "maxItems": MAX_MESSAGES}),
        ],
        *,
        thread: Annotated[
            Name, Doc("The conversation they belong to; made if it does not exist.")
        ] = DEFAULT_THREAD,
        session: Annotated[
            Name | None, Doc("The sitting they belong to; left out, a gap of over 6 hours begins a new one.")
        ] = None,
        project: Annotated[Name | None, Doc("Set on the thread: the project it belongs to.")] = None,
        taxonomy: Annotated[
            TaxonomyPath | None, Doc("Set on the thread: a path such as work.studio.")
        ] = None,
        parent: Annotated[
            Id | None,
            Doc(
                "The message of the thread that the first one follows; left out, the last one of its path. What followed it"
                " leaves the path."
            ),
        ] = None,
        revise: Annotated[
            bool,
            Doc("A message whose external id is taken by other content takes its place, as `revise` does."),
        ] = False,
    ) -> Receipt:
        """Record messages of one thread, 1 to 10,000.

        The receipt comes after the commit, with an outcome per message. Recording them again is harmless where they carry an
        `external_id`. Raises InvalidInput, with nothing stored, when a message cannot be kept; a message whose external id is
        taken by other content is refused in its outcome.
        """
        return await record(
            self.runtime,
            await self.made(),
            messages,
            workspace=self.name,
            into=destination(thread, session, project, taxonomy),
            parent=None if parent is None else await self._message(parent),
            revise=revise,
        )

    async def reconcile(
        self,
        history: Annotated[
            Sequence[Mapping[str, Any]],
            Doc("All turns of the conversation, in order, as the client sends them to its model."),
            Check(lambda given, _: given, {"minItems": 1, "maxItems": MAX_MESSAGES}),
        ],
        *,
        thread: Annotated[
            Name, Doc("The conversation they belong to; made if it does not exist.")
        ] = DEFAULT_THREAD,
        session: Annotated[
            Name | None,
            Doc("The sitting that new ones belong to; left out, a gap of over 6 hours begins a new one."),
        ] = None,
        project: Annotated[Name | None, Doc("Set on the thread: the project it belongs to.")] = None,
        taxonomy: Annotated[
            TaxonomyPath | None, Doc("Set on the thread: a path such as work.studio.")
        ] = None,
    ) -> Reconciled:
        """Record what is new of a whole history, as a client that keeps no state sends it with every call.

        Turns are known by what they say. What the thread has is not stored again; a turn that was edited begins a branch, which
        becomes the path; another answer to the same question is a branch of its own; a beginning that is missing, or stands
        summarised, is no change. Raises InvalidInput, with nothing stored.
        """
        return await reconcile(
            self.runtime,
            await self.made(),
            history,
            workspace=self.name,
            into=destination(thread, session, project, taxonomy),
        )

    @checked
    async def revise(
        self,
        identifier: Annotated[Id, Doc(MESSAGE_ID)],
        text: Annotated[str, Doc("What it says now.")],
    ) -> StoredMessage:
        """Store a message anew, with other words, in the place of one; what followed that leaves the path.

        The old one stays stored, off the path. Answers with the new one. Raises NotFound, InvalidInput."""
        return await self._sibling(identifier, text, "complete", revises=True)

    @checked
    async def regenerate(
        self,
        identifier: Annotated[Id, Doc(MESSAGE_ID)],
        text: Annotated[str, Doc("The other answer.")],
        *,
        finish: Annotated[Finish, Doc("How it ended: complete, aborted, or error.")] = "complete",
    ) -> StoredMessage:
        """Store another answer beside one; the path leads to it from now on.

        The old one stays stored, off the path. Answers with the new one. Raises NotFound, InvalidInput."""
        return await self._sibling(identifier, text, finish, revises=False)

    @checked
    async def switch(
        self,
        thread: Annotated[Name, Doc("The thread.")],
        message: Annotated[Id, Doc("The message that its path shall lead to. " + MESSAGE_ID)],
    ) -> ThreadPath:
        """Make another branch the path of a thread: the one that leads to a message, and ends there.

        What leaves the path stays stored; what is known from it alone is withdrawn until the path comes back. Raises NotFound,
        InvalidInput."""
        return await switch(self.runtime, await self.found(), thread, await self._message(message))

    async def _sibling(
        self, identifier: str | UUID, text: str, finish: str, *, revises: bool
    ) -> StoredMessage:
        made = await sibling(
            self.runtime,
            await self.found(),
            await self._message(identifier),
            {"text": text, "finish": finish},
            revises=revises,
        )
        return await self.show(made)

    async def _message(self, identifier: str | UUID) -> UUID:
        if isinstance(identifier, UUID):
            return identifier
        async with self.reading() as tx:
            return await _resolve(tx, identifier)

    @checked
    async def recall(
        self,
        query: Annotated[Question, Doc("The question, or words to look for.")],
        *,
        limit: Limit = 10,
        now: Annotated[
            Present | None, Doc('The moment that "last week" is relative to; left out, the present.')
        ] = None,
        since: Annotated[Moment | None, Doc("Only messages from this moment on.")] = None,
        until: Annotated[Moment | None, Doc("Only messages before this moment.")] = None,
        author: Annotated[Name | None, Doc("Only messages of this author.")] = None,
        thread: Annotated[Name | None, Doc("Only messages of this thread; it must exist.")] = None,
        project: Annotated[Name | None, Doc("Only threads of this project.")] = None,
        taxonomy: Annotated[
            TaxonomyPath | None, Doc("Only what is filed under this path or below it.")
        ] = None,
        kinds: Annotated[
            Sequence[Annotated[str, Check(_kind)]] | None,
            Doc("Only these: message, memory, fact; left out, all of them."),
        ] = None,
        as_of: Annotated[Times | None, Doc("Another moment than now to ask about.")] = None,
        include_expired: Annotated[bool, Doc("Also memories that are out of view by now.")] = False,
        limit_memories: Annotated[LimitOrNone, Doc("At most so many memories.")] = 10,
        limit_facts: Annotated[LimitOrNone, Doc("At most so many facts.")] = 10,
        neighbours: Annotated[
            int, number(0, MAX_NEIGHBOURS), Doc("So many messages before and after each hit come along.")
        ] = 0,
        deadline_ms: Annotated[
            Milliseconds | None,
            Doc("After so many milliseconds the answer is made of what is there, and says so in `degraded`."),
        ] = None,
        branches: Annotated[
            bool,
            Doc(
                "Also look among messages that are off the path of their thread; they are answered by themselves."
            ),
        ] = False,
        trace: Annotated[bool, Doc("Whether each hit tells every lane's rank and score.")] = False,
    ) -> Recall:
        """Recall the messages, memories and facts that answer a question.

        With citations and the reasons to believe them, best first. `as_of`: what was true, or what was believed, at another
        moment than now; for the latter only messages that were recorded by then. Raises InvalidInput, NotFound.
        """
        # Loaded by who asks something: most commands do not, and need no arrays of numbers.
        from everlore.recall.recall import Ask, recall
        from everlore.recall.sources.memories import used

        as_of = AsOf() if as_of is None else as_of
        within = Filter(
            since=since,
            until=until,
            author=author,
            threads=None if thread is None else (await self._thread(thread),),
            recorded_by=as_of.recorded_at,
        )
        if within.since is not None and within.until is not None and within.since >= within.until:
            raise InvalidInput("until", "is not after since, so nothing lies between")
        ask = Ask(
            question=query,
            now=self.now() if now is None else now,
            limit=limit,
            within=within,
            project=project,
            taxonomy=taxonomy,
            neighbours=neighbours,
            deadline_ms=deadline_ms,
            trace=trace,
            as_of=as_of,
            kinds=_wanted(kinds, branches=branches),
            memories=limit_memories,
            facts=limit_facts,
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
        seen = tuple(replace(hit, memory=as_seen(hit.memory, self.now())) for hit in answer.memories)
        return replace(answer, memories=seen)

    @checked
    async def threads(self, *, limit: Limit = 50, cursor: Cursor = None) -> Page[ThreadSummary]:
        """List the threads of a workspace, the latest first."""
        async with self.reading() as tx:
            found = await conversation.list_threads(tx)
        return paged(found, limit, cursor, _latest, moment, by_id, descending=True)

    async def thread_names(self) -> list[str]:
        """The names of all threads."""
        async with self.reading() as tx:
            return [thread.name for thread in await conversation.list_threads(tx)]

    @checked
    async def messages(
        self,
        thread: Annotated[Name, Doc("The thread.")] = DEFAULT_THREAD,
        *,
        branches: Annotated[bool, Doc("Also those that are off its path.")] = False,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[StoredMessage]:
        """List the messages of a thread's path in their order. Raises NotFound, InvalidInput."""
        begin = after(cursor, int)
        async with self.reading() as tx:
            thread_id = await self.thread_id(tx, thread)
            found, total = await lists.messages(
                tx, thread_id, begin[0] if begin else 0, limit + 1, branches=branches
            )
        return page(found, total, limit, lambda message: (message.position,))

    async def show(self, identifier: Annotated[Id, Doc(MESSAGE_ID)]) -> StoredMessage:
        """Show all of one message. Raises NotFound, InvalidInput."""
        async with self.reading() as tx:
            message_id = identifier if isinstance(identifier, UUID) else await _resolve(tx, identifier)
            message = await conversation.show_message(tx, message_id)
        if message is None:
            raise NotFound(f"There is no message {identifier} in the workspace {self.name}.")
        return message

    async def delete(self, identifier: Annotated[Id, Doc(MESSAGE_ID)]) -> StoredMessage:
        """Delete a message for good, and everything derived from it.

        Answers with what it was. Raises NotFound, InvalidInput."""
        async with self.writing() as tx:
            message_id = identifier if isinstance(identifier, UUID) else await _resolve(tx, identifier)
            message = await conversation.show_message(tx, message_id)
            receipt = await erase_messages(tx, [message_id], self.now())
            if message is None or not receipt.messages:
                raise NotFound(f"There is no message {identifier} in the workspace {self.name}.")
        return message

    @checked
    async def delete_thread(self, thread: Annotated[Name, Doc("The thread.")]) -> ThreadDeleted:
        """Delete a thread for good, with everything in it and derived from it. Raises NotFound."""
        called = thread
        async with self.writing() as tx:
            thread_id = await conversation.lock_thread(tx, called)
            if thread_id is None:
                raise NotFound(f"There is no thread {thread} in the workspace {self.name}.")
            receipt = await erase_thread(tx, thread_id, called, self.now())
        return ThreadDeleted(called, len(receipt.messages))

    async def _thread(self, thread: str) -> UUID:
        async with self.reading() as tx:
            return await self.thread_id(tx, thread)


async def _resolve(tx: Transaction, identifier: str) -> UUID:
    return await found_by_id(identifier, "message", lambda digits: conversation.find_message(tx, digits))


def _latest(thread: ThreadSummary) -> tuple[datetime, UUID]:
    return thread.last_at or datetime.min.replace(tzinfo=UTC), thread.thread_id
