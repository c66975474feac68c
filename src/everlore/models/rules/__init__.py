"""The analyst that needs no language model: statements read off a dependency parse, of English only."""

import asyncio
from importlib.util import find_spec

from everlore.ports.analyst import Extraction, Governor, Window

__all__ = ["WITHOUT_FACTS", "WITHOUT_PARSER", "RuleAnalyst", "parser_is_installed"]

WITHOUT_PARSER = (
    "Nothing is distilled here: there is neither a language model (distil.analyst = model) nor the parser for English "
    "(pip install 'everlore[english]')."
)
WITHOUT_FACTS = (
    "No facts are read off what is told directly, nor off the sentences of a small language model: the parser for English is "
    "missing (pip install 'everlore[english]')."
)


def parser_is_installed() -> bool:
    """Whether the extra `everlore[english]` is there; it is not loaded for that."""
    return find_spec("spacy") is not None and find_spec("everlore_english") is not None


class RuleAnalyst:
    """Implements `Analyst` by rules alone. Pure: the same window gives the same extraction, and the governor is not asked. Raises
    ConfigurationError where the parser is not installed."""

    @property
    def name(self) -> str:
        return "rules"

    @property
    def version(self) -> str:
        return "2"

    @property
    def model(self) -> str | None:
        return None

    async def extract(self, window: Window, governor: Governor) -> Extraction:
        # Seconds for the parser, which are paid by who distils and not by every command.
        from everlore.models.rules.analyst import extract

        return await asyncio.to_thread(extract, window)

    async def close(self) -> None:
        return
