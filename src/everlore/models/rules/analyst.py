"""What the parser finds in a window: statements that stand alone, the facts that their arguments show, and who is who."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from everlore.domain.memories import EntityType
from everlore.domain.predicates import is_exclusive
from everlore.models.rules.clauses import Clause, clauses
from everlore.models.rules.facts import facts
from everlore.models.rules.kin import ROLES
from everlore.models.rules.phrases import Said
from everlore.models.rules.pipeline import parsed
from everlore.models.rules.reading import MessageParts, Part, read
from everlore.models.rules.relations import relations
from everlore.models.rules.scene import NAMELESS, REACH, Scene, person_of
from everlore.models.rules.times import Times, times_of
from everlore.models.rules.updates import Gist, gist, gist_of, relate
from everlore.models.rules.wording import Refused, Wording, worded
from everlore.models.rules.worth import Worth, doubt, weigh
from everlore.ports.analyst import (
    MAX_FACTS,
    MAX_KEYS,
    MAX_MEMORIES,
    DraftEntity,
    DraftFact,
    DraftMemory,
    Extraction,
    KnownMemory,
    Quote,
    Window,
    WindowMessage,
)
from everlore.text.lexicon import words
from everlore.text.names import names
from everlore.text.words import telling

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

# So many messages before the window are read for whether they leave it in a made-up world.
_CONTEXT: Final = 4
_VAGUE: Final = words("statements.vague", "en")
_CHANGING: Final = words("statements.changing", "en")
_NAMED_BY: Final[dict[str, EntityType]] = {
    "lives_in": "place", "born_in": "place", "comes_from": "place", "has_visited": "place", "works_at": "organisation",
    "studies_at": "organisation", "member_of": "organisation", "works_on": "project", "uses": "technical_term",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statement:
    """A clause of a message, worded; `quotes`: its words as they were said, and where it is said whom its pronouns mean."""

    message: WindowMessage
    clause: Clause
    wording: Wording
    worth: Worth
    quotes: tuple[Quote, ...]
    times: Times
    facts: tuple[Said, ...]
    aliases: tuple[tuple[Said, str], ...]
    corrects: bool
    was_wrong: bool


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
    found = _once(_statements(window))
    kept = sorted((one for one in found if one.worth.shown), key=lambda one: -one.worth.score)[:MAX_MEMORIES]
    kept.sort(key=found.index)
    keys = sorted(
        (one for one in found if one not in kept and _leads_somewhere(one)), key=lambda one: -one.worth.score
    )
    known = _known_of(window, kept)
    named, drafts = _Names(), list[DraftFact]()
    for one in found:
        place = kept.index(one) if one in kept else None
        for fact in (*one.facts, *(said for said, _ in one.aliases)):
            drafts.append(_fact(fact, one, place))
            _note(named, fact, one)
        for said, alias in one.aliases:
            if said.predicate != "has_pet":
                named.aliases.setdefault(said.subject, []).append(alias)
    for one in kept:
        person = one.wording.person
        if person is not None and person.called:
            named.add(person.called, "person", one.quotes[0])
    memories = [_memory(one, named) for one in kept]
    for place, one in enumerate(kept):
        memories[place] = _related(memories[place], one, kept[:place], known)
    memories += [_key(one) for one in keys[:MAX_KEYS]]
    return Extraction(tuple(memories), tuple(drafts[:MAX_FACTS]), _entities(named))


def _leads_somewhere(one: Statement) -> bool:
    """Whether a statement is a key: it is clear, and names something beside its subject."""
    return not one.wording.unclear and any(
        token.pos_ in {"NOUN", "PROPN"}
        and token.dep_ != "npadvmod"
        and token != one.clause.subject
        and token.lemma_.lower() not in _VAGUE
        for token in one.clause.words
    )


def _known_of(window: Window, kept: Sequence[Statement]) -> list[tuple[KnownMemory, Gist]]:
    """The known memories that share a telling word with what is said, the last one first."""
    if not kept:
        return []
    speaker = kept[0].message.speaker
    said = {word for one in kept for word in telling(one.wording.text)}
    near = [one for one in window.known if said & telling(one.content)]
    found = [(one, what) for one in near if (what := gist_of(one, speaker)) is not None]
    return sorted(found, key=lambda pair: pair[0].valid_from, reverse=True)


def _related(
    draft: DraftMemory, one: Statement, before: Sequence[Statement], known: Sequence[tuple[KnownMemory, Gist]]
) -> DraftMemory:
    """The draft with what it does to what was said before, in this window or long ago."""
    what = _gist(one)
    earlier = [
        (place, _gist(other))
        for place, other in reversed(list(enumerate(before)))
        if other.message.speaker == one.message.speaker
    ]
    if (found := relate(what, earlier, corrects=one.corrects)) is not None:
        return replace(draft, relation=found[0], replaces=found[1])
    stored = [(memory.number, other) for memory, other in known if memory.valid_from <= one.message.at]
    if (found := relate(what, stored, corrects=one.corrects)) is not None:
        return replace(draft, relation=found[0], target=found[1])
    return draft


def _gist(one: Statement) -> Gist:
    return gist(one.clause, one.wording, one.worth.type, one.facts)


def _once(statements: Iterator[Statement]) -> list[Statement]:
    """Without what is said again in the same words."""
    seen: dict[str, Statement] = {}
    for one in statements:
        seen.setdefault(one.wording.text, one)
    return list(seen.values())


# --- reading -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Job:
    """A part of a message to be parsed. `place`: of the message in the conversation."""

    message: WindowMessage
    place: int
    part: Part


def _statements(window: Window) -> Iterator[Statement]:
    known = _known(window)
    jobs = list(_jobs(window, known))
    speakers = list(dict.fromkeys(one.speaker for one in (*window.earlier, *window.messages)))
    scene: Scene | None = None
    people = {part.lower() for one in speakers if one.lower() not in NAMELESS for part in one.split()}
    for job, doc in zip(jobs, parsed([job.part.text for job in jobs], people, known), strict=True):
        others = [one for one in speakers if one != job.message.speaker and one.lower() not in NAMELESS]
        listener = others[0] if len(others) == 1 else None
        spoken_of, genders = (scene.people, scene.genders) if scene is not None else ([], {})
        scene = Scene(job.message.speaker, listener, known, job.place, spoken_of, genders)
        yield from _stated(job, doc, scene)


def _known(window: Window) -> frozenset[str]:
    """Words in lower case that are names: of speakers and known entities, and what is written so where no sentence begins."""
    said = {
        name.text
        for message in (*window.earlier, *window.messages)
        for name in names(message.text[:4000])
        if not name.opens
    }
    speakers = {message.speaker for message in (*window.earlier, *window.messages)}
    parts = {
        part for name in (*said, *speakers, *window.entities) for part in name.split() if part[:1].isupper()
    }
    names_of = frozenset(
        part.lower() for part in parts if len(part) > 1 and not (part.isupper() and len(part) > 3)
    )
    return (
        names_of
        - NAMELESS
        - words("little", "en")
        - words("statements.vague", "en")
        - words("statements.evaluating", "en")
    )


def _jobs(window: Window, known: frozenset[str]) -> Iterator[_Job]:
    before = window.earlier[-_CONTEXT:]
    sequence = [(one, True) for one in before] + [(one, False) for one in window.messages]
    speakers = {one.speaker for one, _ in sequence if one.speaker.lower() not in NAMELESS}
    called = sorted(
        speakers | {one[:3] for one in speakers if len(one) > 4} | {one.split()[0] for one in speakers},
        key=len,
        reverse=True,
    )
    fiction, readings = False, list[tuple[WindowMessage, int, bool, MessageParts]]()
    for place, (message, earlier) in enumerate(sequence):
        if message.role != "user":
            continue
        reading = read(message, called, known, fiction=fiction)
        fiction = reading.fiction
        if reading.takes_back:
            readings = [
                one for one in readings if one[0].speaker != message.speaker or one[1] < place - REACH
            ]
        readings.append((message, place, earlier, reading))
    for message, place, earlier, reading in readings:
        yield from (
            _Job(message, place, part)
            for part in reading.parts
            if not earlier and (not part.joking or _may_name(part.text, known))
        )


def _may_name(text: str, known: frozenset[str]) -> bool:
    """Whether somebody may be named in what states nothing: it is parsed for that alone."""
    first, *behind = text.split()
    return first.strip(".,!").lower() in known or any(
        (one[:1].isupper() and one[:2] not in {"I", "I'"}) or one.lower() in ROLES for one in behind
    )


def _stated(job: _Job, doc: "Doc", scene: Scene) -> Iterator[Statement]:
    for sentence in doc.sents:
        said = set[int]()
        for clause in clauses(sentence):
            if not clause.words:
                continue
            said.update(one.i for one in clause.words)
            if not job.part.joking and doubt(clause) is None:
                statement = _statement(job, clause, scene)
                if statement is not None:
                    yield statement
            _note_people(job, clause.words, scene)
        # Who is named beside its clauses, or where it has none ("Birgitta on the second floor."), is spoken of, too.
        _note_people(job, [one for one in sentence if one.i not in said], scene)


def _note_people(job: _Job, words: "Sequence[Token]", scene: Scene) -> None:
    for token in words:
        if (person := person_of(token, scene, _quote(job, words))) is not None:
            scene.note(person)


def _statement(job: _Job, clause: Clause, scene: Scene) -> Statement | None:
    times = times_of(clause, job.message.at)
    try:
        wording = worded(clause, scene, times)
    except Refused:
        return None
    elsewhere = tuple(dict.fromkeys(one.quote for one in wording.leans_on if one.place != job.place))
    said = tuple(facts(clause, wording, scene)) if not wording.unclear else ()
    worth = weigh(clause, wording, scene, dated=bool(times.dates), facts=said)
    return Statement(
        job.message, clause, wording, worth, (_quote(job, clause.words), *elsewhere), times, said,
        tuple(relations(clause, scene)), job.part.corrects, job.part.was_wrong,
    )  # fmt: skip


def _quote(job: _Job, tokens: "Sequence[Token]") -> Quote:
    first, last = tokens[0], tokens[-1]
    begin, end = job.part.places[first.idx], job.part.places[last.idx + len(last) - 1] + 1
    return Quote(job.message.number, job.message.text[begin:end])


# --- drafts ------------------------------------------------------------------------------------------------


def _memory(one: Statement, named: _Names) -> DraftMemory:
    return DraftMemory(
        type=one.worth.type, content=one.wording.text, sources=one.quotes, importance=one.worth.importance, confidence=0.8,
        entities=tuple(name for name in named.types if name in one.wording.text)[:8], event_at=one.times.first,
        reasoning=one.worth.reason,
    )  # fmt: skip


def _key(one: Statement) -> DraftMemory:
    return DraftMemory(
        type=one.worth.type, content=one.wording.text, sources=one.quotes, importance=one.worth.importance, confidence=0.8,
        event_at=one.times.first, tier="key",
    )  # fmt: skip


def _fact(fact: Said, one: Statement, place: int | None) -> DraftFact:
    return DraftFact(
        subject=fact.subject, predicate=fact.predicate, object=fact.object, sources=one.quotes, confidence=0.8,
        valid_from=one.times.first, ended=fact.ended, memory=place,
        relation="corrects" if one.was_wrong else "updates" if _says_change(one, fact) else "new",
        object_is_entity=fact.is_name or fact.predicate.endswith("_of"),
    )  # fmt: skip


def _says_change(one: Statement, fact: Said) -> bool:
    """ "They live in Umeå now", "I moved to Leeds", "she turned 34": so it was otherwise before."""
    lemmas = {token.lemma_.lower() for token in one.clause.words}
    return is_exclusive(fact.predicate) and (fact.predicate == "age" or bool(lemmas & _CHANGING))


def _note(named: _Names, fact: Said, one: Statement) -> None:
    if fact.is_name and fact.object != one.message.speaker:
        kind = "person" if fact.predicate.endswith(("_of", "_to")) else _NAMED_BY.get(fact.predicate, "other")
        named.add(fact.object, kind, one.quotes[0])
    if fact.subject != one.message.speaker and "'s " not in fact.subject:
        named.add(fact.subject, "person", one.quotes[0])


def _entities(named: _Names) -> tuple[DraftEntity, ...]:
    return tuple(
        DraftEntity(
            name,
            kind,
            tuple(dict.fromkeys(named.quotes[name]))[:3],
            tuple(dict.fromkeys(named.aliases.get(name, ()))),
        )
        for name, kind in named.types.items()
    )
