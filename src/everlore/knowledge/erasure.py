"""Erasing: messages, or a memory, with everything that was made of them. In the caller's transaction, which is the receipt's.

A memory goes with the last of its sources. One that has other sources stays only if its words stand in those, word for word or
in other forms of the same words, and so does its first version: else it goes too, and the windows of the other sources are
distilled anew, which finds what they say by themselves. Facts likewise. A memory near by that took a name up from an erased
message ("she" was Emma) goes as well. What an erased memory had taken the place of holds again.

Entities and their other names go when no message, memory or fact that stays bears them; what a person gave by hand stays.
Other kinds of things erase theirs by themselves (`RecallSource.erase`).

Nothing here is soft: no version, passage, posting, vector, hash or quoted error is left, but for the marks of erased turns in
threads whose client would bring them back (docs/decisions/0021-tree-of-messages.md). What Postgres keeps of deleted rows on
its disk until a vacuum, in its write-ahead log and in old backups is another matter: docs/operations.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from everlore.domain.erasure import ErasureReceipt
from everlore.domain.predicates import in_words
from everlore.knowledge import keys
from everlore.knowledge.batch import BatchContext
from everlore.knowledge.supersession import Group, group_of
from everlore.knowledge.write import write
from everlore.store import conversation, distilling, erasure, memories, passages, tree
from everlore.store.entities import remove_alias, rename
from everlore.store.erasure import AliasRow, DoomedMessage, EntityRow, FactRow, SourceLeft, VersionRow
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
    receipt = await erase_messages(tx, await conversation.messages_of_thread(tx, thread_id), now)
    scrubbed = await erasure.delete_thread(tx, thread_id, name)
    return ErasureReceipt(
        receipt.messages, receipt.memories, receipt.versions, receipt.facts, receipt.entities,
        {**receipt.counts, "threads": 1, "audit entries changed": scrubbed},
        tuple(place for place in receipt.to_read_again if place[0] != thread_id),
    )  # fmt: skip


@dataclass(slots=True)
class _Plan:
    """What goes: `lineages` of memories, `keys`, single `versions` of others, `facts`. What stays and is cleaned: `kept`. Facts
    that go or lose a statement: `touched`; their groups, worked out anew: `groups`. Sources that stay of what goes: `again`."""

    lineages: list[UUID] = field(default_factory=list[UUID])
    keys: list[UUID] = field(default_factory=list[UUID])
    versions: list[VersionRow] = field(default_factory=list[VersionRow])
    kept: dict[UUID, list[VersionRow]] = field(default_factory=dict[UUID, list[VersionRow]])
    supports: dict[UUID, list[SourceLeft]] = field(default_factory=dict[UUID, list[SourceLeft]])
    facts: list[UUID] = field(default_factory=list[UUID])
    touched: list[UUID] = field(default_factory=list[UUID])
    groups: list[Group] = field(default_factory=list[Group])
    again: list[SourceLeft] = field(default_factory=list[SourceLeft])
    texts: list[str] = field(default_factory=list[str])


async def _erase(
    tx: Transaction, doomed: Sequence[DoomedMessage], forced: Sequence[UUID], now: datetime
) -> ErasureReceipt:
    # Recall and all that it counts with: most commands erase nothing.
    from everlore.recall.sources import SOURCES

    ids = [message.message_id for message in doomed]
    plan = _Plan(texts=[text for message in doomed for text in (message.text, *message.captions)])
    taint = _words_of(doomed)
    await _plan_memories(tx, plan, doomed, forced, taint)
    await _plan_facts(tx, plan, doomed, taint)
    if not (ids or plan.lineages or plan.keys):
        return ErasureReceipt()
    affected = await erasure.entities_of(tx, ids, [*plan.lineages, *plan.kept], plan.touched)
    version_ids = [version.memory_id for version in plan.versions]
    all_versions = [*plan.lineages, *version_ids, *await _versions_of(tx, plan.lineages)]
    distilled = await erasure.distilled_passages(tx, all_versions, plan.facts)
    spoken = await passages.remove_messages(tx, ids)
    await passages.remove(tx, "known", distilled)
    await keys.remove(tx, plan.keys)
    others = {source.kind: await source.erase(tx, ids, plan.lineages) for source in SOURCES}
    waiting = await erasure.superseded_by(tx, plan.lineages)
    await erasure.delete_distilled(tx, plan.lineages, version_ids, plan.facts, distilled)
    if ids:
        await tree.erase(tx, ids)
        await erasure.delete_messages(tx, ids)
    await _clean(tx, plan, taint)
    for lineage_id in waiting:
        await memories.new_version(tx, lineage_id, {"valid_to": None, "superseded_by": None}, now)
    await write(tx, [], [], BatchContext(now=now), vectors={}, touched=plan.groups)
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
        "passages": spoken + len(distilled) + len(plan.keys),
        "handed out": handed,
        **{kind: count for kind, count in {"keys": len(plan.keys), **others}.items() if count},
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
            (plan.keys if its_versions[0].tier == "key" else plan.lineages).append(lineage_id)
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
        goes = goes or any(_fact_is_tainted(row, held, taint) for row in rows)
        if goes:
            plan.facts.append(lineage_id)
            plan.again += held
        if goes or lineage_id in resting:
            plan.touched.append(lineage_id)
            groups += [group_of(row.subject_id, row.predicate, row.object_key) for row in rows]
    plan.groups = list(dict.fromkeys(groups))
    plan.facts += await erasure.facts_left(tx, plan.facts, ids, plan.lineages)


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


def _held_words(supports: Iterable[SourceLeft]) -> frozenset[str]:
    return frozenset(root(word) for one in supports for word in words(f"{one.text} {one.author or ''}"))


def _wanted(text: str) -> frozenset[str]:
    return frozenset(root(word) for word in words(text) if word not in LITTLE)


def _is_supported(version: VersionRow, supports: Sequence[SourceLeft]) -> bool:
    """Whether a version's words stand in sources that stay, or a person wrote them."""
    if version.source_kind == "by hand" and any(one.message_id is None for one in supports):
        return True
    said = [one for one in supports if one.message_id is not None]
    plain = " ".join(words(version.content))
    if plain and any(plain in " ".join(words(one.text)) for one in said):
        return True
    wanted = _wanted(version.content)
    return bool(wanted) and wanted <= _held_words(said)


def _is_tainted(version: VersionRow, supports: Sequence[SourceLeft], taint: frozenset[str]) -> bool:
    """Whether a version that has no source among the erased messages took words up from them all the same."""
    if version.source_kind == "by hand":
        return False
    text = " ".join((version.content, *version.tags, version.category or "", version.author or ""))
    # What was rejected may have no source at all; it is no loss.
    return bool((_wanted(text) & taint) - _held_words(supports))


def _fact_is_tainted(fact: FactRow, supports: Sequence[SourceLeft], taint: frozenset[str]) -> bool:
    """Whether a fact took its subject or its object up from an erased message ("She" was Emma)."""
    if any(one.message_id is None for one in supports):
        return False
    named = _wanted(fact.indexed or "") - _wanted(in_words(fact.predicate)) | _wanted(fact.object)
    return bool((named & taint) - _held_words(supports))


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
    """An entity goes with the last fact, memory and message that speaks of it, together with what was merged into it and with
    all of its names. Of one that stays those names go that nothing says any more and that no person gave. Returns the entities
    that went, and how many names did."""
    if not affected:
        return [], 0
    entities = await erasure.entities(tx, affected)
    aliases = await erasure.aliases(tx, affected)
    bearer = _bearers(entities)
    borne = {bearer[e.entity_id] for e in entities if e.in_facts or e.in_memories or e.in_messages}
    pairs = [(bearer[one.entity_id], one.name) for one in entities]
    pairs += [(bearer[one.entity_id], one.variant) for one in aliases]
    named = await erasure.still_named(tx, pairs)
    kept = [a for place, a in enumerate(aliases, start=len(entities)) if a.by_hand or place in named]
    left: dict[UUID, list[str]] = {}
    for alias in kept:
        left.setdefault(alias.entity_id, []).append(alias.variant)
    delete = [one.entity_id for one in entities if bearer[one.entity_id] not in borne]
    rename: dict[UUID, str] = {}
    for place, entity in enumerate(entities):
        names = left.get(entity.entity_id, [])
        if entity.entity_id in delete or place in named or entity.name in names:
            continue
        if names:
            rename[entity.entity_id] = names[0]
        elif entity.in_facts:
            rename[entity.entity_id] = UNNAMED
        else:
            delete.append(entity.entity_id)
    lost = [one.alias_id for one in aliases if one not in kept]
    await erasure.clean_entities(
        tx,
        affected,
        delete=delete,
        aliases=lost,
        rename=rename,
        unlink=[entity_id for entity_id, name in rename.items() if name == UNNAMED],
    )
    gone = set(delete)
    return delete, sum(one not in kept or one.entity_id in gone for one in aliases)


async def forget_unsaid_names(tx: Transaction, entities: Sequence[UUID]) -> None:
    """After messages have left the path: entities that others speak of lose those names that only these gave them. One that
    nothing speaks of keeps its names, by which it is known again when the path returns."""
    spoken_of = {one.entity_id: one.name for one in await erasure.entities(tx, entities) if one.in_messages}
    if not spoken_of:
        return
    aliases = await erasure.aliases(tx, list(spoken_of))
    named = await erasure.still_named(tx, [(one.entity_id, one.variant) for one in aliases], in_use=True)
    stay: dict[UUID, list[str]] = {}
    unsaid: list[AliasRow] = []
    for place, alias in enumerate(aliases):
        if alias.by_hand or place in named:
            stay.setdefault(alias.entity_id, []).append(alias.variant)
        else:
            unsaid.append(alias)
    for alias in unsaid:
        if names := stay.get(alias.entity_id):
            await remove_alias(tx, alias.alias_id)
            if alias.variant == spoken_of[alias.entity_id]:
                parts = [one for one in names if set(one.split()) <= set(alias.variant.split())]
                await rename(tx, alias.entity_id, (parts or names)[0])


def _bearers(entities: Sequence[EntityRow]) -> dict[UUID, UUID]:
    """Of each entity the one that bears its names today: itself, or what it was merged into in the end."""
    into = {one.entity_id: one.merged_into for one in entities}

    def survivor(entity_id: UUID) -> UUID:
        merged_into = into[entity_id]
        return entity_id if merged_into is None else survivor(merged_into)

    return {entity_id: survivor(entity_id) for entity_id in into}


async def _read_again(
    tx: Transaction, supports: Sequence[SourceLeft], now: datetime
) -> tuple[tuple[UUID, int], ...]:
    """Have the windows of sources that stay distilled anew."""
    places = {(one.thread_id, one.position) for one in supports}
    known = [(thread, at) for thread, at in places if thread is not None and at is not None]
    windows: Mapping[UUID, list[int]] = await erasure.windows_of(tx, known) if known else {}
    for thread_id, firsts in windows.items():
        await distilling.ask_again(tx, thread_id, firsts, now)
    return tuple((thread_id, first) for thread_id, firsts in windows.items() for first in sorted(firsts))
