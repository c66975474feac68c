"""Contexts: the memory part of a prompt, and the log of what was given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, cast
from uuid import UUID

from everlore.api.directory import Verbs
from everlore.domain.answers import Doc, Page
from everlore.domain.context import Context, ContextRecord, LoggedContext, LoggedItem, Part, Profile
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.messages import MAX_TEXT_BYTES
from everlore.domain.recall import KINDS, Recall
from everlore.paging import after, moment, page
from everlore.paging import identifier as by_id
from everlore.store import contexts
from everlore.store.contexts import ItemRow
from everlore.store.recall import Filter
from everlore.store.recall_memories import Use
from everlore.store.run import Transaction
from everlore.text.token_estimate import estimated_tokens
from everlore.validation import (
    MAX_QUESTION_CHARACTERS,
    Cursor,
    Id,
    Limit,
    Name,
    Present,
    Question,
    checked,
    found_by_id,
    number,
    number_of,
    valid_text,
)

CONTEXT_ID = "A context's id, or at least its last 8 characters."
MAX_MESSAGES = 1000
MAX_BUDGET = 1_000_000
# The latest of the person's messages are what is asked about, where no question is given.
_QUERIES = 3
# A recall goes so deep: fewer messages than that fit into the budget.
_TOKENS_A_MESSAGE = 10
_DEPTH = (10, 200)


@dataclass(frozen=True, slots=True)
class Contexts(Verbs):
    """The verbs on contexts."""

    @checked
    async def context(
        self,
        query: Annotated[
            Question | None, Doc("What is asked; left out, the last messages of the person among `messages`.")
        ] = None,
        *,
        thread: Annotated[
            Name | None, Doc("The conversation that it is for; it must exist. Left out, that of `since`.")
        ] = None,
        messages: Annotated[
            Sequence[str | Mapping[str, Any]],
            number_of(MAX_MESSAGES),
            Doc(
                "What the reader has before it, in order, each with `role` and `text` (or `content`); a text by itself is the"
                " person's. Nothing of it is said again."
            ),
        ] = (),
        budget: Annotated[
            int | None,
            number(0, MAX_BUDGET),
            Doc("Tokens that head and tail may have together; left out, by the profile."),
        ] = None,
        profile: Annotated[
            Profile, Doc("What it is made of: companion, agent, lean, or custom.")
        ] = "companion",
        since: Annotated[
            Id | None, Doc("The context before it in this conversation: then there is a tail alone.")
        ] = None,
        now: Annotated[Present | None, Doc("The moment that it is for; left out, the present.")] = None,
        explain: Annotated[bool, Doc("Whether each item says why it is believed to answer.")] = False,
    ) -> Context:
        """Make the memory part of a prompt: a head for the beginning of the conversation, a tail for this question.

        The head has instructions, what is pinned, what matters most and standing wishes; it is made once, and stays as it is. The
        tail has what answers, and what has changed since. Whole items within the budget; nothing that stands in `messages`, or
        that the contexts before gave in the same version. Raises InvalidInput, NotFound, Conflict (what it is
        made of was erased meanwhile).
        """
        # Loaded by who asks for one.
        from everlore.context.assembly import ContextRequest, build
        from everlore.context.rendering import templates

        settings = self.runtime.settings.context
        chosen = getattr(settings, profile)
        given = [_text_of(one, place) for place, one in enumerate(messages)]
        thread, thread_id, since_id = await self._place(thread, since)
        request = ContextRequest(
            profile=profile,
            settings=chosen,
            budget=chosen.budget if budget is None else budget,
            now=self.now() if now is None else now,
            thread=thread,
            thread_id=thread_id,
            since=since_id,
            said=tuple(text for _, text in given),
            count=self.runtime.tokens,
            exact=self.runtime.tokens is not estimated_tokens,
            explain=explain,
        )
        known = templates(settings.templates_dir)
        answers = [
            await self._recalled(one, request.now, request.budget, chosen.slots)
            for one in _asked(query, given)
        ]
        async with self.writing() as tx:
            made = await build(tx, request, answers, known)
        self._note_uses(await self.found(), made, request.now)
        return made

    @checked
    async def contexts(
        self,
        *,
        thread: Annotated[Name | None, Doc("Only those of this thread; it must exist.")] = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[LoggedContext]:
        """List the contexts that were given, the latest first: the injection log. Raises NotFound, InvalidInput."""
        key = after(cursor, moment, by_id)
        async with self.reading() as tx:
            thread_id = None if thread is None else await self.thread_id(tx, thread)
            found, total = await contexts.listed(tx, thread_id, limit + 1, key)
        return page(found, total, limit, lambda one: (one.at, one.context_id))

    async def context_record(self, identifier: Annotated[Id, Doc(CONTEXT_ID)]) -> ContextRecord:
        """Show what a context gave, with its head byte for byte. Raises NotFound, InvalidInput."""
        async with self.reading() as tx:
            context_id, _ = await self._found(tx, identifier, "id")
            shown = await contexts.show(tx, context_id)
            rows = await contexts.items(tx, context_id)
        if shown is None:
            raise NotFound(f"There is no context {identifier} in the workspace {self.name}.")
        words = [row.words or "" for row in rows if row.part == "head"]
        return ContextRecord(
            shown[0], "".join(words) if words else None, tuple(_logged(row) for row in rows if row.slot)
        )

    async def _place(
        self, thread: str | None, since: str | UUID | None
    ) -> tuple[str | None, UUID | None, UUID | None]:
        """The thread by name and id, and the context before."""
        async with self.reading() as tx:
            thread_id = None if thread is None else await self.thread_id(tx, thread)
            if since is None:
                return thread, thread_id, None
            since_id, of_thread = await self._found(tx, since, "since")
            shown = await contexts.show(tx, since_id)
        if thread_id is not None and of_thread != thread_id:
            raise InvalidInput("since", f"is a context of another conversation than {thread}")
        return (shown[0].thread if shown else None), of_thread, since_id

    async def _found(self, tx: Transaction, identifier: str | UUID, field: str) -> tuple[UUID, UUID | None]:
        """A context's id, and that of its thread."""
        found = await found_by_id(
            identifier, "context", lambda digits: contexts.find(tx, digits), field=field
        )
        if (shown := await contexts.show(tx, found)) is None:
            raise NotFound(f"There is no context {identifier} in the workspace {self.name}.")
        return found, shown[1]

    async def _recalled(self, question: str, now: datetime, budget: int, slots: Mapping[str, int]) -> Recall:
        from everlore.recall.recall import Ask, recall

        least, most = _DEPTH
        depth = min(max(budget // _TOKENS_A_MESSAGE, least), most, max(slots.get("messages", 0), 1))
        ask = Ask(
            question=question,
            now=now,
            limit=depth,
            within=Filter(),
            project=None,
            taxonomy=None,
            neighbours=0,
            deadline_ms=None,
            trace=False,
            kinds=KINDS,
            memories=slots.get("memories", 0),
            facts=slots.get("facts", 0),
        )
        runtime = self.runtime
        return await recall(
            runtime.database,
            await self.found(),
            ask,
            embedders=runtime.embedders,
            reranker=runtime.reranker,
            settings=runtime.settings.recall,
        )

    def _note_uses(self, workspace_id: UUID, made: Context, now: datetime) -> None:
        """Each memory that was given counts as used, once."""
        items = [*(made.head.items if made.head else ()), *made.tail.items]
        versions = {
            item.version
            for item in items
            if item.kind == "memory" and item.version and item.number is not None
        }
        self.directory.uses.note(workspace_id, [Use(version, 1, now) for version in versions])


def _text_of(message: Any, place: int) -> tuple[str, str]:
    """Role and text of a message that the reader has. Raises InvalidInput."""
    field = f"messages[{place}]"
    if isinstance(message, str):
        return "user", valid_text(message, field, MAX_TEXT_BYTES)
    if not isinstance(message, Mapping):
        raise InvalidInput(field, "must be text, or an object with role and text")
    known = cast("Mapping[str, Any]", message)
    role, text = known.get("role", "user"), known.get("text", known.get("content")) or ""
    if isinstance(text, list):  # parts, as providers have them: pictures and calls of tools have no words
        parts = cast("list[Any]", text)
        said = [cast("Mapping[str, Any]", one).get("text") for one in parts if isinstance(one, Mapping)]
        text = "\n".join(one for one in said if isinstance(one, str))
    if not isinstance(role, str) or not isinstance(text, str):
        raise InvalidInput(field, "must have a role and a text that are text")
    return role, valid_text(text, f"{field}.text", MAX_TEXT_BYTES)


def _asked(query: str | None, given: Sequence[tuple[str, str]]) -> list[str]:
    """What is asked for: the question, else the last messages of the person, the latest first."""
    if query is not None:
        return [query]
    texts = [text[-MAX_QUESTION_CHARACTERS:] for role, text in given if role == "user" and text.strip()]
    return texts[: -_QUERIES - 1 : -1]


def _logged(row: ItemRow) -> LoggedItem:
    kind = "message" if row.message_id else "memory" if row.memory_id else "fact" if row.fact_id else "text"
    return LoggedItem(
        part=cast("Part", row.part),
        slot=row.slot,
        kind=kind,
        number=row.number,
        id=row.message_id or row.lineage_id or row.fact_id,
        version=row.memory_id or row.fact_version,
        tokens=row.tokens,
    )
