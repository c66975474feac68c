"""Feedback: what people say of an answer's sources counts for that question and those like it, and goes with the source."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from tests.conftest import Clock, TestDatabase
from tests.steps.conftest import Rows

from everlore.api.workspace import Workspace
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.recall import Hit
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder

NOW = datetime(2025, 6, 14, 12, tzinfo=UTC)
# All of them are near to the question, and none says its words better than another.
BOATS = [f"The boat of the harbour was painted {colour} that day." for colour in ("red", "blue", "green")]
ASKED = "What colour has the boat in the harbour?"
CONFIRMED, REFUSED = "confirmed for a question like this", "refused for a question like this"


@pytest.fixture
async def workspace(lore: Everlore) -> Workspace:
    workspace = await lore.workspace("alice", create=True)
    texts = [*BOATS, "Bea bakes bread in the morning.", "The ferry leaves at nine."]
    await workspace.record([{"role": "user", "text": text, "at": NOW} for text in texts])
    await lore.catch_up()
    return workspace


async def hits(workspace: Workspace, question: str) -> dict[str, Hit]:
    return {hit.text: hit for hit in (await workspace.recall(question, now=NOW)).hits}


async def ids(workspace: Workspace, texts: Sequence[str]) -> list[UUID]:
    of = {message.text: message.message_id for message in await workspace.messages()}
    return [of[text] for text in texts]


async def test_what_was_confirmed_comes_first_and_what_was_refused_last(workspace: Workspace) -> None:
    before = list(await hits(workspace, ASKED))[:3]
    assert set(before) == set(BOATS)
    first, second, third = await ids(workspace, before)
    given = await workspace.feedback(ASKED, confirmed=[str(third)[-8:]], refused=[first])
    assert (given.confirmed, given.refused) == ((third,), (first,))
    found = await hits(workspace, ASKED)
    assert list(found)[:3] == [before[2], before[1], before[0]]
    assert CONFIRMED in found[before[2]].support.reasons
    assert REFUSED in found[before[0]].support.reasons
    assert not {CONFIRMED, REFUSED} & {*found[before[1]].support.reasons}
    assert found[before[2]].confidence > found[before[1]].confidence > found[before[0]].confidence
    assert second


async def test_it_counts_for_like_questions_and_for_no_others(workspace: Workspace) -> None:
    last = list(await hits(workspace, ASKED))[2]
    others = ["Which boat was painted?", "Who bakes bread in the harbour?", "When does the ferry leave?"]
    unlike = [await hits(workspace, question) for question in others]
    await workspace.feedback(ASKED, confirmed=await ids(workspace, [last]))
    for question in ("the harbour boat's colour", "which COLOUR had the boats in harbours?"):
        found = await hits(workspace, question)
        assert next(iter(found)) == last, question
        assert CONFIRMED in found[last].support.reasons
    assert [await hits(workspace, question) for question in others] == unlike


async def test_what_has_nothing_to_do_with_the_question_is_not_brought_by_it(workspace: Workspace) -> None:
    bread = "Bea bakes bread in the morning."
    await workspace.feedback(ASKED, confirmed=await ids(workspace, [bread]))
    assert list(await hits(workspace, ASKED))[:3] != []
    assert bread not in list(await hits(workspace, ASKED))[:3]


async def test_the_last_word_counts(workspace: Workspace, rows: Rows) -> None:
    text = next(iter(await hits(workspace, ASKED)))
    (source,) = await ids(workspace, [text])
    await workspace.feedback(ASKED, confirmed=[source])
    await workspace.feedback(ASKED, refused=[source, str(source), str(source)[-8:]])
    found = await hits(workspace, ASKED)
    assert REFUSED in found[text].support.reasons
    assert CONFIRMED not in found[text].support.reasons
    assert await rows("select count(*), bool_or(confirmed) from everlore.feedback") == [(1, False)]


async def test_a_memory_is_confirmed_and_refused_in_all_its_versions(
    lore: Everlore, workspace: Workspace
) -> None:
    told = ["The harbour boat is called Nixe.", "The harbour boat is called Undine."]
    memories = {text: await workspace.remember(text, at=NOW) for text in told}
    await lore.catch_up()
    question = "What is the harbour boat called?"

    async def known() -> dict[str, tuple[float, Sequence[str]]]:
        answer = await workspace.recall(question, now=NOW, kinds=["memory"])
        return {
            hit.memory.content: (hit.why.get("feedback", 0.0), hit.support.reasons) for hit in answer.memories
        }

    before = list(await known())
    assert set(before) == set(told)
    refused, confirmed = (memories[text] for text in before)
    await workspace.correct(confirmed.memory_id, content=confirmed.content, importance=confirmed.importance)
    newest = (await workspace.history(confirmed.memory_id))[-1]
    given = await workspace.feedback(question, confirmed=[newest.memory_id], refused=[refused.memory_id])
    assert given.confirmed == (confirmed.lineage_id,)
    after = await known()
    assert list(after) == before[::-1]
    assert after[confirmed.content][0] > 0 > after[refused.content][0]
    assert CONFIRMED in after[confirmed.content][1]
    assert REFUSED in after[refused.content][1]


async def test_nothing_of_the_question_is_kept_and_marks_go_with_their_source(
    workspace: Workspace, rows: Rows
) -> None:
    memory = await workspace.remember("The harbour boat is called Nixe.")
    first, second = await ids(workspace, BOATS[:2])
    await workspace.feedback(ASKED, confirmed=[first, memory.memory_id], refused=[second])
    kept = await rows("select f::text from everlore.feedback f")
    assert len(kept) == 3
    assert not any(word in str(kept) for word in ("colour", "boat", "harbour", "harbor"))
    assert max(await rows("select max(t) from everlore.feedback, unnest(terms) as t"))[0] < 2**16
    await workspace.delete(str(first))
    await workspace.erase(memory.memory_id)
    assert await rows("select message_id from everlore.feedback") == [(second,)]


async def test_it_costs_no_round_trip(workspace: Workspace, round_trips: list[str]) -> None:
    await workspace.recall(ASKED)
    round_trips.clear()
    await workspace.recall(ASKED)
    before = len(round_trips)
    await workspace.feedback(ASKED, confirmed=await ids(workspace, BOATS[:1]))
    round_trips.clear()
    await workspace.recall(ASKED)
    assert len(round_trips) == before
    assert sum("feedback_alike" in statement for statement in round_trips) == 1


async def test_a_weight_of_zero_switches_it_off(
    lore: Everlore, workspace: Workspace, database: TestDatabase, clock: Clock, fake: FakeEmbedder
) -> None:
    before = await hits(workspace, ASKED)
    await workspace.feedback(ASKED, refused=await ids(workspace, [next(iter(before))]))
    settings = database.settings(recall={"feedback": 0})
    async with Everlore.open(settings, worker=False, clock=clock, embedders={"fake": fake}) as other:
        after = await hits(await other.workspace("alice"), ASKED)
    assert {text: hit.score for text, hit in after.items()} == {
        text: hit.score for text, hit in before.items()
    }


@pytest.mark.parametrize(
    ("question", "confirmed", "refused", "field"),
    [
        (ASKED, [], [], "confirmed"),
        (ASKED, [0], [0], "refused"),
        ("What did you do?", [0], [], "query"),
        ("  ", [0], [], "query"),
        (ASKED, ["abc"], [], "id"),
        (ASKED, [0] * 101, [], "confirmed"),
    ],
    ids=["nothing", "both", "no term", "empty", "no id", "too many"],
)
async def test_bad_input_names_its_field_and_keeps_nothing(
    workspace: Workspace,
    rows: Rows,
    question: str,
    confirmed: list[int | str],
    refused: list[int | str],
    field: str,
) -> None:
    (source,) = await ids(workspace, BOATS[:1])
    yes, no = ([source if one == 0 else str(one) for one in given] for given in (confirmed, refused))
    with pytest.raises(InvalidInput) as caught:
        await workspace.feedback(question, confirmed=yes, refused=no)
    assert caught.value.field == field
    assert await rows("select count(*) from everlore.feedback") == [(0,)]


async def test_unknown_sources_are_named(workspace: Workspace) -> None:
    unknown = uuid4()
    with pytest.raises(NotFound, match=str(unknown)):
        await workspace.feedback(ASKED, confirmed=[unknown])
    with pytest.raises(NotFound, match="ends with ffffffff"):
        await workspace.feedback(ASKED, confirmed=["ffffffff"])
