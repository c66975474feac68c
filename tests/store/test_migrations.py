"""Migrations: what they make, who may run them, and what is said where they cannot run."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from scripts.dump_schema import TARGET, dump
from tests.conftest import TestDatabase

from everlore.config import Settings
from everlore.domain.errors import ConfigurationError, DatabaseUnavailable
from everlore.domain.ids import new_id
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.store import migrate as store
from everlore.store.database import APP, OWNER, Connection
from everlore.store.migrate import (
    job_migrations,
    migrate,
    own_migrations,
    pending,
    require_pgvector,
    require_version,
)

MIGRATE = "import asyncio, sys; from everlore.store.migrate import migrate; print(len(asyncio.run(migrate(sys.argv[1]))))"
ALL = {migration.name for migration in [*own_migrations(), *job_migrations()]}


@asynccontextmanager
async def connected(conninfo: str) -> AsyncGenerator[Connection]:
    async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as connection:
        yield connection


async def test_all_migrations_make_the_committed_schema(empty_database: TestDatabase) -> None:
    await migrate(empty_database.superuser)
    made = dump(empty_database.server.tool("pg_dump"), empty_database.superuser)
    assert made == TARGET.read_text(), "run `python scripts/dump_schema.py` and look at what changed"


async def test_migrating_again_does_nothing(database: TestDatabase) -> None:
    assert await migrate(database.superuser) == []
    async with connected(database.app) as connection:
        assert await pending(connection) == []


async def test_a_login_of_the_owner_is_enough_where_roles_and_extensions_exist(
    database: TestDatabase,
) -> None:
    assert await migrate(database.owner) == []


async def test_two_processes_at_once_migrate_once(empty_database: TestDatabase) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", MIGRATE, empty_database.superuser], stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    said = [await asyncio.to_thread(process.communicate) for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    # The queue's schema counts as one.
    assert sorted(int(out) for out, _ in said) == [0, len(own_migrations()) + 1]
    async with connected(empty_database.superuser) as connection:
        rows = await (await connection.execute("select name from everlore.migration")).fetchall()
    assert {name for (name,) in rows} == ALL


async def test_databases_of_one_cluster_may_make_the_roles_at_the_same_moment(
    database: TestDatabase, empty_database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Advisory locks do not reach from one database to another; roles belong to all of them."""
    names = tuple(f"everlore_test_{uuid4().hex}" for _ in range(3))
    monkeypatch.setattr(store, "ROLES", names)
    async with connected(database.superuser) as admin:
        try:
            async with asyncio.TaskGroup() as group:
                for where in (database.name, empty_database.name, "postgres") * 2:
                    group.create_task(make_roles(database.server.conninfo("postgres", where)))
            rows = await (
                await admin.execute(
                    "select rolname, rolcanlogin from pg_roles where rolname = any (%s)", [list(names)]
                )
            ).fetchall()
            assert dict(rows) == dict.fromkeys(names, True)
        finally:
            for name in names:
                await admin.execute(sql.SQL("drop role if exists {}").format(sql.Identifier(name)))


async def make_roles(conninfo: str) -> None:
    async with connected(conninfo) as connection:
        await store._roles(connection)


async def test_a_migration_that_fails_leaves_what_was_before(
    empty_database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = store.Migration("9999_broken", b"create table everlore.half (id integer); select no_such_thing;")
    monkeypatch.setattr(store, "own_migrations", lambda: [*own_migrations(), broken])
    with pytest.raises(Exception, match="no_such_thing"):
        await migrate(empty_database.superuser)
    monkeypatch.undo()
    async with connected(empty_database.superuser) as connection:
        assert await pending(connection) == []
        row = await (await connection.execute("select to_regclass('everlore.half')")).fetchone()
        assert row == (None,)


async def test_a_migration_that_was_applied_in_another_form_is_refused(database: TestDatabase) -> None:
    async with connected(database.owner) as connection:
        await connection.execute(
            "update everlore.migration set checksum = 'other' where name = '0002_conversation'"
        )
    with pytest.raises(ConfigurationError, match="0002_conversation was applied in another form"):
        await migrate(database.superuser)


async def test_a_database_that_is_behind_is_not_opened(database: TestDatabase) -> None:
    async with connected(database.owner) as connection:
        await connection.execute("delete from everlore.migration where name = '0007_isolation'")
    with pytest.raises(
        ConfigurationError, match=r"1 migration \(0007_isolation first\); run `everlore db migrate`"
    ):
        await opened(database.settings())


async def test_a_database_without_anything_is_not_opened(empty_database: TestDatabase) -> None:
    with pytest.raises(ConfigurationError, match="run `everlore db migrate`"):
        await opened(empty_database.settings())


def ways_in(url: str) -> tuple[Callable[[], Awaitable[object]], ...]:
    return (lambda: opened(Settings.model_validate({"database_url": url})), lambda: migrate(url))


async def opened(settings: Settings) -> None:
    async with Everlore.open(settings, worker=False, embedders={"fake": FakeEmbedder()}):
        pass


# What the server lacks


def server_of(version: int) -> Connection:
    return cast("Connection", SimpleNamespace(info=SimpleNamespace(server_version=version)))


async def test_an_old_postgres_is_named() -> None:
    assert await require_version(server_of(160_004)) == 16
    with pytest.raises(ConfigurationError, match="This is Postgres 15; Everlore needs 16 or newer"):
        await require_version(server_of(150_008))


def test_an_old_pgvector_is_named() -> None:
    require_pgvector("0.8.0")
    require_pgvector("1.0")
    with pytest.raises(ConfigurationError, match=r"This is pgvector 0\.7\.4; Everlore needs 0\.8 or newer"):
        require_pgvector("0.7.4")


async def test_an_extension_that_the_server_lacks_is_named(
    empty_database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "EXTENSIONS", ("no_such_extension",))
    with pytest.raises(ConfigurationError, match=r"lacks the extension no_such_extension. Install it"):
        await migrate(empty_database.superuser)


async def test_an_extension_in_another_schema_is_named(empty_database: TestDatabase) -> None:
    async with connected(empty_database.superuser) as connection:
        await connection.execute("create schema elsewhere; create extension ltree schema elsewhere")
    with pytest.raises(
        ConfigurationError,
        match=r"ltree lives in the schema elsewhere.*alter extension ltree set schema public",
    ):
        await migrate(empty_database.superuser)


async def test_a_login_that_may_not_make_extensions_is_told_who_may(empty_database: TestDatabase) -> None:
    with pytest.raises(
        ConfigurationError,
        match=r"may not create the extension .* Let an administrator run `create extension",
    ):
        await migrate(empty_database.owner)


async def test_a_login_that_may_not_make_roles_is_told_who_may(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "ROLES", (f"everlore_test_{uuid4().hex}",))
    with pytest.raises(ConfigurationError, match="may not create the role everlore_test_"):
        await migrate(database.owner)


# Roles that would not keep workspaces apart


async def powerful(database: TestDatabase, monkeypatch: pytest.MonkeyPatch, *statements: str) -> None:
    """Run the check of roles on one of another name with these powers, and take it away again."""
    name = f"everlore_test_{uuid4().hex}"
    monkeypatch.setattr(store, "APP", name)
    async with connected(database.superuser) as connection, connection.transaction(force_rollback=True):
        for statement in ("create role {}", *statements):
            await connection.execute(sql.SQL(cast("Any", statement)).format(sql.Identifier(name)))
        await store._require_isolation(connection)


async def test_ordinary_roles_are_accepted(database: TestDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    await powerful(database, monkeypatch)


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("alter role {} bypassrls", "above row-level security"),
        ("alter role {} superuser", "above row-level security"),
        ("grant everlore_owner to {}", "a member of everlore_owner"),
        ("grant create on schema public to {}", "may create functions in the schema public"),
    ],
)
async def test_a_role_that_could_get_around_the_policies_is_refused(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch, statement: str, says: str
) -> None:
    with pytest.raises(ConfigurationError, match=says):
        await powerful(database, monkeypatch, statement)


async def test_what_old_databases_let_everybody_do_is_taken_back(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connected(database.superuser) as connection:
        await connection.execute("grant create on schema public to public")
        await migrate(database.superuser)
        row = await (
            await connection.execute("select has_schema_privilege('everlore_app', 'public', 'create')")
        ).fetchone()
    assert row == (False,)


# By URL


async def test_one_login_for_everything_acts_through_roles_and_is_kept_apart(database: TestDatabase) -> None:
    settings = Settings.model_validate({"database_url": database.superuser, "pool_size": 2})
    async with Everlore.open(settings, worker=False, embedders={"fake": FakeEmbedder()}) as lore:
        alice, bob = await lore.workspace("alice", create=True), await lore.workspace("bob", create=True)
        for workspace in (alice, bob):
            await workspace.record([{"role": "user", "text": f"{workspace.name} likes tea"}])
        await lore.catch_up()
        async with lore.runtime.database.workspace(alice.workspace_id) as connection:
            row = await (await connection.execute("select current_user, session_user")).fetchone()
            assert row == (APP, "postgres")
            texts = await (await connection.execute("select text from everlore.message")).fetchall()
            assert texts == [("alice likes tea",)]
        assert [hit.text for hit in (await alice.recall("who likes tea?")).hits] == ["alice likes tea"]
        assert (await lore.status()).isolation == "weaker"


@pytest.fixture
async def wrong_password() -> AsyncGenerator[int]:
    """The port of something that speaks as Postgres does to those whose password is wrong."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        length = int.from_bytes(await reader.readexactly(4))
        if await reader.readexactly(length - 4) in (b"\x04\xd2\x16\x2f", b"\x04\xd2\x16\x30"):
            writer.write(b"N")  # neither TLS nor GSS: go on in the clear
            return await refuse(reader, writer)
        writer.write(b"R" + (8).to_bytes(4) + (3).to_bytes(4))  # a password, please
        await reader.readexactly(1)
        await reader.readexactly(int.from_bytes(await reader.readexactly(4)) - 4)
        fields = b"SFATAL\0C28P01\0M" + b'password authentication failed for user "maya"' + b"\0\0"
        writer.write(b"E" + (len(fields) + 4).to_bytes(4) + fields)
        await writer.drain()
        writer.close()
        return None

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as listening:
        yield listening.sockets[0].getsockname()[1]


async def test_a_wrong_password_is_said_without_repeating_it(wrong_password: int) -> None:
    url = f"postgresql://maya:hunter2@127.0.0.1:{wrong_password}/everlore"
    for attempt in ways_in(url):
        with pytest.raises(ConfigurationError, match="refused the login; check user and password") as caught:
            await attempt()
        assert "hunter2" not in str(caught.value)


async def test_an_unknown_user_is_said(database: TestDatabase) -> None:
    url = database.server.conninfo(f"nobody_{uuid4().hex}", database.name)
    with pytest.raises(ConfigurationError, match="refused the login"):
        await opened(Settings.model_validate({"database_url": url}))


async def test_an_unknown_database_is_said(database: TestDatabase) -> None:
    url = database.server.conninfo(APP, f"nothing_{uuid4().hex}")
    with pytest.raises(ConfigurationError, match="does not exist; create it or correct the database URL"):
        await opened(Settings.model_validate({"database_url": url}))


@pytest.mark.parametrize("hosts", ["{0}", "{0},{0}"])
async def test_a_server_that_is_not_there_is_said(tmp_path: Path, hosts: str) -> None:
    url = f"host={hosts.format(tmp_path / 'nothing')} user=maya dbname=everlore"
    for attempt in ways_in(url):
        with pytest.raises(DatabaseUnavailable, match=r"cannot be reached.*No such file"):
            await attempt()


@pytest.mark.parametrize("url", ["postgres//maya:hunter2@host", "no url at all", "postgresql://[::1/x"])
async def test_what_is_no_url_is_said_without_repeating_it(url: str) -> None:
    for attempt in ways_in(url):
        with pytest.raises(ConfigurationError, match="The database URL cannot be read") as caught:
            await attempt()
        assert "hunter2" not in str(caught.value)


async def test_the_owner_cannot_be_asked_by_the_application(database: TestDatabase) -> None:
    async with connected(database.app) as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await connection.execute(sql.SQL("set role {}").format(sql.Identifier(OWNER)))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await connection.execute(
                "insert into everlore.workspace (workspace_id, name) values (%s, 'mallory')", [new_id()]
            )
