"""Every verb, registered once: what it is called on the command line, its address over HTTP, and the function that does it.

Faces loop over this table; parameters, limits, answers and their documentation are read off the function. To add a verb: a
method with types and a docstring, and a line here.
"""

import functools
import inspect
import re
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from types import UnionType
from typing import Annotated, Any, Literal, Protocol, Union, cast, get_args, get_origin

from everlore.domain.answers import Doc, Unchanged
from everlore.validation import Lines, Name, hints_of

DEFAULT_WORKSPACE = "default"
Home = str | Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Verb:
    """`command`: the words after `everlore`; a single word may list and have others below it. `route`: method and path, whose
    braces name parameters. `home`: the function, or where it is. `reads`: it changes nothing, though it is a POST. `makes`:
    the workspace, if there is none of that name. `asks`: a person is asked before, for it is for good."""

    command: str
    route: str
    home: Home
    reads: bool = False
    makes: bool = False
    asks: bool = False
    status: int = 200

    @property
    def method(self) -> str:
        return self.route.split()[0]

    @property
    def path(self) -> str:
        return self.route.split()[1]

    @property
    def name(self) -> str:
        """What it is called among all: `memories_show`."""
        return self.command.replace(" ", "_")

    @property
    def writes(self) -> bool:
        return not (self.reads or self.method == "GET")


@dataclass(frozen=True, slots=True)
class Parameter:
    """`default` is `inspect.Parameter.empty` where it must be given; `positional`: a person gives it without its name."""

    name: str
    hint: Any
    default: Any
    positional: bool

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def described(self) -> str:
        return described(self.hint)


class Opened(Protocol):
    """An open memory, as `Everlore.open` gives it."""

    async def workspace(self, called: str = ..., *, create: bool | None = ...) -> Any: ...


WORKSPACE = Parameter(
    "workspace", Annotated[Name, Doc("The memory to use; it must exist.")], DEFAULT_WORKSPACE, False
)
WORKSPACE_MADE = Parameter(
    "workspace",
    Annotated[Name, Doc("The memory to use; made if it does not exist.")],
    DEFAULT_WORKSPACE,
    False,
)

_API = "everlore.api.workspace:Workspace."
_GRAPH = "everlore.api.entities:Graph."
_LORE = "everlore.everlore:Everlore."
_OPERATING = "everlore.operating:"

_TABLE = [
    Verb("record", "POST /v1/messages", _API + "record", makes=True, status=201),
    Verb("reconcile", "POST /v1/reconcile", _API + "reconcile", makes=True),
    Verb("revise", "POST /v1/messages/{identifier}/revise", _API + "revise", status=201),
    Verb("regenerate", "POST /v1/messages/{identifier}/regenerate", _API + "regenerate", status=201),
    Verb("threads switch", "POST /v1/threads/{thread:path}/switch", _API + "switch"),
    Verb("recall", "POST /v1/recall", _API + "recall", reads=True),
    Verb("context", "POST /v1/context", _API + "context"),
    Verb("contexts", "GET /v1/contexts", _API + "contexts"),
    Verb("contexts show", "GET /v1/contexts/{identifier}", _API + "context_record"),
    Verb("feedback", "POST /v1/feedback", _API + "feedback"),
    Verb("messages", "GET /v1/messages", _API + "messages"),
    Verb("show", "GET /v1/messages/{identifier}", _API + "show"),
    Verb("delete", "DELETE /v1/messages/{identifier}", _API + "delete", asks=True),
    Verb("threads", "GET /v1/threads", _API + "threads"),
    Verb("threads delete", "DELETE /v1/threads/{thread:path}", _API + "delete_thread", asks=True),
    Verb("workspaces", "GET /v1/workspaces", _LORE + "workspaces"),
    Verb("workspaces delete", "DELETE /v1/workspaces/{name:path}", _LORE + "delete_workspace", asks=True),
    Verb("workspaces export", "GET /v1/workspaces/{name:path}/export", _LORE + "export_workspace"),
    Verb("workspaces import", "POST /v1/workspaces", _LORE + "import_workspace", status=201),
    Verb("remember", "POST /v1/memories", _API + "remember", makes=True, status=201),
    Verb("memories", "GET /v1/memories", _API + "memories"),
    Verb("memories show", "GET /v1/memories/{identifier}", _API + "memory"),
    Verb("memories history", "GET /v1/memories/{identifier}/history", _API + "history"),
    Verb("memories correct", "PATCH /v1/memories/{identifier}", _API + "correct"),
    Verb("memories pin", "POST /v1/memories/{identifier}/pin", _API + "pin"),
    Verb("memories unpin", "POST /v1/memories/{identifier}/unpin", _API + "unpin"),
    Verb("memories forget", "POST /v1/memories/{identifier}/forget", _API + "forget"),
    Verb("memories restore", "POST /v1/memories/{identifier}/restore", _API + "restore"),
    Verb("memories confirm", "POST /v1/memories/{identifier}/confirm", _API + "confirm"),
    Verb("memories reject", "POST /v1/memories/{identifier}/reject", _API + "reject"),
    Verb("memories erase", "DELETE /v1/memories/{identifier}", _API + "erase", asks=True),
    Verb("facts", "GET /v1/facts", _API + "facts"),
    Verb("facts show", "GET /v1/facts/{identifier}", _API + "fact_detail"),
    Verb("facts confirm", "POST /v1/facts/{identifier}/confirm", _API + "confirm_fact"),
    Verb("facts reject", "POST /v1/facts/{identifier}/reject", _API + "reject_fact"),
    Verb("entities", "GET /v1/entities", _GRAPH + "entities"),
    Verb("entities show", "GET /v1/entities/{entity:path}", _GRAPH + "entity"),
    Verb("entities aliases", "GET /v1/entities/{entity:path}/aliases", _GRAPH + "aliases"),
    Verb("entities alias add", "POST /v1/entities/{entity:path}/aliases", _GRAPH + "add_alias"),
    Verb("entities alias remove", "DELETE /v1/entities/{entity:path}/aliases", _GRAPH + "remove_alias"),
    Verb("entities merge", "POST /v1/entities/{keep:path}/merge", _GRAPH + "merge"),
    Verb("entities split", "POST /v1/entities/{entity:path}/split", _GRAPH + "split"),
    Verb("entities changes", "GET /v1/entity-changes", _GRAPH + "changes"),
    Verb("entities undo", "POST /v1/entity-changes/{identifier}/undo", _GRAPH + "undo"),
    Verb("entities suggestions", "GET /v1/entity-suggestions", _GRAPH + "link_suggestions"),
    Verb("graph search", "GET /v1/graph/search", _GRAPH + "search"),
    Verb("graph show", "GET /v1/graph/show", _GRAPH + "show"),
    Verb("graph path", "GET /v1/graph/path", _GRAPH + "path"),
    Verb("taxonomy", "GET /v1/taxonomy", _GRAPH + "taxonomy"),
    Verb("taxonomy label", "PUT /v1/taxonomy/{path:path}", _GRAPH + "label_taxonomy", status=204),
    Verb("taxonomy suggestions", "GET /v1/taxonomy-suggestions", _GRAPH + "taxonomy_suggestions"),
    Verb("review", "GET /v1/review", _API + "review"),
    Verb("review accept", "POST /v1/review/{identifier}/accept", _API + "accept", status=204),
    Verb("review reject", "POST /v1/review/{identifier}/reject", _API + "decline", status=204),
    Verb("jobs distil", "POST /v1/distil", _OPERATING + "start_distil", status=202),
    Verb("usage", "GET /v1/usage", _API + "usage"),
    Verb("status", "GET /v1/status", _OPERATING + "status"),
    Verb("jobs list", "GET /v1/jobs", _OPERATING + "jobs"),
    Verb("jobs retry", "POST /v1/jobs/retry", _OPERATING + "retry"),
    Verb("models list", "GET /v1/models", _OPERATING + "models"),
    Verb("models use", "POST /v1/models/{name:path}/use", _OPERATING + "use_model"),
]
_REGISTERED = {verb.command: verb for verb in _TABLE}


def register(verb: Verb) -> None:
    """Add a verb of somebody's own. Its function takes the workspace, or the open memory, first."""
    _REGISTERED[verb.command] = verb


def forget(verb: Verb) -> None:
    """Undo `register`."""
    del _REGISTERED[verb.command]


def verbs() -> Iterable[Verb]:
    return tuple(_REGISTERED.values())


@functools.cache
def function_of(home: Home) -> Callable[..., Any]:
    if not isinstance(home, str):
        return home
    module, _, names = home.partition(":")
    return functools.reduce(getattr, names.split("."), cast("Any", import_module(module)))


@functools.cache
def owner_of(home: Home) -> type:
    """The type of what the function takes first: the open memory, a workspace, or a part of one."""
    if isinstance(home, str) and "." in home.partition(":")[2]:
        module, _, names = home.partition(":")
        return getattr(import_module(module), names.split(".")[0])
    function = function_of(home)
    return hints_of(function)[next(iter(inspect.signature(function).parameters))]


@functools.cache
def parameters_of(verb: Verb) -> tuple[Parameter, ...]:
    """What a caller may give, the workspace first where one is meant."""
    function = function_of(verb.home)
    hints = hints_of(function)
    _, *given = inspect.signature(function).parameters.values()
    own = tuple(
        Parameter(one.name, hints[one.name], one.default, one.kind is one.POSITIONAL_OR_KEYWORD)
        for one in given
    )
    if owner_of(verb.home).__name__ == "Everlore":
        return own
    return (WORKSPACE_MADE if verb.makes else WORKSPACE, *own)


def answer_of(verb: Verb) -> Any:
    """The type of the answer; None where there is none."""
    hint = hints_of(function_of(verb.home))["return"]
    return None if hint is type(None) else hint


def answers_lines(verb: Verb) -> bool:
    """Whether the answer is a stream of lines."""
    return get_origin(answer_of(verb)) is AsyncIterator


def lines_of(verb: Verb) -> Parameter | None:
    """The parameter that takes a stream of lines, if there is one."""
    return next((one for one in parameters_of(verb) if one.hint == Lines), None)


def summary_of(verb: Verb) -> tuple[str, str]:
    """The first paragraph of the docstring without its full stop, and the rest."""
    said = inspect.getdoc(function_of(verb.home)) or verb.command
    # What is raised is for who writes Python; every face says its errors by itself.
    first, _, rest = re.sub(r"\s*Raises [^.]*\.", "", said).partition("\n\n")
    return " ".join(first.split()).rstrip("."), " ".join(rest.split())


async def call(verb: Verb, lore: Opened, arguments: dict[str, Any]) -> Any:
    """Do it. `arguments` are by name; what is not among them keeps its default."""
    owner = owner_of(verb.home)
    if isinstance(lore, owner):
        return await _bound(verb.home, lore)(**arguments)
    named = arguments.get("workspace", DEFAULT_WORKSPACE)
    workspace = await lore.workspace(named, create=None if verb.makes else False)
    rest = {name: value for name, value in arguments.items() if name != "workspace"}
    return await _bound(verb.home, _part(workspace, owner))(**rest)


def _bound(home: Home, owner: Any) -> Callable[..., Any]:
    """The method of what owns it, or the function with the owner first."""
    function = function_of(home)
    named = isinstance(home, str) and "." in home.partition(":")[2]
    return getattr(owner, function.__name__) if named else functools.partial(function, owner)


def _part(workspace: Any, owner: type) -> Any:
    """The workspace itself, or what it is composed of."""
    if isinstance(workspace, owner):
        return workspace
    parts = cast("dict[str, Any]", workspace.__dict__)
    return next(one for one in parts.values() if isinstance(one, owner))


# Reading types


def described(hint: Any) -> str:
    """What is written at a type, the outermost first."""
    if get_origin(hint) is Annotated:
        base, *marks = get_args(hint)
        said = [mark.text for mark in marks if isinstance(mark, Doc)]
        return said[-1] if said else described(base)
    inner = [one for one in get_args(hint) if described(one)] if get_origin(hint) is not Literal else []
    return described(inner[0]) if len(inner) == 1 else ""


def bare(hint: Any) -> Any:
    """The type without what is written at it."""
    return bare(get_args(hint)[0]) if get_origin(hint) is Annotated else hint


def kind_of(hint: Any) -> str:
    """What somebody types for it: str, int, float, bool, datetime, a list of words, or `object` for what cannot be typed."""
    base = bare(hint)
    origin, arguments = get_origin(base), get_args(base)
    if origin in (Union, UnionType):
        wanted = [one for one in arguments if one not in (type(None), Unchanged)]
        return kind_of(wanted[0])
    if origin is Literal:
        return "str"
    if origin is Sequence:
        return "list"
    return base.__name__ if base in (str, int, float, bool, datetime) else "object"
