"""Which turns of a history a thread knows.

A history is aligned with the tree of the thread by what turns say (`everlore.capture.turns.turn_key`): from the start; behind a
summary, where most of what follows it is said up to the end of the branch; and where the beginning or the middle was left out, by
two turns in a row that are known (or one that is long and there once).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from everlore.capture.accept import Accepted, accept_one
from everlore.capture.history import summary_in
from everlore.capture.turns import Said, Summary, erased_marks, same_but_cut
from everlore.domain.messages import NewMessage
from everlore.store import tree
from everlore.store.run import Transaction
from everlore.store.tree import KnownTurn, KnownTurns

# From so many characters on a turn that occurs once is found by itself.
_TELLING = 40
# So many places are tried for where a history without its beginning begins: its first turns may all be of another branch.
_TRIES = 50


@dataclass(slots=True)
class Turn:
    """One entry of a history: what it says, and the message that it is if it is new, checked by then. `field` is what an error
    calls it."""

    role: str
    text: str
    key: bytes
    given: NewMessage | Mapping[str, Any]
    field: str
    accepted: Accepted | None = None
    merged: bool = False  # with a summary, which stood in front of its own words

    @property
    def summary(self) -> Summary:
        if self.merged:
            return "in front"
        said = self.said
        return "" if said.captions or said.tool_calls != "[]" else summary_in(self.role, self.text)

    @property
    def stands_for_others(self) -> bool:
        return self.summary in {"whole", "maybe"}

    @property
    def said(self) -> Said:
        if self.accepted is None:
            return Said(self.role, self.text, (), "[]")
        return Said(self.role, self.text, self.accepted.captions, self.accepted.tool_calls)

    def message(self, now: datetime) -> Accepted:
        """The message, checked. Raises InvalidInput."""
        if self.accepted is None:
            self.accepted = accept_one(self.given, self.field, now)
        return self.accepted


class Known:
    """The turns of a thread that a history may be about: what both begin with, and others by what they say."""

    def __init__(self, found: KnownTurns, tip_id: UUID | None) -> None:
        self.beginning = found.path
        self.position = found.position
        self.goes_on = found.goes_on
        self.erased = found.erased
        self.tip_id = tip_id
        self.by_key: dict[bytes, list[KnownTurn]] = {}
        self._children: dict[tuple[UUID | None, bytes], KnownTurn] = {}
        # In their order, those of the path last: of two that say the same after the same, that one counts.
        for one in sorted(found.turns, key=lambda one: (one.on_path, one.position)):
            self.by_key.setdefault(one.turn_key, []).append(one)
            self._children[one.parent_id, one.turn_key] = one
        self.path = [one for one in found.turns if one.on_path]
        self.branches = [one for one in found.turns if not one.on_path]
        by_id = {one.message_id: one for one in found.turns}
        above = ((by_id.get(one.parent_id), one) for one in found.turns if one.parent_id)
        self.pairs = {(before.turn_key, one.turn_key) for before, one in above if before is not None}

    def child(self, parent: KnownTurn | None, key: bytes) -> KnownTurn | None:
        return self._children.get((parent and parent.message_id, key))

    def behind(self, after: KnownTurn | None) -> list[KnownTurn]:
        """What may come after a turn: the path's turns behind it, or those of branches."""
        turns = self.path if after is None or after.on_path else self.branches
        return [one for one in turns if after is None or one.position > after.position]


class Stretch(NamedTuple):
    """So many turns in a row from a known one on say what a history does."""

    begin: KnownTurn
    length: int
    last: KnownTurn


@dataclass(slots=True)
class Aligned:
    """`found`: for each turn what it is: a known message, "new", "erased" (not to come back) or "skipped" (it stands for others).
    `follows`: the last known one, which the first new one follows."""

    found: list[UUID | str] = field(default_factory=list[UUID | str])
    follows: KnownTurn | None = None


async def align(tx: Transaction, thread_id: UUID, turns: Sequence[Turn], known: Known) -> Aligned:
    aligned = Aligned(list(known.beginning))
    if known.beginning:
        last = turns[len(known.beginning) - 1]
        aligned.follows = KnownTurn(known.beginning[-1], None, last.key, known.position, True)
    _walk(aligned, turns, known)
    if known.goes_on and len(aligned.found) < len(turns):
        # The beginning may be missing, and what is there may begin with words that the thread begins with, too.
        run = _longest(_runs(turns, 0, known.path))
        if run is not None and run.length > len(aligned.found):
            aligned = Aligned([run.begin.message_id], run.begin)
            _walk(aligned, turns, known)
    summaries = [place for place in range(len(aligned.found), len(turns)) if turns[place].summary == "whole"]
    resumed = -1  # behind the summary in front of this turn the history was gone on with
    while (at := len(aligned.found)) < len(turns):
        one = turns[at]
        if (one.stands_for_others or one.summary == "in front") and at != resumed:
            resumed = await _resume(tx, aligned, turns, known)
            if resumed < 0:
                break
        elif _pick_up(aligned, turns[at : next((place for place in summaries if place > at), at)], known):
            continue
        elif (cut := await _cut(tx, thread_id, one, aligned.follows, known)) is not None:
            aligned.found.append(cut.message_id)
            aligned.follows = cut
        elif at == resumed or not await _anchor(tx, thread_id, aligned, turns, known):
            break
        _walk(aligned, turns, known)
    for place in range(len(aligned.found), len(turns)):
        aligned.found.append("erased" if _was_erased(turns, place, aligned.follows, known) else "new")
    return aligned


def _walk(aligned: Aligned, turns: Sequence[Turn], known: Known) -> None:
    """Go along the tree as far as the turns do."""
    while (at := len(aligned.found)) < len(turns):
        if (child := known.child(aligned.follows, turns[at].key)) is not None:
            aligned.found.append(child.message_id)
            aligned.follows = child
        elif _was_erased(turns, at, aligned.follows, known):
            aligned.found.append("erased")
        else:
            return


def _was_erased(turns: Sequence[Turn], at: int, follows: KnownTurn | None, known: Known) -> bool:
    """Whether a turn is one that was erased where it stands."""
    if not known.erased:
        return False
    before = [follows.turn_key if follows else b"", turns[at - 1].key if at else b""]
    behind = turns[at + 1].key if at + 1 < len(turns) else None
    return bool(erased_marks(before, turns[at].key, behind) & known.erased)


# --- summaries ---------------------------------------------------------------------------------------------


async def _resume(tx: Transaction, aligned: Aligned, turns: Sequence[Turn], known: Known) -> int:
    """Behind a summary the history goes on where its own words are said up to the end of the branch; else (all is left out) from
    that end. Returns the place of the first turn behind the summary; -1 if it was none, or stands for what nobody has."""
    if known.tip_id is None:
        return -1
    at = begin = len(aligned.found)
    while begin < len(turns) and turns[begin].stands_for_others:
        begin += 1
    behind = known.behind(aligned.follows)
    runs = _runs(turns, begin, behind)
    end = await _end(tx, aligned.follows, known)
    whole = [run for run in runs if run.last.message_id == end or run.length == len(turns) - begin]
    run = _longest(whole) or _longest([run for run in runs if run.length > 1])
    if run is None and aligned.follows is not None and turns[at].summary == "maybe":
        return -1
    aligned.found += ["skipped"] * (begin - at)
    if run is not None:
        aligned.found.append(run.begin.message_id)
        aligned.follows = run.begin
    else:
        aligned.follows = None if end is None else await _turn(tx, end)
    return begin


async def _end(tx: Transaction, follows: KnownTurn | None, known: Known) -> UUID | None:
    """Where the branch ends that a turn is on."""
    return known.tip_id if follows is None or follows.on_path else await tree.end_of(tx, follows.message_id)


def _pick_up(aligned: Aligned, kept: Sequence[Turn], known: Known) -> bool:
    """Some clients keep what was asked in front of a summary, and nothing of what was answered. False if none of it is known."""
    follows, found = aligned.follows, list[UUID | str]()
    for one in kept:
        behind = (turn for turn in known.by_key.get(one.key, ()) if turn.on_path)
        turn = next((turn for turn in behind if follows is None or turn.position > follows.position), None)
        found.append("skipped" if turn is None else turn.message_id)
        follows = turn or follows
    if follows is aligned.follows:
        return False
    aligned.found += found
    aligned.follows = follows
    return True


# --- what was left out -------------------------------------------------------------------------------------


async def _cut(
    tx: Transaction, thread_id: UUID, one: Turn, follows: KnownTurn | None, known: Known
) -> KnownTurn | None:
    """The next turn of the path, if this is the same but for what clients drop to save room: what a tool answered, pictures."""
    if known.tip_id in (None, follows and follows.message_id) or (follows and not follows.on_path):
        return None
    following = await tree.following_said(tx, thread_id, follows.position if follows else 0)
    if following is None:
        return None
    said = Said(following.role, following.text, following.captions, following.tool_calls)
    if not same_but_cut(one.said, said):
        return None
    return KnownTurn(following.message_id, following.parent_id, one.key, following.position, True)


async def _anchor(
    tx: Transaction, thread_id: UUID, aligned: Aligned, turns: Sequence[Turn], known: Known
) -> bool:
    """Find where the history goes on: behind a gap, or without its beginning. False where what comes next is new."""
    at, follows = len(aligned.found), aligned.follows
    if follows is not None:
        # What stands behind known turns and is not known is an edit, however much of what was there it replaces.
        place, begin = at, _behind_gap(turns, at, known, follows)
    else:
        place, begin = _first_known(turns, at, known)
    if begin is None:
        return False
    between = await tree.between(tx, thread_id, follows and follows.position, begin.position)
    if place - at >= between > 0 and begin.on_path and place > at:
        # As many unknown turns as lie in front: these were edited.
        return False
    aligned.found += ["skipped"] * (place - at) + [begin.message_id]
    aligned.follows = begin
    return True


def _behind_gap(turns: Sequence[Turn], at: int, known: Known, follows: KnownTurn) -> KnownTurn | None:
    """Where the path goes on behind turns that were left out. One turn alone may be one that is said again, unless the path ends
    with it."""
    if not follows.on_path or not _is_telling(turns, at, known):
        return None
    runs = _runs(turns, at, known.behind(follows))
    run = _longest([run for run in runs if run.length > 1 or run.begin.message_id == known.tip_id])
    return None if run is None else run.begin


def _first_known(turns: Sequence[Turn], at: int, known: Known) -> tuple[int, KnownTurn | None]:
    """The first turn that is known for sure, and where it stands: on the path where most of what follows agrees, else on the
    branch that was written last."""
    tries = 0
    for place in range(at, len(turns)):
        if not _is_telling(turns, place, known):
            continue
        single = _is_single(turns[place], known)
        run = _longest(_runs(turns, place, known.path))
        if run is not None and (single or run.length > 1):
            return place, run.begin
        for one in reversed(known.by_key[turns[place].key]):
            if single or (place + 1 < len(turns) and known.child(one, turns[place + 1].key) is not None):
                return place, one
        tries += 1
        if tries == _TRIES:
            break
    return at, None


def _is_telling(turns: Sequence[Turn], place: int, known: Known) -> bool:
    """Whether a turn is known for sure: with the one behind it, or by itself."""
    pair = place + 1 < len(turns) and (turns[place].key, turns[place + 1].key) in known.pairs
    return (
        pair
        or _is_single(turns[place], known)
        or bool(turns[place].key in known.by_key and place + 1 == len(turns))
    )


def _is_single(one: Turn, known: Known) -> bool:
    return len(one.text) >= _TELLING and len(known.by_key.get(one.key, ())) == 1


def _runs(turns: Sequence[Turn], place: int, nodes: Sequence[KnownTurn]) -> list[Stretch]:
    """From each node on, how many turns in a row say what the history does from a place on. By the Z algorithm: the work grows
    with the turns, however often they repeat."""
    said: list[object] = [one.key for one in turns[place:]]
    begins = len(said) + 1
    said.append(None)
    row: list[KnownTurn | None] = []
    for one in nodes:
        if row and row[-1] is not None and row[-1].message_id != one.parent_id:
            # What is not known in between says nothing that is the same as anything.
            row.append(None)
        row.append(one)
    said += [object() if one is None else one.turn_key for one in row]
    lengths = _z(said)
    found: list[Stretch] = []
    for number, one in enumerate(row):
        length = lengths[begins + number]
        if one is not None and length and (last := row[number + length - 1]) is not None:
            found.append(Stretch(one, length, last))
    return found


def _longest(runs: Sequence[Stretch]) -> Stretch | None:
    """The last of the longest."""
    return max(reversed(runs), key=lambda run: run.length, default=None)


def _z(said: Sequence[object]) -> list[int]:
    """For each place how many items from there on are the same as those from the start (Gusfield's Z algorithm)."""
    lengths = [0] * len(said)
    left = right = 0
    for place in range(1, len(said)):
        length = min(right - place, lengths[place - left]) if place < right else 0
        while place + length < len(said) and said[length] == said[place + length]:
            length += 1
        lengths[place] = length
        if place + length > right:
            left, right = place, place + length
    return lengths


async def _turn(tx: Transaction, message_id: UUID) -> KnownTurn | None:
    place = await tree.place(tx, message_id)
    if place is None:
        return None
    return KnownTurn(place.message_id, place.parent_id, b"", place.position, place.on_path)
