"""Whom the names of a window may mean, and the decision: pure, over what was loaded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from everlore.config import AliasSettings
from everlore.domain.ids import new_id
from everlore.domain.memories import Entity, EntityType
from everlore.knowledge.entity_references import Reference
from everlore.ports.analyst import DraftFact
from everlore.store.entities import Candidates, Learned, LookedUp, Match, NewAlias, NewEntity, Place
from everlore.text.descriptions import Description, described, in_conflict, tells_apart
from everlore.text.variants import numbers_in, similar_names, words_of

# Facts that never change: who was born elsewhere is somebody else. All others may just be news.
LASTING = frozenset({"born_in", "born_on"})
# From here on two forms of a name are one, if nothing speaks against it: "Ali" and "Ali Camarata", "A. Camarata".
_PARTIAL = 0.6
_DOES_NOT_FIT = "what is said of them does not fit"
_NO_PERSON: frozenset[EntityType] = frozenset(
    {"place", "organisation", "project", "concept", "technical_term", "event"}
)
_NO_PLACE: frozenset[EntityType] = frozenset({"person", "concept", "technical_term", "project", "event"})


@dataclass(slots=True)
class Candidate:
    """A known entity, or one that was made for this window, and what tells whether it is meant."""

    entity_id: UUID
    name: str
    type: EntityType
    variants: dict[str, str]  # by key
    places: Sequence[Place] = ()
    # Numbers of this window's messages that mean it.
    here: dict[int, int] = field(default_factory=dict[int, int])
    made: bool = False


class Known:
    """What is known of the names of one window, before and while they are settled. `near`: whom the neighbours of a candidate
    are, where it takes them to tell whether he is meant."""

    def __init__(
        self,
        linking: AliasSettings,
        looked_up: LookedUp,
        message_ids: Mapping[int, UUID],
        loaded: Candidates,
    ) -> None:
        self.linking = linking
        self.message_ids = message_ids
        self.places = {
            number: looked_up.places[one] for number, one in message_ids.items() if one in looked_up.places
        }
        self.already = looked_up.mentions
        self.stated = loaded.stated
        self.before = {one.entity_id: one for one in loaded.entities}
        self.candidates = {
            one.entity_id: self._candidate(one, loaded.places.get(one.entity_id, ()))
            for one in sorted(loaded.entities, key=lambda one: one.entity_id)
        }
        self.near: dict[UUID, set[UUID]] = {}
        self.meant: dict[int, UUID] = {}
        self.made: dict[UUID, Reference] = {}
        self.aliases: list[NewAlias] = []
        self.suggestions: dict[frozenset[UUID], tuple[UUID, UUID, str, float]] = {}

    def far_away(self, asked: Sequence[Reference]) -> list[UUID]:
        """Candidates who may be meant by their name, but were mentioned in other worlds only."""
        here = list(self.places.values())
        return [
            one.entity_id
            for one in self.candidates.values()
            if here and one.places and not _share_a_world(one.places, here[0]) and self._may_bear(one, asked)
        ]

    def _may_bear(self, candidate: Candidate, asked: Sequence[Reference]) -> bool:
        return any(
            self.linking.key(reference.name) in candidate.variants
            or (not reference.is_description and self._likeness(reference, candidate) >= _PARTIAL)
            for reference in asked
        )

    def _owner(self, description: Description) -> str:
        return self.linking.key(description.owner or "")

    def _candidate(self, entity: Entity, places: Sequence[Place]) -> Candidate:
        variants = {self.linking.key(alias.variant): alias.variant for alias in entity.aliases}
        return Candidate(entity.entity_id, entity.name, entity.type, variants, places)

    def settle(self, reference: Reference, facts: Sequence[DraftFact]) -> None:
        """Decide whom a reference means, and note what is learned by it."""
        said = [fact for fact in facts if self.linking.key(fact.subject) in reference.keys]
        possible = [c for c in self.candidates.values() if self._may_be(reference, c, said)]
        chosen = self._described(reference, possible)
        if chosen is None and (chosen := self._named(reference, possible)) is not None:
            news = self._contradicts(chosen, [fact for fact in said if fact.predicate not in LASTING])
            apart = self._are_strangers(reference, chosen)
            doubt = news or (apart and self._of_others(reference, chosen))
            if doubt and not reference.speaks and not self._worlds_meet(reference, chosen, apart=apart):
                chosen = self._make(reference)
        if chosen is None and not reference.distinct:
            chosen = self._partly_named(reference, possible, said)
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

    def _partly_named(
        self, reference: Reference, possible: Sequence[Candidate], said: Sequence[DraftFact]
    ) -> Candidate | None:
        """The only one of whose name this is a part, or the other way round; otherwise suggestions are left."""
        if reference.is_description:
            return None
        alike = [c for c in possible if _alike(reference.type, c.type) and not tells_apart(c.name)]
        scored = [(self._likeness(reference, c), c) for c in alike]
        partial = [(score, c) for score, c in scored if score >= _PARTIAL]
        if len(partial) == 1 and "person" in (partial[0][1].type, reference.type):
            ((_, only),) = partial
            doubt = self._contradicts(only, said) or self._of_others(reference, only)
            apart = doubt and self._are_strangers(reference, only)
            if self._worlds_meet(reference, only, apart=apart):
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

    def _worlds_meet(self, reference: Reference, candidate: Candidate, *, apart: bool = False) -> bool:
        """Whether they share a thread, a project, a field or a neighbour. Where there are no projects all is one world, if they
        are not `apart`."""
        if candidate.made or candidate.here:
            return True
        here = [self.places[n] for n in reference.messages if n in self.places] or list(self.places.values())
        if not here or not candidate.places:
            return True
        mine = here[0]
        if _share_a_world(candidate.places, mine):
            return True
        divided = mine.project_id or mine.taxonomy
        if not apart and any(not (one.project_id or one.taxonomy or divided) for one in candidate.places):
            return True
        company = {one for number, one in self.meant.items() if number not in reference.speakers}
        return bool(self.near.get(candidate.entity_id, set()) & company)

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

    def new_names(self) -> dict[str, UUID]:
        return {self.candidates[made].name: made for made, ref in self.made.items() if not ref.is_description}

    def suggest_misspelled(self, names: Mapping[str, UUID], matches: Sequence[Match]) -> None:
        for match in matches:
            made, other = self.candidates[names[match.given]], self.candidates.get(match.entity_id)
            if self._nearly(made, match, match.type if other is None else other.type):
                self._suggest(made.entity_id, match.entity_id, "are spelled nearly alike", match.score)

    def _nearly(self, made: Candidate, match: Match, kind: EntityType) -> bool:
        """Chapter 35 is not chapter 36, whatever the letters say."""
        return (
            kind not in _excluded(made.type)
            and self.linking.key(match.variant) not in made.variants
            and numbers_in(made.name) == numbers_in(match.variant)
            and described(match.variant) is None
        )

    def learned(self) -> Learned:
        chosen = [(one, NewEntity(one.entity_id, one.name, one.type)) for one in self.candidates.values()]
        before = {one.entity_id: (one.name, one.type) for one in self.before.values()}
        return Learned(
            made=[new for one, new in chosen if one.made],
            changed=[
                new
                for one, new in chosen
                if one.here and not one.made and (one.name, one.type) != before[one.entity_id]
            ],
            aliases=self.aliases,
            mentions={
                (candidate.entity_id, self.message_ids[number])
                for candidate in self.candidates.values()
                for number in candidate.here
                if number in self.message_ids
            },
            suggestions=list(self.suggestions.values()),
        )


def _share_a_world(places: Sequence[Place], mine: Place) -> bool:
    """Whether something was said in the same thread, project or field."""
    return any(
        there.thread_id == mine.thread_id
        or (there.project_id and there.project_id == mine.project_id)
        or (there.taxonomy and mine.taxonomy and _top(there.taxonomy) == _top(mine.taxonomy))
        for there in places
    )


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
