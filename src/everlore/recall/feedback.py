"""What people said of earlier answers: a source that was confirmed for a question like this one comes a little earlier, one that
was refused a little later.

Like is a question by its terms, in whatever order: how many of the earlier one's this one has, times how much of this one they
are, each term counted by its rarity. Half of all is the least; so what was said of Emma's birthday says nothing of Bea's.
"""

from collections.abc import Iterable, Mapping

from everlore.recall.bm25 import Lexical
from everlore.store.feedback import Verdict

# Questions less alike than this are different ones.
_ALIKE = 0.5
# What a term counts at least: where few things are known, all are common.
_COMMON = 1.0


def marks_of(verdicts: Iterable[Verdict], lexical: Lexical) -> Mapping[bytes, float]:
    """By the 16 bytes of a source's id: 1 where it was confirmed for this very question, -1 where it was refused, between for
    questions like it; all that was said of one together is no more."""
    rarity = {
        term: max(float(value), _COMMON) for term, value in zip(lexical.terms, lexical.idf, strict=True)
    }
    total = sum(rarity.values())
    marks: dict[bytes, float] = {}
    for one in verdicts:
        alike = sum(rarity[term] for term in one.shared) / total * len(one.shared) / one.terms
        if alike >= _ALIKE:
            source = one.source_id.bytes
            marks[source] = marks.get(source, 0.0) + (alike if one.confirmed else -alike)
    return {source: min(max(mark, -1.0), 1.0) for source, mark in marks.items()}


def reasons(mark: float) -> list[str]:
    if not mark:
        return []
    return [f"{'confirmed' if mark > 0 else 'refused'} for a question like this"]
