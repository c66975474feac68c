"""Entities and the alias matrix: who is known, under which names, and in which messages."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from psycopg import AsyncCursor
from psycopg.rows import kwargs_row, scalar_row, tuple_row

from everlore.domain.graph import LinkSuggestion, Node
from everlore.domain.ids import new_id, new_ids, short_id
from everlore.domain.memories import Alias, AliasOrigin, Entity, EntityType
from everlore.store.queries import queries
from everlore.store.run import Transaction

T = TypeVar("T")

_QUERIES = queries("entities")


@dataclass(frozen=True, slots=True)
class NewEntity:
    entity_id: UUID
    name: str
    type: EntityType


@dataclass(frozen=True, slots=True)
class NewAlias:
    """`key` is that of `everlore.text.variants`; `said_at`: when somebody was first called so, if it was his name there. A weight
    of 0 leaves a known one as it is."""

    entity_id: UUID
    variant: str
    key: str
    weight: float
    origin: AliasOrigin
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """An alias that a name was looked up as. `given` is the key, name or word that was asked for; `score` is 0-1; `type` that of
    the entity, where it was asked for."""

    given: str
    entity_id: UUID
    variant: str
    weight: float
    score: float
    type: EntityType = "other"


@dataclass(frozen=True, slots=True)
class Called:
    """An entity that bears a name, by the name's key, with all of its names; `weight`: how surely the name means it, 0-1."""

    given: str
    entity_id: UUID
    weight: float
    type: EntityType
    names: Sequence[str]


@dataclass(frozen=True, slots=True)
class MentionPlace:
    """Where a message stands: what tells whether two worlds meet. `author`: the person who wrote it, None for an assistant."""

    message_id: UUID
    thread_id: UUID
    position: int
    project_id: UUID | None
    taxonomy: str | None
    author: str | None


@dataclass(frozen=True, slots=True)
class FactOfEntity:
    """What a current fact says of an entity."""

    predicate: str
    object_id: UUID | None
    object: str
    valid_from: datetime


@dataclass(frozen=True, slots=True)
class LookedUp:
    """What names of a window may mean: where its messages stand, what they mention already, who bears exactly these names,
    who has the words in a name; and by the keys of `owners` all names of the last who bears one."""

    places: Mapping[UUID, MentionPlace]
    mentions: frozenset[tuple[UUID, UUID]]
    exact: Sequence[Match]
    partly: Sequence[Match]
    owners: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Entities with all that tells whether they are meant: names, last mentions, what current facts say of them, and by their
    keys when names were first said; `by_hand`: those that a person gave a name."""

    entities: Sequence[Entity]
    places: Mapping[UUID, Sequence[MentionPlace]]
    stated: Mapping[UUID, Sequence[FactOfEntity]]
    said: Mapping[UUID, Mapping[str, datetime]]
    by_hand: frozenset[UUID]


async def look_up(
    tx: Transaction,
    messages: Collection[UUID],
    keys: Collection[str],
    words: Collection[str],
    owners: Collection[str],
    at_most: int,
) -> LookedUp:
    """Entities by the exact keys of their names, and at most so many for each word that stands in a name."""
    async with tx.pipeline():
        places = await tx.sent(_QUERIES["places_of"], kwargs_row(MentionPlace), messages=list(messages))
        named = await tx.sent(_QUERIES["mentions_in"], tuple_row, messages=list(messages))
        exact = await tx.sent(_QUERIES["by_keys"], kwargs_row(Match), keys=sorted(keys))
        owning = await tx.sent(_QUERIES["names_of"], tuple_row, keys=sorted(owners))
        partly = await tx.sent(_QUERIES["with_word"], kwargs_row(Match), words=sorted(words), at_most=at_most)
    names: dict[str, dict[UUID, list[str]]] = {}
    for key, entity_id, name in await owning.fetchall():
        names.setdefault(key, {}).setdefault(entity_id, []).append(name)
    return LookedUp(
        {place.message_id: place for place in await places.fetchall()},
        frozenset([(row[0], row[1]) for row in await named.fetchall()]),
        await exact.fetchall(),
        await partly.fetchall(),
        {key: list(of_one.values())[-1] for key, of_one in names.items()},
    )


async def candidates(
    tx: Transaction, entity_ids: Collection[UUID], predicates: Collection[str], at_most: int
) -> Candidates:
    """At most so many mentions of each, and what is stated under these predicates."""
    ids = list(entity_ids)
    async with tx.pipeline():
        named = await tx.sent(_QUERIES["load_aliases"], kwargs_row(_alias_of), entities=ids)
        loaded = await tx.sent(_QUERIES["load_entities"], kwargs_row(Entity), entities=ids, count_to=0)
        mentioned = await tx.sent(
            _QUERIES["last_mentions"], kwargs_row(_place_of), entities=ids, at_most=at_most
        )
        stated = await tx.sent(
            _QUERIES["stated"], kwargs_row(_stated_of), entities=ids, predicates=list(predicates)
        )
        called = await tx.sent(_QUERIES["names_said"], tuple_row, entities=ids)
    said: dict[UUID, dict[str, datetime]] = {}
    by_hand: set[UUID] = set()
    for entity_id, key, said_at, origin in await called.fetchall():
        if said_at is not None:
            said.setdefault(entity_id, {})[key] = said_at
        if origin == "by hand":
            by_hand.add(entity_id)
    aliases = _listed(await named.fetchall())
    return Candidates(
        [replace(one, aliases=tuple(aliases.get(one.entity_id, ()))) for one in await loaded.fetchall()],
        _listed(await mentioned.fetchall()),
        _listed(await stated.fetchall()),
        said,
        frozenset(by_hand),
    )


def _listed(pairs: Iterable[tuple[UUID, T]]) -> dict[UUID, list[T]]:
    found: dict[UUID, list[T]] = {}
    for entity_id, one in pairs:
        found.setdefault(entity_id, []).append(one)
    return found


@dataclass(frozen=True, slots=True)
class Learned:
    """What a window brings: entities, better names and kinds of known ones, names, mentions (entity and message) and pairs that
    may be one (two entities, the reason, and how likely it is, 0-1; once decided, never again)."""

    made: Sequence[NewEntity]
    changed: Sequence[NewEntity]
    aliases: Sequence[NewAlias]
    mentions: Collection[tuple[UUID, UUID]]
    suggestions: Sequence[tuple[UUID, UUID, str, float]]


async def learn(tx: Transaction, what: Learned, now: datetime) -> None:
    async with tx.pipeline():
        await insert(tx, what.made, now)
        if what.changed:
            await tx.done(
                _QUERIES["change"],
                ids=[one.entity_id for one in what.changed],
                names=[one.name for one in what.changed],
                types=[one.type for one in what.changed],
            )
        await add_aliases(tx, what.aliases, now)
        await add_mentions(tx, what.mentions, now)
        await suggest_links(tx, what.suggestions, now)


async def detach(tx: Transaction, names: Sequence[tuple[UUID, str]]) -> list[UUID]:
    """Take names (entity and key) off those who were only taken to bear them, with all that was read of them; returns the
    messages that are to be read anew for it."""
    ids = list({entity_id for entity_id, _ in names})
    async with tx.pipeline():
        await tx.done(
            _QUERIES["detach_names"], entities=[one for one, _ in names], keys=[key for _, key in names]
        )
        mentioned = await tx.sent(_QUERIES["detach_mentions"], scalar_row, entities=ids)
        await tx.done(_QUERIES["detach_memories"], entities=ids)
        await tx.done(_QUERIES["forget_type"], entities=ids)
    return await mentioned.fetchall()


async def insert(tx: Transaction, entities: Sequence[NewEntity], now: datetime) -> None:
    if entities:
        await tx.done(
            _QUERIES["insert_entities"],
            ids=[e.entity_id for e in entities],
            names=[e.name for e in entities],
            types=[e.type for e in entities],
            now=now,
        )


async def delete_unspoken(tx: Transaction, entity_ids: Sequence[UUID]) -> int:
    """Of these entities those go that no mention, memory or fact speaks of any more, no person named, and no change that can be
    undone knows."""
    return await tx.done(_QUERIES["delete_unspoken"], entities=list(entity_ids)) if entity_ids else 0


async def add_aliases(tx: Transaction, aliases: Sequence[NewAlias], now: datetime) -> None:
    """Add names; the surest of those with one key and entity wins."""
    best: dict[tuple[UUID, str], NewAlias] = {}
    for alias in sorted(aliases, key=lambda alias: alias.weight):
        best[alias.entity_id, alias.key] = alias
    if best:
        chosen = list(best.values())
        await tx.done(
            _QUERIES["add_aliases"],
            ids=new_ids(len(chosen)),
            entities=[a.entity_id for a in chosen],
            variants=[a.variant for a in chosen],
            keys=[a.key for a in chosen],
            weights=[float(a.weight) for a in chosen],
            origins=[a.origin for a in chosen],
            said=[a.said_at for a in chosen],
            now=now,
        )


async def find_alias(tx: Transaction, entity_id: UUID, key: str) -> tuple[UUID, str] | None:
    found = await tx.tuple(_QUERIES["find_alias"], entity_id=entity_id, key=key)
    return (found[0], found[1]) if found else None


async def remove_alias(tx: Transaction, alias_id: UUID) -> None:
    await tx.done(_QUERIES["delete_alias"], alias_id=alias_id)


async def rename(tx: Transaction, entity_id: UUID, name: str) -> None:
    await tx.done(_QUERIES["rename"], entity_id=entity_id, name=name)


async def add_mentions(tx: Transaction, pairs: Iterable[tuple[UUID, UUID]], now: datetime) -> None:
    """Each pair is an entity and a message that names it."""
    if chosen := sorted(set(pairs)):
        await tx.done(
            _QUERIES["add_mentions"],
            entities=[e for e, _ in chosen],
            messages=[m for _, m in chosen],
            now=now,
        )


async def by_keys(tx: Transaction, keys: Iterable[str]) -> list[Match]:
    """Entities by the exact keys of their names; merged ones never."""
    keys = set(keys)
    return await tx.rows(_QUERIES["by_keys"], Match, keys=sorted(keys)) if keys else []


async def called(tx: Transaction, keys: Iterable[str]) -> AsyncCursor[Called]:
    """The entities that bear names, by their exact keys, sent: for a pipeline."""
    return await tx.sent(_QUERIES["called"], kwargs_row(Called), keys=list(keys))


async def similar(tx: Transaction, names: Iterable[str], threshold: float, at_most: int) -> list[Match]:
    """For each name, the entities whose names are spelled nearly so: trigram similarity from `threshold` (0-1) on."""
    return await tx.rows(
        _QUERIES["similar"], Match, names=sorted(set(names)), threshold=threshold, at_most=at_most
    )


async def with_word(tx: Transaction, words: Iterable[str], at_most: int) -> list[Match]:
    """For each word, the entities that have it in a name, those of short names first."""
    words = set(words)
    return await tx.rows(_QUERIES["with_word"], Match, words=sorted(words), at_most=at_most) if words else []


async def ending(tx: Transaction, digits: str) -> list[UUID]:
    """Up to two entities whose id ends so: none, the one, or proof that more must be typed."""
    return await tx.values(_QUERIES["entities_ending"], ending=digits)


async def surviving(tx: Transaction, entity_id: UUID) -> UUID | None:
    """The entity, or what it was merged into in the end; None if there is none of that id."""
    return await tx.value(_QUERIES["surviving"], entity_id=entity_id)


async def load(tx: Transaction, entity_ids: Sequence[UUID], *, counted: bool = True) -> list[Entity]:
    """Entities with their names, in the order asked for; and with the number of their mentions, which for one that every
    message names takes time, if `counted` (else 0)."""
    if not entity_ids:
        return []
    asked = list(entity_ids)
    async with tx.pipeline():
        named = await tx.sent(_QUERIES["load_aliases"], kwargs_row(_alias_of), entities=asked)
        loaded = await tx.sent(
            _QUERIES["load_entities"], kwargs_row(Entity), entities=asked, count_to=None if counted else 0
        )
    aliases = _listed(await named.fetchall())
    found = {
        one.entity_id: replace(one, aliases=tuple(aliases.get(one.entity_id, ())))
        for one in await loaded.fetchall()
    }
    return [found[entity_id] for entity_id in entity_ids if entity_id in found]


def _alias_of(*, entity_id: UUID, **columns: Any) -> tuple[UUID, Alias]:
    return entity_id, Alias(**columns)


async def nodes(
    tx: Transaction, distances: Mapping[UUID, int]
) -> tuple[dict[UUID, Node], dict[UUID, tuple[UUID, ...]]]:
    """Entities as nodes, labelled so that namesakes can be told apart; and the namesakes of those that have any."""
    rows = await tx.tuples(_QUERIES["describe"], entities=list(distances))
    found: dict[UUID, Node] = {}
    namesakes: dict[UUID, tuple[UUID, ...]] = {}
    for entity_id, name, kind, others, variants in rows:
        label = name if not others else f"{name} ({_descriptor(name, variants) or short_id(entity_id)})"
        found[entity_id] = Node(entity_id, name, label, kind, distances[entity_id])
        if others:
            namesakes[entity_id] = tuple(others)
    return found, namesakes


def _descriptor(name: str, variants: Sequence[str]) -> str | None:
    """What tells somebody from his namesakes: whose he is, else the longest that says more than the name."""
    telling = [variant for variant in variants if variant.casefold() != name.casefold()]
    possessive = [variant for variant in telling if "'s " in variant.replace("\u2019", "'")]
    return max(possessive or telling, key=len, default=None)


async def most_mentioned(tx: Transaction, kind: EntityType | None, at_most: int) -> list[UUID]:
    return await tx.values(_QUERIES["most_mentioned"], type=kind, at_most=at_most)


async def count_facts(tx: Transaction, entity_ids: Sequence[UUID], now: datetime) -> dict[UUID, int]:
    return dict(await tx.tuples(_QUERIES["count_facts"], entities=list(entity_ids), now=now))


def _place_of(*, entity_id: UUID, **columns: Any) -> tuple[UUID, MentionPlace]:
    return entity_id, MentionPlace(**columns)


def _stated_of(*, entity_id: UUID, **columns: Any) -> tuple[UUID, FactOfEntity]:
    return entity_id, FactOfEntity(**columns)


async def suggest_links(
    tx: Transaction, pairs: Sequence[tuple[UUID, UUID, str, float]], now: datetime
) -> None:
    """Each is two entities that may be one, the reason, and how likely it is (0-1). Once decided, never again."""
    if pairs:
        await tx.done(
            _QUERIES["suggest_links"],
            ids=new_ids(len(pairs)),
            entities=[pair[0] for pair in pairs],
            others=[pair[1] for pair in pairs],
            reasons=[pair[2] for pair in pairs],
            scores=[pair[3] for pair in pairs],
            now=now,
        )


async def link_suggestions(tx: Transaction, at_most: int) -> list[LinkSuggestion]:
    rows = await tx.tuples(_QUERIES["link_suggestions"], at_most=at_most)
    shown, _ = await nodes(tx, {entity_id: 0 for row in rows for entity_id in row[1:3]})
    return [
        LinkSuggestion(suggestion_id, shown[one], shown[other], reason, score, at)
        for suggestion_id, one, other, reason, score, at in rows
    ]


async def lock_suggestion(tx: Transaction, suggestion_id: UUID) -> tuple[UUID, UUID, datetime | None] | None:
    """The two entities of a suggestion and when it was decided; None if there is none of that id."""
    found = await tx.tuple(_QUERIES["link_suggestion"], suggestion_id=suggestion_id)
    return (found[0], found[1], found[2]) if found else None


async def decide_link(tx: Transaction, suggestion_id: UUID, accepted: bool, now: datetime) -> None:
    await tx.done(_QUERIES["decide_link"], suggestion_id=suggestion_id, accepted=accepted, now=now)


def new_entity(name: str, kind: EntityType) -> NewEntity:
    return NewEntity(new_id(), name, kind)
