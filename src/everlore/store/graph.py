"""Walks over the graph: nodes are entities, edges are facts between them and memories that speak of both.

Every walk goes level by level, each level one or two queries that read a bounded number of rows at each node, by an index in
order of time: a node that is linked to everything costs what any other costs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

from psycopg.rows import tuple_row

from everlore.domain.graph import MENTIONED_WITH, Edge
from everlore.domain.memories import AsOf, Fact, Source
from everlore.store import facts, memories
from everlore.store.queries import queries
from everlore.store.run import Transaction

_QUERIES = queries("graph")

# Edges of each kind that are followed from one node, and how many of the latest they are chosen from.
FAN_OUT = 24
READ = 4 * FAN_OUT
# A level of a walk never has more nodes than these.
WIDEST = 400
# Between so many nodes of either end of a path direct facts are looked up, and under so many predicates of each.
CLOSE = 50
PREDICATES = 100
# What a fact passes on of an activation is its confidence; what two names in one memory do, is half of the memory's.
MENTIONED_WITH_WEIGHT = 0.5
MAX_PATH = 6
# As memories are scored elsewhere (the composite of importance and recency), without similarity.
RECENCY = timedelta(days=90)

Pair = frozenset[UUID]


@dataclass(frozen=True, slots=True)
class When:
    """The two questions of time, answered: `valid_at` None means now, of which memories of coming events are part too."""

    now: datetime
    valid_at: datetime | None = None
    recorded_at: datetime | None = None

    @classmethod
    def of(cls, as_of: AsOf, now: datetime) -> "When":
        return cls(now, as_of.valid_at, as_of.recorded_at)


@dataclass(frozen=True, slots=True)
class Walk:
    """Where a walk came to: distances from its beginning, in the order of arrival, and the edges that it saw by their ends.
    `cut`: there is more, beyond the limit or at an entity with more edges than are followed."""

    distances: dict[UUID, int]
    edges: dict[Pair, list[Edge]]
    cut: bool


@dataclass(frozen=True, slots=True)
class Around:
    """The edges at some entities, and those of them that have more than were read."""

    edges: dict[UUID, list[Edge]]
    crowded: frozenset[UUID]


async def edges_at(
    tx: Transaction, entity_ids: Sequence[UUID], when: When, fan_out: int = FAN_OUT
) -> dict[UUID, list[Edge]]:
    """The edges at each entity, the ones that pass on most first, without their sources.

    Two entities that a fact joins are not also joined by the memories that mention both.
    """
    return (await edges_around(tx, entity_ids, when, fan_out)).edges


async def edges_around(
    tx: Transaction, entity_ids: Sequence[UUID], when: When, fan_out: int = FAN_OUT
) -> Around:
    """The same, telling at which of them there are more."""
    found: dict[UUID, list[Edge]] = {entity_id: [] for entity_id in entity_ids}
    crowded: set[UUID] = set()
    if not entity_ids:
        return Around(found, frozenset())
    near: dict[str, Any] = {
        "entities": list(entity_ids),
        "valid_at": when.valid_at or when.now,
        "recorded_at": when.recorded_at,
        "read": 4 * fan_out,
        # One more than is followed, to see whether there is more.
        "fan_out": fan_out + 1,
    }
    beside: dict[str, Any] = {
        **near,
        "valid_at": when.valid_at,
        "now": when.now,
        "read": fan_out,
        "fan_out": fan_out,
    }
    async with tx.pipeline():
        stated = await tx.sent(_QUERIES["fact_edges"], tuple_row, **near)
        shared = await tx.sent(_QUERIES["shared_memories"], tuple_row, **beside)
    at: UUID
    for at, *edge in await stated.fetchall():
        if len(found[at]) == fan_out:
            crowded.add(at)
        else:
            found[at].append(_fact_edge(*edge))
    joined = {entity_id: {e for edge in found[entity_id] for e in edge.ends()} for entity_id in entity_ids}
    mentioned: dict[UUID, list[Edge]] = {}
    for at, other, lineages, confidence, since, more in await shared.fetchall():
        if more:
            crowded.add(at)
        if other not in joined[at]:
            one, two = sorted((at, other))
            weight = MENTIONED_WITH_WEIGHT * confidence
            edge = Edge(one, MENTIONED_WITH, two, "mentioned with", weight, since, None, tuple(lineages))
            mentioned.setdefault(at, list[Edge]()).append(edge)
    for at, weak in mentioned.items():
        weak.sort(key=lambda edge: (-len(edge.lineages), -edge.weight, edge.subject_id, edge.object_id))
        found[at] += weak[:fan_out]
        if len(weak) > fan_out:
            crowded.add(at)
    return Around(found, frozenset(crowded))


async def facts_between(
    tx: Transaction, ones: Sequence[UUID], others: Sequence[UUID], when: When
) -> list[Edge]:
    """The facts that join one of the ones to one of the others, in either direction, however many more each has."""
    parameters: dict[str, Any] = {
        "valid_at": when.valid_at or when.now,
        "recorded_at": when.recorded_at,
        "predicates": PREDICATES,
    }
    found: list[Edge] = []
    for subjects, objects in ((ones, others), (others, ones)):
        given: dict[str, Any] = {**parameters, "subjects": list(subjects), "objects": list(objects)}
        found += [_fact_edge(*edge) for edge in await tx.tuples(_QUERIES["facts_between"], **given)]
    return found


def _fact_edge(
    subject_id: UUID,
    predicate: str,
    object_id: UUID,
    lineage_id: UUID,
    confidence: float,
    since: datetime,
    until: datetime | None,
) -> Edge:
    return Edge(subject_id, predicate, object_id, "fact", confidence, since, until, (lineage_id,))


async def neighbourhood(
    tx: Transaction, start: UUID, depth: int, when: When, *, limit: int, fan_out: int = FAN_OUT
) -> Walk:
    """All within `depth` edges of an entity, at most `limit` entities, nearest and surest first."""
    distances = {start: 0}
    edges: dict[Pair, list[Edge]] = {}
    frontier, cut = [start], False
    for distance in range(1, depth + 1):
        around = await edges_around(tx, frontier, when, fan_out)
        cut = cut or bool(around.crowded)
        reached = sorted(
            (
                (edge, other)
                for at in frontier
                for edge in around.edges[at]
                for other in edge.ends()
                if other != at
            ),
            key=lambda step: -step[0].weight,
        )
        frontier = list[UUID]()
        for edge, other in reached:
            if other not in distances:
                if len(distances) >= limit:
                    cut = True
                    continue
                distances[other] = distance
                frontier.append(other)
            _add(edges, edge)
        if not frontier:
            break
    return Walk(distances, {pair: seen for pair, seen in edges.items() if pair <= distances.keys()}, cut)


async def shortest_path(
    tx: Transaction, one: UUID, other: UUID, when: When, *, longest: int = MAX_PATH
) -> tuple[list[UUID], list[list[Edge]]] | None:
    """The shortest connection of two entities, as nodes and the edges of each hop; None if none so short was found.

    Walks from both ends, always from the one that has less to look at. At an entity with more edges than are followed, the
    facts that join it to what the other end has reached are looked up by name: two hubs that a fact joins are joined.
    """
    first, last = sides = (_Side({one: None}, [one], []), _Side({other: None}, [other], []))
    if one == other:
        return [one], []
    edges: dict[Pair, list[Edge]] = {}
    for step in range(longest):
        if step == 0 or first.crowded or last.crowded:
            direct = await facts_between(tx, first.known(), last.known(), when)
            if (joint := first.joined(direct, edges, last)) is not None:
                return _way(first.back(joint[0])[::-1] + last.back(joint[1]), edges)
        near, far = sorted(sides, key=lambda side: len(side.frontier))
        if not near.frontier:
            near, far = far, near
        if not near.frontier:
            return None
        around = await edges_around(tx, near.frontier[:WIDEST], when)
        met = near.step(around, edges, far)
        if met is not None:
            return _way([*reversed(first.back(met)), *last.back(met)[1:]], edges)
    return None


def _way(nodes: list[UUID], edges: Mapping[Pair, list[Edge]]) -> tuple[list[UUID], list[list[Edge]]]:
    return nodes, [edges[frozenset(hop)] for hop in pairwise(nodes)]


@dataclass(slots=True)
class _Side:
    """One end of a search: from where each node was reached, the nodes reached last, and those whose edges were not all read."""

    came_from: dict[UUID, UUID | None]
    frontier: list[UUID]
    crowded: list[UUID]

    def known(self) -> list[UUID]:
        """The nodes whose edges may not have been seen: of each kind so many, the ones reached first."""
        half = CLOSE // 2
        return list(dict.fromkeys([*self.crowded[:half], *self.frontier[: CLOSE - len(self.crowded[:half])]]))

    def step(self, around: Around, edges: dict[Pair, list[Edge]], far: "_Side") -> UUID | None:
        """One level further; returns where it met the other side on the shortest way, if it did."""
        reached: list[UUID] = []
        for at, found in around.edges.items():
            for edge in found:
                _add(edges, edge)
                (to,) = (end for end in edge.ends() if end != at)
                if to not in self.came_from:
                    self.came_from[to] = at
                    reached.append(to)
        self.frontier = reached
        self.crowded += [at for at in around.edges if at in around.crowded]
        meetings = [node for node in reached if node in far.came_from]
        return min(meetings, key=lambda node: len(far.back(node)), default=None)

    def joined(
        self, direct: Sequence[Edge], edges: dict[Pair, list[Edge]], far: "_Side"
    ) -> tuple[UUID, UUID] | None:
        """The ends of the edge that joins a node of this side to one of the other on the shortest way."""
        pairs: list[tuple[UUID, UUID]] = []
        for edge in direct:
            _add(edges, edge)
            for here, there in (edge.ends(), edge.ends()[::-1]):
                if here in self.came_from and there in far.came_from:
                    pairs.append((here, there))
        return min(pairs, key=lambda pair: len(self.back(pair[0])) + len(far.back(pair[1])), default=None)

    def back(self, node: UUID) -> list[UUID]:
        """The way from a node back to where this side began."""
        way = [node]
        while (before := self.came_from[way[-1]]) is not None:
            way.append(before)
        return way


async def activate(
    tx: Transaction,
    seeds: Mapping[UUID, float],
    *,
    now: datetime,
    as_of: AsOf | None = None,
    decay: float = 0.5,
    depth: int = 2,
    minimum: float = 0.01,
    at_most: int = 50,
) -> dict[UUID, float]:
    """Spreading activation: how much of the seeds' activation (0-1 each) reaches which entity, most first, seeds included.

    Each edge passes on `decay` times its weight; where several ways lead to an entity the strongest counts. What is below
    `minimum` goes no further.
    """
    when = When.of(as_of or AsOf(), now)
    active = dict(seeds)
    frontier = [entity_id for entity_id, value in seeds.items() if value >= minimum]
    for _ in range(depth):
        if not frontier:
            break
        around = await edges_at(tx, _strongest(active, frontier), when)
        passed = spread(active, around, decay=decay, minimum=minimum)
        active |= passed
        frontier = list(passed)
    chosen = sorted(active.items(), key=lambda item: (-item[1], item[0]))
    return dict([item for item in chosen if item[1] >= minimum][:at_most])


def spread(
    active: Mapping[UUID, float], around: Mapping[UUID, Sequence[Edge]], *, decay: float, minimum: float
) -> dict[UUID, float]:
    """One step of spreading: the entities whose activation it raises, with their new one."""
    passed: dict[UUID, float] = {}
    for at, edges in around.items():
        for edge in edges:
            value = active[at] * decay * edge.weight
            for other in edge.ends():
                if (
                    other != at
                    and value >= minimum
                    and value > max(active.get(other, 0), passed.get(other, 0))
                ):
                    passed[other] = value
    return passed


async def memories_of(
    tx: Transaction,
    entities: Mapping[UUID, float],
    at_most: int,
    *,
    now: datetime,
    as_of: AsOf | None = None,
    include_expired: bool = False,
) -> dict[UUID, float]:
    """Memories of activated entities as lineage ids with a score of 0-1, best first: what is active, important and recent."""
    when = When.of(as_of or AsOf(), now)
    parameters: dict[str, Any] = {
        "entities": list(entities),
        "read": max(FAN_OUT, at_most),
        "valid_at": when.valid_at,
        "recorded_at": when.recorded_at,
        "now": now,
        "include_expired": include_expired,
    }
    scores: dict[UUID, float] = {}
    at = when.valid_at or now
    for entity_id, lineage, importance, since in await tx.tuples(_QUERIES["memories_of"], **parameters):
        recency = 0.5 ** (max(at - since, timedelta(0)) / RECENCY)
        value = entities[entity_id] * (2 * importance + recency) / 3
        scores[lineage] = max(value, scores.get(lineage, 0))
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:at_most])


async def with_sources(tx: Transaction, edges: Iterable[Edge], when: When) -> list[Edge]:
    """The edges with every source that states them."""
    chosen = list(edges)
    found: dict[UUID, list[Source]] = {}
    for kind, sources in (("fact", facts.sources), ("mentioned with", memories.sources)):
        lineages = {lineage for edge in chosen if edge.kind == kind for lineage in edge.lineages}
        found |= await sources(tx, lineages, when.recorded_at)
    return [
        replace(
            edge,
            sources=tuple(source for lineage in edge.lineages for source in found.get(lineage, ())),
        )
        for edge in chosen
    ]


async def facts_of(tx: Transaction, entity_id: UUID, when: When, at_most: int) -> list[Fact]:
    """The facts that speak of an entity, the latest first, with their sources."""
    found = await tx.rows(
        _QUERIES["facts_of"],
        Fact,
        entity_id=entity_id,
        valid_at=when.valid_at or when.now,
        recorded_at=when.recorded_at,
        at_most=at_most,
    )
    return await facts.with_sources(tx, found, when.recorded_at)


def _strongest(active: Mapping[UUID, float], frontier: Iterable[UUID]) -> list[UUID]:
    return sorted(frontier, key=lambda entity_id: (-active[entity_id], entity_id))[:WIDEST]


def _add(edges: dict[Pair, list[Edge]], edge: Edge) -> None:
    """Keep an edge once, from whichever end it was seen; of weak ones that which has more behind it."""
    known = edges.setdefault(frozenset(edge.ends()), [])
    same = [e for e in known if e.kind == edge.kind and (edge.kind != "fact" or e.lineages == edge.lineages)]
    if not same:
        known.append(edge)
    elif len(edge.lineages) > len(same[0].lineages):
        known[known.index(same[0])] = edge
