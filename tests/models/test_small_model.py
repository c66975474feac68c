"""What is asked of a small model: sentences, in a request that fits into 4,096 tokens together with its answer."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.models.openai_server import Answer, Asked, OpenAIServer

from everlore.domain.errors import BadAnswer
from everlore.grounding.answers import doubts
from everlore.grounding.grounding import ground
from everlore.models.language_model import model_analyst
from everlore.models.language_model.analyst import ModelAnalyst
from everlore.models.language_model.endpoint import Endpoint
from everlore.models.language_model.profile import SMALL, profile_of
from everlore.models.language_model.prompts import Prompts
from everlore.models.language_model.repair import Unusable
from everlore.models.language_model.small import read_small
from everlore.ports.analyst import CallReport, Extraction, Window, WindowMessage

NOON = datetime(2025, 6, 14, 12, 0, tzinfo=UTC)
SAID = (
    "My sister Emma moved to Lisbon in May. It was hard.",
    "Very much. I work at Acme now, as a welder.",
    "I live in Porto with my dog Rex.",
)


class Allows:
    """A governor that allows everything."""

    async def allow(self, model: str) -> None:
        return

    async def report(self, call: CallReport) -> None:
        return


async def at_once(seconds: float) -> None:
    return


def window(*said: str, earlier: int = 0) -> Window:
    return Window(
        tuple(WindowMessage(n, "user", "Anna", NOON, text) for n, text in enumerate(said, start=1)),
        tuple(
            WindowMessage(n, "user", "Anna", NOON, "What was said before. " * 20)
            for n in range(1, earlier + 1)
        ),
    )


def told(*memories: tuple[str, int]) -> Answer:
    return {
        "memories": [{"content": content, "type": "fact", "message": number} for content, number in memories]
    }


def read(answer: dict[str, Any], *said: str) -> Extraction:
    return read_small(answer, window(*said), doubts)


@pytest.fixture
async def model() -> AsyncIterator[OpenAIServer]:
    def answer(asked: Asked) -> Answer:
        sister, work = ("Emma, Anna's sister, moved to Lisbon.", 1), ("Anna works at Acme as a welder.", 2)
        return told(sister, work) if len(asked.messages) == len(SAID) else told(work)

    with OpenAIServer(answer) as running:
        yield running


@pytest.fixture
async def analyst(model: OpenAIServer) -> AsyncIterator[ModelAnalyst]:
    reached = Endpoint("tiny", url=model.url, timeout_s=20, profile=SMALL)
    made = ModelAnalyst(reached, doubts, profile=SMALL, prompts=Prompts(names=SMALL.prompts), sleep=at_once)
    yield made
    await made.close()


async def test_sentences_are_found_again_where_they_stand(model: OpenAIServer, analyst: ModelAnalyst) -> None:
    shown = window(*SAID)
    passed = ground(shown, await analyst.extract(shown, Allows()), {}).extraction.memories
    assert [(one.content, [source.text for source in one.sources]) for one in passed] == [
        ("Emma, Anna's sister, moved to Lisbon.", ["My sister Emma moved to Lisbon in May"]),
        ("Anna works at Acme as a welder.", ["I work at Acme now, as a welder"]),
    ]
    (asked,) = model.asked
    assert asked.body["frequency_penalty"] == pytest.approx(0.35)
    assert asked.body["max_completion_tokens"] == SMALL.max_output_tokens
    schema = asked.body["response_format"]["json_schema"]["schema"]
    assert '"message"' in json.dumps(schema)
    assert '"sources"' not in json.dumps(schema)


@pytest.mark.parametrize("length", [40, 400, 20_000])
async def test_a_request_fits(model: OpenAIServer, analyst: ModelAnalyst, length: int) -> None:
    said = ("Anna works at Acme as a welder. " * length)[:length]
    await analyst.extract(window(*[said] * 10, earlier=75), Allows())
    instructions, prompt = (message["content"] for message in model.asked[0].body["messages"])
    assert len(instructions) <= 400 * 4
    assert SMALL.request_tokens is not None
    assert len(instructions) + len(prompt) <= SMALL.request_tokens * 4
    assert len(model.asked[0].messages) == 10


async def test_facts_and_people_are_read_off_the_sentences(analyst: ModelAnalyst) -> None:
    shown = window(*SAID)
    passed = ground(shown, await analyst.extract(shown, Allows()), {}).extraction
    assert {(one.subject, one.predicate, one.object, one.memory) for one in passed.facts} == {
        ("Emma", "sister_of", "Anna", 0),
        ("Emma", "lives_in", "Lisbon", 0),
        ("Anna", "works_at", "Acme", 1),
        ("Anna", "works_as", "welder", 1),
    }
    assert {one.name for one in passed.entities} == {"Emma", "Lisbon", "Acme"}


async def test_without_the_parser_there_are_memories_alone(
    analyst: ModelAnalyst, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("everlore.models.language_model.small.parser_is_installed", lambda: False)
    found = await analyst.extract(window(*SAID), Allows())
    assert len(found.memories) == 2
    assert (found.facts, found.entities) == ((), ())


def test_what_only_the_assistant_says_is_no_memory_and_nothing_is_said_twice() -> None:
    said = (
        WindowMessage(1, "user", "Anna", NOON, "I live in Porto."),
        WindowMessage(2, "assistant", "Luna", NOON, "Beta blockers slow the heart down."),
    )
    answer = told(
        ("Anna lives in Porto.", 1), ("Beta blockers slow the heart down.", 2), ("Anna lives in Porto", 1)
    )
    (one,) = read_small(answer, Window(said), doubts).memories
    assert one.content == "Anna lives in Porto."


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ("Anna works at Acme as a welder.", True),
        ("Anna loves her job as a welder at Acme.", True),
        ("Anna was given a lot of information about the effects of a welder.", False),
        ("Anna works at Acme. My dog is Rex.", False),
    ],
)
def test_a_sentence_tells_what_stands_in_its_message_and_of_nobody_as_i(content: str, kept: bool) -> None:
    said = "I work at Acme now, and I love my job as a welder.", "My dog is Rex."
    found = read(told((content, 1), ("Anna's dog is Rex.", 2)), *said)
    assert (content in [one.content for one in found.memories]) is kept


async def test_the_assistants_lines_have_no_number(model: OpenAIServer, analyst: ModelAnalyst) -> None:
    said = (
        WindowMessage(1, "assistant", "Luna", NOON, "What do you do?"),
        WindowMessage(2, "user", "Anna", NOON, "I work at Acme as a welder."),
    )
    await analyst.extract(Window(said), Allows())
    assert model.asked[0].messages == [
        {"by": "Luna", "said": "What do you do?"},
        {"n": 2, "by": "Anna", "said": "I work at Acme as a welder."},
    ]


async def test_scripts_of_a_character_a_token_fit_as_well(model: OpenAIServer, analyst: ModelAnalyst) -> None:
    model.answer = lambda _: told()
    await analyst.extract(window(*["我在里斯本工作和生活。" * 100] * 10, earlier=75), Allows())
    assert SMALL.request_tokens is not None
    prompt = model.asked[0].prompt
    dense = sum(ord(one) > 0x2E80 for one in prompt)
    assert dense > 500
    assert dense + (len(prompt) - dense) / 3 <= SMALL.request_tokens


async def test_what_is_complete_of_a_cut_answer_counts(model: OpenAIServer, analyst: ModelAnalyst) -> None:
    model.answer = lambda asked: told(*[("Anna works at Acme as a welder.", 2)] * 4)
    model.then("truncated")
    found = await analyst.extract(window(*SAID), Allows())
    assert 1 <= len(found.memories) < 4
    assert len(model.asked) == 1


def test_a_sentence_is_of_the_message_that_says_it() -> None:
    (drafted,) = read(told(("Anna lives in Porto.", 1)), *SAID).memories
    assert (drafted.sources[0].message, drafted.sources[0].text) == (3, SAID[2])


@pytest.mark.parametrize(
    "answer",
    [
        {"memories": "none"},
        {},
        told(("Quantum computing is fascinating.", 1)),
        {"memories": [{"content": "Anna lives in Porto."}] * 100},
        {"memories": [{"type": "fact", "message": 1}, 7, None]},
    ],
)
def test_what_nothing_can_be_made_of_is_no_answer(answer: dict[str, Any]) -> None:
    with pytest.raises(Exception, match=r"no list|stands in the messages|at most"):
        read(answer, *SAID)


@pytest.mark.parametrize(
    "content",
    ["I live in Porto with my dog Rex.", "Anna was given a lot of information about the effects of Porto."],
)
def test_where_no_sentence_tells_what_was_said_there_is_no_answer(content: str) -> None:
    with pytest.raises(Unusable, match="none of its 2 memories says of somebody by name"):
        read(told((content, 3), (content, 3)), *SAID)


def test_nothing_may_be_worth_keeping() -> None:
    assert read({"memories": []}, *SAID) == Extraction()


async def test_an_answer_that_cannot_be_used_is_asked_for_again_and_fails(
    model: OpenAIServer, analyst: ModelAnalyst
) -> None:
    model.always = "not_json_at_all"
    with pytest.raises(BadAnswer):
        await analyst.extract(window(*SAID), Allows())
    assert len(model.asked) == 3


@pytest.mark.parametrize(
    ("size", "url", "chosen"),
    [
        (None, "http://127.0.0.1:11434/v1", "small"),
        (None, "http://localhost:8080/v1", "small"),
        (None, "http://[::1]:8080/v1", "small"),
        (None, "https://api.example.com/v1", "large"),
        (None, None, "large"),
        ("large", "http://127.0.0.1:11434/v1", "large"),
        ("small", "https://api.example.com/v1", "small"),
    ],
)
def test_a_model_on_this_machine_is_small_unless_said_otherwise(
    size: Any, url: str | None, chosen: str
) -> None:
    assert profile_of(size, url).size == chosen


async def test_the_settings_choose(model: OpenAIServer) -> None:
    made = model_analyst(doubts, model="tiny", url=model.url)
    await made.extract(window(*SAID), Allows())
    await made.close()
    assert "# KNOWN" not in model.asked[0].prompt
    assert json.dumps(model.asked[0].body).count("frequency_penalty") == 1
