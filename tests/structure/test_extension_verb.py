"""A verb is one function and one registration: every face and the reference know a toy one, and no file of ours does."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import httpx
import pytest
from tests.conftest import TestDatabase
from tests.faces.conftest import cli as cli
from tests.faces.conftest import run as run
from tests.structure.test_reference import script

from everlore.api import verbs
from everlore.api.verbs import Verb
from everlore.api.workspace import Workspace
from everlore.domain.answers import Doc
from everlore.faces.http.server import create_app
from everlore.validation import Name, checked, number


@dataclass(frozen=True)
class Greeting:
    """What the toy says."""

    words: Annotated[str, Doc("The greeting.")]

    @property
    def length(self) -> int:
        """How long it is."""
        return len(self.words)


@checked
async def greet(
    workspace: Workspace,
    whom: Annotated[Name, Doc("Who is greeted.")],
    *,
    times: Annotated[int, number(1, 3), Doc("How often.")] = 1,
) -> Greeting:
    """Greet somebody in the name of the workspace."""
    return Greeting(f"{workspace.name}: " + f"Hello {whom}. " * times)


@pytest.fixture
def toy() -> Iterator[Verb]:
    verb = Verb("toys greet", "GET /v1/toys/{whom}", greet)
    verbs.register(verb)
    yield verb
    verbs.forget(verb)


async def test_it_is_answered_over_http_and_told_by_openapi(toy: Verb, database: TestDatabase) -> None:
    app = create_app(database.settings(), worker=False, embedders={})
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411") as client,
    ):
        answered = await client.get("/v1/toys/Emma", params={"times": 2})
        assert answered.json() == {"words": "default: Hello Emma. Hello Emma. ", "length": 33}
        refused = await client.get("/v1/toys/Emma", params={"times": 4})
        assert (refused.status_code, refused.json()["error"]["field"]) == (422, "times")
        document = (await client.get("/openapi.json")).json()
    told = document["paths"]["/v1/toys/{whom}"]["get"]
    assert told["summary"] == "Greet somebody in the name of the workspace"
    (times,) = [one for one in told["parameters"] if one["name"] == "times"]
    assert (times["description"], times["schema"]["maximum"]) == ("How often.", 3)
    assert set(document["components"]["schemas"]["Greeting"]["properties"]) == {"words", "length"}


def test_it_is_a_command_with_json(toy: Verb, cli: Callable[..., Any]) -> None:
    cli("record", "tea")
    said = cli("toys", "greet", "Emma", "--times", "2", "--json").json
    assert said == {"words": "default: Hello Emma. Hello Emma. ", "length": 33}
    assert cli("toys", "greet", "Emma", "--times", "4", code=2).err.startswith("Error: times: must be")
    assert cli("toys", "greet", "Emma", "-w", "nowhere", "--json", code=2).error["type"] == "not_found"


def test_it_stands_in_the_reference(toy: Verb) -> None:
    pages: dict[str, str] = script().pages()
    assert "## everlore toys greet\n\nGreet somebody in the name of the workspace." in pages["commands.md"]
    assert "## `GET /v1/toys/{whom}`" in pages["http.md"]
    assert "| `length` | integer | How long it is. |" in pages["json.md"]
