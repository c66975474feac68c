"""The 60 contradiction sequences through the whole memory (measure 5): what holds now, what held then, what was believed then."""

from collections.abc import Sequence

import pytest
from tests.conftest import Clock, TestDatabase
from tests.golden.sequences import SEQUENCES, Answer, Sequence_, answers, perfect_analyst, play, report

from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.models.rules import RuleAnalyst
from everlore.ports.analyst import Analyst

CHUNKS = 4
# Of all questions by rules; the scripted analyst has to get every one right.
BAR_BY_RULES = 1.01


async def asked(
    database: TestDatabase, clock: Clock, analyst: Analyst, sequences: Sequence[Sequence_]
) -> list[Answer]:
    async with Everlore.open(
        database.settings(), worker=False, clock=clock, embedders={"fake": FakeEmbedder()}, analyst=analyst
    ) as lore:
        played = await play(lore, clock, sequences)
        assert not (await lore.status()).failures
        return [answer for one in sequences for answer in await answers(*played[one["id"]], one)]


@pytest.mark.parametrize("chunk", range(CHUNKS))
async def test_every_answer_is_right_when_the_analyst_is_perfect(
    database: TestDatabase, clock: Clock, chunk: int
) -> None:
    got = await asked(database, clock, perfect_analyst(SEQUENCES), SEQUENCES[chunk::CHUNKS])
    assert len(got) >= 45
    assert [str(answer) for answer in got if not answer.right] == []


async def test_most_answers_are_right_by_rules(database: TestDatabase, clock: Clock) -> None:
    got = await asked(database, clock, RuleAnalyst(), SEQUENCES)
    right = sum(answer.right for answer in got)
    assert right >= BAR_BY_RULES * len(got), report(got)
