"""Plan: whose words, which time, whom the question names."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlore.recall.plan import plan
from everlore.text.folding import fold
from everlore.text.words import tokens

NOW = datetime(2025, 6, 14, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "prefers"),
    [
        ("What did I say about the boat?", "user"),
        ("my favourite tea", "user"),
        ("Where did we stay?", "user"),
        ("Was habe ich über Lissabon gesagt?", "user"),
        ("What did you recommend for the boiler?", "assistant"),
        ("your advice about my boiler", "assistant"),
        ("Where does Emma live?", None),
        ("The IT department", None),
        ("Mine shafts in Wales", None),
    ],
)
def test_whose_words_a_question_is_about(question: str, prefers: str | None) -> None:
    assert plan(question, NOW).prefers == prefers


@pytest.mark.parametrize(
    ("question", "about_present"),
    [
        ("Where does Emma live now?", True),
        ("Is she still in Lisbon?", True),
        ("What is her CURRENT job?", True),
        ("Where did Emma live?", False),
        ("Do you know her?", False),
    ],
)
def test_questions_about_the_present(question: str, about_present: bool) -> None:
    assert plan(question, NOW).about_present is about_present


@pytest.mark.parametrize(
    ("question", "about_past"),
    [
        ("Where did Emma use to live?", True),
        ("Where did Emma live?", True),
        ("Where has Emma lived?", True),
        ("Where has Emma's sister Lena worked?", True),
        ("Who has worked at Acme?", True),
        ("Where was Emma living?", True),
        ("where were they staying", True),
        ("Who was Emma married to?", True),
        ("Has Emma ever lived in Porto?", True),
        ("Hasn't she ever been to Lisbon?", True),
        ("Which cities has Emma lived in over time?", True),
        ("¿Dónde ha vivido Emma?", True),
        ("¿Dónde vivía Emma?", True),
        ("¿Ha tenido Emma alguna vez un perro?", True),
        ("Where does Emma live?", False),
        ("Has Emma got a dog?", False),
        ("How has Emma been?", False),
        ("What has Emma said about the boat?", False),
        ("How long has Emma lived in Lisbon?", False),
        ("Where has Emma worked lately?", False),
        ("¿Desde cuándo ha vivido Emma en Lisboa?", False),
        ("What does Emma use to paint?", False),
        ("What was the meeting about?", False),
        ("Is this the best boat ever?", False),
        # The date counts.
        ("Where was Emma living in January 2025?", False),
    ],
)
def test_questions_about_the_past(question: str, about_past: bool) -> None:
    assert plan(question, NOW).about_past is about_past


def test_times_are_relative_to_now() -> None:
    (span,) = plan("What happened two weeks ago?", NOW).times
    assert span.start is not None
    assert span.end is not None
    assert span.start <= NOW - timedelta(days=14) < span.end
    assert plan("What about the boat?", NOW).times == ()


@given(
    st.text(),
    st.datetimes(
        timezones=st.sampled_from([UTC, timezone(timedelta(hours=14)), timezone(-timedelta(hours=12))])
    ),
)
def test_any_text_at_any_moment_has_a_plan(question: str, now: datetime) -> None:
    assert plan(question, now).question == question


TIMES = """next last this ago in on since until before after yesterday tomorrow today week weeks month year years day
weekend monday spring winter january dec 1 3 31 99 2024 9999 0 300000 two couple of the end beginning decade century
quarter night morning hour minutes 12/31/2024 2024-02-30 1st noon eve christmas"""
ENDS = (NOW, datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))


@given(
    st.lists(st.sampled_from(TIMES.split()), max_size=6).map(" ".join),
    st.sampled_from(ENDS) | st.datetimes(timezones=st.just(UTC)),
)
def test_any_words_about_time_at_any_moment_have_a_plan(question: str, now: datetime) -> None:
    for span in plan(question, now).times:
        assert span.start is not None or span.end is not None
        assert span.start is None or span.end is None or span.start < span.end


def test_words_carry_their_places_and_a_form_without_accents() -> None:
    assert tokens("Élan, vital_2!") == [(0, 4, "elan"), (6, 11, "vital"), (12, 13, "2")]
    assert fold("ÅNGSTRÖM Straße") == "angstrom strasse"
