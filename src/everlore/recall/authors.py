"""Whom a question names: which of the authors are meant by its words. Pure functions on text.

More than a weight hangs on this, so an author is named by a name only: "Will" who wrote is not named by "Will you come?", nor
Emma Lindqvist by "Maya Lindqvist".
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from everlore.text.folding import fold
from everlore.text.variants import ABBREVIATIONS, TITLES
from everlore.text.words import tokens

# The shortest beginning of a first name that may stand for it ("Tam").
_SHORT_FORM = 3
_NOBODY: Mapping[frozenset[str], str] = {}
# What stands between two parts of a name.
_WITHIN_A_NAME = " -'\u2019"


def authors_named(
    question: str,
    authors: Iterable[str],
    common: Collection[str] = (),
    no_names: Collection[str] = (),
    also: Mapping[frozenset[str], str] = _NOBODY,
) -> frozenset[str]:
    """Of the given authors those that the question names: by their whole name, by a part of it, by another name (`also`, by its
    words), or by the beginning of the first name where only one has it.

    `common` are words of the question, folded, that mean somebody only with a capital within a sentence ("will"); `no_names`
    mean nobody here (those of a date).
    """
    parts = {author: _parts(author) for author in authors}
    named = {author for author in parts if _is_caseless(author) and fold(author) in fold(question)}
    tell = _capitals_tell(question)
    for run in _runs(question, common, no_names, tell=tell):
        found = {author: len(run & set(of)) for author, of in parts.items()}
        most = max(found.values(), default=0)
        if most:
            named |= {author for author, count in found.items() if count == most}
        elif others := _by_other_name(run, also, whole=tell):
            named |= others
        elif tell and len(run) == 1 and tokens(question)[0].text not in run:
            named |= _by_beginning(run, parts)
    return frozenset(named)


def _parts(author: str) -> Sequence[str]:
    """The words of a name that may stand for it, in order."""
    words = [word.text for word in tokens(author) if len(word.text) > 1]
    return [word for word in words if ABBREVIATIONS.get(word, word) not in TITLES]


def _is_caseless(author: str) -> bool:
    """Whether it is in a script without capitals. Those may write no blanks, so such a name is looked for as it is."""
    return len(author) > 1 and not any(letter.lower() != letter.upper() for letter in author)


def _capitals_tell(question: str) -> bool:
    """Whether a capital means something: not where there is none, nor where there is nothing else."""
    letters = [letter for letter in question[1:] if letter.lower() != letter.upper()]
    return any(map(str.isupper, letters)) and not all(map(str.isupper, letters))


def _runs(question: str, common: Collection[str], no_names: Collection[str], *, tell: bool) -> list[set[str]]:
    """Words of the question that may be a name, those side by side together. Common words are none at the beginning of the
    question, nor where capitals tell nothing."""
    runs: list[set[str]] = []
    end = -1
    for at, (start, stop, word) in enumerate(tokens(question)):
        is_capital = tell and question[start].isupper()
        if word in no_names or (tell and not is_capital) or (word in common and not (is_capital and at)):
            continue
        if runs and not question[end:start].strip(_WITHIN_A_NAME):
            runs[-1].add(word)
        else:
            runs.append({word})
        end = stop
    return runs


def _by_other_name(run: set[str], also: Mapping[frozenset[str], str], *, whole: bool) -> set[str]:
    """Who is called so as well. Where capitals tell nothing (not `whole`), a run may hold more than the name."""
    return {
        author for words, author in also.items() if words <= run and (len(words) == len(run) or not whole)
    }


def _by_beginning(run: set[str], parts: Mapping[str, Sequence[str]]) -> set[str]:
    """Who is called so for short, if it can be only one."""
    (word,) = run
    found = {author for author, of in parts.items() if of and of[0].startswith(word)}
    return found if len(word) >= _SHORT_FORM and len(found) == 1 else set()
