"""The documentation is true: what exists is in it, what it names exists, and its examples run."""

import ast
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias, cast, get_args

import pytest
from pydantic import BaseModel
from tests.conftest import TestDatabase
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from everlore.config import (
    AliasSettings,
    DistilSettings,
    EmbedderSettings,
    ModelSettings,
    RecallSettings,
    Settings,
    load_settings,
)
from everlore.faces.cli.evaluating import Distil
from everlore.faces.cli.main import parser
from everlore.faces.http.server import create_app

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
Command: TypeAlias = TyperCommand | TyperGroup
COMMANDS = parser()
OPERATIONS = (ROOT / "docs/operations.md").read_text("utf-8")
REFERENCE = {path.stem: path.read_text("utf-8") for path in (ROOT / "docs/reference").glob("*.md")}


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def blocks(document: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", document.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def shell_lines(program: str) -> list[tuple[str, str]]:
    """Document and line of every line in a shell block that calls the program."""
    return [
        (named(document), line)
        for document in DOCUMENTS
        for block in blocks(document, "sh")
        for line in block.splitlines()
        if line.split()[:1] == [program]
    ]


# ----- links and names


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text("utf-8")):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        file = (document.parent / path).resolve() if path else document
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.MULTILINE)
            assert anchor in {
                re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings
            }, target


def test_every_document_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        document = waiting.pop()
        if document not in reached and document.suffix == ".md":
            reached.add(document)
            targets = re.findall(r"\]\(([^)#\s]+)", document.read_text("utf-8"))
            waiting += [(document.parent / t).resolve() for t in targets if not t.startswith("https://")]
    apart = {ROOT / "AGENTS.md"}
    assert {named(document) for document in set(DOCUMENTS) - reached - apart} == set()


def test_the_guide_for_assistants_is_short_and_its_paths_exist() -> None:
    guide = (ROOT / "AGENTS.md").read_text("utf-8")
    assert len(guide.splitlines()) < 150
    paths = [
        path
        for path in re.findall(r"`([\w./-]+)`", guide)
        if "/" in path or path.endswith((".md", ".toml", ".py"))
    ]
    assert len(paths) > 20
    assert [path for path in paths if not path.startswith(".venv") and not (ROOT / path).exists()] == []


# ----- settings


def documented_settings() -> dict[str, str]:
    """Name and default of each setting, as the tables have them."""
    return dict(re.findall(r"^\| `([\w.]+)` \| ([^|]*?) *\|", REFERENCE["settings"], re.MULTILINE))


def settings(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from settings(field.annotation, f"{prefix}{name}.")
        else:
            yield prefix + name, field.get_default(call_default_factory=True)


def test_every_setting_says_what_it_is() -> None:
    documented = documented_settings()
    for name, _ in settings(Settings):
        assert name in documented, name
    for model in (Settings, RecallSettings, AliasSettings, DistilSettings, EmbedderSettings, ModelSettings):
        for name, field in model.model_fields.items():
            below = isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
            assert below or field.description, name


def test_no_word_is_explained_twice() -> None:
    lines = (ROOT / "docs/language.md").read_text("utf-8").splitlines()
    words = [line.split("|")[1].strip() for line in lines if line.startswith("| ")]
    counted = Counter(word for word in words if word != "word")
    assert len(counted) > 80
    assert [word for word, times in counted.items() if times > 1] == []


def test_no_table_is_interrupted() -> None:
    """A row after a blank line would be shown as text."""
    for document in DOCUMENTS:
        for table in re.findall(r"(?:^\|.*\n)+", document.read_text("utf-8"), re.MULTILINE):
            assert re.match(r"\|.*\n\|[-| :]+\|\n", table), (named(document), table[:80])


def test_the_weights_are_the_same_where_the_path_is_described() -> None:
    table = dict(
        re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", (ROOT / "docs/path.md").read_text("utf-8"), re.MULTILINE)
    )
    assert {name: float(value) for name, value in table.items()} == dict(settings(RecallSettings))


# ----- command line


def commands(command: Command, path: str) -> Iterator[tuple[str, Command]]:
    """Every command that does something, with the words that call it."""
    if isinstance(command, TyperGroup):
        for name, below in command.commands.items():
            if not below.hidden:
                yield from commands(cast("Command", below), f"{path} {name}")
    else:
        yield path, command


def test_every_command_is_documented() -> None:
    everything = [path for path, _ in commands(COMMANDS, "everlore")]
    assert len(everything) > 10
    assert [path for path in everything if f"## {path}\n" not in REFERENCE["commands"]] == []


def test_every_way_to_distil_a_benchmark_is_documented() -> None:
    (section,) = re.findall(r"^### What memories bring\n(.*?)^## ", OPERATIONS, re.MULTILINE | re.DOTALL)
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(get_args(Distil))


def require_parses(command: Command, words: list[str]) -> None:
    """Subcommands, options and the number of arguments are those of the command."""
    options = {
        name: p for p in command.params if isinstance(p, TyperOption) for name in p.opts + p.secondary_opts
    }
    arguments = [p for p in command.params if isinstance(p, TyperArgument)]
    given = 0
    while words:
        word, *words = words
        if word.startswith("-") and len(word) > 1:
            name, equals, _ = word.partition("=")
            assert name in options or name == "--help", f"{command.name} has no option {name}"
            if name in options and not options[name].is_flag and not equals:
                assert words, f"{name} wants a value"
                words = words[1:]
        elif isinstance(command, TyperGroup):
            assert word in command.commands, f"{command.name} has no command {word}"
            require_parses(cast("Command", command.commands[word]), words)
            return
        else:
            given += 1
    assert not isinstance(command, TyperGroup) or command.invoke_without_command, (
        f"{command.name} wants a command"
    )
    least = sum(argument.required for argument in arguments)
    most = float("inf") if any(argument.nargs == -1 for argument in arguments) else len(arguments)
    assert least <= given <= most, f"{command.name} takes {least} to {most} arguments, not {given}"


@pytest.mark.parametrize(("document", "line"), shell_lines("everlore"))
def test_commands_in_documents_can_be_typed(document: str, line: str) -> None:
    require_parses(COMMANDS, shlex.split(line, comments=True)[1:])


@pytest.mark.parametrize(("document", "line"), shell_lines("make"))
def test_targets_in_documents_exist(document: str, line: str) -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert shlex.split(line)[1] in targets


def test_make_help_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    phony = re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)[0].split()
    explained = re.findall(r"^([a-z]+):.*## ", makefile, re.MULTILINE)
    assert set(phony) - {"again"} == set(explained)


def test_the_build_server_runs_what_everybody_runs() -> None:
    script = ROOT / ".ci/run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text("utf-8")


# ----- HTTP


def test_every_route_is_documented() -> None:
    paths = create_app(load_settings()).openapi()["paths"]
    routes = [f"{method.upper()} {path}" for path, operations in paths.items() for method in operations]
    assert len(routes) >= 3
    assert [route for route in routes if f"`{route}`" not in REFERENCE["http"]] == []


# ----- Python


def test_python_in_documents_is_python() -> None:
    examples = [block for document in DOCUMENTS for block in blocks(document, "python")]
    assert examples
    for example in examples:
        ast.parse(example)


def test_the_example_of_the_readme_runs(database: TestDatabase, tmp_path: Path) -> None:
    (example,) = blocks(ROOT / "README.md", "python")
    (tmp_path / "example.py").write_text(example, "utf-8")
    given = database.settings()
    urls = {
        f"EVERLORE_{name.upper()}": getattr(given, name)
        for name in ("database_url", "worker_url", "migration_url")
    }
    ran = subprocess.run(
        [sys.executable, "example.py"],
        cwd=tmp_path,
        env={**os.environ, **urls},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "Alice: My sister Emma moved to Lisbon in May." in ran.stdout
