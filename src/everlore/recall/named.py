"""What counts where the question names an author of messages: the conversation around a message answers with it.

People who talk with each other answer questions, and say a thing in several turns. On chats of one person with an assistant,
whose questions name nobody, the same would cost 2 to 7 points (docs/path.md): so it counts only here.
"""

import numpy as np
from numpy.typing import NDArray

from everlore.ports.reranker import Matches
from everlore.recall import fuse
from everlore.recall.authors import authors_named
from everlore.recall.fuse import Scores
from everlore.recall.names import authors_called
from everlore.recall.request import Request
from everlore.store.recall import Surroundings
from everlore.text.words import tokens

# What a word counts that stands in a neighbour so far away, on either side (measured: docs/path.md).
_OF_NEIGHBOURS = (0.9, 0.85)


def named_authors(request: Request, candidates: Surroundings) -> frozenset[str]:
    """Whom of the candidates' authors the question names. Who is known by role alone has no name."""
    authors = {
        author for author, role in zip(candidates.authors, candidates.roles, strict=True) if author != role
    }
    if not authors:
        return frozenset()
    common = {word for word, term in request.view.words if term is None}
    dated = {word.text for span in request.plan.times for word in tokens(span.text)}
    also = authors_called(request.called, request.runs, authors)
    return authors_named(request.ask.question, authors, common, dated, also)


def window_matches(candidates: Surroundings, matches: Matches, reach: int) -> list[Matches]:
    """Each candidate's matches alone, then with its neighbours up to 1, 2 away, where each word finds its best counterpart."""
    widths = [matches]
    for distance, share in enumerate(_OF_NEIGHBOURS[:reach], start=1):
        earlier, later = fuse.neighbours(candidates, distance)
        best = widths[-1].copy()
        best[earlier] = np.maximum(best[earlier], share * matches[later])
        best[later] = np.maximum(best[later], share * matches[earlier])
        widths.append(best)
    return widths


def window_signal(
    candidates: Surroundings,
    matches: Matches,
    weights: NDArray[np.float32],
    known: NDArray[np.bool_],
    reach: int,
) -> Scores:
    """Late interaction of each passage and of its windows, each scaled, then averaged. `matches` is (candidates, tokens of the
    question); what was not reranked (`known` is False) has the lowest."""
    widths = [
        fuse.with_unknown(np.where(known, best @ weights, np.nan))
        for best in window_matches(candidates, matches, reach)
    ]
    return np.mean(widths, axis=0)


def answered(candidates: Surroundings, scores: Scores) -> Scores:
    """For each candidate the score of the passage before it, if another person asks there; else 0."""
    authors = np.array(candidates.authors)
    asked, answer = fuse.neighbours(candidates, 1)
    met = candidates.asks[asked] & (authors[asked] != authors[answer])
    lent = np.zeros_like(scores)
    lent[answer[met]] = scores[asked[met]]
    return lent


def session_signal(candidates: Surroundings, matches: Matches, weights: NDArray[np.float32]) -> Scores:
    """Late interaction of each candidate's session as a whole, where each word finds its best counterpart; scaled."""
    best = np.zeros((int(candidates.session.max(initial=-1)) + 1, matches.shape[1]), matches.dtype)
    np.maximum.at(best, candidates.session, matches)
    return fuse.scaled((best @ weights).astype(np.float64))[candidates.session]
