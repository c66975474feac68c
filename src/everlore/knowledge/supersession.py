"""Chronicle: statements become facts, and what a statement ends or corrects is superseded, never overwritten."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from everlore.domain.ids import new_id
from everlore.domain.predicates import OPPOSITES, is_exclusive
from everlore.knowledge.timeline import Statement, Stretch, corroborated, timeline
from everlore.store import facts
from everlore.store.facts import CurrentFact, Edge, StatementRow
from everlore.store.run import Transaction
from everlore.text.words import words

# Words of denial; and how many words may stand between one and what it denies.
_DENIALS = "not no never wasn't isn't instead rather nunca vez lugar nicht statt kein keine pas non"
_DENIES = frozenset(_DENIALS.split())
_NEAR = 4


@dataclass(frozen=True, slots=True)
class Stated:
    """One statement to enter. `memory_lineage_id`: the memory that says the same, if there is one. `said`: the whole message;
    `instead_of`: facts that it may correct. `by`: what it is said not to be in favour of (see `_denials`)."""

    edge: Edge
    said_at: datetime
    valid_from: datetime | None
    ended: bool
    corrects: bool
    confidence: float
    message_id: UUID | None
    span: tuple[int, int] | None
    memory_lineage_id: UUID | None
    text: str
    said: str = ""
    instead_of: frozenset[UUID] = frozenset()
    by: Edge | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """What conflicts with itself: predicates of one subject; `object_key` where the object is part of what is fixed."""

    subject_id: UUID
    predicates: tuple[str, ...]
    object_key: str | None


@dataclass(slots=True)
class Entered:
    """What entering statements did: facts that are new (with the words to index), and those whose validity changed."""

    made: list[tuple[UUID, Stated]] = field(default_factory=list[tuple[UUID, Stated]])
    changed: list[UUID] = field(default_factory=list[UUID])
    reopened: list[UUID] = field(default_factory=list[UUID])
    held: dict[Edge, UUID] = field(default_factory=dict[Edge, UUID])


@dataclass(frozen=True, slots=True)
class Author:
    """Who enters: stands in every row that it writes. A person's word has neither."""

    extractor: str | None
    version: str | None


def group_of(subject_id: UUID, predicate: str, object_key: str) -> Group:
    if is_exclusive(predicate):
        return Group(subject_id, (predicate,), None)
    if predicate in OPPOSITES:
        return Group(subject_id, tuple(sorted((predicate, OPPOSITES[predicate]))), object_key)
    return Group(subject_id, (predicate,), object_key)


async def enter(
    tx: Transaction,
    stated: Sequence[Stated],
    author: Author,
    now: datetime,
    touched: Iterable[Group] = (),
) -> Entered:
    """Enter statements and bring the facts of their groups up to date; `touched` groups, too, whose statements were
    retracted. The caller holds the workspace's lock."""
    entered = Entered()
    by_group: dict[Group, list[Stated]] = {group: [] for group in touched}
    for one in await _with_denials(tx, stated):
        group = group_of(one.edge.subject_id, one.edge.predicate, one.edge.object_key)
        by_group.setdefault(group, []).append(one)
    for group, fresh in by_group.items():
        if author.extractor is not None and fresh:
            # A person's word beats the extractor's: what was rejected by hand is not stated again.
            refused = await facts.rejected(tx, group.subject_id, group.predicates)
            fresh[:] = [s for s in fresh if (s.edge.predicate, s.edge.object_key) not in refused]
        await _update(tx, group, fresh, author, now, entered)
    return entered


async def _with_denials(tx: Transaction, stated: Sequence[Stated]) -> list[Stated]:
    """Of what may hold many objects at a time a correction takes back only the one that it names as wrong ("to hazelnuts, not
    walnuts"), or that the memory stated which it corrects; the right one holds from when that was thought to begin."""
    complete: list[Stated] = []
    for one in stated:
        wrong: list[CurrentFact] = []
        if one.corrects and not one.ended and not is_exclusive(one.edge.predicate):
            for fact in await facts.current_of_group(tx, one.edge.subject_id, (one.edge.predicate,), None):
                other = fact.edge.object_key != one.edge.object_key and fact.valid_to is None
                if other and (fact.lineage_id in one.instead_of or _said_wrong(one.said, fact.edge.object)):
                    wrong.append(fact)
        begins = min((fact.valid_from for fact in wrong), default=one.valid_from)
        complete.append(replace(one, valid_from=one.valid_from or begins))
        complete += [replace(one, edge=fact.edge, ended=True, valid_from=None, by=one.edge) for fact in wrong]
    return complete


def _said_wrong(said: str, thing: str) -> bool:
    """Whether a text says of something that it is not it."""
    whole, part = words(said), words(thing)
    return any(
        whole[place : place + len(part)] == part
        and any(word in _DENIES for word in whole[max(0, place - _NEAR) : place])
        for place in range(len(whole) - len(part) + 1 if part else 0)
    )


@dataclass(slots=True)
class _State:
    group: Group
    fresh: dict[UUID, Stated]
    rows: dict[UUID, StatementRow]
    current: dict[UUID, CurrentFact]
    edges: dict[str, Edge]
    now: datetime
    author: Author
    entered: Entered


async def _update(
    tx: Transaction,
    group: Group,
    fresh: Sequence[Stated],
    author: Author,
    now: datetime,
    entered: Entered,
) -> None:
    rows = await facts.statements(tx, group.subject_id, group.predicates, group.object_key)
    current = await facts.current_of_group(tx, group.subject_id, group.predicates, group.object_key)
    ids = [new_id() for _ in fresh]
    state = _State(
        group=group,
        fresh=dict(zip(ids, fresh, strict=True)),
        rows={row.source_id: row for row in rows},
        current={fact.lineage_id: fact for fact in current},
        edges={_value(group, f.edge.predicate, f.edge.object_key): f.edge for f in current}
        | {_value(group, s.edge.predicate, s.edge.object_key): s.edge for s in fresh},
        now=now,
        author=author,
        entered=entered,
    )
    stretches = [s for s in timeline(_statements(state)) if s.statements]
    lineages = _lineages(state, stretches)
    for stretch in stretches:
        await _write(tx, state, stretch, lineages)
    for lineage_id, fact in state.current.items():
        if lineage_id not in lineages.values():
            await _close(tx, state, fact, stretches, lineages)


def _value(group: Group, predicate: str, object_key: str) -> str:
    """What the stretches of a group differ in: the object, or for opposites the predicate."""
    return predicate if len(group.predicates) > 1 else object_key


def _statements(state: _State) -> list[Statement]:
    stored = [
        Statement(
            source_id=row.source_id,
            value=_value(state.group, row.predicate, row.object_key),
            said_at=row.said_at,
            begins=row.valid_from or row.said_at,
            ended=row.ended,
            corrects=row.corrects,
            confidence=row.confidence,
            lineage_id=row.lineage_id,
        )
        for row in state.rows.values()
    ]
    new = [
        Statement(
            source_id=source_id,
            value=_value(state.group, one.edge.predicate, one.edge.object_key),
            said_at=one.said_at,
            begins=one.valid_from or one.said_at,
            ended=one.ended,
            corrects=one.corrects,
            confidence=one.confidence,
        )
        for source_id, one in state.fresh.items()
    ]
    return stored + new


def _lineages(state: _State, stretches: Sequence[Stretch]) -> dict[int, UUID]:
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


async def _write(tx: Transaction, state: _State, stretch: Stretch, lineages: dict[int, UUID]) -> None:
    lineage_id = lineages[id(stretch)]
    fact = state.current.get(lineage_id)
    follower = lineages.get(id(stretch.followed_by)) if stretch.followed_by is not None else None
    for denied in (state.fresh[s.source_id] for s in stretch.statements if s.source_id in state.fresh):
        follower = follower if denied.by is None else state.entered.held.get(denied.by)
    confidence = _confidence(state, stretch)
    edge = state.edges[stretch.value]
    if stretch.ends is None:
        state.entered.held[edge] = lineage_id
    if fact is None:
        await facts.insert(
            tx,
            edge,
            fact_id=lineage_id,
            valid_from=stretch.begins,
            valid_to=stretch.ends,
            superseded_by=follower,
            confidence=confidence,
            extractor=state.author.extractor,
            extractor_version=state.author.version,
            recorded_at=state.now,
        )
        words = next(
            (state.fresh[s.source_id] for s in stretch.statements if s.source_id in state.fresh), None
        )
        if words is not None:
            state.entered.made.append((lineage_id, words))
    elif (fact.valid_from, fact.valid_to) != (stretch.begins, stretch.ends):
        await _new_version(tx, state, fact, stretch.begins, stretch.ends, follower, confidence)
        if fact.valid_to is not None and stretch.ends is None:
            state.entered.reopened.append(lineage_id)
    elif fact.confidence != confidence:
        await facts.set_confidence(tx, fact.fact_id, confidence)
    state.entered.changed.append(lineage_id)
    await _attach(tx, state, stretch, lineage_id)


async def _attach(tx: Transaction, state: _State, stretch: Stretch, lineage_id: UUID) -> None:
    """Let the stretch's statements count for its fact: new ones are written, others moved."""
    moved = [
        s.source_id for s in stretch.statements if s.source_id in state.rows and s.lineage_id != lineage_id
    ]
    if moved:
        await facts.move_statements(tx, moved, lineage_id)
    for said in stretch.statements:
        one = state.fresh.get(said.source_id)
        if one is not None:
            row = StatementRow(
                source_id=said.source_id,
                lineage_id=lineage_id,
                predicate=one.edge.predicate,
                object_key=one.edge.object_key,
                said_at=one.said_at,
                valid_from=one.valid_from,
                ended=one.ended,
                corrects=one.corrects,
                confidence=one.confidence,
                message_id=one.message_id,
                memory_lineage_id=one.memory_lineage_id,
            )
            await facts.add_statement(tx, row, one.span, state.now)


async def _close(
    tx: Transaction,
    state: _State,
    fact: CurrentFact,
    stretches: Sequence[Stretch],
    lineages: dict[int, UUID],
) -> None:
    """A fact that no statement supports any more (retracted, or joined to another): it never held."""
    if fact.valid_to == fact.valid_from:
        return
    joined = next((lineages[id(s)] for s in stretches if state.edges[s.value] == fact.edge), None)
    await _new_version(tx, state, fact, fact.valid_from, fact.valid_from, joined, fact.confidence)
    state.entered.changed.append(fact.lineage_id)


async def _new_version(
    tx: Transaction,
    state: _State,
    fact: CurrentFact,
    begins: datetime,
    ends: datetime | None,
    follower: UUID | None,
    confidence: float,
) -> None:
    await facts.insert(
        tx,
        fact.edge,
        lineage_id=fact.lineage_id,
        valid_from=begins,
        valid_to=ends,
        superseded_by=follower,
        confidence=confidence,
        extractor=state.author.extractor,
        extractor_version=state.author.version,
        recorded_at=state.now,
    )


def _confidence(state: _State, stretch: Stretch) -> float:
    """From all statements that it holds, the best of each message; of those that end it where there are no others."""
    best: dict[UUID, float] = {}
    counting = [s for s in stretch.statements if not s.ended] or stretch.statements
    for said in counting:
        stored = state.rows.get(said.source_id) or state.fresh[said.source_id]
        message = stored.message_id or said.source_id
        best[message] = max(best.get(message, 0.0), said.confidence)
    return corroborated(best.values())
