"""One grammar, two policies: what each expression means in a statement (looking back, looking ahead) and in a question."""

from datetime import UTC, datetime

import pytest

from everlore.text.dates import calendar, read_dates, read_times

WEDNESDAY = datetime(2023, 10, 18, 15, 30, tzinfo=UTC)
BOXING_DAY = datetime(2023, 12, 26, 10, 0, tzinfo=UTC)

# The expression | a statement that looks back | one that looks ahead | a question. A day stands alone, a stretch as first..last
# with its grain; what is no date stands empty.
READ_ON_WEDNESDAY_18_OCTOBER_2023 = """
    last Christmas              | 2022-12-25               | 2022-12-25               | 2022-12-24..2022-12-26
    Christmas                   | 2022-12-25               | 2023-12-25               | 2022-12-24..2022-12-26
    two days before Christmas   | 2022-12-23               | 2023-12-23               | 2022-12-22..2022-12-23
    the week after May 7        | 2023-05-08..2023-05-14 w | 2024-05-08..2024-05-14 w | 2023-05-08..2023-05-14
    Easter                      | 2023-04-09               | 2024-03-31               | 2023-04-07..2023-04-10
    next Easter                 | 2024-03-31               | 2024-03-31               | 2024-03-29..2024-04-01
    Good Friday 2022            | 2022-04-15               | 2022-04-15               | 2022-04-15
    Semana Santa                | 2023-04-09               | 2024-03-31               | 2023-04-02..2023-04-09
    on Black Friday             |                          |                          |

    in two weeks                | 2023-11-01               | 2023-11-01               | 2023-10-29..2023-11-04
    two weeks ago               | 2023-10-04               | 2023-10-04               | 2023-10-01..2023-10-07
    a fortnight ago             | 2023-10-04               | 2023-10-04               | 2023-10-01..2023-10-07
    hace dos semanas            | 2023-10-04               | 2023-10-04               | 2023-10-01..2023-10-07
    two and a half years ago    | 2021-04-18 m             | 2021-04-18 m             | 2021-04-03..2021-05-03
    half a year ago             | 2023-04-18 m             | 2023-04-18 m             | 2023-04-03..2023-05-03
    hace dos años que vivo aquí |                          |                          |
    the past three months       |                          |                          | 2023-07-18..2023-10-18
    the last two years          |                          |                          | 2021-10-18..2023-10-18

    mid-May                     | 2023-05-11..2023-05-20 w | 2024-05-11..2024-05-20 w | 2023-05-11..2023-05-20
    second week of March        | 2023-03-08..2023-03-14 w | 2024-03-08..2024-03-14 w | 2023-03-05..2023-03-17
    last week of May 2022       | 2022-05-25..2022-05-31 w | 2022-05-25..2022-05-31 w | 2022-05-25..2022-05-31
    early 2020                  | 2020-01-01..2020-04-30 s | 2020-01-01..2020-04-30 s | 2020-01-01..2020-04-30
    the first half of 2022      | 2022-01-01..2022-06-30 s | 2022-01-01..2022-06-30 s | 2022-01-01..2022-06-30
    the end of May 2022         | 2022-05-31               | 2022-05-31               | 2022-05-21..2022-05-31
    a finales de mayo           | 2023-05-31               | 2024-05-31               | 2023-05-21..2023-05-31
    Anfang Mai                  | 2023-05-01..2023-05-10 w | 2024-05-01..2024-05-10 w | 2023-05-01..2023-05-10

    Q3 2022                     | 2022-07-01..2022-09-30 s | 2022-07-01..2022-09-30 s | 2022-07-01..2022-09-30
    in Q3                       | 2023-07-01..2023-09-30 s | 2024-07-01..2024-09-30 s | 2023-07-01..2023-09-30
    the third quarter of 2022   | 2022-07-01..2022-09-30 s | 2022-07-01..2022-09-30 s | 2022-07-01..2022-09-30
    last quarter                | 2023-07-01..2023-09-30 s | 2023-07-01..2023-09-30 s | 2023-07-01..2023-09-30
    summer 2021                 | 2021-06-01..2021-08-31 s | 2021-06-01..2021-08-31 s | 2021-06-01..2021-08-31
    winter 2023                 | 2022-12-01..2023-02-28 s | 2023-12-01..2024-02-29 s | 2022-12-01..2023-02-28
    in the 90s                  |                          |                          | 1990-01-01..1999-12-31

    in May                      | 2023-05-01..2023-05-31 m | 2024-05-01..2024-05-31 m | 2023-05-01..2023-05-31
    the May trip                |                          |                          | 2023-05-01..2023-05-31
    2022                        |                          |                          | 2022-01-01..2022-12-31
    in 2022                     | 2022-01-01..2022-12-31 y | 2022-01-01..2022-12-31 y | 2022-01-01..2022-12-31
    I spend 2000 a month        |                          |                          |
    they paid about 2000        |                          |                          |
    room 2020                   |                          |                          |
    el 5/7/2023 fuimos          | 2023-05-07               | 2023-05-07               | 2023-07-05

    on Friday                   | 2023-10-13               | 2023-10-20               | 2023-10-13
    this Monday                 | 2023-10-16               | 2023-10-23               | 2023-10-16
    this Friday                 | 2023-10-20               | 2023-10-20               | 2023-10-20
    over the weekend            | 2023-10-14..2023-10-15   | 2023-10-21..2023-10-22   | 2023-10-14..2023-10-15
    la semana pasada            | 2023-10-09..2023-10-15 w | 2023-10-09..2023-10-15 w | 2023-10-09..2023-10-15
    the following week          |                          |                          | 2023-10-23..2023-10-29
"""
LINES = [line for line in READ_ON_WEDNESDAY_18_OCTOBER_2023.split("\n") if line.strip()]
_GRAINS = {"week": " w", "month": " m", "season": " s", "year": " y", "day": ""}


def _shown(start: datetime, end: datetime, grain: str = "") -> str:
    first, last = start.date(), datetime.fromordinal(end.toordinal() - 1).date()
    return (f"{first}" if first == last else f"{first}..{last}") + grain


def _stated(said: str, at: datetime, *, ahead: bool) -> str:
    return " ".join(
        _shown(one.start, one.end, _GRAINS[one.grain]) for one in read_dates(said, at, ahead=ahead)
    )


def _asked(said: str, now: datetime) -> str:
    return " ".join(_shown(one.start, one.end) for one in read_times(said, now) if one.start and one.end)


@pytest.mark.parametrize("line", LINES, ids=[line.split("|")[0].strip() for line in LINES])
def test_an_expression_means_what_its_policy_says(line: str) -> None:
    said, back, ahead, asked = (part.strip() for part in line.split("|"))
    assert _stated(said, WEDNESDAY, ahead=False) == back
    assert _stated(said, WEDNESDAY, ahead=True) == ahead
    assert _asked(said, WEDNESDAY) == asked


def test_last_christmas_is_not_the_one_that_is_just_there() -> None:
    assert _stated("last Christmas", BOXING_DAY, ahead=False) == "2022-12-25"
    assert _asked("last Christmas", BOXING_DAY) == "2022-12-24..2022-12-26"


def test_how_long_something_took_is_no_time() -> None:
    assert _asked("What happens in two weeks?", WEDNESDAY) == "2023-10-29..2023-11-04"
    assert _asked("How much did I run in two weeks?", WEDNESDAY) == ""


@pytest.mark.parametrize(
    ("said", "side"),
    [
        ("due Friday", "until"),
        ("no later than Friday", "until"),
        ("as of May 2020", "since"),
        ("from 2019", "since"),
    ],
)
def test_what_opens_a_statement_leaves_a_question_alone(said: str, side: str) -> None:
    assert [one.side for one in read_dates(said, WEDNESDAY)] == [side]
    assert all(one.start and one.end for one in read_times(said, WEDNESDAY))


@pytest.mark.parametrize(
    ("year", "day"), [(1961, "04-02"), (2000, "04-23"), (2008, "03-23"), (2024, "03-31"), (2038, "04-25")]
)
def test_easter(year: int, day: str) -> None:
    assert calendar.easter(year).isoformat() == f"{year}-{day}"
