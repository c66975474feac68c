"""Recall, from recorded messages to hits, over a real Postgres."""

from datetime import timedelta

from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore


def said(text: str, author: str = "Maya") -> NewMessage:
    return NewMessage(role="user", author=author, text=text)


async def test_a_fresh_message_is_found_by_its_words_and_after_indexing_by_its_vector(lore: Everlore) -> None:
    workspace = await lore.workspace("alice", create=True)
    await workspace.record([said("My sister Emma moved to Lisbon."), said("The boiler was repaired.")])

    before = await workspace.recall("Where did Emma move?", trace=True)
    assert before.hits[0].text == "My sister Emma moved to Lisbon."
    assert before.hits[0].trace["lexical"].rank == 1
    assert before.hits[0].trace["vector"].rank is None

    await lore.catch_up()
    after = await workspace.recall("Where did Emma move?", trace=True)
    assert after.hits[0].text == "My sister Emma moved to Lisbon."
    assert after.hits[0].trace["vector"].rank == 1
    assert after.degraded == ()


async def test_filters_limit_what_is_found(lore: Everlore) -> None:
    workspace = await lore.workspace("alice", create=True)
    now = lore.runtime.clock()
    await workspace.record(
        [
            NewMessage(
                role="user", author="Maya", at=now - timedelta(days=30), text="The garden needs water."
            ),
            NewMessage(role="user", author="Ali", at=now - timedelta(days=1), text="The garden is fine."),
        ],
        thread="house",
        project="home",
        taxonomy="life.house",
    )
    await workspace.record([said("A garden in the office.")], thread="work", taxonomy="work.studio")
    await lore.catch_up()

    async def found(**limits: object) -> set[str]:
        return {hit.text for hit in (await workspace.recall("garden", **limits)).hits}  # pyright: ignore[reportArgumentType]

    assert await found(author="ali") == {"The garden is fine."}
    assert await found(since=now - timedelta(days=2), until=now) == {"The garden is fine."}
    assert await found(thread="work") == {"A garden in the office."}
    assert await found(project="home") == {"The garden needs water.", "The garden is fine."}
    assert await found(taxonomy="life") == {"The garden needs water.", "The garden is fine."}
    assert await found(taxonomy="life.garden") == set()
