"""Workspace: the verbs. Every face calls these and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

from everlore.api.distilling import Means
from everlore.api.entities import Graph
from everlore.api.memories import Knowledge
from everlore.capture.passages import Count
from everlore.capture.record import record
from everlore.config import AliasSettings, RecallSettings
from everlore.domain.answers import Doc, Page
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.memories import AsOf
from everlore.domain.messages import (
    MAX_MESSAGES,
    NewMessage,
    Receipt,
    StoredMessage,
    ThreadDeleted,
    ThreadSummary,
)
from everlore.domain.operations import WorkspaceStatus
from everlore.domain.recall import KINDS, Kind, Recall
from everlore.knowledge.erasure import erase_messages, erase_thread
from everlore.paging import after, moment, page, paged
from everlore.paging import identifier as by_id
from everlore.ports.clock import Clock
from everlore.ports.embedder import Embedder
from everlore.ports.reranker import Reranker
from everlore.recall.recall import Ask, Weights, recall
from everlore.store import conversation, distilling, index, lists, passages, postings
from everlore.store.database import Database
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


@dataclass(frozen=True, slots=True)
class Parts:
    """What a workspace works with; put together by `everlore.everlore`. `means`: for the verbs on memories and facts."""

    database: Database
    embedders: Mapping[str, Embedder]
    reranker: Reranker | None
    wordpieces: Count
    clock: Clock
    recall: RecallSettings
    aliases: AliasSettings
    means: Means


class Workspace(Knowledge):
    """One memory, apart from all others: the database lets these verbs see and touch its rows only.

    The verbs on memories and facts are those of `Knowledge`, those on entities stand under `graph`.
    """

    def __init__(self, workspace_id: UUID, called: str, parts: Parts) -> None:
        graph = Graph(workspace_id, called, parts.database, parts.clock, parts.aliases)
        super().__init__(workspace_id, called, parts.means, graph)
        self._parts = parts

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
    ) -> Receipt:
        """Record messages of one thread, 1 to 10,000.

        The receipt comes after the commit, with an outcome per message. Recording them again is harmless where they carry an
        `external_id`. Raises InvalidInput, with nothing stored, when a message cannot be kept; a message whose external id is
        taken by other content is refused in its outcome.
        """
        return await record(
            self._parts.database,
            self.workspace_id,
            messages,
            thread=thread,
            session=session,
            project=project,
            taxonomy=taxonomy,
            now=self._parts.clock(),
            wordpieces=self._parts.wordpieces,
            distil=self._parts.means.analyst is not None,
        )

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
            Sequence[Kind] | None, Doc("Only these: messages, memories, facts; left out, all three.")
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
        trace: Annotated[bool, Doc("Whether each hit tells every lane's rank and score.")] = False,
    ) -> Recall:
        """Recall the messages, memories and facts that answer a question.

        With citations and the reasons to believe them, best first. `as_of`: what was true, or what was believed, at another
        moment than now; for the latter only messages that were recorded by then. Raises InvalidInput, NotFound.
        """
        as_of = AsOf() if as_of is None else as_of
        within = Filter(
            since=since,
            until=until,
            author=author,
            threads=None if thread is None else await self._threads(thread),
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
            kinds=KINDS if kinds is None else tuple(kinds),
            memories=limit_memories,
            facts=limit_facts,
            include_expired=include_expired,
        )
        found = await recall(
            self._parts.database,
            self.workspace_id,
            ask,
            embedders=self._parts.embedders,
            reranker=self._parts.reranker,
            weights=Weights(**self._parts.recall.model_dump()),
        )
        return replace(
            found, memories=tuple(replace(hit, memory=self._seen(hit.memory)) for hit in found.memories)
        )

    @checked
    async def threads(self, *, limit: Limit = 50, cursor: Cursor = None) -> Page[ThreadSummary]:
        """List the threads of a workspace, the latest first."""
        async with self._parts.database.workspace(self.workspace_id, read_only=True) as tx:
            found = await conversation.list_threads(tx)
        return paged(found, limit, cursor, _latest, moment, by_id, descending=True)

    async def thread_names(self) -> list[str]:
        """The names of all threads."""
        async with self._parts.database.workspace(self.workspace_id, read_only=True) as tx:
            return [thread.name for thread in await conversation.list_threads(tx)]

    @checked
    async def messages(
        self,
        thread: Annotated[Name, Doc("The thread.")] = DEFAULT_THREAD,
        *,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[StoredMessage]:
        """List the messages of a thread in their order. Raises NotFound, InvalidInput."""
        begin = after(cursor, int)
        async with self._parts.database.workspace(self.workspace_id, read_only=True) as tx:
            (thread_id,) = await self._threads(thread)
            found, total = await lists.messages(tx, thread_id, begin[0] if begin else 0, limit + 1)
        return page(found, total, limit, lambda message: (message.position,))

    async def show(
        self, identifier: Annotated[Id, Doc("A message's id, or at least its last 8 characters.")]
    ) -> StoredMessage:
        """Show all of one message. Raises NotFound, InvalidInput."""
        async with self._parts.database.workspace(self.workspace_id, read_only=True) as tx:
            message_id = identifier if isinstance(identifier, UUID) else await _resolve(tx, identifier)
            message = await conversation.show_message(tx, message_id)
        if message is None:
            raise NotFound(f"There is no message {identifier} in the workspace {self.name}.")
        return message

    async def delete(
        self, identifier: Annotated[Id, Doc("A message's id, or at least its last 8 characters.")]
    ) -> StoredMessage:
        """Delete a message for good, and everything derived from it.

        Answers with what it was. Raises NotFound, InvalidInput."""
        async with self._parts.database.workspace(self.workspace_id) as tx:
            message_id = identifier if isinstance(identifier, UUID) else await _resolve(tx, identifier)
            message = await conversation.show_message(tx, message_id)
            receipt = await erase_messages(tx, [message_id], self._parts.clock())
            if message is None or not receipt.messages:
                raise NotFound(f"There is no message {identifier} in the workspace {self.name}.")
        return message

    @checked
    async def delete_thread(self, thread: Annotated[Name, Doc("The thread.")]) -> ThreadDeleted:
        """Delete a thread for good, with everything in it and derived from it. Raises NotFound."""
        called = thread
        async with self._parts.database.workspace(self.workspace_id) as tx:
            thread_id = await conversation.lock_thread(tx, called)
            if thread_id is None:
                raise NotFound(f"There is no thread {thread} in the workspace {self.name}.")
            receipt = await erase_thread(tx, thread_id, called, self._parts.clock())
        return ThreadDeleted(called, len(receipt.messages))

    async def status(self) -> WorkspaceStatus:
        async with self._parts.database.workspace(self.workspace_id, read_only=True) as tx:
            threads = await conversation.list_threads(tx)
            unpacked = await postings.tail_size(tx)
            models = await index.models(tx)
            unembedded = {
                model.name: (await index.behind(tx, model.step))[1]
                + await passages.waiting(tx, model.model_id)
                for model in models
            }
            _, undistilled, failed = await distilling.waiting(tx)
            count = await distilling.count(tx)
        return WorkspaceStatus(
            self.name,
            len(threads),
            sum(t.messages for t in threads),
            unpacked,
            unembedded,
            count,
            undistilled,
            failed,
        )

    async def _threads(self, thread: str) -> tuple[UUID, ...]:
        async with self._parts.database.workspace(self.workspace_id, read_only=True) as tx:
            thread_id = await conversation.find_thread(tx, thread)
        if thread_id is None:
            raise NotFound(f"There is no thread {thread} in the workspace {self.name}.")
        return (thread_id,)


async def _resolve(tx: Transaction, identifier: str) -> UUID:
    return await found_by_id(identifier, "message", lambda digits: conversation.find_message(tx, digits))


def _latest(thread: ThreadSummary) -> tuple[datetime, UUID]:
    return thread.last_at or datetime.min.replace(tzinfo=UTC), thread.thread_id
