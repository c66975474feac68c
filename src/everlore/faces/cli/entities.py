"""The groups `entities`, `graph` and `taxonomy`: who and what is spoken of, under which names, and how it hangs together."""

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, cast

import typer

from everlore.domain.ids import short_id
from everlore.domain.memories import ENTITY_TYPES, EntityType
from everlore.faces.cli.call import Json, WorkspaceName, call_of, run
from everlore.faces.cli.output import Output, clean, facts, one_line, table, when
from everlore.faces.cli.shown import RecordedAt, ValidAt, alone, as_of, entity_name, fact_table

if TYPE_CHECKING:
    from everlore.domain.graph import EntityChange, EntityDetail, FoundEntity, TaxonomyNode
    from everlore.domain.memories import Entity

app = typer.Typer(help="People, places and things: their names, and which of them are one.")
alias = typer.Typer(no_args_is_help=True, help="Give an entity another name, or take one away.")
taxonomy = typer.Typer(help="Paths that threads are filed under.")
app.add_typer(alias, name="alias")

Named: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Any name of the entity, its id, or the last 8 characters of it."),
]


@app.callback(invoke_without_command=True)
def entities(
    ctx: typer.Context,
    workspace: WorkspaceName = "default",
    search: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only those with a name like this, the best first.")
    ] = None,
    type: Annotated[
        str | None, typer.Option(metavar="TYPE", help=f"Only one of {', '.join(ENTITY_TYPES)}.")
    ] = None,
    limit: Annotated[int, typer.Option(help="At most so many.")] = 50,
    to_json: Json = False,
) -> None:
    """List entities, the most mentioned first, or do something with one of them.

    JSON: entities [{entity {entity_id, short_id, name, type, recorded_at, mentions, aliases [{alias_id, variant, weight,
    origin ("by hand", "extracted", "inferred")}]}, label, facts (how many hold), variant (the name that was found), score}].
    """
    if not alone(ctx):
        return
    list_entities(ctx, search, type, limit, workspace, to_json=to_json)


def list_entities(
    ctx: typer.Context, query: str | None, kind: str | None, limit: int, workspace: str, *, to_json: bool
) -> None:
    call = call_of(ctx)

    async def look() -> "list[FoundEntity]":
        async with call.workspace(workspace) as (_, memory):
            return await memory.graph.entities(query, type=cast("EntityType | None", kind), limit=limit)

    found = run(look())
    if to_json:
        call.out.json({"entities": found})
    elif not found:
        what = f"has no entity like {query}" if query else "knows no entities yet"
        call.out.line(f"The workspace {workspace} {what}.")
    else:
        _print_entities(call.out, found)


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


@app.command()
def show(
    ctx: typer.Context,
    named: Named,
    workspace: WorkspaceName = "default",
    valid_at: ValidAt = None,
    recorded_at: RecordedAt = None,
    to_json: Json = False,
) -> None:
    """Show one entity: its names, what is known of it, and others of the same name.

    JSON: entity (as in `everlore entities`), label, facts (as in `everlore facts`), namesakes [{entity_id, short_id, name,
    label, type, distance}].
    """
    call = call_of(ctx)
    times = as_of(valid_at, recorded_at)

    async def look() -> "EntityDetail":
        async with call.workspace(workspace) as (_, memory):
            return await memory.graph.entity(named, as_of=times)

    found = run(look())
    if to_json:
        call.out.json(found)
        return
    entity, out = found.entity, call.out
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


@alias.command("add")
def add_alias(
    ctx: typer.Context,
    named: Named,
    variant: Annotated[str, typer.Argument(metavar="ALIAS", help="The other name.")],
    workspace: WorkspaceName = "default",
    to_json: Json = False,
) -> None:
    """Give an entity another name.

    JSON: entity (as in `everlore entities`).
    """
    _rename(ctx, named, variant, workspace, add=True, to_json=to_json)


@alias.command("remove")
def remove_alias(
    ctx: typer.Context,
    named: Named,
    variant: Annotated[str, typer.Argument(metavar="ALIAS", help="The name that is not its own.")],
    workspace: WorkspaceName = "default",
    to_json: Json = False,
) -> None:
    """Take a name away from an entity; not its last one.

    JSON: entity (as in `everlore entities`).
    """
    _rename(ctx, named, variant, workspace, add=False, to_json=to_json)


def _rename(
    ctx: typer.Context, named: str, variant: str, workspace: str, *, add: bool, to_json: bool
) -> None:
    call = call_of(ctx)

    async def change() -> "Entity":
        async with call.workspace(workspace) as (_, memory):
            verb = memory.graph.add_alias if add else memory.graph.remove_alias
            return await verb(named, variant)

    entity = run(change())
    if to_json:
        call.out.json({"entity": entity})
    else:
        names = ", ".join(one.variant for one in entity.aliases)
        call.out.line(f"{one_line(entity.name)} [{short_id(entity.entity_id)}] is called: {one_line(names)}.")


@app.command()
def merge(
    ctx: typer.Context,
    keep: Annotated[str, typer.Argument(metavar="KEEP", help="The entity whose name stays.")],
    other: Annotated[str, typer.Argument(metavar="OTHER", help="The one that is the same.")],
    workspace: WorkspaceName = "default",
    to_json: Json = False,
) -> None:
    """Make two entities one. `undo` takes it back.

    JSON: change (as in `everlore entities changes`).
    """

    async def change() -> "EntityChange":
        async with call_of(ctx).workspace(workspace) as (_, memory):
            return await memory.graph.merge(keep, other)

    _print_change(call_of(ctx).out, run(change()), to_json=to_json)


@app.command()
def split(
    ctx: typer.Context,
    named: Named,
    called: Annotated[str, typer.Option(metavar="NAME", help="What the new entity is called.")],
    alias: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A name that goes to the new one; repeatable.")
    ] = None,
    message: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID",
            help="A message that speaks of the new one; repeatable. Else those that contain one of the names.",
        ),
    ] = None,
    workspace: WorkspaceName = "default",
    to_json: Json = False,
) -> None:
    """Make two of one entity: the names, and what only those messages say, go to a new one. `undo` takes it back.

    JSON: change (as in `everlore entities changes`).
    """

    async def change() -> "EntityChange":
        async with call_of(ctx).workspace(workspace) as (_, memory):
            messages = None
            if message is not None:
                messages = [(await memory.show(one)).message_id for one in message]
            return await memory.graph.split(named, alias or (), called, messages=messages)

    _print_change(call_of(ctx).out, run(change()), to_json=to_json)


@app.command()
def undo(
    ctx: typer.Context,
    identifier: Annotated[
        str, typer.Argument(metavar="ID", help="A change, as `everlore entities changes` lists it.")
    ],
    workspace: WorkspaceName = "default",
    to_json: Json = False,
) -> None:
    """Take a merge or a split back.

    JSON: change (as in `everlore entities changes`).
    """

    async def change() -> "EntityChange":
        async with call_of(ctx).workspace(workspace) as (_, memory):
            return await memory.graph.undo(identifier)

    _print_change(call_of(ctx).out, run(change()), to_json=to_json)


@app.command()
def changes(
    ctx: typer.Context,
    workspace: WorkspaceName = "default",
    limit: Annotated[int, typer.Option(help="At most so many.")] = 50,
    to_json: Json = False,
) -> None:
    """List what was merged and split by hand, the latest first.

    JSON: changes [{change_id, short_id, kind ("merge", "split"), kept {entity_id, short_id, name, label, type, distance},
    other, moved {what: how many}, made_at, undone_at}].
    """
    from rich.text import Text

    call = call_of(ctx)

    async def look() -> "list[EntityChange]":
        async with call.workspace(workspace) as (_, memory):
            return await memory.graph.changes(limit=limit)

    found = run(look())
    if to_json:
        call.out.json({"changes": found})
        return
    if not found:
        call.out.line(f"Nothing was merged or split in the workspace {workspace}.")
        return
    listed = table("when", "what", "id", wide="what")
    for one in found:
        undone = f"; undone {when(one.undone_at)}" if one.undone_at else ""
        text = Text(_said(one)).append(f"\n{_moved(one) or 'nothing'} moved{undone}", style="dim")
        listed.add_row(when(one.made_at), text, short_id(one.change_id))
    call.out.print(listed)


def _print_change(out: Output, change: "EntityChange", *, to_json: bool) -> None:
    if to_json:
        out.json({"change": change})
        return
    undone = "Undone: " if change.undone_at else ""
    moved = f" ({_moved(change)})" if change.moved else ""
    out.line(f"{undone}{_said(change)}{moved}. The change has the id {short_id(change.change_id)}.")


def _said(change: "EntityChange") -> str:
    if change.kind == "merge":
        return one_line(f"{change.other.label} merged into {change.kept.label}")
    return one_line(f"{change.other.label} split off {change.kept.label}")


def _moved(change: "EntityChange") -> str:
    return ", ".join(f"{count} {what}" for what, count in change.moved.items())


@taxonomy.callback(invoke_without_command=True)
def list_taxonomy(ctx: typer.Context, workspace: WorkspaceName = "default", to_json: Json = False) -> None:
    """Show all paths with their labels and how many threads are filed there. `everlore review` has suggestions.

    JSON: taxonomy [{path, label, threads, below}].
    """
    if not alone(ctx):
        return
    call = call_of(ctx)

    async def look() -> "list[TaxonomyNode]":
        async with call.workspace(workspace) as (_, memory):
            return await memory.graph.taxonomy()

    found = run(look())
    if to_json:
        call.out.json({"taxonomy": found})
        return
    if not found:
        call.out.line(f"Nothing in the workspace {workspace} is filed under a path yet.")
        return
    listed: Any = table("path", "label", "threads", "below", numbers=["threads", "below"])
    for node in found:
        depth = node.path.count(".")
        listed.add_row(
            "  " * depth + node.path, clean(node.label or ""), f"{node.threads:,}", f"{node.below:,}"
        )
    call.out.print(listed)


@taxonomy.command("label")
def label_taxonomy(
    ctx: typer.Context,
    path: Annotated[str, typer.Argument(metavar="PATH", help="Such as work.studio.")],
    label: Annotated[str, typer.Argument(metavar="LABEL", help="What it is called.")],
    workspace: WorkspaceName = "default",
    to_json: Json = False,
) -> None:
    """Say what a path is called.

    JSON: path, label.
    """
    call = call_of(ctx)

    async def change() -> None:
        async with call.workspace(workspace) as (_, memory):
            await memory.graph.label_taxonomy(path, label)

    run(change())
    if to_json:
        call.out.json({"path": path, "label": label})
    else:
        call.out.line(f"{path} is called {one_line(label)}.")
