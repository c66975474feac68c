"""A statement on its way into the chronicle."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from everlore.store.facts import FactKey


@dataclass(frozen=True, slots=True)
class Stated:
    """One statement to enter. `memory_lineage_id`: the memory that says the same, if there is one. `span` and `quote`: the
    characters of the message that state it, and what they are; `said`: the whole message;
    `instead_of`: the memory that it corrects. `by`: what it is said not to be in favour of (see `with_denials`)."""

    edge: FactKey
    said_at: datetime
    valid_from: datetime | None
    ended: bool
    corrects: bool
    confidence: float
    message_id: UUID | None
    span: tuple[int, int] | None
    quote: str | None
    memory_lineage_id: UUID | None
    text: str
    said: str = ""
    position: int | None = None
    instead_of: UUID | None = None
    by: FactKey | None = None
