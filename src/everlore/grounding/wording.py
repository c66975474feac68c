"""How a draft is worded beside its sources: in their language, in enough of their words, and not twice the same."""

import re
from functools import lru_cache

from everlore.grounding.evidence import Evidence, covered
from everlore.text.languages import language_of
from everlore.text.words import NEGATIONS, listed, root, roots, telling, words

# So much of a draft's telling words must have been said.
LEAST_COVERED = 1 / 3
# A message of fewer words is an answer that takes up the words of the one before.
_SHORT = 8
# From this share of common words on two drafts of one answer say the same.
_SAME_WORDS = 0.9
_LETTER = re.compile(r"[^\W\d_]")


def uncovered(content: str, source: Evidence) -> bool:
    """Too little of it was said; or nothing of it in the source itself, unless that is a mere "yes"."""
    if covered(content, source) < LEAST_COVERED:
        return True
    return covered(content, source, context=False) == 0 and len(words(source.said)) >= _SHORT


def other_language(text: str, source: Evidence) -> str | None:
    mine, theirs = _scripts(text), _scripts(source.said)
    if mine and theirs:
        script = max(mine, key=lambda one: mine[one])
        if theirs.get(script, 0.0) < 0.1:
            return "it is in another script than what was said"
    if len(words(text)) < 4 or len(words(source.said)) < 4:
        return None
    one, other = language_of(text), language_of(source.said)
    # Words that both languages share prove nothing; who quotes word for word is in the right language.
    if one != other and covered(text, source) < 0.75 and mine.keys() == {"latin"}:
        return "it is in another language than what was said"
    return None


def _scripts(text: str) -> dict[str, float]:
    """Shares of the letters of a text."""
    counts: dict[str, int] = {}
    for letter in _LETTER.findall(text):
        script = _script(ord(letter))
        counts[script] = counts.get(script, 0) + 1
    total = sum(counts.values())
    return {script: count / total for script, count in counts.items()}


_SCRIPTS = ((0x0250, "latin"), (0x0370, "latin"), (0x0400, "greek"), (0x0530, "cyrillic"), (0x0590, "armenian"),
            (0x0600, "hebrew"), (0x0780, "arabic"), (0x0900, "other"), (0x0980, "devanagari"), (0x0E00, "indic"),
            (0x0E80, "thai"), (0x1100, "other"), (0x1200, "hangul"), (0x1E00, "other"), (0x2000, "latin"),
            (0x3040, "other"), (0x4E00, "han or kana"), (0xA000, "han or kana"), (0xAC00, "other"),
            (0xD7B0, "hangul"))  # fmt: skip


@lru_cache(maxsize=2_000)
def _script(code: int) -> str:
    return next((script for end, script in _SCRIPTS if code < end), "other")


def negated(text: str) -> bool:
    return not NEGATIONS.isdisjoint(words(text))


# Words that say little of a subject, and yet tell two statements apart.
_APART = listed(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september "
    "october november december today tomorrow yesterday two three four five six seven eight nine ten eleven twelve twenty thirty "
    "forty fifty sixty seventy eighty ninety hundred thousand million lives works"
)
_APART_STEMS = frozenset(map(root, _APART))


def same(one: str, other: str) -> bool:
    if words(one) == words(other):
        return True
    if negated(one) != negated(other) or re.findall(r"\d+", one) != re.findall(r"\d+", other):
        return False
    if roots(one) & _APART_STEMS != roots(other) & _APART_STEMS:
        return False
    mine, theirs = telling(one), telling(other)
    return bool(mine) and len(mine & theirs) >= _SAME_WORDS * len(mine | theirs)
