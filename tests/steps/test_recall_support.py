"""Recall: what is no answer, how much speaks for what is one, and what is said where nothing does."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.conftest import Clock, TestDatabase

from everlore.api.workspace import Workspace
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder

NOW = datetime(2025, 6, 14, 12, tzinfo=UTC)


@pytest.fixture
async def workspace(lore: Everlore) -> Workspace:
    return await lore.workspace("alice", create=True)


def said(text: str, days_ago: float = 0, role: Any = "user", **fields: Any) -> NewMessage:
    return NewMessage(role=role, text=text, at=NOW - timedelta(days=days_ago), **fields)


async def texts(workspace: Workspace, question: str, **options: Any) -> list[str]:
    return [hit.text for hit in (await workspace.recall(question, **options)).hits]


ASKED = [
    "When is Bea's birthday?",
    "And when is Bea's birthday again?",
    "\u00bfWhen is Bea's birthday?! \U0001f914",
]
TOLD = "Bea's birthday is on the 29th of May."


async def birthdays(lore: Everlore, workspace: Workspace) -> None:
    await workspace.record([said(f"We sailed to harbour {n}.", 90 - n) for n in range(20)])
    await workspace.record(
        [*(said(text, 60 - 5 * n) for n, text in enumerate(ASKED)), said(TOLD, 40), said(ASKED[0], 1)]
    )
    await lore.catch_up()


async def test_what_asks_the_same_goes_behind_what_answers(lore: Everlore, workspace: Workspace) -> None:
    await birthdays(lore, workspace)
    for question in (ASKED[0], "Bea's birthday?", "when is Bea's birthday"):
        assert (await texts(workspace, question))[0] == TOLD, question
    hits = (await workspace.recall(ASKED[0])).hits
    asking = next(hit for hit in hits if hit.text == ASKED[0])
    assert "asks the same" in asking.support.reasons
    assert asking.confidence < hits[0].confidence


async def test_who_asks_what_was_asked_finds_questions(lore: Everlore, workspace: Workspace) -> None:
    await birthdays(lore, workspace)
    found = await texts(workspace, "How often was asked when Bea's birthday is?", limit=3)
    assert set(found) <= set(ASKED)


async def test_what_says_more_than_the_question_is_no_question_alone(
    lore: Everlore, workspace: Workspace
) -> None:
    more = "Bea's birthday is on the 29th of May, and we all go sailing. Did I not say when it is?"
    await workspace.record([said(more), said("Fog.")])
    await lore.catch_up()
    hit = (await workspace.recall("When is Bea's birthday?")).hits[0]
    assert hit.text == more
    assert "asks the same" not in hit.support.reasons


async def test_an_answer_is_graded_with_reasons(lore: Everlore, workspace: Workspace) -> None:
    await birthdays(lore, workspace)
    best, *_, last = (await workspace.recall("What day of May is the birthday of Bea?", limit=20)).hits
    assert best.text == TOLD
    assert (best.support.grade, last.support.grade) == ("strong", "weak")
    assert best.confidence > last.confidence
    assert best.support.reasons[0] == "says birthday, bea, may" or set(best.support.covered) >= {
        "birthday",
        "bea",
    }


async def test_where_nothing_speaks_for_an_answer_there_is_none(
    lore: Everlore, workspace: Workspace, database: TestDatabase, clock: Clock, fake: FakeEmbedder
) -> None:
    await birthdays(lore, workspace)
    question = "Which submarine sank near Vladivostok in that terrible winter storm?"
    found = await workspace.recall(question)
    assert found.hits == ()
    assert found.unsupported == 10
    settings = database.settings(recall={"floor": 0})
    async with Everlore.open(settings, worker=False, clock=clock, embedders={"fake": fake}) as other:
        all_of_them = await (await other.workspace("alice")).recall(question)
    assert len(all_of_them.hits) == 10
    assert all_of_them.unsupported == 0
    assert {hit.support.grade for hit in all_of_them.hits} == {"weak"}


async def test_what_lies_in_the_time_asked_about_is_supported_by_it(
    lore: Everlore, workspace: Workspace
) -> None:
    await workspace.record([said("We went for a walk.", 14), said("Nothing to do.", 3)])
    await lore.catch_up()
    hits = (await workspace.recall("What about two weeks ago?", now=NOW)).hits
    assert hits[0].text == "We went for a walk."
    assert "is of the time asked about" in hits[0].support.reasons


async def test_hits_off_the_record_are_marked(lore: Everlore, workspace: Workspace) -> None:
    await workspace.record([said("The boat is mine."), said("The boat leaks.", off_the_record=True)])
    await lore.catch_up()
    hits = (await workspace.recall("boat")).hits
    assert {hit.text: hit.off_the_record for hit in hits} == {
        "The boat is mine.": False,
        "The boat leaks.": True,
    }
