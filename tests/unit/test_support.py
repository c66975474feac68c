"""Support: a number made of reasons that a person can check."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlore.recall.support import Speaker, support

WORDS = (("where", None), ("did", None), ("emma", "emma"), ("moved", "move"), ("boat", "boat"))
RARITY = {"emma": 2.0, "move": 1.0, "boat": 3.0}


def test_covered_and_missing_words_are_named_the_rarest_first() -> None:
    found = support(WORDS, RARITY, frozenset({"emma", "move"}), "unknown", None)
    assert found.covered == ("emma", "moved")
    assert found.missing == ("boat",)
    assert found.confidence == 0.3


def test_what_speaks_for_it_and_against_it_is_said_in_words() -> None:
    found = support(WORDS, RARITY, frozenset({"move"}), "another", 0.7, 0.8, ["asks the same"])
    assert found.reasons == (
        "says moved",
        "comes near in meaning",
        "does not say boat, emma",
        "said by another than the question names",
        "asks the same",
    )
    assert support(WORDS, RARITY, frozenset(RARITY), "unknown", 0.9).reasons == ("says boat, emma, moved",)
    assert support(WORDS, RARITY, frozenset(), "unknown", 0.2).reasons == ("does not say boat, emma, moved",)


@pytest.mark.parametrize(
    ("confidence", "grade"), [(0.0, "weak"), (0.49, "weak"), (0.5, "fair"), (0.75, "strong"), (1.0, "strong")]
)
def test_a_confidence_that_is_given_stands_and_has_a_word(confidence: float, grade: str) -> None:
    found = support(WORDS, RARITY, frozenset(), "another", None, confidence)
    assert (found.confidence, found.grade) == (confidence, grade)


def test_late_interaction_is_stretched_and_weighed() -> None:
    everything = frozenset(RARITY)
    assert support(WORDS, RARITY, everything, "unknown", 0.9).confidence == 1
    assert support(WORDS, RARITY, everything, "unknown", 0.3).confidence == 0.6
    assert support(WORDS, RARITY, frozenset(), "unknown", 0.6).confidence == pytest.approx(0.2)
    assert support(WORDS, RARITY, frozenset(), "unknown", 7.0).confidence == 0.4


def test_another_speaker_is_believed_less() -> None:
    asked = support(WORDS, RARITY, frozenset(RARITY), "asked about", None).confidence
    assert support(WORDS, RARITY, frozenset(RARITY), "another", None).confidence == pytest.approx(
        0.75 * asked
    )


def test_a_question_of_stop_words_has_no_support() -> None:
    found = support((("who", None),), {}, frozenset(), "unknown", None)
    assert (found.confidence, found.covered, found.missing) == (0, (), ())


def test_a_repeated_word_is_named_once_as_it_was_first_written() -> None:
    repeated = (("moving", "move"), ("moved", "move"))
    assert support(repeated, {"move": 1.0}, frozenset({"move"}), "unknown", None).covered == ("moving",)


@given(
    st.dictionaries(st.text(min_size=1), st.floats(0, 20), max_size=6),
    st.sets(st.integers(0, 5)),
    st.sampled_from(["asked about", "another", "unknown"]),
    st.none() | st.floats(-1, 1),
)
def test_confidence_lies_between_0_and_1(
    rarity: dict[str, float], there: set[int], speaker: Speaker, late: float | None
) -> None:
    asked = [(term, term) for term in rarity]
    present = frozenset(term for place, term in enumerate(rarity) if place in there)
    found = support(asked, rarity, present, speaker, late)
    assert 0 <= found.confidence <= 1
    assert sorted(found.covered + found.missing) == sorted(rarity)
