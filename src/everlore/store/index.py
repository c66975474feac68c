"""What the index step reads and writes: watermarks, passages without vectors, vectors."""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from everlore.domain.operations import Failure
from everlore.domain.recall import Layer
from everlore.ports.embedder import EncodedPassage
from everlore.store.queries import queries
from everlore.store.run import Transaction

_QUERIES = queries("index")
# Asked before a transaction begins: the name of the model that answers questions.
NAME_IN_USE = _QUERIES["name_in_use"]


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
class UnembeddedStretch:
    """Part of a thread that a model has not seen: passages without vectors, and the position that the work reaches."""

    passages: tuple[tuple[int, str], ...]
    upto: int
    more: bool


async def models(tx: Transaction) -> list[EmbeddingModel]:
    return await tx.rows(_QUERIES["models"], EmbeddingModel)


@dataclass(frozen=True, slots=True)
class ModelInUse:
    """The model that answers questions, and whether some messages, or something in another layer, have no vector of it yet."""

    model: EmbeddingModel
    messages_behind: bool
    others_behind: bool


async def model_in_use(tx: Transaction) -> ModelInUse | None:
    return await tx.row(_QUERIES["model_in_use"], _in_use)


def _in_use(*, messages_behind: bool, others_behind: bool, **columns: Any) -> ModelInUse:
    return ModelInUse(EmbeddingModel(**columns), messages_behind, others_behind)


async def register_model(tx: Transaction, name: str, dimensions: int) -> int:
    """Make a model known; returns its id. The first is in use at once. Other dimensions than before are refused."""
    return await tx.value(_QUERIES["register_model"], name=name, dimensions=dimensions)


async def load(
    tx: Transaction, model: EmbeddingModel, thread_id: UUID, at_most: int
) -> UnembeddedStretch | None:
    """The next stretch of the thread for the model; None when nothing is left to do.

    The mark is read before the passages, in a statement of its own: whatever lies at or before `written` was committed by
    then (positions are given out under the thread's lock), so the second statement sees all of it.
    """
    position = await tx.value(_QUERIES["load_mark"], step=model.step, thread_id=thread_id) or 0
    written = await tx.value(_QUERIES["load_thread_end"], thread_id=thread_id) or 0
    if position >= written:
        return None
    rows = await tx.tuples(
        _QUERIES["load_passages"],
        thread_id=thread_id,
        position=position,
        written=written,
        at_most=at_most,
    )
    more = len(rows) == at_most
    # The last message may have passages beyond the limit: it waits for the next stretch, unless it fills this one alone.
    upto = written if not more else rows[-1][1] - 1 if rows[0][1] < rows[-1][1] else rows[-1][1]
    missing = await tx.tuples(
        _QUERIES["load_missing"],
        thread_id=thread_id,
        position=position,
        upto=upto,
        model_id=model.model_id,
    )
    return UnembeddedStretch(tuple((number, text) for number, text in missing), upto, more)


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
    await tx.done(_QUERIES["lock_mark"], **mark)
    await tx.done(_QUERIES["advance_mark"], **mark, upto=upto, model_id=model.model_id)


async def write_vectors(
    tx: Transaction, model_id: int, encoded: Sequence[tuple[int, EncodedPassage]]
) -> None:
    """Write vectors of those passages that still exist, into the layers that they are in now; one that is there already stays."""
    numbers = [number for number, _ in encoded]
    alive = await tx.values(_QUERIES["lock_passages"], passages=numbers)
    if not alive:
        return
    await tx.done(_QUERIES["quietly"])
    await tx.done(_QUERIES["make_staging"])
    async with tx.copy(_QUERIES["copy_vectors"]) as copy:
        for chunk in _binary_rows(encoded):
            await copy.write(chunk)
    await tx.done(_QUERIES["insert_staged_vectors"], model_id=model_id, passages=alive)
    await tx.done(_QUERIES["insert_staged_tokens"], model_id=model_id, passages=alive)
    # Whoever writes twice in one transaction must not find the first batch again.
    await tx.done(_QUERIES["empty_staging"])


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


async def refuse(tx: Transaction, model_id: int, refused: Sequence[tuple[int, str]]) -> None:
    """Note which passages a model will not take, and why: it is not asked for them again before `ask_again`."""
    if refused:
        numbers, reasons = map(list, zip(*refused, strict=True))
        await tx.done(_QUERIES["refuse"], model_id=model_id, passages=numbers, reasons=reasons)


async def failures(tx: Transaction, step: str, *, said: bool) -> list[Failure]:
    """Passages of all workspaces that were refused, as failures of the step: what was said, or all else."""
    return await tx.rows(_QUERIES["failures"], partial(Failure, step=step), said=said)


async def ask_again(tx: Transaction) -> list[UUID]:
    """Let what was said and refused wait for vectors again; returns the threads."""
    return list(dict.fromkeys(await tx.values(_QUERIES["ask_again"])))


async def ask_again_known(tx: Transaction) -> None:
    """The same of all else."""
    await tx.done(_QUERIES["ask_again_known"])


async def behind(tx: Transaction, step: str) -> tuple[int, int]:
    """How many threads of the workspace, and passages of messages in them, a step has not come to."""
    threads, passages = await tx.tuple(_QUERIES["behind"], step=step) or (0, 0)
    return threads, passages


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
    return await tx.value(_QUERIES["last_passage"]) or 0


async def has_vector_index(tx: Transaction, model_id: int, layer: Layer) -> bool:
    return await tx.value(_QUERIES["has_vector_index"], model_id=model_id, layer=layer)


async def build_vector_index(tx: Transaction, model_id: int, layer: Layer) -> None:
    """Build the HNSW index of the workspace's partition, in bulk; nothing happens if it exists."""
    await tx.done(_QUERIES["build_vector_index"], model_id=model_id, layer=layer)


async def forget(tx: Transaction, model: EmbeddingModel) -> None:
    """Drop the workspace's vectors of a model, of all layers, and let the step begin anew."""
    for query in ("forget_vectors", "forget_tokens", "forget_list", "list_all"):
        await tx.done(_QUERIES[query], model_id=model.model_id)
    await tx.done(_QUERIES["reset_mark"], step=model.step)
