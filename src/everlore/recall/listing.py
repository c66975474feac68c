"""What is listed of the layers beside what was said: only what has enough support, however important it is otherwise."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from everlore.domain.recall import Support
from everlore.recall.names import people
from everlore.recall.request import Near, Request
from everlore.recall.support import of_words, support
from everlore.text.words import tokens

# Names of somebody or something in a question, each with its words.
Names: TypeAlias = Sequence[frozenset[str]]

# What a word counts at least, and what one that nothing distilled has.
_COMMON, _UNHEARD = 1.0, 0.5
# Late interaction of words that are not covered, from which on a passage is about what they mean. (Measured with the bundled
# model: "Bob's job" and "Bob works as a nurse" 0.64, "Bob's hobbies" and "Bob plays chess" 0.25. What is listed wrongly costs
# less than what is missing.)
_NEAR = 0.25


def supports(request: Request, found: Near, places: Sequence[int]) -> list[Support]:
    """The support of candidates, as of messages but forgiving where little is known (`_weights`). Whose words they are does not
    count here."""
    lexical = found.lexical
    weights = _weights(request, found)
    return [
        support(
            request.view.words,
            weights,
            frozenset(lexical.terms[column] for column in np.flatnonzero(found.counts[place]).tolist()),
            "unknown",
            found.late.get(int(found.candidates.passage_ids[place])),
        )
        for place in places
    ]


def supported(request: Request, found: Near, kind: str) -> dict[int, tuple[int, Support]]:
    """Passages of a kind that are near enough to the question to be listed, with their place."""
    names = _names_asked(request)
    numbers: list[int] = found.candidates.passage_ids.tolist()
    floor = request.settings.memory_floor
    places = [
        place
        for place, confidence in enumerate(_confidences(request, found))
        if found.candidates.kinds[place] == kind and confidence >= floor
    ]
    return {
        numbers[place]: (place, one)
        for place, one in zip(places, supports(request, found, places), strict=True)
        if _says_more(request, found, one, names)
    }


def _confidences(request: Request, found: Near) -> list[float]:
    """The confidence of each candidate's support, all at once: the reasons are only made for those that are listed."""
    weights = np.array(list(_weights(request, found).values()))
    covered = (found.counts > 0) @ weights
    shares: list[float] = (covered / weights.sum() if weights.sum() > 0 else covered).tolist()
    numbers: list[int] = found.candidates.passage_ids.tolist()
    return [
        round(of_words(share, found.late.get(number)), 4)
        for share, number in zip(shares, numbers, strict=True)
    ]


def _says_more(request: Request, found: Near, believed: Support, names: Names) -> bool:
    """Whether it says more of what is asked than a name: another word of the question, a second name, or something near to
    the words that it lacks. Without that, all that is known of Bob would answer whatever is asked about him."""
    covered = set(believed.covered)
    asked = {word for word, term in request.view.words if term is not None} - _of_time(request)
    asked = asked.difference(*names)
    if not asked or asked & covered or sum(1 for name in names if name & covered) > 1:
        return True
    if believed.late_interaction is None:
        return False
    # Late interaction is a mean over the words of the question, and 1 for those that are covered.
    rarity = {word: found.lexical.rarity(term) for word, term in request.view.words if term is not None}
    total = sum(rarity[word] for word in (*believed.covered, *believed.missing))
    share = sum(rarity[word] for word in covered) / max(total, 1e-9)
    return believed.late_interaction - share >= _NEAR * (1 - share)


def _names_asked(request: Request) -> Names:
    """Names of somebody or something in the question, each with its words: those with a capital within it, and what people
    are called who are known."""
    question = request.ask.question
    written = tokens(question)
    called = people(request.called, request.runs)
    names: list[set[str]] = []
    last = -1
    for at, (start, end, word) in enumerate(written):
        if word in called or (at and question[start].isupper()):
            if names and question[last:start].isspace():
                names[-1].add(word)
            else:
                names.append({word})
            last = end
    return [frozenset(name) for name in names]


def _of_time(request: Request) -> set[str]:
    return {word.text for span in request.plan.times for word in tokens(span.text)}


def _weights(request: Request, found: Near) -> dict[str, float]:
    """What each term of the question counts: its rarity, but terms that nothing distilled has count less, common ones not much
    less than rare ones, and those that name a time nothing (that is compared apart)."""
    lexical = found.lexical
    of_time = _of_time(request)
    counted = {term for word, term in request.view.words if word not in of_time}
    return {
        term: 0.0 if term not in counted else max(float(idf), _COMMON) if len(places) else _UNHEARD
        for term, idf, places in zip(lexical.terms, lexical.idf, lexical.places, strict=True)
    }
