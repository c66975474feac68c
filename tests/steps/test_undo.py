"""An undo after what was erased or learned since: nobody comes back of whom nothing is left, nothing is known twice."""

from datetime import UTC, datetime

from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore

AT = datetime(2025, 3, 1, 10, tzinfo=UTC)


async def test_an_undo_brings_nobody_back_of_whom_all_was_erased(lore: Everlore) -> None:
    workspace = await lore.workspace("alice", create=True)
    said = ("My brother Ben lives in Porto.", "Ben lives in Lisbon now.")
    for text in said:
        await workspace.record([NewMessage(role="user", author="Anna", text=text, at=AT)])
        await lore.distil(workspace)
    called = {one.entity.name: one.entity.entity_id for one in await workspace.graph.entities()}
    change = await workspace.graph.merge(called["Lisbon"], called["Porto"])
    await workspace.delete((await workspace.messages("main")).items[-1].message_id)
    undone = await workspace.graph.undo(change.change_id)
    assert undone.undone_at is not None
    assert sorted(one.entity.name for one in await workspace.graph.entities()) == ["Anna", "Ben", "Porto"]


async def test_what_both_halves_of_a_split_learned_since_is_known_once(lore: Everlore) -> None:
    workspace = await lore.workspace("alice", create=True)
    await workspace.record([NewMessage(role="user", author="Anna", text="My friend Emma likes tea.", at=AT)])
    await lore.distil(workspace)
    await workspace.graph.add_alias("Emma", "Emmy")
    split = await workspace.graph.split("Emma", ["Emmy"], called="Emmy")
    for name in ("Emma", "Emmy"):
        await workspace.remember(f"{name} lives in Lisbon.")
    assert len(await workspace.facts(predicate="lives_in")) == 2
    await workspace.graph.undo(split.change_id)
    assert len(await workspace.facts(predicate="lives_in")) == 1
