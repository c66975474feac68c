"""What a batch of memories is held against, loaded at once, and what comes of it, written at once."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import kwargs_row
from psycopg.types.json import Jsonb

from everlore.domain.ids import new_ids
from everlore.domain.memories import Memory
from everlore.store import facts, memories
from everlore.store.facts import Expressed
from everlore.store.memories import NewMemory, NewSource, as_json, memory_of
from everlore.store.queries import queries
from everlore.store.run import Transaction

_QUERIES = queries("deduplication")
_NEW = [field.name for field in fields(NewMemory)]


@dataclass(slots=True)
class StoredMemory:
    """A memory as it is believed now. `sources`: those that count."""

    memory: Memory
    content_hash: bytes
    passage_id: int | None
    sources: list[NewSource] = field(default_factory=list[NewSource])


@dataclass(frozen=True, slots=True)
class Reworded:
    """A person gave a memory other words (`given_hash`) than those that were read in a message (`read_hash`)."""

    message_id: UUID
    lineage_id: UUID
    given_hash: bytes
    read_hash: bytes


@dataclass(slots=True)
class Changes:
    """What comes of a batch. `versions` are applied in their order. `kept`: keys that were said again; `gone`: keys that
    have given way, which whoever sends this takes away."""

    memories: list[NewMemory] = field(default_factory=list[NewMemory])
    sources: list[tuple[UUID, NewSource]] = field(default_factory=list[tuple[UUID, NewSource]])
    links: list[tuple[UUID, UUID]] = field(default_factory=list[tuple[UUID, UUID]])
    versions: list["Version | Confidence"] = field(default_factory=list["Version | Confidence"])
    kept: list[UUID] = field(default_factory=list[UUID])
    gone: list[UUID] = field(default_factory=list[UUID])


@dataclass(frozen=True, slots=True)
class Version:
    """The next version of a memory: what is different in it."""

    lineage_id: UUID
    memory_id: UUID
    columns: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure the current version of a memory is, and how important at least."""

    lineage_id: UUID
    confidence: float
    importance: float


def _known_of(*, content_hash: bytes, passage_id: int | None, **columns: Any) -> StoredMemory:
    return StoredMemory(memory_of(**columns), bytes(content_hash), passage_id)


@dataclass(frozen=True, slots=True)
class Recent:
    """The latest current memories of a thread, and of entities, the latest first."""

    of_thread: Sequence[StoredMemory] = ()
    of_entities: Mapping[UUID, Sequence[StoredMemory]] = field(
        default_factory=dict[UUID, Sequence[StoredMemory]]
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """What a batch asks for: words, lineages, messages that are read again, and what is recent in a thread and of entities."""

    hashes: Collection[bytes]
    lineages: Collection[UUID]
    read_again: Collection[UUID] = ()
    thread_id: UUID | None = None
    entities: Collection[UUID] = ()
    at_most: int = 0


async def look_up(tx: Transaction, asked: Asked) -> tuple[list[StoredMemory], list[Reworded], Recent]:
    """Current memories with these words or of these lineages, forgotten and rejected ones included; what a person gave other
    words to; and at most so many recent ones of the thread and of each entity."""
    limit = asked.at_most
    async with tx.pipeline():
        same = await tx.sent(_QUERIES["same_words"], kwargs_row(_known_of), hashes=list(asked.hashes))
        named = await tx.sent(_QUERIES["current"], kwargs_row(_known_of), lineages=list(asked.lineages))
        changed = await tx.sent(_QUERIES["reworded"], kwargs_row(Reworded), messages=list(asked.read_again))
        mine = await tx.sent(
            _QUERIES["recent_of_thread"], kwargs_row(_known_of), thread_id=asked.thread_id, at_most=limit
        )
        others = await tx.sent(
            _QUERIES["recent_of_entities"],
            kwargs_row(_of_entity),
            entities=list(asked.entities),
            at_most=limit,
        )
    found: dict[UUID, list[StoredMemory]] = {}
    for entity_id, one in await others.fetchall():
        found.setdefault(entity_id, []).append(one)
    known = [*await same.fetchall(), *await named.fetchall()]
    return known, await changed.fetchall(), Recent(await mine.fetchall(), found)


async def in_same_words(tx: Transaction, digest: bytes) -> list[Memory]:
    """The current memories of the same words and author, forgotten and rejected ones included."""
    found = await tx.rows(_QUERIES["same_words"], _known_of, hashes=[digest])
    return [one.memory for one in found]


def _of_entity(*, entity_id: UUID, **columns: Any) -> tuple[UUID, StoredMemory]:
    return entity_id, _known_of(**columns)


async def with_sources(
    tx: Transaction,
    known: Collection[StoredMemory],
    lineages: Collection[UUID] = (),
    passages: Collection[int] = (),
) -> dict[UUID, StoredMemory]:
    """These memories, those of the lineages, and those whose words stand in the passages, as they are believed now; by lineage,
    with their sources."""
    found = {one.memory.lineage_id: one for one in known}
    asked = [*found, *lineages]
    async with tx.pipeline():
        named = await tx.sent(_QUERIES["current"], kwargs_row(_known_of), lineages=list(lineages))
        there = await tx.sent(_QUERIES["by_passages"], kwargs_row(_known_of), passages=list(passages))
        sources = await tx.sent(
            _QUERIES["sources"], kwargs_row(_source_of), lineages=asked, passages=list(passages)
        )
    for one in (*await named.fetchall(), *await there.fetchall()):
        found.setdefault(one.memory.lineage_id, one)
    for lineage_id, source in await sources.fetchall():
        if lineage_id in found:
            found[lineage_id].sources.append(source)
    return found


def _source_of(*, lineage_id: UUID, **columns: Any) -> tuple[UUID, NewSource]:
    return lineage_id, NewSource(**columns)


async def affected(
    tx: Transaction, lineages: Collection[UUID], unknown: Collection[UUID]
) -> tuple[list[Expressed], dict[UUID, StoredMemory]]:
    """What memories state, and those of them that were not loaded yet, without their sources."""
    async with tx.pipeline():
        stated = await facts.send_expressed(tx, lineages)
        named = await tx.sent(_QUERIES["current"], kwargs_row(_known_of), lineages=list(unknown))
    return await stated.fetchall(), {one.memory.lineage_id: one for one in await named.fetchall()}


async def send(tx: Transaction, changes: Changes, now: datetime, keys_until: datetime) -> None:
    """Write what came of a batch; for a pipeline. `keys_until`: keys that were said again are kept until then."""
    if changes.memories:
        rows = [{name: as_json(getattr(one, name)) for name in _NEW} for one in changes.memories]
        await tx.done(_QUERIES["insert_memories"], memories=Jsonb(rows), now=now)
    if changes.sources:
        ids = new_ids(len(changes.sources))
        sources = [
            {
                "source_id": str(source_id),
                "lineage_id": str(lineage_id),
                "message_id": as_json(source.message_id),
                "start_at": source.start,
                "end_at": source.end,
                "quote": source.quote,
                "confidence": source.confidence,
            }
            for source_id, (lineage_id, source) in zip(ids, changes.sources, strict=True)
        ]
        await tx.done(_QUERIES["insert_sources"], sources=Jsonb(sources), now=now)
    for one in changes.versions:
        if isinstance(one, Version):
            await memories.new_version(tx, one.lineage_id, one.columns, now, memory_id=one.memory_id)
        else:
            await memories.set_confidence(tx, one.lineage_id, one.confidence, one.importance)
    if changes.kept:
        await tx.done(_QUERIES["keep_keys"], lineages=changes.kept, until=keys_until)
    if changes.links:
        await tx.done(
            _QUERIES["link_entities"],
            lineages=[lineage_id for lineage_id, _ in changes.links],
            entities=[entity_id for _, entity_id in changes.links],
        )
