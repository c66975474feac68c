"""Texts cut into passages: the stretches that are embedded, indexed and cited.

Sizes are wordpieces of the embedding model, told by a `count` handed in. Counting is by far the dearest step
(140 microseconds for 400 characters), so a text that cannot be too long is not counted at all, and
`WordCounts` remembers the count of each word.

`count` must keep two promises, which WordPiece tokenizers do: it adds up over white space and punctuation,
and a piece covers at least one code point of the NFD form (a Hangul syllable is up to three pieces).
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from unicodedata import normalize

from everlore.capture.markdown import Block, blocks, plain
from everlore.ports.tokens import Count

# A wordpiece is charged for at most so many characters. Prose has 4 to 5 to the piece, but WordPiece takes an
# unknown word for one piece however long it is: a passage needs a bound in characters too.
_CHARACTERS_A_PIECE = 8

# What a cut costs, by the place after which it is made, as a share of the target: how far a passage may stray
# from the even size to be cut at a better place.
_AFTER_LINE, _AFTER_SENTENCE, _AFTER_WORD = 0.0, 0.2, 0.5


_LONGEST_KNOWN = 40  # characters; longer words hardly ever come back


class WordCounts:
    """A `count` that asks the tokenizer once a word; thirty times faster on the words people really use."""

    def __init__(self, count: Count, *, capacity: int = 100_000) -> None:
        self._count = count
        self._capacity = capacity
        self._known: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        words = text.split()
        try:
            return sum(map(self._known.__getitem__, words))
        except KeyError:
            return sum(map(self._learn, words))

    def _learn(self, word: str) -> int:
        if (pieces := self._known.get(word)) is None:
            pieces = self._count(word)
            if len(self._known) >= self._capacity:
                self._known = {}  # common words are back at once; not cleared, another thread may be reading
            if len(word) <= _LONGEST_KNOWN:
                self._known[word] = pieces
        return pieces


class _Unit(NamedTuple):
    """A stretch that is never cut: length in characters, size in wordpieces, cost of a cut after it."""

    length: int
    size: int
    cost: float


def passages(markdown: str, count: Count, *, target: int = 150, limit: int = 200) -> list[str]:
    """The plain text of `markdown` in passages; a code fence stays whole where it fits into the limit."""
    text = plain(markdown)
    if _fits(text, count, limit):
        return [text] if text else []
    return _cut(blocks(markdown), count, target, limit)


def split(text: str, count: Count, *, target: int = 150, limit: int = 200) -> list[str]:
    """Plain text in passages of about `target` wordpieces, never above `limit`, without a short rest.

    Cut between lines first, then between sentences, then words; only a word that is too long is cut inside.
    Every character but the white space at the cuts is in exactly one passage, in order.
    """
    text = text.strip()
    if _fits(text, count, limit):
        return [text] if text else []
    return _cut([Block(text, code=False)], count, target, limit)


def _cut(found: list[Block], count: Count, target: int, limit: int) -> list[str]:
    text = "\n".join([block.text for block in found])
    units = [unit for block in _ended(found) for unit in _units(block, count, limit)]
    return list(_packed(text, units, target, limit))


# ---- sizes


def _fits(text: str, count: Count, limit: int) -> bool:
    if len(text) > limit * _CHARACTERS_A_PIECE:
        return False
    return _most_pieces(text) <= limit or count(text) <= limit


def _most_pieces(text: str) -> int:
    """What `count` cannot exceed, known without asking it."""
    return len(text) if text.isascii() else len(normalize("NFD", text))


def _whole(text: str, count: Count, most: int) -> _Unit | None:
    """The text as one unit, unless it is larger than `most`."""
    if len(text) > most * _CHARACTERS_A_PIECE:
        return None
    unit = _unit(text, count(text))
    return unit if unit.size <= most else None


def _unit(text: str, pieces: int) -> _Unit:
    return _Unit(len(text), max(pieces, -(-len(text) // _CHARACTERS_A_PIECE)), _cost(text))


def _cost(text: str) -> float:
    if text.endswith("\n"):
        return _AFTER_LINE
    end = text[-8:].rstrip().rstrip(_CLOSERS)[-1:]
    return _AFTER_SENTENCE if end and end in _TERMINATORS else _AFTER_WORD


# ---- units: sentences, whole fences; smaller ones where these are too large

_TERMINATORS = ".!?…;。！？"
_CLOSERS = "\"'”’»)]」』）"
_SENTENCE_END = re.compile(
    rf"\n|[.!?…;][{re.escape(_CLOSERS)}]{{0,3}}\s+|[。！？][{re.escape(_CLOSERS)}]{{0,3}}\s*"
)
# Before a full stop that ends no sentence: an initial, letters with stops between, a common title or
# reference, the number of a list item.
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'“‘])"
    r"(?:(?:[^\W\d_]\.)*[^\W\d_]|dr|mrs?|ms|prof|sr|jr|st|vs|no|nr|fig|vol|pp|cf|ca|approx|bzw|gen|sen|rev|hon)\Z"
    r"|(?:\A|\n)\d{1,3}\Z",
    re.IGNORECASE,
)
_LONGEST_ABBREVIATION = 12  # characters looked at before a full stop
_WORD = re.compile(r"\s*\S+\s*|\s+")


def _ended(found: list[Block]) -> list[Block]:
    """The blocks with the newlines that join them, so that all lengths add up to the whole text."""
    return [Block(block.text + "\n", block.code) for block in found[:-1]] + found[-1:]


def _units(block: Block, count: Count, limit: int) -> Iterator[_Unit]:
    if block.code and (whole := _whole(block.text, count, limit)):
        yield whole
        return
    parts = block.text.splitlines(keepends=True) if block.code else _sentences(block.text)
    for part in _joined(parts, limit // 5):
        if whole := _whole(part, count, limit // 2):
            yield whole
        else:
            *inner, last = _smaller(part, count, limit)
            yield from (
                unit if unit.cost == _AFTER_LINE else unit._replace(cost=_AFTER_WORD) for unit in inner
            )
            yield last


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for end in _SENTENCE_END.finditer(text):
        if not _is_abbreviation(text, end):
            yield text[start : end.end()]
            start = end.end()
    if start < len(text):
        yield text[start:]


def _is_abbreviation(text: str, end: re.Match[str]) -> bool:
    if not end[0].startswith(".") or "\n" in end[0]:
        return False
    stop = end.start()
    return _ABBREVIATION.search(text[max(0, stop - _LONGEST_ABBREVIATION) : stop]) is not None


def _joined(parts: Iterable[str], shortest: int) -> Iterator[str]:
    """Parts of fewer characters go with what follows: the counts stay in proportion to the text."""
    waiting = ""
    for part in parts:
        waiting += part
        if len(waiting) >= shortest:
            yield waiting
            waiting = ""
    if waiting:
        yield waiting


def _smaller(part: str, count: Count, limit: int) -> Iterator[_Unit]:
    """A long sentence or line by its words, a word that is too long by its characters."""
    for words in _joined(_WORD.findall(part), limit // 5):
        if whole := _whole(words, count, limit // 2):
            yield whole
        else:
            yield from _hard(words, limit)


def _hard(text: str, limit: int) -> Iterator[_Unit]:
    """Slices charged with the most they can hold: a part of a word may have more pieces than its share."""
    step = max(1, limit // 4)  # NFD makes at most four code points of one
    for start in range(0, len(text), step):
        chunk = text[start : start + step]
        yield _unit(chunk, _most_pieces(chunk))


# ---- packing


def _packed(text: str, units: list[_Unit], target: int, limit: int) -> Iterator[str]:
    left = sum(unit.size for unit in units)
    first = start = 0
    while first < len(units):
        last = len(units) if left <= limit else _best_cut(units, first, left, target, limit)
        taken = units[first:last]
        end = start + sum(unit.length for unit in taken)
        if passage := text[start:end].strip():
            yield passage
        left -= sum(unit.size for unit in taken)
        first, start = last, end


def _best_cut(units: list[_Unit], first: int, left: int, target: int, limit: int) -> int:
    """Where the next passage ends: near an even share of what is left, at as good a place as is near."""
    share = left / max(round(left / target), -(-left // limit))
    best, best_cost, size = first + 1, float("inf"), 0
    for place in range(first, len(units)):
        size += units[place].size
        if size > limit:
            break
        cost = abs(size - share) + units[place].cost * target
        if cost <= best_cost:
            best, best_cost = place + 1, cost
    return best
