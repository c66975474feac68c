"""Spreading the tables over a cluster: the statements, their order, and that they can be given again.

A stand-in takes the place of Citus' functions in a real database and keeps Citus' rule: while a table is placed, no foreign
key may join it to one of another kind. (Whether Citus itself takes all of it is tried on a cluster, by hand.)
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from tests.conftest import TestDatabase

from everlore.domain.errors import ConfigurationError
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.store.distribute import distribute

CITUS = """
create table public.citus_tables (table_name regclass primary key, citus_table_type text not null);
create function public.place(relation regclass, kind text) returns void language plpgsql as $$
declare other regclass;
begin
    if kind = 'reference' then
        select k.conrelid into other from pg_constraint k
        where k.contype = 'f' and k.confrelid = relation and k.conparentid = 0
          and not exists (select from public.citus_tables t where t.table_name = k.conrelid);
    else
        select case when k.conrelid = relation then k.confrelid else k.conrelid end into other from pg_constraint k
        where k.contype = 'f' and k.conparentid = 0 and relation in (k.conrelid, k.confrelid) and k.conrelid <> k.confrelid
          and not exists (select from public.citus_tables t
                          where t.table_name = case when k.conrelid = relation then k.confrelid else k.conrelid end);
    end if;
    if other is not null then
        raise exception 'cannot place % while a key joins it to %', relation, other;
    end if;
    insert into public.citus_tables values (relation, kind);
end $$;
create function public.create_reference_table(name regclass) returns void language sql as $$
    select public.place(name, 'reference') $$;
create function public.create_distributed_table(name regclass, by text) returns void language plpgsql as $$
begin
    if not exists (select from pg_attribute where attrelid = name and attname = by and attnotnull) then
        raise exception '% has no column %', name, by;
    end if;
    perform public.place(name, 'distributed');
end $$;
"""
KEYS = """
select k.conname, pg_get_constraintdef(k.oid) from pg_constraint k join pg_namespace n on n.oid = k.connamespace
where n.nspname = 'everlore' and k.contype = 'f' and k.conparentid = 0
"""


@contextmanager
def connected(database: TestDatabase) -> Generator[psycopg.Connection[Any]]:
    with psycopg.connect(database.superuser, autocommit=True) as connection:
        yield connection


@pytest.fixture
def cluster(database: TestDatabase) -> TestDatabase:
    with connected(database) as connection:
        connection.execute(CITUS.encode())
    return database


async def test_every_table_of_a_workspace_lies_where_the_workspace_lies(cluster: TestDatabase) -> None:
    with connected(cluster) as connection:
        before = set(connection.execute(KEYS).fetchall())

    done = await distribute(cluster.superuser)

    with connected(cluster) as connection:
        placed = dict(
            connection.execute(
                "select c.relname, t.citus_table_type from citus_tables t join pg_class c on c.oid = t.table_name"
            ).fetchall()
        )
        of_workspaces = {
            row[0]
            for row in connection.execute(
                "select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid "
                "where c.relnamespace = 'everlore'::regnamespace and a.attname = 'workspace_id' "
                "and c.relkind in ('r', 'p') and not c.relispartition"
            )
        }
        assert set(connection.execute(KEYS).fetchall()) == before, "every key is there again, as it was"
    assert done
    assert placed == {
        **dict.fromkeys(of_workspaces, "distributed"),
        "workspace": "reference",
        "embedding_model": "reference",
    }


async def test_once_more_there_is_nothing_to_do(cluster: TestDatabase) -> None:
    await distribute(cluster.superuser)
    assert await distribute(cluster.superuser) == []


async def test_a_dry_run_changes_nothing_and_says_what_would_be_done(cluster: TestDatabase) -> None:
    planned = await distribute(cluster.superuser, dry_run=True)
    with connected(cluster) as connection:
        assert connection.execute("select count(*) from citus_tables").fetchone() == (0,)
    assert await distribute(cluster.superuser) == planned


async def test_a_dry_run_needs_no_cluster_but_the_work_does(database: TestDatabase) -> None:
    assert "select create_distributed_table('everlore.message', 'workspace_id')" in await distribute(
        database.superuser, dry_run=True
    )
    with pytest.raises(ConfigurationError, match="no Citus coordinator"):
        await distribute(database.superuser)


async def test_what_is_there_stays(cluster: TestDatabase) -> None:
    settings = cluster.settings()
    async with Everlore.open(settings, worker=False, embedders={"fake": FakeEmbedder()}) as lore:
        workspace = await lore.workspace("alice")
        await workspace.record([NewMessage(role="user", text="The bees are fine.")])
        await distribute(cluster.superuser)
        (thread,) = await workspace.threads()
        assert thread.messages == 1
