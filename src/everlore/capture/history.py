"""A history as clients send it (chat completions, responses, Anthropic's messages, Gemini's contents), as messages to record."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, cast

from everlore.capture.turns import Summary, spoken
from everlore.domain.errors import InvalidInput
from everlore.domain.messages import FINISHES, NewMessage

_ROLES = {"model": "assistant", "ai": "assistant", "human": "user", "function": "tool"}
_OWN = frozenset({"text", "author", "captions", "system_prompt", "external_id", "metadata", "off_the_record"})
_CALLS = frozenset({"tool_use", "function_call", "server_tool_use", "custom_tool_call", "functionCall"})
_RESULTS = frozenset(
    {
        "tool_result",
        "function_call_output",
        "custom_tool_call_output",
        "functionResponse",
        "web_search_tool_result",
    }
)
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
# How clients begin what stands for the turns that they left out; and how they and people do.
_SUMMARY = re.compile(
    r"\s*(?:<(?:summary|context_summary|conversation_summary)\b"
    r"|this session is being continued from a previous conversation"
    r"|another language model started to solve this problem)",
    re.IGNORECASE,
)
_PERHAPS_SUMMARY = re.compile(
    r"\s*(?:\[?(?:here is )?(?:a |the )?summary of (?:the |our |this )?(?:(?:previous|earlier|prior|whole|full) )?"
    r"(?:conversation|chat|messages|discussion|turns)\b"
    r"|(?:previous |earlier )?conversation summary\b)",
    re.IGNORECASE,
)


def summary_in(role: str, text: str) -> Summary:
    """Whether a text is what a client puts in place of turns that it left out."""
    if role != "user":
        return ""
    return "whole" if _SUMMARY.match(text) else "maybe" if _PERHAPS_SUMMARY.match(text) else ""


def without_summary(given: NewMessage | Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A person's turn without a summary that a client merged into it; None if nothing is left, or none was there."""
    if not isinstance(given, (dict, Mapping)) or given.get("role") not in {"user", "human"}:
        return None
    content = given.get("content")
    if not isinstance(content, list):
        return None
    parts = cast("list[Any]", content)
    left = [
        one
        for one in parts
        if not (isinstance(text := _text_of(one), str) and _SUMMARY.match(spoken("user", text)))
    ]
    said = [one for one in left if not (isinstance(text := _text_of(one), str) and not spoken("user", text))]
    return {**given, "content": said} if said and len(left) < len(parts) else None


def _text_of(part: Any) -> Any:
    return cast("Mapping[str, Any]", part).get("text") if isinstance(part, Mapping) else part


def read(given: NewMessage | Mapping[str, Any], field: str) -> NewMessage | Mapping[str, Any] | None:
    """One entry of a history as a message; None for one that says nothing to anybody (what a model thought). Fields of it that
    mean nothing here are passed over."""
    if isinstance(given, NewMessage):
        return given
    if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(field, f"must be a message, not {type(given).__name__}")
    if given.keys() & _OWN:
        return dict(given) | {"at": _moment(given["at"]) or given["at"]} if "at" in given else given
    kind = str(given.get("type", "message"))
    if kind in _THOUGHTS:
        return None
    if kind in _CALLS or kind in _RESULTS:
        role = "assistant" if kind in _CALLS else "tool"
        return {"role": role, "text": "", "tool_calls": [_plain(given)]}
    role = given.get("role")
    if not isinstance(role, str):
        raise InvalidInput(f"{field}.role", "is missing")
    content = given.get("content")
    if isinstance(content, str) and len(given) == 2 and role != "tool":
        role = _ROLES.get(role, role)
        text = spoken(role, content)
        return {"role": role, "content": text} if text else None
    texts, captions, calls = _parts(given.get("content", given.get("parts")), f"{field}.content")
    more: Any = given.get("tool_calls") or []
    if not isinstance(more, list):
        raise InvalidInput(f"{field}.tool_calls", "must be a list of objects")
    calls += [_plain(one) for one in cast("list[Any]", more)]
    if isinstance(given.get("function_call"), Mapping):
        calls.append({"type": "function", "function": _plain(given["function_call"])})
    role = _ROLES.get(role, role)
    if role == "tool" and texts:
        result = {"type": "tool_result", "content": "\n\n".join(texts)}
        if isinstance(given.get("tool_call_id"), str):
            result["tool_call_id"] = given["tool_call_id"]
        calls, texts = [*calls, result], []
    name = given.get("name") if role != "tool" else None
    text = spoken(role, "\n\n".join(texts))
    if not (text or captions or calls):
        return None
    said: dict[str, Any] = {"role": role, "content": text, "captions": captions, "tool_calls": calls}
    if (at := _moment(given.get("at"))) is not None:
        said["at"] = at
    if given.get("finish") in FINISHES:
        said["finish"] = given["finish"]
    return said | ({"author": name} if isinstance(name, str) and name.strip() else {})


def _moment(value: Any) -> datetime | None:
    """A time that says where on earth it is meant, also as JSON has it."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    return value if isinstance(value, datetime) and value.tzinfo is not None else None


def _parts(content: Any, field: str) -> tuple[list[str], list[str], list[Any]]:
    """Texts, captions and calls of tools."""
    if content is None:
        return [], [], []
    if isinstance(content, str):
        return [content], [], []
    if not isinstance(content, list):
        raise InvalidInput(field, "must be text or a list of parts")
    texts: list[str] = []
    captions: list[str] = []
    calls: list[Any] = []
    for place, part in enumerate(cast("list[Any]", content)):
        if isinstance(part, str):
            texts.append(part)
        elif not isinstance(part, Mapping):
            raise InvalidInput(f"{field}[{place}]", f"must be a part, not {type(part).__name__}")
        else:
            _sort(cast("Mapping[str, Any]", part), texts, captions, calls)
    return texts, captions, calls


def _sort(part: Mapping[str, Any], texts: list[str], captions: list[str], calls: list[Any]) -> None:
    kind = str(part.get("type") or "") or next((one for one in part if one in _CALLS | _RESULTS), "")
    if isinstance(text := part.get("text"), str) and kind not in _THOUGHTS:
        texts.append(text)
    elif kind in _CALLS or kind in _RESULTS:
        calls.append(_plain(part))
    elif kind not in _THOUGHTS:
        # An attachment, of which only the digest is kept: the same one sent again is the same.
        content = {key: value for key, value in part.items() if key != "cache_control"}
        digest = sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()
        captions.append(f"{kind or 'attachment'} {digest[:16]}")


def _plain(given: Any) -> Any:
    """Without marks for a prompt cache, which move with every call."""
    if isinstance(given, Mapping):
        fields = cast("Mapping[str, Any]", given)
        return {key: _plain(value) for key, value in fields.items() if key != "cache_control"}
    if isinstance(given, Sequence) and not isinstance(given, str):
        return [_plain(one) for one in cast("Sequence[Any]", given)]
    return given
