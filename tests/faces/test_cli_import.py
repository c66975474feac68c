"""import jsonl, import locomo, eval locomo, demo."""

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from everlore.config import Settings
from everlore.faces.cli.moments import BY_MEANING
from everlore.models.fake import FakeEmbedder
from everlore.models.rules import WITHOUT_PARSER

Cli = Callable[..., Any]

EVERLORE = (sys.executable, "-c", "import sys; from everlore.faces.cli.main import main; sys.exit(main())")
SUMMARY_KEYS = {
    *("workspace", "file", "stored", "already_there", "refused", "skipped", "stopped", "indexed", "passages"),
    *("distilled", "to_distil", "undistilled_because"),
}


def line(text: object, **fields: Any) -> bytes:
    return json.dumps({"role": "user", "text": text, **fields}).encode()


def write(file: Path, *lines: bytes) -> str:
    file.write_bytes(b"\n".join(lines) + b"\n")
    return str(file)


def texts(cli: Cli, thread: str = "main") -> set[str]:
    """What a thread holds of the texts that have "tea" in them."""
    found = cli("recall", "tea", "--thread", thread, "--limit", "1000", "--json").json
    return {hit["text"] for hit in found["hits"]}


def test_a_file_is_imported_once_however_often(cli: Cli, tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", line("tea one"), b"", line("tea two", thread="t", external_id="x"))
    first = cli("import", "jsonl", file, "--json").json
    assert set(first) == SUMMARY_KEYS
    assert (first["stored"], first["already_there"], first["indexed"]) == (2, 0, "here")
    second = cli("import", "jsonl", file, "--json").json
    assert (second["stored"], second["already_there"]) == (0, 2)
    assert "0 stored, 2 already there, 0 refused, 0 skipped." in cli("import", "jsonl", file).out
    assert texts(cli) == {"tea one"}
    assert texts(cli, "t") == {"tea two"}


def test_all_lines_may_go_into_one_thread(cli: Cli, tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", line("tea one"), line("tea two", thread="t"))
    cli("import", "jsonl", file, "--thread", "all", "--no-index")
    assert texts(cli, "all") == {"tea one", "tea two"}


BROKEN = [
    (b'{"role": "user"', "is not valid JSON"),
    (b'{"role": "user", "text": "\xff"}', "is not valid UTF-8"),
    (b"[]", "is not a JSON object"),
    (b"[" * 100_000, "nested too deeply"),
    (line("x", at="2025-05-12T14:03"), "has no time zone"),
    (line("x", at="soon"), "is not an ISO 8601 time"),
    (line("x", nonsense=1), "nonsense: is not a field"),
    (b'{"role": "user", "content": " "}', "content: is empty or blank"),
    (b'{"role": "user", "content": "x", "text": "y"}', "content: differs from text"),
    (b'{"text": "no role"}', "role: must be one of"),
    (line("x" * 1_000_001), "text: has 1,000,001 bytes; the limit is 1,000,000"),
    (line(""), "text: is empty or blank"),
    (line("a\0b"), "text: contains a NUL byte"),
    (line(5), "text: must be text, not int"),
    (line("x", role="robot"), "role: must be one of"),
    (line("x", thread=""), "thread: must have 1 to 200 characters"),
    (line("x", session="s" * 201), "session: must have 1 to 200 characters"),
]


def test_a_broken_line_stops_the_import_and_mending_it_resumes(cli: Cli, tmp_path: Path) -> None:
    good = [line(f"tea {number}") for number in range(3)]
    for place, (broken, complaint) in enumerate(BROKEN):
        thread = f"t{place}"
        into = ("--thread", thread) if b'"thread"' not in broken else ()
        file = write(tmp_path / f"{place}.jsonl", *good[:2], broken, good[2])
        ran = cli("import", "jsonl", file, *into, "--json", code=2)
        assert ran.json["stopped"]["line"] == 3
        assert complaint in ran.json["stopped"]["reason"], broken[:40]
        assert ran.json["stored"] == 2
        assert ran.error["field"] == f"{place}.jsonl, line 3"
        assert "already there" not in ran.error["message"]
        write(Path(file), *good[:2], line("tea mended"), good[2])
        again = cli("import", "jsonl", file, *into, "--json").json
        assert (again["stored"], again["already_there"]) == (2, 2)


def test_broken_lines_may_be_skipped(cli: Cli, tmp_path: Path) -> None:
    lines: list[bytes] = []
    for number, (broken, _) in enumerate(BROKEN):
        lines += [line(f"tea {number}"), broken]
    file = write(tmp_path / "a.jsonl", *lines)
    ran = cli("import", "jsonl", file, "--on-error", "skip", "--json", code=3)
    assert ran.json["stored"] == len(BROKEN)
    assert ran.json["stopped"] is None
    assert [problem["line"] for problem in ran.json["skipped"]] == [2 * n for n in range(1, len(BROKEN) + 1)]
    for problem, (_, complaint) in zip(ran.json["skipped"], BROKEN, strict=True):
        assert complaint in problem["reason"]
    told = cli("import", "jsonl", file, "--on-error", "skip", code=3)
    assert f"0 stored, {len(BROKEN)} already there, 0 refused, {len(BROKEN)} skipped." in told.out
    assert "Warning: Skipped line 2: is not valid JSON" in told.err


def test_a_taken_external_id_is_told_with_its_line(cli: Cli, tmp_path: Path) -> None:
    cli("import", "jsonl", write(tmp_path / "a.jsonl", line("tea", external_id="1")))
    file = write(tmp_path / "a.jsonl", line("more tea", external_id="2"), line("coffee", external_id="1"))
    ran = cli("import", "jsonl", file, "--json", code=3)
    assert ran.json["stored"] == 1
    (refused,) = ran.json["refused"]
    assert refused["line"] == 2
    assert "taken by a message with other content" in refused["reason"]
    assert "Refused line 2" in cli("import", "jsonl", file, code=3).err


def test_a_large_file_goes_in_batches_and_keeps_its_order(cli: Cli, tmp_path: Path) -> None:
    lines = [line(f"n{number}", external_id=str(number)) for number in range(2500)]
    lines[1700] = line("")
    file = write(tmp_path / "a.jsonl", *lines)
    ran = cli("import", "jsonl", file, "--json", code=2)
    assert (ran.json["stored"], ran.json["stopped"]["line"]) == (1700, 1701)
    lines[1700] = line("mended", external_id="1700")
    write(Path(file), *lines)
    assert cli("import", "jsonl", file, "--json").json["stored"] == 800
    last = cli("recall", "n2499", "--json").json["hits"][0]
    assert cli("show", last["citation"]["message_id"], "--json").json["position"] == 2500


def test_a_file_that_cannot_be_read_is_refused(cli: Cli, tmp_path: Path) -> None:
    for kind in ("jsonl", "locomo"):
        for file in (tmp_path / "missing", tmp_path):
            assert "cannot be read" in cli("import", kind, str(file), code=2).err
    for content in (b"{}", b"[1]", b"\xff", b'[{"conversation": {"session_1": [{}]}}]', b"9" * 5000):
        file = write(tmp_path / "a.json", content)
        assert cli("import", "locomo", file, code=2).err.startswith("Error: ")
        assert cli("eval", "locomo", file, code=2).err.startswith("Error: ")


def test_indexing_is_left_to_a_worker_that_runs(cli: Cli, database: Any, tmp_path: Path) -> None:
    with psycopg.connect(database.superuser) as connection:
        connection.execute("insert into jobs.procrastinate_workers default values")
    file = write(tmp_path / "a.jsonl", line("tea"))
    assert "A running worker indexes them" in cli("import", "jsonl", file).out
    assert cli("import", "jsonl", file, "--json").json["indexed"] == "by a worker"
    assert cli("import", "jsonl", file, "--no-index", "--json").json["indexed"] == "not yet"


def test_a_worker_that_does_nothing_is_not_waited_for(
    cli: Cli, database: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fake(_: Settings) -> dict[str, FakeEmbedder]:
        return {"fake": FakeEmbedder()}

    monkeypatch.setattr("everlore.wiring.configured_embedders", fake)
    monkeypatch.setattr("everlore.faces.cli.call._OTHER_WORKER_S", 0.1)
    with psycopg.connect(database.superuser) as connection:
        connection.execute("insert into jobs.procrastinate_workers default values")
    ran = cli("import", "jsonl", write(tmp_path / "a.jsonl", line("tea")), "--json").json
    assert (ran["indexed"], ran["passages"]) == ("here", 1)


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_what_can_be_read_only_once_is_imported(cli: Cli, name: str) -> None:
    cli("threads")  # the environment of `cli` reaches the process
    ran = subprocess.run(
        [*EVERLORE, "import", "jsonl", name, "--json"],
        input=line("tea one") + b"\n" + line("tea two"),
        capture_output=True,
        check=True,
    )
    assert json.loads(ran.stdout)["stored"] == 2


@pytest.fixture
def locomo(tmp_path: Path) -> str:
    """Two short conversations with three questions."""

    def turn(place: str, speaker: str, text: str, **more: str) -> dict[str, str]:
        return {"dia_id": place, "speaker": speaker, "text": text, **more}

    conversations = [
        {
            "sample_id": f"conv-{number}",
            "conversation": {
                "session_1_date_time": "1:56 pm on 8 May, 2023",
                "session_1": [
                    turn("D1:1", "Ann", "I adopted a tea-coloured dog."),
                    turn("D1:2", "Bob", "Lovely!", blip_caption="a dog"),
                ],
                "session_2_date_time": "2:00 pm on 9 May, 2023",
                "session_2": [turn("D2:1", "Ann", "We went sailing.")],
                "session_3_date_time": "2:00 pm on 10 May, 2023",
                "session_3": [],
            },
            "qa": [
                {"question": "What did Ann adopt?", "evidence": ["D1:1; D9:17"], "category": 1},
                {"question": "Who went sailing?", "evidence": ["D2:1"], "category": 2},
                {"question": "Who adopted a horse?", "evidence": ["D1:1"], "category": 5},
                {"question": "Nothing names a turn.", "evidence": ["D9:1"], "category": 1},
            ],
        }
        for number in (1, 2)
    ]
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps(conversations))
    return str(file)


def test_locomo_becomes_a_thread_per_conversation(cli: Cli, locomo: str) -> None:
    first = cli("import", "locomo", locomo, "--json").json
    assert set(first) == SUMMARY_KEYS
    assert (first["stored"], first["already_there"]) == (6, 0)
    assert cli("import", "locomo", locomo, "--json").json["already_there"] == 6
    threads = cli("threads", "--json").json["items"]
    assert {thread["name"]: thread["messages"] for thread in threads} == {"conv-1": 3, "conv-2": 3}
    (hit,) = cli("recall", "sailing", "--thread", "conv-1", "--json").json["hits"]
    shown = cli("show", hit["citation"]["message_id"], "--json").json
    assert (shown["author"], shown["session"], shown["external_id"]) == ("Ann", "session 2", "D2:1")


def test_the_evaluation_prints_the_agreed_keys(
    run: Cli, database: Any, locomo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERLORE_EMBEDDER", "none")

    def cli(*arguments: str, code: int = 0) -> Any:
        return run("--database-url", database.superuser, *arguments, code=code)

    ran = cli("eval", "locomo", locomo, "--json")
    assert set(ran.json) >= {
        "recall",
        "hit",
        "ndcg",
        "by_category",
        "confidence_auc",
        "support_auc",
        "latency_ms",
        "questions",
        "turns",
    }
    assert set(ran.json["latency_ms"]) == {"p50", "p95"}
    assert (ran.json["questions"], ran.json["turns"]) == (6, 6)
    assert set(ran.json["by_category"]) == {"1", "2", "5"}
    assert ran.json["recall"]["5"] == 1.0
    some = cli("eval", "locomo", locomo, "--categories", "1,2", "--limit", "3", "--json").json
    assert (some["questions"], some["confidence_auc"]) == (3, None)
    assert "all but 5" in cli("eval", "locomo", locomo).out
    for categories in ("6", "", "1;2"):
        assert "--categories takes" in cli("eval", "locomo", locomo, "--categories", categories, code=2).err
    assert "no question" in cli("eval", "locomo", locomo, "--categories", "3", code=2).err


@pytest.mark.slow
def test_an_evaluation_leaves_nothing_behind(
    run: Cli, locomo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine"
    monkeypatch.setenv("EVERLORE_DATA_DIR", str(mine))
    monkeypatch.setenv("EVERLORE_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nothing")
    monkeypatch.setenv("EVERLORE_EMBEDDER", "none")
    made: list[str] = []
    make = tempfile.mkdtemp

    def noted(*, prefix: str) -> str:
        made.append(make(prefix=prefix))
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", noted)
    assert run("eval", "locomo", locomo, "--json").json["questions"] == 6
    assert made
    assert not Path(made[0]).exists()
    assert not mine.exists()


def test_the_demonstration_answers_with_citations(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fake(_: Settings) -> dict[str, FakeEmbedder]:
        return {"fake": FakeEmbedder()}

    monkeypatch.setattr("everlore.wiring.configured_embedders", fake)
    first = cli("demo", "--json").json
    assert set(first) == {
        *("workspace", "messages", "stored", "already_there", "questions", "gold_in_top_3", "gold_in_top_10"),
        *("latency_ms", "degraded", "distilled", "memories", "facts"),
    }
    # A window is read anew where a later one, read before it, corrects what it said.
    assert first["distilled"]["messages"] >= first["messages"]
    assert (first["distilled"]["failed"], len(first["memories"]), len(first["facts"])) == (0, 5, 5)
    assert first["stored"] == first["messages"] >= 250
    assert len(first["questions"]) == 10
    for question in first["questions"]:
        assert set(question) == {"question", "why", "took_ms", "gold_in_top_3", "gold_in_top_10", "hits"}
        # This model knows no meaning: what shares no word with its answer is not found.
        assert question["hits"] or question["question"] == BY_MEANING
        assert all({"rank", "gold", "citation", "support"} <= set(hit) for hit in question["hits"])
    again = cli("demo", "--json").json
    assert (again["stored"], again["already_there"]) == (0, first["messages"])
    (workspace,) = [w for w in cli("workspaces", "--json").json["items"] if w["name"] == "demo"]
    assert workspace["messages"] == first["messages"]
    shown = cli("demo", "--fresh").out
    assert f"{first['messages']} stored now" in shown
    assert f"Read out of {first['messages']} messages and kept" in shown
    assert "The surest facts, of" in shown
    for moment in (
        "1. Found by meaning",
        "2. One person under",
        "3. What changed",
        "4. What is open",
        "5. Never said",
    ):
        assert moment in shown
    for question in first["questions"]:
        assert question["question"] in shown
        assert question["why"] in shown
    assert "A message that answers was among the first 3" in shown


@pytest.mark.parametrize("command", ["import", "demo", "status"])
def test_without_the_parser_commands_say_in_one_sentence_that_nothing_is_distilled(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr("everlore.wiring.parser_is_installed", lambda: False)
    file = write(tmp_path / "some.jsonl", line("My sister Emma lives in Porto."))
    arguments = ("import", "jsonl", file) if command == "import" else (command,)
    shown = cli(*arguments)
    assert shown.err.count(WITHOUT_PARSER) == 1
    told = cli(*arguments, "--json").json
    if command == "demo":
        assert (WITHOUT_PARSER in told["degraded"], told["distilled"]) == (True, None)
    else:
        assert told["undistilled_because"] == WITHOUT_PARSER
    assert cli("jobs", "list", "--json").json["parked"] == []


WAITING = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_who_stops_an_import_is_told_what_is_stored_and_how_to_go_on(
    cli: Cli, database: Any, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    cli("record", "tea zero", "--thread", "b")
    file = write(
        tmp_path / "a.jsonl",
        line("tea one", thread="a"),
        line("tea two", thread="a"),
        line("tea three", thread="b"),
    )
    command = [*EVERLORE, "import", "jsonl", file]
    # One holds the lock; the other watches, for in a transaction the list of sessions stands still.
    with (
        psycopg.connect(database.superuser) as holding,
        psycopg.connect(database.superuser, autocommit=True) as watching,
    ):
        holding.execute("select from everlore.thread where name = 'b' for update")
        importing = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while importing.poll() is None and not watching.execute(WAITING).rowcount:
            pass
        importing.send_signal(number)
        out, said = importing.communicate()
    assert importing.returncode == code, said
    assert out == ""
    assert "Stopped. At least 2 messages are stored; there already: 0." in said
    assert "Run the same command again" in said
    assert "Traceback" not in said
    assert texts(cli, "a") == {"tea one", "tea two"}
    assert texts(cli, "b") == {"tea zero"}
    assert "1 stored, 2 already there" in cli(*command[len(EVERLORE) :]).out
