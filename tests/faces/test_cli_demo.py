"""demo: what the five moments show, that its numbers agree, and that it is read on a narrow terminal."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from everlore.domain.ids import new_id
from everlore.domain.memories import Fact
from everlore.faces.cli.demo import questions
from everlore.faces.cli.moments import BY_MEANING, NEVER_SAID, changes, in_order

Cli = Callable[..., Any]

WIDTH = 50
MAYA, EMMA = new_id(), new_id()


def on(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def lives(who: UUID, where: str, since: str, until: str | None = None) -> Fact:
    number, ended = new_id(), None if until is None else on(until)
    return Fact(
        fact_id=number,
        lineage_id=number,
        version=1,
        subject_id=who,
        subject="Maya" if who == MAYA else "Emma",
        predicate="lives_in",
        object_id=None,
        object=where,
        confidence=0.8,
        valid_from=on(since),
        valid_to=ended,
        recorded_at=on(since),
        superseded_at=None,
        superseded_by=None,
        review=None,
        review_reason=None,
    )


def test_a_change_is_told_as_a_chain_in_order() -> None:
    facts = [
        lives(MAYA, "Graça", "2025-01-04"),
        lives(MAYA, "Midsommarkransen", "2024-04-03", "2024-10-13"),
        lives(MAYA, "Lisbon", "2024-10-13", "2025-01-04"),
        lives(MAYA, "Porto", "2024-12-01", "2024-12-01"),  # corrected: it never was so
        lives(EMMA, "Umeå", "2025-04-06"),
        lives(EMMA, "Göteborg", "2024-04-20", "2025-02-01"),
    ]
    assert [in_order(chain) for chain in changes(facts)] == [
        "Emma lives in: Göteborg (2024-04-20 to 2025-02-01), Umeå (since 2025-04-06)",
        "Maya lives in: Midsommarkransen (2024-04-03), Lisbon (2024-10-13), Graça (since 2025-01-04)",
    ]
    assert changes([facts[0], facts[4]]) == changes([facts[1], facts[2]]) == []


def test_the_moments_ask_questions_of_the_sample() -> None:
    gold = {one.question: one.gold for one in questions()}
    assert gold[BY_MEANING]
    assert not gold[NEVER_SAID]


def test_what_it_shows_is_so_and_fits_the_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERLORE_EMBEDDER", "minilm")
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    shown = cli("demo").out
    assert [line for line in shown.splitlines() if len(line) > WIDTH] == []
    said = " ".join(shown.split())
    meaning, changed, opened = (
        said[said.index(begin) : said.index(end)]
        for begin, end in (("1. Found", "2. One"), ("3. What", "4. What"), ("4. What", "5. Never"))
    )

    assert meaning.startswith(f'1. Found by meaning: "{BY_MEANING}" Went to the doctor')
    assert "The first one answers the question, in other words." in meaning
    assert f"1 {BY_MEANING}" in said
    places = (
        r"Maya Lindqvist lives in: Midsommarkransen \([-\d]+\), Lisbon \([-\d]+\), Graça \(since [-\d]+\)"
    )
    assert len(re.findall(places, changed)) == changed.count("Maya Lindqvist lives in") == 1
    assert "on 2025-06-14, the sample's last day" in opened
    assert "expired" not in opened
    assert "before 1 December 2024" not in opened

    listed = {
        name: cli(*command, "-w", "demo", "--limit", "1", "--json").json["total"]
        for name, command in {
            "all": ("memories", "--status", "all"),
            "used": ("memories",),
            "held": ("facts", "--history"),
            "hold": ("facts",),
        }.items()
    }
    (kept,) = re.findall(
        r"Read out of (\d+) messages and kept: (\d+) memories \((.*?)\) and (\d+) facts \((\d+) that hold, (\d+) ",
        said,
    )
    messages, memories, states, facts, hold, over = kept
    assert said.startswith(f"{messages} messages in the workspace demo: {messages} stored now")
    assert int(memories) == listed["all"] == sum(map(int, re.findall(r"\d+", states)))
    assert states.startswith(f"{listed['used']} in use, ")
    assert (int(facts), int(hold)) == (listed["held"], listed["hold"])
    assert int(hold) + int(over) == int(facts)
    assert f"The surest facts, of {hold} that hold:" in said
    assert f"The surest memories, of {listed['used']} in use:" in said
