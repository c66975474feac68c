"""The HTTP face over a real Postgres: every route, and the OpenAPI document that describes them."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import psycopg
import pytest
import pytest_asyncio
from fastapi import FastAPI
from psycopg import sql
from tests.conftest import TEMPLATE, TestDatabase
from tests.conftest import _database as make_database

from everlore import operating
from everlore.api.verbs import verbs
from everlore.everlore import Everlore
from everlore.faces.http.server import create_app
from everlore.models.fake import FakeEmbedder
from everlore.store.server import SUPERUSER, Server

HERE = "http://127.0.0.1:7411"
EMMA: dict[str, Any] = {
    "role": "user",
    "author": "Maya",
    "text": "My sister Emma moved to Lisbon.",
    "at": "2025-05-12T16:03:00+02:00",
    "external_id": "m1",
}


# One app and one loop for all; each test speaks to a workspace of its own.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def a_database(server: Server) -> Iterator[TestDatabase]:
    yield from make_database(server, TEMPLATE)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(a_database: TestDatabase) -> AsyncIterator[FastAPI]:
    app = create_app(a_database.settings(), worker=False, embedders={"fake": FakeEmbedder()})
    async with app.router.lifespan_context(app):
        yield app


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with to(app) as client:
        yield client


def to(app: FastAPI) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=HERE)


async def test_what_is_recorded_is_recalled_with_its_citation(
    app: FastAPI, client: httpx.AsyncClient
) -> None:
    messages = [EMMA, {"role": "assistant", "text": "How nice!", "at": "2025-05-12T14:04:00Z"}]
    recorded = await client.post(
        "/v1/messages", json={"workspace": "alice", "thread": "chat", "messages": messages}
    )
    assert recorded.status_code == 201
    receipt = recorded.json()
    assert [outcome["status"] for outcome in receipt["outcomes"]] == ["stored", "stored"]
    assert (receipt["thread"], receipt["stored"], receipt["already_there"], receipt["refused"]) == (
        "chat",
        2,
        0,
        [],
    )
    lore: Everlore = app.state.lore
    await lore.catch_up()

    question = {
        "workspace": "alice",
        "query": "Where did Emma move?",
        "neighbours": 1,
        "trace": True,
        "limit": 1,
    }
    answered = await client.post("/v1/recall", json=question)
    assert answered.status_code == 200
    answer = answered.json()
    (hit,) = answer["hits"]
    message_id = receipt["outcomes"][0]["message_id"]
    assert hit["text"] == EMMA["text"]
    assert hit["citation"] == {
        "message_id": message_id,
        "short_id": message_id[-8:],
        "thread": "chat",
        "author": "Maya",
        "role": "user",
        "at": "2025-05-12T14:03:00Z",
    }
    assert hit["confidence"] == hit["support"]["confidence"] > 0
    assert "emma" in hit["support"]["covered"]
    assert hit["trace"]["lexical"]["rank"] == 1
    assert [(n["offset"], n["text"], n["citation"]["thread"]) for n in hit["neighbours"]] == [
        (1, "How nice!", "chat")
    ]
    assert answer["degraded"] == []
    assert answer["took_ms"]


async def test_sending_a_request_again_stores_nothing_twice(client: httpx.AsyncClient) -> None:
    request = {"workspace": "again", "messages": [EMMA]}
    first = await client.post("/v1/messages", json=request)
    again = await client.post("/v1/messages", json=request)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["outcomes"] == [
        {"status": "already there", "message_id": first.json()["outcomes"][0]["message_id"], "reason": None}
    ]
    found = await client.post("/v1/recall", json={"workspace": "again", "query": "Emma"})
    assert len(found.json()["hits"]) == 1


async def test_other_content_under_a_taken_id_is_refused_in_its_outcome(client: httpx.AsyncClient) -> None:
    await client.post("/v1/messages", json={"workspace": "carol", "messages": [EMMA]})
    changed = {**EMMA, "text": "My sister Emma moved to Porto."}
    fresh = {"role": "user", "text": "And the boiler was repaired."}

    alone = await client.post("/v1/messages", json={"workspace": "carol", "messages": [changed]})
    assert (alone.status_code, len(alone.json()["refused"])) == (200, 1)
    assert "'m1' is taken" in alone.json()["outcomes"][0]["reason"]
    together = await client.post("/v1/messages", json={"workspace": "carol", "messages": [changed, fresh]})
    assert together.status_code == 201
    assert [outcome["status"] for outcome in together.json()["outcomes"]] == ["refused", "stored"]


async def test_every_limit_of_a_recall_arrives(client: httpx.AsyncClient) -> None:
    garden = {
        "role": "user",
        "author": "Maya",
        "text": "The garden needs water.",
        "at": "2025-05-12T14:03:00Z",
    }
    home = {
        "workspace": "dora",
        "thread": "house",
        "project": "home",
        "taxonomy": "life.house",
        "session": "noon",
    }
    await client.post("/v1/messages", json={**home, "messages": [garden]})

    async def finds(**limits: object) -> int:
        answered = await client.post("/v1/recall", json={"workspace": "dora", "query": "garden", **limits})
        assert answered.status_code == 200, answered.text
        return len(answered.json()["hits"])

    elsewhere = {
        "workspace": "dora",
        "thread": "other",
        "messages": [{"role": "user", "text": "Nothing here."}],
    }
    await client.post("/v1/messages", json=elsewhere)
    assert await finds(author="Maya") == 1
    assert await finds(author="Ali") == 0
    assert await finds(thread="house") == 1
    assert await finds(project="home") == 1
    assert await finds(project="work") == 0
    assert await finds(taxonomy="life") == 1
    assert await finds(taxonomy="work") == 0
    assert await finds(since="2025-05-12T16:03:00+02:00", until="2025-05-12T14:03:01Z") == 1
    assert await finds(since="2025-05-12T14:03:01Z") == 0
    assert await finds(kinds=["message"], now="2025-06-01T00:00:00Z", deadline_ms=60_000) == 1


async def test_recall_makes_no_workspace(client: httpx.AsyncClient) -> None:
    request = {"workspace": "bob", "query": "anything"}
    assert (await client.post("/v1/recall", json=request)).status_code == 404
    assert (await client.post("/v1/recall", json=request)).json()["error"]["type"] == "not_found"
    await client.post("/v1/messages", json={"workspace": "bob", "messages": [EMMA]})
    assert (await client.post("/v1/recall", json=request)).status_code == 200
    unknown_thread = await client.post("/v1/recall", json={**request, "thread": "nowhere"})
    assert unknown_thread.status_code == 404


async def test_health_names_what_is_missing(client: httpx.AsyncClient) -> None:
    answered = await client.get("/healthz")
    assert answered.status_code == 200
    health = answered.json()
    assert (health["ok"], health["database"], health["worker"]) == (True, True, False)
    (reason,) = health["degraded"]
    assert reason.startswith("No worker runs")


async def test_health_says_so_when_the_database_does_not_answer(
    server: Server, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operating, "HEALTH_TIMEOUT_S", 0.2)
    app = create_app(database.settings(), worker=False, embedders={})
    async with app.router.lifespan_context(app), to(app) as client:
        with psycopg.connect(server.conninfo(SUPERUSER, "postgres"), autocommit=True) as connection:
            name = sql.Identifier(database.name)
            connection.execute(sql.SQL("alter database {} with allow_connections false").format(name))
            connection.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [database.name]
            )
        answered = await client.get("/healthz")
    assert answered.status_code == 503
    assert answered.headers["retry-after"]
    assert (answered.json()["ok"], answered.json()["database"]) == (False, False)


async def test_the_openapi_document_tells_everything(client: httpx.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    operations = {
        (method, path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    told = {place: operation["operationId"] for place, operation in operations.items()}
    assert told == {("get", "/healthz"): "health"} | {
        (verb.method.lower(), verb.path.replace(":path", "")): verb.name for verb in verbs()
    }
    for place, operation in operations.items():
        assert operation["summary"], place
        for parameter in operation.get("parameters", ()):
            assert parameter.get("description"), (place, parameter["name"])
    assert set(operations["post", "/v1/messages"]["responses"]) == {
        *("200", "201", "400", "403", "404", "413", "415", "421", "422", "500", "503")
    }
    schemas = document["components"]["schemas"]
    assert "HTTPValidationError" not in schemas
    for called, schema in schemas.items():
        assert schema.get("description"), called
        for field, described in schema["properties"].items():
            assert described.get("description"), f"{called}.{field}"
    assert schemas["RecallRequest"]["properties"]["limit"]["maximum"] == 1000
    assert schemas["RecordRequest"]["properties"]["messages"]["maxItems"] == 10_000
    assert {"type": "string", "format": "date-time"} in schemas["NewMessage"]["properties"]["at"]["anyOf"]
    assert {"short_id", "status", "content"} <= set(schemas["Memory"]["properties"])


async def test_the_page_of_routes_loads_nothing(client: httpx.AsyncClient) -> None:
    page = await client.get("/docs")
    assert page.status_code == 200
    for path in ("/healthz", "/v1/messages", "/v1/recall", "/openapi.json"):
        assert path in page.text
    assert not any(loads in page.text for loads in ("<script", "<link", "<img", "src=", "http:", "https:"))
    assert page.headers["content-security-policy"] == "default-src 'none'"
