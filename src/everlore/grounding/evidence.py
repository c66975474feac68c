"""Evidence: all that a statement may rest on, gathered once from its messages."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from everlore.grounding.claimed_dates import dates_of
from everlore.grounding.claimed_numbers import numbers_said
from everlore.ports.analyst import WindowMessage
from everlore.text.dates import SaidDate
from everlore.text.words import alike, root, roots, telling, words

Names = Callable[[str], frozenset[str]]


@dataclass(frozen=True)
class Evidence:
    """All that a statement may rest on. `names`: words of the speakers' names, which count as said. `context`: words of the
    messages just before, for what an answer or a pronoun takes up."""

    messages: tuple[WindowMessage, ...]
    said: str
    words: frozenset[str]
    roots: frozenset[str]
    names: frozenset[str]
    context: frozenset[str]
    numbers: frozenset[float]
    dates: tuple[SaidDate, ...]
    variants: Names = field(repr=False)

    def holds(self, word: str) -> bool:
        """Whether a (folded) word was said, or is part of a speaker's name."""
        return word in self.words or word in self.names


def evidence(
    messages: Sequence[WindowMessage],
    variants: Names,
    *,
    names: Iterable[str] = (),
    context: Iterable[str] = (),
) -> Evidence:
    """`names`: speakers who count as named beside the authors. `context`: texts of the messages just before."""
    texts = [text for message in messages for text in (message.text, *message.captions)]
    said = "\n".join(texts)
    speakers = [message.speaker for message in messages]
    return Evidence(
        messages=tuple(messages),
        said=said,
        words=frozenset(words(said)),
        roots=roots(said),
        names=frozenset(word for name in (*speakers, *names) for word in words(name)),
        context=frozenset(word for text in context for word in words(text)),
        numbers=frozenset(numbers_said(said)),
        dates=tuple(date for message in messages for date in dates_of(message)),
        variants=variants,
    )


def covered(text: str, source: Evidence, *, context: bool = True) -> float:
    """The share of the telling words of `text` that were said; 1 if it has none. `context`: there or just before."""
    wanted = {one for one in telling(text) if one not in {root(name) for name in source.names}}
    if not wanted:
        return 1.0
    said = source.roots | frozenset(map(root, source.context)) if context else source.roots
    return sum(alike(one, said) for one in wanted) / len(wanted)
