"""The way into workspaces by their names: reading finds one, keeping something makes it."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from everlore.domain.errors import NotFound, WorkspaceGone
from everlore.index.step import make_models_known
from everlore.recall.uses import Uses
from everlore.runtime import Runtime
from everlore.store import conversation, operations
from everlore.store.run import Transaction
from everlore.validation import name as checked_name


@dataclass(slots=True)
class Directory:
    """Which id a name stands for. It is looked up once; a workspace that was deleted meanwhile is noticed by the transaction
    that enters it (`WorkspaceGone`), and looked up anew. `uses`: how often answers used memories, until that is written."""

    runtime: Runtime
    uses: Uses
    ids: dict[str, UUID] = field(default_factory=dict[str, UUID])
    _models_known: bool = False

    async def found(self, called: str) -> UUID:
        """The workspace of that name. Raises NotFound."""
        if called not in self.ids:
            async with self.runtime.database.outside() as tx:
                found = await operations.find_workspace(tx, called)
            if found is None:
                raise NotFound(
                    f"There is no workspace {called}. `everlore workspaces` lists them; recording makes a new one."
                )
            self.ids[called] = found
        return self.ids[called]

    async def made(self, called: str) -> UUID:
        """The same, made if need be. What is kept is to be indexed, so the embedding models become known, too."""
        await self.models_known()
        if called not in self.ids:
            async with self.runtime.database.outside() as tx:
                self.ids[called] = await operations.open_workspace(tx, called)
        return self.ids[called]

    async def models_known(self) -> None:
        """See to it, once, that the database knows the embedding models."""
        if not self._models_known:
            await make_models_known(self.runtime)
            self._models_known = True


@dataclass(frozen=True, slots=True)
class Verbs:
    """What all verbs on one workspace have: the runtime, and transactions in it."""

    directory: Directory
    name: str

    @property
    def runtime(self) -> Runtime:
        return self.directory.runtime

    def now(self) -> datetime:
        """The present, by the clock of this memory."""
        return self.runtime.clock()

    async def found(self) -> UUID:
        """The id of the workspace. Raises NotFound."""
        return await self.directory.found(self.name)

    async def made(self) -> UUID:
        """The id of the workspace, which is made if need be."""
        return await self.directory.made(self.name)

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[Transaction]:
        with self._remembering():
            async with self.runtime.database.workspace(await self.found(), read_only=True) as tx:
                yield tx

    @asynccontextmanager
    async def writing(self) -> AsyncGenerator[Transaction]:
        with self._remembering():
            async with self.runtime.database.workspace(await self.found()) as tx:
                yield tx

    @contextmanager
    def _remembering(self) -> Generator[None]:
        """An id that turns out to have gone is looked up anew the next time."""
        try:
            yield
        except WorkspaceGone:
            self.directory.ids.pop(self.name, None)
            raise

    async def thread_id(self, tx: Transaction, thread: str) -> UUID:
        """The thread of that name. Raises NotFound."""
        found = await conversation.find_thread(tx, checked_name(thread, "thread"))
        if found is None:
            raise NotFound(f"There is no thread {thread} in the workspace {self.name}.")
        return found
