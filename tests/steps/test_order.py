"""What is believed depends on when things were said, not on which thread was distilled first."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from importlib.resources import as_file, files

import pytest
from tests.conftest import Clock, TestDatabase
from tests.steps.conftest import Rows

from everlore.api.workspace import Workspace
from everlore.capture.importers import read_jsonl
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder

BELIEVED = {
    "memory": "select type, content, valid_from, valid_to from everlore.memory"
    " where workspace_id = %s and superseded_at is null and review is null and forgotten_at is null",
    "fact": "select e.name, f.predicate, f.object, f.valid_from, f.valid_to, f.confidence from everlore.fact f"
    " join everlore.entity e using (workspace_id) where f.workspace_id = %s and e.entity_id = f.subject_id"
    " and f.superseded_at is null and f.review is null and (f.valid_to is null or f.valid_to > f.valid_from)",
    "entity": "select e.name, e.type, array(select a.variant from everlore.alias a where a.entity_id = e.entity_id order by 1)"
    " from everlore.entity e where workspace_id = %s and merged_into is null",
}


@pytest.fixture
async def lore(database: TestDatabase, clock: Clock, fake: FakeEmbedder) -> AsyncIterator[Everlore]:
    async with Everlore.open(database.settings(), worker=False, clock=clock, embedders={"fake": fake}) as opened:
        yield opened


async def recorded(workspace: Workspace) -> list[str]:
    """The bundled sample, in its threads; returns their names."""
    threads: dict[str, list[object]] = {}
    with as_file(files("everlore.data") / "sample.jsonl") as path:
        for line in read_jsonl(path):
            threads.setdefault(line.thread or "main", []).append(line.message)
    for thread, messages in threads.items():
        await workspace.record(messages, thread=thread)  # pyright: ignore[reportArgumentType]
    return list(threads)


async def believed(rows: Rows, lore: Everlore, name: str, order: Sequence[str] | None) -> dict[str, Counter[str]]:
    workspace = await lore.workspace(name)
    threads = await recorded(workspace)
    for thread in order or threads:
        await lore.distil(workspace, thread)
    return {what: Counter(map(str, await rows(q, workspace.workspace_id))) for what, q in BELIEVED.items()}


async def test_measure(lore: Everlore, rows: Rows) -> None:
    first = await believed(rows, lore, "one", None)
    names = await recorded(await lore.workspace("names"))
    other = await believed(rows, lore, "two", names[::-1])
    out = []
    for what in BELIEVED:
        a, b = first[what], other[what]
        out.append(f"## {what}: {a.total()} {b.total()}")
        out += [f"- {x}" for x in sorted((a - b).elements())] + [f"+ {x}" for x in sorted((b - a).elements())]
    open("/tmp/order.txt", "w").write("\n".join(out))
