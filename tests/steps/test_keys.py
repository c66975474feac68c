"""Keys: memories that are never shown. They lead recall to their messages, and go when nobody says it again."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, LiteralString
from uuid import UUID

import numpy as np
import pytest
from tests.conftest import Clock, TestDatabase
from tests.steps.conftest import Rows
from tests.steps.script import Script, opened

from everlore.api.workspace import Workspace
from everlore.distil import keys as step
from everlore.domain.erasure import ErasureReceipt
from everlore.domain.errors import InvalidInput
from everlore.domain.memories import STATUSES, AsOf, Memory, Tier
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.knowledge.erasure import erase_messages
from everlore.store.postings import POSTING
from everlore.work.jobs import leave_jobs
from everlore.work.worker import run_queued

SAID = "Well, you know how it goes, she is Heron to all of us."
KEY = "The boat is named Heron."


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
async def lore(database: TestDatabase, clock: Clock, script: Script) -> AsyncIterator[Everlore]:
    async with opened(database, clock, script) as lore:
        yield lore


class Chat:
    """Says something, of which a memory or a key comes, and looks at what there is of it."""

    def __init__(
        self, lore: Everlore, workspace: Workspace, script: Script, clock: Clock, rows: Rows
    ) -> None:
        self.lore, self.workspace, self.script, self.clock, self.all_rows = (
            lore,
            workspace,
            script,
            clock,
            rows,
        )

    async def say(
        self, text: str, *facts: str, tier: Tier = "key", author: str = "Anna", **more: Any
    ) -> UUID:
        """`more`: as of `Script.find`. An hour later than the one before."""
        self.clock.advance(hours=1)
        self.script.find(text, *facts, tier=tier, **more)
        message = NewMessage(role="user", author=author, text=text, at=self.clock())
        (outcome,) = (await self.workspace.record([message])).outcomes
        await self.lore.distil(self.workspace)
        await self.lore.catch_up()
        assert outcome.message_id is not None
        return outcome.message_id

    async def keys(self) -> list[str]:
        return [
            content
            for (content,) in await self.rows("select content from everlore.memory where tier = 'key'")
        ]

    async def key(self) -> Memory:
        ((memory_id,),) = await self.rows("select memory_id from everlore.memory where tier = 'key'")
        return (await self.workspace.memory(memory_id)).memory

    async def rows(self, statement: LiteralString) -> list[tuple[Any, ...]]:
        return await self.all_rows(f"{statement} order by 1")

    async def contents(self, **filters: Any) -> list[str]:
        return sorted(memory.content for memory in await self.workspace.memories(**filters))

    async def sources(self, memory: Memory) -> int:
        return len((await self.workspace.memory(memory.memory_id)).sources)

    async def left(self) -> dict[str, int]:
        """What there is of keys, and whether their layer's postings are those of its passages."""
        passages = await self.rows("select passage_id, length from everlore.passage where layer = 'keys'")
        numbers = [number for number, _ in passages]
        blocks = await self.rows("select postings from everlore.posting_block where layer = 'keys'")
        posted = {number for (raw,) in blocks for number, *_ in np.frombuffer(raw, POSTING).tolist()}
        totals = await self.rows(
            "select sum(passages), sum(length) from everlore.lexical_statistics where layer = 'keys'"
        )
        assert posted == set(numbers)
        assert totals == [(len(passages), sum(length for _, length in passages))]
        return {
            "memories": len(await self.keys()),
            "passages": len(passages),
            "vectors": await self._count("passage_vector where layer = 'keys'"),
            "sources": await self._count(
                "memory_source s join everlore.memory m on m.memory_id = s.lineage_id where m.tier = 'key'"
            ),
        }

    async def _count(self, what: LiteralString) -> int:
        return (await self.rows(f"select count(*) from everlore.{what}"))[0][0]


NOTHING = {"memories": 0, "passages": 0, "vectors": 0, "sources": 0}
ONE = {"memories": 1, "passages": 1, "vectors": 1, "sources": 1}


@pytest.fixture
async def chat(lore: Everlore, script: Script, clock: Clock, rows: Rows) -> Chat:
    return Chat(lore, await lore.workspace("alice", create=True), script, clock, rows)


# --- recall ------------------------------------------------------------------------------------------------


async def test_a_key_leads_to_its_message(
    chat: Chat, database: TestDatabase, clock: Clock, script: Script
) -> None:
    leaks = [NewMessage(role="user", text=f"The boat at berth {number} leaks.") for number in range(30)]
    await chat.workspace.record(leaks, thread="other")
    said = await chat.say(SAID, content=KEY)
    found = await chat.workspace.recall("What is the boat named?", trace=True, limit=50)
    (hit,) = [hit for hit in found.hits if hit.citation.message_id == said]
    assert hit.trace["keys"].rank == 1
    async with opened(database, clock, script, recall={"keys": 0}) as other:
        plain = await (await other.workspace("alice")).recall("What is the boat named?", trace=True, limit=50)
    assert said not in [one.citation.message_id for one in plain.hits]


async def test_keys_take_no_room_among_what_is_shown(chat: Chat) -> None:
    await chat.say(
        "She leaks, the red one.", "Anna owns boat", tier="shown", content="Anna's red boat leaks."
    )

    now = chat.clock()

    async def known() -> Any:
        found = await chat.workspace.recall("Does the boat of Anna leak?", limit_memories=3, now=now)
        return found.memories, found.facts, found.degraded

    before = await known()
    assert [hit.memory.content for hit in before[0]] == ["Anna's red boat leaks."]
    for number in range(12):
        await chat.say(
            f"Number {number} of mine leaks, they say.", content=f"The boat number {number} of Anna leaks."
        )
    assert len(await chat.keys()) == 12
    assert await known() == before


async def test_recall_reads_keys_only_where_messages_answer(chat: Chat) -> None:
    await chat.say(SAID, content=KEY)
    only = await chat.workspace.recall("What is the boat named?", kinds=["memory", "fact"])
    assert (only.hits, only.memories, only.facts) == ((), (), ())


async def test_what_was_believed_before_a_key_does_not_know_it(chat: Chat, clock: Clock) -> None:
    before = clock()
    said = await chat.say(SAID, content=KEY)
    found = await chat.workspace.recall("What is the boat named?", as_of=AsOf(recorded_at=before))
    assert said not in [hit.citation.message_id for hit in found.hits]


# --- never shown -------------------------------------------------------------------------------------------


async def test_a_key_is_in_no_list_count_or_page(chat: Chat) -> None:
    await chat.say(
        "Emma paints it by Friday.", content="Emma paints the boat.", type="task", entities=("Emma",)
    )
    for status in (None, "all", *STATUSES):
        assert await chat.contents(status=status, include_expired=True) == []
    for question in ("Which tasks are open?", "What does Emma paint?", "Who is Emma?"):
        found = await chat.workspace.recall(question)
        assert (found.memories, found.facts) == ((), ())
    assert [item.text for item in await chat.workspace.review()] == []
    assert list(await chat.workspace.graph.entities()) == []
    assert (await chat.workspace.status()).memories == 0
    assert (await chat.workspace.distilled()).memories == 0
    assert chat.script.windows[-1].known == ()
    await chat.say("And now?", content="The mast is new.")
    assert chat.script.windows[-1].known == ()


async def test_one_that_is_asked_for_by_id_is_shown_and_is_nothing_to_decide_on(chat: Chat) -> None:
    await chat.say(SAID, content=KEY)
    key, workspace = await chat.key(), chat.workspace
    assert (key.content, key.tier) == (KEY, "key")
    assert (await workspace.memory(key.short_id)).sources[0].quote == SAID[:-1]
    for decide in (workspace.pin, workspace.forget, workspace.restore, workspace.confirm, workspace.reject):
        with pytest.raises(InvalidInput, match="is a key"):
            await decide(key.memory_id)
    with pytest.raises(InvalidInput, match="is a key"):
        await workspace.correct(key.memory_id, content="The boat is called Tern.")
    assert (await chat.key()).content == KEY
    receipt = await workspace.erase(key.memory_id)
    assert (receipt.memories, receipt.counts["keys"], receipt.counts["memories"]) == ((), 1, 0)
    assert await chat.left() == NOTHING


async def test_a_fact_of_a_key_stands_by_itself(chat: Chat) -> None:
    await chat.say("Heron she is called.", "Anna owns Heron", content=KEY)
    (fact,) = await chat.workspace.facts()
    assert (await chat.workspace.fact(fact.fact_id)).object == "Heron"
    assert await chat.rows("select memory_lineage_id from everlore.fact_source") == [(None,)]


async def test_keys_that_fail_wait_for_nobody(chat: Chat) -> None:
    await chat.say("The boat leaks.", content="Bob owns a zeppelin in Paris.")
    assert (list(await chat.workspace.review()), await chat.keys()) == ([], [])
    assert (await chat.workspace.distilled()).rejected == 0


# --- said again --------------------------------------------------------------------------------------------


async def test_a_key_that_is_said_again_is_kept_longer(chat: Chat, clock: Clock) -> None:
    await chat.say(SAID, content=KEY)
    first = await chat.key()
    assert first.expires_at == clock() + timedelta(days=30)
    await chat.say("Heron, the boat, is called that.", content=KEY)
    key = await chat.key()
    assert (key.memory_id, await chat.sources(key)) == (first.memory_id, 2)
    assert key.expires_at == clock() + timedelta(days=30)
    assert await chat.left() == ONE | {"sources": 2}


async def test_what_is_only_read_anew_was_not_said_again(chat: Chat, clock: Clock, lore: Everlore) -> None:
    await chat.say(SAID, content=KEY)
    until = (await chat.key()).expires_at
    clock.advance(days=3)
    await chat.workspace.distil_again("main")
    await lore.distil(chat.workspace)
    assert (await chat.key()).expires_at == until
    assert await chat.sources(await chat.key()) == 1


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("Heron is the boat's name.", "Heron is the boat's name."),
        ("Heron is the boat's name.", "Heron is the red boat's name."),
    ],
)
async def test_a_key_that_is_said_in_a_form_that_is_shown_is_shown(chat: Chat, first: str, then: str) -> None:
    await chat.say(first)
    since = (await chat.key()).valid_from
    await chat.say(f"{then} ", content=then, tier="shown", confidence=0.8)
    (memory,) = await chat.workspace.memories()
    assert (memory.content, memory.tier, memory.expires_at) == (then, "shown", None)
    assert (memory.valid_from, await chat.sources(memory)) == (since, 2)
    assert memory.confidence > 0.8
    assert await chat.left() == NOTHING
    found = await chat.workspace.recall("What is the boat's name?", kinds=["memory"])
    assert [hit.memory.content for hit in found.memories] == [then]


async def test_what_a_person_tells_in_the_words_of_a_key_is_shown(chat: Chat) -> None:
    await chat.say(KEY)
    memory = await chat.workspace.remember(KEY, author="Anna", tags=["boats"], pin=True)
    assert (memory.tier, memory.source_kind, memory.tags, memory.pinned) == (
        "shown",
        "by hand",
        ("boats",),
        True,
    )
    assert await chat.sources(memory) == 2
    assert await chat.left() == NOTHING


async def test_what_is_shown_is_never_made_a_key(chat: Chat) -> None:
    await chat.say(KEY, tier="shown")
    await chat.say(f"{KEY} ", content=KEY)
    (memory,) = await chat.workspace.memories()
    assert (memory.tier, memory.expires_at, await chat.sources(memory)) == ("shown", None, 2)
    assert await chat.left() == NOTHING


async def test_a_key_ends_nothing(chat: Chat) -> None:
    await chat.say("The boat lies in Porto.", "boat lies_in Porto", tier="shown")
    await chat.say(
        "The boat lies in Faro.",
        relation="contradicts",
        of="The boat lies in Porto.",
        content="The boat lies in Faro.",
    )
    assert await chat.contents() == ["The boat lies in Porto."]
    assert await chat.keys() == ["The boat lies in Faro."]


async def test_keys_of_two_people_are_two(chat: Chat) -> None:
    await chat.say("I like tea.", author="Anna")
    await chat.say("I like tea.", author="Bob")
    assert await chat.keys() == ["I like tea.", "I like tea."]


# --- how they go -------------------------------------------------------------------------------------------


async def swept(lore: Everlore) -> list[str]:
    """What the worker's sweep leaves jobs for; then those are run."""
    left = await leave_jobs(lore.workers, [step.STEP])
    await run_queued(lore.workers)
    return [name for name, _ in left]


async def test_keys_go_after_a_while_unless_they_are_said_again(
    chat: Chat, clock: Clock, lore: Everlore
) -> None:
    await chat.say(SAID, content=KEY)
    await chat.say("The mast is new.")
    clock.advance(days=20)
    await chat.say("The mast is new.")
    clock.advance(days=9)
    assert await swept(lore) == []
    clock.advance(days=2)
    assert await swept(lore) == ["old_keys"]
    assert await chat.keys() == ["The mast is new."]
    assert await chat.left() == ONE | {"sources": 2}
    assert await swept(lore) == []
    clock.advance(days=30)
    assert await swept(lore) == ["old_keys"]
    assert await chat.left() == NOTHING
    assert len(await chat.workspace.messages()) == 3


async def test_how_long_they_are_kept_can_be_set(
    database: TestDatabase, clock: Clock, script: Script, rows: Rows
) -> None:
    async with opened(database, clock, script, distil={"keys_days": 2}) as lore:
        chat = Chat(lore, await lore.workspace("alice"), script, clock, rows)
        await chat.say(SAID, content=KEY)
        assert (await chat.key()).expires_at == clock() + timedelta(days=2)


async def test_a_run_takes_away_a_bounded_number(
    chat: Chat, clock: Clock, lore: Everlore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step, "AT_MOST", 2)
    for number in range(5):
        await chat.say(f"The boat has {number} masts.")
    clock.advance(days=31)
    for left in (3, 1, 0):
        assert await swept(lore) == ["old_keys"]
        assert len(await chat.keys()) == left
    assert await chat.left() == NOTHING


async def test_keys_of_other_workspaces_stay(chat: Chat, clock: Clock, lore: Everlore) -> None:
    await chat.say(SAID, content=KEY)
    clock.advance(days=20)
    other = Chat(lore, await lore.workspace("bob", create=True), chat.script, clock, chat.all_rows)
    await other.say(SAID, content=KEY)
    clock.advance(days=11)
    assert await swept(lore) == ["old_keys"]
    assert await chat.rows(
        "select w.name, m.content from everlore.memory m join everlore.workspace w using (workspace_id)"
    ) == [("bob", KEY)]


async def test_one_that_is_no_longer_found_goes(chat: Chat, lore: Everlore) -> None:
    await chat.say(SAID, content=KEY)
    chat.script.forget()
    await chat.workspace.distil_again("main")
    await lore.distil(chat.workspace)
    assert await chat.left() == NOTHING


async def test_one_that_rests_on_a_branch_goes_and_comes_with_it(chat: Chat, lore: Everlore) -> None:
    said = await chat.say(SAID, content=KEY)
    await chat.workspace.revise(said, "It rains.")
    await lore.distil(chat.workspace)
    assert await chat.left() == NOTHING
    await chat.workspace.switch("main", said)
    await lore.distil(chat.workspace)
    assert await chat.keys() == [KEY]


async def erased(chat: Chat, message: UUID) -> ErasureReceipt:
    async with chat.lore.runtime.database.workspace(chat.workspace.workspace_id) as tx:
        return await erase_messages(tx, [message], chat.clock())


async def test_erasing_a_message_takes_its_keys(chat: Chat) -> None:
    said = await chat.say(SAID, content=KEY)
    stays = await chat.say("The mast is new.")
    receipt = await erased(chat, said)
    assert (receipt.memories, receipt.counts["memories"], receipt.counts["keys"]) == ((), 0, 1)
    assert await chat.keys() == ["The mast is new."]
    assert await chat.left() == ONE
    receipt = await erased(chat, stays)
    assert await chat.left() == NOTHING
    assert await chat.rows("select count(*) from everlore.passage") == [(0,)]


async def test_deleting_a_workspace_does_not_count_them_as_memories(chat: Chat, lore: Everlore) -> None:
    await chat.say(SAID, content=KEY)
    assert (await lore.delete_workspace("alice")).counts["memories"] == 0


# --- what all of the index does ----------------------------------------------------------------------------


async def test_a_rebuilt_index_finds_them(chat: Chat, lore: Everlore) -> None:
    said = await chat.say(SAID, content=KEY)
    await lore.rebuild_index()
    assert await chat.left() == ONE
    found = await chat.workspace.recall("What is the boat named?", trace=True)
    assert [hit.trace["keys"].rank for hit in found.hits if hit.citation.message_id == said] == [1]


async def test_they_are_exported_and_imported_as_they_are(chat: Chat, lore: Everlore) -> None:
    await chat.say(SAID, content=KEY)
    lines = [line async for line in await lore.export_workspace("alice")]
    memories = [fields for line in lines[1:] if (fields := json.loads(line))["kind"] == "memory"]
    assert [one["fields"]["tier"] for one in memories] == ["key"]
    await lore.import_workspace(lines, name="copy")
    again = [line async for line in await lore.export_workspace("copy")]
    assert again[1:] == lines[1:]
    await lore.catch_up()
    copy = await lore.workspace("copy")
    assert (await copy.status()).memories == 0
    found = await copy.recall("What is the boat named?", trace=True)
    assert found.hits[0].trace["keys"].rank == 1
