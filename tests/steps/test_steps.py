"""One more background step is one description and one registration: no other file of the product knows it."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from tests.conftest import Clock, TestDatabase

from everlore import operating
from everlore.domain.errors import ConfigurationError, InternalError, WorldError
from everlore.domain.operations import Failure
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.runtime import Runtime
from everlore.step import Lagging, Scope, Step
from everlore.store import jobs
from everlore.store.run import Transaction
from everlore.wiring import bring_up_to_date
from everlore.work import steps
from everlore.work.jobs import job_app, leave_jobs, sweep
from everlore.work.worker import run_queued

PACKAGE = Path(__file__).parents[2] / "src/everlore"
# A step's own room, and the module of the store that keeps what it reads and writes.
AT_HOME = {
    "index": {"index/step.py"},
    "index_known": {"index/step.py"},
    "distil": {"distil/step.py", "store/distilling.py", "store/sql/distilling.sql"},
    "old_keys": {"distil/keys.py"},
}


class Toy:
    """A step that counts letters, on a thread. What it has done it remembers itself."""

    def __init__(self) -> None:
        self.ran: list[UUID] = []
        self.lagging: list[Scope] = []
        self.broken = False
        self.failed: list[Failure] = []
        self.step = Step(
            name="toy",
            queue="toys",
            scope="thread",
            lags=self.lags,
            run=self.run,
            every=3,
            inline=True,
            attempts=2,
            failures=self.failures,
            try_again=self.try_again,
        )

    async def lags(self, tx: Transaction, runtime: Runtime, asked: Lagging) -> list[Scope]:
        jobs = await tx.tuples(b"select * from everlore.scopes_with_job('toy')")
        with_job = {Scope(workspace, thread): running for workspace, thread, running in jobs}
        free = [
            scope for scope in self.lagging if (with_job.get(scope) if asked.held else scope not in with_job)
        ]
        return free[: asked.at_most]

    async def run(
        self, runtime: Runtime, scope: Scope, *, close: bool, progress: Callable[[int], None]
    ) -> None:
        if self.broken:
            raise WorldError("the toy is broken")
        self.ran.append(scope.id)
        self.lagging = [one for one in self.lagging if one != scope]
        progress(1)

    async def failures(self, tx: Transaction) -> list[Failure]:
        return self.failed

    async def try_again(self, runtime: Runtime, failed: Sequence[Failure]) -> list[Scope]:
        self.failed = [one for one in self.failed if one not in failed]
        self.lagging = [Scope(one.workspace_id, one.thread_id) for one in failed]
        return self.lagging


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    made = Toy()
    monkeypatch.setitem(steps.STEPS, "toy", made.step)
    return made


async def thread_of(lore: Everlore, texts: int) -> Scope:
    workspace = await lore.workspace("alice")
    await workspace.record([{"role": "user", "text": f"message {number}"} for number in range(texts)])
    (thread,) = await workspace.threads()
    return Scope(workspace.workspace_id, thread.thread_id)


async def test_a_step_is_deferred_run_swept_retried_and_shown(
    toy: Toy, database: TestDatabase, clock: Clock, fake: FakeEmbedder
) -> None:
    await bring_up_to_date(database.superuser)
    async with Everlore.open(
        database.settings(), worker=False, clock=clock, embedders={"fake": fake}
    ) as lore:
        # Deferred by recording: three positions are full once the thread goes on.
        thread = await thread_of(lore, 3)
        assert (await lore.status()).steps["toy"] == {}
        await thread_of(lore, 1)
        assert (await lore.status()).steps["toy"] == {"todo": 1}

        # Run by a person's own command.
        heard: list[int] = []
        await run_queued(lore.workers, progress=heard.append)
        assert toy.ran == [thread.id]
        assert (await lore.status()).steps["toy"] == {}

        # Swept after its job was lost, once.
        toy.lagging = [thread]
        assert await leave_jobs(lore.workers, [toy.step]) == [("toy", thread)]
        assert await leave_jobs(lore.workers, [toy.step]) == []
        await lore.catch_up()
        assert toy.ran == [thread.id, thread.id]

        # Parked when it goes on failing, shown, and retried by hand.
        toy.broken, toy.lagging = True, [thread]
        for _ in range(toy.step.attempts):
            await lore.catch_up()
            with psycopg.connect(database.superuser, autocommit=True) as connection:
                connection.execute("set search_path = jobs, public")  # triggers of the queue need it
                connection.execute(
                    "update jobs.procrastinate_jobs set scheduled_at = now() where scheduled_at is not null"
                )
        (parked,) = (await lore.status()).parked
        assert (parked.step, parked.workspace, parked.scope_id) == ("toy", "alice", thread.id)
        assert parked.error == "WorldError: the toy is broken"
        assert await leave_jobs(lore.workers, [toy.step]) == []
        toy.broken = False
        assert (await lore.retry_parked()).count == 1
        await lore.catch_up()
        assert toy.ran == [thread.id] * 3
        assert (await lore.status()).parked == ()


async def test_what_a_step_could_not_do_is_shown_and_tried_again(
    toy: Toy, database: TestDatabase, fake: FakeEmbedder
) -> None:
    await bring_up_to_date(database.superuser)
    async with Everlore.open(database.settings(), worker=False, embedders={"fake": fake}) as lore:
        thread = await thread_of(lore, 2)
        lost = Failure(
            step="toy",
            workspace="alice",
            workspace_id=thread.workspace_id,
            thread="main",
            thread_id=thread.thread_id,
            what="letter 7",
            by="the toy",
            error="it is lost",
        )
        toy.failed = [lost]
        assert (await lore.status()).failures == (await operating.jobs(lore)).failures == (lost,)
        assert (await lore.retry_parked()).count == 1
        assert (await lore.status()).failures == ()
        await lore.catch_up()
        assert toy.ran == [thread.id]


async def test_a_database_that_does_not_know_a_step_says_what_to_do(toy: Toy, database: TestDatabase) -> None:
    with pytest.raises(ConfigurationError, match="background step toy"):
        async with Everlore.open(database.settings(embedder="none"), worker=False):
            pass


async def test_an_unknown_step_and_a_strangers_thread_are_refused(lore: Everlore) -> None:
    thread = await thread_of(lore, 1)
    other = await lore.workspace("bob", create=True)
    async with lore.runtime.database.workspace(other.workspace_id) as tx:
        await jobs.defer(tx, "index", thread.id)
    (counted,) = (await lore.status()).steps["index"].values()
    assert counted == 1
    with pytest.raises(InternalError, match="no background step chess"):
        async with lore.runtime.database.workspace(thread.workspace_id) as tx:
            await jobs.defer(tx, "chess", thread.id)


async def test_the_job_of_a_workspace_that_has_gone_ends_quietly(
    lore: Everlore, database: TestDatabase
) -> None:
    thread = await thread_of(lore, 1)
    with psycopg.connect(database.superuser, autocommit=True) as connection:
        connection.execute("delete from everlore.workspace where workspace_id = %s", [thread.workspace_id])
    async with job_app(lore.workers).open_async() as app:
        await sweep(app, lore.workers)
        await app.run_worker_async(wait=False, install_signal_handlers=False, delete_jobs="successful")
    assert (await lore.status()).jobs == {}


def test_nothing_else_in_the_product_knows_a_steps_name() -> None:
    assert set(steps.STEPS) == set(AT_HOME)
    for path in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.sql")]):
        here = str(path.relative_to(PACKAGE))
        text = path.read_text("utf-8")
        for name, at_home in AT_HOME.items():
            quoted = (
                f"defer('{name}'",
                f"step = '{name}'",
                f'STEP = "{name}"',
                f'name="{name}"',
                f'"{name}_thread"',
            )
            assert here in at_home or not any(one in text for one in quoted), f"{here} knows the step {name}"


def test_only_the_registry_takes_steps_out_of_their_rooms() -> None:
    taken = re.compile(r"^from everlore\.\w+\.step import .*\bSTEPS?\b", re.MULTILINE)
    takers = {
        path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py") if taken.search(path.read_text("utf-8"))
    }
    assert takers == {Path("work/steps.py")}
