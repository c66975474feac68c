"""Facts that the rules read, as a person finds them: from when on they hold, and what ends them."""

from datetime import UTC, datetime

import pytest
from tests.conftest import Clock, TestDatabase

from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.models.rules import RuleAnalyst

SAID = datetime(2024, 5, 3, 9, tzinfo=UTC)


async def holding(database: TestDatabase, clock: Clock, *texts: str) -> set[tuple[str, str, str]]:
    """The facts that hold when all was said."""
    async with Everlore.open(
        database.settings(),
        worker=False,
        clock=clock,
        embedders={"fake": FakeEmbedder()},
        analyst=RuleAnalyst(),
    ) as lore:
        workspace = await lore.workspace("alice", create=True)
        await workspace.record(
            [NewMessage(role="user", author="Anna", text=text, at=SAID.replace(minute=n)) for n, text in enumerate(texts)]
        )  # fmt: skip
        await lore.distil()
        return {(one.subject, one.predicate, one.object) for one in await workspace.facts(limit=100)}


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        (["My piano exam is on 12 December."], {("Anna", "has_piano_exam_on", "12 December")}),
        (["I own a canoe.", "I sold the canoe to Petra in Leeds."], set[tuple[str, str, str]]()),
        (["My rent is 640 euros.", "My rent is 680 euros now."], {("Anna", "has_rent", "680 euros")}),
        (["I don't drink coffee.", "I drink coffee again."], {("Anna", "drinks", "coffee")}),
    ],
    ids=["a day to come", "sold", "one at a time", "opposite"],
)
async def test_what_holds(
    database: TestDatabase, clock: Clock, said: list[str], holds: set[tuple[str, str, str]]
) -> None:
    assert await holding(database, clock, *said) == holds
