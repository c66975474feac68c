"""Messages form a tree: what is edited, answered otherwise or branched off leaves the path and stays stored."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest
from tests.steps.conftest import Rows

from everlore.api.workspace import Workspace
from everlore.distil.reading import distil_thread
from everlore.distil.step import STEP
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.step import Lagging


@pytest.fixture
async def workspace(lore: Everlore) -> Workspace:
    return await lore.workspace("alice", create=True)


def said(text: str, role: Any = "user", **fields: Any) -> NewMessage:
    return NewMessage(role=role, text=text, **fields)


async def told(workspace: Workspace, *texts: str) -> list[UUID]:
    """Turns of a user and an assistant, in turn."""
    roles = ("user", "assistant")
    receipt = await workspace.record([said(text, roles[n % 2]) for n, text in enumerate(texts)])
    return [one.message_id or uuid4() for one in receipt.outcomes]


async def path(workspace: Workspace, *, branches: bool = False) -> list[str]:
    return [one.text for one in await workspace.messages(branches=branches)]


async def test_a_message_follows_the_one_before_it(workspace: Workspace) -> None:
    first, second = await told(workspace, "one", "two")
    (third,) = await told(workspace, "three")
    shown = [await workspace.show(one) for one in (first, second, third)]
    assert [one.parent_id for one in shown] == [None, first, second]
    assert all(one.on_path for one in shown)


async def test_a_revision_takes_the_place_of_what_it_revises(workspace: Workspace) -> None:
    ids = await told(workspace, "I live in Porto.", "Nice!", "It rains.")
    new = await workspace.revise(ids[0], "I live in Faro.")
    assert (new.revision_of, new.parent_id, new.role) == (ids[0], None, "user")
    assert await path(workspace) == ["I live in Faro."]
    assert await path(workspace, branches=True) == [
        "I live in Porto.",
        "Nice!",
        "It rains.",
        "I live in Faro.",
    ]
    (thread,) = await workspace.threads()
    assert (thread.messages, thread.off_path) == (1, 3)


async def test_another_answer_stands_beside_the_first(workspace: Workspace) -> None:
    ids = await told(workspace, "Where should I go?", "To Rome.")
    other = await workspace.regenerate(ids[1], "To Oslo.", finish="aborted")
    assert (other.parent_id, other.revision_of, other.finish) == (ids[0], None, "aborted")
    assert await path(workspace) == ["Where should I go?", "To Oslo."]
    with pytest.raises(InvalidInput, match="only answers"):
        await workspace.regenerate(ids[0], "no")


async def test_a_switch_brings_a_branch_back(workspace: Workspace) -> None:
    ids = await told(workspace, "Where?", "To Rome.", "When?", "In May.")
    await workspace.regenerate(ids[1], "To Oslo.")
    there = await workspace.switch("main", ids[3])
    assert (there.tip, there.messages, there.off_path) == (ids[3], 4, 1)
    assert await path(workspace) == ["Where?", "To Rome.", "When?", "In May."]
    assert (await workspace.switch("main", ids[1])).messages == 2
    assert await path(workspace) == ["Where?", "To Rome."]
    await told(workspace, "And how?")
    assert await path(workspace) == ["Where?", "To Rome.", "And how?"]
    with pytest.raises(InvalidInput, match="message"):
        await workspace.switch("main", uuid4())
    with pytest.raises(NotFound):
        await workspace.switch("nowhere", ids[1])


async def test_what_follows_a_given_message_branches_off_there(workspace: Workspace) -> None:
    ids = await told(workspace, "Where?", "To Rome.", "When?")
    await workspace.record([said("How far?"), said("Far.", "assistant")], parent=ids[1])
    assert await path(workspace) == ["Where?", "To Rome.", "How far?", "Far."]
    await workspace.record([said("elsewhere")], thread="other")
    with pytest.raises(InvalidInput, match="parent"):
        await workspace.record([said("x")], thread="other", parent=ids[1])


async def test_another_content_under_an_external_id_revises_if_that_is_asked_for(
    workspace: Workspace, rows: Rows
) -> None:
    await workspace.record([said("I live in Porto.", external_id="a"), said("ok", external_id="b")])
    refused = await workspace.record([said("I live in Faro.", external_id="a")])
    assert refused.outcomes[0].status == "refused"
    receipt = await workspace.record([said("I live in Faro.", external_id="a"), said("new")], revise=True)
    assert [one.status for one in receipt.outcomes] == ["stored", "stored"]
    assert await path(workspace) == ["I live in Faro.", "new"]
    again = await workspace.record([said("I live in Faro.", external_id="a")])
    assert again.outcomes[0].status == "already there"
    assert await rows("select count(*) from everlore.message where external_id = 'a'") == [(2,)]


async def test_what_was_recorded_behind_a_message_may_be_recorded_again(workspace: Workspace) -> None:
    (first,) = await told(workspace, "one")
    two, three = said("two", external_id="2"), said("three", external_id="3")
    for given in ([two], [two], [two, three], [two, three]):
        await workspace.record(given, parent=first)
    await workspace.record([said("four")])
    await workspace.record([two], parent=first)
    assert await path(workspace) == ["one", "two", "three", "four"]


async def test_several_revisions_in_one_call_follow_each_other(workspace: Workspace) -> None:
    await workspace.record([said("one", external_id="1"), said("two", external_id="2")])
    receipt = await workspace.record(
        [said("the second", external_id="2"), said("the first", external_id="1")], revise=True
    )
    assert receipt.stored == 2
    assert await path(workspace) == ["the first", "the second"]


async def test_a_conversation_recorded_again_with_an_edit_keeps_what_follows_it(workspace: Workspace) -> None:
    given = [said(f"turn {n}", external_id=f"e{n}") for n in range(5)]
    await workspace.record(given, revise=True)
    given[1], given[3] = said("one, edited", external_id="e1"), said("three, edited", external_id="e3")
    first = await workspace.record(given, revise=True)
    assert [one.status for one in first.outcomes] == ["already there", "stored", "stored", "stored", "stored"]
    again = await workspace.record([*given, said("turn 5", external_id="e5")], revise=True)
    assert [one.status for one in again.outcomes] == ["already there"] * 5 + ["stored"]
    assert await path(workspace) == ["turn 0", "one, edited", "turn 2", "three, edited", "turn 4", "turn 5"]


async def test_a_rebuilt_index_finds_branches(lore: Everlore, workspace: Workspace) -> None:
    ids = await told(workspace, "The kraken ate the lighthouse.", "Oh dear.")
    await workspace.revise(ids[0], "The walrus slept.")
    await lore.catch_up()
    await lore.rebuild_index()
    found = await workspace.recall("kraken lighthouse", branches=True)
    assert [one.citation.message_id for one in found.branches][:1] == [ids[0]]


async def test_what_is_off_the_path_is_found_only_by_who_asks_for_it(
    lore: Everlore, workspace: Workspace
) -> None:
    ids = await told(workspace, "The kraken ate the lighthouse.", "Oh dear.", "Then it slept.")
    await lore.catch_up()
    await workspace.revise(ids[0], "The walrus ate the lighthouse.")
    for _ in range(2):  # before the new one is indexed, and after
        assert not (await workspace.recall("What happened to the lighthouse?")).branches
        found = await workspace.recall("What happened to the lighthouse?", branches=True, neighbours=3)
        assert [hit.text for hit in found.hits] == ["The walrus ate the lighthouse."]
        assert not any(hit.neighbours for hit in found.hits)
        assert "The kraken ate the lighthouse." in [hit.text for hit in found.branches]
        assert not (await workspace.recall("lighthouse", branches=True, author="nobody")).branches
        await lore.catch_up()
    await workspace.switch("main", ids[2])
    found = await workspace.recall("What happened to the lighthouse?", branches=True)
    assert found.hits[0].text == "The kraken ate the lighthouse."
    assert [hit.text for hit in found.branches] == ["The walrus ate the lighthouse."]


async def active(workspace: Workspace) -> tuple[list[str], list[str]]:
    memories = [memory.content for memory in await workspace.memories(limit=500)]
    facts = [f"{one.subject} {one.predicate} {one.object}" for one in await workspace.facts(limit=500)]
    return sorted(memories), sorted(facts)


async def test_what_rests_on_a_branch_alone_goes_and_comes_with_it(
    lore: Everlore, workspace: Workspace
) -> None:
    ids = await told(workspace, "I live in Porto.", "Nice!", "I like green tea.", "Good.")
    await lore.distil(workspace)
    await lore.catch_up()
    before = await active(workspace)
    assert any("Porto" in one for one in before[1])
    await workspace.revise(ids[0], "I live in Faro.")
    await lore.distil(workspace)
    await lore.catch_up()
    memories, facts = await active(workspace)
    assert not any("Porto" in one or "tea" in one for one in (*memories, *facts))
    assert any("Faro" in one for one in facts)
    await workspace.switch("main", ids[3])
    await lore.distil(workspace)
    await lore.catch_up()
    assert await active(workspace) == before


async def test_whom_only_a_branch_names_is_not_listed(lore: Everlore, workspace: Workspace) -> None:
    async def names() -> set[str]:
        await lore.distil(workspace)
        return {one.entity.name for one in await workspace.graph.entities()}

    (old,) = await told(workspace, "My sister Emma works as a nurse.")
    assert "Emma" in await names()
    await workspace.revise(old, "It rains in Porto.")
    assert "Emma" not in await names()
    await workspace.switch("main", old)
    assert "Emma" in await names()


async def test_a_name_that_only_a_branch_gave_goes_with_it(lore: Everlore, workspace: Workspace) -> None:
    async def names() -> set[str]:
        await lore.distil(workspace)
        return {alias.variant for one in await workspace.graph.entities() for alias in one.entity.aliases}

    await told(workspace, "My sister Emma lives in Porto.", "Nice.")
    (full,) = await told(workspace, "My sister Emma Thompson works as a nurse.")
    assert {"Emma", "Emma Thompson"} <= await names()
    await workspace.revise(full, "It rains in Porto.")
    left = await names()
    assert "Emma" in left
    assert "Emma Thompson" not in left
    assert {one.entity.name for one in await workspace.graph.entities()} >= {"Emma", "Porto"}
    await workspace.switch("main", full)
    assert {"Emma", "Emma Thompson"} <= await names()


async def test_an_answer_waits_until_it_is_settled(
    lore: Everlore, workspace: Workspace, clock: Any, rows: Rows
) -> None:
    async def lagging() -> int:
        async with lore.workers.database.outside() as tx:
            return len(await STEP.lags(tx, lore.workers, Lagging(10)))

    await told(workspace, *(f"I like tea number {n}." for n in range(10)))
    ((thread,),) = await rows("select thread_id from everlore.thread")
    await rows("delete from jobs.procrastinate_jobs")
    assert await lagging() == 0
    assert await distil_thread(lore.workers, workspace.workspace_id, thread) == 0
    await told(workspace, "And on it goes.")
    await rows("delete from jobs.procrastinate_jobs")
    assert await lagging() == 1
    assert await distil_thread(lore.workers, workspace.workspace_id, thread) == 1
    await told(workspace, *(f"I like tea number {n}." for n in range(11, 20)))
    await rows("delete from jobs.procrastinate_jobs")
    assert await lagging() == 0
    clock.advance(minutes=6)
    assert await lagging() == 1
    assert await distil_thread(lore.workers, workspace.workspace_id, thread) == 1


async def test_erasing_links_what_follows_to_what_stays(workspace: Workspace, rows: Rows) -> None:
    ids = await told(workspace, "one", "two", "three", "four")
    other = await workspace.regenerate(ids[3], "other")
    await workspace.delete(ids[1])
    assert (await workspace.show(ids[2])).parent_id == ids[0]
    await workspace.delete(ids[2])
    assert (await workspace.show(ids[3])).parent_id == ids[0]
    assert (await workspace.show(other.message_id)).parent_id == ids[0]
    await workspace.delete(other.message_id)
    await told(workspace, "five")
    assert await path(workspace) == ["one", "five"]
    assert await rows("select messages, off_path from everlore.thread") == [(3, 1)]


# ---- histories that are sent whole


def turns(*texts: str) -> list[dict[str, Any]]:
    return [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)]


async def statuses(workspace: Workspace, history: Sequence[Any]) -> list[str]:
    return [one.status for one in (await workspace.reconcile(history)).turns]


async def test_a_history_that_grows_is_stored_once(workspace: Workspace) -> None:
    history = turns("Hello", "Hi!", "Where is Faro?", "In Portugal.")
    for length in range(1, 5):
        assert await statuses(workspace, history[:length]) == ["known"] * (length - 1) + ["stored"]
    assert await statuses(workspace, history) == ["known"] * 4
    assert await path(workspace) == ["Hello", "Hi!", "Where is Faro?", "In Portugal."]


async def test_an_edit_begins_a_branch(workspace: Workspace) -> None:
    first = await workspace.reconcile(turns("Hello", "Hi!", "Where is Faro?", "In Portugal."))
    assert await statuses(workspace, turns("Hello", "Hi!", "Where is Rome?")) == ["known"] * 2 + ["stored"]
    assert await path(workspace) == ["Hello", "Hi!", "Where is Rome?"]
    tip = (await workspace.messages())[-1]
    assert tip.revision_of == first.turns[2].message_id
    assert await statuses(workspace, turns("Hello", "Hi!", "Where is Faro?", "In Portugal.", "Thanks")) == [
        *["known"] * 4,
        "stored",
    ]
    assert await path(workspace) == ["Hello", "Hi!", "Where is Faro?", "In Portugal.", "Thanks"]


async def test_a_retry_is_one_turn_and_its_answers_are_siblings(workspace: Workspace) -> None:
    question = turns("Tell me a joke.")
    asked = (await workspace.reconcile(question)).turns[0].message_id
    await workspace.record([said("Knock, knock.", "assistant")], parent=asked)
    assert await statuses(workspace, question) == ["known"]
    assert await path(workspace) == ["Tell me a joke.", "Knock, knock."]
    await workspace.record([said("A horse walks into a bar.", "assistant")], parent=asked)
    assert await path(workspace) == ["Tell me a joke.", "A horse walks into a bar."]
    await workspace.reconcile(turns("Tell me a joke.", "Knock, knock.", "Who is there?"))
    assert await path(workspace) == ["Tell me a joke.", "Knock, knock.", "Who is there?"]
    assert len(await path(workspace, branches=True)) == 4


async def test_equal_turns_in_a_row_are_two(workspace: Workspace) -> None:
    await workspace.reconcile([{"role": "user", "content": "go on"}])
    twice = [{"role": "user", "content": "go on"}, {"role": "user", "content": "go on"}]
    assert await statuses(workspace, twice) == ["known", "stored"]
    assert await statuses(workspace, twice) == ["known", "known"]


async def test_a_beginning_that_is_missing_is_no_change(workspace: Workspace) -> None:
    whole = turns(*(f"turn {n}" for n in range(12)))
    await workspace.reconcile(whole)
    assert await statuses(workspace, [*whole[7:], *turns("new")]) == ["known"] * 5 + ["stored"]
    system = {"role": "system", "content": "It is Monday."}
    assert await statuses(workspace, [system, *whole[8:], *turns("new", "newer")]) == [
        "skipped",
        *["known"] * 5,
        "stored",
    ]
    assert await path(workspace) == [*(f"turn {n}" for n in range(12)), "new", "newer"]


async def test_a_summary_in_place_of_turns_is_no_turn(workspace: Workspace) -> None:
    whole = turns(*(f"turn {n}" for n in range(12)))
    await workspace.reconcile(whole)
    summary = {"role": "user", "content": "What was said before: they counted turns."}
    assert await statuses(workspace, [summary, *whole[9:], *turns("new")]) == [
        "skipped",
        *["known"] * 3,
        "stored",
    ]
    alone = {"role": "user", "content": "Summary of the conversation: they counted turns."}
    assert await statuses(workspace, [alone, {"role": "user", "content": "newer"}]) == ["skipped", "stored"]
    middle = [*whole[:2], alone, *whole[9:], *turns("new")]
    assert await statuses(workspace, middle) == [*["known"] * 2, "skipped", *["known"] * 4]
    assert await path(workspace) == [*(f"turn {n}" for n in range(12)), "new", "newer"]


async def test_an_edit_in_the_middle_that_keeps_the_rest_is_a_branch(workspace: Workspace) -> None:
    whole = turns(*(f"turn {n}" for n in range(6)))
    await workspace.reconcile(whole)
    edited = [*whole[:2], {"role": "user", "content": "changed"}, *whole[3:]]
    assert await statuses(workspace, edited) == ["known"] * 2 + ["stored"] * 4
    assert await path(workspace) == ["turn 0", "turn 1", "changed", "turn 3", "turn 4", "turn 5"]
    assert await statuses(workspace, edited) == ["known"] * 6


async def test_what_was_erased_does_not_come_back(workspace: Workspace, rows: Rows) -> None:
    whole = turns(*(f"turn {n}" for n in range(6)))
    ids = [one.message_id or uuid4() for one in (await workspace.reconcile(whole)).turns]
    await workspace.delete(ids[2])
    await workspace.delete(ids[5])
    assert await statuses(workspace, [*whole, *turns("new")]) == [
        "known", "known", "erased", "known", "known", "erased", "stored",
    ]  # fmt: skip
    assert await path(workspace) == ["turn 0", "turn 1", "turn 3", "turn 4", "new"]
    await workspace.delete_thread("main")
    assert await rows("select count(*) from everlore.erased_turn") == [(0,)]


async def test_what_was_erased_does_not_come_back_behind_an_edit(workspace: Workspace) -> None:
    history = turns("one", "two", "my pin is 1234", "noted", "more")
    await workspace.reconcile(history)
    (erased,) = [one for one in await workspace.messages() if one.text == "my pin is 1234"]
    await workspace.delete(erased.message_id)
    history[0] = {"role": "user", "content": "one, edited"}
    sent = await workspace.reconcile(history)
    assert [one.status for one in sent.turns] == ["stored", "stored", "erased", "stored", "stored"]
    assert await path(workspace) == ["one, edited", "two", "noted", "more"]


async def test_when_a_turn_was_said_and_how_it_ended_are_kept(workspace: Workspace) -> None:
    dated = {"role": "user", "content": "Hello", "at": "2020-05-04T12:00:00+00:00", "finish": "aborted"}
    undated = {"role": "user", "content": "Hi", "at": "yesterday", "finish": "stop"}
    await workspace.reconcile([dated, undated])
    first, second = await workspace.messages()
    assert (first.at.year, first.finish) == (2020, "aborted")
    assert (second.at, second.finish) == (second.recorded_at, "complete")


async def test_the_same_words_elsewhere_are_no_erased_turn(workspace: Workspace) -> None:
    history = turns("Hello", "hi", "ok", "Fine.", "More?", "sure")
    sent = await workspace.reconcile(history)
    await workspace.delete(sent.turns[2].message_id or uuid4())
    again = [*history, *turns("ok", "great, booked")]
    assert await statuses(workspace, again) == [
        *["known"] * 2, "erased", *["known"] * 3, *["stored"] * 2]  # fmt: skip
    # Its beginning is cut off, and the erased one is the first that is left.
    assert await statuses(workspace, [*again[2:], *turns("bye")]) == ["erased", *["known"] * 5, "stored"]


async def test_turns_are_the_same_however_they_are_spelled(workspace: Workspace) -> None:
    await workspace.reconcile(
        [
            {"role": "user", "content": "Find it. "},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "1",
                        "type": "function",
                        "function": {"name": "find", "arguments": '{"a": 1, "b": 2}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "1", "content": "found"},
            {"role": "assistant", "content": "<think>hm</think>Here it is."},
        ]
    )
    assert (
        await statuses(
            workspace,
            [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "Find it.", "cache_control": {"type": "ephemeral"}}],
                },
                {
                    "role": "assistant",
                    "tool_calls": [
                        {
                            "id": "9",
                            "type": "function",
                            "function": {"name": "find", "arguments": '{"b":2,"a":1}'},
                        }
                    ],
                },
                {"role": "tool", "tool_call_id": "9", "content": "found"},
                {"role": "assistant", "content": "Here it is.\n"},
            ],
        )
        == ["known"] * 4
    )


async def test_a_history_that_cannot_be_read_leaves_nothing_behind(workspace: Workspace) -> None:
    with pytest.raises(InvalidInput, match=r"history\[1\]\.role"):
        await workspace.reconcile([*turns("one"), {"content": "two"}])
    with pytest.raises(InvalidInput, match="is empty"):
        await workspace.reconcile([])
    with pytest.raises(InvalidInput, match="must be a list"):
        await workspace.reconcile(one for one in turns("one"))  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidInput, match="several messages with the external id 'x'"):
        await workspace.reconcile([{"role": "user", "text": text, "external_id": "x"} for text in "ab"])
    with pytest.raises(InvalidInput, match=r"history\[0\]\.content"):
        await workspace.reconcile([{"role": "user", "content": 7}])
    numbered = [{"role": "user", "text": text, "external_id": text} for text in ("one", "two")]
    await workspace.reconcile(numbered, thread="numbered")
    with pytest.raises(InvalidInput, match="'one' to a new turn"):
        await workspace.reconcile([*numbered, numbered[0] | {"text": "three"}], thread="numbered")
    edited = await workspace.reconcile([numbered[0] | {"text": "three"}], thread="numbered")
    assert [one.status for one in edited.turns] == ["stored"]
    deep: Any = "x"
    for _ in range(3000):
        deep = [deep]
    for entry, field in (
        ({"role": "user", "content": "x", "tool_calls": 5}, r"history\[0\]\.tool_calls"),
        ({"role": "user", "content": [{"type": "tool_use", "input": deep}]}, r"history\[0\]"),
        ({"role": "robot", "content": "x"}, r"history\[0\]\.role"),
        ({"role": "user", "content": "a\0b"}, r"history\[0\]\.content"),
    ):
        with pytest.raises(InvalidInput, match=field):
            await workspace.reconcile([entry])
    with pytest.raises(InvalidInput, match=r"history\[0\]"):
        await workspace.reconcile([{"role": "user", "content": [{"type": "image", 1: 2}]}])
    nested = "[" * 900 + "]" * 900
    call = {"function": {"name": "f", "arguments": nested}}
    await workspace.record([said("", "assistant", tool_calls=[call])], thread="deep")
    with pytest.raises(NotFound):
        await workspace.messages()
