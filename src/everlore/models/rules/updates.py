"""What a statement does to what was said before, told by predicate, opposition and correction, never by likeness of words alone.

A memory is ended where its subject now has another object of a predicate that holds one at a time, where its taste turned,
where what was to be done is done, moved or called off, and where its author puts it right.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from everlore.domain.memories import MemoryType
from everlore.domain.predicates import OPPOSITES, is_exclusive
from everlore.models.rules.clauses import Clause, clauses, is_negated
from everlore.models.rules.facts import facts
from everlore.models.rules.phrases import Said
from everlore.models.rules.pipeline import parsed
from everlore.models.rules.scene import Scene
from everlore.models.rules.times import times_of
from everlore.models.rules.wording import Refused, Wording, worded
from everlore.ports.analyst import KnownMemory, Relation
from everlore.text.lexicon import words
from everlore.text.words import root, tokens

if TYPE_CHECKING:
    from spacy.tokens import Token

_OPEN: Final = frozenset({"task", "goal", "reminder", "project", "decision"})
_DONE: Final = words("statements.done", "en")
_MOVED: Final = words("statements.moved", "en")
_OFF: Final = words("statements.off", "en")
_SAME: Final = 0.85


@dataclass(frozen=True, slots=True)
class Gist:
    """What a memory says, as far as updates are told by it: who it is about, its verbs and nouns in their basic forms, its
    numbers and dates, and the facts in it."""

    about: str
    type: MemoryType
    verbs: frozenset[str]
    nouns: frozenset[str]
    numbers: frozenset[str]
    facts: tuple[Said, ...]
    negated: bool
    ahead: bool
    roots: frozenset[str]


def gist(clause: Clause, wording: Wording, type_: MemoryType, said: Sequence[Said]) -> Gist:
    subject = set(clause.subject.subtree) if clause.subject is not None else set["Token"]()
    nouns = {
        one.lemma_.lower()
        for one in clause.words
        if one.pos_ in {"NOUN", "PROPN"} and one not in subject and one.dep_ != "npadvmod"
    }
    return Gist(
        about=wording.subject.lower(),
        type=type_,
        verbs=frozenset(
            one.lemma_.lower() for one in clause.words if one.pos_ == "VERB" or one in clause.heads
        ),
        nouns=frozenset(nouns),
        numbers=frozenset(one.text for one in tokens(wording.text) if one.text.isdigit()),
        facts=tuple(said),
        negated=is_negated(clause.head),
        ahead=type_ in _OPEN,
        roots=frozenset(root(one.text) for one in tokens(wording.text)),
    )


def relate(new: Gist, earlier: Iterable[tuple[int, Gist]], *, corrects: bool) -> tuple[Relation, int] | None:
    """How a statement stands to the last of the earlier ones that it does something to. `earlier`: the last one first."""
    for number, one in earlier:
        if (relation := _relation(new, one, corrects)) is not None:
            return relation, number
    return None


def _relation(new: Gist, old: Gist, corrects: bool) -> Relation | None:
    if (
        len(new.roots & old.roots) >= _SAME * len(new.roots | old.roots)
        and new.negated == old.negated
        and new.numbers == old.numbers
    ):
        return "same"
    for mine in new.facts:
        for theirs in old.facts:
            if (relation := _of_facts(mine, theirs, len(old.facts), corrects)) is not None:
                return relation
    if new.about != old.about:
        return None
    shared, least = new.nouns & old.nouns, min(len(new.nouns), len(old.nouns))
    most = bool(shared) and 2 * len(shared) >= least
    if (
        old.ahead
        and not new.ahead
        and most
        and (new.verbs & old.verbs - {"be", "have", "want", "go", "get"} or new.verbs & (_DONE | _OFF))
    ):
        return "updates"
    if most and new.verbs & (_MOVED | _OFF) and (old.numbers or old.ahead) and not old.verbs & _MOVED:
        return "updates"
    differ = new.numbers != old.numbers and bool(new.numbers) and bool(old.numbers)
    if differ and new.verbs == old.verbs and new.nouns == old.nouns and (new.nouns or "'s " in new.about):
        return "corrects" if corrects else "updates" if "be" in new.verbs else None
    if corrects and (len(shared) >= 2 or (shared and new.verbs & old.verbs - {"be", "have"})):
        return "corrects"
    if new.negated != old.negated and new.verbs == old.verbs and new.nouns == old.nouns and shared:
        return "contradicts"
    return None


def _of_facts(mine: Said, theirs: Said, others: int, corrects: bool) -> Relation | None:
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
        return "corrects" if corrects else "updates"
    return None


def gist_of(memory: KnownMemory, speaker: str) -> Gist | None:
    """What a known memory says, parsed; None where it is no statement of this form."""
    return _gist_of(memory.content, memory.type, memory.author or speaker, memory.valid_from)


@lru_cache(maxsize=1024)
def _gist_of(content: str, type_: MemoryType, author: str, at: datetime) -> Gist | None:
    names = {
        part.lower().removesuffix("'s") for part in (*author.split(), *content.split()) if part[:1].isupper()
    }
    scene = Scene(author, None, names)
    for doc in parsed([content], {part.lower() for part in author.split()}, names):
        for clause in (one for sentence in doc.sents for one in clauses(sentence)):
            try:
                wording = worded(clause, scene, times_of(clause, at))
            except Refused:
                return None
            return gist(clause, wording, type_, tuple(facts(clause, wording, scene)))
    return None
