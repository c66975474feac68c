"""What several recalls found, as one list."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

_T = TypeVar("_T")
# What a hit of each query counts, the latest first: what was said last is what is spoken of.
_WEIGHTS = (1.0, 0.7, 0.5)


def merged(
    answers: Sequence[Sequence[_T]], key: Callable[[_T], Hashable], worth: Callable[[_T], float]
) -> list[tuple[_T, float]]:
    """Each hit once with the most that it is worth in any answer, the best first; of equal ones the one that was found first."""
    best: dict[Hashable, tuple[_T, float]] = {}
    for weight, hits in zip(_WEIGHTS, answers, strict=False):
        for hit in hits:
            value = weight * worth(hit)
            if key(hit) not in best or best[key(hit)][1] < value:
                best[key(hit)] = (hit, value)
    return sorted(best.values(), key=lambda pair: -pair[1])
