"""The index step: passages become postings and vectors. Load reads, think embeds holding no tx, commit writes.

Watermarks decide what is to be done, so running it twice, or two at once, is harmless.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar
from uuid import UUID

from everlore.domain.errors import InputRefused, ModelUnavailable
from everlore.domain.operations import Failure
from everlore.domain.recall import Layer
from everlore.index.embedding import embed
from everlore.ports.embedder import Embedder, EncodedPassage
from everlore.runtime import Runtime
from everlore.step import Lagging, Scope, Step
from everlore.store import index, jobs, passages, postings
from everlore.store.index import EmbeddingModel
from everlore.store.run import Transaction

T = TypeVar("T")

# A stretch is one transaction: small enough that a crash costs seconds, large enough that commits cost nothing.
STRETCH = 256

_INDEX, _INDEX_KNOWN = "index", "index_known"


async def index_thread(
    runtime: Runtime,
    workspace_id: UUID,
    thread_id: UUID,
    *,
    progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Bring a thread's postings and vectors up to date. `progress` hears of each number of passages embedded.

    A model that is not available keeps no other from its work: ModelUnavailable is raised when all have had their turn.
    """
    await pack_tail(runtime, workspace_id)
    failed: ModelUnavailable | None = None
    for model in await known_models(runtime, workspace_id):
        if embedder := runtime.embedders.get(model.name):
            try:
                await _embed_thread(runtime, workspace_id, thread_id, model, embedder, progress)
            except ModelUnavailable as error:
                failed = failed or error
    await ensure_vector_indexes(runtime, workspace_id)
    if failed is not None:
        raise failed


async def pack_tail(runtime: Runtime, workspace_id: UUID, *, at_least: int = postings.TAIL_LIMIT) -> int:
    """Pack fresh passages into the postings, if they are so many; returns how many were packed."""
    async with runtime.database.workspace(workspace_id) as tx:
        if await postings.tail_size(tx) < at_least:
            return 0
        return await postings.pack(tx)


async def make_models_known(runtime: Runtime) -> None:
    """Tell the database of the embedding models that are configured here; the first of all is in use at once. Raises
    ConfigurationError for one that gave other dimensions before."""
    async with runtime.database.outside() as tx:
        for embedder in runtime.embedders.values():
            await index.register_model(tx, embedder.name, embedder.dimensions)


async def known_models(runtime: Runtime, workspace_id: UUID) -> Sequence[EmbeddingModel]:
    async with runtime.database.workspace(workspace_id, read_only=True) as tx:
        return await index.models(tx)


async def ensure_vector_indexes(runtime: Runtime, workspace_id: UUID) -> None:
    """Once a workspace has outgrown exact comparison and its backlog is done, its partition gets an HNSW index.

    Building in bulk costs a fifth of inserting row by row, so the first import comes before the index. Every layer has an index
    of its own, under the same rule.
    """
    exact_below = runtime.settings.recall.exact_below
    async with runtime.database.workspace(workspace_id) as tx:
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
    if layer in ("said", "branches"):
        return (await index.behind(tx, model.step))[1] == 0
    return await passages.waiting(tx, model.model_id) == 0


async def rebuild(runtime: Runtime, workspace_id: UUID) -> None:
    """Forget all postings and vectors of a workspace; the steps then write them anew from the passages."""
    async with runtime.database.workspace(workspace_id) as tx:
        await begin_anew(tx)


async def begin_anew(tx: Transaction) -> None:
    """The same in the caller's transaction."""
    await postings.forget_all(tx)
    await passages.repack(tx)
    for model in await index.models(tx):
        await index.forget(tx, model)
    if any(size for layer, size in (await passages.sizes(tx)).items() if layer != "said"):
        await jobs.defer_known(tx)


async def index_known(
    runtime: Runtime,
    workspace_id: UUID,
    *,
    progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Give distilled passages of a workspace the vectors that they lack. As `index_thread` in all else."""
    failed: ModelUnavailable | None = None
    for model in await known_models(runtime, workspace_id):
        if embedder := runtime.embedders.get(model.name):
            try:
                await _embed_distilled(runtime, workspace_id, model, embedder, progress)
            except ModelUnavailable as error:
                failed = failed or error
    await ensure_vector_indexes(runtime, workspace_id)
    if failed is not None:
        raise failed


async def _embed_distilled(
    runtime: Runtime,
    workspace_id: UUID,
    model: EmbeddingModel,
    embedder: Embedder,
    progress: Callable[[int], None],
) -> None:
    while True:
        async with runtime.database.workspace(workspace_id, read_only=True) as tx:
            batch = await passages.load(tx, model.model_id, STRETCH)
        if not batch:
            return
        encoded, refused = _parted(batch, await embed(embedder, [passage.text for passage in batch]))
        async with runtime.database.workspace(workspace_id) as tx:
            await passages.write_loaded(tx, model.model_id, encoded)
            await index.refuse(tx, model.model_id, [(one.number, why) for one, why in refused])
        progress(len(batch))


async def _embed_thread(
    runtime: Runtime,
    workspace_id: UUID,
    thread_id: UUID,
    model: EmbeddingModel,
    embedder: Embedder,
    progress: Callable[[int], None],
) -> None:
    while True:
        async with runtime.database.workspace(workspace_id, read_only=True) as tx:
            stretch = await index.load(tx, model, thread_id, STRETCH)
        if stretch is None:
            return
        numbers = [number for number, _ in stretch.passages]
        encoded, refused = _parted(numbers, await embed(embedder, [text for _, text in stretch.passages]))
        async with runtime.database.workspace(workspace_id) as tx:
            await index.refuse(tx, model.model_id, refused)
            await index.commit(tx, model, thread_id, stretch.upto, encoded)
        progress(len(numbers))


def _parted(
    given: Sequence[T], embedded: Sequence[EncodedPassage | InputRefused]
) -> tuple[list[tuple[T, EncodedPassage]], list[tuple[T, str]]]:
    """What was given to the model with its vectors, and what it refused with the reason."""
    pairs = list(zip(given, embedded, strict=True))
    encoded = [(one, vectors) for one, vectors in pairs if isinstance(vectors, EncodedPassage)]
    return encoded, [(one, str(why)) for one, why in pairs if isinstance(why, InputRefused)]


# --- the steps ---------------------------------------------------------------------------------------------


async def _threads(tx: Transaction, runtime: Runtime, asked: Lagging) -> list[Scope]:
    models = list(runtime.embedders)
    found = await index.threads_lagging(
        tx, _INDEX, models, asked.at_most, held=asked.held, thorough=asked.thorough
    )
    return [Scope(*pair) for pair in found]


async def _index(runtime: Runtime, scope: Scope, *, close: bool, progress: Callable[[int], None]) -> None:
    if scope.thread_id is not None:
        await index_thread(runtime, scope.workspace_id, scope.thread_id, progress=progress)


async def _refused(tx: Transaction) -> list[Failure]:
    return await index.failures(tx, _INDEX, said=True)


async def _embed_again(runtime: Runtime, failed: Sequence[Failure]) -> list[Scope]:
    """Have embedded again what models refused of these workspaces' messages."""
    left: list[Scope] = []
    for workspace_id in {one.workspace_id for one in failed}:
        async with runtime.database.workspace(workspace_id) as tx:
            threads = await index.ask_again(tx)
            for thread_id in threads:
                await jobs.defer(tx, _INDEX, thread_id)
        left += [Scope(workspace_id, thread_id) for thread_id in threads]
    return left


async def _workspaces(tx: Transaction, runtime: Runtime, asked: Lagging) -> list[Scope]:
    found = await index.workspaces_lagging(
        tx, _INDEX_KNOWN, list(runtime.embedders), asked.at_most, held=asked.held
    )
    return [Scope(workspace_id) for workspace_id in found]


async def _refused_known(tx: Transaction) -> list[Failure]:
    return await index.failures(tx, _INDEX_KNOWN, said=False)


async def _embed_known_again(runtime: Runtime, failed: Sequence[Failure]) -> list[Scope]:
    """The same of what was distilled or told."""
    workspaces = {one.workspace_id for one in failed}
    for workspace_id in workspaces:
        async with runtime.database.workspace(workspace_id) as tx:
            await index.ask_again_known(tx)
            await jobs.defer(tx, _INDEX_KNOWN, workspace_id)
    return [Scope(workspace_id) for workspace_id in workspaces]


async def _index_known(
    runtime: Runtime, scope: Scope, *, close: bool, progress: Callable[[int], None]
) -> None:
    await index_known(runtime, scope.workspace_id, progress=progress)


STEPS = (
    Step(
        name=_INDEX,
        queue="index",
        scope="thread",
        lags=_threads,
        run=_index,
        every=1,
        inline=True,
        failures=_refused,
        try_again=_embed_again,
    ),
    Step(
        name=_INDEX_KNOWN,
        queue="index",
        scope="workspace",
        lags=_workspaces,
        run=_index_known,
        every=1,
        inline=True,
        failures=_refused_known,
        try_again=_embed_known_again,
    ),
)
