"""How many random sequences are tried: a few in every run, as many as one likes by hand (`pytest tests/fuzz --fuzz 1000`)."""

import pytest
from tests.steps.conftest import rows

__all__ = ["rows"]

# Enough to notice what is broken at once; what is rare is looked for by hand.
IN_EVERY_RUN = 4


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fuzz", type=int, default=IN_EVERY_RUN, help="how many random sequences to try")
    parser.addoption("--fuzz-from", type=int, default=0, help="the first seed")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        first = int(metafunc.config.getoption("--fuzz-from", 0))
        many = int(metafunc.config.getoption("--fuzz", IN_EVERY_RUN))
        metafunc.parametrize("seed", range(first, first + many))
