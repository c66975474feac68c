"""A command for each verb: options and arguments from its parameters, JSON from its answer, text by the printer it has.

What a person types differs from what a program sends in a few ways only: times may lack a zone, a list is an option that may be
repeated, the two questions of time are two options, `-` reads standard input, and what is for good is asked about first.
"""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import is_dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from everlore.domain.answers import UNCHANGED, Page, names
from everlore.domain.errors import InvalidInput
from everlore.faces.cli import contexts, entities, graph, knowing, memories, memory, operating, recalling
from everlore.faces.cli.call import Call, Json, call_of, index_one, read_stdin, require_confirmation, run
from everlore.faces.cli.output import clean, local, moment
from everlore.faces.cli.shown import PRINTERS, QUESTIONS, RecordedAt, Shown, ValidAt, alone, as_of
from everlore.text.counts import singular

if TYPE_CHECKING:
    from everlore.api.verbs import Parameter, Verb

# Each says how its answers look.
LOOKS = (contexts, entities, graph, knowing, memories, memory, operating, recalling)
# Lists of what distilling makes.
_DISTILLED = {"memories", "facts", "entities"}
_TEXTS = {"content", "text"}
_MAX_STDIN_BYTES = 1_000_000
# What stands in the list of all commands; a test compares that of single ones with what their verbs say.
_HELP = {
    "recall": "Recall the messages, memories and facts that answer a question.",
    "context": "Make the memory part of a prompt: a head for the beginning of the conversation, a tail for this question.",
    "contexts": "Contexts that were given to prompts: list them, or look at one.",
    "feedback": "Confirm or refuse the sources of an answer.",
    "revise": "Store a message anew, with other words, in the place of one; what followed that leaves the path.",
    "regenerate": "Store another answer beside one; the path leads to it from now on.",
    "messages": "List the messages of a thread's path in their order.",
    "show": "Show all of one message.",
    "delete": "Delete a message for good, and everything derived from it.",
    "remember": "Keep a memory directly.",
    "usage": "Show what model calls cost, per day (UTC) and model; failed ones count.",
    "status": "Show how the installation and one workspace are doing.",
    "threads": "Conversations: list them, switch to another branch of one, or delete one.",
    "workspaces": "Memories that know nothing of each other: list, export, import or delete them.",
    "memories": "Memories: list them, look at one, change what is known.",
    "facts": "Facts: who or what stands how to whom or what, and since when.",
    "entities": "People, places and things: their names, and which of them are one.",
    "graph": "How entities hang together.",
    "taxonomy": "Paths that threads are filed under.",
    "review": "What waits for a person: memories set aside, entities that may be one, paths.",
    "jobs": "Background jobs that failed for good.",
    "models": "Embedding models.",
    "alias": "Give an entity another name, or take one away.",
}


class Commands(TyperGroup):
    """All commands. Those of the verbs are made when they are called: to read all their types takes a second, and to list them a
    word each will do."""

    def make(self, first: str | None = None) -> None:
        """Make what is not there yet, or of that what begins with one word. No help text of ours is markup."""
        _add_to(self, first)
        take_literally(self)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(dict.fromkeys([*self.commands, *_first_words()]))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands and cmd_name in _first_words():
            if cmd_name in _HELP:
                return TyperCommand(cmd_name, help=_HELP[cmd_name])
            self.make(cmd_name)
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] in _first_words():
            self.make(args[0])
        return super().resolve_command(ctx, args)


def _first_words() -> list[str]:
    from everlore.api.verbs import verbs

    return [verb.command.split()[0] for verb in verbs()]


def take_literally(command: TyperCommand | TyperGroup) -> None:
    """Have square brackets in help texts shown as they are."""
    for described in (command, *command.params):
        given = getattr(described, "help", None)
        if given and not getattr(described, "literal", False):
            described.help = given.replace("[", "\\[")  # pyright: ignore[reportAttributeAccessIssue] - of those that have one
            described.literal = True  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(command, TyperGroup):
        for below in command.commands.values():
            take_literally(cast("TyperCommand | TyperGroup", below))


def _add_to(root: TyperGroup, first: str | None) -> None:
    """Add what has no command yet."""
    from everlore.api.verbs import verbs

    wanted = [verb for verb in verbs() if first in (None, verb.command.split()[0])]
    registered = sorted(wanted, key=lambda verb: len(verb.command.split()))
    groups = {word for verb in registered for word in [verb.command.split()[0]] if " " in verb.command}
    for verb in registered:
        words = verb.command.split()
        group = root
        for word in words[:-1]:
            group = _group(group, word)
        if words[-1] not in group.commands or isinstance(group.commands[words[-1]], TyperGroup):
            _add(group, verb, words[-1], lists=len(words) == 1 and words[0] in groups)


def _add(parent: TyperGroup, verb: "Verb", word: str, *, lists: bool) -> None:
    made = typer.Typer(
        add_completion=False, help=f"{_HELP.get(word, '')}\n\n{_json(verb)}" if lists else None
    )
    if lists:
        made.callback(invoke_without_command=True)(_function(verb, lists=True))
        _placeholder(made)
        below = cast("TyperGroup", get_command(made))
        below.commands.clear()
        below.commands.update(getattr(parent.commands.get(word), "commands", {}))
        below.name = word
        parent.commands[word] = below
    else:
        made.command(word)(_function(verb, lists=False))
        command = cast("TyperCommand", get_command(made))
        command.name = word
        parent.commands[word] = command


def _group(parent: TyperGroup, word: str) -> TyperGroup:
    if word not in parent.commands:
        made = typer.Typer(no_args_is_help=True, add_completion=False, help=_HELP.get(word))
        made.callback()(lambda: None)
        _placeholder(made)
        below = cast("TyperGroup", get_command(made))
        below.commands.clear()
        below.name = word
        parent.commands[word] = below
    return cast("TyperGroup", parent.commands[word])


def _placeholder(app: typer.Typer) -> None:
    """Typer makes no group of nothing."""
    app.command("placeholder")(lambda: None)


def _function(verb: "Verb", *, lists: bool) -> Any:
    """What typer is to call, with a signature of options and arguments."""
    from everlore.api.verbs import parameters_of, summary_of

    given = parameters_of(verb)
    # A group has no arguments: they could not be told from the words behind it.
    options = [made for one in given for made in _options(replace(one, positional=False) if lists else one)]
    if clearable := _clearable(given):
        told = f"Take {', '.join(clearable)} away; repeatable."
        clear = Annotated[list[str] | None, typer.Option(metavar="FIELD", help=told)]
        options.append(_parameter("clear", clear, default=None))
    if verb.asks:
        yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
        options.append(_parameter("yes", yes, default=False))
    options.append(_parameter("to_json", Json, default=False))

    def do(ctx: typer.Context, **typed: Any) -> None:
        if lists and not alone(ctx):
            return
        _do(call_of(ctx), verb, given, typed)

    positional = [one for one in options if one.default is inspect.Parameter.empty]
    rest = [one for one in options if one.default is not inspect.Parameter.empty]
    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    signature = inspect.Signature([context, *positional, *rest])
    do.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess] - read by typer
    do.__annotations__ = {name: one.annotation for name, one in signature.parameters.items()}
    do.__doc__ = "{}.\n\n{}\n\n{}".format(*summary_of(verb), _json(verb))
    return do


def _json(verb: "Verb") -> str:
    """What `--json` prints, for the help."""
    from everlore.api.verbs import answer_of

    answer = answer_of(verb)
    if answer is None:
        return "JSON: null"
    one = next((part for part in (answer, *get_args(answer)) if is_dataclass(part)), None)
    if get_origin(answer) is Page:
        return f"JSON: items [{{{', '.join(names(get_args(answer)[0]))}}}], total, cursor"
    if one is None:
        return "JSON: a list"
    listed = ", ".join(names(cast("type", one)))
    return f"JSON: [{{{listed}}}]" if get_origin(answer) is tuple else f"JSON: {listed}"


def _parameter(name: str, annotation: Any, *, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation
    )


def _options(one: "Parameter") -> list[inspect.Parameter]:
    """What a parameter is on the command line; none for what cannot be typed."""
    from everlore.api.verbs import kind_of

    kind, told = kind_of(one.hint), one.described
    if one.name == "as_of":
        return [
            _parameter("valid_at", ValidAt, default=None),
            _parameter("recorded_at", RecordedAt, default=None),
        ]
    if one.name == "workspace":
        option = typer.Option("--workspace", "-w", metavar="NAME", help=told)
        return [_parameter(one.name, Annotated[str, option], default="default")]
    if kind == "list":
        named = f"--{singular(one.name).replace('_', '-')}"
        option = typer.Option(named, metavar=_metavar(one, kind), help=f"{told} Repeatable.")
        return [_parameter(one.name, Annotated[list[str] | None, option], default=None)]
    if kind == "bool":
        return [_flag(one, told)]
    of: Any = {"int": int, "float": float}.get(kind, str)
    if one.positional:
        argument = typer.Argument(metavar=_metavar(one, kind), help=told, show_default=False)
        if one.required:
            return [_parameter(one.name, Annotated[of, argument])]
        return [_parameter(one.name, Annotated[of | None, argument], default=None)]
    named = f"--{one.name.replace('_', '-')}"
    shown = one.default if isinstance(one.default, int | float | str) else None
    option = typer.Option(
        named, metavar=_metavar(one, kind), help=told, show_default=str(shown) if shown else False
    )
    return [_parameter(one.name, Annotated[of | None, option], default=None)]


def _flag(one: "Parameter", told: str) -> inspect.Parameter:
    named = f"--{one.name.replace('_', '-')}"
    both = one.default is not False
    option = typer.Option(f"{named}/--no-{one.name.replace('_', '-')}" if both else named, help=told)
    if one.required:
        return _parameter(one.name, Annotated[bool, option])
    return _parameter(one.name, Annotated[bool | None, option], default=None)


def _metavar(one: "Parameter", kind: str) -> str:
    words = {"datetime": "TIME", "int": "N", "float": "N"}
    if one.name == "identifier":
        return "ID"
    if one.positional:
        return f"{one.name.upper()}|-" if one.name in _TEXTS else one.name.upper()
    return words.get(kind, "TEXT" if kind == "str" else "WORD")


def _do(call: Call, verb: "Verb", given: "Sequence[Parameter]", typed: dict[str, Any]) -> None:
    from everlore.api import verbs

    arguments = _arguments(given, typed)
    if verb.asks:
        _ask(call, verb, arguments, yes=typed["yes"])

    async def answered() -> Any:
        async with call.memory() as lore:
            found = await verbs.call(verb, lore, arguments)
            if verb.makes:
                await index_one(lore, await lore.workspace(arguments["workspace"]), call.out)
            return found, lore.undistilled_because

    answer, undistilled_because = run(answered())
    for sentence in _missing(verb, answer, undistilled_because):
        call.out.warn(sentence)
    printer = PRINTERS.get(verb.command)
    if typed["to_json"] or printer is None:
        call.out.json(answer)
        return
    printer(Shown(call.out, answer, arguments))
    if isinstance(answer, Page) and answer.cursor:
        part = cast("Page[object]", answer)
        call.out.note(f"{len(part):,} of {part.total:,}; more with --cursor {part.cursor}")


def _missing(verb: "Verb", answer: Any, undistilled_because: str | None) -> Iterator[str]:
    """What an answer says is missing, and why there is nothing in a list of what is distilled."""
    yield from getattr(answer, "degraded", ())
    if notice := getattr(answer, "notice", None):
        yield notice
    if verb.command in _DISTILLED and not answer and undistilled_because:
        yield undistilled_because


def _ask(call: Call, verb: "Verb", arguments: dict[str, Any], *, yes: bool) -> None:
    """In a step of its own: the server need not be held while a person thinks."""
    from everlore.api.verbs import summary_of

    question = QUESTIONS.get(verb.command)

    async def worded() -> str:
        async with call.memory() as lore:
            return await question(lore, arguments) if question else f"{summary_of(verb)[0]}?"

    require_confirmation(clean(run(worded())), yes=yes)


def _arguments(given: "Sequence[Parameter]", typed: dict[str, Any]) -> dict[str, Any]:
    """What was typed, as the verb takes it; what was not is left to the verb."""
    from everlore.api.verbs import kind_of

    made: dict[str, Any] = {}
    for one in given:
        value = typed.get(one.name)
        if one.name == "as_of":
            made[one.name] = as_of(typed["valid_at"], typed["recorded_at"])
        elif kind_of(one.hint) == "datetime":
            value = moment(value, f"--{one.name.replace('_', '-')}")
            # Words like "yesterday" are read in the zone of whoever asks.
            made[one.name] = local(datetime.now(UTC)) if value is None and one.name == "now" else value
        elif one.name in _TEXTS and one.positional and value == "-":
            made[one.name] = read_stdin(_MAX_STDIN_BYTES)
        elif one.required and value is None and kind_of(one.hint) == "list":
            made[one.name] = []
        else:
            made[one.name] = value
    clearable = _clearable(given)
    for field in typed.get("clear") or ():
        if field not in clearable:
            raise InvalidInput("--clear", f"must be one of {', '.join(clearable)}, not {field!r}")
    cleared = {field: clearable[field] for field in typed.get("clear") or ()}
    return {name: value for name, value in made.items() if value is not None} | cleared


def _clearable(given: "Sequence[Parameter]") -> dict[str, Any]:
    """What may be taken away from something that is changed, and what stands for nothing then."""
    from everlore.api.verbs import bare, kind_of

    changeable = [one for one in given if one.default is UNCHANGED]
    return {
        one.name: [] if kind_of(one.hint) == "list" else None
        for one in changeable
        if kind_of(one.hint) == "list" or type(None) in get_args(bare(one.hint))
    }
