"""BM25 in numpy equals the formula written out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlore.recall import bm25
from everlore.recall.bm25 import K1, B, best, inverse_document_frequency, score, window_score
from everlore.store.postings import POSTING, LexicalView

TERMS = ("boat", "cat", "dog")
Passage = dict[str, int]


def view(packed: dict[int, Passage], tail: dict[int, Passage], terms: tuple[str, ...] = TERMS) -> LexicalView:
    """What the store reads for a question of these terms; a passage's length is twice its words."""
    everything = {**packed, **tail}

    def length(passage: Passage) -> int:
        return 2 * sum(passage.values()) + 1

    blocks = [
        (term, np.array([(number, p[term], length(p)) for number, p in some if p.get(term)], dtype=POSTING))
        for some in (list(packed.items())[::2], list(packed.items())[1::2])  # two segments
        for term in terms
    ]
    return LexicalView(
        words=tuple((term, term) for term in terms),
        blocks=tuple((term, block) for term, block in blocks if len(block)),
        tail_terms=tuple(sorted(terms)),
        tail=tuple(
            (number, length(p), [p.get(term, 0) for term in sorted(terms)]) for number, p in tail.items()
        ),
        passages=len(everything),
        length=sum(map(length, everything.values())),
        last_passage=max(everything, default=0),
    )


def by_hand(everything: dict[int, Passage], terms: tuple[str, ...]) -> dict[int, float]:
    lengths = {number: 2 * sum(p.values()) + 1 for number, p in everything.items()}
    mean = sum(lengths.values()) / len(lengths)
    scores: dict[int, float] = {}
    for number, passage in everything.items():
        for term in terms:
            if count := passage.get(term, 0):
                having = sum(1 for p in everything.values() if p.get(term))
                idf = math.log(1 + (len(everything) - having + 0.5) / (having + 0.5))
                part = idf * count * (K1 + 1) / (count + K1 * (1 - B + B * lengths[number] / mean))
                scores[number] = scores.get(number, 0) + part
    return scores


passages = st.dictionaries(
    st.integers(1, 60), st.dictionaries(st.sampled_from([*TERMS, "emu"]), st.integers(1, 5)), max_size=20
)


@given(passages, passages)
def test_packed_or_fresh_the_score_is_that_of_the_formula(
    packed: dict[int, Passage], fresh: dict[int, Passage]
) -> None:
    tail = {number: p for number, p in fresh.items() if number not in packed}
    lexical = score(view(packed, tail))
    expected = by_hand({**packed, **tail}, TERMS) if packed or tail else {}
    assert {int(n) for n in np.flatnonzero(lexical.scores)} == set(expected)
    for number, value in expected.items():
        assert lexical.scores[number] == pytest.approx(value, rel=1e-5)


@given(passages)
def test_counts_are_those_of_the_passages_asked_for(packed: dict[int, Passage]) -> None:
    asked = sorted(packed)[::2]
    counts = score(view(packed, {})).counts(np.array(asked, dtype=np.int64))
    assert counts.tolist() == [[packed[number].get(term, 0) for term in TERMS] for number in asked]


def test_a_term_that_no_passage_has_is_the_rarest() -> None:
    lexical = score(view({1: {"boat": 1}, 2: {"dog": 1, "boat": 2}}, {}))
    assert lexical.rarity("cat") > lexical.rarity("dog") > lexical.rarity("boat") > 0
    assert lexical.rarity("cat") == inverse_document_frequency(2, 0)


def test_an_empty_workspace_has_no_scores() -> None:
    lexical = score(view({}, {}))
    assert lexical.scores.tolist() == [0]
    assert best(lexical.scores, 10) == []


def test_occurrences_and_lengths_use_their_two_bytes_unsigned() -> None:
    block = np.frombuffer((70_000).to_bytes(4, "big") + b"\xff\xff" + b"\xff\xff", POSTING)
    assert block.tolist() == [(70_000, 65_535, 65_535)]


@pytest.mark.parametrize("chunk", [1, 4, 1024])
@given(
    st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0, 7.25]), max_size=60),
    st.integers(1, 8),
    st.none() | st.sets(st.integers(0, 59)),
)
def test_best_is_the_head_of_a_full_sort(
    chunk: int, values: list[float], at_most: int, allowed: set[int] | None
) -> None:
    scores = np.array(values, dtype=np.float32)
    among = (
        range(len(values)) if allowed is None else [place for place in sorted(allowed) if place < len(values)]
    )
    expected = sorted(((p, values[p]) for p in among if values[p] > 0), key=lambda pair: (-pair[1], -pair[0]))
    chosen = None if allowed is None else np.array(among, dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25, "_CHUNK", chunk)
        assert best(scores, at_most, chosen) == expected[:at_most]


def test_best_among_a_million_is_exact() -> None:
    scores = np.random.default_rng(1).random(1_000_003, dtype=np.float32)
    scores[-1] = 2
    assert [place for place, _ in best(scores, 50)] == np.lexsort((-np.arange(len(scores)), -scores))[
        :50
    ].tolist()


def test_a_window_of_one_passage_has_the_passage_s_score() -> None:
    packed = {1: {"boat": 2}, 2: {"cat": 1, "dog": 3}, 3: {"emu": 1}}
    seen = view(packed, {})
    lexical = score(seen)
    numbers = np.array([1, 2, 3])
    lengths = np.array([5.0, 9.0, 3.0])
    alone = window_score(lexical.counts(numbers), lengths, lexical.idf, lexical.mean_length)
    assert alone == pytest.approx(lexical.scores[numbers], rel=1e-5)
