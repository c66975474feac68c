"""Branches over HTTP: revise, regenerate, switch, and a client's history as it sends it."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from tests.conftest import TestDatabase

from everlore.faces.http.server import create_app

HISTORY: list[dict[str, Any]] = [
    {
        "role": "user",
        "content": [{"type": "text", "text": "Where to?", "cache_control": {"type": "ephemeral"}}],
    },
    {"role": "assistant", "content": "To Rome.", "annotations": []},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": "done"},
]


@pytest.fixture
async def client(database: TestDatabase) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(database.settings(), worker=False, embedders={})
    here = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:7411")
    async with app.router.lifespan_context(app), here as client:
        yield client


async def answered(request: Any, status: int = 200) -> Any:
    answer = await request
    assert answer.status_code == status, answer.text
    return answer.json()


async def test_a_history_goes_in_as_a_client_sends_it(client: httpx.AsyncClient) -> None:
    sent = {"history": HISTORY, "thread": "chat"}
    first = await answered(client.post("/v1/reconcile", json=sent))
    assert [one["status"] for one in first["turns"]] == ["stored"] * 4
    again = await answered(client.post("/v1/reconcile", json=sent))
    assert [one["status"] for one in again["turns"]] == ["known"] * 4
    assert again["tip"] == first["turns"][3]["message_id"]
    problem = await answered(client.post("/v1/reconcile", json={"history": [{"content": "x"}]}), 422)
    assert "history[0].role" in str(problem)
    await answered(client.post("/v1/reconcile", json={"history": []}), 422)


async def test_a_message_is_said_anew_and_the_path_taken_back(client: httpx.AsyncClient) -> None:
    turns = (await answered(client.post("/v1/reconcile", json={"history": HISTORY[:2]})))["turns"]
    question, answer = (one["message_id"] for one in turns)
    other = await answered(client.post(f"/v1/messages/{answer}/regenerate", json={"text": "To Oslo."}), 201)
    assert (other["parent_id"], other["on_path"]) == (question, True)
    listed = await answered(client.get("/v1/messages", params={"thread": "main", "branches": True}))
    assert [(one["text"], one["on_path"]) for one in listed["items"]] == [
        ("Where to?", True),
        ("To Rome.", False),
        ("To Oslo.", True),
    ]
    switched = await answered(client.post("/v1/threads/main/switch", json={"message": answer}))
    assert (switched["tip"], switched["messages"], switched["off_path"]) == (answer, 2, 1)
    revised = await answered(client.post(f"/v1/messages/{question}/revise", json={"text": "When?"}), 201)
    assert revised["revision_of"] == question
    body = {"messages": [{"role": "user", "text": "Elsewhere"}], "parent": question}
    await answered(client.post("/v1/messages", json=body), 201)
    found = await answered(client.post("/v1/recall", json={"query": "Rome", "branches": True}))
    assert [hit["text"] for hit in found["branches"]] == ["To Rome."]
    await answered(client.post(f"/v1/messages/{question}/regenerate", json={"text": "x"}), 422)
