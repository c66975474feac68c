"""What a person tells or decides: it counts more than what was read, and facts follow their memory."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.conftest import Clock, TestDatabase
from tests.steps.conftest import Rows
from tests.steps.script import Script, opened, says

from everlore.api.workspace import Workspace
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.ids import new_id, short_id
from everlore.domain.memories import AsOf
from everlore.everlore import Everlore

SPRING = datetime(2025, 3, 1, 10, tzinfo=UTC)


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


@pytest.fixture
async def porto(lore: Everlore, workspace: Workspace, script: Script, clock: Clock) -> Workspace:
    """Anna said that she lives in Porto; it was distilled."""
    text = script.find("I live in Porto", "Anna lives_in Porto")
    await workspace.record(says(text, at=clock()))
    await lore.distil(workspace)
    clock.advance(hours=1)
    return workspace


async def contents(workspace: Workspace, **filters: object) -> list[str]:
    return sorted(memory.content for memory in await workspace.memories(**filters))  # pyright: ignore[reportArgumentType]


async def objects(workspace: Workspace, **filters: object) -> list[str]:
    return sorted(fact.object for fact in await workspace.facts(**filters))  # pyright: ignore[reportArgumentType]


async def said_again(
    lore: Everlore, workspace: Workspace, clock: Clock, text: str = "I live in Porto"
) -> None:
    await workspace.record(says(text, at=clock()))
    await lore.distil(workspace)
    clock.advance(hours=1)


async def audited(rows: Rows, workspace: Workspace) -> list[str]:
    found = await rows(
        "select action from everlore.audit_log where workspace_id = %s order by audit_id",
        workspace.workspace_id,
    )
    return [row[0] for row in found if row[0] != "record"]


# --- remember ----------------------------------------------------------------------------------------------


async def test_what_a_person_tells_is_a_memory_with_its_facts(workspace: Workspace, rows: Rows) -> None:
    memory = await workspace.remember("I live in Porto", type="identity", author="Anna", tags=["home"])
    assert (memory.source_kind, memory.type, memory.tags, memory.author) == (
        "by hand",
        "identity",
        ("home",),
        "Anna",
    )
    assert memory.confidence == pytest.approx(0.95)
    (fact,) = await workspace.facts()
    assert (fact.subject, fact.predicate, fact.object) == ("Anna", "lives_in", "Porto")
    assert fact.sources[0].message_id is None
    assert (await workspace.memory(memory.memory_id)).facts == (fact,)
    assert await audited(rows, workspace) == ["remember"]


async def test_told_twice_it_is_one_memory_that_is_surer(workspace: Workspace, clock: Clock) -> None:
    first = await workspace.remember("I live in Porto", author="Anna")
    clock.advance(days=1)
    second = await workspace.remember("I live in Porto.", author="Anna")
    assert first.lineage_id == second.lineage_id
    assert second.confidence == pytest.approx(0.99)
    assert len((await workspace.memory(second.memory_id)).sources) == 2


async def test_what_a_person_tells_supersedes_what_was_read(porto: Workspace, clock: Clock) -> None:
    await porto.remember("I live in Lisbon now", author="Anna")
    assert await objects(porto) == ["Lisbon"]
    assert await contents(porto) == ["I live in Lisbon now"]


async def test_entities_may_be_named_beside_the_words(workspace: Workspace) -> None:
    memory = await workspace.remember("Met at the fair", entities=["Emma Kaya"])
    assert "Emma Kaya" in memory.entities
    assert await contents(workspace, entity="Emma Kaya") == ["Met at the fair"]


async def test_a_known_name_is_linked_where_no_statement_is_found(workspace: Workspace) -> None:
    await workspace.remember("Alice is married to Bob.")
    memory = await workspace.remember("Bob collects vintage stamps.")
    assert memory.entities == ("Bob",)
    found = await workspace.recall("What do I know about Alice?")
    assert "Bob collects vintage stamps." in [hit.memory.content for hit in found.memories]
    assert len(await workspace.graph.entities("Bob")) == 1


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("Rose Miller's garden is huge.", {"Rose Miller"}),
        ("ROSE came by.", {"Rose"}),
        ("The tide rose again.", set[str]()),
        ("Nothing much is up with npm.", {"npm"}),
        ("The user interface is done.", set[str]()),
        ("It was Rose and Rose Miller.", {"Rose", "Rose Miller"}),
    ],
)
async def test_only_what_is_written_like_a_name_is_one(
    workspace: Workspace, content: str, named: set[str]
) -> None:
    await workspace.remember("Met at the fair", entities=["Rose", "npm", "user"])
    rose = (await workspace.graph.entity("Rose")).entity
    await workspace.remember("Met again", entities=["Miller"])
    await workspace.graph.add_alias("Miller", "Rose Miller")
    memory = await workspace.remember(content)
    called = {"Rose Miller" if name == "Miller" else name for name in memory.entities}
    assert called == named
    assert (await workspace.graph.entity(rose.entity_id)).entity.name == "Rose"


async def test_entities_may_be_named_by_their_ids(workspace: Workspace) -> None:
    await workspace.remember("Met at the fair", entities=["Emma Kaya"])
    emma = (await workspace.graph.entity("Emma Kaya")).entity.entity_id
    for number, named in enumerate((emma, str(emma), emma.hex)):
        memory = await workspace.remember(f"Sang song number {number}", entities=[named])
        assert memory.entities == ("Emma Kaya",)
    assert len(await workspace.graph.entities()) == len(
        {e.entity.name for e in await workspace.graph.entities()}
    )
    with pytest.raises(NotFound, match="no entity"):
        await workspace.remember("Sang once more", entities=[new_id()])


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"content": " "}, "content"),
        ({"content": "x" * 2001}, "content"),
        ({"content": "x", "type": "rumour"}, "type"),
        ({"content": "x", "importance": 1.5}, "importance"),
        ({"content": "x", "tags": ["a" * 61]}, "tags[0]"),
        ({"content": "x", "at": datetime(2025, 1, 1)}, "at"),  # noqa: DTZ001
    ],
)
async def test_what_cannot_be_kept_is_refused(
    workspace: Workspace, arguments: dict[str, object], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await workspace.remember(**arguments)  # pyright: ignore[reportArgumentType]
    assert refused.value.field == field
    assert await contents(workspace, status="all") == []


# --- correct -----------------------------------------------------------------------------------------------


async def test_a_correction_is_a_new_version_and_what_the_old_words_said_was_never_true(
    porto: Workspace, clock: Clock, rows: Rows
) -> None:
    (memory,) = await porto.memories()
    before = clock() - timedelta(minutes=30)
    corrected = await porto.correct(memory.memory_id, content="I live in Braga")
    assert (corrected.content, corrected.version, corrected.confirmed) == ("I live in Braga", 2, True)
    assert corrected.lineage_id == memory.lineage_id
    assert await objects(porto) == ["Braga"]
    assert await objects(porto, as_of=AsOf(valid_at=memory.valid_from)) == ["Braga"]
    assert await objects(porto, as_of=AsOf(recorded_at=before)) == ["Porto"]
    assert await contents(porto, as_of=AsOf(recorded_at=before)) == ["I live in Porto"]
    assert [v.content for v in (await porto.memory(memory.memory_id)).versions] == [
        "I live in Porto",
        "I live in Braga",
    ]
    assert await audited(rows, porto) == ["correct memory"]


async def test_a_corrected_memory_is_found_by_its_new_words_only(lore: Everlore, porto: Workspace) -> None:
    (memory,) = await porto.memories()
    await porto.correct(memory.memory_id, content="I live in Braga")
    await lore.catch_up()
    found = await porto.recall("Who lives in Braga?", kinds=["memory"])
    assert [hit.memory.content for hit in found.memories] == ["I live in Braga"]
    found = await porto.recall("Porto", kinds=["memory"])
    assert not [hit for hit in found.memories if "Porto" in hit.memory.content]


async def test_what_was_corrected_does_not_come_back_when_it_is_read_anew(
    lore: Everlore, porto: Workspace, clock: Clock
) -> None:
    (memory,) = await porto.memories()
    await porto.correct(memory.memory_id, content="I live in Braga")
    clock.advance(hours=1)
    await porto.distil_again("main")
    await lore.distil(porto)
    assert await contents(porto) == ["I live in Braga"]
    assert await objects(porto) == ["Braga"]


async def test_type_tags_and_expiry_can_be_corrected(porto: Workspace) -> None:
    (memory,) = await porto.memories()
    changed = await porto.correct(memory.memory_id, type="event", tags=["x"], importance=0.9)
    assert (changed.type, changed.tags, changed.content) == ("event", ("x",), "I live in Porto")
    assert changed.importance == pytest.approx(0.9)
    assert changed.expires_at == memory.valid_from + timedelta(days=30)
    assert await objects(porto) == ["Porto"]


async def test_a_correction_of_nothing_or_of_something_unknown_is_refused(porto: Workspace) -> None:
    (memory,) = await porto.memories()
    with pytest.raises(InvalidInput):
        await porto.correct(memory.memory_id)
    with pytest.raises(TypeError):
        await porto.correct(memory.memory_id, author="Ben")  # pyright: ignore[reportCallIssue]
    with pytest.raises(NotFound):
        await porto.correct("ffffffffffff", content="x")


# --- forget and restore ------------------------------------------------------------------------------------


async def test_forgotten_is_out_of_every_answer_and_restored_it_is_as_before(
    lore: Everlore, porto: Workspace, clock: Clock, rows: Rows
) -> None:
    (memory,) = await porto.memories()
    (fact,) = await porto.facts()
    await porto.forget(memory.memory_id)
    await lore.catch_up()
    assert (await contents(porto), await objects(porto)) == ([], [])
    found = await porto.recall("Who lives in Porto?")
    assert (len(found.memories), len(found.facts)) == (0, 0)
    assert await contents(porto, status="forgotten") == ["I live in Porto"]
    clock.advance(hours=1)
    restored = await porto.restore(memory.memory_id)
    assert restored.lineage_id == memory.lineage_id
    assert (await contents(porto), await objects(porto)) == (["I live in Porto"], ["Porto"])
    (again,) = await porto.facts()
    assert (again.lineage_id, again.valid_from, again.confidence) == (
        fact.lineage_id,
        fact.valid_from,
        fact.confidence,
    )
    assert await audited(rows, porto) == ["forget memory", "restore memory"]


async def test_what_was_forgotten_does_not_come_back_by_being_said_again(
    lore: Everlore, porto: Workspace, clock: Clock
) -> None:
    (memory,) = await porto.memories()
    await porto.forget(memory.memory_id)
    clock.advance(hours=1)
    await said_again(lore, porto, clock)
    await porto.distil_again("main")
    await lore.distil(porto)
    assert (await contents(porto), await objects(porto)) == ([], [])


async def test_forgetting_twice_changes_nothing_more(porto: Workspace) -> None:
    (memory,) = await porto.memories()
    once = await porto.forget(memory.memory_id)
    twice = await porto.forget(memory.memory_id)
    assert once.memory_id == twice.memory_id


async def test_a_fact_with_another_source_survives_the_forgetting_of_one_memory(
    lore: Everlore, porto: Workspace, script: Script, clock: Clock
) -> None:
    text = script.find("Back home in Porto at last, where I live", "Anna lives_in Porto")
    await said_again(lore, porto, clock, text)
    first = next(m for m in await porto.memories() if m.content == "I live in Porto")
    await porto.forget(first.memory_id)
    assert await objects(porto) == ["Porto"]
    assert len((await porto.facts())[0].sources) == 1


# --- confirm and reject ------------------------------------------------------------------------------------


async def test_confirmed_is_sure(porto: Workspace, rows: Rows) -> None:
    (memory,) = await porto.memories()
    confirmed = await porto.confirm(memory.memory_id)
    assert (confirmed.confirmed, confirmed.version) == (True, 2)
    assert confirmed.confidence >= 0.95
    assert await audited(rows, porto) == ["confirm memory"]


async def test_what_waits_for_review_is_in_use_once_it_is_confirmed(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    text = script.find("I moved to the coast", content="Anna lives in Braga")
    await workspace.record(says(text, at=clock()))
    await lore.distil(workspace)
    (item,) = await workspace.review()
    assert await contents(workspace) == []
    await workspace.decide(short_id(item.id), accept=True)
    assert await workspace.review() == []
    assert await contents(workspace) == ["Anna lives in Braga"]
    assert await objects(workspace) == ["Braga"]
    await lore.catch_up()
    assert (await workspace.recall("Who lives in Braga?")).memories


async def test_what_was_rejected_does_not_come_back(
    lore: Everlore, porto: Workspace, clock: Clock, rows: Rows
) -> None:
    (memory,) = await porto.memories()
    await porto.reject(memory.memory_id)
    assert (await contents(porto), await objects(porto)) == ([], [])
    assert await contents(porto, status="rejected") == ["I live in Porto"]
    clock.advance(hours=1)
    await said_again(lore, porto, clock)
    await porto.distil_again("main")
    await lore.distil(porto)
    assert (await contents(porto), await objects(porto)) == ([], [])
    assert await contents(porto, status="rejected") == ["I live in Porto"]
    assert await audited(rows, porto) == ["reject memory"]


async def test_rejected_by_mistake_it_can_be_confirmed(porto: Workspace, clock: Clock) -> None:
    (memory,) = await porto.memories()
    await porto.reject(memory.memory_id)
    clock.advance(hours=1)
    await porto.confirm(memory.memory_id)
    assert (await contents(porto), await objects(porto)) == (["I live in Porto"], ["Porto"])


async def test_what_was_rejected_by_hand_is_no_longer_in_review(porto: Workspace) -> None:
    (memory,) = await porto.memories()
    await porto.reject(memory.memory_id)
    assert await porto.review() == []


async def test_told_in_the_words_of_what_was_rejected_it_is_kept(porto: Workspace, clock: Clock) -> None:
    """A person may change their mind."""
    (memory,) = await porto.memories()
    await porto.reject(memory.memory_id)
    clock.advance(hours=1)
    await porto.remember("I live in Porto", author="Anna")
    assert (await contents(porto), await objects(porto)) == (["I live in Porto"], ["Porto"])


# --- facts -------------------------------------------------------------------------------------------------


async def test_a_rejected_fact_is_not_stated_again(lore: Everlore, porto: Workspace, clock: Clock) -> None:
    (fact,) = await porto.facts()
    rejected = await porto.reject_fact(fact.fact_id)
    assert rejected.review == "rejected"
    await said_again(lore, porto, clock)
    assert await objects(porto) == []
    assert (await porto.recall("Where does Anna live?")).facts == ()


async def test_a_confirmed_fact_is_sure(porto: Workspace) -> None:
    (fact,) = await porto.facts()
    assert (await porto.confirm_fact(fact.fact_id)).confidence == pytest.approx(0.99)


async def test_rejecting_a_fact_lets_the_one_before_hold_again(
    lore: Everlore, porto: Workspace, script: Script, clock: Clock
) -> None:
    await said_again(lore, porto, clock, script.find("I live in Lisbon now", "Anna lives_in Lisbon"))
    assert await objects(porto) == ["Lisbon"]
    (fact,) = await porto.facts()
    await porto.reject_fact(fact.fact_id)
    assert await objects(porto) == ["Porto"]
    assert "I live in Porto" in await contents(porto)


# --- pin ---------------------------------------------------------------------------------------------------


async def test_a_pin_is_set_and_taken_away(porto: Workspace, rows: Rows) -> None:
    (memory,) = await porto.memories()
    assert (await porto.pin(memory.memory_id)).pinned
    assert await contents(porto, pinned=True) == ["I live in Porto"]
    assert not (await porto.pin(short_id(memory.memory_id), pinned=False)).pinned
    assert await contents(porto, pinned=True) == []
    assert (await porto.memory(memory.memory_id)).memory.version == 1
    assert await audited(rows, porto) == ["pin memory", "unpin memory"]


async def test_one_workspace_knows_nothing_of_another(lore: Everlore, porto: Workspace) -> None:
    (memory,) = await porto.memories()
    other = await lore.workspace("bob", create=True)
    for verb in (other.forget, other.confirm, other.reject, other.pin, other.memory):
        with pytest.raises(NotFound):
            await verb(memory.memory_id)
    assert (await contents(other, status="all"), await objects(other, history=True)) == ([], [])


async def test_a_memory_that_was_told_equals_itself_as_it_is_listed(workspace: Workspace) -> None:
    told = await workspace.remember("Emma lives in Porto.")
    (listed,) = await workspace.memories()
    shown = (await workspace.memory(told.memory_id)).memory
    assert told == listed
    assert listed == told
    assert shown == replace(told, notice="Nothing reads it.", status="expired")
    assert {told, listed, shown} == {listed}
    corrected = await workspace.correct(told.memory_id, importance=0.9)
    assert corrected != listed
    assert listed != corrected
    assert await workspace.confirm(told.memory_id) != corrected
    assert told != told.memory_id
