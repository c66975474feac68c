"""How a thread is read: a window of it becomes memories, facts and entities. Load reads, think asks the analyst and holds no tx,
commit writes everything at once: results, their sources, and how far the thread has come.

A run that is killed leaves nothing behind, one that finds its window done by somebody else writes nothing. A failing model
is never "nothing found": the window is noted as failed, where a person sees it and has it read again, and what follows goes on.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

from everlore.budget import SpendGovernor
from everlore.distil.input_filter import RawMessage, readable
from everlore.distil.windows import WINDOW, last_of_window
from everlore.domain.errors import BadAnswer, InternalError
from everlore.index.embedding import vectors_by_text
from everlore.knowledge import withdrawal
from everlore.knowledge.batch import BatchContext
from everlore.knowledge.drafts import Checked, checked, incoming_of, statements_of
from everlore.knowledge.entity_linking import resolve
from everlore.knowledge.entity_mentions import known_ids, known_names
from everlore.knowledge.similarity import thresholds_of
from everlore.knowledge.withdrawal import Retracted
from everlore.knowledge.write import close_unsupported, write
from everlore.ports.analyst import Analyst, Extraction, KnownMemory, Window
from everlore.ports.embedder import EncodedPassage
from everlore.runtime import Runtime
from everlore.store import distilling, echoes, index, memories
from everlore.store.distilling import Distillation, SaidRow
from everlore.store.run import Transaction

log = logging.getLogger(__name__)

_KNOWN = 30
# Rules make nothing of what was said long ago; whether that was off the record is looked at all the same.
_RULES_LOOK_BACK = 20
# Rules look back for what a pronoun means, no further.
_CONTEXT_OF_RULES = 20


@dataclass(frozen=True, slots=True)
class _Task:
    """A window to read: what was loaded for it. `again`: it was read before."""

    first: int
    last: int
    again: bool
    said: tuple[SaidRow, ...]
    earlier: tuple[UUID, ...]
    window: Window
    known: tuple[UUID, ...]
    taxonomy: str | None
    model: tuple[int, str] | None


@dataclass(frozen=True, slots=True)
class _Thought:
    """What think came to: checked drafts, and vectors by text."""

    result: Checked
    vectors: Mapping[str, EncodedPassage]


async def distil_thread(
    runtime: Runtime,
    workspace_id: UUID,
    thread_id: UUID,
    *,
    close: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> int:
    """Distil all windows of a thread that are closed (`close`: the last one, too, however short); returns how many.
    `progress` hears of messages read.

    Raises ModelUnavailable and SpendLimit when the analyst cannot be asked now: what was not read is read another time.
    """
    done = 0
    while (task := await _load(runtime, workspace_id, thread_id, close=close)) is not None:
        if task.again and await _withdrawn(runtime, workspace_id, thread_id, task):
            # It may have been among what is known.
            continue
        try:
            extraction = await _extraction(task, workspace_id, runtime)
        except BadAnswer as error:
            log.warning("thread %s, messages %d to %d: %s", thread_id, task.first, task.last, error)
            await _note_failure(runtime, workspace_id, thread_id, task, str(error))
        else:
            thought = await _think(runtime, workspace_id, task, extraction)
            await _commit(runtime, workspace_id, thread_id, task, thought)
        done += 1
        progress(task.last - task.first + 1)
    return done


def _analyst(runtime: Runtime) -> Analyst:
    if runtime.analyst is None:
        raise InternalError("A thread was to be distilled where nothing distils.")
    return runtime.analyst


# --- load --------------------------------------------------------------------------------------------------


async def _load(runtime: Runtime, workspace_id: UUID, thread_id: UUID, *, close: bool) -> _Task | None:
    """The next window: one that is to be read anew, else the one after those that were read."""
    async with runtime.database.workspace(workspace_id, read_only=True) as tx:
        mark = await distilling.mark(tx, thread_id)
        if mark is None:
            return None
        span = await distilling.asked_again(tx, thread_id)
        again = span is not None
        if span is None:
            first = mark.position + 1
            ahead = await distilling.said(tx, thread_id, first, first + WINDOW)
            now = runtime.clock()
            last = last_of_window(
                ahead,
                first,
                mark.written,
                now=now,
                silence=runtime.settings.distil.silence,
                close=close,
                settled=partial(mark.settled, now=now, settle=runtime.settings.distil.settle),
            )
            if last is None:
                return None
            span = (first, last)
            said = [message for message in ahead if message.position <= last]
        else:
            said = await distilling.said(tx, thread_id, *span)
        context = (
            runtime.settings.distil.context_messages
            if _analyst(runtime).model is not None
            else _CONTEXT_OF_RULES
        )
        earlier = await distilling.earlier(tx, thread_id, span[0], context)
        known = await _known(tx, thread_id, said, runtime)
        model = await index.model_in_use(tx)
        return _Task(
            first=span[0],
            last=span[1],
            again=again,
            said=tuple(said),
            earlier=tuple(message.message_id for message in earlier),
            window=await _window(tx, said, earlier, known, runtime),
            known=tuple(lineage for _, lineage in known),
            taxonomy=mark.taxonomy,
            model=None if model is None else (model.model.model_id, model.model.name),
        )


async def _known(
    tx: Transaction, thread_id: UUID, said: Sequence[SaidRow], runtime: Runtime
) -> list[tuple[KnownMemory, UUID]]:
    """Memories that the window may speak of again: of this thread, and of whom it names. (One that is to be read anew may have
    been erased since.)"""
    if not said:
        return []
    named = await known_ids(tx, [m.text for m in said] + [m.author for m in said], runtime.settings.aliases)
    found = await memories.recent(tx, thread_id, named, min(m.at for m in said), _KNOWN)
    newest = sorted(found, key=lambda memory: memory.valid_from, reverse=True)[:_KNOWN]
    return [
        (
            KnownMemory(number, memory.type, memory.content, memory.valid_from, memory.author),
            memory.lineage_id,
        )
        for number, memory in enumerate(newest, start=1)
    ]


async def _window(
    tx: Transaction,
    said: Sequence[SaidRow],
    earlier: Sequence[SaidRow],
    known: Sequence[tuple[KnownMemory, UUID]],
    runtime: Runtime,
) -> Window:
    before, here = [_said(m) for m in earlier], [_said(m) for m in said]
    echoed = await echoes.find(tx, [m.text for m in (*before, *here)])
    far = max(0, len(before) - _RULES_LOOK_BACK) if _analyst(runtime).model is None else 0
    return Window(
        messages=readable(here, echoed[len(before) :], before=before),
        earlier=readable(before[far:], echoed[far : len(before)], before=before[:far]),
        known=tuple(memory for memory, _ in known),
    )


def _said(row: SaidRow) -> RawMessage:
    return RawMessage(
        message_id=row.message_id,
        position=row.position,
        role=row.role,
        author=row.author,
        named=row.author != row.role,
        at=row.at,
        text=row.text,
        captions=row.captions,
        off_the_record=row.off_the_record,
        system_prompt=row.system_prompt,
    )


# --- think -------------------------------------------------------------------------------------------------


async def _extraction(task: _Task, workspace_id: UUID, runtime: Runtime) -> Extraction:
    """What the analyst drafts; nothing without a call where nothing may be read."""
    if not any(message.text.strip() or message.captions for message in task.window.messages):
        return Extraction()
    return await _analyst(runtime).extract(
        task.window, SpendGovernor(runtime.database, workspace_id, runtime.clock, runtime.settings.distil)
    )


async def _think(runtime: Runtime, workspace_id: UUID, task: _Task, extraction: Extraction) -> _Thought:
    names = [entity.name for entity in extraction.entities] + [
        name for fact in extraction.facts for name in (fact.subject, fact.object)
    ]
    names += [name for memory in extraction.memories for name in (*memory.entities, memory.content)]
    variants: Mapping[str, frozenset[str]] = {}
    if names:
        async with runtime.database.workspace(workspace_id, read_only=True) as tx:
            variants = (await known_names(tx, names, runtime.settings.aliases)).variants
    result = checked(task.window, extraction, variants)
    embedder = None if task.model is None else runtime.embedders.get(task.model[1])
    if embedder is None:
        return _Thought(result, {})
    texts = list(dict.fromkeys(result.texts(task.window)))
    return _Thought(result, await vectors_by_text(embedder, texts))


# --- commit ------------------------------------------------------------------------------------------------


async def _withdrawn(runtime: Runtime, workspace_id: UUID, thread_id: UUID, task: _Task) -> bool:
    """Before a window is read anew: what rests on messages that have left the path goes at once, however long an analyst
    takes, or fails. Returns whether there was anything."""
    async with runtime.database.workspace(workspace_id) as tx:
        await distilling.lock_workspace(tx)
        off_path = await distilling.off_path(tx, thread_id, task.first, task.last)
        return await withdrawal.withdraw(tx, off_path, _run(thread_id, task, runtime, runtime.clock()))


async def _commit(
    runtime: Runtime, workspace_id: UUID, thread_id: UUID, task: _Task, thought: _Thought
) -> None:
    async with runtime.database.workspace(workspace_id) as tx:
        if not await _still_to_do(tx, thread_id, task):
            return
        now = runtime.clock()
        if thought.result.nothing and not task.again:
            await _note(tx, thread_id, task, runtime, now, 0, 0, 0)
            return
        stored = dict(enumerate(task.said, start=1))
        ids = {number: message.message_id for number, message in stored.items()}
        result = thought.result
        # What was read in the window before does not count any more.
        said = [message.message_id for message in task.said]
        retracted = await withdrawal.retract(tx, said, now) if task.again else Retracted()
        resolution = await resolve(tx, task.window, result.extraction, ids, now, runtime.settings.aliases)
        run = _run(thread_id, task, runtime, now)
        messages = {message.number: message for message in task.window.messages}
        incoming = [
            incoming_of(draft, task.window, result.spans, stored, resolution, thought.vectors, task.known)
            for draft in result.drafts()
        ]
        statements = statements_of(result, messages, stored, resolution)
        written = await write(
            tx,
            incoming,
            statements,
            run,
            vectors=thought.vectors,
            touched=retracted.groups,
            retracted=retracted.lineages,
        )
        await close_unsupported(tx, retracted.lineages, now)
        # What is read anew asks for nothing more, else two windows could ask for each other for ever.
        anew = {*resolution.to_read_anew, *(() if task.again else written.to_read_anew)}
        if anew:
            await distilling.ask_for_messages(tx, sorted(anew), now)
        aside = sum(one.what in ("waiting", "dropped") for one in written.memories)
        kept = sum(one.what != "key" for one in written.memories) - aside
        async with tx.pipeline():
            if result.extraction.taxonomy is not None and task.taxonomy is None:
                await distilling.suggest_taxonomy(tx, thread_id, result.extraction.taxonomy, now)
            await _note(tx, thread_id, task, runtime, now, kept, len(statements), aside)


def _run(thread_id: UUID, task: _Task, runtime: Runtime, now: datetime) -> BatchContext:
    return BatchContext(
        now=now,
        thread_id=thread_id,
        first_position=task.first,
        taxonomy=task.taxonomy,
        extractor=_analyst(runtime).name,
        extractor_version=_analyst(runtime).version,
        model_id=None if task.model is None else task.model[0],
        exact_below=runtime.settings.recall.exact_below,
        thresholds=thresholds_of(None if task.model is None else task.model[1]),
        again=task.again,
        keys_kept=runtime.settings.distil.keys_kept,
    )


async def _still_to_do(tx: Transaction, thread_id: UUID, task: _Task) -> bool:
    """Takes the locks, then looks whether nobody else has read this window meanwhile."""
    await distilling.lock_workspace(tx)
    # Messages that were erased meanwhile, or left the path, may have lent words to any of the drafts; those that joined it were
    # not read: what the window says by now is read anew.
    said = [message.message_id for message in task.said]
    locked = await distilling.lock_window(
        tx, thread_id, task.first, task.last, said=said, earlier=task.earlier
    )
    if locked.position is None or not locked.unchanged:
        return False
    return locked.again if task.again else locked.position == task.first - 1


async def _note(
    tx: Transaction,
    thread_id: UUID,
    task: _Task,
    runtime: Runtime,
    now: datetime,
    kept: int,
    stated: int,
    rejected: int,
    error: str | None = None,
) -> None:
    done = Distillation(
        thread_id=thread_id,
        first=task.first,
        last=task.last,
        extractor=_analyst(runtime).name,
        extractor_version=_analyst(runtime).version,
        memories=kept,
        facts=stated,
        rejected=rejected,
        error=error,
    )
    await distilling.note(tx, done, now, again=task.again)
    if not task.again:
        await distilling.advance(tx, thread_id, task.last)


async def _note_failure(
    runtime: Runtime, workspace_id: UUID, thread_id: UUID, task: _Task, error: str
) -> None:
    """The window could not be read. What an earlier reading of it found stays as it is."""
    async with runtime.database.workspace(workspace_id) as tx:
        if not await _still_to_do(tx, thread_id, task):
            return
        now = runtime.clock()
        await _note(tx, thread_id, task, runtime, now, 0, 0, 0, error[:4000])
