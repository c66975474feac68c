"""Numbers of passages, taken before they are needed: who records again and again asks for some every now and then only."""

from collections.abc import Generator
from contextlib import contextmanager
from uuid import UUID

from everlore.store import conversation
from everlore.store.database import Database
from everlore.store.run import Transaction

# How many are taken beyond what a small call needs, once a process has recorded in the workspace before.
AHEAD = 64


class PassageNumbers:
    """What this process has taken of each workspace and not used yet. What is never used leaves a gap, which harms nobody."""

    def __init__(self) -> None:
        self._left: dict[UUID, range] = {}

    async def take(self, database: Database, workspace_id: UUID, count: int) -> range:
        """So many numbers in a row, none of which anybody else has or will have."""
        known = workspace_id in self._left
        taken = self.left(workspace_id, count)
        if taken is None:
            ahead = AHEAD if known and count <= AHEAD else 0
            numbers = await conversation.reserve_passages(database, workspace_id, count + ahead)
            taken, self._left[workspace_id] = numbers[:count], numbers[count:]
        return taken

    def left(self, workspace_id: UUID, count: int) -> range | None:
        """So many of those that were taken before; None if there are not so many."""
        left = self._left.get(workspace_id, range(0))
        if len(left) < count:
            return None
        self._left[workspace_id] = left[count:]
        return left[:count]

    async def give_back(self, tx: Transaction, workspace_id: UUID, unused: range) -> None:
        """The last of the numbers that a call took, which it did not need."""
        left = self._left.get(workspace_id)
        if left and unused.stop == left.start:
            self._left[workspace_id] = range(unused.start, left.stop)
        elif unused:
            await conversation.give_back_passages(tx, unused)

    @contextmanager
    def forgotten_on_failure(self, workspace_id: UUID) -> Generator[None]:
        """After a failure the database may be one that was restored, and gives these numbers to others."""
        try:
            yield
        except BaseException:
            self._left.pop(workspace_id, None)
            raise
