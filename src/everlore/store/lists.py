"""Lists in parts: what follows a key, in the order of the list, and how many there are in all."""

from uuid import UUID

from everlore.domain.messages import StoredMessage
from everlore.store.queries import queries
from everlore.store.run import Transaction
from everlore.store.texts import with_texts

_QUERIES = queries("lists")


async def messages(
    tx: Transaction, thread_id: UUID, after: int, limit: int
) -> tuple[list[StoredMessage], int]:
    """Messages of a thread behind a position."""
    query = _QUERIES["messages"]
    found = await with_texts(tx, query, StoredMessage, thread_id=thread_id, after=after, limit=limit)
    return found, await tx.value(_QUERIES["count_messages"], thread_id=thread_id)
