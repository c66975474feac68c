"""BM25 postings: packing fresh passages into segments, merging segments, reading the postings of a question.

A passage that no segment holds yet (the tail) is found all the same: its terms are read from the passage itself. So packing
never has to hurry, and segments stay few.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from everlore.store.database import Connection, fetched
from everlore.store.queries import queries

_QUERIES = queries("postings")

# Below so many fresh passages it is cheaper to read them as they are than to write another segment.
TAIL_LIMIT = 256
# When so many segments of one size class exist, they become one of the next class.
MERGE_FANOUT = 8

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


async def read(connection: Connection, question: str) -> LexicalView:
    """Read the postings of the question's terms. Needs one snapshot (repeatable read)."""
    parameters = {"question": question}
    async with connection.pipeline():
        words = await connection.execute(_QUERIES["question_words"], parameters)
        blocks = await connection.execute(_QUERIES["blocks"], parameters, binary=True)
        statistics = await connection.execute(_QUERIES["statistics"])
        tail = await connection.execute(_QUERIES["tail"], parameters)
        all_words = tuple((str(word), term) for word, term in await words.fetchall())
        all_blocks = tuple((str(term), np.frombuffer(raw, POSTING)) for term, raw in await blocks.fetchall())
        row = await statistics.fetchone()
        all_tail = tuple((int(n), int(length), list(counts)) for n, length, counts in await tail.fetchall())
    passages, length, last_passage = row or (0, 0, 0)
    return LexicalView(
        words=all_words,
        blocks=all_blocks,
        tail_terms=tuple(sorted({term for _, term in all_words if term is not None})),
        tail=all_tail,
        passages=passages + len(all_tail),
        length=length + sum(length for _, length, _ in all_tail),
        last_passage=last_passage,
    )


async def tail_size(connection: Connection) -> int:
    return fetched(await (await connection.execute(_QUERIES["tail_size"])).fetchone())


async def pack(connection: Connection) -> int:
    """Write the tail as a segment and merge segments where they have become many; returns how many passages were packed."""
    await connection.execute(_QUERIES["lock_lexicon"])
    behind = await (await connection.execute(_QUERIES["lock_behind"])).fetchall()
    if not behind:
        return 0
    threads, positions, written = zip(*behind, strict=True)
    row = await (
        await connection.execute(
            _QUERIES["pack"],
            {"threads": list(threads), "positions": list(positions), "written": list(written)},
        )
    ).fetchone()
    await _merge(connection)
    return fetched(row)


async def _merge(connection: Connection) -> None:
    rows = await (await connection.execute(_QUERIES["segments"])).fetchall()
    classes: dict[int, list[int]] = {}
    for segment, passages in rows:
        classes.setdefault(_size_class(passages), []).append(segment)
    for size_class in sorted(classes):
        full = classes[size_class]
        if len(full) >= MERGE_FANOUT:
            await connection.execute(_QUERIES["merge"], {"segments": full, "into": min(full)})


def _size_class(passages: int) -> int:
    """0 up to the tail's limit, then one more for each factor of the fanout."""
    size_class = 0
    while passages > TAIL_LIMIT * MERGE_FANOUT**size_class:
        size_class += 1
    return size_class


async def remove(connection: Connection, passages: list[int]) -> None:
    """Take passages out of the postings before they are deleted; their threads must be locked."""
    await connection.execute(_QUERIES["lock_lexicon"])
    count, length = await (
        await connection.execute(_QUERIES["packed_totals"], {"passages": passages})
    ).fetchone() or (0, 0)
    blocks = await (
        await connection.execute(_QUERIES["blocks_of_passages"], {"passages": passages}, binary=True)
    ).fetchall()
    gone = np.array(passages, dtype=np.int64)
    for term, segment, raw in blocks:
        postings = np.frombuffer(raw, POSTING)
        kept = postings[~np.isin(postings["passage_id"], gone)]
        if len(kept) == len(postings):
            continue
        key = {"term": term, "segment": segment, "postings": kept.tobytes()}
        await connection.execute(_QUERIES["rewrite_block" if len(kept) else "drop_block"], key)
    await connection.execute(_QUERIES["subtract"], {"passages": count, "length": int(length)})


async def forget_all(connection: Connection) -> None:
    """Drop the workspace's postings; the next packing writes them anew."""
    await connection.execute(_QUERIES["lock_lexicon"])
    await connection.execute(_QUERIES["forget_all_postings"])
