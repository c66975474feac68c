"""What rules find in a window: verbatim sentences, chosen and typed by patterns, and the facts that their grammar shows.

It reads a window in four passes: which sentences are stated at all (`reading`), what they say (`clauses`, `people`), which
are worth keeping (`select`), how those stand to what is known (`relations`).
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Final

from everlore.domain.memories import EntityType
from everlore.domain.predicates import is_exclusive
from everlore.models.rules.clauses import Claim, Scene, claims
from everlore.models.rules.denials import find_denials
from everlore.models.rules.entities import guess_type, surest, type_by_predicate
from everlore.models.rules.judge import Looked
from everlore.models.rules.kinds import looks_ahead
from everlore.models.rules.particulars import find_particulars
from everlore.models.rules.people import find_people
from everlore.models.rules.phrases import find_phrases
from everlore.models.rules.reading import MessageReading, RuleStatement, read
from everlore.models.rules.refusals import FICTION_BEGINS
from everlore.models.rules.relations import Does, Knowledge, relate, relate_earlier, words_of
from everlore.models.rules.select import Chosen, choose
from everlore.ports.analyst import (
    MAX_ENTITIES,
    MAX_FACTS,
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
)  # fmt: skip
from everlore.text.dates import SaidDate, read_dates
from everlore.text.names import Name, names
from everlore.text.numbers import marks

_SPEAKERS: Final = frozenset(("user", "assistant"))
_OPENERS: Final = re.compile(
    r"(?:(?:oh|well|so|yeah|yep|yes|no|hey|hi|hello|ok|okay|anyway|anyways|btw|by the way|haha|wow|hmm+|um|uh|ah|aww"
    r"|fyi|and|but|honestly|tbh"
    r"|bueno|pues|oye|mira|hola|por cierto|ah|sí|vale)(?:,|!|\.\.\.|…) ?)+",
    re.IGNORECASE,
)
# A date that is another one now.
_MOVES: Final = re.compile(
    r"\b(?:moved|postponed|rescheduled|pushed(?: back)?|shifted|changed|brought forward|delayed) (?:to|until|till)\b"
    r"|\b(?:aplazad[oa]|movid[oa]|cambiad[oa]|pospuest[oa]) (?:a|al|para|hasta)\b"
)
_DENIED: Final = re.compile(r"(?:not|no|nicht|pas) ", re.IGNORECASE)
_TOLD_APART: Final = re.compile(r"^[^\W\d_][\w'-]* (?:from|the) [a-zà-ÿ]")  # "Emma from accounting"
_NOT_THAT: Final = re.compile(
    r"\b(?:not|no|instead of|rather than|en vez de|en lugar de) (?:in |at |the |el |la |en )?(?=\S)"
)
_CLOSES: Final = re.compile(r"[\s.,!…]*(?:$|not\b|instead\b|no\b|nicht\b|en vez\b)")
_MEANT: Final = re.compile(
    r"(?:\bi meant(?: to say)?|\bi mean|\bquise decir|\bquería decir|\bcorrection:?|\bcorrección:?|^(?:sorry|oops"
    r"|actually|wait|perdón|perdona|mejor dicho|en realidad)[,:]?(?: it's| its| that's| is| es)?)"
    r"[,:]? (?:in |at |on |the |to |en |el |la )?"
)


@dataclass(slots=True)
class _Gathered:
    """What the passes collect over the window."""

    chosen: list[Chosen] = field(default_factory=list[Chosen])
    facts: list[tuple[Claim, RuleStatement, Relation]] = field(
        default_factory=list[tuple[Claim, RuleStatement, Relation]]
    )
    aliases: dict[str, dict[str, Quote]] = field(default_factory=dict[str, dict[str, Quote]])
    types: defaultdict[str, list[EntityType]] = field(
        default_factory=lambda: defaultdict[str, list[EntityType]](list)
    )
    quotes: dict[str, Quote] = field(default_factory=dict[str, Quote])
    last_person: str | None = None
    pet: bool = False
    pet_of: int = 0  # the message that spoke of a pet without its name
    mended: dict[int, str] = field(default_factory=dict[int, str])  # by message what it says was wrong before


def extract(window: Window) -> Extraction:
    """Everything that rules find in `window`."""
    gathered = _Gathered()
    known_names = _known_names(window)
    for reading in _read_all(window):
        for statement in reading.statements:
            _look(statement, known_names, gathered)
    knowledge = _knowledge(window.known, gathered, window)
    return _drafts(gathered, knowledge)


def _read_all(window: Window) -> Iterator[MessageReading]:
    """The readings of the window's messages. Earlier ones only carry a made-up world over; a joke takes back what came before."""
    fiction = False
    for message in window.earlier[-20:]:
        if message.role in _SPEAKERS and (fiction or FICTION_BEGINS.search(message.text.lower())):
            fiction = read(message, fiction=fiction).fiction
    readings: list[tuple[WindowMessage, MessageReading]] = []
    for message in window.messages:
        if message.role not in _SPEAKERS:
            continue
        reading = read(message, fiction=fiction)
        fiction = reading.fiction
        if reading.joke:
            _take_back(readings, message)
        readings.append((message, reading))
    return iter([reading for _, reading in readings])


def _take_back(readings: list[tuple[WindowMessage, MessageReading]], message: WindowMessage) -> None:
    """ "Just kidding" as the beginning of a message speaks of the same person's message before it."""
    if not re.match(
        r"\W*(?:haha\w*|lol|ok|no|nah|jaja\w*)?\W*(?:i'm |i was |just |only )*(?:kidding|joking|jk|es broma|era broma)",
        message.text.lower(),
    ):
        return
    for place in range(len(readings) - 1, -1, -1):
        if readings[place][0].speaker == message.speaker:
            readings[place] = (readings[place][0], replace(readings[place][1], statements=()))
            return


def _known_names(window: Window) -> frozenset[str]:
    """Names in lower case that may open a sentence: speakers, known entities, and what stands inside sentences of the window."""
    found = {message.speaker for message in (*window.messages, *window.earlier)} | set(window.entities)
    for message in window.messages:
        found |= {name.text for name in names(message.text[:4000]) if not name.opens}
    return frozenset(part.lower() for name in found for part in (name, *name.split()) if len(part) > 1)


def _look(statement: RuleStatement, known_names: frozenset[str], gathered: _Gathered) -> None:
    """Read one statement: names, dates, facts, people; then judge it."""
    message = statement.message
    shown = _shown(statement)
    dates = _dates(statement, shown)
    named = tuple(
        name
        for name in names(shown, known_names)
        if not any(date.begin <= name.begin < date.stop for date in dates)
    )
    found_marks = marks(shown)
    gathered.pet = gathered.pet_of == message.number
    scene = Scene(message.speaker, named, dates, gathered.last_person, gathered.pet)
    made: list[Claim] = []
    aliased = False
    if message.role == "user":
        people = find_people(statement, scene)
        find_particulars(statement, scene, found_marks, people)
        find_phrases(statement, scene, people)
        made = _with_named_pets([*people.claims, *claims(statement, scene)], gathered)
        # "Jazz, not rock" says nothing more of rock.
        made = [one for one in _with_names(made, people.aliases, gathered) if not _DENIED.match(one.object)]
        if denied := find_denials(statement, scene):
            made = denied
        gathered.last_person = next(
            (name.text for name in reversed(named) if name.text in people.persons), scene.last_person
        )
        corrected = _correction(statement, scene, made, gathered) if statement.corrected else []
        for claim in (*corrected, *made):
            mends = claim in corrected or statement.was_wrong or _is_mended(claim, message.number, gathered)
            relation: Relation = "corrects" if mends else "new"
            gathered.facts.append((claim, statement, relation))
        if statement.was_wrong:
            gathered.mended[message.number] = statement.low
        made += corrected
        for entity, alias in people.aliases:
            aliased = True
            gathered.aliases.setdefault(entity, {}).setdefault(alias, _quote(statement))
        if any(claim.predicate == "has_pet" and not claim.is_name for claim in made):
            gathered.pet_of = message.number
        for claim in made:
            if _TOLD_APART.search(claim.subject):
                people.persons.add(claim.subject)
                gathered.quotes.setdefault(claim.subject, _quote(statement))
        for person in people.persons:
            gathered.types[person].append("person")
    chosen = choose(Looked(statement, named, found_marks, dates, tuple(made), aliased))
    if chosen:
        gathered.chosen.append(chosen)
    if chosen or made or aliased:
        _note_names(statement, named, made, gathered)


def _is_mended(claim: Claim, message: int, gathered: _Gathered) -> bool:
    """Whether the message said just before that this is what was meant ("Sorry, I meant Lagos. I live in Lagos.")."""
    return claim.object.lower() in gathered.mended.get(message, "")


def _with_names(made: list[Claim], aliases: list[tuple[str, str]], gathered: _Gathered) -> list[Claim]:
    """ "Anna's mother" by her name, where the same window gives it."""
    named = {alias: entity for entity, given in gathered.aliases.items() for alias in given}
    named |= {alias: entity for entity, alias in aliases}
    return [replace(claim, subject=named.get(claim.subject, claim.subject)) for claim in made]


def _with_named_pets(made: list[Claim], gathered: _Gathered) -> list[Claim]:
    """Without the pets that have a name beside them: "adopted a greyhound, her name is Comet" is one pet."""
    named = [claim for claim in made if claim.predicate == "has_pet" and claim.is_name]
    if not named:
        return made
    gathered.facts = [
        one for one in gathered.facts if one[0].predicate != "has_pet" or one[0].is_name or not gathered.pet
    ]
    return [claim for claim in made if claim.predicate != "has_pet" or claim.is_name]


def _dates(statement: RuleStatement, shown: str) -> tuple[SaidDate, ...]:
    """The dates of a statement. Each lies ahead or behind as its own clause says, else as the whole sentence does."""
    english, at, low = statement.language == "en", statement.message.at, statement.low
    dates = read_dates(shown, at, english=english)
    if not dates:
        return ()
    turned = {(date.begin, date.stop): date for date in read_dates(shown, at, ahead=True, english=english)}
    return tuple(
        turned.get((date.begin, date.stop), date) if looks_ahead(low, date.begin, date.stop) else date
        for date in dates
    )


def _shown(statement: RuleStatement) -> str:
    """The statement's own words with what is hidden in its lower-case form hidden too."""
    if "\x7f" not in statement.low:
        return statement.text
    return "".join(
        "\x7f" if low == "\x7f" else one for one, low in zip(statement.text, statement.low, strict=True)
    )


def _quote(statement: RuleStatement) -> Quote:
    return Quote(statement.message.number, statement.text)


def _note_names(
    statement: RuleStatement, named: Sequence[Name], made: Sequence[Claim], gathered: _Gathered
) -> None:
    objects = {claim.object: claim for claim in made if claim.is_name}
    subjects = {claim.subject for claim in made}
    for name in named:
        if (
            name.opens
            and name.text not in subjects
            and name.text not in objects
            and name.text not in gathered.types
        ):
            continue
        gathered.quotes.setdefault(name.text, _quote(statement))
        claim = objects.get(name.text)
        type_ = type_by_predicate(claim.predicate) if claim else None
        if type_ is None and name.text in subjects:
            type_ = "person"
        gathered.types[name.text].append(type_ or guess_type(name.text, statement.low[: name.begin]))


def _correction(
    statement: RuleStatement, scene: Scene, made: Sequence[Claim], gathered: _Gathered
) -> list[Claim]:
    """ "I meant Lagos, not Lisbon": the fact of before, with the new object in place of the old. A sentence that states
    something of its own ("Actually, Emma loves Berlin") mends nothing unless it names the old one."""
    low = statement.low
    meant, denied = _MEANT.search(low), _NOT_THAT.search(low)
    if meant is None and denied is None:
        return []
    new = next((name for name in scene.names if meant and name.begin == meant.end()), None)
    old = next((name for name in scene.names if denied and name.begin == denied.end()), None)
    new = new or next((name for name in scene.names if name is not old), None)
    if new is None or (old is None and (made or not _CLOSES.match(low, new.stop))):
        return []
    if "person" in gathered.types.get(new.text, ()):
        return []
    for claim, said, _ in reversed(gathered.facts):
        if said.message.speaker != statement.message.speaker or claim.object.lower() == new.text.lower():
            continue
        if (old and claim.object.lower() == old.text.lower()) or (
            old is None and is_exclusive(claim.predicate) and claim.is_name
        ):
            return [replace(claim, object=new.text, begin=new.begin, stop=new.stop)]
    return []


def _knowledge(known: Sequence[KnownMemory], gathered: _Gathered, window: Window) -> tuple[Knowledge, ...]:
    """The known memories with the facts that rules read out of them; one of nobody is the first user's."""
    if not known or not (gathered.chosen or gathered.facts):
        return ()
    speaker = next((message.speaker for message in window.messages if message.role == "user"), "user")
    held: list[Knowledge] = []
    first = min(message.at for message in window.messages)
    for memory in known:
        author = memory.author or speaker
        made = _claims_of(author, memory.content, memory.valid_from)
        later = memory.valid_from > first
        does = _does(author, memory.content, memory.valid_from) if later else Does()
        held.append(Knowledge(memory, words_of(memory.content), made, does))
    return tuple(held)


@lru_cache(maxsize=2048)
def _does(speaker: str, content: str, at: datetime) -> Does:
    """What a known memory does to what was said before it."""
    gathered = _Gathered()
    for statement in read(WindowMessage(1, "user", speaker, at, content)).statements:
        _look(statement, frozenset(), gathered)
    chosen = gathered.chosen
    return Does(
        any(one.statement.corrected for one in chosen),
        any(one.done for one in chosen),
        any(map(_moves, chosen)),
    )


@lru_cache(maxsize=2048)
def _claims_of(speaker: str, content: str, at: datetime) -> tuple[Claim, ...]:
    """What a known memory claims; kept, for it comes along with window after window."""
    made: list[Claim] = []
    for statement in read(WindowMessage(1, "user", speaker, at, content)).statements:
        scene = Scene(speaker, names(statement.text), ())
        people = find_people(statement, scene)
        find_particulars(statement, scene, (), people)
        find_phrases(statement, scene, people)
        made += [*people.claims, *claims(statement, scene)]
    return tuple(made)


# --- drafts ------------------------------------------------------------------------------------------------


def _drafts(gathered: _Gathered, knowledge: Sequence[Knowledge]) -> Extraction:
    best = sorted(_without_repeats(gathered.chosen), key=lambda one: -one.salience)[:MAX_MEMORIES]
    kept = sorted(best, key=lambda one: (one.statement.message.number, one.statement.begin))
    place = {(one.statement.message.number, one.statement.begin): number for number, one in enumerate(kept)}
    memories = _memories(kept, gathered, knowledge)
    facts: dict[tuple[str, str, str, bool], DraftFact] = {}
    for claim, statement, relation in gathered.facts:
        key = (claim.subject.lower(), claim.predicate, claim.object.lower(), claim.ended)
        if key not in facts and len(facts) < MAX_FACTS and claim.object:
            facts[key] = _fact(
                claim, statement, relation, place.get((statement.message.number, statement.begin))
            )
    return Extraction(memories, tuple(facts.values()), _entities(gathered))


def _without_repeats(chosen: Sequence[Chosen]) -> list[Chosen]:
    seen: dict[str, Chosen] = {}
    for one in chosen:
        seen.setdefault(" ".join(one.statement.low.split()), one)
    return list(seen.values())


def _memories(
    kept: Sequence[Chosen], gathered: _Gathered, knowledge: Sequence[Knowledge]
) -> tuple[DraftMemory, ...]:
    """The drafts in order; one may take the place of an earlier one of the same speaker."""
    drafts: list[DraftMemory] = []
    earlier: dict[str, list[Knowledge]] = {}
    for place, one in enumerate(kept):
        said, draft = one.statement, _memory(one, gathered, knowledge)
        mine = earlier.setdefault(said.message.speaker, [])
        mended = relate_earlier(draft.content, mine, corrects=said.corrected, moves=_moves(one))
        if draft.target is None and mended is not None:
            draft = replace(draft, relation=mended[0], replaces=mended[1])
        drafts.append(draft)
        seen = KnownMemory(place, draft.type, draft.content, said.message.at)
        mine.append(Knowledge(seen, words_of(draft.content), ()))
    return tuple(drafts)


def _moves(one: Chosen) -> bool:
    """Whether it gives something another date."""
    return one.event_at is not None and _MOVES.search(one.statement.low) is not None


def _memory(one: Chosen, gathered: _Gathered, knowledge: Sequence[Knowledge]) -> DraftMemory:
    statement = one.statement
    opener = _OPENERS.match(statement.text)
    content = statement.text[opener.end() :] if opener else statement.text
    content = content.strip() or statement.text
    said = [claim for claim, source, _ in gathered.facts if source is statement]
    draft = KnownMemory(0, one.type, content, statement.message.at)
    does = Does(statement.corrected, one.done, _moves(one))
    relation, target = relate(Knowledge(draft, words_of(content), tuple(said), does), knowledge)
    entities = tuple(name for name in gathered.types if name in content)[:8]
    return DraftMemory(
        type=one.type, content=content, sources=(Quote(statement.message.number, content),), importance=one.salience,
        confidence=one.confidence, entities=entities, event_at=one.event_at, expires_at=one.expires_at, reasoning=one.reason,
        relation=relation, target=target,
    )  # fmt: skip


def _fact(claim: Claim, statement: RuleStatement, relation: Relation, memory: int | None) -> DraftFact:
    return DraftFact(
        subject=claim.subject, predicate=claim.predicate, object=claim.object, sources=(_quote(statement),),
            confidence=round(claim.confidence, 2),
        valid_from=claim.valid_from, ended=claim.ended,
            object_is_entity=claim.is_name or claim.predicate.endswith("_of"), relation=relation,
        memory=memory,
    )  # fmt: skip


def _entities(gathered: _Gathered) -> tuple[DraftEntity, ...]:
    drafts = [_entity(name, surest(types), gathered) for name, types in gathered.types.items()]
    drafts += [_entity(name, "person", gathered) for name in gathered.aliases if name not in gathered.types]
    return tuple(drafts[:MAX_ENTITIES])


def _entity(name: str, type_: EntityType, gathered: _Gathered) -> DraftEntity:
    aliases = gathered.aliases.get(name, {})
    quotes = dict.fromkeys([gathered.quotes[name]] if name in gathered.quotes else [])
    quotes |= dict.fromkeys(aliases.values())
    return DraftEntity(
        name, type_, tuple(quotes), tuple(aliases), distinct=_TOLD_APART.search(name) is not None
    )
