"""Whom a question names."""

from uuid import uuid4

import pytest

from everlore.domain.memories import EntityType
from everlore.recall.authors import authors_named
from everlore.recall.names import authors_called, people, runs
from everlore.store.entities import Called

AUTHORS = ["Maya Lindqvist", "Emma Lindqvist", "Will", "José", "Tamara", "Dr. Ann O'Brien", "A", "王伟"]
COMMON = {"will", "what", "did", "do", "to", "you", "the", "how", "a", "who"}


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What did Maya say?", {"Maya Lindqvist"}),
        ("what did maya say?", {"Maya Lindqvist"}),
        ("WHAT DID MAYA SAY?", {"Maya Lindqvist"}),
        ("What did Maya Lindqvist say?", {"Maya Lindqvist"}),
        ("What did Lindqvist say?", {"Maya Lindqvist", "Emma Lindqvist"}),
        ("Is it Emma's or Maya’s?", {"Maya Lindqvist", "Emma Lindqvist"}),
        ("What did Jose do?", {"José"}),
        ("What did O'Brien say?", {"Dr. Ann O'Brien"}),
        ("Who is the Dr?", set[str]()),
        # Common words are names only with a capital within a sentence.
        ("Will you ask José?", {"José"}),
        ("What will you do?", set[str]()),
        ("what will you do?", set[str]()),
        ("WHAT WILL YOU DO?", set[str]()),
        ("What did Will do?", {"Will"}),
        ("What did A do?", set[str]()),
        # Short forms, if they can be one person's only.
        ("What did Tam bake?", {"Tamara"}),
        ("What did Ta do?", set[str]()),
        ("Tam or not, what is it?", set[str]()),
        ("what did tam bake?", set[str]()),
        ("What about Tam Brooks?", set[str]()),
        # Scripts that write no blanks.
        ("王伟说了什么？", {"王伟"}),
        ("", set[str]()),
        ("???", set[str]()),
    ],
)
def test_authors_that_a_question_names(question: str, named: set[str]) -> None:
    assert authors_named(question, AUTHORS, COMMON) == named


def test_a_short_form_of_two_people_names_nobody() -> None:
    assert authors_named("What did Chris say?", ["Christine", "Christopher"]) == set()


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What did Mayita say?", {"Maya"}),
        ("what did mayita say?", {"Maya"}),
        ("What did Old Mae say?", {"Maya"}),
        # Another name with more to it is another person's.
        ("What did Mayita Lindqvist say?", set[str]()),
        ("Mae said so?", set[str]()),
        # Who is called so outright is meant rather.
        ("What did Em say?", {"Em"}),
        # Not even another name is one where it is a word of the question, or of a date.
        ("what will you say?", set[str]()),
        ("What did June say?", set[str]()),
    ],
)
def test_another_name_of_an_author_names_him(question: str, named: set[str]) -> None:
    other = {"mayita": "Maya", "old mae": "Maya", "em": "Emma", "will": "Maya", "june": "Maya"}
    also = {frozenset(name.split()): author for name, author in other.items()}
    assert authors_named(question, ["Maya", "Emma", "Em"], COMMON, {"june"}, also) == named


def called(given: str, names: str, weight: float = 0.9, kind: EntityType = "person") -> Called:
    return Called(given, uuid4(), weight, kind, names.split(", "))


def test_what_an_author_is_called_besides_is_known_from_the_entities() -> None:
    found = runs("Is Al's dog Dr Big Al's, or the Al's?")
    assert found["al"] == "Al's"
    authors = ["Alistair Cairns", "Emma"]
    of_author = called("al", "Alistair  Cairns, Al")
    assert authors_called([of_author], found, authors) == {frozenset({"al"}): "Alistair Cairns"}
    namesake = called("al", "Al Gore, Al", 0.6)
    assert authors_called([of_author, namesake], found, authors) == {frozenset({"al"}): "Alistair Cairns"}
    for other in (called("al", "Al Gore, Al"), called("al", "Emma, Al")):
        assert authors_called([of_author, other], found, authors) == {}
    assert people([of_author, called("big al", "Big Al")], found) == {"al"}
    assert people([called("al", "AL", kind="organisation")], found) == set()


def test_a_word_of_a_date_is_nobody() -> None:
    assert authors_named("What happened in May?", ["Maya"], (), {"may"}) == set()
    assert authors_named("What did May do?", ["May"], (), ()) == {"May"}
