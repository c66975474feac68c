"""The plans of the graph and of the alias matrix, on a connection that served small workspaces before a large one.

Each lookup must go by an index, for all of the columns that make it narrow: no table of memories, facts, names or mentions is
ever read as a whole, whether it was analysed or not.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from tests.store.test_plans import TEMPLATE, Plan, tables_under

from everlore.domain.ids import new_id
from everlore.store import entities, graph
from everlore.store.database import APP, Database
from everlore.store.graph import When
from everlore.store.run import Transaction
from everlore.store.server import SUPERUSER, Server

SMALL_WORKSPACES, SMALL, LARGE = 10, 30, 3000
NOW = datetime(2025, 6, 14, tzinfo=UTC)
WHEN = When(NOW)
PAST = When(NOW, NOW, NOW)


@dataclass(frozen=True)
class Place:
    """A workspace of so many entities, each with facts to others, a memory and two names; the first is a hub."""

    workspace_id: UUID
    ids: list[UUID]
    messages: list[UUID]
    lineages: list[UUID]


Lane = Callable[[Transaction, Place], Awaitable[Any]]

FILL = """
insert into everlore.thread (workspace_id, thread_id, name, last_position) values (%(ws)s, %(thread)s, 'one', %(rows)s);

insert into everlore.session (workspace_id, session_id, thread_id, started_at, ended_at)
values (%(ws)s, %(thread)s, %(thread)s, %(now)s, %(now)s);

insert into everlore.message (workspace_id, message_id, thread_id, session_id, position, role, author, occurred_at, text,
                              characters, content_hash, turn_key)
select %(ws)s, gen_random_uuid(), %(thread)s, %(thread)s, i, 'user', 'user', %(now)s, 'text ' || i, 9, '',
       substring(sha256(int4send(i)) for 16)
from generate_series(1, %(rows)s) i;

create temporary table person on commit drop as
select i, gen_random_uuid() as id, 'Name' || md5(i::text) || ' Family' || md5('f' || i) as name, message_id
from generate_series(1, %(rows)s) i join everlore.message m on m.workspace_id = %(ws)s and m.position = i;

insert into everlore.entity (workspace_id, entity_id, name, type, recorded_at)
select %(ws)s, id, name, 'person', %(now)s from person;

insert into everlore.alias (workspace_id, alias_id, entity_id, variant, key, weight, origin, recorded_at)
select %(ws)s, gen_random_uuid(), id, v, lower(v), 0.9, 'extracted', %(now)s
from person, lateral (values (name), ('Name' || md5(i::text))) as x (v);

insert into everlore.mention (workspace_id, entity_id, message_id, recorded_at)
select %(ws)s, p.id, p.message_id, %(now)s from person p
union select %(ws)s, h.id, p.message_id, %(now)s from person p, person h where h.i = 1;

insert into everlore.memory (workspace_id, memory_id, lineage_id, type, content, importance, confidence, valid_from, recorded_at,
                             source_kind, content_hash)
select %(ws)s, message_id, message_id, 'fact', 'text', 0.5, 0.8, %(now)s - i * interval '1 minute', %(now)s - interval '1 day',
       'extracted', '' from person;

insert into everlore.memory_entity (workspace_id, lineage_id, entity_id)
select distinct %(ws)s::uuid, p.message_id, q.id
from person p cross join lateral unnest(array[1, p.i, 1 + p.i * 7 %% %(rows)s]) as x (i) join person q on q.i = x.i;

insert into everlore.memory_source (workspace_id, source_id, lineage_id, message_id, start_at, end_at, confidence, recorded_at)
select %(ws)s, gen_random_uuid(), message_id, message_id, 0, 4, 0.8, %(now)s - interval '1 day' from person;

insert into everlore.fact (workspace_id, fact_id, lineage_id, subject_id, predicate, object_id, object, object_key, confidence,
                           valid_from, recorded_at)
with drawn as materialized (
    select gen_random_uuid() as id, p.id as one, q.id as other, q.name, p.i
    from person p cross join lateral unnest(array[1, 1 + p.i * 11 %% %(rows)s]) as x (i) join person q on q.i = x.i
)
select %(ws)s, id, id, one, 'friend_of', other, name, other::text, 0.8, %(now)s - i * interval '1 minute',
       %(now)s - interval '1 day'
from drawn;

insert into everlore.fact_source (workspace_id, source_id, lineage_id, message_id, start_at, end_at, said_at, confidence,
                                  recorded_at)
select %(ws)s, gen_random_uuid(), f.lineage_id, p.message_id, 0, 4, %(now)s, 0.8, %(now)s - interval '1 day'
from everlore.fact f join person p on p.id = f.subject_id where f.workspace_id = %(ws)s;
"""
TABLES = (
    "entity",
    "alias",
    "mention",
    "memory",
    "memory_entity",
    "memory_source",
    "fact",
    "fact_source",
    "message",
)

LANES: dict[str, Lane] = {
    "by_keys": lambda c, _: entities.by_keys(c, ["namec4ca4238a0b923820dcc509a6f75849b", "nobody"]),
    "called": lambda c, _: entities.called(c, ["namec4ca4238a0b923820dcc509a6f75849b", "nobody"]),
    "similar": lambda c, _: entities.similar(c, ["namec4ca4238a0b923820dcc509a6f7584"], 0.5, 10),
    "with_word": lambda c, _: entities.with_word(c, ["namec4ca4238a0b923820dcc509a6f75849b"], 10),
    "ending": lambda c, p: entities.ending(c, p.ids[5].hex[-8:]),
    "surviving": lambda c, p: entities.surviving(c, p.ids[5]),
    "load": lambda c, p: entities.load(c, p.ids[5:9]),
    "nodes": lambda c, p: entities.nodes(c, dict.fromkeys(p.ids[5:9], 0)),
    "count_facts": lambda c, p: entities.count_facts(c, p.ids[5:9], NOW),
    "look_up": lambda c, p: entities.look_up(
        c, p.messages[:9], ["namec4ca4238a0b923820dcc509a6f75849b"], ["nobody"], ["nobody"], 10
    ),
    "candidates": lambda c, p: entities.candidates(c, p.ids[:9], ["friend_of"], 20),
    "edges": lambda c, p: graph.edges_at(c, p.ids[:9], WHEN),
    "edges_of_the_past": lambda c, p: graph.edges_at(c, p.ids[:9], PAST),
    "neighbourhood": lambda c, p: graph.neighbourhood(c, p.ids[5], 2, WHEN, limit=50),
    "path": lambda c, p: graph.shortest_path(c, p.ids[5], p.ids[9], WHEN),
    "memories_of": lambda c, p: graph.memories_of(c, dict.fromkeys(p.ids[:9], 1.0), 5, now=NOW),
    "fact_sources": lambda c, p: graph.facts_of(c, p.ids[5], WHEN, 20),
    "sources": lambda c, p: _sources(c, p),
}


async def _sources(connection: Transaction, place: Place) -> object:
    around = await graph.edges_at(connection, place.ids[5:7], WHEN)
    return await graph.with_sources(connection, [edge for edges in around.values() for edge in edges], WHEN)


ENTITY = {"entity_pkey": "workspace_id entity_id"}
EDGES = {
    "fact_subject_all": "workspace_id subject_id valid_from",
    "fact_object_all": "workspace_id object_id valid_from",
    "memory_entity_entity": "workspace_id entity_id",
    "memory_version": "workspace_id lineage_id",
    "memory_entity_pkey": "workspace_id lineage_id",
}
SOURCES = {
    "fact_source_lineage": "workspace_id lineage_id",
    "message_pkey": "workspace_id message_id",
}
EXPECTED: dict[str, dict[str, str]] = {
    "by_keys": {"alias_key": "workspace_id key", **ENTITY},
    "called": {"alias_key": "workspace_id key", "alias_of_entity": "workspace_id entity_id", **ENTITY},
    "similar": {"alias_trigram": "workspace_id normalised", **ENTITY},
    "with_word": {"alias_trigram": "workspace_id normalised", **ENTITY},
    "ending": {"entity_short_id": "workspace_id right"},
    "surviving": ENTITY,
    "load": {"alias_of_entity": "workspace_id entity_id", "mention_pkey": "workspace_id entity_id", **ENTITY},
    "nodes": {"entity_name": "workspace_id name", **ENTITY},
    "count_facts": {},
    "look_up": {
        "alias_key": "workspace_id key",
        "alias_trigram": "workspace_id normalised",
        "mention_message": "workspace_id message_id",
        "message_pkey": "workspace_id message_id",
        **ENTITY,
    },
    "candidates": {
        "alias_of_entity": "workspace_id entity_id",
        "mention_pkey": "workspace_id entity_id",
        "message_pkey": "workspace_id message_id",
        **ENTITY,
    },
    "edges": EDGES,
    "edges_of_the_past": EDGES,
    "neighbourhood": EDGES,
    "path": EDGES,
    "memories_of": {
        "memory_entity_entity": "workspace_id entity_id",
        "memory_version": "workspace_id lineage_id",
    },
    "fact_sources": SOURCES,
    "sources": {"memory_source_lineage": "workspace_id lineage_id", **EDGES, **SOURCES},
}
# Other indexes that a lane may choose, as narrow for what it asks.
ALSO = {
    "alias_of_entity", "entity_pkey", "memory_source_lineage", "fact_object", "fact_subject_all",
    "fact_object_all", "fact_group", "mention_message",
}  # fmt: skip


NARROW = re.compile(r"\b((entity|subject|object|message|lineage)_id|key|normalised|right|name)\b")


@contextmanager
def filled(server: Server, *, analysed: bool) -> Generator[tuple[str, list[Place]]]:
    name = f"test_{uuid4().hex}"
    with psycopg.connect(server.conninfo(SUPERUSER, "postgres"), autocommit=True) as admin:
        admin.execute(
            sql.SQL("create database {} template {} strategy file_copy").format(
                sql.Identifier(name), sql.Identifier(TEMPLATE)
            )
        )
        try:
            conninfo = server.conninfo(SUPERUSER, name)
            with psycopg.connect(conninfo, autocommit=True) as connection:
                if not analysed:
                    for table in TABLES:
                        connection.execute(
                            sql.SQL("alter table everlore.{} set (autovacuum_enabled = off)").format(
                                sql.Identifier(table)
                            )
                        )
                places = [fill(connection, size) for size in [SMALL] * SMALL_WORKSPACES + [LARGE]]
                if analysed:
                    connection.execute("vacuum analyze")
            yield conninfo, places
        finally:
            admin.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


def fill(connection: psycopg.Connection[Any], rows: int) -> Place:
    workspace_id = new_id()
    parameters = {"ws": workspace_id, "rows": rows, "thread": new_id(), "now": NOW}
    with connection.transaction():
        # The rows fit each other: to check each foreign key would take most of the time.
        connection.execute("set local session_replication_role = replica")
        connection.execute("select everlore.open_workspace(%s, %s)", [workspace_id, workspace_id.hex])
        for statement in FILL.split(";\n\n"):
            connection.execute(statement, parameters)  # pyright: ignore[reportArgumentType, reportCallIssue]
        some = connection.execute("select id, message_id from person order by i limit 12").fetchall()
        facts = connection.execute(
            "select lineage_id from everlore.fact where workspace_id = %s limit 12", [workspace_id]
        ).fetchall()
    return Place(workspace_id, [row[0] for row in some], [row[1] for row in some], [row[0] for row in facts])


async def explained(conninfo: str, places: list[Place], *, plan_once: bool) -> dict[str, list[Plan]]:
    """The plans of every lane in the last place, after all others had their turn on the same connection."""
    options = (
        "-c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0 -c auto_explain.log_format=json "
        "-c auto_explain.log_nested_statements=on -c auto_explain.log_level=notice"
    )
    database = Database(make_conninfo(conninfo, options=options), APP, pool_size=1)
    await database.open()
    told: dict[str, list[Plan]] = {}
    try:
        for place in places:
            for name, lane in LANES.items():
                told[name] = await listened(database, place, lane, plan_once)
    finally:
        await database.close()
    return told


async def listened(database: Database, place: Place, lane: Lane, plan_once: bool = False) -> list[Plan]:
    plans: list[Plan] = []

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        if "plan:\n" in (message := notice.message_primary or ""):
            plan = json.loads(message.split("plan:\n", 1)[1])
            plans.append(Plan(plan["Query Text"], plan["Plan"]))

    async with database.workspace(place.workspace_id, read_only=True, plan_once=plan_once) as connection:
        connection.connection.add_notice_handler(hear)
        for _ in range(2):
            # The last plan of a run is told when the next statement comes.
            plans.clear()
            await lane(connection, place)
        connection.connection.remove_notice_handler(hear)
    return plans


def check(lane: str, plans: list[Plan]) -> None:
    nodes = [node for plan in plans for node in plan.nodes]
    wanted = EXPECTED[lane]
    for index_name, columns in wanted.items():
        used = [node for node in nodes if node.get("Index Name") == index_name]
        assert used, f"{lane} does not use {index_name}: {plans}"
        conditions = " ".join(node.get("Index Cond", "") for node in used)
        for column in columns.split():
            assert re.search(rf"\b{column}\b", conditions), (
                f"{lane} reads more of {index_name} than its {column}: {plans}"
            )
    for node in nodes:
        table = node.get("Relation Name", "")
        assert node["Node Type"] != "Seq Scan", f"{lane} reads all of {table}: {plans}"
        if table in TABLES and "Index Name" in node:
            assert node["Index Name"] in wanted.keys() | ALSO, (
                f"{lane} reads {table} by {node['Index Name']}: {plans}"
            )
            assert NARROW.search(node["Index Cond"]), f"{lane} reads all of {node['Index Name']}: {plans}"
        if node["Node Type"] in ("Hash Join", "Merge Join"):
            assert not tables_under(node), f"{lane} joins all of {tables_under(node)}: {plans}"


@pytest.fixture(scope="module")
def analysed(server: Server) -> Generator[tuple[str, list[Place]]]:
    with filled(server, analysed=True) as content:
        yield content


@pytest.mark.parametrize("plan_once", [True, False], ids=["in a recall", "elsewhere"])
def test_every_lane_of_the_graph_keeps_to_its_indexes(
    analysed: tuple[str, list[Place]], *, plan_once: bool
) -> None:
    for lane, plans in asyncio.run(explained(*analysed, plan_once=plan_once)).items():
        check(lane, plans)


def test_no_lane_of_the_graph_depends_on_statistics(server: Server) -> None:
    with filled(server, analysed=False) as content:
        for lane, plans in asyncio.run(explained(*content, plan_once=True)).items():
            check(lane, plans)


def test_every_lane_has_its_indexes() -> None:
    assert LANES.keys() == EXPECTED.keys()


@pytest.mark.parametrize("depth", [1, 2])
def test_a_hub_costs_no_more_rows_than_its_limits(analysed: tuple[str, list[Place]], depth: int) -> None:
    """Rows that are read around an entity which every memory and every other fact is about."""
    conninfo, places = analysed
    plans = asyncio.run(_rows_of_hub(conninfo, places[-1], depth))
    read = [
        node["Actual Rows"] * node["Actual Loops"]
        for plan in plans
        for node in plan.nodes
        if node.get("Index Name")
    ]
    assert 0 < max(read) <= 2 * graph.READ * graph.FAN_OUT ** (depth - 1)


async def _rows_of_hub(conninfo: str, place: Place, level: int) -> list[Plan]:
    options = (
        "-c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0 -c auto_explain.log_format=json "
        "-c auto_explain.log_analyze=on -c auto_explain.log_level=notice"
    )
    database = Database(make_conninfo(conninfo, options=options), APP, pool_size=1)
    await database.open()
    try:
        return await listened(
            database, place, lambda c, p: graph.neighbourhood(c, p.ids[0], level, WHEN, limit=500)
        )
    finally:
        await database.close()
