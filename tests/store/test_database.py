"""Connections: transactions bound to a workspace, and what is left of them after errors, cancellations and restarts.

At the end what two transactions may do to each other: a step that commits beside a rebuild or a deletion.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

import psycopg
import pytest
from tests.conftest import TestDatabase

from everlore.domain.errors import (
    ConfigurationError,
    Conflict,
    DatabaseUnavailable,
    EverloreError,
    InternalError,
    InvalidInput,
    WorkspaceGone,
)
from everlore.domain.ids import new_id
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.store import database as store
from everlore.store import index
from everlore.store.database import APP, OWNER, WORKER, Database, explained
from everlore.store.run import Transaction, fetched

# Stands on the server until it is cancelled.
STUCK = "select pg_sleep(600)"


@asynccontextmanager
async def opened(database: TestDatabase, *, pool_size: int = 1) -> AsyncGenerator[Database]:
    one = Database(database.app, APP, pool_size=pool_size)
    await one.open()
    try:
        yield one
    finally:
        await one.close()


@pytest.fixture
async def app(database: TestDatabase) -> AsyncGenerator[Database]:
    async with opened(database) as one:
        yield one


@pytest.fixture
async def workspace(app: Database) -> UUID:
    async with app.outside() as connection:
        cursor = await connection.execute("select everlore.open_workspace(%s, 'alice')", [new_id()])
        return fetched(await cursor.fetchone())


async def insert(connection: Transaction, workspace: UUID, name: str) -> None:
    await connection.execute(
        "insert into everlore.project (workspace_id, project_id, name) values (%s, %s, %s)",
        [workspace, uuid4(), name],
    )


async def add_project(app: Database, workspace: UUID, name: str) -> None:
    async with app.workspace(workspace) as connection:
        await insert(connection, workspace, name)


async def projects(app: Database, workspace: UUID) -> set[str]:
    async with app.workspace(workspace, read_only=True) as connection:
        return {
            row[0] for row in await (await connection.execute("select name from everlore.project")).fetchall()
        }


async def backends(database: TestDatabase, condition: str) -> int:
    """How many connections of the application's role are in such a state."""
    async with await psycopg.AsyncConnection.connect(database.superuser) as connection:
        cursor = await connection.execute(
            "select state, query from pg_stat_activity where datname = %s and usename = %s",
            [database.name, APP],
        )
        return sum(condition in f"{state}: {query}" for state, query in await cursor.fetchall())


async def until(database: TestDatabase, condition: str) -> None:
    """Return when some connection is in that state."""
    async with asyncio.timeout(20):
        while not await backends(database, condition):
            pass


async def terminate(database: TestDatabase) -> None:
    async with await psycopg.AsyncConnection.connect(database.superuser, autocommit=True) as connection:
        await connection.execute(
            "select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = %s and usename = %s",
            [database.name, APP],
        )


async def test_a_workspace_block_commits_at_its_end(app: Database, workspace: UUID) -> None:
    await add_project(app, workspace, "kept")
    assert await projects(app, workspace) == {"kept"}


async def test_one_that_has_gone_is_not_entered(app: Database) -> None:
    with pytest.raises(WorkspaceGone):
        async with app.workspace(uuid4()):
            raise AssertionError
    with pytest.raises(WorkspaceGone):
        await app.at_once(uuid4(), b"select 1")


@pytest.mark.parametrize("error", [ValueError("mine"), asyncio.CancelledError(), KeyboardInterrupt()])
async def test_any_error_rolls_back_and_is_passed_on(
    app: Database, workspace: UUID, error: BaseException
) -> None:
    async def fail() -> None:
        async with app.workspace(workspace) as connection:
            await insert(connection, workspace, "lost")
            raise error

    with pytest.raises(type(error)) as caught:
        await fail()
    assert caught.value is error
    assert await projects(app, workspace) == set()


async def test_what_is_read_only_writes_nothing_and_sees_one_moment(database: TestDatabase) -> None:
    async with opened(database, pool_size=2) as app:
        async with app.outside() as connection:
            cursor = await connection.execute("select everlore.open_workspace(%s, 'alice')", [new_id()])
            workspace = fetched(await cursor.fetchone())
        async with app.workspace(workspace, read_only=True) as reading:
            assert await (await reading.execute("select name from everlore.project")).fetchall() == []
            await add_project(app, workspace, "later")
            assert await (await reading.execute("select name from everlore.project")).fetchall() == []
        with pytest.raises(InternalError):
            async with app.workspace(workspace, read_only=True) as reading:
                await reading.execute("delete from everlore.project")


async def test_an_error_that_was_swallowed_is_not_taken_for_a_commit(app: Database, workspace: UUID) -> None:
    """Postgres answers COMMIT with ROLLBACK, and no error, once a statement has failed."""

    async def swallow() -> None:
        async with app.workspace(workspace) as connection:
            await insert(connection, workspace, "lost")
            with pytest.raises(psycopg.errors.DivisionByZero):
                await connection.execute("select 1 / 0")

    with pytest.raises(InternalError, match="nothing of it was stored"):
        await swallow()
    assert await projects(app, workspace) == set()
    await add_project(app, workspace, "kept")


async def test_a_second_use_of_the_connection_knows_nothing_of_the_first(
    app: Database, workspace: UUID
) -> None:
    async def leave_by_return() -> None:
        async with app.workspace(workspace):
            pass

    async def leave_by_error() -> None:
        with pytest.raises(InternalError):
            async with app.workspace(workspace) as connection:
                await connection.execute("select 1 / 0::integer, no_such_column")

    async def leave_by_cancellation() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05), app.workspace(workspace) as connection:
                await connection.execute(STUCK)

    pids: set[int] = set()
    for leave in (leave_by_return, leave_by_error, leave_by_cancellation):
        await leave()
        async with app.outside() as connection:
            cursor = await connection.execute("select everlore.current_workspace(), pg_backend_pid()")
            bound, pid = await cursor.fetchone() or (workspace, 0)
            assert bound is None, leave
            pids.add(pid)
    assert len(pids) == 1, "it should have been the same connection each time"


@pytest.mark.parametrize("pipelined", [False, True])
async def test_a_cancelled_task_leaves_no_transaction_behind(
    database: TestDatabase, app: Database, workspace: UUID, pipelined: bool
) -> None:
    async def hang() -> None:
        async with app.workspace(workspace) as connection:
            await insert(connection, workspace, "lost")
            if pipelined:
                async with connection.pipeline():
                    await connection.execute("select 1")
                    await (await connection.execute(STUCK)).fetchall()
            else:
                await connection.execute(STUCK)

    task = asyncio.create_task(hang())
    await until(database, "active: " + STUCK)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await backends(database, "active: " + STUCK) == 0
    assert await backends(database, "idle in transaction") == 0
    await add_project(app, workspace, "kept")
    assert await projects(app, workspace) == {"kept"}


async def test_a_task_cancelled_while_it_waits_for_a_connection_takes_none(
    app: Database, workspace: UUID
) -> None:
    async with app.workspace(workspace):
        waiting = asyncio.create_task(projects(app, workspace))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    assert await projects(app, workspace) == set()


async def test_connections_that_died_in_the_pool_are_replaced_unseen(database: TestDatabase) -> None:
    async with opened(database, pool_size=3) as app:
        async with app.outside(), app.outside(), app.outside() as connection:
            cursor = await connection.execute("select everlore.open_workspace(%s, 'alice')", [new_id()])
            workspace = fetched(await cursor.fetchone())
        await terminate(database)
        for name in ("one", "two", "three"):
            await add_project(app, workspace, name)
        assert await projects(app, workspace) == {"one", "two", "three"}


async def test_a_server_that_goes_in_mid_transaction_is_said_and_the_next_call_works(
    database: TestDatabase, app: Database, workspace: UUID
) -> None:
    async def go_on() -> None:
        async with app.workspace(workspace) as connection:
            await insert(connection, workspace, "lost")
            await terminate(database)
            await connection.execute("select 1")

    with pytest.raises(DatabaseUnavailable):
        await go_on()
    assert await projects(app, workspace) == set()


async def test_a_server_that_goes_before_the_commit_is_said(
    database: TestDatabase, app: Database, workspace: UUID
) -> None:
    async def end() -> None:
        async with app.workspace(workspace) as connection:
            await insert(connection, workspace, "lost")
            await terminate(database)

    with pytest.raises(DatabaseUnavailable):
        await end()
    assert await projects(app, workspace) == set()


async def test_a_pool_that_is_used_up_says_so(
    database: TestDatabase, workspace: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "CONNECT_TIMEOUT_S", 0.05)
    async with opened(database) as app, app.workspace(workspace):
        with pytest.raises(DatabaseUnavailable, match="Raise pool_size"):
            await projects(app, workspace)


async def test_a_server_that_is_gone_is_told_from_a_pool_that_is_used_up(
    database: TestDatabase, workspace: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "CONNECT_TIMEOUT_S", 0.2)
    async with opened(database) as app:
        async with await psycopg.AsyncConnection.connect(
            database.server.conninfo("postgres", "postgres"), autocommit=True
        ) as admin:
            await admin.execute(f'alter database "{database.name}" allow_connections false')  # pyright: ignore
            try:
                await terminate_from(admin, database)
                with pytest.raises(DatabaseUnavailable, match="has not answered"):
                    await projects(app, workspace)
            finally:
                await admin.execute(f'alter database "{database.name}" allow_connections true')  # pyright: ignore
        assert await projects(app, workspace) == set()


async def terminate_from(admin: psycopg.AsyncConnection[tuple[object, ...]], database: TestDatabase) -> None:
    await admin.execute(
        "select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = %s", [database.name]
    )


async def test_a_login_of_another_name_acts_as_the_role(database: TestDatabase) -> None:
    for role in (APP, WORKER, OWNER):
        one = Database(database.superuser, role, pool_size=1)
        await one.open()
        async with one.outside() as connection:
            row = await (await connection.execute("select current_user, session_user")).fetchone()
        await one.close()
        assert row == (role, "postgres")


async def test_a_login_that_may_not_act_as_the_role_is_told_what_to_do(database: TestDatabase) -> None:
    one = Database(database.worker, APP, pool_size=1)
    with pytest.raises(ConfigurationError, match="grant everlore_app to everlore_worker"):
        await one.open()


def failed(error: type[psycopg.Error], text: str) -> EverloreError:
    return explained(error(text))


@pytest.mark.parametrize(
    ("raised", "kind", "says"),
    [
        (
            lambda: failed(psycopg.errors.DiskFull, "could not extend file: No space left on device"),
            DatabaseUnavailable,
            "disk",
        ),
        (
            lambda: failed(psycopg.errors.TooManyConnections, "too many clients"),
            DatabaseUnavailable,
            "too many clients",
        ),
        (
            lambda: failed(psycopg.errors.DeadlockDetected, "deadlock detected"),
            Conflict,
            "Try again",
        ),
        (lambda: failed(psycopg.errors.InsufficientPrivilege, "no"), ConfigurationError, "db status"),
        (lambda: failed(psycopg.errors.UndefinedTable, "no"), ConfigurationError, "db migrate"),
        (lambda: failed(psycopg.errors.NumericValueOutOfRange, "out of range"), InvalidInput, "out of range"),
        (lambda: failed(psycopg.errors.UniqueViolation, "duplicate"), InternalError, "duplicate"),
        (
            lambda: failed(psycopg.OperationalError, 'FATAL:  role "x" does not exist'),
            ConfigurationError,
            "login",
        ),
        (
            lambda: failed(psycopg.OperationalError, "FATAL:  Peer authentication failed"),
            ConfigurationError,
            "login",
        ),
        (
            lambda: failed(psycopg.OperationalError, "FATAL:  no pg_hba.conf entry for"),
            ConfigurationError,
            "login",
        ),
        (
            lambda: failed(psycopg.OperationalError, 'FATAL:  database "x" does not exist'),
            ConfigurationError,
            "create it",
        ),
        (lambda: failed(psycopg.OperationalError, "Transaction refused"), DatabaseUnavailable, "refused"),
    ],
)
def test_what_postgres_says_is_put_in_plain_words(
    raised: Callable[[], EverloreError], kind: type[EverloreError], says: str
) -> None:
    error = raised()
    assert type(error) is kind
    assert says in str(error)


async def stretch_of(
    database: Database, workspace: UUID, thread: UUID
) -> tuple[index.EmbeddingModel, index.UnembeddedStretch]:
    async with database.workspace(workspace, read_only=True) as connection:
        model = (await index.models(connection))[0]
        stretch = await index.load(connection, model, thread, 256)
    assert stretch is not None
    return model, stretch


async def commit(
    database: Database,
    workspace: UUID,
    thread: UUID,
    model: index.EmbeddingModel,
    stretch: index.UnembeddedStretch,
) -> None:
    encoded = await FakeEmbedder().encode_passages([text for _, text in stretch.passages])
    numbered = [(number, one) for (number, _), one in zip(stretch.passages, encoded, strict=True)]
    async with database.workspace(workspace) as connection:
        await index.commit(connection, model, thread, stretch.upto, numbered)


async def test_a_stretch_that_was_loaded_before_a_rebuild_does_not_hide_what_the_rebuild_took(
    lore: Everlore,
) -> None:
    workspace = await lore.workspace("alice", create=True)
    for text in ("one", "two"):
        await workspace.record([{"role": "user", "text": text}])
        thread = (await workspace.threads())[0].thread_id
        model, stretch = await stretch_of(lore.runtime.database, workspace.workspace_id, thread)
        assert [passage.split()[-1] for _, passage in stretch.passages] == [text]
        if text == "two":
            async with lore.runtime.database.workspace(workspace.workspace_id) as connection:
                await index.forget(connection, model)
        await commit(lore.runtime.database, workspace.workspace_id, thread, model, stretch)
    # "two" has its vector; the mark waits for "one", whose vector is gone.
    _, stretch = await stretch_of(lore.runtime.database, workspace.workspace_id, thread)
    assert [passage.split()[-1] for _, passage in stretch.passages] == ["one"]
    assert stretch.upto == 2
    await lore.catch_up()
    assert (await workspace.status()).unembedded == {"fake": 0}


async def test_a_stretch_that_two_workers_loaded_is_committed_twice_without_harm(lore: Everlore) -> None:
    workspace = await lore.workspace("alice", create=True)
    await workspace.record([{"role": "user", "text": "one"}, {"role": "user", "text": "two"}])
    thread = (await workspace.threads())[0].thread_id
    model, stretch = await stretch_of(lore.runtime.database, workspace.workspace_id, thread)
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(commit(lore.runtime.database, workspace.workspace_id, thread, model, stretch))
    assert (await workspace.status()).unembedded == {"fake": 0}


async def test_a_stretch_of_a_thread_that_was_deleted_meanwhile_is_nothing_to_commit(lore: Everlore) -> None:
    workspace = await lore.workspace("alice", create=True)
    await workspace.record([{"role": "user", "text": "one"}], thread="gone")
    thread = (await workspace.threads())[0].thread_id
    model, stretch = await stretch_of(lore.runtime.database, workspace.workspace_id, thread)
    await workspace.delete_thread("gone")
    await commit(lore.runtime.database, workspace.workspace_id, thread, model, stretch)
    assert await workspace.threads() == []
