"""What an operator wants to know of a database: version, migrations, isolation, sizes. Works on an empty one, too."""

from dataclasses import dataclass

import psycopg

from everlore.domain.errors import ConfigurationError
from everlore.store.database import APP, plain_errors, require_readable
from everlore.store.migrate import ROLES, job_migrations, own_migrations, pending
from everlore.store.queries import queries
from everlore.store.run import fetched

_QUERIES = queries("inspection")


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """`login` is who the application connects as. `isolation` is "full" if it is the application's own role, which cannot
    become another one; with any other login, "weaker". Sizes are bytes, tables with their indexes."""

    version: str
    pending: list[str]
    login: str
    roles: dict[str, str]
    isolation: str
    size: int
    tables: dict[str, int]


async def inspect(conninfo: str) -> DatabaseState:
    """Look with the application's login. Raises ConfigurationError, DatabaseUnavailable."""
    require_readable(conninfo)
    with plain_errors():
        async with await psycopg.AsyncConnection.connect(
            conninfo, autocommit=True, connect_timeout=10
        ) as connection:
            row = await (await connection.execute(_QUERIES["login"])).fetchone()
            if row is None:
                raise ConfigurationError("The login has no role of its own in this cluster.")
            login, is_superuser, bypasses = row
            rows = await (await connection.execute(_QUERIES["roles"], {"names": list(ROLES)})).fetchall()
            unbound = {name for name, superuser, bypass in rows if superuser or bypass}
            present = {name for name, _, _ in rows}
            roles = {
                name: "missing"
                if name not in present
                else "not bound by policies"
                if name in unbound
                else "ready"
                for name in ROLES
            }
            migrated = fetched(await (await connection.execute(_QUERIES["migrated"])).fetchone())
            if migrated and login != APP and roles[APP] != "missing":
                # As the application does: a foreign login need not be allowed to read anything itself.
                await connection.execute("set role everlore_app")
            missing = (
                await pending(connection)
                if migrated
                else [m.name for m in own_migrations() + job_migrations()]
            )
            size = fetched(await (await connection.execute(_QUERIES["database_size"])).fetchone())
            tables = await (await connection.execute(_QUERIES["table_sizes"])).fetchall()
            return DatabaseState(
                version=connection.info.parameter_status("server_version") or "",
                pending=missing,
                login=login,
                roles=roles,
                isolation="full" if login == APP and not (is_superuser or bypasses) else "weaker",
                size=size,
                tables=dict(tables),
            )
