"""Structured questions: what is one, and how it is read. English and Spanish; everything else is left alone."""

from datetime import UTC, datetime

import pytest

from everlore.recall.structured_questions import Limits, Structured, limits, read_structured, reading
from everlore.text.dates import read_times

NOW = datetime(2025, 6, 14, 12, tzinfo=UTC)
FEBRUARY, MARCH = datetime(2025, 2, 1, tzinfo=UTC), datetime(2025, 3, 1, tzinfo=UTC)


def read(question: str) -> Structured | None:
    return read_structured(question, read_times(question, NOW))


@pytest.mark.parametrize(
    ("question", "types", "status", "about"),
    [
        ("tasks left open in February", ("task",), "open", ()),
        ("Which tasks are still open?", ("task",), "open", ()),
        ("What tasks did we finish in May?", ("task",), None, ("finish",)),
        ("completed tasks", ("task",), "done", ()),
        ("Show me the expired reminders", ("reminder",), "expired", ()),
        ("decisions about authentication", ("decision",), None, ("authentication",)),
        ("What did we decide about the database?", ("decision",), None, ("database",)),
        ("What does she prefer?", ("preference",), None, ()),
        ("what does Emma prefer for breakfast", ("preference",), None, ("emma", "breakfast")),
        ("my goals", ("goal",), None, ()),
        ("What is our latest decision on pricing?", ("decision",), None, ("latest", "pricing")),
        ("any blockers?", ("blocker",), None, ()),
        ("What lessons did we learn from the launch?", ("lesson",), None, ("launch",)),
        ("goals and decisions of Emma", ("goal", "decision"), None, ("emma",)),
        ("tareas pendientes", ("task",), "open", ()),
        (
            "¿Qué decisiones tomamos sobre la autenticación?",
            ("decision",),
            None,
            ("tomamos", "autenticacion"),
        ),
        ("¿Qué prefiere ella?", ("preference",), None, ()),
        ("¿Qué decidimos sobre los precios?", ("decision",), None, ("precios",)),
        ("mis objetivos", ("goal",), None, ()),
        ("tareas hechas", ("task",), "done", ()),
        ("What do I have to do?", ("task",), "open", ()),
        # Nobody needs to know what a kind of memory is called.
        ("What's still open?", ("task",), "open", ()),
        ("What should I do about the roof?", ("task",), "open", ("roof",)),
        ("Is there anything left to do?", ("task",), "open", ()),
        ("my errands", ("task",), None, ()),
        ("What does Emma like?", ("preference",), None, ("emma",)),
        ("¿Qué le gusta a Emma?", ("preference",), None, ("emma",)),
        ("What have we agreed on about pricing?", ("decision",), None, ("pricing",)),
        ("What is she working towards?", ("goal",), None, ()),
        ("What is in our way?", ("blocker",), None, ()),
    ],
)
def test_structured_questions(
    question: str, types: tuple[str, ...], status: str | None, about: tuple[str, ...]
) -> None:
    found = read(question)
    assert found is not None
    assert (found.types, found.status, found.about) == (types, status, about)


@pytest.mark.parametrize(
    "question",
    [
        "Where does Emma live now?",
        "What did Henrike study?",
        "When did Oskar go sailing in May with his goals in mind?",
        "Who is the project manager?",
        "What is a good decision procedure?",
        "Is the task force meeting tomorrow?",
        "What does Emma like to paint in the harbour?",
        "What is left of the cake?",
        "What was Emma like as a child?",
        "¿Dónde vive Emma?",
        "",
        "???",
    ],
)
def test_other_questions_are_left_alone(question: str) -> None:
    assert read(question) is None


def test_names_and_pronouns() -> None:
    found = read("What does Anna Berg's sister prefer?")
    assert found is not None
    assert {"Anna", "Anna Berg", "Anna Berg's sister"} <= set(found.names)
    assert not found.pronoun
    found = read("What does she prefer?")
    assert found is not None
    assert found.pronoun
    assert found.names == ()


def bounds(question: str, *, past: bool = False, include_expired: bool = False) -> Limits:
    found = read(question)
    assert found is not None
    return limits(found, NOW, past=past, include_expired=include_expired)


def test_what_times_mean() -> None:
    # Left open in a month: said before its end, not done by then, and not out of view when it began.
    assert bounds("tasks left open in February") == Limits(
        said_before=MARCH, open_at=MARCH, in_view_at=FEBRUARY
    )
    assert bounds("open tasks") == Limits(open_at=NOW, in_view_at=NOW)
    assert bounds("open tasks", include_expired=True) == Limits(open_at=NOW)
    assert bounds("tasks done in February") == Limits(done_by=MARCH, done_since=FEBRUARY)
    assert bounds("expired reminders") == Limits(expired_by=NOW)
    # What happens, happens in the month; what lasts, lasted at some moment of it.
    assert bounds("decisions in February") == Limits(since=FEBRUARY, until=MARCH)
    assert bounds("my preferences in February") == Limits(said_before=MARCH, open_at=FEBRUARY)
    assert bounds("my preferences", past=True) == Limits(said_before=NOW)


def test_the_reading_in_words() -> None:
    found = read("tasks left open in February about the garden")
    assert found is not None
    said = reading(found, ["Emma"], found.about)
    assert said.text == "open task of Emma about garden (February)"
    assert (said.since, said.until) == (FEBRUARY, MARCH)
