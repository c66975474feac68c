"""What people said of the sources of answers: which were confirmed, which refused, and for which questions.

Of a question only digests of its terms are kept, and they go with the source.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg import AsyncCursor
from psycopg.rows import kwargs_row

from everlore.domain.ids import new_ids
from everlore.store.queries import queries
from everlore.store.run import Transaction

_QUERIES = queries("feedback")


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """What an id names: a message, or a memory by its lineage."""

    id: UUID
    message_id: UUID | None
    lineage_id: UUID | None

    @property
    def source_id(self) -> UUID:
        """Of the message, or of the memory in all its versions."""
        return self.message_id or self.lineage_id or self.id


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was said of a source for a question like the one asked: `shared` are the terms that both have, `terms` is how many the
    other one has."""

    source_id: UUID
    confirmed: bool
    shared: Sequence[str]
    terms: int


async def sources(tx: Transaction, ids: Sequence[UUID]) -> dict[UUID, AnswerSource]:
    """What the given ids name, as far as there is something of that id."""
    found = await tx.rows(_QUERIES["sources"], AnswerSource, ids=list(ids))
    return {one.id: one for one in found}


async def note(
    tx: Transaction, question: str, given: Sequence[tuple[AnswerSource, bool]], now: datetime
) -> int:
    """Keep what was said of sources, each once; returns of how many: none where the question has no term."""
    return await tx.done(
        _QUERIES["note"],
        question=question,
        ids=new_ids(len(given)),
        messages=[source.message_id for source, _ in given],
        lineages=[source.lineage_id for source, _ in given],
        confirmed=[confirmed for _, confirmed in given],
        at=now,
    )


async def asked(tx: Transaction, question: str) -> AsyncCursor[Verdict]:
    """What was said of sources for questions like this one, sent: for a pipeline."""
    return await tx.sent(_QUERIES["alike"], kwargs_row(Verdict), question=question)
