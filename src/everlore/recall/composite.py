"""A memory's score: a composite of relevance (0-1 over the candidates), importance, recency, use, and a bonus for some types."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TypeAlias
from uuid import UUID

from everlore.config import RecallSettings
from everlore.domain.memories import Memory
from everlore.domain.recall import MemoryHit, Support
from everlore.recall.feedback import reasons
from everlore.recall.request import Request
from everlore.store import recall_memories
from everlore.text.words import in_a_row

# Accesses from which on more of them add nothing.
_MANY_ACCESSES = 100

Scored: TypeAlias = tuple[Memory, dict[str, float], Support]


def composite(request: Request, memory: Memory, relevance: float) -> dict[str, float]:
    """The parts of a memory's score, each weighted already: their sum is the score."""
    settings = request.settings
    used = max(filter(None, (memory.valid_from, memory.last_access_at)))
    age = max(request.ask.moment - used, timedelta(0)) / timedelta(days=1)
    parts = {
        "relevance": settings.memory_relevance * relevance,
        "importance": settings.memory_importance * memory.importance,
        "recency": settings.memory_recency * math.exp(-age / settings.recency_days),
        "access": settings.memory_access
        * min(math.log1p(memory.access_count) / math.log1p(_MANY_ACCESSES), 1.0),
        "type": _bonus(settings, memory.type),
    }
    if mark := request.marks.get(memory.lineage_id.bytes):
        parts["feedback"] = settings.feedback * mark
    return {name: round(value, 4) for name, value in parts.items()}


def is_shown(request: Request, memory: Memory) -> bool:
    """Whether it was true at the moment that is asked about, and in view then (or expired ones are wanted as well)."""
    moment = request.ask.moment
    if memory.valid_from > moment and request.ask.as_of.valid_at is not None:
        return False
    if memory.valid_to is not None and memory.valid_to <= moment:
        return False
    return request.ask.include_expired or memory.expires_at is None or memory.expires_at > moment


def is_said(request: Request, memory: Memory) -> bool:
    """Whether it stands word for word in a hit of the same answer: it would only be read twice."""
    return in_a_row(memory.content) in request.spoken


async def cited(request: Request, chosen: Sequence[Scored]) -> tuple[MemoryHit, ...]:
    """Hits of memories, with the messages that they rest on."""
    if not chosen:
        return ()
    sources = await recall_memories.citations(
        request.tx, [memory.lineage_id for memory, _, _ in chosen], request.ask.as_of.recorded_at
    )
    return tuple(
        MemoryHit(
            memory,
            sources.get(memory.lineage_id, ()),
            round(sum(why.values()), 6),
            _with_feedback(believed, why.get("feedback", 0.0)),
            why,
        )
        for memory, why, believed in chosen
    )


def _with_feedback(believed: Support, mark: float) -> Support:
    if not mark:
        return believed
    return replace(believed, reasons=(*believed.reasons, *reasons(mark)))


def order_of(one: Scored) -> tuple[float, float, UUID]:
    """By score; of equal ones the one that became true last."""
    memory, why, _ = one
    return -sum(why.values()), -memory.valid_from.timestamp(), memory.memory_id


def _bonus(settings: RecallSettings, kind: str) -> float:
    bonuses = {
        "relationship": settings.relationship_bonus,
        "preference": settings.preference_bonus,
        "goal": settings.goal_bonus,
    }
    return bonuses.get(kind, 0.0)
