"""Isolation: inside one workspace the application's role reads and writes nothing of another, nor learns that there is one.

What holds it: policies on every table of a workspace, which ask for the workspace of the transaction (`SET LOCAL
everlore.workspace`); functions of the owner that ask for the same and take no workspace from their caller; and that the role
owns nothing. What does not: whoever can run any SQL he likes as this role may end the transaction and open the workspace of
any name, or set any workspace whose UUID he knows. The doors are open to the application because it decides who its callers
are; the policies are there so that no mistake in a query, and no value that a caller hands in, crosses from one to another.
Sizes of things that all workspaces share (pages of a table, jobs announced by NOTIFY) are not hidden.
"""

from typing import Any, LiteralString
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql
from tests.store.two_workspaces import (
    LANES,
    SETTINGS,
    TABLES,
    TYPES,
    VIEWS,
    WORKSPACE_TABLES,
    Connection,
    Two,
    answer,
    filled_in,
    identifier,
    insert,
    refused,
    row_of_other,
)


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
