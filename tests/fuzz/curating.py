"""A person who curates at random: tells, merges, undoes, splits, renames, corrects, confirms, rejects, forgets, erases.

Every telling word begins with `qz`, so that one look at all rows of a workspace shows what is left of it.
"""

import random
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

from tests.conftest import Clock
from tests.steps.conftest import Rows

from everlore.api.workspace import Workspace
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore

SPEAKERS = ("Qzanna", "Qzotto")
PEOPLE = ("Qzemma", "Qzben", "Qzmaya", "Qzmaya Qzlind", "Qzbenny", "Qzotto")
PLACES = ("Qzporto", "Qzlisbon", "Qzturin")
FIRMS = ("Qzacme", "Qzglobex")
THINGS = ("qzkayaks", "qzowls", "qzolives", "qzchess")
THREADS = ("main", "side", "third")
_WORD = re.compile(r"qz\w*")
T = TypeVar("T")


@dataclass
class Person:
    """Plays a sequence in one workspace and writes down what it did."""

    lore: Everlore
    workspace: Workspace
    clock: Clock
    rows: Rows
    random: random.Random
    steps: list[str] = field(default_factory=list[str])
    # What still stands in messages, and every word that the person gave by hand.
    said: dict[UUID, str] = field(default_factory=dict[UUID, str])
    by_hand: set[str] = field(default_factory=set[str])
    numbers: int = 0

    async def step(self) -> None:
        """One thing, chosen at random. What cannot be done now is answered with an error of the caller's, and nothing happens."""
        doing: Callable[[], Awaitable[str]] = self.random.choices(
            (
                self.record, self.distil, self.merge, self.undo, self.split, self.add_alias, self.remove_alias, self.remember,
                self.correct, self.confirm, self.reject, self.forget, self.restore, self.pin, self.decide_fact, self.decide,
                self.recall, self.distil_again, self.erase_message, self.erase_memory,
            ),
            (8, 8, 6, 4, 3, 3, 1, 3, 4, 2, 2, 2, 1, 1, 2, 2, 1, 3, 2, 1),
        )[0]  # fmt: skip
        self.clock.advance(minutes=self.random.choice((1, 30, 60 * 24 * 3)))
        try:
            done = await doing()
        except (InvalidInput, NotFound) as refused:
            done = f"{doing.__name__} was refused: {refused}"
        self.steps.append(done)

    # Words

    def sentence(self) -> str:
        """Something that rules make facts of; now and then about a thing that is spoken of nowhere else."""
        one = self.random.choice
        self.numbers += 1
        thing = (
            one(THINGS)
            if self.random.random() < 0.7
            else f"qzunique{'abcdefghij'[self.numbers % 10]}{self.numbers}"
        )
        name, place, firm = one(PEOPLE), one(PLACES), one(FIRMS)
        return one(
            (
                f"My {one(('sister', 'brother', 'friend'))} {name} lives in {place}.",
                f"I like {thing}.",
                f"I no longer like {thing}.",
                f"{name} likes {thing}.",
                f"{name} does not like {thing}.",
                f"{name} moved to {place}.",
                f"{name} works at {firm}.",
                f"{name} is my {one(('sister', 'brother', 'friend'))}. She works at {firm}.",
                f"I live in {place}.",
                f"I'm allergic to {thing}.",
                f"{name} is married to {one(PEOPLE)}.",
                f"Actually, {name} lives in {place}, not in {one(PLACES)}.",
                f"She plays {thing} with {name}.",
            )
        )  # fmt: skip

    def _hand(self, text: str) -> str:
        self.by_hand |= words(text)
        return text

    # Steps

    async def record(self) -> str:
        texts = [self.sentence() for _ in range(self.random.randint(1, 4))]
        author, thread = self.random.choice(SPEAKERS), self.random.choice(THREADS)
        receipt = await self.workspace.record(
            [NewMessage(role="user", author=author, text=text, at=self.clock()) for text in texts],
            thread=thread,
        )
        for outcome, text in zip(receipt.outcomes, texts, strict=True):
            assert outcome.message_id is not None
            self.said[outcome.message_id] = f"{author}: {text}"
        return f"record in {thread} by {author}: {texts}"

    async def distil(self) -> str:
        await self.lore.distil(self.workspace)
        return "distil"

    async def merge(self) -> str:
        one, other = await self._entity(), await self._entity()
        await self.workspace.graph.merge(one[0], other[0])
        return f"merge {one[1]} and {other[1]}"

    async def undo(self) -> str:
        change = self._one([c for c in await self.workspace.graph.changes() if c.undone_at is None])
        await self.workspace.graph.undo(change.change_id)
        return f"undo {change.kind} of {change.kept.label} and {change.other.label}"

    async def split(self) -> str:
        entity_id, name = await self._entity()
        detail = await self.workspace.graph.entity(entity_id)
        aliases = [alias.variant for alias in detail.entity.aliases if self.random.random() < 0.5]
        called = self._hand(self.random.choice(PEOPLE))
        messages = self._some() if self.random.random() < 0.5 else None
        await self.workspace.graph.split(entity_id, aliases, called, messages=messages)
        return f"split {aliases} from {name} as {called}, messages {messages and len(messages)}"

    async def add_alias(self) -> str:
        entity_id, name = await self._entity()
        alias = self._hand(self.random.choice((*PEOPLE, "Qznick", "Qzboss")))
        await self.workspace.graph.add_alias(entity_id, alias)
        return f"alias {alias} for {name}"

    async def remove_alias(self) -> str:
        entity_id, name = await self._entity()
        detail = await self.workspace.graph.entity(entity_id)
        alias = self._one(detail.entity.aliases).variant
        await self.workspace.graph.remove_alias(entity_id, alias)
        return f"take the alias {alias} from {name}"

    async def remember(self) -> str:
        text, author = self._hand(self.sentence()), self._hand(self.random.choice(SPEAKERS))
        await self.workspace.remember(text, author=author)
        return f"remember by {author}: {text}"

    async def correct(self) -> str:
        memory_id, content = await self._memory()
        if self.random.random() < 0.3:
            await self.workspace.correct(memory_id, type="note", tags=[self._hand("qztag")])
            return f"correct type and tags of {content}"
        text = self._hand(self.sentence())
        await self.workspace.correct(memory_id, content=text)
        return f"correct {content} to {text}"

    async def confirm(self) -> str:
        memory_id, content = await self._memory()
        await self.workspace.confirm(memory_id)
        return f"confirm {content}"

    async def reject(self) -> str:
        memory_id, content = await self._memory()
        await self.workspace.reject(memory_id)
        return f"reject {content}"

    async def forget(self) -> str:
        memory_id, content = await self._memory()
        await self.workspace.forget(memory_id)
        return f"forget {content}"

    async def restore(self) -> str:
        memory_id, content = await self._memory()
        await self.workspace.restore(memory_id)
        return f"restore {content}"

    async def pin(self) -> str:
        memory_id, content = await self._memory()
        await self.workspace.pin(memory_id, pinned=self.random.random() < 0.7)
        return f"pin {content}"

    async def decide_fact(self) -> str:
        fact = self._one(await self.workspace.facts(history=True, limit=200))
        right = self.random.random() < 0.5
        await (self.workspace.confirm_fact if right else self.workspace.reject_fact)(fact.fact_id)
        return f"{'confirm' if right else 'reject'} that {fact.subject} {fact.predicate} {fact.object}"

    async def decide(self) -> str:
        item = self._one(await self.workspace.review())
        accept = self.random.random() < 0.5
        await self.workspace.decide(item.id, accept=accept)
        return f"{'accept' if accept else 'decline'} the {item.kind} {item.text}"

    async def recall(self) -> str:
        question = self.random.choice((*PEOPLE, *THINGS))
        await self.workspace.recall(f"What about {question}?")
        return f"recall {question}"

    async def distil_again(self) -> str:
        thread = self.random.choice(THREADS)
        await self.workspace.distil_again(thread)
        await self.lore.distil(self.workspace)
        return f"distil {thread} again"

    async def erase_message(self) -> str:
        message_id, text = self._one(list(self.said.items()))
        await self.workspace.delete(message_id)
        del self.said[message_id]
        lost = words(text) - self.by_hand - {word for left in self.said.values() for word in words(left)}
        done = f"erase {text}"
        assert not (left := await self.traces(lost)), f"after {done}: {left}"
        return done

    async def erase_memory(self) -> str:
        memory_id, content = await self._memory()
        sources = self.random.random() < 0.5
        receipt = await self.workspace.erase(memory_id, sources=sources)
        for message_id in receipt.messages:
            del self.said[message_id]
        return f"erase {content}{' with its sources' if sources else ''}"

    async def erase_all(self) -> None:
        """All messages, in any order, some by thread; then what the person told."""
        for message_id in self.random.sample(list(self.said), len(self.said)):
            if message_id in self.said and self.random.random() < 0.2:
                thread = (await self.workspace.show(message_id)).thread
                await self.workspace.delete_thread(thread)
                left = {row[0] for row in await self.rows("select message_id from everlore.message")}
                self.said = {one: text for one, text in self.said.items() if one in left}
                self.steps.append(f"erase the thread {thread}")
            elif message_id in self.said:
                await self.workspace.delete(message_id)
                self.steps.append(f"erase {self.said.pop(message_id)}")
            if self.random.random() < 0.1:
                await self.lore.distil(self.workspace)
                self.steps.append("distil")
        await self.lore.distil(self.workspace)
        while told := await self.workspace.memories(status="all", limit=1):
            await self.workspace.erase(told[0].memory_id)
            self.steps.append(f"erase {told[0].content}")
        await self.lore.distil(self.workspace)

    # What is there

    async def traces(self, lost: set[str] | None = None) -> list[str]:
        """Rows of this workspace in which one of the words stands; None: any word at all."""
        found: list[str] = []
        tables = await self.rows(
            "select c.table_name from information_schema.columns c join information_schema.tables t"
            " using (table_schema, table_name) where c.table_schema = 'everlore' and c.column_name = 'workspace_id'"
            " and t.table_type = 'BASE TABLE' and c.table_name !~ '^passage_(vector|tokens)' order by 1"
        )
        for (table,) in tables:
            query = f"select t::text from everlore.{table} t where workspace_id = %s"
            for (row,) in await self.rows(query, self.workspace.workspace_id):  # pyright: ignore[reportArgumentType]
                stands = words(row)
                if stands & lost if lost is not None else stands:
                    found.append(f"{table}: {row[:400]}")
        return found

    async def _entity(self) -> tuple[UUID, str]:
        chosen = self._one(await self.workspace.graph.entities(limit=200)).entity
        return chosen.entity_id, chosen.name

    async def _memory(self) -> tuple[UUID, str]:
        chosen = self._one(await self.workspace.memories(status="all", limit=500))
        return chosen.memory_id, chosen.content

    def _some(self) -> list[UUID]:
        return [one for one in self.said if self.random.random() < 0.5]

    def _one(self, among: Sequence[T]) -> T:
        if not among:
            raise NotFound("There is nothing of that kind yet.")
        return self.random.choice(among)


def words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
