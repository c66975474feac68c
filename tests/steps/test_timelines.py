"""Merging two entities makes one timeline of what was said of both; undoing it gives each its own again."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from tests.conftest import Clock

from everlore.api.workspace import Workspace
from everlore.domain.memories import Fact
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore


def _said(facts: Sequence[Fact]) -> list[tuple[str, str, bool]]:
    return sorted((fact.predicate, fact.object, fact.valid_to is None) for fact in facts)


async def _told(workspace: Workspace) -> None:
    for month, words in (
        (1, "Emma lives in Porto."),
        (2, "Emilia lives in Porto."),
        (3, "Emilia lives in Lisbon."),
        (4, "Emma likes tea."),
        (5, "Emilia likes tea."),
    ):
        await workspace.remember(words, at=datetime(2025, month, 1, tzinfo=UTC))


async def test_merge_makes_one_timeline_and_undo_two(lore: Everlore) -> None:
    workspace = await lore.workspace(create=True)
    await _told(workspace)
    before = {name: _said(await workspace.facts(subject=name, history=True)) for name in ("Emma", "Emilia")}
    assert ("lives_in", "Porto", True) in before["Emma"]

    change = await workspace.graph.merge("Emma", "Emilia")

    now = _said(await workspace.facts(subject="Emma"))
    assert ("lives_in", "Lisbon", True) in now
    assert ("lives_in", "Porto", True) not in now
    assert [one for one in now if one[0] == "likes"] == [("likes", "tea", True)]

    await workspace.graph.undo(change.change_id)

    after = {name: _said(await workspace.facts(subject=name, history=True)) for name in ("Emma", "Emilia")}
    assert after == before


async def test_what_a_merge_made_one_is_listed_once(lore: Everlore) -> None:
    workspace = await lore.workspace(create=True)
    for month, name in ((1, "Rocky"), (2, "Stone")):
        await workspace.remember(f"{name} likes tea.", at=datetime(2025, month, 1, tzinfo=UTC))
    await workspace.graph.merge("Stone", "Rocky")

    (fact,) = await workspace.facts(subject="Stone", history=True)

    assert (fact.object, len(fact.sources), fact.valid_from.month) == ("tea", 2, 1)
    assert await workspace.fact_versions(fact.fact_id)


@pytest.mark.parametrize("by_hand", [True, False])
async def test_what_was_said_since_under_its_name_goes_with_it(
    lore: Everlore, clock: Clock, by_hand: bool
) -> None:
    workspace = await lore.workspace(create=True)

    async def tell(*texts: str) -> None:
        for text in texts:
            clock.advance(days=1)
            if by_hand:
                await workspace.remember(text, author="Anna")
            else:
                await workspace.record([NewMessage(role="user", author="Anna", text=text)])
                await lore.distil(workspace)

    await tell("Stone lives in Porto.", "Rocky likes tea.", "Stone works at Acme.")
    clock.advance(days=1)
    change = await workspace.graph.merge("Stone", "Rocky")
    await tell(
        "Rocky has a dog Rex.", "Rocky lives in Ghent.", "Stone likes jazz.", "Stone and Rocky like golf."
    )
    assert ("lives_in", "Porto", False) in _said(await workspace.facts(subject="Stone", history=True))

    await workspace.graph.undo(change.change_id)

    stone = _said(await workspace.facts(subject="Stone"))
    rocky = _said(await workspace.facts(subject="Rocky"))
    assert {one[:2] for one in rocky} >= {("likes", "tea"), ("lives_in", "Ghent"), ("has_pet", "Rex")}
    assert {one[:2] for one in stone} >= {("works_at", "Acme"), ("likes", "jazz"), ("lives_in", "Porto")}
    assert {one[1] for one in stone} & {"Ghent", "Rex", "tea"} == set()
    contents = {m.content for m in await workspace.memories(entity="Rocky", include_expired=True)}
    assert any("Ghent" in content for content in contents)
    assert not any("jazz" in content for content in contents)


async def test_splitting_gives_each_its_own_timeline(lore: Everlore) -> None:
    workspace = await lore.workspace(create=True)
    at = datetime(2025, 1, 1, tzinfo=UTC)
    messages = [
        {"role": "user", "author": "Anna", "text": "Sam lives in Oslo.", "at": at},
        {"role": "user", "author": "Anna", "text": "Sammy lives in Rome.", "at": at.replace(month=2)},
    ]
    for message in messages:
        await workspace.record([message])
        await lore.distil(workspace)
    await workspace.graph.merge("Sam", "Sammy")
    assert _said(await workspace.facts(subject="Sam", predicate="lives_in")) == [("lives_in", "Rome", True)]

    await workspace.graph.split("Sam", ["Sammy"], "Sammy Jones")

    assert _said(await workspace.facts(subject="Sam", predicate="lives_in")) == [("lives_in", "Oslo", True)]
    assert _said(await workspace.facts(subject="Sammy", predicate="lives_in")) == [("lives_in", "Rome", True)]


async def test_distilling_one_workspace_leaves_the_others_alone(lore: Everlore) -> None:
    at = datetime(2025, 1, 1, tzinfo=UTC)
    said = [
        {"role": "user", "author": "Anna", "text": f"I have visited {place}.", "at": at}
        for place in ("Oslo", "Rome", "Bern", "Kyiv", "Lima", "Turin", "Paris", "Quito", "Riga", "Sofia")
    ]
    one, other = await lore.workspace("one", create=True), await lore.workspace("other", create=True)
    for workspace in (one, other):
        await workspace.record(said)

    assert await lore.distil(one) == 10

    assert await one.memories(include_expired=True)
    assert await other.memories(include_expired=True) == []
    assert await lore.distil(other) == 10


async def test_a_memory_is_superseded_with_the_first_of_its_facts(lore: Everlore) -> None:
    workspace = await lore.workspace(create=True)
    old = await workspace.remember(
        "My sister Emma lives in Porto.", author="Anna", at=datetime(2025, 1, 1, tzinfo=UTC)
    )
    await workspace.remember(
        "My sister Emma lives in Lisbon.", author="Anna", at=datetime(2025, 3, 1, tzinfo=UTC)
    )

    assert [m.content for m in await workspace.memories()] == ["My sister Emma lives in Lisbon."]
    assert (await workspace.memory(old.memory_id)).memory.valid_to == datetime(2025, 3, 1, tzinfo=UTC)
    assert {f.predicate for f in await workspace.facts(subject="Emma")} == {"lives_in", "sister_of"}
