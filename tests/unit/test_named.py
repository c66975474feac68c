"""What the conversation around a message adds where the question names an author."""

from datetime import UTC, datetime
from uuid import uuid4

import numpy as np
import pytest

from everlore.recall import named
from everlore.store.recall import Surroundings


def talk(authors: str, sequence: list[int], session: list[int], asking: list[int]) -> Surroundings:
    """Candidates whose authors are the letters; `asking` are the places of those that end with a question."""
    count = len(authors)
    return Surroundings(
        passage_ids=np.arange(count),
        message_ids=tuple(uuid4().bytes for _ in range(count)),
        session=np.array(session, dtype=np.int64),
        sequence=np.array(sequence, dtype=np.int64),
        roles=("user",) * count,
        authors=tuple(authors),
        times=(datetime(2026, 1, 1, tzinfo=UTC),) * count,
        lengths=np.ones(count),
        asks=np.isin(np.arange(count), asking),
        vectors=None,
    )


def test_an_answer_takes_from_the_question_of_somebody_else_right_before_it() -> None:
    candidates = talk("abbaab", [1, 2, 3, 4, 9, 1], [0, 0, 0, 0, 0, 1], asking=[0, 1, 3])
    scores = np.array([0.9, 0.5, 0.4, 0.3, 0.2, 0.1])
    # The third is asked by its own author; the fifth stands apart; the sixth begins another session.
    assert named.answered(candidates, scores).tolist() == [0, 0.9, 0, 0, 0, 0]


def test_words_of_neighbours_count_but_less() -> None:
    candidates = talk("aaaa", [1, 2, 3, 9], [0, 0, 0, 0], asking=[])
    matches = np.array([[1, 0], [0, 0.2], [0, 1], [0, 0]], dtype=np.float32)
    weights = np.array([0.5, 0.5], dtype=np.float32)
    known = np.ones(4, dtype=np.bool_)
    alone = named.window_signal(candidates, matches, weights, known, 0)
    assert alone.tolist() == pytest.approx([1, 0.2, 1, 0])
    beside = named.window_signal(candidates, matches, weights, known, 1)
    # With one neighbour: 1 and 0.18; 0.9 and 0.9; 0 and 1; nothing. The middle one is the best then.
    assert beside.tolist() == pytest.approx([(1 + 1.18 / 1.8) / 2, 0.6, (1 + 1 / 1.8) / 2, 0])
    assert len(set(named.window_signal(candidates, matches, weights, known, 5).tolist())) > 1


def test_what_was_not_reranked_stays_last_whatever_its_neighbours_say() -> None:
    candidates = talk("aaa", [1, 2, 3], [0, 0, 0], asking=[])
    matches = np.array([[1], [0], [0.4]], dtype=np.float32)
    known = np.array([True, False, True])
    signal = named.window_signal(candidates, matches, np.ones(1, dtype=np.float32), known, 2)
    assert signal[1] == signal.min() == 0


def test_a_session_matches_with_the_words_of_all_its_passages() -> None:
    candidates = talk("aaab", [1, 5, 1, 4], [0, 0, 1, 1], asking=[])
    matches = np.array([[1, 0], [0, 1], [0.9, 0.1], [0.8, 0]], dtype=np.float32)
    weights = np.array([0.5, 0.5], dtype=np.float32)
    assert named.session_signal(candidates, matches, weights).tolist() == [1, 1, 0, 0]
