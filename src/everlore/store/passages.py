"""Passages of all layers but what was said: memories, facts and whatever else is found, in the search index beside the messages.

A passage belongs to an owner: the version that says it first, of some kind. No foreign key leads to it; who deletes an owner
calls `remove` or `remove_lineages` before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

from psycopg import AsyncCursor
from psycopg.rows import TupleRow

from everlore.domain.recall import Layer
from everlore.ports.embedder import EncodedPassage, Vector
from everlore.store import index, postings, recall
from everlore.store.conversation import take_passages
from everlore.store.queries import queries
from everlore.store.run import Transaction

_QUERIES = queries("passages")

# What `send` answers in a pipeline, for `merge`; nothing where nothing was sent.
Segments: TypeAlias = AsyncCursor[TupleRow] | None


@dataclass(frozen=True, slots=True)
class NewPassage:
    """What is searched of something that is no message. `owner_id` is the version that said it first (versions with the same
    words share the passage), `lineage_id` what all its versions have in common. `author` and `role`: whose words it rests on."""

    kind: str
    owner_id: UUID
    lineage_id: UUID
    text: str
    author: str | None
    role: str | None
    occurred_at: datetime
    taxonomy: str | None = None


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A passage that lacks a vector."""

    number: int
    layer: Layer
    text: str


async def insert(
    tx: Transaction,
    layer: Layer,
    passages: Sequence[NewPassage],
    encoded: Mapping[int, Sequence[EncodedPassage | None]] | None = None,
) -> list[int]:
    """Write passages in the caller's transaction; returns their numbers, in order. They are found by their words from the
    commit on. `encoded` has their vectors by the id of the model; for what lacks one a job is left.

    Whoever records messages waits for the numbers that this takes until the transaction ends: call it late in it.
    """
    numbers = await take(tx, len(passages))
    async with tx.pipeline():
        segments = await send(tx, layer, numbers, passages, encoded or {})
    await merge(tx, layer, segments)
    return numbers


async def take(tx: Transaction, count: int) -> list[int]:
    """Numbers for so many passages."""
    return list(await take_passages(tx, count)) if count else []


async def send(
    tx: Transaction,
    layer: Layer,
    numbers: Sequence[int],
    passages: Sequence[NewPassage],
    encoded: Mapping[int, Sequence[EncodedPassage | None]],
) -> Segments:
    """Write passages under numbers that were taken; for a pipeline, after which `merge` takes what it answers."""
    if not passages:
        return None
    await tx.done(
        _QUERIES["insert"],
        layer=layer,
        numbers=list(numbers),
        kinds=[p.kind for p in passages],
        owners=[p.owner_id for p in passages],
        lineages=[p.lineage_id for p in passages],
        roles=[p.role or "user" for p in passages],
        authors=[p.author or p.role or "user" for p in passages],
        times=[p.occurred_at for p in passages],
        paths=[p.taxonomy for p in passages],
        texts=[p.text for p in passages],
    )
    segments = await postings.send_segment(tx, layer, numbers)
    there: list[tuple[int, int]] = []
    for model_id, vectors in encoded.items():
        given = [(n, one) for n, one in zip(numbers, vectors, strict=True) if one is not None]
        there += [(model_id, number) for number, _ in given]
        await _send_vectors(tx, model_id, layer, given)
    await tx.done(
        _QUERIES["to_embed"],
        numbers=list(numbers),
        models=[model_id for model_id, _ in there],
        encoded=[number for _, number in there],
    )
    return segments


async def _send_vectors(
    tx: Transaction, model_id: int, layer: Layer, encoded: Sequence[tuple[int, EncodedPassage]]
) -> None:
    if encoded:
        await tx.done(
            _QUERIES["insert_vectors"],
            model_id=model_id,
            layer=layer,
            numbers=[number for number, _ in encoded],
            vectors=[recall.literal(one.vector) for _, one in encoded],
        )
    if tokens := [(number, one.tokens.tobytes()) for number, one in encoded if one.tokens is not None]:
        await tx.done(
            _QUERIES["insert_tokens"],
            model_id=model_id,
            numbers=[number for number, _ in tokens],
            tokens=[one for _, one in tokens],
        )


async def merge(tx: Transaction, layer: Layer, segments: Segments) -> None:
    """After `send`: keep the segments of postings few."""
    if segments is not None:
        await postings.merge(tx, layer, segments)


async def remove(tx: Transaction, layer: Layer, numbers: Sequence[int]) -> None:
    """Delete passages with their postings and vectors. Those of messages: their threads must be locked."""
    if numbers:
        await postings.remove(tx, layer, numbers)
        await tx.done(_QUERIES["remove"], layer=layer, numbers=list(numbers))


async def remove_messages(tx: Transaction, messages: Sequence[UUID]) -> int:
    """Delete the passages of messages, whose threads must be locked; returns how many."""
    by_layer: dict[Layer, list[int]] = {}
    for layer, number in await tx.tuples(_QUERIES["of_messages"], messages=list(messages)):
        by_layer.setdefault(layer, []).append(number)
    for layer, numbers in by_layer.items():
        await remove(tx, layer, numbers)
    return sum(map(len, by_layer.values()))


async def move(tx: Transaction, messages: Sequence[UUID], *, to: Layer) -> None:
    """Move the passages of messages between the layers of what is on the path of its thread and what is not, with their postings
    and vectors. Their threads must be locked."""
    source: Layer = "branches" if to == "said" else "said"
    found = await tx.tuples(_QUERIES["of_messages"], messages=list(messages))
    numbers = [number for layer, number in found if layer == source]
    if numbers:
        await postings.remove(tx, source, numbers)
        await tx.done(_QUERIES["move"], layer=to, numbers=numbers)
        await tx.done(_QUERIES["move_vectors"], layer=to, numbers=numbers)
        await postings.move_segment(tx, to, numbers, *await take(tx, 1))


async def remove_lineages(tx: Transaction, layer: Layer, lineages: Sequence[UUID]) -> None:
    """Delete all passages of some lineages, which go or are no longer to be found."""
    await remove(tx, layer, await tx.values(_QUERIES["of_lineages"], layer=layer, lineages=list(lineages)))


async def repack(tx: Transaction) -> None:
    """After `postings.forget_all`, in its transaction: postings are written anew from the passages. (Those of what was said are
    written by the next packing.)"""
    for layer in (await sizes(tx)).keys() - {"said"}:
        await postings.write_segment(tx, layer, await tx.values(_QUERIES["of_layer"], layer=layer))


async def owners(tx: Transaction, numbers: Sequence[int]) -> dict[int, UUID]:
    """What says each of these passages."""
    return dict(await tx.tuples(_QUERIES["owners"], numbers=list(numbers)))


async def load(tx: Transaction, model_id: int, at_most: int) -> list[Unembedded]:
    """The next passages that lack a vector of the model."""
    return await tx.rows(_QUERIES["load"], Unembedded, model_id=model_id, at_most=at_most)


async def write_loaded(
    tx: Transaction, model_id: int, encoded: Sequence[tuple[Unembedded, EncodedPassage]]
) -> None:
    """Write the vectors of passages that were loaded, and take them off the model's list. What was deleted meanwhile is left
    out."""
    if encoded:
        await index.write_vectors(tx, model_id, [(passage.number, one) for passage, one in encoded])
        await tx.done(
            _QUERIES["embedded"], model_id=model_id, numbers=[passage.number for passage, _ in encoded]
        )


async def waiting(tx: Transaction, model_id: int) -> int:
    """How many passages lack a vector of the model."""
    return await tx.value(_QUERIES["waiting"], model_id=model_id)


async def sizes(tx: Transaction) -> dict[Layer, int]:
    """How many passages are packed in each layer."""
    return dict(await tx.tuples(_QUERIES["sizes"]))


async def nearest_to_each(
    tx: Transaction, model_id: int, layer: Layer, given: Sequence[Vector], at_most: int, exact_below: int
) -> list[list[tuple[int, float]]]:
    """To each of some vectors the nearest passages of a layer with their cosines, best first: all compared up to `exact_below` of
    them."""
    size = (await sizes(tx)).get(layer, 0)
    if not size:
        return [[] for _ in given]
    by_index = size > exact_below and await index.has_vector_index(tx, model_id, layer)
    rows = await tx.tuples(
        _QUERIES["nearest_by_index" if by_index else "nearest_of_all"],
        model_id=model_id,
        layer=layer,
        vectors=[recall.literal(vector) for vector in given],
        at_most=at_most,
    )
    found = [list[tuple[int, float]]() for _ in given]
    for row in rows:
        place, number, distance = int(row[0]), int(row[1]), float(row[2])
        found[place - 1].append((number, 1 - distance))
    return found


async def vectors(tx: Transaction, model_id: int, numbers: Sequence[int]) -> dict[int, Vector]:
    """Vectors of those passages that have one."""
    rows = await tx.tuples(_QUERIES["vectors"], binary=True, model_id=model_id, numbers=list(numbers))
    return recall.vectors_by_number([(number, raw) for number, raw in rows])
