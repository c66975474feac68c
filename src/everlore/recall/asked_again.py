"""A question is no answer: messages that ask what the question asks, and say nothing else.

A light rule, which knows no language: a message that ends with a question, holds most of what the question says, and is hardly
longer. "I signed up yesterday. And you, when did you sign up?" says more, and stays.
"""

import numpy as np
from numpy.typing import NDArray

from everlore.recall.request import Request
from everlore.store.recall import Surroundings

# So much of the question's words, each counted by its rarity, stands in a message that asks the same ...
_SAME = 0.6
# ... and it has at most so many times as many words, its author's name included. (On the development conversations of
# docs/path.md three of the 69 such messages among the first ten hits are named as answers.)
_AS_LONG = 2


def asked_again(request: Request, candidates: Surroundings, counts: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which candidates ask the same as the question; none where it is about what was asked. `counts` says how often each term
    of the question occurs in each."""
    rarity = request.lexical.idf
    if request.plan.about_asking or not rarity.any():
        return np.zeros(len(candidates.asks), dtype=np.bool_)
    shared = (counts > 0) @ rarity / rarity.sum()
    as_long = candidates.lengths <= _AS_LONG * len(request.view.words)
    return candidates.asks & (shared >= _SAME) & as_long
