"""The golden cases for development through the whole memory by rules (measure 2). The third held back is for the final figure:
`python -m tests.golden.pipeline --held-back`."""

from tests.conftest import Clock, TestDatabase
from tests.golden.pipeline import DEVELOPMENT, distilled, report
from tests.golden.score import load, score

from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.models.rules import RuleAnalyst

PRECISION, RECALL = 0.80, 0.28  # of all ways to say it few are understood, and those rightly


async def test_rules_find_what_they_should_and_little_else(database: TestDatabase, clock: Clock) -> None:
    cases = load(DEVELOPMENT)
    async with Everlore.open(
        database.settings(),
        worker=False,
        clock=clock,
        embedders={"fake": FakeEmbedder()},
        analyst=RuleAnalyst(),
    ) as lore:
        total = score(cases, await distilled(lore, cases))
        assert not (await lore.status()).failures
    said = report(total, failures=True)
    assert total.kinds.keys() == {"memories", "facts", "aliases", "supersedes"}
    for tally in (total.all, *total.kinds.values()):
        assert tally.precision >= PRECISION, said
    assert total.all.recall >= RECALL, said
    assert sum(map(bool, total.trap_wrong.values())) <= 2, said
