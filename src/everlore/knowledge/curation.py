"""What a person tells or decides directly: remember, correct, pin, forget, restore, confirm, reject.

A person's word counts more than what was read: it is confirmed, it stays when messages are read anew, and what it rejects does
not come back. Every change is a new version; only pins are set in place. Facts follow their memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import isclose
from typing import Any
from uuid import UUID

from everlore.config import AliasSettings
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.ids import short_id
from everlore.domain.memories import Memory, MemoryType
from everlore.index.embedding import vectors_by_text
from everlore.knowledge.batch import BatchContext, Incoming
from everlore.knowledge.deduplication import REJECTED_BY_HAND, expiry, in_search
from everlore.knowledge.drafts import Checked, fact_text, statements_of
from everlore.knowledge.entity_linking import resolve
from everlore.knowledge.entity_mentions import called_in
from everlore.knowledge.similarity import content_hash, thresholds_of
from everlore.knowledge.supersession import Group, group_of
from everlore.knowledge.write import PlacedStatement, write
from everlore.ports.analyst import DraftEntity, Extraction, Quote, Window, WindowMessage
from everlore.ports.embedder import EncodedPassage
from everlore.runtime import Runtime
from everlore.store import conversation, deduplication, distilling, facts, index, memories, passages
from everlore.store.entities import delete_unspoken, surviving
from everlore.store.memories import NewSource
from everlore.store.passages import NewPassage
from everlore.store.run import Transaction

# How sure a person's own word is.
CONFIDENCE = 0.95
IMPORTANCE = 0.7
USER = "user"


@dataclass(frozen=True, slots=True)
class Told:
    """A memory as a person gives it, checked already. `at`: since when it is true. `entities`: names, or ids of known ones."""

    content: str
    type: MemoryType
    at: datetime
    category: str | None = None
    tags: tuple[str, ...] = ()
    importance: float = IMPORTANCE
    event_at: datetime | None = None
    expires_at: datetime | None = None
    pinned: bool = False
    author: str = USER
    entities: tuple[str, ...] = ()


class _NoCalls:
    """The governor of a reader that asks no model."""

    async def allow(self, model: str) -> None:
        raise NotImplementedError(model)

    async def report(self, call: object) -> None:
        raise NotImplementedError


async def remember(runtime: Runtime, workspace_id: UUID, told: Told) -> tuple[Memory, str]:
    """Keep a memory. What is known in the same words, or nearly, is corroborated instead. Returns it and what became of it."""
    now = runtime.clock()
    model, encode = await _encoder(runtime, workspace_id)
    extraction = await _read(runtime, told.content, told.author, told.at)
    texts = [in_search(told.author, USER, told.content), *map(fact_text, extraction.facts)]
    vectors = await encode(texts)
    async with runtime.database.workspace(workspace_id) as tx:
        await distilling.lock_workspace(tx)
        window = _window(told.content, told.author, told.at)
        statements, entities = await _resolved(tx, runtime, now, window, extraction, told.entities)
        incoming = Incoming(
            type=told.type,
            content=told.content,
            author=told.author,
            role=USER,
            said_at=told.at,
            sources=(NewSource(None, None, None, CONFIDENCE),),
            category=told.category,
            tags=told.tags,
            importance=told.importance,
            confidence=CONFIDENCE,
            entities=entities,
            event_at=told.event_at,
            expires_at=told.expires_at,
            pinned=told.pinned,
            source_kind="by hand",
            vector=vectors.get(texts[0]),
        )
        written = await write(tx, [incoming], statements, _run(runtime, model, now), vectors=vectors)
        outcome = written.memories[0]
        memory = await memories.current(tx, _known(outcome.lineage_id))
        await conversation.audit(tx, "remember", str(outcome.lineage_id), outcome=outcome.what)
        return _known(memory), outcome.what


async def correct(
    runtime: Runtime, workspace_id: UUID, memory_id: UUID, changes: Mapping[str, Any]
) -> Memory:
    """A new version with other content, type, category, tags, importance or expiry; `changes` is checked already. What changes
    nothing writes nothing: the memory stays as it is, unconfirmed or waiting.

    New words are read anew: what the old ones stated was never true, the new ones hold from when the old ones were said.
    """
    now = runtime.clock()
    model, encode = await _encoder(runtime, workspace_id)
    before = await _shown(runtime, workspace_id, memory_id)
    content = str(changes.get("content", before.content))
    author = before.author or USER
    extraction = await _read(runtime, content, author, before.valid_from)
    text = in_search(author, before.role or USER, content)
    vectors = await encode([text, *map(fact_text, extraction.facts)])
    async with runtime.database.workspace(workspace_id) as tx:
        memory = await _locked(tx, memory_id)
        changes = _really_changed(memory, changes)
        if not changes:
            return memory
        columns: dict[str, Any] = {**changes, "confirmed": True, "review": None, "review_reason": None}
        if "type" in changes and "expires_at" not in changes:
            columns["expires_at"] = expiry(changes["type"], memory.valid_from, memory.event_at, None)
        # What waited was never in use: it is taken into it now, as it was or in other words.
        taken_in = content != memory.content or memory.review is not None
        if content != memory.content:
            digest = content_hash(memory.author, content)
            await _require_new(tx, digest, memory.lineage_id)
            columns |= {"content_hash": digest, "passage_id": None}
        version = await memories.new_version(tx, memory.lineage_id, columns, now)
        await memories.add_sources(tx, memory.lineage_id, [NewSource(None, None, None, CONFIDENCE)], now)
        await memories.set_confidence(tx, memory.lineage_id, CONFIDENCE, memory.importance)
        if taken_in:
            passage = NewPassage(
                "memory",
                version,
                memory.lineage_id,
                text,
                memory.author,
                memory.role,
                memory.valid_from,
                memory.taxonomy,
            )
            encoded = vectors.get(text)
            given = {model[0]: [encoded]} if model is not None and encoded is not None else None
            (number,) = await passages.insert(tx, "known", [passage], given)
            await memories.set_passages(tx, {version: number})
            groups = await _retracted(tx, memory.lineage_id, now)
            window = _window(content, author, before.valid_from)
            statements, entities = await _resolved(tx, runtime, now, window, extraction, ())
            # New words may speak of others.
            before_that = await memories.unlink_entities(tx, memory.lineage_id)
            await memories.link_entities(tx, memory.lineage_id, entities)
            await _state(tx, _run(runtime, model, now), statements, memory.lineage_id, vectors, groups)
            await delete_unspoken(tx, before_that)
        await conversation.audit(tx, "correct memory", str(memory.lineage_id), fields=sorted(changes))
        return _known(await memories.current(tx, memory.lineage_id))


def _really_changed(memory: Memory, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Those changes after which the memory is another. The database keeps importance as a float of 4 bytes."""

    def same(field: str, given: Any) -> bool:
        is_ = getattr(memory, field)
        return isclose(is_, given, rel_tol=1e-6) if field == "importance" else is_ == given

    given = {**changes, "tags": tuple(changes["tags"])} if "tags" in changes else changes
    return {field: changes[field] for field in changes if not same(field, given[field])}


async def _require_new(tx: Transaction, digest: bytes, lineage_id: UUID) -> None:
    """Raises InvalidInput where another memory in use says just that: one thing would be known twice."""
    for one in await deduplication.in_same_words(tx, digest):
        in_use = one.review is None and one.forgotten_at is None and one.valid_to is None
        if in_use and one.tier == "shown" and one.lineage_id != lineage_id:
            known = short_id(one.lineage_id)
            raise InvalidInput(
                "content", f"is what the memory {known} says already; forget or reject this one instead"
            )


async def pin(runtime: Runtime, workspace_id: UUID, memory_id: UUID, *, pinned: bool) -> Memory:
    """Always in context, or no longer."""
    async with runtime.database.workspace(workspace_id) as tx:
        memory = await _locked(tx, memory_id)
        await memories.set_pinned(tx, memory.memory_id, pinned=pinned)
        await conversation.audit(tx, "pin memory" if pinned else "unpin memory", str(memory.lineage_id))
        return _known(await memories.current(tx, memory.lineage_id))


async def forget(runtime: Runtime, workspace_id: UUID, memory_id: UUID) -> Memory:
    """Out of every answer, with the facts that only it states; `restore` brings it back. It is not distilled again."""
    now = runtime.clock()
    async with runtime.database.workspace(workspace_id) as tx:
        memory = await _locked(tx, memory_id)
        if memory.forgotten_at is None:
            await memories.new_version(tx, memory.lineage_id, {"forgotten_at": now}, now)
            groups = await _retracted(tx, memory.lineage_id, now)
            await _state(tx, _run(runtime, None, now), [], memory.lineage_id, {}, groups)
            await conversation.audit(tx, "forget memory", str(memory.lineage_id))
        return _known(await memories.current(tx, memory.lineage_id))


async def restore(runtime: Runtime, workspace_id: UUID, memory_id: UUID) -> Memory:
    """Undo `forget`."""
    now = runtime.clock()
    async with runtime.database.workspace(workspace_id) as tx:
        memory = await _locked(tx, memory_id)
        if memory.forgotten_at is not None:
            stated = await facts.restore_of_memory(tx, memory.lineage_id, memory.forgotten_at)
            await memories.new_version(tx, memory.lineage_id, {"forgotten_at": None}, now)
            groups = [group_of(*one) for one in stated]
            await _state(tx, _run(runtime, None, now), [], memory.lineage_id, {}, groups)
            await conversation.audit(tx, "restore memory", str(memory.lineage_id))
        return _known(await memories.current(tx, memory.lineage_id))


async def confirm(runtime: Runtime, workspace_id: UUID, memory_id: UUID) -> Memory:
    """It is so: out of review if it waits there, and sure. What it states becomes facts."""
    now = runtime.clock()
    model, encode = await _encoder(runtime, workspace_id)
    before = await _shown(runtime, workspace_id, memory_id)
    author = before.author or USER
    extraction = Extraction()
    if before.review is not None:
        extraction = await _read(runtime, before.content, author, before.valid_from)
    text = in_search(before.author, before.role, before.content)
    vectors = await encode([text, *map(fact_text, extraction.facts)])
    async with runtime.database.workspace(workspace_id) as tx:
        memory = await _locked(tx, memory_id)
        waited = memory.review is not None
        version = await memories.new_version(
            tx,
            memory.lineage_id,
            {"review": None, "review_reason": None, "confirmed": True},
            now,
        )
        await memories.set_confidence(tx, memory.lineage_id, max(memory.confidence, CONFIDENCE), 0)
        if waited:
            encoded = vectors.get(text)
            given = {model[0]: [encoded]} if model is not None and encoded is not None else None
            passage = NewPassage(
                "memory",
                version,
                memory.lineage_id,
                text,
                memory.author,
                memory.role,
                memory.valid_from,
                memory.taxonomy,
            )
            (number,) = await passages.insert(tx, "known", [passage], given)
            await memories.set_passages(tx, {version: number})
            window = _window(before.content, author, before.valid_from)
            statements, entities = await _resolved(tx, runtime, now, window, extraction, ())
            await memories.link_entities(tx, memory.lineage_id, entities)
            await _state(tx, _run(runtime, model, now), statements, memory.lineage_id, vectors, [])
        await conversation.audit(tx, "confirm memory", str(memory.lineage_id))
        return _known(await memories.current(tx, memory.lineage_id))


async def reject(runtime: Runtime, workspace_id: UUID, memory_id: UUID) -> Memory:
    """It is not so: never recalled, never distilled again; it stays visible among what was rejected."""
    now = runtime.clock()
    async with runtime.database.workspace(workspace_id) as tx:
        memory = await _locked(tx, memory_id)
        await memories.new_version(
            tx,
            memory.lineage_id,
            {"review": "rejected", "review_reason": REJECTED_BY_HAND, "confirmed": False},
            now,
        )
        groups = await _retracted(tx, memory.lineage_id, now)
        await _state(tx, _run(runtime, None, now), [], memory.lineage_id, {}, groups)
        await conversation.audit(tx, "reject memory", str(memory.lineage_id))
        return _known(await memories.current(tx, memory.lineage_id))


async def decide_fact(runtime: Runtime, workspace_id: UUID, fact_id: UUID, *, right: bool) -> None:
    """A person's word on a fact: sure from now on, or never true and not to be stated again. Raises NotFound."""
    now = runtime.clock()
    async with runtime.database.workspace(workspace_id) as tx:
        await distilling.lock_workspace(tx)
        named = await facts.show(tx, fact_id)
        if named is None:
            raise NotFound(f"There is no fact {fact_id}.")
        fact = (await facts.versions(tx, named.lineage_id))[-1]
        decided: dict[str, Any] = {"confirmed": right, "review": None, "review_reason": None}
        if not right:
            never = {"valid_to": fact.valid_from.isoformat(), "review": "rejected"}
            decided |= {**never, "review_reason": REJECTED_BY_HAND}
        await facts.new_version(tx, fact.lineage_id, decided, now)
        if right:
            await facts.set_statement_confidence(tx, fact.lineage_id, 0.99)
        key = await facts.object_key(tx, fact_id)
        group = group_of(fact.subject_id, fact.predicate, key)
        await write(tx, [], [], _run(runtime, None, now), vectors={}, touched=[group])
        await conversation.audit(tx, "confirm fact" if right else "reject fact", str(fact.lineage_id))


# --- shared ------------------------------------------------------------------------------------------------


def _known(value: Any) -> Any:
    if value is None:
        raise InvalidInput(
            "content", "was rejected by hand before, in the same words; restore or confirm that one"
        )
    return value


async def _encoder(runtime: Runtime, workspace_id: UUID) -> tuple[tuple[int, str] | None, Any]:
    """The embedding model in use, and a function that encodes texts with it; nothing where there is none."""
    async with runtime.database.workspace(workspace_id, read_only=True) as tx:
        in_use = await index.model_in_use(tx)
    embedder = None if in_use is None else runtime.embedders.get(in_use.model.name)

    async def encode(texts: Sequence[str]) -> dict[str, EncodedPassage]:
        if embedder is None:
            return {}
        return await vectors_by_text(embedder, list(texts))

    return (None if in_use is None else (in_use.model.model_id, in_use.model.name)), encode


def _window(content: str, author: str, at: datetime) -> Window:
    return Window((WindowMessage(1, USER, author, at, content),))


async def _read(runtime: Runtime, content: str, author: str, at: datetime) -> Extraction:
    if runtime.sentence_analyst is None:
        return Extraction()
    return await runtime.sentence_analyst.extract(_window(content, author, at), _NoCalls())


async def _resolved(
    tx: Transaction,
    runtime: Runtime,
    now: datetime,
    window: Window,
    extraction: Extraction,
    named: Sequence[str],
) -> tuple[list[PlacedStatement], tuple[UUID, ...]]:
    """Statements of what was told, and the entities that it names; known ones also where the reader finds no statement."""
    quote = (Quote(1, window.messages[0].text),)
    ids = {name: found for name in named if (found := _id_in(name)) is not None}
    known = {name: await _entity(tx, found) for name, found in ids.items()}
    called = await called_in(tx, quote[0].text, runtime.settings.aliases)
    names = [
        *(name for name in named if name not in ids),
        *_beside(called, extraction, runtime.settings.aliases),
    ]
    given = [DraftEntity(name, "other", quote) for name in names]
    sure = replace(
        extraction,
        facts=tuple(replace(fact, confidence=CONFIDENCE, memory=0) for fact in extraction.facts),
        entities=(*extraction.entities, *given),
    )
    resolution = await resolve(tx, window, sure, {}, now, runtime.settings.aliases)
    messages = {message.number: message for message in window.messages}
    statements = statements_of(Checked(sure, (), {}), messages, {}, resolution)
    found = [resolution.of(entity.name, [1]) for entity in sure.entities]
    return statements, tuple(dict.fromkeys(one for one in (*found, *known.values()) if one is not None))


def _id_in(name: str) -> UUID | None:
    try:
        return UUID(name) if len(name.replace("-", "")) == 32 else None
    except ValueError:
        return None


async def _entity(tx: Transaction, entity_id: UUID) -> UUID:
    found = await surviving(tx, entity_id)
    if found is None:
        raise NotFound(f"There is no entity {entity_id}.")
    return found


def _beside(called: Sequence[str], extraction: Extraction, linking: AliasSettings) -> list[str]:
    """The names that the reader did not find, nor as a part of another: the Emma of "Emma Kaya" is no other Emma."""
    drafted = [told for one in extraction.entities for told in (one.name, *one.aliases)]
    stated = [fact.subject for fact in extraction.facts]
    stated += [fact.object for fact in extraction.facts if fact.object_is_entity]
    read = {linking.key(told) for told in drafted}
    longer = [set(linking.key(told).split()) for told in (*drafted, *stated)]
    keys = {name: linking.key(name) for name in called}
    return [
        name
        for name, key in keys.items()
        if key not in read and not any(set(key.split()) < w for w in longer)
    ]


def _run(runtime: Runtime, model: tuple[int, str] | None, now: datetime) -> BatchContext:
    return BatchContext(
        now=now,
        model_id=None if model is None else model[0],
        exact_below=runtime.settings.recall.exact_below,
        thresholds=thresholds_of(None if model is None else model[1]),
    )


async def _retracted(tx: Transaction, lineage_id: UUID, now: datetime) -> list[Group]:
    """What the memory stated no longer counts; the groups of facts that this touches."""
    return [group_of(*one) for one in await facts.retract_of_memory(tx, lineage_id, now)]


async def _state(
    tx: Transaction,
    run: BatchContext,
    statements: Sequence[PlacedStatement],
    lineage_id: UUID,
    vectors: Mapping[str, EncodedPassage],
    touched: Sequence[Group],
) -> None:
    """Enter statements that a memory which stands already makes."""
    mine = [PlacedStatement(replace(one.stated, memory_lineage_id=lineage_id), None) for one in statements]
    await write(tx, [], mine, run, vectors=vectors, touched=touched)


async def _shown(runtime: Runtime, workspace_id: UUID, memory_id: UUID) -> Memory:
    async with runtime.database.workspace(workspace_id, read_only=True) as tx:
        found = await memories.show(tx, memory_id)
        current = None if found is None else await memories.current(tx, found.lineage_id)
    return _not_a_key(memory_id, current)


def _not_a_key(memory_id: UUID, memory: Memory | None) -> Memory:
    if memory is None:
        raise NotFound(f"There is no memory {memory_id}.")
    if memory.tier == "key":
        raise InvalidInput(
            "memory", "is a key, which only helps recall and goes by itself; it can be shown and erased only"
        )
    return memory


async def _locked(tx: Transaction, memory_id: UUID) -> Memory:
    """The current version of the memory that any of its versions names, under the workspace's lock."""
    await distilling.lock_workspace(tx)
    found = await memories.show(tx, memory_id)
    return _not_a_key(memory_id, None if found is None else await memories.current(tx, found.lineage_id))
