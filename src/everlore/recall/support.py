"""Support: why something is believed. Reasons that a person can check, and one number; no probability.

The number of a message is that of `everlore.recall.evidence`: it takes the rank along. What is known beside what was said has no
rank among messages; its number is built from what has a meaning:

    confidence = (0.6 x rare words covered + 0.4 x late interaction) x (0.75 if another person speaks than the one asked about)

Rare words covered: the share of the question's words, each counted by its inverse document frequency, that it says. Late
interaction is stretched from 0.3-0.9 (what unrelated and equal texts reach) to 0-1. Where it was not computed its share is
missing, so that the numbers of one recall compare.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from everlore.domain.recall import Support

Speaker: TypeAlias = Literal["asked about", "another", "unknown"]

_WORDS, _LATE = 0.6, 0.4
_LATE_LOW, _LATE_HIGH = 0.3, 0.9
_ANOTHER_SPEAKER = 0.75
# Late interaction from which on a text comes near to a question whose words it lacks (unrelated ones reach 0.45).
_NEAR = 0.6


@dataclass(frozen=True, slots=True)
class Covered:
    """Words of the question that a text has and lacks, the rarest first; `share` of them, counted by rarity, is covered."""

    covered: tuple[str, ...]
    missing: tuple[str, ...]
    share: float


def words_covered(
    question_words: Sequence[tuple[str, str | None]], rarity: Mapping[str, float], present: frozenset[str]
) -> Covered:
    """`question_words` with their terms (None: a stop word); `present` holds the terms that the text has."""
    word_of = {term: word for word, term in reversed(question_words) if term is not None}
    by_rarity = sorted(word_of, key=lambda term: -rarity[term])
    covered = [term for term in by_rarity if term in present]
    total = sum(rarity[term] for term in by_rarity)
    return Covered(
        covered=tuple(word_of[term] for term in covered),
        missing=tuple(word_of[term] for term in by_rarity if term not in present),
        share=sum(rarity[term] for term in covered) / total if total else 0.0,
    )


def support(
    question_words: Sequence[tuple[str, str | None]],
    rarity: Mapping[str, float],
    present: frozenset[str],
    speaker: Speaker,
    late_interaction: float | None,
    confidence: float | None = None,
    more: Iterable[str] = (),
) -> Support:
    """The support of a text. `confidence` is given for what has a rank, else made of words and meaning; `more` are reasons
    beside those of its words."""
    words = words_covered(question_words, rarity, present)
    if confidence is None:
        confidence = of_words(words.share, late_interaction)
        if speaker == "another":
            confidence *= _ANOTHER_SPEAKER
    return Support(
        confidence=round(confidence, 4),
        covered=words.covered,
        missing=words.missing,
        speaker=speaker,
        late_interaction=late_interaction,
        reasons=(*_of_words(words, late_interaction), *_of_speaker(speaker), *more),
    )


def of_words(share: float, late_interaction: float | None) -> float:
    """From the share of the question's words that are covered, and late interaction."""
    if late_interaction is None:
        return _WORDS * share
    stretched = min(max((late_interaction - _LATE_LOW) / (_LATE_HIGH - _LATE_LOW), 0.0), 1.0)
    return _WORDS * share + _LATE * stretched


def _of_words(words: Covered, late_interaction: float | None) -> list[str]:
    reasons: list[str] = []
    if words.covered:
        reasons.append(f"says {', '.join(words.covered)}")
    if words.missing and late_interaction is not None and late_interaction >= _NEAR:
        reasons.append("comes near in meaning")
    if words.missing:
        reasons.append(f"does not say {', '.join(words.missing)}")
    return reasons


def _of_speaker(speaker: Speaker) -> list[str]:
    said = {
        "asked about": "said by whom the question names",
        "another": "said by another than the question names",
    }
    return [said[speaker]] if speaker in said else []
