"""Somebody who writes, edits, branches and erases at random, by way of clients that send their history again; and what must be
stored then, worked out apart."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from tests.conftest import Clock
from tests.steps.conftest import Rows

from everlore.api.workspace import Workspace
from everlore.domain.messages import NewMessage

_PLACES = [
    "Porto",
    "Faro",
    "Rome",
    "Oslo",
    "Lima",
    "Quito",
    "Bonn",
    "Graz",
    "Turin",
    "Lyon",
    "Ghent",
    "Bergen",
]
_THINGS = [
    "tea",
    "chess",
    "rain",
    "bread",
    "boats",
    "tulips",
    "jazz",
    "snow",
    "maps",
    "pears",
    "kites",
    "owls",
]
_KINDS = ["green", "old", "quiet", "red", "small", "loud", "blue", "late", "warm", "odd", "round", "fine"]
_SUMMARY = "What was said before: a number of things."


@dataclass(eq=False, slots=True)
class Node:
    """A turn that must be stored once. One that was erased stays in the histories of clients, and here."""

    text: str
    role: str
    parent: "Node | None"
    message_id: UUID | None = None
    erased: bool = False

    def chain(self) -> list["Node"]:
        """The turns up to it from the start, erased ones included."""
        found: list[Node] = []
        node: Node | None = self
        while node is not None:
            found.append(node)
            node = node.parent
        return found[::-1]


def alive(nodes: Sequence[Node]) -> tuple[str, ...]:
    return tuple(node.text for node in nodes if not node.erased)


@dataclass(slots=True)
class Writer:
    """`tip` is the end of the path; `steps` says what was done."""

    workspace: Workspace
    clock: Clock
    rows: Rows
    chance: random.Random
    nodes: list[Node] = field(default_factory=list[Node])
    tip: Node | None = None
    reconciled: bool = False
    said: int = 0
    steps: list[str] = field(default_factory=list[str])

    async def step(self) -> None:
        self.clock.advance(seconds=self.chance.choice([1, 5, 400]))
        weights = {
            self.say: 4, self.answer_to_any: 1, self.revise: 2, self.regenerate: 2, self.switch: 2,
            self.go_on: 5, self.repeat: 2, self.from_a_branch: 2, self.edit: 3, self.edit_and_keep: 2,
            self.cut: 2, self.compact: 2, self.stopped: 2, self.erase: 1,
        }  # fmt: skip
        chosen = self.chance.choices(list(weights), list(weights.values()))[0]
        await chosen()

    # ---- verbs

    async def say(self) -> None:
        new = self._new(self.chance.randint(1, 4), self.tip)
        self.steps.append(f"say {[one.text for one in new]}")
        await self._record(new, None)

    async def answer_to_any(self) -> None:
        if parent := self._any():
            new = self._new(1, parent)
            self.steps.append(f"say {new[0].text} after {parent.text}")
            await self._record(new, parent.message_id)

    async def revise(self) -> None:
        if old := self._any():
            node = Node(self._text(), old.role, old.parent)
            self.steps.append(f"revise {old.text} as {node.text}")
            assert old.message_id
            node.message_id = (await self.workspace.revise(old.message_id, node.text)).message_id
            self._added([node])

    async def regenerate(self) -> None:
        if old := self._any("assistant"):
            node = Node(self._text(), "assistant", old.parent)
            self.steps.append(f"answer {node.text} instead of {old.text}")
            assert old.message_id
            node.message_id = (await self.workspace.regenerate(old.message_id, node.text)).message_id
            self._added([node])

    async def switch(self) -> None:
        if node := self._any():
            self.steps.append(f"switch to {node.text}")
            assert node.message_id
            await self.workspace.switch("main", node.message_id)
            self.tip = node

    async def erase(self) -> None:
        node = self._any()
        if node and self.reconciled:
            self.steps.append(f"erase {node.text}")
            assert node.message_id
            await self.workspace.delete(node.message_id)
            node.erased = True

    # ---- clients

    async def go_on(self) -> None:
        history = self._path()
        await self._send("go on", history, self._new(self.chance.randint(1, 3), self.tip))

    async def repeat(self) -> None:
        history = self._path()
        if history:
            most = self.chance.randint(1, len(history))
            await self._send("repeat", history[:most], [])

    async def from_a_branch(self) -> None:
        if node := self._any():
            await self._send("from a branch", node.chain(), self._new(self.chance.randint(0, 2), node))

    async def edit(self) -> None:
        history = self._path()
        if history:
            place = self.chance.randrange(len(history))
            parent = history[place].parent
            await self._send("edit", history[:place], self._new(self.chance.randint(1, 2), parent))

    async def edit_and_keep(self) -> None:
        history = self._path()
        if len(history) > 2 and not any(node.erased for node in history):
            place = self.chance.randrange(1, len(history) - 1)
            new = [Node(self._text(), history[place].role, history[place].parent)]
            for old in history[place + 1 :]:
                new.append(Node(old.text, old.role, new[-1]))
            await self._send("edit and keep", history[:place], new)

    async def cut(self) -> None:
        history = [node for node in self._path() if not node.erased]
        if len(history) > 3:
            first = self.chance.randrange(1, len(history) - 2)
            await self._send(
                "cut", history[first:], self._new(self.chance.randint(1, 2), self.tip), whole=False
            )

    async def compact(self) -> None:
        history = [node for node in self._path() if not node.erased]
        if len(history) > 4:
            first = self.chance.randrange(2, len(history) - 2)
            new = self._new(self.chance.randint(0, 2), self.tip)
            await self._send("compact", history[first:], new, whole=False, before=[_SUMMARY])

    async def stopped(self) -> None:
        """A call that is broken off, and made again."""
        history, new = self._path(), self._new(2, self.tip)
        task = asyncio.create_task(self.workspace.reconcile(_sent([*history, *new])))
        for _ in range(self.chance.randint(0, 40)):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await self._send("go on after a stop", history, new, perhaps_there=True)

    # ---- what must be stored

    async def check(self) -> None:
        """Every turn is stored once, in its place, and the path is the one that it must be."""
        rows = await self.rows(
            "select message_id, parent_id, text, on_path, position, (select array_agg(distinct p.layer::text) "
            "from everlore.passage p where p.owner_id = m.message_id) from everlore.message m order by position"
        )
        chains: dict[UUID, tuple[str, ...]] = {}
        for message_id, parent_id, text, _, _, _ in rows:
            chains[message_id] = (*chains[parent_id], text) if parent_id else (text,)
        wanted = Counter(alive(node.chain()) for node in self.nodes if not node.erased)
        assert Counter(chains.values()) == wanted
        assert tuple(row[2] for row in rows if row[3]) == alive(self._path())
        for message_id, _, _, on_path, _, layers in rows:
            assert layers == (["said"] if on_path else ["branches"]), chains[message_id]
        counts = await self.rows("select messages, off_path from everlore.thread")
        assert counts in ([], [(len(rows), sum(not row[3] for row in rows))])

    # ---- helpers

    def _path(self) -> list[Node]:
        return self.tip.chain() if self.tip else []

    def _any(self, role: str | None = None) -> Node | None:
        able = [node for node in self.nodes if not node.erased and role in (None, node.role)]
        return self.chance.choice(able) if able else None

    def _text(self) -> str:
        self.said += 1
        kind, thing = self.chance.choice(_KINDS), self.chance.choice(_THINGS)
        return self.chance.choice(
            [
                f"I live in {self.chance.choice(_PLACES)} since week {self.said}.",
                f"I like {kind} {thing} number {self.said}.",
                f"My sister Emma{self.said} works as a nurse.",
                f"Well, {self.said} it is.",
            ]
        )

    def _new(self, count: int, parent: Node | None) -> list[Node]:
        new: list[Node] = []
        for _ in range(count):
            before = new[-1] if new else parent
            role = "assistant" if before is not None and before.role == "user" else "user"
            new.append(Node(self._text(), role, before))
        return new

    def _added(self, new: Sequence[Node]) -> None:
        self.nodes += new
        self.tip = new[-1]

    async def _record(self, new: list[Node], parent: UUID | None) -> None:
        given = [NewMessage(role=one.role, text=one.text) for one in new]  # pyright: ignore[reportArgumentType]
        receipt = await self.workspace.record(given, parent=parent)
        for node, outcome in zip(new, receipt.outcomes, strict=True):
            node.message_id = outcome.message_id
        self._added(new)

    async def _send(
        self,
        what: str,
        history: list[Node],
        new: list[Node],
        *,
        whole: bool = True,
        before: Sequence[str] = (),
        perhaps_there: bool = False,
    ) -> None:
        if not (history or new):
            return
        self.steps.append(f"{what}: {[one.text for one in history]} and {[one.text for one in new]}")
        front = [{"role": "user", "content": text} for text in before]
        answer = await self.workspace.reconcile([*front, *_sent([*history, *new])])
        self.reconciled = True
        outcomes = answer.turns[len(front) :]
        for node, outcome in zip([*history, *new], outcomes, strict=True):
            expected = "erased" if node.erased else "stored" if node in new else "known"
            there = perhaps_there and outcome.status == "known"
            assert there or outcome.status == expected, (node.text, outcome.status)
            assert node.message_id in (None, outcome.message_id) or node.erased
            node.message_id = outcome.message_id or node.message_id
        if new:
            self._added(new)
        elif whole and history:
            end = history[-1]
            if not set(_alive(history)) <= set(_alive(self._path())):
                self.tip = end


def _alive(nodes: Sequence[Node]) -> list[Node]:
    return [node for node in nodes if not node.erased]


def _sent(nodes: Sequence[Node]) -> list[dict[str, Any]]:
    return [{"role": node.role, "content": node.text} for node in nodes]
