"""What does a client cost that sends its whole history with every call? A conversation grows turn by turn, sent whole each time.
Beside the first calls, which bring as much that is new, in the same run; so that only ratios count.

    python benchmarks/reconcile.py [--turns 500]
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path
from statistics import median

from everlore import Everlore
from everlore.capture.turns import turn_key

WARM_UP = 20
SAID = "I moved to Porto last week, near the river, and there are {} things that I like about it, the bridges above all."


async def main(turns: int) -> None:
    history = [
        {"role": ("user", "assistant")[number % 2], "content": SAID.format(number)} for number in range(turns)
    ]
    with tempfile.TemporaryDirectory(prefix="everlore-bench-") as folder:
        Path(folder).chmod(0o755)
        async with Everlore.open(data_dir=Path(folder) / "data", worker=False) as lore:
            workspace = await lore.workspace("reconcile")
            for number in range(WARM_UP):
                await workspace.reconcile(history[:1], thread=f"warm {number}")
            first: list[float] = []
            last: list[float] = []
            for length in range(1, turns + 1):
                began = time.perf_counter()
                answer = await workspace.reconcile(history[:length])
                last.append(time.perf_counter() - began)
                assert answer.stored == 1
                if length > turns - WARM_UP:
                    # One turn of a new thread, in turn with the last of the long one.
                    began = time.perf_counter()
                    await workspace.reconcile(history[:1], thread=f"new {length}")
                    first.append(time.perf_counter() - began)
            (thread,) = [one for one in await workspace.threads(limit=500) if one.name == "main"]
    assert (thread.messages, thread.off_path) == (turns, 0)
    one, whole = median(first) * 1000, median(last[-WARM_UP:]) * 1000
    print(f"{turns} turns sent whole {turns} times: {thread.messages} rows")
    print(
        f"one new turn: in a new thread {one:.2f} ms, behind {turns - 1} known ones {whole:.2f} ms; {whole / one:.2f} x"
    )
    texts = [str(one["content"]) * 20 for one in history]
    began = time.perf_counter()
    for text in texts:
        turn_key("user", text, (), "[]")
    took = time.perf_counter() - began
    print(f"hashed: {sum(map(len, texts)) / took / 1e6:,.0f} MB/s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=500)
    asyncio.run(main(parser.parse_args().turns))
