"""Whom the names of a window may mean, and the decision: pure, over what was loaded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from everlore.config import AliasSettings
from everlore.domain.ids import new_id
from everlore.domain.memories import Entity, EntityType
from everlore.knowledge.entity_references import Reference
from everlore.ports.analyst import DraftFact
from everlore.store.entities import Candidates, Learned, LookedUp, Match, MentionPlace, NewAlias, NewEntity
from everlore.text.descriptions import Description, described, in_conflict, tells_apart
from everlore.text.variants import better_spelled, numbers_in, similar_names, words_of

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
class EntityCandidate:
    """A known entity, or one that was made for this window, and what tells whether it is meant."""

    entity_id: UUID
    name: str
    type: EntityType
    variants: dict[str, str]  # by key
    places: Sequence[MentionPlace] = ()
    # By key, when somebody was first called so.
    said: dict[str, datetime] = field(default_factory=dict[str, datetime])
    # A person gave a name.
    by_hand: bool = False
    # Numbers of this window's messages that mean it.
    here: dict[int, int] = field(default_factory=dict[int, int])
    made: bool = False


class NamesOfWindow:
    """What is known of the names of one window, before and while they are settled. `near`: whom the neighbours of a candidate
    are, where it takes them to tell whether he is meant."""

    def __init__(
        self,
        linking: AliasSettings,
        looked_up: LookedUp,
        message_ids: Mapping[int, UUID],
        loaded: Candidates,
        said_at: Mapping[int, datetime],
    ) -> None:
        self.linking = linking
        self.said_at = said_at
        self.said = loaded.said
        self.by_hand = loaded.by_hand
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
        self.aliases: dict[tuple[UUID, str], NewAlias] = {}
        self.contested: list[tuple[UUID, str]] = []
        self.suggestions: dict[frozenset[UUID], tuple[UUID, UUID, str, float]] = {}

    def far_away(self, asked: Sequence[Reference]) -> list[UUID]:
        """Candidates who may be meant by their name, but were mentioned in other worlds only."""
        here = list(self.places.values())
        return [
            one.entity_id
            for one in self.candidates.values()
            if here and one.places and not _share_a_world(one.places, here[0]) and self._may_bear(one, asked)
        ]

    def _may_bear(self, candidate: EntityCandidate, asked: Sequence[Reference]) -> bool:
        return any(
            self.linking.key(reference.name) in candidate.variants
            or (not reference.is_description and self._likeness(reference, candidate) >= _PARTIAL)
            for reference in asked
        )

    def _owner(self, description: Description) -> str:
        return self.linking.key(description.owner or "")

    def _candidate(self, entity: Entity, places: Sequence[MentionPlace]) -> EntityCandidate:
        variants = {self.linking.key(alias.variant): alias.variant for alias in entity.aliases}
        said = dict(self.said.get(entity.entity_id, {}))
        named = entity.entity_id in self.by_hand
        return EntityCandidate(entity.entity_id, entity.name, entity.type, variants, places, said, named)

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

    def _may_be(self, reference: Reference, candidate: EntityCandidate, said: Sequence[DraftFact]) -> bool:
        if candidate.type in _excluded(reference.type):
            return False
        if reference.speaks:
            return True
        if in_conflict(reference.told(), candidate.variants.values()):
            return False
        return not self._contradicts(candidate, [fact for fact in said if fact.predicate in LASTING])

    def _contradicts(self, candidate: EntityCandidate, said: Sequence[DraftFact]) -> bool:
        """Whether something that holds one object at a time is said of another, without a word that it has changed."""
        for fact in said:
            new = set(self.linking.key(fact.object).split())
            for known in self.stated.get(candidate.entity_id, ()):
                old = set(self.linking.key(known.object).split())
                apart = not (new <= old or old <= new)
                if known.predicate == fact.predicate and fact.relation == "new" and not fact.ended and apart:
                    return True
        return False

    def _described(self, reference: Reference, possible: Sequence[EntityCandidate]) -> EntityCandidate | None:
        """Whom a description of the reference means: by another name of his, if the names can be of one."""
        keys = {self.linking.key(told) for told in reference.told()} | set(reference.keys[1:])
        keys -= {self.linking.key(reference.name)} if not reference.is_description else set()
        if reference.is_description:
            keys.add(self.linking.key(reference.name))
        fitting = [c for c in possible if keys & c.variants.keys() and self._names_fit(reference, c)]
        return self._likeliest(reference, fitting)

    def _names_fit(self, reference: Reference, candidate: EntityCandidate) -> bool:
        """Two sisters of one person have two names; whom the text itself calls by both ("Em is my sister Emma") is one."""
        if reference.is_description or described(candidate.name) is not None:
            return True
        if any(
            described(one) is None and self.linking.key(one) in candidate.variants
            for one in reference.aliases
        ):
            return True
        return any(similar_names(reference.name, variant) > 0 for variant in candidate.variants.values())

    def _named(self, reference: Reference, possible: Sequence[EntityCandidate]) -> EntityCandidate | None:
        """Who bears the very name. One whom the text tells from a known one of that name is only he if he was named in the
        same message before (it is read anew)."""
        mine = self.linking.key(reference.name)
        same = [c for c in possible if mine in c.variants]
        if reference.distinct:
            same = [c for c in same if self._named_here(reference, c)] if len(same) > 1 else []
        return self._likeliest(reference, same)

    def _named_here(self, reference: Reference, candidate: EntityCandidate) -> bool:
        messages = {self.message_ids[n] for n in reference.messages if n in self.message_ids}
        return any((candidate.entity_id, message) in self.already for message in messages)

    def _partly_named(
        self, reference: Reference, possible: Sequence[EntityCandidate], said: Sequence[DraftFact]
    ) -> EntityCandidate | None:
        """The only one of whose name this is a part, or the other way round; otherwise suggestions are left."""
        if reference.is_description:
            return None
        alike = [c for c in possible if _alike(reference.type, c.type) and not tells_apart(c.name)]
        scored = [(self._likeness(reference, c), c) for c in alike]
        partial = self._by_then(reference, [(score, c) for score, c in scored if score >= _PARTIAL])
        if len(partial) == 1 and "person" in (partial[0][1].type, reference.type):
            ((_, only),) = partial
            doubt = self._contradicts(only, said) or self._of_others(reference, only)
            apart = doubt and self._are_strangers(reference, only)
            if self._worlds_meet(reference, only, apart=apart):
                self._link(reference, only)
                return only
        if partial:
            made = self._make(reference)
            why = "may be a short form of the other name"
            for score, candidate in partial:
                self._suggest(made.entity_id, candidate.entity_id, why, score / len(partial))
            return made
        return None

    def _at(self, reference: Reference) -> datetime | None:
        """When it was said first in this window."""
        return min((self.said_at[n] for n in reference.messages if n in self.said_at), default=None)

    def _by_then(
        self, reference: Reference, partial: Sequence[tuple[float, EntityCandidate]]
    ) -> list[tuple[float, EntityCandidate]]:
        """Who was spoken of when this was said; if nobody was, the first of afterwards: he was linked to it then."""
        at = self._at(reference)
        first = {one.entity_id: min(one.said.values(), default=None) for _, one in partial}
        later = [(first[one.entity_id], score, one) for score, one in partial]
        after = [(since, one.name, score, one) for since, score, one in later if since and at and since > at]
        if len(after) < len(partial):
            gone = {one.entity_id for *_, one in after}
            return [pair for pair in partial if pair[1].entity_id not in gone]
        return [(score, one) for _, _, score, one in sorted(after, key=lambda each: each[:2])[:1]]

    def _link(self, reference: Reference, chosen: EntityCandidate) -> None:
        """By a part of the name: the shorter form is only inferred to be his, whichever came first."""
        mine = _fullness(reference.name)
        names = [v for v in chosen.variants.values() if described(v) is None]
        fullest = all(_fullness(name) < mine for name in names)
        for variant in names if fullest else [reference.name]:
            found = self.linking.key(variant)
            chosen.variants[found] = variant
            self.aliases[chosen.entity_id, found] = NewAlias(
                chosen.entity_id, variant[:200], found, self.linking.weight_inferred, "inferred"
            )

    def _likeness(self, reference: Reference, candidate: EntityCandidate) -> float:
        """Only a given name, not what an inferred alias says: else chains of parts would join everybody."""
        best = max((similar_names(reference.name, v) for v in candidate.variants.values()), default=0.0)
        return min(best, similar_names(reference.name, candidate.name)) if best < 1 else best

    def _voices(self, reference: Reference) -> set[str]:
        """Who speaks of it here."""
        here = [self.places[n] for n in reference.messages if n in self.places]
        named = {self.linking.key(place.author) for place in here if place.author}
        return named or {self.linking.key(p.author) for p in self.places.values() if p.author}

    def _are_strangers(self, reference: Reference, candidate: EntityCandidate) -> bool:
        """Whether a person was spoken of by other people only, in other threads only. Who speaks here himself is known to all."""
        if "person" not in (reference.type, candidate.type) or candidate.made or candidate.here:
            return False
        mine, threads = self._voices(reference), {place.thread_id for place in self.places.values()}
        theirs = {self.linking.key(place.author) for place in candidate.places if place.author}
        known = mine & theirs or theirs & candidate.variants.keys()
        return (
            bool(mine and theirs) and not known and not any(p.thread_id in threads for p in candidate.places)
        )

    def _of_others(self, reference: Reference, candidate: EntityCandidate) -> bool:
        """Whether both are known as somebody's, and by nobody in common: "Ben's sister" and "Maya's colleague"."""
        owners = {self._owner(description) for description in reference.descriptions()}
        known = [
            told for v in candidate.variants.values() if (told := described(v)) is not None and told.owner
        ]
        others = {self._owner(description) for description in known}
        return bool(owners and others) and not owners & others

    def _worlds_meet(self, reference: Reference, candidate: EntityCandidate, *, apart: bool = False) -> bool:
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

    def _likeliest(self, reference: Reference, fitting: Sequence[EntityCandidate]) -> EntityCandidate | None:
        """Of several of one name: whom this message named before, then who was named last in the thread, then of whom the
        speaker spoke before, then by kind."""
        return max(fitting, key=lambda candidate: self._rank(reference, candidate), default=None)

    def _rank(self, reference: Reference, candidate: EntityCandidate) -> tuple[object, ...]:
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

    def _make(self, reference: Reference) -> EntityCandidate:
        made = EntityCandidate(new_id(), reference.name[:200], reference.type, {}, made=True)
        self._contest(reference)
        self.candidates[made.entity_id] = made
        self.made[made.entity_id] = reference
        return made

    def _contest(self, reference: Reference) -> None:
        """A short name was taken to be the only one's who could bear it; with this one it would have been in doubt."""
        at = self._at(reference)
        if at is None or reference.is_description or reference.speaks:
            return
        for one in self.candidates.values():
            if one.made or one.here or one.by_hand or not _alike(reference.type, one.type):
                continue
            for found, said in one.said.items():
                variant = one.variants.get(found, "")
                short = _fullness(variant) < min(_fullness(one.name), _fullness(reference.name))
                if said > at and short and similar_names(reference.name, variant) >= _PARTIAL:
                    self.contested.append((one.entity_id, found))

    def _suggest_namesakes(self, reference: Reference, made: EntityCandidate) -> None:
        """Two of one name, kept apart because something speaks against their being one."""
        mine = self.linking.key(reference.name)
        for other in self.candidates.values():
            if other is not made and mine in other.variants and other.type not in _excluded(reference.type):
                why = "the text tells them apart" if reference.distinct else _DOES_NOT_FIT
                self._suggest(made.entity_id, other.entity_id, f"have the same name, but {why}", 0.3)

    def _suggest(self, one: UUID, other: UUID, reason: str, score: float) -> None:
        self.suggestions.setdefault(frozenset((one, other)), (one, other, reason, round(score, 3)))

    def _learn(self, reference: Reference, chosen: EntityCandidate) -> None:
        """Names, kind and mentions that the reference brings."""
        self.meant[reference.number] = chosen.entity_id
        chosen.here |= dict.fromkeys(reference.messages, 1)
        named = None if reference.is_description else self.linking.key(reference.name)
        for variant, inferred in reference.variants():
            is_name = self.linking.key(variant) == named
            self._learn_name(
                chosen, variant, inferred=inferred, said_at=self._at(reference) if is_name else None
            )
        if chosen.type == "other":
            chosen.type = reference.type
        if not chosen.by_hand:
            chosen.name = _shown(chosen, self.linking)[:200]

    def _learn_name(
        self, chosen: EntityCandidate, variant: str, *, inferred: bool, said_at: datetime | None
    ) -> None:
        found = self.linking.key(variant)
        known, since = chosen.variants.get(found), chosen.said.get(found)
        spelled = variant if known is None else better_spelled(known, variant)
        if said_at is not None and (since is None or said_at < since):
            chosen.said[found] = said_at
        elif known is not None and spelled == known:
            return
        chosen.variants[found] = spelled
        weight = self.linking.weight_inferred if inferred else self.linking.weight_extracted
        before = self.aliases.get((chosen.entity_id, found))
        self.aliases[chosen.entity_id, found] = NewAlias(
            chosen.entity_id,
            spelled[:200],
            found,
            before.weight if before is not None else weight if known is None else 0,
            before.origin if before is not None else "inferred" if inferred else "extracted",
            chosen.said.get(found),
        )

    def new_names(self) -> dict[str, UUID]:
        return {self.candidates[made].name: made for made, ref in self.made.items() if not ref.is_description}

    def suggest_misspelled(self, names: Mapping[str, UUID], matches: Sequence[Match]) -> None:
        for match in matches:
            made, other = self.candidates[names[match.given]], self.candidates.get(match.entity_id)
            if self._nearly(made, match, match.type if other is None else other.type):
                self._suggest(made.entity_id, match.entity_id, "are spelled nearly alike", match.score)

    def _nearly(self, made: EntityCandidate, match: Match, kind: EntityType) -> bool:
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
            aliases=list(self.aliases.values()),
            mentions={
                (candidate.entity_id, self.message_ids[number])
                for candidate in self.candidates.values()
                for number in candidate.here
                if number in self.message_ids
            },
            suggestions=list(self.suggestions.values()),
        )


def _share_a_world(places: Sequence[MentionPlace], mine: MentionPlace) -> bool:
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


def _shown(one: EntityCandidate, linking: AliasSettings) -> str:
    """The name to show somebody under: the fullest form of that by which he was called first. Nothing depends on what was read
    first. A description stands only for who has no name."""
    names = [(one.said[found], name) for found, name in one.variants.items() if found in one.said]
    if described(one.name) is None and linking.key(one.name) not in one.said:
        first = one.name
    elif names:
        # Of what was said in one breath the name that it was read under.
        first = min(
            names, key=lambda each: (each[0], linking.key(each[1]) != linking.key(one.name), each[1])
        )[1]
    else:
        return one.name
    words = set(words_of(first))
    fuller = [
        (-len(words_of(name)), at, name)
        for at, name in names
        if words and words < set(words_of(name)) and "@" not in name
    ]
    return min(fuller)[2] if fuller else first


def _fullness(name: str) -> tuple[int, int]:
    return len(words_of(name)), len(name)


def _top(path: str) -> str:
    return path.split(".")[0]
