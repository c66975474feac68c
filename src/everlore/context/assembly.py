"""A context from beginning to end: what the queries find, what the slots make of it, what fits, and the log of it."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from everlore.context.choice import Offer, choose, order
from everlore.context.piece import Given, Material, Piece, SaidBefore
from everlore.context.rendering import Segment, Templates, date_of, text_of
from everlore.context.slots import SLOTS
from everlore.context_profiles import ProfileSettings
from everlore.domain.context import Context, ContextItem, ContextPart, LeftOut, Part, Profile, WhyLeftOut
from everlore.domain.errors import ConfigurationError
from everlore.domain.ids import new_id
from everlore.domain.recall import Recall
from everlore.ports.tokens import Count
from everlore.store import contexts
from everlore.store.contexts import GivenRow, ItemRow, NewContext
from everlore.store.run import Transaction


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """One context as it is asked for. `thread` with its id; `since`: the context before it; `said`: the texts of the messages
    that the reader has before it; `exact`: `count` is the reader's own."""

    profile: Profile
    settings: ProfileSettings
    budget: int
    now: datetime
    thread: str | None
    thread_id: UUID | None
    since: UUID | None
    said: tuple[str, ...]
    count: Count
    exact: bool
    explain: bool


async def build(
    tx: Transaction, request: ContextRequest, answers: Sequence[Recall], templates: Templates
) -> Context:
    """Make a context of what was recalled, and log it, in the caller's transaction."""
    given = await _given(tx, request.since)
    if request.since is not None and (before := await contexts.show(tx, request.since)) is not None:
        given.made_at = before[0].at
    material = Material(
        tx=tx,
        now=request.now,
        thread_id=request.thread_id,
        answers=tuple(answers),
        said=SaidBefore.of(request.said),
        given=given,
        goes_on=request.since is not None,
        most=_most(request.settings),
    )
    offered = await _offered(material)
    left_out = [LeftOut(piece.slot, piece.kind, piece.id, 0, why) for piece, why in offered.repeated]
    head = None
    if request.since is None:
        allowed = int(request.budget * request.settings.head)
        head = _assembled(request, "head", offered.head, allowed, given.last_number, templates)
        if any(piece.first for piece in offered.head) and not any(one.id is None for one in head.part.items):
            # How to use all that follows comes before the head's share.
            head = _assembled(request, "head", offered.head, request.budget, given.last_number, templates)
        left_out += head.left_out
    stands = {(one.kind, one.id) for one in head.part.items if one.id} if head else set[tuple[str, UUID]]()
    last = given.last_number if head is None else max(given.last_number, head.last_number)
    rest = request.budget - (head.part.tokens if head else 0)
    following = [piece for piece in offered.tail if (piece.kind, piece.id) not in stands]
    tail = _assembled(request, "tail", following, rest, last, templates)
    context_id = new_id()
    items = [*(head.rows if head else ()), *tail.rows]
    await contexts.write(
        tx,
        NewContext(
            context_id, request.since, request.thread_id, request.profile, request.budget, request.now
        ),
        items,
    )
    return Context(
        context_id=context_id,
        since=request.since,
        thread=request.thread,
        at=request.now,
        profile=request.profile,
        budget=request.budget,
        head=head.part if head else None,
        tail=tail.part,
        left_out=(*left_out, *tail.left_out),
        exact=request.exact,
        slots=_by_slot([*(head.part.items if head else ()), *tail.part.items]),
        degraded=tuple(dict.fromkeys(one for answer in answers for one in answer.degraded)),
    )


def _most(settings: ProfileSettings) -> Mapping[str, int]:
    """How many items each slot may hold. Raises ConfigurationError for a slot that there is not."""
    known = [slot.name for slot in SLOTS]
    if unknown := sorted(settings.slots.keys() - set(known)):
        raise ConfigurationError(f"{unknown[0]!r} is no slot of a context; those are {', '.join(known)}.")
    return settings.slots


async def _given(tx: Transaction, since: UUID | None) -> Given:
    """What the contexts before this one gave."""
    given = Given()
    for row in [] if since is None else await contexts.given(tx, since):
        _note(given, row)
    return given


def _note(given: Given, row: GivenRow) -> None:
    if row.message_id is not None:
        given.messages.add(row.message_id)
    named = row.message_id or row.lineage_id or row.fact_id
    if row.memory_id is not None and row.lineage_id is not None:
        given.memories[row.lineage_id] = row.memory_id
        # A change without a number says that something holds no longer.
        if row.slot == "changes" and row.number is None:
            given.ended.add(row.memory_id)
    if row.fact_id is not None and row.fact_version is not None:
        given.facts[row.fact_id] = row.fact_version
    if named is not None and row.number is not None:
        given.numbers[named] = row.number


@dataclass(frozen=True, slots=True)
class _Offered:
    """Pieces for head and tail, and those that would say something twice."""

    head: list[Piece]
    tail: list[Piece]
    repeated: list[tuple[Piece, WhyLeftOut]]


async def _offered(material: Material) -> _Offered:
    offered = _Offered([], [], [])
    seen: set[tuple[str, str, UUID]] = set()
    for slot in SLOTS:
        if not material.most.get(slot.name, 0) or (slot.part == "head" and material.goes_on):
            continue
        for piece in await slot.pieces(material):
            if why := _repeats(material, piece, slot.part):
                offered.repeated.append((piece, why))
            elif piece.id is None or (slot.part, piece.kind, piece.id) not in seen:
                here = (
                    piece if piece.at is None else replace(piece, at=piece.at.astimezone(material.now.tzinfo))
                )
                (offered.head if slot.part == "head" else offered.tail).append(here)
                seen |= {(slot.part, piece.kind, piece.id)} if piece.id else set()
    return offered


def _repeats(material: Material, piece: Piece, part: Part) -> WhyLeftOut | None:
    """What stands in the head, and what has changed, is said whatever the messages say: those may doubt it."""
    if not piece.names:
        return None
    if material.given.has(piece):
        return "given before"
    may = part == "tail" and not piece.first
    return "in the messages" if may and material.said.has(piece.own or piece.text) else None


@dataclass(frozen=True, slots=True)
class _Assembled:
    """A part with its rows of the log; `last_number` is the last that an item of it bears."""

    part: ContextPart
    rows: list[ItemRow]
    left_out: list[LeftOut]
    last_number: int


def _assembled(
    request: ContextRequest,
    part: Part,
    pieces: Sequence[Piece],
    budget: int,
    last_number: int,
    templates: Templates,
) -> _Assembled:
    """The pieces that fit, rendered. What the template says itself counts, and the whole is counted again in the end: where
    it has become longer than the sum of its items, the least dense give way."""
    count = request.count
    # Numbers are given out later, in the order in which items stand: here the longest that there can be.
    widest = last_number + len(pieces)
    lines = [templates.item(piece, widest if piece.names else None) for piece in pieces]
    costs = [count(line) for line in lines]
    room = budget - _frame(part, pieces, templates, count)
    offers = [_offer(piece, cost, count) for piece, cost in zip(pieces, costs, strict=True)]
    choice = choose(offers, room, request.settings.slots)
    chosen, over = _in_order(pieces, choice.chosen), dict(choice.left_out)
    segments, numbers = _rendered(part, pieces, chosen, last_number, templates)
    while chosen and count(text_of(segments)) > budget:
        worst = order([offers[place] for place in chosen])[-1]
        over[chosen.pop(worst)] = "over the budget"
        segments, numbers = _rendered(part, pieces, chosen, last_number, templates)
    text = text_of(segments)
    items = tuple(
        _item(pieces[place], lines[place], number, costs[place], explain=request.explain)
        for place, number in zip(chosen, numbers, strict=True)
    )
    return _Assembled(
        ContextPart(text, count(text) if text else 0, items),
        _rows(part, segments, [pieces[place] for place in chosen], items, count),
        [
            LeftOut(pieces[place].slot, pieces[place].kind, pieces[place].id, costs[place], why)
            for place, why in sorted(over.items())
        ],
        max([last_number, *(number for number in numbers if number is not None)]),
    )


def _in_order(pieces: Sequence[Piece], chosen: Sequence[int]) -> list[int]:
    """Places in the order in which they are read: slot by slot, messages as they were said."""
    slots = list(dict.fromkeys(piece.slot for piece in pieces))

    def reading(place: int) -> tuple[int, float, int]:
        piece = pieces[place]
        said = piece.at.timestamp() if piece.kind == "message" and piece.at else 0.0
        return slots.index(piece.slot), said, place

    return sorted(chosen, key=reading)


def _offer(piece: Piece, cost: int, count: Count) -> Offer:
    """Messages stand under the days on which they were said."""
    day = piece.at.date() if piece.kind == "message" and piece.at else None
    heading = count(f"{date_of(piece.at)}:\n") if day else 0
    return Offer(piece.slot, piece.value, cost, piece.first, day or piece.slot, heading)


def _frame(part: Part, pieces: Sequence[Piece], templates: Templates, count: Count) -> int:
    """What the template costs with no words in it, without the days of messages."""
    first = {piece.slot: replace(piece, at=None) for piece in pieces}
    return count(text_of(templates.part(part, list(first.values()), [""] * len(first))))


def _rendered(
    part: Part, pieces: Sequence[Piece], chosen: Sequence[int], last_number: int, templates: Templates
) -> tuple[list[Segment], list[int | None]]:
    """The part with the chosen pieces, and their numbers, which go on from the last one of the chain."""
    following = itertools.count(last_number + 1)
    numbers = [next(following) if pieces[place].names else None for place in chosen]
    lines = [templates.item(pieces[place], number) for place, number in zip(chosen, numbers, strict=True)]
    return templates.part(part, [pieces[place] for place in chosen], lines), numbers


def _item(piece: Piece, line: str, number: int | None, tokens: int, *, explain: bool) -> ContextItem:
    return ContextItem(
        slot=piece.slot,
        kind=piece.kind,
        text=piece.text or line.strip(),
        number=number,
        id=piece.id,
        version=piece.version,
        sources=piece.sources,
        at=piece.at,
        trust=piece.trust,
        tokens=tokens,
        support=piece.support if explain else None,
    )


def _rows(
    part: Part,
    segments: Sequence[Segment],
    pieces: Sequence[Piece],
    items: Sequence[ContextItem],
    count: Callable[[str], int],
) -> list[ItemRow]:
    """What is logged: of a head every stretch with its words, of a tail the items."""
    rows: list[ItemRow] = []
    for segment in segments:
        if segment.place is not None:
            row = _row(part, pieces[segment.place], items[segment.place])
            rows.append(replace(row, words=segment.text) if part == "head" else row)
        elif part == "head":
            rows.append(ItemRow(part, "", None, count(segment.text), words=segment.text))
    return rows


def _row(part: Part, piece: Piece, item: ContextItem) -> ItemRow:
    return ItemRow(
        part=part,
        slot=piece.slot,
        number=item.number,
        tokens=item.tokens,
        message_id=piece.id if piece.kind == "message" else None,
        memory_id=piece.version if piece.kind == "memory" else None,
        fact_id=piece.id if piece.kind == "fact" else None,
        fact_version=piece.version if piece.kind == "fact" else None,
    )


def _by_slot(items: Sequence[ContextItem]) -> dict[str, int]:
    """Tokens of items, by slot."""
    slots: dict[str, int] = {}
    for item in items:
        slots[item.slot] = slots.get(item.slot, 0) + item.tokens
    return slots
