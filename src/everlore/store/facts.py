"""Facts: versions of edges between entities, and every statement that they rest on."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, TypeAlias
from uuid import UUID

from everlore.domain.ids import new_id
from everlore.domain.memories import AsOf, Fact, Source
from everlore.store.queries import queries
from everlore.store.run import Transaction

_QUERIES = queries("facts")
_FIELDS = [field.name for field in fields(Fact)]


@dataclass(frozen=True, slots=True)
class Edge:
    """What a fact says, apart from when. `object_key` is what objects are compared by."""

    subject_id: UUID
    predicate: str
    object_id: UUID | None
    object: str
    object_key: str


@dataclass(frozen=True, slots=True)
class StatementRow:
    """One statement as it is stored; `lineage_id` is the fact that it counts for."""

    source_id: UUID
    lineage_id: UUID
    predicate: str
    object_key: str
    said_at: datetime
    valid_from: datetime | None
    ended: bool
    corrects: bool
    confidence: float
    message_id: UUID | None
    memory_lineage_id: UUID | None


@dataclass(frozen=True, slots=True)
class CurrentFact:
    """The version of a fact that is believed now."""

    fact_id: UUID
    lineage_id: UUID
    edge: Edge
    confidence: float
    valid_from: datetime
    valid_to: datetime | None
    superseded_by: UUID | None


@dataclass(frozen=True, slots=True)
class FactListing:
    """What a list of facts is limited to. `history` brings what held once, too."""

    subjects: Sequence[UUID] | None = None
    about: Sequence[UUID] | None = None
    predicate: str | None = None
    object: str | None = None
    as_of: AsOf = field(default_factory=AsOf)
    history: bool = False
    review: str | None = None
    limit: int = 50
    after: Sequence[Any] | None = None


_STATEMENT = [field.name for field in fields(StatementRow)]
_LISTING = [field.name for field in fields(FactListing)]
_EDGE = [field.name for field in fields(Edge)]

# Subject, predicate and object key: what tells the group of a fact.
GroupKey: TypeAlias = tuple[UUID, str, str]


def fact_of(**columns: Any) -> Fact:
    """A fact from a row of the view `fact_shown`; columns beyond those of a fact are left out."""
    return Fact(**{name: columns[name] for name in _FIELDS if name in columns})


def with_passage(*, passage_id: Any, **columns: Any) -> tuple[Any, Fact]:
    """A fact with the number of the passage that its words stand in."""
    return passage_id, fact_of(**columns)


def _current_of(**columns: Any) -> CurrentFact:
    edge = Edge(**{name: columns.pop(name) for name in _EDGE})
    return CurrentFact(edge=edge, **columns)


def _of_memory(*, memory_lineage_id: UUID, **columns: Any) -> tuple[UUID, CurrentFact]:
    return memory_lineage_id, _current_of(**columns)


def _of_lineage(*, lineage_id: UUID, **columns: Any) -> tuple[UUID, Source]:
    return lineage_id, Source(**columns)


async def statements(
    tx: Transaction, subject_id: UUID, predicates: Sequence[str], object_key: str | None
) -> list[StatementRow]:
    """Everything that was stated of a group and still counts; `object_key` None takes all objects."""
    query = _QUERIES["statements"] if object_key is None else _QUERIES["statements_of_object"]
    return await tx.rows(
        query, StatementRow, subject_id=subject_id, predicates=list(predicates), object_key=object_key
    )


async def current_of_group(
    tx: Transaction, subject_id: UUID, predicates: Sequence[str], object_key: str | None
) -> list[CurrentFact]:
    query = _QUERIES["current_of_group"] if object_key is None else _QUERIES["current_of_object"]
    return await tx.rows(
        query, _current_of, subject_id=subject_id, predicates=list(predicates), object_key=object_key
    )


async def insert(
    tx: Transaction,
    edge: Edge,
    *,
    lineage_id: UUID | None = None,
    valid_from: datetime,
    valid_to: datetime | None,
    superseded_by: UUID | None,
    confidence: float,
    extractor: str | None,
    extractor_version: str | None,
    recorded_at: datetime,
    review: str | None = None,
    review_reason: str | None = None,
    fact_id: UUID | None = None,
) -> UUID:
    """A first version, or with `lineage_id` the next one (the one before is closed); returns its id."""
    fact_id = fact_id or new_id()
    await tx.done(
        _QUERIES["insert"],
        **{name: getattr(edge, name) for name in _EDGE},
        fact_id=fact_id,
        lineage_id=lineage_id or fact_id,
        confidence=confidence,
        valid_from=valid_from,
        valid_to=valid_to,
        superseded_by=superseded_by,
        review=review,
        review_reason=review_reason,
        extractor=extractor,
        extractor_version=extractor_version,
        recorded_at=recorded_at,
    )
    if lineage_id is not None:
        await tx.done(
            _QUERIES["close_version"], fact_id=fact_id, lineage_id=lineage_id, recorded_at=recorded_at
        )
    return fact_id


async def set_confidence(tx: Transaction, fact_id: UUID, confidence: float) -> None:
    await tx.done(_QUERIES["set_confidence"], fact_id=fact_id, confidence=confidence)


async def set_passages(tx: Transaction, passages: Mapping[UUID, int]) -> None:
    """By lineage: all versions of a fact say the same words, so they share one passage."""
    if passages:
        await tx.done(_QUERIES["set_passages"], lineages=list(passages), passages=list(passages.values()))


async def add_statement(
    tx: Transaction,
    statement: StatementRow,
    span: tuple[int, int] | None,
    recorded_at: datetime,
) -> None:
    await tx.done(
        _QUERIES["add_statement"],
        **{name: getattr(statement, name) for name in _STATEMENT},
        start=span[0] if span else None,
        end=span[1] if span else None,
        recorded_at=recorded_at,
    )


async def move_statements(tx: Transaction, source_ids: Sequence[UUID], lineage_id: UUID) -> None:
    """From now on these statements count for another fact: its stretch of time is theirs."""
    await tx.done(_QUERIES["move_statements"], sources=list(source_ids), lineage_id=lineage_id)


async def retract_statements(
    tx: Transaction, message_ids: Sequence[UUID], retracted_at: datetime
) -> list[GroupKey]:
    """What extraction read in these messages no longer counts; returns what it was."""
    found = await tx.tuples(
        _QUERIES["retract_statements"], messages=list(message_ids), retracted_at=retracted_at
    )
    return _group_keys(found)


async def of_memories(tx: Transaction, lineages: Sequence[UUID]) -> list[tuple[UUID, CurrentFact]]:
    """The facts, as they are believed now, that memories express: memory lineage and fact."""
    if not lineages:
        return []
    return await tx.rows(_QUERIES["of_memories"], _of_memory, lineages=list(lineages))


async def memories_of(tx: Transaction, fact_lineages: Sequence[UUID]) -> list[UUID]:
    """Lineages of the memories that express the given facts."""
    if not fact_lineages:
        return []
    return await tx.values(_QUERIES["memories_of"], lineages=list(fact_lineages))


def _counted(*, total: int, **columns: Any) -> tuple[int, Fact]:
    return total, fact_of(**columns)


def list_key(fact: Fact) -> tuple[bool, datetime, float, UUID]:
    """Where a fact stands in a list: those that hold first, then the latest, then the surest."""
    return fact.valid_to is None, fact.valid_from, fact.confidence, fact.fact_id


async def listed(tx: Transaction, what: FactListing, now: datetime) -> tuple[list[Fact], int]:
    """Facts that pass and come after the key, with their sources, those that hold first; and how many pass in all."""
    parameters = {name: getattr(what, name) for name in _LISTING if name not in {"as_of", "after"}}
    names = ("after_holds", "after_at", "after_sure", "after_id")
    parameters |= dict(zip(names, what.after or (None,) * 4, strict=True))
    parameters |= {
        "recorded_at": what.as_of.recorded_at,
        "valid_at": what.as_of.valid_at or what.as_of.recorded_at or now,
        "subjects": None if what.subjects is None else list(what.subjects),
        "about": None if what.about is None else list(what.about),
    }
    found = await tx.rows(_QUERIES["listed"], _counted, **parameters)
    if not found and what.after is not None:
        return [], (await listed(tx, replace(what, after=None, limit=1), now))[1]
    facts = await with_sources(tx, [fact for _, fact in found], what.as_of.recorded_at)
    return facts, found[0][0] if found else 0


async def show(tx: Transaction, fact_id: UUID) -> Fact | None:
    found = await tx.rows(_QUERIES["show"], fact_of, fact_id=fact_id)
    return (await with_sources(tx, found, None))[0] if found else None


async def find(tx: Transaction, ending: str) -> list[UUID]:
    """Up to two facts whose id ends so."""
    return await tx.values(_QUERIES["find"], ending=ending)


async def with_sources(tx: Transaction, facts: Sequence[Fact], recorded_at: datetime | None) -> list[Fact]:
    """The same facts, each with every source that states it (and counted at `recorded_at`)."""
    found = await sources(tx, {fact.lineage_id for fact in facts}, recorded_at)
    return [replace(fact, sources=tuple(found.get(fact.lineage_id, ()))) for fact in facts]


async def sources(
    tx: Transaction, lineages: Collection[UUID], recorded_at: datetime | None
) -> dict[UUID, list[Source]]:
    """Where facts were stated, in order of time; those that counted at `recorded_at` (None: now)."""
    found: dict[UUID, list[Source]] = {}
    if lineages:
        for lineage_id, source in await tx.rows(
            _QUERIES["sources"], _of_lineage, lineages=list(lineages), recorded_at=recorded_at
        ):
            found.setdefault(lineage_id, []).append(source)
    return found


async def set_review(tx: Transaction, lineage_id: UUID, review: str | None, reason: str | None) -> None:
    """A person's word on a fact: taken into use (None) or rejected."""
    await tx.done(_QUERIES["set_review"], lineage_id=lineage_id, review=review, reason=reason)


async def set_statement_confidence(tx: Transaction, lineage_id: UUID, confidence: float) -> None:
    await tx.done(_QUERIES["set_statement_confidence"], lineage_id=lineage_id, confidence=confidence)


async def retract_of_memory(tx: Transaction, lineage_id: UUID, retracted_at: datetime) -> list[GroupKey]:
    """What a memory states no longer counts; returns what it was."""
    found = await tx.tuples(_QUERIES["retract_of_memory"], lineage_id=lineage_id, retracted_at=retracted_at)
    return _group_keys(found)


async def restore_of_memory(tx: Transaction, lineage_id: UUID, retracted_at: datetime) -> list[GroupKey]:
    """Let count again what `retract_of_memory` took back at that moment."""
    found = await tx.tuples(_QUERIES["restore_of_memory"], lineage_id=lineage_id, retracted_at=retracted_at)
    return _group_keys(found)


async def object_key(tx: Transaction, fact_id: UUID) -> str:
    return await tx.value(_QUERIES["object_key"], fact_id=fact_id)


async def rejected(tx: Transaction, subject_id: UUID, predicates: Sequence[str]) -> set[tuple[str, str]]:
    """Predicate and object key of what a person rejected of this subject."""
    found = await tx.tuples(_QUERIES["rejected"], subject_id=subject_id, predicates=list(predicates))
    return {(predicate, key) for predicate, key in found}


async def versions(tx: Transaction, lineage_id: UUID) -> list[Fact]:
    """All versions of a fact with their sources, the first one first."""
    return await with_sources(tx, await tx.rows(_QUERIES["versions"], fact_of, lineage_id=lineage_id), None)


async def edges(tx: Transaction, lineages: Sequence[UUID]) -> list[GroupKey]:
    """Subject, predicate and object key of some facts, as they are believed now."""
    found = await tx.tuples(_QUERIES["edges"], lineages=list(lineages))
    return [(subject, predicate, key) for subject, predicate, key in found]


def _group_keys(found: Sequence[tuple[Any, ...]]) -> list[GroupKey]:
    return list(dict.fromkeys((subject, predicate, key) for subject, predicate, key in found))
