"""An answer becomes drafts: checked against the window, item by item.

What to do with an item that is broken? Losing a memory because its neighbour has a confidence of 7 would be waste, asking
again for it would cost a call and may break another. So single broken items are left out, counted and logged. But an answer
of which no memory, or less than half of all items, can be used shows that the model did not do what it was asked: that is a
bad answer, asked for again and in the end an error. It is never read as "nothing found".

Broken: not in the form, out of range, resting on messages that do not exist or on words that nobody said. Mended without
more ado: a wrong number beside words that stand in one message only, an unknown type (general), an unreadable date (none),
a relation to a memory that was not shown (new).
"""

import logging
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from everlore.domain.memories import ENTITY_TYPES, MEMORY_TYPES, MemoryType
from everlore.models.language_model import schema
from everlore.models.language_model.dates import read_date
from everlore.models.language_model.folding import (
    folded_entities,
    folded_facts,
    folded_memories,
    placed,
)
from everlore.models.language_model.forms import mended
from everlore.models.language_model.quotes import find_name, find_quote
from everlore.models.language_model.repair import Unusable
from everlore.models.language_model.schema import EntityForm, FactForm, MemoryForm, SourceForm
from everlore.models.language_model.speakers import true_object, true_subject, with_true_speaker
from everlore.models.language_model.window import has_words
from everlore.ports.analyst import (
    MAX_ENTITIES,
    MAX_FACTS,
    MAX_MEMORIES,
    DraftEntity,
    DraftFact,
    DraftMemory,
    Extraction,
    Quote,
    Relation,
    Window,
    WindowMessage,
)
from everlore.text.languages import is_foreign
from everlore.text.words import words

log = logging.getLogger(__name__)

_Draft = TypeVar("_Draft")

# A list a little too long is cut, its best comes first; one that never ends is no answer.
_TOO_MANY = 4
# What may rest on a question: somebody asks for it to be done or remembered.
_ASKED_FOR: frozenset[MemoryType] = frozenset({"task", "reminder", "goal", "preference", "system_config"})
_LABEL = re.compile(r"[^a-z0-9_]+")
_MOST_LABELS = 6


class _Broken(Exception):
    """This item cannot be used."""


def read_answer(answer: dict[str, Any], window: Window, messages: Sequence[WindowMessage]) -> Extraction:
    """The drafts in an answer. `messages` are those that were shown. Raises Unusable."""
    given = {
        "memories": _items(answer, "memories", MAX_MEMORIES, needed=True),
        "facts": _items(answer, "facts", MAX_FACTS),
        "entities": _items(answer, "entities", MAX_ENTITIES),
    }
    reader = _Reader(window, messages)
    memories = [reader.kept(reader.memory, item) for item in given["memories"]]
    folded, places = folded_memories(memories)
    facts = [reader.kept(reader.fact, item) for item in given["facts"]]
    entities = [reader.kept(reader.entity, item) for item in given["entities"]]
    extraction = Extraction(
        folded,
        folded_facts(placed(fact, places) for fact in facts if fact is not None),
        folded_entities(entity for entity in entities if entity is not None),
        _taxonomy(answer.get("taxonomy")),
    )
    _require_usable(reader, sum(map(len, given.values())), memories)
    if is_foreign((one.content for one in folded), (one.text for one in messages)):
        raise Unusable("it is in another language than the messages")
    return extraction


class _Reader:
    """Reads items against one window and remembers what was wrong with those that were left out."""

    def __init__(self, window: Window, messages: Sequence[WindowMessage]) -> None:
        self._messages = messages
        self._known = {one.number for one in window.known}
        self._vocabulary = set(
            words(
                " ".join(
                    [text for one in (*window.earlier, *messages) for text in (one.text, one.speaker, *one.captions)]
                    + list(window.entities)
                )
            )
        )  # fmt: skip
        self.problems: list[str] = []

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
        sources = self._sources(form.sources)
        if not has_words(form.content):
            raise _Broken("it says nothing")
        if form.type not in _ASKED_FOR and all(map(self._is_question, sources)):
            raise _Broken("it rests on a question")
        at = max(one.at for one in self._messages if one.number in {source.message for source in sources})
        relation, target = self._relation(form.relation, form.known)
        expires_at = read_date(form.expires_at, at)
        return DraftMemory(
            type=form.type,
            content=with_true_speaker(form.content, sources, self._messages),
            sources=sources,
            category=form.category or None,
            tags=tuple(dict.fromkeys(tag for tag in form.tags if tag)),
            importance=form.importance,
            confidence=form.confidence,
            entities=tuple(dict.fromkeys(name for name in form.entities if self._was_said(name))),
            event_at=read_date(form.event_at, at),
            expires_at=expires_at if expires_at is not None and expires_at > at else None,
            reasoning=form.reasoning,
            relation=relation,
            target=target,
        )

    def fact(self, item: Any) -> DraftFact:
        form = FactForm.model_validate(mended(item))
        sources = self._sources(form.sources)
        if all(map(self._is_question, sources)):
            raise _Broken("it rests on a question")
        predicate = _LABEL.sub("_", form.predicate.lower().replace("'", "")).strip("_")
        if not (predicate and has_words(form.subject) and has_words(form.object)):
            raise _Broken("it says nothing")
        at = max(one.at for one in self._messages if one.number in {source.message for source in sources})
        return DraftFact(
            subject=true_subject(form.subject, sources, self._messages),
            predicate=predicate,
            object=true_object(form.object, sources, self._messages)
            if predicate.endswith("_of")
            else form.object,
            sources=sources,
            confidence=form.confidence,
            valid_from=read_date(form.valid_from, at),
            ended=form.ended,
            object_is_entity=form.object_is_entity,
            relation=form.relation,
            memory=None if form.memory is None else form.memory - 1,
        )

    def entity(self, item: Any) -> DraftEntity:
        """A name rests on the first place where it, or one of its aliases, stands; one that nobody used is not taken."""
        form = EntityForm.model_validate(mended(item, ENTITY_TYPES, "other"))
        if not (has_words(form.name) and self._was_said(form.name)):
            raise _Broken("nobody said its name")
        aliases = dict.fromkeys(
            alias
            for alias in form.aliases
            if alias != form.name and has_words(alias) and self._was_said(alias)
        )
        named = (
            Quote(one.number, found)
            for name in (form.name, *aliases)
            for one in self._messages
            if (found := find_name(name, one.text))
        )
        first = next(named, None)
        return DraftEntity(
            form.name, form.type, () if first is None else (first,), tuple(aliases), form.distinct
        )

    def _sources(self, forms: Sequence[SourceForm]) -> tuple[Quote, ...]:
        found = (find_quote(form.quote, form.message, self._messages) for form in forms)
        sources = tuple(dict.fromkeys(quote for quote in found if quote is not None))
        if not sources:
            raise _Broken("its words stand in none of the messages")
        return sources

    def _relation(self, relation: Relation, target: int | None) -> tuple[Relation, int | None]:
        return ("new", None) if relation == "new" or target not in self._known else (relation, target)

    def _is_question(self, source: Quote) -> bool:
        text = next(one.text for one in self._messages if one.number == source.message)
        end = text.find(source.text) + len(source.text)
        rest = re.match(r"[^.!?…\n。！？]*([.!?…。！？]?)", text[end:])
        return source.text.rstrip("\"'”’ )")[-1:] in {"?", "？"} or (
            source.text.rstrip()[-1:] not in {".", "!", "…", "。", "！"} and rest is not None and rest[1] in {"?", "？"}
        )  # fmt: skip

    def _was_said(self, name: str) -> bool:
        """Whether every word of it was. "Anna's sister" is, where Anna speaks of her sister."""
        return all(word in self._vocabulary for word in words(name))


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


def _require_usable(reader: _Reader, items: int, memories: Sequence[DraftMemory | None]) -> None:
    broken = len(reader.problems)
    if not broken:
        return
    without_memories = bool(memories) and all(one is None for one in memories)
    if without_memories or 2 * broken > items:
        raise Unusable(f"{broken} of its {items} items cannot be used ({reader.problems[0]})")
    log.warning(
        "%d of %d items of an answer were left out (%s)", broken, items, "; ".join(reader.problems[:3])
    )


def _taxonomy(path: Any) -> str | None:
    if not isinstance(path, str) or len(path) > schema.MAX_TAXONOMY:
        return None
    labels = [_LABEL.sub("_", label.lower()).strip("_") for label in re.split(r"[./>]", path)]
    labels = [label for label in labels if label]
    return ".".join(labels) if 0 < len(labels) <= _MOST_LABELS else None
