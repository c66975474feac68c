"""Random sequences by their seeds: a few in every run, many by hand (`pytest tests/fuzz --fuzz 250`)."""

from collections.abc import AsyncIterator
from typing import cast

import pytest
from tests.conftest import Clock, TestDatabase
from tests.steps.conftest import rows

from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder

__all__ = ["rows"]

# Enough to notice what is broken at once; what is rare is looked for by hand.
IN_EVERY_RUN = 4


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fuzz-from", type=int, default=0, metavar="SEED", help="the first seed")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        first = cast("int", metafunc.config.getoption("--fuzz-from", 0))
        many = IN_EVERY_RUN * cast("int", metafunc.config.getoption("--fuzz"))
        metafunc.parametrize("seed", range(first, first + many))


@pytest.fixture
async def lore(database: TestDatabase, clock: Clock, fake: FakeEmbedder) -> AsyncIterator[Everlore]:
    async with Everlore.open(
        database.settings(), worker=False, clock=clock, embedders={"fake": fake}
    ) as opened:
        yield opened
