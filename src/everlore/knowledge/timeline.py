"""Timeline: from everything that was ever stated about one thing, what held when. Pure, and the same in any order of arrival.

A group is what conflicts with itself: the places where Emma lives; whether Anna likes or dislikes olives; whether she has
the dog Rex. Its statements are read in the order in which they were said, not in which they arrived, so that a message that
comes late fills a gap in the past and never overrules a newer one. Each statement claims its value from its beginning on:

- the same value again corroborates the stretch that goes on,
- another value ends that stretch and begins its own,
- "no longer" ends the stretch of its value,
- a correction takes the stretch over from its beginning: the other value was never true,
- a correction that ends its own value ("not walnuts") takes nothing over: the value was never true.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

# However often something is said, no number of statements makes it certain.
MOST_CONFIDENT = 0.99


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One time that something was said. `value` is what groups differ in; `begins` since when it holds (when it was said, if
    the words name no time); `lineage_id` the fact that it counted for so far; `place` where it was said: the position of the
    message, and of the words in it."""

    source_id: UUID
    value: str
    said_at: datetime
    begins: datetime
    ended: bool = False
    corrects: bool = False
    confidence: float = 0.7
    lineage_id: UUID | None = None
    place: tuple[int, int] = (0, 0)

    @property
    def order(self) -> tuple[object, ...]:
        """When it was said; of what was said at one time by its place in the thread, then by what it says: an end comes last."""
        return (self.said_at, self.begins, self.place, self.ended, self.corrects, self.value, self.confidence)


@dataclass(slots=True)
class Validity:
    """A value and when it held. `never`: it was corrected, so it never did. `followed_by`: what took its place."""

    value: str
    begins: datetime
    ends: datetime | None
    statements: list[TimelineEntry] = field(default_factory=list[TimelineEntry])
    never: bool = False
    followed_by: "Validity | None" = None


def timeline(statements: Iterable[TimelineEntry]) -> list[Validity]:
    """The stretches that the statements of one group make, in the order in which they were first said."""
    stretches: list[Validity] = []
    for said in sorted(statements, key=lambda s: s.order):
        if said.corrects and said.ended:
            _deny(stretches, said)
        elif said.corrects:
            _correct(stretches, said)
        elif said.ended:
            _end(stretches, said)
        else:
            _claim(stretches, said)
    return stretches


def _open_at(stretches: Sequence[Validity], moment: datetime) -> Validity | None:
    """The stretch that holds at a moment."""
    for stretch in reversed(stretches):
        if not stretch.never and stretch.begins <= moment and (stretch.ends is None or stretch.ends > moment):
            return stretch
    return None


def _claim(stretches: list[Validity], said: TimelineEntry) -> None:
    current = _open_at(stretches, said.begins)
    if current is not None and current.value == said.value:
        current.statements.append(said)
        mine = current
        mine.ends = None
    else:
        mine = Validity(said.value, said.begins, None, [said])
        stretches.append(mine)
        if current is not None:
            _finish(current, said.begins, mine)
    _clear_after(stretches, mine)


def _clear_after(stretches: Sequence[Validity], mine: Validity) -> None:
    """What was claimed for later than `mine` begins, but said before it: taken back, or joined if it is the same."""
    for other in stretches:
        if other is mine or other.never or other.begins < mine.begins:
            continue
        if other.value == mine.value:
            mine.statements.extend(other.statements)
            other.statements.clear()
        other.never = True
        other.ends = other.begins
        other.followed_by = mine


def _end(stretches: list[Validity], said: TimelineEntry) -> None:
    held = [s for s in stretches if s.value == said.value and not s.never]
    going_on = next((s for s in reversed(held) if s.ends is None or s.ends > said.begins), None)
    if going_on is not None:
        going_on.statements.append(said)
        going_on.ends = max(said.begins, going_on.begins)
    elif held:
        held[-1].statements.append(said)
    else:
        # Nobody had said that it held: it is known from its end only.
        stretches.append(Validity(said.value, said.begins, said.begins, [said]))


def _deny(stretches: list[Validity], said: TimelineEntry) -> None:
    wrong = next((s for s in reversed(stretches) if s.value == said.value and not s.never), None)
    if wrong is None:
        wrong = Validity(said.value, said.begins, said.begins, [])
        stretches.append(wrong)
    wrong.statements.append(said)
    wrong.never = True
    wrong.ends = wrong.begins


def _correct(stretches: list[Validity], said: TimelineEntry) -> None:
    wrong = next((s for s in reversed(stretches) if not s.never and s.ends is None), None)
    if wrong is None or wrong.value == said.value:
        _claim(stretches, said)
        return
    right = Validity(said.value, min(wrong.begins, said.begins), None, [said])
    stretches.append(right)
    wrong.never = True
    wrong.ends = wrong.begins
    wrong.followed_by = right
    for before in stretches:
        if before.followed_by is wrong:
            before.followed_by = right
            if before.value == right.value and not before.never:
                # "No, still in Porto": the stretch before simply goes on.
                before.ends = None
                before.followed_by = None
                before.statements.extend(right.statements)
                stretches.remove(right)
                wrong.followed_by = before
                return


def _finish(stretch: Validity, at: datetime, followed_by: Validity) -> None:
    stretch.ends = max(at, stretch.begins)
    stretch.followed_by = followed_by


def corroborated(confidences: Iterable[float]) -> float:
    """How sure several independent statements make us: one minus the chance that all of them are wrong,

        1 - (1 - c1)(1 - c2)...,  at most 0.99

    (noisy-or; Pearl 1988). Each statement counts by its own confidence, so ten vague ones do not beat three clear ones.
    """
    doubt = 1.0
    for confidence in sorted(confidences):
        doubt *= 1 - confidence
    return round(min(1 - doubt, MOST_CONFIDENT), 4)
