"""How facts look, and what waits for a person's word."""

from typing import TYPE_CHECKING

from everlore.domain.ids import short_id
from everlore.faces.cli.output import Output, clean, one_line, table, when
from everlore.faces.cli.output import facts as pairs
from everlore.faces.cli.shown import Shown, day, fact_table, prints, source_table, statement, stretch

if TYPE_CHECKING:
    from everlore.domain.knowledge import FactDetail, ReviewItem
    from everlore.domain.memories import Fact


@prints("facts")
def _list(shown: Shown) -> None:
    if shown.answer:
        shown.out.print(fact_table(shown.answer))
    else:
        shown.out.line(f"No fact of the workspace {shown.workspace} passes these filters.")


@prints("facts show")
def _show(shown: Shown) -> None:
    found: FactDetail = shown.answer
    fact, versions, out = found.fact, found.versions, shown.out
    out.print(
        pairs(
            {
                "fact": statement(fact),
                "id": f"{fact.lineage_id}, version {fact.version}",
                "holds": None if fact.review else stretch(fact.valid_from, fact.valid_to),
                "sure": f"{fact.confidence:.2f}",
                "review": f"{fact.review}: {fact.review_reason}" if fact.review else None,
            }
        )
    )
    if fact.sources:
        out.line()
        out.print(source_table(fact.sources))
    if len(versions) > 1:
        out.line()
    for version in versions if len(versions) > 1 else ():
        until = f" to {when(version.superseded_at)}" if version.superseded_at else ""
        held = stretch(version.valid_from, version.valid_to)
        out.line(f"{version.version}. believed from {when(version.recorded_at)}{until}: {held}")


@prints("facts confirm")
def _confirmed(shown: Shown) -> None:
    _decided(shown, "Confirmed")


@prints("facts reject")
def _rejected(shown: Shown) -> None:
    _decided(shown, "Rejected")


def _decided(shown: Shown, done: str) -> None:
    fact: Fact = shown.answer
    shown.out.line(f"{done}: {short_id(fact.lineage_id)} {statement(fact)}.")


@prints("review")
def _review(shown: Shown) -> None:
    if shown.answer:
        _print_review(shown.out, list(shown.answer))
    else:
        shown.out.line(f"Nothing in the workspace {shown.workspace} waits for review.")


@prints("review accept")
def _accepted(shown: Shown) -> None:
    shown.out.line(f"Accepted: {shown.arguments['identifier']}.")


@prints("review reject")
def _declined(shown: Shown) -> None:
    shown.out.line(f"Rejected: {shown.arguments['identifier']}.")


def _print_review(out: Output, found: "list[ReviewItem]") -> None:
    from rich.text import Text

    listed = table("since", "what", "text", "id", wide="text")
    for item in found:
        text = Text(one_line(item.text)).append(f"\n{clean(item.reason)}", style="dim")
        what = item.kind if item.kind != "memory" else f"memory, {item.state}"
        listed.add_row(day(item.recorded_at), what, text, short_id(item.id))
    out.print(listed)
    out.line("Decide with: everlore review accept ID, or everlore review reject ID")
