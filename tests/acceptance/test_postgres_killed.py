"""Postgres is killed under a process that works: it goes on when the server is back, or ends with a word; it never hangs."""

import asyncio
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from tests.models.embedding_server import DIMENSIONS, EmbeddingServer

from everlore.config import Settings
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.store.database import APP, WORKER
from everlore.store.server import SUPERUSER, Server, open_server
from everlore.wiring import prepare_embedded

EVERLORE = (sys.executable, "-c", "import sys; from everlore.faces.cli.main import main; sys.exit(main())")
# Far more than is needed, and less than a job queue waits by itself for a database.
PATIENCE_S = 60
SAID = [
    NewMessage(role="user", text=text) for text in ("I live in Lisbon.", "My sister Emma lives in Porto.")
]


@pytest.fixture
def home() -> Iterator[Path]:
    """Not in pytest's own folder: that one is closed to the system user that the server runs as for root."""
    made = Path(tempfile.mkdtemp(prefix="everlore-killed-"))
    made.chmod(0o755)
    yield made / "data"
    shutil.rmtree(made)


@pytest.fixture
def endpoint() -> Iterator[EmbeddingServer]:
    running = EmbeddingServer()
    yield running
    running.close()


@pytest.fixture
async def server(home: Path) -> AsyncIterator[Server]:
    """A server that nobody but its tests keeps alive, with messages that are neither indexed nor distilled."""
    with open_server(home) as running:
        await prepare_embedded(running)
        async with Everlore.open(Settings.model_validate(urls(running)), worker=False, embedders={}) as lore:
            await (await lore.workspace()).record(SAID)
        yield running


def urls(server: Server) -> dict[str, str]:
    logins = {"database_url": APP, "worker_url": WORKER, "migration_url": SUPERUSER}
    return {name: server.conninfo(role) for name, role in logins.items()}


def kill_postgres(home: Path) -> None:
    """The server and all its children, at once."""
    server = int((home / "postgres" / "postmaster.pid").read_text().split()[0])
    table = subprocess.run(["ps", "-axo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in table.splitlines()]
    for pid in [server, *(pid for pid, parent in pairs if parent == server)]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@contextmanager
def nobody_starts_it(home: Path) -> Generator[None]:
    with (home / "start.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def environment(endpoint: EmbeddingServer, **settings: str) -> dict[str, str]:
    embedder = {"url": endpoint.url, "model": "tiny", "dimensions": str(DIMENSIONS)}
    named = (
        {f"embedders__test__{name}": value for name, value in embedder.items()}
        | settings
        | {"embedder": "test"}
    )
    return os.environ | {f"EVERLORE_{name.upper()}": value for name, value in named.items()}


async def run_until_killed(
    endpoint: EmbeddingServer, home: Path, *commands: tuple[str, ...], **settings: str
) -> list[tuple[int | None, str]]:
    """Run commands at once, kill Postgres when each waits for an embedding, and let them go on; exit codes and complaints."""
    endpoint.hold.clear()
    running: list[asyncio.subprocess.Process] = []
    try:
        async with asyncio.timeout(PATIENCE_S):
            for command in commands:
                running.append(
                    await asyncio.create_subprocess_exec(
                        *EVERLORE, *command, stderr=subprocess.PIPE, env=environment(endpoint, **settings)
                    )
                )
                await asyncio.to_thread(endpoint.asked.acquire)
            kill_postgres(home)
            endpoint.hold.set()
            complaints = [(await process.communicate())[1].decode() for process in running]
            return [(process.returncode, said) for process, said in zip(running, complaints, strict=True)]
    finally:
        for process in running:
            if process.returncode is None:
                process.kill()


async def test_commands_whose_database_stays_away_end_with_a_word(
    server: Server, home: Path, endpoint: EmbeddingServer
) -> None:
    commands = (("db", "reindex"), ("distil",), ("import", "jsonl", os.devnull))
    for code, complaints in await run_until_killed(endpoint, home, *commands, **urls(server)):
        assert code == 1, complaints
        assert "Traceback" not in complaints
        assert complaints.splitlines()[-1].startswith("Error: Postgres ")


async def test_a_command_goes_on_when_its_own_server_is_back(
    server: Server, home: Path, endpoint: EmbeddingServer
) -> None:
    ((code, complaints),) = await run_until_killed(endpoint, home, ("db", "reindex"), data_dir=str(home))
    assert "Traceback" not in complaints
    if code != 0:
        assert complaints.splitlines()[-1].startswith("Error: Postgres ")
    again = await asyncio.create_subprocess_exec(
        *EVERLORE, "db", "reindex", env=environment(endpoint, data_dir=str(home))
    )
    assert await again.wait() == 0
    async with Everlore.open(Settings(data_dir=home), worker=False, embedders={}) as lore:
        assert set((await (await lore.workspace()).status()).unembedded.values()) == {0}


async def test_a_server_says_that_its_database_is_gone_and_goes_on_when_it_is_back(
    server: Server, home: Path, endpoint: EmbeddingServer
) -> None:
    process = await asyncio.create_subprocess_exec(
        *(*EVERLORE, "up", "--port", "0"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(endpoint, data_dir=str(home)),
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE_S):
            while "http://" not in (line := (await process.stdout.readline()).decode()):
                assert process.returncode is None
            url = line[line.index("http://") :].split()[0].rstrip(".,")
            async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as client:
                assert (await client.get("/healthz")).json()["database"] is True
                with nobody_starts_it(home):
                    kill_postgres(home)
                    health = await client.get("/healthz")
                    assert (health.status_code, health.json()["database"]) == (503, False)
                    assert "retry-after" in health.headers
                while (health := await client.get("/healthz")).status_code != 200 or not health.json()[
                    "worker"
                ]:
                    assert process.returncode is None
                answer = await client.post("/v1/recall", json={"query": "Where does Emma live?"})
                assert answer.status_code == 200
                assert "Emma" in answer.json()["hits"][0]["text"]
                process.send_signal(signal.SIGTERM)
                await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0
