"""The dependency parser: spaCy with its small English pipeline, loaded once, when the first window is read."""

import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from everlore.domain.errors import ConfigurationError

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

_LOCK = threading.Lock()
# Neither sentences (the parser finds them) nor kinds of names (predicates and kin tell them) are asked of it.
_NOT_USED = ("senter",)


@lru_cache(maxsize=1)
def _pipeline() -> "Language":
    try:
        import everlore_english
        import spacy
    except ImportError as error:
        raise ConfigurationError(
            "Distilling English without a language model needs the parser: pip install 'everlore[english]'."
        ) from error
    return spacy.load(everlore_english.path(), exclude=list(_NOT_USED))


def parsed(texts: Sequence[str]) -> "Iterator[Doc]":
    """The texts with their words' tags, lemmas and heads; characters keep their places."""
    with _LOCK:
        return iter(list(_pipeline().pipe(texts, batch_size=16)))
