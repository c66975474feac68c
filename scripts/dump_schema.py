"""Writes src/everlore/store/schema.sql: what all migrations together make of an empty database, as pg_dump tells it.

Owners, rights and policies are in it, because isolation rests on them. tests/store/test_migrations.py compares it with what
the migrations make. After a change to a migration:

    python scripts/dump_schema.py
"""

import asyncio
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from everlore.store.migrate import create_database, migrate
from everlore.store.server import SUPERUSER, open_server

TARGET = Path(__file__).parents[1] / "src/everlore/store/schema.sql"
HEAD = "-- The schema that all migrations together make. Made by scripts/dump_schema.py; do not edit it.\n\n"

# Headings of pg_dump, what it tells of versions, and how it sets up the session that would restore.
_NOISE = re.compile(r"^(--.*|\\(un)?restrict .*|SET .*|SELECT pg_catalog\.set_config\(.*)\n", re.MULTILINE)


def dump(pg_dump: Path, conninfo: str) -> str:
    """The schema `everlore` of a database, without what differs from one dump to the next."""
    arguments = ["--schema-only", "--schema=everlore", f"--dbname={conninfo}"]
    text = subprocess.run([pg_dump, *arguments], check=True, capture_output=True, text=True).stdout
    return HEAD + re.sub(r"\n{3,}", "\n\n", _NOISE.sub("", text)).strip() + "\n"


def main() -> None:
    # Not below a folder of ours: for root the server runs as a system user, who could not enter it.
    folder = Path(tempfile.gettempdir()) / f"everlore-schema-{os.getpid()}"
    try:
        with open_server(folder) as server:
            asyncio.run(create_database(server.conninfo(SUPERUSER, "postgres"), "everlore"))
            asyncio.run(migrate(server.conninfo(SUPERUSER)))
            TARGET.write_text(dump(server.tool("pg_dump"), server.conninfo(SUPERUSER)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"Wrote {TARGET}.")


if __name__ == "__main__":
    main()
