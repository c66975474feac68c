"""How long a window would take, from one answer: reckoned, with a clock that the test holds."""

from collections.abc import AsyncIterator

import pytest
from tests.models.openai_server import Answer, Asked, OpenAIServer

from everlore.domain.operations import ModelTest
from everlore.grounding.answers import doubts
from everlore.models.language_model.analyst import ModelAnalyst
from everlore.models.language_model.endpoint import Endpoint
from everlore.models.language_model.profile import SMALL
from everlore.models.language_model.prompts import Prompts
from everlore.models.language_model.trial import tried
from everlore.models.language_model.trial_window import trial_window
from everlore.models.language_model.window import CHARACTERS_A_TOKEN_AT_LEAST


def answer(asked: Asked) -> Answer:
    bergen = "Nora moved to Bergen in March, into a flat above a bakery."
    return {"memories": [{"content": bergen, "type": "event", "message": 1}]}


@pytest.fixture
async def analyst() -> AsyncIterator[ModelAnalyst]:
    with OpenAIServer(answer) as server:
        reached = Endpoint("tiny", url=server.url, timeout_s=100, profile=SMALL)
        made = ModelAnalyst(reached, doubts, profile=SMALL, prompts=Prompts(names=SMALL.prompts))
        yield made
        await made.close()


async def taking(seconds: float, analyst: ModelAnalyst) -> ModelTest:
    return await tried(analyst, "", clock=iter((50.0, 50.0 + seconds)).__next__)


async def test_a_full_answer_takes_longer_than_a_short_one(analyst: ModelAnalyst) -> None:
    found = await taking(20, analyst)
    assert found.works
    assert found.tokens_in is not None
    assert found.tokens_out is not None
    read = found.tokens_in / 8
    full = 20 * (read + SMALL.full_answer_tokens) / (read + found.tokens_out)
    assert found.seconds == 20
    assert found.tokens_a_second == round(found.tokens_out / 20, 1)
    assert found.window_seconds == pytest.approx(full, abs=0.1)
    assert 20 < full < 100


async def test_an_answer_came_but_a_full_one_would_be_too_late(analyst: ModelAnalyst) -> None:
    found = await taking(90, analyst)
    (problem,) = found.problems
    assert not found.works
    assert problem.startswith("It is too slow: a window that gives a full answer would take about")
    assert "given up after 100: raise distil.model.timeout_s" in problem


def test_the_question_is_as_long_as_they_get(analyst: ModelAnalyst) -> None:
    instructions, data = analyst.request(trial_window(analyst.sizes))
    assert SMALL.request_tokens is not None
    most = SMALL.request_tokens * CHARACTERS_A_TOKEN_AT_LEAST
    assert 0.9 * most <= len(instructions) + len(data) <= most
