"""Facts that answer, with since when they hold."""

from collections.abc import Sequence

from everlore.context.piece import Material, Piece
from everlore.context.slots.found import merged
from everlore.domain.context import Part
from everlore.domain.predicates import in_words
from everlore.domain.recall import FactHit

# Beside a message that answers best, which is worth 1.
_WORTH = 0.6


class FactsSlot:
    name: str = "facts"
    part: Part = "tail"

    async def pieces(self, material: Material) -> Sequence[Piece]:
        found = merged(
            [answer.facts for answer in material.answers],
            lambda hit: hit.fact.lineage_id,
            lambda hit: _WORTH * hit.confidence,
        )
        return [self._piece(hit, value) for hit, value in found]

    def _piece(self, hit: FactHit, value: float) -> Piece:
        fact = hit.fact
        return Piece(
            slot=self.name,
            kind="fact",
            text=f"{fact.subject} {in_words(fact.predicate)} {fact.object}",
            value=value,
            id=fact.lineage_id,
            version=fact.fact_id,
            sources=tuple(one.message_id for one in hit.sources),
            at=fact.valid_from,
            trust=hit.support.grade,
            note="" if hit.current else "no longer",
            support=hit.support,
        )
