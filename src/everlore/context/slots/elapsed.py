"""What time it is, and how much of it has passed since the last message of the thread."""

from collections.abc import Sequence
from datetime import timedelta

from everlore.context.piece import Material, Piece
from everlore.domain.context import Part
from everlore.store import contexts
from everlore.text.counts import counted

_UNITS = (("days", timedelta(days=1)), ("hours", timedelta(hours=1)), ("minutes", timedelta(minutes=1)))


class ElapsedSlot:
    name: str = "elapsed"
    part: Part = "tail"

    async def pieces(self, material: Material) -> Sequence[Piece]:
        said = f"It is {material.now:%Y-%m-%d %H:%M}."
        if material.thread_id is not None:
            last = await contexts.last_message(material.tx, material.thread_id, material.now)
            if last is not None and (passed := in_words(material.now - last)):
                said += f" The last message here was {passed} ago."
        return [Piece(self.name, "text", said, first=True, names=False)]


def in_words(passed: timedelta) -> str:
    """`3 days`; nothing for less than a minute."""
    for unit, length in _UNITS:
        if passed >= length:
            return counted(passed // length, unit)
    return ""
