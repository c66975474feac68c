"""Golden cases through the whole memory by rules: recorded, distilled, read back through the public verbs, and scored.

python -m tests.golden.pipeline                  the cases for development
python -m tests.golden.pipeline --held-back      the third that was held back: prints figures and ids of cases, nothing else
"""

import argparse
import asyncio
import gzip
import json
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from tests.golden.score import Case, Fact, Memory, Output, Score, load, score

from everlore.api.workspace import Workspace
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.models.rules import RuleAnalyst

HERE = Path(__file__).parent
DEVELOPMENT = HERE / "cases.json"
HELD_BACK = HERE / "held_back.json.gz"
_MANY = 1000


async def distilled(lore: Everlore, cases: Sequence[Case]) -> dict[str, Output]:
    """What the memory holds after each case, every one in a workspace of its own."""
    workspaces = {case["id"]: await lore.workspace(case["id"]) for case in cases}
    for case in cases:
        await workspaces[case["id"]].record(
            [
                NewMessage(
                    role=said["role"],
                    author=said.get("author"),
                    at=datetime.fromisoformat(said["at"]),
                    text=said["text"],
                )
                for said in case["messages"]
            ]
        )
    await lore.distil()
    return {case_id: await output(workspace) for case_id, workspace in workspaces.items()}


async def output(workspace: Workspace) -> Output:
    """All that was taken in, superseded or not; not what waits for review."""
    kept = [
        memory
        for status in ("active", "expired", "superseded")
        for memory in await workspace.memories(status=status, include_expired=True, limit=_MANY)
    ]
    by_id = {memory.lineage_id: memory.content for memory in kept}
    facts = await workspace.facts(history=True, limit=_MANY)
    entities = await workspace.graph.entities(limit=_MANY)
    return Output(
        memories=[
            Memory(one.type, one.content, None if one.event_at is None else one.event_at.date())
            for one in kept
        ],
        facts=[Fact(one.subject, one.predicate, one.object, ended=one.valid_to is not None) for one in facts],
        aliases=[
            (found.entity.name, alias.variant)
            for found in entities
            for alias in found.entity.aliases
            if alias.variant != found.entity.name and alias.origin == "extracted"
        ],
        supersedes=[
            (one.content, by_id[one.superseded_by])
            for one in kept
            if one.valid_to is not None and one.superseded_by is not None and one.superseded_by in by_id
        ],
    )


def report(total: Score, *, failures: bool) -> str:
    """Figures by kind; and what failed, in words or by the ids of cases alone."""
    lines = [
        f"{kind}: precision {tally.precision:.3f} ({tally.right} right, {tally.wrong} wrong),"
        f" recall {tally.recall:.3f} ({tally.found} of {tally.expected})"
        for kind, tally in [*total.kinds.items(), ("all", total.all)]
    ]
    traps = [case for case, wrong in total.trap_wrong.items() if wrong]
    lines.append(f"traps with a wrong output: {len(traps)} of {len(total.trap_wrong)}")
    if failures:
        return "\n".join([*lines, *total.failures])
    failing = dict.fromkeys(failure.split(":", 1)[0] for failure in total.failures)
    return "\n".join([*lines, f"cases with a failure ({len(failing)}): {' '.join(failing)}"])


async def run(cases: Sequence[Case]) -> Score:
    with tempfile.TemporaryDirectory(prefix="everlore-golden-") as folder:
        Path(folder).chmod(0o711)  # for root: the server runs as a system user, who must be able to enter
        async with Everlore.open(
            data_dir=Path(folder) / "data",
            worker=False,
            embedders={"fake": FakeEmbedder()},
            analyst=RuleAnalyst(),
        ) as lore:
            return score(cases, await distilled(lore, cases))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--held-back", action="store_true", help="for the final figure only")
    given = parser.parse_args()
    if given.held_back:
        cases: list[Case] = json.loads(gzip.decompress(HELD_BACK.read_bytes()))
    else:
        cases = load(DEVELOPMENT)
    sys.stdout.write(report(asyncio.run(run(cases)), failures=not given.held_back) + "\n")


if __name__ == "__main__":
    main()
