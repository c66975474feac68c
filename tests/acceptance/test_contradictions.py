"""The 60 contradiction sequences through the whole memory (measure 5): what holds now, what held then, what was believed then."""

import asyncio
from collections import Counter

import pytest
from tests.conftest import Clock, TestDatabase
from tests.golden.sequences import SEQUENCES, Answer, answers, perfect_analyst, play

from everlore.app import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.models.rules import RuleAnalyst
from everlore.ports.analyst import Analyst

CHUNKS = 4
# Of all questions by rules; the scripted analyst has to get every one right.
BAR_BY_RULES = 0.85


async def asked(database: TestDatabase, clock: Clock, analyst: Analyst, chunk: int) -> list[Answer]:
    sequences = SEQUENCES[chunk::CHUNKS]
    async with Everlore.open(
        database.settings(), worker=False, clock=clock, embedders={"fake": FakeEmbedder()}, analyst=analyst
    ) as lore:
        played = await play(lore, clock, sequences)
        groups = await asyncio.gather(*(answers(played[one["id"]][0], one, played[one["id"]][1]) for one in sequences))
        assert not (await lore.status()).failed_windows
    return [answer for group in groups for answer in group]


@pytest.mark.parametrize("chunk", range(CHUNKS))
async def test_every_answer_is_right_when_the_analyst_is_perfect(
    database: TestDatabase, clock: Clock, chunk: int
) -> None:
    got = await asked(database, clock, perfect_analyst(SEQUENCES), chunk)
    assert len(got) >= 45
    assert [str(answer) for answer in got if not answer.right] == []


@pytest.mark.parametrize("chunk", range(CHUNKS))
async def test_most_answers_are_right_by_rules(database: TestDatabase, clock: Clock, chunk: int) -> None:
    got = await asked(database, clock, RuleAnalyst(), chunk)
    wrong = [answer for answer in got if not answer.right]
    kinds = Counter(answer.kind for answer in got)
    missed = Counter(answer.kind for answer in wrong)
    print({kind: f"{kinds[kind] - missed[kind]} of {kinds[kind]}" for kind in kinds})
    print("\n".join(map(str, wrong)))
    assert len(got) - len(wrong) >= BAR_BY_RULES * len(got), [str(answer) for answer in wrong]
