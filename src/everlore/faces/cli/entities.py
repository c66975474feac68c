"""How entities look: who and what is spoken of, under which names, and what was made of them by hand."""

from typing import TYPE_CHECKING, Any

from everlore.domain.ids import short_id
from everlore.faces.cli.output import Output, clean, facts, one_line, table, when
from everlore.faces.cli.shown import Shown, entity_name, fact_table, prints
from everlore.text.counts import counted

if TYPE_CHECKING:
    from everlore.domain.graph import EntityChange, EntityDetail, FoundEntity
    from everlore.domain.memories import Entity


@prints("entities", "graph search")
def _list(shown: Shown) -> None:
    query = shown.arguments.get("query")
    if shown.answer:
        _print_entities(shown.out, list(shown.answer))
    else:
        what = f"has no entity like {query}" if query else "knows no entities yet"
        shown.out.line(f"The workspace {shown.workspace} {what}.")


def _print_entities(out: Output, found: "list[FoundEntity]") -> None:
    listed = table(
        "entity", "also called", "mentions", "facts", "id", numbers=["mentions", "facts"], wide="also called"
    )
    for one in found:
        names = [a.variant for a in one.entity.aliases if a.variant != one.entity.name]
        listed.add_row(
            entity_name(one.label, one.entity.type),
            one_line(", ".join(names)),
            f"{one.entity.mentions:,}",
            f"{one.facts:,}",
            short_id(one.entity.entity_id),
        )
    out.print(listed)


@prints("entities show")
def _show(shown: Shown) -> None:
    found: EntityDetail = shown.answer
    entity, out = found.entity, shown.out
    out.print(
        facts(
            {
                "entity": entity_name(found.label, entity.type),
                "id": entity.entity_id,
                "known since": when(entity.recorded_at),
                "mentions": f"{entity.mentions:,}",
                "names": _names(entity),
                "not to be confused with": "; ".join(
                    f"{one.label} [{short_id(one.entity_id)}]" for one in found.namesakes
                ),
            }
        )
    )
    if found.facts:
        out.line()
        out.print(fact_table(found.facts))


def _names(entity: "Entity") -> str:
    return "\n".join(f"{one.variant} ({one.origin}, {one.weight:.2f})" for one in entity.aliases)


@prints("entities alias add", "entities alias remove")
def _renamed(shown: Shown) -> None:
    entity: Entity = shown.answer
    called = ", ".join(one.variant for one in entity.aliases)
    shown.out.line(f"{one_line(entity.name)} [{short_id(entity.entity_id)}] is called: {one_line(called)}.")


@prints("entities aliases")
def _aliases(shown: Shown) -> None:
    listed = table("name", "weight", "from", numbers=["weight"], wide="name")
    for alias in shown.answer:
        listed.add_row(clean(alias.variant), f"{alias.weight:.2f}", alias.origin)
    shown.out.print(listed)


@prints("entities suggestions")
def _suggestions(shown: Shown) -> None:
    if not shown.answer:
        shown.out.line(f"No two entities of the workspace {shown.workspace} seem to be one.")
        return
    listed = table("entity", "may be", "because", "score", "id", numbers=["score"], wide="because")
    for one in shown.answer:
        names = clean(one.one.label), clean(one.other.label)
        listed.add_row(*names, one_line(one.reason), f"{one.score:.2f}", one.short_id)
    shown.out.print(listed)
    shown.out.line("Decide with: everlore review accept ID, or everlore review reject ID")


@prints("entities changes")
def _changes(shown: Shown) -> None:
    from rich.text import Text

    if not shown.answer:
        shown.out.line(f"Nothing was merged or split in the workspace {shown.workspace}.")
        return
    listed = table("when", "what", "id", wide="what")
    for one in shown.answer:
        undone = f"; undone {when(one.undone_at)}" if one.undone_at else ""
        text = Text(_said(one)).append(f"\n{_moved(one) or 'nothing'} moved{undone}", style="dim")
        listed.add_row(when(one.made_at), text, short_id(one.change_id))
    shown.out.print(listed)


@prints("entities merge", "entities split", "entities undo")
def _changed(shown: Shown) -> None:
    change: EntityChange = shown.answer
    undone = "Undone: " if change.undone_at else ""
    moved = f" ({_moved(change)})" if change.moved else ""
    shown.out.line(f"{undone}{_said(change)}{moved}. The change has the id {short_id(change.change_id)}.")


def _said(change: "EntityChange") -> str:
    if change.kind == "merge":
        return one_line(f"{change.other.label} merged into {change.kept.label}")
    return one_line(f"{change.other.label} split off {change.kept.label}")


def _moved(change: "EntityChange") -> str:
    return ", ".join(counted(count, what) for what, count in change.moved.items())


@prints("taxonomy")
def _taxonomy(shown: Shown) -> None:
    if not shown.answer:
        shown.out.line(f"Nothing in the workspace {shown.workspace} is filed under a path yet.")
        return
    listed: Any = table("path", "label", "threads", "below", numbers=["threads", "below"])
    for node in shown.answer:
        depth = node.path.count(".")
        listed.add_row(
            "  " * depth + node.path, clean(node.label or ""), f"{node.threads:,}", f"{node.below:,}"
        )
    shown.out.print(listed)


@prints("taxonomy suggestions")
def _paths(shown: Shown) -> None:
    if not shown.answer:
        shown.out.line(f"No path is suggested for a thread of the workspace {shown.workspace}.")
        return
    listed = table("thread", "path", "times", "id", numbers=["times"], wide="thread")
    for one in shown.answer:
        listed.add_row(clean(one.thread), one.path, f"{one.times:,}", one.short_id)
    shown.out.print(listed)
    shown.out.line("Decide with: everlore review accept ID, or everlore review reject ID")


@prints("taxonomy label")
def _labelled(shown: Shown) -> None:
    shown.out.line(f"{shown.arguments['path']} is called {one_line(shown.arguments['label'])}.")
