"""Export and import: a workspace becomes lines and the same workspace again, all of it or nothing."""

import json
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.conftest import Clock, TestDatabase
from tests.fuzz.curating import Person
from tests.steps.conftest import Rows

from everlore.api.workspace import Workspace
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder


async def exported(lore: Everlore, name: str) -> list[str]:
    return [line async for line in await lore.export_workspace(name)]


def rows_of(lines: list[str]) -> list[Any]:
    """All but the header, which has another name and time."""
    return [json.loads(line) for line in lines[1:]]


@pytest.mark.parametrize("seed", range(3))
async def test_curated(lore: Everlore, clock: Clock, rows: Rows, seed: int) -> None:
    person = Person(lore, await lore.workspace("alice"), clock, rows, random.Random(seed))
    for _ in range(40):
        await person.step()
    lines = await exported(lore, "alice")
    done = await lore.import_workspace(lines, name="bob")
    print(done)
    assert rows_of(await exported(lore, "bob")) == rows_of(lines)
    assert (await lore.import_workspace(lines, name="carol")).counts == done.counts
