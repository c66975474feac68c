"""What a person pinned: always in context."""

from collections.abc import Sequence

from everlore.context.piece import Material, Piece
from everlore.context.slots.known import memory_pieces
from everlore.domain.context import Part
from everlore.store import contexts


class PinnedSlot:
    name: str = "pinned"
    part: Part = "head"

    async def pieces(self, material: Material) -> Sequence[Piece]:
        found = await contexts.pinned(material.tx, material.now, material.most.get(self.name, 0))
        return await memory_pieces(material.tx, self.name, found)
