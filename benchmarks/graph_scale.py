"""How does the graph scale? A neighbourhood of depth 2 and alias resolution at 1,000 memories with 200 entities, and at 100,000
with 20,000, in one Postgres and one run: medians of 200 calls each, and their ratios. The degree is bounded: each entity has
about ten facts to others and ten memories. One hub, the person who speaks, is linked to everything.

Ratios above 3 fail.

    python benchmarks/graph_scale.py [--small 1000] [--large 100000] [--calls 200]
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from statistics import median, quantiles
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from psycopg import sql

import corpus
from everlore.api.directory import Directory
from everlore.api.entities import Graph
from everlore.domain.ids import new_ids
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.recall.uses import Uses
from everlore.runtime import Runtime
from everlore.store import entities, graph
from everlore.store.database import APP, Database
from everlore.store.graph import When
from everlore.store.server import SUPERUSER
from everlore.text.variants import key

MEMORIES_AN_ENTITY = 5
FACTS_AN_ENTITY = 5
ENTITIES_A_MEMORY = 2
SMALL_WORKSPACES = 20
LIMIT = 3.0
NOW = datetime(2025, 6, 14, tzinfo=UTC)
SYLLABLES = [
    "al", "an", "ar", "be", "bri", "ca", "cel", "da", "del", "di", "do", "el", "en", "fa", "fer", "ga", "gio", "ha", "hel", "in",
    "is", "jo", "ka", "ki", "la", "le", "li", "lo", "lu", "ma", "mar", "me", "mi", "na", "ne", "ni", "no", "o", "pa", "pe", "ra",
    "re", "ri", "ro", "sa", "se", "si", "so", "ta", "te", "ti", "to", "u", "va", "ve", "vi", "ya", "za",
]  # fmt: skip
PREDICATES = ("friend_of", "works_on", "member_of", "colleague_of", "has_visited")


def names(count: int, chance: np.random.Generator) -> list[str]:
    """Different names of people, made of syllables: as alike as real ones are."""
    found: dict[str, None] = {}
    while len(found) < count:
        sizes: list[int] = chance.integers(2, 5, 2).tolist()
        first, last = (
            "".join(SYLLABLES[int(chance.integers(0, len(SYLLABLES)))] for _ in range(size)) for size in sizes
        )
        found[f"{first.capitalize()} {last.capitalize()}"] = None
    return list(found)


def copied(
    owner: psycopg.Connection, table: str, columns: Sequence[str], rows: Iterator[Sequence[Any]]
) -> None:
    """Bulk: COPY into a temporary table, then one insert."""
    listed = sql.SQL(", ").join(map(sql.Identifier, columns))
    target = sql.SQL("everlore.{}").format(sql.Identifier(table))
    with owner.transaction():
        owner.execute(
            sql.SQL("create temporary table staged on commit drop as select {} from {} with no data").format(
                listed, target
            )
        )
        with owner.cursor().copy(sql.SQL("copy staged ({}) from stdin").format(listed)) as copy:
            for row in rows:
                copy.write_row(row)
        owner.execute(sql.SQL("insert into {} ({}) select {} from staged").format(target, listed, listed))


def fill(
    owner: psycopg.Connection, ws: UUID, messages: Sequence[UUID], memories: int, seed: int
) -> tuple[list[UUID], list[str]]:
    """Memories and a fifth as many entities with their facts; returns the entities (the hub first) and their names."""
    chance = np.random.default_rng(seed)
    count = max(memories // MEMORIES_AN_ENTITY, 2)
    called = ["user", *names(count - 1, chance)]
    ids = new_ids(count)
    copied(owner, "entity", ("workspace_id", "entity_id", "name", "type", "recorded_at"),
           ((ws, one, name, "person", NOW) for one, name in zip(ids, called, strict=True)))  # fmt: skip
    variants = list(zip(ids, called, strict=True))
    variants += [
        (one, f"{name.split()[0]} {name.split()[1][0]}.") for one, name in variants[1:] if name[0] in "ABCDE"
    ]
    columns = ("workspace_id", "alias_id", "entity_id", "variant", "key", "weight", "origin", "recorded_at")
    copied(owner, "alias", columns,
           ((ws, alias, one, name, key(name), 0.9, "extracted", NOW)
            for alias, (one, name) in zip(new_ids(len(variants)), variants, strict=True)))  # fmt: skip
    fill_memories(owner, ws, messages, ids, memories, chance)
    fill_facts(owner, ws, messages, dict(zip(ids, called, strict=True)), chance)
    return ids, called


def fill_memories(
    owner: psycopg.Connection,
    ws: UUID,
    messages: Sequence[UUID],
    ids: Sequence[UUID],
    memories: int,
    chance: np.random.Generator,
) -> None:
    """Each speaks of the hub and two more."""
    at = [NOW - timedelta(minutes=memories - i) for i in range(memories)]
    lineages = sorted(new_ids(memories))
    said = [messages[i % len(messages)] for i in range(memories)]
    drawn: list[list[int]] = chance.integers(1, len(ids), (memories, ENTITIES_A_MEMORY)).tolist()
    of = [{ids[0], *(ids[e] for e in some)} for some in drawn]
    columns = ("workspace_id", "memory_id", "lineage_id", "type", "content", "importance", "confidence", "valid_from",
               "recorded_at", "source_kind", "content_hash")  # fmt: skip
    copied(owner, "memory", columns,
           ((ws, one, one, "fact", f"memory {i}", 0.5, 0.8, at[i], at[i], "extracted", one.bytes)
            for i, one in enumerate(lineages)))  # fmt: skip
    copied(owner, "memory_entity", ("workspace_id", "lineage_id", "entity_id"),
           ((ws, one, entity) for one, some in zip(lineages, of, strict=True) for entity in some))  # fmt: skip
    columns = (
        "workspace_id",
        "source_id",
        "lineage_id",
        "message_id",
        "start_at",
        "end_at",
        "confidence",
        "recorded_at",
    )
    copied(owner, "memory_source", columns,
           ((ws, source, one, said[i], 0, 12, 0.8, at[i])
            for i, (source, one) in enumerate(zip(new_ids(memories), lineages, strict=True))))  # fmt: skip
    named = dict.fromkeys(
        (entity, message) for message, some in zip(said, of, strict=True) for entity in some
    )
    copied(
        owner,
        "mention",
        ("workspace_id", "entity_id", "message_id", "recorded_at"),
        ((ws, *pair, NOW) for pair in named),
    )


def fill_facts(
    owner: psycopg.Connection,
    ws: UUID,
    messages: Sequence[UUID],
    called: dict[UUID, str],
    chance: np.random.Generator,
) -> None:
    """Each entity has five facts on average, and one with the hub."""
    ids = list(called)
    facts = (FACTS_AN_ENTITY + 1) * len(ids)
    ends: list[tuple[int, int]] = chance.integers(1, len(ids), (facts, 2)).tolist()
    ends[: len(ids)] = [(0, b) for _, b in ends[: len(ids)]]
    stated = new_ids(facts)
    at = [NOW - timedelta(minutes=facts - i) for i in range(facts)]
    columns = ("workspace_id", "fact_id", "lineage_id", "subject_id", "predicate", "object_id", "object", "object_key",
               "confidence", "valid_from", "recorded_at")  # fmt: skip
    copied(owner, "fact", columns,
           ((ws, one, one, ids[a], PREDICATES[i % len(PREDICATES)], ids[b], called[ids[b]], str(ids[b]), 0.5 + 0.05 * (i % 7),
             at[i], at[i]) for i, (one, (a, b)) in enumerate(zip(stated, ends, strict=True))))  # fmt: skip
    columns = ("workspace_id", "source_id", "lineage_id", "message_id", "start_at", "end_at", "said_at", "confidence",
               "recorded_at")  # fmt: skip
    copied(owner, "fact_source", columns,
           ((ws, source, one, messages[i % len(messages)], 0, 12, at[i], 0.8, at[i])
            for i, (source, one) in enumerate(zip(new_ids(facts), stated, strict=True))))  # fmt: skip


async def measured(
    small: Sequence[Callable[[], Awaitable[object]]], large: Sequence[Callable[[], Awaitable[object]]]
) -> tuple[list[float], list[float]]:
    """Milliseconds of each call, those of both sizes in turn, so that whatever else the machine does slows both."""
    took: tuple[list[float], list[float]] = ([], [])
    for pair in zip(small, large, strict=True):
        for call, kept in zip(pair, took, strict=True):
            began = time.perf_counter()
            await call()
            kept.append((time.perf_counter() - began) * 1000)
    return took


def misspelled(name: str, place: int) -> str:
    at = 2 + place % (len(name) - 3)
    return name[:at] + name[at + 1 :]


def calls_of(
    runtime: Runtime, database: Database, ws: UUID, ids: list[UUID], called: list[str], calls: int, seed: int
) -> dict[str, list[Callable[[], Awaitable[object]]]]:
    """What is measured, each on other entities."""
    chance = np.random.default_rng(seed)
    some: list[int] = chance.integers(1, len(ids), calls).tolist()
    here = replace(runtime, database=database, clock=lambda: NOW)
    view = Graph(Directory(here, Uses(database), {"bench": ws}), "bench")
    when = When(NOW)

    async def resolved(name: str) -> None:
        async with database.workspace(ws, read_only=True) as connection:
            assert await entities.by_keys(connection, [key(name)])

    async def spelled(name: str) -> None:
        async with database.workspace(ws, read_only=True) as connection:
            assert await entities.similar(connection, [name], 0.45, 10)

    async def worded(name: str) -> None:
        async with database.workspace(ws, read_only=True) as connection:
            assert await entities.with_word(connection, [name.split()[1]], 25)

    async def walked(start: UUID) -> None:
        async with database.workspace(ws, read_only=True) as connection:
            assert (await graph.neighbourhood(connection, start, 2, when, limit=50)).distances

    async def activated(start: UUID) -> None:
        async with database.workspace(ws, read_only=True) as connection:
            active = await graph.activate(connection, {start: 1.0}, now=NOW, at_most=50)
            assert await graph.memories_of(connection, active, 5, now=NOW)

    return {
        "neighbourhood, depth 2": [lambda e=e: walked(ids[e]) for e in some],
        "the same, shown with all sources": [lambda e=e: view.show(ids[e], depth=2) for e in some],
        "neighbourhood of the hub": [lambda: walked(ids[0]) for _ in some],
        "path between two": [lambda e=e: view.path(ids[e], ids[(e * 7) % (len(ids) - 1) + 1]) for e in some],
        "activation and memories": [lambda e=e: activated(ids[e]) for e in some],
        "alias, exact": [lambda e=e: resolved(called[e].upper()) for e in some],
        "alias, misspelled": [lambda i=i, e=e: spelled(misspelled(called[e], i)) for i, e in enumerate(some)],
        "alias, one word of it": [lambda e=e: worded(called[e]) for e in some],
    }


async def built(lore: Everlore, called: str, memories: int, seed: int) -> tuple[UUID, list[UUID], list[str]]:
    workspace = await lore.workspace(called)
    count = max(min(memories // 2, 50_000), 10)
    messages: list[UUID] = []
    for start in range(0, count, 5000):
        said = [
            NewMessage(role="user", text=f"somebody said {i}") for i in range(start, min(start + 5000, count))
        ]
        receipt = await workspace.record(said, thread=f"thread {start}")
        messages += [outcome.message_id for outcome in receipt.outcomes if outcome.message_id is not None]
    assert lore.server is not None
    with psycopg.connect(lore.server.conninfo(SUPERUSER), autocommit=True) as owner:
        ids, variants = fill(owner, workspace.workspace_id, messages, memories, seed)
    return workspace.workspace_id, ids, variants


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=1000)
    parser.add_argument("--large", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=200)
    options = parser.parse_args()
    async with corpus.temporary_everlore() as lore:
        assert lore.server is not None
        for number in range(SMALL_WORKSPACES):
            await built(lore, f"other {number}", 100, number)
        small = await built(lore, "small", options.small, 101)
        large = await built(lore, "large", options.large, 102)
        with psycopg.connect(lore.server.conninfo(SUPERUSER), autocommit=True) as owner:
            owner.execute("vacuum analyze")
            owner.execute("checkpoint")
        database = Database(lore.server.conninfo(APP), APP, pool_size=1)
        await database.open()
        try:
            least = calls_of(lore.runtime, database, *small, options.calls, 3)
            most = calls_of(lore.runtime, database, *large, options.calls, 4)
            took: dict[str, tuple[list[float], list[float]]] = {}
            for kind in least:
                await measured(least[kind][:30], most[kind][:30])
                took[kind] = await measured(least[kind], most[kind])
        finally:
            await database.close()
    print(
        f"{options.small:,} memories, {len(small[1]):,} entities; {options.large:,} memories, {len(large[1]):,} entities"
    )
    print(
        f"{'medians of ' + str(options.calls):36} {'small ms':>9} {'large ms':>9} {'p95 ms':>9} {'ratio':>7}"
    )
    ratios: list[float] = []
    for kind, (few, many) in took.items():
        ratios.append(median(many) / median(few))
        p95 = quantiles(many, n=20)[18]
        print(f"{kind:36} {median(few):9.2f} {median(many):9.2f} {p95:9.2f} {ratios[-1]:7.2f}")
    if max(ratios) > LIMIT:
        sys.exit(f"a ratio is above {LIMIT}")


if __name__ == "__main__":
    asyncio.run(main())
