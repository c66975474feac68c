"""The bundled embedding model: all-MiniLM-L6-v2 with 8-bit weights, run by onnxruntime. No download, no torch."""

from everlore.models.minilm.embedder import MiniLM
from everlore.models.minilm.tokenizer import count_wordpieces

__all__ = ["MiniLM", "count_wordpieces"]
