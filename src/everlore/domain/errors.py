"""Every error that Everlore raises on purpose.

EverloreError
├── CallerError            the caller's fault: a clear message, never retried
│   ├── InvalidInput       names the field and the limit
│   ├── NotFound           an id or a name that does not exist here
│   │   └── WorkspaceGone  nor the workspace itself
│   └── ConfigurationError a setting, a folder or a database that cannot be used as it is
├── WorldError             the world's fault: retried, then parked
│   ├── DatabaseUnavailable
│   │   └── Conflict       somebody else was changing the same: the call may be made again at once
│   ├── ModelUnavailable   a model that is missing, damaged or does not answer
│   │   ├── BadAnswer      it answered, but what it said cannot be used, again and again
│   │   └── InputRefused   it will not take a text that it was given, and would not the next time
│   └── SpendLimit         a cap or the breaker forbids a model call; says until when
└── InternalError          ours: parked, loud
"""

from datetime import datetime
from typing import TypeVar

T = TypeVar("T")


class EverloreError(Exception):
    """Root of the tree; its text is one plain sentence (or two) that says what to do. `kind`: what every face calls it."""

    kind = "internal"


class CallerError(EverloreError):
    """The caller can mend it; the same call will fail again."""


class InvalidInput(CallerError):
    """A value outside its limits.

    `field` is the name as the caller wrote it (`messages[3].text`); `reason` says what is wrong and the limit.
    """

    kind = "invalid_input"

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class NotFound(CallerError):
    """Nothing of that name or id in this workspace."""

    kind = "not_found"


class WorkspaceGone(NotFound):
    """The workspace does not exist, or not any more."""


class ConfigurationError(CallerError):
    """A setting, folder or database that cannot be used as it is; the text says what to change."""

    kind = "misconfigured"


class WorldError(EverloreError):
    """Something outside failed; trying again later may help."""

    kind = "unavailable"


class DatabaseUnavailable(WorldError):
    """Postgres cannot be reached, refuses us or ran out of something."""


class Conflict(DatabaseUnavailable):
    """Two transactions were in each other's way (a deadlock, say) and this one gave in, as a whole: it may be run again."""


class ModelUnavailable(WorldError):
    """A model is missing, damaged or does not answer."""


class BadAnswer(ModelUnavailable):
    """A model's answer was malformed, cut off, empty or refused, and repairing and retrying did not help."""


class InputRefused(ModelUnavailable):
    """A model will not take one of the texts that it was given (too long for it, say); others it takes."""


class SpendLimit(WorldError):
    """The spend governor forbids a model call: a cap is reached, or the model failed too often.

    `until` is when it may be tried again (aware).
    """

    def __init__(self, message: str, until: datetime) -> None:
        super().__init__(message)
        self.until = until


class InternalError(EverloreError):
    """A promise that our own code broke."""


def promised(value: T | None, promise: str) -> T:
    """The value that has to be there. Raises InternalError with the promise that was broken where it is not."""
    if value is None:
        raise InternalError(f"Broken promise: {promise}.")
    return value
