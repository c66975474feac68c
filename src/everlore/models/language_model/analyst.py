"""The analyst with a language model: shows it a window, and asks again where an answer cannot be used.

There are at most three attempts. Each is allowed by the spend governor before and reported to it after, failed or not.
One that is cancelled (the worker stops) is not reported: it was reserved, and says nothing about the model.
Whatever goes wrong ends in an answer that was checked, or in an error: a failure is never "nothing found".
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from everlore.domain.errors import BadAnswer, InternalError, ModelUnavailable
from everlore.models.language_model.endpoint import Endpoint, Reply
from everlore.models.language_model.failures import CallFailed
from everlore.models.language_model.profile import LARGE, Profile
from everlore.models.language_model.prompts import Prompts
from everlore.models.language_model.repair import Unusable, read_cut, read_object
from everlore.models.language_model.window import Sizes, messages_read, shown
from everlore.ports.analyst import CallReport, Doubting, Extraction, Governor, Window

log = logging.getLogger(__name__)

# Seconds before the second and the third attempt, unless the endpoint says how long.
BACKOFF_S = (2.0, 8.0)
# Who asks for a longer pause than this gets it, but not from us waiting: the window fails and is tried another time.
LONGEST_WAIT_S = 60.0

# What a slip in our own code raises: no model and no second attempt can help.
_OURS = (AttributeError, NameError, TypeError, LookupError, AssertionError)
_UNFINISHED = {
    "length": "it was cut off; be briefer, with fewer items",
    "content_filter": "it was refused",
    "error": "the model broke off",
}

Sleep = Callable[[float], Awaitable[None]]


class ModelAnalyst:
    def __init__(
        self,
        endpoint: Endpoint,
        doubting: Doubting,
        *,
        profile: Profile = LARGE,
        prompts: Prompts | None = None,
        sizes: Sizes | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.endpoint = endpoint
        self._doubting = doubting
        self.profile = profile
        self._prompts = prompts or Prompts(names=profile.prompts)
        self.sizes = sizes or Sizes()
        self._sleep = sleep
        self.name = f"model:{endpoint.name}"
        self.version = self._prompts.version(profile.schema())

    @property
    def model(self) -> str | None:
        return self.endpoint.name

    async def extract(self, window: Window, governor: Governor) -> Extraction:
        if not messages_read(window):
            return Extraction()
        if self.profile.size == "small" and not any(one.role == "user" for one in window.messages):
            return Extraction()  # a small form keeps what people said, and nobody did
        instructions, data = self.request(window)
        attempts = len(BACKOFF_S) + 1
        failure: CallFailed | Unusable | None = None
        for attempt in range(attempts):
            if failure is not None:
                await self._sleep(_wait(failure, attempt))
            asked = data + _remark(failure)
            outcome = await self._attempt(instructions, asked, window, governor)
            if isinstance(outcome, Extraction):
                return outcome
            failure = outcome
            log.info(
                "attempt %d of %d with %s failed: %s", attempt + 1, attempts, self.endpoint.name, failure
            )
            if not _worth_another(failure):
                break
        raise self._given_up(failure)

    def request(self, window: Window) -> tuple[str, str]:
        """What is sent of a window: the instructions, and the data that they speak of."""
        messages = messages_read(window)
        instructions = self._prompts.instructions(self.profile.types)
        sizes = self.sizes.within(self.profile.request_tokens, instructions, messages)
        return instructions, shown(window, messages, sizes, self._prompts)

    def read(self, reply: Reply, window: Window) -> Extraction:
        """The drafts in an answer. Raises Unusable."""
        if reply.finish == "length" and self.profile.keeps_cut:
            return self.profile.read(read_cut(reply.text, "memories"), window, self._doubting)
        if reply.finish in _UNFINISHED:
            raise Unusable(_UNFINISHED[reply.finish])
        return self.profile.read(read_object(reply.text), window, self._doubting)

    async def close(self) -> None:
        await self.endpoint.close()

    async def _attempt(
        self,
        instructions: str,
        data: str,
        window: Window,
        governor: Governor,
    ) -> Extraction | CallFailed | Unusable:
        name = self.endpoint.name
        await governor.allow(name)
        reply = Reply("", None, 0, 0)
        outcome: Extraction | CallFailed | Unusable
        try:
            reply = await self.endpoint.ask(instructions, data)
            outcome = await asyncio.to_thread(self.read, reply, window)
        except (CallFailed, Unusable) as failure:
            outcome = failure
        except Exception as error:
            await governor.report(CallReport(name, reply.tokens_in, reply.tokens_out, failed=True))
            if isinstance(error, _OURS):
                raise InternalError(
                    f"asking the model {name} failed by a fault of our own: {error!r}"
                ) from error
            raise
        failed = not isinstance(outcome, Extraction)
        await governor.report(CallReport(name, reply.tokens_in, reply.tokens_out, failed))
        return outcome

    def _given_up(self, failure: CallFailed | Unusable | None) -> ModelUnavailable:
        if isinstance(failure, Unusable):
            return BadAnswer(f"The model {self.endpoint.name} gave no answer that can be used: {failure}.")
        asked_for = f" (it asks for {failure.after:.0f} s)" if failure is not None and failure.after else ""
        return ModelUnavailable(f"The model {self.endpoint.name} does not answer: {failure}{asked_for}.")


def _worth_another(failure: CallFailed | Unusable) -> bool:
    if isinstance(failure, Unusable):
        return True
    return failure.again and (failure.after is None or failure.after <= LONGEST_WAIT_S)


def _wait(failure: CallFailed | Unusable, attempt: int) -> float:
    backoff = BACKOFF_S[attempt - 1]
    return (
        max(0.0, failure.after) if isinstance(failure, CallFailed) and failure.after is not None else backoff
    )


def _remark(failure: CallFailed | Unusable | None) -> str:
    """What was wrong with the last answer: the same question would get the same one again."""
    if not isinstance(failure, Unusable):
        return ""
    return f"\n\nYour last answer could not be used: {failure}. Answer anew with one complete JSON object."
