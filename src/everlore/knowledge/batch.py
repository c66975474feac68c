"""A batch of memories, and what is believed while it is held against what is known: pure, over what was loaded."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any, TypeAlias
from uuid import UUID

from everlore.domain.ids import new_id
from everlore.domain.memories import Memory, MemoryType, Review, SourceKind, Tier
from everlore.knowledge.similarity import DEFAULT, Thresholds, shared_words
from everlore.knowledge.timeline import corroborated
from everlore.ports.analyst import Relation
from everlore.ports.embedder import EncodedPassage
from everlore.store.deduplication import Changes, Confidence, Recent, Reworded, StoredMemory, Version
from everlore.store.memories import NewMemory, NewSource

# By the place of a memory the passages nearest to it, with their likeness.
Near: TypeAlias = Mapping[int, Sequence[tuple[int, float]]]

# Of memories without a vector, so many recent ones are looked at; of others, so many nearest ones.
NEAREST = 10
_SHOWN = frozenset(field.name for field in fields(Memory))
_GIVEN = frozenset(field.name for field in fields(NewMemory))


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
    tier: Tier = "shown"


@dataclass(frozen=True, slots=True)
class BatchContext:
    """What all memories of one run have in common. `again`: it was run before. `keys_kept`: so long keys are kept."""

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
    keys_kept: timedelta = timedelta()

    @property
    def place(self) -> dict[str, Any]:
        """Where a memory was said, as columns of it."""
        return {"thread_id": self.thread_id, "first_position": self.first_position, "taxonomy": self.taxonomy}


@dataclass(slots=True)
class Batch:
    """Memories as they are believed while a batch is held against them, one after the other; `changes` is what comes of it."""

    run: BatchContext
    known: dict[UUID, StoredMemory]
    reworded: Sequence[Reworded] = ()
    near: Near = field(default_factory=dict[int, Sequence[tuple[int, float]]])
    near_keys: Near = field(default_factory=dict[int, Sequence[tuple[int, float]]])
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
            return self._of(self.near[place])
        return [(memory, shared_words(memory.content, new.content)) for memory in self._recent(new)]

    def keys(self, place: int) -> list[tuple[Memory, float]]:
        """Keys that may say the same, with their cosines."""
        return self._of(self.near_keys.get(place, ()))

    def _of(self, pairs: Sequence[tuple[int, float]]) -> list[tuple[Memory, float]]:
        of_passage = {one.passage_id: one.memory for one in self.known.values()}
        return [(of_passage[number], likeness) for number, likeness in pairs if number in of_passage]

    def _recent(self, new: Incoming) -> list[Memory]:
        """As they stand now; what this batch has brought comes first."""
        fresh = [lineage_id for lineage_id in reversed(self.made) if self.run.thread_id is not None]
        linked = {lineage_id for lineage_id, entity_id in self.changes.links if entity_id in new.entities}
        mine = [*fresh, *(one.memory.lineage_id for one in self.recent.of_thread)]
        others = [
            one.memory.lineage_id for name in new.entities for one in self.recent.of_entities.get(name, ())
        ]
        chosen = [*self._usable(mine)[:NEAREST], *self._usable([*sorted(linked), *others])[:NEAREST]]
        return [self.known[lineage_id].memory for lineage_id in dict.fromkeys(chosen)]

    def _usable(self, lineages: Sequence[UUID]) -> list[UUID]:
        known = {one: self.known[one].memory for one in lineages}
        return [one for one, memory in known.items() if memory.tier == "shown" and usable(memory)]

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

    def count_anew(self, retracted: Collection[UUID]) -> None:
        """How sure what lost a source is now. What has none left is closed by whoever retracted it."""
        for known in (self.known[lineage_id] for lineage_id in retracted if lineage_id in self.known):
            memory = known.memory
            if known.sources and memory.source_kind == "extracted" and not memory.confirmed:
                confidence = self.confidence(memory.lineage_id)
                if abs(confidence - memory.confidence) > 0.0001:
                    self.set_confidence(memory.lineage_id, confidence, 0)

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
            recorded_at=self.run.now,
        )
        known.content_hash = columns.get("content_hash", known.content_hash)
        known.passage_id = columns.get("passage_id", known.passage_id)
        return memory_id

    def keep(self, lineage_id: UUID) -> None:
        """A key was said again."""
        self.changes.kept.append(lineage_id)

    def give_way(self, key: UUID, lineage_id: UUID) -> None:
        """What was a key is a memory now, which has its sources."""
        self.add_sources(lineage_id, self.known.pop(key).sources)
        self.changes.gone.append(key)

    def link(self, lineage_id: UUID, entities: Sequence[UUID]) -> None:
        self.changes.links += [(lineage_id, entity_id) for entity_id in entities]

    def add(self, new: NewMemory, sources: Sequence[NewSource], entities: Sequence[UUID]) -> None:
        shown: dict[str, Any] = {name: getattr(new, name) for name in _SHOWN & _GIVEN}
        shown["tags"] = tuple(new.tags)
        memory = Memory(
            **shown, lineage_id=new.memory_id, version=1, generation=0, confirmed=False,
            forgotten_at=None, recorded_at=self.run.now, superseded_at=None, thread=None,
        )  # fmt: skip
        self.known[new.memory_id] = StoredMemory(memory, new.content_hash, None)
        self.changes.memories.append(new)
        self.made.append(new.memory_id)
        self.add_sources(new.memory_id, sources)
        self.link(new.memory_id, entities)


def usable(memory: Memory) -> bool:
    return memory.forgotten_at is None and memory.review is None and memory.valid_to is None
