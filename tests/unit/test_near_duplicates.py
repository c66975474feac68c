"""When two texts claim the same: what no embedding tells apart is compared by itself."""

import numpy as np
import pytest

from everlore.knowledge.similarity import (
    CALIBRATED,
    DEFAULT,
    adds_nothing,
    content_hash,
    cosine,
    equal_claims,
    holds_all_of,
    shared_words,
    thresholds_of,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I live in Porto", "i live in porto!"),
        ("Vivo en Málaga", "vivo en malaga"),
        ("I don’t eat meat", "I don’t  eat meat."),
    ],
)
def test_case_accents_and_punctuation_make_no_other_content(one: str, other: str) -> None:
    assert content_hash("Anna", one) == content_hash("anna", other)


def test_whose_words_they_are_makes_another_content() -> None:
    assert content_hash("Anna", "I like tea") != content_hash("Ben", "I like tea")
    assert content_hash(None, "I like tea") != content_hash("Ben", "I like tea")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I run 5 km a day", "I run 10 km a day"),
        ("The meeting is at 10:30", "The meeting is at 11:30"),
        ("I am allergic to nuts", "I am not allergic to nuts"),
        ("She can swim", "She can't swim"),
        ("Me gusta el té", "Nunca me gusta el té"),
        ("We met Emma there", "We met Ella there"),
        ("My boss is Emma", "My boss is nice"),
    ],
)
def test_claims_differ(one: str, other: str) -> None:
    assert not equal_claims(one, other)
    assert not equal_claims(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I run 5 km a day", "Each day I run 5 km"),
        ("We met Emma there", "There we met Emma's parents"),
        ("I do not smoke", "I never smoke"),
        ("Swimming is fun", "I enjoy swimming"),
    ],
)
def test_claims_are_equal(one: str, other: str) -> None:
    assert equal_claims(one, other)


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("My left knee hurts", "My right knee hurts"),
        ("I prefer trains to planes", "I prefer planes to trains"),
        ("I moved into a flat", "I moved out of a flat"),
        ("I used to live in Porto", "I live in Porto"),
        ("I want to run a marathon", "I run a marathon"),
        ("I work as a nurse", "I work as a night nurse"),
        ("I flew from Porto to Lisbon", "I flew from Lisbon to Porto"),
    ],
)
def test_what_is_like_it_but_says_something_new(known: str, new: str) -> None:
    assert not adds_nothing(new, known)


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("I am allergic to peanuts.", "I have a peanut allergy."),
        ("I play the cello in an orchestra.", "I'm playing the cello."),
        ("My favourite colour is green.", "Green is my favourite colour."),
        ("I prefer trains to planes", "I really prefer trains to planes."),
    ],
)
def test_what_was_said_already(known: str, new: str) -> None:
    assert adds_nothing(new, known)


def test_the_fuller_form_holds_every_word_of_weight_and_more() -> None:
    assert holds_all_of("I play the cello in an orchestra", "I play the cello")
    assert not holds_all_of("I play the cello", "I play the cello")
    assert not holds_all_of("I play the cello", "I play the cello in an orchestra")
    assert not holds_all_of("I no longer play the cello at home", "I play the cello")
    assert not holds_all_of("I play the cello", "it is")
    assert not holds_all_of("My sister has a small dog", "I have a dog")
    assert not holds_all_of("I want to play the cello well", "I play the cello")


def test_shared_words_is_a_share_of_words_of_weight() -> None:
    assert shared_words("I live in Porto", "We live in Porto") == 1
    assert shared_words("I live in Porto", "I live in Lisbon") == pytest.approx(1 / 3)
    assert shared_words("it is", "the") == 0


def test_cosine_of_nothing_is_nothing() -> None:
    one, none = np.array([1, 2], dtype=np.float32), np.zeros(2, dtype=np.float32)
    assert cosine(one, one) == pytest.approx(1)
    assert cosine(one, none) == 0


def test_thresholds_belong_to_a_model() -> None:
    for model, limits in CALIBRATED.items():
        assert thresholds_of(model) == limits
        assert 0 < limits.overlap <= limits.same < 1
    assert thresholds_of("some-other-model") == thresholds_of(None) == DEFAULT
