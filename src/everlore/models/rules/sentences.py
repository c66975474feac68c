"""What sentences about somebody state ("Emma lives in Göteborg."), as a model writes them: facts, names, and dates written out.

A small model writes sentences and nothing else; what else there is to know stands in them. English only, as ever; sentences of
another language stay as they are. Nothing is believed for being written here: facts are held against the messages, too.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from everlore.domain.memories import EntityType
from everlore.models.rules.clauses import Clause, clauses
from everlore.models.rules.facts import facts
from everlore.models.rules.phrases import Said
from everlore.models.rules.pipeline import parsed
from everlore.models.rules.relations import relations
from everlore.models.rules.scene import NAMELESS, Scene, person_of
from everlore.models.rules.times import Times, times_of
from everlore.models.rules.wording import Refused, worded
from everlore.models.rules.worth import doubt
from everlore.ports.analyst import (
    MAX_FACTS,
    DraftEntity,
    DraftFact,
    DraftMemory,
    Extraction,
    Quote,
    Window,
    WindowMessage,
)
from everlore.text.languages import language_of

if TYPE_CHECKING:
    from spacy.tokens import Doc

# Under this name a sentence speaks of an author who gave none: a parser knows what a name does, and "user" is none.
_STAND_IN: Final = "Robin"
_THE_USER: Final = re.compile(r"\b(?:the )?user\b", re.IGNORECASE)
# In one sentence about somebody these are theirs; a rule that reads a conversation cannot know that.
_OWN: Final = frozenset({"they", "their", "theirs", "them", "themselves"})
_PLACES: Final = frozenset({"lives_in", "born_in", "comes_from", "has_visited"})
_ORGANISATIONS: Final = frozenset({"works_at", "studies_at", "member_of", "volunteers_at", "graduated_from"})
_OF_PREDICATES: Final[dict[str, EntityType]] = {"works_on": "project", "uses": "technical_term"}


@dataclass(slots=True)
class _Entity:
    type: EntityType
    sources: dict[Quote, None] = field(default_factory=dict[Quote, None])
    aliases: dict[str, None] = field(default_factory=dict[str, None])


@dataclass(frozen=True, slots=True)
class _Stated:
    """A fact with the date that its clause names, and the description that it gives of its subject ("Anna's sister")."""

    said: Said
    since: datetime | None
    alias: str | None = None


def read_sentences(memories: Sequence[DraftMemory], window: Window) -> Extraction:
    """The memories, their relative dates written out, with the facts and entities that they state, each tied to its memory."""
    numbered = {one.number: one for one in window.messages}
    kept, drafts, entities = list(memories), list[DraftFact](), dict[str, _Entity]()
    english = [place for place, one in enumerate(memories) if language_of(one.content) in {"en", None}]
    texts = [
        _with_a_name(memories[place].content, numbered[memories[place].sources[0].message])
        for place in english
    ]
    for place, doc in zip(english, parsed(texts), strict=True):
        memory = memories[place]
        message = numbered[memory.sources[0].message]
        scene = _scene(doc, message, memory)
        for one in _stated(doc, scene, message, memory):
            drafts.append(_fact(one, message.speaker, memory, place))
            _note(entities, one, message.speaker, memory)
        dated, at = _dated(doc, message)
        kept[place] = replace(
            memory, content=_as_written(dated, memory.content), event_at=memory.event_at or at
        )
    kept = [
        replace(one, entities=tuple(name for name in entities if name in one.content)[:8]) for one in kept
    ]
    return Extraction(
        tuple(kept),
        tuple(drafts[:MAX_FACTS]),
        tuple(
            DraftEntity(name, one.type, tuple(one.sources)[:3], tuple(one.aliases))
            for name, one in entities.items()
        ),
    )


def _with_a_name(content: str, message: WindowMessage) -> str:
    return _THE_USER.sub(_STAND_IN, content) if message.speaker.lower() in NAMELESS else content


def _as_written(text: str, content: str) -> str:
    """With "the user" again where that stood."""
    for said in _THE_USER.findall(content):
        text = text.replace(_STAND_IN, said, 1)
    return text


def _scene(doc: "Doc", message: WindowMessage, memory: DraftMemory) -> Scene:
    """Whoever is named in the sentence is known; it is told by nobody, so "he" is never its author."""
    speaker = _STAND_IN if message.speaker.lower() in NAMELESS else message.speaker
    names = {part.lower() for part in speaker.split()} | {
        one.lower_ for one in doc if one.text[:1].isupper() and one.pos_ == "PROPN"
    }
    scene = Scene(speaker, None, names)
    for token in doc:
        if (person := person_of(token, scene, memory.sources[0])) is not None:
            scene.note(person)
    return scene


def _stated(doc: "Doc", scene: Scene, message: WindowMessage, memory: DraftMemory) -> Iterator[_Stated]:
    for clause in _clauses(doc):
        times = times_of(clause, message.at)
        try:
            wording = worded(clause, scene, times)
        except Refused:
            continue
        if doubt(clause) is not None or set(wording.unclear) - _OWN:
            continue
        for said in facts(clause, wording, scene):
            if said.subject != said.object:
                yield _Stated(said, times.first)
        for said, alias in relations(clause, scene):
            yield _Stated(said, None, alias if said.predicate != "has_pet" else None)


def _clauses(doc: "Doc") -> Iterator[Clause]:
    return (one for sentence in doc.sents for one in clauses(sentence) if one.words)


def _dated(doc: "Doc", message: WindowMessage) -> tuple[str, datetime | None]:
    """The text with "yesterday" as a date, and the first moment that it names."""
    found: list[Times] = [times_of(clause, message.at) for clause in _clauses(doc)]
    text = doc.text
    spans = {
        (one.said.begin, one.said.stop): one.written
        for times in found
        for one in times.dates
        if one.written is not None
    }
    for (begin, stop), written in sorted(spans.items(), reverse=True):
        text = text[:begin] + written + text[stop:]
    return text, next((times.first for times in found if times.first is not None), None)


def _fact(one: _Stated, speaker: str, memory: DraftMemory, place: int) -> DraftFact:
    return DraftFact(
        subject=_named(one.said.subject, speaker),
        predicate=one.said.predicate,
        object=_named(one.said.object, speaker),
        sources=memory.sources,
        confidence=memory.confidence,
        valid_from=one.since,
        ended=one.said.ended,
        object_is_entity=one.said.is_name or one.said.predicate.endswith("_of"),
        memory=place,
    )


def _named(name: str, speaker: str) -> str:
    return name.replace(_STAND_IN, speaker) if speaker.lower() in NAMELESS else name


def _note(entities: dict[str, _Entity], one: _Stated, speaker: str, memory: DraftMemory) -> None:
    subject, said = _named(one.said.subject, speaker), one.said
    named: list[tuple[str, EntityType]] = []
    if said.is_name and said.object not in {speaker, _STAND_IN}:
        named.append((said.object, _type_of_object(said.predicate)))
    if subject != speaker and "'s " not in subject:
        named.append((subject, "person"))
    for name, kind in named:
        entity = entities.setdefault(name, _Entity(kind))
        entity.sources |= dict.fromkeys(memory.sources)
        if entity.type == "other":
            entity.type = kind
    if one.alias is not None and subject in entities:
        entities[subject].aliases[_named(one.alias, speaker)] = None


def _type_of_object(predicate: str) -> EntityType:
    if predicate.endswith(("_of", "_to")) and predicate not in _ORGANISATIONS | {"allergic_to"}:
        return "person"
    if predicate in _PLACES:
        return "place"
    return "organisation" if predicate in _ORGANISATIONS else _OF_PREDICATES.get(predicate, "other")
