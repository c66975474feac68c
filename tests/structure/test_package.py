"""What an installation brings along, and what it costs to import."""

import subprocess
import sys
from importlib import metadata, resources
from pathlib import Path

import everlore

ROOT = Path(__file__).parents[2]
HEAVY = {
    "fastapi",
    "httpx",
    "numpy",
    "onnxruntime",
    "procrastinate",
    "psycopg",
    "pydantic",
    "rich",
    "tokenizers",
    "typer",
}


def test_the_data_files_are_part_of_the_package() -> None:
    package = resources.files("everlore")
    expected = {
        "py.typed": 0,
        "data/sample.jsonl": 50_000,
        "data/sample_questions.json": 1000,
        "text/data/en.toml": 5_000,
        "models/minilm/tokenizer.json": 400_000,
        "models/minilm/token_projection.npy": 90_000,
        "models/minilm/LICENSE": 10_000,
    }
    for name, least in expected.items():
        assert len(package.joinpath(*name.split("/")).read_bytes()) >= least, name
    migrations = [f.name for f in (package / "store" / "migrations").iterdir() if f.name.endswith(".sql")]
    assert [int(name[:4]) for name in sorted(migrations)] == list(range(1, len(migrations) + 1))
    assert any(f.name.endswith(".sql") for f in (package / "store" / "sql").iterdir())


def test_the_licences_are_there() -> None:
    assert "Apache License" in (ROOT / "LICENSE").read_text("utf-8")
    assert "tokenizer.json" in (ROOT / "NOTICE").read_text("utf-8")
    told = metadata.metadata("everlore")
    assert told["License-Expression"] == "Apache-2.0"
    assert set(told.get_all("License-File") or []) == {"LICENSE", "NOTICE"}


def test_importing_costs_next_to_nothing() -> None:
    script = "import sys, everlore; print(*sys.modules, sep='\\n')"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert {name.partition(".")[0] for name in loaded.split()} & HEAVY == set()


def test_the_public_names_are_there() -> None:
    for name in everlore.__all__:
        assert getattr(everlore, name).__name__ == name
