"""The lanes of recall and what hits are made of: a handful of named queries, all of one snapshot."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray

from everlore.domain.recall import Citation, Neighbour
from everlore.ports.embedder import TOKEN_DIMENSIONS, TokenMatrix, Vector
from everlore.store.queries import queries
from everlore.store.run import Transaction

_QUERIES = queries("recall")


class LaneTimeout(Exception):
    """A lane's statement was stopped at the deadline; the transaction goes on without it."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What a recall is limited to. `recorded_by`: to messages that were recorded by then. `branch` are the threads under the
    path `taxonomy`: a passage with a path of its own counts by that path, any other by its thread."""

    since: datetime | None = None
    until: datetime | None = None
    author: str | None = None
    threads: tuple[UUID, ...] | None = None
    taxonomy: str | None = None
    recorded_by: datetime | None = None
    branch: tuple[UUID, ...] = ()

    @property
    def is_open(self) -> bool:
        return self == Filter()

    def parameters(self) -> dict[str, Any]:
        return {
            "since": self.since,
            "until": self.until,
            "author": self.author,
            "threads": None if self.threads is None else list(self.threads),
            "taxonomy": self.taxonomy,
            "recorded_by": self.recorded_by,
            "branch": list(self.branch),
        }


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Candidate passages in reading order (thread, then sequence), column by column. `message_ids` are
    the 16 bytes of the UUIDs (making UUIDs of hundreds costs a millisecond); `session` numbers the sessions;
    `vectors` is (candidates, dimensions) with rows of zeros where there is none, or None without a model."""

    passage_ids: NDArray[np.int64]
    message_ids: tuple[bytes, ...]
    session: NDArray[np.int64]
    sequence: NDArray[np.int64]
    roles: tuple[str, ...]
    authors: tuple[str, ...]
    times: tuple[datetime, ...]
    lengths: NDArray[np.float64]
    vectors: Vector | None


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message as hits show it."""

    citation: Citation
    text: str
    captions: tuple[str, ...]


@asynccontextmanager
async def lane(tx: Transaction, remaining_ms: float | None) -> AsyncGenerator[None]:
    """Bounds what runs inside: raises LaneTimeout at the deadline and leaves the transaction usable."""
    if remaining_ms is None:
        yield
        return
    if remaining_ms < 1:
        raise LaneTimeout
    try:
        async with tx.savepoint():
            await tx.execute(_QUERIES["deadline"], {"milliseconds": str(int(remaining_ms))})
            yield
            await tx.execute(_QUERIES["deadline"], {"milliseconds": "0"})
    except psycopg.errors.QueryCanceled as error:
        raise LaneTimeout from error


async def vector_exact(
    tx: Transaction, model_id: int, vector: Vector, at_most: int, *, distilled: bool = False
) -> list[tuple[int, float]]:
    parameters = {
        "model_id": model_id,
        "vector": literal(vector),
        "at_most": at_most,
        "distilled": distilled,
    }
    return await _pairs(tx, "vector_exact", parameters)


async def vector_among(
    tx: Transaction, model_id: int, vector: Vector, passages: Sequence[int], at_most: int
) -> list[tuple[int, float]]:
    parameters = {
        "model_id": model_id,
        "vector": literal(vector),
        "passages": list(passages),
        "at_most": at_most,
    }
    return await _pairs(tx, "vector_among", parameters)


async def vector_hnsw(
    tx: Transaction,
    model_id: int,
    vector: Vector,
    at_most: int,
    within: Filter,
    *,
    distilled: bool = False,
) -> list[tuple[int, float]]:
    parameters = {
        "model_id": model_id,
        "vector": literal(vector),
        "at_most": at_most,
        "distilled": distilled,
        **within.parameters(),
    }
    return await _pairs(tx, "vector_hnsw", parameters)


async def threads_within(tx: Transaction, project: str | None, taxonomy: str | None) -> tuple[UUID, ...]:
    cursor = await tx.execute(_QUERIES["threads_within"], {"project": project, "taxonomy": taxonomy})
    return tuple(row[0] for row in await cursor.fetchall())


async def passages_within(
    tx: Transaction, within: Filter, at_most: int, among: Sequence[int] | None = None
) -> NDArray[np.int64]:
    parameters = {**within.parameters(), "at_most": at_most, "among": None if among is None else list(among)}
    rows = await (await tx.execute(_QUERIES["passages_within"], parameters, binary=True)).fetchall()
    return np.array([row[0] for row in rows], dtype=np.int64)


async def latest(tx: Transaction, since: datetime, until: datetime, at_most: int) -> list[int]:
    parameters = {"since": since, "until": until, "at_most": at_most}
    return [row[0] for row in await (await tx.execute(_QUERIES["latest"], parameters)).fetchall()]


async def around(tx: Transaction, passages: Sequence[int], reach: int, model_id: int | None) -> Surroundings:
    """The passages and their neighbours of the same session up to `reach` passages away."""
    parameters = {"passages": list(passages), "reach": reach, "model_id": model_id}
    rows = await (await tx.execute(_QUERIES["around"], parameters, binary=True)).fetchall()
    columns: list[tuple[Any, ...]] = list(zip(*rows, strict=True)) if rows else [()] * 9
    codes: dict[bytes, int] = {}
    return Surroundings(
        passage_ids=np.array(columns[0], dtype=np.int64),
        message_ids=columns[1],
        session=np.array([codes.setdefault(session, len(codes)) for session in columns[2]], dtype=np.int64),
        sequence=np.array(columns[3], dtype=np.int64),
        roles=columns[4],
        authors=columns[5],
        times=columns[6],
        lengths=np.array(columns[7], dtype=np.float64),
        vectors=vectors_of_rows(columns[8]),
    )


async def tokens(tx: Transaction, passages: Sequence[int], model_id: int) -> dict[int, TokenMatrix]:
    """Token vectors (tokens, 128) of those passages that have them."""
    parameters = {"passages": list(passages), "model_id": model_id}
    rows = await (await tx.execute(_QUERIES["tokens"], parameters, binary=True)).fetchall()
    return {number: np.frombuffer(raw, np.int8).reshape(-1, TOKEN_DIMENSIONS) for number, raw in rows}


async def texts(tx: Transaction, passages: Sequence[int]) -> dict[int, str]:
    rows = await (await tx.execute(_QUERIES["texts"], {"passages": list(passages)})).fetchall()
    return dict(rows)


async def messages(tx: Transaction, message_ids: Sequence[UUID]) -> dict[UUID, ShownMessage]:
    rows = await (await tx.execute(_QUERIES["messages"], {"messages": list(message_ids)})).fetchall()
    return {
        message_id: ShownMessage(Citation(message_id, thread, author, role, at), text, tuple(captions))
        for message_id, thread, author, role, at, text, captions in rows
    }


async def neighbours(
    tx: Transaction, message_ids: Sequence[UUID], reach: int
) -> dict[UUID, tuple[Neighbour, ...]]:
    """The messages next to each given one, in the same session, in order."""
    parameters = {"messages": list(message_ids), "reach": reach}
    found: dict[UUID, list[Neighbour]] = {}
    for of, offset, text, message_id, thread, author, role, at in await (
        await tx.execute(_QUERIES["neighbours"], parameters)
    ).fetchall():
        citation = Citation(message_id, thread, author, role, at)
        found.setdefault(of, []).append(Neighbour(offset, text, citation))
    return {of: tuple(near) for of, near in found.items()}


async def _pairs(tx: Transaction, query: str, parameters: dict[str, Any]) -> list[tuple[int, float]]:
    rows = await (await tx.execute(_QUERIES[query], parameters, binary=True)).fetchall()
    return [(number, distance) for number, distance in rows]


def vectors_by_number(rows: Sequence[tuple[int, bytes]]) -> dict[int, Vector]:
    """Passage numbers with vectors in halfvec's binary form, as arrays."""
    matrix = vectors_of_rows([raw for _, raw in rows])
    return {} if matrix is None else {number: matrix[place] for place, (number, _) in enumerate(rows)}


def literal(vector: Vector) -> str:
    return "[" + ",".join(map(str, vector.astype(np.float16))) + "]"


def vectors_of_rows(raw: Sequence[bytes | None]) -> Vector | None:
    """From halfvec's binary form: two 16-bit numbers (the dimension first), then big-endian halves."""
    present = next((value for value in raw if value is not None), None)
    if present is None:
        return None
    empty = bytes(len(present))
    # Bytes are swapped as whole numbers first: numpy widens halves of the machine's own byte order faster.
    halves = (
        np.frombuffer(b"".join(value or empty for value in raw), np.dtype(">u2"))
        .astype(np.uint16)
        .view(np.float16)
    )
    return halves.astype(np.float32).reshape(len(raw), -1)[:, 2:]
