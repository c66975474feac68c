"""`workspaces export` and `workspaces import`."""

import io
import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.faces.conftest import Cli


@pytest.fixture
def file(cli: Cli, tmp_path: Path) -> Path:
    cli("record", "My sister Emma lives in Lisbon.", "--author", "Maya", "-w", "old")
    cli("distil", "-w", "old")
    path = tmp_path / "old.jsonl"
    cli("workspaces", "export", "old", str(path))
    return path


def rows(text: str) -> list[Any]:
    return [json.loads(line) for line in text.split("\n")[1:-1]]


def test_a_workspace_is_written_to_a_file_that_only_its_owner_reads(cli: Cli, file: Path) -> None:
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    before = file.read_text()
    assert "exists already" in cli("workspaces", "export", "old", str(file), code=2).err
    assert file.read_text() == before
    file.chmod(0o644)
    told = cli("workspaces", "export", "old", str(file), "--force", "--json").json
    assert (told["workspace"], told["file"]) == ("old", str(file))
    assert told["counts"] == json.loads(before.split("\n")[0])["fields"]["counts"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert rows(file.read_text()) == rows(before)
    assert (
        "There is no workspace nowhere"
        in cli("workspaces", "export", "nowhere", str(file.with_name("new")), code=2).err
    )
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert "cannot be written" in cli("workspaces", "export", "old", "/nowhere/at/all", code=2).err


def test_standard_output_has_the_lines_and_nothing_else(cli: Cli, file: Path) -> None:
    ran = cli("workspaces", "export", "old", "-")
    assert rows(ran.out) == rows(file.read_text())
    assert "1 message" in ran.err
    refused = cli("workspaces", "export", "old", "-", "--json", code=2)
    assert (refused.out, refused.error["field"]) == ("", "--json")


def test_it_is_imported_under_its_own_name_or_another(
    cli: Cli, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    occupied = cli("workspaces", "import", str(file), "--json", code=2)
    assert occupied.error["field"] == "name"
    assert "holds something already" in occupied.error["message"]
    made = cli("workspaces", "import", str(file), "--as", "copy", "--json").json
    assert (made["name"], made["counts"]["message"], made["counts"]["fact"] > 0) == ("copy", 1, True)
    again = tmp_path / "copy.jsonl"
    cli("workspaces", "export", "copy", str(again))
    assert rows(again.read_text()) == rows(file.read_text())
    assert "Lisbon" in cli("recall", "Where does Emma live?", "-w", "copy").out
    assert "Lisbon" in cli("facts", "-w", "copy").out
    cli("workspaces", "delete", "old", "--yes")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    assert "into old" in cli("workspaces", "import", str(file)).out
    assert {one["name"] for one in cli("workspaces", "--json").json["items"]} == {"default", "old", "copy"}


def test_a_damaged_file_is_refused_by_its_line(cli: Cli, file: Path) -> None:
    text = file.read_text()
    for damaged, said in (
        (text[: len(text) // 2], "is not valid JSON"),
        ("\n".join(text.split("\n")[:5]), "it is cut off"),
        (text.replace('"role": "user"', '"role": "king"', 1), "line 4, role: is outside its limits"),
        ('{"role": "user", "text": "tea"}', "line 1: must be an object of `kind`"),
    ):
        file.write_text(damaged)
        assert said in cli("workspaces", "import", str(file), "--as", "copy", code=2).err
    assert "cannot be read" in cli("workspaces", "import", str(file.with_name("none")), code=2).err
    assert [one["name"] for one in cli("workspaces", "--json").json["items"]] == ["default", "old"]
