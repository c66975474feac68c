"""How to use what is below: the words are a template, `instructions.j2`."""

from collections.abc import Sequence

from everlore.context.piece import Material, Piece
from everlore.domain.context import Part


class InstructionsSlot:
    name: str = "instructions"
    part: Part = "head"

    async def pieces(self, material: Material) -> Sequence[Piece]:
        return [Piece(self.name, "text", "", first=True, names=False, template="instructions.j2")]
