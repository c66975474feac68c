"""Quotes are verbatim: where the words that a model gives as its evidence stand in a message, exactly.

Models straighten quotation marks, change case and blanks, put a full stop at the end. What differs in nothing else is found,
and the message's own words take its place. What was reworded is not found: it is no evidence.
"""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from everlore.models.language_model.repair import UNWANTED
from everlore.ports.analyst import Quote, WindowMessage

_SAME = str.maketrans("’‘‚‛´`“”„«»‹›–—‐‑−\u00a0\u202f", "''''''\"\"\"\"\"''-----  ")
# So many characters are found by chance in no other word.
_LONG = 20
_ENDS = " \t\n\"'.,;:!?…()[]*_"


def find_quote(quote: str, message: int, messages: Sequence[WindowMessage]) -> Quote | None:
    """The quote as its message has it. Should the number be wrong, the words decide, if they stand in one message only."""
    folded = _folded(quote)[0]
    for wanted in dict.fromkeys((folded.strip(), folded.strip(_ENDS))):
        if wanted.strip(_ENDS) and (found := _placed(wanted, message, messages)):
            return found
    return None


def _placed(wanted: str, message: int, messages: Sequence[WindowMessage]) -> Quote | None:
    found = {one.number: span for one in messages if (span := _span(wanted, one.text))}
    if message not in found and len(found) != 1:
        return None
    number = message if message in found else next(iter(found))
    text = next(one.text for one in messages if one.number == number)
    start, end = found[number]
    return Quote(number, text[start:end])


def find_name(name: str, text: str) -> str | None:
    """The name as it stands in a text, between word boundaries."""
    wanted = _folded(name)[0].strip()
    span = _span(wanted, text) if wanted else None
    return text[span[0] : span[1]] if span else None


def _span(wanted: str, text: str) -> tuple[int, int] | None:
    folded, places = _folded(text)
    at = folded.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if len(wanted) >= _LONG or (_is_edge(folded, at) and _is_edge(folded, end)):
            return places[at], places[end - 1] + 1
        at = folded.find(wanted, at + 1)
    return None


def _is_edge(folded: str, at: int) -> bool:
    """Whether a word does not go on over this place. Scripts that are written without blanks have edges everywhere."""
    if not 0 < at < len(folded):
        return True
    before, after = folded[at - 1], folded[at]
    return not (before.isalnum() and after.isalnum()) or max(before, after) >= "\u2e80"


@lru_cache(maxsize=256)
def _folded(text: str) -> tuple[str, tuple[int, ...]]:
    """Lower case, plain marks, single blanks; and for each character its place in the text."""
    folded: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if UNWANTED.match(character):
            continue
        plain = unicodedata.normalize("NFKC", character).translate(_SAME).casefold()
        for one in plain:
            kept = " " if one.isspace() else one
            if kept == " " and folded[-1:] == [" "]:
                continue
            folded.append(kept)
            places.append(place)
    return "".join(folded), tuple(places)
