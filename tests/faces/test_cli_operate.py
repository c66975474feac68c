"""status, jobs, models, db: for whoever keeps an installation running."""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg import sql

from everlore.config import Settings
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.store.backup import client_environment, database_argument

Cli = Callable[..., Any]
Models = Callable[..., None]

STATUS_KEYS = {
    *("postgres", "embedded", "data_dir", "isolation", "workspaces", "messages", "models", "steps", "jobs"),
    *("parked", "failures", "held_up", "workers", "workspace", "undistilled_because"),
}
DB_STATUS_KEYS = {"embedded", "version", "pending", "login", "roles", "isolation", "size", "tables"}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that the server's user may enter when root runs the tests (pytest's own it may not)."""
    made = Path(tempfile.mkdtemp(prefix="everlore-cli-"))
    made.chmod(0o711)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Models:
    """Configure these models, the default one first."""

    def configure(*embedders: FakeEmbedder) -> None:
        def configured(_: Settings) -> dict[str, FakeEmbedder]:
            return {embedder.name: embedder for embedder in embedders}

        monkeypatch.setattr("everlore.wiring.configured_embedders", configured)
        monkeypatch.setenv("EVERLORE_EMBEDDER", embedders[0].name if embedders else "none")

    return configure


@pytest.fixture
def failing(cli: Cli, models: Models, monkeypatch: pytest.MonkeyPatch) -> FakeEmbedder:
    """A model that cannot embed anything until it is mended, in place of the configured one."""
    del cli  # which sets its own before
    embedder = FakeEmbedder()
    models(embedder)

    async def refuse(_: object) -> Any:
        raise TypeError("the model has\x1b[31m a bug")

    monkeypatch.setattr(embedder, "encode_passages", refuse)
    return embedder


def test_the_status_at_a_glance(cli: Cli) -> None:
    cli("record", "tea")
    state = cli("status", "--json").json
    assert set(state) == STATUS_KEYS
    assert (state["messages"], state["embedded"], state["data_dir"]) == (1, False, None)
    assert state["isolation"] == "full"
    assert state["workspace"] == {
        "workspace": "default",
        "threads": 1,
        "messages": 1,
        "unpacked": 1,
        "unembedded": {},
        "memories": 0,
        "undistilled": 1,
        "failed_windows": 0,
    }
    assert "to be distilled  1 message" in cli("status").out
    shown = cli("status").out
    assert "by URL" in shown
    assert "No embedding model is installed" in shown
    assert "There is no workspace nobody" in cli("status", "-w", "nobody", code=2).err


def test_one_login_for_everything_is_called_weaker(
    run: Cli, database: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERLORE_EMBEDDER", "none")
    monkeypatch.setenv("EVERLORE_DATABASE_URL", database.superuser)
    for command in (("status",), ("db", "status")):
        assert run(*command, "--json").json["isolation"] == "weaker"
        assert "weaker" in run(*command).out
    # What counts is who the application logs in as, not how many URLs there are.
    monkeypatch.setenv("EVERLORE_MIGRATION_URL", database.superuser)
    monkeypatch.setenv("EVERLORE_WORKER_URL", database.worker)
    for command in (("status",), ("db", "status")):
        assert run(*command, "--json").json["isolation"] == "weaker"


def test_the_migration_url_alone_is_enough_to_migrate(
    run: Cli, empty_database: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERLORE_MIGRATION_URL", empty_database.superuser)
    assert run("db", "migrate", "--json").json["applied"]
    assert run("db", "status", "--json").json["pending"] == []


def test_without_a_model_by_choice_nobody_is_warned(cli: Cli, models: Models) -> None:
    models(FakeEmbedder())
    cli("record", "tea")
    models()
    assert cli("record", "more tea").err == ""


def test_a_job_that_failed_is_shown_and_retried(
    cli: Cli, failing: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "No job is parked." in cli("jobs", "list").out
    said = cli("record", "tea")
    assert "Warning: 1 thread still waits for vectors of fake" in said.err
    for _ in range(20):  # whatever the number of attempts
        if cli("jobs", "list", "--json").json["parked"]:
            break
        with psycopg.connect(_url(cli)) as connection:
            connection.execute("update jobs.procrastinate_jobs set scheduled_at = null")
        cli("record", "tea")
    (parked,) = cli("jobs", "list", "--json").json["parked"]
    assert set(parked) == {
        *(
            "job_id",
            "step",
            "workspace",
            "workspace_id",
            "scope_id",
            "close",
            "attempts",
            "failed_at",
            "error",
        ),
    }
    assert "the model has" in parked["error"]
    for command in (("jobs", "list"), ("status",)):
        out = cli(*command).out
        assert "the model has␛[31m a bug" in out
        assert "\x1b" not in out
    monkeypatch.setattr(failing, "encode_passages", FakeEmbedder().encode_passages)
    assert cli("jobs", "retry", "--json").json == {"retried": 1}
    assert not any(cli("jobs", "list", "--json").json.values())
    (model,) = cli("models", "list", "--json").json
    assert (model["name"], model["threads_behind"]) == ("fake", 0)
    assert "Tried again, of jobs and failures: 0." in cli("jobs", "retry").out


def _url(cli: Cli) -> str:
    return cli("db", "url", "--role", "owner", "--json").json["url"]


def test_models_are_listed_and_switched(cli: Cli, models: Models) -> None:
    fake, other = FakeEmbedder(), FakeEmbedder("other")
    models(fake, other)
    cli("record", "tea")
    listed = cli("models", "list", "--json").json
    assert set(listed[0]) == {"name", "dimensions", "in_use", "threads_behind", "distilled_behind"}
    assert [(m["name"], m["in_use"]) for m in listed] == [("fake", True), ("other", False)]
    assert cli("models", "use", "other", "--json").json == {"in_use": "other"}
    assert "other answers questions" in cli("models", "use", "other").out
    assert [m["in_use"] for m in cli("models", "list", "--json").json] == [False, True]
    assert "No embedder for the model nothing" in cli("models", "use", "nothing", code=2).err
    cli("record", "more tea", "--thread", "second")
    models(other)
    cli("record", "yet more", "--thread", "third")
    models(fake)
    assert "still lack vectors of fake" in cli("models", "use", "fake", code=2).err


def test_a_new_database_is_migrated_once(
    run: Cli, empty_database: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERLORE_EMBEDDER", "none")
    monkeypatch.setenv("EVERLORE_DATABASE_URL", empty_database.app)
    monkeypatch.setenv("EVERLORE_MIGRATION_URL", empty_database.superuser)
    monkeypatch.setenv("EVERLORE_WORKER_URL", empty_database.worker)
    before = run("db", "status", "--json").json
    assert set(before) == DB_STATUS_KEYS
    assert before["pending"]
    assert "to apply" in run("db", "status").out
    assert "db migrate" in run("threads", code=2).err
    assert run("db", "migrate", "--json").json["applied"]
    assert run("db", "migrate", "--json").json == {"applied": []}
    assert "up to date" in run("db", "migrate").out
    after = run("db", "status", "--json").json
    assert after["pending"] == []
    assert (after["isolation"], after["login"]) == ("full", "everlore_app")
    assert set(after["roles"].values()) == {"ready"}
    assert after["tables"]["everlore.message"] > 0
    assert "all applied" in run("db", "status").out


def test_connection_strings_by_role(cli: Cli, database: Any) -> None:
    for role, expected in (("app", database.app), ("owner", database.superuser), ("worker", database.worker)):
        assert cli("db", "url", "--role", role).out == f"{expected}\n"
    assert cli("db", "url", "--json").json == {"role": "app", "url": database.app, "embedded": False}
    assert "'root' is not one of" in cli("db", "url", "--role", "root", code=2).err


def test_psql_runs_with_the_role_that_was_asked_for(cli: Cli) -> None:
    ask = ("--", "-X", "-A", "-t", "-c", "select current_user")
    assert cli("db", "psql", "--role", "worker", *ask).out == "everlore_worker\n"
    assert cli("db", "psql", "--", "-X", "-v", "ON_ERROR_STOP=1", "-c", "nonsense", code=1).err


def test_passwords_stay_off_the_command_lines_of_programs() -> None:
    conninfo = "postgresql://ann:s3cr%40t@db.example:6543/memory?sslmode=require&keepalives_idle=9"
    environment = client_environment(conninfo)
    assert environment["PGPASSWORD"] == "s3cr@t"
    assert environment["PGHOST"] == "db.example"
    assert environment["PGPORT"] == "6543"
    assert environment["PGSSLMODE"] == "require"
    assert database_argument(conninfo) == "dbname=memory"


async def _filled(database: Any) -> None:
    """Two workspaces, of which one is large enough for a vector index."""
    settings = database.settings(recall={"exact_below": 5})
    async with Everlore.open(settings, worker=False, embedders={"fake": FakeEmbedder()}) as lore:
        for name in ("one", "two"):
            workspace = await lore.workspace(name)
            said = [
                {"role": "user", "text": f"tea number {n} of {name}"}
                for n in range(4 if name == "two" else 20)
            ]
            await workspace.record(said, thread="t", project="p", taxonomy="life.food")
        await lore.catch_up()


def _vector_indexes(database: Any) -> list[str]:
    with psycopg.connect(database.superuser) as connection:
        query = "select indexname from pg_indexes where indexname ~ '_model_[0-9]+_said$' order by 1"
        return [name for (name,) in connection.execute(query)]


@pytest.fixture
async def filled(database: Any) -> Any:
    await _filled(database)
    return database


def test_a_backup_restores_to_the_same_memory(
    cli: Cli,
    run: Cli,
    filled: Any,
    empty_database: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    models: Models,
) -> None:
    models(FakeEmbedder())
    file = tmp_path / "memory.dump"
    made = cli("db", "backup", str(file), "--json").json
    assert made == {"file": str(file), "bytes": file.stat().st_size}
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["memory.dump"]

    def recalled(ask: Cli) -> Any:
        found = [
            ask("recall", "tea number 3", "-w", w, "--now", "2030-01-01", "--json").json
            for w in ("one", "two")
        ]
        return [answer | {"took_ms": {}} for answer in found]

    before, indexes = recalled(cli), _vector_indexes(filled)
    assert before[0]["hits"]
    assert indexes
    for name, url in (
        *(("DATABASE", empty_database.app), ("WORKER", empty_database.worker)),
        *(("MIGRATION", empty_database.superuser),),
    ):
        monkeypatch.setenv(f"EVERLORE_{name}_URL", url)
    restored = run("db", "restore", str(file), "--json").json
    assert restored == {"file": str(file), "messages": 24, "migrations": []}
    assert recalled(run) == before
    assert _vector_indexes(empty_database) == indexes
    with psycopg.connect(empty_database.superuser) as connection:
        owners = connection.execute(
            "select distinct tableowner from pg_tables where schemaname in ('everlore', 'jobs')"
        ).fetchall()
    assert owners == [("everlore_owner",)]
    run("record", "life goes on", "-w", "one")
    # What is there is never replaced.
    assert "holds messages already" in run("db", "restore", str(file), code=2).err
    assert "life goes on" in run("recall", "life", "-w", "one").out


def test_an_administrator_who_is_no_superuser_may_restore(
    run: Cli, filled: Any, empty_database: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERLORE_EMBEDDER", "none")
    file, admin = str(tmp_path / "a.dump"), f"admin_{empty_database.name}"
    monkeypatch.setenv("EVERLORE_DATABASE_URL", filled.app)
    monkeypatch.setenv("EVERLORE_MIGRATION_URL", filled.owner)
    run("db", "backup", file)
    monkeypatch.setenv("EVERLORE_DATABASE_URL", empty_database.app)
    monkeypatch.setenv("EVERLORE_WORKER_URL", empty_database.worker)
    monkeypatch.setenv("EVERLORE_MIGRATION_URL", empty_database.superuser)
    run("db", "migrate")
    with psycopg.connect(empty_database.superuser, autocommit=True) as connection:

        def change(statement: LiteralString, *names: str) -> None:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))

        change("create role {}", admin)
        try:
            change("grant everlore_owner, everlore_app, everlore_worker to {}", admin)
            monkeypatch.setenv(
                "EVERLORE_MIGRATION_URL", f"{empty_database.superuser} options='-c role={admin}'"
            )
            assert "may not create schemas" in run("db", "restore", file, code=2).err
            change("grant create on database {} to {}", empty_database.name, admin)
            assert run("db", "restore", file, "--json").json["messages"] == 24
        finally:
            change("drop owned by {}", admin)
            change("drop role {}", admin)
    assert "tea" in run("recall", "tea", "-w", "one").out


def test_a_backup_never_overwrites_unasked(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "a.dump"
    file.write_text("precious")
    assert "exists already" in cli("db", "backup", str(file), code=2).err
    assert file.read_text() == "precious"
    assert "Wrote " in cli("db", "backup", str(file), "--force").out
    assert file.read_bytes().startswith(b"PGDMP")
    assert "cannot be written" in cli("db", "backup", str(tmp_path / "missing" / "a.dump"), code=2).err
    assert [path.name for path in tmp_path.iterdir()] == ["a.dump"]


def test_what_is_no_backup_changes_nothing(
    cli: Cli, filled: Any, tmp_path: Path, empty_database: Any, run: Cli
) -> None:
    text = tmp_path / "text"
    text.write_text("not a backup")
    assert "is no Everlore backup" in cli("db", "restore", str(text), code=2).err
    assert "cannot be read" in cli("db", "restore", str(tmp_path / "missing"), code=2).err
    whole, half, most = tmp_path / "whole", tmp_path / "half", tmp_path / "most"
    cli("db", "backup", str(whole))
    half.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    most.write_bytes(whole.read_bytes()[:-100])
    assert "it is damaged" in cli("db", "restore", str(half), code=2).err
    run("--database-url", empty_database.superuser, "db", "migrate")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("EVERLORE_MIGRATION_URL", empty_database.superuser)
        patched.setenv("EVERLORE_WORKER_URL", empty_database.worker)
        patched.setenv("EVERLORE_DATABASE_URL", empty_database.app)
        assert "pg_restore failed" in run("db", "restore", str(most), code=1).err
        # All or nothing: an empty database that works, and takes the whole backup.
        assert run("threads", "--json").json["items"] == []
        assert run("db", "restore", str(whole), "--json").json["messages"] == 24


def test_the_backup_of_a_newer_version_is_refused(
    run: Cli, filled: Any, empty_database: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(filled.superuser) as connection:
        connection.execute("insert into everlore.migration values ('9999_from_the_future', 'x')")
    file = str(tmp_path / "a.dump")
    run("--database-url", filled.superuser, "db", "backup", file)
    monkeypatch.setenv("EVERLORE_DATABASE_URL", empty_database.superuser)
    monkeypatch.setenv("EVERLORE_EMBEDDER", "none")
    assert "A newer version of Everlore wrote this backup" in run("db", "restore", file, code=2).err
    assert run("threads", "--json").json["items"] == []


def test_the_index_is_written_anew(cli: Cli, filled: Any, models: Models) -> None:
    models(FakeEmbedder())
    ask = ("recall", "tea number 3", "-w", "one", "--now", "2030-01-01", "--json")
    before = cli(*ask).json
    assert cli("db", "reindex", "--json").json == {"passages": 24}
    assert "24 passages were embedded" in cli("db", "reindex").out
    assert cli(*ask).json["hits"] == before["hits"]


@pytest.mark.slow
def test_the_embedded_server_serves_one_command_after_the_other(
    run: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERLORE_EMBEDDER", "none")
    # A folder that is named beats a URL of the environment.
    monkeypatch.setenv("EVERLORE_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nothing")
    here, there = ("--data-dir", str(folder / "a")), ("--data-dir", str(folder / "b"))
    said = run(*here, "record", "Emma lives in Lisbon.", "--json")
    assert "Creating a database" in said.err
    assert said.json["outcomes"][0]["status"] == "stored"
    state = run(*here, "status", "--json").json
    assert (state["embedded"], state["data_dir"], state["isolation"]) == (
        True,
        str((folder / "a").resolve()),
        "full",
    )
    assert run(*here, "db", "migrate", "--json").json == {"applied": []}
    assert run(*here, "db", "psql", "--", "-XAtc", "select count(*) from everlore.message").out == "1\n"
    url = run(*here, "db", "url", "--role", "owner")
    assert "user=everlore_owner" in url.out
    assert "runs while some Everlore process does" in url.err
    run(*here, "db", "backup", str(folder / "a.dump"))
    assert run(*there, "db", "restore", str(folder / "a.dump"), "--json").json["messages"] == 1
    hits = [json.dumps(run(*place, "recall", "Emma", "--json").json["hits"]) for place in (here, there)]
    assert hits[0] == hits[1]
    assert "Lisbon" in hits[0]
