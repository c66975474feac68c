"""What somebody probably meant who wrote a word that is not known."""

from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import zip_longest

# Below this, two words are more likely different ones than one that is misspelt.
_NEAR = 0.7


def meant(given: str, known: Iterable[str]) -> str:
    """` Did you mean ...?`, to be put behind a sentence; empty where nothing is near."""
    near = nearest(given, known)
    return f" Did you mean {near}?" if near else ""


def nearest(given: str, known: Iterable[str]) -> str | None:
    """Of names with dots each part has to be near: two settings are not alike because they begin with the same group."""
    alike = {one: _alike(given, one) for one in known}
    best = max(alike, key=alike.__getitem__, default=None)
    return best if best is not None and alike[best] >= _NEAR else None


def _alike(one: str, other: str) -> float:
    parts = zip_longest(one.split("."), other.split("."), fillvalue="")
    return min(SequenceMatcher(None, *pair).ratio() for pair in parts)
