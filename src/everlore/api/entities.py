"""Graph: the verbs on entities, their names, the graph that facts make of them, and the taxonomy; `workspace.graph`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from everlore.api.taxonomy import Taxonomy
from everlore.domain.answers import Doc, Page
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.graph import (
    EntityChange,
    EntityDetail,
    FoundEntity,
    LinkSuggestion,
    Neighbourhood,
    Node,
    Path,
)
from everlore.domain.ids import short_id
from everlore.domain.memories import Alias, AsOf, Entity, EntityType
from everlore.knowledge.write import retell
from everlore.paging import identifier as by_id
from everlore.paging import moment, paged
from everlore.store import conversation, entities, graph, merging
from everlore.store.entities import Match, NewAlias
from everlore.store.graph import When
from everlore.store.run import Transaction
from everlore.text.descriptions import described
from everlore.text.variants import words_of
from everlore.validation import (
    MAX_LIMIT,
    Cursor,
    Id,
    Limit,
    Name,
    Named,
    Times,
    checked,
    digits_or_none,
    found_by_id,
    name,
    number,
    number_of,
    uuid_or_none,
    whole_id,
)

MAX_SPLIT = 1000
MAX_LISTED = 1_000_000
ENTITY = "Any name of the entity, its id, or at least the last 8 characters of it."
OTHER_TIME = "Another moment than now to ask about."
MAX_DEPTH = 3
MAX_NODES = 500
MAX_FACTS = 200
NOW = AsOf()
# A name that contains the word asked for is less than the name itself, and better than one that is spelled like it.
_CONTAINS = 0.8


@dataclass(frozen=True, slots=True)
class Graph(Taxonomy):
    """The entities of one workspace. An entity is named by its id, the end of it, or any of its names that is its alone."""

    # Entities and their names

    @checked
    async def entities(
        self,
        query: Annotated[Name | None, Doc("Only those with a name like this, the best first.")] = None,
        *,
        type: Annotated[EntityType | None, Doc("Only of this type.")] = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[FoundEntity]:
        """List entities, the most mentioned first, or search them by any of their names."""
        async with self.reading() as tx:
            if query is None:
                chosen = await entities.most_mentioned(tx, type, MAX_LISTED)
                return await self._listed(tx, dict.fromkeys(chosen), type, limit, cursor)
            found = await self._search(tx, query)
            return await self._listed(tx, found, type, limit, cursor)

    async def search(
        self,
        query: Annotated[Name, Doc("A name, or something like it.")],
        *,
        limit: Limit = 20,
        cursor: Cursor = None,
    ) -> Page[FoundEntity]:
        """Find entities by name: in other forms, as a part of it, or misspelled."""
        return await self.entities(query=query, limit=limit, cursor=cursor)

    @checked
    async def entity(
        self, entity: Annotated[Named, Doc(ENTITY)], *, as_of: Annotated[Times, Doc(OTHER_TIME)] = NOW
    ) -> EntityDetail:
        """Show one entity: its names, what is known of it, and others of the same name. Raises NotFound, InvalidInput."""
        when = self._when(as_of)
        async with self.reading() as tx:
            entity_id = await self._find(tx, entity, "entity")
            (known,) = await entities.load(tx, [entity_id])
            nodes, namesakes = await entities.nodes(tx, {entity_id: 0})
            others, _ = await entities.nodes(tx, dict.fromkeys(namesakes.get(entity_id, ()), 0))
            facts = await graph.facts_of(tx, entity_id, when, MAX_FACTS)
            return EntityDetail(known, nodes[entity_id].label, tuple(facts), tuple(others.values()))

    async def find(self, named: str | UUID, field: str = "entity") -> UUID:
        """The id of the entity that a name, an id or the end of one means. Raises NotFound, InvalidInput."""
        async with self.reading() as tx:
            return await self._find(tx, named, field)

    @checked
    async def add_alias(
        self, entity: Annotated[Named, Doc(ENTITY)], alias: Annotated[Name, Doc("The other name.")]
    ) -> Entity:
        """Give an entity another name.

        By hand, so it weighs more than any name that was read somewhere."""
        async with self.writing() as tx:
            entity_id = await self._find(tx, entity, "entity")
            await entities.add_aliases(tx, [self._by_hand(entity_id, alias)], self.now())
            await conversation.audit(tx, "add alias", str(entity_id))
            return (await entities.load(tx, [entity_id]))[0]

    @checked
    async def aliases(
        self, entity: Annotated[Named, Doc(ENTITY)], *, limit: Limit = 50, cursor: Cursor = None
    ) -> Page[Alias]:
        """List the names of an entity, the surest first. Raises NotFound, InvalidInput."""
        async with self.reading() as tx:
            (known,) = await entities.load(tx, [await self._find(tx, entity, "entity")])
        found = sorted(known.aliases, key=_surest)
        return paged(found, limit, cursor, _surest, float, str, by_id)

    @checked
    async def remove_alias(
        self,
        entity: Annotated[Named, Doc(ENTITY)],
        alias: Annotated[Name, Doc("The name that is not its own.")],
    ) -> Entity:
        """Take a name away from an entity; not its last one.

        Raises NotFound if it has none such, InvalidInput for its last one."""
        async with self.writing() as tx:
            entity_id = await self._find(tx, entity, "entity")
            found = await entities.find_alias(tx, entity_id, self._key(alias))
            if found is None:
                raise NotFound(f"The entity {entity} has no name like {alias}.")
            (known,) = await entities.load(tx, [entity_id])
            left = [one for one in known.aliases if one.alias_id != found[0]]
            if not left:
                raise InvalidInput("alias", "is the last name of the entity; give it another one first")
            await entities.remove_alias(tx, found[0])
            if self._key(known.name) == self._key(alias):
                await entities.rename(tx, entity_id, left[0].variant)
            await conversation.audit(tx, "remove alias", str(entity_id))
            return (await entities.load(tx, [entity_id]))[0]

    # Merging and splitting

    @checked
    async def merge(
        self,
        keep: Annotated[Named, Doc("The entity whose name stays: a name or an id.")],
        other: Annotated[Named, Doc("The one that is the same.")],
    ) -> EntityChange:
        """Make two entities one; `undo` takes it back. Raises NotFound, InvalidInput."""
        async with self.writing() as tx:
            kept_id = await self._find(tx, keep, "keep", follow=False)
            other_id = await self._find(tx, other, "other", follow=False)
            return await self._merge(tx, kept_id, other_id)

    @checked
    async def split(
        self,
        entity: Annotated[Named, Doc(ENTITY)],
        aliases: Annotated[Sequence[Name], number_of(MAX_SPLIT), Doc("Names that go to the new entity.")],
        called: Annotated[Name, Doc("What the new entity is called.")],
        *,
        messages: Annotated[
            Sequence[Id] | None,
            number_of(MAX_SPLIT),
            Doc("Messages that speak of it; left out, those that contain one of the names."),
        ] = None,
    ) -> EntityChange:
        """Make two entities of one: the names, and what only those messages say, go to a new one.

        `undo` takes it back. Raises NotFound, InvalidInput.
        """
        async with self.writing() as tx:
            entity_id = await self._find(tx, entity, "entity")
            (known,) = await entities.load(tx, [entity_id])
            keys = {self._key(alias.variant): alias for alias in known.aliases}
            if unknown := [variant for variant in aliases if self._key(variant) not in keys]:
                raise InvalidInput("aliases", f"{unknown[0]!r} is no name of {known.name}")
            chosen = {self._key(variant) for variant in aliases}
            if chosen == keys.keys():
                raise InvalidInput("aliases", "takes every name; leave at least one to the entity")
            if not chosen and not messages:
                raise InvalidInput("aliases", "is empty; name what goes to the new entity, or its messages")
            if messages is None:
                variants = [keys[one].variant for one in sorted(chosen)]
                spoken = await merging.messages_naming(tx, entity_id, variants)
            else:
                spoken = [await _message(tx, one, f"messages[{place}]") for place, one in enumerate(messages)]
            made = entities.new_entity(called, known.type)
            change = await merging.split(
                tx,
                entity_id,
                [keys[one].alias_id for one in sorted(chosen)],
                made,
                self._by_hand(made.entity_id, called),
                spoken,
                self.now(),
            )
            await conversation.audit(
                tx,
                "split entity",
                str(entity_id),
                other=str(made.entity_id),
                change=str(change.change_id),
            )
            await retell(tx, change.facts, change.kept_id, change.other_id, self.now())
            return (await merging.as_shown(tx, [change]))[0]

    async def undo(
        self, identifier: Annotated[Id, Doc("The change's id, or at least its last 8 characters.")]
    ) -> EntityChange:
        """Take a merge or a split back.

        Raises NotFound, or InvalidInput if something that was done since stands on it."""
        async with self.writing() as tx:
            change = await merging.undo(tx, await self._change_id(tx, identifier), self.now())
            await self._keep_named(tx, change)
            await conversation.audit(
                tx, f"undo {change.kind}", str(change.kept_id), change=str(change.change_id)
            )
            await retell(tx, change.facts, change.kept_id, change.other_id, self.now())
            shown = (await merging.as_shown(tx, [change]))[0]
            await merging.remove_unspoken(tx, change)
            return shown

    @checked
    async def changes(self, *, limit: Limit = 50, cursor: Cursor = None) -> Page[EntityChange]:
        """List what was merged and split by hand, the latest first."""
        async with self.reading() as tx:
            found = await merging.changes(tx, MAX_LISTED)
        return paged(
            found, limit, cursor, lambda one: (one.made_at, one.change_id), moment, by_id, descending=True
        )

    @checked
    async def link_suggestions(self, *, limit: Limit = 50, cursor: Cursor = None) -> Page[LinkSuggestion]:
        """List pairs of entities that may be one, the likeliest first."""
        async with self.reading() as tx:
            found = await entities.link_suggestions(tx, MAX_LISTED)
        found.sort(key=_likeliest)
        return paged(found, limit, cursor, _likeliest, float, by_id)

    async def decide_link(self, suggestion_id: str | UUID, accept: bool) -> EntityChange | None:
        """Accept a suggestion, which merges the two, or reject it for good. Raises NotFound, InvalidInput."""
        suggestion = whole_id(suggestion_id, "suggestion")
        async with self.writing() as tx:
            await merging.lock(tx)
            found = await entities.lock_suggestion(tx, suggestion)
            if found is None:
                raise NotFound(f"There is no suggestion {suggestion_id}.")
            one, other, decided_at = found
            if decided_at is not None:
                raise InvalidInput("suggestion", "was decided already")
            await entities.decide_link(tx, suggestion, accept, self.now())
            if accept:
                return await self._merge(tx, one, other)
            await conversation.audit(tx, "reject link", str(one), other=str(other))
            return None

    # The graph

    @checked
    async def show(
        self,
        entity: Annotated[Named, Doc(ENTITY)],
        *,
        depth: Annotated[int, number(1, MAX_DEPTH), Doc("How many steps to go.")] = 1,
        as_of: Annotated[Times, Doc(OTHER_TIME)] = NOW,
        limit: Annotated[int, number(1, MAX_NODES), Doc("At most so many entities.")] = 50,
    ) -> Neighbourhood:
        """Show what an entity is connected with, each edge with all of its sources."""
        when = self._when(as_of)
        async with self.reading() as tx:
            start = await self._find(tx, entity, "entity")
            walk = await graph.neighbourhood(tx, start, depth, when, limit=limit)
            nodes, _ = await entities.nodes(tx, walk.distances)
            edges = [edge for seen in walk.edges.values() for edge in seen]
            shown = await graph.with_sources(tx, edges, when)
            return Neighbourhood(tuple(nodes[found] for found in walk.distances), tuple(shown), walk.cut)

    @checked
    async def path(
        self,
        one: Annotated[Named, Doc("An entity: a name or an id.")],
        other: Annotated[Named, Doc("Another one.")],
        *,
        as_of: Annotated[Times, Doc(OTHER_TIME)] = NOW,
    ) -> Path | None:
        """Show the shortest connection between two entities, up to 6 edges, with the evidence of each.

        None if none was found: where an entity has very many edges, the surest of the latest are followed, and facts that
        join it directly."""
        when = self._when(as_of)
        async with self.reading() as tx:
            first = await self._find(tx, one, "one")
            last = await self._find(tx, other, "other")
            found = await graph.shortest_path(tx, first, last, when)
            if found is None:
                return None
            way, hops = found
            nodes, _ = await entities.nodes(tx, {node: place for place, node in enumerate(way)})
            shown = [tuple(await graph.with_sources(tx, hop, when)) for hop in hops]
            return Path(tuple(nodes[node] for node in way), tuple(shown))

    # Names

    async def _find(self, tx: Transaction, named: str | UUID, field: str, *, follow: bool = True) -> UUID:
        """The entity of that id, name or short id. An id of one that was merged leads to what it became, if `follow`."""
        if isinstance(named, UUID):
            return await self._by_id(tx, named, follow)
        text = name(named, field)
        if (identifier := uuid_or_none(text)) is not None:
            return await self._by_id(tx, identifier, follow)
        found = await self._named(tx, text)
        if not found and (told := described(text)) is not None and told.owner and told.name:
            # "Anna's sister Emma": who is called both.
            called = await self._named(tx, told.name)
            for said in (told.said_of(told.owner), f"{told.owner}'s {told.kind}"):
                found |= called & await self._named(tx, said)
        if len(found) == 1:
            return next(iter(found))
        if found:
            nodes, _ = await entities.nodes(tx, dict.fromkeys(found, 0))
            raise InvalidInput(field, f"{text!r} may be {_either(nodes.values())}; give the id")
        if (digits := digits_or_none(text)) and (ending := await entities.ending(tx, digits)):
            if len(ending) > 1:
                raise InvalidInput(field, f"several ids of entities end with {text}; type more of it")
            return await self._by_id(tx, ending[0], follow)
        raise NotFound(await self._unknown(tx, text))

    async def _named(self, tx: Transaction, text: str) -> set[UUID]:
        return {match.entity_id for match in await entities.by_keys(tx, [self._key(text)])}

    async def _change_id(self, tx: Transaction, named: str | UUID) -> UUID:
        async def ending(digits: str) -> list[UUID]:
            known = [one.change_id for one in await merging.changes(tx, MAX_LISTED)]
            return [change_id for change_id in known if change_id.hex.endswith(digits)]

        return await found_by_id(named, "change", ending)

    async def _by_id(self, tx: Transaction, identifier: UUID, follow: bool) -> UUID:
        surviving = await entities.surviving(tx, identifier)
        if surviving is None:
            raise NotFound(f"There is no entity {identifier} in the workspace {self.name}.")
        return surviving if follow else identifier

    async def _unknown(self, tx: Transaction, text: str) -> str:
        near = await self._search(tx, text)
        nodes, _ = await entities.nodes(tx, dict.fromkeys(list(near)[:3], 0))
        hint = f" Did you mean {_either(nodes.values())}?" if nodes else ""
        return f"There is no entity {text} in the workspace {self.name}.{hint}"

    async def _search(self, tx: Transaction, text: str) -> dict[UUID, Match]:
        """The best match of each entity that a text finds, the best first."""
        matches = await entities.by_keys(tx, [self._key(text)])
        words = words_of(text)
        if len(words) == 1 and "@" not in text:
            matches += [
                Match(m.given, m.entity_id, m.variant, m.weight, m.weight * _CONTAINS)
                for m in await entities.with_word(tx, words, MAX_LIMIT)
            ]
        matches += [
            Match(m.given, m.entity_id, m.variant, m.weight, m.weight * _CONTAINS * m.score)
            for m in await entities.similar(
                tx, [text], self.runtime.settings.aliases.trigram_threshold, MAX_LIMIT
            )
        ]
        best: dict[UUID, Match] = {}
        for match in sorted(matches, key=lambda match: (-match.score, match.variant, match.entity_id)):
            best.setdefault(match.entity_id, match)
        return best

    async def _listed(
        self,
        tx: Transaction,
        found: Mapping[UUID, Match | None],
        type: EntityType | None,
        limit: int,
        cursor: str | None,
    ) -> Page[FoundEntity]:
        def best(entity: Entity) -> tuple[float, int, UUID]:
            match = found[entity.entity_id]
            return -(match.score if match else 1.0), -entity.mentions, entity.entity_id

        loaded = await entities.load(tx, list(found))
        chosen = sorted((entity for entity in loaded if type is None or entity.type == type), key=best)
        part = paged(chosen, limit, cursor, best, float, int, by_id)
        ids = [entity.entity_id for entity in part]
        nodes, _ = await entities.nodes(tx, dict.fromkeys(ids, 0))
        facts = await entities.count_facts(tx, ids, self.now())
        items = [
            FoundEntity(
                entity,
                nodes[entity.entity_id].label,
                facts[entity.entity_id],
                match.variant if match else entity.name,
                round(match.score, 3) if match else 1.0,
            )
            for entity in part
            for match in (found[entity.entity_id],)
        ]
        return Page(tuple(items), part.total, part.cursor)

    async def _merge(self, tx: Transaction, kept_id: UUID, other_id: UUID) -> EntityChange:
        change = await merging.merge(tx, kept_id, other_id, self.now())
        await conversation.audit(
            tx, "merge entities", str(kept_id), other=str(other_id), change=str(change.change_id)
        )
        await retell(tx, change.facts, change.kept_id, change.other_id, self.now())
        return (await merging.as_shown(tx, [change]))[0]

    async def _keep_named(self, tx: Transaction, change: merging.Change) -> None:
        """Who stands for himself again and was deprived of all his names meanwhile is found by the one he is shown under."""
        standing = [change.kept_id, change.other_id] if change.kind == "merge" else [change.kept_id]
        for one in await entities.load(tx, standing, counted=False):
            if not one.aliases:
                weight = self.runtime.settings.aliases.weight_extracted
                alias = NewAlias(one.entity_id, one.name, self._key(one.name), weight, "extracted")
                await entities.add_aliases(tx, [alias], self.now())

    def _by_hand(self, entity_id: UUID, variant: str) -> NewAlias:
        return NewAlias(
            entity_id, variant, self._key(variant), self.runtime.settings.aliases.weight_by_hand, "by hand"
        )

    def _key(self, text: str) -> str:
        return self.runtime.settings.aliases.key(text)

    def _when(self, as_of: AsOf) -> When:
        return When(self.now(), as_of.valid_at, as_of.recorded_at)


def _either(nodes: Iterable[Node]) -> str:
    return " or ".join(sorted(f"{node.label} [{short_id(node.entity_id)}]" for node in nodes))


async def _message(tx: Transaction, identifier: str | UUID, field: str) -> UUID:
    return await found_by_id(
        identifier, "message", lambda digits: conversation.find_message(tx, digits), field=field
    )


def _surest(alias: Alias) -> tuple[float, str, UUID]:
    return -alias.weight, alias.variant, alias.alias_id


def _likeliest(suggestion: LinkSuggestion) -> tuple[float, UUID]:
    return -suggestion.score, suggestion.suggestion_id
