"""One folding: the form in which texts, words and names are compared. Also its weaker sister, lower case with places kept."""

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_APOSTROPHES = str.maketrans(dict.fromkeys("\u2019\u2018\u02bc\u00b4`", "'"))
# What a decomposition does not take apart; the same as the database's normal form.
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h", "ı": "i", "ŀ": "l"}
)


def fold(text: str) -> str:
    """Lower case, straight apostrophes, compatibility forms (ﬁ, ①, full width) as what they stand for, and no accents on Latin
    and Greek letters. Marks that belong to a letter of another script stay. Folding twice changes nothing more."""
    if text.isascii():
        return text.lower().replace("`", "'")
    # Compatibility forms first, then case, then marks: the other way round is not stable.
    plain = unicodedata.normalize("NFKC", text.translate(_APOSTROPHES))
    folded = unicodedata.normalize("NFKC", plain.casefold())
    bare = "".join(_without_accents(unicodedata.normalize("NFD", folded)))
    return unicodedata.normalize("NFC", bare).translate(_LETTERS)


def fold_in_place(text: str) -> Iterator[tuple[int, int, str]]:
    """The folded form of each character with its marks, and from where to where it stands in `text`."""
    start, length = 0, len(text)
    while start < length:
        end = start + 1
        if not text[start].isascii() or (end < length and not text[end].isascii()):
            while end < length and unicodedata.combining(text[end]):
                end += 1
        yield start, end, _fold_once(text[start:end])
        start = end


def lowered(text: str) -> str:
    """`text` in lower case with straight apostrophes, every character in its place (some would become two)."""
    low = text.lower()
    if len(low) != len(text):
        low = "".join(one if len(one.lower()) > 1 else one.lower() for one in text)
    return low.replace("’", "'").replace("`", "'").replace("\xa0", " ").replace("\t", " ")


@lru_cache(maxsize=4_096)
def _fold_once(cluster: str) -> str:
    return fold(cluster)


def _without_accents(decomposed: str) -> Iterator[str]:
    latin_or_greek = False
    for character in decomposed:
        if unicodedata.category(character) != "Mn":
            latin_or_greek = _has_accents(character)
            yield character
        elif not latin_or_greek:
            yield character


@lru_cache(maxsize=4_096)
def _has_accents(character: str) -> bool:
    return unicodedata.name(character, "").startswith(("LATIN", "GREEK"))
