"""A workspace written to a file, and made of one: the commands `workspaces export` and `workspaces import`."""

import os
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import IO, Annotated, Any, cast

import typer

from everlore.domain.errors import ConfigurationError, InvalidInput
from everlore.domain.operations import WorkspaceImported
from everlore.faces.cli.call import Json, call_of, run
from everlore.faces.cli.importing import File, Summary, index_all
from everlore.text.counts import counted
from everlore.validation import MAX_LINE_BYTES

# What a person wants to hear of first.
_TOLD = {
    "thread": "threads",
    "message": "messages",
    "memory": "versions of memories",
    "fact": "versions of facts",
    "entity": "entities",
}

workspaces = typer.Typer(no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    app.add_typer(workspaces, name="workspaces")


@workspaces.command("export")
def export(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The workspace.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to; - is standard output.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
    to_json: Json = False,
) -> None:
    """Write a workspace to a file of JSON lines, which only you can read. Work may go on meanwhile.

    JSON: workspace, file, counts (of rows by kind); not with standard output, which has the lines.
    """
    call = call_of(ctx)
    to_stdout = file == Path("-")
    if to_stdout and to_json:
        raise InvalidInput("--json", "standard output has the lines already; give a file")
    counts: dict[str, int] = {}

    async def write(out: IO[bytes]) -> None:
        from json import loads

        async with call.memory() as lore:
            lines = cast("AsyncGenerator[str]", await lore.export_workspace(name))
            async with aclosing(lines):
                counts.update(loads(header := await anext(lines))["fields"]["counts"])
                out.write(header.encode())
                with call.out.progress(f"Exporting {name}", sum(counts.values())) as advance:
                    async for line in lines:
                        out.write(line.encode())
                        advance(1)
        out.flush()

    if to_stdout:
        run(write(sys.stdout.buffer))
        call.out.note(f"Exported {_told(counts)}.")
        return
    with _written(file, force=force) as out:
        run(write(out))
    if to_json:
        call.out.json({"workspace": name, "file": file, "counts": counts})
    else:
        call.out.line(f"Wrote {_told(counts)} to {file}.")


@workspaces.command("import")
def import_(
    ctx: typer.Context,
    file: File,
    name: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="What it is called here; else as it was.")
    ] = None,
    no_index: Annotated[
        bool, typer.Option("--no-index", help="Leave indexing by meaning to a worker or a later command.")
    ] = False,
    to_json: Json = False,
) -> None:
    """Make a workspace of an exported file: all of it or nothing, under a name that does not exist yet or holds nothing.

    JSON: workspace_id, name, counts {kind: rows}."""
    call = call_of(ctx)
    summary = Summary()

    async def keep() -> WorkspaceImported:
        async with call.memory() as lore:
            with call.out.progress(f"Importing {file.name} (bytes)", _size(file)) as advance:
                made = await lore.import_workspace(_lines(file, advance), name=name)
            if not no_index:
                await index_all(call, lore, await lore.workspace(made.name), summary)
            return made

    made = run(keep())
    if to_json:
        call.out.json(made)
    else:
        call.out.line(
            f"Imported {_told(made.counts)} into {made.name}; indexed by meaning: {summary.indexed}."
        )


def _told(counts: Mapping[str, int]) -> str:
    said = ", ".join(counted(counts[kind], many) for kind, many in _TOLD.items())
    return f"{counted(sum(counts.values()), 'rows')} ({said})"


def _size(file: Path) -> int | None:
    try:
        return file.stat().st_size if file.is_file() else None
    except OSError:
        return None


def _lines(file: Path, advance: Callable[[int], None]) -> Iterator[bytes]:
    try:
        with file.open("rb") as read:
            while line := read.readline(MAX_LINE_BYTES + 1):
                advance(len(line))
                yield line
    except OSError as error:
        raise InvalidInput(str(file), f"cannot be read: {error.strerror}") from error


@contextmanager
def _written(file: Path, *, force: bool) -> Generator[IO[Any]]:
    """A file that appears under its name when it is complete, and that only its owner can read."""
    if file.exists() and not force:
        raise InvalidInput(str(file), "exists already; choose another name, or overwrite it with --force")
    partial = file.with_name(f"{file.name}.partial")
    try:
        with open(
            os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb"
        ) as made:
            os.fchmod(made.fileno(), 0o600)  # an older one may have been left with other permissions
            yield made
            os.fsync(made.fileno())
        partial.replace(file)
    except OSError as error:
        raise ConfigurationError(f"The export cannot be written to {file}: {error.strerror}.") from error
    finally:
        partial.unlink(missing_ok=True)
