"""A small world for tests of entities and the graph: messages by the verbs, extractions written down, rows put in by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
from tests.conftest import Clock, TestDatabase

from everlore.api.entities import Graph
from everlore.config import AliasSettings
from everlore.domain.ids import new_id
from everlore.domain.memories import EntityType
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.knowledge.entity_linking import Resolution, resolve
from everlore.ports.analyst import (
    DraftEntity,
    DraftFact,
    DraftMemory,
    Extraction,
    Quote,
    Window,
    WindowMessage,
)
from everlore.store import entities
from everlore.text.variants import key

__all__ = ["DraftEntity", "DraftFact", "DraftMemory", "Extraction", "World", "said"]


def said(message: int = 1, text: str = "x") -> tuple[Quote, ...]:
    return (Quote(message, text),)


@dataclass
class World:
    """One workspace. `tell` records messages and resolves what is said to be in them."""

    lore: Everlore
    database: TestDatabase
    clock: Clock
    workspace_id: UUID
    name: str

    @property
    def graph(self) -> Graph:
        return Graph(self.lore.directory, self.name)

    async def tell(
        self,
        texts: Sequence[str] | str,
        extraction: Extraction,
        *,
        thread: str = "main",
        speaker: str | None = None,
        project: str | None = None,
        taxonomy: str | None = None,
    ) -> Resolution:
        """Messages of the person, and their names linked, as distillation does it."""
        texts = [texts] if isinstance(texts, str) else texts
        self.clock.advance(minutes=1)
        workspace = await self.lore.workspace(self.name)
        receipt = await workspace.record(
            [NewMessage(role="user", text=text, author=speaker) for text in texts],
            thread=thread,
            project=project,
            taxonomy=taxonomy,
        )
        window = Window(
            tuple(
                WindowMessage(number, "user", speaker or "user", self.clock(), text)
                for number, text in enumerate(texts, start=1)
            )
        )
        ids = {number: outcome.message_id for number, outcome in enumerate(receipt.outcomes, start=1)}
        return await self.link(window, extraction, {n: one for n, one in ids.items() if one is not None})

    async def link(self, window: Window, extraction: Extraction, ids: Mapping[int, UUID]) -> Resolution:
        async with self.lore.runtime.database.workspace(self.workspace_id) as connection:
            return await resolve(connection, window, extraction, ids, self.clock(), AliasSettings())

    async def entity(self, name: str, *aliases: str, type: EntityType = "person") -> UUID:
        """An entity put in by hand."""
        made = entities.new_entity(name, type)
        async with self.lore.runtime.database.workspace(self.workspace_id) as connection:
            await entities.insert(connection, [made], self.clock())
            await entities.add_aliases(
                connection,
                [
                    entities.NewAlias(made.entity_id, variant, key(variant), 0.9, "extracted")
                    for variant in (name, *aliases)
                ],
                self.clock(),
            )
        return made.entity_id

    def rows(self, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Any statement, as the superuser."""
        with psycopg.connect(self.database.superuser, autocommit=True) as connection:
            cursor = connection.execute(statement, parameters or None)  # pyright: ignore[reportArgumentType, reportCallIssue]
            return cursor.fetchall() if cursor.description else []

    def fact(
        self,
        subject: UUID,
        predicate: str,
        to: UUID | str,
        *,
        confidence: float = 0.8,
        since: datetime | None = None,
        until: datetime | None = None,
        recorded_at: datetime | None = None,
        superseded_at: datetime | None = None,
        messages: Sequence[tuple[UUID, int, int]] = (),
        review: str | None = None,
    ) -> UUID:
        """One fact of one version, stated in the given stretches of messages, or else by hand."""
        fact_id = new_id()
        at = since or self.clock() - timedelta(days=1)
        self.rows(
            "insert into everlore.fact (workspace_id, fact_id, lineage_id, subject_id, predicate, object_id, object, object_key,"
            " confidence, valid_from, valid_to, recorded_at, superseded_at, review)"
            " values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            self.workspace_id, fact_id, fact_id, subject, predicate, to if isinstance(to, UUID) else None, str(to), str(to),
            confidence, at, until, recorded_at or at, superseded_at, review,
        )  # fmt: skip
        for message, start, end in messages or [(None, None, None)]:
            self.rows(
                "insert into everlore.fact_source (workspace_id, source_id, lineage_id, message_id, start_at, end_at, quote,"
                " said_at, confidence, recorded_at) values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
                self.workspace_id, new_id(), fact_id, message, start, end, self._quote(message, start, end), at, confidence,
                recorded_at or at,
            )  # fmt: skip
        return fact_id

    def memory(
        self,
        content: str,
        of: Sequence[UUID],
        *,
        importance: float = 0.5,
        confidence: float = 0.8,
        since: datetime | None = None,
        expires_at: datetime | None = None,
        review: str | None = None,
        forgotten_at: datetime | None = None,
        messages: Sequence[tuple[UUID, int, int]] = (),
    ) -> UUID:
        memory_id = new_id()
        at = since or self.clock() - timedelta(days=1)
        self.rows(
            "insert into everlore.memory (workspace_id, memory_id, lineage_id, type, content, importance, confidence, valid_from,"
            " recorded_at, expires_at, review, forgotten_at, source_kind, content_hash)"
            " values (%s, %s, %s, 'fact', %s, %s, %s, %s, %s, %s, %s, %s, 'extracted', %s)",
            self.workspace_id, memory_id, memory_id, content, importance, confidence, at, at, expires_at, review, forgotten_at,
            memory_id.bytes,
        )  # fmt: skip
        for entity_id in of:
            self.rows(
                "insert into everlore.memory_entity (workspace_id, lineage_id, entity_id) values (%s, %s, %s)",
                self.workspace_id, memory_id, entity_id,
            )  # fmt: skip
        for message, start, end in messages:
            self.rows(
                "insert into everlore.memory_source (workspace_id, source_id, lineage_id, message_id, start_at, end_at, quote,"
                " confidence, recorded_at) values (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
                self.workspace_id, new_id(), memory_id, message, start, end, self._quote(message, start, end), confidence, at,
            )  # fmt: skip
        return memory_id

    def _quote(self, message: UUID | None, start: int | None, end: int | None) -> str | None:
        found = self.rows("select text from everlore.message where message_id = %s", message)
        return found[0][0][start:end] if found else None

    async def messages(self, *texts: str, thread: str = "main") -> list[UUID]:
        workspace = await self.lore.workspace(self.name)
        receipt = await workspace.record(
            [NewMessage(role="user", text=text) for text in texts], thread=thread
        )
        return [outcome.message_id for outcome in receipt.outcomes if outcome.message_id is not None]

    def whole(self) -> dict[str, list[tuple[Any, ...]]]:
        """All rows that merging and splitting may touch, of entities that stand for themselves; to be compared.
        Of facts the versions that are believed now: new ones may have come and gone."""
        ask = {
            "entity": "select entity_id, name, type from everlore.entity where merged_into is null and workspace_id = %s",
            "alias": "select alias_id, entity_id, variant, weight, origin from everlore.alias where workspace_id = %s",
            "mention": "select entity_id, message_id from everlore.mention where workspace_id = %s",
            "memory_entity": "select lineage_id, entity_id from everlore.memory_entity where workspace_id = %s",
            "fact": "select lineage_id, subject_id, predicate, object_id, object_key, object, valid_from, valid_to"
            " from everlore.fact where superseded_at is null and workspace_id = %s",
        }
        return {table: sorted(self.rows(query, self.workspace_id), key=str) for table, query in ask.items()}

    def mention(self, entity_id: UUID, *messages: UUID) -> None:
        for message in messages:
            self.rows(
                "insert into everlore.mention (workspace_id, entity_id, message_id, recorded_at) values (%s, %s, %s, now())",
                self.workspace_id, entity_id, message,
            )  # fmt: skip


def suggested(world: World) -> list[tuple[Any, ...]]:
    return world.rows("select reason, score from everlore.link_suggestion order by score desc")
