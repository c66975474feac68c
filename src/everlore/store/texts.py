"""What messages say: the one place that reads it, so that texts can move to an archive, where no query reaches them.

All else about a message stays in its row, and so do the words that it is searched by, in its passages: a query that looks for
words looks there.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from uuid import UUID

from psycopg import AsyncCursor
from psycopg.rows import TupleRow, tuple_row

from everlore.store.queries import queries
from everlore.store.run import Transaction

T = TypeVar("T")

_QUERIES = queries("texts")


async def texts_of(tx: Transaction, message_ids: Sequence[UUID]) -> dict[UUID, str]:
    """The texts of those messages that still exist, in one round trip."""
    return await received(await asked(tx, message_ids))


async def asked(tx: Transaction, message_ids: Sequence[UUID]) -> AsyncCursor[TupleRow]:
    """The same, sent; for a pipeline, after which `received` takes the answer."""
    return await tx.sent(_QUERIES["of"], tuple_row, messages=list(message_ids))


async def received(answer: AsyncCursor[TupleRow]) -> dict[UUID, str]:
    return dict(await answer.fetchall())


async def with_texts(tx: Transaction, query: bytes, kind: Callable[..., T], **parameters: Any) -> list[T]:
    """The rows of a query on messages, each as a `kind` made of its columns by name and the `text` of its `message_id`. One
    that was erased between the two is left out."""
    rows = await tx.rows(query, dict[str, Any], **parameters)
    said = await texts_of(tx, [row["message_id"] for row in rows])
    return [kind(**row, text=said[row["message_id"]]) for row in rows if row["message_id"] in said]
