"""The searchable form of a message: plain text in passages, under its author's name, with its captions."""

from collections.abc import Sequence

from everlore.capture.passages import passages, split
from everlore.ports.tokens import Count

# Wordpieces of a passage, the author's name included. With a name of absurd length
# passages still say something: at least so many pieces are the message's own.
_TARGET, _LIMIT = 150, 200
_LEAST = 50


def searchable(author: str | None, text: str, captions: Sequence[str], wordpieces: Count) -> list[str]:
    """The passages of a message; captions come after the last. Empty when there is nothing to search (only tool calls)."""
    limit = max(_LIMIT - (wordpieces(author) + 1 if author is not None else 0), _LEAST)
    target = min(_TARGET, limit)
    pieces = passages(text, wordpieces, target=target, limit=limit) if text and not text.isspace() else []
    if captions:
        shares = "".join(f" [shares {caption}]" for caption in captions)
        pieces = [
            *pieces[:-1],
            *split((pieces[-1] if pieces else "") + shares, wordpieces, target=target, limit=limit),
        ]
    return [f"{author}: {piece}" for piece in pieces] if author is not None else pieces
