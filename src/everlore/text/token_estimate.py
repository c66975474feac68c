"""How many tokens an ordinary text has at the most, where the reader's own tokenizer is not known.

Byte pairs and wordpieces of today's models make fewer of English: they keep common words whole, and cut others every three
letters or later. What they cut finely is counted finely: digits, signs, mixed case, letters of other scripts, emoji. What they
cut as finely although it looks like English is not: unusual names, and languages that they were not made for.
"""

import re

# Letters of a script; digits; blanks in a row; line breaks; all else, sign by sign. A blank before a digit is a token of its own.
_PIECE = re.compile(
    r"(?P<number> \d)|(?P<ascii>[A-Za-z]+)|(?P<blank>[ \t]+)|(?P<letters>[^\W\d_]+)|(?P<sign>.)", re.DOTALL
)
_VOWELS = frozenset("aeiouyAEIOUY")
# Latin, Greek and Cyrillic with all their accents end here: what lies beyond has its letters cut one by one.
_LAST_ALPHABET = 0x052F
_SHORT_WORD, _LONG_WORD = 5, 20


def estimated_tokens(text: str) -> int:
    """An upper estimate, never 0 for a text that says something."""
    return sum(map(_piece, _PIECE.finditer(text)))


def _piece(match: re.Match[str]) -> int:
    piece = match[0]
    match match.lastgroup:
        case "number":
            return 2
        case "ascii":
            return _word(piece)
        case "blank":
            # One blank belongs to the word behind it; each more, and a tab, may be a token.
            return (len(piece) - 1) if piece[0] == " " else len(piece)
        case "letters":
            return sum(map(_letter, piece))
        case _:
            return 1 if piece.isascii() else len(piece.encode("utf-8", "replace"))


def _word(word: str) -> int:
    """A short word whole, a longer one in pieces of three letters, other runs (`xK`, base64) in pieces of one and a half."""
    plain = word.islower() or word.istitle() or len(word) == 1
    if plain and len(word) < _LONG_WORD and (len(word) < 4 or _VOWELS & set(word)):
        return 1 if len(word) <= _SHORT_WORD else -(-len(word) // 3)
    return -(-2 * len(word) // 3)


def _letter(letter: str) -> int:
    return 1 if letter.isascii() or ord(letter) <= _LAST_ALPHABET else 2
