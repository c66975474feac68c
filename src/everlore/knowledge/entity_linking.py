"""Resolution: from the names in an extraction to entities. New ones are made, known ones found under any of their names.

A wrong link mixes two people for good, a missed one leaves two that a person can merge: in doubt there are two, and a
suggestion that they may be one. What speaks for one: the same key; a possessive description that is known; the only one whose
full name begins so, in a world that meets this one. What speaks for two: another role for the same owner ("my sister", "my
mother"), other places ("from accounting"), kinds that exclude each other, another birthday, the text's own word for it; and if
other people spoke of a person elsewhere, that their facts contradict, or that he is somebody else's ("Ben's sister", "Maya's
colleague").
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from everlore.config import AliasSettings
from everlore.domain.predicates import is_exclusive
from everlore.knowledge.entity_candidates import NamesOfWindow
from everlore.knowledge.entity_references import Reference, references
from everlore.ports.analyst import Extraction, Quote, Window
from everlore.store import entities, graph
from everlore.store.graph import When
from everlore.store.run import Transaction

# Of each candidate, the last mentions that tell in which world it lives.
MENTIONS = 50
CANDIDATES = 25


@dataclass(frozen=True, slots=True)
class Resolution:
    """Which entity each name of an extraction means. `made`: those that are new; `to_read_anew`: messages whose names
    may mean somebody else, now that more are known."""

    made: frozenset[UUID]
    _by_key: Mapping[str, Sequence[tuple[frozenset[int], UUID]]]
    _speakers: Mapping[int, str]
    _linking: AliasSettings
    to_read_anew: Sequence[UUID] = ()

    def of(self, name: str, sources: Iterable[Quote | int] = ()) -> UUID | None:
        """The entity of a name as it stands in the extraction; None for one that does not stand there.

        Where two are called so, the sources (quotes, or numbers of messages) tell which is meant.
        """
        numbers = {source if isinstance(source, int) else source.message for source in sources}
        found = self._by_key.get(self._linking.key(name), ())
        ranked = sorted(enumerate(found), key=lambda one: (-len(one[1][0] & numbers), one[0]))
        return ranked[0][1][1] if ranked else None

    def speaker(self, message: int) -> UUID | None:
        """The entity of who wrote a message of the window."""
        name = self._speakers.get(message)
        return None if name is None else self.of(name, (message,))

    def names(self) -> dict[str, UUID]:
        """Every key with its entity, the first where there are several."""
        return {found: meant[0][1] for found, meant in self._by_key.items()}


async def resolve(
    tx: Transaction,
    window: Window,
    extraction: Extraction,
    message_ids: Mapping[int, UUID],
    now: datetime,
    linking: AliasSettings,
) -> Resolution:
    """Link every name of an extraction to an entity, and write what is new: entities, aliases, mentions, suggestions.

    In the caller's transaction, under the lock of the workspace. `message_ids` are those of the window's messages.
    """
    asked = references(window, extraction, linking.key)
    if not asked:
        return Resolution(frozenset(), {}, {}, linking)
    said_at = {message.number: message.at for message in window.messages}
    known = await _load(tx, asked, extraction, message_ids, now, linking, said_at)
    for reference in asked:
        known.settle(reference, extraction.facts)
    await _suggest_misspelled(tx, known)
    await entities.learn(tx, known.learned(), now)
    anew = await entities.detach(tx, known.contested) if known.contested else []
    by_key: dict[str, list[tuple[frozenset[int], UUID]]] = {}
    for reference in asked:
        meant = (frozenset(reference.messages), known.meant[reference.number])
        for one in dict.fromkeys([*reference.keys, *reference.said_as]):
            by_key.setdefault(one, []).append(meant)
    speakers = {message.number: message.speaker for message in window.messages}
    return Resolution(frozenset(known.made), by_key, speakers, linking, anew)


async def _load(
    tx: Transaction,
    asked: Sequence[Reference],
    extraction: Extraction,
    message_ids: Mapping[int, UUID],
    now: datetime,
    linking: AliasSettings,
    said_at: Mapping[int, datetime],
) -> NamesOfWindow:
    """Everybody who may be meant: of the same key, of a part of the name, or of a name that has it as a part; and what tells
    whether he is."""
    keys = {one for reference in asked for one in (*reference.keys, *reference.parts())}
    owners = {linking.key(told.owner or "") for reference in asked for told in reference.descriptions()}
    keys |= owners
    words = {word for reference in asked for word in reference.telling_words()}
    found = await entities.look_up(tx, message_ids.values(), keys, words, owners, CANDIDATES)
    ids = {match.entity_id for match in (*found.exact, *found.partly)}
    if more := _said_by_owners(asked, found.owners, linking) - keys:
        ids |= {match.entity_id for match in await entities.by_keys(tx, more)}
    predicates = {fact.predicate for fact in extraction.facts if is_exclusive(fact.predicate)}
    loaded = await entities.candidates(tx, sorted(ids), predicates, MENTIONS)
    known = NamesOfWindow(linking, found, message_ids, loaded, said_at)
    far = known.far_away(asked)
    if far:
        around = await graph.edges_at(tx, far, When(now))
        known.near = {
            at: {end for edge in edges for end in edge.ends()} - {at} for at, edges in around.items()
        }
    return known


def _said_by_owners(
    asked: Sequence[Reference], owners: Mapping[str, Sequence[str]], linking: AliasSettings
) -> set[str]:
    """Keys of descriptions under all names of their owners: "Anna's sister" is "Anna Keller's sister"."""
    found: set[str] = set()
    for reference in asked:
        for told in reference.descriptions():
            names = owners.get(linking.key(told.owner or ""), ())
            added = [linking.key(f"{name}'s {told.kind}") for name in names]
            reference.keys += added
            found |= set(added)
    return found


async def _suggest_misspelled(tx: Transaction, known: NamesOfWindow) -> None:
    """New names that are spelled nearly like known ones are for a person to look at."""
    names = known.new_names()
    if not names:
        return
    matches = await entities.similar(tx, names, known.linking.link_threshold, CANDIDATES)
    known.suggest_misspelled(names, matches)
