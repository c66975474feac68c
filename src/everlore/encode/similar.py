"""When two memories say the same: similar in meaning, and equal in all that meaning blurs."""

import hashlib
import re
import unicodedata
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_NAME = re.compile(r"(?<![.!?…]\s)(?<!^)\b[A-ZÀ-Þ][\w'’-]+")
_NEGATION = re.compile(
    r"\b(?:not|no|never|nobody|nothing|none|neither|nor|without|hate|dislike|stopped|quit|nunca|jamás|ningun[oa]?|sin|nicht"
    r"|kein\w*|nie|pas|jamais)\b|n['’]t\b",
    re.IGNORECASE,
)
# Words that change nothing about what is claimed.
_LIGHT_WORDS = (
    "a an the and or but so of to in on at for with by from is are am was were be been being it this that these those i my "
    "me we our you your he she they his her their do does did have has had really very just also too quite oh well actually "
    "el la los las un una y o de en que es son soy mi yo muy"
)
_LIGHT = frozenset(_LIGHT_WORDS.split())


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosines of one embedding model: from `same` on two texts that make equal claims say the same; from `overlap` on one
    that holds every word of the other says it more fully."""

    same: float
    overlap: float


# Calibrated per model (docs/decisions); what is not listed gets the thresholds that were published for larger models.
CALIBRATED = {"all-MiniLM-L6-v2": Thresholds(same=0.90, overlap=0.75)}
DEFAULT = Thresholds(same=0.85, overlap=0.80)


def thresholds_of(model: str | None) -> Thresholds:
    return next((t for name, t in CALIBRATED.items() if model is not None and name in model), DEFAULT)


def words(text: str) -> list[str]:
    """Lower case, no accents, in order."""
    folded = unicodedata.normalize("NFKD", text.lower())
    plain = "".join(character for character in folded if not unicodedata.combining(character))
    return _WORD.findall(plain)


def content_hash(author: str | None, content: str) -> bytes:
    """Of what is claimed and by whom: "I like tea" means something else in another mouth."""
    said = f"{(author or '').casefold()}\0{' '.join(words(content))}"
    return hashlib.sha256(said.encode()).digest()


def equal_claims(one: str, other: str) -> bool:
    """Whether two texts agree in what no embedding tells apart: numbers, names, and yes or no."""
    return (
        set(_NUMBER.findall(one)) == set(_NUMBER.findall(other))
        and bool(_NEGATION.search(one)) == bool(_NEGATION.search(other))
        and _names(one) == _names(other)
    )


def holds_all_of(fuller: str, other: str) -> bool:
    """Whether every word of weight in `other` stands in `fuller`, which says more."""
    mine, theirs = set(words(fuller)) - _LIGHT, set(words(other)) - _LIGHT
    return bool(theirs) and theirs < mine and bool(_NEGATION.search(fuller)) == bool(_NEGATION.search(other))


def cosine(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / length if length else 0.0


def shared_words(one: str, other: str) -> float:
    """The share of words of weight that two texts have in common (Jaccard): what is compared where there are no vectors."""
    mine, theirs = set(words(one)) - _LIGHT, set(words(other)) - _LIGHT
    return len(mine & theirs) / len(mine | theirs) if mine | theirs else 0.0


def _names(text: str) -> set[str]:
    return {name.casefold().removesuffix("'s").removesuffix("’s") for name in _NAME.findall(text)}
