"""The distil step: fixed windows, one reading of each, nothing lost where an analyst fails or a message goes meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.conftest import Clock, TestDatabase
from tests.steps.conftest import Rows
from tests.steps.script import Script, opened, says

from everlore.api.workspace import Workspace
from everlore.distil.reading import distil_thread
from everlore.domain.errors import BadAnswer, ConfigurationError, InternalError, ModelUnavailable, NotFound
from everlore.domain.memories import AsOf, Memory
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.ports.analyst import CallReport, Extraction, Governor, Window
from everlore.work.jobs import job_app, sweep
from everlore.work.worker import Worker


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
async def lore(database: TestDatabase, clock: Clock, script: Script) -> AsyncIterator[Everlore]:
    async with opened(database, clock, script) as lore:
        yield lore


@pytest.fixture
async def workspace(lore: Everlore) -> Workspace:
    return await lore.workspace("alice", create=True)


def read(script: Script) -> list[list[str]]:
    """The texts of every window that was shown, in order."""
    return [[message.text for message in window.messages] for window in script.windows]


def numbered(first: int, last: int) -> list[str]:
    return [f"message {number}" for number in range(first, last + 1)]


async def contents(workspace: Workspace, **filters: object) -> list[str]:
    return sorted(memory.content for memory in await workspace.memories(**filters))  # pyright: ignore[reportArgumentType]


async def only(workspace: Workspace, **filters: object) -> Memory:
    (memory,) = await workspace.memories(**filters)  # pyright: ignore[reportArgumentType]
    return memory


# --- windows -----------------------------------------------------------------------------------------------


async def test_a_window_is_ten_messages_and_the_last_one_waits_until_it_is_closed(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    await workspace.record(says(*numbered(1, 25), at=clock()))
    assert await lore.distil(workspace, close=False) == 20
    assert read(script) == [numbered(1, 10), numbered(11, 20)]
    assert await lore.distil(workspace, close=False) == 0
    assert (await workspace.status()).undistilled == 5
    assert await lore.distil(workspace) == 5
    assert read(script)[2:] == [numbered(21, 25)]
    assert (await workspace.status()).undistilled == 0


async def test_windows_are_the_same_when_messages_come_one_by_one(
    lore: Everlore, script: Script, clock: Clock
) -> None:
    at_once, one_by_one = (
        await lore.workspace("at once", create=True),
        await lore.workspace("one by one", create=True),
    )
    messages = says(*numbered(1, 23), at=clock())
    await at_once.record(messages)
    await lore.distil(at_once)
    together, script.windows = read(script), []
    for message in messages:
        await one_by_one.record([message])
        await lore.distil(one_by_one, close=False)
    await lore.distil(one_by_one)
    assert read(script) == together == [numbered(1, 10), numbered(11, 20), numbered(21, 23)]


async def test_a_window_ends_with_its_session(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    await workspace.record(says(*numbered(1, 3), at=clock()), session="one")
    assert await lore.distil(workspace, close=False) == 0
    await workspace.record(says(*numbered(4, 5), at=clock()), session="two")
    assert await lore.distil(workspace, close=False) == 3
    assert read(script) == [numbered(1, 3)]


async def test_a_pause_in_what_was_said_ends_a_window(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    later = clock() + timedelta(minutes=40)
    await workspace.record([*says(*numbered(1, 3), at=clock()), *says(*numbered(4, 5), at=later)])
    await lore.distil(workspace, close=False)
    assert read(script) == [numbered(1, 3)]


async def test_silence_closes_the_last_window(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    await workspace.record(says(*numbered(1, 3), at=clock()))
    clock.advance(minutes=29)
    await sweep_and_run(lore)
    assert read(script) == []
    clock.advance(minutes=2)
    await sweep_and_run(lore)
    assert read(script) == [numbered(1, 3)]


async def sweep_and_run(lore: Everlore) -> None:
    async with job_app(lore.workers).open_async() as app:
        await sweep(app, lore.workers)
        await app.run_worker_async(wait=False, install_signal_handlers=False, delete_jobs="successful")


async def test_recording_a_whole_window_leaves_a_job_and_a_worker_runs_it(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    worker = Worker(lore.workers)
    worker.start()
    await workspace.record(says(*numbered(1, 10), at=clock()))
    await workspace.record(says("This goes on.", at=clock()))
    await asyncio.wait_for(script.reached.wait(), 30)
    await worker.stop()
    assert read(script)[0] == numbered(1, 10)


async def test_earlier_messages_come_along_for_understanding_only(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    await workspace.record(says(*numbered(1, 12), at=clock()))
    await lore.distil(workspace)
    assert [message.text for message in script.windows[1].earlier] == numbered(1, 10)


async def test_a_memory_of_the_thread_is_shown_to_the_next_window(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    await workspace.record(says(script.find("I live in Porto", "Anna lives_in Porto"), at=clock()))
    await lore.distil(workspace)
    await workspace.record(says("What a day", at=clock()))
    await lore.distil(workspace)
    assert [known.content for known in script.windows[1].known] == ["I live in Porto"]


async def test_threads_are_distilled_each_by_itself(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    await workspace.record(says("one", at=clock()), thread="one")
    await workspace.record(says("two", at=clock()), thread="two")
    assert await lore.distil(workspace, "two") == 1
    assert read(script) == [["two"]]
    with pytest.raises(NotFound):
        await lore.distil(workspace, "three")


async def test_without_an_analyst_nothing_is_distilled(database: TestDatabase, clock: Clock) -> None:
    settings = database.settings(distil={"analyst": "none"})
    async with Everlore.open(settings, worker=False, clock=clock, embedders={}) as lore:
        with pytest.raises(ConfigurationError):
            await lore.distil()


# --- one reading of each -----------------------------------------------------------------------------------


async def test_what_was_read_is_not_read_again(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock, rows: Rows
) -> None:
    await workspace.record(says(*numbered(1, 12), at=clock()))
    await lore.distil(workspace)
    await lore.distil(workspace)
    assert len(script.windows) == 2
    assert await rows("select first, last, extractor, extractor_version, error from everlore.distillation order by first") == [
        (1, 10, "script", "1", None),
        (11, 12, "script", "1", None),
    ]  # fmt: skip


async def test_two_workers_never_work_on_one_thread(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    script.find("message 1")
    await workspace.record(says(*numbered(1, 40), at=clock()))
    await asyncio.gather(*(lore.distil(workspace) for _ in range(3)))
    assert script.most_at_work == 1
    assert read(script) == [numbered(n, n + 9) for n in (1, 11, 21, 31)]
    assert await contents(workspace) == ["message 1"]


async def test_a_window_that_somebody_else_finished_meanwhile_is_not_written_twice(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock, rows: Rows
) -> None:
    """Two readers of one window, as after a worker that was thought to be dead."""
    script.find("I like tea", "Anna likes tea")
    await workspace.record(says("I like tea", at=clock()))
    (thread_id,) = await workspace.threads_to_distil()
    script.gate = asyncio.Event()
    both = [
        asyncio.create_task(distil_thread(lore.workers, workspace.workspace_id, thread_id, close=True))
        for _ in range(2)
    ]
    while script.at_work < 2:
        await asyncio.sleep(0)
    script.gate.set()
    await asyncio.gather(*both)
    assert len(script.windows) == 2
    assert await rows("select count(*) from everlore.memory") == [(1,)]
    assert await rows("select count(*) from everlore.memory_source") == [(1,)]
    assert await rows("select count(*) from everlore.distillation") == [(1,)]


# --- what goes meanwhile -----------------------------------------------------------------------------------


async def distil_while(
    lore: Everlore, workspace: Workspace, script: Script, doing: Awaitable[object]
) -> None:
    """Distil, with something done while the analyst thinks."""
    script.gate = asyncio.Event()
    task = asyncio.create_task(lore.distil(workspace))
    await script.reached.wait()
    await doing
    script.gate.set()
    await task


async def test_a_message_deleted_while_it_is_read_leaves_nothing_behind(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock, rows: Rows
) -> None:
    texts = [
        script.find("I live in Porto", "Anna lives_in Porto"),
        script.find("I like tea", "Anna likes tea"),
    ]
    receipt = await workspace.record(says(*texts, at=clock()))
    gone = receipt.outcomes[0].message_id
    assert gone is not None
    await distil_while(lore, workspace, script, workspace.delete(gone))
    assert await contents(workspace, status="all") == ["I like tea"]
    assert [fact.object for fact in await workspace.facts(history=True)] == ["tea"]
    assert (await workspace.status()).undistilled == 0


async def test_a_thread_deleted_while_it_is_read_leaves_nothing_behind(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock, rows: Rows
) -> None:
    await workspace.record(says(script.find("I live in Porto", "Anna lives_in Porto"), at=clock()))
    await distil_while(lore, workspace, script, workspace.delete_thread("main"))
    for table in ("memory", "fact", "entity", "distillation"):
        assert (table, await rows(f"select count(*) from everlore.{table}")) == (table, [(0,)])  # pyright: ignore[reportArgumentType]
    assert not (await lore.status()).parked


async def test_a_window_that_was_erased_before_it_was_read_anew_is_done(
    lore: Everlore, workspace: Workspace, clock: Clock, rows: Rows
) -> None:
    receipt = await workspace.record(says(*numbered(1, 12), at=clock()))
    await lore.distil(workspace)
    await workspace.distil_again("main")
    for outcome in receipt.outcomes[:10]:
        assert outcome.message_id is not None
        await workspace.delete(outcome.message_id)
    await lore.distil(workspace)
    assert not (await lore.status()).parked
    assert await rows("select count(*) from everlore.distil_again") == [(0,)]


# --- failures ----------------------------------------------------------------------------------------------


async def test_a_bad_answer_is_shown_and_what_follows_goes_on(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    script.find("message 3")
    script.find("message 13")
    await workspace.record(says(*numbered(1, 15), at=clock()))

    def fail(window: Window) -> None:
        if window.messages[0].text == "message 1":
            raise BadAnswer("The model gave no answer that can be used: it was cut off.")

    script.before = fail
    await lore.distil(workspace)
    assert await contents(workspace) == ["message 13"]
    (failed,) = (await lore.status()).failures
    assert (failed.step, failed.workspace, failed.thread) == ("distil", "alice", "main")
    assert (failed.what, failed.first, failed.last) == ("messages 1 to 10", 1, 10)
    assert "cut off" in failed.error
    assert (await workspace.status()).failed_windows == 1

    await lore.retry_parked()
    await lore.distil(workspace)
    assert (await workspace.status()).failed_windows == 1
    script.before = lambda _: None
    assert (await lore.retry_parked()).count == 1
    assert await lore.distil(workspace) == 10
    assert await contents(workspace) == ["message 13", "message 3"]
    assert not (await lore.status()).failures


@pytest.mark.parametrize(
    "error",
    [BadAnswer("it was cut off"), ModelUnavailable("it does not answer"), InternalError("a promise broke")],
)
async def test_what_a_branch_said_goes_even_if_what_is_left_cannot_be_read_anew(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock, error: Exception
) -> None:
    porto = script.find("I live in Porto", "Anna lives_in Porto")
    script.find("message 1")
    receipt = await workspace.record(says("message 1", porto, "message 3", at=clock() - timedelta(hours=1)))
    await lore.distil(workspace)
    second = receipt.outcomes[1].message_id
    assert second is not None
    await workspace.revise(second, "message 4")

    def fail(window: Window) -> None:
        raise error

    script.before = fail
    await lore.distil(workspace)
    assert await contents(workspace) == ["message 1"]
    assert not (await workspace.facts()).items
    script.before = lambda _: None
    await workspace.switch("main", second)
    await lore.retry_parked()
    await lore.distil(workspace)
    assert await contents(workspace) == [porto, "message 1"]
    assert [one.object for one in (await workspace.facts()).items] == ["Porto"]


async def test_what_joins_the_path_while_its_window_is_read_is_read_too(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    receipt = await workspace.record(says(*numbered(1, 12), at=clock()))
    first, last = receipt.outcomes[0].message_id, receipt.outcomes[-1].message_id
    assert first is not None
    assert last is not None
    await lore.distil(workspace)
    script.find("message 2")
    script.find("message 12")
    await workspace.switch("main", first)
    script.gate = asyncio.Event()
    script.reached.clear()
    reading = asyncio.create_task(lore.distil(workspace))
    await script.reached.wait()
    await workspace.switch("main", last)
    script.gate.set()
    await reading
    await lore.distil(workspace)
    assert await contents(workspace) == ["message 12", "message 2"]


@pytest.mark.parametrize("error", [ModelUnavailable("it does not answer"), InternalError("a promise broke")])
async def test_a_model_that_fails_parks_the_job_and_loses_nothing(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock, error: Exception
) -> None:
    script.find("message 1")
    await workspace.record(says(*numbered(1, 3), at=clock()))

    def fail(window: Window) -> None:
        raise error

    script.before = fail
    await lore.distil(workspace)
    (parked,) = (await lore.status()).parked
    assert str(error) in str(parked)
    assert (await workspace.status()).undistilled == 3
    script.before = lambda _: None
    assert (await lore.retry_parked()).count == 1
    await lore.distil(workspace)
    assert await contents(workspace) == ["message 1"]
    assert not (await lore.status()).parked


async def test_a_failure_in_the_middle_keeps_what_came_before(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    script.find("message 1")
    await workspace.record(says(*numbered(1, 15), at=clock()))

    def fail(window: Window) -> None:
        if window.messages[0].text == "message 11":
            raise ModelUnavailable("it does not answer")

    script.before = fail
    await lore.distil(workspace)
    assert await contents(workspace) == ["message 1"]
    assert (await workspace.status()).undistilled == 5


async def test_only_what_failed_is_read_again(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    def fail(window: Window) -> None:
        if window.messages[0].text == "message 1":
            raise BadAnswer("it was cut off")
        raise ModelUnavailable("it does not answer")

    script.before = fail
    other = await lore.workspace("bob", create=True)
    await workspace.record(says("message 1", at=clock()), thread="one")
    await other.record(says("message 2", at=clock()), thread="two")
    await lore.distil()
    await workspace.record(says(*numbered(101, 115), at=clock()), thread="three")
    script.before = lambda _: None
    script.windows.clear()
    await lore.run_retried(await lore.retry_parked())
    assert sorted(read(script)) == [["message 1"], ["message 2"]]
    assert (await workspace.status()).undistilled == 15
    status = await lore.status()
    assert not (status.parked)
    assert not status.failures


# --- the breaker -------------------------------------------------------------------------------------------


# The queue has a clock of its own: what waits until then waits for as long as the tests run.
LATER = datetime(2100, 6, 14, 12, tzinfo=UTC)


class Charged(Script):
    """A model that asks the governor before it answers, and reports."""

    model = "tiny"

    async def extract(self, window: Window, governor: Governor) -> Extraction:
        await governor.allow("tiny")
        try:
            found = await super().extract(window, governor)
        except ModelUnavailable:
            await governor.report(CallReport("tiny", 0, 0, failed=True))
            raise
        await governor.report(CallReport("tiny", 10, 1, failed=False))
        return found


async def test_a_retry_by_hand_is_the_probe_and_one_call_decides(
    database: TestDatabase, clock: Clock
) -> None:
    clock.now = LATER
    charged = Charged()

    def fail(_: Window) -> None:
        raise ModelUnavailable("it does not answer")

    charged.before = fail
    async with opened(database, clock, charged, distil={"breaker_failures": 2}) as lore:
        workspace = await lore.workspace("alice", create=True)
        for number in range(4):
            await workspace.record(says(f"message {number}", at=clock()), thread=f"thread {number}")
        await lore.catch_up()
        await lore.distil(workspace)
        status = await lore.status()
        (held,) = status.held_up
        assert (held.workspace, held.model, held.reason) == ("alice", "tiny", "failed 2 times in a row")
        assert held.until == clock() + timedelta(minutes=5)
        # Two met the open breaker and wait; one probe fails, and all wait, twice as long.
        assert (len(status.parked), status.jobs["todo"]) == (2, 2)
        charged.windows.clear()
        retried = await lore.retry_parked()
        assert (retried.count, len(retried.runs)) == (4, 4)
        assert (await lore.status()).held_up == ()
        await lore.run_retried(retried)
        assert len(charged.windows) == 1
        status = await lore.status()
        assert [one.until for one in status.held_up] == [clock() + timedelta(minutes=10)]
        assert (len(status.parked), status.jobs["todo"]) == (1, 3)

        charged.before = lambda _: None
        await lore.run_retried(await lore.retry_parked())
        status = await lore.status()
        assert not (status.parked)
        assert not (status.held_up)
        assert not (status.jobs.get("todo"))
        assert (await workspace.status()).undistilled == 0


async def test_a_reached_cap_is_in_sight(database: TestDatabase, clock: Clock) -> None:
    clock.now = LATER
    async with opened(database, clock, Charged(), distil={"daily_calls_hard": 1}) as lore:
        workspace = await lore.workspace("alice", create=True)
        assert (await lore.status()).held_up == ()
        await workspace.record(says(*numbered(1, 13), at=clock()))
        await lore.distil(workspace)
        (held,) = (await lore.status()).held_up
        assert (held.workspace, held.model) == ("alice", None)
        assert held.reason == "the daily cap is reached: calls 1 of 1"
        assert held.until == datetime(2100, 6, 15, tzinfo=UTC)


# --- what it would take ------------------------------------------------------------------------------------


async def test_as_many_calls_are_estimated_as_are_made(database: TestDatabase, clock: Clock) -> None:
    charged = Charged()
    async with opened(database, clock, charged) as lore:
        workspace = await lore.workspace("alice", create=True)
        for number in range(6):
            await workspace.record(says("message 1", at=clock()), thread=f"short {number}")
        await workspace.record(says(*numbered(1, 23), at=clock()), thread="long")
        await workspace.record(says(*numbered(1, 3), at=clock(), apart=60), thread="pauses")
        for session in ("a", "b"):
            await workspace.record(says(*numbered(1, 12), at=clock()), thread="sessions", session=session)

        async def calls(**limits: Any) -> int:
            return (await workspace.estimate_distil(**limits)).calls

        assert await calls() == 6 + 3 + 3 + 4
        assert await calls(thread="long") == 3
        # A last window that may still grow is not read; the others were ended by what followed.
        assert await calls(close=False) == 0 + 2 + 2 + 3
        await lore.distil(workspace, close=False)
        assert len(charged.windows) == 7
        assert await calls() == 9
        clock.advance(hours=1)
        assert await calls(close=False) == 9, "silence has closed them"
        await lore.distil(workspace)
        assert (len(charged.windows), await calls()) == (16, 0)
        assert await calls(again=True) == 16
        assert await calls(again=True, thread="long", since=5, until=11) == 2
        await workspace.record(says("message 24", at=clock()), thread="long")
        assert await calls(again=True, thread="long") == 4


# --- what may not be read ----------------------------------------------------------------------------------


async def test_what_is_off_the_record_is_not_shown_to_the_analyst(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    for text in ("My PIN is in the blue book", "I like tea", "between us: I hate Bob"):
        script.find(text)
    await workspace.record(
        [
            NewMessage(
                role="user", text="My PIN is in the blue book", author="Anna", at=clock(), off_the_record=True
            ),
            *says("I like tea", "between us: I hate Bob", at=clock()),
        ]
    )
    await lore.distil(workspace)
    assert read(script)[0][0] == "I like tea"
    assert not any("Bob" in text or "PIN" in text for text in read(script)[0])
    assert await contents(workspace, status="all") == ["I like tea"]
    assert (await workspace.status()).messages == 3


async def test_a_window_with_nothing_to_read_makes_no_call(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    await workspace.record(says("secret", at=clock(), off_the_record=True))
    assert await lore.distil(workspace) == 1
    assert read(script) == []
    assert (await workspace.status()).undistilled == 0


async def test_what_is_not_grounded_waits_with_the_reason_and_is_never_recalled(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    text = script.find("I moved last week", content="Anna moved to Reykjavik")
    await workspace.record(says(text, at=clock()))
    await lore.distil(workspace)
    assert await contents(workspace) == []
    rejected = await only(workspace, status="rejected")
    assert rejected.content == "Anna moved to Reykjavik"
    assert "Reykjavik" in (rejected.review_reason or "")
    await lore.catch_up()
    assert not (await workspace.recall("Who moved to Reykjavik?")).memories
    assert [item.text for item in await workspace.review()] == ["Anna moved to Reykjavik"]


async def test_a_source_keeps_its_quoted_words(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock, rows: Rows
) -> None:
    """So that the texts of messages can be put away: what was said is shown without them."""
    script.find("I live in Porto", "user lives_in Porto")
    await workspace.record(says("I live in Porto", at=clock()))
    await lore.distil(workspace)
    await rows("update everlore.message set text = 'put away'")
    detail = await workspace.memory((await only(workspace)).memory_id)
    (fact,) = await workspace.facts()
    assert [source.quote for source in (*detail.sources, *fact.sources)] == ["I live in Porto"] * 2


async def test_secrets_are_taken_out_of_what_is_distilled(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    key = "sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"
    script.find(f"My key is {key}", f"Anna owns {key}")
    await workspace.record(says(f"My key is {key}", at=clock()))
    await lore.distil(workspace)
    assert not any(key in text for text in read(script)[0])
    assert not any(key in memory.content for memory in await workspace.memories(status="all"))
    assert await workspace.facts(history=True) == []


# --- read anew ---------------------------------------------------------------------------------------------


async def test_reading_anew_supersedes_what_it_replaces_and_nothing_else(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock, rows: Rows
) -> None:
    texts = [
        script.find("I live in Porto", "Anna lives_in Porto"),
        script.find("I like tea", "Anna likes tea"),
        script.find("I play chess", "Anna plays chess"),
        script.find("I own a kayak", "Anna owns kayak"),
    ]
    await workspace.record(says(*texts, at=clock() - timedelta(hours=1)))
    await lore.distil(workspace)
    by_content = {memory.content: memory for memory in await workspace.memories()}
    await workspace.confirm(by_content["I like tea"].memory_id)
    await workspace.pin(by_content["I play chess"].memory_id)
    told = await workspace.remember("I sail on Sundays", author="Anna")

    before, clock.now = clock(), clock() + timedelta(days=1)
    script.forget()
    script.version = "2"
    script.find("I live in Porto", "Anna lives_in Porto")
    assert await workspace.distil_again("main") == 1
    await lore.distil(workspace)

    assert await contents(workspace) == ["I like tea", "I live in Porto", "I play chess", "I sail on Sundays"]
    gone = await only(workspace, status="superseded")
    assert gone.content == "I own a kayak"
    assert gone.review_reason == "no longer found when its messages were read anew"
    assert (await workspace.memory(told.memory_id)).memory.status == "active"
    kept = (await workspace.memory(by_content["I live in Porto"].memory_id)).memory
    assert kept.lineage_id == by_content["I live in Porto"].lineage_id
    assert {fact.object for fact in await workspace.facts()} >= {"Porto"}
    assert "kayak" not in {fact.object for fact in await workspace.facts()}
    windows = await rows(
        "select extractor_version, superseded_at is null from everlore.distillation order by 1"
    )
    assert windows == [("1", False), ("2", True)]
    assert "I own a kayak" in await contents(workspace, as_of=AsOf(recorded_at=before))


async def test_what_is_found_anew_after_it_was_lost_counts_again(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    text = script.find("I live in Porto", "Anna lives_in Porto")
    await workspace.record(says(text, at=clock()))
    await lore.distil(workspace)
    script.forget()
    clock.advance(hours=1)
    await workspace.distil_again("main")
    await lore.distil(workspace)
    assert (await contents(workspace), await workspace.facts()) == ([], [])
    script.find("I live in Porto", "Anna lives_in Porto")
    clock.advance(hours=1)
    await workspace.distil_again("main")
    await lore.distil(workspace)
    assert await contents(workspace) == ["I live in Porto"]
    assert [fact.object for fact in await workspace.facts()] == ["Porto"]


async def test_only_the_windows_of_the_span_are_read_anew(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    await workspace.record(says(*numbered(1, 30), at=clock()))
    await lore.distil(workspace)
    script.windows = []
    assert await workspace.distil_again("main", since=12, until=14) == 1
    await lore.distil(workspace)
    assert read(script) == [numbered(11, 20)]


async def test_reading_anew_changes_nothing_when_the_analyst_finds_the_same(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock, rows: Rows
) -> None:
    texts = [
        script.find("I live in Porto", "Anna lives_in Porto"),
        script.find("I like tea", "Anna likes tea"),
    ]
    await workspace.record(says(*texts, at=clock()))
    await lore.distil(workspace)
    shown = await state(rows, workspace.workspace_id)
    clock.advance(days=1)
    await workspace.distil_again("main")
    await lore.distil(workspace)
    assert await state(rows, workspace.workspace_id) == shown


async def state(rows: Rows, workspace_id: UUID) -> list[tuple[object, ...]]:
    """What is believed, and how surely."""
    memories = await rows(
        "select content, version, valid_from, valid_to, confidence from everlore.memory"
        " where workspace_id = %s and superseded_at is null order by content",
        workspace_id,
    )
    facts = await rows(
        "select object, version, valid_from, valid_to, confidence from everlore.fact"
        " where workspace_id = %s and superseded_at is null order by object",
        workspace_id,
    )
    return [*memories, *facts]
