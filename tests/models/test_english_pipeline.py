"""The parser's weights are those that were chosen, and nobody loads them before a window is read."""

import hashlib
import subprocess
import sys
from pathlib import Path

import everlore_english
import pytest

from everlore.domain.errors import ConfigurationError
from everlore.models import rules
from everlore.models.rules import pipeline

PACKAGE = Path(everlore_english.path()).parent
PINNED = [line.split() for line in (PACKAGE / "weights.sha256").read_text().splitlines()]


@pytest.mark.parametrize(("digest", "name"), PINNED, ids=[name for _, name in PINNED])
def test_a_file_of_weights_is_the_one_that_was_chosen(digest: str, name: str) -> None:
    assert hashlib.sha256((everlore_english.path() / name).read_bytes()).hexdigest() == digest


def test_all_weights_are_pinned() -> None:
    pinned = {(everlore_english.path() / name).resolve() for _, name in PINNED}
    large = {
        one for one in everlore_english.path().rglob("*") if one.is_file() and one.stat().st_size > 15_000
    }
    assert large <= pinned


def test_the_parser_is_loaded_by_who_reads_and_not_by_who_asks() -> None:
    asked = "import sys, everlore.wiring as w; print(w.RuleAnalyst().name, 'spacy' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["rules", "False"]


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline.loaded.cache_clear()
    monkeypatch.setitem(sys.modules, "everlore_english", None)
    try:
        with pytest.raises(ConfigurationError, match=r"everlore\[english\]"):
            pipeline.parsed(["I live in Lisbon."])
    finally:
        pipeline.loaded.cache_clear()


def test_who_has_seen_too_many_words_is_loaded_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    (first,) = pipeline.parsed(["I live in Lisbon."])
    monkeypatch.setattr(pipeline, "_MOST_WORDS", len(first.vocab) + 100)
    (second,) = pipeline.parsed(["I live in Ouagadougou."])
    assert second.vocab is first.vocab
    monkeypatch.setattr(pipeline, "_MOST_WORDS", len(first.vocab) - 1)
    (third,) = pipeline.parsed(["I live in Lisbon."])
    assert third.vocab is not first.vocab
    assert len(third.vocab) < len(first.vocab)
    said = [[(one.text, one.lemma_, one.tag_, one.dep_) for one in doc] for doc in (first, third)]
    assert said[0] == said[1]


def test_that_it_is_there_is_asked_without_loading_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        assert name in {"spacy", "everlore_english"}

    assert rules.parser_is_installed()
    monkeypatch.setattr(rules, "find_spec", missing)
    assert not rules.parser_is_installed()
