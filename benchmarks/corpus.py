"""Texts, questions and databases for the benchmarks. Nothing is downloaded: sentences come from the bundled sample and from
the docstrings of Python's standard library, and are mixed by a fixed seed."""

import inspect
import json
import pkgutil
import re
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from importlib import import_module, resources
from pathlib import Path

import numpy as np

from everlore.config import Settings
from everlore.everlore import Everlore

_SENTENCE = re.compile(r"[^.!?\n][^.!?]{20,200}[.!?]")
_SKIP = {"antigravity", "this", "idlelib", "test", "turtledemo", "ensurepip", "venv"}
PEOPLE = ("Maya", "Alistair", "Emma", "Jonas", "Priya", "Tomas")


@cache
def sentences() -> list[str]:
    """A few thousand distinct sentences."""
    lines = (resources.files("everlore") / "data" / "sample.jsonl").read_text("utf-8").splitlines()
    texts = [str(json.loads(line)["text"]) for line in lines]
    for module in sorted(m.name for m in pkgutil.iter_modules() if m.name in sys.stdlib_module_names):
        if module in _SKIP or module.startswith("_"):
            continue
        try:
            members = inspect.getmembers(import_module(module))
        except ImportError:
            continue
        texts += [text for _, member in members if (text := inspect.getdoc(member))]
    found = {" ".join(s.split()): None for text in texts for s in _SENTENCE.findall(text)}
    return list(found)


def messages(count: int, seed: int) -> list[dict[str, str]]:
    """`count` chat messages of one to three sentences, by six people."""
    pool = sentences()
    chance = np.random.default_rng(seed)
    made: list[dict[str, str]] = []
    for _ in range(count):
        picked: list[int] = chance.integers(0, len(pool), size=int(chance.integers(1, 4))).tolist()
        author = PEOPLE[int(chance.integers(0, len(PEOPLE)))]
        made.append({"role": "user", "author": author, "text": " ".join(pool[i] for i in picked)})
    return made


def questions(count: int, seed: int) -> list[str]:
    """`count` different questions about things that were said."""
    pool = sentences()
    chance = np.random.default_rng(seed)
    asked: dict[str, None] = {}
    while len(asked) < count:
        words = [
            w for w in re.findall(r"[A-Za-z]{4,}", pool[int(chance.integers(0, len(pool)))]) if w.isascii()
        ]
        if len(words) >= 4:
            start = int(chance.integers(0, len(words) - 3))
            asked[
                f"What did {PEOPLE[int(chance.integers(0, 6))]} say about {' '.join(words[start : start + 4]).lower()}?"
            ] = None
    return list(asked)


@contextmanager
def temporary_folder() -> Generator[Path]:
    """A folder that the server's user may enter, also when the benchmark runs as root."""
    folder = Path(tempfile.mkdtemp(prefix="everlore-bench-"))
    folder.chmod(0o711)
    try:
        yield folder / "data"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def temporary_everlore() -> AsyncGenerator[Everlore]:
    """An empty Everlore with the bundled model, gone afterwards."""
    with temporary_folder() as folder:
        async with Everlore.open(Settings(data_dir=folder), worker=False) as lore:
            yield lore
