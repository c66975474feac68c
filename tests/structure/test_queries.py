"""Every query is named, says what it is for, and is used by the module that bears its file's name."""

import ast
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

from everlore.store.queries import queries

STORE = Path(str(resources.files("everlore.store")))
FILES = sorted(path.stem for path in (STORE / "sql").glob("*.sql"))


def module(name: str) -> ast.Module:
    return ast.parse((STORE / f"{name}.py").read_text("utf-8"))


@pytest.mark.parametrize("file", FILES)
def test_every_query_has_a_name_of_its_own_and_a_purpose(file: str) -> None:
    text = (STORE / "sql" / f"{file}.sql").read_text("utf-8")
    heads = re.findall(r"^-- ?([a-z_]+):(.*)$", text, re.MULTILINE)
    assert text.startswith("-- ")
    assert [name for name, purpose in heads if not purpose.strip()] == []
    assert sorted(name for name, _ in heads) == sorted(queries(file))
    assert all(queries(file).values()), "a head without a query"


@pytest.mark.parametrize("file", FILES)
def test_every_query_is_used_in_its_module(file: str) -> None:
    constants = {node.value for node in ast.walk(module(file)) if isinstance(node, ast.Constant)}
    assert set(queries(file)) - constants == set()


@pytest.mark.parametrize("file", FILES)
def test_every_query_that_is_used_exists(file: str) -> None:
    asked = {
        constant.value
        for node in ast.walk(module(file))
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == "_QUERIES"
        for constant in ast.walk(node.slice)
        if isinstance(constant, ast.Constant)
    }
    assert asked - set(queries(file)) == set()


def test_no_other_module_reads_queries() -> None:
    readers = {path.stem for path in STORE.glob("*.py") if re.search(r"= queries\(", path.read_text("utf-8"))}
    assert readers == set(FILES)


def _used(tree: ast.Module) -> Iterator[str]:
    """What a module uses of the store's modules, as `file.name`: by the module's name (or alias), or imported by name."""
    nodes = list(ast.walk(tree))
    aliases: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "everlore.store":
            aliases |= {one.asname or one.name: one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("everlore.store."):
            file = node.module.removeprefix("everlore.store.")
            yield from (f"{file}.{one.name}" for one in node.names)
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
            yield f"{aliases[node.value.id]}.{node.attr}"


# What the product does not call by itself yet.
FOR_OTHERS = {
    "echoes.note_handed_out": "who puts memories into a prompt says so, that they are known when they come back",
    "echoes.forget_handed_out": "and takes back what is too old to come back",
}


def test_every_wrapper_of_a_query_has_a_caller_in_the_product() -> None:
    everywhere = {
        name for path in STORE.parent.rglob("*.py") for name in _used(ast.parse(path.read_text("utf-8")))
    }
    unused: set[str] = set()
    for file in FILES:
        here = module(file)
        own = {node.id for node in ast.walk(here) if isinstance(node, ast.Name)}
        functions = [n for n in here.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        unused |= {f"{file}.{one.name}" for one in functions if one.name not in own} - everywhere
    assert unused == set(FOR_OTHERS)
