"""Reading answers: whatever a model writes becomes sound drafts or is unusable, and nothing else happens."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.test_analyst_suite import STATEMENTS, require_sound, window

from everlore.models.language_model.dates import read_date
from everlore.models.language_model.quotes import find_quote
from everlore.models.language_model.reading import read_answer
from everlore.models.language_model.repair import Unusable, clean, read_object
from everlore.models.language_model.schema import EntityForm, FactForm, MemoryForm
from everlore.models.language_model.speakers import true_object, true_subject, with_true_speaker
from everlore.ports.analyst import Quote, WindowMessage
from everlore.text.languages import is_foreign, script_of, sure_language

NOON = datetime(2025, 6, 14, 12, 0, tzinfo=UTC)
READ = window(*STATEMENTS, known=["Anna works at Globex."])

# ----- any answer

SCRAP = (
    st.none()
    | st.booleans()
    | st.integers(-3, 20)
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(
        [*STATEMENTS, "Emma", "Anna", "fact", "new", "updates", "person", "2025-06-14", "lives_in"]
    )
)
SOURCE = st.fixed_dictionaries(
    {"message": st.integers(1, 10) | SCRAP, "quote": st.sampled_from(STATEMENTS) | SCRAP}
) | SCRAP  # fmt: skip
KEYS = [*MemoryForm.model_fields, *FactForm.model_fields, *EntityForm.model_fields]
ITEM = (
    st.fixed_dictionaries(
        {
            "sources": st.lists(SOURCE, max_size=6) | SCRAP,
            "type": st.sampled_from(["fact", "person", "event"]) | SCRAP,
            "content": st.sampled_from(STATEMENTS) | SCRAP,
            "name": st.sampled_from(["Emma", "Lisbon"]) | SCRAP,
            "subject": st.sampled_from(["Anna", "I"]) | SCRAP,
            "predicate": st.just("lives_in") | SCRAP,
            "object": st.just("Lisbon") | SCRAP,
        }
    ).flatmap(
        lambda fixed: st.dictionaries(st.sampled_from(KEYS), SCRAP | st.lists(SCRAP, max_size=12), max_size=6).map(
            lambda more: {**fixed, **more}
        )
    )
    | SCRAP
)  # fmt: skip
ANSWER = st.fixed_dictionaries(
    {"memories": st.lists(ITEM, max_size=12) | SCRAP},
    optional={
        "facts": st.lists(ITEM, max_size=12) | SCRAP,
        "entities": st.lists(ITEM, max_size=12) | SCRAP,
        "taxonomy": SCRAP | st.just("work.studio"),
    },
)


@given(ANSWER)
def test_any_answer_is_sound_or_unusable(answer: dict[str, Any]) -> None:
    with suppress(Unusable):
        require_sound(read_answer(answer, READ, READ.messages), READ)


@given(st.text() | st.text(alphabet='{}[]",:\\ntrue0123.eE-', max_size=60))
def test_any_text_is_an_object_or_unusable(text: str) -> None:
    with suppress(Unusable):
        assert isinstance(read_object(text), dict)


@given(
    st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text()), max_size=5),
    st.text(alphabet="abc .\n"),
)
def test_an_object_is_found_among_talk(item: dict[str, Any], talk: str) -> None:
    text = json.dumps(item)
    assert read_object(text) == item
    assert read_object(f"{talk}\n```json\n{text}\n```\n{talk}") == item


def test_trailing_commas_go_and_commas_in_strings_stay() -> None:
    assert read_object('{"a": [1, 2, ], "b": "x, ] \\" ,}", }') == {"a": [1, 2], "b": 'x, ] " ,}'}


@pytest.mark.parametrize(
    "text", ["", "  ", "no", "[1]", "{", '{"a": 1', '{"a": [1, 2', '}{', '{"a": ' + "9" * 5000 + "}"]
)  # fmt: skip
def test_what_is_not_whole_is_not_mended(text: str) -> None:
    with pytest.raises(Unusable):
        read_object(text)


@pytest.mark.parametrize(
    "answer", [{}, {"facts": []}, {"memories": None}, {"memories": "none"}, {"memories": [], "facts": {}}]
)
def test_an_answer_without_its_lists_is_unusable_rather_than_empty(answer: dict[str, Any]) -> None:
    with pytest.raises(Unusable):
        read_answer(answer, READ, READ.messages)


# ----- quotes


@given(st.text(min_size=1), st.integers(0, 30), st.integers(1, 40))
def test_a_stretch_of_a_message_is_found_as_it_stands(text: str, start: int, length: int) -> None:
    messages = (WindowMessage(1, "user", "Anna", NOON, text), WindowMessage(2, "user", "Anna", NOON, "other"))
    quote = (
        clean(text[start : start + length]).swapcase()
        if text.isascii()
        else clean(text[start : start + length])
    )
    found = find_quote(quote, 1, messages)
    assert found is None or found.text in next(one.text for one in messages if one.number == found.message)
    if text.isascii() and any(map(str.isalnum, text)) and clean(text):
        whole = find_quote(clean(text).upper(), 1, messages)
        assert whole is not None
        assert whole.message == 1


def test_the_same_words_in_two_messages_need_the_right_number() -> None:
    messages = tuple(WindowMessage(n, "user", "Anna", NOON, "I live in Lisbon.") for n in (1, 2))
    assert find_quote("I live in Lisbon", 2, messages) == Quote(2, "I live in Lisbon")
    assert find_quote("I live in Lisbon", 9, messages) is None


# ----- languages


@pytest.mark.parametrize(
    ("text", "language", "script"),
    [
        ("She has moved to the coast with her dog and is happy there.", "en", "LATIN"),
        ("Sie ist mit dem Hund an die Küste gezogen und hat dort ein Haus.", "de", "LATIN"),
        ("Elle est partie avec son chien dans une maison au bord de la mer.", "fr", "LATIN"),
        ("Ella se ha mudado con su perro a la costa y vive en una casa.", "es", "LATIN"),
        ("Она переехала на побережье вместе с собакой.", None, "CYRILLIC"),
        ("彼女は犬と一緒に海岸へ引っ越しました。", None, "CJK"),
        ("Emma, Lisbon, Porto", None, "LATIN"),
        ("42", None, None),
    ],
)
def test_languages_are_named_where_they_are_plain(
    text: str, language: str | None, script: str | None
) -> None:
    assert (sure_language(text), script_of(text)) == (language, script)


@pytest.mark.parametrize(
    ("answer", "said", "foreign"),
    [
        ("Emma lives in Lisbon.", ["Моя сестра Эмма переехала в Лиссабон."], True),
        ("Emma", ["Моя сестра Эмма переехала в Лиссабон."], False),
        ("Эмма переехала в Лиссабон.", ["My sister writes me: Эмма переехала!"], False),
        ("Sie ist in die Stadt gezogen und hat ein Haus.", ["She is in the city and has the house to herself."], True),
        ("Sie ist in die Stadt gezogen und hat ein Haus.", ["ok", "Lisbon 2025"], False),
        (
            "Sie ist in die Stadt gezogen und hat ein Haus.",
            ["Wir sind in die Stadt gezogen und es ist gut.", "That is good for you and the kids."],
            False,
        ),
    ],
)  # fmt: skip
def test_an_answer_is_foreign_only_where_that_is_sure(answer: str, said: list[str], foreign: bool) -> None:
    assert is_foreign([answer], said) is foreign


# ----- speakers

TALK = (
    WindowMessage(1, "user", "Anna", NOON, "I live in Rome with my sister Emma. I told her to move. You should, too, Bob."),
    WindowMessage(2, "user", "Bob", NOON, "My wife's sister works in Rome. My brother sings."),
)  # fmt: skip


@pytest.mark.parametrize(
    ("quote", "subject", "right"),
    [
        (Quote(1, "I live in Rome"), "Bob", "Anna"),
        (Quote(1, "I live in Rome"), "me", "Anna"),
        (Quote(1, "I live in Rome"), "Emma", "Emma"),
        (Quote(1, "I told her to move"), "Bob", "Bob"),
        (Quote(1, "You should, too, Bob"), "Bob", "Bob"),
        (Quote(2, "My wife's sister works in Rome"), "Anna", "Anna"),
        (Quote(2, "My brother sings"), "Anna", "Anna"),
    ],
)
def test_the_subject_is_who_spoke_only_where_that_is_plain(quote: Quote, subject: str, right: str) -> None:
    assert true_subject(subject, [quote], TALK) == right


def test_whose_brother_it_is() -> None:
    assert true_object("Anna", [Quote(2, "My brother sings")], TALK) == "Bob"
    assert true_object("me", [Quote(2, "My brother sings")], TALK) == "Bob"
    assert true_object("Anna", [Quote(2, "My wife's sister works in Rome")], TALK) == "Anna"
    assert (
        with_true_speaker("Anna's brother sings.", [Quote(2, "My brother sings")], TALK)
        == "Bob's brother sings."
    )
    assert (
        with_true_speaker("They sing.", [Quote(2, "My brother sings"), Quote(1, "I live in Rome")], TALK)
        == "They sing."
    )


# ----- dates


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2025-05-01", datetime(2025, 5, 1, tzinfo=UTC)),
        ("2025-05", datetime(2025, 5, 1, tzinfo=UTC)),
        ("2025", datetime(2025, 1, 1, tzinfo=UTC)),
        ("2025-05-01T10:00:00Z", datetime(2025, 5, 1, 10, tzinfo=UTC)),
        ("2025-05-01 10:00+02:00", datetime(2025, 5, 1, 8, tzinfo=UTC)),
        ("2025-02-30", None),
        ("soon", None),
        ("0001-01-01", None),
        ("9999-12-31T23:59:59-12:00", None),
        ("", None),
        (None, None),
    ],
)
def test_dates_are_read_or_not_said(text: str | None, date: datetime | None) -> None:
    assert read_date(text, NOON) == date
