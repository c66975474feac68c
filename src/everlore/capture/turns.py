"""What makes two turns the same: what they say, however a client spells it when it sends its history again."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

# What differs between two sendings of one turn: ids, times, marks for a prompt cache, signatures.
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
_KEY_BYTES = 16


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


def spoken(role: str, text: str) -> str:
    """The text of a turn without what is not part of it."""
    if "<" in text:
        text = _INJECTED.sub("", text) if "<everlore-memory" in text else text
        text = _THOUGHT.sub("", text) if role == "assistant" else text
    return text.strip()


def _essential(value: Any) -> Any:
    """Calls of tools without what is incidental; arguments that are JSON in a text count as what they say."""
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        return {
            key: _arguments(one) if key in ("arguments", "input") else _essential(one)
            for key, one in fields.items()
            if key not in _INCIDENTAL
        }
    if isinstance(value, list):
        return [_essential(one) for one in cast("list[Any]", value)]
    return value.strip() if isinstance(value, str) else value


def _arguments(value: Any) -> Any:
    try:
        if not isinstance(value, str):
            return json.dumps(value, sort_keys=True)
        # As text again: nobody has counted how deep it goes.
        return json.dumps(json.loads(value), sort_keys=True)
    except (ValueError, RecursionError):
        return str(value).strip()
