"""Duplicates within one answer are one draft, with the sources of all."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from everlore.models.language_model import schema
from everlore.ports.analyst import DraftEntity, DraftFact, DraftMemory
from everlore.text.words import words


def folded_memories(
    memories: Sequence[DraftMemory | None],
) -> tuple[tuple[DraftMemory, ...], list[int | None]]:
    """Memories that say the same become one with the sources of all; and where each of the given ones went."""
    kept: dict[str, DraftMemory] = {}
    places: list[int | None] = []
    for one in memories:
        if one is None:
            places.append(None)
            continue
        key = " ".join(words(one.content)) or one.content
        kept[key] = _joined(kept[key], one) if key in kept else one
        places.append(list(kept).index(key))
    return tuple(kept.values()), places


def _joined(first: DraftMemory, second: DraftMemory) -> DraftMemory:
    return replace(
        first,
        sources=tuple(dict.fromkeys(first.sources + second.sources))[: schema.MAX_SOURCES],
        tags=tuple(dict.fromkeys(first.tags + second.tags))[: schema.MAX_TAGS],
        entities=tuple(dict.fromkeys(first.entities + second.entities))[: schema.MAX_NAMES],
        importance=max(first.importance, second.importance),
        confidence=max(first.confidence, second.confidence),
    )


def placed(fact: DraftFact, places: Sequence[int | None]) -> DraftFact:
    place = None if fact.memory is None or fact.memory >= len(places) else places[fact.memory]
    return replace(fact, memory=place)


def folded_facts(facts: Iterable[DraftFact]) -> tuple[DraftFact, ...]:
    kept: dict[tuple[object, ...], DraftFact] = {}
    for one in facts:
        key = (one.subject.casefold(), one.predicate, one.object.casefold(), one.ended)
        if (before := kept.get(key)) is not None:
            sources = tuple(dict.fromkeys(before.sources + one.sources))[: schema.MAX_SOURCES]
            one = replace(before, sources=sources, confidence=max(before.confidence, one.confidence))
        kept[key] = one
    return tuple(kept.values())


def folded_entities(entities: Iterable[DraftEntity]) -> tuple[DraftEntity, ...]:
    kept: dict[tuple[str, str, bool], DraftEntity] = {}
    for one in entities:
        key = (one.name.casefold(), one.type, one.distinct)
        if (before := kept.get(key)) is not None:
            aliases = tuple(dict.fromkeys(before.aliases + one.aliases))[: schema.MAX_NAMES]
            one = replace(before, aliases=aliases)
        kept[key] = one
    return tuple(kept.values())
