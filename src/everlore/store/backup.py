"""Backup and restore: `pg_dump` and `pg_restore` on our two schemas, `everlore` and `jobs`.

Roles and extensions belong to the cluster or the database; a restore makes them first, as a migration does. Connection strings
go to the programs through the environment, because everybody on the machine can read a command line.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from everlore.domain.errors import (
    ConfigurationError,
    DatabaseUnavailable,
    EverloreError,
    InvalidInput,
    promised,
)
from everlore.store.database import Connection, plain_errors, require_readable
from everlore.store.migrate import LOCK, LOCK_TIMEOUT, job_migrations, own_migrations
from everlore.store.queries import queries
from everlore.store.run import fetched

SCHEMAS = ("everlore", "jobs")
# pg_restore writes for the newest server; older than 17 do not know this setting.
_NEWER_SETTING = b"SET transaction_timeout = 0;\n"
_KNOWS_ALL = 17
_A_PIPE = "a program that is given pipes has them"
_CHUNK = 256 * 1024
_QUERIES = queries("backup")


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore brought; `migrations` are those applied afterwards to bring an older backup up to date."""

    messages: int
    migrations: list[str]


def client_environment(conninfo: str) -> dict[str, str]:
    """The environment in which Postgres' own programs connect as `conninfo` says. Raises ConfigurationError."""
    require_readable(conninfo)
    options = pq.Conninfo.parse(conninfo.encode())
    given = {o.envvar.decode(): o.val.decode() for o in options if o.envvar is not None and o.val is not None}
    return {**os.environ, **given}


def database_argument(conninfo: str) -> str:
    """The value of `--dbname` that goes with `client_environment`: the name only."""
    return make_conninfo(dbname=str(conninfo_to_dict(conninfo).get("dbname") or ""))


async def backup(conninfo: str, file: Path, pg_dump: Path, *, force: bool = False) -> int:
    """Write everything to a file that only its owner can read; returns its size in bytes.

    `conninfo` is the owner's login. The file appears under its name when it is complete. Raises InvalidInput if it exists and
    `force` is not given, ConfigurationError, DatabaseUnavailable.
    """
    environment = client_environment(conninfo)
    if file.exists() and not force:
        raise InvalidInput(str(file), "exists already; choose another name, or overwrite it with --force")
    partial = file.with_name(f"{file.name}.partial")
    try:
        # Made here, so that nobody else can read it from the first byte on. pg_dump writes its list of contents twice to a
        # standard output that is a file, so it gets the name.
        with open(
            os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb"
        ) as made:
            os.fchmod(made.fileno(), 0o600)  # an older one may have been left with other permissions
            options = (
                *("--format=custom", "--no-password", "--lock-wait-timeout=60s"),
                *(f"--schema={name}" for name in SCHEMAS),
                *(f"--file={partial.absolute()}", f"--dbname={database_argument(conninfo)}"),
            )
            await _run(pg_dump, *options, environment=environment)
            os.fsync(made.fileno())
        partial.replace(file)
    except OSError as error:
        raise ConfigurationError(f"The backup cannot be written to {file}: {error.strerror}.") from error
    finally:
        partial.unlink(missing_ok=True)
    return file.stat().st_size


async def restore(
    conninfo: str,
    file: Path,
    pg_restore: Path,
    psql: Path,
    bring_up_to_date: Callable[[str], Awaitable[list[str]]],
) -> Restored:
    """Fill an empty database from a backup, in one transaction, and bring it up to date.

    `conninfo` is a login that may create schemas; roles and extensions too where they are missing. Raises InvalidInput for a
    file that is no backup of Everlore, ConfigurationError for a database that holds messages: both before anything is changed.
    """
    environment = client_environment(conninfo)
    await _require_backup(file, pg_restore, environment)
    await bring_up_to_date(conninfo)
    try:
        with plain_errors():
            async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as connection:
                await _clear(connection)
                server = connection.info.server_version // 10_000
                await _replay(file, pg_restore, psql, conninfo, server)
                await _require_known(connection)
    except (EverloreError, asyncio.CancelledError):
        # What was there before was an empty, migrated database, and so it is again.
        await asyncio.shield(asyncio.ensure_future(bring_up_to_date(conninfo)))
        raise
    migrations = await bring_up_to_date(conninfo)
    async with _owner(conninfo) as connection:
        await connection.execute("set client_min_messages = error")  # of tables that are not ours to analyse
        await connection.execute(_QUERIES["analyze"])
        messages = fetched(await (await connection.execute(_QUERIES["count_messages"])).fetchone())
    return Restored(messages, migrations)


async def _require_backup(file: Path, pg_restore: Path, environment: dict[str, str]) -> None:
    try:
        with file.open("rb"):
            pass
    except OSError as error:
        raise InvalidInput(str(file), f"cannot be read: {error.strerror}") from error
    try:
        contents = await _run(pg_restore, "--list", str(file.absolute()), environment=environment)
    except DatabaseUnavailable as error:
        raise InvalidInput(str(file), f"is not a backup, or it is damaged ({error})") from error
    if "TABLE everlore message " not in contents:
        raise InvalidInput(str(file), "is a backup of another program: it has no messages of Everlore")


@asynccontextmanager
async def _owner(conninfo: str) -> AsyncGenerator[Connection]:
    with plain_errors():
        async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as connection:
            await connection.execute(_QUERIES["become_owner"])
            yield connection


async def _clear(connection: Connection) -> None:
    """Drop the empty schemas, which the backup brings itself. No migration runs until the connection ends."""
    if not fetched(await (await connection.execute(_QUERIES["may_create_schemas"])).fetchone()):
        raise ConfigurationError(
            "The login may not create schemas in this database. Restore with an administrator's login (EVERLORE_MIGRATION_URL)."
        )
    await connection.execute(f"set lock_timeout = '{LOCK_TIMEOUT}'")
    await connection.execute(_QUERIES["hold_migrations"], {"lock": LOCK})
    async with connection.transaction():
        # Its policies would hide every message from a login that is not the owner.
        await connection.execute("set local role everlore_owner")
        await connection.execute(_QUERIES["lock_messages"])
        if fetched(await (await connection.execute(_QUERIES["holds_messages"])).fetchone()):
            raise ConfigurationError(
                "The database holds messages already, and a restore would replace them. Restore into an empty one: another "
                "--data-dir, or a new database."
            )
        await connection.execute(_QUERIES["drop_schemas"])


async def _require_known(connection: Connection) -> None:
    """Undo the restore of a backup that a newer Everlore wrote."""
    known = {migration.name for migration in own_migrations() + job_migrations()}
    async with connection.transaction():
        await connection.execute("set local role everlore_owner")
        applied = {name for (name,) in await (await connection.execute(_QUERIES["applied_names"])).fetchall()}
        if applied <= known:
            return
        await connection.execute(_QUERIES["drop_schemas"])
    raise ConfigurationError(
        "A newer version of Everlore wrote this backup; restore it with that version. Nothing was changed."
    )


async def _replay(file: Path, pg_restore: Path, psql: Path, conninfo: str, server: int) -> None:
    """Run the backup as one transaction: committed when pg_restore has read all of the file, and only then.

    By way of psql, because pg_restore cannot begin with a statement of ours: for everybody but a superuser, functions that set
    `hnsw.ef_search` or `pg_trgm.similarity_threshold` can be made only where pgvector and pg_trgm are loaded already, and the
    first use of each loads it.
    """
    environment = client_environment(conninfo)
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    options = (
        *("--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1"),
        f"--dbname={database_argument(conninfo)}",
    )
    writer = await asyncio.create_subprocess_exec(
        psql, *options, stdin=pipe, stdout=nothing, stderr=pipe, env=environment
    )
    reader = await asyncio.create_subprocess_exec(
        pg_restore, "--file=-", str(file.absolute()), stdin=nothing, stdout=pipe, stderr=pipe, env=environment
    )
    to_psql, script = promised(writer.stdin, _A_PIPE), promised(reader.stdout, _A_PIPE)
    complaints = asyncio.gather(
        *(promised(one.stderr, _A_PIPE).read() for one in (writer, reader)),
    )
    fed = False
    try:
        await _feed(script, to_psql, old=server < _KNOWS_ALL)
        # Without a commit, the end of the input is the end of the session and of all that it did.
        with suppress(BrokenPipeError, ConnectionResetError):
            if await reader.wait() == 0:
                to_psql.write(b"\ncommit;\n")
            to_psql.close()
            await to_psql.wait_closed()
        fed = True
    finally:
        if not fed and writer.returncode is None:
            writer.kill()
        if reader.returncode is None:
            reader.kill()
        await asyncio.gather(writer.wait(), reader.wait())
    said_by_psql, said_by_pg_restore = await complaints
    if writer.returncode != 0:
        raise _failure(psql, writer.returncode, said_by_psql)
    if reader.returncode != 0:
        raise _failure(pg_restore, reader.returncode, said_by_pg_restore)


async def _feed(script: asyncio.StreamReader, psql: asyncio.StreamWriter, *, old: bool) -> None:
    """Hand a script on as it comes. `old`: the server does not know all settings at its beginning."""
    psql.write(b"begin; select '[0]'::public.halfvec, public.show_limit();\n")
    while chunk := await script.read(_CHUNK):
        psql.write(chunk.replace(_NEWER_SETTING, b"", 1) if old else chunk)
        old = False
        try:
            await psql.drain()
        except (BrokenPipeError, ConnectionResetError):
            return  # psql has stopped at an error, and says why


async def _run(program: Path, *arguments: str, environment: dict[str, str]) -> str:
    """Run one of Postgres' programs to its end; returns what it printed."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        program, *arguments, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=environment
    )
    try:
        printed, complaints = await process.communicate()
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        raise
    if process.returncode != 0:
        raise _failure(program, process.returncode, complaints)
    return printed.decode(errors="replace")


def _failure(program: Path, code: int | None, complaints: bytes) -> EverloreError:
    words = " ".join(complaints.decode(errors="replace").splitlines()[:3]) or f"exit code {code}"
    if "No space left on device" in words:
        return DatabaseUnavailable("The disk is full. Free some space and try again.")
    return DatabaseUnavailable(
        f"{program.name} failed: {words.removeprefix(f'{program.name}: ').removeprefix('error: ')}"
    )
