"""Out of the text of an answer the JSON object in it. Harmless slips are mended here; everything else is a bad answer.

Harmless: code fences and talk around the object, the model's thoughts before it, trailing commas, a byte order mark.
Never mended: an object that is not closed. What is missing from it cannot be known.
"""

import json
import re
from typing import Any, cast

MAX_ANSWER_CHARACTERS = 400_000

_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>")
# A string, or a comma before a closing bracket: strings are matched so that commas within them are left alone.
_TRAILING = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)
# What no database takes, or nobody sees.
UNWANTED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


class Unusable(Exception):
    """This answer cannot be used. Its text says why, to the log and to the model that is asked again."""


def read_object(text: str) -> dict[str, Any]:
    """The object in an answer. Raises Unusable."""
    if len(text) > MAX_ANSWER_CHARACTERS:
        raise Unusable(f"it has {len(text)} characters; {MAX_ANSWER_CHARACTERS} are the limit")
    bare = _without_thoughts(text).strip().lstrip("\ufeff")
    if not bare:
        raise Unusable("it is empty")
    start, end = bare.find("{"), bare.rfind("}")
    if start < 0:
        raise Unusable("it holds no JSON object")
    if end < start:
        raise Unusable("its JSON object is not closed")
    body = bare[start : end + 1]
    try:
        read = _read(body)
    except json.JSONDecodeError as error:
        raise Unusable(f"its JSON is malformed ({error.msg} at character {error.pos})") from error
    except (RecursionError, ValueError) as error:
        raise Unusable("its JSON is nested too deeply or holds an impossible number") from error
    if not isinstance(read, dict):
        raise Unusable("it is no JSON object")
    return cast("dict[str, Any]", read)


def read_cut(text: str, name: str) -> dict[str, Any]:
    """Of an answer that was cut off, the items of a list that are complete. Raises Unusable where there is none."""
    bare = _without_thoughts(text)
    begun = re.search(rf'"{name}"\s*:\s*\[', bare)
    items: list[Any] = []
    decoder = json.JSONDecoder(strict=False)
    at = begun.end() if begun else len(bare)
    while (start := bare.find("{", at)) >= 0:
        try:
            item, at = decoder.raw_decode(bare, start)
        except (json.JSONDecodeError, RecursionError):
            break
        items.append(item)
    if not items:
        raise Unusable("it was cut off before anything was complete; be briefer, with fewer items")
    return {name: items}


def _without_thoughts(text: str) -> str:
    """An opening tag that is never closed begins no thought; what is not there is looked for once."""
    kept: list[str] = []
    unclosed: set[str] = set()
    at = 0
    for begun in _THOUGHTS.finditer(text):
        tag = begun[1]
        if begun.start() < at or tag in unclosed:
            continue
        closing = text.find(f"</{tag}>", begun.end())
        if closing < 0:
            unclosed.add(tag)
            continue
        kept.append(text[at : begun.start()])
        at = closing + len(f"</{tag}>")
    return "".join((*kept, text[at:]))


def clean(text: str) -> str:
    """Without control characters and halves of characters, which no database takes; blanks as single spaces."""
    return " ".join(UNWANTED.sub("", text).split())


def _read(body: str) -> Any:
    try:
        return json.loads(body, strict=False)
    except json.JSONDecodeError:
        return json.loads(_TRAILING.sub(lambda match: match[1] or "", body), strict=False)
