"""Recall where the question names an author: what the conversation around a message adds, and that it adds it only there."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.conftest import Clock, TestDatabase

from everlore.api.workspace import Workspace
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.store import recall as store

NOW = datetime(2025, 6, 14, 12, tzinfo=UTC)


@pytest.fixture
async def workspace(lore: Everlore) -> Workspace:
    return await lore.workspace("alice", create=True)


def said(text: str, minute: float, author: str | None = None, **fields: Any) -> NewMessage:
    return NewMessage(
        role="user",
        author=author,
        text=text,
        at=NOW - timedelta(days=3) + timedelta(minutes=minute),
        **fields,
    )


async def scores(workspace: Workspace, question: str) -> dict[str, float]:
    return {hit.text: hit.score for hit in (await workspace.recall(question, limit=30)).hits}


async def test_the_answer_to_anothers_question_takes_from_its_score(
    lore: Everlore, workspace: Workspace, database: TestDatabase, clock: Clock, fake: FakeEmbedder
) -> None:
    await workspace.record(
        [
            said("What did you do with the boat?", 1, author="Emma"),
            said("Sold it to a fisherman.", 2, author="Maya"),
            *(said(f"Fog and rain, hour {hour}.", 300 * hour, author="Maya") for hour in range(1, 9)),
            said("Sold the car to a fisherman.", 3000, author="Maya"),
        ]
    )
    await lore.catch_up()
    question = "What did Maya do with the boat?"
    found = await scores(workspace, question)
    settings = database.settings(recall={"named_answer": 0})
    async with Everlore.open(settings, worker=False, clock=clock, embedders={"fake": fake}) as other:
        alone = await scores(await other.workspace("alice"), question)
    gained = {text: found[text] - alone[text] for text in found}
    assert max(gained, key=lambda text: gained[text]) == "Sold it to a fisherman."
    assert found["Sold it to a fisherman."] > found["Sold the car to a fisherman."]


async def test_without_a_name_the_conversation_around_a_message_changes_nothing(
    lore: Everlore, workspace: Workspace, database: TestDatabase, clock: Clock, fake: FakeEmbedder
) -> None:
    """Who is known by role alone has no name, whatever the question says."""
    turns = [("user", "Which boat is best?"), ("assistant", "The red one."), ("user", "Do users like boats?")]
    await workspace.record([{"role": role, "text": text} for role, text in turns])
    await lore.catch_up()
    question = "Which boat does User or the Assistant like?"
    plain = await scores(workspace, question)
    changed = {f"named_{part}": 5 for part in ("late_interaction", "answer", "asking", "session")}
    settings = database.settings(recall={"author": 5, **changed})
    async with Everlore.open(settings, worker=False, clock=clock, embedders={"fake": fake}) as other:
        assert await scores(await other.workspace("alice"), question) == plain


async def test_a_message_that_ends_with_a_question_is_known_behind_captions_and_signs(
    lore: Everlore, workspace: Workspace
) -> None:
    asking = ["What is it?", "Qué es? \U0001f60a", "何ですか？", "Is it?)"]
    telling = ["It is it.", "Is it? No.", "http://a.example/?b=c"]
    await workspace.record(
        [
            *(said(text, place) for place, text in enumerate((*asking, *telling))),
            said("Look, who is it?", 8, captions=("a boat", "fog [at dawn]")),
            said("Look.", 9, author="Who?", captions=("who is it?",)),
        ]
    )
    async with lore.runtime.database.workspace(workspace.workspace_id, read_only=True) as tx:
        found = await store.around(tx, list(range(1, 10)), 0, None)
    assert found.asks.tolist() == [True] * 4 + [False] * 3 + [True, False]


async def test_another_name_of_an_author_names_him_without_a_round_trip(
    lore: Everlore, workspace: Workspace, round_trips: list[str]
) -> None:
    texts = ("I sold the boat.", "The boat has a new sail.", "Fog again.")
    await workspace.record(
        [
            said(text, 10 * place, author=author)
            for place, (text, author) in enumerate((t, a) for t in texts for a in ("Alistair Cairns", "Maya"))
        ]
    )
    await workspace.remember("Alistair Cairns lives in Porto.", entities=["Alistair Cairns"])
    await lore.catch_up()
    question = "Has Al sold the boat?"

    async def speakers(question: str = question) -> list[str]:
        round_trips.clear()
        return [hit.support.speaker for hit in (await workspace.recall(question)).hits]

    assert set(await speakers()) == {"unknown"}
    await workspace.graph.add_alias("Alistair Cairns", "Al")
    assert set(await speakers("Has Alistair Cairns sold the boat?")) == {"asked about", "another"}
    of_his_name = len(round_trips)
    assert set(await speakers()) == {"asked about", "another"}
    assert len(round_trips) == of_his_name
    best = (await workspace.recall(question)).hits[0]
    assert (best.citation.author, best.support.speaker) == ("Alistair Cairns", "asked about")
