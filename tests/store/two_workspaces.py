"""What is in our schemas, by rules, and a database with two workspaces, of which one must not learn of the other.

The rules name every table, view, sequence, function and type of our schemas. A new one without a rule fails.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, LiteralString
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql
from tests.conftest import TestDatabase

from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder

SCHEMAS = ["everlore", "jobs"]

# workspace_table: guarded by a policy; the rights that the application has on it follow. view: shows whoever asks what its
# tables would show him. partition: reached through its parent only. public_facts: about no workspace; read only.
# no_access: not even that.
READ, APPEND, COUNT, WRITE = "select", "select insert", "select update", "select insert update delete"
TABLES: dict[str, tuple[str, str]] = {
    "everlore.workspace": ("workspace_table", READ),
    "everlore.project": ("workspace_table", WRITE),
    "everlore.thread": ("workspace_table", WRITE),
    "everlore.session": ("workspace_table", WRITE),
    "everlore.message": ("workspace_table", WRITE),
    "everlore.erased_turn": ("workspace_table", WRITE),
    "everlore.audit_log": ("workspace_table", APPEND),
    "everlore.passage": ("workspace_table", WRITE),
    "everlore.passage_counter": ("workspace_table", COUNT),
    "everlore.posting_block": ("workspace_table", WRITE),
    "everlore.posting_segment": ("workspace_table", WRITE),
    "everlore.lexical_statistics": ("workspace_table", COUNT),
    "everlore.passage_vector": ("workspace_table", WRITE),
    **{f"everlore.passage_vector_{part}": ("partition", "") for part in range(16)},
    "everlore.passage_tokens": ("workspace_table", WRITE),
    "everlore.unembedded": ("workspace_table", WRITE),
    "everlore.handed_out": ("workspace_table", WRITE),
    "everlore.feedback": ("workspace_table", WRITE),
    "everlore.context": ("workspace_table", WRITE),
    "everlore.context_item": ("workspace_table", WRITE),
    "everlore.watermark": ("workspace_table", WRITE),
    "everlore.entity": ("workspace_table", WRITE),
    "everlore.alias": ("workspace_table", WRITE),
    "everlore.mention": ("workspace_table", WRITE),
    "everlore.memory": ("workspace_table", WRITE),
    "everlore.memory_source": ("workspace_table", WRITE),
    "everlore.memory_entity": ("workspace_table", WRITE),
    "everlore.fact": ("workspace_table", WRITE),
    "everlore.fact_source": ("workspace_table", WRITE),
    "everlore.fact_source_before": ("workspace_table", WRITE),
    "everlore.distillation": ("workspace_table", WRITE),
    "everlore.distil_again": ("workspace_table", WRITE),
    "everlore.distilled_state": ("workspace_table", WRITE),
    "everlore.usage": ("workspace_table", WRITE),
    "everlore.breaker": ("workspace_table", WRITE),
    "everlore.memory_shown": ("view", READ),
    "everlore.fact_shown": ("view", READ),
    "everlore.fact_ground": ("view", READ),
    "everlore.entity_change": ("workspace_table", WRITE),
    "everlore.link_suggestion": ("workspace_table", WRITE),
    "everlore.taxonomy_node": ("workspace_table", WRITE),
    "everlore.taxonomy_suggestion": ("workspace_table", WRITE),
    "everlore.embedding_model": ("public_facts", READ),
    "everlore.step": ("public_facts", READ),
    "everlore.migration": ("public_facts", READ),
    "everlore.job_failure": ("no_access", ""),
    "jobs.procrastinate_jobs": ("no_access", ""),
    "jobs.procrastinate_events": ("no_access", ""),
    "jobs.procrastinate_workers": ("no_access", ""),
    "jobs.procrastinate_periodic_defers": ("no_access", ""),
    "jobs.procrastinate_jobs_id_seq": ("no_access", ""),
    "jobs.procrastinate_events_id_seq": ("no_access", ""),
    "jobs.procrastinate_workers_id_seq": ("no_access", ""),
    "jobs.procrastinate_periodic_defers_id_seq": ("no_access", ""),
}
TYPES = {
    "jobs.procrastinate_job_status": "no_access",
    "jobs.procrastinate_job_event_type": "no_access",
    "jobs.procrastinate_job_to_defer_v1": "no_access",
    "everlore.layer": "a word for it",
}
# text_function: of its arguments only, and reads no table. setting: the workspace of the transaction. lane_function: reads the
# rows of that workspace. door: may be called outside of a workspace, with a name that the application chose. outbox: leaves a job
# for that workspace, or a thread of it. eraser: takes words out of the log and the failures of that workspace. operator_only:
# sees all workspaces; not for the application.
FUNCTIONS = {
    "everlore.strip_accents": "text_function",
    "everlore.normalise": "text_function",
    "everlore.terms": "text_function",
    "everlore.query_words": "text_function",
    "everlore.term_digests": "text_function",
    "everlore.believed_at": "text_function",
    "everlore.true_at": "text_function",
    "everlore.current_workspace": "setting",
    "everlore.vector_exact": "lane_function",
    "everlore.vector_among": "lane_function",
    "everlore.vectors_of": "lane_function",
    "everlore.vector_hnsw": "lane_function",
    "everlore.threads_within": "lane_function",
    "everlore.passages_within": "lane_function",
    "everlore.messages_ending": "lane_function",
    "everlore.memories_ending": "lane_function",
    "everlore.facts_ending": "lane_function",
    "everlore.aliases_similar": "lane_function",
    "everlore.aliases_with_word": "lane_function",
    "everlore.entities_ending": "lane_function",
    "everlore.vector_index_name": "lane_function",
    "everlore.has_vector_index": "lane_function",
    "everlore.handed_out_alike": "lane_function",
    "everlore.feedback_alike": "lane_function",
    "everlore.erase_from_audit": "eraser",
    "everlore.erase_from_failures": "eraser",
    "everlore.open_workspace": "door",
    "everlore.register_embedding_model": "door",
    "everlore.find_workspace": "door",
    "everlore.defer": "outbox",
    "everlore.defer_recorded": "outbox",
    "everlore.defer_known": "outbox",
    "everlore.scopes_with_job": "operator_only",
    "everlore.threads_to_distil": "operator_only",
    "everlore.failed_windows": "operator_only",
    "everlore.refused_passages": "operator_only",
    "everlore.workspaces_unindexed": "operator_only",
    "everlore.workspaces_with_old_keys": "operator_only",
    "everlore.threads_unindexed": "operator_only",
    "everlore.list_workspaces": "operator_only",
    "everlore.delete_workspace": "operator_only",
    "everlore.embedding_progress": "operator_only",
    "everlore.use_embedding_model": "operator_only",
    "everlore.build_vector_index": "operator_only",
}
CALLABLE = {"text_function", "setting", "lane_function", "door", "outbox", "eraser"}
# Global, so their keys cannot begin with a workspace.
GLOBAL_TABLES = {"everlore.embedding_model"}
UNIQUE_WITHOUT_WORKSPACE = {"workspace_name_key"}

VIEWS = [name for name, (kind, _) in TABLES.items() if kind == "view"]
WORKSPACE_TABLES = [name for name, (kind, _) in TABLES.items() if kind == "workspace_table"]
PRIVILEGES = ("select", "insert", "update", "delete", "truncate", "references", "trigger", "maintain")

Connection = psycopg.Connection[tuple[Any, ...]]


@dataclass(frozen=True)
class Two:
    """A database with two workspaces, both with rows in every table: mine, and one that I must not know of."""

    database: TestDatabase
    mine: UUID
    other: UUID
    secrets: frozenset[str]

    @contextmanager
    def bound(self, setting: str | None, *, superuser: bool = False) -> Generator[Connection]:
        """A transaction of the application's role with this setting; nothing of it is kept."""
        login = self.database.superuser if superuser else self.database.app
        with psycopg.connect(login) as connection:
            if setting is not None:
                connection.execute(sql.SQL("set local everlore.workspace = {}").format(sql.Literal(setting)))
            yield connection
            connection.rollback()

    def tells(self, said: object) -> set[str]:
        """What of the other's workspace is in an answer or an error."""
        text = str(said)
        return {secret for secret in self.secrets if secret in text}


# Two people and a place that a memory speaks of, what a person did to them, and the taxonomy.
ENTITIES = """
insert into everlore.entity (workspace_id, entity_id, name, type, recorded_at)
select %(ws)s, gen_random_uuid(), name, 'person', now()
from unnest(array[%(author)s, %(author)s || ' two', %(word)s]) as n (name);

insert into everlore.alias (workspace_id, alias_id, entity_id, variant, key, weight, origin, recorded_at)
select workspace_id, gen_random_uuid(), entity_id, name, lower(name), 0.9, 'extracted', now()
from everlore.entity where workspace_id = %(ws)s;

insert into everlore.mention (workspace_id, entity_id, message_id, recorded_at)
select e.workspace_id, e.entity_id, m.message_id, now()
from everlore.entity e join everlore.message m using (workspace_id) where workspace_id = %(ws)s and m.position = 1;

insert into everlore.memory (workspace_id, memory_id, lineage_id, type, content, importance, confidence, valid_from, recorded_at,
                             source_kind, content_hash)
select %(ws)s, id, id, 'fact', %(author)s || ' likes ' || %(word)s, 0.5, 0.8, now(), now(), 'extracted', uuid_send(id)
from gen_random_uuid() as g (id);

insert into everlore.memory_source (workspace_id, source_id, lineage_id, message_id, confidence, recorded_at)
select m.workspace_id, gen_random_uuid(), m.lineage_id, g.message_id, 0.8, now()
from everlore.memory m join everlore.message g using (workspace_id) where workspace_id = %(ws)s and g.position = 1;

insert into everlore.fact (workspace_id, fact_id, lineage_id, subject_id, predicate, object, object_key, confidence, valid_from,
                           recorded_at)
select e.workspace_id, g.id, g.id, e.entity_id, 'likes', %(word)s, %(word)s, 0.8, now(), now()
from everlore.entity e cross join lateral (select gen_random_uuid() as id where e.entity_id is not null) as g
where e.workspace_id = %(ws)s and e.name = %(author)s;

insert into everlore.fact_source (workspace_id, source_id, lineage_id, message_id, memory_lineage_id, said_at, confidence,
                                  recorded_at)
select f.workspace_id, gen_random_uuid(), f.lineage_id, s.message_id, s.lineage_id, now(), 0.8, now()
from everlore.fact f join everlore.memory_source s using (workspace_id) where f.workspace_id = %(ws)s;

insert into everlore.fact_source_before (workspace_id, source_id, lineage_id)
select workspace_id, source_id, lineage_id from everlore.fact_source where workspace_id = %(ws)s;

insert into everlore.distillation (workspace_id, distillation_id, thread_id, first, last, extractor, extractor_version, memories,
                                   facts, rejected, error, distilled_at)
select workspace_id, gen_random_uuid(), thread_id, 1, 10, 'rules', '1', 1, 1, 0, %(word)s, now()
from everlore.thread where workspace_id = %(ws)s;

insert into everlore.erased_turn (workspace_id, thread_id, turn_key)
select workspace_id, thread_id, substring(sha256(convert_to(%(word)s, 'UTF8')) for 8) from everlore.thread
where workspace_id = %(ws)s;

insert into everlore.distil_again (workspace_id, thread_id, first, asked_at)
select workspace_id, thread_id, 1, now() from everlore.thread where workspace_id = %(ws)s;

insert into everlore.usage (workspace_id, day, model, calls) values (%(ws)s, '2025-06-14', %(word)s, 1);

insert into everlore.breaker (workspace_id, model, failures) values (%(ws)s, %(word)s, 1);

insert into everlore.memory_entity (workspace_id, lineage_id, entity_id)
select e.workspace_id, m.lineage_id, e.entity_id
from everlore.entity e join everlore.memory m using (workspace_id) where workspace_id = %(ws)s;

insert into everlore.entity_change (workspace_id, change_id, kind, kept_id, other_id, moved, made_at)
select a.workspace_id, gen_random_uuid(), 'merge', a.entity_id, b.entity_id, '{"number": 1}', now()
from everlore.entity a join everlore.entity b using (workspace_id) where workspace_id = %(ws)s and a.entity_id < b.entity_id;

insert into everlore.link_suggestion (workspace_id, suggestion_id, entity_id, other_id, reason, score, recorded_at)
select workspace_id, gen_random_uuid(), kept_id, other_id, %(word)s, 0.5, now()
from everlore.entity_change where workspace_id = %(ws)s;

insert into everlore.handed_out (workspace_id, text_hash, shingles, handed_out_at)
values (%(ws)s, convert_to(%(word)s, 'UTF8'), array[1, 2, length(%(word)s)], now());

insert into everlore.feedback (workspace_id, feedback_id, message_id, terms, confirmed, given_at)
select m.workspace_id, gen_random_uuid(), m.message_id, array(select digest from everlore.term_digests(%(word)s)), true, now()
from everlore.message m where workspace_id = %(ws)s and m.position = 1;

insert into everlore.context (workspace_id, context_id, thread_id, profile, budget, made_at)
select workspace_id, gen_random_uuid(), thread_id, 'lean', 100, now() from everlore.thread where workspace_id = %(ws)s;

insert into everlore.context_item (workspace_id, context_id, place, part, slot, tokens, memory_id, words)
select c.workspace_id, c.context_id, row_number() over (partition by c.context_id order by m.memory_id), 'head', 'core', 3,
       m.memory_id, %(word)s
from everlore.context c join everlore.memory m using (workspace_id) where workspace_id = %(ws)s;

insert into everlore.taxonomy_node (workspace_id, path, label, created_at) values (%(ws)s, 'life', %(word)s, now());

insert into everlore.taxonomy_suggestion (workspace_id, suggestion_id, thread_id, path, recorded_at)
select workspace_id, gen_random_uuid(), thread_id, 'life', now() from everlore.thread where workspace_id = %(ws)s;
"""


# Words of the memory and the fact in the search index, still without vectors.
DISTILLED_PASSAGES = """
insert into everlore.passage (workspace_id, passage_id, kind, layer, owner_id, lineage_id, role, author, occurred_at, text)
select m.workspace_id, 900, 'memory', 'known', m.memory_id, m.lineage_id, 'user', %(author)s, now(), m.content
from everlore.memory m where workspace_id = %(ws)s;

insert into everlore.unembedded (workspace_id, model_id, passage_id)
select %(ws)s, model_id, 900 from everlore.embedding_model;
"""


async def filled(database: TestDatabase) -> tuple[UUID, UUID]:
    embedder = FakeEmbedder()
    async with Everlore.open(
        database.settings(),
        worker=False,
        clock=lambda: datetime(2025, 6, 14, tzinfo=UTC),
        embedders={"fake": embedder},
    ) as lore:
        ids: list[UUID] = []
        for name, author, word, place in (
            ("alice", "ann", "paris", "attic"),
            ("bob", "bob", "zanzibar", "basement"),
        ):
            workspace = await lore.workspace(name)
            texts = [f"{author} went to {word} on day {day}, to buy quartz" for day in range(12)]
            if name == "alice":
                texts = [text.replace("quartz", "paint") for text in texts]
            await workspace.record(
                [
                    NewMessage(
                        role="user", author=author, text=text, external_id=f"{place}-{day}", taxonomy="life"
                    )
                    for day, text in enumerate(texts)
                ],
                thread=place,
                session=f"{place} talk",
                project=f"{place} project",
                taxonomy="life.house",
            )
            ids.append(workspace.workspace_id)
            with psycopg.connect(database.superuser, autocommit=True) as connection:
                parameters = {"ws": workspace.workspace_id, "author": author, "word": word}
                for statement in ENTITIES.split(";\n\n"):
                    connection.execute(statement, parameters)
        await lore.rebuild_index()
    with psycopg.connect(database.superuser, autocommit=True) as connection:
        for workspace_id, author in zip(ids, ("ann", "bob"), strict=True):
            for statement in DISTILLED_PASSAGES.split(";\n\n"):
                connection.execute(statement, {"ws": workspace_id, "author": author})
    return ids[0], ids[1]


def identifier(name: str) -> sql.Identifier:
    return sql.Identifier(*name.split("."))


def row_of_other(two: Two, table: str) -> dict[str, sql.Literal]:
    """A row of the other workspace as literals, without what Postgres computes by itself."""
    with two.bound(None, superuser=True) as connection:
        columns = connection.execute(
            "select attname from pg_attribute where attrelid = %s::regclass and attnum > 0 and not attisdropped "
            "and attgenerated = '' order by attnum",
            [table],
        ).fetchall()
        names = [name for (name,) in columns]
        row = connection.execute(
            sql.SQL("select {} from {} where workspace_id = %s limit 1").format(
                sql.SQL(", ").join(sql.SQL("{}::text").format(sql.Identifier(name)) for name in names),
                identifier(table),
            ),
            [two.other],
        ).fetchone()
        assert row is not None
        return {name: sql.Literal(value) for name, value in zip(names, row, strict=True)}


def insert(table: str, row: dict[str, sql.Literal], ending: LiteralString = "") -> sql.Composed:
    names = sql.SQL(", ").join(map(sql.Identifier, row))
    values = sql.SQL(", ").join(row.values())
    return sql.SQL("insert into {} ({}) values ({}) {}").format(
        identifier(table), names, values, sql.SQL(ending)
    )


def refused(two: Two, connection: Connection, statement: sql.Composed) -> None:
    """The statement fails for want of a right, and its error says nothing of the other workspace."""
    missing = (psycopg.errors.InsufficientPrivilege, psycopg.errors.FeatureNotSupported)
    with pytest.raises(missing) as caught, connection.transaction():
        connection.execute(statement)
    assert not two.tells(caught.value), f"{statement.as_string()} tells {two.tells(caught.value)}"


def answer(
    connection: Connection, statement: sql.Composed | LiteralString
) -> list[tuple[Any, ...]] | psycopg.Error:
    """The rows that a statement gives, or its error, with the transaction as it was before."""
    try:
        with connection.transaction():
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []
    except psycopg.Error as error:
        return error


# The catalog, against the rules


def listed(two: Two, statement: LiteralString) -> set[str]:
    with two.bound(None, superuser=True) as connection:
        return {row[0] for row in connection.execute(statement, [SCHEMAS]).fetchall()}


EVERYTHING = "array(select generate_series(1, 1000))"
QUESTION = "(select '[' || string_agg('0.1', ',') || ']' from generate_series(1, 32))::halfvec"
# How to ask each lane for as much as it can give; {thread} and {message} are ids of the other workspace.
LANES: dict[str, LiteralString] = {
    "everlore.vector_exact": f"select * from everlore.vector_exact(1::smallint, {QUESTION}, 1000, 'said')",
    "everlore.vector_among": f"select * from everlore.vector_among(1::smallint, {QUESTION}, {EVERYTHING}, 1000)",
    "everlore.vectors_of": f"select * from everlore.vectors_of(1::smallint, {EVERYTHING})",
    "everlore.vector_hnsw": f"select * from everlore.vector_hnsw(1::smallint, {QUESTION}, 1000)",
    "everlore.threads_within": "select * from everlore.threads_within(null, null)",
    "everlore.passages_within": "select * from everlore.passages_within(1000, null, null, null, null, null, null)",
    "everlore.messages_ending": "select * from everlore.messages_ending(right({message}, 8))",
    "everlore.memories_ending": "select * from everlore.memories_ending(right({memory}, 8))",
    "everlore.facts_ending": "select * from everlore.facts_ending(right({fact}, 8))",
    "everlore.aliases_similar": "select entity_id from everlore.aliases_similar(array['ann', 'bob', 'zanzibar'], 0.01, 1000)",
    "everlore.aliases_with_word": "select entity_id from everlore.aliases_with_word(array['ann', 'bob', 'two'], 1000)",
    "everlore.entities_ending": "select * from everlore.entities_ending(right({entity}, 8))",
    "everlore.handed_out_alike": "select text_hash, shingles from everlore.handed_out_alike(array[1, 2, 3, 4])",
    "everlore.feedback_alike": "select message_id from everlore.feedback_alike('paris zanzibar')",
    "everlore.vector_index_name": "select everlore.vector_index_name(1::smallint, 'said')",
    "everlore.has_vector_index": "select everlore.has_vector_index(1::smallint, 'said')",
}
ASKING_FOR_THE_OTHER: dict[str, list[LiteralString]] = {
    "everlore.threads_within": [
        "select * from everlore.threads_within('basement project', null)",
        "select * from everlore.threads_within('basement project', 'life')",
    ],
    "everlore.passages_within": [
        "select * from everlore.passages_within(1000, null, null, 'bob', null, null, null)",
        "select * from everlore.passages_within(1000, null, null, null, array[{thread}::uuid], null, null)",
        f"select * from everlore.passages_within(1000, null, null, 'bob', null, null, null, {EVERYTHING})",
    ],
    "everlore.aliases_similar": [
        "select * from everlore.aliases_similar(array['bob', 'zanzibar'], 0.5, 1000)",
        "select * from everlore.aliases_similar(array['bob two'], 0.7, 1000)",
    ],
    "everlore.aliases_with_word": [
        "select * from everlore.aliases_with_word(array['bob', 'zanzibar'], 1000)"
    ],
    "everlore.entities_ending": ["select * from everlore.entities_ending({entity})"],
    "everlore.messages_ending": ["select * from everlore.messages_ending({message})"],
    "everlore.memories_ending": ["select * from everlore.memories_ending({memory})"],
    "everlore.facts_ending": ["select * from everlore.facts_ending({fact})"],
    "everlore.feedback_alike": ["select * from everlore.feedback_alike('zanzibar')"],
}


def filled_in(two: Two, query: LiteralString) -> sql.Composed:
    with two.bound(None, superuser=True) as connection:
        row = connection.execute(
            "select thread_id::text, message_id::text, entity_id::text, memory_id::text, fact_id::text "
            "from (select workspace_id, thread_id, message_id from everlore.message) as m join everlore.entity "
            "using (workspace_id) join (select workspace_id, memory_id from everlore.memory) as n using (workspace_id) "
            "join (select workspace_id, fact_id from everlore.fact) as f using (workspace_id) where workspace_id = %s limit 1",
            [two.other],
        ).fetchone()
        assert row is not None
        return sql.SQL(query).format(
            thread=sql.Literal(row[0]),
            message=sql.Literal(row[1]),
            entity=sql.Literal(row[2]),
            memory=sql.Literal(row[3]),
            fact=sql.Literal(row[4]),
        )


SETTINGS: dict[str, str | None] = {"none": None, "empty": "", "garbage": "garbage", "unknown": str(uuid4())}
