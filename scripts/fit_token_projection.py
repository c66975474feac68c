"""Fits the matrix that reduces MiniLM's token states from 384 to 128 dimensions (token_projection.npy beside the model).

It is the plain principal directions of unit-length token states (uncentred, so that dot products survive). The text: the
docstrings of Python's standard library (only the fitted matrix is kept, none of the text) and our own sample conversation.
The directions are a property of the model much more than of the text: on other text a matrix fitted on either half ranks alike.

    python scripts/fit_token_projection.py
"""

import inspect
import json
import pkgutil
import sys
from importlib import import_module, resources
from pathlib import Path

import numpy as np

from everlore.models.minilm.embedder import MiniLM
from everlore.models.minilm.tokenizer import load_tokenizer
from everlore.ports.embedder import TOKEN_DIMENSIONS

TEXTS_FROM_DOCSTRINGS = 2500
SKIP = {"antigravity", "this", "idlelib", "test", "lib2to3", "turtledemo", "ensurepip", "venv"}
TARGET = Path(__file__).parents[1] / "src/everlore/models/minilm/token_projection.npy"


def docstrings() -> list[str]:
    texts: dict[str, None] = {}
    for module in sorted(m.name for m in pkgutil.iter_modules() if m.name in sys.stdlib_module_names):
        if module in SKIP or module.startswith("_"):
            continue
        try:
            members = inspect.getmembers(import_module(module))
        except ImportError:
            continue
        for _, member in members:
            text = inspect.getdoc(member)
            if text and len(text) > 80:
                texts[text[:600]] = None
    chosen = np.random.default_rng(0).permutation(list(texts))[:TEXTS_FROM_DOCSTRINGS]
    return [str(text) for text in chosen]


def sample() -> list[str]:
    lines = (resources.files("everlore") / "data" / "sample.jsonl").read_text("utf-8").splitlines()
    return [f"{message['author']}: {message['text']}" for message in map(json.loads, lines)]


def main() -> None:
    model = MiniLM()
    texts = docstrings() + sample()
    second_moment = np.zeros((model.dimensions, model.dimensions))
    count = 0
    for start in range(0, len(texts), 16):
        ids = [encoding.ids for encoding in load_tokenizer().encode_batch(texts[start : start + 16])]
        for states in model._states(ids):  # pyright: ignore[reportPrivateUsage]
            unit = states[1:-1] / np.linalg.norm(states[1:-1], axis=1, keepdims=True)
            second_moment += unit.T @ unit
            count += len(unit)
    values, directions = np.linalg.eigh(second_moment / count)
    kept = directions[:, ::-1][:, :TOKEN_DIMENSIONS]
    np.save(TARGET, kept.astype(np.float16))
    share = values[::-1][:TOKEN_DIMENSIONS].sum() / values.sum()
    print(
        f"{len(texts):,} texts, {count:,} tokens; {TOKEN_DIMENSIONS} directions hold {share:.1%} of the length"
    )


if __name__ == "__main__":
    main()
