"""Counting tokens exactly: by the `tokenizer.json` of the model that reads the text."""

from pathlib import Path

from everlore.domain.errors import ConfigurationError
from everlore.ports.tokens import Count


def counter_of(file: Path) -> Count:
    """How many tokens of that model a text has. Raises ConfigurationError for a file that is none."""
    # Only who has one set loads it.
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(file))
    # The library knows no other errors.
    except Exception as error:
        raise ConfigurationError(
            f"context.tokenizer: {file} is no readable tokenizer.json ({error})."
        ) from error

    # A file may say how its model wants texts: all of one length. What is counted is what there is.
    tokenizer.no_padding()
    tokenizer.no_truncation()

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return count
