"""What is added again and again is one file and one registration: a toy step, kind and verb, which no other file knows."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, cast
from uuid import UUID, uuid4

import httpx
import pytest
from tests.faces.conftest import cli as cli
from tests.faces.conftest import run as run
from tests.structure.test_reference import script

from everlore.api import verbs
from everlore.api.workspace import Workspace
from everlore.domain.answers import Doc
from everlore.domain.errors import WorldError
from everlore.domain.recall import OtherHit
from everlore.everlore import Everlore
from everlore.faces.http.server import create_app
from everlore.recall.listing import supported
from everlore.recall.sources import SOURCES
from everlore.step import Scope, Step
from everlore.store import passages
from everlore.store import recall as store
from everlore.validation import Name, checked, number
from everlore.wiring import bring_up_to_date
from everlore.work import jobs, steps


class Toys:
    kind, layer = "toy", cast("Any", "documents")
    message_id, owner, text = uuid4(), uuid4(), "A wooden locomotive with red wheels."
    strays: Sequence[int] = ()

    async def keys(self, request: Any, passages: Sequence[int]) -> list[store.Key]:
        return [store.Key(number, number, self.message_id.bytes) for number in [*passages, *self.strays]]

    async def answer(self, request: Any) -> Mapping[str, Any]:
        found: Any = request.near.get("documents")
        listed = supported(request, found, "toy") if found else {}
        texts = await store.texts(request.tx, list(listed))
        cited = [one.citation for one in (await store.messages(request.tx, [self.message_id])).values()]
        return {"others": tuple(
            OtherHit("toy", self.owner, texts[number], tuple(cited), float(found.relevance[place]), why)
            for number, (place, why) in listed.items())}  # fmt: skip

    async def erase(self, tx: Any, messages: Sequence[UUID], memories: Sequence[UUID]) -> int:
        gone = [self.owner] if self.message_id in messages else []
        await passages.remove_lineages(tx, self.layer, gone)
        return len(gone)


class Toy:
    def __init__(self) -> None:
        self.ran, self.lagging, self.broken, self.kind = list[Scope](), list[Scope](), False, Toys()
        self.step = Step("toy", "toys", "thread", self.lags, self.run, every=3, inline=True, attempts=1)

    async def lags(self, tx: Any, runtime: Any, asked: Any) -> list[Scope]:
        held = [Scope(*job[:2]) for job in await tx.tuples(b"select * from everlore.scopes_with_job('toy')")]
        return [one for one in self.lagging if one not in held]

    async def run(self, runtime: Any, scope: Scope, *, close: bool, progress: Any) -> None:
        if self.broken:
            raise WorldError("the toy is broken")
        self.ran, self.lagging = [*self.ran, scope], []


@dataclass(frozen=True)
class Greeting:
    """What the toy says."""

    words: Annotated[str, Doc("The greeting.")]


@checked
async def greet(workspace: Workspace, whom: Annotated[Name, Doc("Who is greeted.")], *,
                times: Annotated[int, number(1, 3), Doc("How often.")] = 1) -> Greeting:  # fmt: skip
    """Greet somebody in the name of the workspace."""
    return Greeting(f"{workspace.name}: " + f"Hello {whom}. " * times)


@pytest.fixture
def toy() -> Iterator[Toy]:
    made, verb = Toy(), verbs.Verb("toys greet", "GET /v1/toys/{whom}", greet)
    steps.STEPS["toy"] = made.step
    SOURCES.append(made.kind)
    verbs.register(verb)
    yield made
    verbs.forget(verb)
    SOURCES.remove(made.kind)
    del steps.STEPS["toy"]


@pytest.fixture
async def lore(toy: Toy, database: Any, fake: Any) -> AsyncIterator[Everlore]:
    await bring_up_to_date(database.superuser)
    async with Everlore.open(database.settings(), worker=False, embedders={"fake": fake}) as opened:
        yield opened


async def told(lore: Everlore, *texts: str) -> tuple[Workspace, UUID, Scope]:
    workspace = await lore.workspace("alice", create=True)
    stored = await workspace.record([{"role": "user", "text": text} for text in texts])
    thread = (await workspace.threads())[0].thread_id
    return workspace, cast("UUID", stored.outcomes[0].message_id), Scope(workspace.workspace_id, thread)


async def test_a_step_is_deferred_swept_retried_and_in_status(toy: Toy, lore: Everlore) -> None:
    thread = (await told(lore, "one", "two", "three", "four"))[2]
    assert (await lore.status()).steps["toy"] == {"todo": 1}
    await lore.catch_up()
    toy.lagging, toy.broken = [thread], True
    assert await jobs.leave_jobs(lore.workers, [toy.step]) == [("toy", thread)]
    await lore.catch_up()
    assert [(job.step, job.scope_id) for job in (await lore.status()).parked] == [("toy", thread.id)]
    toy.broken = False
    assert (await lore.retry_parked()).count == 1
    await lore.catch_up()
    assert (toy.ran, (await lore.status()).parked) == ([thread] * 2, ())


async def test_a_kind_is_indexed_recalled_with_a_citation_and_erased(toy: Toy, lore: Everlore) -> None:
    workspace, toy.kind.message_id, _ = await told(lore, "It came in a box.")
    owner, text = toy.kind.owner, toy.kind.text
    async with lore.runtime.database.workspace(workspace.workspace_id) as tx:
        made = passages.NewPassage("toy", owner, owner, text, None, None, lore.runtime.clock())
        await passages.insert(tx, "documents", [made])
    await lore.catch_up()
    answer = await workspace.recall("Where are the red wheels?", kinds=["message", "toy"])
    assert [(hit.text, hit.sources[0].message_id) for hit in answer.others] == [(text, toy.kind.message_id)]
    # Keys of passages that nobody asked it about are ignored.
    toy.kind.strays = [10**9]
    again = await workspace.recall("Where are the red wheels?", kinds=["message", "toy"])
    assert (again.others, again.degraded) == (answer.others, answer.degraded)
    await workspace.delete(toy.kind.message_id)
    assert (await workspace.recall("Where are the red wheels?", kinds=["toy"])).others == ()


async def test_a_verb_is_answered_over_http_and_in_openapi(lore: Everlore, database: Any) -> None:
    app = create_app(database.settings(), worker=False, embedders={})
    here = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:7411")
    async with app.router.lifespan_context(app), here as client:
        answered = await client.get("/v1/toys/Emma", params={"times": 2})
        assert answered.json() == {"words": "default: Hello Emma. Hello Emma. "}
        assert (await client.get("/v1/toys/Emma", params={"times": 4})).status_code == 422
        document = (await client.get("/openapi.json")).json()
    assert document["paths"]["/v1/toys/{whom}"]["get"]["summary"].startswith("Greet somebody")


def test_a_verb_is_a_command_and_in_the_reference(toy: Toy, cli: Callable[..., Any]) -> None:
    assert cli("db", "migrate", "--json")
    assert cli("toys", "greet", "Emma", "--json").json == {"words": "default: Hello Emma. "}
    pages = "".join(script().pages().values())
    assert all(title in pages for title in ("## everlore toys greet\n", "## `GET /v1/toys/{whom}`\n"))
