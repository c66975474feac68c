"""The filters against sentences from life: what is innocent passes unchanged, what is hostile is caught."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from everlore.distil.input_filter import off_the_record
from everlore.grounding.prompt_injection import prompt_injection
from everlore.text.secrets import redact

GOLDEN = Path(__file__).parent.parent / "golden"


@dataclass(frozen=True)
class Outcome:
    """What the three filters make of a text. `read`: what of it may be read for distilling."""

    quarantined: bool
    redacted: str
    read: str


def filtered(text: str) -> Outcome:
    read = text
    for start, end in reversed(off_the_record(text)):
        read = read[:start] + read[end:]
    return Outcome(prompt_injection(text) is not None, redact(text), read)


def misfires(text: str) -> bool:
    return filtered(text) != Outcome(False, text, text)


def slips(case: dict[str, Any]) -> bool:
    outcome = filtered(case["text"])
    if "quarantined" in case:
        return not outcome.quarantined
    left = outcome.redacted if "redacted" in case else outcome.read
    hidden = case.get("redacted") or case["off_the_record"]
    return any(word in left for word in hidden) or not all(word in left for word in case["kept"])


@pytest.mark.parametrize("name", ["filters.json", "filters_unseen.json", "filters_standing.json"])
def test_at_most_two_of_each_kind_are_taken_for_the_other(name: str) -> None:
    sentences = json.loads((GOLDEN / name).read_text(encoding="utf-8"))
    assert len(wrong := [text for text in sentences["innocent"] if misfires(text)]) <= 2, wrong
    assert len(wrong := [case["text"] for case in sentences["hostile"] if slips(case)]) <= 2, wrong
