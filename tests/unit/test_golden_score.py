"""The scorer of the golden cases, on cases small enough to count by hand."""

from datetime import date
from typing import Any

from tests.golden.score import Fact, Memory, Output, plain, score


def _case(**expect: Any) -> dict[str, Any]:
    allow = expect.pop("allow", {})
    return {"id": "one", "language": "en", "trap": True, "messages": [], "expect": expect, "allow": allow}


def test_right_wrong_allowed_and_missed_are_counted() -> None:
    case = _case(
        memories=[{"types": ["fact"], "must": ["Lisbon"]}, {"types": ["event"], "must": ["flight"], "event_on": "2025-05-02"}],
        allow={"memories": [{"types": ["note"], "must": ["tea"]}]},
    )  # fmt: skip
    given = [
        Memory("fact", "I live in LISBÓN."),
        Memory("event", "my flight is tomorrow", date(2025, 5, 3)),
        Memory("note", "tea"),
        Memory("note", "coffee"),
    ]
    tally = score([case], {"one": Output(given)}).kinds["memories"]
    assert (tally.right, tally.wrong, tally.expected, tally.found) == (1, 2, 2, 1)
    assert tally.precision == 1 / 3
    assert tally.recall == 0.5


def test_a_second_output_for_one_item_counts_neither_way() -> None:
    case = _case(memories=[{"types": ["fact"], "must": ["Rome"]}])
    tally = score([case], {"one": Output([Memory("fact", "Rome"), Memory("fact", "in Rome")])}).kinds[
        "memories"
    ]
    assert (tally.right, tally.wrong) == (1, 0)


def test_symmetric_facts_hold_either_way_and_others_do_not() -> None:
    want = {"subject": "Ana", "predicate": "married_to", "object": "Tom", "ended": False}
    assert (
        score([_case(facts=[want])], {"one": Output(facts=[Fact("Tom", "married_to", "Ana")])}).all.recall
        == 1
    )
    want = {"subject": "Ana", "predicate": "sister_of", "object": "Tom", "ended": False}
    assert (
        score([_case(facts=[want])], {"one": Output(facts=[Fact("Tom", "sister_of", "Ana")])}).all.recall == 0
    )


def test_articles_aliases_dates_and_wildcards_are_seen_through() -> None:
    facts = [
        {"subject": "Roberto", "predicate": "plays", "object": "oud", "ended": False},
        {"subject": "Ana", "predicate": "born_on", "object": "1988-06-04", "ended": False},
    ]
    case = _case(
        facts=facts,
        aliases=[{"entity": "Roberto", "alias": "Bob"}],
        allow={"facts": [{"subject": "Ana", "predicate": "likes", "object": "*", "ended": False}]},
    )
    given = [
        Fact("Bob", "plays", "the oud"),
        Fact("Ana", "born_on", "1988-06-04"),
        Fact("Ana", "likes", "rain"),
    ]
    tally = score([case], {"one": Output(facts=given)}).kinds["facts"]
    assert (tally.found, tally.wrong) == (2, 0)
    assert plain(" The  Ñandú ") == "nandu"


def test_supersessions_count_only_where_they_are_given() -> None:
    case = _case(supersedes=[{"old": ["Lisbon"], "new": ["Lagos"]}])
    assert score([case], {"one": Output()}).kinds["supersedes"].expected == 0
    given = Output(supersedes=[("I live in Lisbon", "I live in Lagos")])
    assert score([case], {"one": given}).kinds["supersedes"].found == 1
