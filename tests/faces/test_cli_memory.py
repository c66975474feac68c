"""record, recall, show, delete, threads, workspaces."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from everlore.models.rules import WITHOUT_PARSER

Cli = Callable[..., Any]

HIT_KEYS = {
    *(
        "text",
        "captions",
        "citation",
        "score",
        "confidence",
        "support",
        "off_the_record",
        "neighbours",
        "trace",
    ),
}
CITATION_KEYS = {"message_id", "short_id", "thread", "author", "role", "at"}
SUPPORT_KEYS = {
    *("confidence", "grade", "reasons", "covered", "missing", "speaker", "late_interaction"),
}
MESSAGE_KEYS = {
    *(
        "message_id",
        "thread",
        "session",
        "position",
        "role",
        "author",
        "at",
        "recorded_at",
        "text",
        "captions",
    ),
    *("system_prompt", "tool_calls", "external_id", "reply_to", "metadata", "taxonomy", "off_the_record"),
    *("parent_id", "on_path", "revision_of", "finish"),
    "short_id",
}


def give(monkeypatch: pytest.MonkeyPatch, content: bytes, *, terminal: bool = False) -> None:
    """Let standard input hold this."""
    stream = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8")
    monkeypatch.setattr(stream, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(sys, "stdin", stream)


def recorded(cli: Cli, *arguments: str) -> str:
    return cli("record", *arguments, "--json").json["outcomes"][0]["message_id"]


def test_a_message_is_recalled_with_its_citation(cli: Cli) -> None:
    said = cli("record", "My sister Emma moved to **Lisbon**.", "--author", "Maya", "--thread", "family")
    assert said.out.startswith("Recorded ")
    found = cli("recall", "Where is Emma?")
    assert "My sister Emma moved to **Lisbon**." in found.out
    assert "Maya" in found.out
    assert "family" in found.out
    assert "says emma" in found.out.lower()
    assert "Warning: no embedding model is installed" in found.err


def test_without_the_parser_the_first_record_of_a_workspace_says_so_and_no_other(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("everlore.wiring.parser_is_installed", lambda: False)
    history = tmp_path / "history.json"
    history.write_text('[{"role": "user", "content": "Tom works at Siemens."}]', "utf-8")
    first = cli("record", "Emma lives in Porto.", "--external-id", "a", "--json")
    assert (first.json["stored"], first.err.count(WITHOUT_PARSER)) == (1, 1)
    for again in ("Emma lives in Porto.", "--external-id", "a"), ("She likes it there.",):
        assert cli("record", *again).err == ""
    assert WITHOUT_PARSER not in cli("recall", "Where does Emma live?").err
    assert cli("reconcile", str(history)).err == ""
    assert cli("reconcile", str(history), "-w", "another").err.count(WITHOUT_PARSER) == 1
    monkeypatch.setenv("EVERLORE_DISTIL__ANALYST", "none")
    assert cli("record", "Emma lives in Porto.", "-w", "third").err == ""


def test_a_workspace_of_many_threads_is_not_new(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("everlore.wiring.parser_is_installed", lambda: False)
    threads, history = tmp_path / "threads.jsonl", tmp_path / "history.json"
    said = [{"role": "user", "text": "Emma lives in Porto.", "thread": f"{n}"} for n in range(50)]
    threads.write_text("\n".join(map(json.dumps, said)), "utf-8")
    cli("import", "jsonl", str(threads), "--no-index")
    # As many turns as all threads have that a list shows at once, and older than those.
    old = [{"role": "user", "content": f"Tom is {n}.", "at": "2001-01-01T10:00:00Z"} for n in range(50)]
    history.write_text(json.dumps(old), "utf-8")
    recorded = cli("reconcile", str(history), "--thread", "old", "--json")
    assert (recorded.json["stored"], recorded.err) == (50, "")


def test_sources_of_an_answer_are_confirmed_and_refused(cli: Cli) -> None:
    for place in ("Lisbon", "Porto"):
        cli("record", f"Emma moved to {place}.")
    ask = ("recall", "Where did Emma move?")
    first, second = (hit["citation"]["short_id"] for hit in cli(*ask, "--json").json["hits"])
    judged = cli("feedback", ask[1], "--confirmed", second, "--refused", first)
    assert judged.out == f"Confirmed {second}; refused {first}.\n"
    again = cli(*ask, "--json").json["hits"]
    assert [hit["citation"]["short_id"] for hit in again] == [second, first]
    assert "refused for a question like this" in cli(*ask).out
    only = cli("feedback", ask[1], "--refused", second)
    assert only.out == f"Refused {second}.\n"
    answer = cli("feedback", ask[1], "--confirmed", first, "--json").json
    assert {key: [one[-8:] for one in ids] for key, ids in answer.items()} == {
        "confirmed": [first],
        "refused": [],
    }
    assert "--refused" not in cli("feedback", ask[1], code=2).out


def test_the_json_of_record_and_recall(cli: Cli) -> None:
    receipt = cli("record", "Emma lives in Lisbon.", "--external-id", "a", "--json").json
    assert set(receipt) == {"workspace", "thread", "outcomes", "stored", "already_there", "refused"}
    assert receipt["workspace"] == "default"
    assert set(receipt["outcomes"][0]) == {"status", "message_id", "reason"}
    cli("record", "She likes it there.", "--role", "assistant")
    ran = cli("recall", "Emma", "--neighbours", "1", "--trace", "--limit", "1", "--json")
    assert set(ran.json) == {
        "question",
        "hits",
        "memories",
        "facts",
        "branches",
        "others",
        "reading",
        "degraded",
        "unsupported",
        "took_ms",
    }
    (hit,) = ran.json["hits"]
    assert set(hit) == HIT_KEYS
    assert set(hit["citation"]) == CITATION_KEYS
    assert set(hit["support"]) == SUPPORT_KEYS
    assert hit["citation"]["message_id"] == receipt["outcomes"][0]["message_id"]
    assert hit["citation"]["short_id"] == hit["citation"]["message_id"].replace("-", "")[-8:]
    assert [set(near) for near in hit["neighbours"]] == [{"offset", "text", "citation"}]
    assert hit["trace"]["lexical"]["rank"] == 1


def test_trace_and_neighbours_are_shown_to_people(cli: Cli) -> None:
    cli("record", "Emma lives in Lisbon.")
    cli("record", "She likes it there.", "--role", "assistant")
    found = cli("recall", "Emma", "--neighbours", "1", "--trace", "--limit", "1")
    assert "+1 assistant: She likes it there." in found.out
    assert "lexical: rank 1, score " in found.out
    assert "vector: not found" in found.out
    assert "Milliseconds:" in found.out


def test_what_is_recorded_is_found_by_meaning_at_once(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERLORE_EMBEDDER", "minilm")
    cli("record", "The doctor says my ferritin is far too low.")
    cli("record", "We painted the boat shed red.")
    found = cli("recall", "medical blood test", "--limit", "1", "--json").json
    assert found["degraded"] == []
    assert found["hits"][0]["text"].startswith("The doctor")


def test_nothing_found_is_said_in_words(cli: Cli) -> None:
    assert "Nothing that is remembered here answers this." in cli("recall", "anything").out
    assert cli("recall", "anything", "--json").json["hits"] == []


def test_the_text_may_come_from_standard_input(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, "Grüße aus **Malmö**\n".encode())
    message_id = recorded(cli, "-")
    assert cli("show", message_id, "--json").json["text"] == "Grüße aus **Malmö**"


def test_bad_standard_input_is_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [
        (b"caf\xe9", "is not valid UTF-8 (byte 4)"),
        (b"x" * 1_000_001, "more than 1,000,000 bytes"),
        (b"", "is empty or blank"),
        (b"a\0b", "contains a NUL byte"),
    ]
    for content, complaint in cases:
        give(monkeypatch, content)
        ran = cli("record", "-", code=2)
        assert ran.err.startswith("Error: text: ")
        assert complaint in ran.err
        assert cli("threads", "--json").json["items"] == []


def test_a_message_that_cannot_be_kept_is_refused(cli: Cli) -> None:
    cases: list[tuple[list[str], str]] = [
        (["  "], "text: is empty or blank"),
        (["a\udcffb"], "text: contains a lone surrogate"),
        (["x", "--at", "yesterday"], "--at: 'yesterday' is not a time"),
        (["x", "--at", "0001-01-01T00:00+14:00"], "at: lies outside the years"),
        (["x", "--metadata", "{"], "--metadata: is not valid JSON"),
        (["x", "--metadata", "[]"], "--metadata: must be a JSON object"),
        (["x", "--taxonomy", "a..b"], "taxonomy: must be labels"),
        (["x", "--thread", ""], "thread: must have 1 to 200 characters"),
        (["x", "--author", "a" * 201], "author: must have 1 to 200 characters"),
        (["x", "--role", "robot"], "'robot' is not one of"),
        (["x", "-w", " "], "workspace: must have 1 to 200 characters"),
        ([], "Missing argument"),
    ]
    for arguments, complaint in cases:
        ran = cli("record", *arguments, code=2)
        assert complaint in ran.err
        assert ran.out == ""
        assert len(ran.err.splitlines()) == 1


def test_an_external_id_makes_a_retry_harmless(cli: Cli) -> None:
    first = cli("record", "tea", "--external-id", "7", "--json").json["outcomes"][0]
    again = cli("record", "tea", "--external-id", "7", "--json").json["outcomes"][0]
    assert (first["status"], again["status"]) == ("stored", "already there")
    assert first["message_id"] == again["message_id"]
    ran = cli("record", "coffee", "--external-id", "7", "--json", code=2)
    assert ran.out == ""
    assert ran.error["type"] == "invalid_input"
    assert ran.error["field"] == "--external-id"
    assert "taken by a message with other content" in ran.error["message"]


def test_times_are_typed_and_shown_in_the_local_zone(cli: Cli) -> None:
    message_id = recorded(cli, "The ferry leaves.", "--at", "2025-05-12T14:03")
    assert cli("show", message_id, "--json").json["at"] == "2025-05-12T05:03:00Z"
    assert "2025-05-12 14:03" in cli("recall", "ferry").out
    assert "2025-05-12 14:03" in cli("show", message_id).out
    assert "2025-05-12 14:03" in cli("threads").out
    assert "2025-05-12 14:03" in cli("workspaces").out
    for since, hits in (("2025-05-12", 1), ("2025-05-12T14:04", 0), ("2025-05-12T05:03Z", 1)):
        assert len(cli("recall", "ferry", "--since", since, "--json").json["hits"]) == hits
    for until, hits in (("2025-05-12T14:03", 0), ("2025-05-13", 1)):
        assert len(cli("recall", "ferry", "--until", until, "--json").json["hits"]) == hits


def test_recall_is_limited_to_what_the_options_name(cli: Cli) -> None:
    cli(
        "record",
        "Tea at noon",
        "--author",
        "Ann",
        "--thread",
        "t1",
        "--project",
        "p",
        "--taxonomy",
        "life.food",
    )
    cli("record", "Tea at five", "--author", "Bob", "--thread", "t2")

    def found(*options: str) -> list[str]:
        return [hit["text"] for hit in cli("recall", "tea", *options, "--json").json["hits"]]

    assert len(found()) == 2
    assert len(found("--limit", "1")) == 1
    assert found("--author", "bob") == ["Tea at five"]
    assert found("--thread", "t1") == ["Tea at noon"]
    assert found("--project", "p") == ["Tea at noon"]
    assert found("--taxonomy", "life") == ["Tea at noon"]
    assert found("--now", "2025-05-12", "--deadline-ms", "60000") == found()


def test_a_question_that_cannot_be_asked_is_refused(cli: Cli) -> None:
    cases = [
        ([""], "query: is empty"),
        (["x", "--limit", "0"], "limit: must be a number from 1"),
        (["x", "--limit", "many"], "Invalid value for '--limit'"),
        (["x", "--neighbours", "99"], "neighbours: must be"),
        (["x", "--deadline-ms", "-1"], "deadline_ms: must be above 0"),
        (["x", "--since", "13.5.2025"], "--since: '13.5.2025' is not a time"),
        (["x", "--thread", "nowhere"], "There is no thread nowhere"),
        (["x", "-w", "nobody"], "There is no workspace nobody"),
    ]
    for arguments, complaint in cases:
        ran = cli("recall", *arguments, code=2)
        assert complaint in ran.err
        assert ran.out == ""


def test_show_gives_every_field(cli: Cli) -> None:
    message_id = recorded(
        cli,
        *("# Shed\n\nWe *painted* it.", "--author", "Maya", "--session", "may", "--thread", "house"),
        *("--taxonomy", "home.shed", "--caption", "a red shed", "--caption", "a brush"),
        *("--external-id", "x1", "--reply-to", "x0", "--metadata", '{"mood": "good"}'),
    )
    shown = cli("show", message_id[-8:], "--json").json
    assert set(shown) == MESSAGE_KEYS
    assert shown["captions"] == ["a red shed", "a brush"]
    assert shown["metadata"] == {"mood": "good"}
    assert shown["taxonomy"] == "home.shed"
    text = cli("show", message_id).out
    for part in (
        message_id,
        "Maya (user)",
        "house, message 1",
        "may",
        "home.shed",
        "x1",
        "x0",
        "a brush",
        "good",
    ):
        assert part in text
    assert "We painted it." in text


def test_an_unknown_id_is_refused(cli: Cli) -> None:
    cases = [
        ("12", "must be the last 8"),
        ("zzzzzzzzz", "must be the last 8"),
        ("ffffffff", "There is no message"),
    ]
    for identifier, complaint in cases:
        for command in (["show"], ["delete", "--yes"]):
            assert complaint in cli(*command, identifier, code=2).err


def test_stored_text_cannot_command_the_terminal(cli: Cli) -> None:
    evil = "a\x1b]0;owned\x07 \x9b31m [bold red]x[/] \u202eabc &#27;[31m &#x9b;7m \x7f [/nope] [l](http://e.example)"
    message_id = recorded(
        cli, evil, "--author", "E\x1b[31mve", "--thread", "t\x1b[2J", "--caption", "c\x1b[0m"
    )
    cli("record", "x", "-w", "w\x1b[2J")
    ask = ("recall", "owned bold", "--trace")
    for arguments in (ask, ("show", message_id), ("threads",), ("workspaces",), ("status",)):
        for ran in (cli(*arguments), cli(*arguments, "--json")):
            assert not set(ran.out + ran.err) & {*map(chr, range(0x80, 0xA0)), "\x1b", "\x07", "\x7f"}
        # JSON keeps what was said; people see it spelled out.
    assert cli("show", message_id, "--json").json["text"] == evil
    assert "[bold red]x[/]" in cli(*ask).out
    assert "␛" in cli("show", message_id).out
    assert "\u202e" not in cli(*ask).out
    for question in ("\x1b[31m[/bold]", "[red]"):
        assert "\x1b" not in cli("recall", question).out


def test_long_texts_are_shortened_around_what_was_asked(cli: Cli) -> None:
    cli("record", "word " * 400 + "zeppelin " + "word " * 400)
    out = cli("recall", "zeppelin").out
    assert "zeppelin" in out
    assert "…" in out
    assert len(out) < 3000


def test_deleting_needs_a_yes(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    message_id = recorded(cli, "forget me")
    give(monkeypatch, b"")
    assert "Nothing was deleted." in cli("delete", message_id, code=2).err
    give(monkeypatch, b"n\n", terminal=True)
    ran = cli("delete", message_id, code=1)
    assert "forget me" in ran.err
    give(monkeypatch, b"y\n", terminal=True)
    assert cli("delete", message_id).out == f"Deleted the message {message_id[-8:]}.\n"
    cli("show", message_id, code=2)


def test_deleting_a_message_or_a_thread(cli: Cli) -> None:
    one, two = recorded(cli, "one", "--thread", "t"), recorded(cli, "two", "--thread", "t")
    assert cli("delete", one[-8:], "--yes", "--json").json["text"] == "one"
    gone = cli("threads", "delete", "t", "--yes", "--json").json
    assert gone == {"thread": "t", "deleted": 1}
    cli("show", two, code=2)
    assert "There is no thread t" in cli("threads", "delete", "t", "--yes", code=2).err


def test_a_workspace_is_deleted_for_good(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(cli, "My sister Emma lives in Lisbon.", "-w", "old")
    recorded(cli, "tea")
    give(monkeypatch, b"")
    assert "Nothing was deleted." in cli("workspaces", "delete", "old", code=2).err
    gone = cli("workspaces", "delete", "old", "--yes", "--json").json
    assert (gone["name"], gone["counts"]["messages"], gone["counts"]["threads"]) == ("old", 1, 1)
    assert "There is no workspace old" in cli("threads", "-w", "old", code=2).err
    assert [one["name"] for one in cli("workspaces", "--json").json["items"]] == ["default"]
    assert cli("threads", "--json").json["total"] == 1
    assert "There is no workspace old" in cli("workspaces", "delete", "old", "--yes", code=2).err


def test_the_messages_of_a_thread_are_listed_in_parts(cli: Cli) -> None:
    for text in ("one", "two", "three"):
        recorded(cli, text, "--thread", "t")
    first = cli("messages", "t", "--limit", "2", "--json").json
    assert ([one["text"] for one in first["items"]], first["total"]) == (["one", "two"], 3)
    rest = cli("messages", "t", "--cursor", first["cursor"], "--json").json
    assert ([one["text"] for one in rest["items"]], rest["cursor"]) == (["three"], None)
    assert "three" in cli("messages", "t").out


def test_threads_and_workspaces_are_listed(cli: Cli) -> None:
    assert "no threads yet" in cli("threads").out
    cli("record", "a", "--thread", "t", "--project", "p")
    cli("record", "b", "-w", "second")
    (thread,) = cli("threads", "--json").json["items"]
    assert set(thread) == {"thread_id", "name", "project", "taxonomy", "last_at", "messages", "off_path"}
    assert (thread["name"], thread["project"], thread["messages"]) == ("t", "p", 1)
    listed = cli("workspaces", "--json").json["items"]
    assert [one["name"] for one in listed] == ["default", "second"]
    assert set(listed[0]) == {"workspace_id", "name", "created_at", "threads", "messages", "last_at"}
    assert UUID(listed[0]["workspace_id"]).version == 7
    assert "second" in cli("workspaces").out
    assert "t " in cli("threads").out
