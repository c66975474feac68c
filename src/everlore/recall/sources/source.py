"""What a kind of thing must say of itself to be found."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID

from everlore.domain.recall import Layer
from everlore.recall.request import Request
from everlore.store.recall import Key
from everlore.store.run import Transaction


class RecallSource(Protocol):
    """A kind of thing that recall finds.

    Its passages name the kind, and stand in the layer: there they are looked for and scored together with those of the other
    kinds of the layer.
    """

    kind: str
    """The name, as it stands in `passage.kind` and in the parameter `kinds` of a recall."""
    layer: Layer

    async def keys(self, request: Request, passages: Sequence[int]) -> list[Key]:
        """The messages that passages of this kind rest on: those are found by way of it.

        Only passages of its own kind are handed to a source, and it answers for those only: keys of others are ignored."""
        return []

    async def answer(self, request: Request) -> Mapping[str, Any]:
        """What was found, best first, with score, support and citations: fields of `everlore.domain.recall.Recall`."""
        ...

    async def erase(self, tx: Transaction, messages: Sequence[UUID], memories: Sequence[UUID]) -> int:
        """Erase what of this kind rests on messages, or on memories (lineages), that are being erased, in the transaction of the
        receipt; the number of things goes into its counts. Passages: `everlore.store.passages.remove_lineages`. (Memories and
        facts, which rest on each other, are erased by `everlore.knowledge.erasure`.)"""
        return 0
