"""New against old: the same, nearly the same, said more fully, changed, late; what expires, and what was believed when."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.conftest import Clock, TestDatabase
from tests.steps.script import Script, opened

from everlore.api.workspace import Workspace
from everlore.domain.memories import LIFETIMES, MEMORY_TYPES, AsOf, Fact, Memory, MemoryType
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.knowledge.similarity import thresholds_of
from everlore.knowledge.timeline import corroborated

SPRING = datetime(2025, 3, 1, 10, tzinfo=UTC)
SUMMER = datetime(2025, 6, 1, 10, tzinfo=UTC)


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
async def lore(database: TestDatabase, clock: Clock, script: Script) -> AsyncIterator[Everlore]:
    async with opened(database, clock, script) as lore:
        yield lore


class Chat:
    """Records what is said, distils it, and moves the clock on by an hour."""

    def __init__(self, lore: Everlore, workspace: Workspace, script: Script, clock: Clock) -> None:
        self.lore, self.workspace, self.script, self.clock = lore, workspace, script, clock

    async def say(
        self,
        text: str,
        *facts: str,
        at: datetime | None = None,
        author: str = "Anna",
        role: str = "user",
        thread: str = "main",
        **more: Any,
    ) -> None:
        self.script.find(text, *facts, **more)
        message = NewMessage(role=role, author=author, text=text, at=at or self.clock())  # pyright: ignore[reportArgumentType]
        await self.workspace.record([message], thread=thread)
        await self.lore.distil(self.workspace)
        self.clock.advance(hours=1)

    async def contents(self, **filters: Any) -> list[str]:
        return sorted(memory.content for memory in await self.workspace.memories(**filters))

    async def only(self, **filters: Any) -> Memory:
        (memory,) = await self.workspace.memories(**filters)
        return memory

    async def objects(self, **filters: Any) -> list[str]:
        return sorted(fact.object for fact in await self.workspace.facts(**filters))

    async def fact(self, **filters: Any) -> Fact:
        (fact,) = await self.workspace.facts(**filters)
        return fact


@pytest.fixture
async def chat(lore: Everlore, script: Script, clock: Clock) -> Chat:
    return Chat(lore, await lore.workspace("alice", create=True), script, clock)


# --- the same once more ------------------------------------------------------------------------------------


async def test_the_same_words_raise_confidence_and_keep_every_source(chat: Chat) -> None:
    await chat.say("I live in Porto", "Anna lives_in Porto", confidence=0.7)
    await chat.say("I live in Porto", "Anna lives_in Porto", confidence=0.7)
    memory = await chat.only()
    detail = await chat.workspace.memory(memory.memory_id)
    assert len(detail.sources) == 2
    assert memory.confidence == pytest.approx(1 - 0.3 * 0.3)
    assert memory.version == 1
    fact = await chat.fact()
    assert len(fact.sources) == 2
    assert fact.confidence == pytest.approx(corroborated([0.7, 0.7]))


async def test_confidence_never_becomes_certainty(chat: Chat) -> None:
    for _ in range(6):
        await chat.say("I live in Porto", "Anna lives_in Porto", confidence=0.9)
    assert (await chat.only()).confidence == pytest.approx(0.99)
    assert (await chat.fact()).confidence == pytest.approx(0.99)


async def test_said_twice_in_one_message_it_counts_once(chat: Chat, script: Script) -> None:
    text = "I live in Porto. Yes, I live in Porto."
    await chat.say(text, "Anna lives_in Porto", content="I live in Porto")
    assert len((await chat.fact()).sources) == 1
    assert (await chat.fact()).confidence == pytest.approx(0.7)


async def test_case_and_accents_make_no_difference(chat: Chat) -> None:
    await chat.say("I live in Málaga")
    await chat.say("i live in malaga!")
    assert len(await chat.contents()) == 1


async def test_the_same_words_of_somebody_else_are_another_memory(chat: Chat) -> None:
    await chat.say("I like tea", "Anna likes tea")
    await chat.say("I like tea", "Ben likes tea", author="Ben")
    assert await chat.contents() == ["I like tea", "I like tea"]
    assert [(f.subject, f.object) for f in await chat.workspace.facts()] == [("Ben", "tea"), ("Anna", "tea")]


async def test_what_recurs_is_another_memory_on_another_day(chat: Chat) -> None:
    await chat.say("We had dinner at Marco's", type="event", at=SPRING)
    await chat.say("We had dinner at Marco's", type="event", at=SPRING + timedelta(days=7))
    assert len(await chat.contents(include_expired=True)) == 2


# --- nearly the same ---------------------------------------------------------------------------------------


async def test_a_near_duplicate_corroborates(chat: Chat) -> None:
    await chat.say("I live in Porto by the river and I love it there", type="fact")
    await chat.say("I live in Porto by the river and I love it out there", type="fact")
    assert len(await chat.contents()) == 1
    assert len((await chat.workspace.memory((await chat.only()).memory_id)).sources) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I have 2 dogs in the garden today", "I have 3 dogs in the garden today"),
        ("I met my friend Emma at the station", "I met my friend Ella at the station"),
        ("I drink coffee in the morning now", "I never drink coffee in the morning now"),
    ],
)
async def test_what_differs_in_numbers_names_or_denial_is_not_the_same(
    chat: Chat, one: str, other: str
) -> None:
    await chat.say(one)
    await chat.say(other)
    assert await chat.contents() == sorted([one, other])


async def test_a_fuller_form_takes_the_place_as_a_new_version(chat: Chat) -> None:
    await chat.say("I play the cello at home every evening", type="skill", at=SPRING)
    first = await chat.only()
    await chat.say("I play the cello at home every evening with Tom", type="skill")
    memory = await chat.only()
    assert (memory.content, memory.version, memory.lineage_id) == (
        "I play the cello at home every evening with Tom",
        2,
        first.lineage_id,
    )
    assert memory.valid_from == first.valid_from
    detail = await chat.workspace.memory(memory.memory_id)
    assert len(detail.sources) == 2
    assert [version.content for version in detail.versions] == [
        "I play the cello at home every evening",
        "I play the cello at home every evening with Tom",
    ]
    assert await chat.contents(as_of=AsOf(recorded_at=first.recorded_at)) == [
        "I play the cello at home every evening"
    ]


async def test_without_an_embedding_model_words_are_compared(
    database: TestDatabase, clock: Clock, script: Script
) -> None:
    async with opened(database, clock, script, embedders={}) as lore:
        chat = Chat(lore, await lore.workspace("alice", create=True), script, clock)
        await chat.say("I live in Porto by the river")
        await chat.say("Well, I live in Porto, by the river")
        await chat.say("I own a kayak")
        await chat.say("I own a red kayak")
        assert await chat.contents() == ["I live in Porto by the river", "I own a red kayak"]


def test_the_bundled_model_has_thresholds_of_its_own() -> None:
    from everlore.knowledge.similarity import CALIBRATED
    from everlore.models.minilm import MiniLM

    assert thresholds_of(MiniLM().name) in CALIBRATED.values()


# --- changes -----------------------------------------------------------------------------------------------


async def test_what_changed_supersedes_and_destroys_nothing(chat: Chat) -> None:
    await chat.say("I live in Porto", "Anna lives_in Porto", at=SPRING)
    believed = chat.clock() - timedelta(minutes=30)
    await chat.say("I live in Lisbon now", "Anna lives_in Lisbon", at=SUMMER)
    assert await chat.contents() == ["I live in Lisbon now"]
    assert await chat.objects() == ["Lisbon"]
    old = await chat.only(status="superseded")
    assert (old.content, old.valid_to) == ("I live in Porto", SUMMER)
    new = await chat.only()
    assert old.superseded_by == new.lineage_id
    march = SPRING + timedelta(days=20)
    assert await chat.objects(as_of=AsOf(valid_at=march)) == ["Porto"]
    assert await chat.contents(as_of=AsOf(valid_at=march)) == ["I live in Porto"]
    assert await chat.objects(as_of=AsOf(recorded_at=believed)) == ["Porto"]
    assert await chat.contents(as_of=AsOf(recorded_at=believed)) == ["I live in Porto"]
    assert await chat.objects(history=True) == ["Lisbon", "Porto"]
    for memory in (old, new):
        assert len((await chat.workspace.memory(memory.memory_id)).sources) == 1


async def test_what_arrives_late_fills_the_past_and_overrules_nothing(chat: Chat) -> None:
    await chat.say("I live in Lisbon now", "Anna lives_in Lisbon", at=SUMMER)
    believed = chat.clock() - timedelta(minutes=30)
    await chat.say("I live in Porto", "Anna lives_in Porto", at=SPRING, thread="old chat")
    april = AsOf(valid_at=SPRING + timedelta(days=40))
    assert (await chat.objects(), await chat.contents()) == (["Lisbon"], ["I live in Lisbon now"])
    assert (await chat.objects(as_of=april), await chat.contents(as_of=april)) == (
        ["Porto"],
        ["I live in Porto"],
    )
    assert await chat.objects(as_of=AsOf(valid_at=april.valid_at, recorded_at=believed)) == []


async def test_a_correction_says_that_it_never_was(chat: Chat) -> None:
    await chat.say("I live in Lisbon", "Anna lives_in Lisbon", at=SPRING)
    await chat.say("Sorry, I live in Lagos", "Anna lives_in Lagos", at=SUMMER, relation="corrects")
    assert await chat.objects(as_of=AsOf(valid_at=SPRING + timedelta(days=1))) == ["Lagos"]
    assert await chat.objects(history=True) == ["Lagos", "Lisbon"]
    wrong = next(fact for fact in await chat.workspace.facts(history=True) if fact.object == "Lisbon")
    assert wrong.valid_from == wrong.valid_to
    assert await chat.contents() == ["Sorry, I live in Lagos"]


async def test_of_many_things_a_correction_takes_back_the_one_that_it_names(chat: Chat) -> None:
    await chat.say("I'm allergic to walnuts", "Anna allergic_to walnuts", at=SPRING)
    await chat.say("I'm allergic to pollen", "Anna allergic_to pollen", at=SPRING)
    text = "Actually I'm allergic to hazelnuts, not walnuts"
    await chat.say(text, "Anna allergic_to hazelnuts", at=SUMMER, relation="corrects")
    assert await chat.objects() == ["hazelnuts", "pollen"]
    assert await chat.objects(as_of=AsOf(valid_at=SPRING + timedelta(days=1))) == ["hazelnuts", "pollen"]
    assert await chat.contents() == [text, "I'm allergic to pollen"]


async def test_of_many_things_a_correction_takes_back_what_the_corrected_memory_states(chat: Chat) -> None:
    await chat.say("We called the dog Rufus", "Anna has_pet Rufus", at=SPRING)
    await chat.say(
        "My mistake: the dog is called Rumpus",
        "Anna has_pet Rumpus",
        at=SUMMER,
        relation="corrects",
        of="We called the dog Rufus",
    )
    assert await chat.objects() == ["Rumpus"]
    assert await chat.contents() == ["My mistake: the dog is called Rumpus"]


async def test_what_no_longer_holds_ends(chat: Chat) -> None:
    await chat.say("I work at Acme", "Anna works_at Acme", at=SPRING)
    await chat.say("I no longer work at Acme", "Anna no longer works_at Acme", at=SUMMER)
    assert await chat.objects() == []
    assert await chat.objects(as_of=AsOf(valid_at=SPRING + timedelta(days=1))) == ["Acme"]
    assert "I work at Acme" not in await chat.contents()


async def test_a_return_is_a_stretch_of_its_own(chat: Chat) -> None:
    for days, place in ((0, "Porto"), (30, "Lisbon"), (60, "Porto")):
        await chat.say(
            f"I live in {place} since today", f"Anna lives_in {place}", at=SPRING + timedelta(days=days)
        )
    assert await chat.objects() == ["Porto"]
    assert await chat.objects(history=True) == ["Lisbon", "Porto", "Porto"]
    assert await chat.objects(as_of=AsOf(valid_at=SPRING + timedelta(days=40))) == ["Lisbon"]


async def test_additive_predicates_do_not_conflict(chat: Chat) -> None:
    await chat.say("I like tea", "Anna likes tea")
    await chat.say("I like coffee", "Anna likes coffee")
    assert await chat.objects() == ["coffee", "tea"]
    assert await chat.contents() == ["I like coffee", "I like tea"]


async def test_opposites_conflict(chat: Chat) -> None:
    await chat.say("I like olives", "Anna likes olives", at=SPRING)
    await chat.say("I hate olives now", "Anna dislikes olives", at=SUMMER)
    assert [fact.predicate for fact in await chat.workspace.facts()] == ["dislikes"]
    assert await chat.contents() == ["I hate olives now"]


async def test_a_relation_to_a_known_memory_supersedes_it(chat: Chat) -> None:
    await chat.say("The launch is planned for May", type="project", at=SPRING)
    await chat.say(
        "We moved the launch to June",
        type="project",
        relation="updates",
        of="The launch is planned for May",
        at=SPRING + timedelta(days=5),
    )
    assert await chat.contents(include_expired=True) == ["We moved the launch to June"]
    assert (await chat.only(status="superseded")).content == "The launch is planned for May"


async def test_the_assistants_words_supersede_nothing_that_a_person_said(chat: Chat) -> None:
    await chat.say("I live in Porto by the sea", type="fact", at=SPRING)
    await chat.say(
        "You live in Lisbon these days",
        role="assistant",
        author="assistant",
        relation="updates",
        of="I live in Porto by the sea",
        at=SUMMER,
    )
    assert await chat.contents() == ["I live in Porto by the sea"]
    waiting = await chat.only(status="suggested")
    assert "supersede" in (waiting.review_reason or "")


# --- expiry ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MEMORY_TYPES)
async def test_a_memory_goes_out_of_view_by_its_type(chat: Chat, kind: MemoryType) -> None:
    await chat.say("The boiler is making a noise", type=kind, at=chat.clock())
    said = chat.clock() - timedelta(hours=1)
    lifetime = LIFETIMES.get(kind)
    memory = await chat.only()
    assert memory.expires_at == (None if lifetime is None else said + lifetime)
    chat.clock.now = said + (lifetime or timedelta(days=4000)) + timedelta(seconds=1)
    assert await chat.contents() == ([] if lifetime else ["The boiler is making a noise"])
    assert await chat.contents(include_expired=True) == ["The boiler is making a noise"]
    assert len(await chat.contents(status="expired")) == (lifetime is not None)


async def test_a_reminder_expires_at_its_date(chat: Chat) -> None:
    tomorrow = chat.clock() + timedelta(days=1)
    await chat.say("Remind me to call the dentist tomorrow", type="reminder", event_at=tomorrow)
    assert (await chat.only()).expires_at == tomorrow


async def test_what_is_said_again_stays_in_view_longer(chat: Chat) -> None:
    await chat.say("The printer is broken", type="blocker")
    chat.clock.advance(days=10)
    await chat.say("The printer is broken", type="blocker")
    chat.clock.advance(days=10)
    memory = await chat.only()
    assert memory.version == 2


async def test_what_was_expired_then_was_in_view_before(chat: Chat) -> None:
    await chat.say("The printer is broken", type="blocker", at=SPRING)
    assert await chat.contents() == []
    assert await chat.contents(as_of=AsOf(valid_at=SPRING + timedelta(days=3))) == ["The printer is broken"]


async def test_an_analyst_that_calls_two_things_the_same_loses_neither(chat: Chat) -> None:
    await chat.say("I am allergic to nuts.")
    await chat.say("I bought a boat in Kiel.", relation="same", of="I am allergic to nuts.")
    assert await chat.contents() == ["I am allergic to nuts.", "I bought a boat in Kiel."]
    (allergy,) = await chat.workspace.memories(text="nuts")
    assert len((await chat.workspace.memory(allergy.memory_id)).sources) == 1


async def test_what_is_mended_within_one_window_is_superseded(chat: Chat) -> None:
    chat.script.find("My flight is on Monday.", type="event")
    chat.script.find("Sorry, my flight is on Tuesday.", type="event", relation="corrects", replaces=0)
    texts = ("My flight is on Monday.", "Sorry, my flight is on Tuesday.")
    await chat.workspace.record([NewMessage(role="user", author="Anna", text=text) for text in texts])
    await chat.lore.distil(chat.workspace)
    assert await chat.contents() == ["Sorry, my flight is on Tuesday."]
    assert await chat.contents(status="superseded") == ["My flight is on Monday."]
