"""Every statement names its workspace: row-level security is the lock, `workspace_id = %(workspace)s` is the address."""

import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from tests.structure.tenancy import ast, parse, unbound, unbound_in_function, unbound_in_view

from everlore.store.queries import queries

STORE = Path(str(resources.files("everlore.store")))
SCHEMA = (STORE / "schema.sql").read_text("utf-8")

# Functions of the operator's side, which look at all workspaces; none of them is for the application's role, but for the
# doors into a workspace (which are asked before there is one) and for a model that becomes known.
OVER_ALL_WORKSPACES = {
    "open_workspace": "the door: finds a workspace by its name, or makes it",
    "find_workspace": "the door for reading: finds a workspace by its name",
    "list_workspaces": "lists them",
    "register_embedding_model": "a new model has all passages of the layer `known` to embed, wherever they are",
    "use_embedding_model": "refuses while any workspace lacks vectors of the model",
    "embedding_progress": "counts what models lack, over all workspaces",
    "threads_unindexed": "the sweep's question: where is something to index?",
    "workspaces_unindexed": "the sweep's question: where is something to embed?",
    "workspaces_with_old_keys": "the sweep's question: where did nobody say a key again?",
    "threads_to_distil": "the sweep's question: where is something to distil?",
    "failed_windows": "lists what analysts could not read, for the operator",
    "refused_passages": "lists what embedding models would not take, for the operator",
}
# Statements that an operator's command runs as the owner, over all workspaces.
BY_THE_OPERATOR = {
    ("backup", "holds_messages"): "a restore replaces nothing: it asks whether there is anything at all",
    ("backup", "count_messages"): "a backup says how many messages it holds",
}


def _tables() -> frozenset[str]:
    """Tables and views with a workspace_id, as the schema has them."""
    tables = {
        name
        for name, columns in re.findall(
            r"^CREATE TABLE everlore\.(\w+) \((.*?)^\)", SCHEMA, re.MULTILINE | re.DOTALL
        )
        if re.search(r"^    workspace_id ", columns, re.MULTILINE)
    }
    views = re.findall(
        r"^CREATE VIEW everlore\.(\w+) (?=.*?workspace_id.*?;$)", SCHEMA, re.MULTILINE | re.DOTALL
    )
    return frozenset({*tables, *views})


TABLES = _tables()


def _statements() -> Iterator[tuple[Any, str]]:
    """What the migrations consist of: statements, with their text."""
    for path in sorted((STORE / "migrations").glob("*.sql")):
        text = path.read_text("utf-8")
        for raw in parse(text):
            yield raw.stmt, text[raw.stmt_location : raw.stmt_location + raw.stmt_len]


def _of_kind(kind: type[Any]) -> Iterator[tuple[Any, str]]:
    return ((stmt, text) for stmt, text in _statements() if type(stmt) is kind)


FUNCTIONS: dict[str, str] = {stmt.funcname[-1].sval: text for stmt, text in _of_kind(ast.CreateFunctionStmt)}
VIEWS: dict[str, Any] = {stmt.view.relname: stmt for stmt, _ in _of_kind(ast.ViewStmt)}
FILES = sorted(path.stem for path in (STORE / "sql").glob("*.sql"))


def test_tables_and_functions_are_found() -> None:
    assert {"workspace", "message", "passage", "passage_vector", "watermark", "memory_shown"} <= TABLES
    assert not {"embedding_model", "job_failure", "migration"} & TABLES
    assert set(FUNCTIONS) == set(re.findall(r"^CREATE FUNCTION everlore\.(\w+)", SCHEMA, re.MULTILINE))
    assert set(OVER_ALL_WORKSPACES) <= set(FUNCTIONS)


@pytest.mark.parametrize("file", FILES)
def test_every_query_names_its_workspace(file: str) -> None:
    found = {(file, name): unbound(query.decode(), TABLES) for name, query in queries(file).items()}
    wrong = {query for query, said in found.items() if said}
    known = {query for query in BY_THE_OPERATOR if query[0] == file}
    assert wrong - known == set(), found
    assert known - wrong == set(), "what is done leaves the list"


@pytest.mark.parametrize("file", FILES)
def test_no_query_asks_the_setting(file: str) -> None:
    assert [name for name, query in queries(file).items() if b"current_workspace" in query] == []


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - set(OVER_ALL_WORKSPACES)))
def test_every_function_names_its_workspace(name: str) -> None:
    assert unbound_in_function(FUNCTIONS[name], TABLES) == []


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_views_join_on_the_workspace(name: str) -> None:
    assert unbound_in_view(VIEWS[name], TABLES) == []


def test_no_foreign_key_sets_a_part_of_its_columns_null() -> None:
    assert re.findall(r"ON DELETE SET (?:NULL|DEFAULT)", SCHEMA) == []


# The test itself


@pytest.mark.parametrize(
    "query",
    [
        "select * from everlore.message",
        "select * from everlore.message where workspace_id = %(other)s",
        "select * from everlore.message where workspace_id <> %(workspace)s",
        "select * from everlore.message where workspace_id = %(workspace)s or true",
        "select * from everlore.message where not workspace_id = %(workspace)s",
        "select * from everlore.message m, everlore.thread t where m.workspace_id = %(workspace)s",
        "select * from everlore.message m join everlore.thread t using (thread_id) where m.workspace_id = %(workspace)s",
        "select * from everlore.message m join everlore.thread t on t.workspace_id = m.workspace_id",
        "select * from everlore.message m left join everlore.thread t on m.workspace_id = %(workspace)s",
        "select 1 from everlore.message where workspace_id = everlore.current_workspace()",
        "select (select count(*) from everlore.thread) from everlore.message where workspace_id = %(workspace)s",
        "select 1 where exists (select from everlore.thread)",
        "with m as (select * from everlore.message) select * from m where m.workspace_id = %(workspace)s",
        "select 1 from unnest(array(select thread_id from everlore.thread)) as t",
        "select * from everlore.thread t where t.workspace_id = %(workspace)s union all select * from everlore.thread",
        "select * from (select 1) as one cross join lateral (select * from everlore.message) as m",
        "update everlore.message set text = '' where message_id = %(id)s",
        "update everlore.message m set text = '' from everlore.thread t where m.workspace_id = %(workspace)s",
        "delete from everlore.message",
        "delete from everlore.message m using everlore.thread t where m.workspace_id = t.workspace_id",
        "insert into everlore.message (message_id) values (%(id)s)",
        "insert into everlore.message (workspace_id) values (%(id)s)",
        "insert into everlore.message (workspace_id) values (%(workspace)s), (%(id)s)",
        "insert into everlore.message select * from everlore.message where workspace_id = %(workspace)s",
        "insert into everlore.message (workspace_id) select t.workspace_id from everlore.thread t",
        "with gone as (delete from everlore.message returning 1) select count(*) from gone",
        "select * from everlore.memory_shown",
    ],
)
def test_what_is_not_bound_is_seen(query: str) -> None:
    assert unbound(query, TABLES) != []


@pytest.mark.parametrize(
    "query",
    [
        "select 1; select * from everlore.embedding_model",
        "select * from everlore.message where workspace_id = %(workspace)s::uuid and (a or b)",
        "select * from everlore.message m join everlore.thread t using (workspace_id) where m.workspace_id = %(workspace)s",
        "select * from everlore.message m left join everlore.thread t on t.workspace_id = m.workspace_id"
        " where m.workspace_id = %(workspace)s",
        "with m as (select * from everlore.message where workspace_id = %(workspace)s)"
        " select * from m join everlore.thread t on t.workspace_id = m.workspace_id",
        "select * from everlore.message m where m.workspace_id = %(workspace)s"
        " and exists (select from everlore.thread t where t.workspace_id = m.workspace_id)",
        "select * from unnest(%(ids)s) as g (id) cross join lateral ("
        "select * from everlore.message where workspace_id = %(workspace)s and message_id = g.id offset 0) as m",
        "insert into everlore.message (message_id, workspace_id) values (%(id)s, %(workspace)s)",
        "insert into everlore.message (workspace_id) select t.workspace_id from everlore.thread t"
        " where t.workspace_id = %(workspace)s",
        "update everlore.message m set text = '' from everlore.thread t"
        " where (m.workspace_id, m.thread_id) = (t.workspace_id, t.thread_id) and t.workspace_id = %(workspace)s",
        "copy pg_temp.staged from stdin",
    ],
)
def test_what_is_bound_passes(query: str) -> None:
    assert unbound(query, TABLES) == []


@pytest.mark.parametrize(
    "body",
    [
        "return query select m.message_id from everlore.message m;",
        "if exists (select from everlore.message) then return; end if;",
        "found_one := (select count(*) from everlore.message);",
        "return query execute 'select message_id from everlore.message m where m.workspace_id = $2' using 1, ws;",
    ],
)
def test_functions_are_looked_into(body: str) -> None:
    head = "create function everlore.bad() returns setof uuid language plpgsql as $$ declare found_one bigint; begin "
    assert unbound_in_function(f"{head}{body} end $$", TABLES) != []
