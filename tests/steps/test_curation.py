"""What a person decided stands: it can be taken back, is not ended by a machine, and leaves the past as it was believed."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from tests.conftest import Clock, TestDatabase
from tests.steps.conftest import Rows
from tests.steps.script import Script, opened, says

from everlore.api.workspace import Workspace
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.ids import new_id, short_id
from everlore.domain.memories import AsOf
from everlore.everlore import Everlore


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


async def heard(lore: Everlore, workspace: Workspace, clock: Clock, *texts: str) -> None:
    """Anna says so, and it is distilled."""
    await workspace.record(says(*texts, at=clock()))
    await lore.distil(workspace)
    clock.advance(hours=1)


@pytest.fixture
async def porto(lore: Everlore, workspace: Workspace, script: Script, clock: Clock) -> Workspace:
    """Anna said that she lives in Porto; it was distilled."""
    await heard(lore, workspace, clock, script.find("I live in Porto", "Anna lives_in Porto"))
    return workspace


async def contents(workspace: Workspace, **filters: object) -> list[str]:
    return sorted(memory.content for memory in await workspace.memories(**filters))  # pyright: ignore[reportArgumentType]


async def objects(workspace: Workspace, **filters: object) -> list[str]:
    return sorted(fact.object for fact in await workspace.facts(**filters))  # pyright: ignore[reportArgumentType]


async def set_aside(rows: Rows, workspace: Workspace) -> None:
    """As if the only memory had never passed: it waits, is not indexed and states nothing."""
    await rows("update everlore.memory set review = 'suggested', review_reason = 'unsure', passage_id = null")
    await rows("delete from everlore.passage where kind <> 'message'")
    await rows("delete from everlore.fact")


@pytest.mark.parametrize("change", [{"tags": ["home"]}, {"type": "identity"}])
async def test_a_waiting_memory_of_which_only_tags_or_type_are_corrected_is_found(
    porto: Workspace, rows: Rows, change: dict[str, Any]
) -> None:
    (memory,) = await porto.memories()
    await set_aside(rows, porto)
    corrected = await porto.correct(memory.memory_id, **change)
    assert corrected.review is None
    recalled = await porto.recall("Porto", kinds=["memory"])
    assert [hit.memory.content for hit in recalled.memories] == ["I live in Porto"]


async def test_a_rejected_fact_can_be_confirmed_again(lore: Everlore, porto: Workspace, clock: Clock) -> None:
    (fact,) = await porto.facts()
    await porto.reject_fact(fact.fact_id)
    clock.advance(hours=1)
    confirmed = await porto.confirm_fact(fact.fact_id)
    assert (confirmed.review, confirmed.valid_to) == (None, None)
    assert await objects(porto) == ["Porto"]


async def test_what_was_said_of_a_fact_while_it_stood_rejected_counts_when_it_is_confirmed(
    lore: Everlore, porto: Workspace, clock: Clock
) -> None:
    (fact,) = await porto.facts()
    await porto.reject_fact(fact.fact_id)
    # The words are read anew, so the statement of before does not count any more.
    await porto.distil_again("main")
    await lore.distil(porto)
    assert await objects(porto) == []
    await porto.confirm_fact(fact.fact_id)
    assert await objects(porto) == ["Porto"]


async def test_rejecting_a_fact_does_not_change_what_was_believed_before(
    porto: Workspace, clock: Clock
) -> None:
    then = clock()
    (fact,) = await porto.facts()
    clock.advance(days=90)
    await porto.reject_fact(fact.fact_id)
    assert await objects(porto) == []
    assert await objects(porto, as_of=AsOf(recorded_at=then)) == ["Porto"]
    versions = await porto.fact_versions(fact.fact_id)
    assert [(one.review, one.valid_to == one.valid_from) for one in versions] == [
        (None, False),
        ("rejected", True),
    ]


async def test_an_analyst_does_not_end_what_a_person_confirmed(
    lore: Everlore, porto: Workspace, script: Script, clock: Clock
) -> None:
    (memory,) = await porto.memories()
    await porto.confirm(memory.memory_id)
    await heard(lore, porto, clock, script.find("I live in Lisbon now", "Anna lives_in Lisbon"))
    assert (await contents(porto), await objects(porto)) == (["I live in Porto"], ["Porto"])
    (item,) = await porto.review()
    assert item.text == "I live in Lisbon now"
    await porto.decide(item.id, accept=True)
    assert "I live in Lisbon now" in await contents(porto)


async def test_an_analyst_does_not_end_a_confirmed_fact_without_a_memory_either(
    lore: Everlore, porto: Workspace, script: Script, clock: Clock
) -> None:
    (fact,) = await porto.facts()
    await porto.confirm_fact(fact.fact_id)
    await heard(lore, porto, clock, script.find("I left Porto", "Anna no longer lives_in Porto"))
    assert await objects(porto) == ["Porto"]
    assert [item.text for item in await porto.review()] == ["I left Porto"]


async def test_an_analyst_does_not_reword_what_a_person_confirmed(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    await heard(lore, workspace, clock, script.find("I like tea"))
    (memory,) = await workspace.memories()
    await workspace.confirm(memory.memory_id)
    more = {"relation": "updates", "of": "I like tea"}
    await heard(lore, workspace, clock, script.find("I like tea from Assam with milk", **more))
    assert await contents(workspace) == ["I like tea"]
    assert [item.text for item in await workspace.review()] == ["I like tea from Assam with milk"]


async def test_what_was_said_before_a_confirmed_fact_began_fills_the_past(
    lore: Everlore, porto: Workspace, script: Script, clock: Clock
) -> None:
    (fact,) = await porto.facts()
    await porto.confirm_fact(fact.fact_id)
    earlier = script.find("I live in Lisbon", "Anna lives_in Lisbon")
    await porto.record(says(earlier, at=datetime(2024, 3, 1, tzinfo=UTC)), thread="old")
    await lore.distil(porto)
    assert await objects(porto) == ["Porto"]
    assert await objects(porto, history=True) == ["Lisbon", "Porto"]
    assert await porto.review() == []


async def test_the_oldest_of_many_waits_first_and_can_be_decided(
    workspace: Workspace, rows: Rows, clock: Clock
) -> None:
    await rows(
        "insert into everlore.memory (workspace_id, memory_id, lineage_id, type, content, content_hash, importance, confidence,"
        " valid_from, recorded_at, source_kind, review, review_reason)"
        " select %s, id, id, 'note', 'number ' || n, sha256(n::text::bytea), 0.5, 0.5,"
        "   timestamptz '2025-01-01' - n * interval '1 day', timestamptz '2025-01-01' + n * interval '1 hour', 'extracted',"
        "   'suggested', 'unsure'"
        " from (select n, gen_random_uuid() as id from generate_series(1, 1100) as n) as made",
        workspace.workspace_id,
    )
    ((oldest,),) = await rows("select memory_id from everlore.memory where content = 'number 1'")
    ((newest,),) = await rows("select memory_id from everlore.memory where content = 'number 1100'")
    assert [item.text for item in await workspace.review(limit=2)] == ["number 1", "number 2"]
    await workspace.decide(newest, accept=False)
    await workspace.decide(short_id(oldest), accept=True)
    assert await contents(workspace) == ["number 1"]
    assert await contents(workspace, status="rejected") == ["number 1100"]
    for what in (new_id(), newest):
        with pytest.raises(NotFound):
            await workspace.decide(what, accept=True)
    with pytest.raises(InvalidInput):
        await workspace.decide("abc", accept=True)


async def test_a_text_finds_whole_words(workspace: Workspace) -> None:
    await workspace.remember("We met in spring")
    await workspace.remember("I wear a ring")
    assert await contents(workspace, text="ring") == ["I wear a ring"]
    assert await contents(workspace, text="met in spr") == ["We met in spring"]


async def test_a_moment_by_itself_asks_what_was_true_then(porto: Workspace, clock: Clock) -> None:
    now, long_ago = cast("Any", clock()), cast("Any", datetime(2001, 1, 1, tzinfo=UTC))
    for ask in (porto.facts, porto.memories):
        assert len(await ask(as_of=now)) == 1
        assert len(await ask(as_of=long_ago)) == 0
        with pytest.raises(InvalidInput, match="as_of"):
            await ask(as_of=cast("Any", "yesterday"))


async def test_an_unknown_predicate_is_refused_with_the_one_that_was_meant(porto: Workspace) -> None:
    with pytest.raises(InvalidInput, match="Did you mean lives_in"):
        await porto.facts(predicate="live_in")
    assert await objects(porto, predicate="works_at") == []
    assert await objects(porto, predicate="sister_of") == []
    assert await objects(porto, predicate="lives_in") == ["Porto"]


@pytest.mark.parametrize("field", ["tags", "type", "content", "importance"])
async def test_nothing_is_no_value(porto: Workspace, field: str) -> None:
    (memory,) = await porto.memories()
    with pytest.raises(InvalidInput, match=field):
        await porto.correct(memory.memory_id, **cast("dict[str, Any]", {field: None}))


@pytest.mark.parametrize(
    "change",
    [
        {"tags": []},
        {"category": None, "event_at": None},
        {"content": "I live in Porto", "type": "fact", "expires_at": None},
    ],
)
async def test_a_correction_that_changes_nothing_writes_nothing(
    porto: Workspace, rows: Rows, change: dict[str, Any]
) -> None:
    (memory,) = await porto.memories()
    assert (memory.tags, memory.category, memory.expires_at) == ((), None, None)
    assert await porto.correct(memory.memory_id, **change) == memory
    assert [one.version for one in (await porto.memory(memory.memory_id)).versions] == [1]
    assert await rows("select * from everlore.audit_log where action = 'correct memory'") == []


async def test_of_a_correction_only_what_is_new_counts(porto: Workspace, rows: Rows) -> None:
    (memory,) = await porto.memories()
    far = memory.valid_from + timedelta(days=365)
    await porto.correct(memory.memory_id, expires_at=far)
    await porto.correct(memory.memory_id, importance=0.9)
    corrected = await porto.correct(memory.memory_id, type=memory.type, importance=0.9, tags=["home"])
    assert (corrected.version, corrected.tags, corrected.expires_at) == (4, ("home",), far)
    assert (await porto.correct(memory.memory_id, importance=0.9)).version == 4


async def test_one_memory_is_not_corrected_to_what_another_says(workspace: Workspace) -> None:
    await workspace.remember("I am allergic to nuts")
    other = await workspace.remember("Nora lives in Lyon")
    with pytest.raises(InvalidInput, match="says already"):
        await workspace.correct(other.memory_id, "I am allergic to nuts")
    assert await contents(workspace) == ["I am allergic to nuts", "Nora lives in Lyon"]
