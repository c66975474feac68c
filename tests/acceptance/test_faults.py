"""A model that costs little, and one that fails in every way: nothing lost, nothing invented, nothing doubled (measure 3)."""

import random
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import psycopg
import pytest
from tests.conftest import Clock, TestDatabase
from tests.models.openai_server import FAULTS, Answer, Asked, Fault, OpenAIServer, memory

from everlore.api.workspace import Workspace
from everlore.domain.memories import Memory
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.grounding.answers import doubts
from everlore.models.fake import FakeEmbedder
from everlore.models.language_model.analyst import ModelAnalyst
from everlore.models.language_model.endpoint import Endpoint

MODEL = "tiny"
INJECTED = 200
THREAD = 42
PEOPLE = ("Anna", "Ben")
_ANIMALS = ("hens", "goats", "bees", "ducks", "sheep", "rabbits", "geese", "pigs", "llamas", "doves")


def statement(number: int) -> str:
    return f"I keep {number} {_ANIMALS[number % len(_ANIMALS)]} on the farm"


def remembered(by: str, said: str) -> str:
    return said.replace("I keep", f"{by} keeps")


def a_simple_mind(asked: Asked) -> Answer:
    """Every statement of a person is a memory, in the third person."""
    found = [
        memory(remembered(one["by"], one["said"]), one["n"], one["said"])
        for one in asked.messages
        if one["said"].startswith("I keep")
    ]
    return {"memories": found, "facts": [], "entities": []}


def conversation(first: int, count: int, at: datetime) -> list[NewMessage]:
    """A statement, a question, a thank you, in turn."""
    messages: list[NewMessage] = []
    for number in range(first, first + count):
        who = PEOPLE[number // 3 % len(PEOPLE)]
        text = (statement(number), "What do you think?", "Thanks a lot!")[number % 3]
        messages.append(
            NewMessage(role="user", author=who, text=text, at=at + timedelta(seconds=number - first))
        )
    return messages


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer(a_simple_mind) as running:
        yield running


@asynccontextmanager
async def opened(
    database: TestDatabase, clock: Clock, model: OpenAIServer, *, timeout_s: float
) -> AsyncGenerator[Everlore]:
    async def at_once(seconds: float) -> None:
        return None

    analyst = ModelAnalyst(Endpoint(MODEL, url=model.url, timeout_s=timeout_s), doubts, sleep=at_once)
    settings = database.settings(distil={"breaker_failures": 1000, "daily_calls_hard": None})
    async with Everlore.open(
        settings, worker=False, clock=clock, embedders={"fake": FakeEmbedder()}, analyst=analyst
    ) as lore:
        yield lore


async def test_a_thousand_messages_cost_at_most_a_hundred_calls(
    model: OpenAIServer, clock: Clock, database: TestDatabase
) -> None:
    faults: list[Fault] = ["server_error", "truncated", "empty", "rate_limited", "not_json_at_all"]
    for fault in faults:
        model.then(None, None, fault)
    async with opened(database, clock, model, timeout_s=60) as lore:
        workspace = await lore.workspace("alice", create=True)
        await workspace.record(conversation(0, 1000, clock() - timedelta(hours=1)), session="one")
        assert await lore.distil(workspace) == 1000
        (day,) = (await workspace.usage()).days
        assert day.failed == len(faults)
        assert day.calls - day.failed <= 100
        assert model.requests == day.calls
        assert len(await workspace.memories(limit=1000)) == 334


async def test_two_hundred_faults_lose_invent_and_double_nothing(
    model: OpenAIServer, clock: Clock, database: TestDatabase
) -> None:
    async with opened(database, clock, model, timeout_s=1.0) as lore:
        workspace = await lore.workspace("alice", create=True)
        told = await suffer(lore, workspace, model, clock)
        here = await workspace.status()
        assert (here.messages, here.undistilled, here.failed_windows) == (len(told), 0, 0)
        await every_message_was_read(database)
        statements = {
            remembered(str(one.author), one.text): one.text for one in told if one.text.startswith("I keep")
        }
        active = await workspace.memories(limit=1000)
        await every_memory_rests_on_its_source(workspace, active, statements)
        assert len(active) > 0.7 * len(statements)
        assert len({one.content for one in active}) == len(active)
        set_aside = {one.content for one in await workspace.memories(status="rejected", limit=1000)}
        assert any("4711" in content for content in set_aside)
    await nothing_is_there_twice(database)


async def suffer(lore: Everlore, workspace: Workspace, model: OpenAIServer, clock: Clock) -> list[NewMessage]:
    """Record and distil, thread after thread, until every fault was met and overcome; returns what was recorded."""
    chance = random.Random(3)
    kinds: list[Fault] = [*FAULTS] * (INJECTED // len(FAULTS) + 1)
    faults = kinds[:INJECTED]
    chance.shuffle(faults)
    assert set(faults) == set(FAULTS)
    answers: list[Fault | None] = []
    for fault in faults:
        answers.append(fault)
        answers += [None] * (chance.random() < 0.2)
    model.then(*answers)
    told: list[NewMessage] = []
    parked = failed = waiting = 0
    while waiting or model.requests < len(answers):
        if model.requests < len(answers):
            for _ in range(4):
                said = conversation(len(told), THREAD, clock() - timedelta(hours=1))
                await workspace.record(said, thread=f"thread {len(told)}")
                told += said
        await lore.distil(workspace)
        status, here = await lore.status(), await workspace.status()
        parked, failed = parked + len(status.parked), failed + len(status.failures)
        # What is not done is in sight, and why.
        assert all(one.error for one in (*status.parked, *status.failures))
        assert here.failed_windows == len(status.failures)
        assert not here.undistilled or status.parked
        waiting = len(status.parked) + len(status.failures)
        assert (await lore.retry_parked()).count == waiting
    assert min(parked, failed) > 5
    return told


async def every_memory_rests_on_its_source(
    workspace: Workspace, active: Sequence[Memory], statements: dict[str, str]
) -> None:
    for one in active:
        assert one.content in statements
        for source in (await workspace.memory(one.memory_id)).sources:
            assert source.quote == statements[one.content]


async def every_message_was_read(database: TestDatabase) -> None:
    """Each position of each thread stands in exactly one window that could be read."""
    async with await psycopg.AsyncConnection.connect(database.superuser) as connection:
        cursor = await connection.execute(
            "select m.thread_id, m.position, count(d.distillation_id) from everlore.message m"
            " left join everlore.distillation d on d.workspace_id = m.workspace_id and d.thread_id = m.thread_id"
            "  and m.position between d.first and d.last and d.superseded_at is null and d.error is null"
            " group by 1, 2 having count(d.distillation_id) <> 1"
        )
        assert await cursor.fetchall() == []


async def nothing_is_there_twice(database: TestDatabase) -> None:
    async with await psycopg.AsyncConnection.connect(database.superuser) as connection:
        for query in (
            "select content_hash from everlore.memory"
            " where superseded_at is null and review is null group by 1 having count(*) > 1",
            "select lineage_id, message_id, start_at from everlore.memory_source"
            " where retracted_at is null group by 1, 2, 3 having count(*) > 1",
            "select owner_id from everlore.passage where kind = 'memory' group by 1 having count(*) > 1",
        ):
            assert await (await connection.execute(query)).fetchall() == []
