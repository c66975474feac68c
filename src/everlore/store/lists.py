"""Lists in parts: what follows a key, in the order of the list, and how many there are in all."""

from uuid import UUID

from everlore.domain.messages import StoredMessage
from everlore.store.queries import queries
from everlore.store.run import Transaction
from everlore.store.texts import with_texts

_QUERIES = queries("lists")


async def messages(
    tx: Transaction, thread_id: UUID, after: int, limit: int, *, branches: bool = False
) -> tuple[list[StoredMessage], int]:
    """Messages of a thread behind a position, and how many there are: those of its path, or (`branches`) all."""
    which = {"thread_id": thread_id, "branches": branches}
    found = await with_texts(tx, _QUERIES["messages"], StoredMessage, after=after, limit=limit, **which)
    return found, await tx.value(_QUERIES["count_messages"], **which)
