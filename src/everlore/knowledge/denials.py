"""Denials: what a correction, or a word for everything, takes back of what was said before."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from uuid import UUID

from everlore.domain.predicates import is_exclusive
from everlore.knowledge.stated import Stated
from everlore.store import facts
from everlore.store.facts import CurrentFact, FactKey
from everlore.store.run import Transaction
from everlore.text.lexicon import words as listed_words
from everlore.text.words import words

# Words of denial; and how many words may stand between one and what it denies.
_DENIALS = "not no never wasn't isn't instead rather nunca vez lugar nicht statt kein keine pas non"
_DENIES = frozenset(_DENIALS.split())
_NEAR = 4
_EVERYTHING = listed_words("everything")


async def with_denials(tx: Transaction, stated: Sequence[Stated]) -> list[Stated]:
    """Of what may hold many objects at a time a correction takes back only the one that it names as wrong ("to hazelnuts, not
    walnuts"), or that the memory stated which it corrects; the right one holds from when that was thought to begin. What denies
    everything ends all that was said before."""
    asked = {(one.edge.subject_id, one.edge.predicate) for one in stated if _may_deny(one)}
    if not asked:
        return list(stated)
    corrected = {one.instead_of for one in stated if one.instead_of is not None}
    known, expressed = await facts.deniable(tx, asked, corrected)
    said_by = {(one.memory_lineage_id, one.fact.lineage_id) for one in expressed}
    open_ones = [fact for fact in known if fact.valid_to is None and not fact.confirmed]
    complete: list[Stated] = []
    for one in stated:
        if denies_all_of(one):
            edges = {fact.edge for fact in open_ones} | {
                other.edge for other in stated if _is_before(other, one)
            }
            complete += [
                replace(one, edge=edge)
                for edge in sorted(edges, key=lambda e: e.object_key)
                if _same_about(edge, one)
            ]
            complete.append(one)
            continue
        wrong = _denied(one, open_ones, said_by) if _may_deny(one) else []
        begins = min((fact.valid_from for fact in wrong), default=one.valid_from)
        complete.append(replace(one, valid_from=one.valid_from or begins))
        complete += [replace(one, edge=fact.edge, ended=True, valid_from=None, by=one.edge) for fact in wrong]
    return complete


def _may_deny(one: Stated) -> bool:
    return denies_all_of(one) or (one.corrects and not one.ended and not is_exclusive(one.edge.predicate))


def denies_all_of(one: Stated) -> bool:
    return one.ended and denies_all(one.edge.object)


def denies_all(thing: str) -> bool:
    """Whether a word for what is not stands for everything: "not allergic to anything"."""
    return bool(found := words(thing)) and found[0] in _EVERYTHING


def _is_before(one: Stated, other: Stated) -> bool:
    """Whether it was claimed before something else was said."""
    if one.ended:
        return False
    return (one.said_at, one.position or 0, one.span or (0, 0)) < (
        other.said_at,
        other.position or 0,
        other.span or (0, 0),
    )


def _same_about(edge: FactKey, one: Stated) -> bool:
    same = (edge.subject_id, edge.predicate) == (one.edge.subject_id, one.edge.predicate)
    return same and edge.object_key != one.edge.object_key


def _denied(
    one: Stated, known: Sequence[CurrentFact], said_by: Collection[tuple[UUID | None, UUID]]
) -> list[CurrentFact]:
    """What a correction takes back: what it names as wrong, and only where it names nothing all that the memory stated."""
    others = [
        fact
        for fact in known
        if (fact.edge.subject_id, fact.edge.predicate) == (one.edge.subject_id, one.edge.predicate)
        and fact.edge.object_key != one.edge.object_key
    ]
    named = [fact for fact in others if said_wrong(one.said, fact.edge.object)]
    return named or [fact for fact in others if (one.instead_of, fact.lineage_id) in said_by]


def said_wrong(said: str, thing: str) -> bool:
    """Whether a text says of something that it is not it."""
    whole, part = words(said), words(thing)
    return any(
        whole[place : place + len(part)] == part
        and any(word in _DENIES for word in whole[max(0, place - _NEAR) : place])
        for place in range(len(whole) - len(part) + 1 if part else 0)
    )
