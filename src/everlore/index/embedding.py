"""Vectors of many texts, whatever the model thinks of single ones."""

from collections.abc import Sequence

from everlore.domain.errors import InputRefused, ModelUnavailable
from everlore.ports.embedder import Embedder, EncodedPassage

# Nobody refuses this for what it says.
_HARMLESS = "hello"


async def embed(embedder: Embedder, texts: Sequence[str]) -> list[EncodedPassage | InputRefused]:
    """Vectors of texts, and why in place of those that the model refuses: halves are tried until they are alone.

    Raises ModelUnavailable, also where the model refuses whatever it is given: then it is not about the texts.
    """
    try:
        return list(await embedder.encode_passages(texts))
    except InputRefused as error:
        if len(texts) == 1:
            await _takes_others(embedder)
            return [error]
    half = len(texts) // 2
    return [*await embed(embedder, texts[:half]), *await embed(embedder, texts[half:])]


async def vectors_by_text(embedder: Embedder, texts: Sequence[str]) -> dict[str, EncodedPassage]:
    """Vectors of texts, but of those that the model refuses: what lacks one is left to the index step, which notes it."""
    encoded = zip(texts, await embed(embedder, texts), strict=True) if texts else ()
    return {text: one for text, one in encoded if isinstance(one, EncodedPassage)}


async def _takes_others(embedder: Embedder) -> None:
    try:
        await embedder.encode_passages([_HARMLESS])
    except InputRefused as error:
        raise ModelUnavailable(f"The model {embedder.name} refuses every text. {error}") from error
