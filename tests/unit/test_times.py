"""The time expressions of a question, as one long table, and what must hold for any input."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.growth import BOUND, growth_of

from everlore.text.dates import TimeRange, read_dates, read_times

WEDNESDAY = datetime(2023, 10, 18, 15, 30, tzinfo=ZoneInfo("Europe/Stockholm"))
JANUARY = datetime(2024, 1, 10, 9, 0, tzinfo=UTC)
NEW_YORK = datetime(2023, 5, 10, 23, 30, tzinfo=timezone(timedelta(hours=-4)))
SUNDAY = datetime(2023, 10, 22, 0, 0, tzinfo=UTC)

# One line: the question | the ranges, each "first midnight..midnight after the last day", open ends left out.
READ_ON_WEDNESDAY_18_OCTOBER_2023 = """
    what happened in 2022                          | 2022-01-01..2023-01-01
    2022                                           | 2022-01-01..2023-01-01
    in the year 2021                               | 2021-01-01..2022-01-01
    What did I say about my 2022 tax return?       | 2022-01-01..2023-01-01
    2021-2023                                      | 2021-01-01..2024-01-01
    Did I move in 2019 or 2020?                    | 2019-01-01..2020-01-01 2020-01-01..2021-01-01
    mid-2022                                       | 2022-05-01..2022-09-01
    2022-05                                        | 2022-05-01..2022-06-01

    trips in May 2023?                             | 2023-05-01..2023-06-01
    trips in may                                   | 2023-05-01..2023-06-01
    trips in  MAY                                  | 2023-05-01..2023-06-01
    trips in December                              | 2022-12-01..2023-01-01
    trips in October                               | 2023-10-01..2023-11-01
    last May                                       | 2023-05-01..2023-06-01
    last October                                   | 2022-10-01..2022-11-01
    this May                                       | 2023-05-01..2023-06-01
    What did I do this May in Rome?                | 2023-05-01..2023-06-01
    next May                                       | 2024-05-01..2024-06-01
    in May last year                               | 2022-05-01..2022-06-01
    my budget for March                            | 2023-03-01..2023-04-01
    the May trip                                   | 2023-05-01..2023-06-01
    in May and June 2022                           | 2022-05-01..2022-06-01 2022-06-01..2022-07-01
    in december 50 people came                     | 2022-12-01..2023-01-01
    in december 10 people came                     | 2022-12-01..2023-01-01

    7 May 2023                                     | 2023-05-07..2023-05-08
    May 7th, 2023                                  | 2023-05-07..2023-05-08
    Friday, 5 May 2023 at 10:30                    | 2023-05-05..2023-05-06
    May 7                                          | 2023-05-07..2023-05-08
    October 18                                     | 2023-10-18..2023-10-19
    October 19                                     | 2022-10-19..2022-10-20
    next May 7                                     | 2024-05-07..2024-05-08
    on the 7th of May                              | 2023-05-07..2023-05-08
    Sept. 5, 2022                                  | 2022-09-05..2022-09-06
    2023-05-07                                     | 2023-05-07..2023-05-08
    2022-05-07T10:30:00Z                           | 2022-05-07..2022-05-08
    2023/5/7                                       | 2023-05-07..2023-05-08
    5/7/2023                                       | 2023-05-07..2023-05-08
    13/7/2023                                      | 2023-07-13..2023-07-14
    5/7/23                                         | 2023-05-07..2023-05-08
    5.7.2023                                       | 2023-07-05..2023-07-06
    May 3-10, 2023                                 | 2023-05-03..2023-05-11
    between 5 and 7 May 2023                       | 2023-05-05..2023-05-08
    February 29                                    | 2020-02-29..2020-03-01

    last spring                                    | 2023-03-01..2023-06-01
    last fall                                      | 2022-09-01..2022-12-01
    this autumn                                    | 2023-09-01..2023-12-01
    summer 2022                                    | 2022-06-01..2022-09-01
    the summer of 2019                             | 2019-06-01..2019-09-01
    over the summer                                | 2023-06-01..2023-09-01
    in the winter of 2023                          | 2022-12-01..2023-03-01
    winter 2021                                    | 2021-12-01..2022-03-01
    fall 2021                                      | 2021-09-01..2021-12-01
    in the fall                                    | 2023-09-01..2023-12-01

    3 days ago                                     | 2023-10-15..2023-10-16
    two weeks ago                                  | 2023-10-01..2023-10-08
    a couple of weeks ago                          | 2023-09-27..2023-10-12
    a month ago                                    | 2023-09-03..2023-10-04
    half a year ago                                | 2023-04-03..2023-05-04
    two years ago                                  | 2021-01-01..2022-04-20
    12 hours ago                                   | 2023-10-18..2023-10-19
    18 hours ago                                   | 2023-10-17..2023-10-18

    yesterday                                      | 2023-10-17..2023-10-18
    today at 5 pm                                  | 2023-10-18..2023-10-19
    this morning                                   | 2023-10-18..2023-10-19
    tonight                                        | 2023-10-18..2023-10-19
    last night                                     | 2023-10-17..2023-10-18
    the day before yesterday                       | 2023-10-16..2023-10-17
    this week                                      | 2023-10-16..2023-10-23
    last week                                      | 2023-10-09..2023-10-16
    the past week                                  | 2023-10-11..2023-10-19
    in the last week                               | 2023-10-11..2023-10-19
    last month                                     | 2023-09-01..2023-10-01
    last quarter                                   | 2023-07-01..2023-10-01
    this year                                      | 2023-01-01..2024-01-01
    last weekend                                   | 2023-10-14..2023-10-16
    weekend before last                            | 2023-10-07..2023-10-09
    the past three months                          | 2023-07-18..2023-10-19
    in the last 10 days                            | 2023-10-08..2023-10-19
    next week                                      | 2023-10-23..2023-10-30
    Q3 2022                                        | 2022-07-01..2022-10-01

    on Tuesday                                     | 2023-10-17..2023-10-18
    on Wednesday                                   | 2023-10-11..2023-10-12
    last Friday                                    | 2023-10-13..2023-10-14
    next Friday                                    | 2023-10-20..2023-10-21
    Tuesday last week                              | 2023-10-10..2023-10-11
    what did we eat on Sat?                        | 2023-10-14..2023-10-15

    since May 2022                                 | 2022-05-01..
    May 2022 onwards                               | 2022-05-01..
    from 2019 to now                               | 2019-01-01..
    before May                                     | ..2023-05-01
    after 2020                                     | 2021-01-01..
    until March 2021                               | ..2021-04-01
    between May and July 2023                      | 2023-05-01..2023-08-01
    between 2020 and 2022                          | 2020-01-01..2023-01-01
    from May to July 2021                          | 2021-05-01..2021-08-01
    from May 2022 to July                          | 2022-05-01..2022-08-01
    from November to January                       | 2022-11-01..2023-02-01
    from Monday to Friday                          | 2023-10-16..2023-10-21
    from early 2021 to late 2022                   | 2021-01-01..2023-01-01
    the week after Christmas 2022                  | 2022-12-27..2023-01-03
    two days before May 7                          | 2023-05-05..2023-05-07

    the 90s                                        | 1990-01-01..2000-01-01
    in the 1990s                                   | 1990-01-01..2000-01-01
    early May 2023                                 | 2023-05-01..2023-05-11
    late 2021                                      | 2021-09-01..2022-01-01
    the beginning of 2022                          | 2022-01-01..2022-05-01
    by the end of last year                        | ..2023-01-01
    last week of May 2023                          | 2023-05-25..2023-06-01
    christmas 2022                                 | 2022-12-24..2022-12-27
    New Year’s Eve                                 | 2022-12-31..2023-01-01
    last halloween                                 | 2022-10-31..2022-11-01

    Vad gjorde jag igår?                           | 2023-10-17..2023-10-18
    hade jag ont i maj?                            | 2023-05-01..2023-06-01
    förra veckan                                   | 2023-10-09..2023-10-16
    Was haben wir letzten Freitag gemacht?         | 2023-10-13..2023-10-14
    im Mai 2022                                    | 2022-05-01..2022-06-01
    2 de marzo de 2023                             | 2023-03-02..2023-03-03
    ¿Qué hice el año pasado?                       | 2022-01-01..2023-01-01
    le 7 mai 2023                                  | 2023-05-07..2023-05-08
    o que fiz ontem                                | 2023-10-17..2023-10-18
    İ last week İ                                  | 2023-10-09..2023-10-16

    so do it                                       |
    I may go                                       |
    what may happen                                |
    this may be wrong                              |
    May I go?                                      |
    was May there                                  |
    did June call                                  |
    march to the shop                              |
    we march 10 miles                              |
    the second time                                |
    fall asleep                                    |
    in the fall of Rome                            |
    a hot spring                                   |
    sat down                                       |
    the sun on sun cream                           |
    mon ami                                        |
    will you                                       |
    at 10:30                                       |
    version 2023.4                                 |
    room 2022                                      |
    it cost $2022                                  |
    2022 dollars                                   |
    1899 and 2100 and 12022                        |
    every Monday                                   |
    on Mondays                                     |
    went to Mars                                   |
    24/7 with 1/2 cup                              |
    31 Feb 2023                                    |
    31/02/2023                                     |
    2023-13-01                                     |
    2023-13                                        |
    99999 years ago                                |
    999 decades ago                                |
"""


def _cases(table: str) -> list[tuple[str, str]]:
    pairs = (line.split("|") for line in table.splitlines() if line.strip())
    return [(question.strip(), expected.strip()) for question, expected in pairs]


def _shown(ranges: tuple[TimeRange, ...]) -> str:
    """Ranges as the table writes them; refuses a bound that is no midnight."""
    bounds = [bound for found in ranges for bound in (found.start, found.end) if bound]
    assert all(bound.time() == datetime.min.time() for bound in bounds)
    return " ".join(f"{_day(found.start)}..{_day(found.end)}" for found in ranges)


def _day(bound: datetime | None) -> str:
    return bound.date().isoformat() if bound else ""


@pytest.mark.parametrize(("question", "expected"), _cases(READ_ON_WEDNESDAY_18_OCTOBER_2023))
def test_reads(question: str, expected: str) -> None:
    assert _shown(read_times(question, WEDNESDAY)) == expected


@pytest.mark.parametrize(
    ("question", "now", "expected"),
    [
        ("last winter", JANUARY, "2022-12-01..2023-03-01"),
        ("this winter", JANUARY, "2023-12-01..2024-03-01"),
        ("in December", JANUARY, "2023-12-01..2024-01-01"),
        ("last quarter", JANUARY, "2023-10-01..2024-01-01"),
        ("in the 20s", JANUARY, "2020-01-01..2030-01-01"),
        ("next spring", JANUARY, "2024-03-01..2024-06-01"),
        ("last May", NEW_YORK, "2022-05-01..2022-06-01"),
        ("in May", NEW_YORK, "2023-05-01..2023-06-01"),
        ("today", NEW_YORK, "2023-05-10..2023-05-11"),
        ("last weekend", SUNDAY, "2023-10-14..2023-10-16"),
        ("this weekend", SUNDAY, "2023-10-21..2023-10-23"),
        ("last Sunday", SUNDAY, "2023-10-15..2023-10-16"),
        ("a month ago", datetime(2023, 3, 31, tzinfo=UTC), "2023-02-13..2023-03-16"),
        ("yesterday", datetime(1, 1, 1, tzinfo=UTC), ""),
        ("tomorrow", datetime(9999, 12, 31, tzinfo=UTC), ""),
    ],
)
def test_reads_relative_to_now(question: str, now: datetime, expected: str) -> None:
    assert _shown(read_times(question, now)) == expected


def test_bounds_are_days_of_the_time_zone_of_now() -> None:
    (found,) = read_times("in March", WEDNESDAY)
    assert found.start == datetime(2023, 2, 28, 23, tzinfo=UTC)
    assert found.end == datetime(2023, 3, 31, 22, tzinfo=UTC)  # summer time began on the 26th


def test_text_is_what_the_asker_wrote() -> None:
    question = "Where was I since  the Summer of 2021, and the day after Christmas 2022?"
    texts = [found.text for found in read_times(question, WEDNESDAY)]
    assert texts == ["since  the Summer of 2021", "the day after Christmas 2022"]


_PIECES = (
    "may May march 7 31 2023 2022-05 5/7/2023 31/12/2099 9999 last next this past the of in since "
    "before until after from to between and early late end week weeks day years year ago a few month "
    "decades 90s winter fall Monday on sat every yesterday Christmas new year's eve , - – . ? / ' İ "
    "förra i mars de 12 999 half or onwards q3 room "
)
_WORDS = st.sampled_from(re.findall(r"\S+", _PIECES))
_ZONES = st.sampled_from(
    (UTC, ZoneInfo("Europe/Stockholm"), ZoneInfo("America/Sao_Paulo"), timezone(timedelta(hours=14)))
)
_MOMENTS = st.datetimes(timezones=_ZONES)
_QUESTIONS = (
    st.text(max_size=80)
    | st.lists(_WORDS, max_size=14).map(" ".join)
    | st.lists(_WORDS, max_size=8).map("".join)
)


def _is_aware(moment: datetime, zone: tzinfo | None) -> bool:
    return moment.tzinfo is zone and moment.tzinfo is not None


@given(question=_QUESTIONS, now=_MOMENTS)
@example(question="the week before yesterday", now=datetime(1, 1, 2, tzinfo=UTC))
def test_any_question_gives_sound_ranges(question: str, now: datetime) -> None:
    for found in read_times(question, now):
        assert found.start or found.end
        assert found.text in question
        assert all(_is_aware(bound, now.tzinfo) for bound in (found.start, found.end) if bound)
        if found.start and found.end:
            assert found.start < found.end


@pytest.mark.parametrize(
    "piece",
    [
        *"2 -\n,",
        *re.findall(
            r"[^|]+", "may |in may |5 may, |may 3-|2022 |2021-|last |the year |a few |12 |the |new year's "
        ),
        *re.findall(r"[^|]+", "from may to |between 2021 and |last 2 weeks ago |mon, |every |half a |late "),
    ],
)
def test_a_long_question_takes_linear_time(piece: str) -> None:
    def read(question: str) -> None:
        read_times(question, WEDNESDAY)
        read_dates(question, WEDNESDAY)

    assert growth_of(read, lambda size: piece * (size // len(piece)), 20_000) < BOUND
