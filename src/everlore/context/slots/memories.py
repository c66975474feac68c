"""Memories that answer, each with the messages that it rests on."""

from collections.abc import Sequence

from everlore.context.piece import Material, Piece
from everlore.context.slots.found import merged
from everlore.domain.context import Part
from everlore.domain.recall import MemoryHit

# Beside a message that answers best, which is worth 1.
_WORTH = 0.5


class MemoriesSlot:
    name: str = "memories"
    part: Part = "tail"

    async def pieces(self, material: Material) -> Sequence[Piece]:
        found = merged(
            [answer.memories for answer in material.answers],
            lambda hit: hit.memory.lineage_id,
            lambda hit: _WORTH * hit.confidence,
        )
        return [self._piece(hit, value) for hit, value in found]

    def _piece(self, hit: MemoryHit, value: float) -> Piece:
        memory = hit.memory
        return Piece(
            slot=self.name,
            kind="memory",
            text=memory.content,
            value=value,
            id=memory.lineage_id,
            version=memory.memory_id,
            sources=tuple(one.message_id for one in hit.sources),
            at=memory.valid_from,
            author=memory.author,
            trust=hit.support.grade,
            support=hit.support,
        )
