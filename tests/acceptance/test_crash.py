"""kill -9 of the importer, of the worker and of Postgres: nothing acknowledged is lost, nothing doubled (measure 4).

A few moments here; `CRASH_MOMENTS=50`, or `python benchmarks/crash.py`, takes all of them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "crash.py"
MOMENTS = os.environ.get("CRASH_MOMENTS", "3")


@pytest.mark.slow
def test_no_acknowledged_message_is_lost_or_doubled_and_the_index_completes() -> None:
    command = [sys.executable, str(SCRIPT), "--moments", MOMENTS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    assert report["moments"] == int(MOMENTS)
    assert report["acknowledged"] > 100
    wrong = ("lost", "doubled", "refused", "gaps", "lagging", "wrong_postings", "without_vector")
    assert {name: report[name] for name in wrong} == dict.fromkeys(wrong, 0)
    assert report["resumed"]
