"""Which turns of a history a thread knows.

A history is aligned with the tree of the thread by what turns say (`everlore.capture.turns.turn_key`): from the start, or, where
the beginning is missing or was summarised, by two turns in a row that are known (or one that is long and there once), at the
place where most of what follows agrees.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from everlore.capture.accept import Accepted, accept_one
from everlore.capture.turns import erased_marks
from everlore.domain.messages import NewMessage
from everlore.store import tree
from everlore.store.run import Transaction
from everlore.store.tree import KnownTurn, KnownTurns

# From so many characters on a turn that occurs once is found by itself.
_TELLING = 40
# A history without its beginning may be of a branch: so many messages off the path are looked at that its first turn may be.
_BRANCHES = 50
# How clients begin what stands for the turns that they left out.
_SUMMARY = re.compile(
    r"\s*(?:<(?:summary|context_summary|conversation_summary)\b"
    r"|this session is being continued from a previous conversation"
    r"|another language model started to solve this problem"
    r"|\[?(?:here is )?(?:a |the )?summary of (?:the |our |this )?(?:(?:previous|earlier|prior|whole|full) )?"
    r"(?:conversation|chat|messages|discussion|turns)\b"
    r"|(?:previous |earlier )?conversation summary\b)",
    re.IGNORECASE,
)


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
        self.erased = found.erased
        self.tip_id = tip_id
        self.by_key: dict[bytes, list[KnownTurn]] = {}
        self._children: dict[tuple[UUID | None, bytes], KnownTurn] = {}
        # In their order, those of the path last: of two that say the same after the same, that one counts.
        for one in sorted(found.turns, key=lambda one: (one.on_path, one.position)):
            self.by_key.setdefault(one.turn_key, []).append(one)
            self._children[one.parent_id, one.turn_key] = one
        self.path = [one for one in found.turns if one.on_path]
        # Where what is said twice in a row stands last.
        self.last_of_pair: dict[tuple[bytes, bytes], int] = {}
        by_id = {one.message_id: one for one in found.turns}
        for one in found.turns:
            above = by_id.get(one.parent_id) if one.parent_id else None
            if above is not None:
                position = above.position if one.on_path else 0
                pair = above.turn_key, one.turn_key
                self.last_of_pair[pair] = max(position, self.last_of_pair.get(pair, 0))

    def child(self, parent: KnownTurn | None, key: bytes) -> KnownTurn | None:
        return self._children.get((parent and parent.message_id, key))


@dataclass(slots=True)
class Aligned:
    """`found`: for each turn what it is: a known message, "new", "erased" (not to come back) or "skipped" (it stands for others).
    `follows`: the last known one, which the first new one follows."""

    found: list[UUID | str] = field(default_factory=list[UUID | str])
    follows: KnownTurn | None = None


async def align(tx: Transaction, thread_id: UUID, turns: Sequence[Turn], known: Known) -> Aligned:
    aligned = Aligned(list(known.beginning))
    if known.beginning:
        aligned.follows = KnownTurn(
            known.beginning[-1], None, turns[len(known.beginning) - 1].key, known.position, True
        )
    _walk(aligned, turns, known)
    if 0 < 2 * len(aligned.found) < len(turns):
        # The beginning may be missing, and what is there may begin with words that the thread begins with, too.
        begin, run = _longest_run(turns, 0, known, None)
        if begin is not None and run > len(aligned.found):
            aligned = Aligned([begin.message_id], begin)
            _walk(aligned, turns, known)
    while (at := len(aligned.found)) < len(turns):
        anchor = _anchor(turns, at, known, aligned.follows)
        if anchor is None:
            follows = aligned.follows and aligned.follows.message_id
            if _is_summary(turns[at]) and known.tip_id not in (None, follows):
                # All that it stands for is left out: what comes after it goes on from where the thread ended.
                aligned.found.append("skipped")
                aligned.follows = await _turn(tx, known.tip_id)
                _walk(aligned, turns, known)
                continue
            break
        place, anchored = anchor
        between = await tree.between(
            tx, thread_id, aligned.follows and aligned.follows.position, anchored.position
        )
        if _was_edited(turns[at:place], between, aligned.follows):
            break
        aligned.found += ["skipped"] * (place - at) + [anchored.message_id]
        aligned.follows = anchored
        _walk(aligned, turns, known)
    aligned.found += ["new"] * (len(turns) - len(aligned.found))
    return aligned


def _walk(aligned: Aligned, turns: Sequence[Turn], known: Known) -> None:
    """Go along the tree as far as the turns do."""
    while len(aligned.found) < len(turns):
        one = turns[len(aligned.found)]
        if (child := known.child(aligned.follows, one.key)) is not None:
            aligned.found.append(child.message_id)
            aligned.follows = child
        elif _was_erased(aligned, turns, known):
            aligned.found.append("erased")
        else:
            return


def _was_erased(aligned: Aligned, turns: Sequence[Turn], known: Known) -> bool:
    """Whether the next turn is one that was erased where it stands."""
    if not known.erased:
        return False
    at = len(aligned.found)
    before = [aligned.follows.turn_key if aligned.follows else b"", turns[at - 1].key if at else b""]
    behind = turns[at + 1].key if at + 1 < len(turns) else None
    return bool(erased_marks(before, turns[at].key, behind) & known.erased)


def _anchor(
    turns: Sequence[Turn], at: int, known: Known, after: KnownTurn | None
) -> tuple[int, KnownTurn] | None:
    """The first turn from a place on that is known for sure to stand further on: two in a row are known, or it is long and there
    once."""
    for place in range(at, len(turns)):
        candidates = known.by_key.get(turns[place].key, [])
        single = len(turns[place].text) >= _TELLING and len(candidates) == 1
        pair = (turns[place].key, turns[place + 1].key) if place + 1 < len(turns) else None
        if not single and (pair is None or pair not in known.last_of_pair):
            continue
        if after is None or (after.on_path and (single or known.last_of_pair[pair] > after.position)):  # pyright: ignore[reportArgumentType]
            begin, run = _longest_run(turns, place, known, after)
            if begin is not None and (single or run > 1):
                return place, begin
        if after is None:
            for one in candidates[-_BRANCHES:]:
                if single or (pair is not None and known.child(one, pair[1]) is not None):
                    return place, one
    return None


def _longest_run(
    turns: Sequence[Turn], place: int, known: Known, after: KnownTurn | None
) -> tuple[KnownTurn | None, int]:
    """Where on the path behind a turn of it most is said of what a history says from a place on, the last such place of several;
    and how many turns that are. By the Z algorithm: the work grows with the turns, however often they repeat."""
    said: list[object] = [one.key for one in turns[place:]]
    begins = len(said) + 1
    said.append(None)
    nodes: list[KnownTurn | None] = []
    for one in known.path:
        if nodes and nodes[-1] is not None and nodes[-1].message_id != one.parent_id:
            nodes.append(None)
        nodes.append(one)
    # What is not known in between says nothing that is the same as anything.
    said += [object() if one is None else one.turn_key for one in nodes]
    lengths = _z(said)
    best: tuple[KnownTurn | None, int] = None, 0
    for number, one in enumerate(nodes):
        run = lengths[begins + number]
        if one is not None and run and run >= best[1] and (after is None or one.position > after.position):
            best = one, run
    return best


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


def _was_edited(unknown: Sequence[Turn], between: int, after: KnownTurn | None) -> bool:
    """Whether unknown turns take the place of those that lie between known ones, rather than stand for them, or come before all
    of them."""
    if not unknown or any(map(_is_summary, unknown)):
        return False
    # Behind turns that are known, what is no summary is an edit, however much of what was there it replaces.
    return after is not None or len(unknown) >= between > 0


def _is_summary(one: Turn) -> bool:
    return one.role == "user" and _SUMMARY.match(one.text) is not None


async def _turn(tx: Transaction, message_id: UUID) -> KnownTurn | None:
    place = await tree.place(tx, message_id)
    if place is None:
        return None
    return KnownTurn(place.message_id, place.parent_id, b"", place.position, place.on_path)
