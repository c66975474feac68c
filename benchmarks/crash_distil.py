"""kill -9 of a worker while it distils, at random moments: the same memories and facts as without a kill, no job lost.

    python benchmarks/crash_distil.py --moments 50

The threads of the bundled sample conversation are recorded in workspaces of their own (what two threads of one workspace make of
each other depends on which is read first, kill or not), and each a second time. The first ones are distilled undisturbed: that is
what should come out. For the others, with jobs waiting for all of it, a worker is started and killed at a random moment (counted
in windows, and in milliseconds after), again and again; in the end all that is left is distilled. Each pair must know the same,
with the same validity and the same sources. By rules, and with an analyst that answers slowly (kills fall into its thinking).
"""

import argparse
import asyncio
import json
import random
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg

from everlore.distil import reading
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.models.rules import RuleAnalyst
from everlore.ports.analyst import Extraction, Governor, Window
from everlore.store.server import SUPERUSER

# One moment in all that is recorded, so that two runs can be compared.
NOW = datetime(2026, 1, 1, tzinfo=UTC)
CALM, CRASHED = "calm", "crashed"
_COMMIT = "_commit"
_PATIENCE_S = 120

# What is known, in words: ids differ from run to run.
_MEMORIES = """
    select m.type, m.content, m.valid_from, m.valid_to, m.review, m.review_reason, m.confidence, m.expires_at, m.version,
           (select m2.content from everlore.memory m2
            where m2.workspace_id = m.workspace_id and m2.memory_id = m.superseded_by),
           array(select e.name from everlore.memory_entity x join everlore.entity e using (workspace_id, entity_id)
                 where x.workspace_id = m.workspace_id and x.lineage_id = m.lineage_id order by 1),
           array(select g.external_id || ':' || coalesce(s.start_at, -1) from everlore.memory_source s
                 left join everlore.message g using (workspace_id, message_id)
                 where s.workspace_id = m.workspace_id and s.lineage_id = m.lineage_id order by 1)
    from everlore.memory m where m.workspace_id = %s and m.superseded_at is null
"""
_FACTS = """
    select s.name, f.predicate, f.object, f.valid_from, f.valid_to, f.confidence, f.version,
           array(select g.external_id || ':' || coalesce(x.start_at, -1) from everlore.fact_source x
                 left join everlore.message g using (workspace_id, message_id)
                 where x.workspace_id = f.workspace_id and x.lineage_id = f.lineage_id order by 1)
    from everlore.fact f join everlore.entity s on s.workspace_id = f.workspace_id and s.entity_id = f.subject_id
    where f.workspace_id = %s and f.superseded_at is null
"""
_ENTITIES = """
    select e.name, e.type,
           array(select a.variant from everlore.alias a
                 where a.workspace_id = e.workspace_id and a.entity_id = e.entity_id order by 1),
           (select count(*) from everlore.mention m where m.workspace_id = e.workspace_id and m.entity_id = e.entity_id)
    from everlore.entity e where e.workspace_id = %s
"""
_WINDOWS = """
    select t.name, d.first, d.last, d.memories, d.facts, d.rejected, d.error
    from everlore.distillation d join everlore.thread t using (workspace_id, thread_id) where d.workspace_id = %s
"""


class Slow(RuleAnalyst):
    """Rules that take their time, as a model would."""

    async def extract(self, window: Window, governor: Governor) -> Extraction:
        await asyncio.sleep(0.03)
        return await super().extract(window, governor)


def conversation(rounds: int, only: str | None) -> dict[str, list[NewMessage]]:
    """The sample by thread (or `only` one), with later rounds of it in threads of their own."""
    lines = (resources.files("everlore") / "data" / "sample.jsonl").read_text("utf-8").splitlines()
    threads: dict[str, list[NewMessage]] = {}
    for number in range(rounds):
        for line in lines:
            said = json.loads(line)
            if only not in (None, said["thread"]):
                continue
            message = NewMessage(
                role=said["role"],
                author=said.get("author"),
                at=datetime.fromisoformat(said["at"]),
                text=said["text"],
            )
            name = f"{said['thread']} {number}"
            before = threads.setdefault(name, [])
            before.append(replace(message, external_id=f"{name}-{len(before)}"))
    return threads


def opened(data_dir: Path, analyst: str, *, worker: bool = False) -> Any:
    return Everlore.open(
        data_dir=data_dir,
        worker=worker,
        clock=lambda: NOW,
        embedders={"fake": FakeEmbedder()},
        analyst=Slow() if analyst == "slow" else RuleAnalyst(),
    )


# ---- the process that is killed


async def work(data_dir: Path, analyst: str) -> None:
    """Distil what waits, one line of output per window committed."""
    whole = getattr(reading, _COMMIT)

    async def told(*arguments: Any) -> None:
        await whole(*arguments)
        print("window", flush=True)

    setattr(reading, _COMMIT, told)
    async with opened(data_dir, analyst) as lore:
        print("ready", flush=True)
        await lore.distil()
        print("done", flush=True)


# ---- the driver


@dataclass
class Report:
    analyst: str = ""
    moments: int = 0
    killed_at_work: int = 0
    windows: int = 0
    memories: int = 0
    facts: int = 0
    entities: int = 0
    memories_differ: int = 0
    facts_differ: int = 0
    entities_differ: int = 0
    windows_differ: int = 0
    threads_behind: int = 0
    jobs_left: int = 0
    parked: int = 0
    seconds: float = 0.0

    @property
    def clean(self) -> bool:
        wrong = (
            self.memories_differ, self.facts_differ, self.entities_differ, self.windows_differ, self.threads_behind,
            self.jobs_left, self.parked,
        )  # fmt: skip
        return not any(wrong)


def run(moments: int, rounds: int, only: str | None, seed: int, analyst: str, data_dir: Path) -> Report:
    chance = random.Random(seed)
    report = Report(analyst=analyst)
    began = time.monotonic()
    threads = conversation(rounds, only)
    windows = asyncio.run(_prepare(data_dir, threads))
    left = windows
    for moment in range(moments):
        # Spread over all of the work, so that the last kills find some of it, too.
        share = max(1, left // (moments - moment))
        wanted = min(chance.randint(0, 2 * share), max(0, left - 1))
        done, at_work = _one_moment(data_dir, analyst, chance, wanted)
        report.killed_at_work += at_work
        report.moments += 1
        left = max(0, left - done)
    asyncio.run(_finish(data_dir, list(threads), report))
    report.seconds = round(time.monotonic() - began, 1)
    return report


async def _prepare(data_dir: Path, threads: Mapping[str, Sequence[NewMessage]]) -> int:
    """Record everything twice and distil the first; returns how many windows that took."""
    async with opened(data_dir, "rules") as lore:
        for kind in (CALM, CRASHED):
            for thread, messages in threads.items():
                await (await lore.workspace(f"{kind} {thread}", create=True)).record(messages)
            if kind == CALM:
                await lore.distil()
        with _connected(lore) as connection:
            return len(connection.execute("select from everlore.distillation").fetchall())


def _one_moment(data_dir: Path, analyst: str, chance: random.Random, wanted: int) -> tuple[int, bool]:
    """Start a worker and kill it after so many windows; returns how many it had told of, and whether it was at work still."""
    worker = subprocess.Popen(
        [sys.executable, __file__, "work", str(data_dir), "--analyst", analyst],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert worker.stdout is not None
    done, finished = 0, False
    for line in iter(worker.stdout.readline, ""):
        done += line == "window\n"
        finished = line == "done\n"
        if finished or done >= wanted:
            break
    if not finished:
        select.select([worker.stdout], [], [], chance.choice([0, 0.001, 0.003, 0.01, 0.02, 0.04, 0.08]))
    worker.kill()
    rest = worker.communicate()[0]
    return done + rest.count("window\n"), not finished and "done" not in rest


async def _finish(data_dir: Path, threads: Sequence[str], report: Report) -> None:
    """Distil what is left, as the next user would, and compare."""
    async with opened(data_dir, report.analyst, worker=True) as lore:
        await lore.distil()
        # Jobs that dead workers held are given back after a while, find nothing to do, and end.
        report.jobs_left = await _queued(lore)
        for _ in range(_PATIENCE_S):
            if report.jobs_left:
                await asyncio.sleep(1)
                report.jobs_left = await _queued(lore)
        status = await lore.status()
        ids = {one.name: (await lore.workspace(one.name)).workspace_id for one in await lore.workspaces()}
        for name in ids:
            report.threads_behind += len(await (await lore.workspace(name)).threads_to_distil())
        report.parked = len(status.parked) + len(status.failures)
        with _connected(lore) as connection:
            for kind, query in (
                ("memories", _MEMORIES),
                ("facts", _FACTS),
                ("entities", _ENTITIES),
                ("windows", _WINDOWS),
            ):
                for thread in threads:
                    calm, crashed = (
                        _known(connection, query, ids[f"{called} {thread}"]) for called in (CALM, CRASHED)
                    )
                    setattr(report, kind, getattr(report, kind) + calm.total())
                    differ = (calm - crashed) + (crashed - calm)
                    setattr(report, f"{kind}_differ", getattr(report, f"{kind}_differ") + differ.total())


async def _queued(lore: Everlore) -> int:
    with _connected(lore) as connection:
        rows = connection.execute(
            "select from jobs.procrastinate_jobs where queue_name = 'distil' and status in ('todo', 'doing')"
        ).fetchall()
        return len(rows)


def _known(connection: psycopg.Connection[Any], query: Any, workspace_id: UUID) -> Counter[str]:
    return Counter(repr(row) for row in connection.execute(query, [workspace_id]).fetchall())


def _connected(lore: Everlore) -> psycopg.Connection[Any]:
    assert lore.server is not None
    return psycopg.connect(lore.server.conninfo(SUPERUSER), autocommit=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", default="run", choices=["run", "work"])
    parser.add_argument("data_dir", nargs="?", type=Path)
    parser.add_argument("--moments", type=int, default=50)
    parser.add_argument(
        "--rounds", type=int, default=3, help="of the sample conversation (389 messages each)"
    )
    parser.add_argument("--only", metavar="THREAD", help="of the sample conversation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--analyst", choices=["rules", "slow"], default="rules")
    given = parser.parse_args()
    if given.what == "work":
        asyncio.run(work(given.data_dir, given.analyst))
        return 0
    with tempfile.TemporaryDirectory(prefix="everlore-crash-") as folder:
        Path(folder).chmod(0o711)  # for root: the server runs as a system user, who must be able to enter
        report = run(
            given.moments, given.rounds, given.only, given.seed, given.analyst, Path(folder) / "data"
        )
    print(json.dumps({**asdict(report), "clean": report.clean}))
    return 0 if report.clean else 1


if __name__ == "__main__":
    sys.exit(main())
