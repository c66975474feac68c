"""Without a language model and without the parser nothing is distilled: everything else goes on, and what waits is read later."""

import logging

import pytest
from tests.conftest import Clock, TestDatabase

from everlore import operating
from everlore.domain.errors import ConfigurationError
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.models.rules import WITHOUT_FACTS, WITHOUT_PARSER
from everlore.work import steps
from everlore.work.jobs import job_app, sweep


@pytest.fixture
def without_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("everlore.wiring.parser_is_installed", lambda: False)


def said(count: int) -> list[NewMessage]:
    return [
        NewMessage(role="user", author="Anna", text=f"My sister Emma lives in Porto, at number {n}.")
        for n in range(count)
    ]


def opened(database: TestDatabase, clock: Clock, **settings: object):
    embedders = {"fake": FakeEmbedder()}
    return Everlore.open(database.settings(**settings), worker=False, clock=clock, embedders=embedders)  # pyright: ignore[reportArgumentType]


async def work(lore: Everlore) -> None:
    """Everything that a worker would do here."""
    async with job_app(lore.workers).open_async() as app:
        await sweep(app, lore.workers)
        queues = steps.queues(steps.wanted(lore.workers))
        await app.run_worker_async(
            queues=queues, wait=False, install_signal_handlers=False, delete_jobs="successful"
        )


async def test_recording_and_recall_go_on_and_what_waits_is_read_once_the_parser_is_there(
    database: TestDatabase, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(database, clock) as lore:
        # With a full window there is a job already.
        await (await lore.workspace("alice")).record(said(11))
        assert (await lore.status()).steps["distil"] == {"todo": 1}
    with monkeypatch.context() as absent:
        absent.setattr("everlore.wiring.parser_is_installed", lambda: False)
        async with opened(database, clock) as lore:
            workspace = await lore.workspace("alice")
            await workspace.record(said(12), thread="later")
            clock.advance(hours=1)
            await work(lore)
            found = await workspace.recall("Where does Emma live?")
            assert "Porto" in found.hits[0].text
            status = await operating.status(lore, workspace="alice")
            assert (status.parked, status.failures, status.undistilled_because) == ((), (), WITHOUT_PARSER)
            assert status.steps["distil"] == {"todo": 1}
            assert status.workspace is not None
            assert (status.workspace.undistilled, status.workspace.memories) == (23, 0)
            with pytest.raises(ConfigurationError, match="parser for English"):
                await lore.distil(workspace)
    async with opened(database, clock) as lore:
        await work(lore)
        status = await operating.status(lore, workspace="alice")
        assert (status.parked, status.failures, status.undistilled_because) == ((), (), None)
        assert status.workspace is not None
        assert status.workspace.undistilled == 0
        workspace = await lore.workspace("alice")
        assert ("Emma", "lives_in", "Porto") in [
            (one.subject, one.predicate, one.object) for one in await workspace.facts(limit=100)
        ]


async def test_what_a_person_tells_is_kept_without_facts(
    database: TestDatabase, clock: Clock, without_parser: None
) -> None:
    async with opened(database, clock) as lore:
        workspace = await lore.workspace("alice")
        memory = await workspace.remember("Emma lives in Porto.")
        assert memory.notice == WITHOUT_PARSER
        assert (
            await workspace.correct(memory.memory_id, content="Emma lives in Faro.")
        ).notice == WITHOUT_PARSER
        assert (await workspace.correct(memory.memory_id, importance=0.9)).notice is None
        assert (await workspace.confirm(memory.memory_id)).notice == WITHOUT_PARSER
        assert [one.content for one in await workspace.memories()] == ["Emma lives in Faro."]
        assert list(await workspace.facts()) == []


@pytest.mark.parametrize("size", ["small", "large"])
async def test_a_model_without_the_parser_lacks_facts_where_the_parser_reads_them(
    database: TestDatabase, clock: Clock, without_parser: None, size: str
) -> None:
    # A large model reads the facts of messages by itself; what is told directly is read by the parser alone.
    lacks = WITHOUT_FACTS if size == "small" else None
    model = {"model": "tiny", "url": "http://127.0.0.1:9/v1"}
    async with opened(database, clock, distil={"analyst": "model", "model": model, "size": size}) as lore:
        workspace = await lore.workspace("alice", create=True)
        assert (await workspace.remember("Emma lives in Porto.")).notice == WITHOUT_FACTS
        assert (await workspace.estimate_distil()).undistilled_because == lacks
        assert (await operating.status(lore, workspace="alice")).undistilled_because == lacks
        assert (WITHOUT_FACTS in (await operating.health(lore)).degraded) == (lacks is not None)
    assert WITHOUT_FACTS.count(". ") == 0
    assert WITHOUT_FACTS.endswith(".")


async def test_all_is_well_with_the_parser(
    database: TestDatabase, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(database, clock) as lore:
        # What is missing was found out when the memory was opened, and is not looked for again.
        monkeypatch.setattr("everlore.wiring.parser_is_installed", lambda: False)
        workspace = await lore.workspace("alice")
        assert (await workspace.remember("Emma lives in Porto.")).notice is None
        assert [one.object for one in await workspace.facts()] == ["Porto"]
        assert (await workspace.estimate_distil()).undistilled_because is None


async def test_health_and_the_workers_log_say_so_in_one_sentence(
    database: TestDatabase, clock: Clock, without_parser: None, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[str] = []
    caplog.set_level(logging.WARNING, "everlore")
    async with Everlore.open(
        database.settings(), clock=clock, embedders={"fake": FakeEmbedder()}, say=heard.append
    ) as lore:
        assert WITHOUT_PARSER in (await operating.health(lore)).degraded
    assert [one.getMessage() for one in caplog.records if one.getMessage() == WITHOUT_PARSER] == [
        WITHOUT_PARSER
    ]
    assert heard.count(WITHOUT_PARSER) == 1
    assert WITHOUT_PARSER.count(". ") == 0
    assert WITHOUT_PARSER.endswith(".")


async def test_who_wants_nothing_distilled_is_not_told_of_it(
    database: TestDatabase, clock: Clock, without_parser: None, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(database, clock, distil={"analyst": "none"}) as lore:
        assert lore.undistilled_because is None
        assert all("distilled" not in one for one in (await operating.health(lore)).degraded)
        workspace = await lore.workspace("alice")
        assert (await workspace.remember("Emma lives in Porto.")).notice is None
        assert (await workspace.estimate_distil()).undistilled_because is None


async def test_other_languages_are_read_and_yield_nothing(database: TestDatabase, clock: Clock) -> None:
    async with opened(database, clock) as lore:
        workspace = await lore.workspace("alice")
        texts = ["Ich wohne jetzt mit meiner Schwester in Lissabon.", "Mi hermana Emma vive ahora en Lisboa."]
        await workspace.record([NewMessage(role="user", author="Anna", text=text) for text in texts])
        await lore.distil(workspace)
        status = await operating.status(lore, workspace="alice")
        assert status.workspace is not None
        assert (status.workspace.undistilled, status.workspace.failed_windows) == (0, 0)
        assert list(await workspace.memories(status="all")) == []
        assert (await workspace.recall("Lissabon")).hits != ()
