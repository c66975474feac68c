"""Writing: what was distilled or told enters the store, in the caller's transaction and under the workspace's lock.

Memories are held against what is known, statements entered into the chronicle, memories superseded along with the facts that
they express, and what is new is indexed.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from everlore.domain.memories import Memory
from everlore.domain.recall import KEY, Layer
from everlore.knowledge import keys
from everlore.knowledge.batch import Batch, BatchContext, Incoming
from everlore.knowledge.deduplication import AGAINST_CONFIRMED, Remembered, in_search, load, reconcile
from everlore.knowledge.denials import denies_all_of, said_wrong
from everlore.knowledge.stated import Stated
from everlore.knowledge.supersession import Entered, Group, enter, group_of
from everlore.ports.embedder import EncodedPassage
from everlore.store import deduplication, facts, memories, passages
from everlore.store.facts import ConfirmedFact, CurrentFact, Expressed
from everlore.store.memories import NewSource
from everlore.store.passages import NewPassage, Segments
from everlore.store.run import Transaction

# What is written here, in the order in which layers are locked.
_LAYERS: tuple[Layer, ...] = ("known", "keys")


@dataclass(frozen=True, slots=True)
class PlacedStatement:
    """A statement with the place of the memory that says the same (from 0), if there is one."""

    stated: Stated
    memory: int | None


@dataclass(frozen=True, slots=True)
class Written:
    """What came of a batch: one outcome per memory, in order, the facts that were entered, and messages to read anew."""

    memories: tuple[Remembered, ...]
    entered: Entered
    to_read_anew: Sequence[UUID]


async def write(
    tx: Transaction,
    incoming: Sequence[Incoming],
    statements: Sequence[PlacedStatement],
    run: BatchContext,
    *,
    vectors: Mapping[str, EncodedPassage],
    touched: Iterable[Group] = (),
    retracted: Collection[UUID] = (),
) -> Written:
    """Write a batch: load all that it touches, decide, write all that follows. `vectors` holds the encoded form of fact texts;
    memories bring their own. `touched` and `retracted`: groups and memories that lost something before."""
    by_hand = run.extractor is None
    if not by_hand:
        incoming, statements = await _left_to_a_person(tx, incoming, statements)
    batch = await load(tx, incoming, run, retracted) if incoming or retracted else Batch(run, {})
    incoming, remembered = _reconciled(batch, incoming)
    batch.count_anew(retracted)
    entered = await enter(tx, _believed(statements, incoming, remembered), touched, by_hand=by_hand)
    await _follow(tx, batch, entered)
    rows = _to_index(incoming, remembered, entered, run, vectors)
    numbers = await passages.take(tx, len(rows))
    numbered = list(zip(rows, numbers, strict=True))
    async with tx.pipeline():
        await deduplication.send(tx, batch.changes, run.now, run.now + run.keys_kept)
        await facts.send(tx, entered.changes, run.extractor, run.extractor_version, run.now)
        segments: list[tuple[Layer, Segments]] = [
            (layer, await _index(tx, layer, numbered, run.model_id)) for layer in _LAYERS
        ]
        await _number(tx, numbered)
    for layer, sent in segments:
        await passages.merge(tx, layer, sent)
    await keys.remove(tx, batch.changes.gone)
    here = {source.message_id for one in incoming for source in one.sources}
    return Written(tuple(remembered), entered, sorted(entered.to_read_anew - here))


async def _left_to_a_person(
    tx: Transaction, incoming: Sequence[Incoming], statements: Sequence[PlacedStatement]
) -> tuple[list[Incoming], list[PlacedStatement]]:
    """What would end a fact that a person confirmed waits for a person: as the memory that says so, or as one of its own."""
    groups = {_group(one.stated) for one in statements}
    about = {(group.subject_id, predicate) for group in groups for predicate in group.predicates}
    confirmed = await facts.confirmed(tx, about) if about else []
    waiting, kept = list(incoming), list[PlacedStatement]()
    for statement in statements:
        if not any(_ends(statement.stated, fact) for fact in confirmed):
            kept.append(statement)
        elif statement.memory is None:
            waiting.append(_as_memory(statement.stated))
        elif waiting[statement.memory].review is None:
            told = waiting[statement.memory]
            waiting[statement.memory] = replace(told, review="suggested", review_reason=AGAINST_CONFIRMED)
    return waiting, [one for one in kept if one.memory is None or waiting[one.memory].review is None]


def _group(said: Stated) -> Group:
    return group_of(said.edge.subject_id, said.edge.predicate, said.edge.object_key)


def _ends(said: Stated, fact: ConfirmedFact) -> bool:
    """Whether a statement would end, or take the place of, a fact."""
    group = _group(said)
    if fact.subject_id != group.subject_id or fact.predicate not in group.predicates:
        return False
    same = (fact.predicate, fact.object_key) == (said.edge.predicate, said.edge.object_key)
    if denies_all_of(said) or (said.corrects and not same and said_wrong(said.said, fact.object)):
        return True
    rivals = group.object_key is None or fact.object_key == group.object_key
    since = said.valid_from or said.said_at
    return rivals and same == said.ended and (said.corrects or since >= fact.valid_from)


def _as_memory(said: Stated) -> Incoming:
    start, end = said.span or (None, None)
    return Incoming(
        type="fact",
        content=said.text,
        author=None,
        role=None,
        said_at=said.said_at,
        sources=(NewSource(said.message_id, start, end, said.confidence, said.quote),),
        confidence=said.confidence,
        review="suggested",
        review_reason=AGAINST_CONFIRMED,
    )


def _reconciled(batch: Batch, incoming: Sequence[Incoming]) -> tuple[list[Incoming], list[Remembered]]:
    """One after the other: a later one may take the place of an earlier one."""
    targeted: list[Incoming] = []
    remembered: list[Remembered] = []
    for place, one in enumerate(incoming):
        if one.replaces is not None and one.replaces < len(remembered):
            one = replace(one, target=remembered[one.replaces].lineage_id)
        targeted.append(one)
        remembered.append(reconcile(batch, place, one))
    return targeted, remembered


def _believed(
    statements: Sequence[PlacedStatement],
    incoming: Sequence[Incoming],
    remembered: Sequence[Remembered],
) -> list[Stated]:
    """Statements with their memories; those whose memory was set aside or is not wanted go with it."""
    believed: list[Stated] = []
    for statement in statements:
        if statement.memory is None:
            believed.append(statement.stated)
            continue
        outcome = remembered[statement.memory]
        if outcome.what not in ("waiting", "dropped"):
            of = incoming[statement.memory]
            wrong = of.target if of.relation == "corrects" else None
            believed.append(replace(statement.stated, memory_lineage_id=outcome.lineage_id, instead_of=wrong))
    return believed


async def _follow(tx: Transaction, batch: Batch, entered: Entered) -> None:
    """A memory is true as long as all that it states is: it is superseded with the first of its facts that holds no longer (the
    others stand by themselves), and comes back with it."""
    affected = entered.memories_of(entered.changed)
    if not affected:
        return
    unknown = [lineage_id for lineage_id in affected if lineage_id not in batch.known]
    stated, known = await deduplication.affected(tx, affected, unknown)
    batch.known |= known
    expressed = _expressed(stated, affected, entered)
    ended = {lineage_id: _ended(its_facts) for lineage_id, its_facts in expressed.items()}
    followers = await _memories_of_followers(tx, ended.values(), entered)
    for lineage_id, its_facts in expressed.items():
        memory = batch.current(lineage_id)
        if memory is None:
            continue
        if gone := ended[lineage_id]:
            until = max(min(f.valid_to for f in gone if f.valid_to is not None), memory.valid_from)
            later = memory.valid_to is not None and memory.valid_to < until
            if memory.valid_to != until and (not later or _followed(memory, its_facts, entered)):
                by = _successor(gone, followers)
                batch.new_version(lineage_id, {"valid_to": until, "superseded_by": by})
        elif memory.valid_to is not None and {f.lineage_id for f in its_facts} & set(entered.reopened):
            batch.new_version(lineage_id, {"valid_to": None, "superseded_by": None})


def _followed(memory: Memory, its_facts: Sequence[CurrentFact], entered: Entered) -> bool:
    """Whether a memory ended where one of its facts did so far."""
    ends = {entered.before.get(fact.lineage_id, fact).valid_to for fact in its_facts}
    return memory.valid_to in {max(end, memory.valid_from) for end in ends if end is not None}


def _expressed(
    stated: Sequence[Expressed], memories: Sequence[UUID], entered: Entered
) -> dict[UUID, list[CurrentFact]]:
    """What memories state, as it is believed after what was entered."""
    found: dict[UUID, dict[UUID, CurrentFact]] = {lineage_id: {} for lineage_id in memories}
    for one in stated:
        if one.source_id not in entered.rows:
            found[one.memory_lineage_id][one.fact.lineage_id] = one.fact
    for row in entered.rows.values():
        its_facts = None if row.memory_lineage_id is None else found.get(row.memory_lineage_id)
        if its_facts is not None and not row.ended and row.lineage_id in entered.facts:
            its_facts[row.lineage_id] = entered.facts[row.lineage_id]
    return {lineage_id: list(its_facts.values()) for lineage_id, its_facts in found.items() if its_facts}


def _ended(its_facts: Sequence[CurrentFact]) -> list[CurrentFact]:
    """Those that hold no longer. One that a memory corrects itself ("in Lisbon, sorry, Lagos") takes nothing from it."""
    open_ones = {fact.lineage_id for fact in its_facts if fact.valid_to is None}
    return [f for f in its_facts if f.valid_to is not None and f.superseded_by not in open_ones]


async def _memories_of_followers(
    tx: Transaction, ended: Iterable[Sequence[CurrentFact]], entered: Entered
) -> dict[UUID, list[UUID]]:
    """The memories that express what took the place of facts."""
    followers = {fact.superseded_by for gone in ended for fact in gone if fact.superseded_by is not None}
    near = {lineage_id: entered.memories_of([lineage_id]) for lineage_id in followers & entered.facts.keys()}
    far = followers - near.keys()
    return near | (await facts.memories_of(tx, far) if far else {})


def _successor(its_facts: Sequence[CurrentFact], followers: Mapping[UUID, Sequence[UUID]]) -> UUID | None:
    """The memory that says what took the place of these facts: the latest."""
    found = [one for fact in its_facts if fact.superseded_by for one in followers.get(fact.superseded_by, ())]
    return max(found, default=None)


@dataclass(frozen=True, slots=True)
class _Row:
    """A passage to be written; `lineage_id` of the fact, `owner_id` of the memory's version that gets its number."""

    layer: Layer
    passage: NewPassage
    vector: EncodedPassage | None


def _to_index(
    incoming: Sequence[Incoming],
    remembered: Sequence[Remembered],
    entered: Entered,
    run: BatchContext,
    vectors: Mapping[str, EncodedPassage],
) -> list[_Row]:
    """Passages of the memories and facts that are new, or say it in new words."""
    rows: list[_Row] = []
    for one, outcome in zip(incoming, remembered, strict=True):
        if outcome.memory_id is not None and outcome.what in ("new", "fuller", "successor", "key"):
            text = in_search(one.author, one.role, one.content)
            lineage_id = outcome.lineage_id or outcome.memory_id
            is_key = outcome.what == "key"
            passage = NewPassage(
                KEY if is_key else "memory",
                outcome.memory_id,
                lineage_id,
                text,
                one.author,
                one.role,
                one.said_at,
                run.taxonomy,
            )
            rows.append(_Row("keys" if is_key else "known", passage, one.vector))
    for fact_id, stated in entered.made:
        passage = NewPassage("fact", fact_id, fact_id, stated.text, None, None, stated.said_at, run.taxonomy)
        rows.append(_Row("known", passage, vectors.get(stated.text)))
    return rows


async def _index(
    tx: Transaction, layer: Layer, numbered: Sequence[tuple[_Row, int]], model_id: int | None
) -> Segments:
    """Write the passages of a layer; for a pipeline."""
    mine = [(row, number) for row, number in numbered if row.layer == layer]
    encoded = {} if model_id is None else {model_id: [row.vector for row, _ in mine]}
    return await passages.send(
        tx, layer, [number for _, number in mine], [row.passage for row, _ in mine], encoded
    )


async def _number(tx: Transaction, numbered: Sequence[tuple[_Row, int]]) -> None:
    """Tell memories and facts where their words are indexed; for a pipeline."""
    owners = [(row.passage.kind, row.passage.owner_id, number) for row, number in numbered]
    await memories.set_passages(tx, {owner: number for kind, owner, number in owners if kind != "fact"})
    await facts.set_passages(tx, {owner: number for kind, owner, number in owners if kind == "fact"})


async def retell(tx: Transaction, lineages: Sequence[UUID], one: UUID, other: UUID, now: datetime) -> None:
    """Work out anew what held when, for the groups of these facts: after two entities were made one, or one two. Facts went
    from one to the other, so the groups of both are looked at. Under the workspace's lock."""
    groups: list[Group] = []
    for subject_id, predicate, object_key in await facts.edges(tx, lineages):
        subjects = (one, other) if subject_id in (one, other) else (subject_id,)
        objects = (str(one), str(other)) if object_key in (str(one), str(other)) else (object_key,)
        groups += [group_of(subject, predicate, key) for subject in subjects for key in objects]
    await write(tx, [], [], BatchContext(now=now), vectors={}, touched=list(dict.fromkeys(groups)))


async def close_unsupported(tx: Transaction, lineages: Sequence[UUID], now: datetime) -> int:
    """Memories whose words were read anew and no longer say it: superseded by nothing. Keys go. Returns how many."""
    found = await memories.without_sources(tx, lineages)
    await keys.remove(tx, [one.lineage_id for one in found if one.tier == "key"])
    gone = [one for one in found if one.tier == "shown"]
    reason = "no longer found when its messages were read anew"
    if gone:
        async with tx.pipeline():
            for memory in gone:
                changes = {"valid_to": memory.valid_from, "review": None, "review_reason": reason}
                await memories.new_version(tx, memory.lineage_id, changes, now)
    return len(gone)
