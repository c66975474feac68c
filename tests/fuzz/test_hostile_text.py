"""Every pass over a message is linear, whatever the text: four times the text may not take sixteen times the work.

The measure is a ratio and no clock: the least processor time of several tries at 80,000 characters over the least at 20,000.
Linear work gives 4, quadratic 16. What looks too much is tried again, so that a busy machine is not taken for a slow pass.
"""

import gc
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from uuid import UUID

import pytest
from tests.fuzz.shapes import SHAPES, build

from everlore.capture.markdown import plain
from everlore.capture.passages import WordCounts
from everlore.capture.searchable import searchable
from everlore.distil.input_filter import Said, readable
from everlore.grounding.grounding import ground
from everlore.grounding.prompt_injection import prompt_injection
from everlore.models.language_model.repair import Unusable, read_object
from everlore.models.rules.analyst import extract
from everlore.ports.analyst import DraftFact, DraftMemory, Extraction, Quote, Window, WindowMessage
from everlore.text.dates import read_dates
from everlore.text.languages import language_of
from everlore.text.names import names
from everlore.text.numbers import marks
from everlore.text.quotes import find
from everlore.text.secrets import redact
from everlore.text.sentences import sentences
from everlore.text.words import telling

SMALL, LARGE = 20_000, 80_000
# Between the 4 of linear work and the 16 of quadratic work.
BOUND = 9.0
TRIES = 6
# Processor seconds below which a ratio says nothing.
NOTHING = 0.004

AT = datetime(2025, 3, 10, 12, 0, tzinfo=UTC)


def window(text: str) -> Window:
    return Window((WindowMessage(1, "user", "Anna", AT, text),))


def grounded(text: str) -> None:
    """Drafts that quote the text at its beginning, at its end, and words that it has not."""
    quotes = (Quote(1, text[-200:]), Quote(1, "never said like that"))
    memories = tuple(DraftMemory("fact", text[:400] or "a", (quote,)) for quote in quotes)
    facts = tuple(DraftFact("Anna", "likes", text[:100] or "a", (quote,)) for quote in quotes)
    ground(window(text), Extraction(memories, facts), {})


def read_back(text: str) -> None:
    said = Said(UUID(int=1), 1, "user", "Anna", True, AT, text)
    readable([said], [()])


def answered(text: str) -> None:
    with suppress(Unusable):
        read_object("{" + text + "}")


def named(text: str) -> None:
    for sentence in sentences(text):
        names(sentence.text)


PASSES: dict[str, Callable[[str], object]] = {
    "markdown": plain,
    "searchable form and passages": lambda text: searchable("Anna", text, (), WordCounts(lambda word: len(word) // 4 + 1)),
    "input filter": read_back,
    "secrets": redact,
    "prompt injection": prompt_injection,
    "sentences": sentences,
    "quotes": lambda text: (find(text[:200], text), find("a text that is not there", text), find(text[-40:] + "q", text)),
    "names": named,
    "dates": lambda text: read_dates(text, AT),
    "numbers and addresses": marks,
    "words": telling,
    "language": language_of,
    "reading by rules": lambda text: extract(window(text)),
    "grounding": grounded,
    "answer of a model": answered,
}  # fmt: skip


def test_there_are_a_hundred_shapes() -> None:
    assert len(SHAPES) >= 100


@pytest.mark.parametrize("shape", SHAPES)
def test_every_pass_is_linear(shape: str) -> None:
    growing = {name: growth for name, one in PASSES.items() if (growth := growth_of(one, shape)) > BOUND}
    assert not growing


def growth_of(one: Callable[[str], object], shape: str) -> float:
    """How many times more work `one` does at four times the size; the least ratio of several tries."""
    small = large = float("inf")
    for attempt in range(TRIES):
        # Never the same text twice: answers are kept by text.
        small = min(small, work(one, build(shape, SMALL + attempt) + f" {attempt}"))
        large = min(large, work(one, build(shape, LARGE + attempt) + f" {attempt}"))
        if large <= BOUND * max(small, NOTHING):
            break
    return large / max(small, NOTHING)


def work(one: Callable[[str], object], text: str) -> float:
    gc.disable()
    try:
        started = time.process_time()
        one(text)
        return time.process_time() - started
    finally:
        gc.enable()
