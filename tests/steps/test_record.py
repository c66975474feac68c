"""Recording: what is acknowledged is there once, in order, with its job; what is refused leaves nothing."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from tests.conftest import Clock, TestDatabase
from tests.steps.conftest import Rows

from everlore.api.workspace import Workspace
from everlore.domain.errors import CallerError, InvalidInput, NotFound
from everlore.domain.messages import MAX_MESSAGES, NewMessage
from everlore.everlore import Everlore
from everlore.store import conversation

NOW = datetime(2025, 6, 14, 12, tzinfo=UTC)
CONTENT = (
    "select (select count(*) from everlore.thread), (select count(*) from everlore.project),"
    " (select count(*) from everlore.session), (select count(*) from everlore.message),"
    " (select count(*) from everlore.passage), (select count(*) from everlore.watermark),"
    " (select count(*) from everlore.audit_log), (select count(*) from jobs.procrastinate_jobs)"
)


@pytest.fixture
async def workspace(lore: Everlore) -> Workspace:
    return await lore.workspace("alice", create=True)


def said(text: str, external_id: str | None = None, **fields: Any) -> NewMessage:
    return NewMessage(role="user", author="Maya", text=text, external_id=external_id, **fields)


async def positions(rows: Rows) -> dict[str, list[int]]:
    found = await rows(
        "select t.name, array_agg(m.position order by m.position) from everlore.message m"
        " join everlore.thread t using (workspace_id, thread_id) group by t.name"
    )
    return dict(found)


# ---- refused


REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    ([], {}, "messages"),
    (None, {}, "messages"),
    (5, {}, "messages"),
    (iter([]), {}, "messages"),
    ([{"role": "user", "text": "x"}] * (MAX_MESSAGES + 1), {}, "messages"),
    ([{"role": "user", "text": "good"}, {"role": "user", "text": " "}], {}, "messages[1].text"),
    ([{"role": "user", "text": "good"}] * 60 + [{"role": "robot", "text": "x"}], {}, "messages[60].role"),
    ([{"role": "user", "text": "x" * 1_000_001}], {}, "messages[0].text"),
    ([{"role": "user", "text": "x", "at": datetime(2025, 1, 1)}], {}, "messages[0].at"),  # noqa: DTZ001
    ([{"role": "user", "text": "x", "metadata": {"a": float("nan")}}], {}, "messages[0].metadata"),
    ([{"role": "user", "text": "x"}], {"thread": " "}, "thread"),
    ([{"role": "user", "text": "x"}], {"thread": "x" * 201}, "thread"),
    ([{"role": "user", "text": "x"}], {"thread": "a\0"}, "thread"),
    ([{"role": "user", "text": "x"}], {"thread": 5}, "thread"),
    ([{"role": "user", "text": "x"}], {"session": ""}, "session"),
    ([{"role": "user", "text": "x"}], {"project": "\ud800"}, "project"),
    ([{"role": "user", "text": "x"}], {"taxonomy": "a b"}, "taxonomy"),
]


async def test_bad_input_is_refused_by_its_name_and_leaves_nothing(workspace: Workspace, rows: Rows) -> None:
    for messages, options, field in REFUSED:
        with pytest.raises(InvalidInput) as raised:
            await workspace.record(messages, **options)
        assert raised.value.field == field
        assert await rows(CONTENT) == [(0,) * 8], field


async def test_a_workspace_has_a_name(lore: Everlore) -> None:
    bad: list[Any] = ["", " ", "x" * 201, "a\0", "\ud800", 5, None]
    for called in bad:
        with pytest.raises(InvalidInput, match="workspace: "):
            await lore.workspace(called)


# ---- stored


async def test_the_receipt_names_stored_rows_in_the_order_of_the_call(
    workspace: Workspace, rows: Rows
) -> None:
    receipt = await workspace.record([said(f"message {n}") for n in range(5)], thread="work")
    assert (receipt.thread, receipt.stored, receipt.already_there, receipt.refused) == ("work", 5, 0, ())
    stored = await rows("select message_id, text from everlore.message order by position")
    assert stored == [(outcome.message_id, f"message {n}") for n, outcome in enumerate(receipt.outcomes)]


async def test_every_field_comes_back(workspace: Workspace, clock: Clock) -> None:
    at = datetime(2025, 5, 12, 16, 3, 7, 123456, tzinfo=UTC)
    given: dict[str, Any] = {
        "role": "assistant",
        "text": "Look:\n\n```\n\\copy \\N\t{x}\n```\r\nend \\.",
        "author": "Ali \\ Öz",
        "at": at,
        "captions": ['a "red" {boat}, \\N', "NULL", "две\nлинии"],
        "system_prompt": "Be kind.\n\\.",
        "tool_calls": [
            {"name": "search", "arguments": {"q": "boat \\u0000"}, "result": [1, 2.5, None, True]}
        ],
        "external_id": "m-1",
        "reply_to": "m-0",
        "metadata": {"b": {"ü": ["\\", '"', "\n"]}, "a": 1},
        "taxonomy": "work.studio-2",
    }
    receipt = await workspace.record([given], thread="t", session="monday", project="boats")
    assert receipt.outcomes[0].message_id is not None
    shown = await workspace.show(receipt.outcomes[0].message_id)
    assert {field: getattr(shown, field) for field in given} == given
    assert (shown.thread, shown.session, shown.position) == ("t", "monday", 1)
    assert [(thread.name, thread.project) for thread in await workspace.threads()] == [("t", "boats")]
    later = await workspace.record([said("no time given")])
    assert later.outcomes[0].message_id is not None
    assert (await workspace.show(later.outcomes[0].message_id)).at == clock.now


async def test_a_message_is_shown_by_the_end_of_its_id(workspace: Workspace) -> None:
    (outcome,) = (await workspace.record([said("hello")])).outcomes
    whole = str(outcome.message_id)
    for ending in (whole, whole[-8:], whole[-13:].upper(), whole.replace("-", ""), f" {whole[-8:]} "):
        assert (await workspace.show(ending)).message_id == outcome.message_id
    for bad in ("", "1234567", "x" * 8, "%%%%%%%%", whole + "00"):
        with pytest.raises(InvalidInput, match="id: "):
            await workspace.show(bad)
    for unknown in ("0" * 8, uuid4()):
        with pytest.raises(NotFound):
            await workspace.show(unknown)


async def test_moments_at_the_ends_of_the_calendar(workspace: Workspace, database: TestDatabase) -> None:
    ends = [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]
    receipt = await workspace.record([said("a boat", at=at) for at in ends])
    for outcome, at in zip(receipt.outcomes, ends, strict=True):
        assert outcome.message_id is not None
        assert (await workspace.show(outcome.message_id)).at == at
    found = await workspace.recall("boat")
    assert {hit.citation.at for hit in found.hits} == set(ends)
    assert {hit.citation.at.utcoffset() for hit in found.hits} == {timedelta(0)}


async def test_what_is_indexed_carries_author_and_captions(workspace: Workspace, rows: Rows) -> None:
    await workspace.record(
        [
            said("Look at **this**!", captions=["a red boat", "the harbour"]),
            NewMessage(role="assistant", text="Nice."),
            said("", captions=["a cat"]),
            NewMessage(role="tool", tool_calls=[{"name": "search"}]),
        ]
    )
    assert await rows("select text from everlore.passage order by sequence") == [
        ("Maya: Look at this! [shares a red boat] [shares the harbour]",),
        ("Nice.",),
        ("Maya: [shares a cat]",),
    ]


async def test_a_long_message_has_several_passages_in_sequence(workspace: Workspace, rows: Rows) -> None:
    await workspace.record([said("short"), said("A sentence about boats. " * 200), said("short again")])
    found = await rows("select sequence, position, passage_id from everlore.passage order by sequence")
    assert [row[0] for row in found] == list(range(1, len(found) + 1))
    assert [row[1] for row in found] == [1, *[2] * (len(found) - 2), 3]
    assert [row[2] for row in found] == sorted(row[2] for row in found)


async def test_a_call_whose_passages_are_more_than_expected(workspace: Workspace, rows: Rows) -> None:
    dense = "?!" * 400  # every mark is a wordpiece
    calls = [[said(dense, f"{call}-{n}", captions=["c" * 90] * 20) for n in range(40)] for call in range(6)]
    receipts = await asyncio.gather(*(workspace.record(call, thread=f"t{n}") for n, call in enumerate(calls)))
    assert sum(receipt.stored for receipt in receipts) == 240
    ((passages, numbers, last),) = await rows(
        "select count(*), count(distinct passage_id), max(passage_id) from everlore.passage"
    )
    assert passages == numbers > 5 * 240
    ((counter,),) = await rows("select last_passage from everlore.passage_counter where last_passage > 0")
    assert counter >= last


async def test_ten_thousand_messages_in_a_call(workspace: Workspace, rows: Rows) -> None:
    messages = [said(f"message {n}", f"m{n}", at=NOW + timedelta(seconds=n)) for n in range(MAX_MESSAGES)]
    assert (await workspace.record(messages)).stored == MAX_MESSAGES
    assert (await workspace.record(messages)).already_there == MAX_MESSAGES
    assert await rows("select count(*), max(position), count(distinct position) from everlore.message") == [
        (MAX_MESSAGES,) * 3
    ]


# ---- external ids


async def test_the_same_external_id_with_the_same_content_is_stored_once(
    workspace: Workspace, rows: Rows
) -> None:
    first = await workspace.record([said("hello", "m1"), said("world", "m2")])
    again = await workspace.record([said("world", "m2"), said("new", "m3"), said("hello", "m1")])
    assert [o.status for o in again.outcomes] == ["already there", "stored", "already there"]
    assert again.outcomes[0].message_id == first.outcomes[1].message_id
    assert again.outcomes[2].message_id == first.outcomes[0].message_id
    assert await positions(rows) == {"main": [1, 2, 3]}


async def test_the_same_external_id_with_other_content_is_refused(workspace: Workspace, rows: Rows) -> None:
    first = await workspace.record([said("hello", "m1")])
    again = await workspace.record([said("hello?", "m1"), said("new", "m2")])
    (refused,) = again.refused
    assert refused.message_id == first.outcomes[0].message_id
    assert refused.reason is not None
    assert "'m1'" in refused.reason
    assert (again.stored, again.already_there) == (1, 0)
    assert await rows("select text from everlore.message order by position") == [("hello",), ("new",)]


async def test_an_external_id_twice_in_one_call(workspace: Workspace, rows: Rows) -> None:
    receipt = await workspace.record([said("one", "m"), said("one", "m"), said("two", "m"), said("three")])
    assert [o.status for o in receipt.outcomes] == ["stored", "already there", "refused", "stored"]
    assert len({o.message_id for o in receipt.outcomes}) == 2
    assert await positions(rows) == {"main": [1, 2]}


async def test_external_ids_belong_to_their_thread_and_none_is_always_new(workspace: Workspace) -> None:
    for thread in ("a", "b"):
        assert (await workspace.record([said("hello", "m1"), said("hello")], thread=thread)).stored == 2
    assert (await workspace.record([said("hello")], thread="a")).stored == 1


async def test_a_retry_of_a_call_whose_answer_was_lost(
    workspace: Workspace, rows: Rows, clock: Clock
) -> None:
    call = [said(f"message {n}", f"m{n}") for n in range(20)]
    first = await workspace.record(call)
    clock.advance(days=3)
    again = await workspace.record(call)
    assert again.already_there == 20
    assert [o.message_id for o in again.outcomes] == [o.message_id for o in first.outcomes]
    assert await rows("select count(*) from everlore.session") == [(1,)]


# ---- concurrent writers


async def test_many_writers_of_the_same_messages_store_each_once(workspace: Workspace, rows: Rows) -> None:
    orders = [list(range(30)), list(range(29, -1, -1)), [*range(15, 30), *range(15)]] * 3
    calls = (workspace.record([said(f"message {n}", f"m{n}") for n in order]) for order in orders)
    receipts = await asyncio.gather(*calls)
    assert sum(receipt.stored for receipt in receipts) == 30
    assert sum(receipt.already_there for receipt in receipts) == 30 * 8
    ids = {
        (n, outcome.message_id)
        for order, receipt in zip(orders, receipts, strict=True)
        for n, outcome in zip(order, receipt.outcomes, strict=True)
    }
    assert len(ids) == 30
    assert await positions(rows) == {"main": list(range(1, 31))}


async def test_many_writers_to_many_threads_leave_no_gap_and_mix_no_numbers(
    workspace: Workspace, rows: Rows
) -> None:
    calls = [
        workspace.record(
            [said(f"call {call} message {n}. " * 30) for n in range(1 + call % 5)],
            thread=f"thread {call % 3}",
        )
        for call in range(24)
    ]
    receipts = await asyncio.gather(*calls)
    expected = Counter[str]()
    for receipt in receipts:
        expected[receipt.thread] += receipt.stored
    assert await positions(rows) == {thread: list(range(1, count + 1)) for thread, count in expected.items()}
    passages = await rows(
        "select thread_id, array_agg(sequence order by sequence), array_agg(position order by sequence)"
        " from everlore.passage group by thread_id"
    )
    for _, sequences, of_messages in passages:
        assert sequences == list(range(1, len(sequences) + 1))
        assert of_messages == sorted(of_messages)
    place = dict(await rows("select message_id, position from everlore.message"))
    for receipt in receipts:  # a call's messages stay together, in order
        numbers = [place[outcome.message_id] for outcome in receipt.outcomes]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert await rows("select count(*), count(distinct passage_id) from everlore.passage") == [
        (sum(len(p[1]) for p in passages),) * 2
    ]


async def test_a_message_deleted_between_looking_and_writing_is_stored_again(
    workspace: Workspace, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    (known, _) = (await workspace.record([said("long " * 800, "known"), said("other", "o")])).outcomes
    assert known.message_id is not None
    open_thread = conversation.open_thread
    deleted = False

    async def open_after_a_delete(*arguments: Any, **named: Any) -> conversation.OpenThread:
        nonlocal deleted
        if not deleted:
            deleted = True
            await workspace.delete(known.message_id or "")
            await workspace.record([said("in between")], thread="elsewhere")
        return await open_thread(*arguments, **named)

    monkeypatch.setattr(conversation, "open_thread", open_after_a_delete)
    receipt = await workspace.record([said("new", "new"), said("long " * 800, "known")])
    assert receipt.stored == 2
    assert await rows("select count(*) from everlore.message where external_id = 'known'") == [(1,)]


# ---- one commit


async def test_messages_passages_and_the_job_are_one_commit(
    workspace: Workspace, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("at the very end")

    with monkeypatch.context() as patch:
        patch.setattr(conversation, "audit", broken)
        with pytest.raises(RuntimeError, match="at the very end"):
            await workspace.record([said("hello", "m1")], project="p")
    assert await rows(CONTENT) == [(0,) * 8]
    await workspace.record([said("hello", "m1")])
    assert await rows("select count(*) from jobs.procrastinate_jobs where status = 'todo'") == [(1,)]
    assert await rows("select count(*) from everlore.message") == [(1,)]


async def test_a_cancelled_call_is_stored_whole_or_not_at_all_and_can_be_retried(
    workspace: Workspace, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = [said(f"message {n}", f"m{n}") for n in range(200)]  # enough to be prepared on another thread
    # Cancelled when the transaction reaches each of its steps.
    for step in ("reserve_passages", "open_thread", "write_messages", "advance", "audit"):
        whole = getattr(conversation, step)
        reached = asyncio.Event()

        async def stop_here(
            *arguments: Any, _whole: Any = whole, _reached: asyncio.Event = reached, **named: Any
        ) -> Any:
            result = await _whole(*arguments, **named)
            _reached.set()
            await asyncio.Event().wait()
            return result

        with monkeypatch.context() as patch:
            patch.setattr(conversation, step, stop_here)
            task = asyncio.create_task(workspace.record(call))
            await reached.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert await rows(CONTENT) == [(0,) * 8]
    assert (await workspace.record(call)).stored == 200
    assert await positions(rows) == {"main": list(range(1, 201))}


async def test_calls_cancelled_at_any_moment_lose_and_double_nothing(
    workspace: Workspace, rows: Rows
) -> None:
    call = [said(f"message {n}", f"m{n}") for n in range(40)]
    tasks = [asyncio.create_task(workspace.record(call, thread=f"thread {n}")) for n in range(12)]
    for turn, task in enumerate(tasks):
        for _ in range(turn * 7):
            await asyncio.sleep(0)  # one turn of the event loop
        task.cancel()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(one, asyncio.CancelledError) or not isinstance(one, BaseException) for one in done)
    for thread, numbers in (await positions(rows)).items():
        assert numbers == list(range(1, 41)), thread
    retried = await asyncio.gather(*(workspace.record(call, thread=f"thread {n}") for n in range(12)))
    assert all(receipt.stored + receipt.already_there == 40 for receipt in retried)
    assert await positions(rows) == {f"thread {n}": list(range(1, 41)) for n in range(12)}


# ---- sessions


async def sessions(rows: Rows, thread: str = "main") -> list[int]:
    """For each message of the thread, the number of its session in order of appearance."""
    found = await rows(
        "select m.session_id from everlore.message m join everlore.thread t using (workspace_id, thread_id)"
        " where t.name = %s order by m.position",
        thread,
    )
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(row[0], len(numbers)) for row in found]


async def test_a_gap_of_more_than_six_hours_begins_a_session(workspace: Workspace, rows: Rows) -> None:
    hours = [0, 6, 12, 18.01, 18.02, 24.03, 24.03]
    await workspace.record([said("x", at=NOW + timedelta(hours=hour)) for hour in hours])
    assert await sessions(rows) == [0, 0, 0, 1, 1, 2, 2]
    spans = await rows("select started_at, ended_at from everlore.session order by started_at")
    assert spans == [
        (NOW, NOW + timedelta(hours=12)),
        (NOW + timedelta(hours=18.01), NOW + timedelta(hours=18.02)),
        (NOW + timedelta(hours=24.03), NOW + timedelta(hours=24.03)),
    ]


async def test_a_session_goes_on_in_the_next_call(workspace: Workspace, rows: Rows, clock: Clock) -> None:
    for hours in (0, 5, 5, 7, 1):
        clock.advance(hours=hours)
        await workspace.record([said("x")])
    assert await sessions(rows) == [0, 0, 0, 1, 1]


async def test_a_named_session_is_kept_over_any_gap(workspace: Workspace, rows: Rows, clock: Clock) -> None:
    await workspace.record([said("x"), said("x", at=NOW + timedelta(days=9))], session="trip")
    await workspace.record([said("y")], session="other")
    await workspace.record([said("x", at=NOW + timedelta(days=40))], session="trip")
    clock.now = NOW + timedelta(days=60)
    await workspace.record([said("z")])
    await workspace.record([said("x")], session="trip")
    assert await sessions(rows) == [0, 0, 1, 0, 2, 0]
    assert await rows("select name, ended_at from everlore.session where name = 'trip'") == [
        ("trip", clock.now)
    ]


async def test_sessions_of_the_same_name_in_two_threads_are_two(workspace: Workspace, rows: Rows) -> None:
    for thread in ("a", "b"):
        await workspace.record([said("x")], thread=thread, session="monday")
    assert await rows("select count(*) from everlore.session") == [(2,)]


async def test_concurrent_writers_of_one_named_session_share_it(workspace: Workspace, rows: Rows) -> None:
    await asyncio.gather(*(workspace.record([said("x")], session="monday") for _ in range(10)))
    assert await rows("select count(*) from everlore.session") == [(1,)]


async def test_project_and_taxonomy_belong_to_the_thread_and_stay(workspace: Workspace) -> None:
    await workspace.record([said("x")], project="boats", taxonomy="work.boats")
    await workspace.record([said("x")])
    (thread,) = await workspace.threads()
    assert (thread.project, thread.taxonomy, thread.messages) == ("boats", "work.boats", 2)
    await workspace.record([said("x")], project="sails")
    assert (await workspace.threads())[0].project == "sails"


async def test_workspaces_do_not_share_external_ids_threads_or_positions(lore: Everlore, rows: Rows) -> None:
    for called in ("alice", "bob"):
        workspace = await lore.workspace(called)
        assert (await workspace.record([said("hello", "m1")])).stored == 1
        assert [thread.messages for thread in await workspace.threads()] == [1]
    with pytest.raises(CallerError):
        await lore.workspace("carol", create=False)
