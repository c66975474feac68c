"""entities, graph, taxonomy."""

from collections.abc import Callable
from typing import Any

import pytest

Cli = Callable[..., Any]

ENTITY_KEYS = {"entity_id", "short_id", "name", "type", "recorded_at", "mentions", "aliases"}
FOUND_KEYS = {"entity", "label", "facts", "variant", "score"}
NODE_KEYS = {"entity_id", "short_id", "name", "label", "type", "distance"}
EDGE_KEYS = {
    *(
        "subject_id",
        "predicate",
        "object_id",
        "kind",
        "weight",
        "valid_from",
        "valid_to",
        "lineages",
        "sources",
    ),
}
CHANGE_KEYS = {"change_id", "short_id", "kind", "kept", "other", "moved", "made_at", "undone_at"}


@pytest.fixture
def family(cli: Cli) -> Cli:
    """Alice, her sister Emma in Lisbon, her brother Tom at Siemens."""
    said = ("--author", "Alice", "--thread", "family", "--at")
    cli("record", "My sister Emma lives in Porto.", *said, "2024-03-02T12:00Z")
    cli("record", "Emma moved to Lisbon.", *said, "2025-05-20T12:00Z")
    cli("record", "My brother Tom works at Siemens.", *said, "2025-05-21T12:00Z")
    cli("distil")
    return cli


def names(found: Any) -> list[str]:
    return [one["entity"]["name"] for one in found.json["items"]]


def test_entities_are_listed_and_searched(family: Cli) -> None:
    listed = family("entities", "--json")
    assert {"Alice", "Emma", "Tom", "Lisbon", "Porto", "Siemens"} <= set(names(listed))
    assert all(set(one) == FOUND_KEYS and set(one["entity"]) == ENTITY_KEYS for one in listed.json["items"])
    assert names(family("entities", "--query", "emma", "--json"))[0] == "Emma"
    assert names(family("graph", "search", "Lisbonn", "--json"))[0] == "Lisbon"
    assert set(names(family("entities", "--type", "place", "--json"))) == {"Lisbon", "Porto"}
    assert len(names(family("entities", "--limit", "2", "--json"))) == 2
    assert "Emma (person)" in family("entities").out
    assert "has no entity like" in family("graph", "search", "Zanzibar").out


def test_one_entity_with_its_names_and_facts(family: Cli) -> None:
    found = family("entities", "show", "Emma", "--json").json
    assert set(found) == {"entity", "label", "facts", "namesakes"}
    assert set(found["entity"]["aliases"][0]) == {"alias_id", "variant", "weight", "origin"}
    assert "Alice's sister" in {one["variant"] for one in found["entity"]["aliases"]}
    assert {fact["object"] for fact in found["facts"]} == {"Lisbon", "Alice"}
    then = family("entities", "show", "Emma", "--as-of", "2025-01-01T00:00Z", "--json").json
    assert {fact["object"] for fact in then["facts"]} == {"Porto", "Alice"}
    shown = family("entities", "show", found["entity"]["short_id"]).out
    assert "Emma lives in Lisbon" in shown
    assert "Alice's sister (extracted" in shown


def test_names_are_given_and_taken_away(family: Cli) -> None:
    added = family("entities", "alias", "add", "Emma", "Emmie", "--json").json
    assert ("Emmie", "by hand") in {(one["variant"], one["origin"]) for one in added["aliases"]}
    assert family("entities", "show", "emmie", "--json").json["entity"]["name"] == "Emma"
    family("entities", "alias", "remove", "Emma", "Emmie")
    assert family("entities", "show", "Emmie", "--json", code=2).error["type"] == "not_found"
    gone = family("entities", "alias", "remove", "Emma", "Emmie", "--json", code=2).error
    assert gone["type"] == "not_found"
    last = family("entities", "alias", "remove", "Tom", "Alice's brother", "--json")
    assert [one["variant"] for one in last.json["aliases"]] == ["Tom"]
    assert family("entities", "alias", "remove", "Tom", "Tom", "--json", code=2).error["field"] == "alias"


def test_a_merge_is_listed_and_undone(family: Cli) -> None:
    change = family("entities", "merge", "Emma", "Tom", "--json").json
    assert set(change) == CHANGE_KEYS
    assert set(change["kept"]) == NODE_KEYS
    assert (change["kind"], change["kept"]["name"], change["undone_at"]) == ("merge", "Emma", None)
    assert family("entities", "show", "Tom", "--json").json["entity"]["name"] == "Emma"
    (listed,) = family("entities", "changes", "--json").json["items"]
    assert listed == change
    assert "Tom merged into Emma" in family("entities", "changes").out
    undone = family("entities", "undo", change["short_id"], "--json").json
    assert undone["undone_at"] is not None
    assert family("entities", "show", "Tom", "--json").json["entity"]["name"] == "Tom"
    assert family("entities", "undo", change["change_id"], "--json", code=2).error["field"] == "change"


def test_a_split_takes_names_and_messages_along(family: Cli) -> None:
    (hit, *_) = family("recall", "moved to Lisbon", "--limit", "1", "--json").json["hits"]
    message = hit["citation"]["short_id"]
    family("entities", "alias", "add", "Emma", "Emmie")
    change = family(
        *(
            "entities",
            "split",
            "Emma",
            "Emma Two",
            "--alias",
            "Emmie",
            "--message",
            message,
            "--json",
        )
    ).json
    assert (change["kind"], change["other"]["name"]) == ("split", "Emma Two")
    assert family("entities", "show", "Emmie", "--json").json["entity"]["name"] == "Emma Two"
    assert "Lisbon" in family("facts", "--subject", "Emma Two", "--history").out


def test_the_neighbourhood_is_a_tree(family: Cli) -> None:
    near = family("graph", "show", "Alice", "--json").json
    assert set(near) == {"nodes", "edges", "cut"}
    assert all(set(node) == NODE_KEYS for node in near["nodes"])
    assert all(set(edge) == EDGE_KEYS for edge in near["edges"])
    assert (near["nodes"][0]["name"], near["nodes"][0]["distance"]) == ("Alice", 0)
    assert {node["name"] for node in near["nodes"]} == {"Alice", "Emma", "Tom"}
    far = family("graph", "show", "Alice", "--depth", "2", "--json").json
    assert {"Lisbon", "Siemens"} <= {node["name"] for node in far["nodes"]}
    shown = family("graph", "show", "Alice", "--depth", "3").out
    assert shown.startswith("Alice (person)")
    assert "Emma lives in Lisbon (since 2025-05-20, 1 source)" in shown
    then = family("graph", "show", "Emma", "--as-of", "2025-01-01T00:00Z", "--json").json
    assert "Porto" in {node["name"] for node in then["nodes"]}
    assert "Lisbon" not in {node["name"] for node in then["nodes"]}
    cut = family("graph", "show", "Alice", "--limit", "2")
    assert "There is more" in cut.err


def test_a_path_shows_the_evidence_of_each_hop(family: Cli) -> None:
    path = family("graph", "path", "Siemens", "Lisbon", "--json").json
    assert [node["name"] for node in path["nodes"]] == ["Siemens", "Tom", "Alice", "Emma", "Lisbon"]
    assert [len(hop) >= 1 for hop in path["hops"]] == [True] * 4
    shown = family("graph", "path", "Siemens", "Lisbon").out
    assert "Tom works at Siemens" in shown
    assert "2025-05-21 Alice: My brother Tom works at Siemens" in shown
    before = family("graph", "path", "Siemens", "Lisbon", "--known-at", "2020-01-01T00:00Z", "--json")
    assert before.json is None
    family("remember", "Zebras are striped.", "--entity", "Zebra")
    assert "Nothing that is known connects" in family("graph", "path", "Zebra", "Lisbon").out


def test_paths_get_labels(cli: Cli) -> None:
    assert "filed under a path yet" in cli("taxonomy").out
    assert cli("taxonomy", "label", "work.studio", "The studio", "--json").json is None
    assert cli("taxonomy", "--json").json["items"] == [
        {"path": "work", "label": None, "threads": 0, "below": 0},
        {"path": "work.studio", "label": "The studio", "threads": 0, "below": 0},
    ]
    assert "The studio" in cli("taxonomy").out


def test_what_cannot_be_is_refused_with_the_name_of_the_field(family: Cli) -> None:
    cases: list[tuple[list[str], str]] = [
        (["entities", "--type", "dream"], "type: must be one of person, place"),
        (["entities", "--limit", "0"], "limit: "),
        (["entities", "--query", " "], "query: "),
        (["entities", "show", " "], "entity: "),
        (["entities", "alias", "add", "Emma", "x" * 201], "alias: "),
        (["entities", "merge", "Emma", "Emma"], "other: is the same entity"),
        (["entities", "split", "Emma", "E", "--alias", "Tom"], "aliases: 'Tom' is no name of"),
        (["entities", "split", "Emma", "E"], "aliases: is empty"),
        (["entities", "split", "Emma", "E", "--message", "zz"], "messages[0]: "),
        (["entities", "undo", "zz"], "id: must be the last 8"),
        (["graph", "show", "Emma", "--depth", "4"], "depth: must be a number from 1 to 3"),
        (["graph", "show", "Emma", "--limit", "501"], "limit: "),
        (["graph", "show", "Emma", "--as-of", "then"], "--as-of: "),
        (["taxonomy", "label", "a..b", "x"], "path: "),
        (["taxonomy", "label", "a.b", " "], "label: "),
    ]
    for arguments, complaint in cases:
        ran = family(*arguments, code=2)
        assert ran.err.startswith(f"Error: {complaint}"), (arguments, ran.err)
        assert ran.out == ""


def test_who_is_not_known_is_not_found(family: Cli) -> None:
    for arguments in (
        ["entities", "show", "Nobody"],
        ["entities", "alias", "add", "Nobody", "x"],
        ["entities", "merge", "Emma", "Nobody"],
        ["entities", "split", "Nobody", "x", "--alias", "y"],
        ["entities", "undo", "00000000"],
        ["graph", "show", "Nobody"],
        ["graph", "path", "Emma", "Nobody"],
        ["graph", "show", "Emma", "-w", "nowhere"],
    ):
        assert family(*arguments, "--json", code=2).error["type"] == "not_found", arguments
    assert "Did you mean Lisbon" in family("entities", "show", "Lisbonn", code=2).err
