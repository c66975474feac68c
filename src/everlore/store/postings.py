"""BM25 postings: packing fresh passages into segments, merging segments, reading the postings of a question.

A passage of a message that no segment holds yet (the tail) is found all the same: its terms are read from the passage itself.
So packing never has to hurry, and segments stay few. The other layers have no tail: what is in them is little, comes in the
background, and is packed where it is written.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncCursor
from psycopg.rows import TupleRow, tuple_row

from everlore.domain.recall import LAYERS, Layer
from everlore.store.queries import queries
from everlore.store.run import Transaction

_QUERIES = queries("postings")

# Below so many fresh passages it is cheaper to read them as they are than to write another segment.
TAIL_LIMIT = 256
# When so many segments of one size class exist, they become one of the next class.
MERGE_FANOUT = 8
# The smallest size class of segments in other layers: about what one window yields.
_LEAST = 16

Postings: TypeAlias = NDArray[np.void]
POSTING = np.dtype([("passage_id", ">i4"), ("occurrences", ">u2"), ("length", ">u2")])


@dataclass(frozen=True, slots=True)
class LexicalView:
    """All that BM25 needs for one question, of one moment.

    `words`: the question's words in order, each with its term or None. `blocks`: per term its postings. `tail`: number,
    length and occurrences (in the order of `tail_terms`) of passages outside the blocks. `passages` and `length` count all.
    """

    words: tuple[tuple[str, str | None], ...]
    blocks: tuple[tuple[str, Postings], ...]
    tail_terms: tuple[str, ...]
    tail: tuple[tuple[int, int, list[int]], ...]
    passages: int
    length: int
    last_passage: int


@dataclass(frozen=True, slots=True)
class SentPostings:
    """What was sent to read the postings of a question."""

    words: AsyncCursor[TupleRow]
    blocks: AsyncCursor[TupleRow]
    totals: AsyncCursor[TupleRow]
    tail: AsyncCursor[TupleRow]


async def asked(tx: Transaction, question: str) -> SentPostings:
    """The postings of the question's terms, sent; for a pipeline, after which `received` takes the answers. Needs one snapshot
    (repeatable read)."""
    return SentPostings(
        await tx.sent(_QUERIES["question_words"], tuple_row, question=question),
        await tx.sent(_QUERIES["blocks"], tuple_row, binary=True, question=question),
        await tx.sent(_QUERIES["statistics"], tuple_row),
        await tx.sent(_QUERIES["tail"], tuple_row, question=question),
    )


async def received(answers: SentPostings) -> dict[Layer, LexicalView]:
    """The postings of each layer that has any passages."""
    words = tuple((str(word), term) for word, term in await answers.words.fetchall())
    blocks: dict[Layer, list[tuple[str, Postings]]] = {}
    for term, layer, raw in await answers.blocks.fetchall():
        blocks.setdefault(layer, []).append((str(term), np.frombuffer(raw, POSTING)))
    tail = tuple((int(n), int(length), list(counts)) for n, length, counts in await answers.tail.fetchall())
    terms = tuple(sorted({term for _, term in words if term is not None}))
    views: dict[Layer, LexicalView] = {}
    for layer, passages, length, last_passage in await answers.totals.fetchall():
        unpacked = tail if layer == "said" else ()
        if passages or layer == "said":
            views[layer] = LexicalView(
                words=words,
                blocks=tuple(blocks.get(layer, ())),
                tail_terms=terms,
                tail=unpacked,
                passages=passages + len(unpacked),
                length=length + sum(length for _, length, _ in unpacked),
                last_passage=last_passage,
            )
    return views


async def tail_size(tx: Transaction) -> int:
    return await tx.value(_QUERIES["tail_size"])


async def pack(tx: Transaction) -> int:
    """Write the tail as a segment and merge segments where they have become many; returns how many passages were packed."""
    await _lock(tx, "said")
    behind = await tx.tuples(_QUERIES["lock_behind"])
    if not behind:
        return 0
    threads, positions, written = zip(*behind, strict=True)
    packed = await tx.value(
        _QUERIES["pack"], threads=list(threads), positions=list(positions), written=list(written)
    )
    await _merge(tx, "said", await tx.tuples(_QUERIES["segments"], layer="said"), TAIL_LIMIT)
    return packed


async def write_segment(tx: Transaction, layer: Layer, passages: Sequence[int]) -> None:
    """Write passages that were just inserted as a segment of their layer (any but `said`), and merge."""
    if passages:
        await merge(tx, layer, await send_segment(tx, layer, passages))


async def move_segment(tx: Transaction, layer: Layer, passages: Sequence[int], segment: int) -> None:
    """Write passages of messages that come from another layer as a segment of this one, under a number that no segment has. Those
    that are to be packed yet stay with the tail."""
    await _lock(tx, layer)
    if layer == "said":
        passages = await tx.values(_QUERIES["packed"], passages=list(passages))
    if passages:
        await tx.done(_QUERIES["write_segment"], layer=layer, passages=list(passages), segment=segment)
        least = TAIL_LIMIT if layer == "said" else _LEAST
        await _merge(tx, layer, await tx.tuples(_QUERIES["segments"], layer=layer), least)


async def send_segment(tx: Transaction, layer: Layer, passages: Sequence[int]) -> AsyncCursor[TupleRow]:
    """Write passages as a segment of their layer; for a pipeline, after which the answer, all segments of the layer, is for
    `merge`."""
    await _lock(tx, layer)
    await tx.done(_QUERIES["write_segment"], layer=layer, passages=list(passages), segment=None)
    return await tx.sent(_QUERIES["segments"], tuple_row, layer=layer)


async def merge(tx: Transaction, layer: Layer, segments: AsyncCursor[TupleRow]) -> None:
    """Merge segments of a layer (any but `said`) where they have become many."""
    await _merge(tx, layer, await segments.fetchall(), _LEAST)


async def _lock(tx: Transaction, layer: Layer) -> None:
    await tx.done(_QUERIES["lock_lexicon"], layer=layer)


async def _merge(tx: Transaction, layer: Layer, segments: Sequence[TupleRow], least: int) -> None:
    classes: dict[int, list[int]] = {}
    for segment, passages in segments:
        classes.setdefault(_size_class(passages, least), []).append(segment)
    for size_class in sorted(classes):
        full = classes[size_class]
        if len(full) >= MERGE_FANOUT:
            await tx.done(_QUERIES["merge"], layer=layer, segments=full, into=min(full))


def _size_class(passages: int, least: int) -> int:
    """0 up to `least`, then one more for each factor of the fanout."""
    size_class = 0
    while passages > least * MERGE_FANOUT**size_class:
        size_class += 1
    return size_class


async def remove(tx: Transaction, layer: Layer, passages: Sequence[int]) -> None:
    """Take passages out of the postings before they are deleted. Those of messages: their threads must be locked."""
    await _lock(tx, layer)
    gone = list(passages)
    count, length = await tx.tuple(_QUERIES["packed_totals"], passages=gone) or (0, 0)
    blocks = await tx.tuples(_QUERIES["blocks_of_passages"], binary=True, layer=layer, passages=gone)
    async with tx.pipeline():
        for term, segment, raw in blocks:
            postings = np.frombuffer(raw, POSTING)
            kept = postings[~np.isin(postings["passage_id"], np.array(gone, dtype=np.int64))]
            if not len(kept):
                await tx.done(_QUERIES["drop_block"], layer=layer, term=term, segment=segment)
            elif len(kept) < len(postings):
                await tx.done(
                    _QUERIES["rewrite_block"],
                    layer=layer,
                    term=term,
                    segment=segment,
                    postings=kept.tobytes(),
                )
        await tx.done(_QUERIES["subtract"], layer=layer, passages=count, length=int(length))


async def forget_all(tx: Transaction) -> None:
    """Drop the workspace's postings. The next packing writes those of messages anew, `passages.repack` the others."""
    for layer in LAYERS:
        await _lock(tx, layer)
    await tx.done(_QUERIES["forget_all_postings"])
