"""How a draft stands to the memories that are known already, by their words and by the facts that both state."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from everlore.domain.predicates import OPPOSITES, is_exclusive
from everlore.models.rules.clauses import Claim
from everlore.ports.analyst import KnownMemory, Relation
from everlore.text.lexicon import words as listed_words
from everlore.text.words import root, tokens

_TELLS: Final = re.compile(r"[^\W\d_]{3,}|\d+")
_SMALL: Final = listed_words("least_words")
_SAME, _NEAR = 0.85, 0.5
# What may be put off.
_DATED: Final = frozenset({"event", "reminder", "task", "project", "goal", "decision"})
# Words that a correction shares at least with what it corrects.
_MENDS = 2
# That both are done does not make them one.
_DONE: Final = frozenset(map(root, ("done", "finished", "complete", "completed")))


@dataclass(frozen=True, slots=True)
class Does:
    """What a text does to what was said before: puts it right, gets it done, gives it another date."""

    corrects: bool = False
    done: bool = False
    moves: bool = False


@dataclass(frozen=True, slots=True)
class Knowledge:
    """A memory, its words, the facts that can be read out of it, and what it does to earlier ones."""

    memory: KnownMemory
    words: frozenset[str]
    claims: tuple[Claim, ...]
    does: Does = Does()


def words_of(text: str) -> frozenset[str]:
    """The roots of the telling words of a text."""
    return frozenset(
        root(word.text) for word in tokens(text) if _TELLS.fullmatch(word.text) and word.text not in _SMALL
    )


def _holds(known: Knowledge, claim: Claim) -> bool:
    return any(
        (claim.subject.lower(), claim.predicate, claim.object.lower(), claim.ended)
        == (one.subject.lower(), one.predicate, one.object.lower(), one.ended)
        for one in known.claims
    )


def _is_taste(claim: Claim) -> bool:
    return claim.predicate.startswith("favourite_") or claim.predicate in {"likes", "dislikes", "prefers"}


def relate(draft: Knowledge, known: Sequence[Knowledge]) -> tuple[Relation, int | None]:
    """The relation of a draft to the known memory that it is nearest to; ("new", None) where none is near enough. Of two it is
    the one that was said later that takes the other's place, whichever is known first."""
    best: tuple[float, Relation, int] | None = None
    for one in known:
        later = one.memory.valid_from > draft.memory.valid_from
        found = _relation(one, draft) if later else _relation(draft, one)
        if found and (best is None or found[0] > best[0]):
            best = (*found, one.memory.number)
    return (best[1], best[2]) if best else ("new", None)


def relate_earlier(
    text: str, earlier: Sequence[Knowledge], *, corrects: bool, moves: bool
) -> tuple[Relation, int] | None:
    """The last of the earlier drafts (their memories' numbers are places) that a text mends or changes the date of."""
    words = words_of(text)
    for one in reversed(earlier if corrects or moves else ()):
        if len(words & one.words) >= _MENDS:
            return ("corrects" if corrects else "updates", one.memory.number)
    return None


def _relation(new: Knowledge, known: Knowledge) -> tuple[float, Relation] | None:
    """How a memory stands to one that was said before it, and how surely."""
    words, claims, does = new.words, new.claims, new.does
    shared = len(words & known.words)
    either = len(words | known.words) or 1
    likeness = shared / either
    told = False  # by a fact that takes the place of one in the known sentence
    if claims and all(_holds(known, mine) for mine in claims):
        if words <= known.words:
            return (2.0 + likeness, "same")
        if known.words < words and len(claims) >= len(known.claims):
            return (1.8 + likeness, "updates")  # the same, said more fully
    for mine in claims:
        for theirs in known.claims:
            if mine.subject.lower() != theirs.subject.lower():
                continue
            alike = mine.object.lower() == theirs.object.lower()
            if mine.predicate == theirs.predicate and alike and mine.ended == theirs.ended:
                continue  # whose sister she is, is no news: what else is said may be
            if mine.predicate == theirs.predicate and (
                alike or (is_exclusive(mine.predicate) and not mine.ended)
            ):
                if does.corrects:
                    return (1.5 + likeness, "corrects")
                # The fact itself tells the change, along the timeline; the rest of what is known may still hold. A taste
                # is all that its sentence says, as long as it says one.
                if _is_taste(mine) and len(known.claims) == 1:
                    return (1.5 + likeness, "updates")
                told = True
            if OPPOSITES.get(mine.predicate) == theirs.predicate and alike:
                return (1.5 + likeness, "contradicts")
    if likeness >= _SAME:
        return (1.0 + likeness, "same")
    if does.corrects and shared >= 1 and shared >= 0.25 * min(len(words), len(known.words)):
        return (0.5 + likeness, "corrects")
    smaller = min(len(words), len(known.words)) or 1
    if (
        does.done
        and known.memory.type in {"task", "goal", "reminder", "project"}
        and len((words & known.words) - _DONE) >= max(1, 0.5 * smaller)
    ):
        return (0.8 + likeness, "updates")
    if does.moves and shared >= _MENDS and known.memory.type in _DATED:
        return (0.7 + likeness, "updates")
    if shared >= 3 and likeness >= _NEAR and not told and not _differ_in_number(words, known.words):
        return (likeness, "updates")
    return None


def _differ_in_number(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether each has a number that the other has not: "room 12" and "room 14" are two, in whatever words."""
    return all(any(word.isdigit() for word in words) for words in (one - other, other - one))
