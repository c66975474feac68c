"""Rules of the house that no other tool checks."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/everlore"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Longer than 500 lines, and better in one piece.
LONG_MODULES: dict[str, str] = {}
# Where a broad `except` may end without raising again: the edges of a worker or a face, each with its reason.
SWALLOWS = {
    "store/database.py": "a pooled connection that died while it was idle is replaced; all else is raised again",
    "faces/cli/main.py": "the edge of the command line: what nobody expected becomes a sentence and an exit code",
}
# Classes of one name that are one thing: the verbs of a part, and the part of an answer.
SAME_NAME: dict[str, str] = {}
# Where the environment is read.
ENVIRONMENT = {
    "config.py": "the settings",
    "models/language_model/endpoint.py": "a key, likewise",
    "models/openai_embedder.py": "a key, from the variable that a setting names, so that no file holds it",
    "store/backup.py": "handed on, with the connection in it, to Postgres' own programs",
}
# Where an import may stand inside a function.
LAZY = {
    "models/": "heavy libraries, needed only where the model is used",
    "faces/cli/": "each command loads what it needs, so that --help answers at once",
    "wiring.py": "what reads a model's answers, for who asks a model",
    "distil/step.py": "distilling, for who distils; others only have to know that there is such a step",
    "knowledge/drafts.py": "the patterns that hold drafts against messages, for who reads some",
    "knowledge/erasure.py": "recall, for who erases something",
    "api/messages.py": "recall, for who asks something",
    "api/contexts.py": "recall and templates, for who asks for a context",
}


def named(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def functions(module: ast.Module) -> Iterator[ast.AST]:
    yield from (node for node in ast.walk(module) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_every_module_says_what_it_is(path: Path) -> None:
    said = ast.get_docstring(tree(path))
    assert said
    assert len(said) > 20


def test_modules_stay_small() -> None:
    long = {named(path) for path in MODULES if len(path.read_text("utf-8").splitlines()) > 500}
    assert long == set(LONG_MODULES)


def is_broad(caught: ast.expr | None) -> bool:
    names = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(
        name is None or (isinstance(name, ast.Name) and name.id in {"Exception", "BaseException"})
        for name in names
    )


def swallows(module: ast.Module) -> bool:
    """Whether a broad `except` ends without raising again, or everything is suppressed."""
    for node in ast.walk(module):
        if (
            isinstance(node, ast.ExceptHandler)
            and is_broad(node.type)
            and not isinstance(node.body[-1], ast.Raise)
        ):
            return True
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).endswith("suppress")
            and any(map(is_broad, node.args))
        ):
            return True
    return False


def test_no_failure_is_swallowed() -> None:
    assert {named(path) for path in MODULES if swallows(tree(path))} == set(SWALLOWS)


def test_the_domain_imports_the_standard_library_only() -> None:
    for path in (PACKAGE / "domain").glob("*.py"):
        for node in ast.walk(tree(path)):
            imported = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            for name in imported:
                ours = name == "everlore.domain" or name.startswith("everlore.domain.")
                assert ours or name.partition(".")[0] in sys.stdlib_module_names, (
                    f"{path.name} imports {name}"
                )


def test_imports_stand_at_the_top() -> None:
    lazy = {
        named(path)
        for path in MODULES
        for function in functions(tree(path))
        if any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(function))
    }
    assert {name for name in lazy if not name.startswith(tuple(LAZY))} == set()


def test_the_environment_is_read_in_one_place() -> None:
    readers = {
        named(path) for path in MODULES if re.search(r"\bos\.(environ|getenv)\b", path.read_text("utf-8"))
    }
    assert readers <= set(ENVIRONMENT)


def test_nothing_names_a_registry_or_a_folder_of_somebody() -> None:
    # Put together here, so that this file does not name them either.
    hosts = ["pypi" + ".org", "python" + "hosted", "npm" + "js.", "hugging" + "face.co", "docker" + ".io"]
    homes = ["/" + "root/", "/" + "Users/", "/" + "home/"]
    forbidden = re.compile("|".join(map(re.escape, hosts)) + "|(?<![\\w.])(?:" + "|".join(homes) + ")")
    folders = ("src", "tests", "benchmarks", "scripts", "docs", ".ci")
    texts = [
        p
        for f in folders
        for p in (ROOT / f).rglob("*")
        if p.suffix in {".py", ".sql", ".md", ".toml", "", ".sh"}
    ]
    texts += [p for p in ROOT.iterdir() if p.suffix in {".md", ".toml"} or p.name in {"Makefile", "NOTICE"}]
    found = [
        str(p.relative_to(ROOT)) for p in texts if p.is_file() and forbidden.search(p.read_text("utf-8"))
    ]
    assert found == []


def test_one_name_stands_for_one_thing() -> None:
    classes = [
        node.name
        for path in MODULES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    assert sorted({name for name in classes if classes.count(name) > 1}) == sorted(SAME_NAME)
