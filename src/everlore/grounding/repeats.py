"""The same thing twice in one answer becomes one, with the sources of both."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from everlore.domain.memories import MAX_TAGS
from everlore.grounding.wording import same
from everlore.ports.analyst import DraftEntity, DraftFact, DraftMemory
from everlore.text.words import words

_Item = TypeVar("_Item")


def replacing(draft: DraftMemory, place: int, places: Mapping[int, int]) -> DraftMemory:
    """With the place of the draft that it takes the place of as it is now; only one before it can be that."""
    if draft.replaces is None:
        return draft
    earlier = places.get(draft.replaces, -1)
    return replace(draft, replaces=earlier if 0 <= earlier < place else None)


def folded_memory(kept: list[DraftMemory], draft: DraftMemory, at_most: int) -> int:
    """The place of a draft among those kept: of one that says the same, or a new one; -1 if there is no room."""
    for place, other in enumerate(kept):
        if same(other.content, draft.content):
            kept[place] = replace(
                other,
                sources=_union(other.sources, draft.sources),
                tags=_union(other.tags, draft.tags)[:MAX_TAGS],
                entities=_union(other.entities, draft.entities),
                confidence=max(other.confidence, draft.confidence),
                importance=max(other.importance, draft.importance),
                event_at=other.event_at or draft.event_at,
                expires_at=other.expires_at or draft.expires_at,
            )
            return place
    if len(kept) >= at_most:
        return -1
    kept.append(draft)
    return len(kept) - 1


def folded_fact(kept: list[DraftFact], draft: DraftFact, at_most: int) -> int:
    for place, other in enumerate(kept):
        if _key(other) == _key(draft):
            kept[place] = replace(
                other,
                sources=_union(other.sources, draft.sources),
                confidence=max(other.confidence, draft.confidence),
                valid_from=other.valid_from or draft.valid_from,
                memory=draft.memory if other.memory is None else other.memory,
            )
            return place
    if len(kept) >= at_most:
        return -1
    kept.append(draft)
    return len(kept) - 1


def _key(fact: DraftFact) -> tuple[object, ...]:
    return fact.predicate, fact.ended, tuple(words(fact.subject)), tuple(words(fact.object))


def without_twins(entities: Iterable[DraftEntity]) -> list[DraftEntity]:
    kept: dict[tuple[str, ...], DraftEntity] = {}
    for entity in entities:
        key = tuple(words(entity.name))
        if key in kept:
            first = kept[key]
            entity = replace(
                first,
                sources=_union(first.sources, entity.sources),
                aliases=_union(first.aliases, entity.aliases),
                distinct=first.distinct or entity.distinct,
            )
        kept[key] = entity
    return list(kept.values())


def _union(one: tuple[_Item, ...], other: tuple[_Item, ...]) -> tuple[_Item, ...]:
    return tuple(dict.fromkeys((*one, *other)))
