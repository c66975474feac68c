"""Contexts on the command line and over HTTP."""

from collections.abc import Callable
from typing import Any

import httpx
from tests.conftest import TestDatabase

from everlore.faces.http.server import create_app


def test_the_command_line_shows_the_text_and_what_it_cost(cli: Callable[..., Any]) -> None:
    cli("record", "My sister Emma moved to Lisbon in May.", "--author", "Alice", "--thread", "family")
    cli("remember", "Answer in one sentence.", "--type", "system_config")
    made = cli("context", "Where is Emma?", "--thread", "family", "--budget", "900")
    assert "Never announce" in made.out
    assert "Alice: My sister Emma moved to Lisbon in May." in made.out
    assert "of 900 tokens" in made.err
    first = cli("context", "Where is Emma?", "--profile", "lean", "--json").json
    assert first["tokens"] <= 800
    second = cli("context", "--message", "Where is Emma?", "--since", first["short_id"], "--json").json
    assert (second["head"], second["since"]) == (None, first["context_id"])
    told = cli("context", "Where is Emma?", "--since", first["short_id"], "--explain").out
    assert "left out: given before" in " ".join(told.split())
    assert first["short_id"] in cli("contexts").out
    shown = cli("contexts", "show", first["short_id"])
    assert "Answer in one sentence." in shown.out


async def test_http_gives_the_same(database: TestDatabase) -> None:
    app = create_app(database.settings(), worker=False, embedders={})
    here = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:7411")
    async with app.router.lifespan_context(app), here as client:
        said = [{"role": "user", "text": "My sister Emma moved to Lisbon."}]
        assert (await client.post("/v1/messages", json={"messages": said})).status_code == 201
        asked = {"messages": [{"role": "user", "content": "Where is Emma?"}, "And my sister?"]}
        made = (await client.post("/v1/context", json=asked)).json()
        assert "My sister Emma moved to Lisbon." in made["tail"]["text"]
        record = (await client.get(f"/v1/contexts/{made['context_id']}")).json()
        assert record["head"] == made["head"]["text"]
        listed = (await client.get("/v1/contexts", params={"thread": "main"})).json()
        assert listed["total"] == 0
        refused = await client.post("/v1/context", json={"query": "x", "profile": "grand"})
        assert refused.status_code == 422
