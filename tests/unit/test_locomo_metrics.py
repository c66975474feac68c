"""The figures of the benchmark, against values worked out by hand."""

import math

import pytest

from everlore.capture.importers import LocomoConversation, LocomoSession
from everlore.domain.messages import NewMessage
from everlore.evaluation.locomo import Answer, Result, confidence_auc, gold_questions, ndcg, support_auc


def answer(category: int, gold: int, *ranks: int, confidence: float = 0.5, latency_ms: float = 1.0) -> Answer:
    return Answer(category, gold, ranks, (confidence,), latency_ms)


def test_ndcg_of_hand_computed_rankings() -> None:
    assert ndcg([0], 1, 10) == 1
    assert ndcg([], 1, 10) == 0
    assert ndcg([1], 1, 10) == pytest.approx(1 / math.log2(3))
    assert ndcg([10], 1, 10) == 0  # the eleventh place
    # two of three found, at places 1 and 4: (1 + 1/log2 5) / (1 + 1/log2 3 + 1/2)
    assert ndcg([0, 3], 3, 10) == pytest.approx((1 + 0.430677) / (1 + 0.630930 + 0.5), abs=1e-5)
    assert ndcg(range(10), 25, 10) == 1  # no more than ten can be among the first ten


def test_recall_and_hits_are_averaged_over_questions() -> None:
    result = Result([answer(1, 2, 0, 7), answer(2, 1, 30), answer(2, 1)])
    summary = result.summary()
    assert summary["recall"] == {
        "1": pytest.approx(0.5 / 3, abs=1e-4),
        "5": pytest.approx(0.5 / 3, abs=1e-4),
        "10": pytest.approx(1 / 3, abs=1e-4),
        "20": pytest.approx(1 / 3, abs=1e-4),
        "50": pytest.approx(2 / 3, abs=1e-4),
    }
    assert summary["hit"]["1"] == pytest.approx(1 / 3, abs=1e-4)
    assert summary["hit"]["50"] == pytest.approx(2 / 3, abs=1e-4)
    assert summary["questions"] == 3
    assert summary["by_category"]["2"]["questions"] == 2
    assert summary["by_category"]["2"]["recall"]["50"] == 0.5
    assert summary["confidence_auc"] is None


def test_what_was_never_said_gives_the_auc() -> None:
    answers = [
        answer(1, 1, 0, confidence=0.9),
        answer(1, 1, 0, confidence=0.4),
        answer(5, 1, 3, confidence=0.4),
    ]
    summary = Result(answers).summary()
    assert summary["recall"]["1"] == pytest.approx(2 / 3, abs=1e-4)
    assert summary["by_category"]["1"]["recall"]["1"] == 1
    assert summary["confidence_auc"] == 0.75  # one win, one tie
    assert summary["questions"] == 3
    assert confidence_auc(answers[:2]) is None
    assert confidence_auc(answers[2:]) is None
    alone = Result(answers[2:]).summary()
    assert (alone["recall"]["1"], alone["recall"]["5"]) == (0, 1)


def test_latencies() -> None:
    summary = Result([answer(1, 1, latency_ms=float(ms)) for ms in range(1, 102)]).summary()
    assert summary["latency_ms"]["p50"] == 51
    assert summary["latency_ms"]["p95"] == pytest.approx(96, abs=1)
    assert Result([answer(1, 1, latency_ms=3.0)]).summary()["latency_ms"] == {"p50": 3.0, "p95": 3.0}


def test_gold_are_turns_that_exist() -> None:
    turns = [NewMessage(role="user", text="x", external_id=turn) for turn in ("D8:6", "D9:17", "D1:1")]
    conversation = LocomoConversation(
        "c1",
        (LocomoSession("session 1", tuple(turns)),),
        (
            {"question": "two in one", "category": 1, "evidence": ["D8:6; D9:17"]},
            {"question": "one of two exists", "category": 2, "evidence": ["D1:1", "D1:99"]},
            {"question": "none exists", "category": 1, "evidence": ["D2:2", "D", ""]},
            {"question": "no evidence", "category": 1, "evidence": []},
            {"question": "nothing at all", "category": 1},
            {"question": "another category", "category": 5, "evidence": ["D1:1"]},
            {"question": "no list", "category": 1, "evidence": None},
        ),
    )
    assert gold_questions(conversation, (1, 2)) == [
        ("two in one", 1, frozenset({"D8:6", "D9:17"})),
        ("one of two exists", 2, frozenset({"D1:1"})),
    ]
    assert [question for question, _, _ in gold_questions(conversation, (5,))] == ["another category"]


def test_the_ingest_rate_counts_recording_and_indexing() -> None:
    result = Result([answer(1, 1)], turns=100, record_s=1.0, index_s=4.0)
    assert result.summary()["ingest"] == {
        "turns_per_second_recorded": 100.0,
        "turns_per_second_indexed": 20.0,
    }


def test_answers_are_told_from_other_hits_among_the_first_ten() -> None:
    one = Answer(1, 2, (0, 2, 17), (0.9, 0.5, 0.5), 1.0)
    other = Answer(2, 1, (), (0.7,), 1.0)
    never = Answer(5, 1, (0,), (0.1,), 1.0)
    # 0.9 is above 0.5 and 0.7; 0.5 is equal to 0.5 and below 0.7.
    assert support_auc([one, other, never]) == 2.5 / 4
    assert support_auc([other, never]) is None
    assert support_auc([]) is None
