"""The job queue's own connections: procrastinate, in the schema `jobs`, as the workers' role; and its errors in plain words."""

from collections.abc import Generator
from contextlib import contextmanager

import psycopg
from procrastinate import PsycopgConnector
from procrastinate.exceptions import ConnectorException, ProcrastinateException

from everlore.domain.errors import DatabaseUnavailable, InternalError
from everlore.store.database import UNREACHABLE_S, Database, explained


def connector(database: Database) -> PsycopgConnector:
    """A connector of procrastinate with the login and role of `database` (the workers')."""
    return PsycopgConnector(
        conninfo=database.conninfo,
        kwargs={"options": "-c search_path=jobs", "application_name": "everlore (jobs)"},
        configure=database.become_role,
        min_size=0,
        max_size=4,
        timeout=UNREACHABLE_S,
        reconnect_timeout=UNREACHABLE_S,
    )


@contextmanager
def queue_errors() -> Generator[None]:
    """Turns what the job queue raises into our errors."""
    try:
        yield
    except ConnectorException as error:
        if isinstance(error.__cause__, psycopg.Error):
            raise explained(error.__cause__) from error
        raise DatabaseUnavailable(f"The job queue's database cannot be reached: {error}") from error
    except ProcrastinateException as error:
        raise InternalError(f"The job queue refused: {error}") from error
