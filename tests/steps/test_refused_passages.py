"""A passage that the embedding endpoint refuses: it holds nothing else up, is shown, and is asked for again by hand."""

from collections.abc import AsyncIterator, Iterator

import pytest
from tests.conftest import Clock, TestDatabase
from tests.models.embedding_server import DIMENSIONS, EmbeddingServer
from tests.steps.conftest import Rows

from everlore.domain.errors import InputRefused, ModelUnavailable
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.openai_embedder import OpenAIEmbedder

BAD = "The glorp lies in the attic."
WAITING = "select count(*) from jobs.procrastinate_jobs where task_name like 'index%%'"


@pytest.fixture
def endpoint() -> Iterator[EmbeddingServer]:
    running = EmbeddingServer()
    running.refuses = lambda text: "glorp" in text
    yield running
    running.close()


@pytest.fixture
async def lore(database: TestDatabase, clock: Clock, endpoint: EmbeddingServer) -> AsyncIterator[Everlore]:
    remote = OpenAIEmbedder("test", url=endpoint.url, model="tiny", dimensions=DIMENSIONS, batch=4)
    async with Everlore.open(
        database.settings(), worker=False, clock=clock, embedders={"test": remote}
    ) as opened:
        yield opened


def said(text: str) -> NewMessage:
    return NewMessage(role="user", text=text)


async def without_vectors(rows: Rows) -> list[str]:
    found = await rows(
        "select p.text from everlore.passage p left join everlore.passage_vector v using (workspace_id, passage_id)"
        " where v.passage_id is null order by p.passage_id"
    )
    return [text for (text,) in found]


async def test_it_holds_nothing_up_and_is_tried_again_by_hand(
    lore: Everlore, endpoint: EmbeddingServer, rows: Rows
) -> None:
    workspace = await lore.workspace("alice", create=True)
    await workspace.record(
        [said(f"Boat {n} lies in the harbour.") for n in range(9)] + [said(BAD), said("The end.")]
    )
    await lore.catch_up()

    assert [text.endswith(BAD) for text in await without_vectors(rows)] == [True]
    state = await lore.status()
    assert not state.parked
    (refused,) = state.failures
    assert (refused.step, refused.workspace, refused.thread, refused.by) == ("index", "alice", "main", "tiny")
    assert refused.what == f"message {str(refused.owner_id)[-8:]}"
    assert "400" in refused.error
    assert "too long" in refused.error
    assert (await workspace.show(str(refused.owner_id))).text == BAD
    assert [m.threads_behind for m in state.models] == [0]

    found = await workspace.recall("Where does the boat lie?", trace=True)
    assert found.degraded == ()
    assert found.hits[0].trace["vector"].rank is not None
    assert (await workspace.recall("attic")).hits[0].text == BAD

    # Nobody asks for it again unasked, and what comes later is embedded.
    asked = len(endpoint.requests)
    await workspace.record([said("A new boat.")])
    await lore.catch_up()
    assert [request["input"] for request in endpoint.requests[asked:]] == [["A new boat."]]

    assert (await lore.retry_parked()).count == 1
    await lore.catch_up()
    assert len((await lore.status()).failures) == 1
    endpoint.refuses = lambda _: False
    assert (await lore.retry_parked()).count == 1
    await lore.catch_up()
    assert await without_vectors(rows) == []
    assert not (await lore.status()).failures
    assert await rows(WAITING) == [(0,)]


async def test_a_memory_that_is_refused_is_kept_and_found_by_its_words(
    lore: Everlore, endpoint: EmbeddingServer, rows: Rows
) -> None:
    workspace = await lore.workspace("alice", create=True)
    await workspace.remember("I keep the glorp in the attic.")
    await workspace.remember("I keep the boat in the harbour.")
    await lore.catch_up()
    state = await lore.status()
    assert {one.what.split()[0] for one in state.failures} <= {"memory", "fact"}
    assert all("glorp" in text for text in await without_vectors(rows))
    assert len(await without_vectors(rows)) == len(state.failures) > 0
    assert [m.distilled_behind for m in state.models] == [0]

    endpoint.refuses = lambda _: False
    await lore.retry_parked()
    await lore.catch_up()
    assert await without_vectors(rows) == []
    assert not (await lore.status()).failures


async def test_a_window_whose_memory_is_refused_is_distilled(
    lore: Everlore, endpoint: EmbeddingServer, rows: Rows
) -> None:
    workspace = await lore.workspace("alice", create=True)
    await workspace.record([said("I own a glorp."), said("I live in Lisbon.")])
    assert await lore.distil(workspace) == 2
    await lore.catch_up()
    state = await lore.status()
    assert not state.parked
    assert {one.step for one in state.failures} == {"index", "index_known"}
    assert {one.what.split()[0] for one in state.failures} >= {"message", "memory"}
    assert len(await workspace.memories()) == 2


async def test_reindexing_tries_it_again(lore: Everlore, endpoint: EmbeddingServer, rows: Rows) -> None:
    workspace = await lore.workspace("alice", create=True)
    await workspace.record([said(BAD), said("boat")])
    await lore.catch_up()
    endpoint.refuses = lambda _: False
    await lore.rebuild_index()
    assert await without_vectors(rows) == []
    assert not (await lore.status()).failures


async def test_an_endpoint_that_refuses_everything_refuses_no_passage(
    lore: Everlore, endpoint: EmbeddingServer, rows: Rows
) -> None:
    workspace = await lore.workspace("alice", create=True)
    await workspace.record([said("boat"), said("anchor")])
    endpoint.refuses = lambda _: True
    await lore.catch_up()
    assert not (await lore.status()).failures
    assert len(await without_vectors(rows)) == 2
    (error,) = await rows("select error from everlore.job_failure")
    assert "refuses every text" in error[0]


@pytest.mark.parametrize(
    ("status", "about_the_input"),
    [
        (400, True),
        (413, True),
        (422, True),
        (401, False),
        (403, False),
        (404, False),
        (429, False),
        (500, False),
    ],
)
async def test_only_some_answers_are_about_the_input(
    endpoint: EmbeddingServer, status: int, about_the_input: bool
) -> None:
    endpoint.misbehave = lambda _: (status, {"error": "no"})
    remote = OpenAIEmbedder("test", url=endpoint.url, model="tiny", dimensions=DIMENSIONS)
    with pytest.raises(ModelUnavailable, match=str(status)) as raised:
        await remote.encode_passages(["boat"])
    assert isinstance(raised.value, InputRefused) == about_the_input
    await remote.close()
