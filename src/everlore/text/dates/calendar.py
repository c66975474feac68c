"""The arithmetic of the calendar: days, months, what comes round, Easter. No policy, no words.

A span is (first day, day after the last). What no calendar has (31 February, the year 12,000) is a ValueError or OverflowError.
"""

from datetime import date, timedelta
from typing import Literal, TypeAlias

Span: TypeAlias = tuple[date, date]
Unit: TypeAlias = Literal[
    "minute", "hour", "day", "week", "weekend", "fortnight", "month", "quarter", "year", "decade"
]
DAYS = {"day": 1, "week": 7, "fortnight": 14}
MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}


def days(start: date, count: int = 1) -> Span:
    return start, start + timedelta(days=count)


def months(year: int, month: int, count: int = 1) -> Span:
    """`count` months from the first of `month`; month 0 is the December before, 13 the next January."""
    (first_year, first), (last_year, last) = (divmod(year * 12 + month - 1 + step, 12) for step in (0, count))
    return date(first_year, first + 1, 1), date(last_year, last + 1, 1)


def stepped(day: date, unit: Unit, count: int) -> date:
    """`day` moved by `count` units; a day that its month lacks becomes the month's last."""
    if unit in DAYS:
        return day + timedelta(days=count * DAYS[unit])
    first, end = months(day.year, day.month + count * MONTHS[unit])
    return min(first + timedelta(days=day.day - 1), end - timedelta(days=1))


def calendar(unit: Unit, offset: int, today: date) -> Span:
    """The calendar day, week (Monday first), month ... that lies `offset` of its kind from the present one."""
    monday = today - timedelta(days=today.weekday())
    match unit:
        case "week" | "fortnight":
            return days(monday + timedelta(days=7 * offset), 7)
        case "weekend":
            return days(monday + timedelta(days=7 * offset + 5), 2)
        case "month":
            return months(today.year, today.month + offset)
        case "quarter":
            return months(today.year, (today.month - 1) // 3 * 3 + 1 + 3 * offset, 3)
        case "year":
            return months(today.year + offset, 1, 12)
        case "decade":
            return months(today.year // 10 * 10 + 10 * offset, 1, 120)
        case _:
            return days(today + timedelta(days=offset))


def easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar (Meeus, Jones and Butcher)."""
    a, (b, c) = year % 19, divmod(year, 100)
    (d, e), g = divmod(b, 4), (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    weekday = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 19 * weekday) // 433
    month = (h + weekday - 7 * m + 90) // 25
    return date(year, month, (h + weekday - 7 * m + 33 * month + 19) % 32)
