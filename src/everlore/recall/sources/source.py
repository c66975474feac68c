"""What a kind of thing must say of itself to be found."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from everlore.domain.recall import Layer
from everlore.recall.request import Request
from everlore.store.recall import Key


class RecallSource(Protocol):
    """A kind of thing that recall finds.

    Its passages name the kind, and stand in the layer: there they are looked for and scored together with those of the other
    kinds of the layer. Erasing one of the kind is `everlore.store.passages.remove_lineages` in the same layer.
    """

    @property
    def kind(self) -> str:
        """The name, as it stands in `passage.kind` and in the parameter `kinds` of a recall."""
        ...

    @property
    def layer(self) -> Layer: ...

    async def keys(self, request: Request, passages: Sequence[int]) -> list[Key]:
        """The messages that passages of this kind rest on: those are found by way of it."""
        ...

    async def answer(self, request: Request) -> Mapping[str, Any]:
        """What was found, best first, with score, support and citations: fields of `everlore.domain.recall.Recall`."""
        ...
