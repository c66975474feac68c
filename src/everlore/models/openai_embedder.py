"""Any endpoint that speaks the OpenAI protocol (`POST {url}/embeddings`) behind the Embedder port.

It gives no token states, so there is no late interaction with such a model. Some models want their inputs marked: E5 says
"query: " and "passage: ", others an instruction; the prefixes are settings and part of the model's name.
"""

import hashlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from everlore.domain.errors import ConfigurationError, InputRefused, ModelUnavailable
from everlore.ports.embedder import EncodedPassage, EncodedQuestion, Vector

if TYPE_CHECKING:
    import httpx

_CACHED_QUESTIONS = 512
# What endpoints answer to a text that is too long, empty or otherwise not to their liking. (Batches may be too large, too.)
_ABOUT_THE_INPUT = frozenset({400, 413, 422})


class OpenAIEmbedder:
    def __init__(
        self,
        called: str,
        *,
        url: str,
        model: str,
        dimensions: int,
        api_key_env: str | None = None,
        question_prefix: str = "",
        passage_prefix: str = "",
        timeout_s: float = 30.0,
        batch: int = 64,
        transport: "httpx.AsyncBaseTransport | None" = None,
    ) -> None:
        import httpx  # by who has such an embedder only: it takes its time

        key = os.environ.get(api_key_env) if api_key_env else None
        if api_key_env and not key:
            raise ConfigurationError(
                f"The embedder {called} needs its key in the environment variable {api_key_env}."
            )
        self.dimensions = dimensions
        self.name = _name(model, question_prefix, passage_prefix)
        self._model = model
        self._prefixes = (question_prefix, passage_prefix)
        self._batch = batch
        self._cache: dict[str, EncodedQuestion] = {}
        self._client = httpx.AsyncClient(
            base_url=url.rstrip("/") + "/",
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=timeout_s,
            transport=transport,
        )

    async def encode_question(self, text: str) -> EncodedQuestion:
        if (known := self._cache.get(text)) is not None:
            return known
        (vector,) = await self._embed([self._prefixes[0] + text])
        if len(self._cache) >= _CACHED_QUESTIONS:
            self._cache.pop(next(iter(self._cache)))
        self._cache[text] = EncodedQuestion(vector, None, ())
        return self._cache[text]

    async def encode_passages(self, texts: Sequence[str]) -> list[EncodedPassage]:
        encoded: list[EncodedPassage] = []
        for start in range(0, len(texts), self._batch):
            batch = [self._prefixes[1] + text for text in texts[start : start + self._batch]]
            encoded += [EncodedPassage(vector, None) for vector in await self._embed(batch)]
        return encoded

    async def close(self) -> None:
        await self._client.aclose()

    async def _embed(self, texts: list[str]) -> list[Vector]:
        import httpx

        try:
            response = await self._client.post("embeddings", json={"model": self._model, "input": texts})
            response.raise_for_status()
            answer = response.json()
        except httpx.HTTPStatusError as error:
            about_the_input = error.response.status_code in _ABOUT_THE_INPUT
            raise (InputRefused if about_the_input else ModelUnavailable)(
                f"The embedding endpoint answered {error.response.status_code}: {error.response.text[:200]}"
            ) from error
        except httpx.HTTPError as error:
            raise ModelUnavailable(
                f"The embedding endpoint cannot be reached: {type(error).__name__} {error}"
            ) from error
        except (ValueError, RecursionError) as error:
            raise ModelUnavailable("The embedding endpoint did not answer with JSON.") from error
        return self._vectors(answer, len(texts))

    def _vectors(self, answer: Any, expected: int) -> list[Vector]:
        """Checked: as many as asked for, in order, finite, of the right dimension, not zero."""
        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            matrix = np.array([row["embedding"] for row in rows], dtype=np.float64)
            places = [row["index"] for row in rows]
        except (TypeError, KeyError, ValueError, OverflowError) as error:
            raise ModelUnavailable(
                "The embedding endpoint's answer has not the form of the OpenAI protocol."
            ) from error
        if places != list(range(expected)):
            raise ModelUnavailable(
                f"The embedding endpoint gave vectors for {len(places)} texts; {expected} were asked for."
            )
        if matrix.shape != (expected, self.dimensions):
            raise ModelUnavailable(
                f"The embedding endpoint gives {matrix.shape[-1]} dimensions; the setting says {self.dimensions}."
            )
        with np.errstate(over="ignore"):
            lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or (lengths == 0).any():
            raise ModelUnavailable("The embedding endpoint gave a vector that is zero or not a number.")
        return list((matrix / lengths).astype(np.float32))


def _name(model: str, *prefixes: str) -> str:
    """Prefixes shape the vectors as much as the model does, so they are part of its name."""
    if not any(prefixes):
        return model
    return f"{model}#{hashlib.sha256(repr(prefixes).encode()).hexdigest()[:8]}"
