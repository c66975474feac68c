"""Recall of what is distilled: memories, facts and their times, keys to turns, structured questions, as of another moment."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.conftest import Clock, TestDatabase
from tests.steps.conftest import Rows
from tests.steps.script import Script, opened, says

from everlore.api.workspace import Workspace
from everlore.domain.memories import AsOf
from everlore.domain.recall import FactHit, MemoryHit, Recall
from everlore.everlore import Everlore
from everlore.recall import request
from everlore.text.words import in_a_row

NOW = datetime(2025, 6, 14, 12, tzinfo=UTC)


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


async def told(lore: Everlore, workspace: Workspace, *texts: str, days_ago: float = 0, **more: Any) -> None:
    """Say it, distil it, index it."""
    await workspace.record(says(*texts, at=NOW - timedelta(days=days_ago), **more))
    await lore.distil(workspace)
    await lore.catch_up()


# Without messages among the hits, memories in the words of their messages are listed.
KNOWN = ("memory", "fact")


def contents(found: Recall) -> list[str]:
    return [hit.memory.content for hit in found.memories]


def objects(found: Recall) -> list[str]:
    return [hit.fact.object for hit in found.facts]


def first_memory(found: Recall) -> MemoryHit:
    return found.memories[0]


def first_fact(found: Recall) -> FactHit:
    return found.facts[0]


# --- memories ----------------------------------------------------------------------------------------------


async def test_a_memory_is_found_with_its_sources_and_the_parts_of_its_score(
    lore: Everlore, workspace: Workspace, script: Script
) -> None:
    said = script.find(
        "Well, you know how it is, we call her Heron.",
        content="The boat is called Heron.",
        type="relationship",
    )
    await told(lore, workspace, said, "Fog at dawn again.")
    found = await workspace.recall("What is the boat called?")
    hit = first_memory(found)
    assert hit.memory.content == "The boat is called Heron."
    assert [source.author for source in hit.sources] == ["Anna"]
    assert (await workspace.show(hit.sources[0].message_id)).text == said
    assert hit.why.keys() == {"relevance", "importance", "recency", "access", "type"}
    assert hit.why["type"] == 0.1
    assert hit.score == pytest.approx(sum(hit.why.values()))
    assert 0 < hit.confidence <= 1
    assert hit.support.covered == ("called", "boat") or set(hit.support.covered) == {"called", "boat"}
    assert found.degraded == ()


async def test_nothing_irrelevant_is_listed_and_kinds_limit_what_answers(
    lore: Everlore, workspace: Workspace, script: Script
) -> None:
    said = script.find("The boat is called Heron.", "Anna owns Heron")
    await told(lore, workspace, said)
    nothing = await workspace.recall("quantum chromodynamics")
    assert (nothing.memories, nothing.facts) == ((), ())
    only = await workspace.recall("the boat Heron", kinds=["memory"])
    assert (only.hits, len(only.memories), only.facts) == ((), 1, ())
    only = await workspace.recall("the boat Heron", kinds=["message"])
    assert (len(only.hits), only.memories, only.facts) == (1, (), ())
    only = await workspace.recall("Does Anna own the Heron?", kinds=["fact"])
    assert (only.hits, only.memories, objects(only)) == ((), (), ["Heron"])
    none = await workspace.recall("the boat Heron", limit_memories=0, limit_facts=0)
    assert (none.memories, none.facts) == ((), ())


async def test_a_name_alone_lists_nothing_and_the_floor_is_the_confidence_that_is_shown(
    lore: Everlore, workspace: Workspace, script: Script
) -> None:
    chess = script.find("Bob plays chess.", "Bob likes chess", entities=("Bob",))
    market = script.find("Bob went to the market.", "Bob visited market", entities=("Bob",))
    await told(lore, workspace, chess, market)
    for question in ("What does Bob hate?", "what does bob hate?", "When is Bob's birthday?"):
        found = await workspace.recall(question)
        # What there is of Bob comes by way of the graph at most.
        assert [hit for hit in found.memories if "related" not in hit.why] == [], question
        assert found.facts == (), question
    floor = lore.settings.recall.memory_floor
    for question, content in (("What does Bob play?", chess), ("Who is Bob?", chess)):
        found = await workspace.recall(question, kinds=KNOWN)
        near = [hit for hit in found.memories if "related" not in hit.why]
        assert content in [hit.memory.content for hit in near], question
        assert all(hit.confidence >= floor for hit in (*near, *found.facts)), question


async def test_importance_and_recency_order_what_is_equally_relevant(
    database: TestDatabase, clock: Clock, script: Script, rows: Rows
) -> None:
    async with opened(database, clock, script, recall={"memory_relevance": 0.01}) as lore:
        await _importance_and_recency(lore, await lore.workspace("alice", create=True), rows)


async def _importance_and_recency(lore: Everlore, workspace: Workspace, rows: Rows) -> None:
    await workspace.remember("The red boat leaks.", importance=0.9, at=NOW - timedelta(days=300))
    await workspace.remember("The blue boat leaks.", importance=0.2, at=NOW - timedelta(days=300))
    await workspace.remember("The green boat leaks.", importance=0.2, at=NOW)
    assert contents(await workspace.recall("Which boat leaks?")) == [
        "The red boat leaks.",
        "The green boat leaks.",
        "The blue boat leaks.",
    ]
    await lore.directory.uses.flush()
    assert await rows("select distinct access_count, last_access_at from everlore.memory") == [(1, NOW)]
    await workspace.recall("Which boat leaks?", as_of=AsOf(valid_at=NOW))
    await lore.directory.uses.flush()
    assert await rows("select distinct access_count from everlore.memory") == [(1,)]


async def test_forgotten_rejected_and_expired_ones_are_not_recalled(
    lore: Everlore, workspace: Workspace, clock: Clock
) -> None:
    kept = await workspace.remember("The boat is in Porto.")
    gone = await workspace.remember("The boat was in Faro.")
    await workspace.remember("Paint the boat.", type="task", expires_at=NOW + timedelta(days=1))
    await workspace.forget(gone.memory_id)
    assert set(contents(await workspace.recall("the boat"))) == {kept.content, "Paint the boat."}
    clock.advance(days=2)
    assert contents(await workspace.recall("the boat")) == [kept.content]
    everything = await workspace.recall("the boat", include_expired=True)
    assert set(contents(everything)) == {kept.content, "Paint the boat."}
    await workspace.reject(kept.memory_id)
    assert contents(await workspace.recall("the boat")) == []


async def test_filters_hold_for_memories_and_facts(
    lore: Everlore, workspace: Workspace, script: Script
) -> None:
    old = script.find("The old boat is red.", "Anna likes red")
    new = script.find("The new boat is blue.", "Ben likes blue")
    await workspace.record(says(old, at=NOW - timedelta(days=40)), thread="old", taxonomy="sea.old")
    await workspace.record(
        says(new, at=NOW - timedelta(days=1), author="Ben"), thread="new", taxonomy="sea.new"
    )
    await lore.distil(workspace)
    await lore.catch_up()

    async def found(**limits: Any) -> tuple[set[str], set[str]]:
        answer = await workspace.recall("Who likes which boat, red or blue?", kinds=KNOWN, **limits)
        return set(contents(answer)), set(objects(answer))

    assert await found() == ({old, new}, {"red", "blue"})
    assert await found(author="ben") == ({new}, {"blue"})
    assert await found(thread="old") == ({old}, {"red"})
    assert await found(taxonomy="sea.new") == ({new}, {"blue"})
    assert await found(since=NOW - timedelta(days=7)) == ({new}, {"blue"})
    assert await found(until=NOW - timedelta(days=7)) == ({old}, {"red"})
    assert await found(taxonomy="sky") == (set(), set())


async def test_what_was_said_in_two_threads_is_found_in_both(
    lore: Everlore, workspace: Workspace, script: Script
) -> None:
    said = script.find("I love green tea.", "Anna likes tea")
    for thread, project, path, days in (("one", "p1", "a", 40), ("two", "p2", "b", 1)):
        message = says(said, at=NOW - timedelta(days=days))
        await workspace.record(message, thread=thread, project=project, taxonomy=path)
        await lore.distil(workspace)
    await lore.catch_up()
    assert len(await workspace.memories()) == 1

    async def found(**limits: Any) -> bool:
        answer = await workspace.recall("Who likes green tea?", kinds=KNOWN, **limits)
        hits = (await workspace.recall("Who likes green tea?", kinds=("message",), **limits)).hits
        assert bool(answer.memories) == bool(answer.facts) == bool(hits), limits
        return bool(answer.memories)

    passing: list[dict[str, Any]] = [
        {"thread": "one"},
        {"thread": "two"},
        {"project": "p1"},
        {"project": "p2"},
        {"taxonomy": "a"},
        {"taxonomy": "b"},
        {"since": NOW - timedelta(days=7)},
        {"until": NOW - timedelta(days=7)},
        {"thread": "two", "taxonomy": "b", "since": NOW - timedelta(days=7)},
    ]
    for limits in passing:
        assert await found(**limits), limits
    # All of a filter must hold for one message.
    assert not await found(thread="two", taxonomy="a")
    assert not await found(thread="one", since=NOW - timedelta(days=7))
    assert not await found(taxonomy="c")
    for limits in [one for one in passing if one.keys() < {"thread", "taxonomy"}]:
        assert [one.content for one in await workspace.memories(**limits)] == [said], limits
    assert await workspace.memories(thread="two", taxonomy="a") == []


async def test_since_and_until_are_about_when_a_fact_was_said(
    lore: Everlore, workspace: Workspace, script: Script
) -> None:
    said = script.find("Emma moved to Lisbon in 2019.", "Emma lives_in Lisbon")
    await workspace.record(says(said, at=datetime(2025, 2, 1, tzinfo=UTC)))
    await lore.distil(workspace)
    await lore.catch_up()

    async def found(**limits: Any) -> tuple[int, int, int]:
        answer = await workspace.recall("Emma moved to Lisbon", kinds=KNOWN, **limits)
        hits = (await workspace.recall("Emma moved to Lisbon", kinds=("message",), **limits)).hits
        return len(hits), len(answer.memories), len(answer.facts)

    assert await found(since=datetime(2025, 1, 15, tzinfo=UTC)) == (1, 1, 1)
    assert await found(until=datetime(2025, 1, 15, tzinfo=UTC)) == (0, 0, 0)


# --- keys --------------------------------------------------------------------------------------------------


async def test_a_memory_is_a_key_to_its_turn_which_its_own_words_would_not_find(
    database: TestDatabase, clock: Clock, script: Script
) -> None:
    filler = [f"A boat passed, number {n}." for n in range(30)]
    turn = script.find("Heron, old lady of mine.", content="Heron is the old boat of Anna.")
    question = "What is the boat of Anna?"
    # Words alone decide what the turn is without keys.
    alone = {"named_late_interaction": 0.5}
    async with opened(database, clock, script, recall=alone) as lore:
        workspace = await lore.workspace("alice", create=True)
        await told(lore, workspace, *filler[:15], turn, *filler[15:], apart=600)
        with_keys = await workspace.recall(question, limit=40, trace=True)
        hit = next(hit for hit in with_keys.hits if hit.text == turn)
        assert hit.trace["keys"].rank == 1
        assert "boat" not in hit.support.covered
    async with opened(database, clock, script, recall={"keys": 0, **alone}) as lore:
        without = await (await lore.workspace("alice", create=True)).recall(question, limit=40)
    assert [h.text for h in with_keys.hits].index(turn) < [h.text for h in without.hits].index(turn)


async def test_a_memory_in_the_words_of_its_turn_lends_it_nothing(
    database: TestDatabase, clock: Clock, script: Script
) -> None:
    echo = script.find("The boat is called Heron.")
    plain = ["The boat is called Heron!", "The net is torn.", "Fog at dawn."]
    async with opened(database, clock, script) as lore:
        workspace = await lore.workspace("alice", create=True)
        await told(lore, workspace, echo, *plain, apart=600)
        lent = {hit.text: hit.score for hit in (await workspace.recall("What is the boat called?")).hits}
    async with opened(database, clock, script, recall={"keys": 0}) as lore:
        workspace = await lore.workspace("alice", create=True)
        own = {hit.text: hit.score for hit in (await workspace.recall("What is the boat called?")).hits}
    assert lent[echo] == pytest.approx(own[echo], abs=0.01)


# --- facts -------------------------------------------------------------------------------------------------


async def moved(lore: Everlore, workspace: Workspace, script: Script) -> None:
    """Emma lives in Porto since last July, in Lisbon since May."""
    porto = script.find("Emma lives in Porto.", "Emma lives_in Porto")
    lisbon = script.find("Emma lives in Lisbon.", "Emma lives_in Lisbon", relation="updates")
    await told(lore, workspace, porto, days_ago=340)
    await told(lore, workspace, lisbon, days_ago=40)


async def test_where_somebody_lives_now_since_when_and_where_before(
    lore: Everlore, workspace: Workspace, script: Script
) -> None:
    await moved(lore, workspace, script)
    hit = first_fact(now := await workspace.recall("Where does Emma live now?"))
    assert objects(now) == ["Lisbon"]
    assert (hit.current, hit.fact.valid_from) == (True, NOW - timedelta(days=40))
    assert [source.at for source in hit.sources] == [NOW - timedelta(days=40)]
    for question in (
        "Where did Emma live before?",
        "Where did Emma use to live?",
        "Where has Emma lived?",
        "Where was Emma living?",
        "Has Emma ever lived in Porto?",
        "Which cities has Emma lived in over time?",
    ):
        past = await workspace.recall(question)
        assert objects(past) == ["Porto", "Lisbon"], question
        assert [hit.current for hit in past.facts] == [False, True]


async def test_a_time_in_the_question_or_as_of_gives_what_was_true_then(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    await moved(lore, workspace, script)
    assert objects(await workspace.recall("Where did Emma live in January 2025?")) == ["Porto"]
    assert set(objects(await workspace.recall("Where did Emma live in May 2025?"))) == {"Lisbon", "Porto"}
    then = NOW - timedelta(days=100)
    as_of = await workspace.recall("Where does Emma live?", kinds=KNOWN, as_of=AsOf(valid_at=then))
    assert objects(as_of) == ["Porto"]
    assert first_fact(as_of).current
    assert contents(as_of) == ["Emma lives in Porto."]
    long_ago = AsOf(valid_at=NOW - timedelta(days=1000))
    assert objects(await workspace.recall("Where does Emma live?", as_of=long_ago)) == []


async def test_what_was_believed_then_memories_facts_and_messages(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock, rows: Rows
) -> None:
    porto = script.find("Emma lives in Porto.", "Emma lives_in Porto")
    await told(lore, workspace, porto, days_ago=340)
    # What the database itself stamps: when the message came in.
    await rows("update everlore.message set recorded_at = %s", NOW)
    clock.advance(days=1)
    lisbon = script.find("Emma lives in Lisbon.", "Emma lives_in Lisbon", relation="updates")
    await told(lore, workspace, lisbon, days_ago=40)
    await rows(
        "update everlore.message set recorded_at = %s where text = %s", NOW + timedelta(days=1), lisbon
    )
    question, then = "Where does Emma live?", AsOf(recorded_at=NOW)
    believed = await workspace.recall(question, kinds=KNOWN, as_of=then)
    assert (objects(believed), contents(believed)) == (["Porto"], [porto])
    assert [hit.text for hit in (await workspace.recall(question, as_of=then)).hits] == [porto]
    today = await workspace.recall(question, kinds=KNOWN)
    assert (objects(today), contents(today)) == (["Lisbon"], [lisbon])
    assert {hit.text for hit in (await workspace.recall(question)).hits} == {porto, lisbon}


async def test_unsure_facts_never_crowd_out_a_sure_one(
    lore: Everlore, workspace: Workspace, script: Script, rows: Rows
) -> None:
    sure = [script.find(f"Emma likes tea, said {n}.", "Emma likes tea") for n in ("Ben", "Cleo", "Dana")]
    unsure = [
        script.find(f"Does Emma like {thing} now?", f"Emma likes {thing}")
        for thing in ("coffee", "cocoa", "milk", "juice")
    ]
    await told(lore, workspace, *sure, *unsure)
    await rows("update everlore.fact set confidence = 0.4 where object <> 'tea'")
    await rows("update everlore.fact set confidence = 0.9 where object = 'tea'")
    found = await workspace.recall("What does Emma like?", limit_facts=2)
    assert objects(found)[0] == "tea"
    assert len(first_fact(found).sources) == 3


# --- structured questions ----------------------------------------------------------------------------------


async def test_tasks_by_state_and_month(workspace: Workspace, clock: Clock) -> None:
    def on(month: int, day: int) -> datetime:
        return datetime(2025, month, day, tzinfo=UTC)

    await workspace.remember("Paint the hull.", type="task", at=on(2, 5))
    await workspace.remember("Mend the net.", type="task", at=on(5, 20), expires_at=on(7, 1))
    await workspace.remember("Order the rope.", type="task", at=on(6, 10), expires_at=on(7, 1))
    await workspace.remember("The boat is red.", type="fact", at=on(2, 5))
    february = await workspace.recall("tasks left open in February")
    assert contents(february) == ["Paint the hull."]
    assert february.reading is not None
    assert (february.reading.types, february.reading.status) == (("task",), "open")
    assert (february.reading.since, february.reading.until) == (on(2, 1), on(3, 1))
    assert set(contents(await workspace.recall("Which tasks are still open?"))) == {
        "Mend the net.",
        "Order the rope.",
    }
    assert contents(await workspace.recall("expired tasks")) == ["Paint the hull."]
    none = await workspace.recall("tasks left open in March 2024")
    assert (none.memories, none.reading is not None) == ((), True)


async def test_done_tasks_are_those_that_something_took_the_place_of(
    lore: Everlore, workspace: Workspace, script: Script
) -> None:
    task = script.find("I must paint the hull.", type="task")
    done = script.find("The hull is painted.", type="event", relation="updates", of=task)
    await told(lore, workspace, task, days_ago=5)
    await told(lore, workspace, done, days_ago=1)
    assert contents(await workspace.recall("Which tasks are done?")) == [task]
    assert contents(await workspace.recall("open tasks")) == []


async def test_decisions_about_a_topic(workspace: Workspace) -> None:
    await workspace.remember("We use OAuth for authentication.", type="decision")
    await workspace.remember("The hull becomes red.", type="decision")
    await workspace.remember("Authentication broke twice.", type="event")
    found = await workspace.recall("decisions about authentication")
    assert contents(found) == ["We use OAuth for authentication."]
    assert found.reading is not None
    assert found.reading.text == "decision about authentication"
    assert set(contents(await workspace.recall("all our decisions"))) == {
        "We use OAuth for authentication.",
        "The hull becomes red.",
    }
    assert contents(await workspace.recall("¿Qué decisiones hay sobre authentication?")) == [
        "We use OAuth for authentication."
    ]


async def test_what_somebody_prefers_by_name_and_by_pronoun(
    lore: Everlore, workspace: Workspace, script: Script
) -> None:
    tea = script.find("Emma prefers green tea.", "Emma prefers tea", type="preference", entities=("Emma",))
    coffee = script.find(
        "Ben prefers black coffee.", "Ben prefers coffee", type="preference", entities=("Ben",)
    )
    await told(lore, workspace, coffee, tea)
    found = await workspace.recall("What does Ben prefer?")
    assert contents(found) == [coffee]
    assert found.reading is not None
    assert found.reading.entities == ("Ben",)
    she = await workspace.recall("What does she prefer?")
    assert contents(she) == [tea]  # the one who was named last
    assert she.reading is not None
    assert she.reading.entities == ("Emma",)


async def test_a_structured_question_that_finds_nothing_so_is_answered_by_words(workspace: Workspace) -> None:
    await workspace.remember("We use OAuth for authentication.", type="fact")
    found = await workspace.recall("decisions about authentication")
    assert found.reading is None
    assert contents(found) == ["We use OAuth for authentication."]


async def test_filters_hold_for_structured_questions(
    lore: Everlore, workspace: Workspace, script: Script, clock: Clock
) -> None:
    old = script.find("We use OAuth for authentication.", type="decision")
    new = script.find("We use keys for authentication.", type="decision")
    await workspace.record(
        says(old, at=NOW - timedelta(days=40)), thread="old", project="alpha", taxonomy="sea.old"
    )
    await workspace.record(
        says(new, at=NOW - timedelta(days=1), author="Ben"), thread="new", project="beta", taxonomy="sea.new"
    )
    await lore.distil(workspace)
    await lore.catch_up()

    async def found(**limits: Any) -> set[str]:
        return set(contents(await workspace.recall("decisions about authentication", **limits)))

    ways: list[dict[str, Any]] = [{}, {"as_of": AsOf(recorded_at=NOW + timedelta(days=1))}]
    for believed in ways:
        assert await found(**believed) == {old, new}
        assert await found(project="alpha", **believed) == {old}
        assert await found(thread="new", **believed) == {new}
        assert await found(author="ben", **believed) == {new}
        assert await found(taxonomy="sea.new", **believed) == {new}
        assert await found(taxonomy="sea", **believed) == {old, new}
        assert await found(since=NOW - timedelta(days=7), **believed) == {new}
        assert await found(until=NOW - timedelta(days=7), **believed) == {old}
        assert await found(taxonomy="sky", **believed) == set()
    # Said again elsewhere, it is found there, too.
    await workspace.record(says(old, at=NOW), thread="new", project="beta")
    await lore.distil(workspace)
    await lore.catch_up()
    assert await found(project="beta") == {old, new}
    assert await found(project="alpha") == {old}


# --- the graph ---------------------------------------------------------------------------------------------


async def test_memories_of_entities_that_are_near_come_after_those_that_answer(
    lore: Everlore, workspace: Workspace, script: Script
) -> None:
    sister = script.find("Emma is the sister of Lena.", "Emma sister_of Lena", entities=("Emma", "Lena"))
    bakery = script.find("Lena owns a bakery.", entities=("Lena",))
    fog = script.find("The fog was thick.")
    await told(lore, workspace, sister, bakery, fog)
    found = await workspace.recall("Who is Emma?", kinds=KNOWN)
    assert contents(found)[0] == sister
    assert bakery in contents(found)
    assert fog not in contents(found)
    assert "related" in next(hit.why for hit in found.memories if hit.memory.content == bakery)
    scores = [hit.score for hit in found.memories]
    assert scores == sorted(scores, reverse=True)
    # What was asked for is a limit for all of them.
    one = await workspace.recall("Who is Emma?", kinds=KNOWN, limit_memories=1)
    assert contents(one) == [sister]


async def test_what_stands_in_a_hit_of_the_same_answer_is_not_listed_again(
    lore: Everlore, workspace: Workspace, script: Script
) -> None:
    same = script.find("Emma paints boats.", entities=("Emma",))
    other = script.find("she sold all of them", content="Emma sold all her boats.", entities=("Emma",))
    await told(lore, workspace, same, other)
    found = await workspace.recall("What does Emma do with boats?")
    assert same in [hit.text for hit in found.hits]
    assert contents(found) == ["Emma sold all her boats."]
    alone = await workspace.recall("What does Emma do with boats?", kinds=KNOWN)
    assert set(contents(alone)) == {same, "Emma sold all her boats."}


async def test_a_hit_is_looked_into_once_however_many_memories_there_are(
    lore: Everlore, workspace: Workspace, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def noted(text: str) -> str:
        read.append(text)
        return in_a_row(text)

    monkeypatch.setattr(request, "in_a_row", noted)
    boats = [
        script.find(
            f"she paints the {colour} boats", content=f"Emma paints {colour} boats.", entities=("Emma",)
        )
        for colour in ("red", "green")
    ]
    await told(lore, workspace, "Emma has a studio.", *boats)
    found = await workspace.recall("What does Emma do with boats?")
    texts = [hit.text for hit in found.hits]
    assert (len(texts), len(found.memories)) == (3, 2)
    assert sorted(one for one in read if one in texts) == sorted(texts)


async def test_what_holds_still_comes_before_what_held_in_the_time_asked_about(
    lore: Everlore, workspace: Workspace, script: Script
) -> None:
    await moved(lore, workspace, script)
    assert objects(await workspace.recall("Where did Emma live in May 2025?")) == ["Lisbon", "Porto"]
