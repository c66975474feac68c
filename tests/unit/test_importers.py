"""Importers: what a file says, line by line, and what is wrong with it."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from everlore.capture.importers import Line, parse_time, read_jsonl, read_locomo
from everlore.domain.errors import InvalidInput

GOOD = {"role": "user", "text": "hello"}


def lines(folder: Path, *content: object) -> list[Line]:
    """Read back a file of these lines: bytes as they are, anything else as JSON."""
    raw = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in content]
    file = folder / "chat.jsonl"
    file.write_bytes(b"\n".join(raw))
    return list(read_jsonl(file))


def test_a_line_is_a_message_with_its_place(tmp_path: Path) -> None:
    at = "2025-05-12T14:03:00+02:00"
    (line,) = lines(
        tmp_path,
        {**GOOD, "at": at, "thread": "work", "session": "monday", "external_id": "m1", "metadata": {"a": 1}},
    )
    assert line == Line(
        1,
        "work",
        "monday",
        {
            "role": "user",
            "text": "hello",
            "at": datetime(2025, 5, 12, 12, 3, tzinfo=UTC),
            "external_id": "m1",
            "metadata": {"a": 1},
        },
    )


def test_what_is_left_out_or_null_has_its_default(tmp_path: Path) -> None:
    for line in lines(
        tmp_path, GOOD, {**GOOD, "thread": None, "session": None, "external_id": None, "at": None}
    ):
        assert (line.thread, line.session) == ("main", None)
        assert line.message is not None
        assert line.message["external_id"].startswith("line-")
        assert line.message.get("at") is None


def test_blank_lines_are_skipped_but_counted(tmp_path: Path) -> None:
    read = lines(tmp_path, b"", GOOD, b"  \r", GOOD, b"")
    assert [line.number for line in read] == [2, 4]
    assert all(line.problem is None for line in read)


def test_a_byte_order_mark_and_windows_line_ends_are_harmless(tmp_path: Path) -> None:
    read = lines(
        tmp_path, b"\xef\xbb\xbf" + json.dumps(GOOD).encode() + b"\r", json.dumps(GOOD).encode() + b"\r"
    )
    assert [line.problem for line in read] == [None, None]


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (b'{"role": "user", "text": "caf\xe9"}', "is not valid UTF-8 (byte 30)"),
        (b'{"role": "user"', "is not valid JSON: Expecting ',' delimiter at character 1"),
        (b"hello", "is not valid JSON"),
        (b"[1, 2]", "is not a JSON object"),
        (b'"hello"', "is not a JSON object"),
        (b"[" * 100_000, "is nested too deeply"),
        (b'{"role": "user", "metadata": {"n": ' + b"1" * 5000 + b"}}", "cannot be read"),
        ({**GOOD, "at": "2025-05-12T14:03:00"}, "at: '2025-05-12T14:03:00' has no time zone"),
        ({**GOOD, "at": "2025-02-30T00:00:00Z"}, "is not an ISO 8601 time"),
        ({**GOOD, "at": "yesterday"}, "is not an ISO 8601 time"),
        ({**GOOD, "at": 1e300}, "is not a moment that a calendar has"),
        ({**GOOD, "at": True}, "is not an ISO 8601 time"),
        ({**GOOD, "at": [2025]}, "is not an ISO 8601 time"),
    ],
)
def test_a_broken_line_says_what_is_wrong_and_the_others_are_read(
    tmp_path: Path, broken: bytes | dict[str, Any], problem: str
) -> None:
    first, second, third = lines(tmp_path, GOOD, broken, GOOD)
    assert (first.problem, third.problem) == (None, None)
    assert (second.number, second.message) == (2, None)
    assert second.problem is not None
    assert problem in second.problem


def test_a_file_in_another_encoding_is_all_problems(tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text(json.dumps(GOOD), encoding="utf-16")
    (line,) = read_jsonl(file)
    assert line.problem == "is not valid UTF-8 (byte 1)"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for read in (read_locomo, lambda path: list(read_jsonl(path))):  # pyright: ignore[reportUnknownLambdaType, reportUnknownVariableType, reportUnknownArgumentType]
        with pytest.raises(InvalidInput, match=r"none\.json: cannot be read: No such file"):
            read(tmp_path / "none.json")


def test_times_are_iso_8601_with_a_zone_or_seconds() -> None:
    moment = datetime(2025, 5, 12, 12, 3, tzinfo=UTC)
    for given in (
        "2025-05-12T12:03:00Z",
        "2025-05-12 14:03+02:00",
        moment.timestamp(),
        int(moment.timestamp()),
    ):
        assert parse_time(given, "at") == moment


def conversation(**changes: Any) -> dict[str, Any]:
    turns = [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "Look!", "blip_caption": "a red boat"},
        {"speaker": "Bo", "dia_id": "D1:2", "text": "Nice."},
    ]
    return {
        "sample_id": "c1",
        "conversation": {
            "session_10": [{"speaker": "Bo", "dia_id": "D10:1", "text": "Later."}],
            "session_10_date_time": "12:30 am on 3 June, 2023",
            "session_2": turns,
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_3_date_time": "1:56 pm on 9 May, 2023",
        },
        "qa": [{"question": "What colour?", "category": 1, "evidence": ["D1:1"]}],
        **changes,
    }


def test_locomo_sessions_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps([conversation(), conversation(sample_id="c2", qa=[])]))
    first, second = read_locomo(file)
    assert (first.name, second.name) == ("c1", "c2")
    assert [session.name for session in first.sessions] == ["session 2", "session 10"]
    look, nice = first.sessions[0].messages
    assert (look.author, look.captions, look.external_id) == ("Ann", ("a red boat",), "D1:1")
    assert (look.at, nice.at) == (
        datetime(2023, 5, 8, 13, 56, 0, tzinfo=UTC),
        datetime(2023, 5, 8, 13, 56, 1, tzinfo=UTC),
    )
    assert first.questions[0]["question"] == "What colour?"


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"\xff\xfe",
        b"{}",
        b"[1]",
        b'[{"conversation": {"session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "x"}]}}]',
        b'[{"conversation": {"session_1": [{"speaker": "Ann"}], "session_1_date_time": "yesterday"}}]',
        b'[{"conversation": {"session_1": [{}], "session_1_date_time": "1:56 pm on 8 May, 2023"}}]',
        b'[{"conversation": {"session_1": [5], "session_1_date_time": "1:56 pm on 8 May, 2023"}}]',
        b"[" * 100_000,
    ],
)
def test_what_is_no_locomo_file_is_refused_by_its_name(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "locomo.json"
    file.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"locomo\.json: is not"):
        read_locomo(file)
