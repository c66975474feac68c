"""Spreading the tables over a Citus cluster: by workspace, so that all rows of one lie on one node.

Foreign keys are in the way while their two ends are of different kinds, so they are dropped first and added again at the end;
all of it is one transaction. What is placed already is left alone: after an upgrade that brings new tables, run it again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import psycopg
from psycopg import sql
from psycopg.rows import class_row, scalar_row

from everlore.domain.errors import ConfigurationError
from everlore.store.database import Connection, plain_errors, require_readable
from everlore.store.queries import queries

_QUERIES = queries("distribute")

Kind: TypeAlias = Literal["distributed", "reference", "local"]


@dataclass(frozen=True, slots=True)
class Table:
    """A table and what it is to be: `distributed` by workspace, `reference` (on every node), `local` to the coordinator."""

    name: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A foreign key of `table`; `definition` is how it is added again."""

    name: str
    table: str
    refers_to: str
    definition: str


async def distribute(conninfo: str, *, dry_run: bool = False) -> list[str]:
    """Distribute the tables; returns the statements that did it, or with `dry_run` would do it. Nothing is left to do: none.

    `conninfo` is the owner's login on the coordinator. Raises ConfigurationError where there is no Citus (a dry run needs none).
    """
    require_readable(conninfo)
    with plain_errors():
        async with await psycopg.AsyncConnection.connect(conninfo) as connection:
            (has_citus,) = await _values(connection, "has_citus")
            if not (has_citus or dry_run):
                raise ConfigurationError(
                    "This Postgres is no Citus coordinator. Install Citus, and run `create extension citus` in this database."
                )
            placed = await _values(connection, "placed") if has_citus else []
            steps = [statement.as_string(connection) for statement in await _plan(connection, placed)]
            if steps and not dry_run:
                await connection.execute(_QUERIES["one_after_the_other"])
                for step in steps:
                    await connection.execute(step.encode())
            return steps


async def _plan(connection: Connection, placed: Sequence[str]) -> list[sql.Composed]:
    """The statements in their order: keys dropped, tables placed, keys added."""
    async with connection.cursor(row_factory=class_row(Table)) as cursor:
        tables = await (await cursor.execute(_QUERIES["tables"])).fetchall()
    moving = [table for table in tables if table.kind != "local" and table.name not in placed]
    names = {table.name for table in moving}
    async with connection.cursor(row_factory=class_row(ForeignKey)) as cursor:
        keys = await (await cursor.execute(_QUERIES["foreign_keys"])).fetchall()
    affected = [key for key in keys if names & {key.table, key.refers_to}]
    return [
        *(_drop(key) for key in affected),
        *(_everywhere(table) for table in moving if table.kind == "reference"),
        *(_by_workspace(table) for table in moving if table.kind == "distributed"),
        *(_add(key) for key in affected),
    ]


def _drop(key: ForeignKey) -> sql.Composed:
    return sql.SQL("alter table {} drop constraint {}").format(_named(key.table), sql.Identifier(key.name))


def _add(key: ForeignKey) -> sql.Composed:
    """The definition comes out of the catalogue, as Postgres itself writes it."""
    added = sql.SQL("alter table {} add constraint {} ").format(_named(key.table), sql.Identifier(key.name))
    return sql.Composed([added, sql.SQL(key.definition)])  # pyright: ignore[reportArgumentType]


def _everywhere(table: Table) -> sql.Composed:
    return sql.SQL("select create_reference_table({})").format(f"everlore.{table.name}")


def _by_workspace(table: Table) -> sql.Composed:
    """All with the same number of shards of the same type of key: Citus keeps them side by side by itself."""
    return sql.SQL("select create_distributed_table({}, 'workspace_id')").format(f"everlore.{table.name}")


def _named(table: str) -> sql.Identifier:
    return sql.Identifier("everlore", table)


async def _values(connection: Connection, query: str) -> list[Any]:
    async with connection.cursor(row_factory=scalar_row) as cursor:
        return await (await cursor.execute(_QUERIES[query])).fetchall()
