"""The data folder of the embedded Postgres: claimed, checked, cleared of what a killed server left.

No function here changes the owner or the permissions of a folder that was there before.
"""

import errno
import hashlib
import os
import pwd
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from everlore.domain.errors import ConfigurationError, DatabaseUnavailable, EverloreError
from everlore.store.server_user import ROOT_HOME, SYSTEM_USER, Account

# The least of what the systems allow for the path of a socket (macOS 103 bytes, Linux 107).
_SOCKET_PATH_BYTES = 103
_SOCKET_NAME = ".s.PGSQL.5432"
# Of postmaster.pid, counted from 0 (pidfile.h in the sources of Postgres).
_STATUS_LINE = 7
# Not TMPDIR: every process must find the same folder, whatever its environment.
_SHORT_BASE = Path("/tmp")  # noqa: S108 - `Account.make_private` refuses a folder that is not ours


def default_data_dir() -> Path:
    if os.geteuid() == 0:
        return ROOT_HOME / "data"
    return platformdirs.user_data_path("everlore", appauthor=False) / "data"


@dataclass(frozen=True)
class Folder:
    """A data folder and the names in it; `server.py` says what each is for."""

    root: Path

    @property
    def cluster(self) -> Path:
        return self.root / "postgres"

    @property
    def unfinished_cluster(self) -> Path:
        return self.root / "postgres.new"

    @property
    def conf(self) -> Path:
        return self.root / "conf"

    @property
    def log(self) -> Path:
        return self.root / "log"

    @property
    def start_log(self) -> Path:
        return self.root / "start.log"

    @property
    def start_lock(self) -> Path:
        return self.root / "start.lock"

    @property
    def users_lock(self) -> Path:
        return self.root / "users.lock"

    @property
    def server_lock(self) -> Path:
        return self.root / "server.lock"

    def socket_dir(self, account: Account) -> Path:
        """`run` in the data folder, or one under /tmp where clients could not use the path of the socket."""
        run = self.root / "run"
        # Too long for the system, or read by libpq as a list of hosts.
        if len(os.fsencode(run / _SOCKET_NAME)) <= _SOCKET_PATH_BYTES and "," not in str(run):
            return run
        identity = os.fsencode(f"{account.uid}:{self.root}")
        return _SHORT_BASE / f"everlore-{hashlib.sha256(identity).hexdigest()[:16]}"

    def claim(self, account: Account) -> None:
        """Make the folder if it is missing; refuse, untouched, one that is not ours to use."""
        # Whoever comes first makes this lock before anything else, so it holds also while they are at it.
        if not os.path.exists(self.start_lock):
            if os.path.isfile(self.root):
                raise ConfigurationError(f"The data folder {self.root} is a file; choose another path.")
            account.require_enterable(self.root)
            if not self.root.exists():
                self._make(account)
            self._require_empty_or_ours()
        if self.cluster.exists() and (uid := self.cluster.stat().st_uid) != account.uid:
            owner = _user_name(uid)
            raise ConfigurationError(
                f"The data in {self.cluster} belongs to the user {owner}, but here the server runs as "
                f"{account.name}. Run Everlore as {'root' if owner == SYSTEM_USER else owner}, or choose "
                "another data folder."
            )

    def _make(self, account: Account) -> None:
        for path in reversed([self.root, *self.root.parents]):
            if not path.exists():
                account.make_passage(path)

    def _require_empty_or_ours(self) -> None:
        names = {path.name for path in self.root.iterdir()}
        ours = self.start_lock.name in names or (self.cluster / "PG_VERSION").exists()
        if names and not ours:
            raise ConfigurationError(
                f"The folder {self.root} is not empty and was not made by Everlore, so it was left as it is. "
                "Choose an empty folder, or one that does not exist yet."
            )

    def check_cluster(self, major: str) -> None:
        """Refuse a cluster that our binaries cannot open."""
        version_file = self.cluster / "PG_VERSION"
        if not version_file.is_file():
            raise ConfigurationError(
                f"{self.cluster} is not a Postgres data folder: PG_VERSION is missing. Restore a backup into "
                "another data folder."
            )
        if (version := version_file.read_text().strip()) != major:
            raise ConfigurationError(
                f"The data in {self.root} was written by Postgres {version}, and this is Postgres {major}. "
                "Run `everlore db backup` with the version of Everlore that wrote it; then restore that "
                "backup into a new data folder with this version."
            )

    def says_ready(self) -> bool:
        """Whether the server, or what is left of it, wrote that it accepts sessions."""
        return self._written()[1] == "ready"

    def stopping_pid(self) -> int | None:
        """The process of a server that wrote that it is stopping: it may wait for its sessions to end (SIGTERM)."""
        pid, status = self._written()
        return int(pid) if status == "stopping" else None

    def _written(self) -> tuple[str, str]:
        """The process number and the state that the server wrote down; empty where it has not."""
        try:
            lines = (self.cluster / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return "", ""
        return lines[0] if lines else "", lines[_STATUS_LINE].strip() if len(lines) > _STATUS_LINE else ""

    def clear_stale_files(self, socket_dir: Path) -> None:
        """Remove what a killed server left; only for the holder of the server lock.

        Postgres would remove them too, unless the process number in them has been given to another program
        of the same user, as happens after a reboot and in every restarted container.
        """
        (self.cluster / "postmaster.pid").unlink(missing_ok=True)
        (socket_dir / _SOCKET_NAME).unlink(missing_ok=True)
        (socket_dir / f"{_SOCKET_NAME}.lock").unlink(missing_ok=True)


@contextmanager
def plain_errors(data_dir: Path) -> Generator[None]:
    """Turn what the system says about files into a sentence that says what to do."""
    try:
        yield
    except OSError as error:
        where = error.filename or data_dir
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise disk_full(data_dir) from error
        if error.errno == errno.EROFS:
            raise read_only(data_dir) from error
        if error.errno in {errno.EACCES, errno.EPERM}:
            user = _user_name(os.geteuid())
            raise ConfigurationError(
                f"Permission denied: {where}. Choose a data folder that {user} may write to."
            ) from error
        raise DatabaseUnavailable(f"The data folder cannot be used: {where}: {error.strerror}.") from error


def disk_full(data_dir: Path) -> EverloreError:
    return DatabaseUnavailable(f"The disk that holds {data_dir} is full. Free some space and start again.")


def read_only(data_dir: Path) -> EverloreError:
    return ConfigurationError(
        f"{data_dir} is on a read-only file system. Choose a data folder that can be written to."
    )


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
