"""Migrations: numbered .sql files, applied once and in order by the owner, under a lock.

Three parts, each safe to repeat: roles, extensions and schemas (by whoever may create them), the job queue's own schema
(kept by procrastinate, in `jobs`), and ours (in `everlore`).
"""

import hashlib
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib import resources

import psycopg
from procrastinate.schema import SchemaManager, migrations_path
from psycopg import sql

from everlore.domain.errors import ConfigurationError
from everlore.store.database import APP, OWNER, WORKER, Connection, plain_errors, require_readable
from everlore.store.queries import queries
from everlore.store.run import Transaction, fetched

MINIMUM_POSTGRES = 16
MINIMUM_PGVECTOR = (0, 8)
EXTENSIONS = ("vector", "unaccent", "ltree", "pg_trgm", "btree_gist", "btree_gin")
ROLES = ("everlore_owner", "everlore_app", "everlore_worker")
# One number for everybody who migrates this database; "everlore" in ASCII.
LOCK = int.from_bytes(b"everlore", "big") >> 1
LOCK_TIMEOUT = "60s"

_QUERIES = queries("migrate")


@dataclass(frozen=True, slots=True)
class Migration:
    """A numbered file. `name` is `0001_text`, or `jobs 03.04.00_50_...` for one of the job queue's."""

    name: str
    script: bytes

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.script).hexdigest()


def own_migrations() -> list[Migration]:
    folder = resources.files("everlore.store") / "migrations"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return [Migration(f.name.removesuffix(".sql"), f.read_bytes()) for f in files]


def job_migrations() -> list[Migration]:
    """What the job queue's library ships, oldest first. A new database takes its whole schema at once instead."""
    return [
        Migration(f"jobs {f.name.removesuffix('.sql')}", f.read_bytes())
        for f in sorted(migrations_path.glob("*.sql"))
    ]


async def migrate(conninfo: str) -> list[str]:
    """Bring the database up to date; returns the names of what was applied. Two processes at once do it once.

    `conninfo` is a login that may create roles, extensions and schemas, or `everlore_owner` where those exist already.
    """
    require_readable(conninfo)
    with plain_errors():
        async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as connection:
            await require_version(connection)
            await connection.execute(sql.SQL("set lock_timeout = {}").format(LOCK_TIMEOUT))
            await connection.execute("select pg_advisory_lock(%s)", [LOCK])
            await _prepare(connection)
            return await _apply(connection)


@asynccontextmanager
async def owner(conninfo: str) -> AsyncGenerator[Transaction]:
    """A transaction as the owner, bound to no workspace. `conninfo`: as for `migrate`."""
    with plain_errors():
        async with (
            await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as connection,
            connection.transaction(),
        ):
            await connection.execute(sql.SQL("set local role {}").format(sql.Identifier(OWNER)))
            yield Transaction(connection, None)


async def pending(connection: Connection | Transaction) -> list[str]:
    """Names of migrations that the database lacks."""
    done = await _applied(connection)
    return [m.name for m in own_migrations() + job_migrations() if m.name not in done]


async def require_version(connection: Connection) -> int:
    """The server's major version. Raises ConfigurationError if it is too old."""
    major = connection.info.server_version // 10_000
    if major < MINIMUM_POSTGRES:
        raise ConfigurationError(
            f"This is Postgres {major}; Everlore needs {MINIMUM_POSTGRES} or newer. Upgrade it, or leave EVERLORE_DATABASE_URL "
            "empty to use the embedded one."
        )
    return major


def require_pgvector(version: str) -> None:
    """Raises ConfigurationError for a pgvector whose index scans cannot go on where a filter takes rows away."""
    if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < MINIMUM_PGVECTOR:
        raise ConfigurationError(
            f"This is pgvector {version}; Everlore needs {'.'.join(map(str, MINIMUM_PGVECTOR))} or newer. Install it on the "
            "server, run `alter extension vector update`, then try again."
        )


async def _prepare(connection: Connection) -> None:
    """Roles, extensions, schemas: only what is missing, so that a plain owner's login is enough the next time."""
    await _roles(connection)
    await _extensions(connection)
    for schema in ("everlore", "jobs"):
        exists = fetched(
            await (await connection.execute("select to_regnamespace(%s) is not null", [schema])).fetchone()
        )
        if not exists:
            await connection.execute(
                sql.SQL("create schema {} authorization {}").format(
                    sql.Identifier(schema), sql.Identifier(OWNER)
                )
            )
    await _require_isolation(connection)


async def _roles(connection: Connection) -> None:
    """The three roles, and the right of this login to act as each."""
    missing = [
        name
        for (name,) in await (await connection.execute(_QUERIES["missing_roles"], [list(ROLES)])).fetchall()
    ]
    for name in missing:
        try:
            await connection.execute(sql.SQL("create role {} login noinherit").format(sql.Identifier(name)))
        except (psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
            # Roles belong to the cluster, advisory locks to one database: another one's migration was here first.
            continue
        except psycopg.errors.InsufficientPrivilege as error:
            raise ConfigurationError(
                f"The login may not create the role {name}. Let an administrator run `everlore db migrate` once "
                "(EVERLORE_MIGRATION_URL), or create everlore_owner, everlore_app and everlore_worker by hand."
            ) from error
    me = fetched(await (await connection.execute("select current_user")).fetchone())
    if me != OWNER:
        for name in ROLES:
            if not fetched(
                await (
                    await connection.execute("select pg_has_role(current_user, %s, 'set')", [name])
                ).fetchone()
            ):
                await connection.execute(sql.SQL("grant {} to current_user").format(sql.Identifier(name)))


async def _require_isolation(connection: Connection) -> None:
    """The roles that the application and the workers act as must not be above the policies, nor able to plant functions
    where the owner's functions look for theirs."""
    for name in (APP, WORKER):
        bypasses, owns, plants = await _powers(connection, name)
        if bypasses:
            raise ConfigurationError(
                f"The role {name} is above row-level security, so workspaces would not be apart. Run "
                f"`alter role {name} nosuperuser nobypassrls`, then try again."
            )
        if owns:
            raise ConfigurationError(
                f"The role {name} is a member of {OWNER}, so workspaces would not be apart. Run "
                f"`revoke {OWNER} from {name}`, then try again."
            )
        if plants:
            # Databases from before Postgres 15 let everybody. Without the right to revoke, Postgres only warns.
            with suppress(psycopg.errors.InsufficientPrivilege):
                await connection.execute("revoke create on schema public from public")
            _, _, plants = await _powers(connection, name)
        if plants:
            raise ConfigurationError(
                f"The role {name} may create functions in the schema public, where it could plant its own. Let the "
                f"database's owner run `revoke create on schema public from public, {name}`, then try again."
            )


async def _powers(connection: Connection, role: str) -> tuple[bool, bool, bool]:
    row = await (await connection.execute(_QUERIES["powers"], [role])).fetchone()
    return row or (False, False, False)


async def _extensions(connection: Connection) -> None:
    rows = await (await connection.execute(_QUERIES["extensions"], [list(EXTENSIONS)])).fetchall()
    state = {name: (schema, version) for name, schema, version in rows}
    for name in EXTENSIONS:
        schema, version = state.get(name, (None, None))
        if name == "vector" and version is not None:
            require_pgvector(version)
        if schema == "public":
            continue
        if schema is not None:
            raise ConfigurationError(
                f"The extension {name} lives in the schema {schema}; Everlore looks for it in public. Move it with "
                f"`alter extension {name} set schema public`."
            )
        if version is None:
            raise ConfigurationError(
                f"This Postgres lacks the extension {name}. Install it on the server (pgvector for vector, the contrib "
                "package for the others), then try again."
            )
        try:
            await connection.execute(
                sql.SQL("create extension {} schema public").format(sql.Identifier(name))
            )
        except psycopg.errors.InsufficientPrivilege as error:
            raise ConfigurationError(
                f"The login may not create the extension {name}. Let an administrator run `create extension {name}` in this "
                "database, then try again."
            ) from error


async def _apply(connection: Connection) -> list[str]:
    me = fetched(await (await connection.execute("select current_user")).fetchone())
    if me != OWNER:
        await connection.execute(sql.SQL("set role {}").format(sql.Identifier(OWNER)))
    # Loads pgvector and pg_trgm: until then only a superuser may make functions that set `hnsw.ef_search` and the like.
    await connection.execute("select '[0]'::public.halfvec, public.show_limit()")
    await connection.execute(_QUERIES["create_migration_table"])
    done = await _applied(connection)
    applied: list[str] = []
    if not any(name.startswith("jobs ") for name in done):
        whole = Migration("jobs schema", SchemaManager.get_schema().encode())
        await _run(connection, whole, search_path="jobs", also=job_migrations())
        applied.append(whole.name)
        done = await _applied(connection)
    for migration, search_path in [(m, "jobs") for m in job_migrations()] + [
        (m, "public") for m in own_migrations()
    ]:
        if migration.name in done:
            if migration in own_migrations() and done[migration.name] != migration.checksum:
                raise ConfigurationError(
                    f"The migration {migration.name} was applied in another form. This database belongs to another build of "
                    "Everlore; use that build, or restore a backup into a new database."
                )
            continue
        await _run(connection, migration, search_path=search_path)
        applied.append(migration.name)
    return applied


async def _run(
    connection: Connection, migration: Migration, *, search_path: str, also: list[Migration] | None = None
) -> None:
    """Apply one script and note it (and those that it contains) in one transaction."""
    async with connection.transaction():
        await connection.execute(sql.SQL("set local search_path = {}").format(sql.Identifier(search_path)))
        # Bytes without parameters go as a simple query: several statements, percent signs untouched.
        await connection.execute(migration.script)
        for noted in also or [migration]:
            await connection.execute(_QUERIES["note_migration"], [noted.name, noted.checksum])


async def _applied(connection: Connection | Transaction) -> dict[str, str]:
    rows = await (await connection.execute(_QUERIES["applied_migrations"])).fetchall()
    return dict(rows)


async def create_database(conninfo: str, database: str) -> None:
    """Make the database if it does not exist. `conninfo` leads to another one of the same server."""
    with plain_errors():
        async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as connection:
            exists = "select exists (select from pg_database where datname = %s)"
            if fetched(await (await connection.execute(exists, [database])).fetchone()):
                return
            await connection.execute("select pg_advisory_lock(%s)", [LOCK])
            if not fetched(await (await connection.execute(exists, [database])).fetchone()):
                await connection.execute(sql.SQL("create database {}").format(sql.Identifier(database)))
