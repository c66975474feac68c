"""What a context is made of, one file a slot.

A new slot is a file here (or elsewhere), a line in `SLOTS`, its name in the slots of the profiles (settings), and a place in the
template of its part.
"""

from collections.abc import Sequence
from typing import Protocol

from everlore.context.piece import Material, Piece
from everlore.context.slots.changes import ChangesSlot
from everlore.context.slots.core import CoreSlot
from everlore.context.slots.elapsed import ElapsedSlot
from everlore.context.slots.facts import FactsSlot
from everlore.context.slots.instructions import InstructionsSlot
from everlore.context.slots.memories import MemoriesSlot
from everlore.context.slots.messages import MessagesSlot
from everlore.context.slots.pinned import PinnedSlot
from everlore.context.slots.standing import StandingSlot
from everlore.domain.context import Part


class ContextSlot(Protocol):
    """A kind of thing that stands in a context."""

    name: str
    """As it stands in the slots of a profile, in templates and in the log."""
    part: Part

    async def pieces(self, material: Material) -> Sequence[Piece]:
        """What it offers, the best first. What was given before, stands in the messages or does not fit is taken out later."""
        ...


# In this order: what two slots offer fills the first of them.
SLOTS: list[ContextSlot] = [
    InstructionsSlot(),
    PinnedSlot(),
    CoreSlot(),
    StandingSlot(),
    ElapsedSlot(),
    ChangesSlot(),
    FactsSlot(),
    MemoriesSlot(),
    MessagesSlot(),
]
