"""kill -9 of a worker that distils: the same memories, facts and sources as without the kill, and no job lost (measure 4).

One moment and one thread here; `CRASH_MOMENTS=50`, or `python benchmarks/crash_distil.py`, takes all of them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "crash_distil.py"
MOMENTS = os.environ.get("CRASH_MOMENTS", "1")
THREADS = [] if "CRASH_MOMENTS" in os.environ else ["--only", "work"]


@pytest.mark.slow
@pytest.mark.parametrize("analyst", ["rules", "slow"])
def test_the_same_is_known_as_without_the_kill(analyst: str) -> None:
    command = [
        sys.executable,
        str(SCRIPT),
        "--moments",
        MOMENTS,
        "--rounds",
        "1",
        "--analyst",
        analyst,
        *THREADS,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    assert report["moments"] == int(MOMENTS)
    assert min(report["killed_at_work"], report["memories"], report["facts"]) > 0
    wrong = [name for name in report if name.endswith("_differ")] + ["threads_behind", "jobs_left", "parked"]
    assert {name: report[name] for name in wrong} == dict.fromkeys(wrong, 0)
    assert report["clean"]
