"""Deleting takes everything along that was derived, whatever runs meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable
from types import ModuleType
from uuid import UUID, uuid4

import pytest
from tests.conftest import Clock
from tests.steps.conftest import Gate, Rows

from everlore.api.workspace import Workspace
from everlore.domain.errors import NotFound
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.index.step import index_thread, pack_tail
from everlore.store import conversation, index, postings

Check = Callable[[UUID], Awaitable[None]]
PutGate = Callable[[ModuleType, str], Gate]


@pytest.fixture
async def workspace(lore: Everlore) -> Workspace:
    return await lore.workspace("alice", create=True)


def said(text: str, external_id: str | None = None) -> NewMessage:
    return NewMessage(role="user", author="Maya", text=text, external_id=external_id)


async def stored(workspace: Workspace, *texts: str, thread: str = "main") -> list[UUID]:
    receipt = await workspace.record([said(text, text[:500]) for text in texts], thread=thread)
    return [outcome.message_id for outcome in receipt.outcomes if outcome.message_id is not None]


async def indexed(lore: Everlore, workspace: Workspace) -> None:
    await lore.catch_up()
    await pack_tail(lore.workers, workspace.workspace_id, at_least=1)


async def tables_naming(rows: Rows, *ids: UUID | str) -> set[str]:
    """All tables of ours, the audit apart, in which a row holds one of the ids anywhere."""
    names = await rows(
        "select c.relname from pg_class c where c.relnamespace = 'everlore'::regnamespace and c.relkind = 'r'"
        " and c.relname <> 'audit_log'"
    )
    found: set[str] = set()
    for (name,) in names:
        query = "select count(*) from everlore." + name + " as t where t::text like any (%s)"
        ((count,),) = await rows(query, [f"%{one}%" for one in ids])  # type: ignore[arg-type]
        if count:
            found.add(name)
    return found


async def test_a_deleted_message_is_gone_from_every_table(
    lore: Everlore, workspace: Workspace, rows: Rows, lexicon_is_exact: Check
) -> None:
    _, gone, _ = await stored(workspace, "the boat", "the zeppelin " * 150, "the cliff")
    await indexed(lore, workspace)
    passages = await rows("select passage_id from everlore.passage where owner_id = %s", gone)
    assert len(passages) > 1
    assert await tables_naming(rows, gone, "zeppelin") >= {"message", "passage", "posting_block"}

    assert (await workspace.delete(gone)).text == "the zeppelin " * 150
    assert await tables_naming(rows, gone, "zeppelin") == set()
    await lexicon_is_exact(workspace.workspace_id)
    for table in ("everlore.passage_vector", "everlore.passage_tokens"):
        query = "select count(*) from " + table + " where passage_id = any (%s)"
        assert await rows(query, [number for (number,) in passages]) == [(0,)]  # type: ignore[arg-type]
    assert [hit.text for hit in (await workspace.recall("zeppelin")).hits if "zeppelin" in hit.text] == []
    assert {hit.text for hit in (await workspace.recall("boat or cliff")).hits} == {"the boat", "the cliff"}


async def test_a_deleted_thread_is_gone_from_every_table(
    lore: Everlore, workspace: Workspace, rows: Rows, lexicon_is_exact: Check
) -> None:
    ids = await stored(workspace, "the boat", "the zeppelin", thread="gone")
    await stored(workspace, "the cliff", thread="kept")
    await indexed(lore, workspace)
    ((thread,),) = await rows("select thread_id from everlore.thread where name = 'gone'")
    assert (await workspace.delete_thread("gone")).deleted == 2
    assert await tables_naming(rows, thread, *ids, "zeppelin", "gone") == set()
    await lexicon_is_exact(workspace.workspace_id)
    assert await rows("select count(*) from everlore.passage_vector") == [(1,)]
    assert [thread.name for thread in await workspace.threads()] == ["kept"]


async def test_what_is_deleted_twice_or_unknown_is_not_found(workspace: Workspace) -> None:
    (one,) = await stored(workspace, "the boat")
    await workspace.delete(one)
    for again in (one, str(one), uuid4()):
        with pytest.raises(NotFound):
            await workspace.delete(again)
    await workspace.delete_thread("main")
    for thread in ("main", "never"):
        with pytest.raises(NotFound, match=thread):
            await workspace.delete_thread(thread)


async def test_two_who_delete_the_same_at_once(
    lore: Everlore, workspace: Workspace, lexicon_is_exact: Check
) -> None:
    (one, _) = await stored(workspace, "the boat", "the cliff")
    await indexed(lore, workspace)
    done = await asyncio.gather(*(workspace.delete(one) for _ in range(5)), return_exceptions=True)
    assert sum(isinstance(result, NotFound) for result in done) == 4
    await lexicon_is_exact(workspace.workspace_id)
    both = await asyncio.gather(*(workspace.delete_thread("main") for _ in range(3)), return_exceptions=True)
    assert sum(isinstance(result, NotFound) for result in both) == 2
    await lexicon_is_exact(workspace.workspace_id)


async def test_what_was_deleted_can_be_recorded_again(
    lore: Everlore, workspace: Workspace, rows: Rows, lexicon_is_exact: Check, clock: Clock
) -> None:
    for _ in range(3):
        (one,) = await stored(workspace, "the boat")  # the last message of its session, and of its thread
        await indexed(lore, workspace)
        await workspace.delete(one)
        clock.advance(hours=1)
    await stored(workspace, "the boat")
    await workspace.delete_thread("main")
    (one,) = await stored(workspace, "the boat")
    await lore.catch_up()
    assert (await workspace.show(one)).position == 1
    assert (await workspace.status()).unembedded == {"fake": 0}
    await lexicon_is_exact(workspace.workspace_id)
    assert len((await workspace.recall("boat")).hits) == 1


async def test_an_empty_session_goes_unless_the_next_message_may_join_it(
    workspace: Workspace, rows: Rows, clock: Clock
) -> None:
    (first,) = await stored(workspace, "the boat")
    clock.advance(days=1)
    (second,) = await stored(workspace, "the cliff")
    await workspace.delete(first)
    assert await rows("select count(*) from everlore.session") == [(1,)]
    await workspace.delete(second)
    (third,) = await stored(workspace, "the dune")
    assert (await workspace.show(third)).text == "the dune"
    assert await rows("select count(*) from everlore.session") == [(1,)]


@pytest.mark.parametrize("whole_thread", [False, True])
@pytest.mark.parametrize("new_model", [False, True])
async def test_a_deletion_while_the_index_step_thinks(
    lore: Everlore, workspace: Workspace, rows: Rows, gate: PutGate, whole_thread: bool, new_model: bool
) -> None:
    (gone, _) = await stored(workspace, "the boat", "the cliff")
    ((thread,),) = await rows("select thread_id from everlore.thread")
    if new_model:  # it has no mark in the thread yet
        await rows("delete from everlore.watermark where step like 'vector%%'")
    thinking = gate(index, "load")
    step = asyncio.create_task(index_thread(lore.workers, workspace.workspace_id, thread))
    await thinking.reached.wait()
    if whole_thread:
        await workspace.delete_thread("main")
    else:
        await workspace.delete(gone)
    thinking.open()
    await step
    assert await rows("select count(*) from everlore.passage_vector") == [(0 if whole_thread else 1,)]
    assert await tables_naming(rows, *((thread,) if whole_thread else (gone,))) == set()
    await lore.catch_up()
    assert (await lore.status()).parked == ()


@pytest.mark.parametrize("whole_thread", [False, True])
@pytest.mark.parametrize("new_model", [False, True])
async def test_a_deletion_while_the_index_step_commits(
    lore: Everlore, workspace: Workspace, rows: Rows, gate: PutGate, whole_thread: bool, new_model: bool
) -> None:
    (gone, _) = await stored(workspace, "the boat", "the cliff")
    ((thread,),) = await rows("select thread_id from everlore.thread")
    if new_model:
        await rows("delete from everlore.watermark where step like 'vector%%'")
    removing = gate(postings, "remove")  # the deletion holds its locks, the rows are still there
    deleting = asyncio.create_task(
        workspace.delete_thread("main") if whole_thread else workspace.delete(gone)
    )
    await removing.reached.wait()
    step = asyncio.create_task(index_thread(lore.workers, workspace.workspace_id, thread))
    while not step.done() and not await rows("select 1 from pg_locks where not granted"):
        pass
    removing.open()
    await asyncio.gather(deleting, step)
    await lore.catch_up()
    assert await rows("select count(*) from everlore.passage_vector") == [(0 if whole_thread else 1,)]
    assert (await lore.status()).parked == ()


async def test_a_deletion_while_a_writer_has_not_committed(
    lore: Everlore, workspace: Workspace, gate: PutGate, lexicon_is_exact: Check
) -> None:
    await stored(workspace, "the boat")
    writing = gate(conversation, "audit")
    writer = asyncio.create_task(stored(workspace, "the cliff"))
    await writing.reached.wait()
    deleting = asyncio.create_task(workspace.delete_thread("main"))
    writing.open()
    await asyncio.gather(writer, deleting)
    assert (await deleting).deleted == 2
    await indexed(lore, workspace)
    await lexicon_is_exact(workspace.workspace_id)
    assert (await workspace.recall("boat cliff")).hits == ()


async def test_a_message_of_another_workspace_is_not_found(lore: Everlore, workspace: Workspace) -> None:
    (one,) = await stored(workspace, "the boat")
    other = await lore.workspace("bob", create=True)
    with pytest.raises(NotFound):
        await other.delete(one)
    with pytest.raises(NotFound):
        await other.delete_thread("main")
    assert (await workspace.show(one)).text == "the boat"


async def test_counts_follow_deletions(workspace: Workspace) -> None:
    (one, _) = await stored(workspace, "the boat", "the cliff")
    await workspace.delete(one)
    assert (await workspace.status()).messages == 1
    assert [thread.messages for thread in await workspace.threads()] == [1]
