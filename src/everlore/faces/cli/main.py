"""The command `everlore`: the global options, all groups, and the edge where errors become sentences and exit codes.

Exit codes: 0 done; 1 something failed; 2 the command cannot be done as it was given; 3 an import is done, but something was
left out; 130 stopped by Ctrl-C (128 plus the signal's number for others).
"""

import contextlib
import errno
import io
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, TextIO, cast

import typer
from typer.main import get_command

from everlore.domain.errors import CallerError, EverloreError, InvalidInput
from everlore.faces.cli import (
    database,
    demo,
    distilling,
    evaluating,
    importing,
    memory,
    model,
    operating,
    serving,
    transferring,
    verbs,
)
from everlore.faces.cli.call import Call, Terminated, call_of, set_up_logging
from everlore.faces.cli.output import as_json, clean

FAILED, UNUSABLE, INTERRUPTED = 1, 2, 130
_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}

app = typer.Typer(
    name="everlore",
    cls=verbs.Commands,
    help="A long-term memory for AI agents and companions: every turn kept, the few right ones recalled.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for part in (memory, distilling, operating, transferring, serving, demo):
    part.add_to(app)
app.add_typer(importing.app, name="import")
app.add_typer(evaluating.app, name="eval")
app.add_typer(model.app, name="model")
app.add_typer(database.app, name="db")


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"everlore {version('everlore')}")
        raise typer.Exit


@app.callback()
def options(
    ctx: typer.Context,
    data_dir: Annotated[
        str | None,  # a path would make the current folder of an empty one
        typer.Option(metavar="PATH", help="Where the embedded Postgres keeps its data (EVERLORE_DATA_DIR)."),
    ] = None,
    database_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Another Postgres instead. Keep a password out of here: EVERLORE_DATABASE_URL is not seen by others.",
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Log what is done, to standard error.")
    ] = False,
) -> None:
    """Global options stand before the command."""
    if data_dir and database_url:
        raise typer.BadParameter("--data-dir and --database-url exclude each other; give one.")
    call = call_of(ctx)
    call.data_dir, call.database_url, call.verbose = data_dir, database_url, verbose
    set_up_logging(verbose=verbose)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = given[: given.index("--")] if "--" in given else given
    # Not asked of the parser: it may be the one who complains.
    call = Call(json="--json" in options)
    _open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _run(call, given)
        sys.stdout.flush()
        return code
    except OSError as error:
        # What is still buffered must not complain when the interpreter ends.
        _silence(sys.stdout)
        if isinstance(error, BrokenPipeError):
            return FAILED  # whoever read us has enough
        with contextlib.suppress(OSError):
            return _fail(call, "unavailable", f"The output cannot be written: {error.strerror}.", FAILED)
        _silence(sys.stderr)
        return FAILED


def _open_missing_streams() -> None:
    """In this order each gets the number of the one that is missing, which no file or socket can take then."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for as long as we run


def _silence(stream: TextIO) -> None:
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _is_of_output(error: Exception) -> bool:
    """Errors of files name them, and those of the database are ours by now."""
    return isinstance(error, OSError) and error.filename is None and error.errno in _UNWRITABLE


def _run(call: Call, arguments: list[str]) -> int:
    try:
        result = parser(complete=False)(arguments, prog_name="everlore", standalone_mode=False, obj=call)
    except typer.Abort:
        return _fail(call, "aborted", "Nothing was changed.", FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Terminated as error:
        return 128 + error.number
    except EverloreError as error:
        field = error.field if isinstance(error, InvalidInput) else None
        code = UNUSABLE if isinstance(error, CallerError) else FAILED
        return _fail(call, error.kind, str(error), code, field=field)
    except (BrokenPipeError, SystemExit):
        raise
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            return UNUSABLE  # the help was printed when the error was made
        context = getattr(error, "ctx", None)
        hint = f" Try `{context.command_path} --help`." if context is not None else ""
        return _fail(call, "usage", f"{error.format_message().rstrip('.')}.{hint}", UNUSABLE)
    except Exception as error:  # the edge of this face: nobody should be shown a traceback unasked
        if _is_of_output(error):
            raise
        if call.verbose:
            traceback.print_exc()
        message = (
            f"Everlore failed inside ({type(error).__name__}: {error}). Run it again with -v to see where."
        )
        return _fail(call, "internal", message, FAILED)
    return result if isinstance(result, int) else 0


def parser(*, complete: bool = True) -> verbs.Commands:
    """All commands: those made by hand, and one for each other verb; the latter only when called for, unless `complete`."""
    command = cast("verbs.Commands", get_command(app))
    if command.rich_markup_mode == "rich":
        verbs.take_literally(command)
    if complete:
        command.make()
    return command


# Typer raises it and exports only its child.
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])


def _fail(call: Call, kind: str, message: str, code: int, *, field: str | None = None) -> int:
    message = call.redacted(message)
    if call.json:
        error = {"error": {"type": kind, "field": field, "message": message}}
        sys.stderr.write(as_json(error, indent=None) + "\n")
    else:
        sys.stderr.write(f"Error: {clean(message)}\n")
    return code
