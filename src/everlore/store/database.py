"""Connections: pools per role, transactions bound to one workspace, and psycopg's errors in plain words."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, contextmanager
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from everlore.domain.errors import ConfigurationError, DatabaseUnavailable, EverloreError, InternalError, InvalidInput

Connection: TypeAlias = psycopg.AsyncConnection[TupleRow]
Role: TypeAlias = Literal["everlore_app", "everlore_owner", "everlore_worker"]

APP: Role = "everlore_app"
OWNER: Role = "everlore_owner"
WORKER: Role = "everlore_worker"

CONNECT_TIMEOUT_S = 15.0


class Database:
    """One role's door to Postgres. All work happens in a transaction that is bound to a workspace, or to none."""

    def __init__(self, conninfo: str, role: Role, *, pool_size: int) -> None:
        self.conninfo = conninfo
        self.role: Role = role
        self._pool = AsyncConnectionPool(
            conninfo,
            kwargs={"autocommit": True, "application_name": f"everlore ({role.removeprefix('everlore_')})"},
            min_size=0,
            max_size=pool_size,
            configure=self.become_role,
            timeout=CONNECT_TIMEOUT_S,
            open=False,
        )

    async def open(self) -> None:
        """Connect once, so that a wrong URL or password is said now and in psycopg's words, not as a pool's timeout."""
        with plain_errors():
            probe = await psycopg.AsyncConnection.connect(self.conninfo, autocommit=True, connect_timeout=10)
            async with probe:
                await self.become_role(probe)
            await self._pool.open()

    async def close(self) -> None:
        await self._pool.close()

    @asynccontextmanager
    async def workspace(self, workspace_id: UUID, *, read_only: bool = False) -> AsyncIterator[Connection]:
        """A transaction that sees and writes this workspace only. Commits at the end, rolls back on any error."""
        # One snapshot for all statements of a read: what is packed between two of them must not be missed.
        mode = sql.SQL("begin isolation level repeatable read read only") if read_only else sql.SQL("begin")
        bind = sql.SQL("set local everlore.workspace = {}").format(sql.Literal(str(workspace_id)))
        async with self._transaction(sql.SQL("; ").join((mode, bind))) as connection:
            yield connection

    @asynccontextmanager
    async def outside(self) -> AsyncIterator[Connection]:
        """A transaction bound to no workspace: it sees no rows of any, and may only use the doors."""
        async with self._transaction(sql.SQL("begin")) as connection:
            yield connection

    @asynccontextmanager
    async def _transaction(self, begin: sql.Composable) -> AsyncGenerator[Connection]:
        # BEGIN and SET LOCAL travel as one message; psycopg's own transaction() would need two round trips.
        with plain_errors():
            async with self._pool.connection() as connection:
                await connection.execute(sql.Composed([begin]), prepare=False)
                try:
                    yield connection
                except BaseException:
                    if not connection.closed:
                        await connection.execute("rollback", prepare=False)
                    raise
                await connection.execute("commit", prepare=False)

    async def become_role(self, connection: Connection) -> None:
        """With a login of another name (one URL for everything), act as the role all the same: weaker, but isolated."""
        current = await (await connection.execute("select current_user")).fetchone()
        if current != (self.role,):
            await connection.execute(sql.SQL("set role {}").format(sql.Identifier(self.role)))
        if not connection.autocommit:
            await connection.commit()


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turns what psycopg raises into our errors, with a sentence that says what to do."""
    try:
        yield
    except EverloreError:
        raise
    except PoolTimeout as error:
        raise DatabaseUnavailable(
            f"No database connection became free within {CONNECT_TIMEOUT_S:.0f} s. Raise pool_size, or try again."
        ) from error
    except psycopg.Error as error:
        raise explained(error) from error


def explained(error: psycopg.Error) -> EverloreError:
    """The error of ours that stands for one of psycopg's."""
    message = _first_line(error)
    match error:
        case psycopg.errors.DiskFull():
            return DatabaseUnavailable(f"The disk of the database is full; nothing was stored. Free some space and try again. ({message})")
        case psycopg.errors.InvalidPassword() | psycopg.errors.InvalidAuthorizationSpecification():
            return ConfigurationError(f"Postgres refused the login; check user and password in the database URL. ({message})")
        case psycopg.errors.InvalidCatalogName():
            return ConfigurationError(f"The database does not exist; create it or correct the database URL. ({message})")
        case psycopg.errors.UndefinedTable() | psycopg.errors.UndefinedFunction() | psycopg.errors.InvalidSchemaName():
            return ConfigurationError(f"The database does not have this version's tables; run `everlore db migrate`. ({message})")
        case psycopg.errors.InsufficientPrivilege():
            return ConfigurationError(f"The database role lacks a right that Everlore needs; see `everlore db status`. ({message})")
        case psycopg.errors.ObjectNotInPrerequisiteState() | psycopg.errors.NoDataFound() | psycopg.errors.InvalidParameterValue():
            return ConfigurationError(f"{message[0].upper()}{message[1:]}.")
        case psycopg.errors.DataError():
            return InvalidInput("value", f"Postgres cannot store it ({message})")
        case psycopg.OperationalError():
            if "password authentication failed" in message or "no password supplied" in message:
                return ConfigurationError(f"Postgres refused the login; check user and password in the database URL. ({message})")
            if "does not exist" in message and "database" in message:
                return ConfigurationError(f"The database does not exist; create it or correct the database URL. ({message})")
            return DatabaseUnavailable(f"Postgres cannot be reached or gave up: {message}")
        case _:
            return InternalError(f"Postgres refused a statement of Everlore: {message}")


def _first_line(error: psycopg.Error) -> str:
    return (error.diag.message_primary or str(error) or type(error).__name__).strip().splitlines()[0]


def fetched(row: TupleRow | None) -> Any:
    """The single value of a row that must be there."""
    if row is None:
        raise InternalError("a query that always answers gave no row")
    return row[0]
