"""The composition root: which database, embedders, reranker and analyst the settings name."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from everlore.capture.passages import WordCounts
from everlore.config import Settings
from everlore.domain.errors import ConfigurationError
from everlore.domain.operations import ModelTest
from everlore.models.late_interaction import LateInteraction
from everlore.models.minilm import MiniLM, count_wordpieces
from everlore.models.openai_embedder import OpenAIEmbedder
from everlore.models.rules import WITHOUT_FACTS, WITHOUT_PARSER, RuleAnalyst, parser_is_installed
from everlore.models.tokenizer_file import counter_of
from everlore.ports.analyst import Analyst
from everlore.ports.clock import Clock
from everlore.ports.embedder import Embedder
from everlore.runtime import Runtime
from everlore.store import index, jobs, migrate, operations
from everlore.store.database import APP, WORKER, Database
from everlore.store.migrate import owner
from everlore.store.server import SUPERUSER, Server, open_server
from everlore.text.counts import counted
from everlore.text.token_estimate import estimated_tokens
from everlore.work import steps

if TYPE_CHECKING:
    from everlore.models.language_model.analyst import ModelAnalyst

DEFAULT_WORKSPACE = "default"
wordpieces = WordCounts(count_wordpieces)


def configured_embedders(settings: Settings) -> dict[str, Embedder]:
    """The embedders that the settings name, the default one first; none if it is `none`."""
    embedders: dict[str, Embedder] = {
        called: OpenAIEmbedder(called, **configured.model_dump())
        for called, configured in settings.embedders.items()
    }
    if settings.embedder == "none":
        return {}
    embedders["minilm"] = MiniLM(threads=settings.threads)
    if settings.embedder not in embedders:
        raise ConfigurationError(
            f"The setting embedder is {settings.embedder!r}; it must be minilm, none, or one of {sorted(embedders)}."
        )
    return {settings.embedder: embedders.pop(settings.embedder), **embedders}


def configured_analyst(settings: Settings) -> Analyst | None:
    """The analyst that the settings name; None if nothing is to be distilled, or can be: see `undistilled_because`."""
    chosen = settings.distil
    if chosen.analyst == "none":
        return None
    if chosen.analyst == "rules":
        return RuleAnalyst() if parser_is_installed() else None
    return _model_analyst(settings)


def _model_analyst(settings: Settings) -> "ModelAnalyst":
    # What reads answers of a model is loaded by who asks one.
    from everlore.grounding.answers import doubts
    from everlore.models.language_model import model_analyst

    chosen = settings.distil
    if chosen.model is None:
        raise ConfigurationError(
            "No language model is set: set distil.model.model, and distil.model.url for a server of your own. "
            'It is asked where distil.analyst is "model".'
        )
    return model_analyst(
        doubts,
        **chosen.model.model_dump(exclude={"price_in", "price_out"}),
        context_messages=chosen.context_messages,
        context_tokens=chosen.context_tokens,
        prompts_dir=chosen.prompts_dir,
        size=chosen.size,
    )


async def try_model(settings: Settings) -> ModelTest:
    """Ask the configured language model one question. Raises ConfigurationError where it cannot even be asked."""
    analyst = _model_analyst(settings)
    from everlore.models.language_model.profile import chosen_because
    from everlore.models.language_model.trial import tried

    try:
        found = await tried(analyst, chosen_because(settings.distil.size, analyst.endpoint.url))
        lost = _needs_parser(analyst) and not parser_is_installed()
        return replace(found, remarks=(*found.remarks, WITHOUT_FACTS)) if lost else found
    finally:
        await analyst.close()


def undistilled_because(settings: Settings) -> str:
    """Why nothing is distilled, where nothing is."""
    if settings.distil.analyst == "rules":
        return WITHOUT_PARSER
    return "Nothing is distilled here: the setting distil.analyst is none."


def _lost_without_parser(settings: Settings, analyst: Analyst | None) -> tuple[str | None, str | None]:
    """What is lost without the parser, where something is to be distilled: of messages, and of what is told directly."""
    if settings.distil.analyst == "none":
        return None, None
    if analyst is None:
        return WITHOUT_PARSER, WITHOUT_PARSER
    return WITHOUT_FACTS if _needs_parser(analyst) else None, WITHOUT_FACTS


def _needs_parser(analyst: Analyst) -> bool:
    """Whether it is a small model: facts are read off its sentences by the parser."""
    # What asks a model takes time to load.
    from everlore.models.language_model.analyst import ModelAnalyst

    return isinstance(analyst, ModelAnalyst) and analyst.profile.size == "small"


@dataclass(frozen=True, slots=True)
class Urls:
    app: str
    worker: str


async def database_urls(
    settings: Settings, stack: AsyncExitStack, say: Callable[[str], None]
) -> tuple[Server | None, Urls]:
    if settings.database_url is not None:
        return None, Urls(settings.database_url, settings.worker_url or settings.database_url)
    server = await _opened(settings.data_dir, say)
    stack.push_async_callback(asyncio.to_thread, server.close)
    await prepare_embedded(server)
    return server, Urls(server.conninfo(APP), server.conninfo(WORKER))


async def _opened(data_dir: Path | None, say: Callable[[str], None]) -> Server:
    """The embedded server. Who is cancelled while it starts waits for it and closes it: nobody else would."""
    starting = asyncio.ensure_future(asyncio.to_thread(open_server, data_dir, say=say))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        await asyncio.wait([starting])
        if starting.exception() is None:
            await asyncio.to_thread(starting.result().close)
        raise


async def make_runtime(
    settings: Settings,
    urls: Urls,
    stack: AsyncExitStack,
    *,
    clock: Clock,
    embedders: Mapping[str, Embedder] | None,
    analyst: Analyst | None,
) -> Runtime:
    """The runtime with the application's login; what it opened is closed with the stack. Nothing is written."""
    database = Database(urls.app, APP, pool_size=settings.pool_size)
    stack.push_async_callback(database.close)
    await database.open()
    used = configured_embedders(settings) if embedders is None else embedders
    for embedder in used.values():
        stack.push_async_callback(embedder.close)
    analyst = analyst or configured_analyst(settings)
    if analyst is not None:
        stack.push_async_callback(analyst.close)
    await _require_up_to_date(database, used.values())
    parser = parser_is_installed()
    undistilled, unread = (None, None) if parser else _lost_without_parser(settings, analyst)
    runtime = Runtime(
        settings=settings,
        database=database,
        embedders={embedder.name: embedder for embedder in used.values()},
        reranker=LateInteraction(),
        analyst=analyst,
        sentence_analyst=RuleAnalyst() if parser else None,
        wordpieces=wordpieces,
        clock=clock,
        undistilled_because=undistilled,
        unread_because=unread,
        tokens=estimated_tokens if (file := settings.context.tokenizer) is None else counter_of(file),
    )
    return replace(runtime, steps=tuple(step.name for step in steps.wanted(runtime)))


async def prepare_embedded(server: Server) -> list[str]:
    """Make the embedded database and bring it up to date; returns the names of the migrations applied."""
    await migrate.create_database(server.conninfo(SUPERUSER, "postgres"), "everlore")
    return await bring_up_to_date(server.conninfo(SUPERUSER))


async def bring_up_to_date(conninfo: str) -> list[str]:
    """Apply the migrations that the database lacks, tell it of the background steps, and make the workspace that everybody
    uses who names none; returns the names of the migrations applied. `conninfo`: see `everlore.store.migrate.migrate`."""
    applied = await migrate.migrate(conninfo)
    async with owner(conninfo) as tx:
        known = await jobs.steps(tx)
        for step in steps.described():
            if step not in known:
                await jobs.describe_step(tx, step)
        if await operations.find_workspace(tx, DEFAULT_WORKSPACE) is None:
            await operations.open_workspace(tx, DEFAULT_WORKSPACE)
    return applied


async def _require_up_to_date(app: Database, embedders: Iterable[Embedder]) -> None:
    """Raises ConfigurationError for a database of another version, or one with other vectors than the embedders give."""
    async with app.outside() as tx:
        if missing := await migrate.pending(tx):
            raise ConfigurationError(
                f"The database lacks {counted(len(missing), 'migrations')} ({missing[0]} first); run `everlore db migrate`."
            )
        known = await jobs.steps(tx)
        if lacking := [step.name for step in steps.described() if step not in known]:
            raise ConfigurationError(
                f"The database does not know the background step {lacking[0]} as it is now; run `everlore db migrate`."
            )
        stored = {model.name: model.dimensions for model in await index.models(tx)}
    for embedder in embedders:
        given = embedder.dimensions
        if stored.get(embedder.name, given) != given:
            raise ConfigurationError(
                f"The model {embedder.name} gives {given} dimensions; its stored vectors have "
                f"{stored[embedder.name]}."
            )
