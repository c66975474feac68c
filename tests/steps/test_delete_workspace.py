"""Deleting a workspace takes all of it, whatever a worker is doing meanwhile, and nothing else."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from types import ModuleType
from typing import Any, cast

import pytest
from tests.conftest import Clock, TestDatabase
from tests.steps.conftest import Gate, Rows
from tests.steps.script import Script, opened, says
from tests.steps.test_transfer import all_rows

from everlore.distil.step import STEP as DISTIL
from everlore.domain.errors import NotFound
from everlore.everlore import Everlore
from everlore.step import Scope
from everlore.store import index
from everlore.work.worker import Worker, run_scopes

PutGate = Callable[[ModuleType, str], Gate]


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
async def lore(database: TestDatabase, clock: Clock, script: Script) -> AsyncIterator[Everlore]:
    async with opened(database, clock, script) as lore:
        yield lore


async def filled(lore: Everlore, script: Script, clock: Clock, name: str) -> None:
    """Messages, a memory, a fact, entities, and vectors of them."""
    workspace = await lore.workspace(name)
    text = script.find("Anna lives in Porto", "Anna lives_in Porto")
    await workspace.record(says(text, *(f"message {n}" for n in range(11)), at=clock()))
    await lore.distil(workspace)
    await lore.catch_up()


async def test_the_receipt_counts_and_nothing_is_left_but_what_is_others(
    lore: Everlore, script: Script, clock: Clock, rows: Rows
) -> None:
    await filled(lore, script, clock, "alice")
    await filled(lore, script, clock, "bob")
    alice, bob = await lore.workspace("alice"), await lore.workspace("bob")
    for workspace in (alice, bob):
        await workspace.record(says("the zeppelin", at=clock()), thread="later")
        await _waits(rows, workspace.workspace_id, some=True)
    before, gone = await all_rows(rows, bob), alice.workspace_id
    entities = len(await alice.graph.entities())
    assert entities
    receipt = await lore.delete_workspace("alice")
    assert (receipt.name, receipt.workspace_id, receipt.deleted_at) == (
        "alice",
        gone,
        clock(),
    )
    assert receipt.counts == {
        "threads": 2, "messages": 13, "memories": 1, "facts": 1, "entities": entities, "passages": 15,
    }  # fmt: skip
    assert await _left(rows, gone) == []
    await _waits(rows, gone, some=False)
    await _waits(rows, bob.workspace_id, some=True)
    assert await all_rows(rows, bob) == before
    with pytest.raises(NotFound):
        await lore.delete_workspace("alice")
    with pytest.raises(NotFound):
        await alice.messages("main")


async def _left(rows: Rows, workspace_id: object) -> list[str]:
    tables = await rows(
        "select relname from pg_class c join pg_attribute a on a.attrelid = c.oid and attname = 'workspace_id'"
        " where relnamespace = 'everlore'::regnamespace and relkind in ('r', 'p')"
    )
    assert len(tables) > 30
    query = "select count(*) from everlore.{} where workspace_id = %s"
    return [
        table for (table,) in tables if await rows(cast("Any", query.format(table)), workspace_id) != [(0,)]
    ]


async def _waits(rows: Rows, workspace_id: object, *, some: bool) -> None:
    query = "select count(*) > 0 from jobs.procrastinate_jobs where args ->> 'workspace_id' = %s"
    assert await rows(query, str(workspace_id)) == [(some,)]


async def test_the_name_is_free_again(lore: Everlore, script: Script, clock: Clock) -> None:
    await filled(lore, script, clock, "alice")
    workspace = await lore.workspace("alice")
    before = workspace.workspace_id
    await lore.delete_workspace("alice")
    assert "alice" not in [one.name for one in await lore.workspaces()]
    await workspace.record(says("all new", at=clock()))
    assert workspace.workspace_id != before
    assert [message.text for message in await workspace.messages("main")] == ["all new"]
    assert not await workspace.memories()


async def test_a_worker_that_distils_it_meanwhile_ends_well(
    lore: Everlore, script: Script, clock: Clock, rows: Rows
) -> None:
    workspace = await lore.workspace("alice")
    await workspace.record(says("one", "two", at=clock()))
    workspace_id = workspace.workspace_id
    (thread_id,) = await workspace.threads_to_distil()
    script.gate = asyncio.Event()
    running = asyncio.create_task(
        run_scopes(lore.workers, DISTIL, [Scope(workspace_id, thread_id)], close=True)
    )
    await script.reached.wait()
    await lore.delete_workspace("alice")
    script.gate.set()
    await running
    await _ended_well(lore, rows, workspace_id)


async def test_a_worker_that_indexes_it_meanwhile_ends_well(
    lore: Everlore, clock: Clock, rows: Rows, gate: PutGate
) -> None:
    workspace = await lore.workspace("alice")
    await workspace.record(says("one", "two", at=clock()))
    workspace_id = workspace.workspace_id
    loaded = gate(index, "load")
    running: Awaitable[None] = asyncio.create_task(lore.catch_up())
    await loaded.reached.wait()
    await lore.delete_workspace("alice")
    loaded.open()
    await running
    await _ended_well(lore, rows, workspace_id)


async def _ended_well(lore: Everlore, rows: Rows, workspace_id: object) -> None:
    assert await _left(rows, workspace_id) == []
    await _waits(rows, workspace_id, some=False)
    assert await rows("select error from everlore.job_failure") == []
    assert (await lore.status()).parked == ()


async def test_a_running_worker_goes_on_with_others(lore: Everlore, script: Script, clock: Clock) -> None:
    worker = Worker(lore.workers)
    worker.start()
    try:
        alice = await lore.workspace("alice")
        script.gate = asyncio.Event()
        await alice.record(says(*(f"message {n}" for n in range(11)), at=clock()))
        await script.reached.wait()
        await lore.delete_workspace("alice")
        script.gate.set()
        bob = await lore.workspace("bob")
        await bob.record(says(*(f"message {n}" for n in range(11)), at=clock()))
        # The last message may be said anew yet: it waits.
        while (await bob.status()).undistilled > 1 or any((await bob.status()).unembedded.values()):
            await asyncio.sleep(0.01)
    finally:
        await worker.stop()
    assert (await lore.status()).parked == ()
