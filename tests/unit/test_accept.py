"""What may be recorded: each refusal names the field and the limit."""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlore.capture.accept import Accepted, accept
from everlore.domain.errors import InvalidInput
from everlore.domain.messages import (
    MAX_CAPTIONS,
    MAX_JSON_BYTES,
    MAX_JSON_DEPTH,
    MAX_MESSAGES,
    MAX_TEXT_BYTES,
    NewMessage,
)
from everlore.validation import aware, name, taxonomy_path

NOW = datetime(2025, 6, 14, 12, tzinfo=UTC)


def one(**fields: Any) -> Accepted:
    return accept([{"role": "user", "text": "hello", **fields}], NOW)[0]


def nested(levels: int) -> dict[str, Any]:
    inner: dict[str, Any] = {}
    for _ in range(levels - 1):
        inner = {"in": inner}
    return inner


BAD: dict[str, tuple[dict[Any, Any], str, str]] = {
    "no text": ({"text": ""}, "text", "empty or blank"),
    "blank text": ({"text": " \n\t\u2003"}, "text", "empty or blank"),
    "blank text and blank captions": ({"text": " ", "captions": [" "]}, "text", "no captions"),
    "text of another type": ({"text": 5}, "text", "must be text, not int"),
    "NUL in the text": ({"text": "a\0b"}, "text", "NUL"),
    "lone surrogate": ({"text": "a\ud800"}, "text", "surrogate at character 1"),
    "text too long": (
        {"text": "x" * (MAX_TEXT_BYTES + 1)},
        "text",
        "1,000,001 bytes; the limit is 1,000,000",
    ),
    "text too long in UTF-8": ({"text": "é" * (MAX_TEXT_BYTES // 2 + 1)}, "text", "the limit is 1,000,000"),
    "unknown role": ({"role": "robot"}, "role", "user, assistant, system, developer, tool"),
    "role of another type": ({"role": ["user"]}, "role", "must be one of"),
    "naive time": ({"at": datetime(2025, 1, 1)}, "at", "no time zone"),  # noqa: DTZ001
    "time as text": ({"at": "2025-01-01T00:00:00Z"}, "at", "must be a datetime, not str"),
    "before the year 1": (
        {"at": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))},
        "at",
        "years 1 to 9999",
    ),
    "after the year 9999": (
        {"at": datetime(9999, 12, 31, 23, tzinfo=timezone(-timedelta(hours=12)))},
        "at",
        "years 1 to 9999",
    ),
    "blank author": ({"author": " "}, "author", "1 to 200 characters"),
    "long author": ({"author": "x" * 201}, "author", "it has 201"),
    "very long author": ({"author": "x" * 801}, "author", "the limit is 800"),
    "captions as text": ({"captions": "a cat"}, "captions", "list of texts"),
    "captions as a set": ({"captions": {"a cat"}}, "captions", "list of texts"),
    "a caption of another type": ({"captions": ["a cat", 5]}, "captions[1]", "must be text"),
    "a long caption": ({"captions": ["x" * 10_001]}, "captions[0]", "the limit is 10,000"),
    "NUL in a caption": ({"captions": ["\0"]}, "captions[0]", "NUL"),
    "too many captions": ({"captions": ["x"] * (MAX_CAPTIONS + 1)}, "captions", "the limit is 100"),
    "NUL in the system prompt": ({"system_prompt": "\0"}, "system_prompt", "NUL"),
    "tool calls as text": ({"tool_calls": "run"}, "tool_calls", "list of objects"),
    "tool calls as an object": ({"tool_calls": {"name": "run"}}, "tool_calls", "list of objects"),
    "a tool call that is none": ({"tool_calls": ["run"]}, "tool_calls", "list of objects"),
    "tool calls as a number": ({"tool_calls": 1}, "tool_calls", "list of objects"),
    "NaN in a tool call": ({"tool_calls": [{"x": float("nan")}]}, "tool_calls", "cannot be written as JSON"),
    "empty external id": ({"external_id": ""}, "external_id", "1 to 500"),
    "long external id": ({"external_id": "x" * 501}, "external_id", "it has 501"),
    "NUL in the external id": ({"external_id": "\0"}, "external_id", "NUL"),
    "external id of another type": ({"external_id": 7}, "external_id", "must be text"),
    "long reply_to": ({"reply_to": "x" * 501}, "reply_to", "it has 501"),
    "metadata as a list": ({"metadata": ["x"]}, "metadata", "must be an object"),
    "NaN in metadata": ({"metadata": {"x": float("nan")}}, "metadata", "cannot be written as JSON"),
    "infinity in metadata": ({"metadata": {"x": [float("inf")]}}, "metadata", "cannot be written as JSON"),
    "bytes in metadata": ({"metadata": {"x": b"a"}}, "metadata", "cannot be written as JSON"),
    "a set in metadata": ({"metadata": {"x": {1}}}, "metadata", "cannot be written as JSON"),
    "a huge number": ({"metadata": {"x": 10**5000}}, "metadata", "cannot be written as JSON"),
    "NUL inside metadata": ({"metadata": {"x": [{"y": "a\0"}]}}, "metadata", "NUL"),
    "NUL in a key": ({"metadata": {"a\0": 1}}, "metadata", "NUL"),
    "surrogate inside metadata": ({"metadata": {"x": "\udfff"}}, "metadata", "surrogate"),
    "a number as key": ({"metadata": {1: "x"}}, "metadata", "has the key 1"),
    "an inner number as key": ({"metadata": {"x": [{None: 1}]}}, "metadata", "has the key None"),
    "deep metadata": ({"metadata": nested(MAX_JSON_DEPTH + 1)}, "metadata", "the limit is 100 levels"),
    "very deep metadata": ({"metadata": nested(50_000)}, "metadata", "the limit is 100 levels"),
    "large metadata": ({"metadata": {"x": "y" * MAX_JSON_BYTES}}, "metadata", "the limit is 1,000,000"),
    "an empty label": ({"taxonomy": "work..studio"}, "taxonomy", "joined by dots"),
    "a label with a space": ({"taxonomy": "my work"}, "taxonomy", "joined by dots"),
    "a path with a newline": ({"taxonomy": "work\n"}, "taxonomy", "joined by dots"),
    "a long label": ({"taxonomy": "x" * 101}, "taxonomy", "20 of 100"),
    "a long path": ({"taxonomy": ".".join("x" * 21)}, "taxonomy", "20 of 100"),
    "a field that is none": ({"contents": "hello"}, "contents", "is not a field; the fields are"),
    "a field that is no name": ({1: "hello"}, "1", "is not a field"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_field_is_refused_by_name_and_reason(case: str) -> None:
    change, field, reason = BAD[case]
    good = {"role": "user", "text": "good"}
    with pytest.raises(InvalidInput) as raised:
        accept([good, {"role": "user", "text": "hello", **change}], NOW)
    assert raised.value.field == f"messages[1].{field}"
    assert reason in raised.value.reason
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([], "is empty"),
        ("hello", "must be a list"),
        (b"hello", "must be a list"),
        ({"role": "user", "text": "hello"}, "must be a list"),
        (None, "must be a list"),
        (5, "must be a list"),
        (iter([{"role": "user", "text": "hello"}]), "must be a list"),
        ([{"role": "user", "text": "x"}] * (MAX_MESSAGES + 1), "10,001 messages; the limit is 10,000"),
    ],
)
def test_a_call_is_a_list_of_1_to_10000_messages(messages: Any, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason) as raised:
        accept(messages, NOW)
    assert raised.value.field == "messages"


@pytest.mark.parametrize("given", [None, "hello", 5, ["role", "user"]])
def test_a_message_is_a_mapping(given: Any) -> None:
    with pytest.raises(InvalidInput, match="NewMessage or a mapping") as raised:
        accept([given], NOW)
    assert raised.value.field == "messages[0]"


def test_a_message_needs_a_role() -> None:
    with pytest.raises(InvalidInput, match="must be one of") as raised:
        accept([{"text": "hello"}], NOW)
    assert raised.value.field == "messages[0].role"


def test_at_the_limits_all_is_accepted() -> None:
    accepted = one(
        text="x" * MAX_TEXT_BYTES,
        author="y" * 200,
        captions=["z" * 10_000] * MAX_CAPTIONS,
        external_id="e" * 500,
        metadata=nested(MAX_JSON_DEPTH),
        taxonomy=".".join(["t" * 100] * 20),
        at=datetime.max.replace(tzinfo=UTC),
    )
    assert len(accepted.text) == MAX_TEXT_BYTES
    assert len(accepted.captions) == MAX_CAPTIONS


def test_text_may_be_missing_where_something_else_speaks() -> None:
    assert one(text="", captions=["a cat"]).captions == ["a cat"]
    assert one(text="", tool_calls=[{"name": "search"}]).tool_calls == '[{"name": "search"}]'


def test_what_is_left_out_is_filled_in() -> None:
    accepted = one()
    assert (accepted.author, accepted.named, accepted.at) == ("user", False, NOW)
    assert one(author="  Maya ").author == "Maya"
    assert one(at=datetime(2025, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))).at == datetime(
        2025, 1, 1, tzinfo=UTC
    )


def test_a_mapping_and_a_message_are_the_same() -> None:
    fields: dict[str, Any] = {"role": "tool", "text": "42", "metadata": {"b": 1, "a": [True, None, "é"]}}
    assert accept([fields], NOW) == accept([NewMessage(**fields)], NOW)


def test_the_hash_knows_every_field_but_not_the_order_of_keys_nor_the_moment_of_recording() -> None:
    given = {
        "role": "assistant",
        "text": "hello!",
        "author": "Ali",
        "at": NOW,
        "captions": ["a cat"],
        "system_prompt": "Be kind.",
        "tool_calls": [{"name": "x"}],
        "reply_to": "m1",
        "metadata": {"a": 1},
        "taxonomy": "work",
    }
    hashes = {field: one(**{field: value}).content_hash for field, value in given.items()}
    assert len({*hashes.values(), one().content_hash}) == len(given) + 1
    assert one(metadata={"a": 1, "b": 2}).content_hash == one(metadata={"b": 2, "a": 1}).content_hash
    later = accept([{"role": "user", "text": "hello"}], NOW + timedelta(days=1))[0]
    assert later.content_hash == one().content_hash


any_text = st.text(st.characters())  # lone surrogates and NUL among them
any_value = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | any_text,
    lambda inner: st.lists(inner) | st.dictionaries(any_text | st.integers(), inner),
)


@given(any_value)
def test_metadata_is_accepted_or_refused_and_nothing_else(value: object) -> None:
    with suppress(InvalidInput):
        metadata = one(metadata={"value": value}).metadata
        metadata.encode()
        assert json.loads(metadata) == {"value": value}
        assert "\\u0000" not in metadata.replace("\\\\", "")


@given(any_text)
def test_text_is_accepted_as_it_is_or_refused(text: str) -> None:
    if text.strip() == "" or "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        with pytest.raises(InvalidInput, match="text: "):
            one(text=text)
    else:
        assert one(text=text).text == text


def test_names_paths_and_times_are_checked_the_same_way_everywhere() -> None:
    assert name(" main ", "thread") == "main"
    assert taxonomy_path("work.studio-2.billing_3", "taxonomy") == "work.studio-2.billing_3"
    assert aware(NOW, "since") == NOW
    for check, bad in ((name, None), (taxonomy_path, None), (aware, "today")):
        with pytest.raises(InvalidInput, match="field: "):
            check(bad, "field")  # type: ignore[arg-type]


def test_a_mapping_of_another_kind_will_do() -> None:
    class Fields(Mapping[str, Any]):
        def __init__(self, **fields: Any) -> None:
            self._fields = fields

        def __getitem__(self, key: str) -> Any:
            return self._fields[key]

        def __iter__(self) -> Any:
            return iter(self._fields)

        def __len__(self) -> int:
            return len(self._fields)

    assert accept([Fields(role="user", text="hello")], NOW)[0].text == "hello"


def test_an_assistants_turn_of_tool_calls_alone_may_say_null() -> None:
    given = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "look"}}]}
    assert accept([given], NOW)[0].text == ""


@pytest.mark.parametrize("text", ["", " \n", "a\0b", "\ud800", "x" * (MAX_TEXT_BYTES + 1), 5])
def test_a_text_sent_as_content_is_named_so(text: Any) -> None:
    for sent in ("content", "text"):
        with pytest.raises(InvalidInput) as raised:
            accept([{"role": "user", "text": "hello"}, {"role": "user", sent: text}], NOW)
        assert raised.value.field == f"messages[1].{sent}"


def test_a_text_sent_under_both_names_is_taken_once() -> None:
    assert accept([{"role": "user", "content": "tea", "text": "tea"}], NOW)[0].text == "tea"
    with pytest.raises(InvalidInput, match="differs from text") as raised:
        accept([{"role": "user", "content": "tea", "text": "coffee"}], NOW)
    assert raised.value.field == "messages[0].content"
