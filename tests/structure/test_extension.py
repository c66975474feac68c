"""What is added again and again is one file and one registration: shown by toys that no other file knows."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from uuid import UUID

import pytest
from tests.conftest import TestDatabase

from everlore.domain.ids import new_id
from everlore.domain.recall import Citation, Layer, OtherHit
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder
from everlore.recall.listing import supported
from everlore.recall.request import Request
from everlore.recall.sources import SOURCES
from everlore.store import passages
from everlore.store import recall as store
from everlore.store.passages import NewPassage
from everlore.store.recall import Key


class Toys:
    """Toys rest on the message that told of them; the message is found by way of them."""

    kind = "toy"
    layer: Layer = "documents"

    def __init__(self, message_id: UUID, passage_id: int) -> None:
        self.message_id, self.passage_id = message_id, passage_id

    async def keys(self, request: Request, passages: Sequence[int]) -> list[Key]:
        return [Key(number, self.passage_id, self.message_id.bytes) for number in passages]

    async def answer(self, request: Request) -> Mapping[str, Any]:
        if (found := request.near.get(self.layer)) is None:
            return {}
        listed = await supported(request, found, self.kind)
        texts = await store.texts(request.tx, list(listed))
        told = (await store.messages(request.tx, [self.message_id]))[self.message_id]
        hits = [
            OtherHit(
                self.kind,
                self.message_id,
                texts[number],
                (told.citation,),
                float(found.relevance[place]),
                why,
            )
            for number, (place, why) in listed.items()
        ]
        return {"others": tuple(hits)}


@pytest.fixture
async def lore(database: TestDatabase, fake: FakeEmbedder) -> AsyncIterator[Everlore]:
    async with Everlore.open(database.settings(), worker=False, embedders={"fake": fake}) as opened:
        yield opened


async def test_a_kind_is_indexed_recalled_with_a_citation_and_erased(
    lore: Everlore, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = await lore.workspace("alice")
    (told,) = (await workspace.record([{"role": "user", "text": "It came in a box."}])).outcomes
    assert told.message_id is not None
    toy = new_id()
    async with lore.runtime.database.workspace(workspace.workspace_id) as tx:
        passage = NewPassage(
            "toy", toy, toy, "A wooden locomotive with red wheels.", None, None, lore.runtime.clock()
        )
        await passages.insert(tx, Toys.layer, [passage])
    await lore.catch_up()
    question = "Where are the red wheels?"
    assert (await workspace.recall(question)).others == ()

    monkeypatch.setattr("everlore.recall.recall.SOURCES", registered := [*SOURCES, Toys(told.message_id, 1)])
    monkeypatch.setattr("everlore.api.messages.SOURCES", registered)
    answer = await workspace.recall(question, kinds=["message", "toy"], trace=True)  # type: ignore[list-item]
    (hit,) = answer.others
    assert hit.text == "A wooden locomotive with red wheels."
    assert hit.support.covered == ("wheels", "red") or set(hit.support.covered) == {"wheels", "red"}
    assert [type(cited) for cited in hit.sources] == [Citation]
    assert hit.sources[0].message_id == told.message_id
    assert answer.hits[0].trace["keys"].rank == 1
    assert answer.degraded == ()

    async with lore.runtime.database.workspace(workspace.workspace_id) as tx:
        await passages.remove_lineages(tx, Toys.layer, [toy])
    assert (await workspace.recall(question, kinds=["toy"])).others == ()  # type: ignore[list-item]
