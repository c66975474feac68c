"""Writes docs/reference: settings, commands, HTTP and JSON shapes, from types, signatures and docstrings.

tests/structure/test_reference.py compares the pages with what this makes. After a change to a verb, a type or a setting:

    python scripts/reference.py
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from everlore.api.verbs import Parameter, answer_of, lines_of, parameters_of, summary_of, verbs
from everlore.config import EmbedderSettings, ModelSettings, Settings, load_settings
from everlore.domain.messages import NewMessage
from everlore.faces.cli.main import parser
from everlore.faces.http.models import answer_model
from everlore.faces.http.server import create_app

FOLDER = Path(__file__).parents[1] / "docs/reference"
MADE = "Made by `scripts/reference.py` from the code; do not edit it.\n"


def pages() -> dict[str, str]:
    """The text of each page by its name."""
    return {
        "settings.md": _page("Settings", _settings()),
        "commands.md": _page("Commands", _commands()),
        "http.md": _page("HTTP", _http()),
        "json.md": _page("JSON shapes", _shapes()),
    }


def _page(title: str, lines: Iterator[str]) -> str:
    return f"# {title}\n\n{MADE}\n" + "\n".join(lines).rstrip() + "\n"


def _cell(text: object) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


# Settings


def _settings() -> Iterator[str]:
    yield "In `everlore.toml` with dots as tables; in the environment `EVERLORE_` and two underscores for a dot.\n"
    yield "| setting | default | what it is |\n|---|---|---|"
    yield from _setting(Settings, "")
    yield "\nEach of `embedders`:\n\n| setting | default | what it is |\n|---|---|---|"
    yield from _setting(EmbedderSettings, "embedders.NAME.")
    yield "\n`distil.model`:\n\n| setting | default | what it is |\n|---|---|---|"
    yield from _setting(ModelSettings, "distil.model.")


def _setting(model: type[BaseModel], above: str, group: BaseModel | None = None) -> Iterator[str]:
    """`group`: a group of settings as it is by default, which may differ from what its type has."""
    for name, field in model.model_fields.items():
        default: Any = "" if field.is_required() else field.get_default(call_default_factory=True)
        default = default if group is None else getattr(group, name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _setting(field.annotation, f"{above}{name}.", default)
        else:
            yield f"| `{above}{name}` | {_cell(default)} | {_cell(field.description or '')} |"


# Commands


def _commands() -> Iterator[str]:
    yield "All of them take `--json`, which prints the shape that is named, and `--help`.\n"
    made = {verb.command: verb for verb in verbs()}
    for words, command in _leaves(parser(), ""):
        yield f"## everlore{words}\n"
        verb = made.get(words.strip())
        told = command.help or ""
        # The shape has a page of its own.
        yield f"{_cell(told if verb is None else told.partition('JSON: ')[0])}\n"
        if verb is not None and (shape := _shape(answer_of(verb))):
            yield f"Answers with {shape}.\n"
        rows = [row for parameter in command.params if (row := _typed(parameter))]
        if rows:
            yield "| argument or option | what it is |\n|---|---|"
            yield from rows
            yield ""


def _leaves(command: TyperCommand | TyperGroup, words: str) -> Iterator[tuple[str, TyperCommand]]:
    if isinstance(command, TyperGroup):
        if command.invoke_without_command and words:
            yield words, cast("TyperCommand", command)
        for name, below in sorted(command.commands.items()):
            yield from _leaves(cast("TyperCommand | TyperGroup", below), f"{words} {name}")
    else:
        yield words, command


def _typed(parameter: Any) -> str:
    told = _cell(getattr(parameter, "help", None) or "")
    if isinstance(parameter, TyperArgument):
        return f"| `{parameter.metavar or str(parameter.name).upper()}` | {told} |"
    if isinstance(parameter, TyperOption) and parameter.name not in {"help", "to_json"}:
        return f"| `{'`, `'.join([*parameter.opts, *parameter.secondary_opts])}` | {told} |"
    return ""


# HTTP


def _http() -> Iterator[str]:
    yield "Requests and answers are JSON; `/openapi.json` says the same. `workspace` is `default` where it is left out.\n"
    yield "## `GET /healthz`\n\nHow the server is doing. Answers with [Health](json.md#health).\n"
    for verb in verbs():
        summary, told = summary_of(verb)
        yield f"## `{verb.method} {verb.path.replace(':path', '')}`\n"
        yield f"{_cell(summary)}. {_cell(told)}".rstrip() + "\n"
        shape = _shape(answer_of(verb))
        yield f"Answers {verb.status}" + (f" with {shape}.\n" if shape else ", without a body.\n")
        if given := parameters_of(verb):
            lines = lines_of(verb)
            place = "query" if verb.method in {"GET", "DELETE"} or lines else "body"
            yield "| parameter | in | default | what it is |\n|---|---|---|---|"
            for one in given:
                where = "path" if f"{{{one.name}" in verb.path else "body" if one is lines else place
                yield f"| `{one.name}` | {where} | {_default(one)} | {_cell(one.described)} |"
            yield ""
    yield "The two questions of time, `as_of`, are `valid_at` and `recorded_at` in a query, an object of both in a body.\n"


def _default(one: Parameter) -> str:
    if one.required:
        return "required"
    plain = isinstance(one.default, str | int | float | bool)
    return f"`{str(one.default).lower() if isinstance(one.default, bool) else one.default}`" if plain else ""


# JSON shapes


def _shapes() -> Iterator[str]:
    yield "What HTTP sends, `--json` prints and `everlore.to_json` makes of an answer in Python.\n"
    schemas = create_app(load_settings()).openapi()["components"]["schemas"]
    del schemas["ErrorAnswer"]
    named = {name: schema for name, schema in schemas.items() if not name.endswith("Request")}
    assert NewMessage.__name__ in named
    for name, schema in sorted(named.items()):
        yield f"## {name}\n\n{_cell(schema.get('description', ''))}\n\n| field | type | what it is |\n|---|---|---|"
        for field, described in schema["properties"].items():
            yield f"| `{field}` | {_cell(_type(described))} | {_cell(described.get('description', ''))} |"
        yield ""


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "allOf" in schema:
        return _type(schema["allOf"][0])
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if schema.get("type") == "object":
        extra = schema.get("additionalProperties")
        return f"object of {_type(cast('Mapping[str, Any]', extra))}" if isinstance(extra, dict) else "object"
    formats = {"date-time": "time", "uuid": "id", "date": "day"}
    return str(formats.get(schema.get("format", "")) or schema.get("type", "anything"))


def _shape(hint: Any) -> str:
    """An answer in words, linked to its shape."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is None:
        return ""
    if origin is Annotated:
        return _shape(arguments[0])
    if origin in (Union, UnionType):
        return " or ".join("null" if one is type(None) else _shape(one) for one in arguments)
    if origin is AsyncIterator:
        return "lines of JSON"
    if origin is tuple:
        return f"a list of {_shape(arguments[0])}"
    if origin is Literal:
        return " or ".join(map(str, arguments))
    name = answer_model(hint).__name__
    return f"[{name}](json.md#{name.lower()})"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, "utf-8")
        print(f"Wrote {FOLDER / name}.")


if __name__ == "__main__":
    main()
