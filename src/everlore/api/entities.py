"""Graph: the verbs on entities, their names, the graph that facts make of them, and the taxonomy; `workspace.graph`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from everlore.api.directory import Verbs
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.graph import (
    EntityChange,
    EntityDetail,
    FoundEntity,
    LinkSuggestion,
    Neighbourhood,
    Node,
    Path,
    TaxonomyNode,
    TaxonomySuggestion,
)
from everlore.domain.ids import SHORT_ID_LENGTH, short_id
from everlore.domain.memories import ENTITY_TYPES, AsOf, Entity, EntityType
from everlore.knowledge.write import retell
from everlore.store import conversation, entities, graph, merging, taxonomy
from everlore.store.entities import Match, NewAlias
from everlore.store.graph import When
from everlore.store.run import Transaction
from everlore.text.descriptions import described
from everlore.text.variants import words_of
from everlore.validation import moments, name, taxonomy_path

MAX_LIMIT = 1000
MAX_DEPTH = 3
MAX_NODES = 500
MAX_FACTS = 200
NOW = AsOf()
# A name that contains the word asked for is less than the name itself, and better than one that is spelled like it.
_CONTAINS = 0.8


@dataclass(frozen=True, slots=True)
class Graph(Verbs):
    """The entities of one workspace. An entity is named by its id, the end of it, or any of its names that is its alone."""

    # Entities and their names

    async def entities(
        self, query: str | None = None, *, type: EntityType | None = None, limit: int = 50
    ) -> list[FoundEntity]:
        """Entities that a query finds under any of their names, the best first; without one, the most mentioned."""
        if type is not None and type not in ENTITY_TYPES:
            raise InvalidInput("type", f"must be one of {', '.join(ENTITY_TYPES)}; it is {type!r}")
        limit = _between(limit, "limit", 1, MAX_LIMIT)
        async with self.reading() as tx:
            if query is None:
                chosen = await entities.most_mentioned(tx, type, limit)
                return await self._listed(tx, dict.fromkeys(chosen), type, limit)
            found = await self._search(tx, name(query, "query"))
            return await self._listed(tx, found, type, limit)

    async def search(self, query: str, *, limit: int = 20) -> list[FoundEntity]:
        """Entities by the alias matrix: the same name in another form, names that contain it, names spelled like it."""
        return await self.entities(query, limit=limit)

    async def entity(self, named: str | UUID, *, as_of: AsOf = NOW) -> EntityDetail:
        """One entity with its names, facts and namesakes. Raises NotFound, InvalidInput."""
        when = self._when(as_of)
        async with self.reading() as tx:
            entity_id = await self._find(tx, named, "entity")
            (entity,) = await entities.load(tx, [entity_id])
            nodes, namesakes = await entities.nodes(tx, {entity_id: 0})
            others, _ = await entities.nodes(tx, dict.fromkeys(namesakes.get(entity_id, ()), 0))
            facts = await graph.facts_of(tx, entity_id, when, MAX_FACTS)
            return EntityDetail(entity, nodes[entity_id].label, tuple(facts), tuple(others.values()))

    async def find(self, named: str | UUID, field: str = "entity") -> UUID:
        """The id of the entity that a name, an id or the end of one means. Raises NotFound, InvalidInput."""
        async with self.reading() as tx:
            return await self._find(tx, named, field)

    async def add_alias(self, named: str | UUID, variant: str) -> Entity:
        """Give an entity another name, by hand: it weighs more than any that was extracted."""
        variant = name(variant, "alias")
        async with self.writing() as tx:
            entity_id = await self._find(tx, named, "entity")
            alias = self._by_hand(entity_id, variant)
            await entities.add_aliases(tx, [alias], self.now())
            await conversation.audit(tx, "add alias", str(entity_id))
            return (await entities.load(tx, [entity_id]))[0]

    async def remove_alias(self, named: str | UUID, variant: str) -> Entity:
        """Take a name away from an entity. Raises NotFound if it has none such, InvalidInput for its last one."""
        async with self.writing() as tx:
            entity_id = await self._find(tx, named, "entity")
            found = await entities.find_alias(tx, entity_id, self._key(variant))
            if found is None:
                raise NotFound(f"The entity {named} has no name like {variant}.")
            (entity,) = await entities.load(tx, [entity_id])
            left = [alias for alias in entity.aliases if alias.alias_id != found[0]]
            if not left:
                raise InvalidInput("alias", "is the last name of the entity; give it another one first")
            await entities.remove_alias(tx, found[0])
            if self._key(entity.name) == self._key(variant):
                await entities.rename(tx, entity_id, left[0].variant)
            await conversation.audit(tx, "remove alias", str(entity_id))
            return (await entities.load(tx, [entity_id]))[0]

    # Merging and splitting

    async def merge(self, keep: str | UUID, other: str | UUID) -> EntityChange:
        """Make two entities one, under the name of the first. Raises NotFound, InvalidInput."""
        async with self.writing() as tx:
            kept_id = await self._find(tx, keep, "keep", follow=False)
            other_id = await self._find(tx, other, "other", follow=False)
            return await self._merge(tx, kept_id, other_id)

    async def split(
        self,
        named: str | UUID,
        aliases: Sequence[str],
        called: str,
        *,
        messages: Sequence[UUID] | None = None,
    ) -> EntityChange:
        """Give some of an entity's names to a new one called `called`, and what only `messages` say of it.

        Without `messages`, they are those that contain one of the names. Raises NotFound, InvalidInput.
        """
        called = name(called, "name")
        async with self.writing() as tx:
            entity_id = await self._find(tx, named, "entity")
            (entity,) = await entities.load(tx, [entity_id])
            keys = {self._key(alias.variant): alias for alias in entity.aliases}
            if unknown := [variant for variant in aliases if self._key(variant) not in keys]:
                raise InvalidInput("aliases", f"{unknown[0]!r} is no name of {entity.name}")
            chosen = {self._key(variant) for variant in aliases}
            if chosen == keys.keys():
                raise InvalidInput("aliases", "takes every name; leave at least one to the entity")
            if not chosen and not messages:
                raise InvalidInput("aliases", "is empty; name what goes to the new entity, or its messages")
            if messages is None:
                variants = [keys[one].variant for one in sorted(chosen)]
                messages = await merging.messages_naming(tx, entity_id, variants)
            made = entities.new_entity(called, entity.type)
            change = await merging.split(
                tx,
                entity_id,
                [keys[one].alias_id for one in sorted(chosen)],
                made,
                self._by_hand(made.entity_id, called),
                messages,
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

    async def undo(self, change_id: str | UUID) -> EntityChange:
        """Take a merge or a split back, named by its id or the end of it. Raises NotFound, or InvalidInput if something that was
        done since stands on it."""
        async with self.writing() as tx:
            change = await merging.undo(tx, await self._change_id(tx, change_id), self.now())
            await self._keep_named(tx, change)
            await conversation.audit(
                tx, f"undo {change.kind}", str(change.kept_id), change=str(change.change_id)
            )
            await retell(tx, change.facts, change.kept_id, change.other_id, self.now())
            return (await merging.as_shown(tx, [change]))[0]

    async def changes(self, *, limit: int = 50) -> list[EntityChange]:
        """What was merged and split, the latest first."""
        async with self.reading() as tx:
            return await merging.changes(tx, _between(limit, "limit", 1, MAX_LIMIT))

    async def link_suggestions(self, *, limit: int = 50) -> list[LinkSuggestion]:
        """Pairs of entities that may be one, the likeliest first."""
        async with self.reading() as tx:
            return await entities.link_suggestions(tx, _between(limit, "limit", 1, MAX_LIMIT))

    async def decide_link(self, suggestion_id: str | UUID, accept: bool) -> EntityChange | None:
        """Accept a suggestion, which merges the two, or reject it for good. Raises NotFound, InvalidInput."""
        suggestion = _uuid(suggestion_id, "suggestion")
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

    async def show(
        self, named: str | UUID, *, depth: int = 1, as_of: AsOf = NOW, limit: int = 50
    ) -> Neighbourhood:
        """What is connected to an entity within 1 to 3 edges, at most `limit` entities; each edge with all its sources."""
        depth = _between(depth, "depth", 1, MAX_DEPTH)
        limit = _between(limit, "limit", 1, MAX_NODES)
        when = self._when(as_of)
        async with self.reading() as tx:
            start = await self._find(tx, named, "entity")
            walk = await graph.neighbourhood(tx, start, depth, when, limit=limit)
            nodes, _ = await entities.nodes(tx, walk.distances)
            edges = [edge for seen in walk.edges.values() for edge in seen]
            shown = await graph.with_sources(tx, edges, when)
            return Neighbourhood(tuple(nodes[found] for found in walk.distances), tuple(shown), walk.cut)

    async def path(self, one: str | UUID, other: str | UUID, *, as_of: AsOf = NOW) -> Path | None:
        """The shortest connection between two entities, up to 6 edges, with the evidence of each; None if none was
        found: where an entity has very many edges, the surest of the latest are followed, and facts that join it directly."""
        when = self._when(as_of)
        async with self.reading() as tx:
            first = await self._find(tx, one, "from")
            last = await self._find(tx, other, "to")
            found = await graph.shortest_path(tx, first, last, when)
            if found is None:
                return None
            way, hops = found
            nodes, _ = await entities.nodes(tx, {node: place for place, node in enumerate(way)})
            shown = [tuple(await graph.with_sources(tx, hop, when)) for hop in hops]
            return Path(tuple(nodes[node] for node in way), tuple(shown))

    # The taxonomy

    async def taxonomy(self) -> list[TaxonomyNode]:
        """All paths with their labels and numbers of threads."""
        async with self.reading() as tx:
            return await taxonomy.tree(tx)

    async def label_taxonomy(self, path: str, label: str) -> None:
        """Say what a path is called."""
        path, label = taxonomy_path(path, "path"), name(label, "label")
        async with self.writing() as tx:
            await taxonomy.label(tx, path, label, self.now())
            await conversation.audit(tx, "label taxonomy", path, label=label)

    async def taxonomy_suggestions(self, *, limit: int = 50) -> list[TaxonomySuggestion]:
        """Paths that threads may belong to, the most frequent first."""
        async with self.reading() as tx:
            return await taxonomy.suggestions(tx, _between(limit, "limit", 1, MAX_LIMIT))

    async def decide_taxonomy(self, suggestion_id: str | UUID, accept: bool) -> None:
        """Accept a suggested path, which moves the thread there, or reject it for good. Raises NotFound, InvalidInput."""
        suggestion = _uuid(suggestion_id, "suggestion")
        async with self.writing() as tx:
            found = await taxonomy.lock_suggestion(tx, suggestion)
            if found is None:
                raise NotFound(f"There is no suggestion {suggestion_id}.")
            thread_id, path, decided_at = found
            if decided_at is not None:
                raise InvalidInput("suggestion", "was decided already")
            await taxonomy.decide(tx, suggestion, accept, self.now())
            if accept:
                await taxonomy.set_path(tx, thread_id, path)
            action = "accept taxonomy" if accept else "reject taxonomy"
            await conversation.audit(tx, action, str(thread_id), suggestion=str(suggestion))

    # Names

    async def _find(self, tx: Transaction, named: str | UUID, field: str, *, follow: bool = True) -> UUID:
        """The entity of that id, name or short id. An id of one that was merged leads to what it became, if `follow`."""
        if isinstance(named, UUID):
            return await self._by_id(tx, named, follow)
        text = name(named, field)
        if (identifier := _uuid_or_none(text)) is not None:
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
        digits = text.lower().replace("-", "")
        if SHORT_ID_LENGTH <= len(digits) <= 32 and not set(digits) - set("0123456789abcdef"):
            ending = await entities.ending(tx, digits)
            if len(ending) > 1:
                raise InvalidInput(field, f"several ids of entities end with {text}; type more of it")
            if ending:
                return await self._by_id(tx, ending[0], follow)
        raise NotFound(await self._unknown(tx, text))

    async def _named(self, tx: Transaction, text: str) -> set[UUID]:
        return {match.entity_id for match in await entities.by_keys(tx, [self._key(text)])}

    async def _change_id(self, tx: Transaction, named: str | UUID) -> UUID:
        digits = "" if isinstance(named, UUID) else named.strip().lower().replace("-", "")
        if isinstance(named, UUID) or not SHORT_ID_LENGTH <= len(digits) < 32:
            return _uuid(named, "change")
        known = [one.change_id for one in await merging.changes(tx, MAX_LIMIT)]
        found = [change_id for change_id in known if change_id.hex.endswith(digits)]
        if len(found) != 1:
            raise NotFound(f"There is no change whose id ends with {named}, or more than one.")
        return found[0]

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
        self, tx: Transaction, found: Mapping[UUID, Match | None], type: EntityType | None, limit: int
    ) -> list[FoundEntity]:
        loaded = await entities.load(tx, list(found))
        chosen = [entity for entity in loaded if type is None or entity.type == type][:limit]
        ids = [entity.entity_id for entity in chosen]
        nodes, _ = await entities.nodes(tx, dict.fromkeys(ids, 0))
        facts = await entities.count_facts(tx, ids, self.now())
        return [
            FoundEntity(
                entity,
                nodes[entity.entity_id].label,
                facts[entity.entity_id],
                match.variant if match else entity.name,
                round(match.score, 3) if match else 1.0,
            )
            for entity in chosen
            for match in (found[entity.entity_id],)
        ]

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
                name = entities.NewAlias(
                    one.entity_id,
                    one.name,
                    self._key(one.name),
                    self.runtime.settings.aliases.weight_extracted,
                    "extracted",
                )
                await entities.add_aliases(tx, [name], self.now())

    def _by_hand(self, entity_id: UUID, variant: str) -> NewAlias:
        return NewAlias(
            entity_id, variant, self._key(variant), self.runtime.settings.aliases.weight_by_hand, "by hand"
        )

    def _key(self, text: str) -> str:
        return self.runtime.settings.aliases.key(text)

    def _when(self, as_of: AsOf) -> When:
        checked = moments(as_of)
        return When(self.now(), checked.valid_at, checked.recorded_at)


def _either(nodes: Iterable[Node]) -> str:
    return " or ".join(sorted(f"{node.label} [{short_id(node.entity_id)}]" for node in nodes))


def _uuid_or_none(text: str) -> UUID | None:
    try:
        return UUID(text) if len(text.replace("-", "")) == 32 else None
    except ValueError:
        return None


def _uuid(value: str | UUID, field: str) -> UUID:
    found = value if isinstance(value, UUID) else _uuid_or_none(value.strip())
    if found is None:
        raise InvalidInput(field, f"must be an id, not {value!r}")
    return found


def _between(value: int, field: str, low: int, high: int) -> int:
    if not isinstance(value, int) or not low <= value <= high:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(field, f"must be a number from {low} to {high:,}, not {value!r}")
    return value
