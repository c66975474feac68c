"""The labels of what the analyst without a model keeps: whole, of messages that are there, and as the README states them."""

import json
from importlib.resources import files

import pytest
from tests.golden.labels import FOLDER, items, shares

FILES = (
    "labels_first.json",
    "labels_second.json",
    "labels_third.json",
    "labels_fourth.json",
    "labels_fifth.json",
)
LABELLED = [(name, kind) for name in FILES for kind in ("memories", "facts") if items(name, kind)]
ALLOWED = {"memories": {"good", "useless", "unclear", "wrong"}, "facts": {"right", "vague", "wrong"}}


def _refs() -> set[tuple[str, str]]:
    """Every message of the sample and of the chats, as labels name it."""
    sample = (files("everlore") / "data" / "sample.jsonl").read_text(encoding="utf-8").splitlines()
    found = {(f"sample {line['thread']}", line["external_id"]) for line in map(json.loads, sample)}
    for path in (FOLDER / "chats").glob("*.json"):
        chat = json.loads(path.read_text(encoding="utf-8"))
        found |= {(f"chat {path.stem}", str(number)) for number in range(len(chat["messages"]))}
    return found


@pytest.mark.parametrize(("name", "kind"), LABELLED)
def test_every_label_is_of_a_message_that_is_there(name: str, kind: str) -> None:
    refs = _refs()
    for item in items(name, kind):
        assert len(item["labels"]) == 2
        assert set(item["labels"]) <= ALLOWED[kind]
        public = item["source"].startswith("locomo-dev ")
        assert public == ("digest" in item)
        assert public or (item["source"], str(item["ref"])) in refs


@pytest.mark.parametrize(("name", "kind"), LABELLED)
def test_the_readme_states_what_the_labels_say(name: str, kind: str) -> None:
    found = shares(name, kind)
    stated = (
        f"| `{name}` | {found.count} {kind} | {found.good[0]:.0%} and {found.good[1]:.0%} | {found.wrong:.1%} "
        f"| {found.agreement:.0%} |"
    )
    assert stated in (FOLDER / "README.md").read_text(encoding="utf-8")
