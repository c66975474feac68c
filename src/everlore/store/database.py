"""Connections: pools per role, transactions bound to one workspace, and psycopg's errors in plain words."""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Literal, TypeAlias, TypeVar
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from everlore.domain.errors import (
    ConfigurationError,
    Conflict,
    DatabaseUnavailable,
    EverloreError,
    InternalError,
    InvalidInput,
    WorkspaceGone,
)
from everlore.store.run import Transaction, fetched

_T = TypeVar("_T")
Connection: TypeAlias = psycopg.AsyncConnection[TupleRow]
Role: TypeAlias = Literal["everlore_app", "everlore_owner", "everlore_worker"]

APP: Role = "everlore_app"
OWNER: Role = "everlore_owner"
WORKER: Role = "everlore_worker"

CONNECT_TIMEOUT_S = 15.0
# A server that does not answer for so long is not just restarting.
UNREACHABLE_S = 5.0

# A login that fails has no error code in psycopg, only the server's words.
_REFUSED = re.compile(
    r'authentication failed|no password supplied|no pg_hba\.conf entry|role ".*" does not exist'
)
# What is wrong with a value that was handed in. All other errors of data are casts in our own statements. (Without a code:
# psycopg's own, before anything was sent, such as a NUL in a text or a date beyond the calendar.)
_OF_THE_VALUE = (
    psycopg.errors.CharacterNotInRepertoire,
    psycopg.errors.UntranslatableCharacter,
    psycopg.errors.NumericValueOutOfRange,
    psycopg.errors.DatetimeFieldOverflow,
    psycopg.errors.StringDataRightTruncation,
)
_NO_DATABASE = re.compile(r'database ".*" does not exist')


class Database:
    """One role's door to Postgres. All work happens in a transaction that is bound to a workspace, or to none."""

    def __init__(self, conninfo: str, role: Role, *, pool_size: int) -> None:
        self.conninfo = conninfo
        self.role: Role = role
        self._pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            conninfo,
            kwargs={"autocommit": True, "application_name": f"everlore ({role.removeprefix('everlore_')})"},
            min_size=0,
            max_size=pool_size,
            configure=self._configure,
            timeout=CONNECT_TIMEOUT_S,
            reconnect_timeout=UNREACHABLE_S,
            open=False,
        )

    async def open(self) -> None:
        """Connect once, as the first transaction does otherwise, so that a wrong URL or password is said now and in
        psycopg's words, not as a pool's timeout."""
        require_readable(self.conninfo)
        with plain_errors():
            probe = await psycopg.AsyncConnection.connect(self.conninfo, autocommit=True, connect_timeout=10)
            async with probe:
                await self.become_role(probe)
            await self._pool.open()

    async def close(self) -> None:
        await self._pool.close()

    @asynccontextmanager
    async def workspace(
        self, workspace_id: UUID, *, read_only: bool = False, plan_once: bool = False
    ) -> AsyncGenerator[Transaction]:
        """A transaction that sees and writes this workspace only. Commits at the end, rolls back on any error.

        `plan_once`: a prepared statement keeps one plan, whatever it is asked for. For many small queries that are looked up by
        key: to plan each anew takes longer than to run it. Raises WorkspaceGone if there is no such workspace, or not any more.
        """
        # One snapshot for all statements of a read: what is packed between two of them must not be missed.
        mode = "begin isolation level repeatable read read only" if read_only else "begin"
        plans = ("set local plan_cache_mode = force_generic_plan",) if plan_once else ()
        begin = "; ".join((mode, _bind(workspace_id), *plans, _look_for(workspace_id)))
        async with self._transaction(begin, workspace_id) as connection:
            yield Transaction(connection, workspace_id)

    async def at_once(self, workspace_id: UUID, query: bytes, **parameters: Any) -> Any:
        """One statement in a transaction of its own, all in one round trip; returns the first value of its answer, if any. Its
        commit does not wait for the disk: what depends on it must be committed after it."""

        async def run(connection: Connection) -> Any:
            # Everything as one message: to send it in six costs more than what it does.
            async with psycopg.AsyncClientCursor(connection) as cursor:
                bound = cursor.mogrify(query, {**parameters, "workspace": workspace_id})
                begin = "begin", _bind(workspace_id), "set local synchronous_commit = off"
                asked = "; ".join([*begin, _look_for(workspace_id), bound.rstrip(";"), "commit"])
                await cursor.execute(asked.encode(connection.info.encoding), prepare=False)
                answers: list[tuple[int, Any]] = []
                while True:
                    row = await cursor.fetchone() if cursor.description else None
                    answers.append((cursor.rowcount, row[0] if row else None))
                    if not cursor.nextset():
                        break
            *_, (there, _), (_, value), _ = answers
            if not there:
                raise _gone(workspace_id)
            return value

        with plain_errors():
            connection, value = await self._on_a_live_one(run)
            await self._pool.putconn(connection)
            return value

    @asynccontextmanager
    async def outside(self) -> AsyncGenerator[Transaction]:
        """A transaction bound to no workspace: it sees no rows of any, and may only use the doors."""
        async with self._transaction("begin") as connection:
            yield Transaction(connection, None)

    @asynccontextmanager
    async def entering(self, door: Callable[[Transaction], Awaitable[UUID]]) -> AsyncGenerator[Transaction]:
        """A transaction that begins outside and is bound to the workspace that a door leads to: made and filled in one
        commit, or not at all."""
        async with self.outside() as tx:
            workspace_id = await door(tx)
            await tx.connection.execute(_bind(workspace_id).encode())
            yield Transaction(tx.connection, workspace_id)

    @asynccontextmanager
    async def _transaction(self, begin: str, workspace_id: UUID | None = None) -> AsyncGenerator[Connection]:
        with plain_errors():
            connection, last = await self._begun(begin.encode())
            try:
                if workspace_id is not None and not last.rowcount:
                    raise _gone(workspace_id)
                yield connection
                done = await connection.execute("commit", prepare=False)
                if done.statusmessage != "COMMIT":
                    # An error that somebody caught on the way: Postgres then answers "commit" with a rollback.
                    raise InternalError("A transaction went on after an error, so nothing of it was stored.")
            except BaseException:
                # What went wrong is what the caller hears, not what a broken connection says to the rollback.
                with suppress(psycopg.Error):
                    await connection.rollback()
                raise
            finally:
                await self._pool.putconn(connection)

    async def _begun(self, begin: bytes) -> tuple[Connection, psycopg.AsyncCursor[TupleRow]]:
        """A connection in a new transaction, and what its last statement answered."""

        async def start(connection: Connection) -> psycopg.AsyncCursor[TupleRow]:
            # BEGIN, SET LOCAL and the look for the workspace travel as one message: one round trip.
            cursor = await connection.execute(begin, prepare=False)
            while cursor.nextset():
                pass
            return cursor

        return await self._on_a_live_one(start)

    async def _on_a_live_one(self, start: Callable[[Connection], Awaitable[_T]]) -> tuple[Connection, _T]:
        """A connection on which `start` was run. One that died while it lay in the pool (the server restarted) is replaced."""
        if self._pool.closed:
            await self.open()
        failures = self._connection_failures()
        for others in reversed(range(self._pool.max_size + 1)):
            try:
                connection = await self._free(failures)
            except PoolTimeout as error:
                if self._connection_failures() > failures:
                    raise DatabaseUnavailable(
                        f"Postgres has not answered for {UNREACHABLE_S:.0f} s. Start it, or try again."
                    ) from error
                raise
            try:
                return connection, await start(connection)
            except BaseException as error:
                died = connection.closed and isinstance(error, psycopg.OperationalError)
                if not connection.closed:
                    with suppress(psycopg.Error):
                        await connection.rollback()
                await self._pool.putconn(connection)
                if not (died and others):
                    raise
        raise InternalError("all connections were dead, and so was their last replacement")

    async def _free(self, failures: int) -> Connection:
        """A connection from the pool. One that others use is waited for longer than a server that does not answer."""
        try:
            return await self._pool.getconn(UNREACHABLE_S)
        except PoolTimeout:
            if self._connection_failures() > failures:
                raise
            return await self._pool.getconn(CONNECT_TIMEOUT_S - UNREACHABLE_S)

    def _connection_failures(self) -> int:
        return self._pool.get_stats().get("connections_errors", 0)

    async def _configure(self, connection: Connection) -> None:
        """Every query begins with a workspace's key, so an index always fits. Without the first setting a plan that was
        made while a table was empty would go on reading all of it, row for row, until the next ANALYZE."""
        await connection.execute("set enable_seqscan = off; set jit = off; set search_path = public, pg_temp")
        await self.become_role(connection)

    async def become_role(self, connection: Connection) -> None:
        """With a login of another name (one URL for everything), act as the role all the same: weaker, but isolated."""
        row = await (await connection.execute("select current_user")).fetchone()
        if (login := fetched(row)) != self.role:
            try:
                await connection.execute(sql.SQL("set role {}").format(sql.Identifier(self.role)))
            except psycopg.errors.InvalidParameterValue as error:
                raise ConfigurationError(
                    f"There is no role {self.role} yet; run `everlore db migrate`."
                ) from error
            except psycopg.errors.InsufficientPrivilege as error:
                raise ConfigurationError(
                    f"The login {login} may not act as {self.role}. Log in as {self.role}, or let an administrator run "
                    f"`grant {self.role} to {login}`."
                ) from error
        if not connection.autocommit:
            await connection.commit()


# Made by hand, since psycopg takes longer to put one value into a text than Postgres to obey it. A UUID quotes itself.
def _bind(workspace_id: UUID) -> str:
    return f"set local everlore.workspace = '{workspace_id}'"


def _look_for(workspace_id: UUID) -> str:
    return f"select from everlore.workspace where workspace_id = '{workspace_id}'"


def _gone(workspace_id: UUID) -> WorkspaceGone:
    return WorkspaceGone(f"There is no workspace with the id {workspace_id}.")


def require_readable(conninfo: str) -> None:
    """Raises ConfigurationError, without the URL in its text: it may hold a password."""
    try:
        conninfo_to_dict(conninfo)
    except psycopg.ProgrammingError:
        raise ConfigurationError(
            "The database URL cannot be read. It looks like postgresql://user:password@host:5432/database."
        ) from None


@contextmanager
def plain_errors() -> Generator[None]:
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
            return DatabaseUnavailable(
                f"The disk of the database is full; nothing was stored. Free some space and try again. ({message})"
            )
        case psycopg.errors.InvalidPassword() | psycopg.errors.InvalidAuthorizationSpecification():
            return ConfigurationError(
                f"Postgres refused the login; check user and password in the database URL. ({message})"
            )
        case psycopg.errors.InvalidCatalogName():
            return ConfigurationError(
                f"The database does not exist; create it or correct the database URL. ({message})"
            )
        case (
            psycopg.errors.UndefinedTable()
            | psycopg.errors.UndefinedFunction()
            | psycopg.errors.InvalidSchemaName()
        ):
            return ConfigurationError(
                f"The database does not have this version's tables; run `everlore db migrate`. ({message})"
            )
        case psycopg.errors.InsufficientPrivilege():
            return ConfigurationError(
                f"The database role lacks a right that Everlore needs; see `everlore db status`. ({message})"
            )
        case (
            psycopg.errors.ObjectNotInPrerequisiteState()
            | psycopg.errors.NoDataFound()
            | psycopg.errors.InvalidParameterValue()
        ):
            return ConfigurationError(f"{message[0].upper()}{message[1:]}.")
        case psycopg.errors.DeadlockDetected() | psycopg.errors.SerializationFailure():
            return Conflict("Somebody else was changing the same; nothing was stored. Try again.")
        case psycopg.DataError() if error.sqlstate is None or isinstance(error, _OF_THE_VALUE):
            return InvalidInput("value", f"Postgres cannot store it ({message})")
        case psycopg.OperationalError():
            if _REFUSED.search(message):
                return ConfigurationError(
                    f"Postgres refused the login; check user and password in the database URL. ({message})"
                )
            if _NO_DATABASE.search(message):
                return ConfigurationError(
                    f"The database does not exist; create it or correct the database URL. ({message})"
                )
            return DatabaseUnavailable(f"Postgres cannot be reached or gave up: {message}")
        case _:
            return InternalError(f"Postgres refused a statement of Everlore: {message}")


def _first_line(error: psycopg.Error) -> str:
    return (error.diag.message_primary or str(error) or type(error).__name__).strip().splitlines()[0]
