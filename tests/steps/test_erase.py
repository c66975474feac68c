"""Erasing leaves nothing: no word of it in a full dump, and everything else as it was."""

import asyncio
import string
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from tests.conftest import Clock, TestDatabase
from tests.steps.conftest import Gate, Rows

from everlore.api.workspace import Workspace
from everlore.domain.erasure import ErasureReceipt
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.index.step import pack_tail
from everlore.knowledge.erasure import UNNAMED, erase_memory, erase_messages, erase_thread
from everlore.models.fake import FakeEmbedder, ScriptedAnalyst
from everlore.ports.analyst import (
    Analyst,
    DraftEntity,
    DraftFact,
    DraftMemory,
    Extraction,
    Quote,
    Window,
    WindowMessage,
)
from everlore.store import distilling, echoes
from everlore.store.backup import client_environment, database_argument

PutGate = Callable[[ModuleType, str], Gate]
# Every word that must vanish begins with this; as stems do, and their hex form.
SENTINEL = "qzxvbk"


def use(lore: Everlore, analyst: Analyst) -> None:
    """Let another analyst distil."""
    lore.workers = replace(lore.workers, analyst=analyst)
    lore.runtime = replace(lore.runtime, analyst=analyst)
    lore.directory.runtime = lore.runtime


def scripted(window: Window) -> Extraction:
    """Messages become memories in their own words, short ones first; "I like X" is a fact, "my friend X at Y" an entity."""
    messages = sorted(window.messages, key=lambda message: "my friend" in message.text)
    facts = [
        DraftFact(message.speaker, "likes", _after(message.text, "I like "), (_quote(message),), memory=place)
        for place, message in enumerate(messages)
        if "I like " in message.text
    ]
    entities = [
        DraftEntity(name, "person", (_quote(message),), (address,) if "@" in address else ())
        for message in messages
        if "my friend " in message.text
        for name, _, address in [_after(message.text, "my friend ").partition(" at ")]
    ]
    return Extraction(tuple(map(_memory, messages)), tuple(facts), tuple(entities), "life.garden")


def _memory(message: WindowMessage) -> DraftMemory:
    tags = tuple(word for word in message.text.lower().split() if word.startswith("tag"))
    return DraftMemory(
        "preference", message.text, (_quote(message),), tags=tags, reasoning=f"because {message.text}"
    )


def _quote(message: WindowMessage) -> Quote:
    return Quote(message.number, message.text)


def _after(text: str, lead: str) -> str:
    return text.split(lead, 1)[1].split(".")[0].split(",")[0]


@pytest.fixture
async def lore(database: TestDatabase, clock: Clock, fake: FakeEmbedder) -> AsyncIterator[Everlore]:
    async with Everlore.open(
        database.settings(),
        worker=False,
        clock=clock,
        embedders={"fake": fake},
        analyst=ScriptedAnalyst(scripted),
    ) as opened:
        yield opened


@pytest.fixture
async def workspace(lore: Everlore) -> Workspace:
    return await lore.workspace("alice", create=True)


async def stored(workspace: Workspace, *said: NewMessage | str, thread: str = "main") -> list[UUID]:
    messages = [
        NewMessage(role="user", author="Anna", text=one) if isinstance(one, str) else one for one in said
    ]
    receipt = await workspace.record(messages, thread=thread, session=f"{thread} talk")
    return [outcome.message_id for outcome in receipt.outcomes if outcome.message_id is not None]


async def settled(lore: Everlore, workspace: Workspace) -> None:
    """Everything distilled, indexed and packed."""
    await lore.distil(workspace)
    await lore.catch_up()
    await pack_tail(lore.workers, workspace.workspace_id, at_least=1)


async def erased(lore: Everlore, workspace: Workspace, ids: Sequence[UUID], clock: Clock) -> ErasureReceipt:
    async with lore.runtime.database.workspace(workspace.workspace_id) as connection:
        return await erase_messages(connection, ids, clock())


async def dumped(lore: Everlore, database: TestDatabase, *, binary: str) -> str:
    """Everything in the database as text; binary columns in hex, or with their letters legible ("escape")."""
    program = database.server.tool("pg_dump")
    environment = client_environment(database.superuser) | {"PGOPTIONS": f"-c bytea_output={binary}"}
    process = await asyncio.create_subprocess_exec(
        program,
        f"--dbname={database_argument(database.superuser)}",
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, complaints = await process.communicate()
    assert process.returncode == 0, complaints
    return out.decode("utf-8", "replace").lower()


def traces(dump: str) -> list[str]:
    """The lines of a dump in which a sentinel stands, as letters or in hex."""
    return [line[:300] for line in dump.splitlines() if SENTINEL in line or SENTINEL.encode().hex() in line]


def sentinel(kind: str, number: int) -> str:
    """A word of its own that no stemmer and no accent makes unrecognisable."""
    letters = string.ascii_lowercase
    return f"Qzxvbk{kind}{letters[number // 26]}{letters[number % 26]}ínged"


def doomed(number: int) -> NewMessage:
    thing, friend = sentinel("th", number), sentinel("fr", number)
    return NewMessage(
        role="user",
        author=sentinel("au", number),
        text=f"I like {thing} and tag{thing}, my friend {friend} at {friend.lower()}@mail{number}.example",
        captions=(f"a photo of {sentinel('ca', number)}",),
        system_prompt=f"You serve {sentinel('sy', number)}.",
        tool_calls=({"name": "look", "result": f"found {sentinel('to', number)}"},),
        metadata={"place": sentinel("me", number)},
        external_id=sentinel("id", number),
    )


CONTENT = (
    "select lineage_id, version, content, tags, reasoning, author, valid_from, valid_to, superseded_at, superseded_by, review"
    " from everlore.memory where content not ilike '%%qzxvbk%%' order by content, version"
)
FACTS = (
    "select f.lineage_id, f.version, e.name, f.predicate, f.object, f.confidence, f.valid_from, f.valid_to, f.superseded_by"
    " from everlore.fact f join everlore.entity e on e.entity_id = f.subject_id where f.object not ilike '%%qzxvbk%%'"
    " and e.name not ilike '%%qzxvbk%%' order by f.object, f.version"
)
NAMES = (
    "select e.entity_id, e.name, a.variant, a.origin from everlore.entity e left join everlore.alias a using (entity_id)"
    " where e.name not ilike '%%qzxvbk%%' order by 2, 3"
)
PASSAGES = (
    "select p.passage_id, p.kind, p.text, p.author, md5(v.embedding::text) from everlore.passage p"
    " left join everlore.passage_vector v using (workspace_id, passage_id)"
    " where p.text not ilike '%%qzxvbk%%' order by p.passage_id"
)
SOURCES = (
    "select s.lineage_id, s.message_id, s.start_at, s.end_at from everlore.memory_source s join everlore.message m"
    " using (workspace_id, message_id) where m.text not ilike '%%qzxvbk%%' order by 1, 2"
)


async def test_no_trace_is_left_of_a_hundred_messages_and_all_of_twenty_others(
    lore: Everlore, workspace: Workspace, rows: Rows, clock: Clock, database: TestDatabase,
    lexicon_is_exact: Callable[[UUID], Any],
) -> None:  # fmt: skip
    letters = [f"{one}{two}" for one in "bdfgk" for two in "aeio"]
    # Words of their own: what is too much alike becomes one memory.
    controls = [f"I like {x}lmer {x}ntok {x}rvin {x}stpan" for x in letters]
    ids: list[UUID] = []
    for number in range(100):
        # Now and then one that stays, in the same windows.
        ids += await stored(workspace, doomed(number))
        if number % 5 == 0:
            await stored(workspace, controls[number // 5])
        clock.advance(minutes=1)
    await settled(lore, workspace)
    ((thread,),) = await rows("select thread_id from everlore.thread")
    async with lore.runtime.database.workspace(workspace.workspace_id) as connection:
        for number in range(100):
            await echoes.note_handed_out(connection, f"- {doomed(number).text} (2025)", clock())
    ((job,),) = await rows(
        "insert into jobs.procrastinate_jobs (queue_name, task_name, args, status, lock) values ('index', 'index',"
        " jsonb_build_object('workspace_id', %s::text, 'scope_id', %s::text), 'failed', 'x') returning id",
        str(workspace.workspace_id),
        str(thread),
    )
    await rows(
        "insert into everlore.job_failure values (%s, now(), %s)",
        job,
        f"BadAnswer: {sentinel('th', 3)} is no JSON",
    )
    await rows("update everlore.distillation set error = %s", f"cannot read {sentinel('th', 4)}")
    before = [await rows(query) for query in (CONTENT, FACTS, NAMES, PASSAGES, SOURCES)]
    counts = dict(
        await rows(
            "select 'memory', count(*) from everlore.memory where content ilike '%%qzxvbk%%' union all"
            " select 'fact', count(*) from everlore.fact where object ilike '%%qzxvbk%%' union all"
            " select 'alias', count(*) from everlore.alias where variant ilike '%%qzxvbk%%' union all"
            " select 'posting', count(*) from everlore.posting_block where term ilike '%%qzxvbk%%' union all"
            " select 'known', count(*) from everlore.posting_block where term ilike '%%qzxvbk%%' and layer <> 'said' union all"
            " select 'passage', count(*) from everlore.passage where kind <> 'message' and text ilike '%%qzxvbk%%'"
        )
    )
    assert min(counts.values()) >= 50, counts
    assert len(before[0]) == 20

    receipt = await erased(lore, workspace, ids, clock)
    assert set(receipt.messages) == set(ids)
    assert len(receipt.memories) == counts["memory"]
    assert len(receipt.facts) == counts["fact"]
    for binary in ("hex", "escape"):
        assert traces(await dumped(lore, database, binary=binary)) == []
    assert [await rows(query) for query in (CONTENT, FACTS, NAMES, PASSAGES, SOURCES)] == before
    assert await rows("select error from everlore.job_failure") == [("BadAnswer (the words were erased)",)]
    assert await rows("select count(*) from everlore.handed_out") == [(0,)]
    await lexicon_is_exact(workspace.workspace_id)
    assert (await workspace.recall("balmer")).hits[0].text == controls[0]
    assert [thread.messages for thread in await workspace.threads()] == [20]


async def test_erasing_again_finds_nothing_and_harms_nothing(
    lore: Everlore, workspace: Workspace, rows: Rows, clock: Clock
) -> None:
    one, _ = await stored(workspace, "I like kayaks", "I like pears")
    await settled(lore, workspace)
    assert (await erased(lore, workspace, [one, uuid4()], clock)).messages == (one,)
    left = await rows("select memory_id, content, superseded_at from everlore.memory")
    assert await erased(lore, workspace, [one], clock) == ErasureReceipt()
    assert await rows("select memory_id, content, superseded_at from everlore.memory") == left
    async with lore.runtime.database.workspace(workspace.workspace_id) as connection:
        assert await erase_memory(connection, uuid4(), clock(), sources=True) == ErasureReceipt()


async def test_a_memory_with_another_source_stays_if_that_says_it(
    lore: Everlore, workspace: Workspace, rows: Rows, clock: Clock
) -> None:
    one, _ = await stored(workspace, "I like kayaks", "Well, I like kayaks.")
    await settled(lore, workspace)
    (memory,) = await rows("select lineage_id from everlore.memory where content = 'I like kayaks'")
    ((sources,),) = await rows("select count(*) from everlore.memory_source where lineage_id = %s", memory[0])
    receipt = await erased(lore, workspace, [one], clock)
    kept = await rows("select content, reasoning from everlore.memory where lineage_id = %s", memory[0])
    if sources == 2:  # both became one memory
        assert receipt.memories == ()
        assert kept == [("I like kayaks", None)]
    else:
        assert receipt.memories == (memory[0],)
    facts = await rows("select object, confidence from everlore.fact where superseded_at is null")
    assert facts == [("kayaks", pytest.approx(0.7))]
    assert await rows("select count(*) from everlore.fact_source") == [(1,)]


async def rest_on_two(rows: Rows, workspace: Workspace, content: str, first: UUID, second: UUID) -> UUID:
    """One memory in the words of the first message, which the second supports, too."""
    ((lineage,),) = await rows("select lineage_id from everlore.memory where content = %s", content)
    await rows(
        "insert into everlore.memory_source (workspace_id, source_id, lineage_id, message_id, confidence, recorded_at)"
        " values (%s, %s, %s, %s, 0.7, now())",
        workspace.workspace_id, uuid4(), lineage, second,
    )  # fmt: skip
    assert first != second
    return lineage


async def test_a_memory_whose_other_source_does_not_say_it_goes_and_is_read_again(
    lore: Everlore, workspace: Workspace, rows: Rows, clock: Clock
) -> None:
    said = await stored(workspace, "I like kayaks from Qzxvbkoslo", *["Hm."] * 9, "I like kayaks")
    await settled(lore, workspace)
    await rest_on_two(rows, workspace, "I like kayaks from Qzxvbkoslo", said[0], said[10])
    receipt = await erased(lore, workspace, [said[0]], clock)
    assert len(receipt.memories) == 1
    assert [first for _, first in receipt.to_read_again] == [11]
    assert await rows("select first from everlore.distil_again") == [(11,)]
    await lore.catch_up()
    await lore.distil(workspace)
    assert await rows("select count(*) from everlore.memory where content ~* 'qzxvbk'") == [(0,)]
    current = "select content from everlore.memory where superseded_at is null and valid_to is null and review is null"
    assert ("I like kayaks",) in await rows(current)


async def test_what_an_erased_memory_had_superseded_holds_again(
    lore: Everlore, workspace: Workspace, rows: Rows, clock: Clock
) -> None:
    (_, gone) = await stored(workspace, "I like kayaks", "I like pears")
    await settled(lore, workspace)
    ((old, new),) = await rows(
        "select a.lineage_id, b.lineage_id from everlore.memory a, everlore.memory b"
        " where a.content = 'I like kayaks' and b.content = 'I like pears'"
    )
    await rows(
        "update everlore.memory set valid_to = %s, superseded_by = %s where lineage_id = %s",
        clock(),
        new,
        old,
    )
    await erased(lore, workspace, [gone], clock)
    current = "select valid_to, superseded_by from everlore.memory where superseded_at is null"
    assert await rows(current) == [(None, None)]
    assert await rows("select count(*) from everlore.memory where superseded_by = %s", new) == [(0,)]


async def test_facts_are_worked_out_anew(
    lore: Everlore, workspace: Workspace, rows: Rows, clock: Clock
) -> None:
    read: list[str] = []

    def places(window: Window) -> Extraction:
        read.extend(message.text for message in window.messages)
        return Extraction(
            facts=tuple(
                DraftFact(
                    "Anna",
                    "lives_in",
                    _after(message.text, "I live in "),
                    (_quote(message),),
                    object_is_entity=True,
                )
                for message in window.messages
            )
        )

    use(lore, ScriptedAnalyst(places))
    first = await stored(workspace, "I live in Porto")
    clock.advance(days=30)
    second = await stored(workspace, "I live in Qzxvbklisbon")
    await settled(lore, workspace)
    ended = "select object from everlore.fact where superseded_at is null and valid_to is null"
    assert await rows(ended) == [("Qzxvbklisbon",)]
    receipt = await erased(lore, workspace, second, clock)
    assert len(receipt.facts) == 1
    assert await rows(ended) == [("Porto",)]
    names = {name for (name,) in await rows("select name from everlore.entity")}
    assert "Qzxvbklisbon" not in names
    assert {"Porto"} <= names
    assert first


async def test_erasing_a_memory_only_leaves_its_message(
    lore: Everlore, workspace: Workspace, rows: Rows, clock: Clock, lexicon_is_exact: Callable[[UUID], Any]
) -> None:
    (one, _) = await stored(workspace, "I like kayaks", "I like pears")
    await settled(lore, workspace)
    ((lineage,),) = await rows("select lineage_id from everlore.memory where content = 'I like kayaks'")
    async with lore.runtime.database.workspace(workspace.workspace_id) as connection:
        receipt = await erase_memory(connection, lineage, clock(), sources=False)
    assert (receipt.messages, receipt.memories, len(receipt.facts)) == ((), (lineage,), 1)
    assert await rows("select content from everlore.memory") == [("I like pears",)]
    assert await rows("select object from everlore.fact") == [("pears",)]
    assert await rows("select count(*) from everlore.passage where text ~ 'kayak' and kind <> 'message'") == [
        (0,)
    ]
    assert (await workspace.show(one)).text == "I like kayaks"
    await lexicon_is_exact(workspace.workspace_id)


async def test_erasing_a_memory_with_its_sources(
    lore: Everlore, workspace: Workspace, rows: Rows, clock: Clock
) -> None:
    (one, other) = await stored(workspace, "I like kayaks", "I like pears")
    await settled(lore, workspace)
    ((lineage,),) = await rows("select lineage_id from everlore.memory where content = 'I like kayaks'")
    async with lore.runtime.database.workspace(workspace.workspace_id) as connection:
        receipt = await erase_memory(connection, lineage, clock(), sources=True)
    assert (receipt.messages, receipt.memories) == ((one,), (lineage,))
    assert await rows("select message_id from everlore.message") == [(other,)]


async def test_a_memory_that_took_a_name_up_goes_with_the_message_that_named_it(
    lore: Everlore, workspace: Workspace, rows: Rows, clock: Clock
) -> None:
    def resolving(window: Window) -> Extraction:
        she = [message for message in window.messages if message.text.startswith("She")]
        return Extraction(
            tuple(
                DraftMemory("fact", message.text.replace("She", "Qzxvbkemma"), (_quote(message),))
                for message in she
            ),
            tuple(DraftFact("Qzxvbkemma", "plays", "chess", (_quote(message),)) for message in she),
            (DraftEntity("Qzxvbkemma", "person"),),
        )

    use(lore, ScriptedAnalyst(resolving))
    (named, _) = await stored(workspace, "My sister Qzxvbkemma called.", "She plays chess on Fridays.")
    await settled(lore, workspace)
    assert len(await rows("select 1 from everlore.memory")) == 1
    await erased(lore, workspace, [named], clock)
    assert await rows("select content from everlore.memory where content ~* 'qzxvbk'") == []
    # What her fact rests on was not erased: it stays, and who she is does not.
    assert {name for (name,) in await rows("select name from everlore.entity")} <= {"Anna", UNNAMED, "chess"}
    assert await rows("select variant from everlore.alias where variant ~* 'qzxvbk'") == []


async def test_an_erasure_while_a_window_is_being_read(
    lore: Everlore, workspace: Workspace, rows: Rows, clock: Clock, gate: PutGate, database: TestDatabase
) -> None:
    ids = await stored(workspace, doomed(1), "I like pears", doomed(2))
    reading = gate(distilling, "earlier")  # what is read is read, and nothing is written yet
    step = asyncio.create_task(lore.distil(workspace))
    await reading.reached.wait()
    await erased(lore, workspace, [ids[0], ids[2]], clock)
    reading.open()
    await step
    await settled(lore, workspace)
    assert traces(await dumped(lore, database, binary="escape")) == []
    current = "select content from everlore.memory where superseded_at is null and review is null"
    assert await rows(current) == [("I like pears",)]


async def test_an_erasure_while_a_window_is_being_written(
    lore: Everlore, workspace: Workspace, rows: Rows, clock: Clock, gate: PutGate, database: TestDatabase
) -> None:
    ids = await stored(workspace, doomed(1), "I like pears")
    writing = gate(distilling, "lock_window")  # the step holds its locks, nothing is committed
    step = asyncio.create_task(lore.distil(workspace))
    await writing.reached.wait()
    erasing = asyncio.create_task(erased(lore, workspace, [ids[0]], clock))
    while not erasing.done() and not await rows("select 1 from pg_locks where not granted"):
        pass
    writing.open()
    await asyncio.gather(step, erasing)
    assert len((await erasing).memories) == 1
    assert traces(await dumped(lore, database, binary="escape")) == []
    assert await rows("select content from everlore.memory") == [("I like pears",)]


async def test_two_erasures_at_once(lore: Everlore, workspace: Workspace, rows: Rows, clock: Clock) -> None:
    ids = await stored(workspace, *[f"I like {word}" for word in ("kayaks", "pears", "owls", "maps")])
    other = await stored(workspace, "I like swans", thread="other")
    await settled(lore, workspace)
    receipts = await asyncio.gather(
        *(erased(lore, workspace, [*ids, *other], clock) for _ in range(3)),
        *(erased(lore, workspace, [*other, *reversed(ids)], clock) for _ in range(3)),
    )
    assert sorted(len(receipt.messages) for receipt in receipts) == [0, 0, 0, 0, 0, 5]
    assert await rows("select count(*) from everlore.memory") == [(0,)]


async def test_a_thread_goes_with_its_name(
    lore: Everlore, workspace: Workspace, rows: Rows, clock: Clock, database: TestDatabase
) -> None:
    await stored(workspace, doomed(1), thread="Qzxvbk plans")
    await stored(workspace, "I like pears")
    await settled(lore, workspace)
    ((thread,),) = await rows("select thread_id from everlore.thread where name ilike 'qzxvbk%%'")
    async with lore.runtime.database.workspace(workspace.workspace_id) as connection:
        receipt = await erase_thread(connection, thread, "Qzxvbk plans", clock())
    assert receipt.counts["threads"] == 1
    assert receipt.counts["audit entries changed"] >= 1
    assert traces(await dumped(lore, database, binary="escape")) == []
    assert [one.name for one in await workspace.threads()] == ["main"]


async def test_a_memory_with_a_source_elsewhere_outlives_its_thread(
    lore: Everlore, workspace: Workspace, rows: Rows, clock: Clock
) -> None:
    (first,) = await stored(workspace, "I like pears", thread="gone")
    (second,) = await stored(workspace, "Well, I like pears.", thread="kept")
    await settled(lore, workspace)
    lineage = await rest_on_two(rows, workspace, "I like pears", first, second)
    await workspace.delete_thread("gone")
    assert await rows("select thread_id from everlore.memory where lineage_id = %s", lineage) == [(None,)]


async def test_a_workspace_goes_with_its_projects(workspace: Workspace, rows: Rows) -> None:
    await workspace.record([{"role": "user", "text": "hello"}], project="studio")
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        await rows("delete from everlore.project returning 1")
    await rows("delete from everlore.workspace returning 1")
    assert await rows("select count(*) from everlore.project") == [(0,)]
    assert await rows("select count(*) from everlore.thread") == [(0,)]


async def test_another_workspace_is_out_of_reach(
    lore: Everlore, workspace: Workspace, rows: Rows, clock: Clock
) -> None:
    (one,) = await stored(workspace, "I like kayaks")
    await settled(lore, workspace)
    other = await lore.workspace("bob", create=True)
    assert await erased(lore, other, [one], clock) == ErasureReceipt()
    assert await rows("select content from everlore.memory") == [("I like kayaks",)]
