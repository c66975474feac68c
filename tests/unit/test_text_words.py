"""Sentences, names, marks and languages of a text."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlore.text.folding import lowered
from everlore.text.languages import language_of
from everlore.text.names import names
from everlore.text.numbers import marks
from everlore.text.sentences import MAX_SENTENCE_CHARACTERS, sentences
from everlore.text.words import in_a_row


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        (
            "Hi there! I met Dr. Chen at 5 p.m. He left.",
            ["Hi there!", "I met Dr. Chen at 5 p.m.", "He left."],
        ),
        ("- one\n2. two\n[x] no", ["one", "two", "[x] no"]),
        ("J. K. Rowling wrote it. Good", ["J. K. Rowling wrote it.", "Good"]),
        ("funny 😂 I'm single", ["funny 😂", "I'm single"]),
        ("Am 12. Juli heirate ich. Schön!", ["Am 12. Juli heirate ich.", "Schön!"]),
        ("  \n ", []),
    ],
)
def test_a_text_is_cut_into_sentences(text: str, cut: list[str]) -> None:
    assert [one.text for one in sentences(text)] == cut


@given(st.text(max_size=400))
def test_sentences_are_slices_in_order(text: str) -> None:
    found = sentences(text)
    assert all(text[one.start : one.end] == one.text for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


def test_a_text_without_any_end_is_cut_at_the_limit() -> None:
    assert max(len(one.text) for one in sentences("x" * 5000)) == MAX_SENTENCE_CHARACTERS


@given(st.text(max_size=200))
def test_lower_case_keeps_every_place(text: str) -> None:
    assert len(lowered(text)) == len(text)


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("My sister Emma lives in Porto", ["Emma", "Porto"]),
        ("Yesterday Emma and I went to the Museum of Modern Art", ["Emma", "Museum of Modern Art"]),
        ("Hello, I'm Dr. Chen", ["Dr. Chen"]),
        ("I met J. K. Rowling on Monday in May", ["J. K. Rowling"]),
        ("Vivo en Ciudad de México con Luna y Sol", ["Ciudad de México", "Luna", "Sol"]),
        ("We use PostgreSQL and Next.js", ["PostgreSQL", "Next.js"]),
        ("The weather is nice. We love it", []),
        ("THIS IS ALL SHOUTING FOR NOTHING", []),
        ("I think so, OK?", []),
    ],
)
def test_names_are_found_and_starters_are_not(sentence: str, found: list[str]) -> None:
    assert [name.text for name in names(sentence)] == found


def test_one_word_that_opens_a_sentence_is_marked_unless_it_is_known() -> None:
    assert [(name.text, name.opens) for name in names("Emma works here")] == [("Emma", True)]
    assert [(name.text, name.opens) for name in names("Emma works here", {"emma"})] == [("Emma", False)]


@given(st.text(max_size=300))
def test_names_and_marks_stand_where_they_say(text: str) -> None:
    assert all(text[one.begin : one.stop] == one.text for one in names(text))
    assert all(text[one.begin : one.stop] == one.text for one in marks(text))


@pytest.mark.parametrize(
    ("text", "kind", "written"),
    [
        ("write to a.b@x.example.", "email", "a.b@x.example"),
        ("I'm @ann_k there", "handle", "@ann_k"),
        ("call +34 600 123 456, please", "phone", "+34 600 123 456"),
        ("we run v1.2 now", "version", "v1.2"),
        ("upgraded to 16.2.1", "version", "16.2.1"),
        ("it is in /etc/x/y.conf", "path", "/etc/x/y.conf"),
        ("put it in ~/.zshrc,", "path", "~/.zshrc"),
        ("see http://a.example/b.", "url", "http://a.example/b"),
        ("on 2024-05-03", "number", "2024-05-03"),
    ],
)
def test_marks_are_told_apart(text: str, kind: str, written: str) -> None:
    assert (kind, written) in [(one.kind, one.text) for one in marks(text)]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I live in Lisbon and work as a nurse", "en"),
        ("ok", "en"),
        ("Vivo en Sevilla y trabajo como enfermera", "es"),
        ("Prefiero el té al café", "es"),
        ("Ich wohne in Hamburg und arbeite bei Airbus", "other"),
        ("Je travaille chez Renault depuis 2018", "other"),
        ("私は東京に住んでいます", "other"),
    ],
)
def test_the_language_of_a_message(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("text", "within", "said"),
    [
        ("Emma paints boats.", "Well: *Emma* paints   BOATS, and sells them.", True),
        ("Emma doesn’t sell.", "(emma doesn't sell)", True),
        ("Emma paints boats.", "Emma paints boatsheds.", False),
        ("Emma paints boats.", "Emma paints and boats.", False),
    ],
)
def test_what_is_said_word_for_word_is_found_whatever_stands_between(
    text: str, within: str, said: bool
) -> None:
    assert (in_a_row(text) in in_a_row(within)) is said
