"""What somebody probably meant who wrote a word that is not known."""

from collections.abc import Iterable
from difflib import get_close_matches


def meant(given: str, known: Iterable[str]) -> str:
    """` Did you mean ...?`, to be put behind a sentence; empty where nothing is near."""
    near = get_close_matches(given, list(known), n=1, cutoff=0.6)
    return f" Did you mean {near[0]}?" if near else ""
