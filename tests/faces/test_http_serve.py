"""The real server: it says where it listens, answers there, and leaves cleanly when it is told to."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from tests.conftest import TestDatabase

from everlore.config import load_settings
from everlore.domain.errors import ConfigurationError
from everlore.faces.http.guard import MAX_BODY_BYTES
from everlore.faces.http.server import serve
from everlore.models.fake import FakeEmbedder

PROGRAM = """
import asyncio, functools, sys
from everlore.config import Settings
from everlore.faces.http.server import serve
settings = Settings.model_validate_json(sys.argv[1])
asyncio.run(serve(settings, worker=True, ready=functools.partial(print, flush=True)))
"""
PATIENCE_S = 60


async def test_a_server_serves_until_it_is_told_to_stop(database: TestDatabase) -> None:
    settings = database.settings(port=0, embedder="none")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PROGRAM, settings.model_dump_json()),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE_S):
            url = (await process.stdout.readline()).decode().strip()
            assert url.startswith("http://127.0.0.1:")
            async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as client:
                await _is_used(client)
                process.send_signal(signal.SIGTERM)
                _, complaints = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert (process.returncode, complaints.decode()) == (0, "")


async def _is_used(client: httpx.AsyncClient) -> None:
    said = {"role": "user", "text": "My sister Emma moved to Lisbon."}
    assert (await client.post("/v1/messages", json={"messages": [said]})).status_code == 201
    answer = (await client.post("/v1/recall", json={"query": "Where did Emma move?"})).json()
    assert [hit["text"] for hit in answer["hits"]] == [said["text"]]

    while not (health := (await client.get("/healthz")).json())["worker"]:
        assert health["ok"]
    assert health["degraded"] == [
        "No embedding model is set; messages are found by their words and times only."
    ]

    assert (await client.get("/healthz", headers={"host": "evil.example"})).status_code == 421
    assert "server" not in (await client.get("/healthz")).headers
    for too_large in (bytes(MAX_BODY_BYTES + 1), _too_many_chunks()):
        answered = await client.post(
            "/v1/recall", content=too_large, headers={"content-type": "application/json"}
        )
        assert answered.status_code == 413
    assert (await client.get("/healthz")).status_code == 200


async def _too_many_chunks() -> AsyncIterator[bytes]:
    for _ in range(MAX_BODY_BYTES // 2**20 + 1):
        yield b" " * 2**20


@pytest.mark.parametrize(
    ("host", "number"), [("127.0.0.1", signal.SIGTERM), ("localhost", signal.SIGINT), ("::1", signal.SIGHUP)]
)
async def test_each_loopback_name_is_served_and_each_signal_ends_it(
    database: TestDatabase, fake: FakeEmbedder, host: str, number: signal.Signals
) -> None:
    told: list[str] = []

    def ready(url: str) -> None:
        told.append(url)
        os.kill(os.getpid(), number)

    settings = database.settings(port=0, host=host)
    async with asyncio.timeout(PATIENCE_S):
        await serve(settings, worker=False, ready=ready, embedders={"fake": fake})
    (url,) = told
    assert url.startswith(f"http://[{host}]:" if ":" in host else f"http://{host}:")


async def test_a_signal_while_the_memory_opens_is_not_lost(
    database: TestDatabase, fake: FakeEmbedder
) -> None:
    class Signalling(FakeEmbedder):
        closed = False

        @property
        def dimensions(self) -> int:  # read while the memory opens
            os.kill(os.getpid(), signal.SIGTERM)
            return 32

        @dimensions.setter
        def dimensions(self, _: int) -> None: ...

        async def close(self) -> None:
            self.closed = True

    embedder = Signalling()
    async with asyncio.timeout(PATIENCE_S):
        await serve(database.settings(port=0), worker=False, ready=print, embedders={"fake": embedder})
    assert embedder.closed


async def test_a_taken_port_is_said_in_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"port {port}: another program uses it"):
            await serve(load_settings(port=port, data_dir=tmp_path), worker=False, ready=print)
    assert not list(tmp_path.iterdir())


async def test_a_memory_that_cannot_be_opened_is_said_to_the_caller(empty_database: TestDatabase) -> None:
    with pytest.raises(ConfigurationError, match="everlore db migrate"):
        await serve(empty_database.settings(port=0), worker=False, ready=print)
