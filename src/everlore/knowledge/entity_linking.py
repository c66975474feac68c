"""Resolution: from the names in an extraction to entities. New ones are made, known ones found under any of their names.

A wrong link mixes two people for good, a missed one leaves two that a person can merge: in doubt there are two, and a
suggestion that they may be one. What speaks for one: the same key; a possessive description that is known; the only one whose
full name begins so, in a world that meets this one. What speaks for two: another role for the same owner ("my sister", "my
mother"), other places ("from accounting"), kinds that exclude each other, another birthday, the text's own word for it; and if
other people spoke of a person elsewhere, that their facts contradict, or that he is somebody else's ("Ben's sister", "Maya's
colleague").
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from everlore.config import AliasSettings
from everlore.domain.ids import new_id
from everlore.domain.memories import Entity, EntityType
from everlore.domain.predicates import is_exclusive
from everlore.knowledge.entity_references import Reference, references
from everlore.ports.analyst import DraftFact, Extraction, Quote, Window
from everlore.store import entities, graph
from everlore.store.entities import Match, NewAlias, NewEntity, Place, Stated
from everlore.store.graph import When
from everlore.store.run import Transaction
from everlore.text.descriptions import Description, described, in_conflict
from everlore.text.variants import numbers_in, similar_names, words_of

# Facts that never change: who was born elsewhere is somebody else. All others may just be news.
LASTING = frozenset({"born_in", "born_on"})
NOBODY = UUID(int=0)
# Of each candidate, the last mentions that tell in which world it lives.
MENTIONS = 50
CANDIDATES = 25
# From here on two forms of a name are one, if nothing speaks against it: "Ali" and "Ali Camarata", "A. Camarata".
_PARTIAL = 0.6
_DOES_NOT_FIT = "what is said of them does not fit"
_NO_PERSON: frozenset[EntityType] = frozenset(
    {"place", "organisation", "project", "concept", "technical_term", "event"}
)
_NO_PLACE: frozenset[EntityType] = frozenset({"person", "concept", "technical_term", "project", "event"})


@dataclass(frozen=True, slots=True)
class Resolution:
    """Which entity each name of an extraction means. `made`: those that are new."""

    made: frozenset[UUID]
    _by_key: Mapping[str, Sequence[tuple[frozenset[int], UUID]]]
    _speakers: Mapping[int, str]
    _linking: AliasSettings

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


@dataclass(slots=True)
class Candidate:
    """A known entity, or one that was made for this window, and what tells whether it is meant."""

    entity_id: UUID
    name: str
    type: EntityType
    variants: dict[str, str]  # by key
    places: list[Place] = field(default_factory=list[Place])
    # Numbers of this window's messages that mean it.
    here: dict[int, int] = field(default_factory=dict[int, int])
    made: bool = False


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
    said = {fact.predicate for fact in extraction.facts if is_exclusive(fact.predicate)}
    known = _Known(linking, await entities.places(tx, message_ids.values()), message_ids, said)
    await known.load(tx, asked)
    for reference in asked:
        await known.settle(tx, reference, extraction.facts, now)
    await known.suggest_misspelled(tx)
    await known.write(tx, now)
    by_key: dict[str, list[tuple[frozenset[int], UUID]]] = {}
    for reference in asked:
        meant = (frozenset(reference.messages), known.meant[reference.number])
        for one in dict.fromkeys([*reference.keys, *reference.said_as]):
            by_key.setdefault(one, []).append(meant)
    speakers = {message.number: message.speaker for message in window.messages}
    return Resolution(frozenset(known.made), by_key, speakers, linking)


class _Known:
    """What is known of the names of one window, before and while they are settled."""

    def __init__(
        self,
        linking: AliasSettings,
        places: Mapping[UUID, Place],
        message_ids: Mapping[int, UUID],
        predicates: Iterable[str],
    ) -> None:
        self.linking = linking
        self.predicates = sorted(predicates)
        self.message_ids = message_ids
        self.places = {number: places[one] for number, one in message_ids.items() if one in places}
        self.candidates: dict[UUID, Candidate] = {}
        self.stated: dict[UUID, list[Stated]] = {}
        self.meant: dict[int, UUID] = {}
        self.made: dict[UUID, Reference] = {}
        self.aliases: list[NewAlias] = []
        self.suggestions: dict[frozenset[UUID], tuple[UUID, UUID, str, float]] = {}
        self.already: set[tuple[UUID, UUID]] = set()

    async def load(self, tx: Transaction, asked: Sequence[Reference]) -> None:
        """Everybody who may be meant: of the same key, of a part of the name, or of a name that has it as a part."""
        keys = {one for reference in asked for one in reference.keys}
        keys |= {word for reference in asked for word in reference.parts()}
        keys |= {self._owner(description) for reference in asked for description in reference.descriptions()}
        matches = await entities.by_keys(tx, keys)
        owners = {match.given: match.entity_id for match in matches}
        words = {word for reference in asked for word in reference.telling_words()}
        matches += await entities.with_word(tx, words, CANDIDATES)
        matches += await entities.by_keys(tx, await self._said_by_owners(tx, asked, owners))
        await self._add(tx, {match.entity_id for match in matches})
        self.already = set(await entities.mentions_in(tx, self.message_ids.values()))

    def _owner(self, description: Description) -> str:
        return self.linking.key(description.owner or "")

    async def _said_by_owners(
        self, tx: Transaction, asked: Sequence[Reference], owners: Mapping[str, UUID]
    ) -> set[str]:
        """Keys of descriptions under all names of their owners: "Anna's sister" is "Anna Keller's sister"."""
        named = await entities.load(tx, sorted({*owners.values()}), counted=False)
        names = {entity.entity_id: [alias.variant for alias in entity.aliases] for entity in named}
        found: set[str] = set()
        for reference in asked:
            for description in reference.descriptions():
                for name in names.get(owners.get(self._owner(description), NOBODY), ()):
                    reference.keys.append(self.linking.key(f"{name}'s {description.kind}"))
            found |= set(reference.keys)
        return found

    async def _add(self, tx: Transaction, ids: Iterable[UUID]) -> None:
        new = sorted(set(ids) - self.candidates.keys())
        where = await entities.last_mentions(tx, new, MENTIONS)
        for entity in await entities.load(tx, new, counted=False):
            self.candidates[entity.entity_id] = self._candidate(entity, where.get(entity.entity_id, []))
        self.stated |= await entities.stated(tx, new, self.predicates)

    def _candidate(self, entity: Entity, places: list[Place]) -> Candidate:
        variants = {self.linking.key(alias.variant): alias.variant for alias in entity.aliases}
        return Candidate(entity.entity_id, entity.name, entity.type, variants, places)

    async def settle(
        self, tx: Transaction, reference: Reference, facts: Sequence[DraftFact], now: datetime
    ) -> None:
        """Decide whom a reference means, and note what is learned by it."""
        said = [fact for fact in facts if self.linking.key(fact.subject) in reference.keys]
        possible = [c for c in self.candidates.values() if self._may_be(reference, c, said)]
        chosen = self._described(reference, possible)
        if chosen is None and (chosen := self._named(reference, possible)) is not None:
            news = self._contradicts(chosen, [fact for fact in said if fact.predicate not in LASTING])
            apart = self._are_strangers(reference, chosen)
            doubt = news or (apart and self._of_others(reference, chosen))
            if (
                doubt
                and not reference.speaks
                and not await self._worlds_meet(tx, reference, chosen, now, apart=apart)
            ):
                chosen = self._make(reference)
        if chosen is None and not reference.distinct:
            chosen = await self._partly_named(tx, reference, possible, said, now)
        if chosen is None:
            chosen = self._make(reference)
        if chosen.made and not chosen.here:
            self._suggest_namesakes(reference, chosen)
        self._learn(reference, chosen)

    def _may_be(self, reference: Reference, candidate: Candidate, said: Sequence[DraftFact]) -> bool:
        if candidate.type in _excluded(reference.type):
            return False
        if reference.speaks:
            return True
        if in_conflict(reference.told(), candidate.variants.values()):
            return False
        return not self._contradicts(candidate, [fact for fact in said if fact.predicate in LASTING])

    def _contradicts(self, candidate: Candidate, said: Sequence[DraftFact]) -> bool:
        """Whether something that holds one object at a time is said of another, without a word that it has changed."""
        for fact in said:
            new = set(self.linking.key(fact.object).split())
            for known in self.stated.get(candidate.entity_id, ()):
                old = set(self.linking.key(known.object).split())
                apart = not (new <= old or old <= new)
                if known.predicate == fact.predicate and fact.relation == "new" and not fact.ended and apart:
                    return True
        return False

    def _described(self, reference: Reference, possible: Sequence[Candidate]) -> Candidate | None:
        """Whom a description of the reference means: by another name of his, if the names can be of one."""
        keys = {self.linking.key(told) for told in reference.told()} | set(reference.keys[1:])
        keys -= {self.linking.key(reference.name)} if not reference.is_description else set()
        if reference.is_description:
            keys.add(self.linking.key(reference.name))
        fitting = [c for c in possible if keys & c.variants.keys() and self._names_fit(reference, c)]
        return self._likeliest(reference, fitting)

    def _names_fit(self, reference: Reference, candidate: Candidate) -> bool:
        """Two sisters of one person have two names."""
        if reference.is_description or described(candidate.name) is not None:
            return True
        return any(similar_names(reference.name, variant) > 0 for variant in candidate.variants.values())

    def _named(self, reference: Reference, possible: Sequence[Candidate]) -> Candidate | None:
        """Who bears the very name. One whom the text tells from a known one of that name is only he if he was named in the
        same message before (it is read anew)."""
        mine = self.linking.key(reference.name)
        same = [c for c in possible if mine in c.variants]
        if reference.distinct:
            same = [c for c in same if self._named_here(reference, c)] if len(same) > 1 else []
        return self._likeliest(reference, same)

    def _named_here(self, reference: Reference, candidate: Candidate) -> bool:
        messages = {self.message_ids[n] for n in reference.messages if n in self.message_ids}
        return any((candidate.entity_id, message) in self.already for message in messages)

    async def _partly_named(
        self,
        tx: Transaction,
        reference: Reference,
        possible: Sequence[Candidate],
        said: Sequence[DraftFact],
        now: datetime,
    ) -> Candidate | None:
        """The only one of whose name this is a part, or the other way round; otherwise suggestions are left."""
        if reference.is_description:
            return None
        scored = [(self._likeness(reference, c), c) for c in possible if _alike(reference.type, c.type)]
        partial = [(score, c) for score, c in scored if score >= _PARTIAL]
        if len(partial) == 1 and "person" in (partial[0][1].type, reference.type):
            ((_, only),) = partial
            doubt = self._contradicts(only, said) or self._of_others(reference, only)
            apart = doubt and self._are_strangers(reference, only)
            if await self._worlds_meet(tx, reference, only, now, apart=apart):
                self.aliases.append(
                    self._alias(only, reference.name, self.linking.weight_inferred, "inferred")
                )
                return only
        if partial:
            made = self._make(reference)
            why = "may be a short form of the other name"
            for score, candidate in partial:
                self._suggest(made.entity_id, candidate.entity_id, why, score / len(partial))
            return made
        return None

    def _likeness(self, reference: Reference, candidate: Candidate) -> float:
        """Only a given name, not what an inferred alias says: else chains of parts would join everybody."""
        best = max((similar_names(reference.name, v) for v in candidate.variants.values()), default=0.0)
        return min(best, similar_names(reference.name, candidate.name)) if best < 1 else best

    def _voices(self, reference: Reference) -> set[str]:
        """Who speaks of it here."""
        here = [self.places[n] for n in reference.messages if n in self.places]
        named = {self.linking.key(place.author) for place in here if place.author}
        return named or {self.linking.key(p.author) for p in self.places.values() if p.author}

    def _are_strangers(self, reference: Reference, candidate: Candidate) -> bool:
        """Whether a person was spoken of by other people only, in other threads only. Who speaks here himself is known to all."""
        if "person" not in (reference.type, candidate.type) or candidate.made or candidate.here:
            return False
        mine, threads = self._voices(reference), {place.thread_id for place in self.places.values()}
        theirs = {self.linking.key(place.author) for place in candidate.places if place.author}
        known = mine & theirs or theirs & candidate.variants.keys()
        return (
            bool(mine and theirs) and not known and not any(p.thread_id in threads for p in candidate.places)
        )

    def _of_others(self, reference: Reference, candidate: Candidate) -> bool:
        """Whether both are known as somebody's, and by nobody in common: "Ben's sister" and "Maya's colleague"."""
        owners = {self._owner(description) for description in reference.descriptions()}
        known = [
            told for v in candidate.variants.values() if (told := described(v)) is not None and told.owner
        ]
        others = {self._owner(description) for description in known}
        return bool(owners and others) and not owners & others

    async def _worlds_meet(
        self,
        tx: Transaction,
        reference: Reference,
        candidate: Candidate,
        now: datetime,
        *,
        apart: bool = False,
    ) -> bool:
        """Whether they share a thread, a project, a field or a neighbour. Where there are no projects all is one world, if they
        are not `apart`."""
        if candidate.made or candidate.here:
            return True
        here = [self.places[n] for n in reference.messages if n in self.places] or list(self.places.values())
        if not here or not candidate.places:
            return True
        mine = here[0]
        for there in candidate.places:
            if there.thread_id == mine.thread_id or (
                there.project_id and there.project_id == mine.project_id
            ):
                return True
            if there.taxonomy and mine.taxonomy and _top(there.taxonomy) == _top(mine.taxonomy):
                return True
            if not (apart or there.project_id or there.taxonomy or mine.project_id or mine.taxonomy):
                return True
        around = await graph.edges_at(tx, [candidate.entity_id], When(now))
        near = {end for edge in around[candidate.entity_id] for end in (edge.subject_id, edge.object_id)}
        company = {one for number, one in self.meant.items() if number not in reference.speakers}
        return bool((near - {candidate.entity_id}) & company)

    def _likeliest(self, reference: Reference, fitting: Sequence[Candidate]) -> Candidate | None:
        """Of several of one name: whom this message named before, then who was named last in the thread, then of whom the
        speaker spoke before, then by kind."""
        return max(fitting, key=lambda candidate: self._rank(reference, candidate), default=None)

    def _rank(self, reference: Reference, candidate: Candidate) -> tuple[object, ...]:
        first = min(reference.messages, default=0)
        before = max((number for number in candidate.here if number <= first), default=0)
        mine = self.places.get(first) or next(iter(self.places.values()), None)
        position = 0
        if mine is not None:
            position = max(
                (p.position for p in candidate.places
                 if p.thread_id == mine.thread_id and p.position <= mine.position),
                default=0,
            )  # fmt: skip
        last = max((place.message_id for place in candidate.places), default=UUID(int=0))
        voices = self._voices(reference)
        told = any(place.author and self.linking.key(place.author) in voices for place in candidate.places)
        fits = candidate.type == reference.type
        return before, position, told, fits, last, candidate.entity_id

    def _make(self, reference: Reference) -> Candidate:
        made = Candidate(new_id(), reference.name[:200], reference.type, {}, made=True)
        self.candidates[made.entity_id] = made
        self.made[made.entity_id] = reference
        return made

    def _suggest_namesakes(self, reference: Reference, made: Candidate) -> None:
        """Two of one name, kept apart because something speaks against their being one."""
        mine = self.linking.key(reference.name)
        for other in self.candidates.values():
            if other is not made and mine in other.variants and other.type not in _excluded(reference.type):
                why = "the text tells them apart" if reference.distinct else _DOES_NOT_FIT
                self._suggest(made.entity_id, other.entity_id, f"have the same name, but {why}", 0.3)

    def _suggest(self, one: UUID, other: UUID, reason: str, score: float) -> None:
        self.suggestions.setdefault(frozenset((one, other)), (one, other, reason, round(score, 3)))

    def _learn(self, reference: Reference, chosen: Candidate) -> None:
        """Names, kind and mentions that the reference brings."""
        self.meant[reference.number] = chosen.entity_id
        chosen.here |= dict.fromkeys(reference.messages, 1)
        for variant, inferred in reference.variants():
            if self.linking.key(variant) not in chosen.variants:
                weight = self.linking.weight_inferred if inferred else self.linking.weight_extracted
                self.aliases.append(
                    self._alias(chosen, variant, weight, "inferred" if inferred else "extracted")
                )
        if chosen.type == "other":
            chosen.type = reference.type
        if not reference.is_description and _says_more(reference.name, chosen.name):
            chosen.name = reference.name[:200]

    def _alias(self, candidate: Candidate, variant: str, weight: float, origin: str) -> NewAlias:
        found = self.linking.key(variant)
        candidate.variants[found] = variant
        return NewAlias(
            candidate.entity_id,
            variant[:200],
            found,
            weight,
            "inferred" if origin == "inferred" else "extracted",
        )

    async def suggest_misspelled(self, tx: Transaction) -> None:
        """New names that are spelled nearly like known ones are for a person to look at."""
        names = {
            self.candidates[made].name: made for made, ref in self.made.items() if not ref.is_description
        }
        if not names:
            return
        for match in await entities.similar(tx, names, self.linking.link_threshold, CANDIDATES):
            made = self.candidates[names[match.given]]
            await self._add(tx, [match.entity_id])
            if self._nearly(made, match):
                self._suggest(made.entity_id, match.entity_id, "are spelled nearly alike", match.score)

    def _nearly(self, made: Candidate, match: Match) -> bool:
        """Chapter 35 is not chapter 36, whatever the letters say."""
        other = self.candidates[match.entity_id]
        return (
            other.type not in _excluded(made.type)
            and self.linking.key(match.variant) not in made.variants
            and numbers_in(made.name) == numbers_in(match.variant)
            and described(match.variant) is None
        )

    async def write(self, tx: Transaction, now: datetime) -> None:
        new = [NewEntity(c.entity_id, c.name, c.type) for c in self.candidates.values() if c.made]
        await entities.insert(tx, new, now)
        meant = [c.entity_id for c in self.candidates.values() if c.here]
        loaded = await entities.load(tx, meant, counted=False)
        for before in loaded:
            after = self.candidates[before.entity_id]
            if after.name != before.name:
                await entities.rename(tx, after.entity_id, after.name)
            if after.type != before.type:
                await entities.retype(tx, after.entity_id, after.type)
        await entities.add_aliases(tx, self.aliases, now)
        await entities.add_mentions(
            tx,
            {
                (candidate.entity_id, self.message_ids[number])
                for candidate in self.candidates.values()
                for number in candidate.here
                if number in self.message_ids
            },
            now,
        )
        await entities.suggest_links(tx, list(self.suggestions.values()), now)


def _excluded(kind: EntityType) -> frozenset[EntityType]:
    """Kinds of which something of this kind cannot be. What is not known to be a person or a place may be anything else."""
    if kind == "person":
        return _NO_PERSON
    if kind == "place":
        return _NO_PLACE - {"organisation"}
    if kind == "other":
        return frozenset()
    return frozenset({"person"}) if kind == "organisation" else frozenset({"person", "place"})


def _alike(one: EntityType, other: EntityType) -> bool:
    """Whether two may be one by a part of the name: of the same kind, as far as the kind is known."""
    return one == other != "other" or (one != other and "other" in (one, other))


def _says_more(name: str, shown: str) -> bool:
    """Whether a name is a better one to be shown under: a name instead of a description, or a full one instead of a part."""
    if described(shown) is not None:
        return described(name) is None
    more, less = words_of(name), words_of(shown)
    return len(more) > len(less) and "@" not in name and set(less) <= set(more)


def _top(path: str) -> str:
    return path.split(".")[0]
