"""Small deterministic models for tests and for trying things without a real one: texts that share words are near, and an
analyst says what it is told to."""

import hashlib
import re
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from everlore.domain.errors import ModelUnavailable
from everlore.ports.analyst import CallReport, Extraction, Governor, Window
from everlore.ports.embedder import TOKEN_DIMENSIONS, EncodedPassage, EncodedQuestion, Vector

_WORD = re.compile(r"[^\W_]+")


class FakeEmbedder:
    """Each word has a fixed random direction; a text is the sum of its words. `name` and `dimensions` can be chosen, so
    that several models can stand side by side."""

    def __init__(self, name: str = "fake", dimensions: int = 32) -> None:
        self.name = name
        self.dimensions = dimensions

    async def encode_question(self, text: str) -> EncodedQuestion:
        words = list(_WORD.finditer(text.lower()))
        tokens = np.array(
            [_direction(self.name, w.group(), TOKEN_DIMENSIONS) for w in words], dtype=np.float32
        )
        return EncodedQuestion(
            self._vector(text), tokens.reshape(-1, TOKEN_DIMENSIONS), tuple(w.span() for w in words)
        )

    async def encode_passages(self, texts: Sequence[str]) -> list[EncodedPassage]:
        return [EncodedPassage(self._vector(text), self._tokens(text)) for text in texts]

    async def close(self) -> None:
        return None

    def _vector(self, text: str) -> Vector:
        words = _WORD.findall(text.lower()) or [text]
        total = np.sum([_direction(self.name, word, self.dimensions) for word in words], axis=0)
        return (total / max(float(np.linalg.norm(total)), 1e-9)).astype(np.float32)

    def _tokens(self, text: str) -> np.ndarray[tuple[int, ...], np.dtype[np.int8]]:
        words = _WORD.findall(text.lower())
        directions = np.array(
            [_direction(self.name, word, TOKEN_DIMENSIONS) for word in words], dtype=np.float32
        )
        return np.rint(directions.reshape(-1, TOKEN_DIMENSIONS) * 127).astype(np.int8)


# A generator of its own for each word is most of the work, and the same words come again and again.
@lru_cache(20_000)
def _direction(name: str, word: str, dimensions: int) -> Vector:
    seed = int.from_bytes(hashlib.sha256(f"{name}:{word}".encode()).digest()[:8], "big")
    direction = np.random.default_rng(seed).standard_normal(dimensions)
    return (direction / np.linalg.norm(direction)).astype(np.float32)


class ScriptedAnalyst:
    """An analyst that answers by a function of the window: for tests, and to replay what another one found. It counts its
    calls through the governor if it is given the name of a model."""

    def __init__(
        self,
        answer: Callable[[Window], Extraction],
        *,
        name: str = "scripted",
        version: str = "1",
        model: str | None = None,
    ) -> None:
        self._answer = answer
        self.name = name
        self.version = version
        self.model = model

    async def extract(self, window: Window, governor: Governor) -> Extraction:
        if self.model is None:
            return self._answer(window)
        await governor.allow(self.model)
        try:
            found = self._answer(window)
        except ModelUnavailable:
            await governor.report(CallReport(self.model, 0, 0, failed=True))
            raise
        await governor.report(CallReport(self.model, 100, 50, failed=False))
        return found

    async def close(self) -> None:
        return None
