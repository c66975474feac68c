"""Paired bootstrap (Efron and Tibshirani 1993): how sure is it that one way of answering is better than another?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of `after` less that of `before`, with the interval that holds 95 % of the resampled differences, and the share
    of them that are not above zero."""

    mean: float
    low: float
    high: float
    not_above_zero: float

    def summary(self) -> dict[str, float]:
        return {name: round(getattr(self, name), 4) for name in self.__slots__}


def paired_bootstrap(
    before: Sequence[float], after: Sequence[float], *, resamples: int = RESAMPLES, seed: int = 0
) -> Difference:
    """Resample the questions, each with both of its results. Both must be of the same questions, in the same order."""
    if len(before) != len(after) or not before:
        raise ValueError(f"{len(before)} and {len(after)} results are no pairs")
    differences = np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    chance = np.random.default_rng(seed)
    # In slices: all draws at once would take resamples x questions x 8 bytes.
    means = np.concatenate(
        [
            differences[chance.integers(0, len(differences), size=(part, len(differences)))].mean(axis=1)
            for part in _slices(resamples)
        ]
    )
    low, high = np.percentile(means, [2.5, 97.5])
    return Difference(float(differences.mean()), float(low), float(high), float(np.mean(means <= 0)))


def _slices(resamples: int) -> list[int]:
    whole, rest = divmod(resamples, 500)
    return [500] * whole + ([rest] if rest else [])
