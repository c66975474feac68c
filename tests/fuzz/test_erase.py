"""Erased is erased: after any curation nothing is left of what was said, and on the way nothing stands without its ground."""

import random

from tests.conftest import Clock
from tests.fuzz.curating import Person
from tests.steps.conftest import Rows

from everlore.everlore import Everlore

STEPS = 25

# Each finds rows that stand without what they rest on; there must never be any.
GROUNDLESS = {
    "a fact that holds, which no statement counts for": """
        select f.predicate, f.object from everlore.fact f
        where f.superseded_at is null and f.review is null and (f.valid_to is null or f.valid_to > f.valid_from)
          and not exists (select from everlore.fact_source s where s.lineage_id = f.lineage_id and s.retracted_at is null)""",
    "a memory in use that was read nowhere": """
        select m.content from everlore.memory m
        where m.superseded_at is null and m.review is null and m.forgotten_at is null and m.valid_to is null
          and m.source_kind = 'extracted' and not m.confirmed and not m.pinned
          and not exists (select from everlore.memory_source s where s.lineage_id = m.lineage_id and s.retracted_at is null)""",
    "a memory that never had a source": """
        select m.content from everlore.memory m
        where not exists (select from everlore.memory_source s where s.lineage_id = m.lineage_id)""",
    "a passage that nothing owns": """
        select p.kind, p.text from everlore.passage p
        where p.kind <> 'message' and not exists (
              select from everlore.memory m where m.passage_id = p.passage_id
                and p.kind = case m.tier when 'key' then 'key' else 'memory' end
              union all select from everlore.fact f where f.passage_id = p.passage_id and p.kind = 'fact')""",
    "a memory in use that is not indexed": """
        select m.content from everlore.memory m
        where m.superseded_at is null and m.review is null and m.forgotten_at is null
          and (m.valid_to is null or m.valid_to > m.valid_from) -- what waited until its words were read anew never was in use
          and not exists (select from everlore.passage p where p.passage_id = m.passage_id)""",
    "an entity that nothing speaks of": """
        select e.name from everlore.entity e
        where e.merged_into is null
          and not exists (select from everlore.mention n where n.entity_id = e.entity_id)
          and not exists (select from everlore.memory_entity x where x.entity_id = e.entity_id)
          and not exists (select from everlore.fact f where f.subject_id = e.entity_id or f.object_id = e.entity_id)
          and not exists (select from everlore.alias a where a.entity_id = e.entity_id and a.origin = 'by hand')
          and not exists (select from everlore.entity_change c where c.undone_at is null
                          and (c.kept_id = e.entity_id or c.other_id = e.entity_id))""",
    "an entity without a name": """
        select e.name from everlore.entity e
        where e.merged_into is null and e.name <> 'unnamed'
          and not exists (select from everlore.alias a where a.entity_id = e.entity_id)""",
    "a memory that is there twice": """
        select m.author, m.content, m.type from everlore.memory m
        where m.superseded_at is null and m.review is null and m.forgotten_at is null and m.valid_to is null
          and m.type not in ('event', 'task', 'reminder', 'casual')
        group by m.author, m.content, m.type having count(*) > 1""",
    "a fact that is there twice": """
        select f.subject_id, f.predicate, f.object_key from everlore.fact f
        where f.superseded_at is null and f.review is null and f.valid_to is null
        group by f.subject_id, f.predicate, f.object_key having count(*) > 1""",
}  # fmt: skip


async def test_nothing_is_left_of_what_was_erased(
    lore: Everlore, clock: Clock, rows: Rows, seed: int
) -> None:
    person = Person(lore, await lore.workspace("alice", create=True), clock, rows, random.Random(seed))
    try:
        for _ in range(STEPS):
            await person.step()
            await _well_grounded(rows)
        await person.erase_all()
        await _well_grounded(rows)
        assert await person.traces() == []
    except AssertionError as failure:
        failure.add_note("\n".join(("What was done:", *person.steps)))
        failure.add_note("\n".join(await person.traces()))
        raise


async def _well_grounded(rows: Rows) -> None:
    for what, query in GROUNDLESS.items():
        assert await rows(query) == [], what  # pyright: ignore[reportArgumentType]
