"""Recall: what may be asked for, how hits are ordered and shown, and what is said about what was never said."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import Clock, TestDatabase

from everlore.api.workspace import Workspace
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.memories import AsOf
from everlore.domain.messages import NewMessage
from everlore.domain.recall import Citation
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder

NOW = datetime(2025, 6, 14, 12, tzinfo=UTC)


@pytest.fixture
async def workspace(lore: Everlore) -> Workspace:
    return await lore.workspace("alice", create=True)


def said(
    text: str, days_ago: float = 0, role: Any = "user", author: str | None = None, **fields: Any
) -> NewMessage:
    return NewMessage(role=role, author=author, text=text, at=NOW - timedelta(days=days_ago), **fields)


async def texts(workspace: Workspace, question: str, **options: Any) -> list[str]:
    return [hit.text for hit in (await workspace.recall(question, **options)).hits]


# ---- what may be asked for


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"query": ""}, "query"),
    ({"query": " \n"}, "query"),
    ({"query": "x" * 8001}, "query"),
    ({"query": "a\0"}, "query"),
    ({"query": "a\ud800"}, "query"),
    ({"query": 5}, "query"),
    ({"limit": 0}, "limit"),
    ({"limit": 1001}, "limit"),
    ({"limit": "ten"}, "limit"),
    ({"limit": 1.5}, "limit"),
    ({"neighbours": -1}, "neighbours"),
    ({"neighbours": 21}, "neighbours"),
    ({"deadline_ms": 0}, "deadline_ms"),
    ({"deadline_ms": float("nan")}, "deadline_ms"),
    ({"deadline_ms": "soon"}, "deadline_ms"),
    ({"now": datetime(2025, 1, 1)}, "now"),  # noqa: DTZ001
    ({"since": datetime(2025, 1, 1)}, "since"),  # noqa: DTZ001
    ({"until": "tomorrow"}, "until"),
    ({"author": " "}, "author"),
    ({"project": "a\0"}, "project"),
    ({"taxonomy": "a b"}, "taxonomy"),
    ({"kinds": ["thought"]}, "kinds[0]"),
    ({"as_of": AsOf(valid_at=datetime(2025, 1, 1))}, "as_of.valid_at"),  # noqa: DTZ001
    ({"limit_memories": -1}, "limit_memories"),
    ({"limit_facts": 1001}, "limit_facts"),
    ({"kinds": "message"}, "kinds"),
    ({"thread": ""}, "thread"),
]


async def test_a_bad_option_is_refused_by_its_name(workspace: Workspace) -> None:
    for options, field in REFUSED:
        asked: dict[str, Any] = {"query": "boat", **options}
        with pytest.raises(InvalidInput) as raised:
            await workspace.recall(**asked)
        assert raised.value.field == field


async def test_an_unknown_thread_is_not_found_and_an_unknown_project_holds_nothing(
    workspace: Workspace,
) -> None:
    await workspace.record([said("the boat")])
    with pytest.raises(NotFound, match="nowhere"):
        await workspace.recall("boat", thread="nowhere")
    assert await texts(workspace, "boat", project="nowhere") == []
    assert await texts(workspace, "boat", author="Nobody") == []
    assert await texts(workspace, "boat", kinds=[]) == []
    with pytest.raises(InvalidInput, match="until"):
        await texts(workspace, "boat", since=NOW, until=NOW)
    assert await texts(workspace, "boat", kinds=["message"]) == ["the boat"]


async def test_an_empty_workspace_answers_with_nothing(workspace: Workspace) -> None:
    found = await workspace.recall("Where is the boat?", neighbours=2, trace=True)
    assert (found.hits, found.degraded) == ((), ())


moments = st.datetimes(timezones=st.just(UTC)) | st.just(NOW)


ODD = ["the", "?", "\u200b", "' or 1=1 --", "%s %(x)s {}", "\\", "x" * 8000, "船" * 3000]


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    query=st.sampled_from(ODD)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200).filter(str.strip),
    options=st.fixed_dictionaries(
        {},
        optional={
            "limit": st.integers(1, 1000),
            "now": moments,
            "since": moments,
            "until": moments,
            "author": st.sampled_from(["Maya", "x%"]),
            "taxonomy": st.sampled_from(["life", "life.house", "none"]),
            "project": st.sampled_from(["home", "none"]),
            "thread": st.just("main"),
            "kinds": st.sampled_from([["message"], []]),
            "neighbours": st.integers(0, 20),
            "deadline_ms": st.sampled_from([0.001, 1.0, 5.0, 60_000.0]),
            "trace": st.booleans(),
        },
    ),
)  # fmt: skip
async def test_any_question_with_any_options_is_answered(
    lore: Everlore, query: str, options: dict[str, Any]
) -> None:
    workspace = await lore.workspace("alice", create=True)
    if not await workspace.threads():
        messages = [said(f"the boat {n} \\ %s", n, author="Maya", external_id=str(n)) for n in range(12)]
        await workspace.record(messages, project="home", taxonomy="life.house")
        await lore.catch_up()
    if "since" in options and options["since"] >= options.get("until", options["since"] + timedelta(1)):
        options.pop("until", None)
    found = await workspace.recall(query, **options)
    assert len(found.hits) <= options.get("limit", 10)
    assert len({hit.citation.message_id for hit in found.hits}) == len(found.hits)
    assert all(0 <= hit.confidence <= 1 for hit in found.hits)


# ---- what a hit shows


async def test_a_hit_cites_its_message(lore: Everlore, workspace: Workspace) -> None:
    receipt = await workspace.record(
        [said("Look at the **boat**!", 3, author="Maya", captions=["a red boat"])], thread="sailing"
    )
    (hit,) = (await workspace.recall("red boat")).hits
    assert hit.text == "Look at the **boat**!"
    assert hit.captions == ("a red boat",)
    assert hit.citation.message_id == receipt.outcomes[0].message_id
    assert (hit.citation.thread, hit.citation.author, hit.citation.role) == ("sailing", "Maya", "user")
    assert hit.citation.at == NOW - timedelta(days=3)


async def test_the_limit_and_the_order_of_scores(lore: Everlore, workspace: Workspace) -> None:
    await workspace.record([said(f"the boat number {n}", author="Maya") for n in range(30)])
    await lore.catch_up()
    for limit in (1, 7, 30, 1000):
        hits = (await workspace.recall("boat", limit=limit)).hits
        assert len(hits) == min(limit, 30)
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)


async def test_a_long_message_is_one_hit(lore: Everlore, workspace: Workspace) -> None:
    long = "The boat lies in the harbour and waits. " * 150
    await workspace.record([said(long), said("The boat is red.")])
    await lore.catch_up()
    assert sorted(await texts(workspace, "boat in the harbour")) == sorted([long, "The boat is red."])


async def test_neighbours_come_along_but_not_across_a_session(lore: Everlore, workspace: Workspace) -> None:
    await workspace.record([said("yesterday", 1)])
    await workspace.record([said(text) for text in ("one", "two", "zeppelin", "four", "five")])
    (hit, *_) = (await workspace.recall("zeppelin", neighbours=2)).hits
    assert [(n.offset, n.text) for n in hit.neighbours] == [
        (-2, "one"),
        (-1, "two"),
        (1, "four"),
        (2, "five"),
    ]
    (hit, *_) = (await workspace.recall("one", neighbours=3, limit=1)).hits
    assert [(n.offset, n.text) for n in hit.neighbours] == [(1, "two"), (2, "zeppelin"), (3, "four")]
    assert (await workspace.recall("zeppelin")).hits[0].neighbours == ()


async def test_a_trace_names_every_lane(lore: Everlore, workspace: Workspace) -> None:
    await workspace.record([said("the boat", 14), said("the cliff")])
    await lore.catch_up()
    (hit, *_) = (await workspace.recall("the boat two weeks ago", trace=True)).hits
    assert set(hit.trace) == {"lexical", "vector", "time", "rerank"}
    assert all(lane.rank == 1 and lane.score is not None for lane in hit.trace.values())
    assert (await workspace.recall("the boat")).hits[0].trace == {}


# ---- order


async def test_a_time_in_the_question_is_relative_to_now(
    lore: Everlore, workspace: Workspace, clock: Clock
) -> None:
    await workspace.record(
        [said(f"We painted the boat, day {day}", day, author="Maya") for day in range(60, -1, -1)]
    )
    await lore.catch_up()
    assert (await texts(workspace, "When did Maya paint the boat two weeks ago?", limit=1))[0].endswith(
        ("day 14", "day 13", "day 15")
    )
    clock.advance(days=30)
    moved = (
        await texts(workspace, "What did Maya paint two weeks ago?", now=NOW + timedelta(days=7), limit=1)
    )[0]
    assert moved.endswith(("day 7", "day 6", "day 8"))


async def test_the_time_lane_finds_what_no_word_names(lore: Everlore, workspace: Workspace) -> None:
    await workspace.record([said(f"chatter {n}", 300 + n) for n in range(80)] + [said("zeppelin", 14)])
    found = await texts(workspace, "two weeks ago")
    assert found[0] == "zeppelin"


async def test_a_first_person_question_prefers_the_person_s_own_words(
    lore: Everlore, workspace: Workspace
) -> None:
    for thread, role in (("a", "assistant"), ("b", "user")):
        await workspace.record([said("The boat is red and fast.", role=role)], thread=thread)
    await lore.catch_up()

    async def first(question: str) -> str:
        return (await workspace.recall(question)).hits[0].citation.role

    assert await first("What did I say about the boat?") == "user"
    assert await first("What did you say about the boat?") == "assistant"


async def test_of_two_statements_about_the_present_the_later_goes_first(
    lore: Everlore, workspace: Workspace
) -> None:
    await workspace.record([said("Emma lives in Lisbon in a flat", 300)], thread="a")
    await workspace.record([said("Emma lives in Porto in a flat near the river now", 3)], thread="b")
    await workspace.record([said("The boiler is broken", 1)], thread="c")
    await lore.catch_up()
    question = "Emma lives in which flat in Lisbon"
    assert (await texts(workspace, question))[0].startswith("Emma lives in Lisbon")
    assert (await texts(workspace, f"{question} currently"))[0].startswith("Emma lives in Porto")


async def test_the_author_that_a_question_names_goes_first(lore: Everlore, workspace: Workspace) -> None:
    for thread, author in (("a", "Emma"), ("b", "Ali")):
        await workspace.record([said("My boat is red.", author=author)], thread=thread)
    await lore.catch_up()
    hits = (await workspace.recall("Which boat does Ali have?")).hits
    assert [hit.citation.author for hit in hits] == ["Ali", "Emma"]
    assert [hit.support.speaker for hit in hits] == ["asked about", "another"]


async def test_what_was_never_said_has_little_support(lore: Everlore, workspace: Workspace) -> None:
    await workspace.record([said(f"The boat number {n} is red.", author="Maya") for n in range(20)])
    await workspace.record([said("Emma moved to Lisbon in spring.", author="Maya")])
    await lore.catch_up()
    answered = (await workspace.recall("When did Emma move to Lisbon?")).hits[0]
    never = (await workspace.recall("Which submarine did Boris buy in Vladivostok?")).hits
    assert answered.confidence > 0.5
    assert {"Emma", "Lisbon"} <= {word.capitalize() for word in answered.support.covered}
    assert all(hit.confidence < 0.3 for hit in never)
    assert all("submarine" in hit.support.missing for hit in never)


# ---- filters in a large workspace


async def test_filters_hold_in_a_workspace_with_a_vector_index(
    database: TestDatabase, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("everlore.recall.lanes.NARROW", 20)  # so that a filter is wide
    configured = database.settings(recall={"exact_below": 10})
    async with Everlore.open(configured, worker=False, clock=clock, embedders={"a": FakeEmbedder()}) as lore:
        workspace = await lore.workspace("alice", create=True)
        for thread, taxonomy in (("a", "life.boats"), ("b", "work")):
            messages = [
                said(f"the boat {thread} {n}", n, author=("Maya", "Ali")[n % 2], external_id=f"{n}")
                for n in range(100)
            ]
            await workspace.record(messages, thread=thread, taxonomy=taxonomy, project=f"project {thread}")
        await lore.catch_up()
        month = NOW - timedelta(days=30)
        limits: list[tuple[dict[str, Any], Callable[[Citation], bool]]] = [
            ({}, lambda _: True),
            ({"author": "maya"}, lambda citation: citation.author == "Maya"),
            ({"thread": "a"}, lambda citation: citation.thread == "a"),
            ({"project": "project b"}, lambda citation: citation.thread == "b"),
            ({"taxonomy": "life"}, lambda citation: citation.thread == "a"),
            ({"since": month}, lambda citation: citation.at >= month),
            ({"until": month}, lambda citation: citation.at < month),
        ]
        for options, inside in limits:
            found = await workspace.recall("boat", limit=30, **options)
            assert found.degraded == ()
            assert len(found.hits) == 30
            assert all(inside(hit.citation) for hit in found.hits)
        assert await texts(workspace, "boat", thread="a", project="project b") == []
