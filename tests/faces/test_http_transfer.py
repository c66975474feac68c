"""Over HTTP: messages, threads and workspaces are read and deleted, and workspaces exported and imported, as streams of lines."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from tests.conftest import TestDatabase

from everlore.faces.http import guard, lines
from everlore.faces.http.server import create_app
from everlore.models.fake import FakeEmbedder

HERE = "http://127.0.0.1:7411"
LINES = {"content-type": "application/x-ndjson"}


@pytest.fixture
async def app(database: TestDatabase) -> AsyncIterator[FastAPI]:
    app = create_app(database.settings(), worker=False, embedders={"fake": FakeEmbedder()})
    async with app.router.lifespan_context(app):
        yield app


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url=HERE) as client:
        for thread in ("main", "a/b"):
            said = {"role": "user", "author": "Maya", "text": f"Emma lives in Lisbon ({thread})."}
            body = {"workspace": "house/old", "thread": thread, "messages": [said, {**said, "text": "tea"}]}
            (await client.post("/v1/messages", json=body)).raise_for_status()
        yield client


async def answered(client: httpx.AsyncClient, method: str, path: str, **more: Any) -> Any:
    answer = await client.request(method, path, **more)
    return answer.status_code, answer.json()


async def exported(client: httpx.AsyncClient, name: str = "house/old") -> str:
    answer = await client.get(f"/v1/workspaces/{name}/export")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")
    return answer.text


def rows(text: str) -> list[Any]:
    return [json.loads(line) for line in text.split("\n")[1:-1]]


async def test_messages_threads_and_workspaces_are_read_and_deleted(client: httpx.AsyncClient) -> None:
    here = {"workspace": "house/old"}
    _, listed = await answered(client, "GET", "/v1/messages", params={**here, "thread": "a/b"})
    assert [one["text"] for one in listed["items"]] == ["Emma lives in Lisbon (a/b).", "tea"]
    path = f"/v1/messages/{listed['items'][1]['message_id']}"
    assert (await answered(client, "GET", path, params=here))[1]["text"] == "tea"
    assert (await answered(client, "DELETE", path, params=here))[0] == 200
    assert (await answered(client, "GET", path, params=here))[0] == 404
    assert (await answered(client, "DELETE", path, params=here))[0] == 404

    assert await answered(client, "DELETE", "/v1/threads/a/b", params=here) == (
        200,
        {"thread": "a/b", "deleted": 1},
    )
    _, threads = await answered(client, "GET", "/v1/threads", params=here)
    assert [one["name"] for one in threads["items"]] == ["main"]
    assert (await answered(client, "GET", "/v1/messages", params={**here, "thread": "a/b"}))[0] == 404

    _, workspaces = await answered(client, "GET", "/v1/workspaces")
    assert [(one["name"], one["messages"]) for one in workspaces["items"]] == [
        ("default", 0),
        ("house/old", 2),
    ]
    status, receipt = await answered(client, "DELETE", "/v1/workspaces/house/old")
    assert (status, receipt["name"], receipt["counts"]["messages"]) == (200, "house/old", 2)
    assert (await answered(client, "DELETE", "/v1/workspaces/house/old"))[0] == 404
    assert (await answered(client, "GET", "/v1/threads", params=here))[0] == 404
    assert (await answered(client, "GET", "/v1/workspaces"))[1]["total"] == 1


async def test_an_export_is_imported_under_another_name(client: httpx.AsyncClient) -> None:
    text = await exported(client)
    status, made = await answered(
        client, "POST", "/v1/workspaces", params={"name": "copy"}, content=text.encode(), headers=LINES
    )
    assert (status, made["name"], made["counts"]["message"]) == (201, "copy", 4)
    assert rows(await exported(client, "copy")) == rows(text)
    _, found = await answered(
        client, "POST", "/v1/recall", json={"workspace": "copy", "query": "Where does Emma live?"}
    )
    assert found["hits"][0]["text"].startswith("Emma lives in Lisbon")


async def test_it_may_arrive_in_any_pieces(client: httpx.AsyncClient) -> None:
    text = (await exported(client)).encode()

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(text), 37):
            yield text[start : start + 37]

    await client.delete("/v1/workspaces/house/old")
    status, made = await answered(client, "POST", "/v1/workspaces", content=pieces(), headers=LINES)
    assert (status, made["name"]) == (201, "house/old")
    assert rows(await exported(client)) == rows(text.decode())


async def test_what_cannot_be_imported_is_named_and_leaves_nothing(client: httpx.AsyncClient) -> None:
    text = await exported(client)
    for content, field in (
        (text, "name"),
        (text.replace('"role": "user"', '"role": "king"', 1), "line 6, role"),
        (text[:-100], None),
        ("", "line 1"),
    ):
        name = {} if field == "name" else {"name": "copy"}
        status, problem = await answered(
            client, "POST", "/v1/workspaces", params=name, content=content.encode(), headers=LINES
        )
        assert (status, problem["error"]["type"]) == (422, "invalid_input"), problem
        assert field is None or problem["error"]["field"] == field
    assert (await answered(client, "GET", "/v1/workspaces"))[1]["total"] == 2
    assert (await answered(client, "GET", "/v1/workspaces/copy/export"))[0] == 404
    assert (await answered(client, "GET", f"/v1/workspaces/{'x' * 201}/export"))[0] == 422


async def test_the_guard_keeps_its_rules(
    client: httpx.AsyncClient, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (await exported(client)).encode()
    name = {"name": "copy"}
    for declared in ("application/json", "text/plain", "application/x-www-form-urlencoded"):
        status, problem = await answered(
            client, "POST", "/v1/workspaces", params=name, content=text, headers={"content-type": declared}
        )
        assert (status, problem["error"]["type"]) == (415, "wrong_content_type")
    status, problem = await answered(client, "POST", "/v1/messages", content=text, headers=LINES)
    assert (status, problem["error"]["type"]) == (415, "wrong_content_type")
    foreign = {**LINES, "origin": "http://evil.example"}
    assert (await answered(client, "POST", "/v1/workspaces", content=text, headers=foreign))[0] == 403
    tight = guard.Guard(
        app, max_body_bytes=10, lines={("POST", "/v1/workspaces")}, max_lines_bytes=len(text) - 1
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(tight), base_url=HERE) as other:

        async def chunked() -> AsyncIterator[bytes]:
            yield text

        for content in (text, chunked()):
            status, problem = await answered(
                other, "POST", "/v1/workspaces", params=name, content=content, headers=LINES
            )
            assert (status, problem["error"]["type"]) == (413, "too_large")
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 20)
    status, problem = await answered(
        client, "POST", "/v1/workspaces", params=name, content=b"{" * 100, headers=LINES
    )
    assert (status, problem["error"]["field"]) == (422, "line 1")
    assert (await answered(client, "GET", "/v1/workspaces"))[1]["total"] == 2


async def test_an_export_that_nobody_reads_to_its_end_gives_its_connection_back(
    client: httpx.AsyncClient, app: FastAPI
) -> None:
    class Gone(Exception):
        pass

    async def receive() -> Any:
        await asyncio.Event().wait()

    sent: list[bytes] = []

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))
        if len(sent) > 2:
            raise Gone

    scope = {
        "type": "http", "method": "GET", "path": "/v1/workspaces/house/old/export", "query_string": b"",
        "headers": [(b"host", b"127.0.0.1:7411")], "server": ("127.0.0.1", 7411), "http_version": "1.1",
        "scheme": "http", "root_path": "", "client": ("127.0.0.1", 1),
        "raw_path": b"/v1/workspaces/house/old/export",
    }  # fmt: skip
    for _ in range(10):  # more than there are connections
        sent.clear()
        with pytest.raises((Gone, BaseExceptionGroup)):
            await app(scope, receive, send)
    assert rows(await exported(client))


async def test_the_document_tells_of_lines(client: httpx.AsyncClient) -> None:
    paths = (await client.get("/openapi.json")).json()["paths"]
    taken = paths["/v1/workspaces"]["post"]
    assert list(taken["requestBody"]["content"]) == ["application/x-ndjson"]
    assert [one["name"] for one in taken["parameters"]] == ["name"]
    given = paths["/v1/workspaces/{name}/export"]["get"]["responses"]["200"]["content"]
    assert list(given) == ["application/x-ndjson"]
