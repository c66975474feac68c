"""Isolation: inside one workspace the application's role reads and writes nothing of another, nor learns that there is one.

What holds it: policies on every table of a workspace, which ask for the workspace of the transaction (`SET LOCAL
everlore.workspace`); functions of the owner that ask for the same and take no workspace from their caller; and that the role
owns nothing. What does not: whoever can run any SQL he likes as this role may end the transaction and open the workspace of
any name, or set any workspace whose UUID he knows. The doors are open to the application because it decides who its callers
are; the policies are there so that no mistake in a query, and no value that a caller hands in, crosses from one to another.
Sizes of things that all workspaces share (pages of a table, jobs announced by NOTIFY) are not hidden.

The rules below name every table, view, sequence, function and type of our schemas. A new one without a rule fails.
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, LiteralString, cast
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql
from tests.conftest import TEMPLATE, TestDatabase, _database

from everlore.domain.ids import new_id
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.store.server import Server

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
    "everlore.workspaces_unindexed": "operator_only",
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


@pytest.fixture(scope="module")
def two(server: Server) -> Generator[Two]:
    with contextmanager(_database)(server, TEMPLATE) as database:  # pyright: ignore[reportDeprecated]
        mine, other = asyncio.run(_filled(database))
        with psycopg.connect(database.superuser) as connection:
            secrets = {str(other), "bob", "zanzibar", "0b0b0b", "quartz", "basement"}
            for table in WORKSPACE_TABLES:
                statement = sql.SQL("select * from {} where workspace_id = %s").format(identifier(table))
                rows = connection.execute(statement, [other]).fetchall()
                assert rows, f"{table} has no rows in the other workspace"
                assert connection.execute(statement, [mine]).fetchall(), f"{table} has no rows in mine"
                secrets |= {str(value) for row in rows for value in row if isinstance(value, UUID)}
        yield Two(database, mine, other, frozenset(secrets))


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


async def _filled(database: TestDatabase) -> tuple[UUID, UUID]:
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


def test_every_table_view_and_sequence_has_a_rule(two: Two) -> None:
    # r table, p partitioned, v view, m materialised view, S sequence, f foreign table
    found = listed(
        two,
        "select n.nspname || '.' || c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace "
        "where n.nspname = any (%s) and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')",
    )
    assert found == TABLES.keys()


def test_every_function_has_a_rule(two: Two) -> None:
    found = listed(
        two,
        "select n.nspname || '.' || p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace "
        "where n.nspname = any (%s)",
    )
    assert {name for name in found if not name.startswith("jobs.")} == FUNCTIONS.keys()


def test_every_type_has_a_rule(two: Two) -> None:
    found = listed(
        two,
        "select n.nspname || '.' || t.typname from pg_type t join pg_namespace n on n.oid = t.typnamespace "
        "where n.nspname = any (%s) and t.typcategory <> 'A' "
        "and not exists (select from pg_class c where c.oid = t.typrelid and c.relkind <> 'c')",
    )
    assert found == TYPES.keys()


def test_there_is_no_schema_of_ours_without_rules(two: Two) -> None:
    found = listed(
        two,
        "select nspname from pg_namespace where nspowner = 'everlore_owner'::regrole or nspname = any (%s)",
    )
    assert found == set(SCHEMAS)


def test_operators_casts_and_triggers_of_ours_there_are_none(two: Two) -> None:
    with two.bound(None, superuser=True) as connection:
        for statement in (
            "select oprname from pg_operator where oprowner = 'everlore_owner'::regrole",
            "select tgname from pg_trigger where tgrelid::regclass::text like 'everlore.%' and not tgisinternal",
            "select rulename from pg_rewrite where ev_class::regclass::text like 'everlore.%' and rulename <> '_RETURN'",
        ):
            assert connection.execute(cast("LiteralString", statement)).fetchall() == []


def test_the_application_has_the_rights_of_the_rules_and_no_other(two: Two) -> None:
    with two.bound(None, superuser=True) as connection:
        for table, (_, rights) in TABLES.items():
            if table.endswith("_seq"):
                for right in ("usage", "select", "update"):
                    row = connection.execute(
                        "select has_sequence_privilege('everlore_app', %s, %s)", [table, right]
                    )
                    assert row.fetchone() == (False,), (table, right)
                continue
            for right in PRIVILEGES:
                if right == "maintain" and connection.info.server_version < 170_000:
                    continue
                row = connection.execute(
                    "select has_table_privilege('everlore_app', %s, %s)", [table, right]
                ).fetchone()
                assert row == (right in rights.split(),), (table, right)
            row = connection.execute(
                "select has_any_column_privilege('everlore_app', %s, 'select,insert,update,references')",
                [table],
            ).fetchone()
            assert row == (bool(rights),), table
        functions = connection.execute(
            "select n.nspname || '.' || p.proname, has_function_privilege('everlore_app', p.oid, 'execute'), "
            "has_function_privilege('public', p.oid, 'execute') "
            "from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = any (%s)",
            [SCHEMAS],
        ).fetchall()
        for name, may, everybody in functions:
            assert may == (FUNCTIONS.get(name) in CALLABLE), name
            assert not everybody, name
        schemas = connection.execute(
            "select nspname, has_schema_privilege('everlore_app', oid, 'usage'), "
            "has_schema_privilege('everlore_app', oid, 'create') from pg_namespace where nspname = any (%s)",
            [[*SCHEMAS, "public"]],
        ).fetchall()
        assert set(schemas) == {("everlore", True, False), ("jobs", False, False), ("public", True, False)}


def test_the_application_is_nobody_else(two: Two) -> None:
    with two.bound(None, superuser=True) as connection:
        row = connection.execute(
            "select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication from pg_roles "
            "where rolname = 'everlore_app'"
        ).fetchone()
        assert row == (False,) * 5
        member = connection.execute(
            "select rolname from pg_roles where rolname <> 'everlore_app' and pg_has_role('everlore_app', oid, 'member')"
        ).fetchall()
        assert member == []
        owned = connection.execute(
            "select oid::regclass::text from pg_class where relowner = 'everlore_app'::regrole "
            "and not pg_is_other_temp_schema(relnamespace) union all "
            "select oid::regprocedure::text from pg_proc where proowner = 'everlore_app'::regrole "
            "and not pg_is_other_temp_schema(pronamespace)"
        ).fetchall()
        assert owned == []


def test_every_table_with_a_workspace_is_a_workspace_table_and_has_its_policy(two: Two) -> None:
    with two.bound(None, superuser=True) as connection:
        with_workspace = connection.execute(
            "select n.nspname || '.' || c.relname, c.relrowsecurity from pg_class c "
            "join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid "
            "where n.nspname = any (%s) and c.relkind in ('r', 'p') and a.attname = 'workspace_id'",
            [SCHEMAS],
        ).fetchall()
        guarded = {name for name, (kind, _) in TABLES.items() if kind in ("workspace_table", "partition")}
        assert dict(with_workspace) == dict.fromkeys(guarded, True)
        policies = connection.execute(
            "select schemaname || '.' || tablename, permissive, roles::text, cmd, qual, with_check from pg_policies "
            "where schemaname = any (%s)",
            [SCHEMAS],
        ).fetchall()
        # Without a check of its own, a policy checks new rows by the same condition.
        condition = "(workspace_id = everlore.current_workspace())"
        assert sorted(policies) == [
            (name, "PERMISSIVE", "{public}", "ALL", condition, None) for name in sorted(WORKSPACE_TABLES)
        ]


def test_every_key_begins_with_the_workspace(two: Two) -> None:
    with two.bound(None, superuser=True) as connection:
        for table in WORKSPACE_TABLES:
            indexes = connection.execute(
                "select i.relname, a.attname, x.indisprimary from pg_index x join pg_class i on i.oid = x.indexrelid "
                "left join pg_attribute a on a.attrelid = x.indrelid and a.attnum = x.indkey[0] "
                "where x.indrelid = %s::regclass and (x.indisunique or i.relkind in ('i', 'I'))",
                [table],
            ).fetchall()
            assert any(primary for *_, primary in indexes), f"{table} has no primary key"
            for name, first, _ in indexes:
                assert first == "workspace_id" or name in UNIQUE_WITHOUT_WORKSPACE, (
                    f"{name} begins with {first}"
                )
            keys = connection.execute(
                "select c.conname, a.attname, f.attname, n.nspname || '.' || r.relname from pg_constraint c "
                "join pg_class r on r.oid = c.confrelid join pg_namespace n on n.oid = r.relnamespace "
                "join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1] "
                "join pg_attribute f on f.attrelid = c.confrelid and f.attnum = c.confkey[1] "
                "where c.contype = 'f' and c.conrelid = %s::regclass",
                [table],
            ).fetchall()
            for name, first, there, refers_to in keys:
                assert refers_to in GLOBAL_TABLES or (first, there) == ("workspace_id", "workspace_id"), name


def test_functions_of_the_owner_choose_for_themselves_where_they_look(two: Two) -> None:
    with two.bound(None, superuser=True) as connection:
        functions = connection.execute(
            "select p.oid::regprocedure::text, n.nspname || '.' || p.proname, pg_get_userbyid(p.proowner), "
            "coalesce(p.proconfig, '{}'), coalesce(p.proargnames, '{}'), p.proargtypes::regtype[]::text[], p.proleakproof "
            "from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = any (%s) and p.prosecdef",
            [SCHEMAS],
        ).fetchall()
        assert functions
        for signature, name, owner, settings, arguments, types, leakproof in functions:
            assert owner == "everlore_owner", signature
            assert not leakproof, signature
            path = next(
                (s.removeprefix("search_path=") for s in settings if s.startswith("search_path=")), None
            )
            assert path is not None, f"{signature} looks wherever its caller likes"
            schemas = path.split(", ")
            # Named last, the caller's temporary schema is searched last; not named, it would be searched first.
            assert schemas[-1] == "pg_temp", signature
            for schema in schemas[:-1]:
                row = connection.execute(
                    "select has_schema_privilege('everlore_app', %s, 'create')", [schema]
                ).fetchone()
                assert row == (False,), (
                    f"{signature} looks in {schema}, where the application may plant its own"
                )
            if FUNCTIONS[name] not in ("door", "operator_only"):
                assert not [a for a in arguments if "workspace" in a], signature
                assert types != ["uuid"] or FUNCTIONS[name] == "outbox", signature


# Rows


SETTINGS: dict[str, str | None] = {"none": None, "empty": "", "garbage": "garbage", "unknown": str(uuid4())}


@pytest.mark.parametrize("table", WORKSPACE_TABLES)
def test_reading_shows_my_rows_and_no_other(two: Two, table: str) -> None:
    ways = [
        sql.SQL("select * from {}"),
        sql.SQL("select * from {} where workspace_id = {other}"),
        sql.SQL("select * from {} where workspace_id <> everlore.current_workspace()"),
        sql.SQL("select * from {} where workspace_id is distinct from everlore.current_workspace() or true"),
        sql.SQL("select workspace_id, count(*) from {} group by 1"),
        sql.SQL("with w as (select * from {}) select * from w"),
    ]
    with two.bound(str(two.mine)) as connection:
        for way in ways:
            rows = connection.execute(
                way.format(identifier(table), other=sql.Literal(str(two.other)))
            ).fetchall()
            assert not two.tells(rows), way
        assert connection.execute(ways[0].format(identifier(table))).fetchall()
        assert not connection.execute(
            ways[1].format(identifier(table), other=sql.Literal(str(two.other)))
        ).fetchall()
        with connection.cursor().copy(sql.SQL("copy {} to stdout").format(identifier(table))) as copy:
            assert not two.tells(b"".join(bytes(chunk) for chunk in copy).decode())


@pytest.mark.parametrize("view", VIEWS)
def test_views_show_what_their_tables_show(two: Two, view: str) -> None:
    everything = sql.SQL("select * from {}").format(identifier(view))
    with two.bound(None, superuser=True) as connection:
        options = connection.execute(
            "select reloptions from pg_class where oid = %s::regclass", [view]
        ).fetchone()
        assert options == (["security_invoker=true"],)
    with two.bound(str(two.mine)) as connection:
        rows = connection.execute(everything).fetchall()
        assert rows
        assert not two.tells(rows)
        # A view of two tables cannot be written to by anybody.
        told = answer(connection, sql.SQL("delete from {}").format(identifier(view)))
        no_right, no_way = (
            psycopg.errors.InsufficientPrivilege,
            psycopg.errors.ObjectNotInPrerequisiteState,
        )
        assert isinstance(told, no_right | no_way)
    with two.bound(None) as connection:
        assert connection.execute(everything).fetchall() == []


@pytest.mark.parametrize("setting", SETTINGS)
def test_without_a_workspace_there_is_nothing(two: Two, setting: str) -> None:
    with two.bound(SETTINGS[setting]) as connection:
        for table in WORKSPACE_TABLES:
            told = answer(connection, sql.SQL("select * from {}").format(identifier(table)))
            if setting == "garbage":
                assert isinstance(told, psycopg.errors.InvalidTextRepresentation)
                assert not two.tells(told)
            else:
                assert told == []


@pytest.mark.parametrize("table", WORKSPACE_TABLES)
@pytest.mark.parametrize("setting", ["mine", "none", "unknown"])
def test_writing_into_the_other_workspace_is_refused(two: Two, table: str, setting: str) -> None:
    rights = TABLES[table][1].split()
    row = row_of_other(two, table)
    name = identifier(table)
    other = sql.Literal(str(two.other))
    with two.bound(str(two.mine) if setting == "mine" else SETTINGS[setting]) as connection:
        # The policy speaks before any unique index or foreign key does, so nobody learns whether the row is there.
        refused(two, connection, insert(table, row))
        refused(two, connection, insert(table, row, "on conflict do nothing"))
        refused(two, connection, insert(table, row, "returning *"))
        refused(two, connection, sql.SQL("copy {} from stdin").format(name))
        refused(two, connection, sql.SQL("truncate {}").format(name))
        refused(two, connection, sql.SQL("alter table {} disable row level security").format(name))
        refused(two, connection, sql.SQL("create policy mine on {} using (true)").format(name))
        move = sql.SQL("update {} set workspace_id = {}").format(name, other)
        if "update" not in rights or setting == "mine":
            refused(two, connection, move)
        else:
            assert connection.execute(move).rowcount == 0
        for right, statement in (
            (
                "update",
                sql.SQL("update {} set workspace_id = workspace_id where workspace_id = {}").format(
                    name, other
                ),
            ),
            ("delete", sql.SQL("delete from {} where workspace_id = {}").format(name, other)),
        ):
            if right in rights:
                assert connection.execute(statement).rowcount == 0
            else:
                refused(two, connection, statement)


@pytest.mark.parametrize("table", WORKSPACE_TABLES)
def test_changing_everything_changes_what_is_mine(two: Two, table: str) -> None:
    rights = TABLES[table][1].split()
    with two.bound(None, superuser=True) as connection:
        before = whole(connection, table, two.other)
        connection.execute(sql.SQL("set local everlore.workspace = {}").format(sql.Literal(str(two.mine))))
        connection.execute("set local role everlore_app")
        if "update" in rights:
            connection.execute(sql.SQL("update {} set workspace_id = workspace_id").format(identifier(table)))
        if "delete" in rights:
            # The sessions of messages go after them, and projects after their threads.
            connection.execute("delete from everlore.message")
            if table == "everlore.project":
                connection.execute("delete from everlore.thread")
            connection.execute(sql.SQL("delete from {}").format(identifier(table)))
        connection.execute("reset role")
        assert whole(connection, table, two.other) == before


def whole(connection: Connection, table: str, workspace: UUID) -> list[tuple[Any, ...]]:
    statement = sql.SQL("select t.ctid, t.xmin, t::text from {} t where workspace_id = %s order by 1, 3")
    return connection.execute(statement.format(identifier(table)), [workspace]).fetchall()


def test_keys_of_the_other_workspace_are_free_in_mine(two: Two) -> None:
    message = sql.Literal(None)
    with two.bound(str(two.mine)) as connection:
        for table in (
            "everlore.project",
            "everlore.thread",
            "everlore.session",
            "everlore.message",
            "everlore.passage",
        ):
            row = row_of_other(two, table) | {"workspace_id": sql.Literal(str(two.mine))}
            if table == "everlore.passage":
                row |= {"passage_id": sql.Literal("1000000"), "owner_id": message}
            if table == "everlore.message":
                message = row["message_id"]
            assert connection.execute(insert(table, row)).rowcount == 1, table


def test_rows_cannot_refer_to_the_other_workspace(two: Two) -> None:
    """Nor does the refusal tell an id that exists there from one that exists nowhere."""
    for table, column in (
        ("everlore.thread", "project_id"),
        ("everlore.session", "thread_id"),
        ("everlore.message", "session_id"),
        ("everlore.message", "thread_id"),
        ("everlore.watermark", "thread_id"),
        ("everlore.alias", "entity_id"),
        ("everlore.mention", "entity_id"),
        ("everlore.mention", "message_id"),
        ("everlore.memory_source", "lineage_id"),
        ("everlore.memory_source", "message_id"),
        ("everlore.fact", "subject_id"),
        ("everlore.fact_source", "lineage_id"),
        ("everlore.fact_source", "memory_lineage_id"),
        ("everlore.fact_source_before", "source_id"),
        ("everlore.fact_source_before", "lineage_id"),
        ("everlore.distillation", "thread_id"),
        ("everlore.distil_again", "thread_id"),
        ("everlore.memory_entity", "lineage_id"),
        ("everlore.memory_entity", "entity_id"),
        ("everlore.entity_change", "other_id"),
        ("everlore.link_suggestion", "entity_id"),
        ("everlore.taxonomy_suggestion", "thread_id"),
    ):
        said: list[str] = []
        row = row_of_other(two, table) | {"workspace_id": sql.Literal(str(two.mine))}
        if "passage_id" in row:
            row["passage_id"] = sql.Literal("1000000")
        for identity in (None, str(uuid4())):
            if identity is not None:
                row[column] = sql.Literal(identity)
            with two.bound(str(two.mine)) as connection:
                told = answer(connection, insert(table, row))
                assert isinstance(told, psycopg.errors.ForeignKeyViolation)
                said.append(str(told))
        assert said[0] == said[1]


@pytest.mark.parametrize(
    "table", [name for name, (kind, _) in TABLES.items() if kind in ("no_access", "partition")]
)
def test_what_is_not_for_the_application_cannot_be_read_or_written(two: Two, table: str) -> None:
    with two.bound(str(two.mine)) as connection:
        name = identifier(table)
        refused(two, connection, sql.SQL("select * from {}").format(name))
        refused(two, connection, sql.SQL("copy {} to stdout").format(name))
        if table.endswith("_seq"):
            refused(two, connection, sql.SQL("select nextval({}::regclass)").format(sql.Literal(table)))
        else:
            refused(two, connection, sql.SQL("insert into {} default values").format(name))
            refused(two, connection, sql.SQL("delete from {}").format(name))
            refused(two, connection, sql.SQL("truncate {}").format(name))


@pytest.mark.parametrize("table", [name for name, (kind, _) in TABLES.items() if kind == "public_facts"])
def test_public_facts_are_read_only_and_about_no_workspace(two: Two, table: str) -> None:
    with two.bound(None) as connection:
        name = identifier(table)
        rows = connection.execute(sql.SQL("select * from {}").format(name)).fetchall()
        assert rows
        assert not two.tells(rows)
        refused(two, connection, sql.SQL("insert into {} default values").format(name))
        refused(two, connection, sql.SQL("update {} set name = name").format(name))
        refused(two, connection, sql.SQL("delete from {}").format(name))


@pytest.mark.parametrize("type_name", [name for name, kind in TYPES.items() if kind == "no_access"])
def test_types_of_the_queue_cannot_be_used(two: Two, type_name: str) -> None:
    with two.bound(str(two.mine)) as connection:
        refused(two, connection, sql.SQL("select null::{}").format(identifier(type_name)))


def test_workers_are_bound_by_the_same_policies(two: Two) -> None:
    with psycopg.connect(two.database.worker) as connection:
        for table in WORKSPACE_TABLES:
            statement = sql.SQL("select * from {}").format(identifier(table))
            connection.execute("set local everlore.workspace = ''")
            assert connection.execute(statement).fetchall() == []
            connection.execute(
                sql.SQL("set local everlore.workspace = {}").format(sql.Literal(str(two.mine)))
            )
            assert not two.tells(connection.execute(statement).fetchall())
        connection.rollback()


# Functions

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


def test_every_lane_is_asked() -> None:
    assert LANES.keys() == {name for name, kind in FUNCTIONS.items() if kind == "lane_function"}


@pytest.mark.parametrize("lane", LANES)
def test_lanes_give_what_is_mine(two: Two, lane: str) -> None:
    statement = filled_in(two, LANES[lane])
    with two.bound(str(two.mine)) as connection:
        found = connection.execute(statement).fetchall()
        assert not two.tells(found)
        numbers = {row[0] for row in found if isinstance(row[0], int) and not isinstance(row[0], bool)}
        # Numbers of passages are counted per workspace: those of mine are all that may come, and each once.
        mine = {row[0] for row in connection.execute("select passage_id from everlore.passage").fetchall()}
        assert numbers <= mine
        assert len(found) <= len(mine)
        for question in ASKING_FOR_THE_OTHER.get(lane, []):
            assert connection.execute(filled_in(two, question)).fetchall() == [], question


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("lane", LANES)
def test_lanes_give_nothing_without_a_workspace(two: Two, lane: str, setting: str) -> None:
    statement = filled_in(two, LANES[lane])
    with two.bound(SETTINGS[setting]) as connection:
        told = answer(connection, statement)
        assert not two.tells(told)
        if isinstance(told, psycopg.Error):
            assert setting == "garbage"
            assert isinstance(told, psycopg.errors.InvalidTextRepresentation)
        elif (setting, lane) != ("unknown", "everlore.vector_index_name"):
            # Every UUID has a partition, whether there is a workspace of it or not.
            assert [row for row in told if row not in ((None,), (False,))] == []


@pytest.mark.parametrize("setting", ["mine", "none"])
def test_functions_of_the_operator_are_refused(two: Two, setting: str) -> None:
    with two.bound(None, superuser=True) as connection:
        functions = connection.execute(
            "select n.nspname, p.proname, p.oid, p.pronargs from pg_proc p join pg_namespace n on n.oid = p.pronamespace "
            "where n.nspname = any (%s) and p.prokind = 'f' and p.prorettype <> 'trigger'::regtype",
            [SCHEMAS],
        ).fetchall()
        types = {
            oid: [
                row[0]
                for row in connection.execute(
                    "select format_type(unnest(proargtypes), null) from pg_proc where oid = %s", [oid]
                ).fetchall()
            ]
            for *_, oid, _ in functions
        }
    with two.bound(str(two.mine) if setting == "mine" else None) as connection:
        for schema, name, oid, _ in functions:
            if FUNCTIONS.get(f"{schema}.{name}") not in CALLABLE:
                nulls = sql.SQL(", ").join(sql.SQL("null::" + kind) for kind in types[oid])
                refused(two, connection, sql.SQL("select {}({})").format(sql.Identifier(schema, name), nulls))


@pytest.mark.parametrize("setting", ["mine", "none", "unknown"])
def test_erasers_reach_no_other_workspace(two: Two, setting: str) -> None:
    """What the application may take out of the audit log and of failed jobs is that of the open workspace."""
    with two.bound(None, superuser=True) as connection:
        thread, name = connection.execute(
            "select thread_id, name from everlore.thread where workspace_id = %s", [two.other]
        ).fetchone() or (None, None)
        connection.execute("set search_path = jobs, public")
        (job,) = connection.execute(
            "insert into jobs.procrastinate_jobs (queue_name, task_name, args, lock) values ('index', 'index',"
            " jsonb_build_object('workspace_id', %s::text, 'scope_id', %s::text), 'eraser') returning id",
            [str(two.other), str(thread)],
        ).fetchone() or (0,)
        connection.execute("insert into everlore.job_failure values (%s, now(), 'Zanzibar')", [job])
        # As the application, in the same transaction: the job above is not committed.
        connection.execute("set local role everlore_app")
        value = str(two.mine) if setting == "mine" else SETTINGS[setting]
        if value is not None:
            connection.execute(sql.SQL("set local everlore.workspace = {}").format(sql.Literal(value)))
        for statement, given in (
            ("select everlore.erase_from_audit(%s, %s)", [thread, name]),
            ("select everlore.erase_from_failures(array[%s::uuid])", [thread]),
        ):
            changed = connection.execute(cast("LiteralString", statement), given).fetchone()
            assert changed == (0,), statement


def test_text_functions_read_no_table(two: Two) -> None:
    with two.bound(None, superuser=True) as connection:
        for name in [name for name, kind in FUNCTIONS.items() if kind == "text_function"]:
            row = connection.execute(
                "select provolatile::text, prosecdef from pg_proc where oid = %s::regproc", [name]
            ).fetchone()
            assert row == ("i", False), name


def test_the_door_is_shut_inside_a_workspace(two: Two) -> None:
    with two.bound(str(two.mine)) as connection:
        for name in ("bob", "alice", "nobody yet"):
            statement = sql.SQL("select everlore.open_workspace({}, {})").format(
                sql.Literal(str(new_id())), sql.Literal(name)
            )
            refused(two, connection, statement)
    with two.bound("garbage") as connection:
        with pytest.raises(psycopg.errors.InvalidTextRepresentation) as caught:
            connection.execute("select everlore.open_workspace(gen_random_uuid(), 'bob')")
        assert not two.tells(caught.value)


def test_the_door_lets_into_the_workspace_of_the_name_and_no_other(two: Two) -> None:
    with two.bound(None) as connection:
        opened = connection.execute("select everlore.open_workspace(gen_random_uuid(), 'alice')").fetchone()
        assert opened == (two.mine,)
        # An id that is taken by another name does not open it.
        with pytest.raises(psycopg.errors.UniqueViolation), connection.transaction():
            connection.execute("select everlore.open_workspace(%s, 'mallory')", [two.other])


def test_jobs_are_left_for_what_is_mine_only(two: Two) -> None:
    with two.bound(str(two.mine), superuser=True) as connection:
        threads = dict(connection.execute("select workspace_id, thread_id from everlore.thread").fetchall())
        for step in ("index", "distil"):
            jobs_left_by(connection, step, threads[two.mine], [threads[two.other], two.mine], two)
        jobs_left_by(connection, "index_known", two.mine, [two.other, threads[two.mine]], two)


def jobs_left_by(connection: Connection, step: str, mine: UUID, others: list[UUID], two: Two) -> None:
    before = connection.execute("select count(*) from jobs.procrastinate_jobs").fetchone()
    for scope_id in (*others, uuid4()):
        left_as_application(connection, step, scope_id)
    assert connection.execute("select count(*) from jobs.procrastinate_jobs").fetchone() == before
    left_as_application(connection, step, mine)
    left = connection.execute(
        "select task_name, args ->> 'workspace_id', args ->> 'scope_id' from jobs.procrastinate_jobs order by id desc limit 1"
    ).fetchone()
    assert left == (step, str(two.mine), str(mine))


def left_as_application(connection: Connection, step: str, scope_id: UUID) -> None:
    connection.execute("set local role everlore_app")
    connection.execute("select everlore.defer(%s, %s)", [step, scope_id])
    connection.execute("select everlore.defer_recorded(array[%s], %s, 0, 10, true)", ["index", uuid4()])
    connection.execute("reset role")


# Tricks


@pytest.mark.parametrize(
    "statement",
    [
        "set role everlore_owner",
        "set role everlore_worker",
        "set role postgres",
        "set session authorization everlore_owner",
        "set session_replication_role = replica",
        "create function public.strip(text) returns text language sql as 'select $1'",
        "create operator public.<@ (leftarg = text, rightarg = text, function = starts_with)",
        "create table public.thread (workspace_id uuid)",
        "create schema mine",
        "create function everlore.mine() returns integer language sql as 'select 1'",
        "create function jobs.mine() returns integer language sql as 'select 1'",
        "alter function everlore.current_workspace() cost 1",
        "create or replace function everlore.current_workspace() returns uuid language sql as 'select null::uuid'",
        "create trigger spy after insert on everlore.message execute function suppress_redundant_updates_trigger()",
        "create rule spy as on insert to everlore.message do also notify spy",
        "create index spy on everlore.message (text)",
        "create statistics spy on author, role from everlore.message",
        "analyze everlore.message",
        "alter role everlore_app bypassrls",
        "alter system set row_security = off",
        "create extension dblink",
        "select pg_read_file('postgresql.conf')",
        "copy (select 1) to program 'true'",
        "select * from pg_statistic",
        "create publication spy for table everlore.message",
        "security label on table everlore.message is 'x'",
        "grant select on everlore.message to public",
    ],
)
def test_ways_around_are_shut(two: Two, statement: LiteralString) -> None:
    with two.bound(str(two.mine)) as connection:
        told = answer(connection, statement)
        # Postgres only warns where there was nothing to grant or to analyse.
        assert isinstance(told, psycopg.Error) or statement.startswith(("grant", "analyze"))
        assert not two.tells(told)
    with two.bound(str(two.mine)) as connection:
        assert not two.tells(connection.execute("select * from everlore.message").fetchall())


def test_switching_policies_off_shows_an_error_and_no_row(two: Two) -> None:
    with two.bound(str(two.mine)) as connection:
        connection.execute("set local row_security = off")
        for table in WORKSPACE_TABLES:
            refused(two, connection, sql.SQL("select * from {}").format(identifier(table)))


def test_things_of_the_same_name_in_front_are_not_taken_for_ours(two: Two) -> None:
    with two.bound(str(two.mine)) as connection:
        honest = {lane: connection.execute(filled_in(two, query)).fetchall() for lane, query in LANES.items()}
        for table in WORKSPACE_TABLES:
            connection.execute(
                sql.SQL("create temporary table {} as select * from {} with no data").format(
                    sql.Identifier(table.removeprefix("everlore.")), identifier(table)
                )
            )
        fakes: list[tuple[LiteralString, LiteralString]]
        fakes = [("current_workspace()", "uuid"), ("current_setting(text, boolean)", "text")]
        for name, result in fakes:
            connection.execute(
                sql.SQL("create function pg_temp.{} returns {} language sql as {}").format(
                    sql.SQL(name), sql.SQL(result), sql.Literal(f"select '{two.other}'::{result}")
                )
            )
        connection.execute("set local search_path = pg_temp, everlore, public, pg_catalog")
        for table in WORKSPACE_TABLES:
            rows = connection.execute(sql.SQL("select * from {}").format(identifier(table))).fetchall()
            assert rows
            assert not two.tells(rows)
        assert connection.execute("select everlore.current_workspace()").fetchone() == (two.mine,)
        for lane, query in LANES.items():
            assert connection.execute(filled_in(two, query)).fetchall() == honest[lane], lane


def test_a_function_that_tells_what_it_sees_is_shown_my_rows_only(two: Two) -> None:
    """The policy is asked before any function that is not leakproof, however cheap it says it is."""
    heard: list[str] = []
    with two.bound(str(two.mine)) as connection:
        connection.add_notice_handler(lambda notice: heard.append(str(notice.message_primary)))
        connection.execute(
            "create function pg_temp.spy(seen anyelement) returns boolean language plpgsql immutable cost 0.0000001 "
            "as $$ begin raise notice '%', seen; return true; end $$"
        )
        for table in WORKSPACE_TABLES:
            name = identifier(table)
            for statement in (
                sql.SQL("select count(*) from {table} t where pg_temp.spy(t::text)"),
                sql.SQL("select count(*) from {table} t where pg_temp.spy(t.workspace_id)"),
                sql.SQL(
                    "select count(*) from {table} t join {table} u on pg_temp.spy(t.workspace_id) and pg_temp.spy(u::text)"
                ),
                sql.SQL(
                    "select count(*) from {table} t where pg_temp.spy(t::text) or t.workspace_id is null"
                ),
            ):
                heard.clear()
                connection.execute(statement.format(table=name))
                assert heard, table
                assert not two.tells(heard), table
        for lane in ("everlore.passages_within", "everlore.threads_within", "everlore.vector_exact"):
            heard.clear()
            statement = sql.SQL("select count(*) from ({}) t where pg_temp.spy(t::text)")
            connection.execute(statement.format(filled_in(two, LANES[lane])))
            assert heard
            assert not two.tells(heard)


@pytest.mark.parametrize(
    "statement",
    [
        "select text::integer from everlore.message",
        "select * from everlore.message where text::integer = 1",
        "select * from everlore.thread where name::uuid is null",
        "select 1 / (length(name) - length(name)) from everlore.project",
        "select * from everlore.passage where (author || text)::date < now()",
        "select * from everlore.workspace where name::integer = 1",
        "select * from everlore.posting_block where term::integer = 1",
    ],
)
def test_errors_quote_my_rows_only(two: Two, statement: LiteralString) -> None:
    with two.bound(str(two.mine)) as connection:
        with pytest.raises(psycopg.errors.DataError) as caught:
            connection.execute(statement)
        assert not two.tells(caught.value)


def test_statistics_and_activity_tell_nothing(two: Two) -> None:
    with psycopg.connect(two.database.superuser, autocommit=True) as connection:
        connection.execute("analyze")
        kept = connection.execute("select * from pg_stats where schemaname = 'everlore'").fetchall()
        assert two.tells(kept), "there would be nothing to find"
    views = [
        "pg_stats", "pg_stats_ext", "pg_stats_ext_exprs", "pg_stat_user_tables", "pg_stat_activity", "pg_locks",
        "pg_prepared_xacts", "pg_prepared_statements", "pg_cursors", "pg_seclabels", "pg_publication_tables",
    ]  # fmt: skip
    with two.bound(str(two.mine)) as connection:
        for view in views:
            assert not two.tells(
                connection.execute(sql.SQL("select * from {}").format(sql.Identifier(view))).fetchall()
            ), view
