"""Everything that may be wrong with a request gets an answer in one shape, and never a 5xx."""

import json
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import fields
from typing import Any

import httpx
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import TEMPLATE, TestDatabase
from tests.conftest import _database as make_database

from everlore.api.verbs import parameters_of, verbs
from everlore.api.workspace import Workspace
from everlore.domain.errors import (
    ConfigurationError,
    DatabaseUnavailable,
    InternalError,
    InvalidInput,
    ModelUnavailable,
    NotFound,
)
from everlore.domain.messages import NewMessage
from everlore.faces.http.server import create_app
from everlore.models.fake import FakeEmbedder
from everlore.store.server import Server

FIELDS = {verb.command: [one.name for one in parameters_of(verb)] for verb in verbs()}
HERE = "http://127.0.0.1:7411"
JSON = {"content-type": "application/json"}
SAID: dict[str, Any] = {"role": "user", "text": "The boiler was repaired."}


# One app and one loop for all of them: a database of its own for each odd value would take a second.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def a_database(server: Server) -> Iterator[TestDatabase]:
    yield from make_database(server, TEMPLATE)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(a_database: TestDatabase) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(a_database.settings(), worker=False, embedders={"fake": FakeEmbedder()})
    # What the app raises to the server after it has answered stays out of the tests.
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url=HERE) as client,
    ):
        yield client


def problem(answered: httpx.Response) -> dict[str, Any]:
    """The error of an answer, which must have our shape and nothing besides."""
    body = answered.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"type", "field", "message"}
    assert body["error"]["message"]
    assert "Traceback" not in answered.text
    return body["error"]


def a_message(**changes: object) -> dict[str, Any]:
    return {"messages": [SAID, SAID, SAID, {**SAID, **changes}]}


RECORDS: list[tuple[object, str]] = [
    (a_message(text="  \n"), "messages[3].text"),
    (a_message(text="a\0b"), "messages[3].text"),
    (a_message(text="a\ud800b"), "messages[3].text"),
    (a_message(text="x" * 1_000_001), "messages[3].text"),
    (a_message(text="ä" * 500_001), "messages[3].text"),
    (a_message(text=7), "messages[3].text"),
    (a_message(text=None), "messages[3].text"),
    *(
        ({"messages": [SAID, {"role": "user", "content": text}]}, "messages[1].content")
        for text in (" ", "a\0b", "a\ud800b", "x" * 1_000_001, 7, None, ["x"])
    ),
    (a_message(content="Another text."), "messages[3].content"),
    (a_message(role="robot"), "messages[3].role"),
    (a_message(author=" "), "messages[3].author"),
    (a_message(author="x" * 201), "messages[3].author"),
    (a_message(at="2025-05-12T14:03:00"), "messages[3].at"),
    (a_message(at="2025-05-12"), "messages[3].at"),
    (a_message(at="2025-02-30T14:03:00Z"), "messages[3].at"),
    (a_message(at="0001-01-01T00:00:00+14:00"), "messages[3].at"),
    (a_message(at=1747058580), "messages[3].at"),
    (a_message(at="1747058580"), "messages[3].at"),
    (a_message(at=float("nan")), "messages[3].at"),
    (a_message(captions="a beach"), "messages[3].captions"),
    (a_message(captions=["ok", "\ud800"]), "messages[3].captions[1]"),
    (a_message(captions=["x"] * 101), "messages[3].captions"),
    (a_message(metadata=[1]), "messages[3].metadata"),
    (a_message(metadata={"score": float("nan")}), "messages[3].metadata"),
    (a_message(metadata={"score": float("inf")}), "messages[3].metadata"),
    (a_message(metadata={"a\0": 1}), "messages[3].metadata"),
    (a_message(metadata={"deep": ["\ud800"]}), "messages[3].metadata"),
    (a_message(tool_calls=[{"call": "x\0"}]), "messages[3].tool_calls"),
    (a_message(tool_calls=["call"]), "messages[3].tool_calls[0]"),
    (a_message(external_id=""), "messages[3].external_id"),
    (a_message(taxonomy="a..b"), "messages[3].taxonomy"),
    (a_message(taxonomy="a\n"), "messages[3].taxonomy"),
    (a_message(sentiment="good"), "messages[3].sentiment"),
    ({"messages": [{"text": "who?"}]}, "messages[0].role"),
    ({"messages": ["hello"]}, "messages[0]"),
    ({"messages": []}, "messages"),
    ({"messages": [SAID] * 10_001}, "messages"),
    ({}, "messages"),
    ({"messages": [SAID], "workspace": "\0"}, "workspace"),
    ({"messages": [SAID], "workspace": " "}, "workspace"),
    ({"messages": [SAID], "thread": "\udfff"}, "thread"),
    ({"messages": [SAID], "session": ""}, "session"),
    ({"messages": [SAID], "project": 10**400}, "project"),
    ({"messages": [SAID], "x" * 5000: 1}, "x" * 300 + "..."),
    ([SAID], "body"),
    ("hello", "body"),
    (None, "body"),
]


@pytest.mark.parametrize(
    ("body", "field"), RECORDS, ids=lambda value: str(value)[-60:] if isinstance(value, str) else ""
)
async def test_a_bad_message_is_refused_with_its_field(
    client: httpx.AsyncClient, body: object, field: str
) -> None:
    answered = await client.post("/v1/messages", content=json.dumps(body), headers=JSON)
    assert answered.status_code == 422, answered.text
    error = problem(answered)
    assert (error["type"], error["field"]) == ("invalid_input", field)


async def test_of_a_bad_request_nothing_is_stored(client: httpx.AsyncClient) -> None:
    answered = await client.post("/v1/messages", json={**a_message(text="a\0b"), "workspace": "untouched"})
    assert answered.status_code == 422
    await client.post(
        "/v1/messages", json={"workspace": "untouched", "messages": [{"role": "user", "text": "Hello."}]}
    )
    found = await client.post("/v1/recall", json={"workspace": "untouched", "query": "boiler"})
    assert [hit["text"] for hit in found.json()["hits"] if hit["text"] != "Hello."] == []


@pytest.mark.parametrize(
    ("limits", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": " "}, "query"),
        ({"query": "x" * 8001}, "query"),
        ({"query": "\0"}, "query"),
        ({"query": "\ud83d"}, "query"),
        ({"limit": 0}, "limit"),
        ({"limit": 1001}, "limit"),
        ({"limit": 10**4000}, "limit"),
        ({"limit": "10"}, "limit"),
        ({"limit": True}, "limit"),
        ({"neighbours": 21}, "neighbours"),
        ({"neighbours": -1}, "neighbours"),
        ({"deadline_ms": 0}, "deadline_ms"),
        ({"deadline_ms": float("nan")}, "deadline_ms"),
        ({"deadline_ms": float("inf")}, "deadline_ms"),
        ({"now": "2025-05-12T14:03:00"}, "now"),
        ({"since": "yesterday"}, "since"),
        ({"until": "9999-12-31T23:59:59-12:00"}, "until"),
        ({"kinds": ["dream"]}, "kinds[0]"),
        ({"limit_facts": -1}, "limit_facts"),
        ({"as_of": {"valid_at": "2025-01-01"}}, "as_of.valid_at"),
        ({"as_of": {"at": "2025-01-01T00:00:00Z"}}, "as_of.at"),
        ({"kinds": "message"}, "kinds"),
        ({"trace": "yes"}, "trace"),
        ({"taxonomy": "a b"}, "taxonomy"),
        ({"author": "\ud800"}, "author"),
        ({"question": "twice"}, "question"),
    ],
    ids=str,
)
async def test_a_bad_question_is_refused_with_its_field(
    client: httpx.AsyncClient, limits: dict[str, Any], field: str
) -> None:
    answered = await client.post(
        "/v1/recall", content=json.dumps({"query": "boiler", **limits}), headers=JSON
    )
    assert answered.status_code == 422, answered.text
    assert problem(answered)["field"] == field


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b'{"query": "x",}',
        b'{"query": "\xff"}',
        b'{"query": "x", "limit": ' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"query": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b"query=x",
    ],
    ids=lambda content: repr(content[:20]),
)
async def test_a_body_that_is_not_json_is_a_400(client: httpx.AsyncClient, content: bytes) -> None:
    answered = await client.post("/v1/recall", content=content, headers=JSON)
    assert answered.status_code == 400, answered.text
    assert (problem(answered)["type"], problem(answered)["field"]) == ("broken_json", "body")


@pytest.mark.parametrize("depth", [90, 300, 480, 700, 900])
async def test_deeply_nested_metadata_is_kept_or_refused(client: httpx.AsyncClient, depth: int) -> None:
    nested = '{"a":' * depth + "1" + "}" * depth
    content = f'{{"messages": [{{"role": "user", "text": "x", "metadata": {nested}}}]}}'
    answered = await client.post("/v1/messages", content=content, headers=JSON)
    assert answered.status_code in {201, 400, 422}, answered.text


async def test_an_empty_body_misses_everything(client: httpx.AsyncClient) -> None:
    answered = await client.post("/v1/recall", headers=JSON)
    assert (answered.status_code, problem(answered)["field"]) == (422, "body")


async def test_unknown_addresses_and_methods(client: httpx.AsyncClient) -> None:
    unknown = await client.get("/v1/nothing")
    assert (unknown.status_code, problem(unknown)["type"]) == (404, "not_found")
    slash = await client.post("/v1/recall/", json={"query": "x"})
    assert slash.status_code == 404
    wrong = await client.get("/v1/recall")
    assert (wrong.status_code, problem(wrong)["type"], wrong.headers["allow"]) == (
        405,
        "method_not_allowed",
        "POST",
    )


@pytest.mark.parametrize(
    ("error", "status", "kind", "message"),
    [
        (InvalidInput("query", "is odd"), 422, "invalid_input", "query: is odd"),
        (NotFound("There is no thread x."), 404, "not_found", "There is no thread x."),
        (ConfigurationError("Run it again."), 500, "misconfigured", "Run it again."),
        (DatabaseUnavailable("The disk is full."), 503, "unavailable", "The disk is full."),
        (ModelUnavailable("The model is damaged."), 503, "unavailable", "The model is damaged."),
        (
            InternalError("relation secret does not exist"),
            500,
            "internal",
            "Everlore failed inside; its log says more.",
        ),
        (ValueError("select secret from t"), 500, "internal", "Everlore failed inside; its log says more."),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
async def test_each_error_has_its_status(
    client: httpx.AsyncClient,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: int,
    kind: str,
    message: str,
) -> None:
    async def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(Workspace, "recall", fails)
    answered = await client.post("/v1/recall", json={"query": "x"})
    assert (answered.status_code, problem(answered)["type"], problem(answered)["message"]) == (
        status,
        kind,
        message,
    )
    assert ("retry-after" in answered.headers) == (status == 503)


hostile_text = st.one_of(
    st.text(max_size=20),
    st.text(st.characters(categories=["Cs", "Cc", "Lo"]), max_size=10),
    st.sampled_from(
        ["", " ", "\0", "\ud800", "2025-05-12T14:03:00+00:00", "0001-01-01T00:00:00+00:00", "a.b", "user"]
    ),
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -(2**63), 2**64])
    | st.floats()
    | hostile_text
)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(hostile_text, inner, max_size=4)
)
times = st.datetimes(timezones=st.timezones()).map(lambda at: at.isoformat()) | st.just(
    "9999-12-31T23:59:59+00:00"
)


def mostly(right: dict[str, Any], fields: Iterable[str]) -> st.SearchStrategy[Any]:
    """Right bodies in which up to two fields hold anything at all; now and then one that does not exist."""
    names = st.sampled_from([*fields, "unknown"])
    wrong = st.dictionaries(names, hostile_text | anything, max_size=2)

    def mixed(usual: dict[str, Any], odd: dict[str, Any]) -> dict[str, Any]:
        return {**usual, **odd}

    return st.builds(mixed, st.fixed_dictionaries(right), wrong)


words = st.sampled_from(
    ["Where did Emma move last week?", "boiler", "What was said yesterday?", "in May 2024"]
)
messages = mostly(
    {
        "role": st.sampled_from(["user", "tool"]),
        "text": words,
        "at": times,
        "external_id": st.sampled_from(["a", "b"]),
    },
    [field.name for field in fields(NewMessage)],
)
records = mostly({"messages": st.lists(messages | st.just(SAID), min_size=1, max_size=2)}, FIELDS["record"])
questions = mostly(
    {"query": words, "now": times, "since": st.none() | times, "limit": st.integers(1, 1000)},
    FIELDS["recall"],
)
odd = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@odd
@given(body=records | anything)
async def test_no_record_breaks_the_server(client: httpx.AsyncClient, body: object) -> None:
    answered = await client.post("/v1/messages", content=json.dumps(body), headers=JSON)
    assert answered.status_code < 500, answered.text
    assert answered.status_code < 300 or problem(answered)["field"]


@odd
@given(body=questions | anything)
async def test_no_question_breaks_the_server(client: httpx.AsyncClient, body: object) -> None:
    answered = await client.post("/v1/recall", content=json.dumps(body), headers=JSON)
    assert answered.status_code < 500, answered.text
    assert answered.status_code in {200, 404} or problem(answered)["field"]


@odd
@given(content=st.binary(max_size=200))
async def test_no_bytes_break_the_server(client: httpx.AsyncClient, content: bytes) -> None:
    answered = await client.post("/v1/recall", content=content, headers=JSON)
    assert answered.status_code in {400, 422}
    problem(answered)
