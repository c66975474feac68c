"""The graph: neighbourhoods, paths, spreading activation, both questions of time; and the taxonomy."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Clock, TestDatabase
from tests.steps.world import World

from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.graph import Edge
from everlore.domain.memories import AsOf
from everlore.everlore import Everlore
from everlore.store import distilling, graph
from everlore.store.graph import FAN_OUT, When, spread
from everlore.store.taxonomy import nodes


@pytest.fixture
async def world(lore: Everlore, database: TestDatabase, clock: Clock) -> World:
    workspace = await lore.workspace("test", create=True)
    return World(lore, database, clock, workspace.workspace_id, "test")


async def chain(world: World, count: int) -> list[UUID]:
    """Entities in a row, each a friend of the next."""
    made = [await world.entity(f"Node {place}x") for place in range(count)]
    for one, other in pairwise(made):
        world.fact(one, "friend_of", other)
    return made


async def names_around(world: World, start: UUID, depth: int, as_of: AsOf | None = None) -> dict[str, int]:
    shown = await world.graph.show(start, depth=depth, as_of=as_of or AsOf())
    return {node.name: node.distance for node in shown.nodes}


# Neighbourhoods


async def test_a_neighbourhood_reaches_as_deep_as_it_is_asked(world: World) -> None:
    row = await chain(world, 5)
    assert await names_around(world, row[1], 1) == {"Node 1x": 0, "Node 0x": 1, "Node 2x": 1}
    assert len(await names_around(world, row[0], 3)) == 4
    with pytest.raises(InvalidInput, match="depth"):
        await world.graph.show(row[0], depth=4)


async def test_cycles_and_loops_end(world: World) -> None:
    row = await chain(world, 3)
    world.fact(row[2], "friend_of", row[0])
    world.fact(row[0], "friend_of", row[0])
    shown = await world.graph.show(row[0], depth=3)
    assert {node.name: node.distance for node in shown.nodes} == {"Node 0x": 0, "Node 1x": 1, "Node 2x": 1}
    assert len(shown.edges) == 3
    assert not shown.cut


async def test_each_edge_keeps_every_source(world: World) -> None:
    one, other = await world.entity("Emma"), await world.entity("Tom")
    first, second = await world.messages("Emma met Tom", "I say: Emma knows Tom")
    world.fact(one, "friend_of", other, messages=[(first, 0, 12), (second, 7, 21)])
    (edge,) = (await world.graph.show(one)).edges
    assert [(s.message_id, s.quote, s.author, s.role, s.thread) for s in edge.sources] == [
        (first, "Emma met Tom", "user", "user", "main"),
        (second, "Emma knows Tom", "user", "user", "main"),
    ]
    assert all(source.at is not None for source in edge.sources)


async def test_two_facts_of_two_people_are_two_edges(world: World) -> None:
    one, other = await world.entity("Emma"), await world.entity("Tom")
    world.fact(one, "friend_of", other)
    world.fact(other, "married_to", one)
    world.memory("Emma and Tom.", [one, other])
    shown = await world.graph.show(one)
    assert {(edge.predicate, edge.kind) for edge in shown.edges} == {
        ("friend_of", "fact"),
        ("married_to", "fact"),
    }


async def test_memories_join_who_they_mention_weakly(world: World) -> None:
    one, other, third = [await world.entity(name) for name in ("Emma", "Tom", "Bo")]
    (message,) = await world.messages("Emma and Tom cooked")
    memory = world.memory("Emma and Tom cooked.", [one, other], messages=[(message, 0, 12)])
    again = world.memory("Emma and Tom ate.", [one, other])
    world.memory("Emma and Bo, rejected.", [one, third], review="rejected")
    world.memory("Emma and Bo, forgotten.", [one, third], forgotten_at=world.clock())
    (edge,) = (await world.graph.show(one)).edges
    assert (edge.predicate, edge.kind) == ("mentioned with", "mentioned with")
    assert {edge.subject_id, edge.object_id} == {one, other}
    assert set(edge.lineages) == {memory, again}
    assert [source.quote for source in edge.sources] == ["Emma and Tom"]
    assert edge.weight == pytest.approx(0.4)


async def test_what_waits_for_review_is_no_edge(world: World) -> None:
    one, other = await world.entity("Emma"), await world.entity("Tom")
    world.fact(one, "friend_of", other, review="suggested")
    assert (await world.graph.show(one)).edges == ()


MARCH, MAY = datetime(2025, 3, 1, tzinfo=UTC), datetime(2025, 5, 1, tzinfo=UTC)


async def test_both_questions_of_time(world: World) -> None:
    """She lived in Porto until May, which we learned in June; until then we believed that she still did."""
    emma, porto, oslo = [await world.entity(name) for name in ("Emma", "Porto", "Oslo")]
    june = datetime(2025, 6, 1, tzinfo=UTC)
    january = datetime(2025, 1, 1, tzinfo=UTC)
    world.fact(emma, "lives_in", porto, since=january, recorded_at=january, superseded_at=june)
    world.fact(emma, "lives_in", porto, since=january, until=MAY, recorded_at=june)
    world.fact(emma, "lives_in", oslo, since=MAY, recorded_at=june)

    async def home(as_of: AsOf) -> set[str]:
        return set(await names_around(world, emma, 1, as_of)) - {"Emma"}

    assert await home(AsOf()) == {"Oslo"}
    assert await home(AsOf(valid_at=MARCH)) == {"Porto"}
    assert await home(AsOf(recorded_at=MARCH)) == {"Porto"}
    assert await home(AsOf(valid_at=MAY, recorded_at=MARCH)) == {"Porto"}
    assert await home(AsOf(valid_at=MAY)) == {"Oslo"}
    assert await home(AsOf(recorded_at=january - timedelta(days=1))) == set()
    detail = await world.graph.entity(emma, as_of=AsOf(valid_at=MARCH))
    assert [fact.object for fact in detail.facts] == ["Porto"]
    assert await world.graph.path(emma, oslo, as_of=AsOf(valid_at=MARCH)) is None
    with pytest.raises(InvalidInput, match="valid_at"):
        await world.graph.show(emma, as_of=AsOf(valid_at=datetime(2025, 3, 1)))  # noqa: DTZ001


async def test_a_hub_is_cut_to_its_surest_of_the_latest(world: World) -> None:
    hub, best = await world.entity("user"), await world.entity("Best")
    for place in range(120):
        other = await world.entity(f"Other {place}x")
        world.fact(hub, "knows", other, confidence=0.5, since=world.clock() - timedelta(days=200 - place))
        if place % 4 == 0:
            world.memory(f"memory {place}", [hub, other])
    world.fact(hub, "knows", best, confidence=0.9)
    shown = await world.graph.show(hub, limit=500)
    assert len(shown.nodes) <= 2 * FAN_OUT + 1
    assert shown.nodes[1].name == "Best"
    small = await world.graph.show(hub, limit=10)
    assert len(small.nodes) == 10
    assert small.cut
    assert all(
        {edge.subject_id, edge.object_id} <= {n.entity_id for n in small.nodes} for edge in small.edges
    )
    async with world.lore.runtime.database.workspace(world.workspace_id, read_only=True) as connection:
        active = await graph.activate(connection, {best: 1.0}, now=world.clock(), at_most=500)
    assert len(active) <= 2 * FAN_OUT + 2


# Paths


async def test_the_shortest_path_is_found_from_both_ends(world: World) -> None:
    row = await chain(world, 7)
    found = await world.graph.path(row[0], row[6])
    assert found is not None
    assert [node.name for node in found.nodes] == [f"Node {place}x" for place in range(7)]
    assert [len(hop) for hop in found.hops] == [1] * 6
    world.fact(row[5], "works_on", row[1])
    found = await world.graph.path(row[0], row[6])
    assert found is not None
    assert [node.name for node in found.nodes] == ["Node 0x", "Node 1x", "Node 5x", "Node 6x"]
    assert [edge.predicate for hop in found.hops for edge in hop] == ["friend_of", "works_on", "friend_of"]


async def test_a_path_that_is_too_long_or_missing_is_none(world: World) -> None:
    row = await chain(world, 8)
    alone = await world.entity("Alone")
    assert await world.graph.path(row[0], row[7]) is None
    assert await world.graph.path(row[0], alone) is None
    assert await world.graph.path(alone, row[0]) is None
    same = await world.graph.path(alone, alone)
    assert same is not None
    assert len(same.nodes) == 1
    with pytest.raises(NotFound):
        await world.graph.path("Alone", "Nobody")


async def test_each_hop_has_its_evidence(world: World) -> None:
    one, two, three = [await world.entity(name) for name in ("Emma", "Tom", "Bo")]
    (message,) = await world.messages("Emma met Tom, and Tom met Bo")
    world.fact(one, "friend_of", two, messages=[(message, 0, 12)])
    world.memory("Tom met Bo.", [two, three], messages=[(message, 18, 28)])
    found = await world.graph.path(one, three)
    assert found is not None
    assert [[source.quote for edge in hop for source in edge.sources] for hop in found.hops] == [
        ["Emma met Tom"],
        ["Tom met Bo"],
    ]


@given(
    st.sets(
        st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] < pair[1]), max_size=12
    ),
    st.integers(0, 7),
    st.integers(0, 7),
)
async def test_a_meeting_is_on_a_shortest_path(pairs: set[tuple[int, int]], one: int, other: int) -> None:
    """The search from both ends, on random graphs, against one from one end."""
    found = await _found(pairs, one, other)
    distances = {one: 0}
    for _ in range(8):
        for a, b in pairs:
            for near, far in ((a, b), (b, a)):
                if near in distances:
                    distances[far] = min(distances.get(far, 99), distances[near] + 1)
    expected = distances.get(other, 99)
    assert (None if expected > 6 else expected) == (None if found is None else len(found) - 1)


@given(
    st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] < pair[1])),
    st.integers(0, 7),
    st.integers(0, 7),
)
async def test_what_is_read_in_part_gives_real_ways(
    pairs: set[tuple[int, int]], one: int, other: int
) -> None:
    way = await _found(pairs, one, other, most=2)
    hops = [] if way is None else [tuple(sorted((a.int, b.int))) for a, b in pairwise(way)]
    assert set(hops) <= pairs
    if tuple(sorted((one, other))) in pairs:
        assert len(hops) == 1


async def _found(pairs: set[tuple[int, int]], one: int, other: int, most: int = 99) -> list[UUID] | None:
    async def edges_around(_: object, ids: list[UUID], __: object) -> graph.Around:
        found = {at: [edge(a, b) for a, b in sorted(pairs) if at in (UUID(int=a), UUID(int=b))] for at in ids}
        # Whoever has more edges is read in part; the facts between two are found all the same.
        crowded = frozenset(at for at in ids if len(found[at]) > most)
        return graph.Around({at: edges[:most] for at, edges in found.items()}, crowded)

    async def facts_between(_: object, ones: list[UUID], others: list[UUID], __: object) -> list[Edge]:
        ends = [(UUID(int=a), UUID(int=b), edge(a, b)) for a, b in sorted(pairs)]
        return [e for a, b, e in ends if (a in ones and b in others) or (b in ones and a in others)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph, "edges_around", edges_around)
        patch.setattr(graph, "facts_between", facts_between)
        when = When(datetime(2025, 1, 1, tzinfo=UTC))
        answer = await graph.shortest_path(None, UUID(int=one), UUID(int=other), when)  # type: ignore[arg-type]
    return None if answer is None else answer[0]


async def test_a_fact_between_two_hubs_is_a_connection(world: World) -> None:
    one, two, aaa, bbb = [await world.entity(name) for name in ("Hubone", "Hubtwo", "Aaa", "Bbb")]
    old = world.clock() - timedelta(days=300)
    direct = world.fact(one, "friend_of", two, since=old)
    world.fact(aaa, "friend_of", one, since=old)
    world.fact(two, "friend_of", bbb, since=old)
    for place in range(60):
        for hub in (one, two):
            friend = await world.entity(f"Friend {place} of {hub}")
            world.fact(hub, "friend_of", friend)
            world.fact(hub, "knows", friend)
    shown = await world.graph.show(one, limit=500)
    assert len(shown.nodes) <= FAN_OUT + 1
    assert shown.cut
    for first, last, names in (
        (one, two, ["Hubone", "Hubtwo"]),
        (two, one, ["Hubtwo", "Hubone"]),
        (aaa, bbb, ["Aaa", "Hubone", "Hubtwo", "Bbb"]),
        (bbb, aaa, ["Bbb", "Hubtwo", "Hubone", "Aaa"]),
        (aaa, two, ["Aaa", "Hubone", "Hubtwo"]),
    ):
        found = await world.graph.path(first, last)
        assert found is not None
        assert [node.name for node in found.nodes] == names
        assert {lineage for hop in found.hops for edge in hop for lineage in edge.lineages} >= {direct}
    assert await world.graph.path(one, two, as_of=AsOf(valid_at=old - timedelta(days=1))) is None


async def test_more_memories_than_are_followed_are_told(world: World) -> None:
    hub, other = await world.entity("Hub"), await world.entity("Other")
    for place in range(FAN_OUT):
        world.memory(f"memory {place}", [hub, other])
    assert not (await world.graph.show(hub)).cut
    world.memory("one more", [hub, other])
    assert (await world.graph.show(hub)).cut


# Activation


def edge(one: int, other: int, weight: float = 1.0) -> Edge:
    at = datetime(2025, 1, 1, tzinfo=UTC)
    lineage = UUID(int=100 * one + other + 1000)
    return Edge(UUID(int=one), "x", UUID(int=other), "fact", weight, at, None, (lineage,))


def test_the_strongest_way_counts() -> None:
    a, b, c = (UUID(int=n) for n in (1, 2, 3))
    around = {a: [edge(1, 2, 0.9), edge(1, 2, 0.4), edge(3, 1, 0.1)]}
    assert spread({a: 1.0}, around, decay=0.5, minimum=0.01) == {b: 0.45, c: 0.05}
    assert spread({a: 1.0, b: 0.5}, around, decay=0.5, minimum=0.1) == {}


async def test_activation_decays_by_distance_and_stops(world: World) -> None:
    alice, bob, carl, dora = [await world.entity(name) for name in ("Alice", "Bob", "Carl", "Dora")]
    world.fact(alice, "friend_of", bob, confidence=0.8)
    world.fact(bob, "friend_of", carl, confidence=1.0)
    world.fact(carl, "friend_of", dora)
    world.fact(alice, "colleague_of", carl, confidence=0.1)
    async with world.lore.runtime.database.workspace(world.workspace_id, read_only=True) as connection:
        active = await graph.activate(connection, {alice: 1.0}, now=world.clock())
        assert list(active) == [alice, bob, carl, dora][: len(active)]
        assert active == pytest.approx({alice: 1.0, bob: 0.4, carl: 0.2, dora: 0.02})
        near = await graph.activate(connection, {alice: 1.0}, now=world.clock(), depth=1)
        assert near == pytest.approx({alice: 1.0, bob: 0.4, carl: 0.05})
        assert await graph.activate(
            connection, {alice: 1.0}, now=world.clock(), minimum=0.3
        ) == pytest.approx({alice: 1.0, bob: 0.4})
        assert len(await graph.activate(connection, {alice: 1.0}, now=world.clock(), at_most=2)) == 2
        assert await graph.activate(connection, {}, now=world.clock()) == {}


async def test_memories_of_the_activated_come_best_first(world: World) -> None:
    alice, bob = await world.entity("Alice"), await world.entity("Bob")
    world.fact(alice, "friend_of", bob)
    now = world.clock()
    old = now - timedelta(days=900)
    dull = world.memory("dull", [bob], importance=0.2, since=old)
    fresh = world.memory("fresh", [bob], importance=0.2)
    great = world.memory("great", [bob], importance=0.9)
    mine = world.memory("mine", [alice], importance=0.3)
    both = world.memory("both", [alice, bob], importance=0.9)
    expired = world.memory("expired", [bob], expires_at=now - timedelta(days=1))
    for review in ("suggested", "rejected", "quarantined"):
        world.memory("no", [bob], review=review)
    world.memory("no", [bob], forgotten_at=now)
    async with world.lore.runtime.database.workspace(world.workspace_id, read_only=True) as connection:
        active = await graph.activate(connection, {alice: 1.0}, now=now)
        found = await graph.memories_of(connection, active, 10, now=now)
        assert list(found) == [both, mine, great, fresh, dull]
        assert list(await graph.memories_of(connection, active, 2, now=now)) == [both, mine]
        assert all(0 <= score <= 1 for score in found.values())
        everything = await graph.memories_of(connection, active, 10, now=now, include_expired=True)
        assert expired in everything
        past = AsOf(valid_at=old + timedelta(days=1))
        assert list(await graph.memories_of(connection, active, 10, now=now, as_of=past)) == [dull]


# The taxonomy


def test_the_tree_counts_what_is_below() -> None:
    tree = nodes({"work": "Work", "life": "Life"}, {"work.studio": 2, "work.studio.billing": 1})
    assert [(node.path, node.label, node.threads, node.below) for node in tree] == [
        ("life", "Life", 0, 0),
        ("work", "Work", 0, 3),
        ("work.studio", None, 2, 3),
        ("work.studio.billing", None, 1, 1),
    ]


async def test_paths_are_suggested_labelled_and_accepted(world: World) -> None:
    await world.messages("hello", thread="one")
    await world.messages("hello", thread="two")
    threads = dict(world.rows("select name, thread_id from everlore.thread"))
    async with world.lore.runtime.database.workspace(world.workspace_id) as connection:
        await distilling.suggest_taxonomy(connection, threads["one"], "work.studio", world.clock())
        await distilling.suggest_taxonomy(connection, threads["two"], "life", world.clock())
        await distilling.suggest_taxonomy(connection, threads["two"], "life", world.clock())
    two, one = await world.graph.taxonomy_suggestions()
    assert (two.thread, two.path, two.times) == ("two", "life", 2)
    await world.graph.decide_taxonomy(one.suggestion_id, accept=True)
    await world.graph.decide_taxonomy(str(two.suggestion_id), accept=False)
    assert await world.graph.taxonomy_suggestions() == []
    await world.graph.label_taxonomy("work", "All work")
    await world.graph.label_taxonomy("work", "Work")
    tree = {node.path: (node.label, node.below) for node in await world.graph.taxonomy()}
    assert tree == {"work": ("Work", 1), "work.studio": (None, 1)}
    assert dict(world.rows("select name, taxonomy::text from everlore.thread")) == {
        "one": "work.studio",
        "two": None,
    }
    with pytest.raises(InvalidInput, match="decided already"):
        await world.graph.decide_taxonomy(one.suggestion_id, accept=False)
    with pytest.raises(NotFound):
        await world.graph.decide_taxonomy(UUID(int=1), accept=True)
    with pytest.raises(InvalidInput, match="suggestion"):
        await world.graph.decide_taxonomy("nonsense", accept=True)
    with pytest.raises(InvalidInput, match="path"):
        await world.graph.label_taxonomy("no way!", "x")
    async with world.lore.runtime.database.workspace(world.workspace_id) as connection:
        # What is so already, or was rejected, is not suggested again.
        await distilling.suggest_taxonomy(connection, threads["one"], "work.studio", world.clock())
        await distilling.suggest_taxonomy(connection, threads["two"], "life", world.clock())
    assert await world.graph.taxonomy_suggestions() == []
