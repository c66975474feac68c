"""What whole verbs read of a large workspace: distilling, remembering, correcting, erasing, recalling, merging.

No statement of theirs may read more than a bounded number of rows of a table that grows: the plans that really ran, with the
rows that they read, are taken from auto_explain, on connections that served small workspaces before.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests.store.test_plans import DIMENSIONS, LARGE, SMALL, Place, Plan, filled

from everlore.api.workspace import Workspace
from everlore.config import Settings
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.ports.embedder import Embedder
from everlore.store.database import APP, WORKER, Database
from everlore.store.run import Transaction
from everlore.store.server import Server

# The large workspace has 6,000 of everything.
AT_MOST = 600
GROWING = re.compile(
    r"(message|passage|passage_tokens|memory|memory_source|memory_entity|fact|fact_source|mention|alias|entity"
    r"|unembedded|distillation)\Z"
)
EXPLAIN = {
    "session_preload_libraries": "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_timing": "off",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_format": "json",
    "auto_explain.log_level": "notice",
}

# To index all that was filled in would be most of the work. What is left is more than any statement may read.
LEFT = AT_MOST + 100
ALMOST_INDEXED = f"""
update everlore.watermark set position = greatest(0, written - {LEFT}) where step like 'vector:%' and written > {SMALL};
update everlore.watermark set position = written where step like 'vector:%' and written <= {SMALL};
delete from everlore.unembedded where passage_id > {2 * LARGE + LEFT};
"""


@pytest.fixture(scope="module")
def analysed(server: Server) -> Generator[tuple[str, list[Place]]]:
    with filled(server, analysed=True) as content:
        with psycopg.connect(content[0], autocommit=True) as connection:
            connection.execute(ALMOST_INDEXED.encode())
        yield content


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """The plans of everything that is done in workspaces from now on."""
    heard: list[Plan] = []

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        if "plan:\n" in (message := notice.message_primary or ""):
            plan = json.loads(message.split("plan:\n", 1)[1])
            heard.append(Plan(plan["Query Text"], plan["Plan"]))

    quiet = Database.workspace

    @asynccontextmanager
    async def listening(self: Database, workspace_id: UUID, **how: bool) -> AsyncGenerator[Transaction]:
        async with quiet(self, workspace_id, **how) as connection:
            connection.connection.add_notice_handler(hear)
            try:
                yield connection
            finally:
                connection.connection.remove_notice_handler(hear)

    monkeypatch.setattr(Database, "workspace", listening)
    return heard


def settings(conninfo: str) -> Settings:
    options = " ".join(f"-c {name}={value}" for name, value in EXPLAIN.items())
    urls = {role: make_conninfo(conninfo, options=f"{options} -c role={role}") for role in (APP, WORKER)}
    return Settings.model_validate(
        {"database_url": urls[APP], "worker_url": urls[WORKER], "migration_url": conninfo, "pool_size": 1}
    )


async def everything(lore: Everlore, workspace: Workspace) -> None:
    """Each verb once or twice."""
    said = ["I moved to Porto last year.", "Emma likes word7 and chess.", "My sister Anna works at Acme."]
    await workspace.record([NewMessage(role="user", text=text) for text in said * 4], thread="new")
    await lore.distil(workspace, "new")
    await lore.catch_up()
    for question in ("Where do I live?", "What does Emma like?", "Which tasks are open?", "word11 word23"):
        await workspace.recall(question)
    made = await workspace.context("What does Emma like?", thread="new", budget=500)
    made = await workspace.context("Where do I live?", since=made.context_id, budget=500)
    await workspace.context_record(made.short_id)
    await workspace.contexts(thread="new")
    tea = await workspace.remember("Emma likes green tea.")
    await workspace.correct(tea.memory_id, content="Emma likes black tea.")
    await workspace.pin(tea.lineage_id)
    await workspace.forget(tea.lineage_id)
    await workspace.restore(tea.lineage_id)
    await workspace.reject((await workspace.remember("Anna likes rain.")).memory_id)
    for memory in await workspace.memories(limit=5):
        await workspace.memory(memory.memory_id)
    for fact in await workspace.facts(subject="Emma", limit=5):
        await workspace.fact(str(fact.fact_id)[-8:])
    (first, *_) = await workspace.facts(subject="user", limit=1)
    await workspace.confirm_fact(first.fact_id)
    await workspace.review()
    await workspace.distil_again("new")
    await lore.distil(workspace, "new")
    await workspace.graph.search("Anna")
    await workspace.graph.show("Anna", depth=2)
    await workspace.graph.undo((await workspace.graph.merge("Anna", "Acme")).change_id)
    await workspace.erase(tea.lineage_id, sources=True)
    (hit, *_) = (await workspace.recall("Porto", kinds=("memory",))).memories
    await workspace.erase(hit.memory.memory_id, sources=True)


def read_rows(node: dict[str, Any]) -> float:
    """The rows that a node of a plan looked at."""
    passed = node.get("Actual Rows", 0) + node.get("Rows Removed by Filter", 0)
    return (passed + node.get("Rows Removed by Index Recheck", 0)) * node.get("Actual Loops", 1)


def test_no_verb_reads_all_of_a_table_that_grows(
    analysed: tuple[str, list[Place]], plans: list[Plan]
) -> None:
    conninfo, places = analysed

    async def run() -> None:
        embedders: dict[str, Embedder] = {"fake": FakeEmbedder("fake", DIMENSIONS)}
        async with Everlore.open(settings(conninfo), worker=False, embedders=embedders) as lore:
            for place in (*places[:2], places[-1]):
                plans.clear()
                await everything(lore, await lore.workspace(place.workspace_id.hex))

    asyncio.run(run())
    assert len(plans) > 300
    wide = {
        f"{read_rows(node):.0f} rows of {node['Relation Name']} by {node.get('Index Name')}: {plan.query[:3000]}"
        for plan in plans
        for node in plan.nodes
        if GROWING.match(node.get("Relation Name", "")) and read_rows(node) > AT_MOST
    }
    assert not wide, "\n\n".join(sorted(wide))
