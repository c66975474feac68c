"""What distilling by rules costs: processor time per message beside the embedding, by part, and Postgres's share.

    python benchmarks/distil.py [--rounds 4] [--dialogues 1000] [--profile out.prof]

Two corpora: the bundled sample conversation, repeated with other people, places and numbers; and generated dialogues in which a
third of what is said is worth keeping. The bar is 5 CPU-milliseconds per message: of the thread on which analyst, grounding,
reconciling and the commit run, without the embedding, which has threads of its own. Prints; asserts nothing.
"""

import argparse
import asyncio
import cProfile
import json
import os
import random
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any

import corpus
from everlore.api.workspace import Workspace
from everlore.config import Settings
from everlore.distil import reading
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.minilm import MiniLM
from everlore.models.rules import RuleAnalyst
from everlore.ports.analyst import Extraction, Governor, Window
from everlore.ports.embedder import EncodedPassage

BAR_MS = 5.0
_PEOPLE = ("Maya", "Alva", "Inga", "Ronja", "Siri", "Tove", "Vera", "Ylva")
_PLACES = ("Porto", "Leeds", "Graz", "Turin", "Gdansk", "Bergen", "Lyon", "Cork")
_FIRMS = ("Acme", "Corvid Labs", "Tern & Finch", "Pinewood Rail", "Mason Print", "Volta Grid")
_THINGS = ("liquorice", "chess", "jazz", "long walks", "old maps", "ramen", "sailing", "black tea")
_KEPT = (
    "I moved to {place} last month, and I work at {firm} now.",
    "My sister {person} lives in {place} with her two dogs.",
    "I really like {thing}, but I can't stand {other}.",
    "We decided to launch on {day} May, so the report is due on Friday.",
    "I'm allergic to peanuts, please remember that when you suggest recipes.",
    "My friend {person} works as a teacher in {place}.",
    "I want to run a marathon next year.",
    "I no longer work at {firm}.",
)
_SMALL = (
    "Good morning! How are you today?",
    "Haha, that is so true.",
    "Could you make that shorter, please?",
    "Thanks, that helps a lot.",
    "What would you suggest for dinner?",
    "Hmm, let me think about it for a moment.",
    "The weather is awful again, isn't it?",
)
_ANSWERS = (
    "Of course. Here is a shorter version of it.",
    "That sounds lovely! Tell me more about it.",
    "I would start with the simplest option and see how far it takes you.",
)


def sample(rounds: int) -> list[tuple[str, list[NewMessage]]]:
    """The bundled conversation over and over, by thread, each time of somebody else."""
    lines = (resources.files("everlore") / "data" / "sample.jsonl").read_text("utf-8").splitlines()
    threads: list[tuple[str, list[NewMessage]]] = []
    for number in range(rounds):
        by_thread: dict[str, list[NewMessage]] = defaultdict(list)
        for line in lines:
            said = json.loads(line)
            author = said.get("author")
            by_thread[said["thread"]].append(
                NewMessage(
                    role=said["role"],
                    author=None if author is None else varied(author, number),
                    at=datetime.fromisoformat(said["at"]) + timedelta(days=number),
                    text=varied(said["text"], number),
                )
            )
        threads += [(f"{thread} {number}", messages) for thread, messages in by_thread.items()]
    return threads


def varied(text: str, number: int) -> str:
    """Other people, places and numbers for every round but the first."""
    if number == 0:
        return text
    for old, new in (("Maya", _PEOPLE[number % len(_PEOPLE)]), ("Stockholm", _PLACES[number % len(_PLACES)])):
        text = text.replace(old, new)
    return "".join(str((int(c) + number) % 10) if c.isdecimal() and c.isascii() else c for c in text)


def dialogues(count: int) -> list[tuple[str, list[NewMessage]]]:
    """So many messages in threads of 50; every third of a person's tells something."""
    chance = random.Random(5)
    begin = datetime(2025, 1, 1, tzinfo=UTC)
    threads: list[tuple[str, list[NewMessage]]] = []
    for start in range(0, count, 50):
        messages: list[NewMessage] = []
        who = chance.choice(_PEOPLE)
        for number in range(start, min(start + 50, count)):
            at = begin + timedelta(minutes=number)
            if number % 2:
                messages.append(NewMessage(role="assistant", at=at, text=chance.choice(_ANSWERS)))
                continue
            form = chance.choice(_KEPT if chance.random() < 1 / 3 else _SMALL)
            thing, other = chance.sample(_THINGS, 2)
            text = form.format(
                person=chance.choice(_PEOPLE),
                place=chance.choice(_PLACES),
                firm=chance.choice(_FIRMS),
                thing=thing,
                other=other,
                day=chance.randint(1, 28),
            )
            messages.append(NewMessage(role="user", author=who, at=at, text=text))
        threads.append((f"dialogue {start}", messages))
    return threads


class Meter:
    """Processor time of this thread by part, in seconds. A part inside another is taken off it."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._inside: list[str] = []
        self._since = time.thread_time()

    def _turn(self) -> None:
        now = time.thread_time()
        if self._inside:
            self.spent[self._inside[-1]] += now - self._since
        self._since = now

    def enter(self, part: str) -> None:
        self._turn()
        self._inside.append(part)

    def leave(self) -> None:
        self._turn()
        self._inside.pop()

    def around(self, part: str, function: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def measured(*arguments: Any, **named: Any) -> Any:
            self.enter(part)
            try:
                return await function(*arguments, **named)
            finally:
                self.leave()

        return measured


class Metered(MiniLM):
    """The bundled embedder, with a clock beside it."""

    def __init__(self, meter: Meter) -> None:
        super().__init__()
        self._meter = meter

    async def encode_passages(self, texts: Sequence[str]) -> list[EncodedPassage]:
        self._meter.enter("embedding")
        try:
            return await super().encode_passages(texts)
        finally:
            self._meter.leave()


class Rules(RuleAnalyst):
    """The analyst by rules, with a clock beside it."""

    def __init__(self, meter: Meter) -> None:
        super().__init__()
        self._meter = meter

    async def extract(self, window: Window, governor: Governor) -> Extraction:
        self._meter.enter("analyst")
        try:
            return await super().extract(window, governor)
        finally:
            self._meter.leave()


def postgres_seconds(data_dir: Path) -> float:
    """Processor time of the server with all its children, those that ended included; 0 where the system does not tell."""
    postmaster = int((data_dir / "postgres" / "postmaster.pid").read_text().split()[0])
    ticks = 0
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(entry.name) == postmaster:
            ticks += sum(map(int, fields[11:15]))
        elif int(fields[1]) == postmaster:
            ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


async def measure(
    lore: Everlore,
    data_dir: Path,
    meter: Meter,
    called: str,
    threads: list[tuple[str, list[NewMessage]]],
    profile: cProfile.Profile | None,
) -> None:
    workspace = await lore.workspace(called)
    for thread, messages in threads:
        await workspace.record(messages, thread=thread)
    meter.spent.clear()
    server, whole, began = postgres_seconds(data_dir), time.thread_time(), time.perf_counter()
    if profile is not None:
        profile.enable()
    meter.enter("jobs")
    read = await lore.distil(workspace)
    meter.leave()
    if profile is not None:
        profile.disable()
    seconds, cpu = time.perf_counter() - began, time.thread_time() - whole
    await tell(workspace, called, read, seconds, cpu, postgres_seconds(data_dir) - server, dict(meter.spent))


async def tell(
    workspace: Workspace,
    called: str,
    read: int,
    seconds: float,
    cpu: float,
    server: float,
    parts: dict[str, float],
) -> None:
    ours = cpu - parts.get("embedding", 0.0)
    status = await workspace.status()
    facts = len(await workspace.facts(limit=1000))
    each = {name: round(1000 * spent / read, 2) for name, spent in sorted(parts.items())}
    mine = 1000 * ours / read
    print(
        f"{called}: {read:,} messages, {status.memories:,} memories, {facts:,} facts, in {seconds:.1f} s\n"
        f"  {mine:.2f} CPU-ms per message without the embedding: {mine / BAR_MS:.2f} of the bar of {BAR_MS:g}\n"
        f"  by part (ms per message): {each}\n"
        f"  Postgres beside it: {1000 * server / read:.2f} CPU-ms per message",
        flush=True,
    )


async def run(rounds: int, count: int, profile: cProfile.Profile | None) -> None:
    meter = Meter()
    for name, part in (("_load", "load"), ("_think", "grounding"), ("_commit", "commit")):
        setattr(reading, name, meter.around(part, getattr(reading, name)))
    with corpus.temporary_folder() as folder:
        async with Everlore.open(
            Settings(data_dir=folder),
            worker=False,
            embedders={"minilm": Metered(meter)},
            analyst=Rules(meter),
        ) as lore:
            # Once for what is made when it is first used.
            await measure(lore, folder, meter, "warm-up", dialogues(50), None)
            await measure(lore, folder, meter, "sample", sample(rounds), profile)
            await measure(lore, folder, meter, "dialogues", dialogues(count), profile)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rounds", type=int, default=4, help="of the sample conversation (389 messages each)"
    )
    parser.add_argument("--dialogues", type=int, default=1000, help="generated messages")
    parser.add_argument(
        "--profile", type=Path, help="write a profile (cProfile) there; times are then too long"
    )
    given = parser.parse_args()
    profile = cProfile.Profile() if given.profile else None
    asyncio.run(run(given.rounds, given.dialogues, profile))
    if profile is not None:
        profile.dump_stats(given.profile)


if __name__ == "__main__":
    main()
