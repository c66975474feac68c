"""Support: why a hit is believed. Reasons that a person can check, and one number made of them; no probability.

Measured: no raw score separates "never said" from "said" across data sets, so the number is built from what has a meaning:

    confidence = (0.6 x rare words covered + 0.4 x late interaction) x (0.75 if another person speaks than the one asked about)

Rare words covered: the share of the question's words, each counted by its inverse document frequency, that the message says.
Late interaction is stretched from 0.3-0.9 (what unrelated and equal texts reach) to 0-1. Where it was not computed its
share is missing, so that the numbers of one recall compare.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from everlore.domain.recall import Support

Speaker: TypeAlias = Literal["asked about", "another", "unknown"]

_WORDS, _LATE = 0.6, 0.4
_LATE_LOW, _LATE_HIGH = 0.3, 0.9
_ANOTHER_SPEAKER = 0.75


def support(
    question_words: Sequence[tuple[str, str | None]],
    rarity: Mapping[str, float],
    present: frozenset[str],
    speaker: Speaker,
    late_interaction: float | None,
) -> Support:
    """`question_words` with their terms (None: a stop word); `present` holds the terms that the hit has."""
    word_of = {term: word for word, term in reversed(question_words) if term is not None}
    by_rarity = sorted(word_of, key=lambda term: -rarity[term])
    covered = [term for term in by_rarity if term in present]
    total = sum(rarity[term] for term in by_rarity)
    share = sum(rarity[term] for term in covered) / total if total else 0.0
    believed = confidence(share, late_interaction)
    if speaker == "another":
        believed *= _ANOTHER_SPEAKER
    return Support(
        confidence=round(believed, 4),
        covered=tuple(word_of[term] for term in covered),
        missing=tuple(word_of[term] for term in by_rarity if term not in present),
        speaker=speaker,
        late_interaction=late_interaction,
    )


def confidence(share: float, late_interaction: float | None) -> float:
    """From the share of the question's words that are covered, and late interaction."""
    if late_interaction is None:
        return _WORDS * share
    stretched = min(max((late_interaction - _LATE_LOW) / (_LATE_HIGH - _LATE_LOW), 0.0), 1.0)
    return _WORDS * share + _LATE * stretched
