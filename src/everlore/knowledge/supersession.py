"""Chronicle: statements become facts, and what a statement ends or corrects is superseded, never overwritten."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from everlore.domain.ids import new_id
from everlore.domain.predicates import OPPOSITES, is_exclusive
from everlore.knowledge.denials import denies_all, denies_all_of, with_denials
from everlore.knowledge.stated import Stated
from everlore.knowledge.timeline import TimelineEntry, Validity, corroborated, timeline
from everlore.store import facts
from everlore.store.facts import (
    Correction,
    CurrentFact,
    FactChanges,
    FactKey,
    GroupKey,
    GroupRows,
    NewStatement,
    StatementRow,
)
from everlore.store.run import Transaction

_AFTER_ALL = 2**31


@dataclass(frozen=True, slots=True)
class Group:
    """What conflicts with itself: predicates of one subject; `object_key` where the object is part of what is fixed."""

    subject_id: UUID
    predicates: tuple[str, ...]
    object_key: str | None


@dataclass(slots=True)
class Entered:
    """What entering statements does. `made`: facts that are new, with the words to index; `changed`: those whose validity or
    statements changed; `reopened`: those of these that hold again. `facts`: all facts of the groups as they are believed then;
    `before`: as they were;
    `rows`: their statements; `corrections`: messages said later that put right what is
    claimed here."""

    made: list[tuple[UUID, Stated]] = field(default_factory=list[tuple[UUID, Stated]])
    changed: list[UUID] = field(default_factory=list[UUID])
    reopened: list[UUID] = field(default_factory=list[UUID])
    held: dict[FactKey, UUID] = field(default_factory=dict[FactKey, UUID])
    changes: FactChanges = field(default_factory=FactChanges)
    before: dict[UUID, CurrentFact] = field(default_factory=dict[UUID, CurrentFact])
    facts: dict[UUID, CurrentFact] = field(default_factory=dict[UUID, CurrentFact])
    corrections: set[UUID] = field(default_factory=set[UUID])
    rows: dict[UUID, StatementRow] = field(default_factory=dict[UUID, StatementRow])

    @property
    def to_read_anew(self) -> set[UUID]:
        """Messages that were read without what is heard of only now, though it was said before them: corrections of it; and those
        that were taken to say once more what in truth had ended meanwhile."""
        held: dict[tuple[object, ...], dict[UUID, set[UUID]]] = {}
        for row in self.rows.values():
            fact = self.facts.get(row.lineage_id)
            never = fact is not None and fact.valid_to is not None and fact.valid_to <= fact.valid_from
            if (
                row.memory_lineage_id is not None
                and row.message_id is not None
                and not row.ended
                and not never
            ):
                said = (row.memory_lineage_id, row.subject_id, row.predicate, row.object_key)
                held.setdefault(said, {}).setdefault(row.lineage_id, set()).add(row.message_id)
        apart = [
            sorted(
                (self.facts[fact].valid_from, sorted(said))
                for fact, said in of_facts.items()
                if fact in self.facts
            )
            for of_facts in held.values()
            if len(of_facts) > 1
        ]
        return self.corrections | {
            message for stretches in apart for _, said in stretches[1:] for message in said
        }

    def memories_of(self, lineages: Collection[UUID]) -> list[UUID]:
        """The memories that express some facts, in the order of their ids."""
        wanted = set(lineages)
        return sorted(
            {
                row.memory_lineage_id
                for row in self.rows.values()
                if row.memory_lineage_id and row.lineage_id in wanted
            }
        )


def group_of(subject_id: UUID, predicate: str, object_key: str) -> Group:
    if is_exclusive(predicate):
        return Group(subject_id, (predicate,), None)
    if predicate in OPPOSITES:
        return Group(subject_id, tuple(sorted((predicate, OPPOSITES[predicate]))), object_key)
    return Group(subject_id, (predicate,), object_key)


async def enter(
    tx: Transaction, stated: Sequence[Stated], touched: Iterable[Group] = (), *, by_hand: bool = False
) -> Entered:
    """Enter statements and bring the facts of their groups up to date; `touched` groups, too, whose statements were
    retracted. Nothing is written yet. The caller holds the workspace's lock."""
    by_group: dict[Group, list[Stated]] = {group: [] for group in touched}
    for one in await with_denials(tx, stated):
        group = group_of(one.edge.subject_id, one.edge.predicate, one.edge.object_key)
        by_group.setdefault(group, []).append(one)
    entered = Entered()
    if by_group:
        stored = await _load(tx, by_group)
        entered.corrections = _later(by_group, stored.corrections)
        rows, current = _by_group(stored.statements), _by_group(stored.current)
        for group, fresh in by_group.items():
            if not by_hand:
                fresh = _not_rejected(fresh, stored.rejected, entered)
            _update(group, fresh, rows.get(group, []), current.get(group, []), entered)
    return entered


def _not_rejected(
    fresh: Sequence[Stated], rejected: Mapping[GroupKey, UUID], entered: Entered
) -> list[Stated]:
    """A person's word beats the extractor's: what was rejected by hand is not stated again. It is kept where it is of no
    account, for the day when the person thinks again."""
    kept: list[Stated] = []
    for one in fresh:
        if (lineage_id := rejected.get(_key_of(one.edge))) is None:
            kept.append(one)
        else:
            entered.changes.statements.append(_statement(one, new_id(), lineage_id))
    return kept


def _key_of(edge: FactKey) -> GroupKey:
    return edge.subject_id, edge.predicate, edge.object_key


def _claimed(by_group: Mapping[Group, Sequence[Stated]]) -> dict[tuple[UUID, str], datetime]:
    """What may hold many objects at a time and is claimed, with when that was said first."""
    claimed: dict[tuple[UUID, str], datetime] = {}
    for one in (one for fresh in by_group.values() for one in fresh):
        if not (one.ended or one.corrects or is_exclusive(one.edge.predicate)):
            about = (one.edge.subject_id, one.edge.predicate)
            claimed[about] = min(one.said_at, claimed.get(about, one.said_at))
    return claimed


def _later(by_group: Mapping[Group, Sequence[Stated]], corrections: Sequence[Correction]) -> set[UUID]:
    """The messages that put right what is claimed, and were said after it."""
    claimed, here = _claimed(by_group), {one.message_id for fresh in by_group.values() for one in fresh}
    return {
        one.message_id
        for one in corrections
        if one.said_at > claimed[one.subject_id, one.predicate]
        and one.message_id not in here
        and (one.corrects or denies_all(one.object))
    }


async def _load(tx: Transaction, by_group: Mapping[Group, Sequence[Stated]]) -> GroupRows:
    pairs = [(group, predicate) for group in by_group for predicate in group.predicates]
    whole = [(group.subject_id, predicate) for group, predicate in pairs if group.object_key is None]
    single = [
        (group.subject_id, predicate, group.object_key)
        for group, predicate in pairs
        if group.object_key is not None
    ]
    return await facts.groups(tx, whole, single, list(_claimed(by_group)))


@dataclass(slots=True)
class _State:
    group: Group
    fresh: dict[UUID, Stated]
    rows: dict[UUID, StatementRow]
    current: dict[UUID, CurrentFact]
    edges: dict[str, FactKey]
    entered: Entered


def _update(
    group: Group,
    fresh: Sequence[Stated],
    rows: Sequence[StatementRow],
    current: Sequence[CurrentFact],
    entered: Entered,
) -> None:
    ids = [new_id() for _ in fresh]
    state = _State(
        group=group,
        fresh=dict(zip(ids, fresh, strict=True)),
        rows={row.source_id: row for row in rows},
        current={fact.lineage_id: fact for fact in current},
        edges={_value(group, f.edge.predicate, f.edge.object_key): f.edge for f in current}
        | {_value(group, s.edge.predicate, s.edge.object_key): s.edge for s in fresh},
        entered=entered,
    )
    entered.before |= state.current
    entered.facts |= state.current
    entered.rows |= state.rows
    stretches = [s for s in timeline(_statements(state)) if s.statements]
    lineages = _lineages(state, stretches)
    for stretch in stretches:
        _write(state, stretch, lineages)
    for lineage_id, fact in state.current.items():
        if lineage_id not in lineages.values():
            _close(state, fact, stretches, lineages)


_Row = TypeVar("_Row", StatementRow, CurrentFact)


def _by_group(rows: Iterable[_Row]) -> dict[Group, list[_Row]]:
    found: dict[Group, list[_Row]] = {}
    for row in rows:
        found.setdefault(_group_of(row), []).append(row)
    return found


def _group_of(row: StatementRow | CurrentFact) -> Group:
    said = row.edge if isinstance(row, CurrentFact) else row
    return group_of(said.subject_id, said.predicate, said.object_key)


def _value(group: Group, predicate: str, object_key: str) -> str:
    """What the stretches of a group differ in: the object, or for opposites the predicate."""
    return predicate if len(group.predicates) > 1 else object_key


def _statements(state: _State) -> list[TimelineEntry]:
    stored = [
        TimelineEntry(
            source_id=row.source_id,
            value=_value(state.group, row.predicate, row.object_key),
            said_at=row.said_at,
            begins=row.valid_from or row.said_at,
            ended=row.ended,
            corrects=row.corrects,
            confidence=row.confidence,
            lineage_id=row.lineage_id,
            place=_place(row.source_id, row.position, row.start),
        )
        for row in state.rows.values()
    ]
    new = [
        TimelineEntry(
            source_id=source_id,
            value=_value(state.group, one.edge.predicate, one.edge.object_key),
            said_at=one.said_at,
            begins=one.valid_from or one.said_at,
            ended=one.ended,
            corrects=one.corrects,
            confidence=one.confidence,
            place=_place(source_id, one.position, one.span and one.span[0]),
        )
        for source_id, one in state.fresh.items()
    ]
    return stored + new


def _place(source_id: UUID, position: int | None, start: int | None) -> tuple[int, int]:
    """What a person told by himself comes after all messages of that time, in the order in which he told it."""
    return (_AFTER_ALL, source_id.int) if position is None else (position, start or 0)


def _lineages(state: _State, stretches: Sequence[Validity]) -> dict[int, UUID]:
    """The fact that each stretch is (by the stretch's identity): the one that most of its statements counted for; else one of
    the same words that nothing supports any more (they were read anew); else a new one."""
    free = dict(state.current)
    chosen: dict[int, UUID] = {}
    for stretch in stretches:
        before = [
            s.lineage_id for s in stretch.statements if s.lineage_id is not None and s.lineage_id in free
        ]
        if before:
            chosen[id(stretch)] = max(dict.fromkeys(before), key=before.count)
            del free[chosen[id(stretch)]]
    for stretch in stretches:
        if id(stretch) not in chosen:
            same = [
                f
                for f in free.values()
                if _value(state.group, f.edge.predicate, f.edge.object_key) == stretch.value
            ]
            again = min(same, key=lambda fact: abs(fact.valid_from - stretch.begins), default=None)
            chosen[id(stretch)] = new_id() if again is None else again.lineage_id
            free.pop(chosen[id(stretch)], None)
    return chosen


def _write(state: _State, stretch: Validity, lineages: dict[int, UUID]) -> None:
    lineage_id, entered = lineages[id(stretch)], state.entered
    fact = state.current.get(lineage_id)
    follower = lineages.get(id(stretch.followed_by)) if stretch.followed_by is not None else None
    for denied in (state.fresh[s.source_id] for s in stretch.statements if s.source_id in state.fresh):
        follower = follower if denied.by is None else entered.held.get(denied.by)
    confidence = _confidence(state, stretch)
    edge = state.edges[stretch.value]
    if stretch.ends is None:
        entered.held[edge] = lineage_id
    if fact is None:
        made = CurrentFact(
            lineage_id, lineage_id, 1, edge, confidence, stretch.begins, stretch.ends, follower
        )
        _believe(entered, made)
        words = next(
            (state.fresh[s.source_id] for s in stretch.statements if s.source_id in state.fresh), None
        )
        if words is not None and not denies_all_of(words):
            entered.made.append((lineage_id, words))
    elif (fact.valid_from, fact.valid_to) != (stretch.begins, stretch.ends):
        _believe(entered, _next(fact, stretch.begins, stretch.ends, follower, confidence))
        if fact.valid_to is not None and stretch.ends is None:
            entered.reopened.append(lineage_id)
    elif fact.confidence != confidence:
        entered.changes.confidences[fact.fact_id] = confidence
    entered.changed.append(lineage_id)
    _attach(state, stretch, lineage_id)


def _believe(entered: Entered, fact: CurrentFact) -> None:
    entered.facts[fact.lineage_id] = fact
    entered.changes.versions.append(fact)


def _next(
    fact: CurrentFact, begins: datetime, ends: datetime | None, follower: UUID | None, confidence: float
) -> CurrentFact:
    return replace(
        fact,
        fact_id=new_id(),
        version=fact.version + 1,
        valid_from=begins,
        valid_to=ends,
        superseded_by=follower,
        confidence=confidence,
    )


def _attach(state: _State, stretch: Validity, lineage_id: UUID) -> None:
    """Let the stretch's statements count for its fact: new ones are written, others moved."""
    entered = state.entered
    for said in stretch.statements:
        one, known = state.fresh.get(said.source_id), state.rows.get(said.source_id)
        if known is not None and known.lineage_id != lineage_id:
            entered.changes.moved[said.source_id] = lineage_id
            entered.rows[said.source_id] = replace(known, lineage_id=lineage_id)
        if one is not None:
            new = _statement(one, said.source_id, lineage_id)
            entered.rows[said.source_id] = new.row
            entered.changes.statements.append(new)


def _statement(one: Stated, source_id: UUID, lineage_id: UUID) -> NewStatement:
    row = StatementRow(
        source_id=source_id,
        lineage_id=lineage_id,
        subject_id=one.edge.subject_id,
        predicate=one.edge.predicate,
        object_key=one.edge.object_key,
        said_at=one.said_at,
        valid_from=one.valid_from,
        ended=one.ended,
        corrects=one.corrects,
        confidence=one.confidence,
        message_id=one.message_id,
        memory_lineage_id=one.memory_lineage_id,
        position=one.position,
        start=one.span and one.span[0],
    )
    return NewStatement(row, one.span, one.quote)


def _close(
    state: _State, fact: CurrentFact, stretches: Sequence[Validity], lineages: dict[int, UUID]
) -> None:
    """A fact that no statement supports any more (retracted, or joined to another): it never held."""
    if fact.valid_to == fact.valid_from:
        return
    joined = next((lineages[id(s)] for s in stretches if state.edges[s.value] == fact.edge), None)
    _believe(state.entered, _next(fact, fact.valid_from, fact.valid_from, joined, fact.confidence))
    state.entered.changed.append(fact.lineage_id)


def _confidence(state: _State, stretch: Validity) -> float:
    """From all statements that it holds, the best of each message; of those that end it where there are no others."""
    best: dict[UUID, float] = {}
    counting = [s for s in stretch.statements if not s.ended] or stretch.statements
    for said in counting:
        stored = state.rows.get(said.source_id) or state.fresh[said.source_id]
        message = stored.message_id or said.source_id
        best[message] = max(best.get(message, 0.0), said.confidence)
    return corroborated(best.values())
