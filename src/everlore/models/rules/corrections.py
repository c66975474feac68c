"""Fragments that put right what was just said: "no wait, the right knee", "sorry, I meant August 14", "make it 7".

What is named takes the place of the one thing of its kind in the statement before: a day that of a day, a number that of a
number, a knee that of a knee, or whatever it is said not to be. Where two fit, nothing is put right.
"""

import re
from datetime import datetime
from typing import TYPE_CHECKING, Final

from everlore.models.rules.clauses import Clause
from everlore.models.rules.times import Time, Times, in_words, looks_ahead
from everlore.text.dates import read_dates

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_DENIED = re.compile(
    r"(?P<right>\S.*?),? (?:not|instead of|rather than) (?:an? |the |on |at |in )?(?P<wrong>\S.*?)[.!]*\s*$"
)
_LEADS = re.compile(
    r"(?:(?:it's|it is|its|it was|that's|make (?:it|that)|to|on|at|in|the|an?|i mean)\s+)+", re.IGNORECASE
)
_LONE_DAY = re.compile(r"\b(?P<day>[12]?\d|3[01])(?:st|nd|rd|th)\b")
_LONGEST: Final = 8  # words of a fragment


def put_right(
    fragment: "Doc", clause: Clause, times: Times, text: str, at: datetime
) -> tuple[str, str, Times] | None:
    """What of `text`, the wording of `clause`, is replaced by what, with its dates then; None where it is not clear."""
    said = " ".join(fragment.text.split())
    denied = _DENIED.match(said)
    right = _LEADS.sub("", denied["right"] if denied else said, count=1).strip(" .,!")
    if not right or len(right.split()) > _LONGEST:
        return None
    if (moved := _day(right, clause, times, at)) is not None:
        old, new = in_words(moved[0].said), in_words(moved[1].said)
        return (old, new, Times((moved[1],))) if text.count(old) == 1 and old != new else None
    pair = _number(right, clause, times) or (denied and (denied["wrong"], right)) or _kind(fragment, clause)
    if not pair or pair[0].lower() == pair[1].lower():
        return None
    places = [one.start() for one in re.finditer(rf"(?<!\w){re.escape(pair[0])}(?!\w)", text, re.IGNORECASE)]
    return (text[places[0] : places[0] + len(pair[0])], pair[1], times) if len(places) == 1 else None


def _day(right: str, clause: Clause, times: Times, at: datetime) -> tuple[Time, Time] | None:
    """The day of the statement, and the one that takes its place."""
    old = times.dates[0] if len(times.dates) == 1 and times.dates[0].said.grain in {"day", "moment"} else None
    if old is None:
        return None
    found = [
        one for one in read_dates(right, at, ahead=looks_ahead(clause)) if one.grain in {"day", "moment"}
    ]
    if len(found) == 1:
        return old, Time(found[0], frozenset(), None)
    lone = _LONE_DAY.search(right)
    if found or lone is None:
        return None
    try:
        (day,) = read_dates(f"{lone['day']} {old.said.start:%B %Y}", at)
    except ValueError:
        return None
    return old, Time(day, frozenset(), None)


def _number(right: str, clause: Clause, times: Times) -> tuple[str, str] | None:
    new = [one for one in right.split() if one[0].isdigit()]
    old = [one for one in clause.words if one.pos_ == "NUM" and times.at(one.i) is None]
    return (old[0].text, new[0]) if len(new) == len(old) == len(right.split()) == 1 else None


def _kind(fragment: "Doc", clause: Clause) -> tuple[str, str] | None:
    """The noun that both name, with what tells it apart."""
    new = [one for one in fragment if one.pos_ == "NOUN" and _telling(one)]
    old = [
        one for one in clause.words if len(new) == 1 and one.lemma_ == new[0].lemma_ and one.pos_ == "NOUN"
    ]
    return (_phrase(old[0]), _phrase(new[0])) if len(old) == 1 and _telling(old[0]) else None


def _telling(token: "Token") -> "list[Token]":
    return [one for one in token.lefts if one.dep_ in {"amod", "compound", "nummod"}]


def _phrase(token: "Token") -> str:
    words = [*_telling(token), token]
    return " ".join(one.text if one.pos_ == "PROPN" else one.lower_ for one in words)
