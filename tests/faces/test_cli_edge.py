"""The edge: errors, exit codes, signals, purity of JSON, what must not be printed or loaded."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from everlore.api.verbs import summary_of, verbs
from everlore.domain.errors import InternalError, ModelUnavailable
from everlore.faces.cli import call as calls
from everlore.faces.cli import memory
from everlore.faces.cli.main import main, parser
from everlore.faces.cli.shown import PRINTERS

Cli = Callable[..., Any]

# Made by hand, printer and all.
BY_HAND = {"record", "reconcile", "jobs retry", "workspaces export", "workspaces import"}
EVERLORE = (sys.executable, "-c", "import sys; from everlore.faces.cli.main import main; sys.exit(main())")


def test_the_program_lists_its_commands(run: Cli) -> None:
    assert re.fullmatch(r"everlore \d+\.\d+\.\d+\S*\n", run("--version").out)
    everything = run("--help").out
    for path, _ in all_commands():
        assert not path or path[0] in everything
    for group in ("", "db", "import", "jobs", "model", "models", "eval"):
        assert "Usage: everlore" in run(*group.split(), code=2).out


def all_commands() -> Iterator[tuple[list[str], Any]]:
    """The words that call each command and each group, and what the parser knows of it."""
    waiting: list[tuple[list[str], Any]] = [([], parser())]
    while waiting:
        path, command = waiting.pop()
        yield path, command
        waiting += [([*path, name], below) for name, below in getattr(command, "commands", {}).items()]


def test_every_command_has_help_which_keeps_what_stands_in_square_brackets(run: Cli) -> None:
    in_brackets = 0
    for path, command in all_commands():
        printed = run(*path, "--help").out
        assert "Usage: everlore" in printed
        assert "--json" not in printed or "JSON: " in printed, path
        shown = re.sub(r"[\s│]+", "", printed)
        for described in (command, *command.params):
            text = (getattr(described, "help", None) or "").replace("\\[", "[")
            in_brackets += text.count("[")
            assert re.sub(r"\s+", "", text) in shown, (path, text)
    assert in_brackets > 10


def test_the_list_of_commands_says_what_their_verbs_say(run: Cli) -> None:
    listed = " ".join(run("--help").out.replace("│", " ").split())
    alone = [
        verb for verb in verbs() if not any(one.command.startswith(f"{verb.command} ") for one in verbs())
    ]
    for verb in [verb for verb in alone if " " not in verb.command and verb.command != "record"]:
        assert f"{verb.command} {summary_of(verb)[0]}" in listed


def test_every_answer_is_printed_for_people() -> None:
    parser()
    assert {verb.command for verb in verbs()} - PRINTERS.keys() == BY_HAND


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys; from everlore.faces.cli.main import main; main(['--help']);"
        "print(sorted({'numpy', 'psycopg', 'pydantic', 'onnxruntime', 'fastapi', 'tokenizers'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.endswith("\n[]\n")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nonsense"], "No such command 'nonsense'"),
        (["threads", "--nonsense"], "No such option"),
        (["--data-dir", "x", "--database-url", "y", "threads"], "exclude each other"),
        (["recall"], "Missing argument"),
        (["import", "jsonl", "x", "--on-error", "explode"], "'explode' is not one of"),
        (["eval", "locomo", "x", "--limit", "0"], "--limit"),
        (["up", "--host", "0.0.0.0"], "host: Input should be '127.0.0.1', 'localhost' or '::1'"),
        (["up", "--port", "70000"], "port: Input should be less than or equal to 65535"),
    ],
)
def test_a_mistake_is_one_line(run: Cli, arguments: list[str], complaint: str) -> None:
    ran = run(*arguments, code=2)
    assert ran.out == ""
    assert ran.err.startswith("Error: ")
    assert complaint in ran.err
    assert len(ran.err.splitlines()) == 1
    ran = run(*arguments, "--json", code=2)
    assert ran.out == ""
    if arguments[0] != "up":
        assert set(ran.error) == {"type", "field", "message"}


@pytest.mark.parametrize(
    ("raised", "code", "kind"),
    [
        (ModelUnavailable("It is gone."), 1, "unavailable"),
        (InternalError("Ours."), 1, "internal"),
        (ZeroDivisionError("oops"), 1, "internal"),
    ],
)
def test_failures_have_a_code_and_no_traceback(
    run: Cli, monkeypatch: pytest.MonkeyPatch, raised: Exception, code: int, kind: str
) -> None:
    def fail(*_: object) -> None:
        raise raised

    monkeypatch.setattr(memory, "run", fail)
    ran = run("record", "x", "--json", code=code)
    assert ran.error["type"] == kind
    assert str(raised) in ran.error["message"]
    assert run("record", "x", code=code).err.startswith("Error: ")


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
def test_interruptions_are_quiet(run: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(memory, "read_stdin", interrupted)
    ran = run("record", "-", code=130)
    assert (ran.out, ran.err) == ("", "")


def test_the_systems_signals_end_a_command_in_order(run: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[int] = []

    async def told_to_end(number: int) -> None:
        try:
            os.kill(os.getpid(), number)
            await calls.asyncio.Event().wait()
        finally:
            closed.append(number)

    for number in (signal.SIGTERM, signal.SIGHUP):

        def read(_: int, number: int = number) -> None:
            calls.run(told_to_end(number))

        monkeypatch.setattr(memory, "read_stdin", read)
        ran = run("record", "-", code=128 + number)
        assert (ran.out, ran.err) == ("", "")
    assert closed == [signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:hunter22@127.0.0.1:1/memory",
        "postgresql://ann:hun/ter22@127.0.0.1:1/memory",
        "postgresql://ann:hunter22@@127.0.0.1:1/memory?sslmode=nonsense",
        "host=127.0.0.1 port=1 password=hunter22",
        "host=127.0.0.1 port=1 password='hunter22",
        "hunter22",
    ],
)
def test_passwords_are_never_printed(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("EVERLORE_EMBEDDER", "none")
    commands = (["threads"], ["db", "status"], ["db", "migrate"], ["db", "backup", str(tmp_path / "b")])
    for command in commands:
        assert main(["--database-url", url, *command]) in {1, 2}
    monkeypatch.setenv("EVERLORE_DATABASE_URL", url)
    for command in commands:
        assert main([*command, "--json"]) in {1, 2}
    printed = "".join(capfd.readouterr())
    assert printed.count("Error: ") == printed.count('{"error": ') == len(commands)
    for part in ("hunter", "ter22", "hun/"):
        assert part not in printed


def test_a_reader_that_leaves_is_no_error(cli: Cli, database: Any) -> None:
    cli("record", "tea " * 50)
    environment = {**os.environ, "EVERLORE_DATABASE_URL": database.app}
    for arguments in (["recall", "tea"], ["recall", "tea", "--json"], ["--help"]):
        read, write = os.pipe()
        os.close(read)
        ran = subprocess.run(
            [*EVERLORE, *arguments], stdout=write, stderr=subprocess.PIPE, env=environment, check=False
        )
        os.close(write)
        assert b"Broken" not in ran.stderr
        assert b"Traceback" not in ran.stderr
        assert ran.returncode == 1, arguments


@pytest.mark.parametrize("closed", [">&-", "<&-", "2>&-", "<&- >&- 2>&-"])
def test_missing_streams_are_no_failure(cli: Cli, closed: str) -> None:
    cli("threads")  # the environment of `cli` reaches the process
    for arguments in (["record", "tea"], ["threads", "--json"], ["--help"]):
        ran = subprocess.run(
            ["/bin/sh", "-c", f'"$@" {closed}', "sh", *EVERLORE, *arguments], capture_output=True, check=False
        )
        assert (ran.returncode, ran.stderr) == (0, b""), arguments


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has it")
def test_output_that_cannot_be_written_is_said_in_one_line(cli: Cli) -> None:
    cli("record", "tea")
    for arguments in (["threads"], ["threads", "--json"], ["--help"], ["--version"]):
        with Path("/dev/full").open("wb") as full:
            ran = subprocess.run([*EVERLORE, *arguments], stdout=full, stderr=subprocess.PIPE, check=False)
            both = subprocess.run([*EVERLORE, *arguments], stdout=full, stderr=full, check=False)
        assert ran.returncode == both.returncode == 1
        said = [line for line in ran.stderr.decode().splitlines() if not line.startswith("Warning: ")]
        assert "The output cannot be written: No space left on device." in said[0]
        assert len(said) == 1


def test_colours_and_bars_are_for_terminals_only(cli: Cli) -> None:
    cli("record", "tea")
    for arguments in (["recall", "tea", "--trace"], ["status"], ["db", "reindex"]):
        ran = cli(*arguments)
        assert "\x1b" not in ran.out + ran.err


def test_verbose_logs_to_standard_error(cli: Cli, database: Any) -> None:
    environment = {**os.environ, "EVERLORE_DATABASE_URL": database.app}
    ran = subprocess.run(
        [*EVERLORE, "-v", "record", "tea", "--json"],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert ran.stdout.startswith("{")
    assert " INFO " in ran.stderr


@contextmanager
def _running(database: Any, *arguments: str) -> Generator[tuple["subprocess.Popen[str]", str]]:
    """A command that runs until it is stopped, and the first line it says."""
    environment = {**os.environ, "EVERLORE_DATABASE_URL": database.app, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [*EVERLORE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline()
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_server_says_where_it_listens_and_stops_in_order(cli: Cli, database: Any, number: int) -> None:
    cli("threads")  # the environment of `cli` reaches the process
    with _running(database, "up", "--port", "0") as (process, said):
        match = re.search(r"http://127\.0\.0\.1:\d+", said)
        assert match is not None, said
        with urlopen(f"{match[0]}/healthz") as answer:
            assert answer.status == 200
        process.send_signal(number)
        _, complaints = process.communicate(timeout=30)
        assert (process.returncode, complaints) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_worker_runs_until_it_is_stopped(cli: Cli, database: Any, number: int) -> None:
    cli("threads")
    with _running(database, "worker") as (process, said):
        assert said == "The worker runs. Ctrl-C stops it.\n"
        process.send_signal(number)
        # It may take its grace of 30 s for what it was doing.
        _, complaints = process.communicate(timeout=90)
        assert (process.returncode, complaints) == (0, "")
