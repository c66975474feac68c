"""One run of the command line: its global options, the memory that it opens, and the signals that end it."""

import asyncio
import logging
import re
import signal
import sys
import threading
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import typer

from everlore.domain.errors import ConfigurationError, WorldError, promised
from everlore.faces.cli.output import Output
from everlore.text.counts import counted

if TYPE_CHECKING:
    from everlore.api.workspace import Workspace
    from everlore.config import Settings
    from everlore.everlore import Everlore
    from everlore.ports.analyst import Analyst

T = TypeVar("T")

WorkspaceName: TypeAlias = Annotated[
    str, typer.Option("--workspace", "-w", metavar="NAME", help="The memory to use.")
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]

# A worker of another process takes milliseconds for a message; one that was just killed counts as alive a while longer.
_OTHER_WORKER_S = 2.0
_ASK_AGAIN_S = 0.02
_SECRET = re.compile(r"://[^:/@]*:(.*)@|password\s*=\s*(?:'((?:[^'\\]|\\.)*)'|(\S+))", re.IGNORECASE)


class Terminated(BaseException):
    """The system asked us to end; everything was closed. `number` is the signal's."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@dataclass(slots=True)
class Call:
    """The global options. `secrets` are parts of connection strings that no message may repeat."""

    json: bool
    data_dir: str | None = None
    database_url: str | None = None
    verbose: bool = False
    secrets: set[str] = field(default_factory=set[str])

    @property
    def out(self) -> Output:
        # Made where it is used: a console keeps the streams that it finds.
        return Output()

    def settings(self, **flags: Any) -> "Settings":
        """The settings with this run's options over them. Raises ConfigurationError."""
        from everlore.config import load_settings

        if self.database_url is not None:
            self.secrets |= _secrets(self.database_url)
        settings = load_settings(data_dir=self.data_dir, database_url=self.database_url, **flags)
        for url in (settings.database_url, settings.migration_url, settings.worker_url):
            self.secrets |= _secrets(url or "")
        return settings

    @asynccontextmanager
    async def memory(
        self, settings: "Settings | None" = None, analyst: "Analyst | None" = None
    ) -> "AsyncGenerator[Everlore]":
        """The open memory, without a worker: what a command leaves to be indexed it indexes itself. `analyst` takes the place
        of the configured one."""
        from everlore.everlore import Everlore

        settings = settings or self.settings()
        async with Everlore.open(settings, worker=False, analyst=analyst, say=self.out.note) as lore:
            yield lore

    @asynccontextmanager
    async def workspace(
        self, name: str, *, create: bool = False
    ) -> "AsyncGenerator[tuple[Everlore, Workspace]]":
        """One workspace of the open memory. Raises NotFound if it does not exist, unless the command keeps something in it
        (`create`), which makes it."""
        async with self.memory() as lore:
            yield lore, await lore.workspace(name, create=None if create else False)

    def redacted(self, message: str) -> str:
        """The message without passwords, whether as part of a URL or picked out of one by somebody else."""
        for secret in sorted(self.secrets, key=len, reverse=True):
            message = message.replace(secret, "...")
        return message


def call_of(ctx: typer.Context) -> Call:
    return promised(ctx.find_object(Call), "main() hands the call over before any command runs")


def _secrets(url: str) -> set[str]:
    """Passwords in a connection string, whole and in the pieces that a parser may take a badly quoted one for."""
    found = [next(filter(None, match.groups()), "") for match in _SECRET.finditer(url)]
    return {part for secret in found for part in (secret, *re.split(r"[/@:?#\s]", secret)) if len(part) > 2}


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run to the end, or until a signal: then everything that is open is closed first.

    Raises KeyboardInterrupt for Ctrl-C, Terminated for the system's other ways to say that we should end.
    """
    return asyncio.run(_until_told_to_end(main))


async def _until_told_to_end(main: Coroutine[Any, Any, T]) -> T:
    if threading.current_thread() is not threading.main_thread():
        return await main
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    received: list[int] = []

    def end(number: int) -> None:
        received.append(number)
        if task is not None:
            task.cancel()

    # Ctrl-C is asyncio's own business; a program started with nohup keeps ignoring that its terminal is gone.
    numbers = [n for n in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) is not signal.SIG_IGN]
    for number in numbers:
        loop.add_signal_handler(number, end, number)
    try:
        return await main
    except asyncio.CancelledError:
        if received:
            raise Terminated(received[0]) from None
        raise
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


async def index_one(lore: "Everlore", workspace: "Workspace", out: Output) -> None:
    """See to it that what was just recorded is found by meaning: by the worker that runs, or else here and now."""
    if not await taken_by_worker(lore, workspace, to_the_end=True):
        await lore.catch_up()
        await warn_of_backlog(lore, out)


async def warn_at_first(lore: "Everlore", workspace: "Workspace", stored: int, out: Output) -> None:
    """Say with the first messages of a workspace, and not with each, that nothing is distilled of them, or no facts are."""
    if lore.undistilled_because is None or not stored:
        return
    # What is recorded at once goes into one thread.
    threads = await workspace.threads(limit=1)
    if threads.total == 1 and stored == sum(one.messages + one.off_path for one in threads):
        out.warn(lore.undistilled_because)


async def taken_by_worker(lore: "Everlore", workspace: "Workspace", *, to_the_end: bool) -> bool:
    """Whether a worker runs and indexes what waits here: soon all of it, or at least (not `to_the_end`) some."""
    deadline = asyncio.get_running_loop().time() + _OTHER_WORKER_S
    before: int | None = None
    while await lore.worker_is_alive():
        waiting = sum((await workspace.status()).unembedded.values())
        before = waiting if before is None else before
        if not waiting or (waiting < before and not to_the_end):
            return True
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(_ASK_AGAIN_S)
    return False


async def warn_of_backlog(lore: "Everlore", out: Output) -> None:
    """After indexing something may be left only if a model failed or is not configured here."""
    if lore.settings.embedder == "none":
        return  # as the user wants it
    for model in (await lore.status()).models:
        if model.in_use and model.threads_behind:
            out.warn(
                f"{counted(model.threads_behind, 'threads', 'still wait')} for vectors of {model.name}: what is "
                "said there is found by its words only. `everlore status` says more."
            )


def read_stdin(limit: int) -> str:
    """The text on standard input. Raises InvalidInput if it is not UTF-8 or longer than `limit` bytes."""
    from everlore.domain.errors import InvalidInput

    try:
        given = sys.stdin.buffer.read(limit + 2)
    except OSError as error:
        raise WorldError(f"Standard input cannot be read: {error.strerror}.") from error
    given = given.removesuffix(b"\n")  # echo's, not the writer's
    if len(given) > limit:
        raise InvalidInput("text", f"standard input has more than {limit:,} bytes")
    try:
        return given.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput("text", f"standard input is not valid UTF-8 (byte {error.start + 1})") from error


def require_confirmation(question: str, *, yes: bool) -> None:
    """Ask before something is lost. Raises ConfigurationError where nobody can be asked, Abort for a no."""
    confirmed(
        question,
        yes=yes,
        otherwise="Nothing was deleted. There is no terminal to ask on; confirm with --yes.",
    )


def confirmed(question: str, *, yes: bool, otherwise: str) -> None:
    """Ask, unless the answer is `yes` already. Raises ConfigurationError (`otherwise`) where nobody can be asked."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise ConfigurationError(otherwise)
    # Not typer's own: it leaves a space on standard output, which belongs to the answer.
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise typer.Abort


def set_up_logging(*, verbose: bool) -> None:
    """What goes wrong in a step is told by the commands themselves; with -v the log says the rest."""
    logging.captureWarnings(capture=True)
    if verbose:
        logging.basicConfig(
            stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
        )
    else:
        logging.basicConfig(handlers=[logging.NullHandler()])
