"""What the index step reads and writes: watermarks, passages without vectors, vectors."""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from everlore.ports.embedder import EncodedPassage
from everlore.store.queries import queries
from everlore.store.run import Transaction, fetched

_QUERIES = queries("index")


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """A model as the database knows it; `step` is the name of its watermark."""

    model_id: int
    name: str
    dimensions: int
    in_use: bool

    @property
    def step(self) -> str:
        return f"vector:{self.name}"


@dataclass(frozen=True, slots=True)
class Stretch:
    """Part of a thread that a model has not seen: passages without vectors, and the position that the work reaches."""

    passages: tuple[tuple[int, str], ...]
    upto: int
    more: bool


async def models(tx: Transaction) -> list[EmbeddingModel]:
    rows = await (await tx.execute(_QUERIES["models"])).fetchall()
    return [EmbeddingModel(*row) for row in rows]


async def model_in_use(tx: Transaction) -> tuple[EmbeddingModel, bool, bool] | None:
    """The model that answers questions, and whether some messages, or something distilled, have no vector of it yet."""
    row = await (await tx.execute(_QUERIES["model_in_use"])).fetchone()
    return (EmbeddingModel(*row[:4]), row[4], row[5]) if row else None


async def register_model(tx: Transaction, name: str, dimensions: int) -> int:
    """Make a model known; returns its id. The first is in use at once. Other dimensions than before are refused."""
    cursor = await tx.execute(_QUERIES["register_model"], {"name": name, "dimensions": dimensions})
    return fetched(await cursor.fetchone())


async def load(tx: Transaction, model: EmbeddingModel, thread_id: UUID, at_most: int) -> Stretch | None:
    """The next stretch of the thread for the model; None when nothing is left to do.

    The mark is read before the passages, in a statement of its own: whatever lies at or before `written` was committed by
    then (positions are given out under the thread's lock), so the second statement sees all of it.
    """
    row = await (
        await tx.execute(_QUERIES["load_mark"], {"step": model.step, "thread_id": thread_id})
    ).fetchone()
    end = await (await tx.execute(_QUERIES["load_thread_end"], {"thread_id": thread_id})).fetchone()
    position, written = (row[0] if row else 0), (end[0] if end else 0)
    if position >= written:
        return None
    bounds = {"thread_id": thread_id, "position": position, "written": written, "at_most": at_most}
    rows = await (await tx.execute(_QUERIES["load_passages"], bounds)).fetchall()
    more = len(rows) == at_most
    # The last message may have passages beyond the limit: it waits for the next stretch, unless it fills this one alone.
    upto = written if not more else rows[-1][1] - 1 if rows[0][1] < rows[-1][1] else rows[-1][1]
    missing = await (
        await tx.execute(
            _QUERIES["load_missing"],
            {"thread_id": thread_id, "position": position, "upto": upto, "model_id": model.model_id},
        )
    ).fetchall()
    return Stretch(tuple((number, text) for number, text in missing), upto, more)


async def commit(
    tx: Transaction,
    model: EmbeddingModel,
    thread_id: UUID,
    upto: int,
    encoded: Sequence[tuple[int, EncodedPassage]],
) -> None:
    """Write a stretch's vectors and move the watermark, in the caller's transaction.

    Passages that were deleted since it was loaded are left out. The mark stays where it is if a rebuild has taken away
    vectors before `upto` meanwhile: the next load begins there.
    """
    await write_vectors(tx, model.model_id, encoded)
    mark = {"step": model.step, "thread_id": thread_id}
    await tx.execute(_QUERIES["lock_mark"], mark)
    await tx.execute(_QUERIES["advance_mark"], {**mark, "upto": upto, "model_id": model.model_id})


async def write_vectors(
    tx: Transaction,
    model_id: int,
    encoded: Sequence[tuple[int, EncodedPassage]],
    *,
    distilled: bool = False,
) -> None:
    """Write vectors of those passages that still exist; one that is there already stays."""
    numbers = [number for number, _ in encoded]
    rows = await (await tx.execute(_QUERIES["lock_passages"], {"passages": numbers})).fetchall()
    alive = [row[0] for row in rows]
    if not alive:
        return
    await tx.execute("set local client_min_messages = warning")
    await tx.execute(_QUERIES["make_staging"])
    async with tx.copy(_QUERIES["copy_vectors"]) as copy:
        for chunk in _binary_rows(encoded):
            await copy.write(chunk)
    parameters = {"model_id": model_id, "passages": alive, "distilled": distilled}
    await tx.execute(_QUERIES["insert_staged_vectors"], parameters)
    await tx.execute(_QUERIES["insert_staged_tokens"], parameters)
    # Whoever writes twice in one transaction must not find the first batch again.
    await tx.execute(_QUERIES["empty_staging"])


def _binary_rows(encoded: Sequence[tuple[int, EncodedPassage]]) -> Iterator[bytes]:
    """COPY's binary form of (passage_id, halfvec, bytea): vectors as text would cost more than embedding short texts."""
    yield b"PGCOPY\n\xff\r\n\0" + bytes(8)
    for number, passage in encoded:
        vector = passage.vector.astype(">f2").tobytes()
        halfvec = struct.pack(">hh", len(passage.vector), 0) + vector
        row = struct.pack(">hii", 3, 4, number) + struct.pack(">i", len(halfvec)) + halfvec
        tokens = b"" if passage.tokens is None else passage.tokens.tobytes()
        yield row + (
            struct.pack(">i", -1) if passage.tokens is None else struct.pack(">i", len(tokens)) + tokens
        )
    yield b"\xff\xff"


async def behind(tx: Transaction, step: str) -> tuple[int, int]:
    """How many threads of the workspace, and passages of messages in them, a step has not come to."""
    row = await (await tx.execute(_QUERIES["behind"], {"step": step})).fetchone()
    return (row[0], row[1]) if row else (0, 0)


async def threads_behind(tx: Transaction, step: str) -> list[UUID]:
    rows = await (await tx.execute(_QUERIES["threads_behind"], {"step": step})).fetchall()
    return [row[0] for row in rows]


async def threads_lagging(
    tx: Transaction, step: str, models: Sequence[str], at_most: int, *, held: bool, thorough: bool
) -> list[tuple[UUID, UUID]]:
    """Workspace and thread where one of the models has passages to embed and nobody has a job of the step for it, or (`held`)
    it is being run. `thorough` also looks for threads that a model has no mark in, which means reading all threads."""
    return [
        (workspace_id, thread_id)
        for workspace_id, thread_id in await tx.tuples(
            _QUERIES["threads_lagging"],
            step=step,
            models=models,
            at_most=at_most,
            held=held,
            thorough=thorough,
        )
    ]


async def workspaces_lagging(
    tx: Transaction, step: str, models: Sequence[str], at_most: int, *, held: bool
) -> list[UUID]:
    """Workspaces where something distilled lacks vectors of one of the models; `held` as above."""
    return await tx.values(
        _QUERIES["workspaces_lagging"], step=step, models=models, at_most=at_most, held=held
    )


async def last_passage(tx: Transaction) -> int:
    row = await (await tx.execute(_QUERIES["last_passage"])).fetchone()
    return row[0] if row else 0


async def has_vector_index(tx: Transaction, model_id: int, *, distilled: bool = False) -> bool:
    parameters = {"model_id": model_id, "distilled": distilled}
    return fetched(await (await tx.execute(_QUERIES["has_vector_index"], parameters)).fetchone())


async def build_vector_index(tx: Transaction, model_id: int, *, distilled: bool = False) -> None:
    """Build the HNSW index of the workspace's partition, in bulk; nothing happens if it exists."""
    await tx.execute(_QUERIES["build_vector_index"], {"model_id": model_id, "distilled": distilled})


async def drop_vector_index(tx: Transaction, model_id: int, *, distilled: bool = False) -> None:
    await tx.execute(_QUERIES["drop_vector_index"], {"model_id": model_id, "distilled": distilled})


async def forget(tx: Transaction, model: EmbeddingModel) -> None:
    """Drop the workspace's vectors of a model, of both layers, and let the step begin anew."""
    for query in ("forget_vectors", "forget_tokens", "list_distilled"):
        await tx.execute(_QUERIES[query], {"model_id": model.model_id})
    await tx.execute(_QUERIES["reset_mark"], {"step": model.step})
