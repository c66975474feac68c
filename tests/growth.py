"""How work grows with the length of a text: a ratio, so that no clock decides and a busy machine is not taken for slow code."""

import gc
import time
from collections.abc import Callable

# How many times the text is longer, and a bound between the work that is linear (as many times more) and quadratic (16 times).
LONGER, BOUND = 4, 9.0
TRIES = 6
# Processor seconds below which a ratio says nothing.
NOTHING = 0.004


def growth_of(one: Callable[[str], object], build: Callable[[int], str], large: int) -> float:
    """How many times more work `one` does at `large` characters than at a fourth of that; the least ratio of several tries.
    `build` makes a text of so many characters."""
    less = more = float("inf")
    for attempt in range(TRIES):
        # Never the same text twice: answers are kept by text.
        less = min(less, work(one, build(large // LONGER + attempt) + f" {attempt}"))
        more = min(more, work(one, build(large + attempt) + f" {attempt}"))
        if more <= BOUND * max(less, NOTHING):
            break
    return more / max(less, NOTHING)


def work(one: Callable[[str], object], text: str) -> float:
    """Processor seconds."""
    gc.disable()
    try:
        started = time.process_time()
        one(text)
        return time.process_time() - started
    finally:
        gc.enable()
