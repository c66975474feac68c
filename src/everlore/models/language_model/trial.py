"""One question to a model, in the form and of the length that distilling uses: what would fail, and which setting helps.

It is asked once, where distilling would try three times, and nobody's budget is charged: whoever sets a model up asks it.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from everlore.domain.operations import ModelTest
from everlore.models.language_model.analyst import ModelAnalyst
from everlore.models.language_model.endpoint import Reply
from everlore.models.language_model.failures import CallFailed, Fault
from everlore.models.language_model.repair import Unusable
from everlore.models.language_model.trial_window import trial_window
from everlore.ports.analyst import Extraction

# No tokenizer makes fewer tokens of this English: where a server counts fewer, it has not read all of it.
_CHARACTERS_A_TOKEN_AT_MOST: Final = 6.5
# To read a token takes about so much of the time that it takes to write one.
_READING: Final = 1 / 8
_NEVER_ENDED: Final = 0.9
_MEANING: Final[dict[Fault, str]] = {
    "address": "Nothing that speaks the OpenAI protocol answers at {place} ({reason}): start the server, or correct "
    "distil.model.url; it mostly ends in /v1.",
    "key": "The key is not taken ({reason}): set distil.model.api_key_env to the environment variable that holds the right "
    "one.",
    "name": "There is no model {model} ({reason}): correct distil.model.model, or load it there (ollama pull {model}).",
    "form": 'Answers are not held to a JSON schema there ({reason}): set distil.model.output = "prompted", or "tool".',
    "context": "A full question does not fit ({reason}): {longer}.",
    "quota": "It may not be asked now ({reason}): a limit of the account or the key is used up; wait, or raise it there.",
    "time": "It is too slow ({reason}): raise distil.model.timeout_s, or take a smaller or faster model.",
    "other": "The endpoint fails ({reason}): its own log says more.",
}


async def tried(
    analyst: ModelAnalyst, because: str, *, clock: Callable[[], float] = time.monotonic
) -> ModelTest:
    """`because`: why the analyst's size was chosen; `clock`: seconds. Raises ConfigurationError where the settings alone
    forbid it."""
    endpoint, window = analyst.endpoint, trial_window(analyst.sizes)
    instructions, data = analyst.request(window)
    asked = ModelTest(
        False, endpoint.name, endpoint.url, analyst.profile.size, because, (), (), timeout_seconds=endpoint.timeout_s
    )  # fmt: skip
    began = clock()
    try:
        reply = await endpoint.ask(instructions, data)
    except CallFailed as failure:
        context = await endpoint.context_tokens() if failure.fault == "context" else None
        return replace(asked, problems=(_meaning(failure, analyst),), context_tokens=context)
    answered = _measured(asked, analyst, reply, clock() - began, await endpoint.context_tokens())
    read: Extraction | Unusable
    try:
        read = analyst.read(reply, window)
    except Unusable as unusable:
        read = unusable
    problems = tuple(_problems(answered, analyst, reply, len(instructions) + len(data), read))
    return replace(
        answered,
        works=not problems,
        problems=problems,
        remarks=tuple(_remarks(analyst, reply, read)),
        memories=tuple(one.content for one in read.memories) if isinstance(read, Extraction) else (),
    )


def _measured(
    asked: ModelTest, analyst: ModelAnalyst, reply: Reply, seconds: float, context: int | None
) -> ModelTest:
    work = reply.tokens_in * _READING + reply.tokens_out
    full = reply.tokens_in * _READING + max(reply.tokens_out, analyst.profile.full_answer_tokens)
    return replace(
        asked,
        seconds=round(seconds, 1),
        tokens_in=reply.tokens_in or None,
        tokens_out=reply.tokens_out or None,
        tokens_a_second=round(reply.tokens_out / seconds, 1) if reply.tokens_out and seconds else None,
        context_tokens=context,
        window_seconds=round(seconds * full / work, 1) if reply.tokens_out else None,
    )


def _problems(
    answered: ModelTest, analyst: ModelAnalyst, reply: Reply, characters: int, read: Extraction | Unusable
) -> Iterator[str]:
    most = analyst.endpoint.max_output_tokens
    cut = reply.finish == "length"
    ended_early = cut and 0 < reply.tokens_out < _NEVER_ENDED * most
    if too_short := _too_short(answered, reply, characters, most, ended_early=ended_early):
        yield _of_context(too_short, analyst)
    elif cut and isinstance(read, Unusable):
        yield (
            f"Its answer is cut off after {reply.tokens_out:,} tokens: raise distil.model.max_output_tokens (it is {most:,}), "
            "or take a model that does not go round in circles."
        )
    elif isinstance(read, Unusable):
        yield (
            f'Its answer cannot be used ({read}): set distil.model.output to "prompted" (the schema then stands in the '
            'question) or "tool", or take a larger model.'
        )
    elif not read.memories:
        yield "It found nothing in ten messages that say six plain things: take a larger model."
    seconds, timeout = answered.window_seconds, analyst.endpoint.timeout_s
    if seconds is not None and seconds > timeout:
        yield (
            f"It is too slow: a window that gives a full answer would take about {seconds:.0f} s, and is given up after "
            f"{timeout:g}: raise distil.model.timeout_s, or take a smaller or faster model."
        )


def _too_short(
    answered: ModelTest, reply: Reply, characters: int, most: int, *, ended_early: bool
) -> str | None:
    """Why the context is too short, if it is."""
    needed = reply.tokens_in + most
    if answered.context_tokens is not None and answered.context_tokens < needed:
        return f"the server serves {answered.context_tokens:,} tokens of context; question and answer may need {needed:,}"
    if 0 < reply.tokens_in < characters / _CHARACTERS_A_TOKEN_AT_MOST:
        return f"of {characters:,} characters it has read {reply.tokens_in:,} tokens, so it was cut without a word"
    if ended_early:
        return f"the answer ended after {reply.tokens_out:,} of {most:,} tokens"
    return None


def _remarks(analyst: ModelAnalyst, reply: Reply, read: Extraction | Unusable) -> Iterator[str]:
    if reply.finish == "length" and isinstance(read, Extraction):
        yield f"Its answer was cut off after {reply.tokens_out:,} tokens; what was complete of it counts."
    if not reply.tokens_out:
        yield "The endpoint counts no tokens: daily_tokens_hard and daily_cost_hard cannot hold it back, only daily_calls_hard."


def _meaning(failure: CallFailed, analyst: ModelAnalyst) -> str:
    if failure.fault == "context":
        return _of_context(str(failure), analyst)
    place = analyst.endpoint.url or "its provider"
    return _MEANING[failure.fault].format(place=place, model=analyst.endpoint.name, reason=failure)


def _of_context(reason: str, analyst: ModelAnalyst) -> str:
    large = analyst.profile.size == "large"
    tokens = 16384 if large else 8192
    longer = f"serve more (OLLAMA_CONTEXT_LENGTH={tokens}, llama-server -c {tokens}, vllm serve --max-model-len {tokens})"
    return _MEANING["context"].format(
        reason=reason, longer=longer + (', or set distil.size = "small"' if large else "")
    )
