"""BM25 (Robertson and Zaragoza 2009) over the postings of a question, in numpy.

k1 = 0.9 and b = 0.4 are the values of Anserini's BM25 baselines; on short chat turns they beat Lucene's 1.2 and 0.75.
"""

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from everlore.store.postings import LexicalView

_Kind = TypeVar("_Kind", bound=np.generic)
K1 = 0.9
B = 0.4
_CHUNK = 1024


@dataclass(frozen=True, slots=True)
class Lexical:
    """Scores of all passages (index = passage_id), and the parts they were made of, term by term."""

    scores: NDArray[np.float32]
    terms: tuple[str, ...]
    idf: NDArray[np.float64]
    places: tuple[NDArray[np.int64], ...]
    occurrences: tuple[NDArray[np.float32], ...]
    mean_length: float

    def rarity(self, term: str) -> float:
        """The term's inverse document frequency; a term that no passage has is the rarest."""
        return float(self.idf[self.terms.index(term)])

    def counts(self, passage_ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """How often each term occurs in each of the given passages: (passages, terms)."""
        slot = np.full(len(self.scores), -1, dtype=np.int32)
        slot[passage_ids] = np.arange(len(passage_ids), dtype=np.int32)
        matrix = np.zeros((len(passage_ids), len(self.terms)))
        for column, (places, occurrences) in enumerate(zip(self.places, self.occurrences, strict=True)):
            rows = slot[places]
            found = rows >= 0
            matrix[rows[found], column] = occurrences[found]
        return matrix


def score(view: LexicalView) -> Lexical:
    """Score every passage that has a term of the question."""
    mean_length = view.length / view.passages if view.passages else 1.0
    scores = np.zeros(view.last_passage + 1, dtype=np.float32)
    idf: list[float] = []
    all_places: list[NDArray[np.int64]] = []
    all_occurrences: list[NDArray[np.float32]] = []
    for column, term in enumerate(view.tail_terms):
        blocks = [postings for block_term, postings in view.blocks if block_term == term]
        tail = [(number, counts[column], length) for number, length, counts in view.tail if counts[column]]
        places = np.concatenate(
            [postings["passage_id"].astype(np.int64) for postings in blocks] + [_column(tail, 0, np.int64)]
        )
        occurrences = np.concatenate(
            [postings["occurrences"].astype(np.float32) for postings in blocks]
            + [_column(tail, 1, np.float32)]
        )
        lengths = np.concatenate(
            [postings["length"].astype(np.float32) for postings in blocks] + [_column(tail, 2, np.float32)]
        )
        rarity = inverse_document_frequency(view.passages, len(places))
        if len(places):
            saturation = occurrences + np.float32(K1) * (
                np.float32(1 - B) + np.float32(B / mean_length) * lengths
            )
            scores[places] += np.float32(rarity * (K1 + 1)) * occurrences / saturation
        idf.append(rarity)
        all_places.append(places)
        all_occurrences.append(occurrences)
    return Lexical(
        scores, view.tail_terms, np.array(idf), tuple(all_places), tuple(all_occurrences), mean_length
    )


def inverse_document_frequency(passages: int, with_term: int) -> float:
    return math.log(1 + (passages - with_term + 0.5) / (with_term + 0.5))


def window_score(
    counts: NDArray[np.float64], lengths: NDArray[np.float64], idf: NDArray[np.float64], mean_length: float
) -> NDArray[np.float64]:
    """BM25 of texts made of several passages: `counts` (texts, terms) and `lengths` (texts,) are sums over each."""
    saturation = counts + K1 * (1 - B + B * lengths[:, None] / mean_length)
    return (idf * counts * (K1 + 1) / saturation).sum(axis=1)


def best(
    scores: NDArray[np.float32], at_most: int, allowed: NDArray[np.int64] | None = None
) -> list[tuple[int, float]]:
    """The best passages with a score above zero, best first; of equal ones the latest first.

    `allowed` limits the choice. The best of each chunk give a bound that leaves few candidates to sort: finding 50 among a
    million costs half a millisecond instead of eight.
    """
    if allowed is not None:
        places = allowed[scores[allowed] > 0]
    elif len(scores) > at_most * _CHUNK:
        whole = len(scores) // _CHUNK * _CHUNK
        tops = scores[:whole].reshape(-1, _CHUNK).max(axis=1)
        bound = np.partition(tops, len(tops) - at_most)[len(tops) - at_most]
        places = np.flatnonzero(scores >= max(bound, np.float32(1e-9)))
    else:
        places = np.flatnonzero(scores > 0)
    order = np.lexsort((-places, -scores[places]))[:at_most]
    return [(int(places[i]), float(scores[places[i]])) for i in order]


def _column(rows: list[tuple[int, int, int]], column: int, kind: type[_Kind]) -> NDArray[_Kind]:
    return np.array([row[column] for row in rows], dtype=kind)
