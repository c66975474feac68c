"""However a thread was written, edited and branched: each turn is stored once, and what is known is what its path says."""

import random

from tests.conftest import Clock
from tests.fuzz.branching import Writer
from tests.steps.conftest import Rows

from everlore.api.workspace import Workspace
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore

STEPS = 12


async def test_every_turn_is_stored_once_and_the_path_alone_is_known(
    lore: Everlore, clock: Clock, rows: Rows, seed: int
) -> None:
    chance = random.Random(seed)
    writer = Writer(await lore.workspace("alice", create=True), clock, rows, chance)
    try:
        for _ in range(STEPS):
            await writer.step()
            await writer.check()
            if chance.random() < 0.3:
                writer.steps.append("distil")
                await lore.distil(writer.workspace)
                await lore.catch_up()
        await lore.distil(writer.workspace)
        await lore.catch_up()
        await _nothing_off_the_path_is_recalled(writer, rows)
        anew = await known_anew(lore, writer, rows)
        assert await named(writer.workspace) == await named(anew)
        assert await known(rows, "alice") == await known(rows, "anew")
    except AssertionError as failure:
        failure.add_note("\n".join(("What was done:", *writer.steps)))
        raise


async def _nothing_off_the_path_is_recalled(writer: Writer, rows: Rows) -> None:
    off = await rows("select message_id, text from everlore.message where not on_path")
    for message_id, text in writer.chance.sample(off, min(3, len(off))):
        found = await writer.workspace.recall(text, branches=True)
        assert not {hit.citation.message_id for hit in found.hits} & {one for one, _ in off}
        assert message_id in {hit.citation.message_id for hit in found.branches}
        for source in (*(one for hit in found.memories for one in hit.sources),
                       *(one for hit in found.facts for one in hit.sources)):  # fmt: skip
            assert source.message_id not in {one for one, _ in off}


async def known(rows: Rows, workspace: str) -> tuple[list[tuple[object, ...]], ...]:
    """Memories and facts that are in use, with how many messages the memories rest on, and how sure they are."""
    memories = await rows(
        "select m.content, m.type, m.author, m.valid_to is null, m.confidence, "
        "(select count(*) from everlore.memory_source s where s.workspace_id = m.workspace_id "
        "and s.lineage_id = m.lineage_id and s.retracted_at is null) "
        "from everlore.memory m join everlore.workspace w using (workspace_id) where w.name = %s "
        "and m.superseded_at is null and m.review is null and m.forgotten_at is null "
        "and (m.valid_to is null or m.valid_to > m.valid_from) order by 1, 2, 3, 4, 5",
        workspace,
    )
    facts = await rows(
        "select e.name, f.predicate, f.object, f.valid_to is null, f.confidence from everlore.fact f "
        "join everlore.entity e on e.workspace_id = f.workspace_id and e.entity_id = f.subject_id "
        "join everlore.workspace w on w.workspace_id = f.workspace_id where w.name = %s "
        "and f.superseded_at is null and f.review is null "
        "and (f.valid_to is null or f.valid_to > f.valid_from) order by 1, 2, 3, 4, 5",
        workspace,
    )
    return memories, facts


async def named(workspace: Workspace) -> set[tuple[str, int]]:
    """The entities that are listed, and how many messages name them."""
    return {
        (one.entity.name, one.entity.mentions) for one in (await workspace.graph.entities(limit=500)).items
    }


async def known_anew(lore: Everlore, writer: Writer, rows: Rows) -> Workspace:
    """A new workspace that knows what the path says, and nothing else. Its turns stand in the same places and windows."""
    workspace: Workspace = await lore.workspace("anew", create=True)
    stored = await rows(
        "select m.position, m.role, m.text, m.occurred_at from everlore.message m join everlore.workspace w using (workspace_id) "
        "where w.name = 'alice' and m.on_path"
    )
    path = {position: turn for position, *turn in stored}
    windows = await rows(
        "select d.last from everlore.distillation d join everlore.workspace w using (workspace_id) "
        "where w.name = 'alice' and d.superseded_at is null order by d.last"
    )
    at = 1
    for (last,) in windows:
        turns = [path.get(one, ("user", "(not on the path)", writer.clock())) for one in range(at, last + 1)]
        await workspace.record([NewMessage(role=role, text=text, at=moment) for role, text, moment in turns])
        at = last + 1
        await rows("delete from everlore.message where text = '(not on the path)'")
        await lore.distil(workspace)
    await lore.catch_up()
    return workspace
