"""kill -9 at random moments of a streaming import: nothing acknowledged is lost, nothing is doubled, the index completes.

    python benchmarks/crash.py --moments 50

One process imports (three writers, batches of messages with external ids, a line on its output after each receipt), one
runs a worker. At a random moment one of three is killed: the importer, the worker, or Postgres with all its children. Then
everything is started again and looked at: every acknowledged message is there once, positions have no gaps, and after
catching up no step lags, the postings equal a recount and every passage has its vector. The next import begins where the
acknowledgements ended. At the end the whole import is sent once more: all of it is there already.
"""

import argparse
import asyncio
import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import numpy as np
import psycopg

from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.store.postings import POSTING
from everlore.store.server import SUPERUSER

WRITERS = 3
BATCHES_A_MOMENT = 24
_WORDS = [f"word{number}" for number in range(400)]
Victim = Literal["importer", "worker", "postgres"]
VICTIMS: tuple[Victim, ...] = ("importer", "postgres", "worker")


def messages_of(batch: int) -> list[NewMessage]:
    """The same batch always has the same messages."""
    chance = random.Random(batch)
    begin = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(hours=batch)
    return [
        NewMessage(
            role="user",
            author="Maya",
            at=begin + timedelta(seconds=number),
            text=" ".join(chance.choices(_WORDS, k=chance.randint(3, 12))),
            external_id=f"{batch}-{number}",
        )
        for number in range(chance.choice([1, 5, 20, 60]))
    ]


def thread_of(batch: int) -> str:
    return f"thread {batch % WRITERS}"


# ---- the processes that are killed


async def import_batches(data_dir: Path, batches: list[int]) -> None:
    async with Everlore.open(data_dir=data_dir, worker=False, embedders={"fake": FakeEmbedder()}) as lore:
        workspace = await lore.workspace("alice", create=True)

        async def write(writer: int) -> None:
            for batch in batches:
                if batch % WRITERS == writer:
                    receipt = await workspace.record(messages_of(batch), thread=thread_of(batch))
                    print(batch, receipt.stored, len(receipt.refused), flush=True)

        await asyncio.gather(*map(write, range(WRITERS)))


async def work(data_dir: Path) -> None:
    """Index until the standard input ends."""
    async with Everlore.open(data_dir=data_dir, embedders={"fake": FakeEmbedder()}):
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)


# ---- the driver


@dataclass
class Report:
    moments: int = 0
    killed: dict[str, int] = field(default_factory=dict[str, int])
    acknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    refused: int = 0
    gaps: int = 0
    lagging: int = 0
    wrong_postings: int = 0
    without_vector: int = 0
    resumed: bool = False
    seconds: float = 0.0

    @property
    def clean(self) -> bool:
        wrong = (
            self.lost,
            self.doubled,
            self.refused,
            self.gaps,
            self.lagging,
            self.wrong_postings,
            self.without_vector,
        )
        return self.resumed and not any(wrong)


def run(moments: int, seed: int, data_dir: Path) -> Report:
    chance = random.Random(seed)
    report = Report()
    acknowledged: set[int] = set()
    began = time.monotonic()
    for moment in range(moments):
        victim = VICTIMS[moment % len(VICTIMS)]
        last = (moment + 1) * BATCHES_A_MOMENT
        todo = [batch for batch in range(last) if batch not in acknowledged]
        _one_moment(victim, data_dir, todo, acknowledged, report, chance)
        report.moments += 1
        report.killed[victim] = report.killed.get(victim, 0) + 1
        asyncio.run(_look(data_dir, acknowledged, report))
    everything = list(range(moments * BATCHES_A_MOMENT))
    _import(data_dir, everything, acknowledged, report)
    again = _import(data_dir, everything, acknowledged, report)
    report.resumed = len(acknowledged) == len(everything) and again == 0
    asyncio.run(_look(data_dir, acknowledged, report))
    report.acknowledged = sum(len(messages_of(batch)) for batch in acknowledged)
    report.seconds = round(time.monotonic() - began, 1)
    return report


def _one_moment(
    victim: Victim,
    data_dir: Path,
    todo: list[int],
    acknowledged: set[int],
    report: Report,
    chance: random.Random,
) -> None:
    worker = _start("work", data_dir)
    assert worker.stdout is not None
    worker.stdout.readline()
    importer = _start("import", data_dir, todo)
    receipts = _receipts(importer, acknowledged, report)
    for _ in zip(range(chance.randrange(len(todo))), receipts, strict=False):
        pass
    assert importer.stdout is not None
    select.select([importer.stdout], [], [], chance.choice([0, 0, 0.002, 0.01, 0.03]))
    if victim == "postgres":
        kill_postgres(data_dir)
        importer.wait()
    elif victim == "importer":
        importer.kill()
    else:
        worker.kill()
    # What it wrote before it died was acknowledged, too.
    for _ in receipts:
        pass
    importer.wait()
    if victim == "postgres":
        worker.kill()
    worker.communicate()


def _import(data_dir: Path, batches: list[int], acknowledged: set[int], report: Report) -> int:
    """Import undisturbed; returns how many messages were new."""
    importer = _start("import", data_dir, batches)
    new = sum(_receipts(importer, acknowledged, report))
    importer.wait()
    return new


def _receipts(importer: "subprocess.Popen[str]", acknowledged: set[int], report: Report) -> Iterator[int]:
    """Numbers of messages newly stored, receipt by receipt. A last line without its end is no receipt."""
    assert importer.stdout is not None
    for line in iter(importer.stdout.readline, ""):
        if line.endswith("\n"):
            batch, stored, refused = map(int, line.split())
            acknowledged.add(batch)
            report.refused += refused
            yield stored


def _start(what: str, data_dir: Path, batches: list[int] | None = None) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, __file__, what, str(data_dir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    if batches is not None:
        assert process.stdin is not None
        process.stdin.write(json.dumps(batches))
        process.stdin.close()
        process.stdin = None
    return process


def kill_postgres(data_dir: Path) -> None:
    """The postmaster and all its children, at once."""
    postmaster = int((data_dir / "postgres" / "postmaster.pid").read_text().split()[0])
    table = subprocess.run(["ps", "-axo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in table.splitlines()]
    for pid in [postmaster, *(pid for pid, parent in pairs if parent == postmaster)]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


async def _look(data_dir: Path, acknowledged: set[int], report: Report) -> None:
    """Start again, as the next user would, and count what is wrong."""
    async with Everlore.open(data_dir=data_dir, worker=False, embedders={"fake": FakeEmbedder()}) as lore:
        workspace = await lore.workspace("alice", create=True)
        await lore.catch_up()
        report.lagging += sum(model.threads_behind for model in (await lore.status()).models)
        report.without_vector += sum((await workspace.status()).unembedded.values())
        assert lore.server is not None
        with psycopg.connect(lore.server.conninfo(SUPERUSER), autocommit=True) as connection:
            _count_messages(connection, acknowledged, report)
            _count_index(connection, report)


def _count_messages(connection: psycopg.Connection[Any], acknowledged: set[int], report: Report) -> None:
    rows = connection.execute(
        "select t.name, m.external_id, m.position, m.text"
        " from everlore.message m join everlore.thread t using (workspace_id, thread_id)"
    ).fetchall()
    there = {(thread, external_id): text for thread, external_id, _, text in rows}
    report.doubled += len(rows) - len(there)
    for batch in acknowledged:
        for message in messages_of(batch):
            report.lost += there.get((thread_of(batch), message.external_id)) != message.text
    for thread in {thread for thread, _ in there}:
        positions = sorted(position for name, _, position, _ in rows if name == thread)
        report.gaps += positions != list(range(1, len(positions) + 1))


def _count_index(connection: psycopg.Connection[Any], report: Report) -> None:
    """Of what was said; a worker that had the time made keys of some of it, which are in other layers."""
    (vectors,) = connection.execute(
        "select count(*) from everlore.passage p where p.layer = 'said' and (not exists ("
        "select from everlore.passage_vector v where v.workspace_id = p.workspace_id and v.passage_id = p.passage_id)"
        " or not exists (select from everlore.message m where m.workspace_id = p.workspace_id and m.message_id = p.owner_id))"
    ).fetchone() or (0,)
    report.without_vector += vectors
    expected = {
        (term, number, count, length)
        for number, length, terms in connection.execute(
            "select p.passage_id, p.length,"
            " (select jsonb_object_agg(u.lexeme, cardinality(u.positions)) from unnest(p.terms) as u)"
            " from everlore.passage p join everlore.watermark w using (workspace_id, thread_id)"
            " where w.step = 'lexical' and p.position <= w.position"
        )
        for term, count in terms.items()
    }
    stored = [
        (term, *posting)
        for term, raw in connection.execute(
            "select term, postings from everlore.posting_block where layer = 'said'"
        )
        for posting in np.frombuffer(raw, POSTING).tolist()
    ]
    packed = {number: length for _, number, _, length in expected}
    totals = connection.execute(
        "select sum(passages), sum(length) from everlore.lexical_statistics where layer = 'said'"
    ).fetchone()
    report.wrong_postings += len(expected.symmetric_difference(stored)) + len(stored) - len(set(stored))
    report.wrong_postings += totals != (len(packed), sum(packed.values()))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", default="run", choices=["run", "import", "work"])
    parser.add_argument("data_dir", nargs="?", type=Path)
    parser.add_argument("--moments", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.what == "import":
        asyncio.run(import_batches(given.data_dir, json.load(sys.stdin)))
        return 0
    if given.what == "work":
        asyncio.run(work(given.data_dir))
        return 0
    with tempfile.TemporaryDirectory(prefix="everlore-crash-") as folder:
        Path(folder).chmod(0o711)  # for root: the server runs as a system user, who must be able to enter
        report = run(given.moments, given.seed, Path(folder) / "data")
    print(json.dumps({**vars(report), "clean": report.clean}))
    return 0 if report.clean else 1


if __name__ == "__main__":
    sys.exit(main())
