"""The input filter against the store: what was handed out is known again, what is off the record is kept and not distilled."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from tests.conftest import Clock, TestDatabase
from tests.steps.conftest import Rows

from everlore.api.workspace import Workspace
from everlore.domain.errors import InvalidInput
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder, ScriptedAnalyst
from everlore.ports.analyst import DraftMemory, Extraction, Quote, Window
from everlore.store import echoes

HANDED_OUT = """What you know of Anna:
- Anna lives in Porto with her sister Emma and two old cats
- Anna likes tea
- Her next exam is on the 14th of March, in room 12"""


@pytest.fixture
def windows() -> list[Window]:
    return []


@pytest.fixture
async def lore(
    database: TestDatabase, clock: Clock, fake: FakeEmbedder, windows: list[Window]
) -> AsyncIterator[Everlore]:
    def answer(window: Window) -> Extraction:
        windows.append(window)
        return Extraction(
            tuple(
                DraftMemory("fact", message.text, (Quote(message.number, message.text),))
                for message in window.messages
            )
        )

    async with Everlore.open(
        database.settings(),
        worker=False,
        clock=clock,
        embedders={"fake": fake},
        analyst=ScriptedAnalyst(answer),
    ) as opened:
        yield opened


@pytest.fixture
async def workspace(lore: Everlore) -> Workspace:
    return await lore.workspace("alice", create=True)


def said(text: str, *, private: bool = False) -> NewMessage:
    return NewMessage(role="user", author="Anna", text=text, off_the_record=private)


async def test_what_was_handed_out_is_known_when_it_comes_back(
    lore: Everlore, workspace: Workspace, rows: Rows, clock: Clock
) -> None:
    async with lore.runtime.database.workspace(workspace.workspace_id) as connection:
        await echoes.note_handed_out(connection, HANDED_OUT, clock())
        await echoes.note_handed_out(connection, HANDED_OUT, clock())
    assert await rows("select count(*) from everlore.handed_out") == [(4,)]
    near = "Sure! anna lives in Porto, with her sister Emma and two OLD cats."
    texts = [
        HANDED_OUT,
        f"I moved.\n{near}\nNow I live in Lisbon with nobody at all, you know.",
        "I like tea",
        "Anna likes tea",
        "",
        "Something that was never in any prompt, as far as one can tell.",
    ]
    async with lore.runtime.database.workspace(workspace.workspace_id) as connection:
        found = await echoes.find(connection, texts)
    copied = [[text[start:end].strip() for start, end in one] for text, one in zip(texts, found, strict=True)]
    assert copied[0][1] == "- Anna lives in Porto with her sister Emma and two old cats"
    assert "- Anna likes tea" in copied[0]  # next to what was handed out for sure
    assert copied[1:] == [[near], [], [], [], []]
    other = await lore.workspace("bob", create=True)
    async with lore.runtime.database.workspace(other.workspace_id) as connection:
        assert await echoes.find(connection, texts) == [()] * len(texts)


async def test_old_texts_are_forgotten(
    lore: Everlore, workspace: Workspace, rows: Rows, clock: Clock
) -> None:
    async with lore.runtime.database.workspace(workspace.workspace_id) as connection:
        await echoes.note_handed_out(connection, "one two three four five six seven", clock())
        clock.advance(days=10)
        await echoes.note_handed_out(connection, "eight nine ten eleven twelve thirteen", clock())
        await echoes.forget_handed_out(connection, clock() - timedelta(days=1))
    assert await rows("select count(*) from everlore.handed_out") == [(1,)]


async def test_off_the_record_is_kept_recalled_and_never_distilled(
    lore: Everlore, workspace: Workspace, rows: Rows, windows: list[Window]
) -> None:
    receipt = await workspace.record(
        [
            said("I like kayaks"),
            said("I owe Bob a fortune", private=True),
            said("Off the record: I hate my boss"),
            said("My password is hunter2, and I collect stamps"),
        ]
    )
    await lore.distil(workspace)
    await lore.catch_up()
    (window,) = windows
    assert [message.number for message in window.messages] == [1, 4]
    assert "hunter2" not in str(window)
    contents = {content for (content,) in await rows("select content from everlore.memory")}
    assert contents == {"I like kayaks", "My password is [redacted], and I collect stamps"}
    assert (
        await rows(
            "select text from everlore.passage where kind <> 'message' and text ~ 'hunter2|fortune|boss'"
        )
        == []
    )
    private = receipt.outcomes[1].message_id
    assert private is not None
    assert (await workspace.show(private)).off_the_record
    assert not (await workspace.show(receipt.outcomes[0].message_id or private)).off_the_record
    assert "I owe Bob a fortune" in [hit.text for hit in (await workspace.recall("fortune")).hits]


async def test_what_was_handed_out_gives_no_memory(
    lore: Everlore, workspace: Workspace, rows: Rows, clock: Clock, windows: list[Window]
) -> None:
    async with lore.runtime.database.workspace(workspace.workspace_id) as connection:
        await echoes.note_handed_out(connection, HANDED_OUT, clock())
    await workspace.record([said(HANDED_OUT), said(f"{HANDED_OUT}\nI collect stamps")])
    await lore.distil(workspace)
    (window,) = windows
    assert [(one.number, one.text.split()) for one in window.messages] == [(2, ["I", "collect", "stamps"])]
    assert await rows("select count(*) from everlore.memory where content ~ 'Emma'") == [(0,)]


async def test_the_mark_is_part_of_what_a_retry_repeats(workspace: Workspace) -> None:
    plain = {"role": "user", "text": "hello", "external_id": "1"}
    assert (await workspace.record([plain])).stored == 1
    assert (await workspace.record([{**plain, "off_the_record": False}])).already_there == 1
    assert len((await workspace.record([{**plain, "off_the_record": True}])).refused) == 1
    with pytest.raises(InvalidInput, match="off_the_record: must be true or false"):
        await workspace.record([{**plain, "off_the_record": "yes"}])
