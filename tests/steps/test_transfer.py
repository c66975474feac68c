"""Export and import: a workspace becomes lines and the same workspace again, all of it or nothing."""

import json
import random
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any, cast
from uuid import uuid4

import hypothesis
import psycopg
import pytest
from hypothesis import strategies
from tests.conftest import Clock, TestDatabase
from tests.fuzz.curating import Person
from tests.steps.conftest import Rows
from tests.store.two_workspaces import ENTITIES

from everlore.api.workspace import Workspace
from everlore.domain.answers import to_json
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.store.queries import queries
from everlore.store.transfer import KINDS, MADE_ANEW

Line = dict[str, Any]


async def exported(lore: Everlore, name: str) -> list[str]:
    return [line async for line in await lore.export_workspace(name)]


def contents(lines: Sequence[str]) -> list[Line]:
    """All but the header, which has another name and time."""
    return [json.loads(line) for line in lines[1:]]


def written(lines: Iterable[Line]) -> list[str]:
    return [json.dumps(line) for line in lines]


async def alive(workspace: Workspace) -> None:
    """Everything that a message may have, and a little of what hangs on threads and the workspace."""
    await workspace.record(
        [
            NewMessage(
                role="user",
                author="Anna",
                text="My sister Emma lives in Lisbon and likes kayaks.",
                captions=["A boat on the river"],
                system_prompt="Be kind.",
                tool_calls=[{"name": "look", "arguments": {"at": 1.50}}],
                metadata={"price": 1e-7, "deep": [None, {"a": "ü\u2028\U0001f600"}]},
                external_id="m1",
                taxonomy="life.family",
            ),
            NewMessage(role="assistant", text="Which river?", reply_to="m1"),
            NewMessage(role="user", author="Anna", text="The zeppelin is a secret.", off_the_record=True),
        ],
        thread="family",
        session="first talk",
        project="house",
        taxonomy="life",
    )
    await workspace.graph.label_taxonomy("life.family", "The family")


@pytest.fixture
async def curated(lore: Everlore, clock: Clock, rows: Rows) -> Workspace:
    """A workspace that somebody worked on: corrections, pins, merges, splits, erasures; all of it is distilled."""
    workspace = await lore.workspace("alice")
    await alive(workspace)
    person = Person(lore, workspace, clock, rows, random.Random(7))
    for _ in range(60):
        await person.step()
    await person.record()
    await lore.distil(workspace)
    people = await workspace.graph.entities(limit=10)
    await workspace.graph.merge(people[0].entity.entity_id, people[1].entity.entity_id)
    await lore.catch_up()
    return workspace


async def everything(lore: Everlore, database: TestDatabase, name: str) -> None:
    """A workspace with rows of every kind."""
    workspace = await lore.workspace(name)
    await alive(workspace)
    await workspace.remember("the kettle is old")
    history = [{"role": "user", "content": text} for text in ("one", "two", "three")]
    sent = await workspace.reconcile(history, thread="sent")
    await workspace.delete(str(sent.turns[1].message_id))
    await workspace.revise(str(sent.turns[2].message_id), "four")
    parameters = {"ws": workspace.workspace_id, "author": "ann", "word": "paris"}
    async with await psycopg.AsyncConnection.connect(database.superuser, autocommit=True) as connection:
        for statement in ENTITIES.split(";\n\n"):
            await connection.execute(cast("Any", statement), parameters)


async def test_a_curated_workspace_is_the_same_after_export_and_import(
    lore: Everlore, curated: Workspace
) -> None:
    lines = await exported(lore, "alice")
    made = await lore.import_workspace(lines, name="bob")
    assert contents(await exported(lore, "bob")) == contents(lines)
    assert (
        made.counts == json.loads(lines[0])["fields"]["counts"] == json.loads(lines[-1])["fields"]["counts"]
    )
    assert made.name == "bob"
    assert made.workspace_id == (await lore.workspace("bob", create=False)).workspace_id
    assert min(made.counts[kind] for kind in ("memory", "fact", "entity_change", "audit_log")) > 2


async def test_every_kind_is_exported_and_imported(lore: Everlore, database: TestDatabase) -> None:
    await everything(lore, database, "alice")
    lines = await exported(lore, "alice")
    counts = json.loads(lines[0])["fields"]["counts"]
    assert [kind for kind in KINDS if not counts[kind]] == []
    await lore.import_workspace(lines, name="bob")
    assert contents(await exported(lore, "bob")) == contents(lines)


async def test_it_goes_into_another_database(
    lore: Everlore, empty_database: TestDatabase, curated: Workspace, clock: Clock
) -> None:
    lines = await exported(lore, "alice")
    settings = empty_database.settings(embedder="none")
    await _migrated(empty_database)
    async with Everlore.open(settings, worker=False, clock=clock, embedders={}) as other:
        assert (await other.import_workspace(iter(lines))).name == "alice"
        assert contents(await exported(other, "alice")) == contents(lines)


async def _migrated(database: TestDatabase) -> None:
    from everlore.wiring import bring_up_to_date

    await bring_up_to_date(database.superuser)


async def test_every_verb_that_reads_answers_the_same(lore: Everlore, curated: Workspace) -> None:
    await lore.import_workspace(await exported(lore, "alice"), name="bob")
    await lore.catch_up()
    one, other = [await answers(await lore.workspace(name)) for name in ("alice", "bob")]
    assert one["memories"]
    assert one["facts"]
    assert one["history"]
    for what, said in one.items():
        assert other[what] == said, what


async def answers(workspace: Workspace) -> dict[str, Any]:
    memories = await workspace.memories(status="all", limit=1000)
    facts = await workspace.facts(history=True, limit=1000)
    found: dict[str, Any] = {
        "memories": memories.items,
        "facts": facts.items,
        "history": [await workspace.history(memory.memory_id) for memory in memories],
        "statements": [await workspace.fact_detail(fact.fact_id) for fact in facts],
        "entities": (await workspace.graph.entities(limit=1000)).items,
        "changes": await workspace.graph.changes(),
        "review": (await workspace.review()).items,
        "threads": (await workspace.threads()).items,
        "messages": [(await workspace.messages(name)).items for name in await workspace.thread_names()],
        "taxonomy": await workspace.graph.taxonomy(),
        "distil": await workspace.estimate_distil(),
    }
    recalled = [await workspace.recall(about) for about in ("Who likes kayaks?", "zeppelin", "Qzmaya")]
    # Which of two equals comes first, and so which of many that have nothing to do with it are let in, is nobody's promise.
    found["recalled"] = [
        (
            sorted(hit.citation.short_id for hit in one.hits if hit.support.covered),
            sorted(hit.memory.memory_id for hit in one.memories if hit.support.covered),
        )
        for one in recalled
    ]
    return {what: to_json(said) for what, said in found.items()}


async def test_what_was_said_and_known_is_found_at_once_and_by_meaning_once_a_worker_ran(
    lore: Everlore, rows: Rows
) -> None:
    workspace = await lore.workspace("alice")
    await alive(workspace)
    await workspace.remember("Emma plays chess.")
    await lore.import_workspace(await exported(lore, "alice"), name="bob")
    copy = await lore.workspace("bob")
    found = await copy.recall("zeppelin chess")
    assert "The zeppelin is a secret." in [hit.text for hit in found.hits]
    assert "Emma plays chess." in [hit.memory.content for hit in found.memories]
    assert (await copy.status()).unembedded == {"fake": 5}
    await lore.catch_up()
    assert (await copy.status()).unembedded == {"fake": 0}
    assert await rows(
        "select count(*) from everlore.passage_vector where workspace_id = %s", copy.workspace_id
    ) == [(5,)]
    await copy.record([NewMessage(role="user", text="One more.", external_id="m9")], thread="family")
    assert [message.position for message in await copy.messages("family")] == [1, 2, 3, 4]


async def test_nothing_is_read_again_and_what_waits_still_waits(lore: Everlore, curated: Workspace) -> None:
    thread = (await curated.thread_names())[0]
    await curated.distil_again(thread)
    await curated.record([NewMessage(role="user", text="I like tea.")], thread="new one")
    lines = await exported(lore, "alice")
    waiting = await curated.estimate_distil()
    await lore.import_workspace(lines, name="bob")
    copy = await lore.workspace("bob")
    assert await copy.estimate_distil() == waiting
    mine = await lore.distil(copy)
    assert await curated.estimate_distil() == waiting, "what is asked of one is not done to the other"
    assert mine == await lore.distil(curated) > 0
    assert await lore.distil(copy) == 0


async def test_a_merge_can_be_undone_in_the_copy(lore: Everlore, curated: Workspace) -> None:
    await lore.import_workspace(await exported(lore, "alice"), name="bob")
    copies = [await lore.workspace(name) for name in ("alice", "bob")]
    undone: list[Any] = []
    for workspace in copies:
        change = next(one for one in await workspace.graph.changes() if one.undone_at is None)
        await workspace.graph.undo(change.change_id)
        entities = await workspace.graph.entities(limit=1000)
        facts = await workspace.facts(limit=1000)
        undone.append(
            (
                [(one.entity.entity_id, one.entity.name) for one in entities],
                [(one.subject, one.predicate, one.object) for one in facts],
            )
        )
    assert undone[0] == undone[1]


async def test_erasing_in_one_leaves_the_other_alone(lore: Everlore, curated: Workspace) -> None:
    """They have the same ids, and nothing else in common."""
    lines = await exported(lore, "alice")
    await lore.import_workspace(lines, name="bob")
    for thread in await curated.thread_names():
        await curated.delete_thread(thread)
    assert contents(await exported(lore, "bob")) == contents(lines)
    await lore.delete_workspace("alice")
    assert contents(await exported(lore, "bob")) == contents(lines)
    with pytest.raises(NotFound):
        await lore.export_workspace("alice")


async def test_other_workspaces_stay_as_they_are(lore: Everlore, curated: Workspace, rows: Rows) -> None:
    lines = await exported(lore, "alice")
    before = await all_rows(rows, curated)
    await lore.import_workspace(lines, name="bob")
    assert await all_rows(rows, curated) == before


async def all_rows(rows: Rows, workspace: Workspace) -> list[Any]:
    tables = await rows(
        "select relname from pg_class c join pg_attribute a on a.attrelid = c.oid and attname = 'workspace_id'"
        " where relnamespace = 'everlore'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1"
    )
    return [
        await rows(
            cast("Any", f"select t::text from everlore.{table} t where workspace_id = %s order by 1"),
            workspace.workspace_id,
        )
        for (table,) in tables
    ]


async def test_an_export_is_of_one_moment(lore: Everlore) -> None:
    workspace = await lore.workspace("alice")
    await alive(workspace)
    before = await exported(lore, "alice")
    lines: list[str] = []
    async for line in await lore.export_workspace("alice"):
        if not lines:
            await workspace.record([NewMessage(role="user", text="Too late.")], thread="other")
            await workspace.delete_thread("family")
        lines.append(line)
    assert contents(lines) == contents(before)


# What an export holds


async def test_every_table_of_a_workspace_is_exported_or_made_anew(rows: Rows) -> None:
    tables = await rows(
        "select relname from pg_class c join pg_attribute a on a.attrelid = c.oid and attname = 'workspace_id'"
        " where relnamespace = 'everlore'::regnamespace and relkind in ('r', 'p') and not relispartition"
    )
    assert {name for (name,) in tables} == KINDS.keys() | MADE_ANEW.keys()
    assert KINDS.keys() & MADE_ANEW.keys() == set()


@pytest.mark.parametrize("kind", KINDS)
async def test_every_column_is_imported(rows: Rows, kind: str) -> None:
    found = await rows(
        "select attname from pg_attribute where attrelid = %s::regclass and attnum > 0 and attgenerated = ''"
        " and not attisdropped",
        f"everlore.{kind}",
    )
    query = queries("transfer")[KINDS[kind].write].decode()
    into = query[query.index("(") + 1 : query.index(")")].replace("\n", " ").split(",")
    assert {name.strip() for name in into} == {name for (name,) in found} - KINDS[kind].left_out


# What is refused


@pytest.fixture
async def lines(lore: Everlore, database: TestDatabase) -> list[str]:
    await everything(lore, database, "alice")
    return await exported(lore, "alice")


async def refused(lore: Everlore, lines: Iterable[str | bytes]) -> str:
    """What is said; nothing of it is stored, not even the name."""
    with pytest.raises(InvalidInput) as said:
        await lore.import_workspace(lines, name="bob")
    with pytest.raises(NotFound):
        await lore.workspace("bob", create=False)
    return str(said.value)


async def test_a_file_that_is_cut_off_is_refused_wherever(lore: Everlore, lines: list[str]) -> None:
    for kept in range(len(lines)):
        said = await refused(lore, lines[:kept])
        assert said == (
            f"line {kept}: is the last one, and it is not the end of the export: it is cut off"
            if kept
            else "line 1: is missing: there is nothing to import"
        )
    assert "is not valid JSON" in await refused(lore, [*lines[:-1], lines[-1][:-20]])
    await lore.import_workspace(lines, name="bob")


async def test_a_line_that_is_there_twice_or_missing_is_refused(lore: Everlore, lines: list[str]) -> None:
    for place in range(1, len(lines) - 1):
        said = await refused(lore, [*lines[: place + 1], *lines[place:]])
        assert said.startswith((f"line {place + 2}, ", f"line {len(lines) + 1}, counts: differ")), said
        said = await refused(lore, [*lines[:place], *lines[place + 1 :]])
        assert said.startswith("line "), said


def changed(kind: str, **fields: Any) -> Callable[[list[Line]], None]:
    def change(lines: list[Line]) -> None:
        line = next(one for one in lines if one["kind"] == kind)
        line["fields"] |= fields

    return change


def without(kind: str, field: str) -> Callable[[list[Line]], None]:
    def change(lines: list[Line]) -> None:
        del next(one for one in lines if one["kind"] == kind)["fields"][field]

    return change


@pytest.mark.parametrize(
    ("kind", "field", "value", "said"),
    [
        ("message", "message_id", "no id", "is no value of its type (uuid)"),
        ("message", "message_id", None, "must not be null"),
        ("message", "message_id", 7, "must be text"),
        ("message", "thread_id", "00000000-0000-7000-8000-000000000000", "is not in the file before it"),
        ("message", "position", "one", "must be a whole number"),
        ("message", "position", True, "must be a whole number"),
        ("message", "position", 2**40, "is no value of its type (integer)"),
        ("message", "role", "king", "is outside its limits"),
        ("message", "occurred_at", "yesterday evening", "is no value of its type (timestamp with time zone)"),
        ("message", "text", "a\0b", "is no value of its type (text)"),
        ("message", "text", "\ud800", "is no value of its type (text)"),
        ("message", "captions", ["a", "\0"], "is no value of its type (text[])"),
        ("message", "captions", "a", "must be a list"),
        ("message", "metadata", {"a": "\0"}, "is no value of its type (jsonb)"),
        ("message", "taxonomy", "a b", "is no value of its type (ltree)"),
        ("message", "content_hash", "\\xzz", "is no value of its type (bytea)"),
        ("message", "off_the_record", "no", "must be true or false"),
        ("memory", "importance", 2, "is outside its limits"),
        ("memory", "importance", "0.5", "must be a number"),
        ("memory", "type", "opinion", "is outside its limits"),
        ("usage", "cost", "a lot", "must be a number"),
        ("usage", "day", "2025-13-01", "is no value of its type (date)"),
        ("passage", "passage_id", 2**31 - 1, "must count from 1"),
        ("passage", "layer", "said", "is outside its limits"),
        ("handed_out", "shingles", [1, "x"], "is no value of its type (bigint[])"),
        ("alias", "variant", "", "is outside its limits"),
    ],
)
async def test_a_bad_field_is_named_with_its_line(
    lore: Everlore, lines: list[str], kind: str, field: str, value: Any, said: str
) -> None:
    read = [json.loads(line) for line in lines]
    number = next(place for place, one in enumerate(read, 1) if one["kind"] == kind)
    changed(kind, **{field: value})(read)
    answer = await refused(lore, written(read))
    assert answer.startswith(f"line {number}, "), answer
    assert answer.endswith(said) or said in answer, answer
    # A check over several columns may name another of them.
    assert answer.startswith(f"line {number}, {field}: ") or field == "layer", answer


async def test_what_is_no_export_is_refused(lore: Everlore, lines: list[str]) -> None:
    header = json.loads(lines[0])
    newer = {**header, "fields": {**header["fields"], "version": 2}}
    unknown = json.dumps({"kind": "dream", "fields": {}})
    read = [json.loads(line) for line in lines]
    message = next(place for place, one in enumerate(read) if one["kind"] == "message")
    thread = next(place for place, one in enumerate(read) if one["kind"] == "thread")
    more, less = json.loads(lines[message]), json.loads(lines[message])
    more["fields"]["colour"] = "red"
    del less["fields"]["text"]
    later = [*lines[:thread], *lines[thread + 1 : message + 1], lines[thread], *lines[message + 1 :]]
    # Of several threads another may be the first that has no line before what refers to it.
    moved = next(
        n for n, line in enumerate(later, 1) if json.loads(lines[thread])["fields"]["thread_id"] in line
    )
    for given, said in (
        ([*lines[1:]], "line 1: is not the header of an export of Everlore"),
        (['{"role": "user", "text": "tea"}'], "line 1: must be an object of `kind`"),
        (["tea"], "line 1: is not valid JSON"),
        ([b"\xff\xfe"], "line 1: is not valid UTF-8 (byte 1)"),
        ([json.dumps(newer), *lines[1:]], "line 1, version: is 2; this Everlore reads 1. Upgrade it"),
        ([lines[0], unknown, *lines[1:]], "line 2, kind: 'dream' is none that this Everlore knows"),
        ([*lines, lines[1]], f"line {len(lines) + 1}: stands behind the end"),
        (["[" * 100_000], "line 1: is not valid JSON"),
        ([lines[0], '{"kind": "project", "fields": NaN}'], "line 2: is not valid JSON"),
        ([*lines[:message], json.dumps(more), *lines[message + 1 :]],
         f"line {message + 1}, colour: is not a field of the kind message"),
        ([*lines[:message], json.dumps(less), *lines[message + 1 :]], f"line {message + 1}, text: is missing"),
        (later, f"line {moved}, thread_id: what it refers to is not in the file before it"),
    ):  # fmt: skip
        answer = await refused(lore, given)
        assert answer.startswith(said), answer


async def test_only_into_a_name_that_holds_nothing(lore: Everlore, lines: list[str]) -> None:
    with pytest.raises(InvalidInput, match="the workspace alice holds something already; give another name"):
        await lore.import_workspace(lines)
    assert await exported(lore, "alice") == lines
    await lore.workspace("empty", create=True)
    await lore.import_workspace(lines, name="empty")
    assert contents(await exported(lore, "empty")) == contents(lines)
    with pytest.raises(InvalidInput, match="name: must have 1 to 200 characters"):
        await lore.import_workspace(lines, name=" ")


async def test_lines_may_arrive_as_they_like(lore: Everlore, lines: list[str]) -> None:
    async def arriving() -> AsyncIterator[bytes]:
        for line in lines:
            yield b"\n"
            yield line.replace("\n", "\r\n").encode()

    await lore.import_workspace(arriving(), name="bob")
    assert contents(await exported(lore, "bob")) == contents(lines)


async def test_where_the_lines_end_in_an_error_nothing_is_stored(lore: Everlore, lines: list[str]) -> None:
    async def broken() -> AsyncIterator[str]:
        for line in lines[:-3]:
            yield line
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await lore.import_workspace(broken(), name="bob")
    with pytest.raises(NotFound):
        await lore.workspace("bob", create=False)


# Any text that can be stored

TEXTS = strategies.text(strategies.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
VALUES: Any = strategies.recursive(
    strategies.none() | strategies.booleans() | strategies.integers() | strategies.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: strategies.lists(inner) | strategies.dictionaries(TEXTS, inner),
    max_leaves=8,
)  # fmt: skip


@hypothesis.settings(max_examples=25, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
@hypothesis.given(texts=strategies.lists(TEXTS.filter(str.strip), min_size=1, max_size=5), value=VALUES)
async def test_any_text_and_any_metadata_come_back(lore: Everlore, texts: list[str], value: Any) -> None:
    name = f"from {uuid4()}"
    workspace = await lore.workspace(name)
    messages = [
        NewMessage(
            role="user",
            text=text,
            author=texts[-1].strip()[:200],
            system_prompt=text,
            captions=[text],
            metadata={text: value},
        )
        for text in texts
    ]
    try:
        await workspace.record(messages)
        await workspace.remember(texts[0][:2000])
    except InvalidInput:
        hypothesis.reject()
    lines = await exported(lore, name)
    await lore.import_workspace(lines, name=f"to {name}")
    assert contents(await exported(lore, f"to {name}")) == contents(lines)
