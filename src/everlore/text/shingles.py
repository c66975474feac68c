"""Shingles: what two texts have in common, told from hashes of their runs of words.

A paragraph is known again when it comes back word for word (one hash), or when most runs of three words of it were in what
was handed out (containment, after Broder 1997; all runs are kept, so it is counted and not estimated).
"""

import hashlib
import re
from dataclasses import dataclass

from everlore.text.words import tokens

RUN = 3
# Longer paragraphs are cut, so that one row of hashes stays small.
MAX_WORDS = 200
# Shorter ones are said by people too: alone they prove nothing.
LEAST_WORDS = 6
# From this share of a paragraph's runs of words on it counts as a copy.
COPIED = 0.8

_BREAK = re.compile(r"\n+")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Characters `start` to `end` of a text. `digest`: of its words in order. `shingles`: signed 64-bit hashes of its runs."""

    start: int
    end: int
    words: int
    digest: bytes
    shingles: frozenset[int]


def paragraphs(text: str) -> tuple[Paragraph, ...]:
    """The lines of `text` that hold words, long ones in pieces of at most 200 words."""
    found: list[Paragraph] = []
    begin = 0
    for stop in [match.start() for match in _BREAK.finditer(text)] + [len(text)]:
        words = tokens(text[begin:stop])
        for first in range(0, len(words), MAX_WORDS):
            piece = words[first : first + MAX_WORDS]
            last = first + MAX_WORDS >= len(words)
            start = begin if first == 0 else begin + piece[0].start
            end = stop if last else begin + words[first + MAX_WORDS].start
            found.append(_paragraph(start, end, [word.text for word in piece]))
        begin = stop
    return tuple(found)


def is_copy(paragraph: Paragraph, known: frozenset[int]) -> bool:
    """Whether nearly all runs of words of a paragraph are among the known ones."""
    if paragraph.words < LEAST_WORDS or not paragraph.shingles:
        return False
    return len(paragraph.shingles & known) >= COPIED * len(paragraph.shingles)


def _paragraph(start: int, end: int, words: list[str]) -> Paragraph:
    runs = {" ".join(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}
    shingles = frozenset(int.from_bytes(_hash(run, 8), "big", signed=True) for run in runs)
    return Paragraph(start, end, len(words), _hash(" ".join(words), 32), shingles)


def _hash(text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=size).digest()
