"""What two readers said of memories and facts that the analyst without a model kept, and how far they agree.

A label file holds items of {source, ref, memory | fact, labels: [one, other]}. `source` is a benchmark's conversation and
session, a thread of the bundled sample or one of `chats/`; `ref` the message. Text of the benchmark is not repeated here: its
items hold a digest (the first 12 hexadecimal digits of SHA-256 over the memory, or over the fact's parts joined by " | ").
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
GOOD = {"memories": "good", "facts": "right"}


@dataclass(frozen=True, slots=True)
class Labelled:
    """Shares of one file, for memories or facts. `good`: of each reader; `wrong`: of both together."""

    count: int
    good: tuple[float, float]
    wrong: float
    agreement: float


def items(name: str, kind: str) -> list[dict[str, Any]]:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))[kind]


def shares(name: str, kind: str) -> Labelled:
    found = [item["labels"] for item in items(name, kind)]
    one, other = ([labels[reader] for labels in found] for reader in (0, 1))
    good = GOOD[kind]
    return Labelled(
        len(found),
        (one.count(good) / len(one), other.count(good) / len(other)),
        (one.count("wrong") + other.count("wrong")) / 2 / len(found),
        sum((a == good) == (b == good) for a, b in found) / len(found),
    )
