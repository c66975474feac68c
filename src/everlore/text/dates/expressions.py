"""What an expression of time means before anybody knows the moment it was said at: the values between grammar and policies."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, TypeAlias

from everlore.text.dates.calendar import Span, Unit

Grain: TypeAlias = Literal["day", "week", "month", "season", "year"]
Which: TypeAlias = Literal[-1, 0, 1]  # last, this, next
Part: TypeAlias = tuple[
    Literal["third", "half", "week", "end"], int
]  # ("third", 1) is the middle; -1 the last
Side: TypeAlias = Literal["since", "starting", "from", "before", "after", "until", "due"]


@dataclass(frozen=True, slots=True)
class NoDate:
    """Looks like a date and is none: it wins over the shorter, wrong reading."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """Stands by itself. `sure` if it is a date wherever it stands (a bare year is not)."""

    span: Span
    grain: Grain
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Yearly:
    """Comes round every year; `span_of` may raise for a year that has none.

    `broad_of`: what a question means by it, where that is more ("Christmas" is three days). `step`: "last year" said of it.
    """

    span_of: Callable[[int], Span]
    grain: Grain
    which: Which | None = None
    year: int | None = None
    step: int | None = None
    broad_of: Callable[[int], Span] | None = None
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Weekday:
    """`day` 0 is Monday; `week` counts from the present one ("Tuesday last week")."""

    day: int
    which: Which | None = None
    week: int | None = None


@dataclass(frozen=True, slots=True)
class Calendar:
    """The unit that lies `offset` from the present one; None: the nearest in the direction of the sentence."""

    unit: Unit
    offset: int | None


@dataclass(frozen=True, slots=True)
class Counted:
    """So many units from now, negative: ago. `vague`: "a few". `lasts`: may be how long something takes ("in two weeks")."""

    count: int
    unit: Unit
    vague: bool
    lasts: bool


@dataclass(frozen=True, slots=True)
class Rolling:
    """So many units up to now (negative) or from now on: "the past three months"."""

    count: int
    unit: Unit


@dataclass(frozen=True, slots=True)
class Decade:
    """1990, or 90 for the latest that has begun."""

    first: int


Meaning: TypeAlias = NoDate | Fixed | Yearly | Weekday | Calendar | Counted | Rolling | Decade


@dataclass(frozen=True, slots=True)
class Aside:
    """So many units before or after an expression, from the character `begin` on."""

    begin: int
    count: int
    unit: Unit
    before: bool


@dataclass(frozen=True, slots=True)
class Expression:
    """Characters `begin` to `stop` of a text, and what they mean.

    `part`: what words from `begin` to `core` narrow it to. `lead`: where the preposition in front that belongs to it begins
    ("in March"). `side`: which end the words from `side_begin` on open. `told_from_another`: it counts from something else
    that was told ("the following week").
    """

    core: int
    begin: int
    stop: int
    lead: int
    meaning: Meaning
    part: Part | None
    side: Side | None
    side_begin: int
    told_from_another: bool

    @property
    def returns(self) -> timedelta | None:
        """How often it comes round, where nothing says which one is meant: another expression beside it may."""
        match self.meaning:
            case Yearly(which=None, year=None, step=None):
                return timedelta(days=365)
            case Weekday(which=None, week=None):
                return timedelta(days=7)
            case _:
                return None
