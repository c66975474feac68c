"""Writing: what was distilled or told enters the store, in the caller's transaction and under the workspace's lock.

Memories are held against what is known, statements entered into the chronicle, memories superseded along with the facts that
they express, and what is new is indexed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from everlore.knowledge.deduplication import Incoming, Remembered, Run, in_search, reconcile
from everlore.knowledge.supersession import Author, Entered, Group, Stated, enter, group_of
from everlore.ports.embedder import EncodedPassage
from everlore.store import facts, memories, passages
from everlore.store.facts import CurrentFact
from everlore.store.passages import DistilledPassage
from everlore.store.run import Transaction


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement with the place of the memory that says the same (from 0), if there is one."""

    stated: Stated
    memory: int | None


@dataclass(frozen=True, slots=True)
class Written:
    """What came of a batch: one outcome per memory, in order, and the facts that were entered."""

    memories: tuple[Remembered, ...]
    entered: Entered


async def write(
    tx: Transaction,
    incoming: Sequence[Incoming],
    statements: Sequence[Statement],
    run: Run,
    *,
    vectors: Mapping[str, EncodedPassage],
    touched: Iterable[Group] = (),
) -> Written:
    """Write a batch. `vectors` holds the encoded form of fact texts; memories bring their own."""
    incoming, remembered = await _reconciled(tx, incoming, run)
    entered = await enter(
        tx,
        _believed(statements, remembered, await _corrected(tx, incoming)),
        Author(run.extractor, run.extractor_version),
        run.now,
        touched,
    )
    await _follow(tx, entered, run.now)
    await _index(tx, incoming, remembered, entered, run, vectors)
    return Written(tuple(remembered), entered)


async def _reconciled(
    tx: Transaction, incoming: Sequence[Incoming], run: Run
) -> tuple[list[Incoming], list[Remembered]]:
    """One after the other: a later one may take the place of an earlier one."""
    targeted: list[Incoming] = []
    remembered: list[Remembered] = []
    for one in incoming:
        if one.replaces is not None and one.replaces < len(remembered):
            one = replace(one, target=remembered[one.replaces].lineage_id)
        targeted.append(one)
        remembered.append(await reconcile(tx, one, run))
    return targeted, remembered


async def _corrected(tx: Transaction, incoming: Sequence[Incoming]) -> dict[int, frozenset[UUID]]:
    """The facts that those memories stated which are corrected, by the place of the memory that corrects them."""
    targets = {
        place: one.target for place, one in enumerate(incoming) if one.relation == "corrects" and one.target
    }
    if not targets:
        return {}
    stated = await facts.of_memories(tx, list(targets.values()))
    return {
        place: frozenset(fact.lineage_id for lineage_id, fact in stated if lineage_id == target)
        for place, target in targets.items()
    }


def _believed(
    statements: Sequence[Statement],
    remembered: Sequence[Remembered],
    corrected: Mapping[int, frozenset[UUID]],
) -> list[Stated]:
    """Statements with their memories; those whose memory was set aside or is not wanted go with it."""
    believed: list[Stated] = []
    for statement in statements:
        if statement.memory is None:
            believed.append(statement.stated)
            continue
        outcome = remembered[statement.memory]
        if outcome.what not in ("waiting", "dropped"):
            wrong = corrected.get(statement.memory, frozenset())
            believed.append(replace(statement.stated, memory_lineage_id=outcome.lineage_id, instead_of=wrong))
    return believed


async def _follow(tx: Transaction, entered: Entered, now: datetime) -> None:
    """A memory is true as long as all that it states is: it is superseded with the first of its facts that holds no longer (the
    others stand by themselves), and comes back with it."""
    affected = await facts.memories_of(tx, list(dict.fromkeys(entered.changed)))
    expressed: dict[UUID, list[CurrentFact]] = {}
    for lineage_id, fact in await facts.of_memories(tx, affected):
        expressed.setdefault(lineage_id, []).append(fact)
    for lineage_id, its_facts in expressed.items():
        memory = await memories.current(tx, lineage_id)
        if memory is None:
            continue
        open_ones = {fact.lineage_id for fact in its_facts if fact.valid_to is None}
        # One that it corrects itself ("in Lisbon, sorry, Lagos") takes nothing from it.
        ended = [f for f in its_facts if f.valid_to is not None and f.superseded_by not in open_ones]
        if ended:
            until = max(min(f.valid_to for f in ended if f.valid_to is not None), memory.valid_from)
            if memory.valid_to is None or memory.valid_to > until:
                by = await _successor(tx, ended)
                await memories.new_version(tx, lineage_id, {"valid_to": until, "superseded_by": by}, now)
        elif memory.valid_to is not None and open_ones & set(entered.reopened):
            await memories.new_version(tx, lineage_id, {"valid_to": None, "superseded_by": None}, now)


async def _successor(tx: Transaction, its_facts: Sequence[CurrentFact]) -> UUID | None:
    """The memory that says what took the place of these facts."""
    successors = [fact.superseded_by for fact in its_facts if fact.superseded_by is not None]
    found = await facts.memories_of(tx, successors) if successors else []
    return found[-1] if found else None


async def _index(
    tx: Transaction,
    incoming: Sequence[Incoming],
    remembered: Sequence[Remembered],
    entered: Entered,
    run: Run,
    vectors: Mapping[str, EncodedPassage],
) -> None:
    """Passages of the memories and facts that are new, or say it in new words."""
    rows: list[tuple[DistilledPassage, EncodedPassage | None]] = []
    for one, outcome in zip(incoming, remembered, strict=True):
        if outcome.memory_id is not None and outcome.what in ("new", "fuller", "successor"):
            text = in_search(one.author, one.role, one.content)
            passage = DistilledPassage(
                "memory", outcome.memory_id, text, one.author, one.role, one.said_at, run.taxonomy
            )
            rows.append((passage, one.vector))
    for fact_id, stated in entered.made:
        passage = DistilledPassage("fact", fact_id, stated.text, None, None, stated.said_at, run.taxonomy)
        rows.append((passage, vectors.get(stated.text)))
    for with_vector in (True, False):
        await _insert(tx, [row for row in rows if (row[1] is not None) == with_vector], run.model_id)


async def _insert(
    tx: Transaction,
    rows: Sequence[tuple[DistilledPassage, EncodedPassage | None]],
    model_id: int | None,
) -> None:
    encoded = [vector for _, vector in rows if vector is not None]
    given = {model_id: encoded} if encoded and model_id is not None else None
    numbers = await passages.insert(tx, [passage for passage, _ in rows], given)
    owners = {
        kind: {
            passage.owner_id: number
            for (passage, _), number in zip(rows, numbers, strict=True)
            if passage.kind == kind
        }
        for kind in ("memory", "fact")
    }
    await memories.set_passages(tx, owners["memory"])
    await facts.set_passages(tx, owners["fact"])


async def retell(tx: Transaction, lineages: Sequence[UUID], one: UUID, other: UUID, now: datetime) -> None:
    """Work out anew what held when, for the groups of these facts: after two entities were made one, or one two. Facts went
    from one to the other, so the groups of both are looked at. Under the workspace's lock."""
    groups: list[Group] = []
    for subject_id, predicate, object_key in await facts.edges(tx, lineages):
        subjects = (one, other) if subject_id in (one, other) else (subject_id,)
        objects = (str(one), str(other)) if object_key in (str(one), str(other)) else (object_key,)
        groups += [group_of(subject, predicate, key) for subject in subjects for key in objects]
    await write(tx, [], [], Run(now=now), vectors={}, touched=list(dict.fromkeys(groups)))


async def close_unsupported(tx: Transaction, lineages: Sequence[UUID], now: datetime) -> int:
    """Memories whose words were read anew and no longer say it: superseded by nothing. Returns how many."""
    gone = await memories.without_sources(tx, lineages)
    for memory in gone:
        await memories.new_version(
            tx,
            memory.lineage_id,
            {
                "valid_to": memory.valid_from,
                "review": None,
                "review_reason": "no longer found when its messages were read anew",
            },
            now,
        )
    return len(gone)
