"""One call of a language model through pydantic-ai: a prompt in, the text of an answer out, and what it cost.

One attempt is one request. An agent of pydantic-ai would ask again by itself when an answer does not fit, unseen by the spend
governor and with the cost of what was thrown away lost; so its direct interface is used, with the same output modes: `native`
(the endpoint holds the model to a JSON schema), `prompted` (the schema stands in the prompt), `tool` (a tool is called with it).

The library is large and optional: it is imported when the first call is made, but that it is there is checked at once.
"""

import asyncio
import os
import traceback
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from everlore.domain.errors import ConfigurationError
from everlore.models.language_model.context import served_context
from everlore.models.language_model.failures import CallFailed, call_failed, short, too_late
from everlore.models.language_model.profile import LARGE, Profile
from everlore.models.language_model.schema import OutputMode

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

_INSTALL = "pip install 'everlore[model]'"
_OUTPUT = "memory"


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `finish` is why the model stopped, in pydantic-ai's words; None where the endpoint does not say."""

    text: str
    finish: str | None
    tokens_in: int
    tokens_out: int


class Endpoint:
    """A model by its name at an endpoint that speaks the OpenAI protocol (`url`), or by a name of pydantic-ai
    ("anthropic:..."), which finds its provider's key in that provider's own variable unless `api_key_env` names one.

    What is left out, the `profile` says. `made` is a ready model of pydantic-ai, for tests. Raises ConfigurationError if the
    library or the key is missing.
    """

    def __init__(
        self,
        name: str,
        *,
        url: str | None = None,
        api_key_env: str | None = None,
        timeout_s: float | None = None,
        max_output_tokens: int | None = None,
        temperature: float | None = 0.0,
        output: OutputMode = "native",
        profile: Profile = LARGE,
        made: "Model | None" = None,
    ) -> None:
        if find_spec("pydantic_ai") is None or (url is not None and find_spec("openai") is None):
            raise ConfigurationError(
                f"Distilling with a language model needs more packages; install them with {_INSTALL}."
            )
        self._key = os.environ.get(api_key_env) if api_key_env else None
        if api_key_env and not self._key:
            raise ConfigurationError(
                f"The model {name} needs its key in the environment variable {api_key_env}."
            )
        if url is None and made is None and ":" not in name:
            raise ConfigurationError(
                f"The model {name} needs a url, or its provider before its name (openai:{name}, ollama:{name} ...)."
            )
        self.name = name
        self.url = url
        self._profile = profile
        self.timeout_s = timeout_s or profile.timeout_s
        self.max_output_tokens = max_output_tokens or profile.max_output_tokens
        self._temperature = temperature
        self._output: OutputMode = output
        self._made = made
        self._client: AsyncOpenAI | None = None

    async def ask(self, instructions: str, data: str) -> Reply:
        """Raises CallFailed; ConfigurationError where another attempt, or another window, would fail the same way."""
        from pydantic_ai import exceptions
        from pydantic_ai.direct import model_request
        from pydantic_ai.messages import ModelRequest, UserPromptPart

        # All of our own is made before: what is caught below is what the library says of its call.
        request = ModelRequest(parts=[UserPromptPart(data)], instructions=instructions)
        model, settings, parameters = self._model(), self._settings(), self._parameters()
        try:
            async with asyncio.timeout(self.timeout_s):
                response = await model_request(
                    model, [request], model_settings=settings, model_request_parameters=parameters
                )
        except TimeoutError as error:
            raise too_late(self.timeout_s) from error
        except exceptions.UserError as error:
            raise ConfigurationError(
                f"The model {self.name} cannot be used as it is set: {short(error)} "
                'If it knows no JSON schemas, set output = "prompted".'
            ) from error
        except (exceptions.ModelAPIError, exceptions.UnexpectedModelBehavior) as error:
            raise call_failed(error, self.timeout_s) from error
        except (LookupError, TypeError, AttributeError, ValueError, RecursionError) as error:
            # The libraries trip over a response that has not the form of the protocol, each in its own way.
            if _is_ours(error):
                raise
            reason = f"a response without form ({type(error).__name__})"
            raise CallFailed(reason, again=True, fault="address") from error
        return _reply(response)

    async def context_tokens(self) -> int | None:
        """What a server of one's own says that it serves."""
        return None if self.url is None else await served_context(self.url, self.name, self._key)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    def _model(self) -> "Model":
        if self._made is None:
            self._made = self._served(self.url) if self.url is not None else self._by_provider()
        return self._made

    def _served(self, url: str) -> "Model":
        from openai import AsyncOpenAI
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        # Some word must stand for the key: with none the client would send the one that was meant for OpenAI.
        self._client = AsyncOpenAI(base_url=url, api_key=self._key or "none", max_retries=0)
        return OpenAIChatModel(self.name, provider=OpenAIProvider(openai_client=self._client))

    def _by_provider(self) -> "Model":
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model
        from pydantic_ai.providers import infer_provider, infer_provider_class

        def provider(called: str) -> Any:
            return (
                infer_provider(called)
                if self._key is None
                else infer_provider_class(called)(api_key=self._key)  # pyright: ignore[reportCallIssue]
            )

        try:
            return infer_model(self.name, provider)
        except ImportError as error:
            raise ConfigurationError(f"The model {self.name} needs another package: {error}") from error
        except (UserError, TypeError, ValueError) as error:
            raise ConfigurationError(f"The model {self.name} cannot be used: {short(error)}") from error

    def _settings(self) -> "ModelSettings":
        settings: ModelSettings = {
            "max_tokens": self.max_output_tokens,
            "timeout": self.timeout_s,
            "max_retries": 0,
        }
        if self._temperature is not None:
            settings["temperature"] = self._temperature
        if self._profile.frequency_penalty is not None:
            settings["frequency_penalty"] = self._profile.frequency_penalty
        return settings

    def _parameters(self) -> "ModelRequestParameters":
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition
        from pydantic_ai.tools import ToolDefinition

        # A provider's own model is held to the schema strictly, which some can do for plainer schemas only: pydantic-ai then
        # turns the bounds into remarks. Servers of one's own take them as they are.
        strict = True if self.url is None else None
        if self._output == "tool":
            tool = ToolDefinition(
                name=_OUTPUT, parameters_json_schema=self._profile.schema(), strict=strict, kind="output"
            )
            return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)
        form = OutputObjectDefinition(json_schema=self._profile.schema(), name=_OUTPUT, strict=strict)
        return ModelRequestParameters(output_mode=self._output, output_object=form)


def _reply(response: "ModelResponse") -> Reply:
    from pydantic_ai.messages import TextPart, ToolCallPart

    calls = [part.args_as_json_str() for part in response.parts if isinstance(part, ToolCallPart)]
    texts = [part.content for part in response.parts if isinstance(part, TextPart)]
    usage = response.usage
    return Reply(
        calls[0] if calls else "".join(texts), response.finish_reason, usage.input_tokens, usage.output_tokens
    )


def _is_ours(error: Exception) -> bool:
    """Whether our own code raised it, be it by calling the library with what it does not take."""
    innermost = list(traceback.walk_tb(error.__traceback__))[-1][0]
    return innermost.f_globals["__name__"].startswith("everlore.")
