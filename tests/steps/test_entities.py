"""Entities: which names are taken for one, which are kept apart, and what a person may do about it."""

from contextlib import suppress
from datetime import timedelta
from random import Random
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import Clock, TestDatabase
from tests.steps.world import DraftEntity, DraftFact, DraftMemory, Extraction, World, said, suggested

from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.ports.analyst import Window, WindowMessage


@pytest.fixture
async def world(lore: Everlore, database: TestDatabase, clock: Clock) -> World:
    workspace = await lore.workspace("test", create=True)
    return World(lore, database, clock, workspace.workspace_id, "test")


def person(name: str, *aliases: str, message: int = 1, distinct: bool = False) -> DraftEntity:
    return DraftEntity(name, "person", said(message), aliases, distinct)


def drafts(*entities: DraftEntity, facts: tuple[DraftFact, ...] = ()) -> Extraction:
    return Extraction(entities=entities, facts=facts)


async def names_of(world: World, named: str | UUID) -> set[str]:
    return {alias.variant for alias in (await world.graph.entity(named)).entity.aliases}


# Linking


async def test_every_name_of_an_extraction_is_resolved(world: World) -> None:
    found = await world.tell(
        ["My sister Emma works at Acme.", "She met Tom in Lisbon."],
        Extraction(
            entities=(person("Emma", "Anna's sister"),),
            facts=(
                DraftFact("Anna's sister", "works_at", "Acme", said(1), object_is_entity=True),
                DraftFact("Emma", "friend_of", "Tom", said(2)),
                DraftFact("I", "likes", "tea", said(2)),
            ),
            memories=(DraftMemory("event", "Emma met Tom in Lisbon.", said(2), entities=("Tom", "Lisbon")),),
        ),
        speaker="Anna",
    )
    assert found.of("Emma") == found.of("Anna's sister") is not None
    assert found.of("I", [2]) == found.of("Anna") == found.speaker(1)
    assert found.of("the moon") is None
    types = {node.entity.name: node.entity.type for node in await world.graph.entities()}
    assert types == {
        "Anna": "person",
        "Emma": "person",
        "Acme": "organisation",
        "Tom": "person",
        "Lisbon": "other",
    }
    mentions = {node.entity.name: node.entity.mentions for node in await world.graph.entities()}
    assert mentions == {"Anna": 1, "Emma": 2, "Acme": 1, "Tom": 1, "Lisbon": 1}
    assert len(found.made) == 5


async def test_an_empty_extraction_makes_nobody(world: World) -> None:
    await world.tell("How are you?", Extraction(), speaker="Anna")
    assert await world.graph.entities() == []


async def test_the_same_name_in_another_form_is_the_same_entity(world: World) -> None:
    one = await world.tell("Ch35 is done.", Extraction(entities=(DraftEntity("Ch35", "concept", said()),)))
    two = await world.tell(
        "Chapter thirty-five again.",
        Extraction(entities=(DraftEntity("Chapter thirty-five", "concept", said()),)),
    )
    three = await world.tell(
        "Chapter 36", Extraction(entities=(DraftEntity("Chapter 36", "concept", said()),))
    )
    assert one.of("Ch35") == two.of("Chapter thirty-five") != three.of("Chapter 36")
    assert suggested(world) == []


async def test_reading_the_same_messages_again_makes_nobody_new(world: World) -> None:
    extraction = drafts(
        person("Emma", "Anna's sister"), person("Emma", "Emma from accounting", distinct=True), person("Tom")
    )
    await world.tell("Emma, my sister, met Emma from accounting and Tom.", extraction, speaker="Anna")
    before = world.whole()
    ids = {1: world.rows("select message_id from everlore.message")[0][0]}
    window = Window((WindowMessage(1, "user", "Anna", world.clock(), "the same"),))
    again = await world.link(window, extraction, ids)
    assert world.whole() == before
    assert again.made == frozenset()


@pytest.mark.parametrize("called", ["Anna's sister", "my sister", "la hermana de Anna", "the sister of Anna"])
async def test_a_description_stands_for_whom_it_described(world: World, called: str) -> None:
    one = await world.tell("My sister Emma came.", drafts(person("Emma", "my sister")), speaker="Anna")
    two = await world.tell("x", drafts(facts=(DraftFact(called, "likes", "tea", said()),)), speaker="Anna")
    assert one.of("Emma") == two.of(f"{called}") or two.of("Anna's sister") == one.of("Emma")
    assert len(await world.graph.entities(type="person")) == 2


async def test_the_name_of_somebody_who_was_only_described_comes_later(world: World) -> None:
    one = await world.tell("My sister called.", drafts(person("my sister")), speaker="Anna")
    two = await world.tell("My sister Emma called.", drafts(person("Emma", "Anna's sister")), speaker="Anna")
    assert one.of("Anna's sister") == two.of("Emma")
    assert (await world.graph.entity("Anna's sister")).entity.name == "Emma"


async def test_two_sisters_are_two(world: World) -> None:
    one = await world.tell("My sister Emma.", drafts(person("Emma", "my sister")), speaker="Anna")
    two = await world.tell("My sister Clara.", drafts(person("Clara", "my sister")), speaker="Anna")
    assert one.of("Emma") != two.of("Clara")
    assert two.of("Anna's sister") == two.of("Clara")


async def test_somebody_elses_sister_is_another(world: World) -> None:
    one = await world.tell("My sister called.", drafts(person("my sister")), speaker="Anna")
    two = await world.tell("My sister called.", drafts(person("my sister")), speaker="Ben")
    assert one.of("Anna's sister") != two.of("Ben's sister")


async def test_the_owner_may_be_named_in_another_way(world: World) -> None:
    await world.entity("Anna Keller", "Anna")
    one = await world.tell("x", drafts(person("Emma", "Anna Keller's sister")))
    two = await world.tell("x", drafts(person("Anna's sister")))
    assert one.of("Emma") == two.of("Anna's sister")


async def test_a_first_name_becomes_a_full_one(world: World) -> None:
    one = await world.tell("Ali came.", drafts(person("Ali")))
    two = await world.tell("Ali Camarata came.", drafts(person("Ali Camarata")))
    three = await world.tell("Ali C. came.", drafts(person("Ali C.")))
    four = await world.tell("Write to ali@camarata.com.", drafts(person("ali@camarata.com")))
    assert one.of("Ali") == two.of("Ali Camarata") == three.of("Ali C.") == four.of("ali@camarata.com")
    detail = await world.graph.entity("Ali")
    assert detail.entity.name == "Ali Camarata"
    assert {a.variant: a.origin for a in detail.entity.aliases} == {
        "Ali": "inferred",
        "Ali Camarata": "extracted",
        "Ali C.": "inferred",
        "ali@camarata.com": "inferred",
    }


async def test_a_first_name_that_may_be_two_stays_its_own_and_is_suggested(world: World) -> None:
    await world.tell("x", drafts(person("Ali Camarata"), person("Ali Baker")))
    found = await world.tell("x", drafts(person("Ali")))
    assert found.of("Ali") in found.made
    assert len(await world.graph.link_suggestions()) == 2


async def test_a_part_of_a_name_in_another_world_is_a_suggestion(world: World) -> None:
    one = await world.tell("x", drafts(person("Ali Camarata")), thread="work", project="studio")
    two = await world.tell("x", drafts(person("Ali")), thread="home", project="family")
    assert one.of("Ali Camarata") != two.of("Ali")
    (suggestion,) = await world.graph.link_suggestions()
    assert {suggestion.one.name, suggestion.other.name} == {"Ali Camarata", "Ali"}
    assert 0 < suggestion.score < 1


async def test_worlds_meet_by_a_shared_neighbour(world: World) -> None:
    one = await world.tell("x", drafts(person("Ali Camarata"), person("Bo")), thread="work", project="studio")
    ali, bo = one.of("Ali Camarata"), one.of("Bo")
    assert ali is not None
    assert bo is not None
    world.fact(ali, "friend_of", bo)
    two = await world.tell("x", drafts(person("Bo"), person("Ali")), thread="home", project="family")
    assert two.of("Ali") == ali


async def test_people_of_one_name_are_told_apart_by_descriptions(world: World) -> None:
    sister = await world.tell("My sister Emma.", drafts(person("Emma", "my sister")), speaker="Anna")
    other = await world.tell("x", drafts(person("Emma", "Emma from accounting")), speaker="Anna")
    assert sister.of("Emma") != other.of("Emma")
    labels = {found.label for found in await world.graph.entities("Emma")}
    assert labels == {"Emma (Anna's sister)", "Emma (Emma from accounting)"}
    assert len(await world.graph.link_suggestions()) == 1
    again = await world.tell("x", drafts(person("Emma from accounting")), speaker="Anna")
    assert again.of("Emma from accounting") == other.of("Emma")


async def test_the_text_itself_tells_two_apart(world: World) -> None:
    one = await world.tell("x", drafts(person("Emma")))
    two = await world.tell("Another Emma.", drafts(person("Emma", distinct=True)))
    assert one.of("Emma") != two.of("Emma")


async def test_a_bare_name_is_whoever_was_named_last_in_the_thread(world: World) -> None:
    sister = await world.tell("x", drafts(person("Emma", "my sister")), speaker="Anna", thread="one")
    other = await world.tell(
        "x", drafts(person("Emma", "Emma from accounting")), speaker="Anna", thread="two"
    )
    for thread, meant in (("one", sister), ("two", other), ("one", sister)):
        found = await world.tell("x", drafts(person("Emma")), speaker="Anna", thread=thread)
        assert found.of("Emma") == meant.of("Emma")
    await world.tell("x", drafts(person("Emma", "my sister")), speaker="Anna", thread="two")
    found = await world.tell("x", drafts(person("Emma")), speaker="Anna", thread="two")
    assert found.of("Emma") == sister.of("Emma")


async def test_two_of_one_name_in_one_window_are_told_apart_by_their_messages(world: World) -> None:
    found = await world.tell(
        ["My sister Emma lives in Porto.", "Emma from accounting lives in Lisbon."],
        drafts(
            person("Emma", "my sister", message=1),
            person("Emma", "Emma from accounting", message=2, distinct=True),
            facts=(
                DraftFact("Emma", "lives_in", "Porto", said(1)),
                DraftFact("Emma", "lives_in", "Lisbon", said(2)),
            ),
        ),
        speaker="Anna",
    )
    assert found.of("Emma", said(1)) == found.of("Anna's sister")
    assert found.of("Emma", said(2)) == found.of("Emma from accounting")
    assert found.of("Emma", said(1)) != found.of("Emma", said(2))


async def test_another_birthplace_is_another_person_but_another_home_is_news(world: World) -> None:
    one = await world.tell("x", drafts(person("Emma")))
    emma = one.of("Emma")
    assert emma is not None
    world.fact(emma, "born_in", "Porto")
    world.fact(emma, "lives_in", "Porto")
    moved = await world.tell(
        "x", drafts(person("Emma"), facts=(DraftFact("Emma", "lives_in", "Oslo", said()),))
    )
    assert moved.of("Emma") == emma
    other = await world.tell(
        "x", drafts(person("Emma"), facts=(DraftFact("Emma", "born_in", "Oslo", said()),))
    )
    assert other.of("Emma") != emma
    assert len(await world.graph.link_suggestions()) == 1


async def test_another_home_in_another_world_is_another_person(world: World) -> None:
    one = await world.tell("x", drafts(person("Emma")), thread="work", project="studio")
    emma = one.of("Emma")
    assert emma is not None
    world.fact(emma, "lives_in", "Porto")
    facts = (DraftFact("Emma", "lives_in", "Oslo", said()),)
    two = await world.tell("x", drafts(person("Emma"), facts=facts), thread="home", project="family")
    assert two.of("Emma") != emma


async def distilled(lore: Everlore, clock: Clock, thread: str, author: str, *texts: str) -> None:
    """By rules, in one go."""
    clock.advance(days=1)
    workspace = await lore.workspace("test", create=True)
    await workspace.record(
        [NewMessage(role="user", author=author, text=text) for text in texts], thread=thread
    )
    await lore.distil(workspace)


async def told(lore: Everlore) -> list[tuple[str, str, str, bool]]:
    """Whose home and work is known: the owner's word for him, what, where, whether it still holds."""
    workspace = await lore.workspace("test", create=True)
    labels = {found.entity.entity_id: found.label for found in await workspace.graph.entities(limit=100)}
    listed = await workspace.facts(history=True, limit=100)
    facts = [fact for fact in listed if fact.predicate in ("lives_in", "works_at")]
    return sorted((labels[f.subject_id], f.predicate, f.object, f.valid_to is None) for f in facts)


COLLEAGUE, SISTER = "Emma (Maya's colleague)", "Emma (Ben's sister)"


async def test_namesakes_of_two_people_stay_two(world: World) -> None:
    """Whoever tells first, and in another thread too, each keeps the one that he told of."""
    lore, clock = world.lore, world.clock
    await distilled(lore, clock, "maya", "Maya", "My colleague Emma works at Siemens.", "Emma lives in Bonn.")
    await distilled(lore, clock, "ben", "Ben", "My sister Emma lives in Kyoto.", "Emma works at Nintendo.")
    facts = [
        (SISTER, "lives_in", "Kyoto", True),
        (SISTER, "works_at", "Nintendo", True),
        (COLLEAGUE, "lives_in", "Bonn", True),
        (COLLEAGUE, "works_at", "Siemens", True),
    ]
    assert await told(lore) == sorted(facts)
    (suggestion,) = await world.graph.link_suggestions()
    assert {suggestion.one.label, suggestion.other.label} == {COLLEAGUE, SISTER}
    await distilled(lore, clock, "later", "Maya", "Emma moved to Berlin.")
    assert (COLLEAGUE, "lives_in", "Bonn", False) in await told(lore)
    assert (COLLEAGUE, "lives_in", "Berlin", True) in await told(lore)
    assert (SISTER, "lives_in", "Kyoto", True) in await told(lore)
    assert len(await world.graph.entities("Emma")) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [("Emma lives in Bonn.", "Emma lives in Kyoto."), ("My boss is Emma.", "My sister Emma likes tea.")],
)
async def test_in_doubt_what_strangers_say_is_of_two(world: World, first: str, second: str) -> None:
    await distilled(world.lore, world.clock, "one", "Maya", first)
    await distilled(world.lore, world.clock, "two", "Ben", second)
    assert len([one for one in await world.graph.entities("Emma") if one.entity.name == "Emma"]) == 2
    assert len(await world.graph.link_suggestions()) == 1


@pytest.mark.parametrize(
    ("thread", "author", "second"),
    [
        ("two", "Maya", "Emma lives in Kyoto."),
        ("two", "Maya", "My friend Emma likes tea."),
        ("one", "Ben", "Emma lives in Kyoto."),
        ("two", "Ben", "Emma likes tea."),
        ("two", "Ben", "Maya is married to Tom. Emma lives in Kyoto."),
        ("two", "Emma", "I live in Kyoto."),
    ],
)
async def test_one_person_whom_one_world_speaks_of_is_one(
    world: World, thread: str, author: str, second: str
) -> None:
    """The same speaker, the same thread, nothing that contradicts, somebody in common, or herself."""
    await distilled(world.lore, world.clock, "one", "Maya", "My friend Emma lives in Bonn.")
    await distilled(world.lore, world.clock, thread, author, second)
    assert [one.entity.name for one in await world.graph.entities("Emma")] == ["Emma"]


async def test_who_speaks_here_is_known_to_all(world: World) -> None:
    await distilled(world.lore, world.clock, "one", "Emma", "I live in Bonn.")
    await distilled(world.lore, world.clock, "two", "Ben", "Emma lives in Kyoto.")
    assert len(await world.graph.entities("Emma")) == 1


async def test_what_two_people_say_of_a_thing_is_of_one(world: World) -> None:
    facts = (DraftFact("Atlas", "status", "green", said()),)
    one = await world.tell("x", Extraction((), facts), thread="one", speaker="Maya")
    facts = (DraftFact("Atlas", "status", "red", said()),)
    two = await world.tell("x", Extraction((), facts), thread="two", speaker="Ben")
    assert one.of("Atlas") == two.of("Atlas")


async def test_a_person_is_no_place(world: World) -> None:
    one = await world.tell("x", Extraction(entities=(DraftEntity("Paris", "place", said()),)))
    two = await world.tell("x", drafts(person("Paris")))
    assert one.of("Paris") != two.of("Paris")


async def test_a_misspelled_name_is_suggested(world: World) -> None:
    await world.tell("x", drafts(person("Ali Camarata")))
    found = await world.tell("x", drafts(person("Ali Camaratta")))
    assert len(found.made) == 1
    (suggestion,) = await world.graph.link_suggestions()
    assert suggestion.score >= 0.6


async def test_what_was_rejected_is_not_suggested_again(world: World) -> None:
    await world.tell("x", drafts(person("Ali Camarata"), person("Ali Baker")))
    await world.tell("x", drafts(person("Ali")))
    for suggestion in await world.graph.link_suggestions():
        assert await world.graph.decide_link(suggestion.suggestion_id, accept=False) is None
    await world.tell("x", drafts(person("Ali Camaratta")))
    reasons = [suggestion.reason for suggestion in await world.graph.link_suggestions()]
    assert all("spelled" in reason for reason in reasons)


async def test_an_accepted_suggestion_merges(world: World) -> None:
    await world.tell("x", drafts(person("Ali Camarata")))
    await world.tell("x", drafts(person("Ali Camaratta")))
    (suggestion,) = await world.graph.link_suggestions()
    change = await world.graph.decide_link(suggestion.suggestion_id, accept=True)
    assert change is not None
    assert len(await world.graph.entities(type="person")) == 2 - 1 + (await speakers(world))
    with pytest.raises(InvalidInput, match="decided already"):
        await world.graph.decide_link(suggestion.suggestion_id, accept=True)


async def speakers(world: World) -> int:
    return sum(found.entity.name == "user" for found in await world.graph.entities())


async def test_a_drafted_user_is_who_speaks(world: World) -> None:
    found = await world.tell(
        "I like tea.",
        drafts(person("user"), facts=(DraftFact("the user", "likes", "tea", said()),)),
        speaker="Anna",
    )
    assert found.of("user") == found.of("the user") == found.of("Anna")
    assert [one.entity.name for one in await world.graph.entities()] == ["Anna"]
    assert await names_of(world, "Anna") == {"Anna"}


async def test_an_unnamed_person_is_the_user(world: World) -> None:
    found = await world.tell("I like tea.", drafts(facts=(DraftFact("user", "likes", "tea", said()),)))
    again = await world.tell("My sister.", drafts(person("my sister")))
    assert found.of("user") == again.speaker(1)
    assert again.of("user's sister") is not None


# Names by hand


async def test_a_name_is_given_and_taken_away(world: World) -> None:
    await world.entity("Ali Camarata", "Ali")
    entity = await world.graph.add_alias("Ali", "the boss")
    assert {alias.variant: (alias.weight, alias.origin) for alias in entity.aliases}["the boss"] == (
        1.0,
        "by hand",
    )
    assert (await world.graph.entity("BOSS")).entity.entity_id == entity.entity_id
    entity = await world.graph.remove_alias("Ali", "ali camarata")
    assert entity.name == "the boss"
    with pytest.raises(NotFound):
        await world.graph.remove_alias("Ali", "Ben")
    await world.graph.remove_alias("Ali", "boss")
    with pytest.raises(InvalidInput, match="last name"):
        await world.graph.remove_alias("Ali", "Ali")


async def test_a_name_given_by_hand_is_not_weakened(world: World) -> None:
    await world.entity("Ali")
    await world.graph.add_alias("Ali", "Al")
    await world.tell("x", drafts(person("Ali", "Al")))
    (alias,) = [a for a in (await world.graph.entity("Ali")).entity.aliases if a.variant == "Al"]
    assert (alias.weight, alias.origin) == (1.0, "by hand")


async def test_entities_are_named_by_id_name_and_short_id(world: World) -> None:
    emma = await world.entity("Emma")
    for named in (emma, str(emma), emma.hex, emma.hex[-8:], str(emma)[-13:], "EMMA", "Emma's"):
        assert (await world.graph.entity(named)).entity.entity_id == emma


async def test_a_name_of_two_lists_both(world: World) -> None:
    await world.entity("Emma", "Anna's sister")
    await world.entity("Emma", "Emma from accounting")
    with pytest.raises(
        InvalidInput, match=r"Emma \(Anna's sister\) \[.{8}\] or Emma \(Emma from accounting\) \[.{8}\]"
    ):
        await world.graph.entity("Emma")
    assert (await world.graph.entity("Emma from accounting")).namesakes[0].label == "Emma (Anna's sister)"


async def test_an_unknown_name_is_said_with_what_is_near(world: World) -> None:
    await world.entity("Camarata")
    with pytest.raises(NotFound, match="Did you mean Camarata"):
        await world.graph.entity("Camaratta")
    with pytest.raises(NotFound, match="There is no entity zzz"):
        await world.graph.entity("zzz")
    with pytest.raises(NotFound):
        await world.graph.entity(UUID(int=7))
    with pytest.raises(InvalidInput):
        await world.graph.entity(" ")


async def test_a_search_finds_forms_parts_and_misspellings(world: World) -> None:
    await world.entity("Ali Camarata", "ali@camarata.com")
    place = await world.entity("Camarillo", type="place")
    world.mention(place, *await world.messages("We went to Camarillo."))
    assert [found.entity.name for found in await world.graph.search("camarata")] == ["Ali Camarata"]
    assert [found.entity.name for found in await world.graph.search("Ali Camaratta")] == ["Ali Camarata"]
    (exact,) = await world.graph.search("ALI CAMARATA")
    assert exact.score == pytest.approx(0.9)
    assert await world.graph.entities("ali", type="place") == []
    assert [found.entity.name for found in await world.graph.entities(type="place")] == ["Camarillo"]
    with pytest.raises(InvalidInput, match="type"):
        await world.graph.entities(type="animal")  # pyright: ignore[reportArgumentType]


# Merging and splitting


async def test_a_merge_moves_everything_and_its_undo_puts_it_back(world: World) -> None:
    one, two, third = (
        await world.entity("Ali", "Al"),
        await world.entity("Ali C.", "al"),
        await world.entity("Bo"),
    )
    first, second = await world.messages("Ali came", "Ali C. came")
    world.mention(one, first)
    world.mention(two, first, second)
    world.fact(two, "friend_of", third)
    world.fact(third, "colleague_of", two)
    world.fact(one, "lives_in", "Porto")
    world.fact(two, "lives_in", "Lisbon", since=world.clock() - timedelta(hours=1))
    world.memory("Ali and Ali C. met Bo.", [one, two, third])
    world.memory("Ali C. likes tea.", [two])
    before = world.whole()

    change = await world.graph.merge(one, two)
    assert change.moved == {"aliases": 1, "mentions": 1, "memories": 1, "subjects": 2, "objects": 1}
    detail = await world.graph.entity(two)
    assert detail.entity.entity_id == one
    assert detail.entity.mentions == 2
    assert {(f.subject, f.predicate, f.object) for f in detail.facts} == {
        ("Ali", "friend_of", "Bo"),
        ("Bo", "colleague_of", "Ali"),
        # Of one person the newer home holds.
        ("Ali", "lives_in", "Lisbon"),
    }
    keys = world.rows("select object_key from everlore.fact where object_id = %s", one)
    assert keys == [(str(one),)]
    assert await names_of(world, "Ali C.") == {"Ali", "Al", "Ali C."}

    undone = await world.graph.undo(change.change_id)
    assert undone.undone_at == world.clock()
    assert world.whole() == before
    (listed,) = await world.graph.changes()
    assert listed.undone_at is not None
    actions = world.rows(
        "select action from everlore.audit_log where action like '%%merge%%' order by audit_id"
    )
    assert {action for (action,) in actions} == {"merge entities", "undo merge"}


async def test_merges_that_make_no_sense_are_refused(world: World) -> None:
    one, two, third = await world.entity("A1"), await world.entity("B1"), await world.entity("C1")
    with pytest.raises(InvalidInput, match="same entity"):
        await world.graph.merge(one, one)
    change = await world.graph.merge(one, two)
    with pytest.raises(InvalidInput, match="merged already"):
        await world.graph.merge(two, one)
    with pytest.raises(InvalidInput, match="merged already"):
        await world.graph.merge(third, two)
    with pytest.raises(InvalidInput, match="merged already"):
        await world.graph.merge(two, third)
    with pytest.raises(NotFound):
        await world.graph.merge(one, UUID(int=1))
    await world.graph.undo(change.change_id)
    with pytest.raises(InvalidInput, match="undone already"):
        await world.graph.undo(change.change_id)
    with pytest.raises(NotFound):
        await world.graph.undo(UUID(int=1))


async def test_chains_of_merges_are_undone_from_their_end(world: World) -> None:
    one, two, third = (
        await world.entity("A1", "x"),
        await world.entity("B1", "x"),
        await world.entity("C1", "x"),
    )
    before = world.whole()
    first = await world.graph.merge(two, one)
    second = await world.graph.merge(third, two)
    assert (await world.graph.entity("A1")).entity.entity_id == third
    assert (await world.graph.entity(one)).entity.entity_id == third
    with pytest.raises(InvalidInput, match="undo that first"):
        await world.graph.undo(first.change_id)
    await world.graph.undo(second.change_id)
    await world.graph.undo(first.change_id)
    assert world.whole() == before


async def test_merges_into_one_are_undone_in_any_order(world: World) -> None:
    kept, one, two = await world.entity("A1"), await world.entity("B1", "x"), await world.entity("C1", "X")
    before = world.whole()
    first = await world.graph.merge(kept, one)
    second = await world.graph.merge(kept, two)
    await world.graph.undo(first.change_id)
    # The name that both brought is still one of the kept entity.
    assert "X" in await names_of(world, kept)
    await world.graph.undo(second.change_id)
    assert world.whole() == before


async def test_a_split_takes_names_and_what_their_messages_say(world: World) -> None:
    emma = await world.entity("Emma", "Emma from accounting")
    first, second = await world.messages("Emma came", "Emma from accounting called")
    world.mention(emma, first, second)
    world.fact(emma, "likes", "tea", messages=[(first, 0, 4)])
    world.fact(emma, "likes", "cake", messages=[(second, 0, 4)])
    world.fact(emma, "likes", "jam", messages=[(first, 0, 4), (second, 0, 4)])
    world.memory("Emma called.", [emma], messages=[(second, 0, 4)])
    before = world.whole()
    change = await world.graph.split(emma, ["Emma from accounting"], "Emma")
    assert change.moved == {"aliases": 1, "mentions": 1, "memories": 1, "subjects": 1}
    detail = await world.graph.entity(change.other.entity_id)
    assert {(alias.variant, alias.origin) for alias in detail.entity.aliases} == {
        ("Emma", "by hand"),
        ("Emma from accounting", "extracted"),
    }
    assert [fact.object for fact in detail.facts] == ["cake"]
    assert detail.label == "Emma (Emma from accounting)"
    await world.graph.undo(change.change_id)
    assert world.whole() == before


async def test_splits_that_make_no_sense_are_refused(world: World) -> None:
    emma = await world.entity("Emma", "Em")
    with pytest.raises(InvalidInput, match="leave at least one"):
        await world.graph.split(emma, ["Emma", "em"], "Emma")
    with pytest.raises(InvalidInput, match="no name of Emma"):
        await world.graph.split(emma, ["Bo"], "Emma")
    with pytest.raises(InvalidInput, match="is empty"):
        await world.graph.split(emma, [], "Emma")


async def test_a_split_of_the_shown_name_shows_another(world: World) -> None:
    emma = await world.entity("Emma", "Em")
    before = world.whole()
    change = await world.graph.split(emma, ["Emma"], "Emma Two")
    assert (await world.graph.entity(emma)).entity.name == "Em"
    await world.graph.undo(change.change_id)
    assert world.whole() == before


async def test_what_was_learned_since_is_not_lost_by_an_undo(world: World) -> None:
    one, two = await world.entity("A1"), await world.entity("B1")
    merged = await world.graph.merge(one, two)
    await world.graph.add_alias(one, "later")
    world.fact(one, "likes", "tea")
    await world.graph.undo(merged.change_id)
    assert await names_of(world, one) == {"A1", "later"}
    split = await world.graph.split(one, ["later"], "New")
    await world.graph.add_alias(split.other.entity_id, "newest")
    await world.graph.undo(split.change_id)
    assert await names_of(world, one) == {"A1", "later", "newest"}
    assert (await world.graph.entity(split.other.entity_id)).entity.entity_id == one


async def test_undoing_beneath_a_later_split_is_refused(world: World) -> None:
    one, two = await world.entity("A1"), await world.entity("B1", "bee")
    merged = await world.graph.merge(one, two)
    split = await world.graph.split(one, ["bee"], "New")
    with pytest.raises(InvalidInput, match="later split"):
        await world.graph.undo(merged.change_id)
    await world.graph.undo(split.change_id)
    await world.graph.undo(merged.change_id)
    assert await names_of(world, two) == {"B1", "bee"}


async def test_new_versions_of_a_fact_go_back_with_it(world: World) -> None:
    one, two = await world.entity("A1"), await world.entity("B1")
    fact = world.fact(two, "lives_in", "Porto")
    change = await world.graph.merge(one, two)
    world.rows(
        "insert into everlore.fact (workspace_id, fact_id, lineage_id, version, subject_id, predicate, object, object_key,"
        " confidence, valid_from, recorded_at) select workspace_id, gen_random_uuid(), lineage_id, 2, subject_id, predicate,"
        " object, object_key, confidence, valid_from, recorded_at from everlore.fact where fact_id = %s",
        fact,
    )
    await world.graph.undo(change.change_id)
    assert set(world.rows("select subject_id from everlore.fact")) == {(two,)}


NUMBER = st.integers(0, 5)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["merge", "merge", "split", "undo"]), NUMBER, NUMBER), max_size=9
    ),
    order=st.randoms(use_true_random=False),
)
async def test_whatever_was_merged_and_split_can_be_undone(
    lore: Everlore, database: TestDatabase, clock: Clock, steps: list[tuple[str, int, int]], order: Random
) -> None:
    """In any order that is not refused, and there is always one that is not."""
    workspace = await lore.workspace(uuid4().hex, create=True)
    world = World(lore, database, clock, workspace.workspace_id, workspace.name)
    messages = await world.messages("one", "two", "three")
    known = [await world.entity(f"Name {letter}", "shared", f"own {letter}") for letter in "abcde"]
    for place, entity_id in enumerate(known):
        world.mention(entity_id, *messages[: place % 3 + 1])
        world.fact(entity_id, "friend_of", known[place - 1])
    world.memory("All of them.", known)
    world.memory("Two of them.", known[:2])
    before = world.whole()
    changes: list[UUID] = []
    for kind, one, other in steps:
        with suppress(InvalidInput, NotFound):
            if kind == "merge":
                change = await world.graph.merge(known[one % len(known)], known[other % len(known)])
                changes.append(change.change_id)
            elif kind == "split":
                entity = (await world.graph.entity(known[one % len(known)])).entity
                alias = entity.aliases[other % len(entity.aliases)].variant
                change = await world.graph.split(entity.entity_id, [alias], "New", messages=messages[:other])
                changes.append(change.change_id)
                known.append(change.other.entity_id)
            elif changes:
                undone = await world.graph.undo(changes[other % len(changes)])
                changes.remove(undone.change_id)
    while changes:
        order.shuffle(changes)
        for change_id in changes:
            try:
                await world.graph.undo(change_id)
            except InvalidInput:
                continue
            changes.remove(change_id)
            break
        else:
            pytest.fail("no change can be undone")
    assert world.whole() == before
