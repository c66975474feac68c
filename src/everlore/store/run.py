"""One way to run a named query: in a transaction that knows its workspace, and hands it to every query as `%(workspace)s`.

Answers are read by name: a row becomes the dataclass that is asked for, its columns the fields of the same names.
"""

import math
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any, LiteralString, TypeVar
from uuid import UUID

import psycopg
from psycopg import AsyncCopy, AsyncCursor
from psycopg.rows import BaseRowFactory, TupleRow, kwargs_row, scalar_row, tuple_row

from everlore.domain.errors import InternalError
from everlore.store.queries import queries

T = TypeVar("T")


_QUERIES = queries("run")


class DeadlineMissed(Exception):
    """A statement was stopped at a deadline, or not begun; the transaction goes on without it."""


class Transaction:
    """A transaction bound to one workspace, or (`workspace_id` is None) to none: then only an operator's queries answer.

    Every query gets the parameter `workspace`. The policies of row-level security are the lock, this is the address: on a
    cluster it says which node is asked.
    """

    def __init__(self, connection: psycopg.AsyncConnection[TupleRow], workspace_id: UUID | None) -> None:
        self.connection = connection
        self.workspace_id = workspace_id
        self._left_ms: Callable[[], float] | None = None
        self._own_ms: int | None = None

    async def rows(
        self, query: bytes, kind: Callable[..., T], *, binary: bool = False, **parameters: Any
    ) -> list[T]:
        """All rows, each as a `kind` (a dataclass, or a function) made of its columns by name."""
        return await (await self._run(query, kwargs_row(kind), parameters, binary)).fetchall()

    async def row(self, query: bytes, kind: Callable[..., T], **parameters: Any) -> T | None:
        """The first row as a `kind`; None if there is none."""
        return await (await self._run(query, kwargs_row(kind), parameters)).fetchone()

    async def tuples(self, query: bytes, *, binary: bool = False, **parameters: Any) -> list[TupleRow]:
        """All rows as plain tuples: for pairs, and for rows that become arrays."""
        return await (await self._run(query, tuple_row, parameters, binary)).fetchall()

    async def tuple(self, query: bytes, **parameters: Any) -> TupleRow | None:
        """The first row as a plain tuple; None if there is none."""
        return await (await self._run(query, tuple_row, parameters)).fetchone()

    async def values(self, query: bytes, *, binary: bool = False, **parameters: Any) -> list[Any]:
        """The first column of all rows."""
        return await (await self._run(query, scalar_row, parameters, binary)).fetchall()

    async def value(self, query: bytes, **parameters: Any) -> Any:
        """The first column of the first row; None if there is no row."""
        return await (await self._run(query, scalar_row, parameters)).fetchone()

    async def each(self, query: bytes, *, at_a_time: int, **parameters: Any) -> AsyncGenerator[Any]:
        """The first column of all rows, so many fetched at a time: for more than memory should hold."""
        async with self.connection.cursor(name="each", row_factory=scalar_row) as cursor:
            cursor.itersize = at_a_time
            await cursor.execute(query, {**parameters, "workspace": self.workspace_id})
            async for value in cursor:
                yield value

    async def done(self, query: bytes, **parameters: Any) -> int:
        """Run a statement for what it does; returns how many rows it touched."""
        return (await self._run(query, tuple_row, parameters)).rowcount

    async def sent(
        self, query: bytes, row_factory: BaseRowFactory[T], *, binary: bool = False, **parameters: Any
    ) -> AsyncCursor[T]:
        """For a pipeline: the statement is sent, and its rows are fetched after the pipeline has ended."""
        return await self._run(query, row_factory, parameters, binary)

    def copy(self, query: bytes) -> AbstractAsyncContextManager[AsyncCopy]:
        """A COPY into a temporary table."""
        return self.connection.cursor().copy(query)

    def savepoint(self) -> AbstractAsyncContextManager[Any]:
        """A part of the transaction that can fail by itself."""
        return self.connection.transaction()

    def pipeline(self) -> AbstractAsyncContextManager[Any]:
        """Queries inside are sent without waiting for each other's answers; not under a deadline, of which each gets the rest."""
        return nullcontext() if self._left_ms else self.connection.pipeline()

    @asynccontextmanager
    async def until(self, left_ms: Callable[[], float]) -> AsyncGenerator[None]:
        """Each statement inside may run for what is left then, or for as long as the operator lets it. Raises DeadlineMissed
        once nothing is left, and leaves the transaction as it was before."""
        if left_ms() < 1:
            raise DeadlineMissed
        around = self._left_ms
        if self._own_ms is None:
            self._own_ms = int(await self.value(_QUERIES["own_timeout"]))
        own_ms = self._own_ms
        try:
            async with self.savepoint():
                self._left_ms = lambda: min(left_ms(), around() if around else math.inf, own_ms or math.inf)
                try:
                    yield
                finally:
                    self._left_ms = around
                if around is None:
                    await self.done(_QUERIES["set_timeout"], milliseconds=str(own_ms))
        except psycopg.errors.QueryCanceled as error:
            raise DeadlineMissed from error

    async def execute(
        self,
        query: bytes | LiteralString,
        parameters: Mapping[str, Any] | Sequence[Any] | None = None,
        *,
        binary: bool = False,
    ) -> AsyncCursor[TupleRow]:
        """A statement as psycopg takes it, with the workspace among its named parameters."""
        if isinstance(parameters, Mapping) or (parameters is None and b"%(" in _bytes(query)):
            parameters = {**(parameters or {}), "workspace": self.workspace_id}
        return await self.connection.execute(query, parameters, binary=binary)

    async def _run(
        self,
        query: bytes,
        row_factory: BaseRowFactory[Any],
        parameters: Mapping[str, Any],
        binary: bool = False,
    ) -> AsyncCursor[Any]:
        cursor = self.connection.cursor(row_factory=row_factory)
        given = {**parameters, "workspace": self.workspace_id}
        if self._left_ms is None:
            return await cursor.execute(query, given, binary=binary)
        if (left := self._left_ms()) < 1:
            raise DeadlineMissed
        async with self.connection.pipeline():
            await self.connection.execute(_QUERIES["set_timeout"], {"milliseconds": str(int(left))})
            await cursor.execute(query, given, binary=binary)
        return cursor


def _bytes(query: bytes | str) -> bytes:
    return query if isinstance(query, bytes) else query.encode()


def fetched(row: TupleRow | None) -> Any:
    """The single value of a row that must be there."""
    if row is None:
        raise InternalError("a query that always answers gave no row")
    return row[0]
