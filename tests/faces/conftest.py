"""The command line, run in this process on the test's own database."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from json import loads
from typing import Any, Protocol

import pytest

from everlore.faces.cli.main import main


class OwnDatabase(Protocol):
    """What the database fixtures of tests/conftest.py give."""

    @property
    def app(self) -> str: ...
    @property
    def worker(self) -> str: ...
    @property
    def superuser(self) -> str: ...


@dataclass(frozen=True)
class Ran:
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be JSON and nothing else."""
        return loads(self.out)

    @property
    def error(self) -> Any:
        return loads(self.err.splitlines()[-1])["error"]


Cli = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """A local zone that is not UTC, and a terminal that is wide."""
    with monkeypatch.context() as there:
        there.setenv("TZ", "Asia/Tokyo")
        there.setenv("COLUMNS", "200")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Cli:
    """Run the command line and check its exit code; a traceback is never an answer."""

    def run(*arguments: str, code: int = 0) -> Ran:
        got = main(arguments)
        captured = capfd.readouterr()
        assert got == code, captured
        assert "Traceback" not in captured.err
        return Ran(captured.out, captured.err)

    return run


@pytest.fixture
def cli(run: Cli, database: OwnDatabase, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line on the test's database, without a model unless `EVERLORE_EMBEDDER` says otherwise."""
    monkeypatch.setenv("EVERLORE_DATABASE_URL", database.app)
    monkeypatch.setenv("EVERLORE_WORKER_URL", database.worker)
    monkeypatch.setenv("EVERLORE_MIGRATION_URL", database.superuser)
    monkeypatch.setenv("EVERLORE_EMBEDDER", "none")
    return run
