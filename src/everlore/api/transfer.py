"""A workspace as lines of JSON, and back: a header, a line for each row, and an end line, without which it is cut off.

What can be made anew is left out: passages of messages, postings, vectors, jobs. Importing is all or nothing, and keeps ids and
times.
"""

import json
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from everlore.api.directory import Directory
from everlore.capture.resplit import resplit
from everlore.domain.answers import to_json
from everlore.domain.errors import InternalError, InvalidInput, promised
from everlore.domain.operations import WorkspaceImported
from everlore.index.step import begin_anew
from everlore.runtime import Runtime
from everlore.store import conversation, distilling, operations, transfer
from everlore.store.run import Transaction
from everlore.store.transfer import KINDS, Column, ExportLine, refused
from everlore.validation import MAX_LINE_BYTES, Lines
from everlore.validation import name as checked_name

FORMAT = "everlore workspace"
VERSION = 1
_HEADER, _END = "header", "end"
# Written at once: so many lines, or so many characters.
_BATCH = 500
_BATCH_CHARACTERS = 4_000_000


async def export_lines(runtime: Runtime, workspace_id: UUID, name: str) -> AsyncGenerator[str]:
    """The lines of a workspace, each with its newline, all of one moment."""
    async with runtime.database.workspace(workspace_id, read_only=True) as tx:
        counts = await transfer.counts(tx)
        made_at = to_json(runtime.clock())
        header = {
            "format": FORMAT,
            "version": VERSION,
            "workspace": name,
            "made_at": made_at,
            "counts": counts,
        }
        yield _line(_HEADER, header)
        written = dict.fromkeys(KINDS, 0)
        for kind in KINDS:
            async for row in transfer.read(tx, kind):
                written[kind] += 1
                yield f'{{"kind": "{kind}", "fields": {row}}}\n'
        if written != counts:
            raise InternalError(f"an export has {written}, and should have {counts}")
        yield _line(_END, {"counts": counts})


def _line(kind: str, fields: Mapping[str, Any]) -> str:
    return json.dumps({"kind": kind, "fields": fields}, ensure_ascii=False) + "\n"


async def import_lines(directory: Directory, lines: Lines, called: str | None) -> WorkspaceImported:
    """Make a workspace of the lines of an export: of the name that is given, else of its own. Raises InvalidInput, which names
    the line and the field; then nothing is stored."""
    runtime = directory.runtime
    await directory.models_known()
    reader = _LineReader(_each(lines))
    header = await reader.header()
    name = _name(header) if called is None else called

    async def door(tx: Transaction) -> UUID:
        return await operations.open_workspace(tx, name)

    async with runtime.database.entering(door) as tx:
        await distilling.lock_workspace(tx)
        if any((await transfer.counts(tx)).values()):
            raise InvalidInput("name", f"the workspace {name} holds something already; give another name")
        counts = await _write(tx, reader)
        await _begin(tx, runtime, counts)
    workspace_id = promised(tx.workspace_id, "the door leads to a workspace")
    directory.ids.pop(name, None)
    return WorkspaceImported(workspace_id, name, counts)


async def _write(tx: Transaction, reader: "_LineReader") -> dict[str, int]:
    """Write all rows, batch by batch; returns how many of each kind."""
    batch: list[ExportLine] = []
    kind, known, size = "", dict[str, Column](), 0

    async def flush() -> None:
        nonlocal size
        if batch:
            await transfer.write(tx, kind, batch, known)
            batch.clear()
            size = 0

    async for next_kind, line in reader.rows():
        if next_kind != kind:
            await flush()
            kind, known = next_kind, await transfer.columns(tx, next_kind)
        _check(kind, line, known, reader.counts[kind])
        batch.append(line)
        size += len(line.text)
        if len(batch) == _BATCH or size > _BATCH_CHARACTERS:
            await flush()
    await flush()
    return {kind: reader.counts[kind] for kind in KINDS}


def _check(kind: str, line: ExportLine, known: Mapping[str, Column], place: int) -> None:
    """Whether a row has the fields of its kind, and nothing else."""
    if missing := [one for one in known if one not in line.fields]:
        raise refused(line.number, missing[0], "is missing")
    if unknown := [one for one in line.fields if one not in known]:
        raise refused(line.number, unknown[0], f"is not a field of the kind {kind}")
    for name, column in known.items():
        try:
            column.check(line.fields[name])
        except InvalidInput as error:
            raise refused(line.number, name, error.reason) from error
    if kind == "passage" and line.fields["passage_id"] != place:
        # Scores lie in an array by these numbers: a large one would fill the memory.
        raise refused(line.number, "passage_id", f"must count from 1; it is the passage {place}")


async def _begin(tx: Transaction, runtime: Runtime, counts: Mapping[str, int]) -> None:
    """Make anew what was left out, as far as recording does that at once; jobs do the rest."""
    await conversation.take_passages(tx, counts["passage"])
    await transfer.begin_steps(tx)
    for thread in await conversation.list_threads(tx):
        await resplit(tx, thread.thread_id, runtime.wordpieces)
    await begin_anew(tx)
    await transfer.leave_jobs(tx, runtime.steps)


async def _each(lines: Lines) -> AsyncIterator[str | bytes]:
    if isinstance(lines, AsyncIterable):
        async for line in lines:
            yield line
    else:
        for line in lines:
            yield line


@dataclass(slots=True)
class _LineReader:
    """Reads lines one after the other, and sees to it that they are an export from its first line to its last."""

    lines: AsyncIterator[str | bytes]
    number: int = 0
    counts: Counter[str] = field(default_factory=Counter[str])

    async def header(self) -> Mapping[str, Any]:
        """The first line. Raises InvalidInput for another format, and for a newer version of it."""
        read = await self._next()
        if read is None:
            raise refused(1, None, "is missing: there is nothing to import")
        kind, line = read
        if kind != _HEADER or line.fields.get("format") != FORMAT:
            raise refused(line.number, None, "is not the header of an export of Everlore")
        version = line.fields.get("version")
        if version != VERSION:
            newer = isinstance(version, int) and version > VERSION
            reason = f"is {version!r}; this Everlore reads {VERSION}" + (". Upgrade it" if newer else "")
            raise refused(line.number, "version", reason)
        return line.fields

    async def rows(self) -> AsyncGenerator[tuple[str, ExportLine]]:
        """Every row with its kind, up to the end line, whose counts must be right."""
        order = list(KINDS)
        last = 0
        while (read := await self._next()) is not None:
            kind, line = read
            if kind == _END:
                await self._ended(line)
                return
            if kind not in KINDS:
                raise refused(line.number, "kind", f"{kind!r} is none that this Everlore knows")
            if order.index(kind) < last:
                raise refused(line.number, "kind", f"{kind} must stand before {order[last]}")
            last = order.index(kind)
            self.counts[kind] += 1
            yield kind, line
        raise refused(
            self.number, None, "is the last one, and it is not the end of the export: it is cut off"
        )

    async def _ended(self, end: ExportLine) -> None:
        counts = {kind: self.counts[kind] for kind in KINDS}
        if end.fields.get("counts") != counts:
            raise refused(
                end.number, "counts", "differ from what stands before: lines are missing or doubled"
            )
        if (more := await self._next()) is not None:
            raise refused(more[1].number, None, "stands behind the end of the export")

    async def _next(self) -> tuple[str, ExportLine] | None:
        """The next line that is not blank; None behind the last."""
        async for raw in self.lines:
            self.number += 1
            text = _text(raw, self.number)
            if text.strip():
                return _parsed(text, self.number)
        return None


def _text(raw: str | bytes, number: int) -> str:
    if len(raw) > MAX_LINE_BYTES:
        raise refused(number, None, f"has more than {MAX_LINE_BYTES:,} bytes")
    try:
        return raw if isinstance(raw, str) else raw.decode()
    except UnicodeDecodeError as error:
        raise refused(number, None, f"is not valid UTF-8 (byte {error.start + 1})") from error


def _parsed(text: str, number: int) -> tuple[str, ExportLine]:
    try:
        read: Any = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise refused(number, None, f"is not valid JSON ({error})") from error
    match read:
        case {"kind": str(kind), "fields": dict(), **rest} if not rest:
            return kind, ExportLine(number, text, read["fields"])
        case _:
            raise refused(number, None, "must be an object of `kind`, which is text, and `fields`, an object")


def _no_number(constant: str) -> Any:
    raise ValueError(f"{constant} is no number of JSON")


def _name(header: Mapping[str, Any]) -> str:
    try:
        return checked_name(header.get("workspace"), "workspace")  # pyright: ignore[reportArgumentType] - checks it
    except InvalidInput as error:
        raise refused(1, "workspace", error.reason) from error
