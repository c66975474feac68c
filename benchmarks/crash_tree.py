"""kill -9 in the middle of a switch and of a reconcile, at random moments: nothing acknowledged is lost, no turn is stored twice,
and the path is whole.

    python benchmarks/crash_tree.py --moments 50

A client has one long thread. It goes on with it, edits it far back and switches between its branches, by turns, each of which
moves hundreds of messages on or off the path. Before each deed it says on its output what it is about to do, and after the answer
that it is done. At a random moment the client or Postgres with all its children is killed. Then everything is started again and
looked at: every turn that was acknowledged is there once, the path is the one before what was interrupted, or the one after, each
message follows the one before it, and the passages of what is off the path, and of nothing else, lie among the branches. The next
client begins with what was interrupted, sent again.
"""

import argparse
import asyncio
import json
import random
import select
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import psycopg

from crash import kill_postgres
from everlore.api.workspace import Workspace
from everlore.domain.messages import StoredMessage
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.store.server import SUPERUSER

TURNS = 300
VICTIMS = ("client", "postgres")
Turns = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tree:
    """Where the client stands: what its path says, and a branch that is off it. No two turns say the same."""

    path: Turns = ()
    other: Turns = ()

    def led_to(self, path: Turns) -> "Tree":
        return Tree(path, self.other if path[: len(self.path)] == self.path else self.path)


def deed(number: int, tree: Tree) -> tuple[str, Turns]:
    """What the client does as its so-manieth deed, and the path that it leads to."""
    chance = random.Random(number)
    new = tuple(f"turn {number}.{place}, of {chance.choice(['tea', 'chess', 'boats'])}" for place in range(4))
    if not tree.path:
        return "reconcile", tuple(f"turn 0.{place}" for place in range(TURNS))
    match number % 3:
        case 1:
            # An edit far back: most of the path leaves it.
            return "reconcile", tree.path[: chance.randrange(3, 40)] + new
        case 2:
            return "switch", tree.other
        case _:
            return "reconcile", tree.path + new


# ---- the process that is killed


async def client(data_dir: Path, number: int, tree: Tree) -> None:
    """Go on from a deed, without an end. Says `begin` and `done` of each."""
    async with Everlore.open(data_dir=data_dir, worker=False, embedders={"fake": FakeEmbedder()}) as lore:
        workspace = await lore.workspace("alice", create=True)
        ids: dict[str, UUID] = {}
        while True:
            what, path = deed(number, tree)
            if what == "switch" and path[-1] not in ids:
                ids |= {one.text: one.message_id for one in await _all(workspace)}
            print(json.dumps(["begin", number, what]), flush=True)
            if what == "switch":
                await workspace.switch("main", ids[path[-1]])
            else:
                await workspace.reconcile([{"role": "user", "content": text} for text in path])
            print(json.dumps(["done", number, what]), flush=True)
            number, tree = number + 1, tree.led_to(path)


async def _all(workspace: Workspace) -> list[StoredMessage]:
    page = await workspace.messages(branches=True, limit=500)
    found = list(page)
    while page.cursor:
        page = await workspace.messages(branches=True, limit=500, cursor=page.cursor)
        found += page
    return found


# ---- the driver


@dataclass
class Report:
    """`committed`: of what was interrupted, how much had been done all the same."""

    moments: int = 0
    switches: int = 0
    reconciles: int = 0
    committed: int = 0
    deeds: int = 0
    turns: int = 0
    lost: int = 0
    doubled: int = 0
    broken_paths: int = 0
    misplaced: int = 0

    @property
    def clean(self) -> bool:
        return not any((self.lost, self.doubled, self.broken_paths, self.misplaced))


def run(moments: int, seed: int, data_dir: Path) -> Report:
    chance = random.Random(seed)
    report = Report()
    tree, number = Tree(), 0
    acknowledged: set[Turns] = set()
    while report.moments < moments:
        tree, number, interrupted = _one_moment(data_dir, tree, number, chance, acknowledged)
        path = asyncio.run(_look(data_dir, acknowledged, report))
        if interrupted is None:
            continue
        what, leads_to = interrupted
        report.moments += 1
        report.switches += what == "switch"
        report.reconciles += what == "reconcile"
        report.committed += path == leads_to
        report.broken_paths += path not in (tree.path, leads_to)
    report.deeds = number
    return report


def _one_moment(
    data_dir: Path, tree: Tree, number: int, chance: random.Random, acknowledged: set[Turns]
) -> tuple[Tree, int, tuple[str, Turns] | None]:
    """Let the client do a few deeds and kill it, or Postgres, in the middle of one. Returns where that leaves it, and what was
    interrupted, if anything was."""
    given = json.dumps({"number": number, "path": tree.path, "other": tree.other})
    process = subprocess.Popen(
        [sys.executable, __file__, "client", str(data_dir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(given)
    process.stdin.close()
    process.stdin = None
    last = number + chance.randrange(1, 6)
    lines: list[str] = []
    for line in iter(process.stdout.readline, ""):
        lines.append(line)
        if json.loads(line)[:2] == ["begin", last]:
            # Statements take some milliseconds; the time until the commit, too.
            select.select([], [], [], chance.uniform(0, 0.12))
            break
    if chance.choice(VICTIMS) == "postgres":
        kill_postgres(data_dir)
        # It ends with an error, or, where nothing was under way, starts Postgres again and goes on.
        with suppress(subprocess.TimeoutExpired):
            process.wait(2)
    process.kill()
    lines += process.stdout.readlines()
    process.wait()
    interrupted = None
    for line in lines:
        if not line.endswith("\n"):
            continue
        said, number, what = json.loads(line)
        _, path = deed(number, tree)
        interrupted = (what, path)
        if said == "done":
            tree, number, interrupted = tree.led_to(path), number + 1, None
            acknowledged |= {path[: end + 1] for end in range(len(path))}
    return tree, number, interrupted


async def _look(data_dir: Path, acknowledged: set[Turns], report: Report) -> Turns:
    """Start again, as the next user would, and count what is wrong. Returns what the path says."""
    async with Everlore.open(data_dir=data_dir, worker=False, embedders={"fake": FakeEmbedder()}) as lore:
        await lore.catch_up()
        assert lore.server is not None
        with psycopg.connect(lore.server.conninfo(SUPERUSER), autocommit=True) as connection:
            stored = connection.execute(
                "select message_id, parent_id, text, on_path from everlore.message order by position"
            ).fetchall()
            threads = connection.execute("select tip_id, messages, off_path from everlore.thread").fetchall()
            (misplaced,) = connection.execute(
                "select count(*) from everlore.message m left join everlore.passage p on p.owner_id = m.message_id "
                "where (p.layer::text = case when m.on_path then 'said' else 'branches' end) is not true"
            ).fetchone() or (0,)
    tip, messages, off_path = threads[0] if threads else (None, 0, 0)
    chains: dict[UUID, Turns] = {}
    for message_id, parent_id, text, _ in stored:
        chains[message_id] = (*chains[parent_id], text) if parent_id else (text,)
    report.turns = len(stored)
    report.doubled += len(chains) - len(set(chains.values()))
    report.lost += len(acknowledged - set(chains.values()))
    report.misplaced += misplaced
    path = tuple(text for _, _, text, on_path in stored if on_path)
    report.broken_paths += path != (chains.get(tip, ()) if tip else ())
    report.broken_paths += (messages, off_path) != (len(stored), len(stored) - len(path))
    return path


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", default="run", choices=["run", "client"])
    parser.add_argument("data_dir", nargs="?", type=Path)
    parser.add_argument("--moments", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.what == "client":
        begin = json.load(sys.stdin)
        tree = Tree(tuple(begin["path"]), tuple(begin["other"]))
        asyncio.run(client(given.data_dir, begin["number"], tree))
        return 0
    with tempfile.TemporaryDirectory(prefix="everlore-crash-") as folder:
        Path(folder).chmod(0o711)  # for root: the server runs as a system user, who must be able to enter
        report = run(given.moments, given.seed, Path(folder) / "data")
    print(json.dumps({**vars(report), "clean": report.clean}))
    return 0 if report.clean else 1


if __name__ == "__main__":
    sys.exit(main())
