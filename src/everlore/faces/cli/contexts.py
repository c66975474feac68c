"""How contexts look: the text for the prompt, what it cost, what was left out; and the log of them."""

from collections import Counter
from typing import TYPE_CHECKING

from everlore.domain.ids import short_id
from everlore.faces.cli.output import Output, clean, shortened, table, when
from everlore.faces.cli.shown import Shown, prints

if TYPE_CHECKING:
    from everlore.domain.context import Context, ContextRecord

_ROOM = 60


@prints("context")
def _context(shown: Shown) -> None:
    made: Context = shown.answer
    parts = [part.text for part in (made.head, made.tail) if part is not None and part.text]
    for text in parts or ["Nothing that is remembered here fits."]:
        shown.out.line(text.rstrip("\n"))
        shown.out.line()
    counted = "" if made.exact else ", estimated"
    shown.out.note(
        f"{made.tokens:,} of {made.budget:,} tokens{counted}; what follows: --since {made.short_id}"
    )
    if shown.arguments.get("explain"):
        _explain(shown.out, made)
    elif made.left_out:
        shown.out.note(_left_out(made))


def _left_out(made: "Context") -> str:
    """`Left out: 12 over the budget, 1 given before.`"""
    reasons = Counter(one.why for one in made.left_out)
    return f"Left out: {', '.join(f'{times:,} {why}' for why, times in reasons.most_common())}."


def _explain(out: Output, made: "Context") -> None:
    items = [*(made.head.items if made.head else ()), *made.tail.items]
    listed = table("#", "slot", "what", "tokens", "why", numbers=["#", "tokens"], wide="what")
    for item in items:
        reasons = item.support.reasons if item.support else ()
        listed.add_row(
            "" if item.number is None else str(item.number),
            item.slot,
            shortened(item.text, _ROOM),
            str(item.tokens),
            shortened("; ".join(reasons) or (item.trust or ""), _ROOM),
        )
    for one in made.left_out:
        named = "" if one.id is None else short_id(one.id)
        listed.add_row("", one.slot, f"{one.kind} {named}", str(one.tokens or ""), f"left out: {one.why}")
    out.print(listed)


@prints("contexts")
def _contexts(shown: Shown) -> None:
    if not shown.answer:
        shown.out.line(f"No context was made in the workspace {shown.workspace} yet.")
        return
    listed = table("made", "profile", "thread", "tokens", "of", "id", "after", numbers=["tokens", "of"])
    for one in shown.answer:
        listed.add_row(
            when(one.at),
            one.profile,
            clean(one.thread or ""),
            f"{sum(one.slots.values()):,}",
            f"{one.budget:,}",
            one.short_id,
            "" if one.since is None else short_id(one.since),
        )
    shown.out.print(listed)


@prints("contexts show")
def _record(shown: Shown) -> None:
    record: ContextRecord = shown.answer
    if record.head is not None:
        shown.out.line(record.head)
    listed = table("#", "part", "slot", "what", "id", "tokens", numbers=["#", "tokens"])
    for item in record.items:
        listed.add_row(
            "" if item.number is None else str(item.number),
            item.part,
            item.slot,
            item.kind,
            "" if item.id is None else short_id(item.id),
            str(item.tokens),
        )
    shown.out.print(listed)
