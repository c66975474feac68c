"""The reference pages say what the code does: they are made from it, and nobody edited or forgot them."""

import importlib.util
from pathlib import Path
from types import ModuleType

from everlore.api.verbs import parameters_of, summary_of, verbs
from everlore.domain.answers import Doc

ROOT = Path(__file__).parents[2]


def script() -> ModuleType:
    """`scripts/reference.py`, which is no package."""
    spec = importlib.util.spec_from_file_location("reference", ROOT / "scripts/reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_are_those_that_the_code_makes() -> None:
    made: dict[str, str] = script().pages()
    folder = ROOT / "docs/reference"
    assert sorted(path.name for path in folder.glob("*.md")) == sorted(made)
    for name, text in made.items():
        assert (folder / name).read_text("utf-8") == text, f"run scripts/reference.py: {name} differs"


def test_every_verb_and_each_of_its_parameters_is_described() -> None:
    assert Doc("").text == ""
    for verb in verbs():
        assert summary_of(verb)[0] != verb.command, verb.command
        for one in parameters_of(verb):
            assert one.described, (verb.command, one.name)
