"""What a denial of everything ends: all that was said of somebody under one predicate, and nothing that it does not speak of."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from tests.conftest import Clock, TestDatabase

from everlore.api.workspace import Workspace
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder

SPRING = datetime(2025, 3, 1, 10, tzinfo=UTC)


@pytest.fixture
async def lore(database: TestDatabase, clock: Clock, fake: FakeEmbedder) -> AsyncIterator[Everlore]:
    async with Everlore.open(
        database.settings(), worker=False, clock=clock, embedders={"fake": fake}
    ) as opened:
        yield opened


@pytest.fixture
async def workspace(lore: Everlore) -> Workspace:
    return await lore.workspace("alice", create=True)


async def told(
    lore: Everlore,
    workspace: Workspace,
    *texts: str,
    author: str = "Anna",
    thread: str = "main",
    day: int = 0,
) -> None:
    messages = [
        NewMessage(role="user", author=author, text=text, at=SPRING + timedelta(days=day, minutes=number))
        for number, text in enumerate(texts)
    ]
    await workspace.record(messages, thread=thread)
    await lore.distil(workspace)


async def holds(workspace: Workspace, predicate: str, of: str = "Anna") -> list[str]:
    return sorted(fact.object for fact in await workspace.facts(predicate=predicate) if fact.subject == of)


ALLERGIC = "I'm allergic to peanuts and shellfish."
DENIALS = (
    (ALLERGIC, "Actually, correction: I'm not allergic to anything.", "allergic_to"),
    (ALLERGIC, "Sorry, that was wrong: I am not allergic to anything at all.", "allergic_to"),
    (ALLERGIC, "Correction: I have no allergies.", "allergic_to"),
    (ALLERGIC, "Actually, I don't have any allergies at all.", "allergic_to"),
    (ALLERGIC, "Actually I'm allergic to nothing, the test came back negative.", "allergic_to"),
    (ALLERGIC, "Turns out I'm not allergic to any food after all.", "allergic_to"),
    ("I speak French and Dutch.", "Sorry, I don't speak any languages besides my own.", None),
    ("I speak French and Dutch.", "Correction: I don't speak any foreign languages.", "speaks"),
    ("I play the piano.", "Actually, I don't play any instruments.", "plays"),
    ("We have a dog called Rex.", "Correction: we don't have any pets.", "has_pet"),
    ("We have a dog called Rex.", "Actually, no, I have no pets at all.", "has_pet"),
)


@pytest.mark.parametrize("later", [False, True], ids=["in one message", "in a later message"])
@pytest.mark.parametrize(("claim", "denial", "predicate"), [one for one in DENIALS if one[2]])
async def test_a_denial_of_everything_ends_all_of_it(
    lore: Everlore, workspace: Workspace, claim: str, denial: str, predicate: str, later: bool
) -> None:
    if later:
        await told(lore, workspace, claim)
        assert await holds(workspace, predicate)
        await told(lore, workspace, denial, day=3)
    else:
        await told(lore, workspace, f"{claim} {denial}")
    assert await holds(workspace, predicate) == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Correction: I'm not allergic to peanuts.", ["shellfish"]),
        ("Correction: I'm not allergic to peanuts, but to walnuts.", ["shellfish", "walnuts"]),
        ("Wait, no, I'm not allergic to peanuts.", ["shellfish"]),
        ("I'm not allergic to peanuts but shellfish gets me every time.", ["shellfish"]),
        ("I'm really not allergic to peanuts.", ["shellfish"]),
        ("I'm not just allergic to peanuts.", ["peanuts", "shellfish"]),
        ("I wish I wasn't allergic to peanuts.", ["peanuts", "shellfish"]),
        ("If I'm not allergic to peanuts, I can eat there.", ["peanuts", "shellfish"]),
        ("Ben isn't allergic to peanuts.", ["peanuts", "shellfish"]),
    ],
)
async def test_what_is_denied_by_name_ends(
    lore: Everlore, workspace: Workspace, text: str, left: list[str]
) -> None:
    await told(lore, workspace, ALLERGIC)
    await told(lore, workspace, text, day=3)
    assert await holds(workspace, "allergic_to") == left


async def test_it_ends_what_is_heard_of_only_afterwards_too(lore: Everlore, workspace: Workspace) -> None:
    await told(lore, workspace, "Actually, correction: I'm not allergic to anything.", day=9)
    await told(lore, workspace, ALLERGIC, thread="older")
    await told(lore, workspace, "I'm allergic to penicillin.", thread="newer", day=20)
    await lore.distil(workspace)
    assert await holds(workspace, "allergic_to") == ["penicillin"]


@pytest.mark.parametrize(
    "text",
    [
        "I'm not allergic to anything new.",
        "Actually, I'm not allergic to anything else.",
        "I'm not anything like my sister.",
        "Do you think I'm not allergic to anything?",
        "Am I not allergic to anything else?",
        "Actually, Ben told me: I'm not allergic to anything.",
        "Ben isn't allergic to anything.",
        "If I'm not allergic to anything, I can eat there.",
        "I wish I was not allergic to anything.",
        "Correction: I don't have any allergies apart from those.",
        "I don't have any pets with me today.",
        "Actually, I'm not allergic to anything but peanuts and shellfish.",
    ],
)
async def test_what_denies_less_or_of_somebody_else_ends_nothing(
    lore: Everlore, workspace: Workspace, text: str
) -> None:
    await told(lore, workspace, ALLERGIC, "We have a dog called Rex.")
    await told(lore, workspace, text, day=3)
    assert await holds(workspace, "allergic_to") == ["peanuts", "shellfish"]
    assert await holds(workspace, "has_pet") == ["Rex"]


async def test_what_somebody_says_of_himself_ends_nothing_of_others(
    lore: Everlore, workspace: Workspace
) -> None:
    await told(lore, workspace, ALLERGIC)
    await told(lore, workspace, "I'm allergic to dust.", author="Ben", day=1)
    await told(lore, workspace, "Actually, I'm not allergic to anything.", author="Ben", day=3)
    assert await holds(workspace, "allergic_to") == ["peanuts", "shellfish"]
    assert await holds(workspace, "allergic_to", "Ben") == []


@pytest.mark.parametrize(
    "text",
    [
        "Actually, correction: I'm not allergic to anything.",
        "actually I mixed that up, I'm allergic to dust, not peanuts",
    ],
)
async def test_what_a_person_confirmed_is_not_denied_by_an_analyst(
    lore: Everlore, workspace: Workspace, text: str
) -> None:
    await told(lore, workspace, "I'm allergic to peanuts.")
    (fact,) = await workspace.facts(predicate="allergic_to")
    await workspace.confirm_fact(fact.fact_id)
    await told(lore, workspace, text, day=3)
    assert "peanuts" in await holds(workspace, "allergic_to")
    assert [item.reason for item in await workspace.review()] == [
        "it would end or reword what a person confirmed"
    ]
