"""Branches on the command line: revise, regenerate, switch, and a client's history."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.faces.conftest import cli as cli
from tests.faces.conftest import run as run


@pytest.fixture
def ids(cli: Callable[..., Any]) -> list[str]:
    """A question and its answer."""
    cli("db", "migrate")
    return [
        cli("record", text, "--role", role, "--json").json["outcomes"][0]["message_id"]
        for role, text in (("user", "Where to?"), ("assistant", "To Rome."))
    ]


def test_an_answer_is_given_anew_and_taken_back(cli: Callable[..., Any], ids: list[str]) -> None:
    assert "message 3 of the thread main" in cli("regenerate", ids[1][-8:], "To Oslo.").out
    listed = cli("messages").out
    assert "To Oslo." in listed
    assert "To Rome." not in listed
    tree = cli("messages", "--branches").out
    assert "off the path" in tree
    assert tree.endswith("2 messages on the path, 1 off it.\n")
    places = [line.split()[:2] for line in tree.splitlines() if line.split()[0].isdigit()]
    assert places[1:3] == [["2", "1"], ["3", "1"]]
    assert "off the path" in cli("show", ids[1]).out
    assert "off the path" in cli("recall", "Rome", "--branches").out
    switched = cli("threads", "switch", "main", ids[1])
    assert switched.out == f"The path of main ends with {ids[1][-8:]}: 2 messages, 1 message off it.\n"
    assert "To Rome." in cli("messages").out
    assert cli("revise", ids[0], "When?", "--json").json["revision_of"] == ids[0]
    assert cli("record", "Elsewhere", "--parent", ids[0], "--json").json["stored"] == 1
    assert [one["text"] for one in cli("messages", "--json").json["items"]] == ["Where to?", "Elsewhere"]


def test_a_history_is_read_from_a_file(cli: Callable[..., Any], ids: list[str], tmp_path: Path) -> None:
    file = tmp_path / "request.json"
    turns = [
        {"role": "user", "content": "Where to?"},
        {"role": "assistant", "content": "To Rome."},
        {"role": "user", "content": "When?"},
    ]
    file.write_text(json.dumps({"model": "m", "messages": turns}))
    assert cli("reconcile", str(file)).out == "1 new of 3 turns, in default, thread main.\n"
    assert cli("reconcile", str(file), "--json").json["stored"] == 0
    assert "cannot be read" in cli("reconcile", str(tmp_path / "none.json"), code=2).err
    for text, said in (("{", "is not valid JSON"), ("{}", "must be a list"), ("[7]", "history[0]")):
        file.write_text(text)
        assert said in cli("reconcile", str(file), code=2).err
