"""The analyst that needs no model: patterns of what people say of themselves, in English and Spanish."""

from everlore.ports.analyst import Extraction, Governor, Window

__all__ = ["RuleAnalyst"]


class RuleAnalyst:
    """Implements `Analyst` by rules alone. Pure: the same window gives the same extraction, and the governor is not asked."""

    @property
    def name(self) -> str:
        return "rules"

    @property
    def version(self) -> str:
        return "1"

    @property
    def model(self) -> str | None:
        return None

    async def extract(self, window: Window, governor: Governor) -> Extraction:
        # Half a second for its patterns, which is paid by who distils and not by every command.
        from everlore.models.rules.analyst import extract

        return extract(window)

    async def close(self) -> None:
        return
