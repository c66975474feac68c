"""Memories, facts, entities, the graph, review and distilling over HTTP."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI
from tests.conftest import TEMPLATE, Clock, TestDatabase
from tests.conftest import _database as make_database
from tests.faces.test_cli_operate import STATUS_KEYS

from everlore.everlore import Everlore
from everlore.faces.http.server import create_app
from everlore.models.fake import FakeEmbedder
from everlore.models.rules import WITHOUT_PARSER
from everlore.store.server import Server

HERE = "http://127.0.0.1:7411"
JSON = {"content-type": "application/json"}
NOBODY = "00000000"
SISTER = "Emma is my sister."
TOM = "My brother Tom works at Siemens."

# One app and one loop for all; each test speaks to a workspace of its own.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def a_database(server: Server) -> Iterator[TestDatabase]:
    yield from make_database(server, TEMPLATE)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(a_database: TestDatabase) -> AsyncIterator[FastAPI]:
    clock = Clock(datetime(2025, 6, 14, 12, tzinfo=UTC))
    app = create_app(a_database.settings(), worker=False, embedders={"fake": FakeEmbedder()}, clock=clock)
    async with app.router.lifespan_context(app):
        yield app


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=HERE) as client:
        yield client


class At:
    """Requests to one workspace."""

    def __init__(self, client: httpx.AsyncClient, app: FastAPI, workspace: str) -> None:
        self.client, self.lore, self.workspace = client, app.state.lore, workspace

    async def get(self, path: str, status: int = 200, /, **query: object) -> Any:
        return await self._answer(
            self.client.get(path, params={"workspace": self.workspace, **query}),  # pyright: ignore[reportArgumentType]
            status,
        )

    async def delete(self, path: str, status: int = 200, /, **query: object) -> Any:
        return await self._answer(
            self.client.delete(path, params={"workspace": self.workspace, **query}),  # pyright: ignore[reportArgumentType]
            status,
        )

    async def send(self, method: str, path: str, status: int = 200, /, **body: object) -> Any:
        return await self._answer(
            self.client.request(method, path, json={"workspace": self.workspace, **body}), status
        )

    async def post(self, path: str, status: int = 200, /, **body: object) -> Any:
        return await self.send("POST", path, status, **body)

    async def _answer(self, request: Any, status: int) -> Any:
        answered: httpx.Response = await request
        assert answered.status_code == status, answered.text
        return answered.json() if answered.content else None

    async def emma_moves(self) -> None:
        said = {"role": "user", "author": "Alice"}
        messages = [
            {**said, "text": "Emma lives in Porto.", "at": "2024-03-02T12:00:00Z"},
            {**said, "text": "Emma moved to Lisbon.", "at": "2025-05-20T12:00:00Z"},
        ]
        await self.post("/v1/messages", 201, thread="family", messages=messages)
        await self.distil()

    async def distil(self) -> None:
        lore: Everlore = self.lore
        await lore.distil(await lore.workspace(self.workspace))
        await lore.catch_up()

    async def remember(self, content: str, **more: object) -> dict[str, Any]:
        return await self.post("/v1/memories", 201, content=content, **more)


@pytest.fixture
def here(client: httpx.AsyncClient, app: FastAPI) -> At:
    return At(client, app, uuid4().hex)


async def test_a_memory_is_remembered_listed_and_shown(here: At) -> None:
    kept = await here.remember(
        TOM,
        type="relationship",
        author="Alice",
        tags=["work"],
        importance=0.9,
        pin=True,
        event_at="2025-07-01T00:00:00Z",
        at="2025-01-05T12:00:00+01:00",
        entities=["Nokia"],
    )
    assert (kept["status"], kept["type"], kept["pinned"], kept["tags"]) == (
        "active",
        "relationship",
        True,
        ["work"],
    )
    assert kept["valid_from"] == "2025-01-05T11:00:00Z"
    assert kept["short_id"] == kept["lineage_id"].replace("-", "")[-8:]
    assert kept.pop("notice") is None
    listed = await here.get("/v1/memories", types=["relationship", "task"], pinned="true", entity="Tom")
    assert listed == {"items": [kept], "total": 1, "cursor": None}
    for identifier in (kept["memory_id"], kept["short_id"], UUID(kept["lineage_id"]).hex):
        detail = await here.get(f"/v1/memories/{identifier}")
        assert set(detail) == {"memory", "sources", "versions", "facts"}
        assert detail["memory"] == kept
    assert [fact["predicate"] for fact in detail["facts"]] != []
    assert detail["sources"][0]["message_id"] is None


async def test_without_the_parser_answers_say_that_nothing_is_distilled(
    a_database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("everlore.wiring.parser_is_installed", lambda: False)
    app = create_app(a_database.settings(), worker=False, embedders={"fake": FakeEmbedder()})
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=HERE) as client,
    ):
        here = At(client, app, "without a parser")
        assert (await here.post("/v1/memories", 201, content=TOM))["notice"] == WITHOUT_PARSER
        begun = await here.post("/v1/distil", 202, estimate_only=True)
        assert begun["estimate"]["undistilled_because"] == WITHOUT_PARSER
        assert (await here.get("/v1/status"))["undistilled_because"] == WITHOUT_PARSER
        assert WITHOUT_PARSER in (await client.get("/healthz")).json()["degraded"]


async def test_every_filter_of_memories_arrives(here: At) -> None:
    await here.emma_moves()
    await here.remember("Buy milk.", type="task", at="2020-01-01T00:00:00Z")

    async def contents(**limits: object) -> list[str]:
        return [one["content"] for one in (await here.get("/v1/memories", **limits))["items"]]

    assert await contents() == ["Emma moved to Lisbon."]
    assert await contents(include_expired="true") == ["Emma moved to Lisbon.", "Buy milk."]
    assert await contents(status="expired") == ["Buy milk."]
    assert await contents(types="task", status="all") == ["Buy milk."]
    assert await contents(text="lisbon") == ["Emma moved to Lisbon."]
    assert await contents(entity="Emma", thread="family", pinned="false") == ["Emma moved to Lisbon."]
    assert await contents(since="2025-06-01T00:00:00Z") == []
    assert await contents(until="2025-06-01T00:00:00Z") == ["Emma moved to Lisbon."]
    assert await contents(valid_at="2025-01-01T00:00:00Z") == ["Emma lives in Porto."]
    assert await contents(recorded_at="2020-01-01T00:00:00Z") == []
    assert len(await contents(status="all", limit=1)) == 1
    first = await here.get("/v1/memories", status="all", limit=1)
    assert (len(first["items"]), first["total"]) == (1, 3)
    rest = await here.get("/v1/memories", status="all", cursor=first["cursor"])
    assert (len(rest["items"]), rest["total"], rest["cursor"]) == (2, 3, None)


async def test_a_correction_names_what_changes_and_nothing_else(here: At) -> None:
    kept = await here.remember(TOM, author="Alice", tags=["work"], category="people")
    path = f"/v1/memories/{kept['short_id']}"
    corrected = await here.send("PATCH", path, content="My brother Tom works at Bosch.", category=None)
    assert (corrected["version"], corrected["tags"], corrected["category"]) == (2, ["work"], None)
    history = await here.get(f"{path}/history")
    assert [one["content"] for one in history] == [TOM, "My brother Tom works at Bosch."]
    facts = (await here.get("/v1/facts", predicate="works_at"))["items"]
    assert [fact["object"] for fact in facts] == ["Bosch"]
    nothing = await here.send("PATCH", path, 422)
    assert nothing["error"]["field"] == "changes"


async def test_the_verbs_of_a_memory(here: At) -> None:
    kept = await here.remember(TOM, author="Alice")
    path = f"/v1/memories/{kept['short_id']}"

    async def do(verb: str) -> dict[str, Any]:
        return await here.post(f"{path}/{verb}")

    assert (await do("pin"))["pinned"] is True
    assert (await do("unpin"))["pinned"] is False
    assert (await do("forget"))["status"] == "forgotten"
    assert (await here.get("/v1/facts"))["items"] == []
    assert (await do("restore"))["status"] == "active"
    assert (await do("reject"))["status"] == "rejected"
    assert (await do("confirm"))["confirmed"] is True
    assert (await here.get("/v1/facts"))["items"] != []


async def test_what_is_erased_leaves_a_receipt_and_nothing_else(here: At) -> None:
    await here.emma_moves()
    (emma,) = (await here.get("/v1/memories"))["items"]
    path = f"/v1/memories/{emma['short_id']}"
    receipt = await here.delete(path, sources="true")
    assert set(receipt) == {
        "messages",
        "memories",
        "versions",
        "facts",
        "entities",
        "counts",
        "to_read_again",
    }
    assert (len(receipt["messages"]), receipt["memories"]) == (1, [emma["lineage_id"]])
    await here.get(path, 404)
    await here.delete(path, 404)
    assert (await here.get("/v1/status"))["workspace"]["messages"] == 1
    assert (await here.get("/v1/graph/search", query="Lisbon"))["items"] == []


async def test_facts_with_their_times_sources_and_a_persons_word(here: At) -> None:
    await here.emma_moves()

    async def lives(**limits: object) -> list[str]:
        found = await here.get("/v1/facts", subject="Emma", predicate="lives_in", **limits)
        return [fact["object"] for fact in found["items"]]

    assert await lives() == ["Lisbon"]
    assert await lives(valid_at="2025-01-01T00:00:00Z") == ["Porto"]
    assert await lives(recorded_at="2020-01-01T00:00:00Z") == []
    assert await lives(history="true") == ["Lisbon", "Porto"]
    assert await lives(object="lis") == ["Lisbon"]
    (fact,) = (await here.get("/v1/facts", about="Lisbon"))["items"]
    assert fact["sources"][0]["quote"] == "Emma moved to Lisbon"
    detail = await here.get(f"/v1/facts/{fact['short_id']}")
    assert detail == {"fact": fact, "versions": [fact]}
    sure = await here.post(f"/v1/facts/{fact['fact_id']}/confirm")
    assert sure["confidence"] == 0.99
    gone = await here.post(f"/v1/facts/{fact['short_id']}/reject")
    assert gone["review"] == "rejected"
    assert "Lisbon" not in await lives()


async def test_recall_answers_with_memories_and_facts(here: At) -> None:
    await here.emma_moves()
    answer = await here.post("/v1/recall", query="Where does Emma live now?")
    assert set(answer) == {
        "question",
        "hits",
        "memories",
        "facts",
        "branches",
        "others",
        "reading",
        "unsupported",
        "degraded",
        "took_ms",
    }
    best = answer["facts"][0]
    assert (best["fact"]["object"], best["current"]) == ("Lisbon", True)
    assert best["confidence"] == best["support"]["confidence"]
    assert best["sources"][0]["author"] == "Alice"
    known = await here.post("/v1/recall", query="Where does Emma live now?", kinds=["memory"])
    assert known["memories"][0]["memory"]["status"] == "active"
    then = await here.post(
        "/v1/recall", query="Where does Emma live?", as_of={"valid_at": "2025-01-01T00:00:00Z"}
    )
    assert then["facts"][0]["fact"]["object"] == "Porto"
    only = await here.post("/v1/recall", query="Where does Emma live?", kinds=["fact"], limit_facts=1)
    assert (len(only["facts"]), only["memories"], only["hits"]) == (1, [], [])
    await here.remember("Call the plumber.", type="task")
    tasks = await here.post("/v1/recall", query="Which tasks are open?")
    assert tasks["reading"]["types"] == ["task"]
    asked = {"query": "What did we decide last month?", "now": "2025-06-14T12:00:00+02:00"}
    month = (await here.post("/v1/recall", **asked))["reading"]
    assert (month["since"], month["until"]) == ("2025-04-30T22:00:00Z", "2025-05-31T22:00:00Z")


async def test_entities_names_merges_and_splits(here: At) -> None:
    await here.emma_moves()
    await here.remember(SISTER, author="Alice", at="2024-01-01T00:00:00Z")
    await here.remember(TOM, author="Alice")
    found = await here.get("/v1/entities", query="emma", type="person")
    assert found["items"][0]["entity"]["name"] == "Emma"
    assert "Emma" in {one["entity"]["name"] for one in (await here.get("/v1/entities"))["items"]}
    detail = await here.get("/v1/entities/Emma")
    assert {fact["object"] for fact in detail["facts"]} == {"Lisbon", "Alice"}
    then = await here.get("/v1/entities/Emma", valid_at="2025-01-01T00:00:00Z")
    assert {fact["object"] for fact in then["facts"]} == {"Porto", "Alice"}

    named = await here.post("/v1/entities/Emma/aliases", alias="Em/mie")
    assert "Em/mie" in {one["variant"] for one in named["aliases"]}
    await here.delete("/v1/entities/Emma/aliases", alias="Em/mie")
    await here.delete("/v1/entities/Emma/aliases", 404, alias="Em/mie")
    change = await here.post(f"/v1/entities/{quote('Emma')}/merge", other="Tom")
    assert (change["kind"], change["kept"]["name"]) == ("merge", "Emma")
    assert (await here.get("/v1/entity-changes"))["items"] == [change]
    undone = await here.post(f"/v1/entity-changes/{change['short_id']}/undo")
    assert undone["undone_at"] is not None
    await here.post("/v1/entities/Emma/aliases", alias="Emmie")
    (hit,) = (await here.post("/v1/recall", query="moved to Lisbon", limit=1))["hits"]
    split = await here.post(
        "/v1/entities/Emma/split",
        called="Emma Two",
        aliases=["Emmie"],
        messages=[hit["citation"]["message_id"]],
    )
    assert split["other"]["name"] == "Emma Two"


async def test_sources_of_an_answer_are_confirmed_and_refused(here: At) -> None:
    await here.post("/v1/messages", 201, messages=[{"role": "user", "text": "Emma moved to Lisbon."}])
    (hit,) = (await here.post("/v1/recall", query="Where did Emma move?"))["hits"]
    said = hit["citation"]["message_id"]
    answer = await here.post("/v1/feedback", query="Where did Emma move?", refused=[said])
    assert answer == {"confirmed": [], "refused": [said]}
    (hit,) = (await here.post("/v1/recall", query="Where did Emma move?"))["hits"]
    assert "refused for a question like this" in hit["support"]["reasons"]
    bad = await here.post("/v1/feedback", 422, query="Where did Emma move?", confirmed=[said], refused=[said])
    assert bad["error"]["field"] == "refused"


async def test_a_name_with_slashes_is_an_address(here: At) -> None:
    await here.post("/v1/memories", 201, content="We played songs all night.", entities=["AC/DC", "Rose"])
    band = f"/v1/entities/{quote('AC/DC', safe='')}"
    assert (await here.get(band))["entity"]["name"] == "AC/DC"
    await here.post(f"{band}/aliases", alias="Acca Dacca")
    names = (await here.get(f"{band}/aliases"))["items"]
    assert {one["variant"] for one in names} == {"AC/DC", "Acca Dacca"}
    assert (await here.post("/v1/entities/Rose/merge", other="AC/DC"))["kept"]["name"] == "Rose"
    refused = await here.send("PUT", f"/v1/taxonomy/{quote('a/b', safe='')}", 422, label="x")
    assert refused["error"]["field"] == "path"


async def test_the_graph_and_the_taxonomy(here: At) -> None:
    await here.emma_moves()
    await here.remember(SISTER, author="Alice", at="2024-01-01T00:00:00Z")
    found = await here.get("/v1/graph/search", query="Lisbonn")
    assert found["items"][0]["entity"]["name"] == "Lisbon"
    near = await here.get("/v1/graph/show", entity="Alice", depth=2)
    assert {node["name"] for node in near["nodes"]} == {"Alice", "Emma", "Lisbon"}
    assert near["cut"] is False
    path = await here.get("/v1/graph/path", one="Alice", other="Lisbon")
    assert [node["name"] for node in path["nodes"]] == ["Alice", "Emma", "Lisbon"]
    assert path["hops"][1][0]["sources"][0]["author"] == "Alice"
    none = await here.get("/v1/graph/path", one="Alice", other="Lisbon", recorded_at="2020-01-01T00:00:00Z")
    assert none is None
    await here.send("PUT", "/v1/taxonomy/work.studio", 204, label="The studio")
    assert [one["path"] for one in (await here.get("/v1/taxonomy"))["items"]] == ["work", "work.studio"]


async def test_review_is_listed_and_decided(here: At) -> None:
    said = [
        "I talked to Jonas Ekdahl. Jonas Ekdahl lives in Umeå.",
        "Jonas called, Jonas lives in Lund.",
    ]
    messages = [{"role": "user", "author": "Maya", "text": text} for text in said]
    await here.post("/v1/messages", 201, messages=messages)
    await here.distil()
    for item in (await here.get("/v1/review"))["items"]:
        assert set(item) == {"kind", "id", "short_id", "state", "text", "reason", "recorded_at"}
        await here.post(f"/v1/review/{item['short_id']}/reject", 204)
    assert await here.get("/v1/review") == {"items": [], "total": 0, "cursor": None}
    await here.post(f"/v1/review/{NOBODY}/accept", 404)


async def test_distilling_is_begun_and_not_waited_for(here: At) -> None:
    message = {"role": "user", "author": "Alice", "text": "My sister Emma lives in Porto."}
    await here.post("/v1/messages", 201, messages=[message])
    only = await here.post("/v1/distil", 202, estimate_only=True)
    assert only == {
        "threads": 0,
        "worker": False,
        "estimate": {
            "threads": 1,
            "messages": 1,
            "analyst": "rules",
            "calls": 0,
            "tokens_in": 0,
            "tokens_out": 0,
            "cost": None,
            "undistilled_because": None,
        },
    }
    begun = await here.post("/v1/distil", 202, thread="main")
    assert (begun["threads"], begun["estimate"]["messages"]) == (1, 1)
    state = await here.get("/v1/status")
    assert set(state) == STATUS_KEYS
    assert (state["data_dir"], state["isolation"]) == (None, "full")
    assert (state["workspace"]["undistilled"], state["parked"], state["failures"]) == (1, [], [])
    await here.distil()
    assert (await here.get("/v1/status"))["workspace"]["undistilled"] == 0
    assert (await here.post("/v1/distil", 202))["threads"] == 0
    again = await here.post("/v1/distil", 202, again=True, since_position=1, until_position=5)
    assert (again["threads"], again["estimate"]["messages"]) == (1, 1)
    await here.distil()
    assert [
        fact["object"]
        for fact in (await here.get("/v1/facts", subject="Emma", predicate="lives_in"))["items"]
    ] == ["Porto"]


async def test_usage_and_retrying(here: At, client: httpx.AsyncClient) -> None:
    await here.remember("I prefer tea.")
    assert await here.get("/v1/usage") == {"days": [], "soft_caps": [], "hard_caps": [], "left_alone": []}
    assert (await client.post("/v1/jobs/retry", headers=JSON)).json() == {"retried": 0}


async def test_what_cannot_be_is_refused_with_the_name_of_the_field(here: At) -> None:
    kept = await here.remember(TOM, author="Alice")
    memory = f"/v1/memories/{kept['short_id']}"
    sent: list[tuple[str, str, dict[str, object], str]] = [
        ("POST", "/v1/memories", {}, "content"),
        ("POST", "/v1/memories", {"content": "  "}, "content"),
        ("POST", "/v1/memories", {"content": "a\0b"}, "content"),
        ("POST", "/v1/memories", {"content": "x" * 2001}, "content"),
        ("POST", "/v1/memories", {"content": "x", "type": "dream"}, "type"),
        ("POST", "/v1/memories", {"content": "x", "importance": 2}, "importance"),
        ("POST", "/v1/memories", {"content": "x", "importance": "1"}, "importance"),
        ("POST", "/v1/memories", {"content": "x", "tags": ["y"] * 21}, "tags"),
        ("POST", "/v1/memories", {"content": "x", "tags": ["ok", "y" * 61]}, "tags[1]"),
        ("POST", "/v1/memories", {"content": "x", "at": "2025-05-12"}, "at"),
        ("POST", "/v1/memories", {"content": "x", "at": 1747058580}, "at"),
        ("POST", "/v1/memories", {"content": "x", "entities": [" "]}, "entities[0]"),
        ("POST", "/v1/memories", {"content": "x", "mood": "good"}, "mood"),
        ("PATCH", memory, {"type": None}, "type"),
        ("PATCH", memory, {"tags": None}, "tags"),
        ("PATCH", memory, {"content": ""}, "content"),
        ("PATCH", memory, {"pinned": True}, "pinned"),
        ("POST", "/v1/memories/12/pin", {}, "id"),
        ("POST", f"{memory}/pin", {"much": 1}, "much"),
        ("POST", f"/v1/memories/{'1' * 37}/pin", {}, "id"),
        ("POST", "/v1/entities/Tom/merge", {"other": "Tom"}, "other"),
        ("POST", "/v1/entities/Tom/aliases", {"alias": ""}, "alias"),
        ("POST", "/v1/entities/Tom/split", {"called": "T", "aliases": [], "messages": ["12"]}, "messages[0]"),
        ("POST", "/v1/entities/Tom/split", {"called": "T", "aliases": []}, "aliases"),
        ("PUT", "/v1/taxonomy/a..b", {"label": "x"}, "path"),
        ("PUT", "/v1/taxonomy/a.b", {"label": " "}, "label"),
        ("POST", "/v1/review/12/accept", {}, "id"),
        ("POST", "/v1/distil", {"since_position": 1}, "again"),
        ("POST", "/v1/distil", {"again": True, "since_position": 0}, "since_position"),
        ("POST", "/v1/distil", {"again": True, "since_position": 9, "until_position": 2}, "until"),
        ("POST", "/v1/recall", {"query": "x", "as_of": {"valid_at": "2025-01-01"}}, "as_of.valid_at"),
        ("POST", "/v1/recall", {"query": "x", "kinds": ["dream"]}, "kinds[0]"),
        ("POST", "/v1/recall", {"query": "x", "limit_facts": -1}, "limit_facts"),
    ]
    for method, path, body, field in sent:
        error = (await here.send(method, path, 422, **body))["error"]
        assert (error["type"], error["field"]) == ("invalid_input", field), (path, body, error)
    asked: list[tuple[str, dict[str, object], str]] = [
        ("/v1/memories", {"limit": 0}, "limit"),
        ("/v1/memories", {"limit": "many"}, "limit"),
        ("/v1/memories", {"cursor": "x"}, "cursor"),
        ("/v1/memories", {"types": "dream"}, "types[0]"),
        ("/v1/memories", {"status": "lost"}, "status"),
        ("/v1/memories", {"valid_at": "2025-01-01"}, "valid_at"),
        ("/v1/memories", {"valid_at": "then"}, "valid_at"),
        ("/v1/memories", {"taxonomy": "a..b"}, "taxonomy"),
        ("/v1/memories", {"text": "a\0b"}, "text"),
        ("/v1/memories", {"author": "Alice"}, "author"),
        ("/v1/facts", {"history": "perhaps"}, "history"),
        ("/v1/facts/zzzzzzzz", {}, "id"),
        (memory, {"as_of": "2025-01-01"}, "as_of"),
        ("/v1/entities", {"type": "dream"}, "type"),
        ("/v1/graph/search", {}, "query"),
        ("/v1/graph/show", {"entity": "Tom", "depth": 4}, "depth"),
        ("/v1/graph/path", {"one": "Tom"}, "other"),
        ("/v1/usage", {"days": 0}, "days"),
        ("/v1/review", {"limit": 1001}, "limit"),
        ("/v1/status", {"verbose": 1}, "verbose"),
    ]
    for path, query, field in asked:
        error = (await here.get(path, 422, **query))["error"]
        assert (error["type"], error["field"]) == ("invalid_input", field), (path, query, error)


async def test_what_does_not_exist_is_not_found(here: At) -> None:
    await here.remember("I prefer tea.")
    for path in (
        f"/v1/memories/{NOBODY}",
        f"/v1/memories/{uuid4()}",
        f"/v1/memories/{NOBODY}/history",
        f"/v1/facts/{NOBODY}",
        "/v1/entities/Nobody",
        "/v1/nowhere",
    ):
        await here.get(path, 404)
    await here.get("/v1/graph/show", 404, entity="Nobody")
    await here.get("/v1/graph/path", 404, one="Nobody", other="Nobody")
    for path in (
        *(
            f"/v1/memories/{NOBODY}/{verb}"
            for verb in ("pin", "unpin", "forget", "restore", "confirm", "reject")
        ),
        *(f"/v1/facts/{NOBODY}/{verb}" for verb in ("confirm", "reject")),
        f"/v1/entity-changes/{NOBODY}/undo",
    ):
        await here.post(path, 404)
    nowhere = At(here.client, httpx_app(here), uuid4().hex)
    for path in (
        "/v1/memories",
        "/v1/facts",
        "/v1/entities",
        "/v1/review",
        "/v1/usage",
        "/v1/status",
        "/v1/taxonomy",
    ):
        await nowhere.get(path, 404)
    await nowhere.post("/v1/distil", 404)


def httpx_app(here: At) -> Any:
    return here.client._transport.app  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


async def test_a_body_of_another_type_is_refused_whatever_the_method(here: At) -> None:
    kept = await here.remember("I prefer tea.")
    for method, path in (
        ("POST", f"/v1/memories/{kept['short_id']}/forget"),
        ("PATCH", f"/v1/memories/{kept['short_id']}"),
        ("PUT", "/v1/taxonomy/a"),
    ):
        answered = await here.client.request(
            method, path, content=b"{}", headers={"content-type": "text/plain"}
        )
        assert answered.status_code == 415
