"""Jobs: what fails is tried again and then parked in sight; what a crash left behind is found."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
from tests.conftest import Clock, TestDatabase
from tests.steps.conftest import Gate, Rows

from everlore.api.workspace import Workspace
from everlore.domain.errors import InternalError, ModelUnavailable
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.ports.embedder import EncodedPassage
from everlore.step import MAX_ATTEMPTS
from everlore.work.jobs import job_app, sweep
from everlore.work.worker import Worker


class Moody(FakeEmbedder):
    """Fails while `broken`; sets `worked` whenever it has embedded something; stops at `gate` if there is one."""

    def __init__(self, name: str = "fake") -> None:
        super().__init__(name)
        self.broken = False
        self.calls = 0
        self.worked = asyncio.Event()
        self.gate: Gate | None = None

    async def encode_passages(self, texts: Sequence[str]) -> list[EncodedPassage]:
        self.calls += 1
        if self.broken:
            raise ModelUnavailable("the endpoint is on\0 holiday")
        if self.gate is not None:
            await self.gate.stand()
        encoded = await super().encode_passages(texts)
        self.worked.set()
        return encoded


@pytest.fixture
def model() -> Moody:
    return Moody()


@pytest.fixture
async def lore(database: TestDatabase, clock: Clock, model: Moody) -> AsyncIterator[Everlore]:
    async with Everlore.open(
        database.settings(), worker=False, clock=clock, embedders={"m": model}
    ) as opened:
        yield opened


@pytest.fixture
async def workspace(lore: Everlore) -> Workspace:
    return await lore.workspace("alice", create=True)


def said(text: str) -> NewMessage:
    return NewMessage(role="user", text=text)


async def lags(workspace: Workspace) -> int:
    return sum((await workspace.status()).unembedded.values())


async def now(rows: Rows) -> None:
    """The time of all retries has come."""
    await rows("update jobs.procrastinate_jobs set scheduled_at = now() where status = 'todo'")


async def test_what_fails_is_tried_again_and_then_parked_with_its_reason(
    lore: Everlore, workspace: Workspace, model: Moody, rows: Rows
) -> None:
    await workspace.record([said("boat")])
    model.broken = True
    for attempt in range(1, MAX_ATTEMPTS + 1):
        await lore.catch_up()
        assert model.calls == attempt
        status = await lore.status()
        assert status.jobs == ({"todo": 1} if attempt < MAX_ATTEMPTS else {"failed": 1})
        await now(rows)
    (parked,) = (await lore.status()).parked
    assert parked.step == "index"
    assert parked.error == "ModelUnavailable: the endpoint is on  holiday"
    assert parked.failed_at is not None

    await lore.catch_up()  # a parked job is left alone
    assert model.calls == MAX_ATTEMPTS
    found = await workspace.recall("boat")
    assert found.hits[0].text == "boat"

    model.broken = False
    assert (await lore.retry_parked()).count == 1
    await lore.catch_up()
    assert await lags(workspace) == 0
    await lore.catch_up()
    status = await lore.status()
    assert (status.parked, status.jobs) == ((), {})
    assert await rows("select count(*) from everlore.job_failure") == [(0,)]


async def test_a_parked_thread_is_tried_again_by_its_next_message(
    lore: Everlore, workspace: Workspace, model: Moody, rows: Rows
) -> None:
    await workspace.record([said("boat")])
    model.broken = True
    for _ in range(MAX_ATTEMPTS):
        await lore.catch_up()
        await now(rows)
    model.broken = False
    await workspace.record([said("cliff")])
    await lore.catch_up()
    assert await lags(workspace) == 0


async def test_retries_wait_longer_each_time(
    lore: Everlore, workspace: Workspace, model: Moody, rows: Rows
) -> None:
    await workspace.record([said("boat")])
    model.broken = True
    waits: list[int] = []
    for _ in range(MAX_ATTEMPTS - 1):
        await lore.catch_up()
        ((seconds,),) = await rows(
            "select ceil(extract(epoch from j.scheduled_at - max(e.at))) from jobs.procrastinate_jobs j"
            " join jobs.procrastinate_events e on e.job_id = j.id where e.type = 'deferred_for_retry' group by j.id"
        )
        waits.append(int(seconds))
        await now(rows)
    assert waits == [2**attempt for attempt in range(MAX_ATTEMPTS - 1)]


async def test_an_error_of_ours_is_parked_at_once(
    lore: Everlore, workspace: Workspace, model: Moody, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def wrong_count(texts: Sequence[str]) -> list[EncodedPassage]:
        raise InternalError("a promise broken")

    await workspace.record([said("boat")])
    monkeypatch.setattr(model, "encode_passages", wrong_count)
    await lore.catch_up()
    (parked,) = (await lore.status()).parked
    assert parked.error == "InternalError: a promise broken"


async def test_one_thread_that_fails_does_not_hold_up_another(
    lore: Everlore, workspace: Workspace, model: Moody, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = model.encode_passages

    async def fails_for_boats(texts: Sequence[str]) -> list[EncodedPassage]:
        if any("boat" in text for text in texts):
            raise ModelUnavailable("no boats")
        return await whole(texts)

    monkeypatch.setattr(model, "encode_passages", fails_for_boats)
    await workspace.record([said("boat")], thread="a")
    await workspace.record([said("cliff")], thread="b")
    await lore.catch_up()
    assert await lags(workspace) == 1
    assert (await lore.status()).models[0].threads_behind == 1


async def test_a_thread_whose_job_was_lost_is_found(lore: Everlore, workspace: Workspace, rows: Rows) -> None:
    for thread in ("a", "b"):
        await workspace.record([said("boat")], thread=thread)
    await rows("delete from jobs.procrastinate_jobs")
    async with job_app(lore.workers).open_async() as app:
        assert await sweep(app, lore.workers) == 2
        assert await sweep(app, lore.workers) == 0
    await lore.catch_up()
    assert await lags(workspace) == 0


async def test_the_job_of_a_dead_worker_is_given_back(
    lore: Everlore, workspace: Workspace, rows: Rows
) -> None:
    await workspace.record([said("boat")])
    await rows(
        "with dead as (insert into jobs.procrastinate_workers (last_heartbeat) values (now() - interval '1 hour') returning id)"
        " update jobs.procrastinate_jobs set status = 'doing', worker_id = (select id from dead)"
    )
    async with job_app(lore.workers).open_async() as app:
        await sweep(app, lore.workers)
    assert (await lore.status()).jobs == {"todo": 1}
    await lore.catch_up()
    assert await lags(workspace) == 0


async def test_catching_up_does_not_wait_until_a_killed_worker_is_known_to_be_dead(
    lore: Everlore, workspace: Workspace, rows: Rows
) -> None:
    await workspace.record([said("boat")])
    await rows(
        "with dying as (insert into jobs.procrastinate_workers (last_heartbeat) values (now()) returning id)"
        " update jobs.procrastinate_jobs set status = 'doing', worker_id = (select id from dying)"
    )
    await workspace.record([said("cliff")])
    await lore.catch_up()
    assert await lags(workspace) == 0


async def test_more_threads_than_one_sweep_takes_are_caught_up(
    lore: Everlore, workspace: Workspace, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("everlore.work.jobs._SWEEP_AT_MOST", 3)
    for number in range(10):
        await workspace.record([said("boat")], thread=f"thread {number}")
    await rows("delete from jobs.procrastinate_jobs")
    await lore.catch_up()
    assert await lags(workspace) == 0


async def test_catching_up_ends_when_a_model_is_not_configured_here(
    database: TestDatabase, clock: Clock, lore: Everlore
) -> None:
    await lore.workspace("alice", create=True)  # makes its model known
    async with Everlore.open(database.settings(), worker=False, clock=clock, embedders={}) as bare:
        workspace = await bare.workspace("alice")
        await workspace.record([said("boat")])
        await bare.catch_up()
        assert await lags(workspace) == 1
    await lore.catch_up()
    assert await lags(await lore.workspace("alice", create=True)) == 0


async def test_a_worker_picks_up_new_messages(database: TestDatabase, clock: Clock, model: Moody) -> None:
    async with Everlore.open(database.settings(), clock=clock, embedders={"m": model}) as lore:
        workspace = await lore.workspace("alice", create=True)
        for text in ("boat", "cliff"):
            model.worked.clear()
            await workspace.record([said(text)])
            async with asyncio.timeout(30):
                await model.worked.wait()
        assert await lore.worker_is_alive()
        # One that a person started, however many lanes it has.
        assert (await lore.status()).workers == 1
    assert model.calls == 2


async def test_a_worker_that_is_stopped_while_it_thinks_leaves_the_job_for_the_next(
    database: TestDatabase, clock: Clock, model: Moody, lore: Everlore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("everlore.work.worker._GRACE_S", 0.01)
    model.gate = Gate()
    async with Everlore.open(database.settings(), clock=clock, embedders={"m": model}) as working:
        workspace = await working.workspace("alice")
        await workspace.record([said("boat")])
        async with asyncio.timeout(30):
            await model.gate.reached.wait()
    workspace = await lore.workspace("alice", create=True)
    assert await lags(workspace) == 1
    model.gate = None
    await lore.catch_up()
    assert await lags(workspace) == 0
    assert (await lore.status()).parked == ()


async def test_starting_and_stopping_many_times_is_harmless(
    database: TestDatabase, clock: Clock, model: Moody
) -> None:
    async with Everlore.open(database.settings(), worker=False, clock=clock, embedders={"m": model}) as lore:
        worker = Worker(lore.workers)
        for _ in range(5):
            worker.start()
            worker.start()
            await worker.stop()
            await worker.stop()
