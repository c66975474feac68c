"""BM25 postings: packing fresh passages into segments, merging segments, reading the postings of a question.

A passage of a message that no segment holds yet (the tail) is found all the same: its terms are read from the passage itself.
So packing never has to hurry, and segments stay few. Distilled passages have a layer of their own, without a tail: they are
few, come in the background, and are packed where they are written.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncCursor
from psycopg.rows import TupleRow, tuple_row

from everlore.store.queries import queries
from everlore.store.run import Transaction, fetched

_QUERIES = queries("postings")

# Below so many fresh passages it is cheaper to read them as they are than to write another segment.
TAIL_LIMIT = 256
# When so many segments of one size class exist, they become one of the next class.
MERGE_FANOUT = 8
# The smallest size class of distilled segments: about what one window yields.
_DISTILLED_LEAST = 16

Postings: TypeAlias = NDArray[np.void]
POSTING = np.dtype([("passage_id", ">i4"), ("occurrences", ">u2"), ("length", ">u2")])


@dataclass(frozen=True, slots=True)
class LexicalView:
    """All that BM25 needs for one question, of one moment.

    `words`: the question's words in order, each with its term or None. `blocks`: per term its postings. `tail`: number,
    length and occurrences (in the order of `tail_terms`) of passages outside the blocks. `passages` and `length` count all.
    `distilled` is the same of the layer of memories and facts; None when there is nothing in it.
    """

    words: tuple[tuple[str, str | None], ...]
    blocks: tuple[tuple[str, Postings], ...]
    tail_terms: tuple[str, ...]
    tail: tuple[tuple[int, int, list[int]], ...]
    passages: int
    length: int
    last_passage: int
    distilled: "LexicalView | None" = None


async def read(tx: Transaction, question: str) -> LexicalView:
    """Read the postings of the question's terms. Needs one snapshot (repeatable read)."""
    parameters = {"question": question}
    async with tx.pipeline():
        words = await tx.execute(_QUERIES["question_words"], parameters)
        blocks = await tx.execute(_QUERIES["blocks"], parameters, binary=True)
        statistics = await tx.execute(_QUERIES["statistics"])
        tail = await tx.execute(_QUERIES["tail"], parameters)
        all_words = tuple((str(word), term) for word, term in await words.fetchall())
        blocks_of: dict[bool, list[tuple[str, Postings]]] = {False: [], True: []}
        for term, distilled, raw in await blocks.fetchall():
            blocks_of[distilled].append((str(term), np.frombuffer(raw, POSTING)))
        rows = await statistics.fetchall()
        totals = {distilled: (count, length) for distilled, count, length, _ in rows}
        all_tail = tuple((int(n), int(length), list(counts)) for n, length, counts in await tail.fetchall())
    last_passage = rows[0][3] if rows else 0
    terms = tuple(sorted({term for _, term in all_words if term is not None}))
    passages, length = totals.get(False, (0, 0))
    distilled_passages, distilled_length = totals.get(True, (0, 0))
    return LexicalView(
        words=all_words,
        blocks=tuple(blocks_of[False]),
        tail_terms=terms,
        tail=all_tail,
        passages=passages + len(all_tail),
        length=length + sum(length for _, length, _ in all_tail),
        last_passage=last_passage,
        distilled=LexicalView(
            all_words, tuple(blocks_of[True]), terms, (), distilled_passages, distilled_length, last_passage
        )
        if distilled_passages
        else None,
    )


async def tail_size(tx: Transaction) -> int:
    return fetched(await (await tx.execute(_QUERIES["tail_size"])).fetchone())


async def pack(tx: Transaction) -> int:
    """Write the tail as a segment and merge segments where they have become many; returns how many passages were packed."""
    await tx.execute(_QUERIES["lock_lexicon"], {"distilled": False})
    behind = await (await tx.execute(_QUERIES["lock_behind"])).fetchall()
    if not behind:
        return 0
    threads, positions, written = zip(*behind, strict=True)
    row = await (
        await tx.execute(
            _QUERIES["pack"],
            {"threads": list(threads), "positions": list(positions), "written": list(written)},
        )
    ).fetchone()
    await _merge(tx, await tx.tuples(_QUERIES["segments"], distilled=False), TAIL_LIMIT, distilled=False)
    return fetched(row)


async def pack_distilled(tx: Transaction, passages: Sequence[int]) -> None:
    """Write distilled passages that were just inserted as a segment of their layer, and merge."""
    if passages:
        await merge_distilled(tx, await send_distilled(tx, passages))


async def send_distilled(tx: Transaction, passages: Sequence[int]) -> AsyncCursor[TupleRow]:
    """Write distilled passages as a segment of their layer; for a pipeline, after which the answer, all segments of the layer, is
    for `merge_distilled`."""
    await tx.done(_QUERIES["lock_lexicon"], distilled=True)
    await tx.done(_QUERIES["pack_distilled"], passages=list(passages))
    return await tx.sent(_QUERIES["segments"], tuple_row, distilled=True)


async def merge_distilled(tx: Transaction, segments: AsyncCursor[TupleRow]) -> None:
    """Merge segments of the distilled layer where they have become many."""
    await _merge(tx, await segments.fetchall(), _DISTILLED_LEAST, distilled=True)


async def _merge(tx: Transaction, segments: Sequence[TupleRow], least: int, *, distilled: bool) -> None:
    classes: dict[int, list[int]] = {}
    for segment, passages in segments:
        classes.setdefault(_size_class(passages, least), []).append(segment)
    for size_class in sorted(classes):
        full = classes[size_class]
        if len(full) >= MERGE_FANOUT:
            parameters = {"segments": full, "into": min(full), "distilled": distilled}
            await tx.execute(_QUERIES["merge"], parameters)


def _size_class(passages: int, least: int) -> int:
    """0 up to `least`, then one more for each factor of the fanout."""
    size_class = 0
    while passages > least * MERGE_FANOUT**size_class:
        size_class += 1
    return size_class


async def remove(tx: Transaction, passages: Sequence[int]) -> None:
    """Take passages of messages out of the postings before they are deleted; their threads must be locked."""
    await _remove(tx, passages, "packed_totals", distilled=False)


async def remove_distilled(tx: Transaction, passages: Sequence[int]) -> None:
    """Take distilled passages out of the postings before they are deleted."""
    await _remove(tx, passages, "distilled_totals", distilled=True)


async def _remove(tx: Transaction, passages: Sequence[int], totals: str, *, distilled: bool) -> None:
    layer = {"distilled": distilled}
    await tx.execute(_QUERIES["lock_lexicon"], layer)
    named = {"passages": list(passages), **layer}
    count, length = await (await tx.execute(_QUERIES[totals], named)).fetchone() or (0, 0)
    blocks = await (await tx.execute(_QUERIES["blocks_of_passages"], named, binary=True)).fetchall()
    gone = np.array(passages, dtype=np.int64)
    for term, segment, raw in blocks:
        postings = np.frombuffer(raw, POSTING)
        kept = postings[~np.isin(postings["passage_id"], gone)]
        if len(kept) == len(postings):
            continue
        key = {"term": term, "segment": segment, "postings": kept.tobytes(), **layer}
        await tx.execute(_QUERIES["rewrite_block" if len(kept) else "drop_block"], key)
    await tx.execute(_QUERIES["subtract"], {"passages": count, "length": int(length), **layer})


async def forget_all(tx: Transaction) -> None:
    """Drop the workspace's postings. The next packing writes those of messages anew, `repack_distilled` the others."""
    for distilled in (False, True):
        await tx.execute(_QUERIES["lock_lexicon"], {"distilled": distilled})
    await tx.execute(_QUERIES["forget_all_postings"])


async def repack_distilled(tx: Transaction) -> None:
    """After `forget_all`, in its transaction: the distilled layer is written anew from its passages."""
    rows = await (await tx.execute(_QUERIES["distilled_passages"])).fetchall()
    await pack_distilled(tx, [row[0] for row in rows])
