"""What was handed out to prompts, by hash and by runs of words, so that it is known again when it comes back."""

from collections.abc import Sequence
from datetime import datetime

from everlore.store.queries import queries
from everlore.store.run import Transaction
from everlore.text.shingles import LEAST_WORDS, Paragraph, is_copy, paragraphs

_QUERIES = queries("echoes")


async def note_handed_out(tx: Transaction, text: str, now: datetime) -> None:
    """Remember a text that Everlore puts into a prompt, paragraph by paragraph; only hashes are kept."""
    for one in {paragraph.digest: paragraph for paragraph in paragraphs(text)}.values():
        await tx.done(_QUERIES["note"], digest=one.digest, shingles=sorted(one.shingles), at=now)


async def find(tx: Transaction, texts: Sequence[str]) -> list[tuple[tuple[int, int], ...]]:
    """Of each text the stretches that were handed out, word for word or nearly so.

    A paragraph of fewer than six words counts only next to one that was handed out: "I like tea" is said by people too.
    """
    nothing: list[tuple[tuple[int, int], ...]] = [() for _ in texts]
    if not await tx.value(_QUERIES["handed_anything"]):
        return nothing
    found = [paragraphs(text) for text in texts]
    if not any(found):
        return nothing
    digests = list({one.digest for text in found for one in text})
    same = {bytes(digest) for digest in await tx.values(_QUERIES["same"], binary=True, digests=digests)}
    runs = sorted({run for text in found for one in text if one.words >= LEAST_WORDS for run in one.shingles})
    alike = await tx.values(_QUERIES["alike"], binary=True, shingles=runs) if runs else []
    handed = frozenset[int](run for row in alike for run in row)
    return [_stretches(text, same, handed) for text in found]


async def forget_handed_out(tx: Transaction, before: datetime) -> None:
    """Drop what was handed out before a moment: what was compacted away long ago does not come back."""
    await tx.done(_QUERIES["forget_before"], before=before)


def _stretches(
    text: Sequence[Paragraph], same: set[bytes], handed: frozenset[int]
) -> tuple[tuple[int, int], ...]:
    sure = [is_copy(one, handed) or (one.words >= LEAST_WORDS and one.digest in same) for one in text]
    copied = [
        known or (one.digest in same and (any(sure[max(0, place - 1) : place + 2])))
        for place, (one, known) in enumerate(zip(text, sure, strict=True))
    ]
    return tuple((one.start, one.end) for one, known in zip(text, copied, strict=True) if known)
