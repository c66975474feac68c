"""The lanes of recall and what hits are made of: a handful of named queries, all of one snapshot."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncCursor
from psycopg.rows import TupleRow, kwargs_row, tuple_row

from everlore.domain.recall import Citation, Layer, Neighbour
from everlore.ports.embedder import TOKEN_DIMENSIONS, TokenMatrix, Vector
from everlore.store.queries import queries
from everlore.store.run import Transaction
from everlore.store.texts import asked, received, texts_of

_QUERIES = queries("recall")
# Places (i, j) of candidates, as two arrays.
Pairs: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]


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
    `asks` says which end with a question; `vectors` is (candidates, dimensions) with rows of zeros where there is none, or None
    without a model. `pairs` is kept by `everlore.recall.fuse`: places of neighbours by their distance, worked out once."""

    passage_ids: NDArray[np.int64]
    message_ids: tuple[bytes, ...]
    session: NDArray[np.int64]
    sequence: NDArray[np.int64]
    roles: tuple[str, ...]
    authors: tuple[str, ...]
    times: tuple[datetime, ...]
    lengths: NDArray[np.float64]
    asks: NDArray[np.bool_]
    vectors: Vector | None
    pairs: dict[int, Pairs] = field(default_factory=dict[int, Pairs], repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message as hits show it, with those next to it in order."""

    citation: Citation
    text: str
    captions: tuple[str, ...]
    off_the_record: bool
    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True, slots=True)
class OtherPassages:
    """Passages of another layer than what was said, column by column, by number; `cosines` with a question are NaN where there is
    no vector, or None where there is none at all."""

    passage_ids: NDArray[np.int64]
    kinds: tuple[str, ...]
    cosines: NDArray[np.float64] | None


@dataclass(frozen=True, slots=True)
class Key:
    """A passage rests on a message: one of the message's passages, and the 16 bytes of its id."""

    passage_id: int
    source: int
    message_id: bytes


async def vector_exact(
    tx: Transaction, model_id: int, vector: Vector, at_most: int, layer: Layer = "said"
) -> list[tuple[int, float]]:
    return (await vectors_exact(tx, model_id, vector, at_most, [layer]))[layer]


async def vectors_exact(
    tx: Transaction, model_id: int, vector: Vector, at_most: int, layers: Sequence[Layer]
) -> dict[Layer, list[tuple[int, float]]]:
    """The nearest of each of the layers."""
    given: dict[str, Any] = {"model_id": model_id, "vector": literal(vector), "at_most": at_most}
    async with tx.pipeline():
        sent: dict[Layer, AsyncCursor[TupleRow]] = {
            layer: await tx.sent(_QUERIES["vector_exact"], tuple_row, binary=True, layer=layer, **given)
            for layer in layers
        }
    found: dict[Layer, list[tuple[int, float]]] = {}
    for layer, rows in sent.items():
        found[layer] = [(number, distance) for number, distance in await rows.fetchall()]
    return found


async def vector_among(
    tx: Transaction, model_id: int, vector: Vector, passages: Sequence[int], at_most: int
) -> list[tuple[int, float]]:
    return await _pairs(
        tx,
        "vector_among",
        model_id=model_id,
        vector=literal(vector),
        passages=list(passages),
        at_most=at_most,
    )


async def vector_hnsw(
    tx: Transaction, model_id: int, vector: Vector, at_most: int, within: Filter, layer: Layer = "said"
) -> list[tuple[int, float]]:
    return await _pairs(
        tx,
        "vector_hnsw",
        model_id=model_id,
        vector=literal(vector),
        at_most=at_most,
        layer=layer,
        **within.parameters(),
    )


async def threads_within(tx: Transaction, project: str | None, taxonomy: str | None) -> tuple[UUID, ...]:
    return tuple(await tx.values(_QUERIES["threads_within"], project=project, taxonomy=taxonomy))


async def passages_within(
    tx: Transaction, within: Filter, at_most: int, among: Sequence[int] | None = None
) -> NDArray[np.int64]:
    numbers = await tx.values(
        _QUERIES["passages_within"],
        binary=True,
        at_most=at_most,
        among=None if among is None else list(among),
        **within.parameters(),
    )
    return np.array(numbers, dtype=np.int64)


async def around(tx: Transaction, passages: Sequence[int], reach: int, model_id: int | None) -> Surroundings:
    """The passages and their neighbours of the same session up to `reach` passages away."""
    rows = await tx.tuples(
        _QUERIES["around"], binary=True, passages=list(passages), reach=reach, model_id=model_id
    )
    columns: list[tuple[Any, ...]] = list(zip(*rows, strict=True)) if rows else [()] * 10
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
        asks=np.array(columns[8], dtype=np.bool_),
        vectors=vectors_of_rows(columns[9]),
    )


async def found(
    tx: Transaction, passages: Mapping[Layer, Sequence[int]], model_id: int | None, vector: Vector | None
) -> dict[Layer, OtherPassages]:
    """Passages of other layers than what was said; a layer of which none is there any more is missing."""
    rows = await tx.tuples(
        _QUERIES["found"],
        binary=True,
        passages=[number for some in passages.values() for number in some],
        model_id=model_id,
        vector=None if vector is None else literal(vector),
    )
    of_layer: dict[Layer, list[TupleRow]] = {}
    for row in rows:
        of_layer.setdefault(row[0], []).append(row[1:])
    return {layer: _other_passages(some) for layer, some in of_layer.items()}


def _other_passages(rows: Sequence[TupleRow]) -> OtherPassages:
    numbers, kinds, cosines = zip(*rows, strict=True)
    near = np.array(cosines, dtype=np.float64)
    return OtherPassages(np.array(numbers, dtype=np.int64), kinds, None if np.isnan(near).all() else near)


async def tokens(tx: Transaction, passages: Sequence[int], model_id: int) -> dict[int, TokenMatrix]:
    """Token vectors (tokens, 128) of those passages that have them."""
    rows = await tx.tuples(_QUERIES["tokens"], binary=True, passages=list(passages), model_id=model_id)
    return {number: np.frombuffer(raw, np.int8).reshape(-1, TOKEN_DIMENSIONS) for number, raw in rows}


async def texts(tx: Transaction, passages: Sequence[int]) -> dict[int, str]:
    return dict(await tx.tuples(_QUERIES["texts"], passages=list(passages)))


async def messages(
    tx: Transaction, message_ids: Sequence[UUID], *, reach: int = 0
) -> dict[UUID, ShownMessage]:
    """What is shown of messages, with so many on each side of each in the same session. One round trip, and one more for what
    those say."""
    given: Any = {"messages": list(message_ids)}
    async with tx.pipeline():
        shown = await tx.sent(_QUERIES["messages"], kwargs_row(_shown), **given)
        answer = await asked(tx, message_ids)
        beside = (
            await tx.sent(_QUERIES["neighbours"], kwargs_row(_near), **given, reach=reach) if reach else None
        )
    said = await received(answer)
    near = [] if beside is None else await beside.fetchall()
    if more := {one.message_id for _, _, one in near} - said.keys():
        said |= await texts_of(tx, list(more))
    neighbours: dict[UUID, list[Neighbour]] = {}
    for of, distance, one in near:
        neighbours.setdefault(of, []).append(Neighbour(distance, said[one.message_id], one))
    return {
        one.message_id: ShownMessage(
            one, said[one.message_id], captions, private, tuple(neighbours.get(one.message_id, ()))
        )
        for one, captions, private in await shown.fetchall()
    }


def _shown(
    *, captions: Sequence[str], off_the_record: bool, **cited: Any
) -> tuple[Citation, tuple[str, ...], bool]:
    return Citation(**cited), tuple(captions), off_the_record


def _near(*, near: UUID, distance: int, **cited: Any) -> tuple[UUID, int, Citation]:
    return near, distance, Citation(**cited)


def by_lineage(rows: Iterable[tuple[UUID, Citation]]) -> dict[UUID, tuple[Citation, ...]]:
    """Citations by what rests on them, in order."""
    found: dict[UUID, list[Citation]] = {}
    for lineage, citation in rows:
        found.setdefault(lineage, []).append(citation)
    return {lineage: tuple(cited) for lineage, cited in found.items()}


def cited(*, lineage_id: UUID, **columns: Any) -> tuple[UUID, Citation]:
    return lineage_id, Citation(**columns)


async def _pairs(tx: Transaction, query: str, **parameters: Any) -> list[tuple[int, float]]:
    rows = await tx.tuples(_QUERIES[query], binary=True, **parameters)
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
