"""New against old: each memory that was drafted is the same as one that is known, a fuller form of it, its successor, or new.

Nothing is overwritten: what is superseded is closed and gets a version that says until when it held. A person's word counts
more than what was read: what a person forgot or rejected does not come back, and the assistant's words supersede nothing.

Keys end nothing and take no memory's place; what was a key and is said again in a form that is shown becomes a memory.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias
from uuid import UUID

from everlore.domain.ids import new_id
from everlore.domain.memories import LIFETIMES, Memory, MemoryType, Review
from everlore.domain.recall import Layer
from everlore.knowledge.batch import NEAREST, Batch, BatchContext, Incoming, usable
from everlore.knowledge.similarity import (
    Thresholds,
    adds_nothing,
    content_hash,
    equal_claims,
    holds_all_of,
)
from everlore.store import deduplication as store
from everlore.store import passages
from everlore.store.deduplication import Asked
from everlore.store.memories import NewMemory
from everlore.store.run import Transaction

REJECTED_BY_HAND = "rejected by hand"
AGAINST_CONFIRMED = "it would end or reword what a person confirmed"

# Without vectors two texts of equal claims say the same if they share so many of their words.
_SAME_WORDS = 0.8
# And one that holds all of the other is a fuller form of it if it shares so many.
_MANY_WORDS = 0.5
# What happens again and again in the same words is the same only within a day.
_RECURRING: frozenset[MemoryType] = frozenset({"event", "task", "reminder", "casual"})
_SAME_OCCASION = timedelta(days=1)

What: TypeAlias = Literal["new", "same", "fuller", "successor", "waiting", "dropped", "key"]


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of it. `memory_id` is the version that stands now; None where it was dropped, or is a key that was known."""

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


async def load(
    tx: Transaction, incoming: Sequence[Incoming], run: BatchContext, retracted: Collection[UUID] = ()
) -> Batch:
    """What a batch is held against, in as many queries however long it is, and the memories that lost a source. The caller holds
    the workspace's lock."""
    plain = [new for new in incoming if new.vector is None or run.model_id is None]
    said = {source.message_id for new in incoming for source in new.sources if source.message_id is not None}
    asked = Asked(
        hashes={_hash(new) for new in incoming},
        lineages={new.target for new in incoming if new.target is not None} | set(retracted),
        read_again=said if run.again else (),
        thread_id=run.thread_id if plain else None,
        entities={entity_id for new in plain for entity_id in new.entities},
        at_most=NEAREST,
    )
    same, reworded, recent = await store.look_up(tx, asked)
    near = await _nearest(tx, incoming, run, "known")
    near_keys = await _nearest(tx, incoming, run, "keys")
    beside = [*recent.of_thread, *(one for found in recent.of_entities.values() for one in found)]
    numbers = {number for found in (*near.values(), *near_keys.values()) for number, _ in found}
    renamed = {one.lineage_id for one in reworded}
    known = await store.with_sources(tx, [*same, *beside], renamed, numbers)
    return Batch(run, known, reworded, near, near_keys, recent)


async def _nearest(
    tx: Transaction, incoming: Sequence[Incoming], run: BatchContext, layer: Layer
) -> dict[int, list[tuple[int, float]]]:
    """By the place of a memory that is to be shown the passages nearest to it with their cosines."""
    encoded = {
        place: new.vector.vector
        for place, new in enumerate(incoming)
        if new.vector is not None and new.review is None and new.tier == "shown"
    }
    if not encoded or run.model_id is None:
        return {}
    vectors = list(encoded.values())
    found = await passages.nearest_to_each(tx, run.model_id, layer, vectors, NEAREST, run.exact_below)
    return dict(zip(encoded, found, strict=True))


def reconcile(batch: Batch, place: int, new: Incoming) -> Remembered:
    """Hold one memory, the one at `place` of the batch, against what is known."""
    if new.review is not None:
        return _set_aside(batch, new)
    known = batch.same_words(_hash(new))
    if new.source_kind == "extracted" and (
        any(_unwanted(memory) for memory in known) or _reworded(batch, new)
    ):
        return Remembered("dropped", None, None)
    keys = [one for one in known if one.tier == "key"]
    twins = [one for one in known if one.tier == "shown" and _in_use(one, new) and _same_occasion(one, new)]
    if new.tier == "key":
        return _key(batch, twins, keys, new)
    if twins:
        return _join(batch, _nearest_in_time(twins, new), new)
    target = batch.current(new.target)
    if target is not None and _in_use(target, new) and _believed(target, new):
        return _related(batch, target, new)
    for near, likeness in _alike(batch, place, new):
        if _says_the_same(near, new, likeness, batch.run.thresholds):
            return _related(batch, near, replace(new, relation="same"))
    alike = [
        one for one, likeness in batch.keys(place) if _says_the_same(one, new, likeness, batch.run.thresholds)
    ]
    return _promoted(batch, [*keys, *alike], new)


def _key(batch: Batch, twins: Sequence[Memory], keys: Sequence[Memory], new: Incoming) -> Remembered:
    """A key is the same as what has its very words; nothing else is looked at."""
    if twins:
        return replace(_join(batch, _nearest_in_time(twins, new), new), what="key", memory_id=None)
    if keys:
        known = keys[0].lineage_id
        # What is only read anew was not said again.
        if batch.add_sources(known, new.sources) and not batch.run.again:
            batch.keep(known)
        return Remembered("key", known, None)
    return replace(_write(batch, new), what="key")


def _promoted(batch: Batch, keys: Sequence[Memory], new: Incoming) -> Remembered:
    """Write what is new. What was a key and is said in a form that is shown now is no key any more: its sources count here, and
    since when it was said."""
    mine = {one.lineage_id: one for one in keys if _same_voice(one, new) and _same_occasion(one, new)}
    since = min((one.valid_from for one in mine.values()), default=new.said_at)
    by_hand = new.source_kind == "by hand"
    written = _write(batch, new, valid_from=new.said_at if by_hand else min(since, new.said_at))
    if mine and (lineage_id := written.lineage_id) is not None:
        for key in mine:
            batch.give_way(key, lineage_id)
        batch.set_confidence(lineage_id, max(batch.confidence(lineage_id), new.confidence), new.importance)
    return written


def _hash(new: Incoming) -> bytes:
    return content_hash(new.author, new.content)


def _believed(known: Memory, new: Incoming) -> bool:
    """Whether what the analyst says of the two may be acted on. That they are the same is looked at: what is new in one would
    be lost in the other."""
    if new.relation == "same":
        adds = not adds_nothing(new.content, known.content) and not adds_nothing(known.content, new.content)
        return not adds and equal_claims(known.content, new.content)
    return new.relation != "new"


def _reworded(batch: Batch, new: Incoming) -> bool:
    """Whether a person gave other words to what is read here once more; these messages stay what that rests on."""
    if not batch.run.again:
        return False
    words, messages = _hash(new), {source.message_id for source in new.sources}
    for one in batch.reworded:
        if one.message_id in messages and one.read_hash == words and one.given_hash != words:
            batch.add_sources(one.lineage_id, new.sources)
            return True
    return False


def _unwanted(memory: Memory) -> bool:
    return memory.forgotten_at is not None or memory.review_reason == REJECTED_BY_HAND


def _in_use(known: Memory, new: Incoming) -> bool:
    """Whether a memory holds, or held when the other was said, which is heard of only now."""
    ended = known.valid_to
    if ended is None or known.source_kind != "extracted" or new.source_kind != "extracted":
        return usable(known)
    return usable(replace(known, valid_to=None)) and known.valid_from < ended and new.said_at < ended


def _same_occasion(known: Memory, new: Incoming) -> bool:
    if new.type not in _RECURRING and known.type not in _RECURRING:
        return True
    return _apart(known, new) < _SAME_OCCASION


def _nearest_in_time(known: Sequence[Memory], new: Incoming) -> Memory:
    return min(known, key=lambda one: _apart(one, new))


def _apart(known: Memory, new: Incoming) -> timedelta:
    return abs(_occasion(known) - (new.event_at or new.said_at))


def _occasion(known: Memory) -> datetime:
    return known.event_at or known.valid_from


def _same_voice(known: Memory, new: Incoming) -> bool:
    """ "I like tea" of one person is not that of another."""
    return known.author is None or new.author is None or known.author.casefold() == new.author.casefold()


def _alike(batch: Batch, place: int, new: Incoming) -> list[tuple[Memory, float]]:
    """The nearest usable memories in the same voice, with their likeness."""
    return sorted(
        (
            (known, likeness)
            for known, likeness in batch.candidates(place, new)
            if _in_use(known, new) and _same_voice(known, new) and _same_occasion(known, new)
        ),
        key=lambda pair: (-pair[1], pair[0].valid_from, pair[0].content),
    )


def _says_the_same(known: Memory, new: Incoming, likeness: float, limits: Thresholds) -> bool:
    """Whether one of the two says nothing that the other does not say."""
    if known.type != new.type:
        return False
    same, overlap = (_SAME_WORDS, _MANY_WORDS) if new.vector is None else (limits.same, limits.overlap)
    if likeness >= same and equal_claims(known.content, new.content):
        return adds_nothing(new.content, known.content) or adds_nothing(known.content, new.content)
    return likeness >= overlap and _fuller_of(known.content, new.content) is not None


def _fuller_of(one: str, other: str) -> str | None:
    """Of two texts the one that holds all words of the other and more: the better form of the same."""
    if holds_all_of(one, other):
        return one
    return other if holds_all_of(other, one) else None


def _join(batch: Batch, known: Memory, new: Incoming) -> Remembered:
    """Said once more, or more fully: every source is kept, confidence rises, what had expired is in view again. What stands then
    is the same whichever came first: the better form of the words, since when it was first said."""
    lineage_id, memory_id = known.lineage_id, known.memory_id
    if not batch.add_sources(lineage_id, new.sources):
        return Remembered("same", lineage_id, memory_id)
    confidence = batch.confidence(lineage_id)
    if known.confirmed:
        confidence = max(confidence, known.confidence)
    changes = _joined(batch, known, new)
    if changes:
        memory_id = batch.new_version(lineage_id, changes)
    batch.set_confidence(lineage_id, confidence, new.importance)
    batch.link(lineage_id, new.entities)
    return Remembered("fuller" if "content" in changes else "same", lineage_id, memory_id)


def _joined(batch: Batch, known: Memory, new: Incoming) -> dict[str, Any]:
    """What is different in a memory once another is one with it. A person's words and dates stay."""
    changes: dict[str, Any] = {}
    later = expiry(known.type, new.said_at, new.event_at, new.expires_at)
    if known.expires_at is not None and later is not None and later > known.expires_at:
        changes["expires_at"] = later
    if known.confirmed or known.source_kind != "extracted" or new.source_kind != "extracted":
        return changes
    if new.said_at < known.valid_from:
        changes |= {"valid_from": new.said_at, "type": new.type, **batch.run.place}
    dates = [at for at in (known.event_at, new.event_at) if at is not None]
    event_at = min(dates, default=None)
    if _is_better(new.content, known.content):
        words = {"content": new.content, "content_hash": _hash(new), "passage_id": None}
        changes |= words | {"tags": tuple(sorted({*known.tags, *new.tags}))}
        event_at = new.event_at or known.event_at
    elif new.content != known.content:
        event_at = known.event_at or new.event_at
    if event_at != known.event_at:
        changes["event_at"] = event_at
    return changes


def _is_better(new: str, known: str) -> bool:
    """Whether the new one of two texts that say the same says more; where neither does, whether it is the shorter one."""
    if (fuller := _fuller_of(new, known)) is not None:
        return fuller == new
    adds, lacks = not adds_nothing(new, known), not adds_nothing(known, new)
    return adds if adds != lacks else (len(new), new) < (len(known), known)


def _related(batch: Batch, known: Memory, new: Incoming) -> Remembered:
    """The analyst said how it stands to a known memory."""
    rewords = known.source_kind == new.source_kind == "extracted" and _is_better(new.content, known.content)
    if new.relation == "same" and not rewords:
        return _join(batch, known, new)
    if new.role == "assistant" and known.role != "assistant":
        reason = "the assistant's words would supersede what the person said"
        return _set_aside(batch, new, review="suggested", reason=reason)
    if known.confirmed and new.source_kind == "extracted":
        return _set_aside(batch, new, review="suggested", reason=AGAINST_CONFIRMED)
    fuller = known.type == new.type and _fuller_of(known.content, new.content) is not None
    if new.relation == "same" or (new.relation == "updates" and fuller):
        return _join(batch, known, new)
    return _succeed(batch, known, new)


def _succeed(batch: Batch, known: Memory, new: Incoming) -> Remembered:
    """One takes the other's place. Which, is decided by when they were said, not by when they arrived."""
    if new.said_at < known.valid_from:
        until = new.said_at if new.relation == "corrects" else known.valid_from
        return _write(batch, new, valid_to=until, superseded_by=known.lineage_id)
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
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
    superseded_by: UUID | None = None,
    review: Review | None = None,
    reason: str | None = None,
) -> Remembered:
    memory_id, run = new_id(), batch.run
    made = NewMemory(
        memory_id=memory_id,
        type=new.type,
        content=new.content,
        content_hash=_hash(new),
        category=new.category,
        tags=new.tags,
        importance=new.importance,
        confidence=new.confidence,
        valid_from=valid_from or new.said_at,
        valid_to=valid_to,
        superseded_by=superseded_by,
        event_at=new.event_at,
        expires_at=run.now + run.keys_kept
        if new.tier == "key"
        else expiry(new.type, new.said_at, new.event_at, new.expires_at),
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
        tier=new.tier,
    )
    batch.add(made, new.sources, new.entities)
    return Remembered("waiting" if review is not None else "new", memory_id, memory_id)
