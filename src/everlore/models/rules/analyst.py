"""What the parser finds in a window: statements that stand alone, the facts that their arguments show, and who is who."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from everlore.domain.memories import EntityType
from everlore.domain.predicates import in_words, is_exclusive
from everlore.models.rules.asides import asides
from everlore.models.rules.clauses import Clause, clauses
from everlore.models.rules.corrections import put_right
from everlore.models.rules.denials import denials
from everlore.models.rules.facts import deeds, facts
from everlore.models.rules.habits import is_dated
from everlore.models.rules.kin import ROLES, is_another
from everlore.models.rules.phrases import SaidFact
from everlore.models.rules.pipeline import parsed
from everlore.models.rules.reading import MessageParts, Part, read
from everlore.models.rules.relations import relations
from everlore.models.rules.requests import request
from everlore.models.rules.scene import NAMELESS, REACH, Scene, person_of
from everlore.models.rules.times import Times, times_of
from everlore.models.rules.updates import Gist, gist, gists_of, relate
from everlore.models.rules.wording import Refused, Wording, worded
from everlore.models.rules.worth import SHOWN_FROM, Worth, doubt, weigh
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
    Relation,
    Window,
    WindowMessage,
)
from everlore.text.descriptions import tells_apart
from everlore.text.lexicon import words
from everlore.text.names import names
from everlore.text.words import telling

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

# So many messages before the window are read for whether they leave it in a made-up world.
_CONTEXT: Final = 4
_VAGUE: Final = words("statements.vague", "en")
_CHANGING: Final = words("statements.changing", "en")
_OF_PEOPLE: Final = frozenset({"married_to", "engaged_to", "lives_with", "works_with"})
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
    facts: tuple[SaidFact, ...]
    aliases: tuple[tuple[SaidFact, str], ...]
    gist: Gist
    corrects: bool
    was_wrong: bool
    mends: "Statement | None" = None


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
    ends = {id(found[place]): end for place, end in _ends(found, window).items()}
    told = [one for one in found if one.worth.shown or id(one) in ends]
    kept = sorted(told, key=lambda one: (id(one) not in ends, -one.worth.score))[:MAX_MEMORIES]
    kept.sort(key=found.index)
    keys = sorted(
        (one for one in found if one not in kept and _leads_somewhere(one)), key=lambda one: -one.worth.score
    )
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
    memories = [_memory(one, named, ends.get(id(one)), kept) for one in kept]
    memories += [_key(one) for one in keys[:MAX_KEYS]]
    return Extraction(tuple(memories), tuple(_named_pets(drafts)[:MAX_FACTS]), _entities(named, window))


def _leads_somewhere(one: Statement) -> bool:
    """Whether a statement is a key: it is clear, and names something beside its subject."""
    return not one.wording.unclear and any(
        token.pos_ in {"NOUN", "PROPN"}
        and token.dep_ != "npadvmod"
        and token != one.clause.subject
        and token.lemma_.lower() not in _VAGUE
        for token in one.clause.words
    )


def _named_pets(drafts: Sequence[DraftFact]) -> list[DraftFact]:
    """ "We got a dog, his name is Rufus": one pet, and not a dog besides."""
    named = {one.subject for one in drafts if one.predicate == "has_pet" and one.object_is_entity}
    return [
        one
        for one in drafts
        if one.predicate != "has_pet" or one.object_is_entity or one.ended or one.subject not in named
    ]


@dataclass(frozen=True, slots=True)
class _End:
    """What a statement does to an earlier one of the window, or to the known memory of that number."""

    relation: Relation
    earlier: Statement | None = None
    number: int | None = None


def _ends(found: Sequence[Statement], window: Window) -> dict[int, _End]:
    """By the place of a statement what it does to what was said before. What ends something is told, however little it is worth
    by itself ("I called the dentist")."""
    ends: dict[int, _End] = {}
    near = sorted(_near(window, found), key=lambda one: one.valid_from, reverse=True)
    stored = [
        (one.number, what)
        for one, what in zip(near, gists_of(near, found[0].message.speaker) if near else (), strict=True)
        if what is not None
    ]
    for place, one in enumerate(found):
        if one.mends is not None:
            number = next(
                (each.number for each in window.known if each.content == one.mends.wording.text), None
            )
            if one.mends.quotes and one.mends.worth.shown:
                ends[place] = _End("corrects", earlier=one.mends)
            elif number is not None:
                ends[place] = _End("corrects", number=number)
            continue
        told = {number for number, other in enumerate(found[:place]) if other.worth.shown or number in ends}
        earlier = [(number, found[number].gist) for number in sorted(told, reverse=True)]
        if (end := relate(one.gist, earlier, corrects=one.corrects, was_wrong=one.was_wrong)) is not None:
            ends[place] = _End(end[0], earlier=found[end[1]])
        elif (end := relate(one.gist, stored, corrects=one.was_wrong, was_wrong=one.was_wrong)) is not None:
            ends[place] = _End(end[0], number=end[1])
        if place in ends and not one.worth.shown and (ends[place].relation == "same" or one.wording.unclear):
            del ends[place]
    return ends


def _near(window: Window, found: Sequence[Statement]) -> list[KnownMemory]:
    """The known memories that share a telling word with what is said."""
    said = {word for one in found for word in telling(one.wording.text)}
    return [one for one in window.known if said & telling(one.content)]


def _once(statements: Iterator[Statement]) -> list[Statement]:
    """Without what is said again in the same words."""
    seen: dict[str, Statement] = {}
    for one in statements:
        seen.setdefault(one.wording.text, one)
    return list(seen.values())


# --- reading -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Job:
    """A part of a message to be parsed. `place`: of the message in the conversation; `earlier`: it stands before the window."""

    message: WindowMessage
    place: int
    part: Part
    earlier: bool


def _statements(window: Window) -> Iterator[Statement]:
    known = _known(window)
    jobs = list(_jobs(window, known))
    speakers = list(dict.fromkeys(one.speaker for one in (*window.earlier, *window.messages)))
    scene: Scene | None = None
    said: list[tuple[int, Statement]] = []
    people = {part.lower() for one in speakers if one.lower() not in NAMELESS for part in one.split()}
    for job, doc in zip(jobs, parsed([job.part.text for job in jobs], people, known), strict=True):
        here = _scene(job, speakers, known, None if job.earlier else scene)
        stated = list(_stated(job, doc, here))
        if job.earlier:
            # Not of this window: no quote of it counts.
            said += [(job.place, replace(one, quotes=())) for one in stated]
            continue
        scene = here
        if job.part.corrects and not any(one.worth.shown or one.facts for one in stated):
            stated = [mended] if (mended := _mended(job, doc, said)) is not None else stated
        said = [*said, *((job.place, one) for one in stated)][-_CONTEXT:]
        yield from stated


def _scene(job: _Job, speakers: Sequence[str], known: frozenset[str], before: Scene | None) -> Scene:
    others = [one for one in speakers if one != job.message.speaker and one.lower() not in NAMELESS]
    told = job.part.told
    return Scene(
        speaker=job.message.speaker,
        listener=others[0] if len(others) == 1 else None,
        known=known if told is None else known | {told.split()[0].lower()},
        place=job.place,
        people=[] if before is None else before.people,
        genders={} if before is None else before.genders,
        told=told,
        to_assistant=not others,
        inside=job.part.inside,
    )


def _mended(job: _Job, doc: "Doc", said: Sequence[tuple[int, Statement]]) -> Statement | None:
    """The last statement of the speaker that a fragment puts right, as it is right."""
    for place, old in reversed(said):
        if old.message.speaker != job.message.speaker or place < job.place - REACH:
            continue
        changed = put_right(doc, old.clause, old.times, old.wording.text, job.message.at)
        if changed is None:
            continue
        wrong, right, times = changed
        moved = times is not old.times
        facts_now = tuple(
            replace(one, object=right if moved and is_dated(one) else one.object.replace(wrong, right))
            for one in old.facts
        )
        wording = replace(old.wording, text=old.wording.text.replace(wrong, right))
        return replace(
            old, message=job.message, wording=wording, quotes=(_quote(job, list(doc)), *old.quotes), times=times,
            facts=facts_now, aliases=(), corrects=True, was_wrong=True, mends=old,
        )  # fmt: skip
    return None


def _known(window: Window) -> frozenset[str]:
    """Words in lower case that are names: of speakers and known entities, and what is written so where no sentence begins."""
    said = {
        name.text
        for message in (*window.earlier, *window.messages)
        for name in names(message.text[:4000])
        if not name.opens
    } | {name.text for one in window.known for name in names(one.content) if not name.opens}
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
    # What stands before the window is parsed only where something may put it right.
    first = len(before) + REACH
    mends = any(part.corrects for _, place, _, one in readings if place < first for part in one.parts)
    for message, place, earlier, reading in readings:
        yield from (
            _Job(message, place, part, earlier)
            for part in reading.parts
            if (mends or not earlier) and (not part.joking or _may_name(part.text, known))
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
            if not job.part.joking and (statement := _statement(job, clause, scene)) is not None:
                yield statement
            _note_people(job, clause.words, scene)
        if not said and not job.part.joking and (statement := _of_fragment(job, sentence, scene)) is not None:
            yield statement
        # Who is named beside its clauses, or where it has none ("Birgitta on the second floor."), is spoken of, too.
        _note_people(job, [one for one in sentence if one.i not in said], scene)


def _note_people(job: _Job, words: "Sequence[Token]", scene: Scene) -> None:
    for token in words:
        if (person := person_of(token, scene, _quote(job, words))) is not None:
            scene.note(person)


def _statement(job: _Job, clause: Clause, scene: Scene) -> Statement | None:
    times = times_of(clause, job.message.at)
    reason = doubt(clause)
    if reason is None:
        try:
            wording = worded(clause, scene, times)
        except Refused:
            return None
        said = tuple(denials(clause, wording, scene))
        said += (*facts(clause, wording, scene), *asides(clause.words, scene))
        worth = weigh(clause, wording, scene, dated=bool(times.dates), facts=said)
        if worth.score >= 1.5 and not wording.unclear:
            said += deeds(clause, wording, scene, said)
    elif reason == "an order" and (asked := request(clause, scene, times)) is not None:
        (wording, worth), said = asked, ()
    else:
        return None
    elsewhere = tuple(dict.fromkeys(one.quote for one in wording.leans_on if one.place != job.place))
    return Statement(
        job.message, clause, wording, worth, (_quote(job, clause.words), *elsewhere), times, said,
        tuple(relations(clause, scene)), gist(clause, wording, times, worth.type, job.message.speaker, job.message.at, said),
        job.part.corrects, job.part.was_wrong,
    )  # fmt: skip


def _of_fragment(job: _Job, sentence: "Span", scene: Scene) -> Statement | None:
    """What words without a verb say of somebody on the way, as a statement of its own."""
    tokens = tuple(one for one in sentence if not one.is_space)
    if scene.inside or not tokens or not (said := tuple(asides(tokens, scene))):
        return None
    clause, speaker, at = Clause(sentence.root, None, tokens, ()), job.message.speaker, job.message.at
    wording = Wording(
        f"{said[0].subject} {in_words(said[0].predicate)} {said[0].object}.", said[0].subject, None
    )
    return Statement(
        job.message, clause, wording, Worth("fact", SHOWN_FROM, "a fragment"), (_quote(job, tokens),), Times(), said, (),
        gist(clause, wording, Times(), "fact", speaker, at, said), job.part.corrects, job.part.was_wrong,
    )  # fmt: skip


def _quote(job: _Job, tokens: "Sequence[Token]") -> Quote:
    first, last = tokens[0], tokens[-1]
    begin, end = job.part.places[first.idx], job.part.places[last.idx + len(last) - 1] + 1
    return Quote(job.message.number, job.message.text[begin:end])


# --- drafts ------------------------------------------------------------------------------------------------


def _memory(one: Statement, named: _Names, end: _End | None, kept: Sequence[Statement]) -> DraftMemory:
    before = kept.index(end.earlier) if end is not None and end.earlier in kept else None
    acts = end is not None and (before is not None or end.number is not None)
    return DraftMemory(
        type=one.worth.type, content=one.wording.text, sources=one.quotes, importance=one.worth.importance, confidence=0.8,
        entities=tuple(name for name in named.types if name in one.wording.text)[:8], event_at=one.times.first,
        reasoning=one.worth.reason, relation=end.relation if end is not None and acts else "new",
        target=end.number if end is not None else None, replaces=before,
    )  # fmt: skip


def _key(one: Statement) -> DraftMemory:
    return DraftMemory(
        type=one.worth.type, content=one.wording.text, sources=one.quotes, importance=one.worth.importance, confidence=0.8,
        event_at=one.times.first, tier="key",
    )  # fmt: skip


def _fact(fact: SaidFact, one: Statement, place: int | None) -> DraftFact:
    return DraftFact(
        subject=fact.subject, predicate=fact.predicate, object=fact.object, sources=one.quotes, confidence=0.8,
        valid_from=None if is_dated(fact) else one.times.first, ended=fact.ended, memory=place,
        relation="corrects" if one.was_wrong else "updates" if _says_change(one, fact) else "new",
        object_is_entity=fact.is_name or fact.predicate.endswith("_of"),
    )  # fmt: skip


def _says_change(one: Statement, fact: SaidFact) -> bool:
    """ "They live in Umeå now", "I moved to Leeds", "she turned 34": so it was otherwise before."""
    lemmas = {token.lemma_.lower() for token in one.clause.words}
    return is_exclusive(fact.predicate) and (fact.predicate == "age" or bool(lemmas & _CHANGING))


def _note(named: _Names, fact: SaidFact, one: Statement) -> None:
    if fact.is_name and fact.object != one.message.speaker:
        of_people = fact.predicate.endswith("_of") or fact.predicate in _OF_PEOPLE
        kind = "person" if of_people else _NAMED_BY.get(fact.predicate, "other")
        named.add(fact.object, kind, one.quotes[0])
    if fact.subject != one.message.speaker and "'s " not in fact.subject:
        name = fact.subject.split()[0] if tells_apart(fact.subject) else fact.subject
        named.add(name, "person", one.quotes[0])
        if name != fact.subject:
            named.aliases.setdefault(name, []).append(fact.subject)


def _entities(named: _Names, window: Window) -> tuple[DraftEntity, ...]:
    known = [one.content for one in window.known]
    return tuple(
        DraftEntity(
            name,
            kind,
            tuple(dict.fromkeys(named.quotes[name]))[:3],
            aliases := tuple(dict.fromkeys(named.aliases.get(name, ()))),
            distinct=is_another(name, aliases, known),
        )
        for name, kind in named.types.items()
    )
