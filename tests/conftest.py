"""A real Postgres for every test: one embedded server for all workers, one migrated template, a copy of it per test."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import hypothesis
import psycopg
import pytest
from psycopg import sql

from everlore.config import Settings
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.store.database import APP, OWNER, WORKER
from everlore.store.migrate import LOCK, create_database
from everlore.store.server import SUPERUSER, Server, open_server
from everlore.wiring import bring_up_to_date

TEMPLATE = "everlore_template"
_MEMORY = Path("/dev/shm")
_ROOM = 8 * 2**30

# Commands are run as processes of their own, which read the same modules again and again: compiled once is enough.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# No test is timed: the machine may be busy.
hypothesis.settings.register_profile("everlore", deadline=None)
hypothesis.settings.load_profile("everlore")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fuzz", type=int, default=1, metavar="N", help="let the fuzzers in tests/fuzz try N times as much"
    )


@dataclass(frozen=True)
class TestDatabase:
    """A database of its own for one test, with a connection string per role."""

    __test__ = False

    server: Server
    name: str

    @property
    def app(self) -> str:
        return self.server.conninfo(APP, self.name)

    @property
    def worker(self) -> str:
        return self.server.conninfo(WORKER, self.name)

    @property
    def owner(self) -> str:
        return self.server.conninfo(OWNER, self.name)

    @property
    def superuser(self) -> str:
        return self.server.conninfo(SUPERUSER, self.name)

    def settings(self, **changes: object) -> Settings:
        urls = {
            "database_url": self.app,
            "worker_url": self.worker,
            "migration_url": self.superuser,
            "pool_size": 4,
        }
        return Settings.model_validate({**urls, **changes})


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        self.now += timedelta(**by)


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """No setting of the machine reaches a test."""
    for name in [name for name in os.environ if name.startswith("EVERLORE_")]:
        monkeypatch.delenv(name)


def server_folder(run: int) -> Path:
    """Not in pytest's own folder: that one is closed to the system user that the server runs as for root. In memory if there is
    room: a database is 600 files, and every test makes and removes one."""
    roomy = _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM
    return (_MEMORY if roomy else Path(tempfile.gettempdir())) / f"everlore-tests-{run}"


def pytest_sessionfinish() -> None:
    """The process that began the run (workers are its children) removes what it left."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        shutil.rmtree(server_folder(os.getpid()), ignore_errors=True)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The embedded server that all workers of a run share; the last one to leave stops it."""
    folder = server_folder(os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid())
    with open_server(folder) as running:
        asyncio.run(_make_template(running))
        yield running


async def _make_template(running: Server) -> None:
    """Once per run: the others wait for the lock and find it made."""
    async with await psycopg.AsyncConnection.connect(
        running.conninfo(SUPERUSER, "postgres"), autocommit=True
    ) as connection:
        await connection.execute("select pg_advisory_lock(%s)", [LOCK + 1])
        # Nothing here outlives the machine.
        await connection.execute("alter system set fsync = off")
        await connection.execute("select pg_reload_conf()")
        await create_database(running.conninfo(SUPERUSER, "postgres"), TEMPLATE)
        await bring_up_to_date(running.conninfo(SUPERUSER, TEMPLATE))


@pytest.fixture
def empty_database(server: Server) -> Iterator[TestDatabase]:
    """A database that nothing was done to."""
    yield from _database(server, "template1")


@pytest.fixture
def database(server: Server) -> Iterator[TestDatabase]:
    """A migrated database without content."""
    yield from _database(server, TEMPLATE)


def _database(server: Server, template: str) -> Iterator[TestDatabase]:
    name = f"test_{uuid4().hex}"
    with psycopg.connect(server.conninfo(SUPERUSER, "postgres"), autocommit=True) as connection:
        connection.execute(
            sql.SQL("create database {} template {} strategy file_copy").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )
        try:
            yield TestDatabase(server, name)
        finally:
            connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


@pytest.fixture
def clock() -> Clock:
    return Clock(datetime(2025, 6, 14, 12, 0, tzinfo=UTC))


@pytest.fixture
def fake() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
async def lore(database: TestDatabase, clock: Clock, fake: FakeEmbedder) -> AsyncIterator[Everlore]:
    """An open Everlore with the fake embedder and no worker: `await lore.catch_up()` indexes what waits."""
    async with Everlore.open(
        database.settings(), worker=False, clock=clock, embedders={"fake": fake}
    ) as opened:
        yield opened


@pytest.fixture
def round_trips(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was sent to Postgres, each entry one wait for its answer: BEGIN and COMMIT included, COPY twice, a pipeline once, with
    all its statements. `round_trips.clear()` begins to count."""
    waits: list[str] = []
    piped: dict[Any, list[str]] = {}

    def sent(connection: Any, statement: bytes | str | sql.Composable, times: int = 1) -> None:
        words = statement.as_string() if isinstance(statement, sql.Composable) else statement
        text = words.decode() if isinstance(words, bytes) else words
        there = waits if connection._pipeline is None else piped.setdefault(connection._pipeline, [])
        there.extend([text] * times)

    def before(owner: Any, name: str, note: Callable[..., object]) -> None:
        whole = getattr(owner, name)

        def noted(self: Any, *arguments: Any, **named: Any) -> Any:
            note(self, *arguments[:1])
            return whole(self, *arguments, **named)

        monkeypatch.setattr(owner, name, noted)

    def executes(cursor: Any, statement: Any) -> None:
        sent(cursor._conn, statement)

    def copies(cursor: Any, statement: Any) -> None:
        sent(cursor._conn, statement, times=2)

    def waits_for_all(pipeline: Any) -> None:
        waits.append("; ".join(piped.pop(pipeline, [])))

    before(psycopg.AsyncCursor, "execute", executes)
    before(psycopg.AsyncCursor, "copy", copies)
    before(psycopg.AsyncConnection, "_exec_command", sent)
    before(psycopg.AsyncPipeline, "_exit_gen", waits_for_all)
    return waits


@pytest.fixture
def ids() -> Callable[[], str]:
    """Unique names."""
    return lambda: uuid4().hex
