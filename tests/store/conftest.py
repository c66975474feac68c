"""The database with two workspaces, made once for each module that asks for it."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from uuid import UUID

import psycopg
import pytest
from psycopg import sql
from tests.conftest import TEMPLATE, _database
from tests.store.two_workspaces import (
    WORKSPACE_TABLES,
    Two,
    filled,
    identifier,
)

from everlore.store.server import Server


@pytest.fixture(scope="module")
def two(server: Server) -> Generator[Two]:
    with contextmanager(_database)(server, TEMPLATE) as database:  # pyright: ignore[reportDeprecated]
        mine, other = asyncio.run(filled(database))
        with psycopg.connect(database.superuser) as connection:
            secrets = {str(other), "bob", "zanzibar", "0b0b0b", "quartz", "basement"}
            for table in WORKSPACE_TABLES:
                statement = sql.SQL("select * from {} where workspace_id = %s").format(identifier(table))
                rows = connection.execute(statement, [other]).fetchall()
                assert rows, f"{table} has no rows in the other workspace"
                assert connection.execute(statement, [mine]).fetchall(), f"{table} has no rows in mine"
                secrets |= {str(value) for row in rows for value in row if isinstance(value, UUID)}
        yield Two(database, mine, other, frozenset(secrets))
