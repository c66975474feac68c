"""Every pass over a message is linear, whatever the text: four times the text may not take sixteen times the work.

Each pass is given each shape, and what takes it much longer than other shapes of that length do is looked at again: its work at
20,000 characters over that at 5,000, the least of several tries. Linear work gives 4, quadratic 16; so a busy machine is not
taken for a slow pass, and no clock decides. The shapes that take longest are looked at so in any case, since a pass may be slow
for all alike. Some passes are dear: they are given 5,000 characters first, the others 20,000. With `--fuzz 4` all texts are four
times as long, and four times as many are looked at again.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from statistics import median
from typing import cast
from uuid import UUID

import pytest
from tests.fuzz.shapes import SHAPES, build
from tests.growth import BOUND, LONGER, growth_of, work

from everlore.capture.markdown import plain
from everlore.capture.passages import WordCounts
from everlore.capture.searchable import searchable
from everlore.distil.input_filter import RawMessage, readable
from everlore.grounding.grounding import ground
from everlore.grounding.prompt_injection import prompt_injection
from everlore.models.language_model.repair import Unusable, read_object
from everlore.models.rules.analyst import extract
from everlore.ports.analyst import DraftFact, DraftMemory, Extraction, Quote, Window, WindowMessage
from everlore.text.dates import read_dates
from everlore.text.languages import language_of
from everlore.text.names import names
from everlore.text.numbers import marks
from everlore.text.quotes import Folded, find
from everlore.text.secrets import redact
from everlore.text.sentences import sentences
from everlore.text.words import telling

SIZE = 20_000
# How many times the usual work of a pass makes a shape suspicious, and how many shapes of each pass are suspected at least and
# at most: what is not among them takes less time than a shape that is linear.
SUSPICIOUS, AT_LEAST, AT_MOST = 2.5, 1, 4
# Processor seconds that nobody minds.
LITTLE = 0.02
AT = datetime(2025, 3, 10, 12, 0, tzinfo=UTC)


def window(text: str) -> Window:
    return Window((WindowMessage(1, "user", "Anna", AT, text),))


def grounded(text: str) -> None:
    """Drafts that quote the text at its end, and words that it has not."""
    quotes = (Quote(1, text[-200:]), Quote(1, "never said like that"))
    memory = DraftMemory("fact", text[:400] or "a", quotes)
    fact = DraftFact("Anna", "likes", text[:100] or "a", quotes)
    ground(window(text), Extraction((memory,), (fact,)), {})


def quoted(text: str) -> None:
    whole = Folded(text)
    for quote in (text[:200], "a text that is not there", text[-40:] + "q"):
        find(quote, whole)


def read_back(text: str) -> None:
    said = RawMessage(UUID(int=1), 1, "user", "Anna", True, AT, text)
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
    "quotes": quoted,
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


# Together they take more time than all others.
DEAR = frozenset({"reading by rules", "grounding", "input filter", "prompt injection", "quotes"})


@pytest.mark.parametrize("name", PASSES)
def test_every_pass_is_linear(name: str, pytestconfig: pytest.Config) -> None:
    more = cast("int", pytestconfig.getoption("--fuzz"))
    one, large = PASSES[name], SIZE * min(more, LONGER)
    one("Warm up. " * 50)
    spent = {shape: work(one, build(shape, large // LONGER if name in DEAR else large)) for shape in SHAPES}
    usual = max(median(spent.values()), LITTLE)
    by_work = sorted(SHAPES, key=lambda shape: spent[shape], reverse=True)
    suspicious = [shape for shape in by_work if spent[shape] > SUSPICIOUS * usual]
    suspected = by_work[: more * min(max(len(suspicious), AT_LEAST), AT_MOST)]
    growing = {
        shape: growth
        for shape in suspected
        if (growth := growth_of(one, partial(build, shape), large)) > BOUND
    }
    assert not growing


def test_quadratic_work_is_noticed() -> None:
    def quadratic(text: str) -> None:
        for _ in range(0, len(text), 400):
            sorted(text)

    assert growth_of(quadratic, partial(build, "chinese"), SIZE) > BOUND
