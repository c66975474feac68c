"""An analyst that finds in messages what a test says it finds, and remembers what it was shown."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tests.conftest import Clock, TestDatabase

from everlore.domain.memories import MemoryType
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.ports.analyst import DraftFact, DraftMemory, Extraction, Governor, Quote, Relation, Window
from everlore.ports.embedder import Embedder


@dataclass(frozen=True)
class Found:
    """What stands in a message: a memory in its words unless `content` has others, and facts ("Anna lives_in Porto")."""

    text: str
    facts: tuple[str, ...] = ()
    content: str | None = None
    type: MemoryType = "fact"
    relation: Relation = "new"
    of: str | None = None
    more: dict[str, Any] = field(default_factory=dict[str, Any])


class Script:
    """An Analyst. `find` says what stands in a text; a text that it was told nothing of holds nothing."""

    name = "script"
    model: str | None = None

    def __init__(self) -> None:
        self.version = "1"
        self.windows: list[Window] = []
        self.before: Callable[[Window], None] = lambda _: None
        self.gate: asyncio.Event | None = None
        self.reached = asyncio.Event()
        self.at_work = 0
        self.most_at_work = 0
        self._found: dict[str, Found] = {}

    def find(self, text: str, *facts: str, **more: Any) -> str:
        """`more`: content, type, relation, `of` (the content of the known memory it relates to), or fields of a draft."""
        known = {name: more.pop(name) for name in ("content", "type", "relation", "of") if name in more}
        self._found[text] = Found(text, facts, more=more, **known)
        return text

    def forget(self) -> None:
        self._found.clear()

    async def extract(self, window: Window, governor: Governor) -> Extraction:
        self.windows.append(window)
        self.at_work += 1
        self.most_at_work = max(self.most_at_work, self.at_work)
        self.reached.set()
        if self.gate is not None:
            await self.gate.wait()
        else:
            await asyncio.sleep(0)
        self.at_work -= 1
        self.before(window)
        memories: list[DraftMemory] = []
        facts: list[DraftFact] = []
        for message in window.messages:
            if (found := self._found.get(message.text)) is not None:
                quote = (Quote(message.number, message.text),)
                facts += [_fact(words, quote, found, len(memories)) for words in found.facts]
                memories.append(_memory(found, quote, window))
        return Extraction(tuple(memories), tuple(facts))

    async def close(self) -> None:
        return None


def _memory(found: Found, quote: tuple[Quote, ...], window: Window) -> DraftMemory:
    target = next((known.number for known in window.known if known.content == found.of), None)
    return DraftMemory(
        type=found.type,
        content=found.content or found.text,
        sources=quote,
        relation=found.relation,
        target=target,
        **found.more,
    )


def _fact(words: str, quote: tuple[Quote, ...], found: Found, memory: int) -> DraftFact:
    """ "Anna lives_in Porto", or "Anna no longer lives_in Porto"."""
    ended = " no longer " in words
    subject, predicate, thing = words.replace(" no longer ", " ").split(" ", 2)
    return DraftFact(subject, predicate, thing, quote, ended=ended, relation=found.relation, memory=memory)


@asynccontextmanager
async def opened(
    database: TestDatabase,
    clock: Clock,
    script: Script,
    *,
    embedders: dict[str, Embedder] | None = None,
    **settings: object,
) -> AsyncGenerator[Everlore]:
    """An Everlore that distils by a script; no worker."""
    async with Everlore.open(
        database.settings(**settings),
        worker=False,
        clock=clock,
        embedders={"fake": FakeEmbedder()} if embedders is None else embedders,
        analyst=script,
    ) as lore:
        yield lore


def says(*texts: str, at: datetime, author: str = "Anna", apart: float = 1, **more: Any) -> list[NewMessage]:
    """Messages of a person, so many minutes apart."""
    return [
        NewMessage(role="user", author=author, text=text, at=at + timedelta(minutes=apart * number), **more)
        for number, text in enumerate(texts)
    ]
