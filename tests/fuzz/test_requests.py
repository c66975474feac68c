"""Generated requests: whatever is sent to an address of the HTTP face, it is answered, and never with a failure of ours.

Requests are made from the OpenAPI document, such as keep to it and such as break it, and sent to a real server. `--fuzz 10` sends
ten times as many.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, cast

import httpx
import hypothesis
import pytest
import schemathesis
from hypothesis import strategies
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from tests.conftest import TestDatabase

PROGRAM = """
import asyncio, functools, sys
from everlore.config import Settings
from everlore.faces.http.server import serve
settings = Settings.model_validate_json(sys.argv[1])
asyncio.run(serve(settings, worker=True, ready=functools.partial(print, flush=True)))
"""


@schemathesis.serializer("application/x-ndjson")
def lines(_: Any, value: Any) -> bytes:
    """What is imported is generated as a text."""
    return str(value).encode(errors="backslashreplace")


REQUESTS_AN_ADDRESS = 6
# Each request is sent to a server, and much of what breaks the document's rules is thrown away before that.
SLOW = [hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.filter_too_much]
SAID = [
    {
        "role": "user",
        "author": "Anna",
        "text": "My sister Emma moved to Lisbon.",
        "at": "2025-03-01T10:00:00Z",
    },
    {
        "role": "user",
        "author": "Anna",
        "text": "I work at Acme and I like tea.",
        "at": "2025-03-01T10:01:00Z",
    },
]


@pytest.fixture
def url(database: TestDatabase) -> Iterator[str]:
    """A server of its own, in a process of its own, that knows a little."""
    settings = database.settings(port=0, embedder="none")
    command = [sys.executable, "-c", PROGRAM, settings.model_dump_json()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            with httpx.Client(base_url=address, timeout=60) as client:
                client.post("/v1/messages", json={"messages": SAID}).raise_for_status()
                client.post("/v1/memories", json={"content": "Anna likes green tea."}).raise_for_status()
            yield address
        finally:
            process.terminate()


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_no_request_is_our_fault(url: str, mode: GenerationMode, pytestconfig: pytest.Config) -> None:
    schema: Any = schemathesis.openapi.from_url(f"{url}/openapi.json")
    examples = REQUESTS_AN_ADDRESS * cast("int", pytestconfig.getoption("--fuzz"))
    known = known_ids(url)
    failures: list[str] = []
    tried: set[str] = set()
    for operation in schema.get_all_operations():
        requests = operation.ok().as_strategy(generation_mode=mode)
        # Most made-up ids lead nowhere: half of the requests are about something that is there.
        about = strategies.none() | strategies.sampled_from(known)

        @hypothesis.settings(
            max_examples=examples,
            derandomize=True,
            database=None,
            suppress_health_check=SLOW,
        )
        @hypothesis.given(case=requests, identifier=about)
        def send(case: Any, identifier: str | None) -> None:
            if identifier is not None and mode is GenerationMode.POSITIVE:
                case.path_parameters = dict.fromkeys(case.path_parameters, identifier)
            answer = case.call(timeout=60)
            tried.add(f"{case.method} {case.path}")
            if answer.status_code >= 500:
                failures.append(f"{answer.status_code} {case.as_curl_command()}")

        # An address that takes nothing cannot be asked wrongly.
        with suppress(Unsatisfiable):
            send()
    assert len(tried) > 20
    assert failures == []


def known_ids(url: str) -> list[str]:
    """Ids of memories, facts, entities and messages that the server knows."""
    with httpx.Client(base_url=url, timeout=60) as client:
        found = client.post("/v1/recall", json={"query": "What does Anna like?"}).raise_for_status().text
    ids = sorted(set(re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", found)))
    assert ids
    return ids
