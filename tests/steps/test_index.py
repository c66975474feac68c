"""The index step: postings and vectors follow the messages, whatever is interleaved with what."""

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from types import ModuleType
from uuid import UUID

import pytest
from tests.conftest import Clock, TestDatabase
from tests.steps.conftest import Gate, Rows, exact_up_to_five

from everlore.api.workspace import Workspace
from everlore.domain.errors import ConfigurationError, ModelUnavailable, NotFound
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.index.step import ensure_vector_indexes, index_thread, pack_tail
from everlore.models.fake import FakeEmbedder
from everlore.ports.embedder import Embedder, EncodedPassage
from everlore.store import conversation, index, postings

Check = Callable[[UUID], Awaitable[None]]
PutGate = Callable[[ModuleType, str], Gate]
WORDS = [
    "anchor",
    "boat",
    "cliff",
    "dune",
    "eel",
    "fog",
    "gull",
    "harbour",
    "island",
    "jetty",
    "kelp",
    "lagoon",
    "mast",
    "net",
    "oar",
    "pier",
    "quay",
    "reef",
    "sail",
    "tide",
]


@pytest.fixture
async def workspace(lore: Everlore) -> Workspace:
    return await lore.workspace("alice", create=True)


def said(text: str, external_id: str | None = None) -> NewMessage:
    return NewMessage(role="user", text=text, external_id=external_id)


async def pack(lore: Everlore, workspace: Workspace) -> int:
    return await pack_tail(lore.workers, workspace.workspace_id, at_least=1)


async def thread_id(rows: Rows, thread: str = "main") -> UUID:
    return (await rows("select thread_id from everlore.thread where name = %s", thread))[0][0]


async def index_it(lore: Everlore, workspace: Workspace, thread: UUID, *embedders: Embedder) -> None:
    by_name = {embedder.name: embedder for embedder in embedders} or lore.runtime.embedders
    await index_thread(replace(lore.workers, embedders=by_name), workspace.workspace_id, thread)


async def marks(rows: Rows, step: str) -> list[tuple[int, int]]:
    return [
        (p, w)
        for p, w in await rows("select position, written from everlore.watermark where step = %s", step)
    ]


async def without_vectors(rows: Rows, model: str) -> int:
    found = await rows(
        "select count(*) from everlore.passage p where not exists (select from everlore.passage_vector v"
        " join everlore.embedding_model m using (model_id)"
        " where v.workspace_id = p.workspace_id and v.passage_id = p.passage_id and m.name = %s)",
        model,
    )
    return found[0][0]


# ---- postings


@pytest.mark.parametrize("seed", range(6))
async def test_postings_are_exact_after_any_interleaving(
    lore: Everlore,
    workspace: Workspace,
    rows: Rows,
    lexicon_is_exact: Check,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
) -> None:
    monkeypatch.setattr(postings, "TAIL_LIMIT", 4)  # so that segments are merged, and merged again
    monkeypatch.setattr(postings, "MERGE_FANOUT", 3)
    chance = random.Random(seed)

    async def write() -> None:
        texts = [
            " ".join(chance.choices(WORDS, k=chance.choice([1, 5, 20, 400])))
            for _ in range(chance.randint(1, 4))
        ]
        await workspace.record([said(text) for text in texts], thread=f"thread {chance.randrange(3)}")

    async def delete() -> None:
        present = await rows("select message_id from everlore.message order by message_id")
        if present:
            with contextlib.suppress(NotFound):  # two at once may choose the same
                await workspace.delete(chance.choice(present)[0])

    async def delete_thread() -> None:
        if threads := await workspace.threads():
            await workspace.delete_thread(chance.choice(threads).name)

    async def pack_now() -> None:
        await pack(lore, workspace)

    steps = [write] * 8 + [pack_now] * 6 + [delete] * 2
    for _ in range(14):
        together = [chance.choice(steps)() for _ in range(chance.randint(1, 3))]
        await asyncio.gather(*together, return_exceptions=False)
        if chance.random() < 0.1:
            await delete_thread()
        await lexicon_is_exact(workspace.workspace_id)
    await pack(lore, workspace)
    await lexicon_is_exact(workspace.workspace_id)
    assert await rows(
        "select count(*) from everlore.watermark where step = 'lexical' and position < written"
    ) == [(0,)]


async def test_many_packs_are_merged(
    lore: Everlore, workspace: Workspace, rows: Rows, lexicon_is_exact: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "TAIL_LIMIT", 2)
    monkeypatch.setattr(postings, "MERGE_FANOUT", 3)
    for number in range(30):
        await workspace.record([said(f"{WORDS[number % 20]} boat")], thread=f"thread {number % 4}")
        await pack(lore, workspace)
    await lexicon_is_exact(workspace.workspace_id)
    segments = await rows("select segment, passages from everlore.posting_segment")
    assert len(segments) < 10
    assert sum(passages for _, passages in segments) == 30
    blocks = await rows("select distinct segment from everlore.posting_block")
    assert {segment for (segment,) in blocks} == {segment for segment, _ in segments}


async def test_below_its_limit_the_tail_is_left_alone(lore: Everlore, workspace: Workspace) -> None:
    await workspace.record([said("boat")] * 3)
    assert await pack_tail(lore.workers, workspace.workspace_id) == 0
    assert (await workspace.status()).unpacked == 3
    assert await pack_tail(lore.workers, workspace.workspace_id, at_least=3) == 3
    assert (await workspace.status()).unpacked == 0


async def test_two_packs_at_once_write_each_passage_once(
    lore: Everlore, workspace: Workspace, lexicon_is_exact: Check, gate: PutGate
) -> None:
    await workspace.record([said(f"{word} boat") for word in WORDS])
    packing = gate(postings, "_merge")  # everything is written, nothing committed
    first = asyncio.create_task(pack(lore, workspace))
    await packing.reached.wait()
    second = asyncio.create_task(pack(lore, workspace))
    await workspace.record([said("meanwhile")], thread="other")
    packing.open()
    assert await first == len(WORDS)
    await second
    await lexicon_is_exact(workspace.workspace_id)
    await pack(lore, workspace)
    await lexicon_is_exact(workspace.workspace_id)


@pytest.mark.parametrize("thread", ["main", "other"])
async def test_a_pack_while_a_writer_has_not_committed_misses_nothing(
    lore: Everlore, workspace: Workspace, rows: Rows, lexicon_is_exact: Check, gate: PutGate, thread: str
) -> None:
    await workspace.record([said("anchor boat")])
    writing = gate(
        conversation, "audit"
    )  # all rows are written, with lower numbers than those of the next writer
    writer = asyncio.create_task(workspace.record([said("cliff boat"), said("dune")], thread=thread))
    await writing.reached.wait()
    await workspace.record([said("eel boat")], thread="third")
    assert await pack(lore, workspace) >= 1
    await lexicon_is_exact(workspace.workspace_id)
    writing.open()
    await writer
    await lexicon_is_exact(workspace.workspace_id)
    assert len((await workspace.recall("boat")).hits) == 3 + (thread == "main") + (thread == "other")
    assert await pack(lore, workspace) >= 2
    await lexicon_is_exact(workspace.workspace_id)
    assert (await workspace.status()).unpacked == 0


async def test_a_writer_that_begins_during_a_pack_is_not_lost(
    lore: Everlore, workspace: Workspace, lexicon_is_exact: Check, gate: PutGate
) -> None:
    await workspace.record([said("anchor boat")])
    packing = gate(postings, "_merge")
    packer = asyncio.create_task(pack(lore, workspace))
    await packing.reached.wait()
    writer = asyncio.create_task(workspace.record([said("cliff boat")]))  # waits for the thread's mark
    await workspace.record([said("dune boat")], thread="other")
    packing.open()
    await asyncio.gather(packer, writer)
    await lexicon_is_exact(workspace.workspace_id)
    assert await pack(lore, workspace) == 2
    await lexicon_is_exact(workspace.workspace_id)


async def test_a_question_sees_one_moment_while_everything_is_packed_and_merged(
    lore: Everlore, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "TAIL_LIMIT", 2)
    monkeypatch.setattr(postings, "MERGE_FANOUT", 2)
    await workspace.record([said(f"boat {word}", word) for word in WORDS[:10]])
    done = False

    async def keep_packing() -> None:
        for word in WORDS[10:]:
            await workspace.record([said(f"harbour {word}")])
            await pack(lore, workspace)
        nonlocal done
        done = True

    packing = asyncio.create_task(keep_packing())
    while not done:
        found = await workspace.recall("boat", limit=100)
        assert sum(hit.support.covered == ("boat",) for hit in found.hits) == 10
    await packing


async def test_a_rebuild_gives_the_same_index(
    lore: Everlore, workspace: Workspace, rows: Rows, lexicon_is_exact: Check
) -> None:
    await workspace.record([said(f"{word} boat") for word in WORDS])
    await lore.catch_up()
    await lore.rebuild_index()
    await lexicon_is_exact(workspace.workspace_id)
    assert await without_vectors(rows, "fake") == 0
    assert await rows("select count(*) from everlore.passage_vector") == [(len(WORDS),)]


async def test_a_rebuild_makes_the_passages_anew_from_the_messages(
    lore: Everlore, workspace: Workspace, rows: Rows, lexicon_is_exact: Check
) -> None:
    long = " ".join(f"Sentence number {number} about the harbour and its boats." for number in range(60))
    await workspace.record([said("one"), said(long), said("**two**")], thread="a")
    await workspace.record([said("three")], thread="b")
    await lore.catch_up()
    passages = (
        "select t.name, p.position, p.sequence, p.text, p.author, p.role, p.occurred_at, p.session_id "
        "from everlore.passage p join everlore.thread t using (workspace_id, thread_id) order by 1, 3"
    )
    before = await rows(passages)
    assert len(before) > 4
    await rows("update everlore.passage set text = 'damaged' returning 1")
    await rows("delete from everlore.passage where position = 3 returning 1")
    await lore.rebuild_index()
    assert await rows(passages) == before
    await lexicon_is_exact(workspace.workspace_id)
    assert await without_vectors(rows, "fake") == 0
    await workspace.record([said("four")], thread="a")
    assert (await workspace.recall("four")).hits[0].text == "four"


# ---- vectors


class Thinking(FakeEmbedder):
    """Stops at a gate before it gives vectors, the first time; counts what it embeds."""

    def __init__(self, name: str = "fake") -> None:
        super().__init__(name)
        self.gate = Gate()
        self.embedded: list[str] = []

    async def encode_passages(self, texts: Sequence[str]) -> list[EncodedPassage]:
        self.embedded += texts
        await self.gate.stand()
        return await super().encode_passages(texts)


async def test_two_writers_while_the_step_thinks(
    lore: Everlore, workspace: Workspace, rows: Rows, gate: PutGate
) -> None:
    await workspace.record([said("one")])
    thread = await thread_id(rows)
    model = Thinking()
    worker = asyncio.create_task(index_it(lore, workspace, thread, model))
    await model.gate.reached.wait()
    writing = gate(conversation, "audit")
    slow = asyncio.create_task(workspace.record([said("two")]))
    await writing.reached.wait()
    quick = asyncio.create_task(workspace.record([said("three")]))  # waits for the slow one
    assert model.embedded == ["one"]
    model.gate.open()  # its commit waits for the slow writer, who holds the thread's mark
    writing.open()
    await asyncio.gather(slow, quick, worker)
    await index_it(lore, workspace, thread, model)
    assert await marks(rows, "vector:fake") == [(3, 3)]
    assert model.embedded == ["one", "two", "three"]
    assert await without_vectors(rows, "fake") == 0


async def test_the_step_holds_no_connection_while_it_thinks(
    lore: Everlore, workspace: Workspace, rows: Rows
) -> None:
    await workspace.record([said("one")])
    model = Thinking()
    worker = asyncio.create_task(index_it(lore, workspace, await thread_id(rows), model))
    await model.gate.reached.wait()
    assert await rows(
        "select count(*) from pg_stat_activity where datname = current_database() and state like 'idle in transaction%%'"
    ) == [(0,)]
    model.gate.open()
    await worker


async def test_running_it_twice_or_two_at_once_is_harmless(
    lore: Everlore, workspace: Workspace, rows: Rows
) -> None:
    await workspace.record([said(f"{word} boat. " * 40) for word in WORDS])
    thread = await thread_id(rows)
    await asyncio.gather(*(index_it(lore, workspace, thread) for _ in range(3)))
    await index_it(lore, workspace, thread)
    ((passages, vectors),) = await rows(
        "select (select count(*) from everlore.passage), (select count(*) from everlore.passage_vector)"
    )
    assert passages == vectors
    assert await without_vectors(rows, "fake") == 0


@pytest.mark.parametrize("name", ["load", "commit"])
async def test_a_step_that_dies_leaves_no_half_result(
    lore: Everlore, workspace: Workspace, rows: Rows, gate: PutGate, name: str
) -> None:
    await workspace.record([said(f"{word} boat") for word in WORDS])
    thread = await thread_id(rows)
    dying = gate(index, name)
    worker = asyncio.create_task(index_it(lore, workspace, thread))
    await dying.reached.wait()
    worker.cancel()
    with pytest.raises(asyncio.CancelledError):
        await worker
    assert await rows("select count(*) from everlore.passage_vector") == [(0,)]
    assert await rows("select count(*) from everlore.passage_tokens") == [(0,)]
    assert await marks(rows, "vector:fake") == [(0, len(WORDS))]
    await index_it(lore, workspace, thread)
    assert await without_vectors(rows, "fake") == 0


async def test_messages_longer_than_a_stretch_are_embedded_whole(
    lore: Everlore, workspace: Workspace, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("everlore.index.step.STRETCH", 5)
    long = "A sentence about the harbour and its boats. " * 200
    await workspace.record([said(text) for text in ("one", long, "two", "three", long)])
    model = Thinking()
    model.gate.open()
    await index_it(lore, workspace, await thread_id(rows), model)
    assert await without_vectors(rows, "fake") == 0
    ((passages,),) = await rows("select count(*) from everlore.passage")
    assert len(model.embedded) == passages > 20  # each once
    assert await marks(rows, "vector:fake") == [(5, 5)]


async def test_messages_without_words_hold_nothing_up(
    lore: Everlore, workspace: Workspace, rows: Rows
) -> None:
    silent = NewMessage(role="tool", tool_calls=[{"name": "x"}])
    await workspace.record([silent, said("boat"), silent])
    await lore.catch_up()
    assert await marks(rows, "vector:fake") == [(3, 3)]
    assert (await workspace.status()).unembedded == {"fake": 0}


# ---- several models


async def hits(workspace: Workspace, question: str) -> list[str]:
    found = await workspace.recall(question, limit=5)
    assert found.degraded == ()
    return [hit.text for hit in found.hits]


async def test_a_second_model_is_filled_beside_the_first_and_switched_to_when_complete(
    database: TestDatabase, clock: Clock, rows: Rows
) -> None:
    texts = [said(f"The {word} lies near the {WORDS[n - 1]}.") for n, word in enumerate(WORDS)]
    first, second = FakeEmbedder(), Thinking("second")
    async with Everlore.open(database.settings(), worker=False, clock=clock, embedders={"a": first}) as lore:
        workspace = await lore.workspace("alice", create=True)
        await workspace.record(texts)
        await lore.catch_up()
        with pytest.raises(ConfigurationError, match="No embedder for the model second"):
            await lore.use_model("second")
        before = await hits(workspace, "boat and cliff")

    async with Everlore.open(
        database.settings(), worker=False, clock=clock, embedders={"a": first, "b": second}
    ) as lore:
        workspace = await lore.workspace("alice", create=True)
        filling = asyncio.create_task(lore.catch_up())
        await second.gate.reached.wait()
        assert await hits(workspace, "boat and cliff") == before
        with pytest.raises(ConfigurationError, match="1 threads still lack vectors of second"):
            await lore.use_model("second")
        second.gate.open()
        await filling
        assert [(m.name, m.in_use, m.threads_behind) for m in (await lore.status()).models] == [
            ("fake", True, 0),
            ("second", False, 0),
        ]
        assert await hits(workspace, "boat and cliff") == before
        await lore.use_model("second")
        after = await workspace.recall("boat and cliff", trace=True)
        assert after.degraded == ()
        assert after.hits[0].trace["vector"].rank is not None
        assert [m.name for m in (await lore.status()).models if m.in_use] == ["second"]
        await workspace.record([said("A new boat under the cliff.")])
        await lore.catch_up()
        await lore.use_model("fake")
        assert (await hits(workspace, "new boat under the cliff"))[0] == "A new boat under the cliff."
    assert await without_vectors(rows, "fake") == await without_vectors(rows, "second") == 0


class Broken(FakeEmbedder):
    async def encode_passages(self, texts: Sequence[str]) -> list[EncodedPassage]:
        raise ModelUnavailable(f"the endpoint of {self.name} is gone")


async def test_a_model_that_fails_does_not_keep_the_next_one_from_being_filled(
    database: TestDatabase, clock: Clock, rows: Rows
) -> None:
    embedders: dict[str, Embedder] = {"a": Broken("gone"), "b": FakeEmbedder("second")}
    async with Everlore.open(database.settings(), worker=False, clock=clock, embedders=embedders) as lore:
        workspace = await lore.workspace("alice", create=True)
        await workspace.record([said("boat")])
        with pytest.raises(ModelUnavailable, match="gone"):
            await index_it(lore, workspace, await thread_id(rows))
        assert await without_vectors(rows, "second") == 0
        assert await without_vectors(rows, "gone") == 1
        await lore.use_model("second")
        assert (await workspace.recall("boat")).degraded == ()


async def test_a_model_cannot_change_its_dimensions(database: TestDatabase, clock: Clock) -> None:
    small: dict[str, Embedder] = {"a": FakeEmbedder()}
    async with Everlore.open(database.settings(), worker=False, clock=clock, embedders=small) as lore:
        await lore.workspace("alice", create=True)
    with pytest.raises(ConfigurationError, match="gives 16 dimensions; its stored vectors have 32"):
        async with Everlore.open(
            database.settings(), worker=False, clock=clock, embedders={"a": FakeEmbedder(dimensions=16)}
        ):
            pass


async def test_two_steps_that_build_the_same_vector_index_at_once(
    lore: Everlore, workspace: Workspace, rows: Rows, gate: PutGate
) -> None:
    await workspace.record([said(f"{word} boat") for word in WORDS])
    await lore.catch_up()
    building = gate(index, "build_vector_index")  # built, not committed
    first = asyncio.create_task(ensure_vector_indexes(exact_up_to_five(lore), workspace.workspace_id))
    await building.reached.wait()
    second = asyncio.create_task(ensure_vector_indexes(exact_up_to_five(lore), workspace.workspace_id))
    while not second.done() and not await rows("select 1 from pg_locks where not granted"):
        pass
    building.open()
    await asyncio.gather(first, second)
    assert await rows("select count(*) from pg_indexes where indexname ~ '_model_[0-9]+_said$'") == [(1,)]
