"""The guard before the app: who may speak, and how much. No database is needed for that."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request

from everlore.faces.http.errors import answer_errors
from everlore.faces.http.guard import Guard

LIMIT = 1000


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI()
    app.add_middleware(Guard, max_body_bytes=LIMIT)
    answer_errors(app)

    async def size(request: Request) -> int:
        return len(await request.body())

    app.add_api_route("/size", size, methods=["GET", "POST"])
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:7411"
    ) as client:
        yield client


def kind(answered: httpx.Response) -> tuple[int, Any]:
    return answered.status_code, answered.json()["error"]["type"]


@pytest.mark.parametrize("host", ["127.0.0.1:7411", "localhost:7411", "LOCALHOST:7411", "[::1]:7411"])
async def test_loopback_names_with_our_port_are_answered(client: httpx.AsyncClient, host: str) -> None:
    assert (await client.get("/size", headers={"host": host})).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        *(
            "evil.example",
            "evil.example:7411",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1:7412",
            "localhost.:7411",
            "",
        ),
        *(
            "127.0.0.1.evil.example:7411",
            "localhost:7411.evil.example",
            "user@127.0.0.1:7411",
            "0.0.0.0:7411",
        ),
        *(
            "127.0.0.2:7411",
            "::1:7411",
            "[::1",
            "127.0.0.1:",
            "127.0.0.1:7411\n",
            "127.0.0.1:99999999999999999999",
        ),
    ],
)
async def test_any_other_host_is_refused(client: httpx.AsyncClient, host: str) -> None:
    assert kind(await client.get("/size", headers={"host": host})) == (421, "wrong_host")


async def test_the_default_port_need_not_be_named() -> None:
    async def ok(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    transport = httpx.ASGITransport(Guard(ok))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        assert (await client.get("/", headers={"origin": "http://localhost"})).status_code == 204


async def test_two_hosts_are_none(client: httpx.AsyncClient) -> None:
    headers = [("host", "127.0.0.1:7411"), ("host", "127.0.0.1:7411")]
    assert kind(await client.get("/size", headers=headers)) == (421, "wrong_host")


@pytest.mark.parametrize(
    "origin",
    [
        *(
            "null",
            "http://evil.example",
            "https://127.0.0.1:7411",
            "http://127.0.0.1",
            "http://localhost:3000",
            "",
        ),
        *(
            "http://127.0.0.1:7411.evil.example",
            "http://localhost:7411",
            "http://127.0.0.1:7411, http://evil.example",
        ),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
async def test_pages_of_other_origins_are_refused(
    client: httpx.AsyncClient, method: str, origin: str
) -> None:
    answered = await client.request(
        method, "/size", headers={"origin": origin, "content-type": "application/json"}
    )
    assert kind(answered) == (403, "foreign_origin")
    assert not [header for header in answered.headers if header.startswith("access-control")]


async def test_our_own_origin_is_answered_without_cors_headers(client: httpx.AsyncClient) -> None:
    answered = await client.get("/size", headers={"origin": "http://127.0.0.1:7411"})
    assert answered.status_code == 200
    assert not [header for header in answered.headers if header.startswith("access-control")]


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "text/plain; application/json",
        "",
        None,
    ],
)
async def test_what_a_form_can_send_is_refused(client: httpx.AsyncClient, content_type: str | None) -> None:
    headers = {} if content_type is None else {"content-type": content_type}
    assert kind(await client.post("/size", content=b"{}", headers=headers)) == (415, "wrong_content_type")


@pytest.mark.parametrize("content_type", ["application/json", "Application/JSON; charset=utf-8"])
async def test_json_is_answered(client: httpx.AsyncClient, content_type: str) -> None:
    answered = await client.post("/size", content=b"x" * LIMIT, headers={"content-type": content_type})
    assert (answered.status_code, answered.json()) == (200, LIMIT)


@pytest.mark.parametrize("length", [str(LIMIT + 1), "9" * 30, "9" * 5000])
async def test_a_body_declared_too_large_is_refused_unread(client: httpx.AsyncClient, length: str) -> None:
    headers = {"content-type": "application/json", "content-length": length}
    assert kind(await client.post("/size", content=b"{}", headers=headers)) == (413, "too_large")


async def test_a_body_of_unknown_length_is_read_up_to_the_limit_only(client: httpx.AsyncClient) -> None:
    taken = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal taken
        while True:
            taken += 100
            yield b"x" * 100

    answered = await client.post("/size", content=endless(), headers={"content-type": "application/json"})
    assert kind(answered) == (413, "too_large")
    assert taken == LIMIT + 100
