"""Distilled passages: memories and facts in the search index, in a layer of their own beside the messages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from everlore.ports.embedder import EncodedPassage, Vector
from everlore.store import index, jobs, postings, recall
from everlore.store.conversation import take_passages
from everlore.store.queries import queries
from everlore.store.run import Transaction, fetched

_QUERIES = queries("passages")


@dataclass(frozen=True, slots=True)
class DistilledPassage:
    """What is searched of a memory or a fact. `owner_id` is the memory's or fact's version that said it first; versions with
    the same words share the passage. `author` and `role`: whose words it rests on."""

    kind: Literal["memory", "fact"]
    owner_id: UUID
    text: str
    author: str | None
    role: str | None
    occurred_at: datetime
    taxonomy: str | None = None


async def insert(
    tx: Transaction,
    passages: Sequence[DistilledPassage],
    encoded: Mapping[int, Sequence[EncodedPassage]] | None = None,
) -> list[int]:
    """Write passages in the caller's transaction; returns their numbers, in order. They are found by their words from the
    commit on. `encoded` has their vectors by the id of the model; for all other models a job is left.

    Whoever records messages waits for the numbers that this takes until the transaction ends: call it late in it.
    """
    if not passages:
        return []
    given = encoded or {}
    numbers = list(await take_passages(tx, len(passages)))
    await tx.execute(
        _QUERIES["insert"],
        {
            "numbers": numbers,
            "kinds": [p.kind for p in passages],
            "memories": [p.owner_id if p.kind == "memory" else None for p in passages],
            "facts": [p.owner_id if p.kind == "fact" else None for p in passages],
            "roles": [p.role or "user" for p in passages],
            "authors": [p.author or p.role or "user" for p in passages],
            "times": [p.occurred_at for p in passages],
            "paths": [p.taxonomy for p in passages],
            "texts": [p.text for p in passages],
        },
    )
    await postings.pack_distilled(tx, numbers)
    waits = await tx.execute(_QUERIES["to_embed"], {"numbers": numbers, "but": list(given)})
    if fetched(await waits.fetchone()):
        await jobs.defer_known(tx)
    for model_id, vectors in given.items():
        await add_vectors(tx, model_id, list(zip(numbers, vectors, strict=True)))
    return numbers


async def add_vectors(tx: Transaction, model_id: int, encoded: Sequence[tuple[int, EncodedPassage]]) -> None:
    """Write vectors of distilled passages and take those off the model's list. What was deleted meanwhile is left out."""
    if encoded:
        await index.write_vectors(tx, model_id, encoded, distilled=True)
        numbers = [number for number, _ in encoded]
        await tx.execute(_QUERIES["embedded"], {"model_id": model_id, "numbers": numbers})


async def remove(tx: Transaction, numbers: Sequence[int]) -> None:
    """Delete distilled passages with their postings and vectors."""
    if numbers:
        await postings.remove_distilled(tx, numbers)
        await tx.execute(_QUERIES["remove"], {"numbers": list(numbers)})


async def load(tx: Transaction, model_id: int, at_most: int) -> list[tuple[int, str]]:
    """The next passages that lack a vector of the model: number and text."""
    parameters = {"model_id": model_id, "at_most": at_most}
    rows = await (await tx.execute(_QUERIES["load"], parameters)).fetchall()
    return [(number, text) for number, text in rows]


async def waiting(tx: Transaction, model_id: int) -> int:
    """How many passages lack a vector of the model."""
    return fetched(await (await tx.execute(_QUERIES["waiting"], {"model_id": model_id})).fetchone())


async def size(tx: Transaction) -> int:
    """How many distilled passages the workspace has."""
    row = await (await tx.execute(_QUERIES["size"])).fetchone()
    return row[0] if row else 0


async def nearest(
    tx: Transaction, model_id: int, vector: Vector, at_most: int, exact_below: int
) -> list[tuple[int, float]]:
    """The nearest distilled passages with their cosines, best first: all compared up to `exact_below` of them."""
    if await size(tx) > exact_below and await index.has_vector_index(tx, model_id, distilled=True):
        found = await recall.vector_hnsw(tx, model_id, vector, at_most, recall.Filter(), distilled=True)
    else:
        found = await recall.vector_exact(tx, model_id, vector, at_most, distilled=True)
    return [(number, 1 - distance) for number, distance in found]


async def vectors(tx: Transaction, model_id: int, numbers: Sequence[int]) -> dict[int, Vector]:
    """Vectors of those passages that have one."""
    parameters = {"model_id": model_id, "numbers": list(numbers)}
    rows = await (await tx.execute(_QUERIES["vectors"], parameters, binary=True)).fetchall()
    return recall.vectors_by_number(rows)
