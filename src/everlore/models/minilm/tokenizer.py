"""The model's WordPiece vocabulary, as shipped in tokenizer.json (Apache-2.0, see the LICENSE beside it)."""

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# The position table of the model has 512 rows; it was trained on 128 and works to 256. Passages have at most 200 wordpieces.
MAX_TOKENS = 256


@cache
def load_tokenizer() -> "Tokenizer":
    """As shipped it pads every text to 128 and cuts there: seven times slower for short texts, and the rest is lost."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(
        (resources.files("everlore.models.minilm") / "tokenizer.json").read_text("utf-8")
    )
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)  # pyright: ignore[reportUnknownMemberType]
    return tokenizer


@cache
def _load_counter() -> "Tokenizer":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(
        (resources.files("everlore.models.minilm") / "tokenizer.json").read_text("utf-8")
    )
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def count_wordpieces(text: str) -> int:
    """How many wordpieces a text has, without the two that frame it."""
    return len(_load_counter().encode(text, add_special_tokens=False).ids)
