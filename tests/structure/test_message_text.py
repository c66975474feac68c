"""Who reads what a message says does so in one place: without the column only that query fails, and those that write it.

So texts can move to an archive: everything else goes on without them.
"""

import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import psycopg
import pytest
from tests.conftest import TestDatabase

from everlore.store.queries import queries

STORE = Path(str(resources.files("everlore.store")))
READS = {("texts", "of")}
WRITES = {("conversation", "write_messages"), ("transfer", "write_message")}


def statements() -> Iterator[tuple[tuple[str, str], str]]:
    """Every query that names the table of messages, with its parameters as `prepare` takes them."""
    for path in sorted((STORE / "sql").glob("*.sql")):
        for name, query in queries(path.stem).items():
            if re.search(r"everlore\.message\b", text := query.decode()) and "lock table" not in text:
                yield (path.stem, name), numbered(text)


def numbered(query: str) -> str:
    numbers: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        return "%" if match[0] == "%%" else f"${numbers.setdefault(match[1], len(numbers) + 1)}"

    return re.sub(r"%%|%\((\w+)\)s", number, query.rstrip().rstrip(";"))


def failing(connection: psycopg.Connection) -> dict[tuple[str, str], str]:
    """Queries that Postgres does not understand as the table is, with what it says."""
    found: dict[tuple[str, str], str] = {}
    for place, (query, text) in enumerate(statements()):
        try:
            with connection.transaction():
                connection.execute(f"prepare tried_{place} as {text}".encode())
                connection.execute(f"deallocate tried_{place}".encode())
        except psycopg.Error as error:
            found[query] = str(error)
    return found


@pytest.fixture
def connection(database: TestDatabase) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database.superuser, autocommit=True) as connected:
        yield connected


def test_only_one_query_reads_what_messages_say(connection: psycopg.Connection) -> None:
    assert failing(connection) == {}
    connection.execute("alter table everlore.message drop column text")
    assert set(failing(connection)) == READS | WRITES


def test_no_function_reads_it_and_no_row_is_taken_whole(connection: psycopg.Connection) -> None:
    whole = {query: text for query, text in statements() if "to_jsonb(" in text}
    assert [query for query, text in whole.items() if "- 'text'" not in text] == []
    bodies = connection.execute(
        "select p.proname, p.prosrc from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'everlore'"
    ).fetchall()
    reading = [name for name, body in bodies if re.search(r"everlore\.message\b", body)]
    assert reading, "there are functions on messages"
    assert [name for name, body in bodies if name in reading and re.search(r"\bm\.text\b", body)] == []


def test_a_query_that_reads_it_is_found(
    connection: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection.execute("alter table everlore.message drop column text")
    hidden = "select x.text from (select * from everlore.message where workspace_id = %(workspace)s) as x"
    monkeypatch.setitem(globals(), "statements", lambda: iter([(("toy", "hidden"), numbered(hidden))]))
    assert set(failing(connection)) == {("toy", "hidden")}
