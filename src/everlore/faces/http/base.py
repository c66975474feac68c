"""What all bodies, queries and answers have in common: nothing unknown comes in, times are text with a zone."""

from datetime import UTC, datetime
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from everlore.domain.messages import MAX_EXTERNAL_ID_CHARACTERS, MAX_NAME_CHARACTERS
from everlore.everlore import DEFAULT_WORKSPACE

TAXONOMY_PATTERN = r"^[A-Za-z0-9_-]{1,100}(\.[A-Za-z0-9_-]{1,100}){0,19}$"


def _moment(value: object) -> datetime:
    """Only text counts as a time: whether a number means seconds or milliseconds would be a guess."""
    if not isinstance(value, str):
        raise ValueError("must be a time as text, for example 2025-05-12T14:03:00+02:00")
    try:
        return datetime.fromisoformat(value)
    except ValueError as error:
        raise ValueError("is not an ISO 8601 time such as 2025-05-12T14:03:00+02:00") from error


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # the first and last day of the calendar
        return moment


Moment: TypeAlias = Annotated[datetime, BeforeValidator(_moment)]
# Answers have times in UTC, whatever the zone of the database or of whoever asks.
Utc: TypeAlias = Annotated[datetime, AfterValidator(_in_utc)]
Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARACTERS)]
Identifier: TypeAlias = Annotated[str, Field(min_length=1, max_length=MAX_EXTERNAL_ID_CHARACTERS)]
Taxonomy: TypeAlias = Annotated[str, Field(pattern=TAXONOMY_PATTERN)]


class Body(BaseModel):
    """What a caller sends: nothing unknown, nothing converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Within(Body):
    """A body that speaks of what is in one workspace."""

    workspace: Name = Field(DEFAULT_WORKSPACE, description="The memory to use; it must exist.")


class Place(BaseModel):
    """What a request without a body says in its query: nothing unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    workspace: Name = Field(DEFAULT_WORKSPACE, description="The memory to use; it must exist.")


class Answer(BaseModel):
    """What a caller gets, read from the attributes of our own values."""

    model_config = ConfigDict(from_attributes=True, frozen=True)
