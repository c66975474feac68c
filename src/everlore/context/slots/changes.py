"""What has changed since earlier contexts of the chain: memories that hold no longer or say something else, and what would stand
in the head today. What was given stays as it is; this says at the end what is different."""

from collections.abc import Sequence
from dataclasses import replace

from everlore.context.piece import Material, Piece
from everlore.context.slots.core import CoreSlot
from everlore.context.slots.known import memory_piece
from everlore.context.slots.pinned import PinnedSlot
from everlore.context.slots.standing import StandingSlot
from everlore.domain.context import Part
from everlore.domain.memories import Memory, status_of
from everlore.store import contexts, recall_memories

_OF_THE_HEAD = (PinnedSlot(), CoreSlot(), StandingSlot())


class ChangesSlot:
    name: str = "changes"
    part: Part = "tail"

    async def pieces(self, material: Material) -> Sequence[Piece]:
        if not material.goes_on:
            return []
        return [*await self._changed(material), *await self._new(material)]

    async def _changed(self, material: Material) -> list[Piece]:
        given = material.given.memories
        current = await contexts.current(material.tx, list(given))
        before = await contexts.versions(material.tx, list(given.values()))
        words = {memory.lineage_id: memory.content for memory in before}
        cited = await recall_memories.citations(material.tx, list(given), None) if given else {}
        found: list[Piece] = []
        for memory in current:
            number = material.given.numbers.get(memory.lineage_id)
            ended = given[memory.lineage_id] in material.given.ended
            if status_of(memory, material.now) != "active":
                if not ended:
                    found.append(self._no_longer(memory, number))
            elif ended or words.get(memory.lineage_id) != memory.content:
                note = "now" if number is None else f"now, instead of [{number}]"
                found.append(memory_piece(self.name, memory, cited, note=note, first=True))
        return found

    def _no_longer(self, memory: Memory, number: int | None) -> Piece:
        """Named by its number: what it said stands above, and is not said again."""
        named = "Something that was said of them" if number is None else f"[{number}]"
        return Piece(
            slot=self.name,
            kind="memory",
            text=f"{named} holds no longer",
            first=True,
            id=memory.lineage_id,
            version=memory.memory_id,
            names=False,
        )

    async def _new(self, material: Material) -> list[Piece]:
        pieces = [piece for slot in _OF_THE_HEAD for piece in await slot.pieces(material)]
        fresh = {piece.id: piece for piece in pieces if piece.id not in material.given.memories}
        since = material.given.made_at
        return [
            replace(piece, slot=self.name, note="new", first=True)
            if since is not None and piece.at is not None and piece.at > since
            else replace(piece, slot=self.name)
            for piece in fresh.values()
        ]
