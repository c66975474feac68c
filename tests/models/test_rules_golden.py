"""The rules against the development part of the golden file: a bar that no change of a pattern may lower unseen."""

from datetime import datetime
from pathlib import Path

from tests.golden.score import Case, Fact, Memory, Output, Score, load, score

from everlore.models.rules.analyst import extract
from everlore.ports.analyst import Window, WindowMessage

GOLDEN = Path(__file__).parent.parent / "golden"
CASES = GOLDEN / "cases.json"
MORE_CASES = GOLDEN / "more_cases.json"


def _window(case: Case) -> Window:
    return Window(
        tuple(
            WindowMessage(
                number, said["role"], said.get("author") or said["role"], datetime.fromisoformat(said["at"]), said["text"]
            )
            for number, said in enumerate(case["messages"], 1)
        )
    )  # fmt: skip


def _output(case: Case) -> Output:
    found = extract(_window(case))
    return Output(
        memories=[
            Memory(one.type, one.content, one.event_at.date() if one.event_at else None)
            for one in found.memories
        ],
        facts=[Fact(one.subject, one.predicate, one.object, one.ended) for one in found.facts],
        aliases=[(entity.name, alias) for entity in found.entities for alias in entity.aliases],
        supersedes=None,  # an analyst alone replaces nothing; the pipeline's test hands pairs in
    )


def _scored(path: Path = CASES) -> Score:
    cases = load(path)
    return score(cases, {case["id"]: _output(case) for case in cases})


def test_the_development_cases_hold_their_precision_and_recall() -> None:
    scored = _scored()
    told = "\n".join(scored.failures)
    assert scored.all.precision >= 0.97, told
    assert scored.all.recall >= 0.95, told


def test_every_kind_holds_its_own_bar() -> None:
    kinds = _scored().kinds
    for kind in ("memories", "facts", "aliases"):
        assert kinds[kind].precision >= 0.94, kind
        assert kinds[kind].recall >= 0.93, kind


def test_traps_catch_next_to_nothing() -> None:
    assert sum(_scored().trap_wrong.values()) <= 1


def test_the_further_cases_hold_their_precision_and_recall() -> None:
    scored = _scored(MORE_CASES)
    told = "\n".join(scored.failures)
    assert scored.all.precision >= 0.96, told
    assert scored.all.recall >= 0.91, told
