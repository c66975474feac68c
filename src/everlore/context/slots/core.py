"""Core memories: what matters most of all that is remembered."""

from collections.abc import Sequence

from everlore.context.piece import Material, Piece
from everlore.context.slots.known import memory_pieces
from everlore.domain.context import Part
from everlore.store import contexts

# From this importance on a memory belongs to the core.
LEAST_IMPORTANCE = 0.80


class CoreSlot:
    name: str = "core"
    part: Part = "head"

    async def pieces(self, material: Material) -> Sequence[Piece]:
        found = await contexts.core(
            material.tx, material.now, LEAST_IMPORTANCE, material.most.get(self.name, 0)
        )
        return await memory_pieces(material.tx, self.name, found)
