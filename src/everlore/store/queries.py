"""Named queries from sql/*.sql.

A query begins with `-- name: purpose`; all up to the next such line is its text. Queries reach psycopg as bytes, so that a
query built at run time does not type-check.
"""

import re
from functools import cache
from importlib import resources

_HEAD = re.compile(r"^-- ([a-z_]+): .+$", re.MULTILINE)


@cache
def queries(file: str) -> dict[str, bytes]:
    """The queries of `sql/{file}.sql` by name."""
    text = (resources.files("everlore.store") / "sql" / f"{file}.sql").read_text(encoding="utf-8")
    heads = list(_HEAD.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return {
        head.group(1): text[head.end() : end].strip().encode() for head, end in zip(heads, ends, strict=True)
    }
