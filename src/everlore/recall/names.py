"""Runs of a question's words that may be a name, and whom or what they are names of. They are looked up along with the postings:
no round trip of their own."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from everlore.store.entities import Called
from everlore.text.variants import key
from everlore.text.words import tokens

_WORD = re.compile(r"[^\W_]+(?:['’&.-][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s?\Z")
# A name has at most so many words here.
_LONGEST = 3


# Characters of a question that are looked at for names: a question, not what is pasted into one.
_LOOKED_AT = 2_000


def runs(question: str) -> dict[str, str]:
    """By their keys, runs of one to three words: the shortest of each key."""
    words = _WORD.findall(question[:_LOOKED_AT])
    found: dict[str, str] = {}
    for length in range(1, _LONGEST + 1):
        for first in range(len(words) - length + 1):
            run = " ".join(words[first : first + length])
            found.setdefault(key(run), run)
    return found


def words_of(run: str) -> frozenset[str]:
    """The folded words of a run, without a possessive's s."""
    return frozenset(word.text for word in tokens(_POSSESSIVE.sub("", run)))


def people(called: Iterable[Called], runs: Mapping[str, str]) -> set[str]:
    """Words of the question that are by themselves what a person is called. (Things, too, have entities: "tea" is no name.)"""
    found = [words_of(runs[one.given]) for one in called if one.type == "person"]
    return {word for words in found if len(words) == 1 for word in words}


def authors_called(
    called: Sequence[Called], runs: Mapping[str, str], authors: Collection[str]
) -> dict[frozenset[str], str]:
    """The author whom the words of a run are another name of: only where the surest bearers of that name are nobody else."""
    by_key = {key(author): author for author in authors}
    surest: dict[str, float] = {}
    for one in called:
        surest[one.given] = max(surest.get(one.given, 0.0), one.weight)
    bearers: dict[frozenset[str], set[str | None]] = {}
    for one in called:
        if one.weight == surest[one.given]:
            named = {by_key[k] for name in one.names if (k := key(name)) in by_key}
            bearers.setdefault(words_of(runs[one.given]), set()).update(named or {None})
    return {
        words: author for words, found in bearers.items() for author in found if author and len(found) == 1
    }
