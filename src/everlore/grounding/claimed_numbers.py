"""The numbers of a text, in digits or in words: generously as they were said, strictly as they are claimed."""

import re
from collections.abc import Iterator

from everlore.text.numerals import read_number, read_ordinal
from everlore.text.words import words

_NUMBER = re.compile(
    r"(?<![\w.,])(?:(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\s?(?P<half>[ap])\.?m\b\.?|(?P<h24>\d{1,2}):(?P<m24>\d\d)(?!\d)"
    r"|(?P<figure>\d{1,3}(?:[,. '’ ]\d{3})+(?:[.,]\d{1,2})?|\d{1,15}(?:[.,]\d{1,6})?)(?![.,]?\d)(?:st|nd|rd|th|er|º|ª)?"
    r"(?:\s?(?P<scale>k|m|bn|thousand|grand|million|billion|mil|millones|tausend|millionen)\b|(?=\D|$)))",
    re.IGNORECASE,
)
_SCALES = {"k": 1e3, "thousand": 1e3, "grand": 1e3, "mil": 1e3, "tausend": 1e3, "m": 1e6, "million": 1e6, "millones": 1e6,
           "millionen": 1e6, "bn": 1e9, "billion": 1e9}  # fmt: skip
_COUNTED = {"couple": 2.0, "both": 2.0, "twice": 2.0, "pair": 2.0, "twins": 2.0, "half": 0.5, "dozen": 12.0, "once": 1.0,
            "single": 1.0, "thrice": 3.0, "triplets": 3.0, "a": 1.0, "an": 1.0, "docena": 12.0, "dutzend": 12.0,
            "eins": 1.0, "zwei": 2.0, "drei": 3.0, "vier": 4.0, "funf": 5.0, "sechs": 6.0, "sieben": 7.0, "acht": 8.0,
            "neun": 9.0, "zehn": 10.0, "deux": 2.0, "trois": 3.0, "quatre": 4.0, "cinq": 5.0, "sept": 7.0, "huit": 8.0,
            "neuf": 9.0, "dix": 10.0}  # fmt: skip
# As claims these are mostly no numbers: "one of her friends", "at first".
_NO_CLAIM = frozenset(
    {"one", "uno", "una", "un", "first", "a", "an", "once", "single", "half", "both", "couple", "pair"}
)
# No number takes more: "nine hundred and ninety-nine thousand ...".
_MOST_WORDS = 20
_MULTIPLIERS = {"hundred": 100.0, "thousand": 1e3, "million": 1e6, "billion": 1e9, "mil": 1e3, "dozen": 12.0}


def numbers_said(text: str) -> Iterator[float]:
    """Generous: every way in which a number may have been meant."""
    for match in _NUMBER.finditer(text):
        yield from _figures(match)
    for _, value in _in_words(text):
        yield value
    for word in words(text):
        if (value := _COUNTED.get(word)) is not None:
            yield value
    for figure in re.findall(r"(?<![\d.,])\d{1,15}(?!\d|[.,]\d)", text):
        yield float(figure)


def numbers_in(text: str) -> Iterator[tuple[str, float]]:
    """The numbers that a statement claims, as they are written and by their value."""
    for match in _NUMBER.finditer(text):
        figures = list(_figures(match))
        if figures:
            yield match[0].strip(), figures[0]
    yield from ((written, value) for written, value in _in_words(text) if written not in _NO_CLAIM)
    for word in words(text):
        if word in _COUNTED and word not in _NO_CLAIM:
            yield word, _COUNTED[word]


def _figures(match: re.Match[str]) -> Iterator[float]:
    """The value that a figure stands for, the likeliest first. A time of day is minutes, out of the way of other numbers."""
    if match["hour"] or match["h24"]:
        hour, minute = int(match["hour"] or match["h24"]), int(match["minute"] or match["m24"] or 0)
        if match["half"] and match["half"].lower() == "p" and hour < 12:
            hour += 12
        yield -1.0 - (hour % 24 * 60 + minute)
        if match["half"] and not minute:
            return
        # "7:30" may be half past seven in the evening.
        if match["h24"] and hour < 12:
            yield -1.0 - ((hour + 12) * 60 + minute)
        return
    figure = re.sub(r"[ '’ ]", "", match["figure"])
    scale = _SCALES.get((match["scale"] or "").lower(), 1.0)
    grouped = re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", figure)
    if grouped:
        yield float(re.sub(r"[.,]", "", figure)) * scale
    last = max(figure.rfind("."), figure.rfind(","))
    if last < 0:
        yield float(figure) * scale
    elif not grouped or figure.count(figure[last]) == 1:
        yield round(float(re.sub(r"[.,]", "", figure[:last]) + "." + figure[last + 1 :]) * scale, 6)


def _in_words(text: str) -> Iterator[tuple[str, float]]:
    """Numbers in words ("twenty-five", "three hundred thousand", "third")."""
    found = [part for word in words(text) for part in word.split("-")]
    at = 0
    while at < len(found):
        value, taken = read_number(found[at : at + _MOST_WORDS], sure=False)
        if taken:
            number = float(value)
            written = " ".join(found[at : at + taken])
            at += taken
            while at < len(found) and found[at] in _MULTIPLIERS:
                number *= _MULTIPLIERS[found[at]]
                at += 1
            yield written, number
            continue
        ordinal = read_ordinal(found[at])
        # "A second" is time, or another one.
        if ordinal is not None and ordinal > 2:
            yield found[at], float(ordinal)
        at += 1


def value_of(written: str) -> float:
    """0 for what is no number."""
    if written.isdigit():
        return float(written)
    value, taken = read_number([written], sure=True)
    return float(value) if taken else _COUNTED.get(written, 0.0)
