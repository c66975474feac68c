"""The index step: passages become postings and vectors. Load reads, think embeds holding no tx, commit writes.

Watermarks decide what is to be done, so running it twice, or two at once, is harmless.
"""

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

from everlore.domain.errors import ModelUnavailable
from everlore.domain.recall import Layer
from everlore.ports.embedder import Embedder
from everlore.store import index, passages, postings
from everlore.store.database import Database
from everlore.store.index import EmbeddingModel
from everlore.store.run import Transaction

# A stretch is one transaction: small enough that a crash costs seconds, large enough that commits cost nothing.
STRETCH = 256


async def index_thread(
    database: Database,
    workspace_id: UUID,
    thread_id: UUID,
    embedders: Mapping[str, Embedder],
    *,
    exact_below: int,
    progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Bring a thread's postings and vectors up to date. `progress` hears of each number of passages embedded.

    A model that is not available keeps no other from its work: ModelUnavailable is raised when all have had their turn.
    """
    await pack_tail(database, workspace_id)
    failed: ModelUnavailable | None = None
    for model in await known_models(database, workspace_id):
        if embedder := embedders.get(model.name):
            try:
                await _embed_thread(database, workspace_id, thread_id, model, embedder, progress)
            except ModelUnavailable as error:
                failed = failed or error
    await ensure_vector_indexes(database, workspace_id, exact_below)
    if failed is not None:
        raise failed


async def pack_tail(database: Database, workspace_id: UUID, *, at_least: int = postings.TAIL_LIMIT) -> int:
    """Pack fresh passages into the postings, if they are so many; returns how many were packed."""
    async with database.workspace(workspace_id) as tx:
        if await postings.tail_size(tx) < at_least:
            return 0
        return await postings.pack(tx)


async def known_models(database: Database, workspace_id: UUID) -> Sequence[EmbeddingModel]:
    async with database.workspace(workspace_id, read_only=True) as tx:
        return await index.models(tx)


async def ensure_vector_indexes(database: Database, workspace_id: UUID, exact_below: int) -> None:
    """Once a workspace has outgrown exact comparison and its backlog is done, its partition gets an HNSW index.

    Building in bulk costs a fifth of inserting row by row, so the first import comes before the index. Every layer has an index
    of its own, under the same rule.
    """
    async with database.workspace(workspace_id) as tx:
        if await index.last_passage(tx) <= exact_below:
            return
        # Numbers are shared by all layers, and some of what was said is not packed yet: it counts by the last number.
        large: set[Layer] = {"said"}
        large |= {layer for layer, size in (await passages.sizes(tx)).items() if size > exact_below}
        for model in await index.models(tx):
            for layer in sorted(large):
                if not await index.has_vector_index(tx, model.model_id, layer) and await _is_done(
                    tx, model, layer
                ):
                    await index.build_vector_index(tx, model.model_id, layer)


async def _is_done(tx: Transaction, model: EmbeddingModel, layer: Layer) -> bool:
    """Whether all vectors are there that an index of the layer would hold."""
    if layer == "said":
        return (await index.behind(tx, model.step))[1] == 0
    return await passages.waiting(tx, model.model_id) == 0


async def rebuild(database: Database, workspace_id: UUID) -> None:
    """Forget all postings and vectors of a workspace; the steps then write them anew from the passages."""
    async with database.workspace(workspace_id) as tx:
        await postings.forget_all(tx)
        await passages.repack(tx)
        for model in await index.models(tx):
            await index.forget(tx, model)
        if any(size for layer, size in (await passages.sizes(tx)).items() if layer != "said"):
            await passages.leave_job(tx)


async def index_distilled(
    database: Database,
    workspace_id: UUID,
    embedders: Mapping[str, Embedder],
    *,
    exact_below: int,
    progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Give distilled passages of a workspace the vectors that they lack. As `index_thread` in all else."""
    failed: ModelUnavailable | None = None
    for model in await known_models(database, workspace_id):
        if embedder := embedders.get(model.name):
            try:
                await _embed_distilled(database, workspace_id, model, embedder, progress)
            except ModelUnavailable as error:
                failed = failed or error
    await ensure_vector_indexes(database, workspace_id, exact_below)
    if failed is not None:
        raise failed


async def _embed_distilled(
    database: Database,
    workspace_id: UUID,
    model: EmbeddingModel,
    embedder: Embedder,
    progress: Callable[[int], None],
) -> None:
    while True:
        async with database.workspace(workspace_id, read_only=True) as tx:
            batch = await passages.load(tx, model.model_id, STRETCH)
        if not batch:
            return
        encoded = await embedder.encode_passages([passage.text for passage in batch])
        async with database.workspace(workspace_id) as tx:
            await passages.write_loaded(tx, model.model_id, batch, encoded)
        progress(len(batch))


async def _embed_thread(
    database: Database,
    workspace_id: UUID,
    thread_id: UUID,
    model: EmbeddingModel,
    embedder: Embedder,
    progress: Callable[[int], None],
) -> None:
    while True:
        async with database.workspace(workspace_id, read_only=True) as tx:
            stretch = await index.load(tx, model, thread_id, STRETCH)
        if stretch is None:
            return
        encoded = await embedder.encode_passages([text for _, text in stretch.passages])
        numbered = [(number, one) for (number, _), one in zip(stretch.passages, encoded, strict=True)]
        async with database.workspace(workspace_id) as tx:
            await index.commit(tx, model, thread_id, stretch.upto, numbered)
        progress(len(numbered))
