"""Words: one splitter, one stemmer, and the small classes of words that carry little.

Two policies. Search splits as Postgres does: `tokens` are runs of letters and digits, and `stem` is the algorithm of its terms.
What is claimed is compared more closely and more generously at once: in `words` "don't" is one word (a denial must not get
lost), and `root` sees one word in "bought" and "buy", "mum" and "mother".
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, cast

from Stemmer import Stemmer  # pyright: ignore[reportUnknownVariableType]

from everlore.text.folding import fold, lowered
from everlore.text.lexicon import forms
from everlore.text.lexicon import words as listed_words

# Superscripts, fractions and circled digits are no letters or digits to Postgres.
_TOKEN = re.compile(r"[^\W_\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u209f\u2150-\u2189\u2460-\u24ff]+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")
_stem = cast("Callable[[str], str]", Stemmer("english").stemWord)  # pyright: ignore[reportUnknownMemberType]


def listed(written: str) -> frozenset[str]:
    """A class of words, folded, from one line of them."""
    return frozenset(map(fold, written.split()))


# Words that say little about what a sentence tells: two sentences that share only these share nothing.
LITTLE = frozenset(map(fold, listed_words("little")))
NEGATIONS = frozenset(map(fold, listed_words("negations")))


class Token(NamedTuple):
    """Characters `start` to `end` of a text, and the folded word that stands there."""

    start: int
    end: int
    text: str


def tokens(text: str) -> list[Token]:
    """The runs of letters and digits, as the database's normal form has them."""
    return [Token(match.start(), match.end(), fold(match[0])) for match in _TOKEN.finditer(text)]


def in_a_row(text: str) -> str:
    """The words of a text in lower case, with single blanks around and between them: a text that holds another's says the same
    word for word. Nothing is kept of it, however long it is."""
    return f" {' '.join(_TOKEN.findall(lowered(text)))} "


@lru_cache(maxsize=2_000)
def words(text: str) -> tuple[str, ...]:
    """The folded words of a text in order; a contraction is one word, a possessive 's is left out."""
    return tuple(fold(match[0]).removesuffix("'s") for match in _WORD.finditer(text))


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The stem of a folded word, in the English algorithm of Snowball: what the database makes terms of.

    Postgres stems no word with a digit, and its version of the algorithm keeps two letters behind a first vowel ("adding").
    """
    if any(map(str.isdigit, word)):
        return word
    found = _stem(word)
    doubled = len(found) == 2 and found[0] in "aeo" and word[2:3] == found[1]
    return found + found[1] if doubled else found


@lru_cache(maxsize=20_000)
def root(word: str) -> str:
    """The stem of the basic form: irregular forms, short forms and words of the same meaning are one."""
    return stem(forms("roots").get(word, word))


def roots(text: str) -> frozenset[str]:
    return frozenset(map(root, words(text)))


def telling(text: str) -> frozenset[str]:
    """Roots of the words of a text that say something; numbers are held against numbers, not here."""
    return frozenset(
        root(word)
        for word in words(text)
        if word not in LITTLE
        and (len(word) > 2 or not word.isascii())
        and not any(one.isdigit() for one in word)
    )


def alike(one: str, others: frozenset[str]) -> bool:
    """Whether a root is among others, or shares all but the ending with one of them ("paint", "painter")."""
    if one in others:
        return True
    return len(one) >= 5 and any(
        other[: len(one) - 1] == one[: len(other)][: len(one) - 1] for other in others if len(other) >= 5
    )
