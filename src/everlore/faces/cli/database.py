"""The group `db`: the database itself, for whoever operates it."""

import shutil
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from everlore.domain.errors import InvalidInput
from everlore.faces.cli.call import Call, Json, call_of, run
from everlore.faces.cli.output import Output, facts, table
from everlore.text.counts import counted

if TYPE_CHECKING:
    from everlore.store.inspection import DatabaseState
    from everlore.store.server import Server

app = typer.Typer(no_args_is_help=True, help="The database: migrations, backup, a console.")

Role: TypeAlias = Literal["app", "owner", "worker"]
_LARGEST = 8
_DUMP = b"PGDMP"  # what files in pg_dump's custom format begin with


@dataclass(frozen=True, slots=True)
class DatabasePlace:
    """Where the database is. `administrator` may create roles and schemas; `server` is ours, or None by URL.

    `applied` names the migrations that the embedded one lacked until now.
    """

    app: str
    owner: str
    worker: str
    administrator: str
    server: "Server | None" = None
    applied: tuple[str, ...] = ()

    def url(self, role: Role) -> str:
        return {"app": self.app, "owner": self.owner, "worker": self.worker}[role]

    def tool(self, name: str) -> Path:
        """One of Postgres' programs; those of the wheel also serve for a database by URL."""
        from everlore.store.server_user import wheel

        return wheel().tool(name) if self.server is None else self.server.tool(name)


@contextmanager
def _reached(call: Call) -> Generator[DatabasePlace]:
    """The database, which stays up meanwhile. By URL it need not be migrated; the embedded one is."""
    settings = call.settings()
    if app := settings.database_url or settings.migration_url:
        owner = settings.migration_url or app
        yield DatabasePlace(app, owner, settings.worker_url or app, owner)
        return

    from everlore.store.database import APP, OWNER, WORKER
    from everlore.store.server import SUPERUSER, open_server
    from everlore.wiring import prepare_embedded

    with open_server(settings.data_dir, say=call.out.note) as server:
        applied = tuple(run(prepare_embedded(server)))
        app, owner, worker, administrator = map(server.conninfo, (APP, OWNER, WORKER, SUPERUSER))
        yield DatabasePlace(app, owner, worker, administrator, server, applied)


@app.command()
def migrate(ctx: typer.Context, to_json: Json = False) -> None:
    """Bring the database up to date. With the embedded one this happens by itself.

    JSON: applied (names of migrations).
    """
    call = call_of(ctx)

    with _reached(call) as place:
        from everlore.wiring import bring_up_to_date

        applied = place.applied if place.server is not None else run(bring_up_to_date(place.administrator))
    if to_json:
        call.out.json({"applied": applied})
    else:
        call.out.line(f"Applied: {', '.join(applied)}." if applied else "The database is up to date.")


@app.command()
def distribute(
    ctx: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be done.")] = False,
    to_json: Json = False,
) -> None:
    """Spread the tables over a Citus cluster, by workspace. Again after an upgrade: what is in its place is left alone.

    JSON: statements (SQL, in their order).
    """
    call = call_of(ctx)
    with _reached(call) as place:
        from everlore.store.distribute import distribute

        statements = run(distribute(place.administrator, dry_run=dry_run))
    if to_json:
        call.out.json({"statements": statements})
    elif not statements:
        call.out.line("Every table is in its place.")
    elif dry_run:
        call.out.line("\n".join(f"{statement};" for statement in statements))
    else:
        call.out.line(f"Done: {counted(len(statements), 'statements')}. The tables are spread by workspace.")


@app.command()
def status(ctx: typer.Context, to_json: Json = False) -> None:
    """Show version, migrations, roles, isolation and sizes.

    JSON: embedded, version, pending (names), login, roles {name: "ready", "missing", "not bound by policies"},
    isolation ("full", "weaker"), size (bytes), tables {name: bytes}.
    """
    call = call_of(ctx)
    with _reached(call) as place:
        from everlore.store.inspection import inspect

        state = run(inspect(place.app))
        embedded = place.server is not None
    if to_json:
        from everlore.domain.answers import to_json as plain

        call.out.json({"embedded": embedded, **plain(state)})
    else:
        _print(call.out, state, embedded=embedded)


def _print(out: Output, state: "DatabaseState", *, embedded: bool) -> None:
    isolation = "full: the application logs in as a role that cannot leave its workspace"
    if state.isolation == "weaker":
        isolation = (
            f"weaker: the login {state.login} only acts as everlore_app and could stop doing so. Let "
            "EVERLORE_DATABASE_URL log in as everlore_app."
        )
    lacking = f"{len(state.pending)} to apply; run `everlore db migrate`" if state.pending else "all applied"
    out.print(
        facts(
            {
                "Postgres": f"{state.version}, {'embedded' if embedded else 'by URL'}",
                "migrations": lacking,
                "roles": ", ".join(f"{name} {what}" for name, what in state.roles.items()),
                "isolation": isolation,
                "size": _bytes(state.size),
            }
        )
    )
    if state.tables:
        out.line()
        listed = table("largest tables", "size", numbers=["size"])
        for name, size in list(state.tables.items())[:_LARGEST]:
            listed.add_row(name, _bytes(size))
        out.print(listed)


def _bytes(count: int) -> str:
    size, unit = float(count), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"


@app.command()
def url(
    ctx: typer.Context,
    role: Annotated[Role, typer.Option(help="Whose login.")] = "app",
    to_json: Json = False,
) -> None:
    """Print the connection string, password included.

    JSON: role, url, embedded.
    """
    call = call_of(ctx)
    with _reached(call) as place:
        if to_json:
            call.out.json({"role": role, "url": place.url(role), "embedded": place.server is not None})
        else:
            call.out.line(place.url(role))
        if place.server is not None:
            call.out.note(
                "The embedded server runs while some Everlore process does, for example `everlore up`."
            )


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def psql(
    ctx: typer.Context,
    role: Annotated[Role, typer.Option(help="Whose login. Only the owner sees all workspaces.")] = "owner",
) -> None:
    """Open psql on the database; what follows `--` goes to it."""
    from everlore.store.backup import client_environment, database_argument

    with _reached(call_of(ctx)) as place:
        conninfo = place.url(role)
        # By URL the psql of this machine knows its owner's habits; the wheel's is there when it is not.
        own = shutil.which("psql") if place.server is None else None
        command = [own or place.tool("psql"), f"--dbname={database_argument(conninfo)}", *ctx.args]
        environment = client_environment(conninfo)
        # Ctrl-C is psql's: it ends a query there. A handler, since a signal that is ignored stays so in the child.
        before = signal.signal(signal.SIGINT, _leave_it)
        try:
            code = subprocess.run(command, env=environment, check=False).returncode
        finally:
            signal.signal(signal.SIGINT, before)
    raise typer.Exit(code)


def _leave_it(_: int, __: object) -> None:
    """A signal that is somebody else's."""


@app.command()
def reindex(ctx: typer.Context, to_json: Json = False) -> None:
    """Forget the whole search index and write it anew from the messages.

    JSON: passages (how many were embedded here).
    """
    call = call_of(ctx)
    done = 0

    async def anew() -> None:
        async with call.memory() as lore:
            with call.out.progress("Indexing") as advance:

                def embedded(count: int) -> None:
                    nonlocal done
                    done += count
                    advance(count)

                await lore.rebuild_index(progress=embedded)

    run(anew())
    if to_json:
        call.out.json({"passages": done})
    else:
        call.out.line(f"The index is new; {counted(done, 'passages', 'were')} embedded.")


File = Annotated[Path, typer.Argument(metavar="FILE")]


@app.command()
def backup(
    ctx: typer.Context,
    file: File,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
    to_json: Json = False,
) -> None:
    """Write everything to one file (pg_dump's custom format), which only you can read. Work may go on meanwhile.

    JSON: file, bytes.
    """
    from everlore.store.backup import backup

    call = call_of(ctx)
    with _reached(call) as place:
        size = run(backup(place.owner, file, place.tool("pg_dump"), force=force))
    if to_json:
        call.out.json({"file": file, "bytes": size})
    else:
        call.out.line(f"Wrote {_bytes(size)} to {file}.")


def _require_dump(file: Path) -> None:
    """Refuse what is plainly something else, before a database is made for it."""
    try:
        with file.open("rb") as given:
            begins = given.read(len(_DUMP))
    except OSError as error:
        raise InvalidInput(str(file), f"cannot be read: {error.strerror}") from error
    if begins != _DUMP:
        raise InvalidInput(str(file), "is no Everlore backup")


@app.command()
def restore(ctx: typer.Context, file: File, to_json: Json = False) -> None:
    """Fill an empty database from a backup. All of it is restored, or nothing.

    JSON: file, messages, migrations (applied afterwards, to an older backup).
    """
    from everlore.store.backup import restore
    from everlore.wiring import bring_up_to_date

    call = call_of(ctx)
    _require_dump(file)
    with _reached(call) as place:
        tools = place.tool("pg_restore"), place.tool("psql")
        restored = run(restore(place.administrator, file, *tools, bring_up_to_date))
    if to_json:
        call.out.json({"file": file, "messages": restored.messages, "migrations": restored.migrations})
    else:
        call.out.line(f"Restored {counted(restored.messages, 'messages')} from {file}.")
