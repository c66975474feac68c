"""Sources: the quotes of a draft, each where it stands in the messages, and what stands around it."""

import re
from collections.abc import Sequence

from everlore.domain.memories import MemoryType
from everlore.ports.analyst import DraftFact, DraftMemory, Quote, Window, WindowMessage
from everlore.text.quotes import Folded, Span, find
from everlore.text.sentences import sentences
from everlore.text.words import words

# Whose words are read: instructions of a system prompt and what tools put out are nobody's.
_SPEAKING = frozenset({"user", "assistant"})
# What may rest on a question: somebody asks for it to be done or remembered.
_ASKED_FOR: frozenset[MemoryType] = frozenset({"task", "reminder", "goal", "preference", "system_config"})
# More quotes of one draft are not even looked at.
MOST_QUOTES = 200
_TO_THE_END = re.compile(r"[^.!?…\n。！？]*([.!?…。！？]?)")
_CLOSING = "\"'”’ )"


class Sources:
    """The messages of a window, and the characters of every quote that was found in them; None for one in a caption."""

    def __init__(self, window: Window) -> None:
        self.messages = {message.number: message for message in window.messages if message.role in _SPEAKING}
        self.folded = {number: Folded(message.text) for number, message in self.messages.items()}
        self.spans: dict[Quote, Span | None] = {}

    def found(self, given: Sequence[Quote]) -> tuple[Quote, ...]:
        """The quotes as the messages have them, without those that stand in none."""
        quotes = (self._quote(one) for one in given[:MOST_QUOTES])
        return tuple(dict.fromkeys(quote for quote in quotes if quote is not None))

    def naming(self, name: str) -> tuple[Quote, ...]:
        """The first place where a name stands."""
        for number, folded in self.folded.items():
            if (span := find(name, folded)) is not None:
                return (self.standing(number, span),)
        return ()

    def standing(self, number: int, span: Span) -> Quote:
        quote = Quote(number, self.messages[number].text[span[0] : span[1]])
        self.spans.setdefault(quote, span)
        return quote

    def authors(self, quotes: Sequence[Quote]) -> list[WindowMessage]:
        return [self.messages[number] for number in dict.fromkeys(quote.message for quote in quotes)]

    def quoted(self, quotes: Sequence[Quote]) -> str:
        """The sentences that the quotes stand in: a quote of two words tells not who speaks of whom."""
        parts: list[str] = []
        for quote in quotes:
            text, span = self.messages[quote.message].text, self.spans.get(quote)
            if span is None:
                parts.append(quote.text)
                continue
            parts += [one.text for one in sentences(text) if one.start < span[1] and one.end > span[0]]
        return "\n".join(dict.fromkeys(parts))

    def asks(self, quote: Quote) -> bool:
        """Whether a quote is, or ends in, a question."""
        last = quote.text.rstrip(_CLOSING)[-1:]
        span = self.spans.get(quote)
        if last in {"?", "？"} or span is None or last in {".", "!", "…", "。", "！"}:
            return last in {"?", "？"}
        rest = _TO_THE_END.match(self.messages[quote.message].text, span[1])
        return rest is not None and rest[1] in {"?", "？"}

    def _quote(self, given: Quote) -> Quote | None:
        """In the message that is named; else the words decide, if they stand in one message only."""
        for number in self._places(
            given.message, [n for n, text in self.folded.items() if find(given.text, text)]
        ):
            span = find(given.text, self.folded[number])
            return None if span is None else self.standing(number, span)
        captions = [
            (n, one)
            for n, message in self.messages.items()
            for one in message.captions
            if find(given.text, one)
        ]
        for number in self._places(given.message, list(dict.fromkeys(n for n, _ in captions))):
            caption = next(one for n, one in captions if n == number)
            begin, end = find(given.text, caption) or (0, 0)
            self.spans.setdefault(Quote(number, caption[begin:end]), None)
            return Quote(number, caption[begin:end])
        return None

    @staticmethod
    def _places(named: int, found: list[int]) -> list[int]:
        return [named] if named in found else found if len(found) == 1 else []


def only_asks(draft: DraftMemory | DraftFact, quotes: Sequence[Quote], sources: Sources) -> bool:
    """Whether a draft takes a question for what it asks after."""
    asked_for = isinstance(draft, DraftMemory) and draft.type in _ASKED_FOR
    return not asked_for and all(map(sources.asks, quotes))


def vocabulary(window: Window) -> frozenset[str]:
    """All words that were said, shown or known: what a name may consist of."""
    said = [
        text for one in (*window.earlier, *window.messages) for text in (one.text, one.speaker, *one.captions)
    ]
    return frozenset(word for text in (*said, *window.entities) for word in words(text))


def in_vocabulary(name: str, said: frozenset[str]) -> bool:
    """Whether every word of a name was said. "Anna's sister" was, where Anna speaks of her sister."""
    return all(word in said for word in words(name))
