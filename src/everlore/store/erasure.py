"""What an erasure reads and takes away. What goes and what stays is decided in `everlore.knowledge.erasure`.

Locks, in this order: the threads of the messages (in the order of their ids), the workspace's distilled state, the layers of
postings (in the order of `LAYERS`). A distil step takes the second and then needs its messages to exist, so it commits before
an erasure, which then finds what it wrote, or after it, when it finds its messages gone.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from everlore.store.queries import queries
from everlore.store.run import Transaction
from everlore.store.texts import texts_of, with_texts
from everlore.text.shingles import paragraphs

_QUERIES = queries("erasure")


@dataclass(frozen=True, slots=True)
class DoomedMessage:
    """A message that is to be erased. `beside`: words in its other columns (prompts, tool calls, metadata, ids)."""

    message_id: UUID
    thread_id: UUID
    position: int
    author: str
    role: str
    text: str
    captions: Sequence[str]
    beside: str


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version of a memory, with every column that holds words."""

    lineage_id: UUID
    memory_id: UUID
    version: int
    tier: str
    content: str
    tags: Sequence[str]
    category: str | None
    reasoning: str | None
    review_reason: str | None
    author: str | None
    source_kind: str
    current: bool


@dataclass(frozen=True, slots=True)
class SourceLeft:
    """A source that stays. Without a message it is a person's own word."""

    lineage_id: UUID
    message_id: UUID | None
    thread_id: UUID | None
    position: int | None
    author: str | None
    role: str | None
    text: str


@dataclass(frozen=True, slots=True)
class FactRow:
    lineage_id: UUID
    fact_id: UUID
    subject_id: UUID
    predicate: str
    object_id: UUID | None
    object: str
    object_key: str
    indexed: str | None


@dataclass(frozen=True, slots=True)
class EntityRow:
    """An entity, what it was merged into, and whether facts, memories and messages speak of it."""

    entity_id: UUID
    name: str
    merged_into: UUID | None
    in_facts: bool
    in_memories: bool
    in_messages: bool


@dataclass(frozen=True, slots=True)
class AliasRow:
    alias_id: UUID
    entity_id: UUID
    variant: str
    by_hand: bool


_Row = TypeVar("_Row", VersionRow, SourceLeft, FactRow)


async def lock_threads(tx: Transaction, message_ids: Sequence[UUID]) -> dict[UUID, str]:
    """The threads of these messages, locked: id and name."""
    return dict(await tx.tuples(_QUERIES["lock_threads"], messages=list(message_ids)))


async def messages(tx: Transaction, message_ids: Sequence[UUID]) -> list[DoomedMessage]:
    return await with_texts(tx, _QUERIES["messages"], DoomedMessage, messages=list(message_ids))


async def sources_of_memory(tx: Transaction, lineage_id: UUID) -> list[UUID]:
    return await tx.values(_QUERIES["sources_of_memory"], lineage_id=lineage_id)


async def memories_resting_on(tx: Transaction, message_ids: Sequence[UUID]) -> list[UUID]:
    return await tx.values(_QUERIES["memories_resting_on"], messages=list(message_ids))


async def memories_near(tx: Transaction, thread_id: UUID, since: int, until: int) -> list[UUID]:
    """Memories of the windows of a thread that begin between two positions."""
    return await tx.values(_QUERIES["memories_near"], thread_id=thread_id, since=since, until=until)


async def versions(tx: Transaction, lineages: Sequence[UUID]) -> dict[UUID, list[VersionRow]]:
    return _by_lineage(await tx.rows(_QUERIES["versions"], VersionRow, lineages=list(lineages)))


async def memory_sources(
    tx: Transaction, lineages: Sequence[UUID], but: Sequence[UUID]
) -> dict[UUID, list[SourceLeft]]:
    """What memories rest on beside the messages that go."""
    return await _sources(tx, _QUERIES["memory_sources"], lineages=list(lineages), messages=list(but))


async def facts_resting_on(
    tx: Transaction, message_ids: Sequence[UUID], memories: Sequence[UUID]
) -> list[UUID]:
    return await tx.values(_QUERIES["facts_resting_on"], messages=list(message_ids), memories=list(memories))


async def facts_left(
    tx: Transaction, facts: Sequence[UUID], message_ids: Sequence[UUID], memories: Sequence[UUID]
) -> list[UUID]:
    """Facts that were joined to these (after a merge, say) and rest on nothing else that stays."""
    return await tx.values(
        _QUERIES["facts_left"], lineages=list(facts), messages=list(message_ids), memories=list(memories)
    )


async def facts_near(tx: Transaction, thread_id: UUID, since: int, until: int) -> list[UUID]:
    return await tx.values(_QUERIES["facts_near"], thread_id=thread_id, since=since, until=until)


async def facts(tx: Transaction, lineages: Sequence[UUID]) -> dict[UUID, list[FactRow]]:
    return _by_lineage(await tx.rows(_QUERIES["facts"], FactRow, lineages=list(lineages)))


async def fact_sources(
    tx: Transaction, lineages: Sequence[UUID], but: Sequence[UUID], memories: Sequence[UUID]
) -> dict[UUID, list[SourceLeft]]:
    """What facts rest on beside the messages and memories that go."""
    given = {"lineages": list(lineages), "messages": list(but), "memories": list(memories)}
    return await _sources(tx, _QUERIES["fact_sources"], **given)


async def _sources(tx: Transaction, query: bytes, **given: Any) -> dict[UUID, list[SourceLeft]]:
    """Sources with all words of their messages."""
    rows = await tx.rows(query, dict[str, Any], **given)
    said = await texts_of(tx, [row["message_id"] for row in rows if row["message_id"] is not None])
    return _by_lineage(_source(said.get(row["message_id"], ""), **row) for row in rows)


def _source(said: str, *, captions: Sequence[str], **columns: Any) -> SourceLeft:
    return SourceLeft(**columns, text="\n".join([said, *captions]))


async def entities_of(
    tx: Transaction, message_ids: Sequence[UUID], memories: Sequence[UUID], facts: Sequence[UUID]
) -> list[UUID]:
    return await tx.values(
        _QUERIES["entities_of"], messages=list(message_ids), memories=list(memories), facts=list(facts)
    )


async def distilled_passages(
    tx: Transaction, version_ids: Sequence[UUID], facts: Sequence[UUID]
) -> list[int]:
    """Numbers of the passages of versions of memories that are shown, and of facts."""
    found = await tx.values(_QUERIES["memory_passages"], versions=list(version_ids))
    return list(dict.fromkeys([*found, *await tx.values(_QUERIES["fact_passages"], lineages=list(facts))]))


async def superseded_by(tx: Transaction, memories: Sequence[UUID]) -> list[UUID]:
    """Memories that one of these took the place of."""
    return await tx.values(_QUERIES["superseded_by"], memories=list(memories))


async def delete_distilled(
    tx: Transaction,
    lineages: Sequence[UUID],
    version_ids: Sequence[UUID],
    facts: Sequence[UUID],
    passages: Sequence[int],
) -> None:
    """Memories, single versions of others, and facts; what named them as successor names nothing. Their passages have gone."""
    gone = [*lineages, *version_ids, *facts]
    await tx.done(_QUERIES["forget_passage"], passages=list(passages))
    await tx.done(_QUERIES["unpoint_memories"], gone=gone)
    await tx.done(_QUERIES["unpoint_facts"], gone=gone)
    await tx.done(_QUERIES["delete_facts"], lineages=list(facts))
    await tx.done(_QUERIES["drop_sources"], memories=list(lineages))
    await tx.done(_QUERIES["delete_versions"], versions=list(version_ids))
    await tx.done(_QUERIES["delete_memories"], lineages=list(lineages))


async def clean_memory(
    tx: Transaction,
    lineage_id: UUID,
    version_ids: Sequence[UUID],
    *,
    tags: Sequence[str],
    category: str | None,
    author: str | None,
    role: str | None,
) -> None:
    await tx.done(
        _QUERIES["clean_memory"],
        lineage_id=lineage_id,
        tags=list(tags),
        category=category,
        author=author,
        role=role,
    )
    await tx.done(_QUERIES["clean_passages"], author=author, versions=list(version_ids))


async def delete_messages(tx: Transaction, message_ids: Sequence[UUID]) -> None:
    """The messages; what else their threads tell of them (counts, empty sessions, errors, suggestions) follows."""
    deleted = await tx.tuples(_QUERIES["delete_messages"], messages=list(message_ids))
    counts = Counter(thread_id for thread_id, _ in deleted)
    off_path = Counter(thread_id for thread_id, on_path in deleted if not on_path)
    for thread_id, count in counts.items():
        await tx.done(_QUERIES["count_down"], thread_id=thread_id, count=count, off_path=off_path[thread_id])
    threads = list(counts)
    for query in (
        "delete_empty_sessions",
        "unname_empty_sessions",
        "clean_distillations",
        "delete_suggestions",
    ):
        await tx.done(_QUERIES[query], threads=threads)
    await tx.done(_QUERIES["clean_failures"], threads=threads)


async def entities(tx: Transaction, entity_ids: Sequence[UUID]) -> list[EntityRow]:
    return await tx.rows(_QUERIES["entity_names"], EntityRow, entities=list(entity_ids))


async def aliases(tx: Transaction, entity_ids: Sequence[UUID]) -> list[AliasRow]:
    """The names of entities, the surest of each first."""
    return await tx.rows(_QUERIES["entity_aliases"], AliasRow, entities=list(entity_ids))


async def still_named(
    tx: Transaction, pairs: Sequence[tuple[UUID, str]], *, in_use: bool = False
) -> set[int]:
    """Places of the pairs of entity and name whose words still stand in a message or memory (`in_use`: that is in use) that
    speaks of the entity."""
    found = await tx.values(
        _QUERIES["still_named"],
        places=list(range(len(pairs))),
        entities=[entity_id for entity_id, _ in pairs],
        names=[name for _, name in pairs],
        in_use=in_use,
    )
    return set(found)


async def clean_entities(
    tx: Transaction,
    affected: Sequence[UUID],
    *,
    delete: Sequence[UUID],
    aliases: Sequence[UUID],
    rename: Mapping[UUID, str],
    unlink: Sequence[UUID],
) -> None:
    await tx.done(_QUERIES["delete_aliases"], aliases=list(aliases))
    for entity_id, name in rename.items():
        await tx.done(_QUERIES["rename"], entity_id=entity_id, name=name)
    for entity_id in unlink:
        await tx.done(_QUERIES["unlink_memories"], entity_id=entity_id)
    await tx.done(_QUERIES["delete_entities"], entities=list(delete))
    await tx.done(_QUERIES["clean_link_suggestions"], entities=list(affected))
    await tx.done(_QUERIES["clean_changes"])


async def forget_handed_out(tx: Transaction, texts: Sequence[str]) -> int:
    """What was handed out and shares words with these texts is no longer known as handed out; returns how much."""
    found = [paragraph for text in texts for paragraph in paragraphs(text)]
    digests = list({paragraph.digest for paragraph in found})
    shingles = sorted({run for paragraph in found for run in paragraph.shingles})
    return await tx.done(_QUERIES["forget_handed_out"], digests=digests, shingles=shingles)


async def windows_of(tx: Transaction, places: Sequence[tuple[UUID, int]]) -> dict[UUID, list[int]]:
    """Where the windows begin that hold these positions of threads."""
    rows = await tx.tuples(
        _QUERIES["windows_of"], threads=[thread for thread, _ in places], positions=[at for _, at in places]
    )
    found: dict[UUID, list[int]] = {}
    for thread_id, first in rows:
        found.setdefault(thread_id, []).append(first)
    return found


async def delete_thread(tx: Transaction, thread_id: UUID, name: str) -> int:
    """A thread whose messages were erased. Its name gives way to its id in the audit log; returns in how many entries."""
    await tx.done(_QUERIES["delete_thread"], thread_id=thread_id)
    return await tx.value(_QUERIES["clean_audit"], thread_id=thread_id, name=name)


def _by_lineage(rows: Iterable[_Row]) -> dict[UUID, list[_Row]]:
    found: dict[UUID, list[_Row]] = {}
    for row in rows:
        found.setdefault(row.lineage_id, []).append(row)
    return found
