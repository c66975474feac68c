"""The addresses of entities, the graph and the taxonomy."""

from typing import Annotated, TypeAlias

from fastapi import APIRouter, Body, Path, Query

from everlore.domain.messages import MAX_NAME_CHARACTERS
from everlore.faces.http.base import Place, Within
from everlore.faces.http.bodies_graph import (
    AliasBody,
    AliasQuery,
    ConnectionAnswer,
    EntitiesAnswer,
    EntitiesQuery,
    EntityAnswer,
    EntityChangeAnswer,
    EntityChangesAnswer,
    EntityDetailAnswer,
    LabelBody,
    LimitQuery,
    MergeBody,
    NeighbourhoodAnswer,
    PathQuery,
    SearchQuery,
    ShowQuery,
    SplitBody,
    TaxonomyAnswer,
)
from everlore.faces.http.bodies_memories import TimesQuery
from everlore.faces.http.parts import READS, WRITES, Lore, answer

router = APIRouter()

Named: TypeAlias = Annotated[
    str, Path(max_length=MAX_NAME_CHARACTERS, description="A name of the entity, its id, or the end of it.")
]
HERE = Within.model_validate({})


@router.get("/v1/entities", operation_id="list_entities", summary="List or search entities", responses=READS)
async def list_entities(query: Annotated[EntitiesQuery, Query()], lore: Lore) -> EntitiesAnswer:
    """The most mentioned first; with a query those with a name like it, the best first."""
    workspace = await lore.workspace(query.workspace, create=False)
    found = await workspace.graph.entities(query.query, type=query.type, limit=query.limit)
    return answer(EntitiesAnswer, {"entities": found}, workspace)


@router.get("/v1/entities/{entity}", operation_id="show_entity", summary="Show one entity", responses=READS)
async def show_entity(entity: Named, query: Annotated[TimesQuery, Query()], lore: Lore) -> EntityDetailAnswer:
    """Its names, what is known of it, and others of the same name."""
    workspace = await lore.workspace(query.workspace, create=False)
    return answer(EntityDetailAnswer, await workspace.graph.entity(entity, as_of=query.as_of), workspace)


@router.post(
    "/v1/entities/{entity}/aliases",
    operation_id="add_alias",
    summary="Give an entity another name",
    responses=WRITES,
)
async def add_alias(entity: Named, body: AliasBody, lore: Lore) -> EntityAnswer:
    """By hand, so it weighs more than any name that was read somewhere."""
    workspace = await lore.workspace(body.workspace, create=False)
    return answer(EntityAnswer, await workspace.graph.add_alias(entity, body.alias), workspace)


@router.delete(
    "/v1/entities/{entity}/aliases",
    operation_id="remove_alias",
    summary="Take a name away from an entity",
    responses=READS,
)
async def remove_alias(entity: Named, query: Annotated[AliasQuery, Query()], lore: Lore) -> EntityAnswer:
    """Not its last one."""
    workspace = await lore.workspace(query.workspace, create=False)
    return answer(EntityAnswer, await workspace.graph.remove_alias(entity, query.alias), workspace)


@router.post(
    "/v1/entities/{entity}/merge",
    operation_id="merge_entities",
    summary="Make two entities one",
    responses=WRITES,
)
async def merge_entities(entity: Named, body: MergeBody, lore: Lore) -> EntityChangeAnswer:
    """The one in the address keeps its name."""
    workspace = await lore.workspace(body.workspace, create=False)
    return answer(EntityChangeAnswer, await workspace.graph.merge(entity, body.other), workspace)


@router.post(
    "/v1/entities/{entity}/split",
    operation_id="split_entity",
    summary="Make two entities of one",
    responses=WRITES,
)
async def split_entity(entity: Named, body: SplitBody, lore: Lore) -> EntityChangeAnswer:
    """The names, and what only those messages say, go to a new entity."""
    workspace = await lore.workspace(body.workspace, create=False)
    change = await workspace.graph.split(entity, body.aliases, body.name, messages=body.messages)
    return answer(EntityChangeAnswer, change, workspace)


@router.get(
    "/v1/entity-changes",
    operation_id="list_entity_changes",
    summary="List what was merged and split by hand",
    responses=READS,
)
async def list_entity_changes(query: Annotated[LimitQuery, Query()], lore: Lore) -> EntityChangesAnswer:
    """The latest first."""
    workspace = await lore.workspace(query.workspace, create=False)
    found = await workspace.graph.changes(limit=query.limit)
    return answer(EntityChangesAnswer, {"changes": found}, workspace)


@router.post(
    "/v1/entity-changes/{change_id}/undo",
    operation_id="undo_entity_change",
    summary="Take a merge or a split back",
    responses=WRITES,
)
async def undo_entity_change(
    change_id: Annotated[str, Path(max_length=36, description="The change's id, or the end of it.")],
    lore: Lore,
    body: Annotated[Within, Body()] = HERE,
) -> EntityChangeAnswer:
    """Refused where something that was done since stands on it."""
    workspace = await lore.workspace(body.workspace, create=False)
    return answer(EntityChangeAnswer, await workspace.graph.undo(change_id), workspace)


@router.get("/v1/graph/search", operation_id="search_graph", summary="Find entities by name", responses=READS)
async def search_graph(query: Annotated[SearchQuery, Query()], lore: Lore) -> EntitiesAnswer:
    """In other forms, as a part of a name, or misspelled."""
    workspace = await lore.workspace(query.workspace, create=False)
    found = await workspace.graph.search(query.query, limit=query.limit)
    return answer(EntitiesAnswer, {"entities": found}, workspace)


@router.get(
    "/v1/graph/show",
    operation_id="show_graph",
    summary="Show what an entity is connected with",
    responses=READS,
)
async def show_graph(query: Annotated[ShowQuery, Query()], lore: Lore) -> NeighbourhoodAnswer:
    """Up to three steps; each edge with all of its sources."""
    workspace = await lore.workspace(query.workspace, create=False)
    found = await workspace.graph.show(query.entity, depth=query.depth, as_of=query.as_of, limit=query.limit)
    return answer(NeighbourhoodAnswer, found, workspace)


@router.get(
    "/v1/graph/path",
    operation_id="graph_path",
    summary="Show how two entities are connected",
    responses=READS,
)
async def graph_path(query: Annotated[PathQuery, Query()], lore: Lore) -> ConnectionAnswer:
    """The shortest way, with the evidence of each hop."""
    workspace = await lore.workspace(query.workspace, create=False)
    found = await workspace.graph.path(query.start, query.end, as_of=query.as_of)
    return answer(ConnectionAnswer, {"path": found}, workspace)


@router.get("/v1/taxonomy", operation_id="list_taxonomy", summary="List all paths", responses=READS)
async def list_taxonomy(query: Annotated[Place, Query()], lore: Lore) -> TaxonomyAnswer:
    """With their labels, and how many threads are filed there."""
    workspace = await lore.workspace(query.workspace, create=False)
    return answer(TaxonomyAnswer, {"taxonomy": await workspace.graph.taxonomy()}, workspace)


@router.put(
    "/v1/taxonomy/{path}",
    operation_id="label_taxonomy",
    summary="Say what a path is called",
    status_code=204,
    responses=WRITES,
)
async def label_taxonomy(
    path: Annotated[str, Path(max_length=2020, description="Such as work.studio.")],
    body: LabelBody,
    lore: Lore,
) -> None:
    """An answer without a body."""
    workspace = await lore.workspace(body.workspace, create=False)
    await workspace.graph.label_taxonomy(path, body.label)
