"""What makes two turns the same: what they say, however a client spells it when it sends its history again."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, cast

# What differs between two sendings of one call of a tool: ids, times, marks for a prompt cache, signatures. Only around what is
# given to the tool and what it answers: there, an id is an id of something.
_INCIDENTAL = frozenset(
    [
        "id",
        "call_id",
        "tool_call_id",
        "tool_use_id",
        "item_id",
        "cache_control",
        "signature",
        "index",
        "created",
        "created_at",
        "timestamp",
        "at",
        "status",
    ]
)
# What a model thought before it spoke: clients drop it, or cut it, as they like.
_THOUGHT = re.compile(r"\A\s*<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL)
# What Everlore itself put into a prompt, which comes back with the history.
_INJECTED = re.compile(r"<everlore-memory\b[^>]*>.*?</everlore-memory>", re.DOTALL)
# What a client puts into a person's words by itself, other with every call.
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_KEY_BYTES = 16
# What one spelling says and another leaves out.
_DEFAULTS = (("is_error", False), ("type", "function"))
_GIVEN = frozenset({"arguments", "input", "args"})
_ANSWERED = frozenset({"output", "response", "result", "content", "text"})


# What stands in a turn in place of others: nothing, a summary in front of its own words, nothing but a summary, or nothing but
# what might be one as well as a question about one.
Summary: TypeAlias = Literal["", "in front", "whole", "maybe"]


class Said(NamedTuple):
    """What a turn says; `tool_calls` as JSON."""

    role: str
    text: str
    captions: Sequence[str]
    tool_calls: str


def same_but_cut(given: Said, stored: Said) -> bool:
    """Whether a turn that was sent again is the stored one without something that clients drop to save room: attachments, or what
    a tool answered (its call is told by its id)."""
    if given.role != stored.role or spoken(given.role, given.text) != spoken(stored.role, stored.text):
        return False
    if not set(given.captions) <= set(stored.captions):
        return False
    calls, all_calls = json.loads(given.tool_calls), json.loads(stored.tool_calls)
    if not calls:
        return bool(given.text.strip()) and (bool(all_calls) or given.captions != stored.captions)
    ids = [_id(one) for one in calls]
    return None not in ids and ids == [_id(one) for one in all_calls]


def _id(call: Any) -> str | None:
    if not isinstance(call, Mapping):
        return None
    fields = cast("Mapping[str, Any]", call)
    found = (fields.get(name) for name in ("tool_use_id", "tool_call_id", "call_id", "id"))
    return next((one for one in found if isinstance(one, str)), None)


def turn_key(role: str, text: str, captions: Sequence[str], tool_calls: str) -> bytes:
    """16 bytes that two turns have in common only where they say the same: the role, the text without surrounding blanks, what
    attachments show, and calls of tools with their arguments and results (`tool_calls`: as JSON)."""
    said = spoken(role, text)
    if not captions and tool_calls == "[]":
        content = f"{role}\0{said}"
    else:
        calls = _essential(json.loads(tool_calls))
        content = json.dumps([role, said, list(captions), calls], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()[:_KEY_BYTES]


def erased_marks(before: Sequence[bytes], key: bytes, behind: bytes | None) -> set[bytes]:
    """What tells that a turn was erased (8 bytes each): it and a turn before it (one of `before`; nothing at the start), or it
    and the one behind. So the same words elsewhere are turns of their own. (store/sql/tree.sql: note_erased)"""
    words = [b"<" + one + key for one in before]
    if behind is not None:
        words.append(b">" + key + behind)
    return {hashlib.sha256(one).digest()[:8] for one in words}


def spoken(role: str, text: str) -> str:
    """The text of a turn without what is not part of it."""
    if "<" in text:
        text = _INJECTED.sub("", text) if "<everlore-memory" in text else text
        text = _THOUGHT.sub("", text) if role == "assistant" else _REMINDER.sub("", text)
    return text.strip()


def _essential(value: Any) -> Any:
    """Calls of tools without what is incidental; arguments that are JSON in a text count as what they say."""
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        return {
            key: _arguments(one) if key in _GIVEN else _answer(one) if key in _ANSWERED else _essential(one)
            for key, one in fields.items()
            if key not in _INCIDENTAL and (key, one) not in _DEFAULTS
        }
    if isinstance(value, list):
        return [_essential(one) for one in cast("list[Any]", value)]
    return value.strip() if isinstance(value, str) else value


def _answer(value: Any) -> Any:
    """What a tool answered, whole, but for marks for a prompt cache."""
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        return {key: _answer(one) for key, one in fields.items() if key != "cache_control"}
    if isinstance(value, list):
        parts = cast("list[Any]", value)
        if all(
            isinstance(one, Mapping) and one.keys() - {"cache_control"} == {"type", "text"} for one in parts
        ):
            return "\n\n".join(str(one["text"]) for one in parts).strip()
        return [_answer(one) for one in cast("list[Any]", value)]
    return value.strip() if isinstance(value, str) else value


def _arguments(value: Any) -> Any:
    try:
        if not isinstance(value, str):
            return json.dumps(value, sort_keys=True)
        # As text again: nobody has counted how deep it goes.
        return json.dumps(json.loads(value), sort_keys=True)
    except (ValueError, RecursionError):
        return str(value).strip()
