"""The group `graph`: entities as nodes, facts as edges, each with its evidence."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from everlore.domain.ids import short_id
from everlore.domain.predicates import in_words
from everlore.faces.cli.call import Json, WorkspaceName, call_of, run
from everlore.faces.cli.entities import Named, list_entities
from everlore.faces.cli.output import Output, one_line, shortened
from everlore.faces.cli.shown import RecordedAt, ValidAt, as_of, day, entity_name, stretch

if TYPE_CHECKING:
    from everlore.domain.graph import Edge, Neighbourhood, Node, Path

app = typer.Typer(no_args_is_help=True, help="How entities hang together.")

_QUOTED = 160


@app.command()
def search(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="A name, or something like it.")],
    workspace: WorkspaceName = "default",
    limit: Annotated[int, typer.Option(help="At most so many.")] = 20,
    to_json: Json = False,
) -> None:
    """Find entities by any of their names: in other forms, as a part of it, or misspelled.

    JSON: entities (as in `everlore entities`).
    """
    list_entities(ctx, query, None, limit, workspace, to_json=to_json)


@app.command()
def show(
    ctx: typer.Context,
    named: Named,
    workspace: WorkspaceName = "default",
    depth: Annotated[int, typer.Option(help="How many steps to go, 1 to 3.")] = 1,
    valid_at: ValidAt = None,
    recorded_at: RecordedAt = None,
    limit: Annotated[int, typer.Option(help="At most so many entities.")] = 50,
    to_json: Json = False,
) -> None:
    """Show what an entity is connected with.

    JSON: nodes [{entity_id, short_id, name, label, type, distance}] (the entity itself first), edges [{subject_id, predicate,
    object_id, kind ("fact", "mentioned with"), weight, valid_from, valid_to, lineages, sources [...]}], cut (whether there
    was more).
    """
    call = call_of(ctx)
    times = as_of(valid_at, recorded_at)

    async def look() -> "Neighbourhood":
        async with call.workspace(workspace) as (_, memory):
            return await memory.graph.show(named, depth=depth, as_of=times, limit=limit)

    found = run(look())
    if to_json:
        call.out.json(found)
        return
    call.out.print(_tree(found))
    if len(found.nodes) == 1:
        call.out.line("Nothing that is known connects it with anything else.")
    if found.cut:
        call.out.note(f"There is more; --limit shows more than {limit} entities.")


@app.command()
def path(
    ctx: typer.Context,
    one: Annotated[str, typer.Argument(metavar="FROM", help="An entity: name or id.")],
    other: Annotated[str, typer.Argument(metavar="TO", help="Another one.")],
    workspace: WorkspaceName = "default",
    valid_at: ValidAt = None,
    recorded_at: RecordedAt = None,
    to_json: Json = False,
) -> None:
    """Show the shortest connection between two entities, with the evidence of each hop.

    JSON: path {nodes, hops [[edge]]} (as in `everlore graph show`), or null where there is none.
    """
    call = call_of(ctx)
    times = as_of(valid_at, recorded_at)

    async def look() -> "Path | None":
        async with call.workspace(workspace) as (_, memory):
            return await memory.graph.path(one, other, as_of=times)

    found = run(look())
    if to_json:
        call.out.json({"path": found})
    elif found is None:
        call.out.line(f"Nothing that is known connects {one_line(one)} and {one_line(other)}.")
    else:
        _print_path(call.out, found)


def _tree(found: "Neighbourhood") -> Any:
    """Each entity under the first one that leads to it; the edges that lead elsewhere beside their subject."""
    from rich.text import Text
    from rich.tree import Tree

    nodes = {node.entity_id: node for node in found.nodes}
    root = found.nodes[0]
    branches = {root.entity_id: Tree(Text(_called(root), style="bold"))}
    reached: set[UUID] = {root.entity_id}
    for node in found.nodes:
        for edge in found.edges:
            ends = edge.subject_id, edge.object_id
            if node.entity_id not in ends or node.entity_id not in branches:
                continue
            far = ends[1] if ends[0] == node.entity_id else ends[0]
            if far in reached or far not in nodes:
                continue
            reached.add(far)
            branches[far] = branches[node.entity_id].add(Text(_called(nodes[far])))
            for between in found.edges:
                if {between.subject_id, between.object_id} == {node.entity_id, far}:
                    branches[far].add(Text(_edge(between, nodes), style="dim"))
    return branches[root.entity_id]


def _print_path(out: Output, found: "Path") -> None:
    nodes = {node.entity_id: node for node in found.nodes}
    out.line(" - ".join(_called(node) for node in found.nodes))
    for number, hop in enumerate(found.hops, start=1):
        out.line()
        for edge in hop:
            out.line(f"{number}. {_edge(edge, nodes)}")
            for source in edge.sources:
                said = shortened(source.quote, _QUOTED) if source.quote else "told directly"
                cited = f" [{short_id(source.message_id)}]" if source.message_id else ""
                who = (
                    f"{day(source.at)} {one_line(source.author or source.role or '')}: "
                    if source.author
                    else ""
                )
                out.line(f"   {who}{said}{cited}")


def _called(node: "Node") -> str:
    return f"{entity_name(node.label, node.type)} [{short_id(node.entity_id)}]"


def _edge(edge: "Edge", nodes: "Mapping[UUID, Node]") -> str:
    subject, thing = nodes[edge.subject_id].name, nodes[edge.object_id].name
    said = "is mentioned with" if edge.kind == "mentioned with" else in_words(edge.predicate)
    count = len(edge.sources) or len(edge.lineages)
    rests = f", {count} source{'s' if count > 1 else ''}"
    return shortened(f"{subject} {said} {thing} ({stretch(edge.valid_from, edge.valid_to)}{rests})", 300)
