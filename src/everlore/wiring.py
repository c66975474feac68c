"""The composition root: which database, embedders, reranker and analyst the settings name."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from everlore.budget import Limits
from everlore.capture.passages import WordCounts
from everlore.config import Settings
from everlore.domain.errors import ConfigurationError
from everlore.grounding.answers import doubts
from everlore.knowledge.entity_candidates import Linking
from everlore.models.language_model import model_analyst
from everlore.models.minilm import MiniLM, count_wordpieces
from everlore.models.openai_embedder import OpenAIEmbedder
from everlore.models.rules import RuleAnalyst
from everlore.ports.analyst import Analyst
from everlore.ports.embedder import Embedder
from everlore.store import migrate
from everlore.store.database import APP, WORKER, Database
from everlore.store.server import SUPERUSER, Server, open_server

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
    """The analyst that the settings name; None if nothing is to be distilled."""
    chosen = settings.distil
    if chosen.analyst == "none":
        return None
    if chosen.analyst == "rules":
        return RuleAnalyst()
    if chosen.model is None:
        raise ConfigurationError(
            "The setting distil.analyst is model, but distil.model names none: set distil.model.model, and distil.model.url "
            "for a server of your own."
        )
    return model_analyst(
        doubts,
        **chosen.model.model_dump(exclude={"price_in", "price_out"}),
        context_messages=chosen.context_messages,
        context_tokens=chosen.context_tokens,
        prompts_dir=chosen.prompts_dir,
    )


def limits(settings: Settings) -> Limits:
    """What a workspace may spend in a day."""
    chosen = settings.distil
    return Limits(
        calls_soft=chosen.daily_calls_soft,
        calls_hard=chosen.daily_calls_hard,
        tokens_soft=chosen.daily_tokens_soft,
        tokens_hard=chosen.daily_tokens_hard,
        cost_soft=chosen.daily_cost_soft,
        cost_hard=chosen.daily_cost_hard,
        price_in=None if chosen.model is None else chosen.model.price_in,
        price_out=None if chosen.model is None else chosen.model.price_out,
        breaker_failures=chosen.breaker_failures,
        breaker_cooldown_s=chosen.breaker_cooldown_s,
    )


def linking(settings: Settings) -> Linking:
    """How names are linked to entities."""
    return Linking(**settings.aliases.model_dump())


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


async def prepare_embedded(server: Server) -> list[str]:
    """Make the embedded database and bring it up to date; returns the names of the migrations applied."""
    await migrate.create_database(server.conninfo(SUPERUSER, "postgres"), "everlore")
    return await migrate.migrate(server.conninfo(SUPERUSER))


async def require_migrated(app: Database) -> None:
    async with app.outside() as tx:
        if missing := await migrate.pending(tx):
            raise ConfigurationError(
                f"The database lacks {len(missing)} migrations ({missing[0]} first); run `everlore db migrate`."
            )
