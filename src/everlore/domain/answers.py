"""What makes a frozen value an answer: its documentation at each field, pages of lists, and one way to make JSON of it.

Every face gives these values: `to_json` is what HTTP sends and `--json` prints.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar, cast, overload
from uuid import UUID

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Doc:
    """What a field or a parameter means: `Annotated[int, Doc("At most so many.")]`."""

    text: str


class Unchanged(Enum):
    """Stands for what a caller leaves as it is, where None means that it is to be empty."""

    UNCHANGED = "unchanged"


UNCHANGED = Unchanged.UNCHANGED


@dataclass(frozen=True, eq=False)
class Page(Sequence[T], Generic[T]):
    """A part of a list, in its order; a sequence of its items."""

    items: Annotated[tuple[T, ...], Doc("This part of the list.")]
    total: Annotated[int, Doc("How many there are in all.")]
    cursor: Annotated[str | None, Doc("Give it to the same list for what follows; null at the end.")] = None

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        return self.items[at]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __eq__(self, other: object) -> bool:
        """As a sequence: equal to a list of the same items."""
        return isinstance(other, Sequence) and list(self) == list(cast("Sequence[T]", other))

    __hash__ = None  # pyright: ignore[reportAssignmentType] - as of every sequence that equals a list


def to_json(value: Any) -> Any:
    """An answer as `json.dumps` takes it: fields and properties by their names, ids as text, times in ISO 8601 and UTC."""
    match value:
        case UUID() | Path():
            return str(value)
        case datetime():
            return _in_utc(value)
        case date():
            return value.isoformat()
        case Decimal():
            return float(value)
        case Mapping():
            return {str(k): to_json(v) for k, v in cast("Mapping[Any, Any]", value).items()}
        case _ if is_dataclass(value) and not isinstance(value, type):
            return {name: to_json(getattr(value, name)) for name in names(type(value))}
        case tuple() if hasattr(cast("Any", value), "_asdict"):
            return to_json(cast("Any", value)._asdict())
        case list() | tuple() | set() | frozenset():
            return [to_json(one) for one in cast("Sequence[Any]", value)]
        case _:
            return value


@cache
def names(answer: type) -> tuple[str, ...]:
    """What an answer shows: its fields, then its properties, which follow from them."""
    return (*(one.name for one in fields(answer)), *properties(answer))


@cache
def properties(answer: type) -> tuple[str, ...]:
    return tuple(
        name
        for kind in reversed(answer.__mro__)
        for name, value in vars(kind).items()
        if isinstance(value, property) and not name.startswith("_")
    )


def _in_utc(moment: datetime) -> str:
    try:
        return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except OverflowError:  # the first and last day of the calendar
        return moment.isoformat()
