"""Times that are said in words: one grammar, and two policies for what its expressions mean.

`read_dates` is for statements: exact, with a grain, resolved against the moment they were said at. `read_times` is for
questions: ranges, with slack.
"""

from everlore.text.dates.expressions import Grain
from everlore.text.dates.questions import TimeRange, read_times
from everlore.text.dates.statements import SaidDate, Side, read_dates

__all__ = ["Grain", "SaidDate", "Side", "TimeRange", "read_dates", "read_times"]
