"""How often memories were used by answers: gathered in memory and written now and then, so that a recall only reads."""

import asyncio
import logging
from collections.abc import Iterable
from uuid import UUID

from everlore.domain.errors import EverloreError
from everlore.store import recall_memories
from everlore.store.database import Database
from everlore.store.recall_memories import Use

log = logging.getLogger(__name__)

# Written when so many memories wait, or so long after the first of them.
MOST = 500
AFTER_S = 30.0


class Uses:
    """Counts that wait to be written. What cannot be written is dropped, and said in the log: no answer is lost for it."""

    def __init__(self, database: Database, *, most: int = MOST, after_s: float = AFTER_S) -> None:
        self._database = database
        self._most, self._after_s = most, after_s
        self._waiting: dict[UUID, dict[UUID, Use]] = {}
        self._later: asyncio.TimerHandle | None = None
        self._writing: set[asyncio.Task[None]] = set()

    def note(self, workspace_id: UUID, uses: Iterable[Use]) -> None:
        """Remember that memories were used. Writes nothing now."""
        counts = self._waiting.setdefault(workspace_id, {})
        for use in uses:
            before = counts.get(use.memory_id, Use(use.memory_id, 0, use.at))
            counts[use.memory_id] = Use(use.memory_id, before.uses + use.uses, max(before.at, use.at))
        if sum(map(len, self._waiting.values())) >= self._most:
            self._begin()
        elif self._later is None and counts:
            self._later = asyncio.get_running_loop().call_later(self._after_s, self._begin)

    async def flush(self) -> None:
        """Write all that waits, and wait for what is being written."""
        self._begin()
        while self._writing:
            await asyncio.wait(self._writing)

    def _begin(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None
        waiting, self._waiting = self._waiting, {}
        for workspace_id, counts in waiting.items():
            if counts:
                task = asyncio.create_task(self._write(workspace_id, list(counts.values())))
                self._writing.add(task)
                task.add_done_callback(self._writing.discard)

    async def _write(self, workspace_id: UUID, uses: list[Use]) -> None:
        try:
            async with self._database.workspace(workspace_id) as tx:
                await recall_memories.note_uses(tx, uses)
        except EverloreError as error:
            log.warning("that %s memories were used could not be noted: %s", len(uses), error)
