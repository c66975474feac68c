"""What stands around an expression of time: words in front that narrow it, open one end, step aside, or make it a time at all."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from everlore.text.dates import vocabulary as v
from everlore.text.dates.expressions import Aside, Part, Side
from everlore.text.dates.vocabulary import of, pattern

_AHEAD = 48  # characters in front of an expression that are looked at
_SIDES: tuple[Side, ...] = ("since", "starting", "from", "before", "after", "until", "due")
_PARTS: Mapping[str, Part] = {
    "early": ("third", 0),
    "mid": ("third", 1),
    "late": ("third", -1),
    "end": ("end", -1),
}


@dataclass(frozen=True, slots=True)
class DatedText:
    """A text in lower case, as it was written, and whether its dates in digits are English (month first)."""

    low: str
    written: str
    english: bool

    def ahead(self, begin: int) -> str:
        return self.low[max(0, begin - _AHEAD) : begin]


def count_of(match: re.Match[str]) -> int:
    count = match["count"]
    return 1 if not count else int(count) if count.isdigit() else v.COUNTS[" ".join(count.split())]


def aside_of(said: DatedText, begin: int) -> Aside | None:
    """What the words in front of `begin` step aside by: "the week after ...", "two days before ..."."""
    match = _ASIDE.search(said.ahead(begin))
    if match is None or v.UNITS[match["unit"]] in {"minute", "hour"}:
        return None
    return Aside(begin - len(match[0]), count_of(match), v.UNITS[match["unit"]], match["before"] is not None)


def side_of(said: DatedText, begin: int) -> tuple[Side | None, int]:
    """Which end the words in front of `begin` open, and where these begin."""
    match = _SIDE.search(said.ahead(begin))
    if match is None:
        return None, begin
    return next(side for side in _SIDES if match[side]), begin - len(match[0])


def part_of(said: DatedText, begin: int) -> tuple[Part | None, int]:
    """To which part the words in front of `begin` narrow it, and where these begin."""
    match = _PART.search(said.ahead(begin))
    return (_part(match), begin - len(match[0])) if match else (None, begin)


def is_led(said: DatedText, begin: int) -> bool:
    """Whether a preposition of time stands in front."""
    return LEAD.search(said.ahead(begin)) is not None or part_of(said, begin)[0] is not None


def _part(match: re.Match[str]) -> Part:
    nth = v.ORDINALS.get(match["nth_half"] or match["nth_week"] or "", 0) - 1
    if match["nth_half"]:
        return "half", nth
    if match["nth_week"]:
        return "week", nth
    return _PARTS[match.lastgroup or "end"]


LEAD = pattern(rf"(?:{of('leads')})(?: (?:{v.ARTICLE}))?(?: |-)", stop="$")
NTH = v.any_of([*v.ORDINALS, *v.FINAL])
_ASIDE = pattern(
    rf"(?:the |{v.COUNT} )?{v.UNIT} (?:(?P<before>{of('aside_before')})|(?:{of('aside_after')}))(?: the)? ",
    stop="$",
)
_PART = pattern(
    rf"(?:(?P<early>{of('early')})|(?P<mid>{of('mid')})|(?P<late>{of('late')})|(?P<end>{of('end')})"
    rf"|(?:(?:{v.ARTICLE}) )?(?P<nth_half>{NTH}) (?:{of('half')})"
    rf"|(?:(?:{v.ARTICLE}) )?(?P<nth_week>{NTH}) (?:{v.WEEK}) (?:{v.OF}))(?: (?:{v.ARTICLE}))?(?: |-)",
    stop="$",
)
_SIDE = pattern(
    "|".join(f"(?P<{side}>{of(side)})" for side in _SIDES),
    stop=rf"(?:\s{{1,3}}(?:{v.ARTICLE}|{of('on')}))?(?:\s{{1,3}}|-)$",
)
