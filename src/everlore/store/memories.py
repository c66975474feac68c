"""Memories: versions of what is remembered, and where each was said."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from psycopg.types.json import Jsonb

from everlore.domain.errors import InternalError
from everlore.domain.ids import new_id, new_ids
from everlore.domain.memories import AsOf, Memory, Source
from everlore.store.queries import queries
from everlore.store.run import Transaction

_QUERIES = queries("memories")
_FIELDS = [field.name for field in fields(Memory)]


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A first version to be written; `memory_id` is its lineage, too."""

    memory_id: UUID
    type: str
    content: str
    content_hash: bytes
    category: str | None
    tags: Sequence[str]
    importance: float
    confidence: float
    valid_from: datetime
    valid_to: datetime | None
    superseded_by: UUID | None
    event_at: datetime | None
    expires_at: datetime | None
    pinned: bool
    source_kind: str
    review: str | None
    review_reason: str | None
    author: str | None
    role: str | None
    thread_id: UUID | None
    first_position: int | None
    taxonomy: str | None
    reasoning: str | None
    extractor: str | None
    extractor_version: str | None
    tier: str = "shown"


@dataclass(frozen=True, slots=True)
class NewSource:
    """Characters `start` to `end` of a message's text, which are `quote`; none of them for what a person told directly."""

    message_id: UUID | None
    start: int | None
    end: int | None
    confidence: float
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """What a list of memories is limited to."""

    types: Sequence[str] | None = None
    status: str | None = None
    entities: Sequence[UUID] | None = None
    text: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    thread_id: UUID | None = None
    taxonomy: str | None = None
    pinned: bool | None = None
    as_of: AsOf = field(default_factory=AsOf)
    include_expired: bool = False
    limit: int = 50
    after: Sequence[Any] | None = None


_CHANGEABLE = frozenset(
    {"type", "content", "content_hash", "category", "tags", "importance", "valid_from", "valid_to", "superseded_by",
     "event_at", "expires_at", "confirmed", "review", "review_reason", "forgotten_at", "passage_id", "thread_id",
     "first_position", "taxonomy"}
)  # fmt: skip
_LISTING = [field.name for field in fields(Listing)]


def memory_of(*, tags: Sequence[str], entities: Sequence[str], **columns: Any) -> Memory:
    """A memory from a row of the view `memory_shown`; columns beyond those of a memory are left out."""
    known = {name: columns[name] for name in _FIELDS if name in columns}
    return Memory(tags=tuple(tags), entities=tuple(entities), **known)


async def add_sources(
    tx: Transaction, lineage_id: UUID, sources: Sequence[NewSource], recorded_at: datetime
) -> int:
    """Sources that the memory does not have yet; returns how many those were."""
    # The same place once; what was told, each time.
    places = {
        (s.message_id, s.start, s.end) if s.message_id else (n, None, None): s for n, s in enumerate(sources)
    }
    if not places:
        return 0
    sources = list(places.values())
    return await tx.done(
        _QUERIES["add_sources"],
        ids=new_ids(len(sources)),
        lineage_id=lineage_id,
        messages=[source.message_id for source in sources],
        starts=[source.start for source in sources],
        ends=[source.end for source in sources],
        quotes=[source.quote for source in sources],
        confidences=[source.confidence for source in sources],
        recorded_at=recorded_at,
    )


async def set_confidence(tx: Transaction, lineage_id: UUID, confidence: float, importance: float) -> None:
    await tx.done(
        _QUERIES["set_confidence"], lineage_id=lineage_id, confidence=confidence, importance=importance
    )


async def new_version(
    tx: Transaction,
    lineage_id: UUID,
    changes: Mapping[str, Any],
    recorded_at: datetime,
    *,
    memory_id: UUID | None = None,
) -> UUID:
    """Close the current version and write the next one with the named columns changed; returns its id.

    What may change: words, type, category, tags, importance, when it holds and expires, where it was first said, and what a
    person decided.
    """
    if unknown := changes.keys() - _CHANGEABLE:
        raise InternalError(f"a version of a memory cannot change {sorted(unknown)}")
    memory_id = memory_id or new_id()
    columns = {
        **{column: as_json(value) for column, value in changes.items()},
        "memory_id": str(memory_id),
        "recorded_at": recorded_at.isoformat(),
    }
    await tx.done(_QUERIES["copy_version"], changes=Jsonb(columns), lineage_id=lineage_id)
    await tx.done(
        _QUERIES["close_version"], memory_id=memory_id, lineage_id=lineage_id, recorded_at=recorded_at
    )
    return memory_id


def as_json(value: Any) -> Any:
    """As Postgres reads it back into a column: times in ISO form, bytes in hexadecimal."""
    match value:
        case datetime():
            return value.isoformat()
        case bytes():
            return f"\\x{value.hex()}"
        case UUID():
            return str(value)
        case tuple():
            return list(cast("tuple[Any, ...]", value))
        case _:
            return value


async def set_pinned(tx: Transaction, memory_id: UUID, *, pinned: bool) -> None:
    await tx.done(_QUERIES["set_pinned"], memory_id=memory_id, pinned=pinned)


async def current(tx: Transaction, lineage_id: UUID) -> Memory | None:
    return await tx.row(_QUERIES["current"], memory_of, lineage_id=lineage_id)


async def show(tx: Transaction, memory_id: UUID) -> Memory | None:
    return await tx.row(_QUERIES["show"], memory_of, memory_id=memory_id)


async def find(tx: Transaction, ending: str) -> list[UUID]:
    """Up to two memories whose id ends so."""
    return await tx.values(_QUERIES["find"], ending=ending)


async def versions(tx: Transaction, lineage_id: UUID) -> list[Memory]:
    """All versions, the first one first."""
    return await tx.rows(_QUERIES["versions"], memory_of, lineage_id=lineage_id)


async def sources(
    tx: Transaction, lineages: Collection[UUID], recorded_at: datetime | None
) -> dict[UUID, list[Source]]:
    """Where memories were said, in order of time; those that counted at `recorded_at` (None: now)."""
    found: dict[UUID, list[Source]] = {}
    if lineages:
        for lineage_id, source in await tx.rows(
            _QUERIES["sources"], _of_lineage, lineages=list(lineages), recorded_at=recorded_at
        ):
            found.setdefault(lineage_id, []).append(source)
    return found


def _of_lineage(*, lineage_id: UUID, **columns: Any) -> tuple[UUID, Source]:
    return lineage_id, Source(**columns)


def with_passage(*, passage_id: Any, **columns: Any) -> tuple[Any, Memory]:
    """A memory with the number of the passage that its words stand in."""
    return passage_id, memory_of(**columns)


async def recent(
    tx: Transaction, thread_id: UUID | None, entities: Sequence[UUID], said_at: datetime, at_most: int
) -> list[Memory]:
    """What is known already and may be spoken of again: the latest of the thread, and of the named entities those
    that held when it was said."""
    return await tx.rows(
        _QUERIES["recent"],
        memory_of,
        thread_id=thread_id,
        entities=list(entities),
        said_at=said_at,
        at_most=at_most,
    )


def _counted(*, total: int, **columns: Any) -> tuple[int, Memory]:
    return total, memory_of(**columns)


async def listed(tx: Transaction, what: Listing, now: datetime) -> tuple[list[Memory], int]:
    """Memories that pass and come after the key (`valid_from`, id), the latest first; and how many pass in all."""
    parameters = {name: getattr(what, name) for name in _LISTING if name not in {"as_of", "after"}}
    parameters["after_at"], parameters["after_id"] = what.after or (None, None)
    parameters |= {
        "valid_at": what.as_of.valid_at or (what.as_of.recorded_at or now),
        "recorded_at": what.as_of.recorded_at,
        "history": what.as_of.valid_at is not None or what.as_of.recorded_at is not None,
        "now": now,
        "types": None if what.types is None else list(what.types),
        "entities": None if what.entities is None else list(what.entities),
    }
    found = await tx.rows(_QUERIES["listed"], _counted, **parameters)
    if not found and what.after is not None:
        return [], (await listed(tx, replace(what, after=None, limit=1), now))[1]
    return [memory for _, memory in found], found[0][0] if found else 0


async def without_sources(tx: Transaction, lineages: Sequence[UUID]) -> list[Memory]:
    """Of these the current extracted ones that no source supports any more and no person confirmed or pinned."""
    if not lineages:
        return []
    return await tx.rows(_QUERIES["without_sources"], memory_of, lineages=list(lineages))


async def old_keys(tx: Transaction, now: datetime, at_most: int) -> list[UUID]:
    """Keys that nobody said again in time, so many at most."""
    return await tx.values(_QUERIES["old_keys"], now=now, at_most=at_most)


async def delete_keys(tx: Transaction, lineages: Sequence[UUID]) -> None:
    """Keys with all that hangs on them. Their passages have gone."""
    await tx.done(_QUERIES["delete_keys"], lineages=list(lineages))


async def link_entities(tx: Transaction, lineage_id: UUID, entities: Sequence[UUID]) -> None:
    """Note that a memory speaks of these entities."""
    if entities:
        await tx.done(_QUERIES["link_entities"], lineage_id=lineage_id, entities=list(entities))


async def unlink_entities(tx: Transaction, lineage_id: UUID) -> list[UUID]:
    """The memory speaks of nobody any more; returns of whom it did."""
    return await tx.values(_QUERIES["unlink_entities"], lineage_id=lineage_id)


async def set_passages(tx: Transaction, passages: Mapping[UUID, int]) -> None:
    """Where the words of these versions are indexed."""
    if passages:
        await tx.done(_QUERIES["set_passages"], ids=list(passages), passages=list(passages.values()))
