"""Messages that answer: a person's whole, of an assistant's the one passage that answers; no neighbours.

Measured: whole messages of people reach the most evidence per token, and so does taking the densest first where what a message is
worth falls off with the third power of its score.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from everlore.context.piece import Material, Piece
from everlore.context.slots.found import merged
from everlore.domain.context import Part
from everlore.domain.recall import Hit, Recall
from everlore.store import contexts
from everlore.text.words import roots

# How fast worth falls off with the score.
_POWER = 3
# A little worth for the last of all: it may fit.
_LEAST = 1e-6


class MessagesSlot:
    name: str = "messages"
    part: Part = "tail"

    async def pieces(self, material: Material) -> Sequence[Piece]:
        worth = {id(hit): value for answer in material.answers for hit, value in _worth(answer)}
        found = merged(
            [answer.hits for answer in material.answers],
            lambda hit: hit.citation.message_id,
            lambda hit: worth[id(hit)],
        )
        pieces = [self._piece(hit, value) for hit, value in found]
        long = [hit.citation.message_id for hit, _ in found if hit.citation.role != "user"]
        passages = await contexts.passages(material.tx, long) if long else {}
        asked = roots(" ".join(answer.question for answer in material.answers))
        return [_shortened(piece, passages, asked) for piece in pieces]

    def _piece(self, hit: Hit, value: float) -> Piece:
        return Piece(
            slot=self.name,
            kind="message",
            text=" ".join([hit.text, *(f"[shares {caption}]" for caption in hit.captions)]).strip(),
            own=hit.text,
            value=value,
            id=hit.citation.message_id,
            sources=(hit.citation.message_id,),
            at=hit.citation.at,
            author=hit.citation.author,
            trust=hit.support.grade,
            support=hit.support,
        )


def _worth(answer: Recall) -> list[tuple[Hit, float]]:
    """0-1 by score, relative to the best and the worst hit."""
    if not answer.hits:
        return []
    scores = [hit.score for hit in answer.hits]
    low, span = min(scores), max(scores) - min(scores)
    if not span:
        return [(hit, 1.0) for hit in answer.hits]
    return [(hit, max(((hit.score - low) / span) ** _POWER, _LEAST)) for hit in answer.hits]


def _shortened(piece: Piece, passages: Mapping[UUID, Sequence[str]], asked: frozenset[str]) -> Piece:
    """Of several passages the one with the most words of the question, the first of equal ones."""
    own = passages.get(piece.id, ()) if piece.id else ()
    if len(own) < 2:
        return piece
    best = max(own, key=lambda passage: len(asked & roots(passage)))
    return replace(piece, text=best.removeprefix(f"{piece.author}: "))
