"""The functions of the owner give, erase and announce what is in the workspace of the transaction, and nothing of another."""

from typing import LiteralString, cast
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql
from tests.store.two_workspaces import (
    ASKING_FOR_THE_OTHER,
    CALLABLE,
    FUNCTIONS,
    LANES,
    SCHEMAS,
    SETTINGS,
    Connection,
    Two,
    answer,
    filled_in,
    refused,
)

from everlore.domain.ids import new_id


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
