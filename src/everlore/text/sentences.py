"""Sentences of a message, and the stretches of it that are somebody else's words or no words at all.

Everything here keeps places: a sentence is a slice of the text, a hidden stretch keeps its length.
"""

import re
from dataclasses import dataclass

HIDDEN = "\x7f"
MAX_SENTENCE_CHARACTERS = 500

_END = re.compile(
    r"[.!?…]+[\"'”’»)\]*_]{0,3}(?=\s|$)|[。！？]|[\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F]+(?=\s+(?:[A-ZÀ-Þ¿¡]|i\b|i'))|\s{0,20}\n\s{0,20}"
)
_JOINT = re.compile(r"(?:[;,:—–]| and| but| so| y| pero)\s")
_ABBREVIATED = re.compile(
    r"(?:(?<!\w)(?:dr|mr|mrs|ms|prof|st|jr|sr|vs|etc|approx|no|nr|dept|tel|inc|ltd|co|e\.g|i\.e|sra|dra|srta|av|núm|z\.b|bzw)"
    r"|(?<![\w'’])[a-z]|\b[ap]\.m)\.$",
    re.IGNORECASE,
)
_NUMBERED_DAY = re.compile(r"(?<!\d)\d{1,2}\.$")
_MONTH_AHEAD = re.compile(r"\s(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|[a-zäöü])")
_BULLET = re.compile(r"\s{0,8}(?:[-*•+]|\d{1,3}[.)]|#{1,6})\s{1,4}(?:\[[ xX]\]\s{1,4})?")


@dataclass(frozen=True, slots=True)
class Sentence:
    """Characters `start` to `end` of a text, without blanks and list marks at its ends."""

    start: int
    end: int
    text: str


def sentences(text: str) -> tuple[Sentence, ...]:
    """Cut `text` at full stops, marks and line breaks; what stays longer than the limit is cut at clauses, then anywhere."""
    found: list[Sentence] = []
    begin = 0
    for match in _END.finditer(text):
        stop = match.end()
        if match[0].lstrip().startswith(".") and _goes_on(text, begin, match):
            continue
        _add(found, text, begin, stop)
        begin = stop
    _add(found, text, begin, len(text))
    return tuple(found)


def hide(text: str, start: int, end: int) -> str:
    """`text` with the characters `start` to `end` made unreadable; line breaks stay."""
    middle = re.sub(r"[^\n]", HIDDEN, text[start:end])
    return text[:start] + middle + text[end:]


def _goes_on(text: str, begin: int, match: re.Match[str]) -> bool:
    """Whether a full stop ends an abbreviation or stands before a small letter, and the sentence with it does not end."""
    if match[0] not in {".", "..."} or match.end() >= len(text):
        return False
    ahead = text[max(begin, match.start() - 12) : match.start() + 1]
    follows = text[match.end() : match.end() + 3].lstrip()
    if "\n" in text[match.end() : match.end() + 2]:
        return False
    if match[0] == "." and text[begin : match.start()].strip().isdigit():
        return True
    if match[0] == "." and _NUMBERED_DAY.search(ahead) and _MONTH_AHEAD.match(text, match.end()):
        return True
    if match[0] == "." and _ABBREVIATED.search(ahead):
        return not (ahead.lower().endswith(("etc.", ".m.")) and follows[:1].isupper())
    return False


def _add(found: list[Sentence], text: str, begin: int, stop: int) -> None:
    while begin < stop:
        end = stop if stop - begin <= MAX_SENTENCE_CHARACTERS else _cut(text, begin)
        if bullet := _BULLET.match(text, begin, end):
            begin = bullet.end()
        first, last = begin, end
        while first < last and (text[first].isspace() or text[first] == HIDDEN):
            first += 1
        while last > first and (text[last - 1].isspace() or text[last - 1] == HIDDEN):
            last -= 1
        if first < last:
            found.append(Sentence(first, last, text[first:last]))
        begin = end


def _cut(text: str, begin: int) -> int:
    """The last joint within the limit, else the last blank, else the limit."""
    limit = begin + MAX_SENTENCE_CHARACTERS
    joints = [match.end() for match in _JOINT.finditer(text, begin + 1, limit)]
    if joints:
        return joints[-1]
    blank = text.rfind(" ", begin + 1, limit)
    return blank + 1 if blank > begin else limit
