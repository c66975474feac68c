"""Embedder: texts to vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float32]
TokenMatrix: TypeAlias = NDArray[np.int8]

TOKEN_DIMENSIONS = 128


@dataclass(frozen=True, slots=True)
class EncodedQuestion:
    """A question's unit vector (dimensions,), and for late interaction its token vectors (tokens, 128), each of unit
    length, with the character span of each token; None where the model does not give token states."""

    vector: Vector
    tokens: Vector | None
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class EncodedPassage:
    """A passage's unit vector (dimensions,), and its token vectors (tokens, 128) scaled by 127 to signed bytes."""

    vector: Vector
    tokens: TokenMatrix | None


class Embedder(Protocol):
    """Every method raises ModelUnavailable when the model is missing, damaged or does not answer, and of that InputRefused
    when it answers that it will not take one of the texts.

    The same text always gives the same vectors (up to rounding), alone or among others.
    """

    @property
    def name(self) -> str:
        """Identifies the model and everything that shapes its vectors; stored beside them."""
        ...

    @property
    def dimensions(self) -> int: ...

    async def encode_question(self, text: str) -> EncodedQuestion: ...

    async def encode_passages(self, texts: Sequence[str]) -> list[EncodedPassage]: ...

    async def close(self) -> None: ...
