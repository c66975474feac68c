"""distil and usage: by rules, and with a model that costs, fails, or may not be asked."""

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from everlore.domain.errors import BadAnswer, ModelUnavailable
from everlore.faces.cli import distilling
from everlore.models.rules import WITHOUT_FACTS, WITHOUT_PARSER
from everlore.ports.analyst import CallReport, DraftMemory, Extraction, Governor, Quote, Window

Cli = Callable[..., Any]

DISTIL_KEYS = {"workspaces", "estimate", "read", "waiting", "errors", "parked"}
ESTIMATE_KEYS = {
    *("threads", "messages", "analyst", "calls", "tokens_in", "tokens_out", "cost", "undistilled_because")
}
READ_KEYS = {"windows", "messages", "memories", "facts", "rejected", "failed"}
FAILED_KEYS = {
    *("step", "workspace", "workspace_id", "thread", "thread_id", "what", "first", "last", "owner_id", "by"),
    *("error", "failed_at"),
}


@dataclass
class Scripted:
    """An analyst with a model: one memory a window, unless it is told to fail."""

    fails: Exception | None = None
    name: str = "scripted"
    version: str = "1"
    model: str | None = "scripted-model"
    calls: int = 0

    async def extract(self, window: Window, governor: Governor) -> Extraction:
        assert self.model is not None
        await governor.allow(self.model)
        self.calls += 1
        await governor.report(CallReport(self.model, 100, 10, failed=self.fails is not None))
        if self.fails is not None:
            raise self.fails
        first = window.messages[0]
        return Extraction(memories=(DraftMemory("note", first.text, (Quote(first.number, first.text),)),))

    async def close(self) -> None:
        pass


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    analyst = Scripted()
    monkeypatch.setattr("everlore.wiring.configured_analyst", lambda _: analyst)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    return analyst


def history(tmp_path: Path, messages: int) -> str:
    file = tmp_path / "history.jsonl"
    at = "2025-05-12T14:03:00Z"
    lines = [
        f'{{"role": "user", "text": "The boat number {n} is red.", "at": "{at}"}}' for n in range(messages)
    ]
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return str(file)


def test_what_waits_is_estimated_read_and_counted(cli: Cli) -> None:
    cli("record", "My sister Emma lives in Porto.", "--author", "Alice")
    only = cli("distil", "--estimate", "--json").json
    assert set(only) == DISTIL_KEYS
    assert set(only["estimate"]) == ESTIMATE_KEYS
    assert (only["read"], only["waiting"], only["estimate"]["analyst"]) == (None, 1, "rules")
    assert cli("distil", "--estimate").out == "1 message of 1 thread waits to be distilled.\n"
    done = cli("distil", "--json").json
    assert set(done["read"]) == READ_KEYS
    assert (done["read"]["windows"], done["read"]["messages"], done["read"]["failed"]) == (1, 1, 0)
    assert done["read"]["facts"] >= 2
    assert (done["waiting"], done["errors"], done["workspaces"]) == (0, [], ["default"])
    assert "Nothing waits" in cli("distil").out


@pytest.mark.parametrize("command", [("distil", "--estimate"), ("jobs", "distil", "--estimate-only")])
def test_without_the_parser_an_estimate_says_that_nothing_is_distilled(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setattr("everlore.wiring.parser_is_installed", lambda: False)
    cli("record", "My sister Emma lives in Porto.")
    assert cli(*command).err.count(WITHOUT_PARSER) == 1
    assert cli(*command, "--json").json["estimate"]["undistilled_because"] == WITHOUT_PARSER
    assert cli("distil", code=2).err.count(WITHOUT_PARSER) == 1


def test_a_small_model_without_the_parser_is_said_to_give_no_facts(
    cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("everlore.wiring.parser_is_installed", lambda: False)
    monkeypatch.setattr("everlore.wiring._needs_parser", lambda _: True)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    cli("record", "My sister Emma lives in Porto.")
    done = cli("distil")
    assert "1 memory and 0 statements of facts kept" in done.out
    assert done.err.count(WITHOUT_FACTS) == 1
    assert cli("facts").err.count(WITHOUT_FACTS) == 1
    assert cli("memories").err == ""


def test_only_full_windows_are_read_unless_the_last_is_closed(cli: Cli, tmp_path: Path) -> None:
    cli("import", "jsonl", history(tmp_path, 13), "--no-index")
    part = cli("distil", "--no-close", "--json").json
    assert (part["read"]["messages"], part["waiting"], part["errors"]) == (10, 3, [])
    assert cli("distil", "--json").json["read"]["messages"] == 3


def test_what_was_read_is_read_again_without_doubles(cli: Cli, tmp_path: Path) -> None:
    cli("record", "My sister Emma lives in Porto.", "--author", "Alice")
    cli("distil")
    before = cli("memories", "--json").json["items"]
    again = cli("distil", "--again", "--thread", "main", "--since-position", "1", "--json").json
    assert (again["estimate"]["messages"], again["read"]["windows"]) == (1, 1)
    assert [one["content"] for one in cli("memories", "--json").json["items"]] == [
        one["content"] for one in before
    ]
    nothing = cli("distil", "--again", "--since-position", "7", "--json").json
    assert nothing["read"]["windows"] == 0


def test_all_workspaces_at_once(cli: Cli) -> None:
    cli("record", "My sister Emma lives in Porto.", "-w", "alice")
    cli("record", "My brother Tom works at Siemens.", "-w", "bob")
    done = cli("distil", "--all", "--json").json
    assert set(done["workspaces"]) == {"default", "alice", "bob"}
    assert done["read"]["windows"] == 2
    assert cli("facts", "-w", "bob", "--json").json["items"]


def test_an_import_is_distilled_by_rules(cli: Cli, tmp_path: Path) -> None:
    ran = cli("import", "jsonl", history(tmp_path, 3), "--json").json
    assert (ran["distilled"]["messages"], ran["to_distil"]) == (3, None)
    assert cli("status", "--json").json["workspace"]["undistilled"] == 0


def test_an_import_for_a_model_says_what_it_takes(cli: Cli, tmp_path: Path, scripted: Scripted) -> None:
    shown = cli("import", "jsonl", history(tmp_path, 25)).out
    assert "25 messages of 1 thread wait to be distilled. With scripted that is about 3 calls" in shown
    assert "`everlore distil` begins." in shown
    assert scripted.calls == 0


def test_many_calls_want_a_yes(
    cli: Cli, tmp_path: Path, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distilling, "MANY_CALLS", 3)
    cli("import", "jsonl", history(tmp_path, 25))
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    refused = cli("distil", "--json", code=2)
    assert "confirm with --yes" in refused.error["message"]
    assert "about 3 model calls" in refused.error["message"]
    assert scripted.calls == 0
    terminal = io.StringIO("n\n")
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)
    assert "Distil them now? [y/N]" in cli("distil", code=1).err
    done = cli("distil", "--yes", "--json").json
    assert (done["read"]["windows"], done["read"]["memories"], scripted.calls) == (3, 3, 3)
    used = cli("usage", "--json").json
    assert set(used) == {"days", "soft_caps", "hard_caps", "left_alone"}
    assert {key: used["days"][0][key] for key in ("model", "calls", "failed", "tokens_in", "tokens_out")} == {
        "model": "scripted-model",
        "calls": 3,
        "failed": 0,
        "tokens_in": 300,
        "tokens_out": 30,
    }
    assert "scripted-model" in cli("usage").out


def test_many_short_threads_are_many_calls(cli: Cli, tmp_path: Path, scripted: Scripted) -> None:
    file = tmp_path / "threads.jsonl"
    at = "2025-05-12T14:03:00Z"
    lines = [f'{{"role": "user", "text": "Tea.", "at": "{at}", "thread": "thread {n}"}}' for n in range(60)]
    file.write_text("\n".join(lines) + "\n", "utf-8")
    cli("import", "jsonl", str(file))
    assert cli("distil", "--estimate", "--json").json["estimate"]["calls"] == 60
    assert "about 60 model calls" in cli("distil", code=2).err
    assert cli("distil", "--no-close", "--estimate", "--json").json["estimate"]["calls"] == 0
    assert scripted.calls == 0


def test_a_window_that_cannot_be_read_is_shown_and_read_again(
    cli: Cli, tmp_path: Path, scripted: Scripted
) -> None:
    cli("import", "jsonl", history(tmp_path, 12))
    scripted.fails = BadAnswer("the answer was \x1b[31mcut off")
    done = cli("distil", "--json", code=1).json
    assert (done["read"]["failed"], done["read"]["memories"], done["waiting"]) == (2, 0, 0)
    assert any("cut off" in reason for reason in done["errors"])
    (first, second) = cli("jobs", "list", "--json").json["failures"]
    assert set(first) == FAILED_KEYS
    assert {(one["first"], one["last"]) for one in (first, second)} == {(1, 10), (11, 12)}
    for command in (("jobs", "list"), ("status",)):
        out = cli(*command).out
        assert "cut off" in out
        assert "\x1b" not in out
    scripted.fails = None
    assert cli("jobs", "retry", "--json").json == {"retried": 2}
    assert cli("jobs", "list", "--json").json == {"parked": [], "failures": []}
    assert len(cli("memories", "--json").json["items"]) == 2


def test_a_model_that_is_down_loses_nothing(cli: Cli, tmp_path: Path, scripted: Scripted) -> None:
    cli("import", "jsonl", history(tmp_path, 3))
    scripted.fails = ModelUnavailable("the endpoint is down")
    cli("record", "Nobody has read this.", "-w", "other")
    ran = cli("distil", code=1)
    assert "3 messages still wait" in ran.err
    assert "the endpoint is down" in ran.err
    assert "the endpoint is down" in cli("jobs", "list").out
    scripted.fails = None
    assert cli("jobs", "retry", "--json").json == {"retried": 1}
    assert scripted.calls == 2, "what never failed was not read"
    assert cli("status", "-w", "other", "--json").json["workspace"]["undistilled"] == 1
    assert cli("distil", "--json").json["waiting"] == 0
    assert len(cli("memories", "--json").json["items"]) == 1


def test_a_cap_is_kept_and_named(
    cli: Cli, tmp_path: Path, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERLORE_DISTIL__DAILY_CALLS_HARD", "1")
    cli("import", "jsonl", history(tmp_path, 25))
    for _ in range(2):  # the second time a job waits already
        ran = cli("distil", "--json").json
        assert ran["waiting"] == 15
        assert any("daily cap is reached: calls 1 of 1" in reason for reason in ran["errors"])
    assert scripted.calls == 1
    assert "today's hard cap is reached: calls 1 of 1" in cli("usage").err
    (held,) = cli("status", "--json").json["held_up"]
    assert set(held) == {"workspace", "workspace_id", "model", "reason", "until"}
    assert (held["workspace"], held["model"]) == ("default", None)
    assert "the daily cap is reached: calls 1 of 1" in cli("status").out
    monkeypatch.setenv("EVERLORE_DISTIL__DAILY_CALLS_HARD", "100")
    assert cli("distil", "--json").json["waiting"] == 0
    assert scripted.calls == 3


def test_an_open_breaker_is_shown_and_a_retry_goes_through(
    cli: Cli, tmp_path: Path, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERLORE_DISTIL__BREAKER_FAILURES", "1")
    cli("import", "jsonl", history(tmp_path, 3))
    scripted.fails = ModelUnavailable("the endpoint is down")
    cli("distil", code=1)
    cli("jobs", "retry")
    assert scripted.calls == 2
    (held,) = cli("status", "--json").json["held_up"]
    assert (held["model"], held["reason"]) == ("scripted-model", "failed 2 times in a row")
    assert "failed 2 times in a row" in cli("status").out
    scripted.fails = None
    cli("jobs", "retry")
    state = cli("status", "--json").json
    assert (state["held_up"], state["parked"], state["workspace"]["undistilled"]) == ([], [], 0)


def test_nothing_distils_where_nobody_is_to(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERLORE_DISTIL__ANALYST", "none")
    cli("record", "My sister Emma lives in Porto.")
    assert "distil.analyst is none" in cli("distil", code=2).err
    assert cli("distil", "--estimate", "--json").json["estimate"]["analyst"] == "none"


def test_what_cannot_be_is_refused(cli: Cli) -> None:
    cli("record", "Hello.")
    for arguments, complaint in (
        (["distil", "--all", "--thread", "main"], "--all means every workspace"),
        (["distil", "--all", "-w", "alice"], "--all means every workspace"),
        (["distil", "--since-position", "1"], "add --again"),
        (["distil", "--again", "--since-position", "0"], "Invalid value"),
        (["distil", "--again", "--since-position", "9", "--until-position", "2"], "until: is 2"),
        (["distil", "--thread", "nowhere"], "There is no thread nowhere"),
        (["distil", "-w", "nowhere"], "There is no workspace nowhere"),
    ):
        assert complaint in cli(*arguments, code=2).err, arguments
