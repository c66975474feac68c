"""What every face's input passes: each value is checked here, and an error names its field and limit."""

import functools
import inspect
import re
from collections.abc import (
    AsyncIterable,
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    ParamSpec,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)
from uuid import UUID

from everlore.domain.answers import UNCHANGED, Doc, Unchanged
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.ids import SHORT_ID_LENGTH
from everlore.domain.memories import (
    MAX_CONTENT_CHARACTERS,
    MAX_TAG_CHARACTERS,
    MAX_TAGS,
    AsOf,
)
from everlore.domain.messages import MAX_NAME_CHARACTERS
from everlore.domain.predicates import KNOWN
from everlore.text.meant import meant

_TAXONOMY = re.compile(r"[A-Za-z0-9_-]{1,100}(\.[A-Za-z0-9_-]{1,100}){0,19}")
P = ParamSpec("P")
T = TypeVar("T")

MAX_LIMIT = 1000
MAX_QUESTION_CHARACTERS = 8000
MAX_DEADLINE_MS = 3_600_000
# A message may have a megabyte each of text, captions, system prompt, tool calls and metadata; JSON may spell each byte in six.
MAX_LINE_BYTES = 64 * 1024 * 1024


def valid_text(value: str, field: str, limit: int) -> str:
    """Text that Postgres can hold: no NUL, no lone surrogate, at most `limit` bytes of UTF-8."""
    if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(field, f"must be text, not {type(value).__name__}")
    if "\0" in value:
        raise InvalidInput(field, "contains a NUL byte, which Postgres cannot store")
    if value.isascii():
        size = len(value)
    else:
        try:
            size = len(value.encode())
        except UnicodeEncodeError as error:
            raise InvalidInput(
                field, f"contains a lone surrogate at character {error.start}: it is not valid Unicode"
            ) from error
    if size > limit:
        raise InvalidInput(field, f"has {size:,} bytes; the limit is {limit:,}")
    return value


def name(value: str, field: str) -> str:
    """A name of a thread, session, project, workspace or author: 1 to 200 characters, not blank."""
    text = valid_text(value, field, MAX_NAME_CHARACTERS * 4).strip()
    if not 1 <= len(text) <= MAX_NAME_CHARACTERS:
        raise InvalidInput(field, f"must have 1 to {MAX_NAME_CHARACTERS} characters; it has {len(text)}")
    return text


def taxonomy_path(value: str, field: str) -> str:
    """A path such as `work.studio.billing`: labels of letters, digits, _ and -, joined by dots."""
    if not isinstance(value, str) or not _TAXONOMY.fullmatch(value):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            field, "must be labels of letters, digits, _ and - joined by dots, at most 20 of 100 characters"
        )
    return value


def aware(value: datetime, field: str) -> datetime:
    """The same moment in UTC. Raises InvalidInput for a time without a zone or outside the calendar."""
    if not isinstance(value, datetime):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(field, f"must be a datetime, not {type(value).__name__}")
    if value.utcoffset() is None:
        raise InvalidInput(field, "has no time zone; give one, for example +00:00")
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise InvalidInput(field, "lies outside the years 1 to 9999 in UTC") from error


def content_of(value: str, field: str = "content") -> str:
    content = valid_text(value, field, MAX_CONTENT_CHARACTERS * 4).strip()
    if not 1 <= len(content) <= MAX_CONTENT_CHARACTERS:
        raise InvalidInput(
            field, f"must have 1 to {MAX_CONTENT_CHARACTERS:,} characters; it has {len(content):,}"
        )
    return content


def question_of(value: str, field: str) -> str:
    """What is asked: not blank, and within what a question may have."""
    if not value.strip():
        raise InvalidInput(field, "is empty; ask something")
    if len(value) > MAX_QUESTION_CHARACTERS:
        raise InvalidInput(field, f"has {len(value):,} characters; the limit is {MAX_QUESTION_CHARACTERS:,}")
    return valid_text(value, field, MAX_QUESTION_CHARACTERS * 4)


def tags_of(values: Sequence[str], field: str = "tags") -> tuple[str, ...]:
    if len(values) > MAX_TAGS:
        raise InvalidInput(field, f"must be a list of at most {MAX_TAGS} tags")
    tags = tuple(
        valid_text(value, f"{field}[{place}]", MAX_TAG_CHARACTERS * 4).strip()
        for place, value in enumerate(values)
    )
    for place, tag in enumerate(tags):
        if not 1 <= len(tag) <= MAX_TAG_CHARACTERS:
            raise InvalidInput(f"{field}[{place}]", f"must have 1 to {MAX_TAG_CHARACTERS} characters")
    return tags


def share(value: float, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(field, f"must be a number from 0 to 1, not {value!r}")
    return float(value)


def between(value: int, field: str, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(field, f"must be a number from {low} to {high:,}, not {value!r}")
    return value


def predicate_of(value: str, used: Collection[str]) -> str:
    """A predicate that facts may have: a known one, a role (`sister_of`), a favourite, or one that is in use here."""
    predicate = name(value, "predicate").lower().replace(" ", "_")
    known = sorted({*KNOWN, *used})
    if predicate in known or predicate.startswith("favourite_") or predicate.endswith("_of"):
        return predicate
    hint = meant(predicate, known) or f" Known are {', '.join(known)}."
    raise InvalidInput("predicate", f"{value!r} is none that facts have here.{hint}")


def moments(as_of: AsOf | datetime, field: str = "as_of") -> AsOf:
    """Both moments in UTC. A moment by itself asks what was true then."""
    if isinstance(as_of, datetime):
        return AsOf(aware(as_of, field))
    if not isinstance(as_of, AsOf):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(field, f"must be an AsOf or a datetime, not {type(as_of).__name__}")
    return AsOf(
        None if as_of.valid_at is None else aware(as_of.valid_at, f"{field}.valid_at"),
        None if as_of.recorded_at is None else aware(as_of.recorded_at, f"{field}.recorded_at"),
    )


def with_zone(value: datetime, field: str) -> datetime:
    """Keeps the zone: calendar words like "yesterday" are read in it."""
    aware(value, field)
    return value


def deadline(value: float, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MAX_DEADLINE_MS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            field, f"must be above 0 and at most {MAX_DEADLINE_MS:,} milliseconds, not {value!r}"
        )
    return float(value)


# Ids, and the ends of ids that a person types


def whole_id(value: str | UUID, field: str = "id") -> UUID:
    """Raises InvalidInput for what is no whole id."""
    found = value if isinstance(value, UUID) else uuid_or_none(value)
    if found is None:
        raise InvalidInput(field, f"must be an id, not {value!r}")
    return found


def uuid_or_none(text: str) -> UUID | None:
    try:
        return UUID(text.strip()) if len(text.strip().replace("-", "")) == 32 else None
    except ValueError:
        return None


def digits_or_none(text: str) -> str | None:
    """The hexadecimal digits of an id or of the end of one, if it can be one."""
    digits = text.strip().lower().replace("-", "")
    well = SHORT_ID_LENGTH <= len(digits) <= 32 and not set(digits) - set("0123456789abcdef")
    return digits if well else None


async def found_by_id(
    identifier: str | UUID,
    what: str,
    ending: Callable[[str], Awaitable[Sequence[UUID]]],
    *,
    field: str = "id",
) -> UUID:
    """The one id that is, or ends with, what a person gave. `ending` looks those up that end with so many digits.

    Raises InvalidInput for what is no end of an id or of several, NotFound.
    """
    if isinstance(identifier, UUID):
        return identifier
    digits = digits_or_none(identifier)
    if digits is None:
        raise InvalidInput(
            field, f"must be the last {SHORT_ID_LENGTH} to 32 characters of a {what}'s id, not {identifier!r}"
        )
    found = await ending(digits)
    if not found:
        raise NotFound(f"There is no {what} whose id ends with {identifier}.")
    if len(found) > 1:
        raise InvalidInput(field, f"several {what} ids end with {identifier}; type more of it")
    return found[0]


# Limits at a parameter


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """What a parameter passes, written at its type: `check(value, field)` gives the value as the verb uses it or raises
    InvalidInput; `schema` says the same in words of JSON Schema."""

    check: Callable[[Any, str], Any]
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])


def number(low: int, high: int) -> Check:
    return Check(lambda value, named: between(value, named, low, high), {"minimum": low, "maximum": high})


def number_of(most: int) -> Check:
    """At most so many items."""

    def few(values: Sequence[Any], named: str) -> Sequence[Any]:
        if len(values) > most:
            raise InvalidInput(named, f"has {len(values):,} items; the limit is {most:,}")
        return values

    return Check(few, {"maxItems": most})


_NAMED = {"minLength": 1, "maxLength": MAX_NAME_CHARACTERS}
Name: TypeAlias = Annotated[str, Check(name, _NAMED)]
# A name, or an id of something that may be named: what it is not, the verb says.
Named: TypeAlias = Annotated[
    str | UUID, Check(lambda value, field: value if isinstance(value, UUID) else name(value, field), _NAMED)
]
Id: TypeAlias = Annotated[str | UUID, Check(lambda value, _: value)]
Moment: TypeAlias = Annotated[datetime, Check(aware)]
Present: TypeAlias = Annotated[datetime, Check(with_zone)]
Times: TypeAlias = Annotated[AsOf, Check(moments)]
TaxonomyPath: TypeAlias = Annotated[str, Check(taxonomy_path, {"pattern": f"^{_TAXONOMY.pattern}$"})]
Content: TypeAlias = Annotated[str, Check(content_of, {"minLength": 1, "maxLength": MAX_CONTENT_CHARACTERS})]
Question: TypeAlias = Annotated[
    str, Check(question_of, {"minLength": 1, "maxLength": MAX_QUESTION_CHARACTERS})
]
Tags: TypeAlias = Annotated[Sequence[str], Check(tags_of, {"maxItems": MAX_TAGS})]
Share: TypeAlias = Annotated[float, Check(share, {"minimum": 0, "maximum": 1})]
Milliseconds: TypeAlias = Annotated[
    float, Check(deadline, {"exclusiveMinimum": 0, "maximum": MAX_DEADLINE_MS})
]
Limit: TypeAlias = Annotated[int, Doc("At most so many."), number(1, MAX_LIMIT)]
LimitOrNone: TypeAlias = Annotated[int, number(0, MAX_LIMIT)]
Position: TypeAlias = Annotated[int, number(1, 2_147_483_647)]
Cursor: TypeAlias = Annotated[
    str | None, Doc("Where to go on: the cursor of the part before; left out, at the beginning.")
]

Lines: TypeAlias = Annotated[
    AsyncIterable[str | bytes] | Iterable[str | bytes], Doc("The lines of an export, in their order.")
]


def checked(verb: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """A verb whose arguments pass what its parameters' types say before it begins."""
    signature = inspect.signature(verb)

    @functools.wraps(verb)
    async def call(*args: P.args, **kwargs: P.kwargs) -> T:
        bound = signature.bind(*args, **kwargs)
        hints = hints_of(verb)
        for given, value in bound.arguments.items():
            if given in hints:
                bound.arguments[given] = passed(hints[given], value, given)
        return await verb(*bound.args, **bound.kwargs)

    return call


@functools.cache
def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The types of the parameters and of the answer, with what is written at them."""
    return get_type_hints(inspect.unwrap(function), include_extras=True)


def passed(hint: Any, value: Any, named: str) -> Any:
    """The value as the type has it. Raises InvalidInput."""
    if value is UNCHANGED:
        return value
    if get_origin(hint) is Annotated:
        base, *marks = get_args(hint)
        value = passed(base, value, named)
        for mark in marks:
            if isinstance(mark, Check) and value is not None:
                value = mark.check(value, named)
        return value
    return _of_type(hint, value, named)


def _of_type(hint: Any, value: Any, named: str) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        if value is None and type(None) in arguments:
            return None
        wanted = [one for one in arguments if one not in (type(None), Unchanged)]
        return passed(wanted[0], value, named) if len(wanted) == 1 else value
    if value is None and hint is not Any:
        raise InvalidInput(named, "must not be null; leave it out to have it as it is")
    if origin is Literal and value not in arguments:
        raise InvalidInput(named, f"must be one of {', '.join(arguments)}; it is {value!r}")
    if origin is Sequence:
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise InvalidInput(named, f"must be a list, not {value!r}")
        items = cast("Sequence[Any]", value)
        return [passed(arguments[0], one, f"{named}[{place}]") for place, one in enumerate(items)]
    if hint in (str, bool) and not isinstance(value, hint):
        raise InvalidInput(named, f"must be {'text' if hint is str else 'true or false'}, not {value!r}")
    return value
