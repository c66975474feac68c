"""Predicates of facts, as people read them."""

import pytest

from everlore.domain.predicates import in_words


@pytest.mark.parametrize(
    ("predicate", "said"),
    [
        ("lives_in", "lives in"),
        ("sister_of", "is the sister of"),
        ("favourite_food", "has the favourite food"),
        ("has_visa_appointment_on", "has the visa appointment on"),
        ("has_to_book", "has to book"),
        ("has_condition", "has"),
        ("role", "has the role of"),
        ("is_moving_to", "is moving to"),
    ],
)
def test_a_predicate_reads_as_words(predicate: str, said: str) -> None:
    assert in_words(predicate) == said
