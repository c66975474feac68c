"""Fusion: scaling, windows over neighbours, weighted means."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from everlore.recall import fuse
from everlore.store.recall import Surroundings

finite = st.floats(-1e6, 1e6)


@given(st.lists(finite, min_size=1))
def test_scaled_reaches_from_0_to_1_and_keeps_the_order(values: list[float]) -> None:
    given_values = np.array(values)
    scaled = fuse.scaled(given_values)
    assert scaled.min() == 0
    assert scaled.max() == (1 if scaled.any() else 0)
    order = np.argsort(given_values, kind="stable")
    assert (np.diff(scaled[order]) >= 0).all()


def test_nothing_scaled_is_nothing() -> None:
    assert fuse.scaled(np.array([])).tolist() == []


# Candidates: distinct (session, sequence) pairs, in any order.
places = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 12)), unique=True, max_size=25)


@given(places, st.integers(0, 3))
def test_windows_are_sums_over_neighbours_of_the_same_session(
    pairs: list[tuple[int, int]], reach: int
) -> None:
    session = np.array([s for s, _ in pairs], dtype=np.int64)
    sequence = np.array([q for _, q in pairs], dtype=np.int64)
    values = np.arange(1.0, len(pairs) + 1)
    candidates = replace(
        surroundings(np.zeros((len(pairs), 1), np.float32), sequence.tolist()), session=session
    )
    widths = fuse.windows(values, candidates, reach)
    assert len(widths) == reach + 1
    again = fuse.windows(values, candidates, reach)
    assert all(np.array_equal(one, other) for one, other in zip(widths, again, strict=True))
    for width, sums in enumerate(widths):
        naive = [
            sum(v for v, (s, q) in zip(values, pairs, strict=True) if s == own and abs(q - at) <= width)
            for own, at in pairs
        ]
        assert sums.tolist() == naive


def surroundings(vectors: NDArray[np.float32], sequence: list[int]) -> Surroundings:
    count = len(sequence)
    return Surroundings(
        passage_ids=np.arange(count),
        message_ids=tuple(uuid4().bytes for _ in range(count)),
        session=np.zeros(count, dtype=np.int64),
        sequence=np.array(sequence, dtype=np.int64),
        roles=("user",) * count,
        authors=("Maya",) * count,
        times=(datetime(2025, 1, 1, tzinfo=UTC),) * count,
        asks=np.zeros(count, dtype=np.bool_),
        lengths=np.ones(count),
        vectors=vectors,
    )


def test_a_neighbour_s_vector_lifts_a_passage() -> None:
    question = np.array([1, 0], dtype=np.float32)
    vectors = np.array([[1, 0], [0, 1], [0, 1]], dtype=np.float32)
    near, beside, far = fuse.vector_signal(surroundings(vectors, [1, 2, 9]), question, 1)
    assert near > beside > far == 0


def test_a_passage_without_a_vector_counts_as_far() -> None:
    question = np.array([1, 0], dtype=np.float32)
    vectors = np.array([[1, 0], [0, 0]], dtype=np.float32)
    assert fuse.vector_signal(surroundings(vectors, [1, 9]), question, 2).tolist() == [1, 0]


@given(st.lists(st.none() | finite))
def test_what_was_not_scored_counts_as_the_lowest(scores: list[float | None]) -> None:
    given_scores = np.array([np.nan if one is None else one for one in scores], dtype=np.float64)
    scaled = fuse.with_unknown(given_scores)
    assert len(scaled) == len(scores)
    assert all(value == 0 for value, one in zip(scaled, scores, strict=True) if one is None)


def test_a_missing_signal_does_not_lower_the_others() -> None:
    one, two = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert fuse.weighted([(2.0, one)]).tolist() == [1, 0]
    assert fuse.weighted([(3.0, one), (1.0, two)]).tolist() == [0.75, 0.25]
    assert fuse.weighted([(0.0, one)]).tolist() == [0, 0]


@given(st.lists(st.tuples(finite, st.integers(0, 4)), min_size=1))
def test_best_of_session_is_the_greatest_score_in_it(rows: list[tuple[float, int]]) -> None:
    scores, session = np.array([s for s, _ in rows]), np.array([n for _, n in rows], dtype=np.int64)
    expected = [max(s for s, n in rows if n == own) for _, own in rows]
    assert fuse.best_of_session(scores, session).tolist() == pytest.approx(expected)
