"""What a statement does to what was said before, told by predicate, opposition and correction, never by likeness of words alone.

What a fact of it ends is worked out by the chronicle (`everlore.knowledge.supersession`). Here are the ends that no fact shows:
what was to be done is done or called off, what was to happen happens on another day, a habit is given up, and something is put
right. In doubt nothing is ended.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from everlore.domain.memories import MemoryType
from everlore.domain.predicates import OPPOSITES, is_exclusive
from everlore.models.rules.clauses import Clause, auxiliaries, child, clauses, is_negated
from everlore.models.rules.facts import facts
from everlore.models.rules.phrases import SaidFact
from everlore.models.rules.pipeline import parsed
from everlore.models.rules.scene import Scene
from everlore.models.rules.times import Times, times_of
from everlore.models.rules.wording import Refused, Wording, worded
from everlore.ports.analyst import KnownMemory, Relation
from everlore.text.lexicon import words
from everlore.text.words import root, tokens

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_DONE, _MOVED, _OFF, _STOPS, _AHEAD = (
    words(f"statements.{one}", "en") for one in ("done", "moved", "off", "stops", "leads_to")
)
_VAGUE: Final = words("statements.vague", "en")
_FRESH: Final = words("statements.fresh", "en")
_SAME: Final = 0.85


@dataclass(frozen=True, slots=True)
class Thing:
    """What a statement is about beside a person: a noun in its basic form, and what tells it from others of its kind."""

    noun: str
    told_by: frozenset[str]

    def is_one_with(self, other: "Thing") -> bool:
        return self.noun == other.noun and (self.told_by <= other.told_by or other.told_by <= self.told_by)


@dataclass(frozen=True, slots=True)
class Gist:
    """What a statement says, as far as updates are told by it. `verb`: what is done in the end ("needs to book": book). `open`:
    it is still to be done or to happen; `past`: it is over. `stops`: that it is given up is all that it says."""

    author: str
    about: str
    at: datetime
    verb: str
    thing: Thing | None
    nouns: frozenset[str]
    numbers: frozenset[str]
    days: frozenset[datetime]
    negated: bool
    open: bool
    past: bool
    stops: bool
    fresh: bool
    roots: frozenset[str]
    facts: tuple[SaidFact, ...]


def gist(
    clause: Clause,
    wording: Wording,
    times: Times,
    type_: MemoryType,
    author: str,
    at: datetime,
    said: Sequence[SaidFact] = (),
) -> Gist:
    verb, led = clause.head, False
    stops = verb.lemma_.lower() in _STOPS
    while verb.lemma_.lower() in _AHEAD | _STOPS and (inner := child(verb, "xcomp", "pcomp")) is not None:
        verb, led = inner, led or verb.lemma_.lower() in _AHEAD
    subject = clause.subject
    of_subject = set(subject.subtree) if subject is not None else set["Token"]()
    thing = _affected(verb, clause)
    past = not clause.modal and (
        clause.head.tag_ == "VBD"
        or any(one.lemma_ in {"have", "be"} and clause.head.tag_ == "VBN" for one in auxiliaries(clause.head))
    )
    dated = {word for time in times.dates for word in time.words}
    return Gist(
        author=author,
        about=author if subject is None or _is_thing(subject) else wording.subject.lower(),
        at=at,
        verb=_lemma(verb),
        thing=None if thing is None else Thing(thing.lemma_.lower(), _told_by(thing)),
        nouns=frozenset(
            one.lemma_.lower()
            for one in clause.words
            if (one.pos_ in {"NOUN", "PROPN"} or _numbers_it(one))
            and one not in of_subject
            and one.i not in dated
        ),
        numbers=frozenset(
            one.text
            for one in clause.words
            if one.pos_ == "NUM" and one.i not in dated and not _numbers_it(one)
        ),
        days=frozenset(one.said.start for one in times.dates if one.said.grain in {"day", "moment"}),
        negated=is_negated(clause.head),
        open=not past and not stops and (led or type_ in {"task", "goal", "reminder"}),
        past=past,
        stops=stops,
        fresh=thing is not None and any(one.lower_ in _FRESH for one in thing.children),
        roots=frozenset(root(one.text) for one in tokens(wording.text)),
        facts=tuple(said),
    )


def _lemma(verb: "Token") -> str:
    particle = child(verb, "prt")
    lemma = verb.lemma_.lower()
    return lemma if particle is None else f"{lemma} {particle.lower_}"


def _affected(verb: "Token", clause: Clause) -> "Token | None":
    """What a verb does something to, or what is said to be so."""
    found = child(verb, "dobj") or clause.child("nsubjpass")
    if found is None and verb == clause.head and clause.subject is not None and _is_thing(clause.subject):
        found = clause.subject
    if found is None:
        found = next(
            (
                inner
                for one in verb.children
                if one.dep_ == "prep"
                for inner in one.children
                if inner.dep_ == "pobj"
            ),
            None,
        )
    return found if found is not None and _is_thing(found) and found.lemma_.lower() not in _VAGUE else None


def _is_thing(token: "Token") -> bool:
    return token.pos_ in {"NOUN", "PROPN"} and token.ent_type_ not in {"PERSON", "DATE", "TIME"}


def _numbers_it(token: "Token") -> bool:
    """Whether a number tells one thing from others, and does not count any: "house number 2", "Line 5"."""
    return token.pos_ == "NUM" and token.head.pos_ in {"NOUN", "PROPN"} and token.head.i < token.i


def _told_by(token: "Token") -> frozenset[str]:
    return frozenset(
        one.lemma_.lower()
        for one in token.subtree
        if one != token
        and one.pos_ in {"NOUN", "PROPN", "ADJ"}
        and one.dep_ in {"compound", "amod", "nmod", "pobj"}
    )


def relate(
    new: Gist, earlier: Iterable[tuple[int, Gist]], *, corrects: bool, was_wrong: bool
) -> tuple[Relation, int] | None:
    """How a statement stands to the last of the earlier ones that it does something to. `earlier`: the last one first;
    `corrects`: it may put right what was said just now; `was_wrong`: it says that something was never so."""
    for number, one in earlier:
        if (relation := _relation(new, one, corrects=corrects, was_wrong=was_wrong)) is not None:
            return relation, number
    return None


def _relation(new: Gist, old: Gist, *, corrects: bool, was_wrong: bool) -> Relation | None:
    if new.author != old.author or new.at < old.at:
        return None
    alike = len(new.roots & old.roots) >= _SAME * len(new.roots | old.roots)
    if alike and (new.negated, new.numbers, new.days) == (old.negated, old.numbers, old.days):
        return "same"
    for mine in new.facts:
        for theirs in old.facts:
            if (relation := _of_facts(mine, theirs, len(old.facts), was_wrong=was_wrong)) is not None:
                return relation
    if new.about != old.about or new.fresh:
        return None
    one_thing = new.thing is not None and old.thing is not None and new.thing.is_one_with(old.thing)
    if corrects and _puts_right(new, old, one_thing=one_thing):
        return "corrects"
    if one_thing and (_closes(new, old) or _moves(new, old) or _gives_up(new, old)):
        return "updates"
    if new.verb == old.verb and new.nouns == old.nouns and new.nouns and not new.past and not old.past:
        if new.negated != old.negated and not old.open:
            return "contradicts"
        if new.numbers and old.numbers and new.numbers != old.numbers and new.thing == old.thing:
            return "updates"
    return None


def _of_facts(mine: SaidFact, theirs: SaidFact, others: int, *, was_wrong: bool) -> Relation | None:
    if mine.subject.lower() != theirs.subject.lower():
        return None
    alike = mine.object.lower() == theirs.object.lower()
    if OPPOSITES.get(mine.predicate) == theirs.predicate and alike:
        return "contradicts"
    if mine.predicate != theirs.predicate:
        return None
    if alike and mine.ended and not theirs.ended:
        return "updates"
    if not alike and is_exclusive(mine.predicate) and not mine.ended and not theirs.ended and others == 1:
        return "corrects" if was_wrong else "updates"
    return None


def _closes(new: Gist, old: Gist) -> bool:
    """What was to be done is done, or called off."""
    if not old.open or old.negated:
        return False
    called_off = new.verb.split()[0] in _OFF and not new.open
    done = new.past and (new.verb == old.verb or new.verb in _DONE)
    return (not new.negated and (done or called_off)) or (
        new.negated and new.verb == old.verb and not new.past
    )


def _moves(new: Gist, old: Gist) -> bool:
    """What was to happen on a day happens on another one: unless that day is over, and this is the next time."""
    if not old.days or not new.days or new.negated or min(old.days) < new.at or new.days == old.days:
        return False
    return new.verb in _MOVED or (new.verb == "be" and old.verb in {"be", *_MOVED})


def _gives_up(new: Gist, old: Gist) -> bool:
    """ "Stopped eating meat": what was done till then."""
    return new.stops and not old.past and not old.negated and not old.stops


def _puts_right(new: Gist, old: Gist, *, one_thing: bool) -> bool:
    differs = (new.nouns, new.numbers, new.days) != (old.nouns, old.numbers, old.days)
    return differs and (new.verb == old.verb) and (one_thing or bool(new.nouns & old.nouns))


# What was read lately: windows that follow each other are held against much the same few memories. Small (128 misses no more
# often than 1,024), as what was erased is not to be kept here for long.
_MOST_READ: Final = 128
_read: dict[KnownMemory, Gist | None] = {}


def gists_of(memories: Sequence[KnownMemory], speaker: str) -> list[Gist | None]:
    """What known memories say, parsed together; None of what is no statement of this form."""
    asked = [replace(one, number=0, author=one.author or speaker) for one in memories]
    found = dict(_read)  # other threads read as well
    new = [one for one in dict.fromkeys(asked) if one not in found]
    authors = {part.lower() for one in new for part in (one.author or "").split()}
    names = {
        part.lower().removesuffix("'s") for one in new for part in one.content.split() if part[:1].isupper()
    }
    for one, doc in zip(new, parsed([one.content for one in new], authors, names | authors), strict=True):
        found[one] = _gist_of(one, doc)
    _read.update((one, found[one]) for one in new)
    for one in list(_read)[: max(len(_read) - _MOST_READ, 0)]:
        _read.pop(one, None)
    return [found[one] for one in asked]


def _gist_of(memory: KnownMemory, doc: "Doc") -> Gist | None:
    author = memory.author or ""
    names = {
        part.lower().removesuffix("'s")
        for part in (*author.split(), *memory.content.split())
        if part[:1].isupper()
    }
    scene = Scene(author, None, names)
    for clause in (one for sentence in doc.sents for one in clauses(sentence)):
        times = times_of(clause, memory.valid_from)
        try:
            wording = worded(clause, scene, times)
        except Refused:
            return None
        said = tuple(facts(clause, wording, scene))
        return gist(clause, wording, times, memory.type, author, memory.valid_from, said)
    return None
