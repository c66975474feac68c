"""Facts: versions of edges between entities, and every statement that they rest on."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, TypeAlias
from uuid import UUID

from psycopg import AsyncCursor
from psycopg.rows import kwargs_row, tuple_row
from psycopg.types.json import Jsonb

from everlore.domain.ids import new_id
from everlore.domain.memories import AsOf, Fact, Source
from everlore.store.memories import as_json
from everlore.store.queries import queries
from everlore.store.run import Transaction

_QUERIES = queries("facts")
_FIELDS = [field.name for field in fields(Fact)]


@dataclass(frozen=True, slots=True)
class FactKey:
    """What a fact says, apart from when. `object_key` is what objects are compared by."""

    subject_id: UUID
    predicate: str
    object_id: UUID | None
    object: str
    object_key: str


@dataclass(frozen=True, slots=True)
class StatementRow:
    """One statement as it is stored; `lineage_id` is the fact that it counts for; `position` that of its message in the thread,
    `start` that of its words in the message."""

    source_id: UUID
    lineage_id: UUID
    subject_id: UUID
    predicate: str
    object_key: str
    said_at: datetime
    valid_from: datetime | None
    ended: bool
    corrects: bool
    confidence: float
    message_id: UUID | None
    memory_lineage_id: UUID | None
    position: int | None
    start: int | None


@dataclass(frozen=True, slots=True)
class CurrentFact:
    """The version of a fact that is believed now, or is to be written."""

    fact_id: UUID
    lineage_id: UUID
    version: int
    edge: FactKey
    confidence: float
    valid_from: datetime
    valid_to: datetime | None
    superseded_by: UUID | None
    passage_id: int | None = None
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class NewStatement:
    """A statement to be written, with the words that it stands in."""

    row: StatementRow
    span: tuple[int, int] | None
    quote: str | None


@dataclass(frozen=True, slots=True)
class Correction:
    """A message that puts right (`corrects`) or ends what was said of a subject under a predicate."""

    subject_id: UUID
    predicate: str
    object: str
    corrects: bool
    said_at: datetime
    message_id: UUID


@dataclass(frozen=True, slots=True)
class ConfirmedFact:
    """A fact that holds and that a person stands behind."""

    subject_id: UUID
    predicate: str
    object_key: str
    object: str
    valid_from: datetime


@dataclass(frozen=True, slots=True)
class GroupRows:
    """What is stored of some groups: statements that count, versions that are believed now, and the facts that a
    person rejected, by what they say; and where something was put right."""

    statements: Sequence[StatementRow]
    current: Sequence[CurrentFact]
    rejected: Mapping[tuple[UUID, str, str], UUID]
    corrections: Sequence[Correction]


@dataclass(slots=True)
class FactChanges:
    """What comes of entering statements. `versions`: first or next ones. `moved`: by statement the fact that it counts for."""

    versions: list[CurrentFact] = field(default_factory=list[CurrentFact])
    confidences: dict[UUID, float] = field(default_factory=dict[UUID, float])
    moved: dict[UUID, UUID] = field(default_factory=dict[UUID, UUID])
    statements: list[NewStatement] = field(default_factory=list[NewStatement])


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


_LISTING = [field.name for field in fields(FactListing)]
_EDGE = [field.name for field in fields(FactKey)]

# Subject, predicate and object key: what tells the group of a fact.
GroupKey: TypeAlias = tuple[UUID, str, str]


def fact_of(**columns: Any) -> Fact:
    """A fact from a row of the view `fact_shown`; columns beyond those of a fact are left out."""
    return Fact(**{name: columns[name] for name in _FIELDS if name in columns})


def with_passage(*, passage_id: Any, **columns: Any) -> tuple[Any, Fact]:
    """A fact with the number of the passage that its words stand in."""
    return passage_id, fact_of(**columns)


def _current_of(**columns: Any) -> CurrentFact:
    edge = FactKey(**{name: columns.pop(name) for name in _EDGE})
    return CurrentFact(edge=edge, **columns)


def _of_lineage(*, lineage_id: UUID, **columns: Any) -> tuple[UUID, Source]:
    return lineage_id, Source(**columns)


async def groups(
    tx: Transaction,
    whole: Collection[tuple[UUID, str]],
    single: Collection[GroupKey],
    claimed: Collection[tuple[UUID, str]] = (),
) -> GroupRows:
    """What is stored of pairs of subject and predicate, and of single objects of them; and corrections of what is `claimed`."""
    wide: dict[str, Any] = {
        "subjects": [subject_id for subject_id, _ in whole],
        "predicates": [predicate for _, predicate in whole],
    }
    narrow: dict[str, Any] = {
        "subjects": [subject_id for subject_id, _, _ in single],
        "predicates": [predicate for _, predicate, _ in single],
        "keys": [key for _, _, key in single],
    }
    async with tx.pipeline():
        said = [
            await tx.sent(_QUERIES["statements_of_predicates"], kwargs_row(StatementRow), **wide),
            await tx.sent(_QUERIES["statements_of_objects"], kwargs_row(StatementRow), **narrow),
        ]
        held = [
            await tx.sent(_QUERIES["current_of_predicates"], kwargs_row(_current_of), **wide),
            await tx.sent(_QUERIES["current_of_objects"], kwargs_row(_current_of), **narrow),
        ]
        refused = [
            await tx.sent(_QUERIES["rejected_of_predicates"], tuple_row, **wide),
            await tx.sent(_QUERIES["rejected_of_objects"], tuple_row, **narrow),
        ]
        corrected = await tx.sent(
            _QUERIES["corrections"],
            kwargs_row(Correction),
            subjects=[subject_id for subject_id, _ in claimed],
            predicates=[predicate for _, predicate in claimed],
        )
    return GroupRows(
        [row for one in said for row in await one.fetchall()],
        [row for one in held for row in await one.fetchall()],
        {(row[0], row[1], row[2]): row[3] for one in refused for row in await one.fetchall()},
        await corrected.fetchall(),
    )


async def send(
    tx: Transaction, changes: FactChanges, extractor: str | None, extractor_version: str | None, now: datetime
) -> None:
    """Write what came of entering statements; for a pipeline."""
    if changes.versions:
        await tx.done(
            _QUERIES["insert"],
            facts=Jsonb([_json_of(fact) for fact in changes.versions]),
            extractor=extractor,
            extractor_version=extractor_version,
            now=now,
        )
        await tx.done(
            _QUERIES["close_versions"],
            lineages=[fact.lineage_id for fact in changes.versions],
            ids=[fact.fact_id for fact in changes.versions],
            now=now,
        )
    if changes.confidences:
        await tx.done(
            _QUERIES["set_confidences"],
            ids=list(changes.confidences),
            confidences=list(changes.confidences.values()),
        )
    if changes.moved:
        await tx.done(
            _QUERIES["move_statements"],
            sources=list(changes.moved),
            lineages=list(changes.moved.values()),
        )
    if changes.statements:
        await tx.done(
            _QUERIES["add_statements"],
            statements=Jsonb([_json_of_statement(one) for one in changes.statements]),
            now=now,
        )


def _json_of(fact: CurrentFact) -> dict[str, Any]:
    whole = {name: getattr(fact.edge, name) for name in _EDGE}
    whole |= {name: getattr(fact, name) for name in CurrentFact.__slots__ if name != "edge"}
    return {name: as_json(value) for name, value in whole.items()}


def _json_of_statement(one: NewStatement) -> dict[str, Any]:
    start, end = one.span or (None, None)
    row = {name: as_json(getattr(one.row, name)) for name in StatementRow.__slots__}
    return {**row, "start_at": start, "end_at": end, "quote": one.quote}


async def set_passages(tx: Transaction, passages: Mapping[UUID, int]) -> None:
    """By lineage: all versions of a fact say the same words, so they share one passage."""
    if passages:
        await tx.done(_QUERIES["set_passages"], lineages=list(passages), passages=list(passages.values()))


async def of_memories(tx: Transaction, lineages: Collection[UUID]) -> list[tuple[UUID, CurrentFact]]:
    """The facts, as they are believed now, that memories express: memory lineage and fact."""
    rows = await tx.rows(_QUERIES["expressed"], _expressed_of, lineages=list(lineages))
    found = {(one.memory_lineage_id, one.fact.lineage_id): one.fact for one in rows}
    return [(memory, fact) for (memory, _), fact in found.items()]


@dataclass(frozen=True, slots=True)
class Expressed:
    """A statement by which a memory expresses a fact, as that is believed now."""

    source_id: UUID
    memory_lineage_id: UUID
    fact: CurrentFact


def _expressed_of(*, source_id: UUID, memory_lineage_id: UUID, **columns: Any) -> Expressed:
    return Expressed(source_id, memory_lineage_id, _current_of(**columns))


async def send_expressed(tx: Transaction, lineages: Collection[UUID]) -> AsyncCursor[Expressed]:
    """What memories say that holds or held, not what they say has ended; for a pipeline."""
    return await tx.sent(_QUERIES["expressed"], kwargs_row(_expressed_of), lineages=list(lineages))


async def deniable(
    tx: Transaction, pairs: Collection[tuple[UUID, str]], memories: Collection[UUID]
) -> tuple[list[CurrentFact], list[Expressed]]:
    """The current facts of pairs of subject and predicate, whatever their objects; and what some memories express."""
    async with tx.pipeline():
        held = await tx.sent(
            _QUERIES["current_of_predicates"],
            kwargs_row(_current_of),
            subjects=[subject_id for subject_id, _ in pairs],
            predicates=[predicate for _, predicate in pairs],
        )
        stated = await send_expressed(tx, memories)
    return await held.fetchall(), await stated.fetchall()


async def memories_of(tx: Transaction, fact_lineages: Collection[UUID]) -> dict[UUID, list[UUID]]:
    """Lineages of the memories that express the given facts, by fact."""
    found: dict[UUID, list[UUID]] = {}
    for fact, memory in await tx.tuples(_QUERIES["memories_of"], lineages=list(fact_lineages)):
        found.setdefault(fact, []).append(memory)
    return found


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


async def new_version(
    tx: Transaction, lineage_id: UUID, changes: Mapping[str, Any], recorded_at: datetime
) -> None:
    """Close the current version and write the next one with some columns changed: when it holds, or what a person decided."""
    fact_id = new_id()
    columns = {
        **changes,
        "fact_id": str(fact_id),
        "recorded_at": recorded_at.isoformat(),
        "superseded_by": None,
    }
    await tx.done(_QUERIES["copy_version"], changes=Jsonb(columns), lineage_id=lineage_id)
    await tx.done(_QUERIES["close_versions"], lineages=[lineage_id], ids=[fact_id], now=recorded_at)


async def predicates(tx: Transaction) -> list[str]:
    """Everything that facts of the workspace say something by."""
    return await tx.values(_QUERIES["predicates"])


async def confirmed(tx: Transaction, about: Collection[tuple[UUID, str]]) -> list[ConfirmedFact]:
    """Of pairs of subject and predicate the facts that hold and that a person stands behind."""
    return await tx.rows(
        _QUERIES["confirmed"],
        ConfirmedFact,
        subjects=[subject_id for subject_id, _ in about],
        predicates=[predicate for _, predicate in about],
    )


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


async def versions(tx: Transaction, lineage_id: UUID) -> list[Fact]:
    """All versions of a fact with their sources, the first one first."""
    return await with_sources(tx, await tx.rows(_QUERIES["versions"], fact_of, lineage_id=lineage_id), None)


async def edges(tx: Transaction, lineages: Sequence[UUID]) -> list[GroupKey]:
    """Subject, predicate and object key of some facts, as they are believed now."""
    found = await tx.tuples(_QUERIES["edges"], lineages=list(lineages))
    return [(subject, predicate, key) for subject, predicate, key in found]


def _group_keys(found: Sequence[tuple[Any, ...]]) -> list[GroupKey]:
    return list(dict.fromkeys((subject, predicate, key) for subject, predicate, key in found))
