"""Recall without something it would like to have: it still answers, and says what was missing."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import ModuleType
from typing import Any, LiteralString

import psycopg
import pytest
from tests.conftest import Clock, TestDatabase

from everlore.api.workspace import Workspace
from everlore.domain.errors import DatabaseUnavailable, ModelUnavailable
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.models.minilm import MiniLM
from everlore.ports.embedder import Embedder, EncodedQuestion
from everlore.store import recall as lanes

OpenLore = Callable[..., Any]
NOT_INDEXED = "some messages are not indexed yet: those are found by their words and time only"


@pytest.fixture
def opened(database: TestDatabase, clock: Clock) -> OpenLore:
    """Opens the test's database with the given embedders (and settings)."""

    def open_lore(*embedders: Embedder, **changes: object) -> Any:
        by_name = {embedder.name: embedder for embedder in embedders}
        return Everlore.open(database.settings(**changes), worker=False, clock=clock, embedders=by_name)

    return open_lore


async def prepared(lore: Everlore) -> Workspace:
    workspace = await lore.workspace("alice", create=True)
    await workspace.record(
        [
            NewMessage(
                role="user",
                author="Maya",
                text=f"The boat number {n} is red.",
                at=lore.runtime.clock(),
                external_id=str(n),
            )
            for n in range(30)
        ]
    )
    return workspace


async def answer(workspace: Workspace, **options: Any) -> tuple[str, ...]:
    """What was missing from an answer that has the right hit first all the same."""
    found = await workspace.recall("boat number 7 today", **options)
    assert found.hits[0].text == "The boat number 7 is red."
    return found.degraded


async def test_no_model_was_ever_installed(opened: OpenLore) -> None:
    async with opened() as lore:
        (said,) = await answer(await prepared(lore))
        assert said == "no embedding model is installed: found by words and time only"


async def test_the_model_in_use_is_not_configured_here(opened: OpenLore) -> None:
    async with opened(FakeEmbedder()) as lore:
        await prepared(lore)
        await lore.catch_up()
    async with opened() as lore:
        (said,) = await answer(await lore.workspace("alice", create=True))
        assert said == "the embedding model fake is not configured here: found by words and time only"


async def test_nothing_is_embedded_yet(opened: OpenLore) -> None:
    async with opened(FakeEmbedder()) as lore:
        (said,) = await answer(await prepared(lore))
        assert said == NOT_INDEXED
        await lore.catch_up()
        assert await answer(await lore.workspace("alice", create=True)) == ()


async def test_the_model_file_is_damaged(opened: OpenLore, tmp_path: Path) -> None:
    damaged = tmp_path / "model.onnx"
    damaged.write_bytes(b"\0" * 1000)
    async with opened(MiniLM(model_path=damaged)) as lore:
        workspace = await prepared(lore)
        (said, _) = await answer(workspace)  # the other says that nothing is indexed yet
        assert "the embedding model cannot be used: " in said
        assert "is damaged" in said
        await lore.catch_up()  # fails, and says so where a person looks
        assert (await lore.status()).jobs["todo"] >= 1
        (said, _) = await answer(workspace)
        assert "is damaged" in said


async def test_the_vector_index_is_not_built_yet(opened: OpenLore) -> None:
    async with opened(FakeEmbedder()) as lore:
        workspace = await prepared(lore)
        await lore.catch_up()
    async with opened(FakeEmbedder(), recall={"exact_below": 10}) as lore:
        workspace = await lore.workspace("alice", create=True)
        for options in ({}, {"author": "Maya"}):
            degraded = await answer(workspace, **options)
            expected = (
                () if options else ("the vector index is not built yet: vectors were compared one by one",)
            )
            assert degraded == expected
        await workspace.record([NewMessage(role="user", text="One more.")])
        await lore.catch_up()
        assert await answer(workspace) == ()


class Stuck(FakeEmbedder):
    """Never answers a question; notes that nobody waits any more."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    async def encode_question(self, text: str) -> EncodedQuestion:
        self.asked += 1
        await asyncio.Event().wait()
        raise AssertionError


async def test_an_embedder_past_the_deadline_is_left_out(opened: OpenLore) -> None:
    model = Stuck()
    async with opened(model) as lore:
        workspace = await prepared(lore)
        await lore.catch_up()
        degraded = await answer(workspace, deadline_ms=100)
        assert "the vector lane missed the deadline of 100 ms" in degraded
        assert model.asked == 1
        answers = await asyncio.gather(*(answer(workspace, deadline_ms=100) for _ in range(6)))
        assert all(answers)


async def test_a_deadline_that_nothing_can_meet_leaves_the_words(opened: OpenLore) -> None:
    async with opened(FakeEmbedder()) as lore:
        workspace = await prepared(lore)
        await lore.catch_up()
        degraded = await answer(workspace, deadline_ms=0.001)
        assert [said.split()[1] for said in degraded] == ["vector", "time", "rerank"]
        assert await answer(workspace, deadline_ms=60_000) == ()


@pytest.mark.parametrize(
    ("lane", "query"), [("vector", "vector_exact"), ("time", "vector_among"), ("rerank", "tokens")]
)
async def test_a_lane_past_the_deadline_is_left_out_and_the_others_go_on(
    opened: OpenLore, monkeypatch: pytest.MonkeyPatch, lane: str, query: str
) -> None:
    async with opened(FakeEmbedder()) as lore:
        workspace = await prepared(lore)
        await lore.catch_up()
        _slow(monkeypatch, lanes, query)
        degraded = await answer(workspace, deadline_ms=400)
        assert f"the {lane} lane missed the deadline of 400 ms" in degraded


@pytest.mark.parametrize("table", ["posting_block", "passage", "embedding_model"])
async def test_what_no_answer_can_do_without_is_not_waited_for_either(
    opened: OpenLore, database: TestDatabase, table: LiteralString
) -> None:
    async with opened(FakeEmbedder()) as lore:
        workspace = await prepared(lore)
        await lore.catch_up()
        async with await psycopg.AsyncConnection.connect(database.superuser) as other:
            await other.execute(f"lock table everlore.{table} in access exclusive mode")
            with pytest.raises(DatabaseUnavailable, match="within 1 seconds"):
                async with asyncio.timeout(60):
                    await workspace.recall("boat", deadline_ms=200)
        assert await answer(workspace, deadline_ms=60_000) == ()


def _slow(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str) -> None:
    """Postgres takes a minute for it."""
    whole: Callable[..., Awaitable[Any]] = getattr(module, name)

    async def slow(connection: Any, *arguments: Any) -> Any:
        await connection.done(b"select pg_sleep(60)")
        return await whole(connection, *arguments)

    monkeypatch.setattr(module, name, slow)


class Flaky(FakeEmbedder):
    async def encode_question(self, text: str) -> EncodedQuestion:
        raise ModelUnavailable("the endpoint is on holiday")


async def test_an_endpoint_that_fails(opened: OpenLore) -> None:
    async with opened(Flaky()) as lore:
        workspace = await prepared(lore)
        await lore.catch_up()
        assert await answer(workspace) == ("the embedding model cannot be used: the endpoint is on holiday",)
