"""How often the commit of a window asks Postgres: as often for a full window as for a usual one."""

import re
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from tests.conftest import Clock, TestDatabase
from tests.steps.script import Script, opened, says

from everlore.api.workspace import Workspace
from everlore.everlore import Everlore
from everlore.grounding import grounding
from everlore.models.fake import FakeEmbedder
from everlore.ports.analyst import DraftEntity, DraftFact, DraftMemory, Extraction, Governor, Quote, Window

AT_MOST = 25


LETTERS = "ABCDEFGHIJ"


class Full(Script):
    """Three memories, facts and entities in each message. A second window of the same people says some of it again in the same
    words, corrects some, has people move, and knows them by more names."""

    later = False

    async def extract(self, window: Window, governor: Governor) -> Extraction:
        self.windows.append(window)
        memories: list[DraftMemory] = []
        facts: list[DraftFact] = []
        entities: list[DraftEntity] = []
        for message in window.messages:
            if " lives in " not in message.text:
                continue
            name, town, firm, thing = (message.text.split()[place] for place in (0, 3, 7, 10))
            quote = (Quote(message.number, message.text),)
            relation = "corrects" if self.later and message.number % 3 == 0 else "new"
            said = (("lives_in", "lives in", town), ("works_at", "works at", firm), ("likes", "likes", thing))
            for predicate, words, of in said:
                facts.append(DraftFact(name, predicate, of, quote, relation=relation, memory=len(memories)))
                memories.append(DraftMemory("fact", f"{name} {words} {of}", quote, entities=(name,)))
            entities += [
                DraftEntity(name, "person", quote, (f"{name} Keller", "Zoe's sister") if self.later else ()),
                DraftEntity(town, "place", quote),
                DraftEntity(firm, "organisation", quote),
            ]
        return Extraction(tuple(memories), tuple(facts), tuple(entities))


def texts(town: str, thing: str) -> list[str]:
    return [
        f"{letter}nna lives in {town}{letter.lower()} and works at Acme{letter.lower()} and likes {thing}{letter.lower()} ,"
        f" said {letter}nna Keller , Zoe's sister"
        for letter in LETTERS
    ]


@pytest.fixture(params=[True, False], ids=["with vectors", "without"])
async def lore(
    request: pytest.FixtureRequest, database: TestDatabase, clock: Clock, script: Script
) -> AsyncIterator[Everlore]:
    embedders = {"fake": FakeEmbedder()} if request.param else {}
    async with opened(database, clock, script, embedders=dict(embedders)) as lore:
        yield lore


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    for limit in ("MAX_MEMORIES", "MAX_FACTS"):
        monkeypatch.setattr(grounding, limit, 60)
    return Full()


@pytest.fixture
async def workspace(lore: Everlore) -> Workspace:
    return await lore.workspace("alice")


def last_commit(round_trips: list[str]) -> list[str]:
    """From the last transaction that could write to its end, without what the job queue does meanwhile (its transactions are
    called BEGIN, ours begin)."""
    begins = [place for place, sent in enumerate(round_trips) if sent.startswith("begin; ")]
    after = round_trips[begins[-1] :]
    queue = re.compile(r"BEGIN|COMMIT|SELECT procrastinate|LISTEN|\Z")
    return [sent for sent in after[: after.index("commit") + 1] if not queue.match(sent)]


async def test_a_full_window_is_entered_in_few_round_trips(
    lore: Everlore, workspace: Workspace, script: Full, clock: Clock, round_trips: list[str]
) -> None:
    await workspace.record(says(*texts("Port", "tea"), at=clock() - timedelta(days=3)))
    await lore.distil(workspace)
    assert len(last_commit(round_trips)) <= AT_MOST, last_commit(round_trips)
    assert len(await workspace.memories(limit=100)) == 30
    assert len(await workspace.facts(limit=100)) == 30
    script.later = True
    again = [*texts("Port", "tea")[:4], *texts("Lagos", "rice")[4:]]
    await workspace.record(says(*again, at=clock() - timedelta(days=1)))
    round_trips.clear()
    await lore.distil(workspace)
    assert len(last_commit(round_trips)) <= AT_MOST, last_commit(round_trips)
    assert any(memory.valid_to is not None for memory in await workspace.memories(status="all", limit=100))


async def test_a_window_that_is_read_anew_is_entered_in_few_round_trips(
    lore: Everlore, workspace: Workspace, script: Full, clock: Clock, round_trips: list[str]
) -> None:
    await workspace.record(says(*texts("Port", "tea"), at=clock() - timedelta(days=3)))
    await lore.distil(workspace)
    script.later = True
    await workspace.distil_again("main")
    round_trips.clear()
    await lore.distil(workspace)
    assert len(last_commit(round_trips)) <= AT_MOST, last_commit(round_trips)


async def test_an_empty_window_is_entered_in_few_round_trips(
    lore: Everlore, workspace: Workspace, clock: Clock, round_trips: list[str]
) -> None:
    await workspace.record(says("Well, well.", at=clock()))
    await lore.distil(workspace)
    assert len(last_commit(round_trips)) <= 8, last_commit(round_trips)
