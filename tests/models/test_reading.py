"""Reading answers: whatever a model writes becomes sound drafts or is unusable, and nothing else happens."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.test_analyst_suite import STATEMENTS, require_sound, window

from everlore.grounding.answers import doubts
from everlore.grounding.grounding import ground
from everlore.models.language_model.dates import read_date
from everlore.models.language_model.reading import read_answer
from everlore.models.language_model.repair import Unusable, read_object
from everlore.models.language_model.schema import EntityForm, FactForm, MemoryForm

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
        require_sound(ground(READ, read_answer(answer, READ, doubts), {}).extraction, READ)


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
        read_answer(answer, READ, doubts)


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
