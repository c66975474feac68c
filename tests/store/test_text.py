"""The words and stems of the text kernel are those of the database: what is compared in one must meet what the other indexed."""

import json
from pathlib import Path

import psycopg
from tests.conftest import TestDatabase

from everlore.text.words import stem, tokens

DATA = Path(__file__).parents[2] / "src/everlore/data"
GOLDEN = Path(__file__).parents[1] / "golden"


def _texts() -> list[str]:
    sample = (DATA / "sample.jsonl").read_text("utf-8").splitlines()
    said = [str(json.loads(line).get("content") or json.loads(line).get("text")) for line in sample if line]
    cases = json.loads((GOLDEN / "cases.json").read_text("utf-8"))
    cases = cases["cases"] if isinstance(cases, dict) else cases
    return said + [message["text"] for case in cases for message in case["messages"]]


def test_words_and_stems_are_those_of_the_database(database: TestDatabase) -> None:
    texts = [
        *_texts(),
        "adding, added and adds; egged, offed, erring, innings, oddly",
        "organizing evenings at universities",
    ]
    compared, different = 0, list[object]()
    with psycopg.connect(database.owner) as connection:
        for text in texts:
            rows = connection.execute("select word, term from everlore.query_words(%s)", (text,)).fetchall()
            split = [token.text for token in tokens(text)]
            different += [] if [word for word, _ in rows] == split else [(text, split)]
            terms = {word: term for word, term in rows if term is not None}
            different += [(word, term) for word, term in terms.items() if stem(word) != term]
            compared += len(terms)
    assert different == []
    assert compared > 2_000
