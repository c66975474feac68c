"""Entities and the alias matrix: who is known, under which names, and in which messages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from everlore.domain.graph import LinkSuggestion, Node
from everlore.domain.ids import new_id, new_ids, short_id
from everlore.domain.memories import Alias, AliasOrigin, Entity, EntityType
from everlore.store.queries import queries
from everlore.store.run import Transaction

_QUERIES = queries("entities")


@dataclass(frozen=True, slots=True)
class NewEntity:
    entity_id: UUID
    name: str
    type: EntityType


@dataclass(frozen=True, slots=True)
class NewAlias:
    """`key` is that of `everlore.text.variants`."""

    entity_id: UUID
    variant: str
    key: str
    weight: float
    origin: AliasOrigin


@dataclass(frozen=True, slots=True)
class Match:
    """An alias that a name was looked up as. `given` is the key, name or word that was asked for; `score` is 0-1."""

    given: str
    entity_id: UUID
    variant: str
    weight: float
    score: float


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message stands: what tells whether two worlds meet. `author`: the person who wrote it, None for an assistant."""

    message_id: UUID
    thread_id: UUID
    position: int
    project_id: UUID | None
    taxonomy: str | None
    author: str | None


@dataclass(frozen=True, slots=True)
class Stated:
    """What a current fact says of an entity."""

    predicate: str
    object_id: UUID | None
    object: str
    valid_from: datetime


async def insert(tx: Transaction, entities: Sequence[NewEntity], now: datetime) -> None:
    if entities:
        await tx.done(
            _QUERIES["insert_entities"],
            ids=[e.entity_id for e in entities],
            names=[e.name for e in entities],
            types=[e.type for e in entities],
            now=now,
        )


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
            weights=[a.weight for a in chosen],
            origins=[a.origin for a in chosen],
            now=now,
        )


async def find_alias(tx: Transaction, entity_id: UUID, key: str) -> tuple[UUID, str] | None:
    found = await tx.tuple(_QUERIES["find_alias"], entity_id=entity_id, key=key)
    return (found[0], found[1]) if found else None


async def remove_alias(tx: Transaction, alias_id: UUID) -> None:
    await tx.done(_QUERIES["delete_alias"], alias_id=alias_id)


async def rename(tx: Transaction, entity_id: UUID, name: str) -> None:
    await tx.done(_QUERIES["rename"], entity_id=entity_id, name=name)


async def retype(tx: Transaction, entity_id: UUID, kind: EntityType) -> None:
    await tx.done(_QUERIES["retype"], entity_id=entity_id, type=kind)


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
    aliases: dict[UUID, list[Alias]] = {}
    for entity_id, alias in await tx.rows(_QUERIES["load_aliases"], _alias_of, entities=asked):
        aliases.setdefault(entity_id, []).append(alias)
    loaded = await tx.rows(_QUERIES["load_entities"], Entity, entities=asked, count_to=None if counted else 0)
    found = {one.entity_id: replace(one, aliases=tuple(aliases.get(one.entity_id, ()))) for one in loaded}
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


async def last_mentions(tx: Transaction, entity_ids: Iterable[UUID], at_most: int) -> dict[UUID, list[Place]]:
    """For each entity, where its last mentions stand, at most so many."""
    found: dict[UUID, list[Place]] = {}
    if asked := sorted(set(entity_ids)):
        for entity_id, place in await tx.rows(
            _QUERIES["last_mentions"], _place_of, entities=asked, at_most=at_most
        ):
            found.setdefault(entity_id, []).append(place)
    return found


def _place_of(*, entity_id: UUID, **columns: Any) -> tuple[UUID, Place]:
    return entity_id, Place(**columns)


async def mentions_in(tx: Transaction, messages: Iterable[UUID]) -> list[tuple[UUID, UUID]]:
    """Entity and message, for each mention that the messages have already."""
    found = await tx.tuples(_QUERIES["mentions_in"], messages=sorted(set(messages)))
    return [(entity_id, message_id) for entity_id, message_id in found]


async def places(tx: Transaction, messages: Iterable[UUID]) -> dict[UUID, Place]:
    found = await tx.rows(_QUERIES["places_of"], Place, messages=sorted(set(messages)))
    return {place.message_id: place for place in found}


async def stated(
    tx: Transaction, entity_ids: Iterable[UUID], predicates: Iterable[str]
) -> dict[UUID, list[Stated]]:
    """What current facts of these predicates say of each entity."""
    entities, asked = sorted(set(entity_ids)), sorted(set(predicates))
    found: dict[UUID, list[Stated]] = {}
    if entities and asked:
        for entity_id, fact in await tx.rows(
            _QUERIES["stated"], _stated_of, entities=entities, predicates=asked
        ):
            found.setdefault(entity_id, []).append(fact)
    return found


def _stated_of(*, entity_id: UUID, **columns: Any) -> tuple[UUID, Stated]:
    return entity_id, Stated(**columns)


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
