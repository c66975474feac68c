"""The analyst without a model against the golden cases for development:
what they say must be right, however little of all ways to say it they understand."""

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


def test_the_development_cases_hold_their_precision() -> None:
    scored = _scored()
    assert scored.all.precision >= 0.80, "\n".join(scored.failures)
    assert scored.all.recall >= 0.25, "\n".join(scored.failures)
    assert scored.kinds["facts"].precision >= 0.90, "\n".join(scored.failures)


def test_traps_catch_next_to_nothing() -> None:
    for path in (CASES, MORE_CASES):
        assert sum(map(bool, _scored(path).trap_wrong.values())) <= 2


def test_the_further_cases_hold_their_precision() -> None:
    scored = _scored(MORE_CASES)
    assert scored.all.precision >= 0.85, "\n".join(scored.failures)
    assert scored.kinds["facts"].precision >= 0.90, "\n".join(scored.failures)
