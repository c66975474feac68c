"""Erasing: messages, or a memory, with everything that was made of them. In the caller's transaction, which is the receipt's.

A memory goes with the last of its sources. One that has other sources stays only if its words stand in those, word for word or
in other forms of the same words, and so does its first version: else it goes too, and the windows of the other sources are
distilled anew, which finds what they say by themselves. Facts likewise. A memory near by that took a name up from an erased
message ("she" was Emma) goes as well. What an erased memory had taken the place of holds again.

Entities and their other names go when no message, memory or fact that stays bears them; what a person gave by hand stays.
Nothing here is soft: no version, passage, posting, vector, hash or quoted error is left. What Postgres keeps of deleted rows on
its disk until a vacuum, in its write-ahead log and in old backups is another matter: docs/operations.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from everlore.domain.erasure import ErasureReceipt
from everlore.knowledge.deduplication import Where
from everlore.knowledge.supersession import Group, group_of
from everlore.knowledge.write import write
from everlore.store import conversation, distilling, erasure, memories, passages, postings
from everlore.store.erasure import DoomedMessage, EntityRow, FactRow, Support, VersionRow
from everlore.store.run import Transaction
from everlore.text.words import LITTLE, root, words

# As far as an analyst looks back and ahead: the context of a window, and the window.
_REACH = 85
_WINDOW = 10
UNNAMED = "unnamed"


async def erase_messages(tx: Transaction, message_ids: Sequence[UUID], now: datetime) -> ErasureReceipt:
    """Erase messages and all that was made of them. Ids that are not there (any more) are passed over."""
    await erasure.lock_threads(tx, message_ids)
    await distilling.lock_workspace(tx)
    return await _erase(tx, await erasure.messages(tx, message_ids), (), now)


async def erase_memory(tx: Transaction, lineage_id: UUID, now: datetime, *, sources: bool) -> ErasureReceipt:
    """Erase a memory in all its versions, with the facts that rest on it alone; with `sources` also the messages that it was
    read from, and all that was made of them. If they stay, and are distilled again by hand, it may be found again."""
    message_ids = await erasure.sources_of_memory(tx, lineage_id) if sources else []
    await erasure.lock_threads(tx, message_ids)
    await distilling.lock_workspace(tx)
    if sources:
        # Once more under the lock: a distil step may have found another source meanwhile.
        message_ids = await erasure.sources_of_memory(tx, lineage_id)
    doomed = await erasure.messages(tx, message_ids) if message_ids else []
    return await _erase(tx, doomed, (lineage_id,), now)


async def erase_thread(tx: Transaction, thread_id: UUID, name: str, now: datetime) -> ErasureReceipt:
    """Erase a thread with all its messages and all that was made of them; its name goes from the audit log, too."""
    receipt = await erase_messages(tx, await erasure.messages_of_thread(tx, thread_id), now)
    scrubbed = await erasure.delete_thread(tx, thread_id, name)
    return ErasureReceipt(
        receipt.messages, receipt.memories, receipt.versions, receipt.facts, receipt.entities,
        {**receipt.counts, "threads": 1, "audit entries changed": scrubbed},
        tuple(place for place in receipt.to_read_again if place[0] != thread_id),
    )  # fmt: skip


@dataclass(slots=True)
class _Plan:
    """What goes: `lineages` of memories, single `versions` of others, `facts`. What stays and is cleaned: `kept`. Whose groups
    of facts are worked out anew: `groups`. Sources that stay of what goes: `again`."""

    lineages: list[UUID] = field(default_factory=list[UUID])
    versions: list[VersionRow] = field(default_factory=list[VersionRow])
    kept: dict[UUID, list[VersionRow]] = field(default_factory=dict[UUID, list[VersionRow]])
    supports: dict[UUID, list[Support]] = field(default_factory=dict[UUID, list[Support]])
    facts: list[UUID] = field(default_factory=list[UUID])
    groups: list[Group] = field(default_factory=list[Group])
    again: list[Support] = field(default_factory=list[Support])
    texts: list[str] = field(default_factory=list[str])


async def _erase(
    tx: Transaction, doomed: Sequence[DoomedMessage], forced: Sequence[UUID], now: datetime
) -> ErasureReceipt:
    ids = [message.message_id for message in doomed]
    plan = _Plan(texts=[text for message in doomed for text in (message.text, *message.captions)])
    taint = _words_of(doomed)
    await _plan_memories(tx, plan, doomed, forced, taint)
    await _plan_facts(tx, plan, doomed, taint)
    if not (ids or plan.lineages):
        return ErasureReceipt()
    affected = await erasure.entities_of(tx, ids, [*plan.lineages, *plan.kept], plan.facts)
    version_ids = [version.memory_id for version in plan.versions]
    all_versions = [*plan.lineages, *version_ids, *await _versions_of(tx, plan.lineages)]
    spoken = await erasure.message_passages(tx, ids)
    distilled = await erasure.distilled_passages(tx, all_versions, plan.facts)
    await postings.remove(tx, spoken)
    await passages.remove(tx, distilled)
    waiting = await erasure.superseded_by(tx, plan.lineages)
    await erasure.delete_distilled(tx, plan.lineages, version_ids, plan.facts, distilled)
    if ids:
        await erasure.delete_messages(tx, ids)
    await _clean(tx, plan, taint)
    for lineage_id in waiting:
        await memories.new_version(tx, lineage_id, {"valid_to": None, "superseded_by": None}, now)
    await write(tx, [], [], Where(now=now), vectors={}, touched=plan.groups)
    entities, aliases = await _clean_entities(tx, affected)
    handed = await erasure.forget_handed_out(tx, plan.texts)
    again = await _read_again(tx, plan.again, now)
    counts = {
        "messages": len(ids),
        "memories": len(plan.lineages),
        "versions": len(version_ids),
        "facts": len(plan.facts),
        "entities": len(entities),
        "names": aliases,
        "passages": len(spoken) + len(distilled),
        "handed out": handed,
    }
    # Ids and counts only: the log outlives what was erased.
    await conversation.audit(tx, "erase", None, **counts)
    return ErasureReceipt(
        tuple(ids),
        tuple(plan.lineages),
        tuple(version_ids),
        tuple(plan.facts),
        tuple(entities),
        counts,
        again,
    )


async def _versions_of(tx: Transaction, lineages: Sequence[UUID]) -> list[UUID]:
    found = await erasure.versions(tx, lineages)
    return [version.memory_id for its_versions in found.values() for version in its_versions]


# --- what goes ---------------------------------------------------------------------------------------------


async def _plan_memories(
    tx: Transaction,
    plan: _Plan,
    doomed: Sequence[DoomedMessage],
    forced: Sequence[UUID],
    taint: frozenset[str],
) -> None:
    ids = [message.message_id for message in doomed]
    resting = set(await erasure.memories_resting_on(tx, ids)) | set(forced)
    near: set[UUID] = set()
    for thread_id, first, last in _stretches(doomed):
        near |= set(await erasure.memories_near(tx, thread_id, first - _WINDOW + 1, last + _REACH))
    candidates = [*resting, *sorted(near - resting)]
    versions = await erasure.versions(tx, candidates)
    plan.supports = await erasure.memory_sources(tx, candidates, ids)
    for lineage_id, its_versions in versions.items():
        supports = plan.supports.get(lineage_id, [])
        if lineage_id in forced:
            unsupported = list(its_versions)
        elif lineage_id in resting:
            unsupported = [one for one in its_versions if not _is_supported(one, supports)]
        else:
            unsupported = [one for one in its_versions if _is_tainted(one, supports, taint)]
        first_or_current = any(one.version == 1 or one.current for one in unsupported)
        if first_or_current or (lineage_id in resting and not supports):
            plan.lineages.append(lineage_id)
            plan.texts += [version.content for version in its_versions]
            if lineage_id not in forced:
                plan.again += supports
        elif unsupported or lineage_id in resting:
            plan.versions += unsupported
            plan.texts += [version.content for version in unsupported]
            plan.kept[lineage_id] = [one for one in its_versions if one not in unsupported]


async def _plan_facts(
    tx: Transaction, plan: _Plan, doomed: Sequence[DoomedMessage], taint: frozenset[str]
) -> None:
    ids = [message.message_id for message in doomed]
    resting = set(await erasure.facts_resting_on(tx, ids, plan.lineages))
    near: set[UUID] = set()
    for thread_id, first, last in _stretches(doomed):
        near |= set(await erasure.facts_near(tx, thread_id, first, last + _REACH))
    candidates = [*resting, *sorted(near - resting)]
    found = await erasure.facts(tx, candidates)
    supports = await erasure.fact_sources(tx, candidates, ids, plan.lineages)
    groups: list[Group] = []
    for lineage_id, rows in found.items():
        held = supports.get(lineage_id, [])
        goes = not held if lineage_id in resting else False
        goes = goes or any(_object_is_tainted(row, held, taint) for row in rows)
        if goes:
            plan.facts.append(lineage_id)
            plan.again += held
        if goes or lineage_id in resting:
            groups += [group_of(row.subject_id, row.predicate, row.object_key) for row in rows]
    plan.groups = list(dict.fromkeys(groups))


def _stretches(doomed: Sequence[DoomedMessage]) -> list[tuple[UUID, int, int]]:
    """Thread, first and last position of messages that lie within reach of each other."""
    found: list[tuple[UUID, int, int]] = []
    for message in sorted(doomed, key=lambda one: (one.thread_id, one.position)):
        if found and found[-1][0] == message.thread_id and message.position - found[-1][2] <= _REACH:
            found[-1] = (message.thread_id, found[-1][1], message.position)
        else:
            found.append((message.thread_id, message.position, message.position))
    return found


def _words_of(doomed: Sequence[DoomedMessage]) -> frozenset[str]:
    """The telling words of erased messages, authors and all other columns included."""
    found = (
        word
        for message in doomed
        for text in (message.text, message.author, message.beside, *message.captions)
        for word in words(text)
    )
    return frozenset(root(word) for word in found if word not in LITTLE)


def _held_words(supports: Iterable[Support]) -> frozenset[str]:
    return frozenset(root(word) for one in supports for word in words(f"{one.text} {one.author or ''}"))


def _wanted(text: str) -> frozenset[str]:
    return frozenset(root(word) for word in words(text) if word not in LITTLE)


def _is_supported(version: VersionRow, supports: Sequence[Support]) -> bool:
    """Whether a version's words stand in sources that stay, or a person wrote them."""
    if version.source_kind == "by hand" and any(one.message_id is None for one in supports):
        return True
    said = [one for one in supports if one.message_id is not None]
    plain = " ".join(words(version.content))
    if plain and any(plain in " ".join(words(one.text)) for one in said):
        return True
    wanted = _wanted(version.content)
    return bool(wanted) and wanted <= _held_words(said)


def _is_tainted(version: VersionRow, supports: Sequence[Support], taint: frozenset[str]) -> bool:
    """Whether a version that has no source among the erased messages took words up from them all the same."""
    if version.source_kind == "by hand":
        return False
    text = " ".join((version.content, *version.tags, version.category or "", version.author or ""))
    # What was rejected may have no source at all; it is no loss.
    return bool((_wanted(text) & taint) - _held_words(supports))


def _object_is_tainted(fact: FactRow, supports: Sequence[Support], taint: frozenset[str]) -> bool:
    if any(one.message_id is None for one in supports):
        return False
    return bool((_wanted(fact.object) & taint) - _held_words(supports))


# --- what stays --------------------------------------------------------------------------------------------


async def _clean(tx: Transaction, plan: _Plan, taint: frozenset[str]) -> None:
    """Memories that stay keep nothing that was said about them from erased words."""
    for lineage_id, its_versions in plan.kept.items():
        supports = plan.supports.get(lineage_id, [])
        held = _held_words(supports)
        current = its_versions[-1]
        said = next((one for one in supports if one.message_id is not None), None)
        stays = said is None or current.author in {one.author for one in supports}
        await erasure.clean_memory(
            tx,
            lineage_id,
            [version.memory_id for version in its_versions],
            tags=[tag for tag in current.tags if not (_wanted(tag) & taint) - held],
            category=None if _wanted(current.category or "") & taint - held else current.category,
            author=current.author if stays or said is None else said.author,
            role=None if said is None else said.role,
        )


async def _clean_entities(tx: Transaction, affected: Sequence[UUID]) -> tuple[list[UUID], int]:
    """Entities and names that nothing bears any more go. Returns the entities that went, and how many names did."""
    if not affected:
        return [], 0
    entities = await erasure.entities(tx, affected)
    aliases = await erasure.aliases(tx, affected)
    # What was merged is borne by what it became.
    bearer = {entity.entity_id: entity.merged_into or entity.entity_id for entity in entities}
    pairs = [(bearer[entity.entity_id], entity.name) for entity in entities]
    pairs += [(bearer[entity_id], variant) for _, entity_id, variant in aliases]
    named = await erasure.still_named(tx, pairs)
    lost = [one for place, one in enumerate(aliases, start=len(entities)) if place not in named]
    left: dict[UUID, list[str]] = {}
    for place, (_, entity_id, variant) in enumerate(aliases, start=len(entities)):
        if place in named:
            left.setdefault(entity_id, []).append(variant)
    delete: list[UUID] = []
    rename: dict[UUID, str] = {}
    unlink: list[UUID] = []
    for place, entity in enumerate(entities):
        if entity.by_hand or (place in named and _is_borne(entity)):
            continue
        if left.get(entity.entity_id):
            rename[entity.entity_id] = left[entity.entity_id][0]
        elif entity.in_facts:
            rename[entity.entity_id] = UNNAMED
            unlink.append(entity.entity_id)
        else:
            delete.append(entity.entity_id)
    await erasure.clean_entities(
        tx,
        affected,
        delete=delete,
        aliases=[alias_id for alias_id, _, _ in lost],
        rename=rename,
        unlink=unlink,
    )
    return delete, len(lost)


def _is_borne(entity: EntityRow) -> bool:
    return entity.in_messages or entity.in_memories or entity.in_facts or entity.merged_into is not None


async def _read_again(
    tx: Transaction, supports: Sequence[Support], now: datetime
) -> tuple[tuple[UUID, int], ...]:
    """Have the windows of sources that stay distilled anew."""
    places = {(one.thread_id, one.position) for one in supports}
    known = [(thread, at) for thread, at in places if thread is not None and at is not None]
    windows: Mapping[UUID, list[int]] = await erasure.windows_of(tx, known) if known else {}
    for thread_id, firsts in windows.items():
        await distilling.ask_again(tx, thread_id, firsts, now)
        await distilling.defer(tx, thread_id)
    return tuple((thread_id, first) for thread_id, firsts in windows.items() for first in sorted(firsts))
