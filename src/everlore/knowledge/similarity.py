"""When two memories say the same: similar in meaning, and equal in all that meaning blurs."""

import hashlib
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from everlore.text.folding import fold
from everlore.text.lexicon import words as listed_words
from everlore.text.words import LITTLE, listed, root, words

_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_NAME = re.compile(r"(?<![.!?…]\s)(?<!^)\b[A-ZÀ-Þ][\w'’-]+")
_NEGATION = re.compile(
    r"\b(?:not|no|never|nobody|nothing|none|neither|nor|without|hate|dislike|stopped|quit|nunca|jamás|ningun[oa]?|sin|nicht"
    r"|kein\w*|nie|pas|jamais)\b|n['’]t\b",
    re.IGNORECASE,
)
# What is wished for, was once or may be is another claim than what is.
_STATUS = frozenset(map(fold, listed_words("status")))
_SUBJECTS = listed("i we he she they you")
# Where these stand, what comes first matters.
_COMPARES = re.compile(
    r"\b(?:than|prefer\w*|rather|instead|over|from|before|after|más que|prefiero|antes|después|desde)\b",
    re.IGNORECASE,
)
# Words that change nothing about what is claimed.
_LIGHT = listed_words("light")
# The same where words are counted one by one; but those of direction and degree weigh.
_WEIGHTLESS = (_LIGHT | LITTLE | listed("currently usually regularly actually told said")) - listed(
    "into onto out off over up down after before without between more most less not no never"
)
_SHORTENED = re.compile(r"['’](?:m|s|re|ve|ll|d)$")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosines of one embedding model: from `same` on two texts that make equal claims say the same; from `overlap` on one
    that holds every word of the other says it more fully."""

    same: float
    overlap: float


# Calibrated per model (scripts/calibrate_similarity.py). What is not listed gets what was published for larger models.
CALIBRATED = {"all-MiniLM-L6-v2": Thresholds(same=0.80, overlap=0.60)}
DEFAULT = Thresholds(same=0.85, overlap=0.80)


def thresholds_of(model: str | None) -> Thresholds:
    return next((t for name, t in CALIBRATED.items() if model is not None and name in model), DEFAULT)


def content_hash(author: str | None, content: str) -> bytes:
    """Of what is claimed and by whom: "I like tea" means something else in another mouth."""
    said = f"{fold(author or '')}\0{' '.join(words(content))}"
    return hashlib.sha256(said.encode()).digest()


def equal_claims(one: str, other: str) -> bool:
    """Whether two texts agree in what no embedding tells apart: numbers, names, and yes or no."""
    return (
        set(_NUMBER.findall(one)) == set(_NUMBER.findall(other))
        and bool(_NEGATION.search(one)) == bool(_NEGATION.search(other))
        and _names(one) == _names(other)
    )


def adds_nothing(new: str, known: str) -> bool:
    """Whether every word of weight in `new` stands in `known`, up to endings; what is compared, in the same order.

    No embedding tells "left" from "right", or "trains to planes" from "planes to trains".
    """
    mine, theirs = _roots(new), _roots(known)
    if not set(mine) <= set(theirs) or _status(new) != _status(known):
        return False
    return not _COMPARES.search(new) or [one for one in theirs if one in mine] == mine


def holds_all_of(fuller: str, other: str) -> bool:
    """Whether every word of weight in `other` stands in `fuller`, which says more of the same subject."""
    all_mine, all_theirs = set(words(fuller)), set(words(other))
    mine, theirs = all_mine - _LIGHT, all_theirs - _LIGHT
    same_kind = (
        all_theirs & _SUBJECTS <= all_mine
        and _status(fuller) == _status(other)
        and bool(_NEGATION.search(fuller)) == bool(_NEGATION.search(other))
    )
    return bool(theirs) and theirs < mine and same_kind


def cosine(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / length if length else 0.0


def shared_words(one: str, other: str) -> float:
    """The share of words of weight that two texts have in common (Jaccard): what is compared where there are no vectors."""
    mine, theirs = set(words(one)) - _LIGHT, set(words(other)) - _LIGHT
    return len(mine & theirs) / len(mine | theirs) if mine | theirs else 0.0


def _roots(text: str) -> list[str]:
    bare = (_SHORTENED.sub("", word) for word in words(text))
    return [root(word) for word in bare if word not in _WEIGHTLESS]


def _status(text: str) -> frozenset[str]:
    return _STATUS & set(words(text))


def _names(text: str) -> set[str]:
    return {fold(name).removesuffix("'s") for name in _NAME.findall(text)}
