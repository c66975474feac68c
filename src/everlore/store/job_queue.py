"""The job queue's own connections: procrastinate, in the schema `jobs`, as the workers' role."""

from procrastinate import PsycopgConnector

from everlore.store.database import Database


def connector(database: Database) -> PsycopgConnector:
    """A connector of procrastinate with the login and role of `database` (the workers')."""
    return PsycopgConnector(
        conninfo=database.conninfo,
        kwargs={"options": "-c search_path=jobs", "application_name": "everlore (jobs)"},
        configure=database.become_role,
        min_size=0,
        max_size=4,
    )
