"""The plans of all lanes, read from Postgres, on one connection that served small workspaces before a large one.

Ten small workspaces come first, so that whatever a connection may cache (prepared statements, generic plans) is cached for
them. Then the same calls are made in a large one, and the plans that really ran, those inside functions too, are read
from auto_explain.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from everlore.domain.ids import new_id
from everlore.store import (
    conversation,
    deduplication,
    distilling,
    facts,
    feedback,
    index,
    memories,
    passages,
    postings,
    recall_facts,
    recall_memories,
)
from everlore.store import recall as lanes
from everlore.store.database import APP, Database
from everlore.store.deduplication import Asked
from everlore.store.queries import queries
from everlore.store.recall import Filter
from everlore.store.recall_memories import Wanted
from everlore.store.run import Transaction
from everlore.store.server import SUPERUSER, Server

TEMPLATE = "everlore_template"
DIMENSIONS = 32
START = datetime(2024, 1, 1, tzinfo=UTC)
SMALL_WORKSPACES = 10
SMALL, LARGE = 20, 6000
# Beside the long thread that most passages are in.
SHORT_THREADS = 100
MODEL = 1

Lane = Callable[[Transaction, "Place"], Awaitable[Any]]


@dataclass(frozen=True)
class Place:
    """A filled workspace and something in it to ask for."""

    workspace_id: UUID
    passages: list[int]
    messages: list[UUID]
    thread: str
    thread_id: UUID
    vector: np.ndarray[Any, np.dtype[np.float32]]
    distilled: list[int]


@dataclass(frozen=True)
class Plan:
    """One statement's plan, as auto_explain tells it."""

    query: str
    root: dict[str, Any]

    @property
    def nodes(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        queue = [self.root]
        while queue:
            found.append(queue.pop())
            queue += found[-1].get("Plans", [])
        return found


FILL = """
insert into everlore.project (workspace_id, project_id, name, taxonomy)
values (%(ws)s, gen_random_uuid(), 'home', 'life.home');

insert into everlore.thread (workspace_id, thread_id, name, taxonomy, last_position, last_sequence)
select %(ws)s, gen_random_uuid(), 'thread ' || t, (case when t %% 5 = 1 then 'work.t' || t end)::ltree,
       count(*), count(*)
from generate_series(1, %(rows)s) i, lateral (select case when i %% 3 = 0 then 1 + i %% %(threads)s else 0 end as t) x
group by t;

insert into everlore.session (workspace_id, session_id, thread_id, started_at, ended_at)
select %(ws)s, gen_random_uuid(), thread_id, %(start)s, %(start)s from everlore.thread where workspace_id = %(ws)s;

insert into everlore.message (workspace_id, message_id, thread_id, session_id, position, role, author, occurred_at, text,
                              characters, external_id, content_hash, turn_key)
select %(ws)s, gen_random_uuid(), s.thread_id, s.session_id, row_number() over (partition by t order by i),
       'user', 'author ' || i %% 7, %(start)s + i * interval '1 hour',
       (select string_agg('word' || (i * 7919 * w) %% 997, ' ') from generate_series(1, 6) w), 40, 'x' || i, '',
       substring(sha256(int4send(i)) for 16)
from generate_series(1, %(rows)s) i, lateral (select case when i %% 3 = 0 then 1 + i %% %(threads)s else 0 end as t) x
join everlore.thread h on h.workspace_id = %(ws)s and h.name = 'thread ' || t
join everlore.session s on s.workspace_id = %(ws)s and s.thread_id = h.thread_id;

insert into everlore.passage (workspace_id, passage_id, kind, layer, owner_id, lineage_id, thread_id, session_id,
                              sequence, position, role, author, occurred_at, taxonomy, text)
select %(ws)s, row_number() over (order by occurred_at), 'message', 'said', message_id, message_id, thread_id,
       session_id, position, position,
       role, author, occurred_at, (case when position %% 50 = 0 then 'play.chess' end)::ltree, text
from everlore.message where workspace_id = %(ws)s;

insert into everlore.watermark (workspace_id, step, thread_id, position, written)
select workspace_id, step, thread_id, greatest(0, last_position - 5) * packed, last_position
from everlore.thread, (values ('lexical', 1), ('vector:fake', 0)) s (step, packed)
where workspace_id = %(ws)s and (last_position > 10 or step <> 'lexical');

update everlore.passage_counter set last_passage = 3 * %(rows)s where workspace_id = %(ws)s;

insert into everlore.entity (workspace_id, entity_id, name, type, recorded_at)
values (%(ws)s, gen_random_uuid(), 'Emma', 'person', %(start)s);

insert into everlore.memory (workspace_id, memory_id, lineage_id, type, content, importance, confidence, valid_from, recorded_at,
                             source_kind, author, thread_id, first_position, passage_id, content_hash, tier, expires_at)
select workspace_id, message_id, message_id, (array['task', 'fact', 'goal'])[1 + position %% 3], text, 0.5, 0.7, occurred_at,
       occurred_at, 'extracted', author, thread_id, position, %(rows)s + row_number() over (order by occurred_at),
       uuid_send(message_id), case when position %% 5 = 0 then 'key' else 'shown' end,
       case when position %% 5 = 0 then occurred_at + interval '30 days' end
from everlore.message where workspace_id = %(ws)s;

insert into everlore.fact (workspace_id, fact_id, lineage_id, subject_id, predicate, object, object_key, confidence, valid_from,
                           recorded_at, passage_id)
select m.workspace_id, message_id, message_id, entity_id, 'likes', 'word' || position, 'word' || position, 0.7, occurred_at,
       occurred_at, 2 * %(rows)s + row_number() over (order by occurred_at)
from everlore.message m join everlore.entity e on e.workspace_id = m.workspace_id where m.workspace_id = %(ws)s;

insert into everlore.memory_source (workspace_id, source_id, lineage_id, message_id, confidence, recorded_at)
select workspace_id, gen_random_uuid(), memory_id, memory_id, 0.7, recorded_at from everlore.memory where workspace_id = %(ws)s;

insert into everlore.fact_source (workspace_id, source_id, lineage_id, message_id, memory_lineage_id, said_at, confidence,
                                  recorded_at)
select workspace_id, gen_random_uuid(), fact_id, fact_id, fact_id, valid_from, 0.7, recorded_at
from everlore.fact where workspace_id = %(ws)s;

insert into everlore.passage (workspace_id, passage_id, kind, layer, owner_id, lineage_id, role, author, occurred_at, text)
select workspace_id, passage_id, 'memory', 'known'::everlore.layer, memory_id, lineage_id, 'user', author, valid_from, content
from everlore.memory where workspace_id = %(ws)s
union all
select workspace_id, passage_id, 'fact', 'known', fact_id, lineage_id, 'user', 'user', valid_from, 'Emma likes ' || object
from everlore.fact where workspace_id = %(ws)s;

insert into everlore.unembedded (workspace_id, model_id, passage_id)
select workspace_id, 1, passage_id from everlore.fact where workspace_id = %(ws)s;

insert into everlore.feedback (workspace_id, feedback_id, message_id, terms, confirmed, given_at)
select workspace_id, gen_random_uuid(), message_id,
       array(select digest from everlore.term_digests('word' || position || ' word' || 7 * position)), position %% 2 = 0,
       %(start)s
from everlore.message where workspace_id = %(ws)s;
"""

VECTORS = """
insert into everlore.passage_vector (workspace_id, model_id, passage_id, embedding, layer)
select %(ws)s, %(model)s, n, v::halfvec, (case when n > %(messages)s then 'known' else 'said' end)::everlore.layer
from unnest(%(numbers)s::integer[], %(vectors)s::text[]) as x (n, v)
"""


TABLES = "select relname from pg_class where relnamespace = 'everlore'::regnamespace and relkind = 'r'"


@contextmanager
def filled(server: Server, *, analysed: bool) -> Generator[tuple[str, list[Place]]]:
    """A database with ten small workspaces and a large one (the last), and a superuser's way into it."""
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
                # What the planner knows is what was analysed here, not what a vacuum had time for.
                for (table,) in connection.execute(TABLES).fetchall():
                    connection.execute(
                        sql.SQL("alter table everlore.{} set (autovacuum_enabled = off)").format(
                            sql.Identifier(table)
                        )
                    )
                connection.execute("select everlore.register_embedding_model('fake', %s)", [DIMENSIONS])
                ids = in_one_partition(connection, SMALL_WORKSPACES + 1)
                places = [fill(connection, workspace_id, SMALL) for workspace_id in ids[1:]]
                places.append(fill(connection, ids[0], LARGE))
                if analysed:
                    connection.execute("analyze")
            yield conninfo, places
        finally:
            admin.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


def in_one_partition(connection: psycopg.Connection[Any], count: int) -> list[UUID]:
    """Ids of workspaces whose vectors share a partition: the small ones must not pay for the large one."""
    belongs = (
        "select id from unnest(%s::uuid[]) id "
        "where satisfies_hash_partition('everlore.passage_vector'::regclass, 16, 0, id)"
    )
    rows = connection.execute(belongs, [[new_id() for _ in range(60 * count)]]).fetchall()
    return [row[0] for row in rows[:count]]


def fill(connection: psycopg.Connection[Any], workspace_id: UUID, rows: int) -> Place:
    with connection.transaction():
        # The rows fit each other: to check each foreign key would take most of the time.
        connection.execute("set local session_replication_role = replica")
        connection.execute("select everlore.open_workspace(%s, %s)", [workspace_id, workspace_id.hex])
        parameters = {"ws": workspace_id, "rows": rows, "threads": SHORT_THREADS, "start": START}
        for statement in FILL.split(";\n\n"):
            connection.execute(statement, parameters)  # pyright: ignore[reportArgumentType, reportCallIssue]
        vectors = clustered(2 * rows)
        connection.execute(
            VECTORS,
            {
                "ws": workspace_id,
                "model": MODEL,
                "messages": rows,
                "numbers": list(range(1, 2 * rows + 1)),
                "vectors": [str(vector.tolist()) for vector in vectors],
            },
        )
        connection.execute(
            sql.SQL("set local everlore.workspace = {}").format(sql.Literal(str(workspace_id)))
        )
        if rows == LARGE:
            connection.execute("select everlore.build_vector_index(%s::smallint, 'said')", [MODEL])
            connection.execute("select everlore.build_vector_index(%s::smallint, 'known')", [MODEL])
        some = connection.execute(
            "select passage_id, owner_id, thread_id from everlore.passage where workspace_id = %s and position > 1 "
            "order by passage_id limit 10",
            [workspace_id],
        ).fetchall()
        thread = connection.execute(
            "select name from everlore.thread where workspace_id = %s and thread_id = %s",
            [workspace_id, some[0][2]],
        ).fetchone()
        assert thread is not None
    return Place(
        workspace_id,
        [s[0] for s in some],
        [s[1] for s in some],
        thread[0],
        some[0][2],
        vectors[0],
        [kind * rows + s[0] for s in some for kind in (1, 2)],
    )


def clustered(rows: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Unit vectors around forty centres, as texts about forty subjects would have."""
    random = np.random.default_rng(rows)
    centres = random.standard_normal((40, DIMENSIONS))
    vectors = centres[random.integers(0, 40, rows)] + 0.6 * random.standard_normal((rows, DIMENSIONS))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


HOUR = timedelta(hours=1)
LANES: dict[str, Lane] = {
    "vector_exact": lambda c, p: lanes.vector_exact(c, MODEL, p.vector, 50),
    "vector_among": lambda c, p: lanes.vector_among(c, MODEL, p.vector, p.passages, 50),
    "vector_hnsw": lambda c, p: lanes.vector_hnsw(c, MODEL, p.vector, 50, Filter()),
    "vector_hnsw_filtered": lambda c, p: lanes.vector_hnsw(c, MODEL, p.vector, 50, Filter(author="Author 3")),
    "postings": lambda c, _: postings.asked(c, "word11 and word23"),
    "feedback": lambda c, _: feedback.asked(c, "word11 and word77"),
    "around": lambda c, p: lanes.around(c, p.passages, 2, MODEL),
    "tokens": lambda c, p: lanes.tokens(c, p.passages, MODEL),
    "texts": lambda c, p: lanes.texts(c, p.passages),
    "messages": lambda c, p: lanes.messages(c, p.messages),
    "neighbours": lambda c, p: lanes.messages(c, p.messages, reach=2),
    "within_time": lambda c, _: lanes.passages_within(
        c, Filter(since=START + 9 * HOUR, until=START + 12 * HOUR), 5001
    ),
    "within_author": lambda c, _: lanes.passages_within(
        c, Filter(author="AUTHOR 3", since=START, until=START + 9 * HOUR), 5001
    ),
    "within_thread": lambda c, p: lanes.passages_within(c, Filter(threads=(p.thread_id,)), 5001),
    "within_taxonomy": lambda c, _: lanes.passages_within(c, Filter(taxonomy="play"), 5001),
    "within_among": lambda c, p: lanes.passages_within(c, Filter(author="author 3"), 5001, p.passages),
    "threads_within": lambda c, _: lanes.threads_within(c, None, "work"),
    "threads_within_project": lambda c, _: lanes.threads_within(c, "home", None),
    "find_message": lambda c, p: conversation.find_message(c, str(p.messages[0])[-8:]),
    "show_message": lambda c, p: conversation.show_message(c, p.messages[0]),
    "known_external_ids": lambda c, p: c.tuples(
        queries("conversation")["known_external_ids"], thread=p.thread, external_ids=["x5", "x7"]
    ),
    "tail_size": lambda c, _: postings.tail_size(c),
    "load": lambda c, p: index.load(
        c, index.EmbeddingModel(MODEL, "fake", DIMENSIONS, True), p.thread_id, 256
    ),
    "vector_exact_distilled": lambda c, p: lanes.vector_exact(c, MODEL, p.vector, 50, "known"),
    "vector_hnsw_distilled": lambda c, p: lanes.vector_hnsw(c, MODEL, p.vector, 50, Filter(), "known"),
    "within_recorded": lambda c, p: lanes.passages_within(c, Filter(recorded_by=START), 5001, p.passages),
    "distilled_candidates": lambda c, p: lanes.found(c, {"known": p.distilled}, MODEL, p.vector),
    "memory_keys": lambda c, p: recall_memories.keys(c, p.distilled, None),
    "fact_keys": lambda c, p: recall_facts.keys(c, p.distilled, None),
    "distilled_memories": lambda c, p: recall_memories.memories(
        c, p.distilled, Filter(author="author 3"), None
    ),
    "distilled_facts": lambda c, p: recall_facts.facts(c, p.distilled, Filter(author="author 3"), None),
    "memory_citations": lambda c, p: recall_memories.citations(c, p.messages, None),
    "fact_citations": lambda c, p: recall_facts.citations(c, p.messages, None),
    "distilled_lineages": lambda c, p: recall_memories.by_lineage(c, p.messages, None),
    "structured": lambda c, _: recall_memories.structured(c, Wanted(("task",), open_at=START), None, 20),
    "structured_filtered": lambda c, p: recall_memories.structured(
        c, Wanted(("task",), open_at=START), None, 20, Filter(threads=(p.thread_id,))
    ),
    "last_person": lambda c, _: recall_memories.last_person(c),
    "load_unembedded": lambda c, _: passages.load(c, MODEL, 256),
    "unembedded": lambda c, _: passages.waiting(c, MODEL),
    "distil_said": lambda c, p: distilling.said(c, p.thread_id, 1, 11),
    "distil_earlier": lambda c, p: distilling.earlier(c, p.thread_id, 100, 75),
    "same_words": lambda c, p: deduplication.look_up(
        c, Asked([p.messages[0].bytes], p.messages, p.messages, p.thread_id, p.messages[:3], 10)
    ),
    "with_sources": lambda c, p: deduplication.with_sources(c, (), p.messages, p.distilled),
    "recent": lambda c, p: memories.recent(
        c, p.thread_id, p.messages[:3], datetime(2025, 1, 1, tzinfo=UTC), 30
    ),
    "old_keys": lambda c, _: memories.old_keys(c, datetime(2024, 2, 10, tzinfo=UTC), 100),
    "of_group": lambda c, p: of_group(c, p),
    "of_memories": lambda c, p: facts.of_memories(c, p.messages),
    "memories_of": lambda c, p: facts.memories_of(c, p.messages),
}


async def of_group(connection: Transaction, place: Place) -> None:
    """What the chronicle reads of one group of facts."""
    fact = await facts.show(connection, place.messages[0])
    assert fact is not None
    pair = fact.subject_id, fact.predicate
    await facts.groups(connection, [pair], [(*pair, "word1")])
    await facts.deniable(connection, [pair], place.messages)


# All others are asked as a recall does, in a transaction that plans each statement once.
NOT_OF_RECALL = {
    "find_message", "show_message", "known_external_ids", "tail_size", "load", "load_unembedded", "unembedded",
    "distil_said", "distil_earlier", "same_words", "with_sources", "recent", "old_keys",
    "of_group", "of_memories", "memories_of",
}  # fmt: skip
# Which indexes each lane may use, and for which columns. Tables that grow with what was said are read by nothing else.
GROWING = (
    "message", "passage", "posting_block", "passage_tokens", "passage_vector",
    "memory", "fact", "memory_source", "fact_source", "unembedded",
)  # fmt: skip
OF_PASSAGE = {"passage_pkey": "workspace_id passage_id"}
OF_MESSAGE = {"message_pkey": "workspace_id message_id"}
OF_THREAD = {"thread_pkey": "workspace_id thread_id"}
OF_SOURCES = {"memory_source_lineage": "workspace_id lineage_id", **OF_MESSAGE}
ALONG_A_THREAD = {"message_workspace_id_thread_id_position_key": "workspace_id thread_id position"}
OF_A_MESSAGE = {"passage_owner": "workspace_id owner_id"}
BEHIND = {"watermark_behind": "workspace_id step", **ALONG_A_THREAD, **OF_A_MESSAGE}
EXPECTED: dict[str, dict[str, str]] = {
    "vector_exact": {"passage_vector_0_pkey": "workspace_id"},
    "vector_among": {"passage_vector_0_pkey": "workspace_id passage_id model_id"},
    "vector_hnsw": {"passage_vector_0_model_1_said": ""},
    "vector_hnsw_filtered": {"passage_vector_0_model_1_said": "", **OF_PASSAGE},
    "postings": {
        "posting_block_pkey": "workspace_id term",
        "lexical_statistics_pkey": "workspace_id",
        "passage_counter_pkey": "workspace_id",
        **BEHIND,
    },
    "feedback": {"feedback_terms": "workspace_id terms"},
    "around": {
        "passage_workspace_id_thread_id_sequence_key": "workspace_id thread_id sequence",
        "passage_vector_0_pkey": "workspace_id passage_id model_id",
        **OF_PASSAGE,
    },
    "tokens": {"passage_tokens_pkey": "workspace_id passage_id model_id"},
    "texts": OF_PASSAGE,
    "messages": {**OF_MESSAGE, **OF_THREAD},
    "neighbours": {**OF_MESSAGE, **ALONG_A_THREAD, **OF_THREAD},
    "within_time": {"passage_time": "workspace_id occurred_at"},
    "within_author": {"passage_author": "workspace_id lower occurred_at"},
    "within_thread": {"passage_workspace_id_thread_id_sequence_key": "workspace_id thread_id"},
    "within_taxonomy": {"passage_taxonomy": "workspace_id"},
    "within_among": OF_PASSAGE,
    "threads_within": {"thread_taxonomy": "workspace_id taxonomy"},
    "threads_within_project": {"thread_project": "workspace_id project_id"},
    "find_message": {"message_short_id": "workspace_id right"},
    "show_message": {**OF_MESSAGE, **OF_THREAD, "session_pkey": "workspace_id session_id"},
    "known_external_ids": {
        "thread_workspace_id_name_key": "workspace_id name",
        "message_external_id": "workspace_id thread_id external_id",
        "message_external_id_off_path": "workspace_id thread_id external_id",
    },
    "tail_size": BEHIND,
    "load": {
        "unembedded_pkey": "workspace_id model_id passage_id",
        "watermark_pkey": "workspace_id step thread_id",
        "passage_vector_0_pkey": "workspace_id passage_id model_id",
        **OF_THREAD,
        **ALONG_A_THREAD,
        **OF_A_MESSAGE,
    },
    "vector_exact_distilled": {
        "passage_vector_0_workspace_id_model_id_layer_passage_id_idx": "workspace_id model_id layer"
    },
    "vector_hnsw_distilled": {"passage_vector_0_model_1_known": ""},
    "within_recorded": {**OF_PASSAGE, **OF_MESSAGE},
    "distilled_candidates": {**OF_PASSAGE, "passage_vector_0_pkey": "workspace_id passage_id model_id"},
    "memory_keys": {
        **OF_A_MESSAGE,
        "memory_passage": "workspace_id passage_id",
        "memory_source_lineage": "workspace_id lineage_id",
    },
    "fact_keys": {
        **OF_A_MESSAGE,
        "fact_passage": "workspace_id passage_id",
        "fact_source_lineage": "workspace_id lineage_id",
    },
    "distilled_memories": {"memory_passage": "workspace_id passage_id", **OF_THREAD, **OF_SOURCES},
    "distilled_facts": {
        "fact_passage": "workspace_id passage_id",
        "fact_source_lineage": "workspace_id lineage_id",
        **OF_MESSAGE,
    },
    "memory_citations": {**OF_SOURCES, **OF_THREAD},
    "fact_citations": {"fact_source_lineage": "workspace_id lineage_id", **OF_MESSAGE, **OF_THREAD},
    "distilled_lineages": {"memory_version": "workspace_id lineage_id"},
    "structured": {"memory_type": "workspace_id type", **OF_THREAD, **OF_SOURCES},
    "structured_filtered": {"memory_type": "workspace_id type", **OF_THREAD, **OF_SOURCES},
    "last_person": {"passage_time": "workspace_id"},
    "load_unembedded": {"unembedded_pkey": "workspace_id model_id", **OF_PASSAGE},
    "unembedded": {"unembedded_pkey": "workspace_id model_id"},
    "distil_said": ALONG_A_THREAD | OF_MESSAGE,
    "distil_earlier": ALONG_A_THREAD | OF_MESSAGE,
    "same_words": {
        "memory_hash": "workspace_id content_hash",
        "memory_version": "workspace_id lineage_id",
        "memory_window": "workspace_id thread_id",
        "memory_source_message": "workspace_id message_id",
        **OF_THREAD,
    },
    "with_sources": {
        "memory_passage": "workspace_id passage_id",
        "memory_version": "workspace_id lineage_id",
        "memory_source_lineage": "workspace_id lineage_id",
        **OF_THREAD,
    },
    "recent": {
        "memory_window": "workspace_id thread_id",
        "memory_version": "workspace_id lineage_id",
        **OF_THREAD,
    },
    "old_keys": {"memory_keys": "workspace_id expires_at"},
    "of_group": {
        "fact_pkey": "workspace_id fact_id",
        "fact_group": "workspace_id subject_id predicate",
        "fact_source_lineage": "workspace_id lineage_id",
        "fact_source_memory": "workspace_id memory_lineage_id",
        "fact_version": "workspace_id lineage_id",
        **OF_MESSAGE,
        **OF_THREAD,
    },
    "of_memories": {
        "fact_source_memory": "workspace_id memory_lineage_id",
        "fact_version": "workspace_id lineage_id",
    },
    "memories_of": {"fact_source_lineage": "workspace_id lineage_id"},
}
# Where twenty rows are all there is, it is right to read them all.
SIZE_MATTERS = {"vector_hnsw_filtered"}


async def explained(conninfo: str, places: list[Place]) -> dict[str, list[Plan]]:
    """The plans of every lane in the last place, after all the others had their turn on the same connection."""
    settings = {
        "session_preload_libraries": "auto_explain",
        "auto_explain.log_min_duration": "0",
        "auto_explain.log_nested_statements": "on",
        "auto_explain.log_format": "json",
        "auto_explain.log_level": "notice",
    }
    options = " ".join(f"-c {name}={value}" for name, value in settings.items())
    database = Database(make_conninfo(conninfo, options=options), APP, pool_size=1)
    await database.open()
    told: dict[str, list[Plan]] = {}
    try:
        for place in places:
            for name, lane in LANES.items():
                told[name] = await listened(database, place, lane, name not in NOT_OF_RECALL)
    finally:
        await database.close()
    return told


async def listened(database: Database, place: Place, lane: Lane, plan_once: bool) -> list[Plan]:
    plans: list[Plan] = []

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        if "plan:\n" in (message := notice.message_primary or ""):
            plan = json.loads(message.split("plan:\n", 1)[1])
            plans.append(Plan(plan["Query Text"], plan["Plan"]))

    async with database.workspace(place.workspace_id, plan_once=plan_once) as connection:
        connection.connection.add_notice_handler(hear)
        for _ in range(2):
            plans.clear()
            await lane(connection, place)
        connection.connection.remove_notice_handler(hear)
    return plans


@pytest.fixture(scope="module")
def analysed(server: Server) -> Generator[tuple[str, list[Place]]]:
    with filled(server, analysed=True) as content:
        yield content


@pytest.fixture(scope="module")
def never_analysed(server: Server) -> Generator[tuple[str, list[Place]]]:
    with filled(server, analysed=False) as content:
        yield content


def check(lane: str, plans: list[Plan]) -> None:
    """The lane's indexes, all of them and for these columns; no other way into a table that grows; no joins of whole tables."""
    nodes = [node for plan in plans for node in plan.nodes]
    wanted = EXPECTED[lane]
    for index_name, columns in wanted.items():
        used = [node for node in nodes if node.get("Index Name") == index_name]
        names = sorted({str(node.get("Index Name")) for node in nodes})
        assert used, f"{lane} does not use {index_name} but {names}: {plans}"
        conditions = " ".join(node.get("Index Cond", "") + node.get("Order By", "") for node in used)
        for column in columns.split():
            assert re.search(rf"\b{column}\b", conditions), (
                f"{lane} reads more of {index_name} than its {column}: {plans}"
            )
    for node in nodes:
        table = re.sub(r"_\d+$", "", node.get("Relation Name", ""))
        assert node["Node Type"] != "Seq Scan", f"{lane} reads all of {table}: {plans}"
        if table in GROWING and "Index Name" in node:
            assert node["Index Name"] in wanted, f"{lane} reads {table} by {node['Index Name']}: {plans}"
        if node["Node Type"] in ("Hash Join", "Merge Join"):
            assert not tables_under(node), f"{lane} joins all of {tables_under(node)}: {plans}"
    partitions = {
        node.get("Relation Name", "") for node in nodes if "passage_vector_" in node.get("Relation Name", "")
    }
    assert len(partitions) <= 1, f"{lane} opens {partitions}"


def tables_under(node: dict[str, Any]) -> set[str]:
    return {found["Relation Name"] for found in Plan("", node).nodes if "Relation Name" in found}


def test_every_lane_keeps_its_plan_for_a_large_workspace_after_small_ones(
    analysed: tuple[str, list[Place]],
) -> None:
    for lane, plans in asyncio.run(explained(*analysed)).items():
        check(lane, plans)


def test_every_lane_has_the_same_plan_for_small_workspaces_beside_a_large_one(
    analysed: tuple[str, list[Place]],
) -> None:
    conninfo, places = analysed
    for lane, plans in asyncio.run(explained(conninfo, places[:-1])).items():
        if lane not in SIZE_MATTERS:
            check(lane, plans)


def test_no_lane_depends_on_statistics(never_analysed: tuple[str, list[Place]]) -> None:
    for lane, plans in asyncio.run(explained(*never_analysed)).items():
        check(lane, plans)


def test_every_function_of_the_lanes_is_explained() -> None:
    assert LANES.keys() == EXPECTED.keys()


async def test_hnsw_returns_as_many_as_there_are_and_mostly_the_nearest(
    analysed: tuple[str, list[Place]],
) -> None:
    conninfo, places = analysed
    place = places[-1]
    database = Database(conninfo, APP, pool_size=1)
    await database.open()
    filters = {
        "nothing": Filter(),
        "an author": Filter(author="author 3"),
        "the last days": Filter(since=START + (LARGE - 300) * HOUR),
        "a path": Filter(threads=(), taxonomy="play"),
        "a path and an author": Filter(threads=(), taxonomy="play", author="Author 3"),
    }
    try:
        async with database.workspace(place.workspace_id, read_only=True) as connection:
            for what, within in filters.items():
                allowed = (await lanes.passages_within(connection, within, LARGE)).tolist()
                found = await lanes.vector_hnsw(connection, MODEL, place.vector, 50, within)
                exact = await lanes.vector_among(connection, MODEL, place.vector, allowed, 50)
                assert len(found) == min(50, len(allowed)), what
                assert len({n for n, _ in found} & {n for n, _ in exact}) >= 0.9 * len(exact), what
    finally:
        await database.close()
