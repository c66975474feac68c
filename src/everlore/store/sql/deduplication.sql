-- same_words: current memories with the same words as new ones, forgotten and rejected ones included
select m.* from unnest(%(hashes)s::bytea[]) as given (hash) cross join lateral (
    select * from everlore.memory_shown
    where workspace_id = %(workspace)s and content_hash = given.hash and superseded_at is null offset 0
) as m;

-- current: the versions of some memories that are believed now
select m.* from unnest(%(lineages)s::uuid[]) as given (lineage_id) cross join lateral (
    select * from everlore.memory_shown
    where workspace_id = %(workspace)s and lineage_id = given.lineage_id and superseded_at is null
    order by version desc limit 1
) as m;

-- by_passages: the versions that are believed now, by the passages of their words
select m.* from unnest(%(passages)s::integer[]) as given (passage_id) cross join lateral (
    select * from everlore.memory_shown
    where workspace_id = %(workspace)s and passage_id = given.passage_id and superseded_at is null offset 0
) as m;

-- reworded: what a person gave other words to, with the words that were read in some messages before
select s.message_id, c.lineage_id, c.content_hash as given_hash, m.content_hash as read_hash
from unnest(%(messages)s::uuid[]) as given (message_id) cross join lateral (
    select message_id, lineage_id from everlore.memory_source
    where workspace_id = %(workspace)s and message_id = given.message_id offset 0
) as s cross join lateral (
    select lineage_id, content_hash from everlore.memory
    where workspace_id = %(workspace)s and lineage_id = s.lineage_id and superseded_at is null and confirmed
      and forgotten_at is null
    order by version desc limit 1
) as c cross join lateral (
    select content_hash from everlore.memory
    where workspace_id = %(workspace)s and lineage_id = s.lineage_id and superseded_at is not null
      and content_hash <> c.content_hash offset 0
) as m;

-- recent_of_thread: the latest current memories of a thread
select m.* from everlore.memory_shown m
where m.workspace_id = %(workspace)s and m.thread_id = %(thread_id)s and m.tier = 'shown' and m.superseded_at is null
  and m.review is null and m.forgotten_at is null and m.valid_to is null
order by m.first_position desc, m.memory_id desc limit %(at_most)s;

-- recent_of_entities: the latest current memories of each given entity
select given.entity_id, m.* from unnest(%(entities)s::uuid[]) as given (entity_id) cross join lateral (
    select lineage_id from everlore.memory_entity
    where workspace_id = %(workspace)s and entity_id = given.entity_id order by lineage_id desc limit %(at_most)s
) as x cross join lateral (
    select * from everlore.memory_shown
    where workspace_id = %(workspace)s and lineage_id = x.lineage_id and superseded_at is null and review is null
      and forgotten_at is null and valid_to is null
    order by version desc limit 1
) as m;

-- sources: where memories were said, as far as that counts: of the given ones, and of those whose words stand in some passages
select s.lineage_id, s.message_id, s.start_at as start, s.end_at as "end", s.confidence::float as confidence, s.quote
from (
    select unnest(%(lineages)s::uuid[]) as lineage_id
    union
    select m.lineage_id from unnest(%(passages)s::integer[]) as given (passage_id) cross join lateral (
        select lineage_id from everlore.memory
        where workspace_id = %(workspace)s and passage_id = given.passage_id and superseded_at is null offset 0
    ) as m
) as given cross join lateral (
    select * from everlore.memory_source
    where workspace_id = %(workspace)s and lineage_id = given.lineage_id and retracted_at is null offset 0
) as s;

-- insert_memories: first versions
insert into everlore.memory (
    workspace_id, memory_id, lineage_id, tier, type, content, content_hash, category, tags, importance, confidence, valid_from,
    valid_to, superseded_by, event_at, expires_at, pinned, source_kind, review, review_reason, author, role, thread_id,
    first_position, taxonomy, reasoning, extractor, extractor_version, recorded_at)
select %(workspace)s, m.memory_id, m.memory_id, m.tier, m.type, m.content, m.content_hash, m.category, m.tags, m.importance, m.confidence,
    m.valid_from, m.valid_to, m.superseded_by, m.event_at, m.expires_at, m.pinned, m.source_kind, m.review, m.review_reason,
    m.author, m.role, m.thread_id, m.first_position, m.taxonomy, m.reasoning, m.extractor, m.extractor_version, %(now)s
from jsonb_populate_recordset(null::everlore.memory, %(memories)s::jsonb) as m;

-- keep_keys: keys that were said again
update everlore.memory set expires_at = %(until)s
where workspace_id = %(workspace)s and memory_id = any (%(lineages)s::uuid[]) and tier = 'key';

-- insert_sources: where memories were said
insert into everlore.memory_source (
    workspace_id, source_id, lineage_id, message_id, start_at, end_at, quote, confidence, recorded_at)
select %(workspace)s, s.source_id, s.lineage_id, s.message_id, s.start_at, s.end_at, s.quote, s.confidence, %(now)s
from jsonb_populate_recordset(null::everlore.memory_source, %(sources)s::jsonb) as s;

-- link_entities: which memories speak of which entities
insert into everlore.memory_entity (workspace_id, lineage_id, entity_id)
select %(workspace)s, given.lineage_id, given.entity_id
from unnest(%(lineages)s::uuid[], %(entities)s::uuid[]) as given (lineage_id, entity_id)
on conflict do nothing;
