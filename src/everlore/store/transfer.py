"""A workspace's rows as JSON and back: what an export holds, kind by kind, in an order in which it can be written again.

A kind is a table. To export a new one: its queries in sql/transfer.sql and a line in `KINDS`; what can be made anew of the
rest is listed in `MADE_ANEW` instead. A test compares both with the catalogue.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg

from everlore.domain.errors import InvalidInput
from everlore.store.queries import queries
from everlore.store.run import Transaction
from everlore.store.texts import texts_of

_QUERIES = queries("transfer")

# How many rows are fetched at a time. A message may have megabytes.
_FETCHED = 200


@dataclass(frozen=True, slots=True)
class TransferKind:
    """How rows of a table are read and written. `left_out`: columns that importing fills by itself."""

    read: str
    write: str
    left_out: frozenset[str] = frozenset()


# A row comes after those that it refers to.
KINDS = {
    "project": TransferKind("read_project", "write_project"),
    "thread": TransferKind("read_thread", "write_thread", frozenset({"last_sequence"})),
    "session": TransferKind("read_session", "write_session"),
    "message": TransferKind("read_message", "write_message"),
    "erased_turn": TransferKind("read_erased_turn", "write_erased_turn"),
    "taxonomy_node": TransferKind("read_taxonomy_node", "write_taxonomy_node"),
    "taxonomy_suggestion": TransferKind("read_taxonomy_suggestion", "write_taxonomy_suggestion"),
    "entity": TransferKind("read_entity", "write_entity"),
    "alias": TransferKind("read_alias", "write_alias"),
    "mention": TransferKind("read_mention", "write_mention"),
    "memory": TransferKind("read_memory", "write_memory"),
    "memory_source": TransferKind("read_memory_source", "write_memory_source"),
    "memory_entity": TransferKind("read_memory_entity", "write_memory_entity"),
    "fact": TransferKind("read_fact", "write_fact"),
    "fact_source": TransferKind("read_fact_source", "write_fact_source"),
    "fact_source_before": TransferKind("read_fact_source_before", "write_fact_source_before"),
    "entity_change": TransferKind("read_entity_change", "write_entity_change"),
    "link_suggestion": TransferKind("read_link_suggestion", "write_link_suggestion"),
    # Of memories and facts only, which have no place in a thread.
    "passage": TransferKind(
        "read_passage", "write_passage", frozenset({"thread_id", "session_id", "sequence", "position"})
    ),
    "feedback": TransferKind("read_feedback", "write_feedback"),
    "context": TransferKind("read_context", "write_context"),
    "context_item": TransferKind("read_context_item", "write_context_item"),
    "distillation": TransferKind("read_distillation", "write_distillation"),
    "distil_again": TransferKind("read_distil_again", "write_distil_again"),
    "watermark": TransferKind("read_watermark", "write_watermark"),
    "usage": TransferKind("read_usage", "write_usage"),
    "handed_out": TransferKind("read_handed_out", "write_handed_out"),
    "audit_log": TransferKind("read_audit_log", "write_audit_log"),
}

# Tables of a workspace that an export leaves out, and why.
MADE_ANEW = {
    "workspace": "its name stands in the header; importing makes a new one",
    "passage_counter": "passages get new numbers",
    "posting_block": "the search index is written anew",
    "posting_segment": "the search index is written anew",
    "lexical_statistics": "the search index is written anew",
    "passage_vector": "the search index is written anew",
    "passage_tokens": "the search index is written anew",
    "unembedded": "the search index is written anew",
    "distilled_state": "a lock",
    "breaker": "how models answer this installation now",
}

# The form that JSON has of a type; of every other type it is text.
_FORMS: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    **dict.fromkeys(("integer", "bigint", "smallint"), (int, "a whole number")),
    **dict.fromkeys(("real", "numeric(20,8)"), ((int, float), "a number")),
    "boolean": (bool, "true or false"),
    **dict.fromkeys(("text[]", "bigint[]", "integer[]"), (list, "a list")),
    "jsonb": (object, "anything"),
}

# What is the fault of what was to be written. (An ltree that is none is a syntax error.)
_OF_THE_LINES = (
    psycopg.DataError,
    psycopg.IntegrityError,
    psycopg.errors.ProgramLimitExceeded,
    psycopg.errors.SyntaxError,
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, as the catalogue has it."""

    name: str
    type: str
    required: bool

    def check(self, value: Any) -> None:
        """Raises InvalidInput, with the column as the field, for what JSON could not have come from it."""
        form, called = _FORMS.get(self.type, (str, "text"))
        if value is None:
            if self.required:
                raise InvalidInput(self.name, "must not be null")
        elif not isinstance(value, form) or (isinstance(value, bool) and form not in (bool, object)):
            raise InvalidInput(self.name, f"must be {called}")


@dataclass(frozen=True, slots=True)
class ExportLine:
    """A line of an export: its number in the file, its text, and the fields of its row."""

    number: int
    text: str
    fields: Mapping[str, Any]


async def counts(tx: Transaction) -> dict[str, int]:
    """How many rows of each kind the workspace has."""
    found = dict(await tx.tuples(_QUERIES["read_counts"]))
    return {kind: found[kind] for kind in KINDS}


async def read(tx: Transaction, kind: str) -> AsyncGenerator[str]:
    """All rows of a kind as JSON objects."""
    await tx.done(_QUERIES["plainly"])
    rows = tx.each(_QUERIES[KINDS[kind].read], at_a_time=_FETCHED)
    async for row in _with_texts(tx, rows) if kind == "message" else rows:
        yield row


async def _with_texts(tx: Transaction, rows: AsyncIterator[str]) -> AsyncGenerator[str]:
    """Rows of messages with their texts. The rest of a row stays byte for byte: not every number survives Python."""
    batch: dict[UUID, str] = {}

    async def filled() -> list[str]:
        said = await texts_of(tx, list(batch))
        return [
            f'{row[:-1]}, "text": {json.dumps(said[one], ensure_ascii=False)}}}' for one, row in batch.items()
        ]

    async for row in rows:
        batch[UUID(json.loads(row)["message_id"])] = row
        if len(batch) == _FETCHED:
            for line in await filled():
                yield line
            batch.clear()
    for line in await filled():
        yield line


async def columns(tx: Transaction, kind: str) -> dict[str, Column]:
    """What a row of a kind consists of."""
    left_out = KINDS[kind].left_out | {"workspace_id"}
    found = await tx.rows(_QUERIES["columns"], Column, table=kind)
    return {column.name: column for column in found if column.name not in left_out}


async def write(tx: Transaction, kind: str, lines: Sequence[ExportLine], known: Mapping[str, Column]) -> None:
    """Write the rows of some lines. Raises InvalidInput for the first that cannot be: its number and field are named."""
    texts = f"[{','.join(line.text for line in lines)}]"
    try:
        async with tx.savepoint():
            await tx.done(_QUERIES[KINDS[kind].write], lines=texts)
    except _OF_THE_LINES as error:
        if len(lines) == 1:
            raise await _refused(tx, kind, lines[0], known, error) from error
        half = len(lines) // 2
        await write(tx, kind, lines[:half], known)
        await write(tx, kind, lines[half:], known)


async def begin_steps(tx: Transaction) -> None:
    """After all rows were written: the background steps have something to do, as if the messages were just recorded."""
    await tx.done(_QUERIES["begin_steps"])


async def leave_jobs(tx: Transaction, steps: Sequence[str]) -> None:
    """Jobs of those steps that index every message. (What is to be distilled the sweep finds.)"""
    await tx.done(_QUERIES["leave_jobs"], steps=list(steps))


def refused(line: int, field: str | None, reason: str) -> InvalidInput:
    """What is wrong with a line of an export."""
    return InvalidInput(f"line {line}" if field is None else f"line {line}, {field}", reason)


async def _refused(
    tx: Transaction, kind: str, line: ExportLine, known: Mapping[str, Column], error: psycopg.Error
) -> InvalidInput:
    """Why Postgres did not take a row, and which field it is."""
    for name, column in known.items():
        if not await _is_valid(tx, column, line.fields[name]):
            return refused(line.number, name, f"is no value of its type ({column.type})")
    named = error.diag.constraint_name
    fields = await tx.values(_QUERIES["columns_of"], table=kind, named=named) if named else []
    match error:
        case psycopg.errors.UniqueViolation():
            reason = "a line before has the same"
        case psycopg.errors.ForeignKeyViolation():
            reason = "what it refers to is not in the file before it"
        case psycopg.errors.CheckViolation():
            reason = "is outside its limits"
        case _:
            reason = f"Postgres cannot store it ({error.diag.message_primary})"
    return refused(line.number, fields[0] if fields else kind, reason)


async def _is_valid(tx: Transaction, column: Column, value: Any) -> bool:
    if value is None:
        return True
    text = json.dumps(value, ensure_ascii=False)
    if "\\u0000" in text or any("\ud800" <= character <= "\udfff" for character in text):
        return False
    if column.type == "jsonb":
        return await tx.value(_QUERIES["is_valid"], text=text, type=column.type)
    if isinstance(value, list):
        inner = Column(column.name, column.type.removesuffix("[]"), required=True)
        for one in value:  # pyright: ignore[reportUnknownVariableType] - of JSON
            if not await _is_valid(tx, inner, one):
                return False
        return True
    return await tx.value(
        _QUERIES["is_valid"], text=value if isinstance(value, str) else text, type=column.type
    )
