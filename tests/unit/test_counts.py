"""A count agrees with its noun and verb."""

import pytest

from everlore.text.counts import counted, singular


@pytest.mark.parametrize(
    ("count", "nouns", "verb", "said"),
    [
        (0, "messages", "", "0 messages"),
        (1, "messages", "", "1 message"),
        (2000, "messages", "", "2,000 messages"),
        (1, "memories", "", "1 memory"),
        (1, "statements of facts", "", "1 statement of facts"),
        (1, "threads", "wait", "1 thread waits"),
        (1, "threads", "still wait", "1 thread still waits"),
        (3, "threads", "still wait", "3 threads still wait"),
        (1, "passages", "were", "1 passage was"),
        (1, "messages of 1 thread", "wait", "1 message of 1 thread waits"),
    ],
)
def test_a_count_agrees_with_its_words(count: int, nouns: str, verb: str, said: str) -> None:
    assert counted(count, nouns, verb) == said


def test_one_of_many() -> None:
    assert [singular(word) for word in ("tags", "entities", "aliases", "passages")] == [
        "tag",
        "entity",
        "alias",
        "passage",
    ]
