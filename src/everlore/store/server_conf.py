"""What the embedded Postgres is told: its settings, who may log in, and how much memory it takes.

The three files are written anew at each start, so that an upgrade of Everlore takes effect. What somebody
wants otherwise goes in with `ALTER SYSTEM`, which Postgres keeps elsewhere and reads last.
"""

import os
import shutil
from pathlib import Path

SUPERUSER = "postgres"
ROLES = (SUPERUSER, "everlore_owner", "everlore_app", "everlore_worker")

_MB = 1 << 20
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - only measured, nothing is put there by name
_CONTAINER_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)

# Nobody comes in over the network, and on the socket the operating system says who is calling.
CLIENTS = "local all all peer map=everlore\n"


def identities(users: list[str]) -> str:
    """Maps each operating-system user to every role; all others are refused."""
    return "".join(f'everlore "{user}" {role}\n' for user in users for role in ROLES)


def settings(socket_dir: Path, log_dir: Path, clients: Path, users: Path) -> str:
    values = {
        # who can reach it
        "listen_addresses": _quoted(""),
        "port": "5432",
        # A list of folders: the inner quotes keep commas and blanks in a path from splitting it.
        "unix_socket_directories": _quoted('"' + str(socket_dir).replace('"', '""') + '"'),
        "unix_socket_permissions": "0700",
        "hba_file": _quoted(str(clients)),
        "ident_file": _quoted(str(users)),
        "max_connections": "100",
        # Partitioned tables and pg_dump take a lock on every partition and index.
        "max_locks_per_transaction": "256",
        **_memory(machine_memory()),
        # Compiling a query costs more than most of ours take.
        "jit": "off",
        "random_page_cost": "1.1",
        # What was imported just now is counted soon: plans that know nothing of it take the wrong index.
        "autovacuum_naptime": "15s",
        # No replicas and no archive: backups are made by pg_dump, so the log need only survive a crash.
        # Room for bulk loads, which would otherwise force a checkpoint every few seconds.
        "wal_level": "minimal",
        "max_wal_senders": "0",
        "max_logical_replication_workers": "0",
        "max_wal_size": "2GB",
        "checkpoint_timeout": "15min",
        "timezone": _quoted("UTC"),
        "log_timezone": _quoted("UTC"),
        "lc_messages": _quoted("C"),
        # One file a weekday, emptied when the day comes round again: a week of history and no more.
        "logging_collector": "on",
        "log_directory": _quoted(str(log_dir)),
        "log_filename": _quoted("server-%a.log"),
        "log_rotation_age": "1d",
        "log_rotation_size": "0",
        "log_truncate_on_rotation": "on",
        "log_checkpoints": "off",
        "log_line_prefix": _quoted("%m [%p] %u "),
        # Statements and details quote what people wrote; that must not outlive an erasure in a log.
        "log_error_verbosity": "terse",
        "log_min_error_statement": "panic",
    }
    return "".join(f"{name} = {value}\n" for name, value in values.items())


def machine_memory() -> int:
    """Bytes that this process may use: the machine's, or the container's limit where that is less."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for limit in _CONTAINER_LIMITS:
        if limit.is_file() and (text := limit.read_text().strip()).isdigit():
            memory = min(memory, int(text))
    return memory


def _memory(machine: int) -> dict[str, str]:
    """A guest's share, since the machine also runs the application, its models and whatever else.

    An eighth for the shared cache (the usual quarter is for a machine of its own), half as what the system
    is expected to cache, a thirty-second for building indexes (an HNSW graph that fits is many times
    faster), a thousandth for one sort. On 8 GB: 1 GB, 4 GB, 256 MB, 8 MB.
    """
    maintenance = _between(64 * _MB, machine // 32, 2048 * _MB)
    values = {
        "shared_buffers": _between(32 * _MB, machine // 8, 8192 * _MB),
        "effective_cache_size": max(64 * _MB, machine // 2),
        "maintenance_work_mem": maintenance,
        "work_mem": _between(4 * _MB, machine // 1024, 64 * _MB),
    }
    texts = {name: f"{value // _MB}MB" for name, value in values.items()}
    # Containers often have 64 MB of /dev/shm, in which a parallel index build fails as "disk full".
    if _SHARED_MEMORY.is_dir() and shutil.disk_usage(_SHARED_MEMORY).total < 2 * maintenance:
        texts["dynamic_shared_memory_type"] = "sysv"
    return texts


def _between(low: int, value: int, high: int) -> int:
    return max(low, min(value, high))


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
