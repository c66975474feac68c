"""What is believed depends on when things were said, not on which thread was distilled first."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from importlib.resources import as_file, files
from itertools import permutations
from typing import Any, LiteralString

import pytest
from tests.conftest import Clock, TestDatabase
from tests.steps.conftest import Rows

from everlore.api.workspace import Workspace
from everlore.capture.importers import read_jsonl
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder

BELIEVED: Mapping[str, LiteralString] = {
    "memory": """
        select m.type, m.author, m.content, m.valid_from, m.valid_to, m.event_at, m.expires_at, m.confidence, m.importance,
               array(select e.name from everlore.memory_entity x join everlore.entity e using (workspace_id, entity_id)
                     where x.workspace_id = m.workspace_id and x.lineage_id = m.lineage_id order by 1)
        from everlore.memory m
        where m.workspace_id = %s and m.superseded_at is null and m.review is null and m.forgotten_at is null
          and m.tier = 'shown'""",  # what is a key only is believed by nobody
    "fact": """
        select e.name, f.predicate, f.object, o.name, f.valid_from, f.valid_to, f.confidence
        from everlore.fact f
        join everlore.entity e on e.workspace_id = f.workspace_id and e.entity_id = f.subject_id
        left join everlore.entity o on o.workspace_id = f.workspace_id and o.entity_id = f.object_id
        where f.workspace_id = %s and f.superseded_at is null and f.review is null
          and (f.valid_to is null or f.valid_to > f.valid_from)""",
    "entity": """
        select e.name, e.type,
               array(select a.variant || ' ' || a.weight || ' ' || a.origin from everlore.alias a
                     where a.workspace_id = e.workspace_id and a.entity_id = e.entity_id order by 1),
               (select count(*) from everlore.mention n where n.workspace_id = e.workspace_id and n.entity_id = e.entity_id)
        from everlore.entity e where e.workspace_id = %s and e.merged_into is null""",
}  # fmt: skip

# What is said in threads, each with the day on which it was said.
Threads = Mapping[str, Sequence[tuple[int, str]]]
CONVERSATIONS: Mapping[str, Threads] = {
    "a move that was put right": {
        "a": [(1, "I live in Porto."), (60, "I'm learning Portuguese.")],
        "b": [(30, "I moved to Lisbon.")],
        "c": [(45, "Sorry, I meant Lagos, not Lisbon. I live in Lagos."), (50, "I'm learning Portuguese.")],
    },
    "an allergy that was another one": {
        "a": [(1, "I'm allergic to walnuts.")],
        "b": [(20, "actually I mixed that up, I'm allergic to hazelnuts, not walnuts")],
        "c": [(40, "I'm no longer allergic to hazelnuts.")],
    },
    "nothing at all": {
        "a": [(1, "I'm allergic to peanuts.")],
        "b": [(20, "Actually, correction: I'm not allergic to anything.")],
        "c": [(40, "I'm allergic to dust.")],
    },
    "one person by two names": {
        "a": [(1, "Jonas works at Volvo.")],
        "b": [(20, "JONAS EKDAHL lives in Malmö.")],
        "c": [(40, "Jonas Ekdahl works at Ericsson."), (41, "Jonas is my colleague.")],
    },
    "the same again, more fully, and over": {
        "a": [(1, "I live in Kisumu, near the market.")],
        "b": [(20, "I live in Kisumu.")],
        "c": [(40, "I moved to Eldoret."), (41, "I need to book the dentist.")],
    },
}


@pytest.fixture
async def lore(database: TestDatabase, clock: Clock, fake: FakeEmbedder) -> AsyncIterator[Everlore]:
    async with Everlore.open(
        database.settings(), worker=False, clock=clock, embedders={"fake": fake}
    ) as opened:
        yield opened


async def believed(rows: Rows, workspace: Workspace) -> dict[str, Counter[str]]:
    return {
        what: Counter(
            str([str(column) for column in row]) for row in await rows(query, workspace.workspace_id)
        )
        for what, query in BELIEVED.items()
    }


def _apart(one: Mapping[str, Counter[str]], other: Mapping[str, Counter[str]]) -> list[str]:
    lost = [f"- {what} {row}" for what, rows in one.items() for row in (rows - other[what]).elements()]
    return lost + [f"+ {what} {row}" for what, rows in other.items() for row in (rows - one[what]).elements()]


async def distilled(lore: Everlore, workspace: Workspace, order: Sequence[str]) -> None:
    for thread in order:
        await lore.distil(workspace, thread)
    await lore.distil(workspace)  # and what is read anew


@pytest.mark.parametrize("threads", CONVERSATIONS.values(), ids=CONVERSATIONS)
async def test_threads_may_be_distilled_in_any_order(lore: Everlore, rows: Rows, threads: Threads) -> None:
    start = datetime(2025, 1, 1, 9, tzinfo=UTC)
    found: list[dict[str, Counter[str]]] = []
    for number, order in enumerate(permutations(threads)):
        workspace = await lore.workspace(f"w{number}", create=True)
        for thread, said in threads.items():
            messages = [
                NewMessage(role="user", author="Anna", text=text, at=start + timedelta(days=day))
                for day, text in said
            ]
            await workspace.record(messages, thread=thread)
        await distilled(lore, workspace, order)
        found.append(await believed(rows, workspace))
    assert found[0]["memory"]
    assert found[0]["entity"]
    assert [_apart(found[0], other) for other in found[1:]] == [[]] * (len(found) - 1)


async def test_the_sample_may_be_distilled_backwards(lore: Everlore, rows: Rows) -> None:
    found: list[dict[str, Counter[str]]] = []
    for name, backwards in (("one", False), ("two", True)):
        workspace = await lore.workspace(name, create=True)
        threads: dict[str, list[Mapping[str, Any]]] = {}
        with as_file(files("everlore.data") / "sample.jsonl") as path:
            for line in read_jsonl(path):
                if line.message is not None:
                    threads.setdefault(line.thread or "main", []).append(line.message)
        for thread, messages in threads.items():
            await workspace.record(messages, thread=thread)
        await distilled(lore, workspace, list(threads)[:: -1 if backwards else 1])
        found.append(await believed(rows, workspace))
    assert _apart(*found) == []
