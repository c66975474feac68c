"""Why a call of a model brought no answer, told apart as far as it can be: whoever set it up wants to know what to mend."""

import re
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError, UnexpectedModelBehavior

# What is wrong: nothing of the kind answers there, the key, the model's name, the form of answers, the length of the prompt,
# limits of the account, time; or something else.
Fault: TypeAlias = Literal["address", "key", "name", "form", "context", "quota", "time", "other"]

_REASON: Final = 300
# Everything else below 500 says that the request itself is wrong; it would be refused again.
_TEMPORARY: Final = frozenset({408, 409, 425, 429})
# Local servers send all that is wrong with a request as 400, 404 or 500 and say the rest in words.
_NO_SUCH_MODEL: Final = re.compile(
    r"\bmodels?\b.{0,120}\b(?:not (?:found|exist|loaded|available)|unknown)|no such model"
)
_OF_LENGTH: Final = ("context", "too many tokens", "too long", "n_ctx")
_OF_FORM: Final = ("response_format", "json_schema", "json schema", "grammar", "tool")


class CallFailed(Exception):
    """No answer came. `again`: another attempt may help. `after`: seconds that the endpoint asks to be left alone."""

    def __init__(
        self, reason: str, *, again: bool, after: float | None = None, fault: Fault = "other"
    ) -> None:
        super().__init__(reason)
        self.again = again
        self.after = after
        self.fault: Fault = fault


def too_late(timeout_s: float) -> CallFailed:
    return CallFailed(f"no answer within {timeout_s:g} s", again=True, fault="time")


def call_failed(error: "ModelAPIError | UnexpectedModelBehavior", timeout_s: float) -> CallFailed:
    """What an error of pydantic-ai's says of the call."""
    from pydantic_ai import exceptions

    match error:
        case exceptions.ModelTimeoutError():
            return too_late(timeout_s)
        case exceptions.ModelConnectionError():
            return CallFailed(short(error), again=True, fault="address")
        case exceptions.ModelContextWindowExceededError():
            reason = f"the prompt is too long for it ({short(error)}); lower distil.context_tokens"
            return CallFailed(reason, again=False, fault="context")
        case exceptions.ModelHTTPError():
            temporary = error.status_code in _TEMPORARY or error.status_code >= 500
            return CallFailed(
                f"the endpoint answered {error.status_code}: {short(error.body)}",
                again=temporary and not isinstance(error, exceptions.ModelQuotaExceededError),
                after=error.retry_after,
                fault=_fault(error),
            )
        case exceptions.UnexpectedModelBehavior():  # what came is no answer of the protocol
            return CallFailed(short(error), again=True, fault="address")
        case _:
            return CallFailed(short(error), again=True)


def short(said: object) -> str:
    return " ".join(str(said).split())[:_REASON]


def _fault(error: "ModelHTTPError") -> Fault:
    """By its category, else by its words."""
    from pydantic_ai import exceptions

    said = str(error.body).lower()
    if isinstance(error, exceptions.ModelAuthenticationError):
        return "key"
    if isinstance(error, exceptions.ModelQuotaExceededError | exceptions.ModelRateLimitError):
        return "quota"
    if isinstance(error, exceptions.ModelNotFoundError):
        return "name" if "model" in said else "address"
    if _NO_SUCH_MODEL.search(said):
        return "name"
    if any(words in said for words in _OF_LENGTH):
        return "context"
    return "form" if any(words in said for words in _OF_FORM) else "other"
