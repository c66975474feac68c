"""The 60 contradiction sequences through the whole memory (measure 5): what holds now, what held then, what was believed then."""

from collections.abc import Sequence

import pytest
from tests.conftest import Clock, TestDatabase
from tests.golden.sequences import (
    READ_BY_RULES,
    SEQUENCES,
    Answer,
    Sequence_,
    answers,
    perfect_analyst,
    play,
    report,
)

from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.models.rules import RuleAnalyst
from everlore.ports.analyst import Analyst

CHUNKS = 4
# By rules, of all answers, and of whole sequences; the scripted analyst has to get every one right.
ANSWERS, WHOLE = 0.90, 0.85


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


async def test_most_answers_and_sequences_are_right_by_rules(database: TestDatabase, clock: Clock) -> None:
    assert len(READ_BY_RULES) == len(SEQUENCES) == 60
    got = await asked(database, clock, RuleAnalyst(), READ_BY_RULES)
    assert sum(answer.right for answer in got) >= ANSWERS * len(got), report(got)
    wrong = {answer.sequence for answer in got if not answer.right}
    assert len(READ_BY_RULES) - len(wrong) >= WHOLE * len(READ_BY_RULES), report(got)
