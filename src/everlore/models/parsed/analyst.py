"""What the parser finds in a window: statements that stand alone, the facts that their arguments show, and who is who."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

from everlore.domain.memories import EntityType
from everlore.models.parsed.clauses import Clause, clauses
from everlore.models.parsed.extract import clean, dates_of, pieces
from everlore.models.parsed.facts import Said, facts, favourites, relations
from everlore.models.parsed.pipeline import parsed
from everlore.models.parsed.scene import NAMELESS, Scene, person_of
from everlore.models.parsed.wording import Refused, Wording, worded
from everlore.models.parsed.worth import Worth, weigh
from everlore.ports.analyst import (
    MAX_FACTS,
    MAX_MEMORIES,
    DraftEntity,
    DraftFact,
    DraftMemory,
    Extraction,
    Quote,
    Window,
    WindowMessage,
)
from everlore.text.languages import language_of
from everlore.text.names import names

if TYPE_CHECKING:
    from spacy.tokens import Doc

_CONTEXT = 3
_BY_PREDICATE: Final[dict[str, EntityType]] = {
    "lives_in": "place", "born_in": "place", "comes_from": "place", "has_visited": "place", "works_at": "organisation",
    "studies_at": "organisation", "member_of": "organisation", "works_on": "project", "uses": "technical_term",
}  # fmt: skip
_KINDS: Final[dict[str, EntityType]] = {
    "PERSON": "person", "GPE": "place", "LOC": "place", "FAC": "place", "ORG": "organisation", "EVENT": "event",
    "PRODUCT": "technical_term",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statement:
    """A clause of a message, worded; `quote`: its words as they were said."""

    message: WindowMessage
    clause: Clause
    wording: Wording
    worth: Worth
    quote: Quote
    at: datetime | None
    facts: tuple[Said, ...]
    aliases: tuple[tuple[Said, str], ...]


@dataclass(slots=True)
class _Names:
    """Entities of the window, by name."""

    types: dict[str, EntityType] = field(default_factory=dict[str, EntityType])
    quotes: dict[str, list[Quote]] = field(default_factory=dict[str, list[Quote]])
    aliases: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def add(self, name: str, kind: EntityType, quote: Quote) -> None:
        if self.types.get(name, "other") == "other":
            self.types[name] = kind
        self.quotes.setdefault(name, []).append(quote)


def extract(window: Window) -> Extraction:
    """Everything that the parser finds in `window`."""
    found = list(_statements(window))
    shown = sorted((one for one in found if one.worth.shown), key=lambda one: -one.worth.score)[:MAX_MEMORIES]
    kept = [one for one in found if one in shown]
    named, drafts = _Names(), list[DraftFact]()
    for one in found:
        place = kept.index(one) if one in kept else None
        for fact in (*one.facts, *(said for said, _ in one.aliases)):
            drafts.append(_fact(fact, one, place))
            _note(named, fact, one)
        for said, alias in one.aliases:
            named.aliases.setdefault(said.subject, []).append(alias)
    for one in kept:
        person = one.wording.person
        if person is not None and person.called:
            named.add(person.called, "person", one.quote)
    memories = tuple(_memory(one, named) for one in kept)
    return Extraction(memories, tuple(drafts[:MAX_FACTS]), _entities(named))


def _statements(window: Window) -> Iterator[Statement]:
    speakers = list(dict.fromkeys(one.speaker for one in (*window.earlier, *window.messages)))
    jobs: list[tuple[WindowMessage, bool, int, str]] = []
    for message in window.earlier[-_CONTEXT:]:
        jobs += _jobs(message, speakers, False)
    for message in window.messages:
        jobs += _jobs(message, speakers, True)
    known = frozenset(part.lower() for name in window.entities for part in name.split()) | _inside(window)
    scenes: dict[int, Scene] = {}
    scene: Scene | None = None
    for (message, read, start, _), doc in zip(jobs, parsed([job[3] for job in jobs]), strict=True):
        key = message.number if read else -message.number
        if key not in scenes:
            others = [one for one in speakers if one != message.speaker and one.lower() not in NAMELESS]
            listener = others[0] if len(others) == 1 else None
            scenes[key] = Scene(message.speaker, listener, known, scene.people if scene else [], scene.genders if scene else {})
        scene = scenes[key]
        yield from _read(message, start, doc, scene, read)


def _inside(window: Window) -> frozenset[str]:
    """Words that are written as names where no sentence begins, at least twice."""
    found = Counter(
        name.text.lower()
        for message in (*window.earlier, *window.messages)
        for name in set(names(message.text[:4000]))
        if not name.opens and " " not in name.text
    )
    return frozenset(name for name, times in found.items() if times > 1)


def _jobs(message: WindowMessage, speakers: Sequence[str], read: bool) -> list[tuple[WindowMessage, bool, int, str]]:
    if message.role != "user" or language_of(message.text) != "en":
        return []
    called = [one for one in speakers if one.lower() not in NAMELESS]
    called += [one[:3] for one in called if len(one) > 4]
    cleaned = [(start, clean(part, called)) for start, part in pieces(message.text)]
    return [(message, read, start, text) for start, text in cleaned if len(text.split()) >= 3]


def _read(message: WindowMessage, start: int, doc: "Doc", scene: Scene, read: bool) -> Iterator[Statement]:
    dates, moments = dates_of(doc, doc.text, message.at)
    for sentence in doc.sents:
        for clause in clauses(sentence):
            if read and clause.words:
                inside = {one.i for one in clause.words}
                dated = [moments[place] for place in moments if place in inside]
                stated = _stated(message, start, clause, scene, dates, dated)
                if stated is not None:
                    yield stated
            for token in clause.words:
                if (person := person_of(token, scene, scene.author)) is not None:
                    scene.note(person)


def _stated(message: WindowMessage, start: int, clause: Clause, scene: Scene, dates: dict[int, tuple[str, frozenset[int]]], dated: list[datetime]) -> Statement | None:
    try:
        wording = worded(clause, scene, dates)
    except Refused:
        return None
    worth = weigh(clause, wording, scene, bool(dated) or any(one.ent_type_ in {"DATE", "TIME"} for one in clause.words))
    if isinstance(worth, str):
        return None
    first, last = clause.words[0], clause.words[-1]
    quote = Quote(message.number, message.text[start + first.idx : start + last.idx + len(last)])
    return Statement(
        message, clause, wording, worth, quote, dated[0] if dated else None,
        (*facts(clause, wording, scene), *favourites(clause, scene)), tuple(relations(clause, scene)),
    )  # fmt: skip


def _memory(one: Statement, names: _Names) -> DraftMemory:
    entities = tuple(name for name in names.types if name in one.wording.text)[:8]
    return DraftMemory(
        type=one.worth.type, content=one.wording.text, sources=(one.quote,), importance=one.worth.importance,
        confidence=0.8, entities=entities, event_at=one.at, reasoning=one.worth.reason,
    )  # fmt: skip


def _fact(fact: Said, one: Statement, place: int | None) -> DraftFact:
    return DraftFact(
        subject=fact.subject, predicate=fact.predicate, object=fact.object, sources=(one.quote,), confidence=0.8,
        valid_from=one.at, ended=fact.ended, object_is_entity=fact.is_name or fact.predicate.endswith("_of"), memory=place,
    )  # fmt: skip


def _note(names: _Names, fact: Said, one: Statement) -> None:
    if fact.is_name and fact.object not in {one.message.speaker}:
        names.add(fact.object, "person" if fact.predicate.endswith(("_of", "_to")) else _BY_PREDICATE.get(fact.predicate, "other"), one.quote)
    if fact.subject != one.message.speaker and "'s " not in fact.subject:
        names.add(fact.subject, "person", one.quote)


def _entities(names: _Names) -> tuple[DraftEntity, ...]:
    return tuple(
        DraftEntity(name, kind, tuple(dict.fromkeys(names.quotes[name]))[:3], tuple(dict.fromkeys(names.aliases.get(name, ()))))
        for name, kind in names.types.items()
    )
