"""What does one turn cost? Recording one message over a warm library, beside one bare INSERT with its commit; and a recall with
memories and facts, beside the recall of messages alone. Everything in one run, in turn, so that only ratios count.

    python benchmarks/one_message.py [--messages 500] [--questions 150]
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import psycopg

from everlore import Everlore, NewMessage, Workspace
from everlore.capture.importers import read_jsonl
from everlore.store.server import SUPERUSER

WARM_UP = 30
BARE = "insert into floor.message values (%s, gen_random_uuid(), 'user', 'Anna', now(), %s)"
TEXTS = ("I moved to Porto last week, near the river.", "Emma called: the bees are fine, the fence is not.")


async def cost_of_recording(lore: Everlore, count: int) -> None:
    """Times one message a call, and one INSERT a transaction, in turn."""
    assert lore.server is not None
    workspace = await lore.workspace("one message")
    ours: list[float] = []
    bare: list[float] = []
    async with await psycopg.AsyncConnection.connect(
        lore.server.conninfo(SUPERUSER), autocommit=True
    ) as plain:
        await plain.execute(
            "create schema floor; create table floor.message (workspace_id uuid, message_id uuid, role text, author text, "
            "at timestamptz, text text, primary key (workspace_id, message_id))"
        )
        for number in range(WARM_UP + count):
            text = f"{TEXTS[number % len(TEXTS)]} ({number})"
            began = time.perf_counter()
            await workspace.record([NewMessage(role="user", author="Anna", text=text)])
            recorded = time.perf_counter()
            await plain.execute(BARE, [workspace.workspace_id, text])
            ours.append(recorded - began)
            bare.append(time.perf_counter() - recorded)
    report("one message recorded", ours[WARM_UP:], "one bare INSERT", bare[WARM_UP:])


async def cost_of_knowledge(lore: Everlore, count: int) -> None:
    """Distils the sample conversation, then asks each question with and without memories and facts, in turn."""
    workspace = await lore.workspace("sample")
    data = resources.files("everlore") / "data"
    with resources.as_file(data / "sample.jsonl") as sample:
        await fill(workspace, sample)
    await lore.distil(workspace)
    await lore.catch_up()
    asked = [one["question"] for one in json.loads((data / "sample_questions.json").read_text("utf-8"))]
    everything: list[float] = []
    messages: list[float] = []
    for number in range(WARM_UP + count):
        # A question that was just embedded costs less: each side is first every other time.
        question = f"{asked[number % len(asked)]} {number}"
        sides = [(everything, None), (messages, ["message"])]
        for times, kinds in sides if number % 2 else reversed(sides):
            began = time.perf_counter()
            await workspace.recall(f"{question} {kinds}", kinds=kinds)  # pyright: ignore[reportArgumentType]
            times.append(time.perf_counter() - began)
    report("recall with memories and facts", everything[WARM_UP:], "recall of messages", messages[WARM_UP:])


async def fill(workspace: Workspace, sample: Path) -> None:
    threads: dict[str, list[Mapping[str, Any]]] = {}
    for line in read_jsonl(sample):
        assert line.message is not None, line.problem
        threads.setdefault(line.thread or "main", []).append(line.message)
    for thread, messages in threads.items():
        await workspace.record(messages, thread=thread)


def report(name: str, ours: list[float], floor_name: str, floor: list[float]) -> None:
    ours_ms, floor_ms = (median(times) * 1000 for times in (ours, floor))
    tail = quantiles(ours, n=20)[-1] * 1000
    print(
        f"{name}: p50 {ours_ms:.2f} ms, p95 {tail:.2f}; {floor_name}: {floor_ms:.2f} ms; {ours_ms / floor_ms:.2f} x"
    )


async def main(messages: int, questions: int) -> None:
    with tempfile.TemporaryDirectory(prefix="everlore-bench-") as folder:
        Path(folder).chmod(0o755)
        async with Everlore.open(data_dir=Path(folder) / "data", worker=False) as lore:
            await cost_of_recording(lore, messages)
            await cost_of_knowledge(lore, questions)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=500)
    parser.add_argument("--questions", type=int, default=150)
    given = parser.parse_args()
    asyncio.run(main(given.messages, given.questions))
