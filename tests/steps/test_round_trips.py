"""How often Postgres is waited for, and what a recall does there: it only reads."""

import re
from typing import Any

import pytest

from everlore.api.workspace import Workspace
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.recall.uses import Uses
from everlore.store import recall_memories
from everlore.store.recall_memories import Use

WRITES = re.compile(r"\b(insert into|update everlore|delete from|for (no key )?update)\b", re.IGNORECASE)


@pytest.fixture
async def workspace(lore: Everlore) -> Workspace:
    return await lore.workspace("alice", create=True)


@pytest.mark.parametrize(
    "options",
    [{}, {"session": "s"}, {"project": "p", "taxonomy": "a.b"}],
    ids=["plain", "session", "project"],
)
async def test_one_recorded_message_costs_at_most_six(
    workspace: Workspace, round_trips: list[str], options: dict[str, Any]
) -> None:
    for number in range(3):
        message = NewMessage(role="user", author="Maya", text="The boat leaks.", external_id=str(number))
        round_trips.clear()
        assert (await workspace.record([message], **options)).stored == 1
        assert len(round_trips) <= 6, round_trips


async def test_a_history_that_was_sent_before_costs_at_most_six(
    workspace: Workspace, round_trips: list[str]
) -> None:
    history = [{"role": "user", "content": f"turn {number}"} for number in range(40)]
    for length in (38, 39, 40, 40):
        round_trips.clear()
        await workspace.reconcile(history[:length])
        assert len(round_trips) <= 6, round_trips
    round_trips.clear()
    await workspace.reconcile([*history[:20], {"role": "user", "content": "an edit"}])
    assert len(round_trips) <= 26, round_trips


async def test_a_recall_only_reads(lore: Everlore, workspace: Workspace, round_trips: list[str]) -> None:
    await workspace.record([NewMessage(role="user", author="Maya", text="The boat leaks in the fog.")])
    await workspace.remember("Maya likes boats.")
    await lore.catch_up()
    round_trips.clear()
    found = await workspace.recall("What does Maya like?", neighbours=1, deadline_ms=60_000)
    assert found.hits
    assert found.memories
    assert [statement for statement in round_trips if WRITES.search(statement)] == []
    assert sum(statement.startswith("begin isolation") for statement in round_trips) == 1
    round_trips.clear()
    await lore.directory.uses.flush()
    assert any("access_count" in statement for statement in round_trips)


async def test_uses_are_added_up_and_written_when_there_are_many(
    lore: Everlore, workspace: Workspace
) -> None:
    memory = await workspace.remember("Maya likes boats.")
    other = await workspace.remember("Maya dislikes fog.")
    uses = Uses(lore.runtime.database, most=2)
    for _ in range(3):
        uses.note(workspace.workspace_id, [Use(memory.memory_id, 1, lore.runtime.clock())])
    assert not uses._writing
    uses.note(workspace.workspace_id, [Use(other.memory_id, 1, lore.runtime.clock())])
    assert uses._writing
    await uses.flush()
    shown = await workspace.memory(memory.memory_id)
    assert (shown.memory.access_count, shown.memory.last_access_at) == (3, lore.runtime.clock())


async def test_what_cannot_be_noted_is_logged_and_loses_no_answer(
    lore: Everlore, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await workspace.remember("Maya likes boats.")

    async def broken(tx: object, uses: object) -> None:
        await lore.runtime.database.close()
        async with lore.runtime.database.outside():
            raise AssertionError

    monkeypatch.setattr(recall_memories, "note_uses", broken)
    assert (await workspace.recall("What does Maya like?")).memories
    await lore.directory.uses.flush()
    assert "could not be noted" in caplog.text
