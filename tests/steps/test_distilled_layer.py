"""The layer of what is distilled: found by words at once, by vectors after indexing; apart from the messages in everything."""

from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

import numpy as np
import pytest
from tests.conftest import TestDatabase
from tests.steps.conftest import Rows, exact_up_to_five

from everlore.api.workspace import Workspace
from everlore.domain.errors import ConfigurationError
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.index.step import ensure_vector_indexes, index_known
from everlore.models.fake import FakeEmbedder
from everlore.recall import bm25
from everlore.store import index, passages, postings
from everlore.store.postings import POSTING

Check = Callable[[UUID], Awaitable[None]]
COUNT = "select count(*) from everlore."


@pytest.fixture
async def workspace(lore: Everlore) -> Workspace:
    return await lore.workspace("alice", create=True)


async def remember(workspace: Workspace, *contents: str) -> None:
    for content in contents:
        await workspace.remember(content)


async def bare(lore: Everlore, workspace: Workspace, texts: Sequence[str]) -> list[int]:
    """Passages of a memory without vectors: what a step leaves whose model was not there."""
    memory = await workspace.remember("The tide tables hang in the harbour.")
    async with lore.workers.database.workspace(workspace.workspace_id) as connection:
        return await passages.insert(
            connection,
            "known",
            [
                passages.NewPassage(
                    "memory",
                    memory.memory_id,
                    memory.lineage_id,
                    text,
                    "Maya",
                    "user",
                    memory.valid_from,
                )
                for text in texts
            ],
        )


async def layer_is_exact(rows: Rows, workspace: Workspace) -> None:
    """The layer's postings and totals against its passages."""
    held: dict[int, tuple[int, dict[str, int]]] = {
        number: (length, terms or {})
        for number, length, terms in await rows(
            "select passage_id, length, (select jsonb_object_agg(u.lexeme, cardinality(u.positions)) from unnest(terms) u)"
            " from everlore.passage where workspace_id = %s and kind <> 'message'",
            workspace.workspace_id,
        )
    }
    blocks = await rows(
        "select term, postings from everlore.posting_block where workspace_id = %s and layer = 'known'",
        workspace.workspace_id,
    )
    assert sorted((t, *one) for t, raw in blocks for one in np.frombuffer(raw, POSTING).tolist()) == sorted(
        (term, number, count, length)
        for number, (length, terms) in held.items()
        for term, count in terms.items()
    )
    assert await rows(
        "select passages, length from everlore.lexical_statistics where workspace_id = %s and layer = 'known'",
        workspace.workspace_id,
    ) == [(len(held), sum(length for length, _ in held.values()))]


async def test_postings_of_the_layer_are_exact_through_merges_and_removals(
    lore: Everlore, workspace: Workspace, rows: Rows, lexicon_is_exact: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "_LEAST", 2)
    monkeypatch.setattr(postings, "MERGE_FANOUT", 3)
    await workspace.record([NewMessage(role="user", text="The gull sat on the pier and the pier was wet.")])
    numbers: list[int] = []
    for step in range(9):
        numbers += await bare(
            lore, workspace, [f"The gull number {step} sat on the pier.", "pier " * (step + 1)]
        )
        await layer_is_exact(rows, workspace)
    async with lore.workers.database.workspace(workspace.workspace_id) as connection:
        await passages.remove(connection, "known", numbers[::2])
    await layer_is_exact(rows, workspace)
    await lexicon_is_exact(workspace.workspace_id)
    async with lore.workers.database.workspace(workspace.workspace_id) as connection:
        await passages.remove(connection, "known", numbers[1::2])
    await layer_is_exact(rows, workspace)


async def test_memories_do_not_change_what_messages_score(lore: Everlore, workspace: Workspace) -> None:
    await workspace.record(
        [NewMessage(role="user", text=text) for text in ("the boat", "a boat and a net", "fog")]
    )
    await lore.catch_up()

    async def scores() -> tuple[list[tuple[int, float]], int]:
        async with lore.runtime.database.workspace(workspace.workspace_id, read_only=True) as connection:
            view = (await postings.received(await postings.asked(connection, "the boat in the fog")))["said"]
        return bm25.best(bm25.score(view).scores, 10), view.passages

    before = await scores()
    plain = await workspace.recall("boat in fog", trace=True)
    assert "distilled" not in plain.took_ms
    await remember(workspace, "Maya has a boat.", "The boat is called Heron.", "Fog is boat weather.")
    assert await scores() == before


async def test_what_lacks_vectors_is_said_found_by_words_and_embedded_by_a_job(
    lore: Everlore, workspace: Workspace, rows: Rows
) -> None:
    numbers = await bare(lore, workspace, ["Heron is a fishing boat.", "Fog comes at dawn."])
    assert await rows(
        "select lock, args ->> 'workspace_id' from jobs.procrastinate_jobs where task_name = 'index_known'"
    ) == [(f"index_known:{workspace.workspace_id}:{workspace.workspace_id}", str(workspace.workspace_id))]
    assert (await workspace.status()).unembedded == {"fake": 2}
    degraded = (await workspace.recall("Heron")).degraded
    assert degraded == ("some memories are not indexed yet: those are found by their words only",)
    await lore.catch_up()
    assert await rows(COUNT + "unembedded") == [(0,)]
    assert (await workspace.recall("Heron")).degraded == ()
    async with lore.runtime.database.workspace(workspace.workspace_id, read_only=True) as connection:
        (model,) = await index.models(connection)
        question = await lore.runtime.embedders["fake"].encode_question("fishing boat")
        (near,) = await passages.nearest_to_each(
            connection, model.model_id, "known", [question.vector], 2, 5000
        )
        assert near[0][0] == numbers[0]
        vectors = await passages.vectors(connection, model.model_id, numbers)
        assert near[0][1] == pytest.approx(float(vectors[numbers[0]] @ question.vector), abs=1e-3)


async def test_the_sweep_finds_a_lost_job(lore: Everlore, workspace: Workspace, rows: Rows) -> None:
    await bare(lore, workspace, ["Heron is a fishing boat."])
    await rows("delete from jobs.procrastinate_jobs")
    await lore.catch_up()
    assert await rows(COUNT + "unembedded") == [(0,)]


async def test_embedding_twice_and_embedding_what_was_removed_is_harmless(
    lore: Everlore, workspace: Workspace, rows: Rows
) -> None:
    numbers = await bare(lore, workspace, ["Heron is a fishing boat.", "Fog comes at dawn."])
    (encoded,) = await FakeEmbedder().encode_passages(["Heron is a fishing boat."])
    async with lore.workers.database.workspace(workspace.workspace_id) as connection:
        await passages.remove(connection, "known", numbers[1:])
        for _ in range(2):
            await passages.write_loaded(
                connection, 1, [(passages.Unembedded(number, "known", ""), encoded) for number in numbers]
            )
    await index_known(lore.workers, workspace.workspace_id)
    assert await rows(
        "select passage_id, layer::text from everlore.passage_vector where passage_id = any (%s)", numbers
    ) == [(numbers[0], "known")]


async def test_a_new_model_is_refused_until_it_has_the_memories_too(
    database: TestDatabase, lore: Everlore, workspace: Workspace, rows: Rows
) -> None:
    await remember(workspace, "Maya has a boat.", "The boat is called Heron.")
    both = {"fake": lore.runtime.embedders["fake"], "wide": FakeEmbedder("wide", 48)}
    async with Everlore.open(database.settings(), worker=False, embedders=both) as other:
        await other.workspace("alice", create=True)  # makes its models known
        assert await rows(COUNT + "unembedded") == [(3,)]
        with pytest.raises(ConfigurationError, match="3 memories and facts still lack vectors of wide"):
            await other.use_model("wide")
        progress = {model.name: model.distilled_behind for model in (await other.status()).models}
        assert progress == {"fake": 0, "wide": 3}
        await other.catch_up()
        await other.use_model("wide")
        found = await (await other.workspace("alice", create=True)).recall("What is the boat called?")
        assert found.memories[0].memory.content == "The boat is called Heron."


async def test_a_rebuild_writes_both_layers_anew(
    lore: Everlore, workspace: Workspace, rows: Rows, lexicon_is_exact: Check
) -> None:
    await workspace.record([NewMessage(role="user", text="The boat left at dawn.")])
    await remember(workspace, "Maya has a boat.", "The boat is called Heron.")
    await lore.catch_up()
    step = "select position, written from everlore.watermark where step = 'distil'"
    before = await rows(step)
    vectors = (
        "select passage_id, embedding::text from everlore.passage_vector where layer = 'known' order by 1"
    )
    layer = await rows(vectors)
    assert len(layer) == 3  # two memories and the fact that the first one states
    await lore.rebuild_index()
    assert await rows(vectors) == layer
    assert await rows(step) == before
    await layer_is_exact(rows, workspace)
    await lexicon_is_exact(workspace.workspace_id)
    assert (await workspace.recall("boat")).degraded == ()


async def test_a_large_layer_gets_an_index_of_its_own(
    lore: Everlore, workspace: Workspace, rows: Rows
) -> None:
    await workspace.record([NewMessage(role="user", text=f"boat {number}") for number in range(4)])
    await remember(workspace, *(f"The boat Heron {number} is in the harbour." for number in range(8)))
    await lore.catch_up()
    await ensure_vector_indexes(exact_up_to_five(lore), workspace.workspace_id)
    made = await rows(
        "select indexname from pg_indexes where indexname ~ '_model_[0-9]+' order by length(indexname)"
    )
    (said,), (known,) = made
    assert known == said.replace("_said", "_known")
    async with lore.runtime.database.workspace(workspace.workspace_id, read_only=True) as connection:
        question = await lore.runtime.embedders["fake"].encode_question("Heron 3")
        (by_index,) = await passages.nearest_to_each(connection, 1, "known", [question.vector], 8, 0)
        (exact,) = await passages.nearest_to_each(connection, 1, "known", [question.vector], 8, 5000)
    assert [n for n, _ in by_index] == [n for n, _ in exact]
