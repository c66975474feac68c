"""What recall got wrong once."""

import asyncio
from datetime import UTC, datetime, timedelta

from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore

NOW = datetime(2025, 6, 14, 12, tzinfo=UTC)


def said(text: str, **fields: str) -> NewMessage:
    return NewMessage(role="user", text=text, **fields)  # pyright: ignore[reportArgumentType]


async def test_a_fresh_message_does_not_sink_below_indexed_ones(lore: Everlore) -> None:
    workspace = await lore.workspace("alice", create=True)
    await workspace.record([said(f"the boiler and the harbour, part {n}") for n in range(60)])
    await lore.catch_up()
    await workspace.record([said("The boiler code is 4417.")])
    found = await workspace.recall("What is the boiler code?")
    assert found.hits[0].text == "The boiler code is 4417."
    assert any("not indexed yet" in reason for reason in found.degraded)


async def test_writers_with_and_without_a_project_do_not_lock_each_other_out(lore: Everlore) -> None:
    workspace = await lore.workspace("alice", create=True)
    await workspace.record([said("first")], thread="main", project="home")
    receipts = await asyncio.gather(
        *(
            workspace.record([said(f"{n}")], thread="main", project="home" if n % 2 else None)
            for n in range(30)
        )
    )
    assert sum(receipt.stored for receipt in receipts) == 30


async def test_taxonomy_thread_and_project_limit_together(lore: Everlore) -> None:
    workspace = await lore.workspace("alice", create=True)
    await workspace.record([said("boat one", taxonomy="work.deep")], thread="a")
    await workspace.record([said("boat two", taxonomy="work"), said("boat three")], thread="b", project="p")
    await workspace.record([said("boat four")], thread="c", taxonomy="work")
    await lore.catch_up()

    async def found(**limits: str) -> set[str]:
        return {hit.text for hit in (await workspace.recall("boat", **limits)).hits}  # pyright: ignore[reportArgumentType]

    assert await found(taxonomy="work") == {"boat one", "boat two", "boat four"}
    assert await found(taxonomy="work", thread="b") == {"boat two"}
    assert await found(taxonomy="work", project="p") == {"boat two"}
    assert await found(thread="b") == {"boat two", "boat three"}


async def test_one_long_message_does_not_crowd_out_the_others(lore: Everlore) -> None:
    workspace = await lore.workspace("alice", create=True)
    book = " ".join(
        f"The harbour of chapter {n} was full of boats and nets that morning." for n in range(1200)
    )
    await workspace.record([said(book), *(said(f"A harbour note, number {n}.") for n in range(30))])
    await lore.catch_up()
    assert len((await workspace.recall("harbour", limit=10)).hits) == 10


async def test_as_many_hits_as_asked_for(lore: Everlore) -> None:
    workspace = await lore.workspace("alice", create=True)
    await workspace.record([said(f"boat {n}") for n in range(300)])
    await lore.catch_up()
    assert len((await workspace.recall("boat", limit=200)).hits) == 200


async def test_neighbours_close_up_after_a_deletion(lore: Everlore) -> None:
    workspace = await lore.workspace("alice", create=True)
    receipt = await workspace.record([said(word) for word in ("zero", "one", "boat", "three", "four")])
    one = receipt.outcomes[1].message_id
    assert one is not None
    await workspace.delete(one)
    (hit,) = (await workspace.recall("boat", limit=1, neighbours=2)).hits
    assert [(near.offset, near.text) for near in hit.neighbours] == [(-1, "zero"), (1, "three"), (2, "four")]


async def test_a_time_with_very_many_messages_is_still_looked_into(lore: Everlore) -> None:
    workspace = await lore.workspace("alice", create=True)
    may = datetime(2025, 5, 3, tzinfo=UTC)
    often = [NewMessage(role="user", at=may + timedelta(minutes=n), text=f"note {n}") for n in range(5200)]
    await workspace.record(
        [*often, NewMessage(role="user", at=may + timedelta(days=9), text="the budget is 40")]
    )
    await workspace.record(
        [NewMessage(role="user", at=NOW, text=f"the budget, the budget {n}") for n in range(300)], thread="b"
    )
    found = await workspace.recall("What was the budget in May 2025?", now=NOW)
    assert "the budget is 40" in {hit.text for hit in found.hits}
