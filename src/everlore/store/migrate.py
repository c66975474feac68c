"""Migrations: numbered .sql files, applied once and in order by the owner, under a lock.

Three parts, each safe to repeat: roles, extensions and schemas (by whoever may create them), the job queue's own schema
(kept by procrastinate, in `jobs`), and ours (in `everlore`).
"""

import asyncio
import hashlib
import re
from dataclasses import dataclass
from importlib import resources
from urllib.parse import quote

import psycopg
from psycopg import sql
from procrastinate.schema import SchemaManager, migrations_path

from everlore.domain.errors import ConfigurationError
from everlore.store.database import OWNER, Connection, fetched, plain_errors
from everlore.store.queries import queries

MINIMUM_POSTGRES = 16
EXTENSIONS = ("vector", "unaccent", "ltree", "pg_trgm", "btree_gist")
ROLES = ("everlore_owner", "everlore_app", "everlore_worker")
# One number for everybody who changes roles (they belong to the cluster) or migrates; "everlore" in ASCII.
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
        Migration(f"jobs {f.name.removesuffix('.sql')}", f.read_bytes()) for f in sorted(migrations_path.glob("*.sql"))
    ]


async def migrate(conninfo: str) -> list[str]:
    """Bring the database up to date; returns the names of what was applied. Two processes at once do it once.

    `conninfo` is a login that may create roles, extensions and schemas, or `everlore_owner` where those exist already.
    """
    with plain_errors():
        async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as connection:
            await require_version(connection)
            await connection.execute(sql.SQL("set lock_timeout = {}").format(LOCK_TIMEOUT))
            await connection.execute("select pg_advisory_lock(%s)", [LOCK])
            await _prepare(connection)
            return await _apply(connection)


async def pending(connection: Connection) -> list[str]:
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


async def _prepare(connection: Connection) -> None:
    """Roles, extensions, schemas: only what is missing, so that a plain owner's login is enough the next time."""
    missing = [name for (name,) in await (await connection.execute(_QUERIES["missing_roles"], [list(ROLES)])).fetchall()]
    for name in missing:
        try:
            await connection.execute(sql.SQL("create role {} login noinherit").format(sql.Identifier(name)))
        except psycopg.errors.InsufficientPrivilege as error:
            raise ConfigurationError(
                f"The login may not create the role {name}. Let an administrator run `everlore db migrate` once "
                "(EVERLORE_MIGRATION_URL), or create everlore_owner, everlore_app and everlore_worker by hand."
            ) from error
    me = fetched(await (await connection.execute("select current_user")).fetchone())
    if me != OWNER:
        for name in ROLES:
            if not fetched(await (await connection.execute("select pg_has_role(current_user, %s, 'set')", [name])).fetchone()):
                await connection.execute(sql.SQL("grant {} to current_user").format(sql.Identifier(name)))
    await _extensions(connection)
    for schema in ("everlore", "jobs"):
        exists = fetched(await (await connection.execute("select to_regnamespace(%s) is not null", [schema])).fetchone())
        if not exists:
            await connection.execute(
                sql.SQL("create schema {} authorization {}").format(sql.Identifier(schema), sql.Identifier(OWNER))
            )


async def _extensions(connection: Connection) -> None:
    rows = await (await connection.execute(_QUERIES["extensions"], [list(EXTENSIONS)])).fetchall()
    state = {name: (available, schema) for name, available, schema in rows}
    for name in EXTENSIONS:
        available, schema = state.get(name, (False, None))
        if schema == "public":
            continue
        if schema is not None:
            raise ConfigurationError(
                f"The extension {name} lives in the schema {schema}; Everlore looks for it in public. Move it with "
                f"`alter extension {name} set schema public`."
            )
        if not available:
            raise ConfigurationError(
                f"This Postgres lacks the extension {name}. Install it on the server (pgvector for vector, the contrib "
                "package for the others), then try again."
            )
        try:
            await connection.execute(sql.SQL("create extension {} schema public").format(sql.Identifier(name)))
        except psycopg.errors.InsufficientPrivilege as error:
            raise ConfigurationError(
                f"The login may not create the extension {name}. Let an administrator run `create extension {name}` in this "
                "database, then try again."
            ) from error


async def _apply(connection: Connection) -> list[str]:
    me = fetched(await (await connection.execute("select current_user")).fetchone())
    if me != OWNER:
        await connection.execute(sql.SQL("set role {}").format(sql.Identifier(OWNER)))
    await connection.execute(_QUERIES["create_migration_table"])
    done = await _applied(connection)
    applied: list[str] = []
    if not any(name.startswith("jobs ") for name in done):
        whole = Migration("jobs schema", SchemaManager.get_schema().encode())
        await _run(connection, whole, search_path="jobs", also=job_migrations())
        applied.append(whole.name)
        done = await _applied(connection)
    for migration, search_path in [(m, "jobs") for m in job_migrations()] + [(m, "public") for m in own_migrations()]:
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


async def _run(connection: Connection, migration: Migration, *, search_path: str, also: list[Migration] | None = None) -> None:
    """Apply one script and note it (and those that it contains) in one transaction."""
    async with connection.transaction():
        await connection.execute(sql.SQL("set local search_path = {}").format(sql.Identifier(search_path)))
        # Bytes without parameters go as a simple query: several statements, percent signs untouched.
        await connection.execute(migration.script)
        for noted in also or [migration]:
            await connection.execute(_QUERIES["note_migration"], [noted.name, noted.checksum])


async def _applied(connection: Connection) -> dict[str, str]:
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
