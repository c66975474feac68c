"""How the graph looks: entities as nodes, facts as edges, each with its evidence."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

from everlore.domain.ids import short_id
from everlore.domain.predicates import in_words
from everlore.faces.cli.output import Output, one_line, shortened
from everlore.faces.cli.shown import Shown, day, entity_name, prints, stretch
from everlore.text.counts import counted

if TYPE_CHECKING:
    from everlore.domain.graph import Edge, Neighbourhood, Node, Path

_QUOTED = 160


@prints("graph show")
def _show(shown: Shown) -> None:
    found: Neighbourhood = shown.answer
    shown.out.print(_tree(found))
    if len(found.nodes) == 1:
        shown.out.line("Nothing that is known connects it with anything else.")
    if found.cut:
        shown.out.note(f"There is more; --limit shows more than {len(found.nodes)} entities.")


@prints("graph path")
def _path(shown: Shown) -> None:
    if shown.answer is None:
        one, other = (one_line(shown.arguments[end]) for end in ("one", "other"))
        shown.out.line(f"Nothing that is known connects {one} and {other}.")
    else:
        _print_path(shown.out, shown.answer)


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
    sources = counted(len(edge.sources) or len(edge.lineages), "sources")
    return shortened(f"{subject} {said} {thing} ({stretch(edge.valid_from, edge.valid_to)}, {sources})", 300)
