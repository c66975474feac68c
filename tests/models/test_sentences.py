"""What the sentences of a small model state: facts, names and dates, each tied to its memory."""

from datetime import UTC, datetime

import pytest

from everlore.models.rules.sentences import read_sentences
from everlore.ports.analyst import DraftMemory, Extraction, Quote, Window, WindowMessage

MONDAY = datetime(2026, 1, 12, 20, 0, tzinfo=UTC)


def read(*contents: str, speaker: str = "Anna") -> Extraction:
    window = Window(
        tuple(WindowMessage(n, "user", speaker, MONDAY, said) for n, said in enumerate(contents, start=1))
    )
    return read_sentences(
        [DraftMemory("fact", said, (Quote(n, said),)) for n, said in enumerate(contents, start=1)], window
    )


def facts(*contents: str, speaker: str = "Anna") -> set[tuple[str, str, str]]:
    return {(one.subject, one.predicate, one.object) for one in read(*contents, speaker=speaker).facts}


NOTHING: set[tuple[str, str, str]] = set()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Emma lives in Göteborg since 2019.", {("Emma", "lives_in", "Göteborg")}),
        ("Anna is married to Tom.", {("Anna", "married_to", "Tom")}),
        ("Anna has a dog called Rex.", {("Anna", "has_pet", "Rex")}),
        ("Anna lives in Porto with their dog.", {("Anna", "lives_in", "Porto")}),
        (
            "Anna's sister Emma works at Acme.",
            {("Emma", "works_at", "Acme"), ("Emma", "sister_of", "Anna")},
        ),
        ("Anna might move to Oslo.", NOTHING),
        ("She lives in Rome.", NOTHING),
        ("Vive en Lisboa con su hermana y trabaja en una escuela.", NOTHING),
    ],
)
def test_facts_of_a_sentence(content: str, expected: set[tuple[str, str, str]]) -> None:
    assert facts(content) == expected


def test_each_fact_is_tied_to_its_memory_and_rests_on_its_words() -> None:
    found = read("Anna painted the kitchen.", "Anna no longer works at Acme.", "Emma moved to Bergen in May.")
    (acme, bergen) = found.facts
    assert (acme.memory, acme.predicate, acme.ended) == (1, "works_at", True)
    assert (bergen.memory, bergen.object, bergen.valid_from) == (
        2,
        "Bergen",
        datetime(2025, 5, 1, tzinfo=UTC),
    )
    assert bergen.sources == found.memories[2].sources == (Quote(3, "Emma moved to Bergen in May."),)
    assert bergen.object_is_entity


def test_entities_are_who_and_what_the_facts_name() -> None:
    found = read("Anna's sister Emma works at Acme.", "Emma lives in Porto.")
    assert {(one.name, one.type, one.aliases) for one in found.entities} == {
        ("Emma", "person", ("Anna's sister",)),
        ("Acme", "organisation", ()),
        ("Porto", "place", ()),
    }
    assert [set(one.entities) for one in found.memories] == [{"Emma", "Acme"}, {"Emma", "Porto"}]
    assert [len(one.sources) for one in found.entities if one.name == "Emma"] == [2]


def test_an_author_without_a_name() -> None:
    said = ("The user works at Acme.", "The user's sister Emma moved to Lisbon.")
    found = read(*said, speaker="user")
    assert [one.content for one in found.memories] == list(said)
    assert facts(*said, speaker="user") == {
        ("user", "works_at", "Acme"),
        ("Emma", "sister_of", "user"),
        ("Emma", "lives_in", "Lisbon"),
    }
    assert {one.name: one.aliases for one in found.entities}["Emma"] == ("user's sister",)


def test_dates_are_written_out_as_of_the_message() -> None:
    found = read(
        "Anna's exam is next Friday.",
        "Anna started a new job yesterday.",
        "Anna was born in 1990.",
        "Anna's exam was moved to February 10.",
    )
    assert [(one.content, one.event_at) for one in found.memories] == [
        ("Anna's exam is on 16 January 2026.", datetime(2026, 1, 16, tzinfo=UTC)),
        ("Anna started a new job on 11 January 2026.", datetime(2026, 1, 11, tzinfo=UTC)),
        ("Anna was born in 1990.", datetime(1990, 1, 1, tzinfo=UTC)),
        ("Anna's exam was moved to February 10.", None),
    ]


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ("Anna said that she was proud of Tash.", False),
        ("Anna was asked to stop explaining.", False),
        ("Anna laughed tho.", False),
        ("Anna was informed that the exam is on Friday.", True),
        ("Anna's doctor told her to drink no coffee.", True),
        ("Anna works at Acme.", True),
    ],
)
def test_that_something_was_said_is_no_memory(content: str, kept: bool) -> None:
    found = read("Anna asked for help.", content, "Emma lives in Porto.")
    assert len(found.memories) == 1 + kept
    assert [found.memories[one.memory or 0].content for one in found.facts if one.subject == "Emma"] == [
        "Emma lives in Porto."
    ]


def test_nothing_is_read_off_nothing() -> None:
    assert read() == Extraction()
