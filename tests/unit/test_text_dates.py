"""The dates of statements, as one table, and what must hold for any input."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlore.text.clock import clock
from everlore.text.dates import read_dates

WEDNESDAY = datetime(2023, 10, 18, 15, 30, tzinfo=UTC)

# One line: the statement | whether it looks ahead or back | first day, grain and side of each date.
SAID_ON_WEDNESDAY_18_OCTOBER_2023 = """
    I fly to Rome tomorrow                  | > | 2023-10-19 day at
    the day after tomorrow we leave         | > | 2023-10-20 day at
    the day before yesterday it broke       | < | 2023-10-16 day at
    we met last night                       | < | 2023-10-17 day at
    next Friday                             | > | 2023-10-20 day at
    on Friday at 5pm                        | > | 2023-10-20 day at
    on Friday                               | < | 2023-10-13 day at
    last Monday                             | < | 2023-10-16 day at
    by Friday                               | > | 2023-10-20 day until
    by the end of the month                 | > | 2023-10-31 day until
    on March 5th                            | > | 2024-03-05 day at
    on March 5th                            | < | 2023-03-05 day at
    March 15, 1990                          | < | 1990-03-15 day at
    12 May, 10:30                           | > | 2024-05-12 day at
    the 3rd of June 2020                    | < | 2020-06-03 day at
    2024-03-05                              | > | 2024-03-05 day at
    5/7/2024                                | > | 2024-05-07 day at
    25/7/2024                               | > | 2024-07-25 day at
    in two weeks                            | > | 2023-11-01 day at
    two years ago                           | < | 2021-10-18 year at
    six months ago                          | < | 2023-04-18 month at
    in 3 hours                              | > | 2023-10-18 day at
    next week                               | > | 2023-10-23 week at
    last weekend                            | < | 2023-10-14 day at
    last month                              | < | 2023-09-01 month at
    next year                               | > | 2024-01-01 year at
    last summer                             | < | 2023-06-01 season at
    in the summer of 2021                   | < | 2021-06-01 season at
    since 2019                              | < | 2019-01-01 year since
    since May 2020                          | < | 2020-05-01 month since
    in March                                | > | 2024-03-01 month at
    on Christmas Eve                        | > | 2023-12-24 day at
    am 5. März                              | > | 2024-03-05 day at
    nächsten Freitag                        | > | 2023-10-20 day at
    vor zwei Jahren                         | < | 2021-10-18 year at
    mañana por la mañana                    | > | 2023-10-19 day at
    pasado mañana                           | > | 2023-10-20 day at
    el viernes que viene                    | > | 2023-10-20 day at
    el próximo lunes                        | > | 2023-10-23 day at
    la semana que viene                     | > | 2023-10-23 week at
    el 3 de mayo                            | > | 2024-05-03 day at
    el 12 de marzo de 1990                  | < | 1990-03-12 day at
    hace tres años                          | < | 2020-10-18 year at
    dentro de dos semanas                   | > | 2023-11-01 day at
    desde 2018                              | < | 2018-01-01 year since
    every Friday I run                      | > |
    on Mondays                              | > |
    los jueves juego                        | > |
    never deploy on a Friday                | > |
    por la mañana corro                     | > |
    I may go                                | > |
    we march on                             | > |
    31 February                             | > |
    version 2024                            | > |
"""
LINES = [line.split("|") for line in SAID_ON_WEDNESDAY_18_OCTOBER_2023.strip().splitlines()]


@pytest.mark.parametrize(("said", "way", "meant"), LINES, ids=[line[0].strip() for line in LINES])
def test_a_statement_names_its_dates(said: str, way: str, meant: str) -> None:
    english = not any(word in said for word in ("el ", "mañana", "märz"))
    found = read_dates(said.strip(), WEDNESDAY, ahead=way.strip() == ">", english=english)
    assert [f"{one.start.date()} {one.grain} {one.side}" for one in found] == (
        [meant.strip()] if meant.strip() else []
    )


@pytest.mark.parametrize(
    ("said", "time"),
    [("at 5pm", (17, 0)), ("12 May, 10:30", (10, 30)), ("a las 7 de la tarde", (19, 0)), ("12am", (0, 0)), ("at four", None)],
)  # fmt: skip
def test_a_clock_time_is_read(said: str, time: tuple[int, int] | None) -> None:
    assert clock(said) == time


def test_midnights_are_those_of_the_zone_in_which_it_was_said() -> None:
    at = datetime(2023, 5, 10, 23, 30, tzinfo=timezone(timedelta(hours=-4)))
    (tomorrow,) = read_dates("tomorrow", at, ahead=True)
    assert tomorrow.start == datetime(2023, 5, 11, tzinfo=at.tzinfo)


@given(st.text(max_size=300), st.booleans())
def test_any_text_is_read_without_an_error(text: str, ahead: bool) -> None:
    for date in read_dates(text, WEDNESDAY, ahead=ahead):
        assert date.start < date.end
        assert 0 <= date.begin < date.stop <= len(text)
