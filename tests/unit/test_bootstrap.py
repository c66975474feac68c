"""The paired bootstrap: the same for the same seed, sure where the difference is plain, unsure where there is none."""

import pytest

from everlore.evaluation.bootstrap import paired_bootstrap


def test_a_plain_gain() -> None:
    found = paired_bootstrap([0.0] * 50, [0.5] * 40 + [0.0] * 10)
    assert found.mean == pytest.approx(0.4)
    assert 0.3 < found.low < 0.4 < found.high < 0.5
    assert found.not_above_zero == 0


def test_no_difference_and_one_that_is_chance() -> None:
    same = paired_bootstrap([0.2, 0.4, 0.9], [0.2, 0.4, 0.9])
    assert (same.mean, same.low, same.high, same.not_above_zero) == (0, 0, 0, 1)
    chance = paired_bootstrap([0.0, 1.0] * 20, [1.0, 0.0] * 20)
    assert chance.low < 0 < chance.high


def test_it_is_repeatable_and_refuses_what_is_no_pair() -> None:
    before, after = [0.1, 0.5, 0.3, 0.9], [0.2, 0.5, 0.6, 0.8]
    assert paired_bootstrap(before, after) == paired_bootstrap(before, after)
    assert paired_bootstrap(before, after, resamples=701).summary().keys() == {
        "mean",
        "low",
        "high",
        "not_above_zero",
    }
    with pytest.raises(ValueError, match="no pairs"):
        paired_bootstrap([0.1], [])
