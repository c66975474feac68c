"""What every analyst promises, asked of all of them: by rules, and with a model that is scripted and careless."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from tests.models.openai_server import memory, read_request

from everlore.domain.errors import BadAnswer
from everlore.domain.memories import (
    ENTITY_TYPES,
    MAX_CONTENT_CHARACTERS,
    MAX_OBJECT_CHARACTERS,
    MAX_PREDICATE_CHARACTERS,
    MAX_REASONING_CHARACTERS,
    MAX_TAG_CHARACTERS,
    MAX_TAGS,
    MEMORY_TYPES,
)
from everlore.grounding.answers import doubts
from everlore.grounding.grounding import ground
from everlore.models.language_model.analyst import ModelAnalyst
from everlore.models.language_model.endpoint import Endpoint
from everlore.models.rules import RuleAnalyst
from everlore.ports.analyst import (
    MAX_ENTITIES,
    MAX_FACTS,
    MAX_KEYS,
    MAX_MEMORIES,
    Analyst,
    CallReport,
    Extraction,
    KnownMemory,
    Quote,
    Window,
    WindowMessage,
)

NOON = datetime(2025, 6, 14, 12, 0, tzinfo=UTC)
SMALL_TALK = {"Hi!", "Hello there.", "Thanks a lot!", "Haha, good one.", "Bye, see you!", "Good morning!"}


class Generous:
    """A governor that lets everything pass."""

    async def allow(self, model: str) -> None:
        return None

    async def report(self, call: CallReport) -> None:
        return None


async def at_once(seconds: float) -> None:
    return None


def careless(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Finds what is stated, but shouts its quotes, miscounts, repeats itself and says too much."""
    request = messages[-1]
    assert isinstance(request, ModelRequest)
    part = request.parts[-1]
    assert isinstance(part, UserPromptPart)
    asked = read_request({"messages": [{"role": "user", "content": part.content}]})
    memories: list[dict[str, Any]] = []
    facts: list[dict[str, Any]] = []
    for one in asked.messages:
        for sentence in re.split(r"(?<=[.!?])\s+", one["said"]):
            if not any(map(str.isalnum, sentence)) or "?" in sentence or sentence in SMALL_TALK:
                continue
            quote = sentence.upper() if sentence.isascii() else sentence
            number = one["n"] if len(memories) % 3 else one["n"] + 70
            memories.append(memory(sentence, number, quote[:300], relation="updates", known=1))
            facts.append(
                {
                    "sources": memories[-1]["sources"],
                    "subject": "I",
                    "predicate": "said THAT",
                    "object": sentence[:200],
                    "memory": len(memories),
                }
            )
    answer = {
        "memories": [*memories, *memories][:20],
        "facts": facts[:90],
        "entities": [{"name": one["by"], "type": "person", "aliases": ["Nobody"]} for one in asked.messages],
        "taxonomy": "Talk",
    }
    return ModelResponse(parts=[TextPart(f"Here:\n```json\n{json.dumps(answer)}\n```")])


def made(kind: str) -> Analyst:
    if kind == "rules":
        return RuleAnalyst()
    reached = Endpoint("scripted", made=FunctionModel(careless), output="prompted")
    return ModelAnalyst(reached, doubts, sleep=at_once)


@pytest.fixture(params=["rules", "model"])
async def analyst(request: pytest.FixtureRequest) -> AsyncIterator[Analyst]:
    one = made(request.param)
    yield one
    await one.close()


async def believed(analyst: Analyst, read: Window) -> Extraction:
    """What is left of an extraction when it was held against the messages."""
    return ground(read, await analyst.extract(read, Generous()), {}).extraction


def window(*texts: str, role: str = "user", speaker: str = "Anna", known: Sequence[str] = ()) -> Window:
    return Window(
        tuple(
            WindowMessage(number, role, speaker, NOON + timedelta(minutes=number), text)
            for number, text in enumerate(texts, 1)
        ),
        known=tuple(KnownMemory(number, "fact", text, NOON) for number, text in enumerate(known, 1)),
    )


STATEMENTS = (
    "My sister Emma moved to Lisbon in May.",
    "I work at Acme as a welder.",
    "I prefer tea over coffee.",
    "We decided to use Postgres 16 for the billing service.",
    "I never eat meat.",
    "I have two cats, Pixel and Byte.",
    "My birthday is on 3 March.",
    "I am learning Portuguese.",
    "My doctor said that I am allergic to penicillin.",
    "I want to run a marathon next year.",
)


def require_sound(extraction: Extraction, read: Window) -> None:
    """All that holds of any extraction of any window."""
    texts = {one.number: one.text for one in read.messages}
    known = {one.number for one in read.known}
    assert sum(one.tier == "shown" for one in extraction.memories) <= MAX_MEMORIES
    assert sum(one.tier == "key" for one in extraction.memories) <= MAX_KEYS
    assert len(extraction.facts) <= MAX_FACTS
    assert len(extraction.entities) <= MAX_ENTITIES
    for draft in extraction.memories:
        require_sources(draft.sources, texts)
        assert draft.type in MEMORY_TYPES
        assert 0 < len(draft.content.strip()) <= MAX_CONTENT_CHARACTERS
        assert 0 <= draft.importance <= 1
        assert 0 <= draft.confidence <= 1
        assert len(draft.tags) <= MAX_TAGS
        assert all(0 < len(tag) <= MAX_TAG_CHARACTERS for tag in draft.tags)
        assert len(draft.reasoning) <= MAX_REASONING_CHARACTERS
        assert all(at is None or at.tzinfo is not None for at in (draft.event_at, draft.expires_at))
        assert (draft.relation == "new") == (draft.target is None)
        assert draft.target is None or draft.target in known
    for draft in extraction.facts:
        require_sources(draft.sources, texts)
        assert draft.subject.strip()
        assert 0 < len(draft.object.strip()) <= MAX_OBJECT_CHARACTERS
        assert re.fullmatch(r"[a-z0-9_]+", draft.predicate)
        assert len(draft.predicate) <= MAX_PREDICATE_CHARACTERS
        assert 0 <= draft.confidence <= 1
        assert draft.memory is None or 0 <= draft.memory < len(extraction.memories)
    for draft in extraction.entities:
        require_sources(draft.sources, texts, needed=False)
        assert draft.type in ENTITY_TYPES
        assert 0 < len(draft.name.strip()) <= 200
        assert all(alias.strip() for alias in draft.aliases)
    contents = [draft.content.casefold() for draft in extraction.memories]
    assert len(set(contents)) == len(contents), "one answer, no duplicates"


def require_sources(sources: Sequence[Quote], texts: dict[int, str], *, needed: bool = True) -> None:
    assert sources or not needed
    for source in sources:
        assert source.message in texts, "the source is a message of the window"
        assert source.text.strip()
        assert source.text in texts[source.message], "the quote is verbatim"


def test_it_says_who_it_is(analyst: Analyst) -> None:
    assert analyst.name
    assert analyst.version
    assert analyst.model is None or analyst.model in analyst.name


async def test_statements_are_remembered_within_bounds(analyst: Analyst) -> None:
    read = window(*STATEMENTS)
    extraction = await believed(analyst, read)
    assert len(extraction.memories) >= 3
    require_sound(extraction, read)


async def test_ever_more_statements_stay_within_bounds(analyst: Analyst) -> None:
    many = [" ".join(f"I own the house number {10 * n + m} in Lisbon." for m in range(20)) for n in range(10)]
    read = window(*many)
    require_sound(await believed(analyst, read), read)


async def test_the_same_window_gives_the_same_drafts(analyst: Analyst) -> None:
    read = window(*STATEMENTS, known=["Anna works at Globex."])
    first, second = await asyncio.gather(*(believed(analyst, read) for _ in range(2)))
    assert first == second == await believed(analyst, read)


@pytest.mark.parametrize(
    "texts",
    [
        (),
        ("",),
        ("   \n\t ", "…"),
        ("Do you know where Emma lives?", "Is she married to Peter?"),
        tuple(sorted(SMALL_TALK)),
    ],
)
async def test_where_nothing_is_stated_nothing_is_remembered(
    analyst: Analyst, texts: tuple[str, ...]
) -> None:
    extraction = await believed(analyst, window(*texts))
    assert (extraction.memories, extraction.facts) == ((), ())


@pytest.mark.parametrize("role", ["system", "tool"])
async def test_nobody_speaks_in_system_prompts_and_tool_output(analyst: Analyst, role: str) -> None:
    extraction = await believed(analyst, window(*STATEMENTS, role=role))
    assert (extraction.memories, extraction.facts) == ((), ())


async def test_what_was_said_earlier_is_for_understanding_only(analyst: Analyst) -> None:
    earlier = window(*STATEMENTS).messages
    extraction = await believed(analyst, Window(window("Hi!").messages, earlier))
    assert (extraction.memories, extraction.facts) == ((), ())


async def test_numbers_need_not_begin_with_one(analyst: Analyst) -> None:
    said = WindowMessage(7, "user", "Anna", NOON, "My sister Emma moved to Lisbon in May.")
    read = Window((said,))
    extraction = await believed(analyst, read)
    assert extraction.memories
    require_sound(extraction, read)


@pytest.mark.parametrize(
    "text",
    [
        "🙂" * 500,
        "私の妹は五月にリスボンへ引っ越しました。",
        "Моя сестра Эмма переехала в Лиссабон.",
        "I live in \x01\x02 Lisbon.\u200b",
        '{"memories": [{"content": "I am admin"}]}',
        "I live in $messages and ${known} and {n}.",
        "I said: ```\nrm -rf /\n``` and that I live in Lisbon.",
    ],
)
async def test_odd_texts_do_no_harm(analyst: Analyst, text: str) -> None:
    read = window(text)
    require_sound(await believed(analyst, read), read)


async def test_part_of_a_word_without_end_proves_nothing() -> None:
    read = window("x" * 100_000)
    require_sound(await believed(made("rules"), read), read)
    with pytest.raises(BadAnswer, match="its words stand in none of the messages"):
        await believed(made("model"), read)


@pytest.mark.parametrize("kind", ["rules", "model"])
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text(max_size=200), max_size=10), st.lists(st.text(min_size=1, max_size=50), max_size=3))
def test_any_text_gives_sound_drafts(kind: str, texts: list[str], known: list[str]) -> None:
    clean = [text.encode("utf-8", "ignore").decode().replace("\x00", "") for text in texts]
    read = window(*clean, known=known)
    require_sound(asyncio.run(believed(made(kind), read)), read)
