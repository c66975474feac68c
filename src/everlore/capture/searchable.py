"""The searchable form of a message: plain text in passages, under its author's name, with its captions."""

from collections.abc import Sequence

from everlore.capture.split import Count, passages, split


def searchable(author: str | None, text: str, captions: Sequence[str], wordpieces: Count) -> list[str]:
    """The passages of a message; captions come after the last. Empty when there is nothing to search (only tool calls)."""
    pieces = passages(text, wordpieces) if text and not text.isspace() else []
    if captions:
        shares = "".join(f" [shares {caption}]" for caption in captions)
        pieces = [*pieces[:-1], *split((pieces[-1] if pieces else "") + shares, wordpieces)]
    return [f"{author}: {piece}" for piece in pieces] if author is not None else pieces
