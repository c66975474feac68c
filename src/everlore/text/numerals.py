"""Numbers that are written as words (English and Spanish, up to 999), as ordinals, or in Roman numerals."""

import re
from collections.abc import Sequence

_ENGLISH = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen"
)
_SPANISH = (
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis diecisiete dieciocho "
    "diecinueve"
)
_SPANISH_TWENTIES = "veinte veintiuno veintidos veintitres veinticuatro veinticinco veintiseis veintisiete veintiocho veintinueve"
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fourty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90, "treinta": 30, "cuarenta": 40, "cincuenta": 50, "sesenta": 60, "setenta": 70, "ochenta": 80, "noventa": 90,
}  # fmt: skip
_HUNDREDS = {
    "cien": 100, "ciento": 100, "doscientos": 200, "trescientos": 300, "cuatrocientos": 400, "quinientos": 500,
    "seiscientos": 600, "setecientos": 700, "ochocientos": 800, "novecientos": 900,
}  # fmt: skip
_ONES: dict[str, int] = {
    **{word: value for value, word in enumerate(_ENGLISH.split())},
    **{word: value for value, word in enumerate(_SPANISH.split())},
    **{word: 20 + value for value, word in enumerate(_SPANISH_TWENTIES.split())},
}
# Words that are numbers in one language and something else in another: only after what is counted ("capítulo once").
_DOUBTFUL = frozenset({"once", "dos", "uno"})
_JOINING = frozenset({"and", "y"})
_ORDINAL_WORDS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
)
_ORDINALS = {word: value for value, word in enumerate(_ORDINAL_WORDS.split(), start=1)}
_ROMAN = re.compile(r"(?=[cdilmvx])c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


def read_number(words: Sequence[str], *, sure: bool) -> tuple[int, int]:
    """The number that the words begin with, and how many of them it takes (0: none).

    `sure`: a number is expected here, so that words which may mean something else count as one.
    """
    value, at = _hundreds(words)
    joined = at + (at < len(words) and at > 0 and words[at] in _JOINING)
    if joined < len(words) and (tens := _TENS.get(words[joined])):
        value, at = value + tens, joined + 1
        joined = at + (at < len(words) and words[at] in _JOINING)
        if joined < len(words) and 0 < _ONES.get(words[joined], 0) < 10:
            return value + _ONES[words[joined]], joined + 1
        return value, at
    if joined < len(words) and (ones := _ONES.get(words[joined])) is not None and (at == 0 or ones > 0):
        if at == 0 and words[0] in _DOUBTFUL and not sure:
            return 0, 0
        return value + ones, joined + 1
    return value, at


def _hundreds(words: Sequence[str]) -> tuple[int, int]:
    if words and words[0] in _HUNDREDS:
        return _HUNDREDS[words[0]], 1
    if len(words) > 1 and words[1] == "hundred" and 0 < _ONES.get(words[0], 0) < 10:
        return _ONES[words[0]] * 100, 2
    return 0, 0


def read_ordinal(word: str) -> int | None:
    """`second` is 2, up to 20."""
    return _ORDINALS.get(word)


def is_roman(word: str) -> bool:
    """Whether it is a Roman numeral below 400, lower case."""
    return bool(word) and _ROMAN.fullmatch(word) is not None


def roman(word: str) -> int:
    """The value of a Roman numeral: what is smaller than its follower is taken away."""
    values = [_ROMAN_VALUES[letter] for letter in word]
    return sum(
        -value if value < following else value
        for value, following in zip(values, [*values[1:], 0], strict=True)
    )
