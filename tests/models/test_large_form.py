"""How long the answer of a large model gets: with every list full, each item as models write them, 2,500 tokens at most."""

import json
from datetime import UTC, datetime
from typing import Any

from everlore.grounding.answers import doubts
from everlore.models.language_model.profile import LARGE
from everlore.models.language_model.reading import read_answer
from everlore.models.language_model.schema import ASKED_ENTITIES, ASKED_FACTS, answer_schema
from everlore.models.language_model.window import CHARACTERS_A_TOKEN_AT_LEAST
from everlore.ports.analyst import MAX_MEMORIES, Window, WindowMessage

SAID = (
    "I started at Havforskningsinstituttet in April, as a marine biologist, and Ingrid Halvorsen is lovely."
)
LONG_NAME, INSTITUTE = "Ingrid Halvorsen", "Havforskningsinstituttet"
MEMORY: dict[str, Any] = {
    "sources": [
        {"message": 10, "quote": "I started at Havforskningsinstituttet in April, as a marine biologist"}
    ],
    "reasoning": "a new job, which she means to keep for years",
    "type": "relationship",
    "content": "Nora started to work at Havforskningsinstituttet in Bergen in April 2025 as a marine biologist.",
    "category": "work life",
    "tags": ["work", "biology", "new job"],
    "entities": ["Nora", INSTITUTE, "Bergen"],
    "importance": 0.85,
    "confidence": 0.95,
    "event_at": "2025-04-01",
    "expires_at": None,
    "relation": "updates",
    "known": 12,
}
FACT: dict[str, Any] = {
    "subject": LONG_NAME,
    "predicate": "neighbour_of",
    "object": INSTITUTE,
    "object_is_entity": True,
    "valid_from": "2025-04-01",
    "ended": False,
    "relation": "updates",
    "memory": 6,
}
ENTITY: dict[str, Any] = {
    "name": LONG_NAME,
    "type": "organisation",
    "aliases": ["Ingrid", "Nora's neighbour"],
    "distinct": False,
}


def required(form: str) -> set[str]:
    return set(answer_schema()["$defs"][form]["required"])


def test_a_full_answer_comes_to_no_more_than_it_may() -> None:
    """Measured with the tokenizer of Qwen2.5, such an answer has 2.95 characters a token."""
    bounds = {
        name: one["maxItems"] for name, one in answer_schema()["properties"].items() if "maxItems" in one
    }
    assert bounds == {"memories": MAX_MEMORIES, "facts": ASKED_FACTS, "entities": ASKED_ENTITIES}
    assert (set(MEMORY), set(FACT), set(ENTITY)) == (
        required("MemoryForm"),
        required("FactForm"),
        required("EntityForm"),
    )
    items = {"memories": MEMORY, "facts": FACT, "entities": ENTITY}
    full = {name: [items[name]] * most for name, most in bounds.items()} | {
        "taxonomy": "work.research.biology"
    }
    tokens = len(json.dumps(full)) / CHARACTERS_A_TOKEN_AT_LEAST
    assert tokens <= LARGE.full_answer_tokens == 2500
    assert LARGE.full_answer_tokens < LARGE.max_output_tokens


def test_a_fact_takes_words_and_confidence_from_its_memory() -> None:
    at = datetime(2025, 6, 14, tzinfo=UTC)
    window = Window((WindowMessage(1, "user", "Nora", at, SAID),))
    memory = {**MEMORY, "sources": [{"message": 1, "quote": SAID}], "known": None}
    of_memory, of_its_own = {**FACT, "memory": 1}, {**FACT, "memory": 1, "confidence": 0.4}
    found = read_answer({"memories": [memory], "facts": [of_memory, of_its_own]}, window, doubts)
    assert [(one.confidence, one.sources) for one in found.facts] == [
        (0.95, found.memories[0].sources),
        (0.4, found.memories[0].sources),
    ]
