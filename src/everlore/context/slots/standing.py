"""Standing instructions: how the person wishes to be answered."""

from collections.abc import Sequence

from everlore.context.piece import Material, Piece
from everlore.context.slots.known import memory_pieces
from everlore.domain.context import Part
from everlore.domain.memories import MemoryType
from everlore.store import contexts

# The type of what an assistant is to do, always.
STANDING: MemoryType = "system_config"


class StandingSlot:
    name: str = "standing"
    part: Part = "head"

    async def pieces(self, material: Material) -> Sequence[Piece]:
        most = material.most.get(self.name, 0)
        found = await contexts.standing(material.tx, material.now, STANDING, most)
        return await memory_pieces(material.tx, self.name, found)
