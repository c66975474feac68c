"""Counts in sentences: one message waits, two messages wait."""

_IRREGULAR = {"are": "is", "were": "was", "have": "has"}


def counted(count: int, nouns: str, verb: str = "") -> str:
    """`1 message`, `2,000 messages`; with a verb `1 message waits`. Both are given in the plural, the noun first in `nouns`."""
    noun, *more = nouns.split(" ")
    head, _, last = verb.rpartition(" ")
    if count == 1:
        noun = singular(noun)
        last = _IRREGULAR.get(last, f"{last}s") if last else ""
    return " ".join(word for word in (f"{count:,}", noun, *more, head, last) if word)


def singular(nouns: str) -> str:
    """`tags` as `tag`, `entities` as `entity`, `aliases` as `alias`."""
    if nouns.endswith("ies"):
        return f"{nouns[:-3]}y"
    return nouns.removesuffix("es") if nouns.endswith("ases") else nouns.removesuffix("s")
