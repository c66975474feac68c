"""New against old: each memory that was drafted is the same as one that is known, a fuller form of it, its successor, or new.

Nothing is overwritten: what is superseded is closed and gets a version that says until when it held. A person's word counts
more than what was read: what a person forgot or rejected does not come back, and the assistant's words supersede nothing.
"""

from dataclasses import dataclass
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
from everlore.store import memories, passages
from everlore.store.memories import NewMemory, NewSource
from everlore.store.run import Transaction

REJECTED_BY_HAND = "rejected by hand"

_NEAREST = 10
# Without vectors two texts of equal claims say the same if they share so many of their words.
_SAME_WORDS = 0.8
# What happens again and again in the same words is the same only within a day.
_RECURRING: frozenset[MemoryType] = frozenset({"event", "task", "reminder", "casual"})
_SAME_OCCASION = timedelta(days=1)

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
class Run:
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


async def reconcile(tx: Transaction, new: Incoming, run: Run) -> Remembered:
    """Hold one memory against what is known, and write what follows. The caller holds the workspace's lock."""
    if new.review is not None:
        return await _set_aside(tx, new, run)
    known = await memories.same_content(tx, content_hash(new.author, new.content))
    if new.source_kind == "extracted" and (
        any(_unwanted(memory) for memory in known) or await _reworded(tx, new, run)
    ):
        return Remembered("dropped", None, None)
    for twin in known:
        if _usable(twin) and _same_occasion(twin, new):
            return await _corroborate(tx, twin, new, run)
    target = None if new.target is None else await memories.current(tx, new.target)
    if target is not None and _usable(target) and _believed(target, new):
        return await _related(tx, target, new, run)
    for near, likeness in await _nearest(tx, new, run):
        if _says_the_same(near, new, likeness, run.thresholds):
            return await _corroborate(tx, near, new, run)
        if _says_more(near, new, likeness, run.thresholds):
            return await _fuller(tx, near, new, run)
    return await _write(tx, new, run)


def _believed(known: Memory, new: Incoming) -> bool:
    """Whether what the analyst says of the two may be acted on. That they are the same is looked at: what is new in one would
    be lost in the other."""
    if new.relation == "same":
        return equal_claims(known.content, new.content) and adds_nothing(new.content, known.content)
    return new.relation != "new"


async def _reworded(tx: Transaction, new: Incoming, run: Run) -> bool:
    """Whether a person gave other words to what is read here once more; these messages stay what that rests on."""
    if not run.again:
        return False
    messages = [source.message_id for source in new.sources if source.message_id is not None]
    lineage_id = await memories.reworded(tx, content_hash(new.author, new.content), messages)
    if lineage_id is not None:
        await memories.add_sources(tx, lineage_id, new.sources, run.now)
    return lineage_id is not None


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


async def _nearest(tx: Transaction, new: Incoming, run: Run) -> list[tuple[Memory, float]]:
    """The nearest usable memories in the same voice, with their likeness: a cosine, or shared words without vectors."""
    if new.vector is None or run.model_id is None:
        near = await memories.recent(tx, run.thread_id, new.entities, _NEAREST)
        found = [(memory, shared_words(memory.content, new.content)) for memory in near]
    else:
        vector = new.vector.vector
        pairs = await passages.nearest(tx, run.model_id, vector, _NEAREST, run.exact_below)
        by_passage = await memories.by_passages(tx, [number for number, _ in pairs])
        found = [(by_passage[number], likeness) for number, likeness in pairs if number in by_passage]
    return sorted(
        ((m, like) for m, like in found if _usable(m) and _same_voice(m, new) and _same_occasion(m, new)),
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


async def _corroborate(tx: Transaction, known: Memory, new: Incoming, run: Run) -> Remembered:
    """Said once more: every source is kept, confidence rises, and what had expired is in view again."""
    added = await memories.add_sources(tx, known.lineage_id, new.sources, run.now)
    memory_id = known.memory_id
    if added:
        confidence = corroborated(await memories.source_confidences(tx, known.lineage_id))
        if known.confirmed:
            confidence = max(confidence, known.confidence)
        await memories.set_confidence(tx, known.lineage_id, confidence, new.importance)
        await memories.link_entities(tx, known.lineage_id, new.entities)
        later = expiry(known.type, new.said_at, new.event_at, new.expires_at)
        if known.expires_at is not None and later is not None and later > known.expires_at:
            memory_id = await memories.new_version(tx, known.lineage_id, {"expires_at": later}, run.now)
    return Remembered("same", known.lineage_id, memory_id)


async def _related(tx: Transaction, known: Memory, new: Incoming, run: Run) -> Remembered:
    """The analyst said how it stands to a known memory."""
    if new.relation == "same":
        return await _corroborate(tx, known, new, run)
    if new.role == "assistant" and known.role != "assistant":
        reason = "the assistant's words would supersede what the person said"
        return await _set_aside(tx, new, run, review="suggested", reason=reason)
    if new.relation == "updates" and known.type == new.type and holds_all_of(new.content, known.content):
        return await _fuller(tx, known, new, run)
    return await _succeed(tx, known, new, run)


async def _fuller(tx: Transaction, known: Memory, new: Incoming, run: Run) -> Remembered:
    """The same, said more fully: a new version in place of the old one, since when is as it was."""
    changes: dict[str, Any] = {
        "content": new.content,
        "content_hash": content_hash(new.author, new.content),
        "type": new.type,
        "event_at": new.event_at or known.event_at,
        "expires_at": expiry(new.type, new.said_at, new.event_at, new.expires_at),
        "tags": list(dict.fromkeys((*known.tags, *new.tags))),
        "passage_id": None,
    }
    memory_id = await memories.new_version(tx, known.lineage_id, changes, run.now)
    await memories.add_sources(tx, known.lineage_id, new.sources, run.now)
    confidence = corroborated(await memories.source_confidences(tx, known.lineage_id))
    await memories.set_confidence(tx, known.lineage_id, confidence, new.importance)
    await memories.link_entities(tx, known.lineage_id, new.entities)
    return Remembered("fuller", known.lineage_id, memory_id)


async def _succeed(tx: Transaction, known: Memory, new: Incoming, run: Run) -> Remembered:
    """One takes the other's place. Which, is decided by when they were said, not by when they arrived."""
    if new.said_at < known.valid_from:
        return await _write(tx, new, run, valid_to=known.valid_from, superseded_by=known.lineage_id)
    written = await _write(tx, new, run)
    until = known.valid_from if new.relation == "corrects" else new.said_at
    await memories.new_version(
        tx,
        known.lineage_id,
        {"valid_to": max(until, known.valid_from), "superseded_by": written.lineage_id},
        run.now,
    )
    return Remembered("successor", written.lineage_id, written.memory_id)


async def _set_aside(
    tx: Transaction,
    new: Incoming,
    run: Run,
    *,
    review: Review | None = None,
    reason: str | None = None,
) -> Remembered:
    """Keep it where a person sees it, out of recall; once, however often it is drafted."""
    review, reason = review or new.review, reason or new.review_reason
    for twin in await memories.same_content(tx, content_hash(new.author, new.content)):
        if twin.review is not None and twin.forgotten_at is None:
            await memories.add_sources(tx, twin.lineage_id, new.sources, run.now)
            return Remembered("dropped", None, None)
    return await _write(tx, new, run, review=review, reason=reason)


async def _write(
    tx: Transaction,
    new: Incoming,
    run: Run,
    *,
    valid_to: datetime | None = None,
    superseded_by: UUID | None = None,
    review: Review | None = None,
    reason: str | None = None,
) -> Remembered:
    memory_id = new_id()
    await memories.insert(
        tx,
        NewMemory(
            memory_id=memory_id,
            type=new.type,
            content=new.content,
            content_hash=content_hash(new.author, new.content),
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
            thread_id=run.thread_id,
            first_position=run.first_position,
            taxonomy=run.taxonomy,
            reasoning=new.reasoning,
            extractor=run.extractor,
            extractor_version=run.extractor_version,
        ),
        run.now,
    )
    await memories.add_sources(tx, memory_id, new.sources, run.now)
    await memories.link_entities(tx, memory_id, new.entities)
    return Remembered("waiting" if review is not None else "new", memory_id, memory_id)
