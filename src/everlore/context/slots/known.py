"""Memories that stand in every head: how they become pieces."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from everlore.context.piece import Piece
from everlore.domain.memories import Memory
from everlore.domain.recall import FAIR, STRONG, Citation
from everlore.store import recall_memories
from everlore.store.run import Transaction


async def memory_pieces(tx: Transaction, slot: str, memories: Sequence[Memory]) -> list[Piece]:
    """The memories in their order, each with the messages that it rests on."""
    if not memories:
        return []
    cited = await recall_memories.citations(tx, [memory.lineage_id for memory in memories], None)
    return [memory_piece(slot, memory, cited, value=memory.importance + 0.01) for memory in memories]


def memory_piece(
    slot: str,
    memory: Memory,
    cited: Mapping[UUID, Sequence[Citation]],
    *,
    value: float = 1.0,
    note: str = "",
    first: bool = False,
) -> Piece:
    return Piece(
        slot=slot,
        kind="memory",
        text=memory.content,
        value=value,
        first=first,
        id=memory.lineage_id,
        version=memory.memory_id,
        sources=tuple(one.message_id for one in cited.get(memory.lineage_id, ())),
        at=memory.valid_from,
        author=memory.author,
        trust=trust_in(memory),
        note=note,
    )


def trust_in(memory: Memory) -> str:
    """How sure a memory itself is, in a word."""
    if memory.confirmed:
        return "confirmed"
    return "strong" if memory.confidence >= STRONG else "fair" if memory.confidence >= FAIR else "weak"
