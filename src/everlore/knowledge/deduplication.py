"""New against old: each memory that was drafted is the same as one that is known, a fuller form of it, its successor, or new.

Nothing is overwritten: what is superseded is closed and gets a version that says until when it held. A person's word counts
more than what was read: what a person forgot or rejected does not come back, and the assistant's words supersede nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias
from uuid import UUID

from everlore.domain.ids import new_id
from everlore.domain.memories import LIFETIMES, Memory, MemoryType, Review, SourceKind
from everlore.knowledge.similarity import (
    DEFAULT,
    Thresholds,
    adds_nothing,
    content_hash,
    equal_claims,
    holds_all_of,
    shared_words,
)
from everlore.knowledge.timeline import corroborated
from everlore.ports.analyst import Relation
from everlore.ports.embedder import EncodedPassage
from everlore.store import deduplication as store
from everlore.store import passages
from everlore.store.deduplication import Changes, Confidence, Known, Recent, Reworded, Version
from everlore.store.memories import NewMemory, NewSource
from everlore.store.run import Transaction

REJECTED_BY_HAND = "rejected by hand"

_NEAREST = 10
# Without vectors two texts of equal claims say the same if they share so many of their words.
_SAME_WORDS = 0.8
# What happens again and again in the same words is the same only within a day.
_RECURRING: frozenset[MemoryType] = frozenset({"event", "task", "reminder", "casual"})
_SAME_OCCASION = timedelta(days=1)

_SHOWN = frozenset(field.name for field in fields(Memory))
_GIVEN = frozenset(field.name for field in fields(NewMemory))

What: TypeAlias = Literal["new", "same", "fuller", "successor", "waiting", "dropped"]


@dataclass(frozen=True, slots=True)
class Incoming:
    """A memory to be held against what is known. `target`: the known memory that `relation` speaks of; `replaces`: the place of
    the one in the same batch. `entities` are resolved already; `vector` is None where there is no embedding model."""

    type: MemoryType
    content: str
    author: str | None
    role: str | None
    said_at: datetime
    sources: tuple[NewSource, ...]
    category: str | None = None
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    confidence: float = 0.7
    entities: tuple[UUID, ...] = ()
    event_at: datetime | None = None
    expires_at: datetime | None = None
    pinned: bool = False
    source_kind: SourceKind = "extracted"
    review: Review | None = None
    review_reason: str | None = None
    reasoning: str | None = None
    relation: Relation = "new"
    target: UUID | None = None
    replaces: int | None = None
    vector: EncodedPassage | None = None


@dataclass(frozen=True, slots=True)
class Where:
    """What all memories of one run have in common. `again`: it was run before."""

    now: datetime
    thread_id: UUID | None = None
    first_position: int | None = None
    taxonomy: str | None = None
    extractor: str | None = None
    extractor_version: str | None = None
    model_id: int | None = None
    exact_below: int = 5000
    thresholds: Thresholds = DEFAULT
    again: bool = False


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of it. `memory_id` is the version that stands now; None where it was dropped."""

    what: What
    lineage_id: UUID | None
    memory_id: UUID | None


def expiry(
    kind: MemoryType, since: datetime, event_at: datetime | None, given: datetime | None
) -> datetime | None:
    """When a memory goes out of view: as given, or by its type counted from when it was said or happens."""
    if given is not None:
        return given
    if kind == "reminder":
        return event_at
    lifetime = LIFETIMES.get(kind)
    return None if lifetime is None else max(since, event_at or since) + lifetime


def in_search(author: str | None, role: str | None, content: str) -> str:
    """The words of a memory as they are indexed: with whose they are, as messages are."""
    return f"{author}: {content}" if author and author != role else content


async def load(tx: Transaction, incoming: Sequence[Incoming], where: Where) -> "Batch":
    """What a batch is held against, in as many queries however long it is. The caller holds the workspace's lock."""
    hashes = {_hash(new) for new in incoming}
    targets = {new.target for new in incoming if new.target is not None}
    said = {source.message_id for new in incoming for source in new.sources if source.message_id is not None}
    same, reworded = await store.by_words(tx, hashes, targets, said if where.again else ())
    near, recent = await _nearest(tx, incoming, where)
    beside = [*recent.of_thread, *(one for found in recent.of_entities.values() for one in found)]
    passages = {number for found in near.values() for number, _ in found}
    renamed = {one.lineage_id for one in reworded}
    known = await store.with_sources(tx, [*same, *beside], renamed, passages)
    return Batch(where, known, reworded, near, recent)


async def _nearest(
    tx: Transaction, incoming: Sequence[Incoming], where: Where
) -> tuple[dict[int, list[tuple[int, float]]], Recent]:
    """By the place of a memory the passages nearest to it with their cosines; and where there is no vector what is recent."""
    encoded = {
        place: new.vector.vector
        for place, new in enumerate(incoming)
        if new.vector is not None and where.model_id is not None and new.review is None
    }
    near: dict[int, list[tuple[int, float]]] = {}
    if encoded and where.model_id is not None:
        found = await passages.nearest_to_each(
            tx, where.model_id, "known", list(encoded.values()), _NEAREST, where.exact_below
        )
        near = dict(zip(encoded, found, strict=True))
    if len(encoded) == len(incoming):
        return near, Recent()
    named = {one for place, new in enumerate(incoming) if place not in encoded for one in new.entities}
    return near, await store.recent(tx, where.thread_id, named, _NEAREST)


@dataclass(slots=True)
class Batch:
    """Memories as they are believed while a batch is held against them, one after the other; `changes` is what comes of it."""

    where: Where
    known: dict[UUID, Known]
    reworded: Sequence[Reworded] = ()
    near: Mapping[int, Sequence[tuple[int, float]]] = field(
        default_factory=dict[int, Sequence[tuple[int, float]]]
    )
    recent: Recent = field(default_factory=Recent)
    changes: Changes = field(default_factory=Changes)
    made: list[UUID] = field(default_factory=list[UUID])

    def current(self, lineage_id: UUID | None) -> Memory | None:
        known = None if lineage_id is None else self.known.get(lineage_id)
        return None if known is None else known.memory

    def same_words(self, content_hash: bytes) -> list[Memory]:
        """The first recorded first; forgotten and rejected ones included."""
        found = [one.memory for one in self.known.values() if one.content_hash == content_hash]
        return sorted(found, key=lambda memory: (memory.recorded_at, memory.memory_id))

    def candidates(self, place: int, new: Incoming) -> list[tuple[Memory, float]]:
        """Memories that may say the same, with their likeness: a cosine, or the share of words without vectors."""
        if place in self.near:
            of_passage = {one.passage_id: one.memory for one in self.known.values()}
            pairs = self.near[place]
            return [(of_passage[number], likeness) for number, likeness in pairs if number in of_passage]
        return [(memory, shared_words(memory.content, new.content)) for memory in self._recent(new)]

    def _recent(self, new: Incoming) -> list[Memory]:
        """As they stand now; what this batch has brought comes first."""
        fresh = [lineage_id for lineage_id in reversed(self.made) if self.where.thread_id is not None]
        linked = {lineage_id for lineage_id, entity_id in self.changes.links if entity_id in new.entities}
        mine = [*fresh, *(one.memory.lineage_id for one in self.recent.of_thread)]
        others = [
            one.memory.lineage_id for name in new.entities for one in self.recent.of_entities.get(name, ())
        ]
        chosen = [*self._usable(mine)[:_NEAREST], *self._usable([*sorted(linked), *others])[:_NEAREST]]
        return [self.known[lineage_id].memory for lineage_id in dict.fromkeys(chosen)]

    def _usable(self, lineages: Sequence[UUID]) -> list[UUID]:
        return [one for one in dict.fromkeys(lineages) if _usable(self.known[one].memory)]

    def add_sources(self, lineage_id: UUID, sources: Sequence[NewSource]) -> int:
        """Those that the memory does not have yet; returns how many. What a person told counts each time."""
        there = self.known[lineage_id].sources
        places = {(one.message_id, one.start, one.end) for one in there if one.message_id is not None}
        fresh = {(one.message_id, one.start, one.end) if one.message_id else (place, None, None): one
                 for place, one in enumerate(sources)}  # fmt: skip
        added = [one for place, one in fresh.items() if place not in places]
        there += added
        self.changes.sources += [(lineage_id, one) for one in added]
        return len(added)

    def confidence(self, lineage_id: UUID) -> float:
        """From all messages that a memory stands in, of each the best."""
        best: dict[object, float] = {}
        for place, one in enumerate(self.known[lineage_id].sources):
            said = one.message_id or place
            best[said] = max(best.get(said, 0.0), one.confidence)
        return corroborated(best.values())

    def set_confidence(self, lineage_id: UUID, confidence: float, importance: float) -> None:
        known = self.known[lineage_id]
        importance = max(importance, known.memory.importance)
        known.memory = replace(known.memory, confidence=confidence, importance=importance)
        self.changes.versions.append(Confidence(lineage_id, confidence, importance))

    def new_version(self, lineage_id: UUID, columns: Mapping[str, Any]) -> UUID:
        """Close what is believed now; the next version differs in these columns."""
        known, memory_id = self.known[lineage_id], new_id()
        self.changes.versions.append(Version(lineage_id, memory_id, columns))
        shown = {name: value for name, value in columns.items() if name in _SHOWN}
        known.memory = replace(
            known.memory,
            **shown,
            memory_id=memory_id,
            version=known.memory.version + 1,
            recorded_at=self.where.now,
        )
        known.content_hash = columns.get("content_hash", known.content_hash)
        known.passage_id = columns.get("passage_id", known.passage_id)
        return memory_id

    def link(self, lineage_id: UUID, entities: Sequence[UUID]) -> None:
        self.changes.links += [(lineage_id, entity_id) for entity_id in entities]

    def add(self, new: NewMemory, sources: Sequence[NewSource], entities: Sequence[UUID]) -> None:
        shown: dict[str, Any] = {name: getattr(new, name) for name in _SHOWN & _GIVEN}
        shown["tags"] = tuple(new.tags)
        memory = Memory(
            **shown, lineage_id=new.memory_id, version=1, generation=0, confirmed=False,
            forgotten_at=None, recorded_at=self.where.now, superseded_at=None, thread=None,
        )  # fmt: skip
        self.known[new.memory_id] = Known(memory, new.content_hash, None)
        self.changes.memories.append(new)
        self.made.append(new.memory_id)
        self.add_sources(new.memory_id, sources)
        self.link(new.memory_id, entities)


def reconcile(batch: Batch, place: int, new: Incoming) -> Remembered:
    """Hold one memory, the one at `place` of the batch, against what is known."""
    if new.review is not None:
        return _set_aside(batch, new)
    known = batch.same_words(_hash(new))
    if new.source_kind == "extracted" and (
        any(_unwanted(memory) for memory in known) or _reworded(batch, new)
    ):
        return Remembered("dropped", None, None)
    for twin in known:
        if _usable(twin) and _same_occasion(twin, new):
            return _corroborate(batch, twin, new)
    target = batch.current(new.target)
    if target is not None and _usable(target) and _believed(target, new):
        return _related(batch, target, new)
    for near, likeness in _alike(batch, place, new):
        if _says_the_same(near, new, likeness, batch.where.thresholds):
            return _corroborate(batch, near, new)
        if _says_more(near, new, likeness, batch.where.thresholds):
            return _fuller(batch, near, new)
    return _write(batch, new)


def _hash(new: Incoming) -> bytes:
    return content_hash(new.author, new.content)


def _believed(known: Memory, new: Incoming) -> bool:
    """Whether what the analyst says of the two may be acted on. That they are the same is looked at: what is new in one would
    be lost in the other."""
    if new.relation == "same":
        return equal_claims(known.content, new.content) and adds_nothing(new.content, known.content)
    return new.relation != "new"


def _reworded(batch: Batch, new: Incoming) -> bool:
    """Whether a person gave other words to what is read here once more; these messages stay what that rests on."""
    if not batch.where.again:
        return False
    words, messages = _hash(new), {source.message_id for source in new.sources}
    for one in batch.reworded:
        if one.message_id in messages and one.read_hash == words and one.given_hash != words:
            batch.add_sources(one.lineage_id, new.sources)
            return True
    return False


def _unwanted(memory: Memory) -> bool:
    return memory.forgotten_at is not None or memory.review_reason == REJECTED_BY_HAND


def _usable(memory: Memory) -> bool:
    return memory.forgotten_at is None and memory.review is None and memory.valid_to is None


def _same_occasion(known: Memory, new: Incoming) -> bool:
    if new.type not in _RECURRING and known.type not in _RECURRING:
        return True
    return abs((known.event_at or known.valid_from) - (new.event_at or new.said_at)) < _SAME_OCCASION


def _same_voice(known: Memory, new: Incoming) -> bool:
    """ "I like tea" of one person is not that of another."""
    return known.author is None or new.author is None or known.author.casefold() == new.author.casefold()


def _alike(batch: Batch, place: int, new: Incoming) -> list[tuple[Memory, float]]:
    """The nearest usable memories in the same voice, with their likeness."""
    return sorted(
        (
            (known, likeness)
            for known, likeness in batch.candidates(place, new)
            if _usable(known) and _same_voice(known, new) and _same_occasion(known, new)
        ),
        key=lambda pair: -pair[1],
    )


def _says_the_same(known: Memory, new: Incoming, likeness: float, limits: Thresholds) -> bool:
    enough = _SAME_WORDS if new.vector is None else limits.same
    alike = likeness >= enough and known.type == new.type and equal_claims(known.content, new.content)
    return alike and adds_nothing(new.content, known.content)


def _says_more(known: Memory, new: Incoming, likeness: float, limits: Thresholds) -> bool:
    """The new one holds all of the old one's words and more: then it is the better form of the same."""
    enough = 0.5 if new.vector is None else limits.overlap
    return likeness >= enough and known.type == new.type and holds_all_of(new.content, known.content)


def _corroborate(batch: Batch, known: Memory, new: Incoming) -> Remembered:
    """Said once more: every source is kept, confidence rises, and what had expired is in view again."""
    lineage_id, memory_id = known.lineage_id, known.memory_id
    if batch.add_sources(lineage_id, new.sources):
        confidence = batch.confidence(lineage_id)
        if known.confirmed:
            confidence = max(confidence, known.confidence)
        batch.set_confidence(lineage_id, confidence, new.importance)
        batch.link(lineage_id, new.entities)
        later = expiry(known.type, new.said_at, new.event_at, new.expires_at)
        if known.expires_at is not None and later is not None and later > known.expires_at:
            memory_id = batch.new_version(lineage_id, {"expires_at": later})
    return Remembered("same", lineage_id, memory_id)


def _related(batch: Batch, known: Memory, new: Incoming) -> Remembered:
    """The analyst said how it stands to a known memory."""
    if new.relation == "same":
        return _corroborate(batch, known, new)
    if new.role == "assistant" and known.role != "assistant":
        reason = "the assistant's words would supersede what the person said"
        return _set_aside(batch, new, review="suggested", reason=reason)
    if new.relation == "updates" and known.type == new.type and holds_all_of(new.content, known.content):
        return _fuller(batch, known, new)
    return _succeed(batch, known, new)


def _fuller(batch: Batch, known: Memory, new: Incoming) -> Remembered:
    """The same, said more fully: a new version in place of the old one, since when is as it was."""
    changes: dict[str, Any] = {
        "content": new.content,
        "content_hash": _hash(new),
        "type": new.type,
        "event_at": new.event_at or known.event_at,
        "expires_at": expiry(new.type, new.said_at, new.event_at, new.expires_at),
        "tags": tuple(dict.fromkeys((*known.tags, *new.tags))),
        "passage_id": None,
    }
    memory_id = batch.new_version(known.lineage_id, changes)
    batch.add_sources(known.lineage_id, new.sources)
    batch.set_confidence(known.lineage_id, batch.confidence(known.lineage_id), new.importance)
    batch.link(known.lineage_id, new.entities)
    return Remembered("fuller", known.lineage_id, memory_id)


def _succeed(batch: Batch, known: Memory, new: Incoming) -> Remembered:
    """One takes the other's place. Which, is decided by when they were said, not by when they arrived."""
    if new.said_at < known.valid_from:
        return _write(batch, new, valid_to=known.valid_from, superseded_by=known.lineage_id)
    written = _write(batch, new)
    until = known.valid_from if new.relation == "corrects" else new.said_at
    batch.new_version(
        known.lineage_id,
        {"valid_to": max(until, known.valid_from), "superseded_by": written.lineage_id},
    )
    return Remembered("successor", written.lineage_id, written.memory_id)


def _set_aside(
    batch: Batch, new: Incoming, *, review: Review | None = None, reason: str | None = None
) -> Remembered:
    """Keep it where a person sees it, out of recall; once, however often it is drafted."""
    review, reason = review or new.review, reason or new.review_reason
    for twin in batch.same_words(_hash(new)):
        if twin.review is not None and twin.forgotten_at is None:
            batch.add_sources(twin.lineage_id, new.sources)
            return Remembered("dropped", None, None)
    return _write(batch, new, review=review, reason=reason)


def _write(
    batch: Batch,
    new: Incoming,
    *,
    valid_to: datetime | None = None,
    superseded_by: UUID | None = None,
    review: Review | None = None,
    reason: str | None = None,
) -> Remembered:
    memory_id, where = new_id(), batch.where
    made = NewMemory(
        memory_id=memory_id,
        type=new.type,
        content=new.content,
        content_hash=_hash(new),
        category=new.category,
        tags=new.tags,
        importance=new.importance,
        confidence=new.confidence,
        valid_from=new.said_at,
        valid_to=valid_to,
        superseded_by=superseded_by,
        event_at=new.event_at,
        expires_at=expiry(new.type, new.said_at, new.event_at, new.expires_at),
        pinned=new.pinned,
        source_kind=new.source_kind,
        review=review,
        review_reason=reason,
        author=new.author,
        role=new.role,
        thread_id=where.thread_id,
        first_position=where.first_position,
        taxonomy=where.taxonomy,
        reasoning=new.reasoning,
        extractor=where.extractor,
        extractor_version=where.extractor_version,
    )
    batch.add(made, new.sources, new.entities)
    return Remembered("waiting" if review is not None else "new", memory_id, memory_id)
