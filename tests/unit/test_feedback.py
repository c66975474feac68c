"""Which earlier questions are like one, and what was said of a source all in all."""

from uuid import UUID

import numpy as np
import pytest

from everlore.recall.bm25 import Lexical
from everlore.recall.feedback import marks_of
from everlore.store.feedback import Verdict

SOURCE = UUID(int=1)


def marked(*given: tuple[bool, str, int], idf: dict[str, float] | None = None) -> float | None:
    """What counts for a source: each word said of it has the terms that are shared, and how many the other question has."""
    rarity = {"bea": 4.0, "birthday": 4.0} if idf is None else idf
    lexical = Lexical(np.zeros(0, np.float32), tuple(rarity), np.array([*rarity.values()]), (), (), 1.0)
    verdicts = [Verdict(SOURCE, confirmed, shared.split(), terms) for confirmed, shared, terms in given]
    return marks_of(verdicts, lexical).get(SOURCE.bytes)


@pytest.mark.parametrize(
    ("shared", "terms", "expected"),
    [("bea birthday", 2, 1.0), ("bea birthday", 3, 2 / 3), ("birthday", 2, None), ("bea", 1, 0.5)],
)
def test_a_question_is_like_another_by_the_share_of_both(
    shared: str, terms: int, expected: float | None
) -> None:
    assert marked((True, shared, terms)) == pytest.approx(expected)
    assert marked((False, shared, terms)) == pytest.approx(None if expected is None else -expected)


def test_rare_terms_tell_more_and_common_ones_something() -> None:
    assert marked((True, "bea", 1), idf={"bea": 6.0, "today": 0.1}) == pytest.approx(6 / 7)
    assert marked((True, "today", 1), idf={"bea": 6.0, "today": 0.1}) is None


def test_what_was_said_for_several_questions_adds_up_within_bounds() -> None:
    assert marked((True, "bea birthday", 2), (False, "bea birthday", 3)) == pytest.approx(1 / 3)
    assert marked(*[(False, "bea birthday", 2)] * 3) == -1
    assert marked() is None
