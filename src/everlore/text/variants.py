"""Variants of names: the form in which "Ch35" and "Chapter thirty-five" meet, and how likely two names mean one.

`key` is what aliases are compared by. It is more generous than the normal form of searching: it writes numbers as digits,
abbreviations in full, and keeps what tells names apart (an e-mail address as a whole, the 's of "Anna's sister", "C++").
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from everlore.text.folding import fold
from everlore.text.lexicon import forms, words
from everlore.text.numerals import is_roman, read_number, read_ordinal, roman

# Written in full wherever they stand.
ABBREVIATIONS: Mapping[str, str] = forms("abbreviations")
# Written in full before a number only.
BEFORE_NUMBERS: Mapping[str, str] = forms("before_numbers")
# What is counted: a numeral after one of these may be Roman, and its leading zeros mean nothing.
COUNTED = words("counted")
TITLES = words("titles")

EMAIL = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")
_NUMBER_SIGNS = frozenset({"#", "n\u00b0"})
_AND = frozenset({"&"})
_ORDINAL_DIGITS = re.compile(r"(\d+)(?:st|nd|rd|th)")
_POSSESSIVE_END = re.compile(r"'s?\Z")
# A word, an address, letters with pluses or a sharp ("C++"), or a number sign before digits.
_TOKEN = re.compile(
    r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+|#(?=\d)|n°(?=\s*\d)|&|(?:\w\.){2,}\w?(?!\w)|\w+(?:\+\+|#(?!\w))|\w+(?:'\w+)*'?"
)
_BOUNDARY = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")


def key(text: str, abbreviations: Mapping[str, str] = ABBREVIATIONS) -> str:
    """The form in which variants of a name are equal. Never empty for a text that is not blank."""
    # The same few names come up again and again.
    return _usual_key(text) if abbreviations is ABBREVIATIONS else _key(text, abbreviations)


@lru_cache(maxsize=20_000)
def _usual_key(text: str) -> str:
    return _key(text, ABBREVIATIONS)


def _key(text: str, abbreviations: Mapping[str, str]) -> str:
    words = _words(text)
    while len(words) > 1 and words[0] == "the":
        words = words[1:]
    if words:
        words[-1] = _POSSESSIVE_END.sub("", words[-1]) or words[-1]
    words = _joined_initials(words)
    words = [abbreviations.get(word, word) for word in words]
    words = _numbers(words)
    return " ".join(words) or " ".join(fold(text).split())


def words_of(text: str) -> list[str]:
    """The words of a name without titles and e-mail addresses: what a partial name is compared by."""
    return [word for word in key(text).split() if word not in TITLES and "@" not in word]


def initials(name: str) -> str:
    """The first letters of a name's words: "Ali Camarata" gives "ac"."""
    return "".join(word[0] for word in words_of(name))


def numbers_in(text: str) -> tuple[str, ...]:
    """The numbers of a key in order; names that differ in them are never variants of each other."""
    return tuple(re.findall(r"\d+", key(text)))


def better_spelled(one: str, other: str) -> str:
    """Of two spellings of a name the one that is neither shouted nor all small, whichever was read first."""
    return min(one, other, key=lambda name: (name.isupper() and len(name) > 1, name.islower(), name))


def similar_names(one: str, other: str) -> float:
    """How surely two names may mean one: 0-1, 0 where they cannot. Equal in both directions.

    1: equal keys. 0.9: an address that holds both names. 0.85: "Ali C." and "Ali Camarata". 0.8: "A. Camarata". 0.7: a first
    name and a full one. 0.6: a last name, or an address that holds one name. 0.4: initials.
    """
    if key(one) == key(other):
        return 1.0
    for address, name in ((one, other), (other, one)):
        if found := EMAIL.fullmatch(fold(address).strip()):
            return 0.0 if "@" in name else _address_and_name(found.group(), words_of(name))
    if "'s " in key(one) + key(other):
        return 0.0  # a description; it is the same one or another
    first, second = sorted((words_of(one), words_of(other)), key=lambda words: (len(words), words))
    if not first or numbers_in(one) != numbers_in(other):
        return 0.0
    return _words_and_words(first, second)


def _words_and_words(short: Sequence[str], long: Sequence[str]) -> float:
    if len(short) == 1:
        (only,) = short
        if len(long) > 1 and only == "".join(word[0] for word in long):
            return 0.4
        return {0: 0.7, len(long) - 1: 0.6}.get(long.index(only), 0.5) if only in long else 0.0
    if short[-1] == long[-1] and _meet(short[0], long[0]):
        return 0.9 if short[0] == long[0] else 0.8
    if short[0] == long[0] and _meet(short[-1], long[-1]):
        return 0.85
    if all(map(_meet, short, long)):
        return 0.4
    # Everything of the shorter one stands in the longer one: "Acme Europe", "Acme Europe Holding".
    return 0.8 if set(short) < set(long) else 0.0


def _meet(one: str, other: str) -> bool:
    """The same word, or one is the initial of the other."""
    return one == other or (min(len(one), len(other)) == 1 and one[0] == other[0])


def _address_and_name(address: str, words: Sequence[str]) -> float:
    local, _, domain = address.partition("@")
    parts = [part for part in re.split(r"[\W\d_]+", local) if part]
    site = domain.split(".")[0]
    if not words or not parts:
        return 0.0
    held = {word for word in words if word in parts or word == site}
    if len(words) > 1:
        if {words[0], words[-1]} <= held or "".join(words) in parts:
            return 0.9
        if words[0][0] + words[-1] in parts or words[0] + words[-1][0] in parts:
            return 0.8
    return 0.6 if any(word in parts for word in words) else 0.0


def _words(text: str) -> list[str]:
    """Tokens, with letters and digits apart and possessives in one form."""
    found: list[str] = []
    for token in _TOKEN.findall(
        fold(text).replace("_", " ").replace("-", " ") if "@" not in text else fold(text)
    ):
        if "@" in token or (len(token) > 1 and token.endswith(("++", "#"))):
            found.append(token)
        elif token in _NUMBER_SIGNS:
            found.append("number")
        elif token in _AND:
            found.append("and")
        elif ordinal := _ORDINAL_DIGITS.fullmatch(token):
            found.append(f"{int(ordinal.group(1))}th")
        elif "." in token:
            found.append(token.replace(".", ""))
        else:
            found += _split(token)
    return found


def _split(token: str) -> list[str]:
    """`ch35` is two words; `anna's` and `james'` are one, with 's; other apostrophes ("o'brien") vanish."""
    owner = _POSSESSIVE_END.search(token)
    word = (token[: owner.start()] if owner else token).replace("'", "").replace("_", "")
    parts = [part for part in _BOUNDARY.split(word) if part]
    if owner and parts:
        parts[-1] += "'s"
    return parts


def _joined_initials(words: Sequence[str]) -> list[str]:
    """Single letters in a row are one word: "J. R. R. Tolkien" meets "J.R.R. Tolkien"."""
    joined: list[str] = []
    run = False
    for word in words:
        single = len(word) == 1 and word.isalpha() and word.isascii()
        if single and run:
            joined[-1] += word
        else:
            joined.append(word)
        run = single
    return joined


def _numbers(words: list[str]) -> list[str]:
    """Number words, ordinals and Roman numerals as digits; then what is only short before a number."""
    written: list[str] = []
    at = 0
    while at < len(words):
        counted = bool(written) and BEFORE_NUMBERS.get(written[-1], written[-1]) in COUNTED
        value, used = read_number(words[at:], sure=counted)
        if used:
            written.append(str(value))
        elif ordinal := read_ordinal(words[at]):
            written.append(f"{ordinal}th")
            used = 1
        elif counted and is_roman(words[at]):
            written.append(str(roman(words[at])))
            used = 1
        else:
            word = words[at]
            written.append(str(int(word)) if counted and word.isascii() and word.isdigit() else word)
            used = 1
        at += used
        if len(written) > 1 and written[-1].isdigit() and written[-2] in BEFORE_NUMBERS:
            written[-2] = BEFORE_NUMBERS[written[-2]]
    return written
