"""Tokens: how long a text is for the embedding model."""

from collections.abc import Callable
from typing import TypeAlias

# How many tokens (wordpieces) a text has.
Count: TypeAlias = Callable[[str], int]
