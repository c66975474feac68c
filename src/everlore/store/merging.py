"""Two entities become one, or one two; each change remembers the rows that it re-pointed, so that it can be undone.

Nothing is lost in a merge: a row whose like the kept entity has already (the same name, a mention of the same message) stays
with the merged one, unseen, and is there again when the merge is undone. Facts that now repeat or contradict each other are
all kept; which of them holds when is for the timeline to work out anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.graph import ChangeKind, EntityChange
from everlore.domain.ids import new_id
from everlore.store import entities
from everlore.store.queries import queries
from everlore.store.run import Transaction

_QUERIES = queries("merging")

# What can be re-pointed, and by which query.
_TAKE = {
    "aliases": "take_aliases",
    "mentions": "take_mentions",
    "memories": "take_memories",
    "subjects": "take_subjects",
    "objects": "take_objects",
}

Moved = dict[str, list[UUID]]


@dataclass(frozen=True, slots=True)
class Change:
    """A change as it is kept. Facts and memories in `moved` are lineages, mentions are messages. `made`: aliases that the
    change itself brought. `renamed`: the kept entity's name before and after, if a split took it away. `statements`: the fact
    that each statement counted for before a merge, because the timeline may let them count for one. `number` counts changes
    from 1."""

    number: int
    change_id: UUID
    kind: ChangeKind
    kept_id: UUID
    other_id: UUID
    moved: Moved
    made: list[UUID]
    renamed: tuple[str, str] | None
    made_at: datetime
    undone_at: datetime | None
    statements: Mapping[UUID, UUID] = field(default_factory=dict[UUID, UUID])

    @property
    def facts(self) -> list[UUID]:
        """Lineages of the facts whose timelines are to be worked out anew."""
        moved = [*self.moved.get("subjects", []), *self.moved.get("objects", [])]
        return list(dict.fromkeys([*moved, *self.statements.values()]))


async def lock(tx: Transaction, *entity_ids: UUID) -> dict[UUID, tuple[str, UUID | None]]:
    """Hold off distillation, then lock entities; for each its name and what it was merged into."""
    await tx.done(_QUERIES["lock_state"])
    found: dict[UUID, tuple[str, UUID | None]] = {}
    for entity_id in sorted(set(entity_ids)):
        row = await tx.tuple(_QUERIES["lock_entity"], entity_id=entity_id)
        if row is None:
            raise NotFound(f"There is no entity {entity_id}.")
        found[row[0]] = (row[1], row[2])
    return found


async def merge(tx: Transaction, kept_id: UUID, other_id: UUID, now: datetime) -> Change:
    """All that is known of `other_id` becomes known of `kept_id`. Raises InvalidInput, NotFound."""
    if kept_id == other_id:
        raise InvalidInput("other", "is the same entity; name two to merge")
    for entity_id, (name, into) in (await lock(tx, kept_id, other_id)).items():
        if into is not None:
            field = "keep" if entity_id == kept_id else "other"
            raise InvalidInput(
                field, f"{name} was merged already; undo that, or name what it was merged into"
            )
    statements = dict(await tx.tuples(_QUERIES["statements_of_both"], kept=kept_id, other=other_id))
    moved = await _take(tx, other_id, kept_id)
    await tx.done(_QUERIES["set_merged"], entity_id=other_id, into=kept_id)
    number = await _next_number(tx)
    change = Change(number, new_id(), "merge", kept_id, other_id, moved, [], None, now, None, statements)
    return await _note(tx, change)


async def split(
    tx: Transaction,
    entity_id: UUID,
    alias_ids: Sequence[UUID],
    made: entities.NewEntity,
    given: entities.NewAlias,
    messages: Sequence[UUID],
    now: datetime,
) -> Change:
    """Some names of an entity, and what only `messages` say of it, go to a new one. Raises InvalidInput, NotFound."""
    name, into = (await lock(tx, entity_id))[entity_id]
    if into is not None:
        raise InvalidInput("entity", f"{name} was merged already; split what it was merged into")
    facts = await tx.values(
        _QUERIES["facts_stated_in"], entity_id=entity_id, messages=list(messages), memories=list[UUID]()
    )
    memories = await tx.values(_QUERIES["memories_stated_in"], entity_id=entity_id, messages=list(messages))
    await entities.insert(tx, [made], now)
    limits = {
        "aliases": list(alias_ids),
        "mentions": list(messages),
        "memories": memories,
        "subjects": facts,
        "objects": facts,
    }
    moved = await _take(tx, entity_id, made.entity_id, limits)
    known = await entities.find_alias(tx, made.entity_id, given.key)
    brought: list[UUID] = []
    if known is None:
        await entities.add_aliases(tx, [given], now)
        found = await entities.find_alias(tx, made.entity_id, given.key)
        brought = [found[0]] if found else []
    former = await _renamed(tx, entity_id, name)
    number = await _next_number(tx)
    change = Change(number, new_id(), "split", entity_id, made.entity_id, moved, brought, former, now, None)
    return await _note(tx, change)


async def undo(tx: Transaction, change_id: UUID, now: datetime) -> Change:
    """Put back the rows that a change moved, as far as they are still there. Raises InvalidInput, NotFound.

    What was said since under names that are only the returned entity's goes with it, as a split would take it.
    Changes are undone in any order that leaves no doubt whose a row is: what came to stand on this change is undone first.
    """
    # The order of locks is that of merge: the state, the entities, then the change.
    await tx.done(_QUERIES["lock_state"])
    change = await tx.row(_QUERIES["lock_change"], _change, change_id=change_id)
    if change is None:
        raise NotFound(f"There is no change {change_id}.")
    if change.undone_at is not None:
        raise InvalidInput("change", "was undone already")
    held = await lock(tx, change.kept_id, change.other_id)
    await _require_undoable(tx, change, held)
    if change.kind == "merge":
        await tx.done(_QUERIES["set_merged"], entity_id=change.other_id, into=None)
        await _take(tx, change.kept_id, change.other_id, change.moved)
        await tx.done(
            _QUERIES["statements_back"],
            sources=list(change.statements),
            lineages=list(change.statements.values()),
        )
        await _fill_gaps(tx, change.kept_id)
        since = await _said_since(tx, change)
        change = replace(change, moved={what: change.moved.get(what, []) + since[what] for what in _TAKE})
    else:
        for alias_id in change.made:
            await entities.remove_alias(tx, alias_id)
        # What the new entity has come to know since goes back with the rest.
        await _take(tx, change.other_id, change.kept_id)
        await tx.done(_QUERIES["set_merged"], entity_id=change.other_id, into=change.kept_id)
        await _name_back(tx, change, held[change.kept_id][0])
    await tx.done(_QUERIES["set_undone"], change_id=change_id, now=now)
    return replace(change, undone_at=now)


async def remove_unspoken(tx: Transaction, change: Change) -> None:
    """Who stands for himself again, whose name was erased meanwhile with all that spoke of him, bears the other's name and
    stands for nothing."""
    await tx.done(_QUERIES["remove_unspoken"], entities=[change.kept_id, change.other_id])


async def changes(tx: Transaction, at_most: int) -> list[EntityChange]:
    return await as_shown(tx, await tx.rows(_QUERIES["list_changes"], _change, at_most=at_most))


async def as_shown(tx: Transaction, found: Sequence[Change]) -> list[EntityChange]:
    shown, _ = await entities.nodes(
        tx, {entity_id: 0 for change in found for entity_id in (change.kept_id, change.other_id)}
    )
    return [
        EntityChange(
            change.change_id,
            change.kind,
            shown[change.kept_id],
            shown[change.other_id],
            {what: len(ids) for what, ids in change.moved.items() if ids},
            change.made_at,
            change.undone_at,
        )
        for change in found
    ]


async def messages_naming(tx: Transaction, entity_id: UUID, names: Sequence[str]) -> list[UUID]:
    """Of the messages that name an entity, those that contain one of these names."""
    return await tx.values(_QUERIES["messages_naming"], entity_id=entity_id, names=list(names))


async def _require_undoable(
    tx: Transaction, change: Change, held: Mapping[UUID, tuple[str, UUID | None]]
) -> None:
    """A row that a later change took along is not ours to give back before that one is undone."""
    name, into = held[change.kept_id]
    if into is not None:
        raise InvalidInput("change", f"{name} was merged into another since; undo that first")
    if change.kind == "split":
        if any(later.number != change.number for later in await _standing(tx, change.other_id)):
            raise InvalidInput(
                "change", "what was split off was merged or split again since; undo that first"
            )
        return
    ours = _rows(change)
    for later in await _standing(tx, change.kept_id):
        took = later.kind == "split" and later.kept_id == change.kept_id and later.number > change.number
        if took and ours & _rows(later):
            raise InvalidInput("change", "a later split took along what this merge brought; undo that first")


def _rows(change: Change) -> set[tuple[str, UUID]]:
    return {(what, row) for what, rows in change.moved.items() for row in rows}


async def _name_back(tx: Transaction, change: Change, shown: str) -> None:
    """Give the kept entity its name of before the split; if a later split took away the one after, that one remembers it."""
    if change.renamed is None:
        return
    before, after = change.renamed
    if shown == after:
        await entities.rename(tx, change.kept_id, before)
        return
    for later in await _standing(tx, change.kept_id):
        if later.renamed is not None and later.renamed[0] == after and later.change_id != change.change_id:
            await _rewrite(tx, replace(later, renamed=(before, later.renamed[1])))


async def _rewrite(tx: Transaction, change: Change) -> None:
    await tx.done(_QUERIES["set_moved"], change_id=change.change_id, moved=_kept(change))


async def _fill_gaps(tx: Transaction, entity_id: UUID) -> None:
    """What others that are merged into an entity kept to themselves, because it had the like of it from the one that has just
    left, is needed now."""
    by_other = {change.other_id: change for change in await _standing(tx, entity_id)}
    for merged in await tx.values(_QUERIES["merged_into"], entity_id=entity_id):
        more = await _take(tx, merged, entity_id)
        if (change := by_other.get(merged)) and any(more.values()):
            moved = {what: change.moved.get(what, []) + more[what] for what in _TAKE}
            await _rewrite(tx, replace(change, moved=moved))


async def _said_since(tx: Transaction, change: Change) -> Moved:
    """After a merge was undone: give the other entity what was said since under its names alone. What a later merge brought
    is not touched, that one will give it back."""
    kept, other = await entities.load(tx, [change.kept_id, change.other_id], counted=False)
    shared = {alias.variant.casefold() for alias in kept.aliases}
    names = [alias.variant for alias in other.aliases if alias.variant.casefold() not in shared]
    asked: dict[str, Any] = {
        "entity_id": change.kept_id,
        "names": names,
        "others": [alias.variant for alias in kept.aliases],
        "since": change.made_at,
    }
    messages = await tx.values(_QUERIES["messages_since"], **asked)
    told = await tx.values(_QUERIES["told_since"], **asked)
    read: dict[str, Any] = {"entity_id": change.kept_id, "messages": messages}
    facts = await tx.values(_QUERIES["facts_stated_in"], **read, memories=told)
    memories = [*await tx.values(_QUERIES["memories_stated_in"], **read), *told]
    found = {"aliases": [], "mentions": messages, "memories": memories, "subjects": facts, "objects": facts}
    standing = [one for one in await _standing(tx, change.kept_id) if one.change_id != change.change_id]
    theirs = {row for one in standing if one.kind == "merge" for row in _rows(one)}
    free = {what: [row for row in rows if (what, row) not in theirs] for what, rows in found.items()}
    return await _take(tx, change.kept_id, change.other_id, free)


async def _take(
    tx: Transaction, giver: UUID, taker: UUID, only: Mapping[str, Sequence[UUID]] | None = None
) -> Moved:
    """Re-point rows from one entity to another; those in `only`, or all. Returns what was moved."""
    moved: Moved = {}
    for what, query in _TAKE.items():
        limit = None if only is None else list(only.get(what, ()))
        taken: list[UUID] = await tx.values(_QUERIES[query], giver=giver, taker=taker, only=limit)
        moved[what] = list(dict.fromkeys(taken))  # a fact once, not once for each version
    return moved


async def _renamed(tx: Transaction, entity_id: UUID, name: str) -> tuple[str, str] | None:
    """After a split: an entity whose name went with the other half is shown under its surest one. Returns both."""
    (entity,) = await entities.load(tx, [entity_id])
    if not entity.aliases:
        raise InvalidInput("aliases", "takes every name; leave at least one to the entity")
    if name.casefold() in {alias.variant.casefold() for alias in entity.aliases}:
        return None
    await entities.rename(tx, entity_id, entity.aliases[0].variant)
    return name, entity.aliases[0].variant


async def _standing(tx: Transaction, entity_id: UUID) -> list[Change]:
    return await tx.rows(_QUERIES["standing_changes"], _change, entity_id=entity_id)


async def _next_number(tx: Transaction) -> int:
    return await tx.value(_QUERIES["next_number"])


async def _note(tx: Transaction, change: Change) -> Change:
    await tx.done(
        _QUERIES["insert_change"],
        change_id=change.change_id,
        kind=change.kind,
        kept=change.kept_id,
        other=change.other_id,
        moved=_kept(change),
        now=change.made_at,
    )
    return change


def _kept(change: Change) -> Jsonb:
    rows = {what: [str(row) for row in moved] for what, moved in change.moved.items()}
    made = [str(row) for row in change.made]
    statements = {str(source): str(lineage) for source, lineage in change.statements.items()}
    return Jsonb(
        {
            **rows,
            "made": made,
            "renamed": change.renamed,
            "number": change.number,
            "statements": statements,
        }
    )


def _change(*, moved: dict[str, Any], **columns: Any) -> Change:
    renamed = moved.get("renamed")
    statements: dict[str, str] = moved.get("statements", {})
    return Change(
        number=moved["number"],
        moved={what: [UUID(one) for one in moved.get(what, [])] for what in _TAKE},
        made=[UUID(one) for one in moved.get("made", [])],
        renamed=(renamed[0], renamed[1]) if renamed else None,
        statements={UUID(source): UUID(lineage) for source, lineage in statements.items()},
        **columns,
    )
