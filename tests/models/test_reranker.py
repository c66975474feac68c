"""Late interaction: each word of the question finds its best counterpart in the passage."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlore.models.fake import FakeEmbedder
from everlore.models.late_interaction import LateInteraction
from everlore.ports.embedder import EncodedQuestion
from everlore.ports.reranker import PassageCandidate, WeightedQuestion


async def asked(text: str, weights: list[float] | None = None) -> WeightedQuestion:
    encoded = await FakeEmbedder().encode_question(text)
    count = len(encoded.spans)
    given_weights = np.array(weights or [1 / max(count, 1)] * count, dtype=np.float32)
    return WeightedQuestion(text, encoded, given_weights)


async def scored(question: WeightedQuestion, shown: Sequence[PassageCandidate]) -> Sequence[float | None]:
    """The scores; what else is answered says the same."""
    answer = await LateInteraction().score(question, shown)
    if answer.matches is None:
        assert all(one is None for one in answer.scores)
    else:
        for row, one in zip(answer.matches, answer.scores, strict=True):
            assert (one is None and not row.any()) or one == pytest.approx(
                min(row @ question.weights, 1), abs=1e-5
            )
    return answer.scores


async def candidates(*texts: str | None) -> list[PassageCandidate]:
    model = FakeEmbedder()
    encoded = [None if text is None else (await model.encode_passages([text]))[0].tokens for text in texts]
    return [PassageCandidate(number, None, tokens) for number, tokens in enumerate(encoded)]


async def test_the_same_words_score_one_and_more_shared_words_score_more() -> None:
    question = await asked("red boat harbour")
    same, two, one, none = await scored(
        question, await candidates("harbour red boat", "a red boat", "the boat", "quiet evening")
    )
    assert same == pytest.approx(1, abs=0.02)
    scores = [score for score in (same, two, one, none) if score is not None]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 4


async def test_words_count_by_their_weight() -> None:
    first = await scored(await asked("red boat", [0.9, 0.1]), await candidates("red", "boat"))
    red, boat = (score for score in first if score is not None)
    assert red > boat


async def test_what_cannot_be_told_is_none() -> None:
    scores = await scored(await asked("red boat"), await candidates(None, "red", "...", None))
    assert [value is None for value in scores] == [True, False, True, True]
    assert await scored(await asked("red"), await candidates(None)) == [None]
    assert await scored(await asked("red"), []) == []


async def test_without_token_vectors_nothing_can_be_told() -> None:
    without = EncodedQuestion(np.ones(3, dtype=np.float32), None, ())
    for encoded in (None, without):
        question = WeightedQuestion("red", encoded, np.zeros(0, dtype=np.float32))
        assert await scored(question, await candidates("red", "boat")) == [None, None]
    assert await scored(await asked("?!"), await candidates("red")) == [None]


words = st.sampled_from(["red", "boat", "harbour", "evening", "quiet"])


@given(st.lists(words, min_size=1, max_size=4), st.lists(st.lists(words, max_size=5), max_size=5))
async def test_scores_equal_a_naive_loop(question_words: list[str], texts: list[list[str]]) -> None:
    question = await asked(" ".join(question_words))
    shown = await candidates(*map(" ".join, texts))
    scores = await scored(question, shown)
    assert question.encoded is not None
    assert question.encoded.tokens is not None
    for candidate, value in zip(shown, scores, strict=True):
        if candidate.tokens is None or not len(candidate.tokens):
            assert value is None
            continue
        best = [
            max(float(token @ one) / 127 for one in candidate.tokens) for token in question.encoded.tokens
        ]
        assert value == pytest.approx(min(float(np.dot(best, question.weights)), 1.0), abs=1e-4)
