"""Pydantic's view of the verbs: what a request may say, made from parameters, and what an answer is, made from its type.

Requests are checked for their form here (nothing unknown, nothing converted); limits are checked by the verbs themselves and
only told here, to the OpenAPI document. Answers are told here, and written by `to_json`.
"""

import functools
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from dataclasses import Field as DataclassField
from datetime import datetime
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Union, cast, get_args, get_origin, get_type_hints
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from everlore.api.verbs import Parameter, bare, described
from everlore.domain.answers import Page, Unchanged, properties
from everlore.domain.memories import AsOf
from everlore.domain.messages import NewMessage
from everlore.validation import Check

_REQUEST = ConfigDict(extra="forbid", strict=True, frozen=True)
_QUERY = ConfigDict(extra="forbid", frozen=True)


def _moment(value: object) -> datetime:
    """Only text counts as a time: whether a number means seconds or milliseconds would be a guess."""
    if not isinstance(value, str):
        raise ValueError("must be a time as text, for example 2025-05-12T14:03:00+02:00")
    try:
        return datetime.fromisoformat(value)
    except ValueError as error:
        raise ValueError("is not an ISO 8601 time such as 2025-05-12T14:03:00+02:00") from error


Moment = Annotated[datetime, BeforeValidator(_moment)]


class RequestModel(BaseModel):
    """What a caller sends. `arguments` are those that were given, as the verb takes them."""

    def arguments(self) -> dict[str, Any]:
        given = {name: _taken(getattr(self, name)) for name in self.model_fields_set}
        times = {name: given.pop(name) for name in ("valid_at", "recorded_at") if name in given}
        return given | ({"as_of": AsOf(**times)} if times else {})


def request_model(
    title: str, told: str, parameters: Sequence[Parameter], *, query: bool
) -> type[RequestModel]:
    """The body of a request, or (`query`) what stands behind the question mark. There the two questions of time are flat."""
    made: dict[str, Any] = {}
    for one in parameters:
        if query and bare(one.hint) is AsOf:
            made |= {name: (_wire(hint), None) for name, hint in _hints(AsOf).items()}
        else:
            made[one.name] = (_wire(one.hint), _default(one.default))
    config = _QUERY if query else _REQUEST
    model = create_model(title, __base__=RequestModel, __doc__=told, **made)
    model.model_config.update(config)
    model.model_rebuild(force=True)
    return model


def _default(default: Any) -> Any:
    if default is inspect.Parameter.empty:
        return ...
    if isinstance(default, AsOf | Unchanged):
        return None
    return Field(default_factory=list) if default == () else default


def _taken(value: Any) -> Any:
    """Models of our own values become these."""
    if isinstance(value, _Value):
        return value.value()
    if isinstance(value, list):
        return [_taken(one) for one in cast("list[Any]", value)]
    return value


class _Value(BaseModel):
    """One of our frozen values in a request. `of` is its class, set for each subclass."""

    model_config = _REQUEST
    of: ClassVar[type]

    def value(self) -> Any:
        # Not model_dump(): that would walk the callers' JSON, which may be nested deeper than it can follow.
        return self.of(**dict(self))


class _Message(_Value):
    """A message as it was sent: what is wrong with it is named as the sender named it."""

    content: Annotated[str | None, Field(description="What others call `text`; one of both.")] = None

    def value(self) -> Any:
        return {name: getattr(self, name) for name in self.model_fields_set}


@functools.cache
def _value_model(of: type) -> type[_Value]:
    made: dict[str, Any] = {
        one.name: (_wire(_hints(of)[one.name]), _field_default(one)) for one in fields(cast("Any", of))
    }
    model = create_model(
        of.__name__, __base__=_Message if of is NewMessage else _Value, __doc__=of.__doc__, **made
    )
    model.of = of
    return model


def _field_default(one: DataclassField[Any]) -> Any:
    if one.default_factory is not MISSING:
        return Field(default_factory=one.default_factory)
    if one.default is MISSING:
        return ...
    return Field(default_factory=list) if one.default == () else one.default


def _hints(of: type) -> dict[str, Any]:
    return get_type_hints(of, include_extras=True)


def _wire(hint: Any) -> Any:
    """The type as it comes over the wire: ids and names are text, times are text with a zone, our own values are objects."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        base, *marks = arguments
        limits = {
            word: said for mark in marks if isinstance(mark, Check) for word, said in mark.schema.items()
        }
        return Annotated[
            _wire(base), Field(description=described(hint) or None, json_schema_extra=_limits(limits))
        ]
    if origin in (Union, UnionType):
        return _one_of(arguments)
    if origin is Sequence:
        return list[_wire(arguments[0])]
    if origin is Mapping or hint is Mapping:
        return dict[str, Any]
    if hint is datetime:
        return Moment
    if hint is UUID:
        return str
    return _value_model(hint) if is_dataclass(hint) else hint


def _limits(limits: Mapping[str, Any]) -> Any:
    """Put where the value itself is described, not beside the null that may stand for it."""
    if not limits:
        return None

    def extend(schema: dict[str, Any]) -> None:
        for one in schema.get("anyOf", [schema]):
            if one.get("type") != "null":
                one.update(limits)

    return extend


def _one_of(arguments: Sequence[Any]) -> Any:
    """A name or an id is text; a message is the value rather than any object; None is what may be left out. Text or
    any object may be sent as either."""
    wanted = [one for one in arguments if one not in (NoneType, Unchanged)]
    values = [one for one in wanted if is_dataclass(one)]
    objects = any(get_origin(one) is Mapping for one in wanted)
    if str in wanted and not objects:
        chosen: Any = str
    elif values:
        chosen = _wire(values[0])
    else:
        chosen = Union[tuple(_wire(one) for one in wanted)]  # noqa: UP007 - made of what there is
    return Union[chosen, None] if NoneType in arguments else chosen  # noqa: UP007


# Answers


@functools.cache
def answer_model(hint: Any) -> Any:
    """What the OpenAPI document says of an answer: its fields, its properties, and what is written at them."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return Annotated[answer_model(arguments[0]), Field(description=described(hint) or None)]
    if origin is Page:
        item = answer_model(arguments[0])
        return _page_of(item)
    if origin in (Union, UnionType):
        return Union[tuple(answer_model(one) for one in arguments)]  # noqa: UP007 - made of what there is
    if origin is tuple:
        return list[answer_model(arguments[0])] if arguments[-1] is Ellipsis else hint
    if origin is Mapping:
        return dict[str, answer_model(arguments[1])]
    if origin is list and is_dataclass(arguments[0]):
        return list[answer_model(arguments[0])]
    if is_dataclass(hint) or hasattr(hint, "_fields"):
        return _answer_model(cast("type", hint))
    return hint


@functools.cache
def _answer_model(of: type) -> type[BaseModel]:
    made: dict[str, Any] = {name: (answer_model(hint), ...) for name, hint in _hints(of).items()}
    for name in properties(of):
        getter = getattr(of, name).fget
        told = Field(description=inspect.getdoc(getter))
        made[name] = (Annotated[answer_model(get_type_hints(getter)["return"]), told], ...)
    return create_model(of.__name__, __doc__=of.__doc__, **made)


def _page_of(item: type[BaseModel]) -> type[BaseModel]:
    hints = _hints(Page) | {"items": list[item]}
    made: dict[str, Any] = {
        name: (hint, Field(description=described(_hints(Page)[name]))) for name, hint in hints.items()
    }
    return create_model(f"{item.__name__}Page", __doc__=Page.__doc__, **made)
