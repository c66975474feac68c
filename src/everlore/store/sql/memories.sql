-- add_sources: where it was said, unless that is known; what a person told directly counts each time
insert into everlore.memory_source (workspace_id, source_id, lineage_id, message_id, start_at, end_at, quote, confidence, recorded_at)
select %(workspace)s, given.source_id, %(lineage_id)s, given.message_id, given.start_at, given.end_at, given.quote,
       given.confidence, %(recorded_at)s
from unnest(%(ids)s::uuid[], %(messages)s::uuid[], %(starts)s::integer[], %(ends)s::integer[], %(quotes)s::text[],
            %(confidences)s::real[]) as given (source_id, message_id, start_at, end_at, quote, confidence)
where given.message_id is null or not exists (
    select from everlore.memory_source s
    where s.workspace_id = %(workspace)s and s.lineage_id = %(lineage_id)s and s.message_id = given.message_id
      and s.start_at is not distinct from given.start_at and s.end_at is not distinct from given.end_at
      and s.retracted_at is null);

-- set_confidence: of the current version
update everlore.memory set confidence = %(confidence)s, importance = greatest(importance, %(importance)s)
where workspace_id = %(workspace)s and lineage_id = %(lineage_id)s and superseded_at is null;

-- copy_version: the next version: the current one, with some of its columns changed
insert into everlore.memory (
    workspace_id, memory_id, lineage_id, version, tier, type, content, category, tags, importance, confidence, valid_from,
    valid_to, recorded_at, superseded_at, superseded_by, event_at, expires_at, generation, pinned, confirmed,
    source_kind, review, review_reason, forgotten_at, author, role, thread_id, first_position, taxonomy, reasoning,
    extractor, extractor_version, content_hash, passage_id, access_count, last_access_at)
select
    %(workspace)s, n.memory_id, n.lineage_id, n.version, n.tier, n.type, n.content, n.category, n.tags, n.importance,
    n.confidence, n.valid_from, n.valid_to, n.recorded_at, n.superseded_at, n.superseded_by, n.event_at, n.expires_at,
    n.generation, n.pinned, n.confirmed, n.source_kind, n.review, n.review_reason, n.forgotten_at, n.author, n.role,
    n.thread_id, n.first_position, n.taxonomy, n.reasoning, n.extractor, n.extractor_version, n.content_hash,
    n.passage_id, n.access_count, n.last_access_at
from everlore.memory m cross join lateral jsonb_populate_record(
    m, %(changes)s::jsonb || jsonb_build_object('version', m.version + 1)) as n
where m.workspace_id = %(workspace)s and m.lineage_id = %(lineage_id)s and m.superseded_at is null;

-- close_version: the one before was believed until now
update everlore.memory set superseded_at = %(recorded_at)s, superseded_by = %(memory_id)s
where workspace_id = %(workspace)s and lineage_id = %(lineage_id)s and superseded_at is null
  and memory_id <> %(memory_id)s;

-- set_pinned: of one version
update everlore.memory set pinned = %(pinned)s
where workspace_id = %(workspace)s and memory_id = %(memory_id)s;

-- set_passages: of some versions, and of all others with the same words
update everlore.memory m set passage_id = given.passage_id
from unnest(%(ids)s::uuid[], %(passages)s::integer[]) as given (memory_id, passage_id)
join everlore.memory v on v.workspace_id = %(workspace)s and v.memory_id = given.memory_id
where m.workspace_id = %(workspace)s and m.lineage_id = v.lineage_id and m.content_hash = v.content_hash
  and (m.memory_id = v.memory_id or m.passage_id is null);

-- current: the version that is believed now
select m.*
from (select * from everlore.memory_shown where workspace_id = %(workspace)s and lineage_id = %(lineage_id)s offset 0) as m
where m.superseded_at is null;

-- show: one version
select * from everlore.memory_shown where workspace_id = %(workspace)s and memory_id = %(memory_id)s;

-- find: memories whose id ends with what a person typed
select everlore.memories_ending(%(ending)s) limit 2;

-- versions: all of a memory, the first one first
select * from everlore.memory_shown where workspace_id = %(workspace)s and lineage_id = %(lineage_id)s order by version;

-- sources: where memories were said, with the words, in order of time
select given.lineage_id, s.message_id, s.start_at as start, s.end_at as "end",
       s.quote, g.author, g.role,
       coalesce(g.occurred_at, s.recorded_at) as at, t.name as thread
from unnest(%(lineages)s::uuid[]) as given (lineage_id) cross join lateral (
    select * from everlore.memory_source
    where workspace_id = %(workspace)s and lineage_id = given.lineage_id
      and everlore.believed_at(recorded_at, retracted_at, %(recorded_at)s) offset 0
) as s
left join lateral (
    select * from everlore.message where workspace_id = %(workspace)s and message_id = s.message_id offset 0
) as g on true
left join lateral (
    select name from everlore.thread where workspace_id = %(workspace)s and thread_id = g.thread_id offset 0
) as t on true
order by coalesce(g.occurred_at, s.recorded_at), s.source_id;

-- old_keys: keys that nobody said again in time, the oldest first
select lineage_id from everlore.memory
where workspace_id = %(workspace)s and tier = 'key' and expires_at <= %(now)s order by expires_at limit %(at_most)s;

-- delete_keys: keys, with their sources
delete from everlore.memory
where workspace_id = %(workspace)s and memory_id = any (%(lineages)s::uuid[]) and tier = 'key';

-- link_entities: a memory speaks of some entities
insert into everlore.memory_entity (workspace_id, lineage_id, entity_id)
select %(workspace)s, %(lineage_id)s, given.entity_id from unnest(%(entities)s::uuid[]) as given (entity_id)
on conflict do nothing;

-- unlink_entities: the words of a memory were changed
delete from everlore.memory_entity where workspace_id = %(workspace)s and lineage_id = %(lineage_id)s returning entity_id;

-- recent: current memories that may be spoken of again: the latest of the thread, and of the named entities those that held when it
-- was said
(select m.* from everlore.memory_shown m
 where m.workspace_id = %(workspace)s and m.thread_id = %(thread_id)s and m.tier = 'shown' and m.superseded_at is null
   and m.review is null and m.forgotten_at is null and m.valid_to is null
 order by m.first_position desc, m.memory_id desc limit %(at_most)s)
union
(select m.* from unnest(%(entities)s::uuid[]) as given (entity_id) cross join lateral (
     select lineage_id from everlore.memory_entity
     where workspace_id = %(workspace)s and entity_id = given.entity_id order by lineage_id desc limit %(at_most)s
 ) as x cross join lateral (
     select * from everlore.memory_shown
     where workspace_id = %(workspace)s and lineage_id = x.lineage_id and superseded_at is null and review is null
       and forgotten_at is null and (valid_to is null or valid_to > %(said_at)s)
     order by version desc limit 1
 ) as m limit %(at_most)s);

-- listed: memories that pass the filters, the latest first. Without `history` the versions of today; with it those that were
-- believed at `recorded_at` (null: today) and true at `valid_at`. What was said in several threads is in each of them. `total`
-- counts all that pass; given are those behind the key.
select * from (select m.*, count(*) over () as total from everlore.memory_shown m
where m.workspace_id = %(workspace)s and m.tier = 'shown'
  and everlore.believed_at(m.recorded_at, m.superseded_at, %(recorded_at)s)
  and (not %(history)s or everlore.true_at(m.valid_from, m.valid_to, %(valid_at)s))
  and case coalesce(%(status)s::text, 'usable')
      when 'usable' then m.review is null and m.forgotten_at is null
          and (%(history)s or m.valid_to is null or m.valid_to > %(now)s)
          and (%(include_expired)s or m.expires_at is null or m.expires_at > %(valid_at)s)
      when 'active' then m.review is null and m.forgotten_at is null
          and (%(history)s or m.valid_to is null or m.valid_to > %(now)s)
          and (m.expires_at is null or m.expires_at > %(valid_at)s)
      when 'expired' then m.review is null and m.forgotten_at is null
          and (m.valid_to is null or m.valid_to > %(now)s) and m.expires_at <= %(valid_at)s
      when 'superseded' then m.review is null and m.forgotten_at is null and m.valid_to <= %(now)s
      when 'forgotten' then m.forgotten_at is not null
      when 'all' then true
      else m.forgotten_at is null and m.review = %(status)s end
  and (%(types)s::text[] is null or m.type = any (%(types)s))
  and (%(since)s::timestamptz is null or m.valid_from >= %(since)s)
  and (%(until)s::timestamptz is null or m.valid_from < %(until)s)
  and ((%(thread_id)s::uuid is null or m.thread_id = %(thread_id)s)
  and (%(taxonomy)s::ltree is null or m.path <@ %(taxonomy)s)
       or exists (
           select from everlore.memory_source s cross join lateral (
               select * from everlore.message where workspace_id = s.workspace_id and message_id = s.message_id offset 0
           ) as g cross join lateral (
               select taxonomy from everlore.thread where workspace_id = g.workspace_id and thread_id = g.thread_id offset 0
           ) as t
           where s.workspace_id = m.workspace_id and s.lineage_id = m.lineage_id
             and everlore.believed_at(s.recorded_at, s.retracted_at, %(recorded_at)s)
             and (%(thread_id)s::uuid is null or g.thread_id = %(thread_id)s)
             and (%(taxonomy)s::ltree is null or coalesce(g.taxonomy, t.taxonomy) <@ %(taxonomy)s)
           offset 0))
  and (%(pinned)s::boolean is null or m.pinned = %(pinned)s)
  and (%(text)s::text is null or strpos(
      ' ' || regexp_replace(everlore.normalise(m.content), '[^[:alnum:]]+', ' ', 'g'),
      ' ' || trim(regexp_replace(everlore.normalise(%(text)s), '[^[:alnum:]]+', ' ', 'g'))) > 0)
  and (%(entities)s::uuid[] is null or exists (
      select from everlore.memory_entity x
      where x.workspace_id = m.workspace_id and x.lineage_id = m.lineage_id and x.entity_id = any (%(entities)s)))
) as counted
where %(after_at)s::timestamptz is null or (valid_from, memory_id) < (%(after_at)s, %(after_id)s::uuid)
order by valid_from desc, memory_id desc limit %(limit)s;

-- without_sources: current extracted memories that nothing supports any more, and that no person took a stand on
select m.* from unnest(%(lineages)s::uuid[]) as given (lineage_id) cross join lateral (
    select * from everlore.memory_shown
    where workspace_id = %(workspace)s and lineage_id = given.lineage_id and superseded_at is null
      and source_kind = 'extracted' and not pinned and not confirmed
      and forgotten_at is null and (valid_to is null or valid_to > valid_from)
      and review_reason is distinct from 'rejected by hand' offset 0
) as m
where not exists (select from everlore.memory_source s
                  where s.workspace_id = m.workspace_id and s.lineage_id = m.lineage_id and s.retracted_at is null);
