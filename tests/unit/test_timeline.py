"""What held when, from what was said: order of arrival must not matter."""

import random
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from everlore.knowledge.timeline import TimelineEntry, Validity, corroborated, timeline

JANUARY = datetime(2025, 1, 1, tzinfo=UTC)


def month(number: int) -> datetime:
    return datetime(2025, number, 1, tzinfo=UTC)


def said(value: str, at: int, **more: object) -> TimelineEntry:
    begins = more.pop("since", month(at))
    return TimelineEntry(uuid4(), value, month(at), begins, **more)  # pyright: ignore[reportArgumentType]


def held(stretches: list[Validity], moment: datetime) -> set[str]:
    return {
        s.value
        for s in stretches
        if not s.never and s.begins <= moment and (s.ends is None or s.ends > moment)
    }


def test_the_newest_wins_and_the_old_one_keeps_its_time() -> None:
    stretches = timeline([said("Porto", 1), said("Lisbon", 3)])
    assert held(stretches, month(2)) == {"Porto"}
    assert held(stretches, month(4)) == {"Lisbon"}
    assert stretches[0].followed_by is stretches[1]


def test_a_return_to_an_old_value_is_a_stretch_of_its_own() -> None:
    stretches = timeline([said("Porto", 1), said("Lisbon", 3), said("Porto", 6)])
    assert [held(stretches, month(m)) for m in (2, 4, 7)] == [{"Porto"}, {"Lisbon"}, {"Porto"}]
    assert len(stretches) == 3


def test_late_arrivals_fill_the_past() -> None:
    stretches = timeline([said("Lisbon", 6), said("Porto", 2)])
    assert held(stretches, month(7)) == {"Lisbon"}
    assert held(stretches, month(3)) == {"Porto"}


def test_saying_it_again_keeps_one_stretch_with_all_statements() -> None:
    stretches = timeline([said("Porto", 1), said("Porto", 4)])
    assert len(stretches) == 1
    assert len(stretches[0].statements) == 2


def test_no_longer_ends_it_and_leaves_nothing_open() -> None:
    stretches = timeline([said("Acme", 1), said("Acme", 5, ended=True)])
    assert held(stretches, month(4)) == {"Acme"}
    assert held(stretches, month(6)) == set()


def test_an_end_nobody_knew_the_beginning_of_never_holds() -> None:
    stretches = timeline([said("Acme", 5, ended=True)])
    assert held(stretches, month(4)) == set()
    assert held(stretches, month(5)) == set()
    assert held(stretches, month(6)) == set()


def test_a_correction_takes_over_from_the_beginning() -> None:
    stretches = timeline([said("Lisbon", 2), said("Lagos", 3, corrects=True)])
    assert held(stretches, month(2)) == {"Lagos"}
    assert held(stretches, month(5)) == {"Lagos"}
    assert stretches[0].never
    assert stretches[0].followed_by is stretches[1]


def test_a_correction_back_to_the_value_before_lets_it_go_on() -> None:
    stretches = timeline([said("Porto", 1), said("Lisbon", 3), said("Porto", 4, corrects=True)])
    assert [held(stretches, month(m)) for m in (1, 3, 5)] == [{"Porto"}, {"Porto"}, {"Porto"}]


def test_since_when_counts_against_what_was_said_earlier() -> None:
    stretches = timeline([said("Porto", 3), said("Lisbon", 6, since=month(2))])
    assert held(stretches, month(4)) == {"Lisbon"}


_moves = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.integers(1, 12), st.sampled_from(["claim", "claim", "end", "correct"])
    ),
    max_size=12,
    unique_by=lambda move: move[1],
)


@given(_moves, st.randoms(use_true_random=False))
def test_order_of_arrival_does_not_matter(moves: list[tuple[str, int, str]], chance: random.Random) -> None:
    statements = [said(v, at, ended=how == "end", corrects=how == "correct") for v, at, how in moves]
    shuffled = list(statements)
    chance.shuffle(shuffled)
    moments = [JANUARY + timedelta(days=15 * n) for n in range(26)]
    one, other = timeline(statements), timeline(shuffled)
    assert [held(one, m) for m in moments] == [held(other, m) for m in moments]
    for moment in moments:
        assert len(held(one, moment)) <= 1


@given(_moves)
def test_no_statement_is_lost_and_no_time_runs_backwards(moves: list[tuple[str, int, str]]) -> None:
    statements = [said(v, at, ended=how == "end", corrects=how == "correct") for v, at, how in moves]
    stretches = timeline(statements)
    kept = [s.source_id for stretch in stretches for s in stretch.statements]
    assert sorted(kept) == sorted(s.source_id for s in statements)
    assert all(s.ends is None or s.ends >= s.begins for s in stretches)


def test_confidence_rises_with_each_statement_and_never_reaches_one() -> None:
    assert corroborated([0.7]) == 0.7
    assert corroborated([0.7, 0.7]) == 0.91
    assert corroborated([0.9] * 50) == 0.99
