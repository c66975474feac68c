"""kill -9 in the middle of a switch and of a reconcile: nothing acknowledged is lost, no turn twice, the path whole (measure 4).

A few moments here; `CRASH_MOMENTS=50`, or `python benchmarks/crash_tree.py`, takes all of them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "crash_tree.py"
MOMENTS = os.environ.get("CRASH_MOMENTS", "2")


@pytest.mark.slow
def test_the_path_is_whole_and_every_turn_there_once() -> None:
    command = [sys.executable, str(SCRIPT), "--moments", MOMENTS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    assert report["moments"] == int(MOMENTS)
    assert report["turns"] > 300
    wrong = ("lost", "doubled", "broken_paths", "misplaced")
    assert {name: report[name] for name in wrong} == dict.fromkeys(wrong, 0)
