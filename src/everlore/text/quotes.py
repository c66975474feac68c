"""Finding quoted words in a text again: tolerant of white space, quotation marks, dashes, case, accents and markdown.

Every finding is a span of the text as it is, whatever was folded on the way.
"""

import re
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from everlore.text.folding import fold_in_place
from everlore.text.sentences import sentences
from everlore.text.words import tokens

Span: TypeAlias = tuple[int, int]

# A quote of fewer letters stands in any text, so it proves nothing, unless it is all of it.
LEAST_LETTERS = 4

_DROPPED = frozenset('*_`~\u200b\u200c\u200d\u2060\ufeff\u00ad"“”„«»‹›')
# What a program may not write into JSON, or a model leaves out.
_CONTROL = frozenset(map(chr, (*range(9), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F, 0xFFFE, 0xFFFF)))
_DASHES = frozenset("–—−‐‑")
_GAP = re.compile(r"\s*(?:\.{3,}|…|\[\s*(?:\.{3}|…)\s*\])\s*")
_EDGE = " .,;:!?-'()[]"


class Folded:
    """A text in the form in which quotes are compared, with the place of every character in the original."""

    def __init__(self, text: str) -> None:
        folded: list[str] = []
        places: list[Span] = []
        blank = True
        for start, end, form in fold_in_place(text):
            if text[start] in _DROPPED or text[start] in _CONTROL:
                continue
            form = " " if text[start].isspace() else "-" if text[start] in _DASHES else form
            if form == " " and blank:
                continue
            folded.append(form)
            places += [(start, end)] * len(form)
            blank = form == " "
        self.text = "".join(folded)
        self.places = places

    def find(self, wanted: str) -> Span | None:
        """The first place, at the edges of words, where the folded words stand; as a span of the original."""
        start = self.text.find(wanted)
        while start >= 0:
            if self._at_edges(start, start + len(wanted)):
                return self.places[start][0], self.places[start + len(wanted) - 1][1]
            start = self.text.find(wanted, start + 1)
        return None

    def _at_edges(self, start: int, end: int) -> bool:
        before, after = self.text[start - 1 : start], self.text[end : end + 1]
        cut_before = _cuts(before, self.text[start])
        return not cut_before and not _cuts(self.text[end - 1], after)


# One quote is looked for in all messages of a window, one after the other.
@lru_cache(16)
def _parts(quote: str) -> tuple[str, ...]:
    return tuple(part for part in (Folded(part).text.strip(_EDGE) for part in _GAP.split(quote)) if part)


def find(quote: str, text: str | Folded) -> Span | None:
    """Where the words of `quote` stand in `text`; None if they do not, or are too few to prove anything.

    Words that a quote leaves out ("I moved ... to Porto") may be missing: its parts must stand there in order, near.
    """
    whole = text if isinstance(text, Folded) else Folded(text)
    parts = _parts(quote)
    letters = sum(one.isalnum() for part in parts for one in part)
    if not parts or (
        letters < LEAST_LETTERS and parts != (whole.text.strip(_EDGE),) and not _dense(parts[0])
    ):
        return None
    if len(parts) == 1:
        return whole.find(parts[0])
    spans = [whole.find(part) for part in parts]
    found = [span for span in spans if span is not None]
    in_order = all(one[1] <= other[0] for one, other in pairwise(found))
    if len(found) < len(parts) or not in_order or any(len(part) < LEAST_LETTERS for part in parts):
        return None
    return found[0][0], found[-1][1]


def best_sentence(words: frozenset[str], text: str) -> Span | None:
    """The sentence of `text` that holds most of the (folded) words; None if no sentence holds any."""
    best: tuple[int, int, Span] | None = None
    for sentence in sentences(text):
        held = words & folded_words(sentence.text)
        rank = (len(held), -len(sentence.text), (sentence.start, sentence.end))
        if held and (best is None or rank[:2] > best[:2]):
            best = rank
    return None if best is None else best[2]


def folded_words(text: str) -> frozenset[str]:
    return frozenset(token.text for token in tokens(text))


def _dense(part: str) -> bool:
    """Scripts in which a character is a word."""
    return any(ord(one) >= 0x2E80 for one in part)


def _cuts(one: str, other: str) -> bool:
    """Whether a word goes on from one character to the next; in scripts without blanks it never does."""
    return one.isalnum() and other.isalnum() and ord(one) < 0x2E80 and ord(other) < 0x2E80
