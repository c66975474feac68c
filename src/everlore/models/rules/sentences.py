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
from everlore.models.rules.clauses import Clause, child, clauses
from everlore.models.rules.facts import facts
from everlore.models.rules.phrases import SaidFact
from everlore.models.rules.pipeline import parsed
from everlore.models.rules.relations import relations
from everlore.models.rules.scene import NAMELESS, Scene, person_of
from everlore.models.rules.times import times_of
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
# Nobody is called so; the parser reads it as a common name.
_STAND_IN: Final = "Qorin"
_THE_USER: Final = re.compile(r"\b(?:the )?user\b", re.IGNORECASE)
# In one sentence about somebody these are theirs; a rule that reads a conversation cannot know that.
_OWN: Final = frozenset({"they", "their", "theirs", "them", "themselves"})
_COUNTED_FROM_NOW: Final = re.compile(
    r"(?:on )?(?:yesterday|today|tonight|tomorrow|last|next|this|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|.+\bago\b",
    re.IGNORECASE,
)
_SAYS: Final = frozenset(
    {"say", "ask", "tell", "mention", "laugh", "joke", "reply", "answer", "thank", "inform"}
)
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

    said: SaidFact
    since: datetime | None
    alias: str | None = None


def read_sentences(memories: Sequence[DraftMemory], window: Window) -> Extraction:
    """The memories, their relative dates written out, with the facts and entities that they state, each tied to its memory;
    without those that only tell that something was said."""
    numbered = {one.number: one for one in window.messages}
    messages = [numbered[one.sources[0].message] for one in memories]
    docs = _docs(memories, messages)
    kept, drafts, entities = list[DraftMemory](), list[DraftFact](), dict[str, _Entity]()
    for memory, message, doc in zip(memories, messages, docs, strict=True):
        if doc is None:
            kept.append(memory)
            continue
        scene = _scene(doc, message, memory)
        if _only_says(doc, scene):
            continue
        for one in _stated(doc, scene, message):
            drafts.append(_fact(one, message.speaker, memory, len(kept)))
            _note(entities, one, message.speaker, memory)
        dated, at = _dated(doc, message)
        content = _as_written(dated, memory.content)
        kept.append(replace(memory, content=content, event_at=memory.event_at or at))
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


def _docs(memories: Sequence[DraftMemory], messages: Sequence[WindowMessage]) -> "list[Doc | None]":
    """The sentences, parsed; None for those that are not English."""
    english = [language_of(one.content) == "en" for one in memories]
    texts = [
        _with_a_name(one.content, message)
        for one, message, reads in zip(memories, messages, english, strict=True)
        if reads
    ]
    docs = iter(parsed(texts, {_STAND_IN.lower()}))
    return [next(docs) if reads else None for reads in english]


def _only_says(doc: "Doc", scene: Scene) -> bool:
    """ "Em said that she was proud", "Keisha was asked for help": an author's message told as one, not what is in it."""
    root = next((one.root for one in doc.sents), None)
    if root is None or (subject := child(root, "nsubj", "nsubjpass")) is None:
        return False
    # Who was told something may have it from a doctor.
    saying = root.lemma_.lower() in (_SAYS if subject.dep_ == "nsubj" else {"ask"})
    return saying and subject.text in scene.author.split()


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


def _stated(doc: "Doc", scene: Scene, message: WindowMessage) -> Iterator[_Stated]:
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
    """The text with "yesterday" as a date, and the first moment that is sure. What a model made of "the 10th" may be a month or a
    year away: it stays as it is."""
    found = [
        one
        for clause in _clauses(doc)
        for one in times_of(clause, message.at).dates
        if one.written is None or _COUNTED_FROM_NOW.match(doc.text[one.said.begin : one.said.stop])
    ]
    text = doc.text
    written = {(one.said.begin, one.said.stop): one.written for one in found if one.written is not None}
    for (begin, stop), date in sorted(written.items(), reverse=True):
        text = text[:begin] + date + text[stop:]
    return text, next((one.said.start for one in found if one.said.side != "until"), None)


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
