"""Whom a question names."""

import pytest

from everlore.recall.authors import authors_named

AUTHORS = ["Maya Lindqvist", "Emma Lindqvist", "Will", "José", "Melanie", "Dr. Ann O'Brien", "A", "王伟"]
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
        ("What did Mel paint?", {"Melanie"}),
        ("What did Me do?", set[str]()),
        ("Mel or not, what is it?", set[str]()),
        ("what did mel paint?", set[str]()),
        ("What about Mel Brooks?", set[str]()),
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


def test_a_word_of_a_date_is_nobody() -> None:
    assert authors_named("What happened in May?", ["Maya"], (), {"may"}) == set()
    assert authors_named("What did May do?", ["May"], (), ()) == {"May"}
