"""An answer becomes drafts, item by item: of its form, and nothing else. Whether they are true, grounding finds out.

What to do with an item that is broken? Losing a memory because its neighbour has a confidence of 7 would be waste, asking
again for it would cost a call and may break another. So single broken items are left out, counted and logged. But an answer
of which no memory, or less than half of all items, can be used shows that the model did not do what it was asked: that is a
bad answer, asked for again and in the end an error. It is never read as "nothing found". What rests on words that nobody said
counts as broken there (`Doubting`), and is handed on: it is grounding that sets it aside.

Broken: not in the form, out of range. Mended without more ado: an unknown type (general), an unreadable date (none), a
relation to a memory that was not shown (new).
"""

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from everlore.domain.memories import ENTITY_TYPES, MEMORY_TYPES
from everlore.models.language_model import schema
from everlore.models.language_model.dates import read_date
from everlore.models.language_model.forms import mended
from everlore.models.language_model.repair import Unusable
from everlore.models.language_model.schema import EntityForm, FactForm, MemoryForm, SourceForm
from everlore.models.language_model.window import has_words
from everlore.ports.analyst import (
    MAX_ENTITIES,
    MAX_FACTS,
    MAX_MEMORIES,
    Doubting,
    DraftEntity,
    DraftFact,
    DraftMemory,
    Extraction,
    Quote,
    Relation,
    Window,
)

log = logging.getLogger(__name__)

_Draft = TypeVar("_Draft")

# A list a little too long is cut, its best comes first; one that never ends is no answer.
_TOO_MANY = 4
UNSAID_CONFIDENCE = 0.7
_LABEL = re.compile(r"[^a-z0-9_]+")
_MOST_LABELS = 6


class _Broken(Exception):
    """This item cannot be used."""


def read_answer(answer: dict[str, Any], window: Window, doubting: Doubting) -> Extraction:
    """The drafts in an answer. Raises Unusable."""
    given = {
        "memories": _items(answer, "memories", MAX_MEMORIES, needed=True),
        "facts": _items(answer, "facts", MAX_FACTS),
        "entities": _items(answer, "entities", MAX_ENTITIES),
    }
    reader = _Reader(window)
    memories = reader.memories = [reader.kept(reader.memory, item) for item in given["memories"]]
    facts = [reader.kept(reader.fact, item) for item in given["facts"]]
    entities = [reader.kept(reader.entity, item) for item in given["entities"]]
    extraction = Extraction(
        tuple(one for one in memories if one is not None),
        tuple(placed for one in facts if one is not None and (placed := _placed(one, memories)) is not None),
        tuple(one for one in entities if one is not None),
        _taxonomy(answer.get("taxonomy")),
    )
    doubts = doubting(window, extraction)
    usable = len(extraction.memories) - len(doubts.memories)
    _require_usable(
        [*reader.problems, *doubts.memories, *doubts.others],
        sum(map(len, given.values())),
        without_memories=bool(memories) and not usable,
    )
    if doubts.foreign:
        raise Unusable("it is in another language than the messages")
    return extraction


class _Reader:
    """Reads items and remembers what was wrong with those that were left out."""

    def __init__(self, window: Window) -> None:
        self._at = {one.number: one.at for one in window.messages}
        self._last = max(self._at.values())
        self._known = {one.number for one in window.known}
        self.problems: list[str] = []
        self.memories: list[DraftMemory | None] = []

    def kept(self, read: Callable[[Any], _Draft], item: Any) -> _Draft | None:
        try:
            return read(item)
        except ValidationError as error:
            first = error.errors()[0]
            self.problems.append(f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
        except _Broken as error:
            self.problems.append(str(error))
        return None

    def memory(self, item: Any) -> DraftMemory:
        form = MemoryForm.model_validate(mended(item, MEMORY_TYPES, "general"))
        if not has_words(form.content):
            raise _Broken("it says nothing")
        said = self._said(form.sources)
        relation, target = self._relation(form.relation, form.known)
        return DraftMemory(
            type=form.type,
            content=form.content,
            sources=_quotes(form.sources),
            category=form.category or None,
            tags=tuple(dict.fromkeys(tag for tag in form.tags if tag)),
            importance=form.importance,
            confidence=form.confidence,
            entities=tuple(dict.fromkeys(form.entities)),
            event_at=read_date(form.event_at, said),
            expires_at=read_date(form.expires_at, said),
            reasoning=form.reasoning,
            relation=relation,
            target=target,
        )

    def fact(self, item: Any) -> DraftFact:
        form = FactForm.model_validate(mended(item))
        predicate = _LABEL.sub("_", form.predicate.lower().replace("'", "")).strip("_")
        if not (predicate and has_words(form.subject) and has_words(form.object)):
            raise _Broken("it says nothing")
        return DraftFact(
            subject=form.subject,
            predicate=predicate,
            object=form.object,
            sources=_quotes(form.sources or ()),
            confidence=form.confidence if form.confidence is not None else self._confidence(form.memory),
            valid_from=read_date(form.valid_from, self._said(form.sources or ())),
            ended=form.ended,
            object_is_entity=form.object_is_entity,
            relation=form.relation,
            memory=None if form.memory is None else form.memory - 1,
        )

    def entity(self, item: Any) -> DraftEntity:
        form = EntityForm.model_validate(mended(item, ENTITY_TYPES, "other"))
        if not has_words(form.name):
            raise _Broken("it says nothing")
        aliases = dict.fromkeys(alias for alias in form.aliases if alias != form.name and has_words(alias))
        return DraftEntity(form.name, form.type, (), tuple(aliases), form.distinct)

    def _confidence(self, place: int | None) -> float:
        """Of the memory that says the same as a fact."""
        memory = self.memories[place - 1] if place is not None and place <= len(self.memories) else None
        return UNSAID_CONFIDENCE if memory is None else memory.confidence

    def _said(self, sources: Sequence[SourceForm]) -> datetime:
        """When the messages were said that an item names; a date without a time zone is in theirs."""
        return max((self._at[one.message] for one in sources if one.message in self._at), default=self._last)

    def _relation(self, relation: Relation, target: int | None) -> tuple[Relation, int | None]:
        return ("new", None) if relation == "new" or target not in self._known else (relation, target)


def _quotes(sources: Sequence[SourceForm]) -> tuple[Quote, ...]:
    return tuple(dict.fromkeys(Quote(one.message, one.quote) for one in sources))


def _placed(fact: DraftFact, memories: Sequence[DraftMemory | None]) -> DraftFact | None:
    """With the place of its memory among those that are left, and its words; None where it has no words at all."""
    place = fact.memory
    memory = None if place is None or place >= len(memories) else memories[place]
    if place is None or memory is None:
        return replace(fact, memory=None) if fact.sources else None
    left = sum(one is not None for one in memories[:place])
    return replace(fact, memory=left, sources=fact.sources or memory.sources)


def _items(answer: dict[str, Any], name: str, most: int, *, needed: bool = False) -> list[Any]:
    items = answer.get(name)
    if items is None and not needed:
        return []
    if not isinstance(items, list):
        raise Unusable(f"{name} is no list")
    found = cast("list[Any]", items)
    if len(found) > _TOO_MANY * most:
        raise Unusable(f"it has {len(found)} {name}; at most {most} were asked for")
    return found[:most]


def _require_usable(problems: Sequence[str], items: int, *, without_memories: bool) -> None:
    if not problems:
        return
    if without_memories or 2 * len(problems) > items:
        raise Unusable(f"{len(problems)} of its {items} items cannot be used ({problems[0]})")
    log.warning(
        "%d of %d items of an answer cannot be used (%s)", len(problems), items, "; ".join(problems[:3])
    )


def _taxonomy(path: Any) -> str | None:
    if not isinstance(path, str) or len(path) > schema.MAX_TAXONOMY:
        return None
    labels = [_LABEL.sub("_", label.lower()).strip("_") for label in re.split(r"[./>]", path)]
    labels = [label for label in labels if label]
    return ".".join(labels) if 0 < len(labels) <= _MOST_LABELS else None
