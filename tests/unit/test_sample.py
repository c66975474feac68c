"""The demonstration conversation and its ten questions are well formed and complete."""

import json
from datetime import datetime, timedelta
from importlib.resources import files
from itertools import pairwise
from typing import Any, cast

import pytest

REQUIRED = {"external_id", "role", "author", "at", "thread", "text"}
OPTIONAL = {"captions", "taxonomy"}
AUTHORS = {"user": "Maya Lindqvist", "assistant": "Assistant"}


def _read(name: str) -> str:
    return (files("everlore") / "data" / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def messages() -> list[dict[str, Any]]:
    return [cast("dict[str, Any]", json.loads(line)) for line in _read("sample.jsonl").splitlines()]


@pytest.fixture(scope="module")
def questions() -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", json.loads(_read("sample_questions.json")))


def test_every_line_has_just_the_fields_of_a_message(messages: list[dict[str, Any]]) -> None:
    for message in messages:
        assert set(message) >= REQUIRED
        assert set(message) <= REQUIRED | OPTIONAL
        for field in REQUIRED | ({"taxonomy"} & set(message)):
            assert isinstance(message[field], str), message["external_id"]
            assert message[field].strip() == message[field] != "", message["external_id"]
        assert message["author"] == AUTHORS[message["role"]]
        if "captions" in message:
            captions = cast("list[object]", message["captions"])
            assert captions
            assert all(isinstance(caption, str) and caption for caption in captions)


def test_there_are_enough_messages_each_with_its_own_id(messages: list[dict[str, Any]]) -> None:
    ids = [message["external_id"] for message in messages]
    assert len(messages) >= 250
    assert len(set(ids)) == len(ids)


def test_times_have_offsets_and_only_move_forward(messages: list[dict[str, Any]]) -> None:
    times = [datetime.fromisoformat(message["at"]) for message in messages]
    assert all(time.utcoffset() is not None for time in times)
    assert all(earlier < later for earlier, later in pairwise(times))
    assert times[-1] - times[0] >= timedelta(days=425)


def test_both_roles_and_several_threads_speak(messages: list[dict[str, Any]]) -> None:
    assert {message["role"] for message in messages} == {"user", "assistant"}
    assert len({message["thread"] for message in messages}) >= 3


def test_taxonomy_stands_only_on_the_first_message_of_a_thread(messages: list[dict[str, Any]]) -> None:
    seen: set[str] = set()
    for message in messages:
        assert ("taxonomy" in message) == (message["thread"] not in seen), message["external_id"]
        seen.add(message["thread"])


def test_some_messages_are_swedish(messages: list[dict[str, Any]]) -> None:
    common = {"och", "att", "är", "på", "det", "som", "jag", "inte"}
    swedish = [
        message
        for message in messages
        if set("åäö") & set(message["text"].lower())
        and len(common & set(message["text"].lower().replace(".", " ").replace(",", " ").split())) >= 2
    ]
    assert len(swedish) >= 6


def test_ten_questions_point_at_messages_and_one_has_no_answer(
    messages: list[dict[str, Any]], questions: list[dict[str, Any]]
) -> None:
    ids = {message["external_id"] for message in messages}
    assert len(questions) == 10
    for question in questions:
        assert set(question) == {"question", "why", "gold"}
        assert question["question"]
        assert question["why"]
        assert "\n" not in question["why"]
        gold = cast("list[str]", question["gold"])
        assert set(gold) <= ids
        assert len(set(gold)) == len(gold)
    assert sum(not question["gold"] for question in questions) == 1
