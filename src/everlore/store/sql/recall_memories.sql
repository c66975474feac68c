-- keys: the passages of the messages that usable memories rest on, by the passages of those
select k.passage_id, p.passage_id as source, uuid_send(k.message_id) as message_id
from (
    select distinct given.passage_id, s.message_id
    from unnest(%(passages)s::integer[]) as given (passage_id) cross join lateral (
        select distinct lineage_id from everlore.memory
        where workspace_id = %(workspace)s and passage_id = given.passage_id and review is null and forgotten_at is null offset 0
    ) as m cross join lateral (
        select message_id from everlore.memory_source
        where workspace_id = %(workspace)s and lineage_id = m.lineage_id and message_id is not null
          and everlore.believed_at(recorded_at, retracted_at, %(recorded_at)s) offset 0
    ) as s
) as k cross join lateral (
    select passage_id from everlore.passage where workspace_id = %(workspace)s and owner_id = k.message_id offset 0
) as p;

-- memories: usable versions that were believed at the time, by the passages that their words stand in, under a filter: the memory
-- itself passes it (where it was said first), or another message that it rests on. (`offset 0` keeps a lookup for each memory.)
select m.*
from unnest(%(passages)s::integer[]) as given (passage_id) cross join lateral (
    select * from everlore.memory_shown
    where workspace_id = %(workspace)s and passage_id = given.passage_id and review is null and forgotten_at is null
      and everlore.believed_at(recorded_at, superseded_at, %(recorded_at)s)
    offset 0
) as m
where (%(since)s::timestamptz is null or m.valid_from >= %(since)s)
  and (%(until)s::timestamptz is null or m.valid_from < %(until)s)
  and (%(author)s::text is null or lower(m.author) = lower(%(author)s))
  and (%(threads)s::uuid[] is null or m.thread_id = any (%(threads)s))
  and (%(taxonomy)s::ltree is null or m.path <@ %(taxonomy)s or m.path is null and m.thread_id = any (%(branch)s::uuid[]))
  or exists (
      select from everlore.memory_source s cross join lateral (
          select * from everlore.message where workspace_id = %(workspace)s and message_id = s.message_id offset 0
      ) as g
      where s.workspace_id = %(workspace)s and s.lineage_id = m.lineage_id
        and everlore.believed_at(s.recorded_at, s.retracted_at, %(recorded_at)s)
        and (%(since)s::timestamptz is null or g.occurred_at >= %(since)s)
        and (%(until)s::timestamptz is null or g.occurred_at < %(until)s)
        and (%(author)s::text is null or lower(g.author) = lower(%(author)s))
        and (%(threads)s::uuid[] is null or g.thread_id = any (%(threads)s))
        and (%(taxonomy)s::ltree is null or g.taxonomy <@ %(taxonomy)s
             or g.taxonomy is null and g.thread_id = any (%(branch)s::uuid[]))
      offset 0);

-- lineages: the same by lineage, without a filter: what the graph leads to
select m.*
from unnest(%(lineages)s::uuid[]) as given (lineage_id) cross join lateral (
    select * from everlore.memory_shown
    where workspace_id = %(workspace)s and lineage_id = given.lineage_id and review is null and forgotten_at is null
      and everlore.believed_at(recorded_at, superseded_at, %(recorded_at)s)
    offset 0
) as m;

-- citations: the messages that memories rest on, the first said first
select s.lineage_id, g.message_id, t.name as thread, g.author, g.role, g.occurred_at as at
from unnest(%(lineages)s::uuid[]) as given (lineage_id) cross join lateral (
    select distinct lineage_id, message_id from everlore.memory_source
    where workspace_id = %(workspace)s and lineage_id = given.lineage_id and message_id is not null
      and everlore.believed_at(recorded_at, retracted_at, %(recorded_at)s)
    offset 0
) as s cross join lateral (
    select * from everlore.message where workspace_id = %(workspace)s and message_id = s.message_id offset 0
) as g cross join lateral (
    select name from everlore.thread where workspace_id = %(workspace)s and thread_id = g.thread_id offset 0
) as t
order by g.occurred_at, g.message_id;

-- structured: memories of some types as they were believed at the time, in a state at a moment, from a stretch of time, of
-- entities or authors, under a filter as in `memories`
select s.*
from unnest(%(types)s::text[]) as given (type) cross join lateral (
    select m.* from everlore.memory_shown m
    where m.workspace_id = %(workspace)s and m.type = given.type and m.tier = 'shown' and m.review is null and m.forgotten_at is null
      and everlore.believed_at(m.recorded_at, m.superseded_at, %(recorded_at)s)
      and (%(said_before)s::timestamptz is null or m.valid_from < %(said_before)s)
      and (%(since)s::timestamptz is null or coalesce(m.event_at, m.valid_from) >= %(since)s)
      and (%(until)s::timestamptz is null or coalesce(m.event_at, m.valid_from) < %(until)s)
      and (%(open_at)s::timestamptz is null or m.valid_to is null or m.valid_to > %(open_at)s)
      and (%(in_view_at)s::timestamptz is null or m.expires_at is null or m.expires_at > %(in_view_at)s)
      and (%(done_by)s::timestamptz is null or m.valid_to <= %(done_by)s)
      and (%(done_since)s::timestamptz is null or m.valid_to >= %(done_since)s)
      and (%(expired_by)s::timestamptz is null or m.expires_at <= %(expired_by)s and m.valid_to is null)
      and (%(entities)s::uuid[] is null or lower(m.author) = any (%(authors)s::text[]) or exists (
          select from everlore.memory_entity x
          where x.workspace_id = %(workspace)s and x.lineage_id = m.lineage_id and x.entity_id = any (%(entities)s)))
      and ((%(within_since)s::timestamptz is null or m.valid_from >= %(within_since)s)
           and (%(within_until)s::timestamptz is null or m.valid_from < %(within_until)s)
           and (%(author)s::text is null or lower(m.author) = lower(%(author)s))
           and (%(threads)s::uuid[] is null or m.thread_id = any (%(threads)s))
           and (%(taxonomy)s::ltree is null or m.path <@ %(taxonomy)s
                or m.path is null and m.thread_id = any (%(branch)s::uuid[]))
           or exists (
               select from everlore.memory_source s cross join lateral (
                   select * from everlore.message where workspace_id = %(workspace)s and message_id = s.message_id offset 0
               ) as g
               where s.workspace_id = %(workspace)s and s.lineage_id = m.lineage_id
                 and everlore.believed_at(s.recorded_at, s.retracted_at, %(recorded_at)s)
                 and (%(within_since)s::timestamptz is null or g.occurred_at >= %(within_since)s)
                 and (%(within_until)s::timestamptz is null or g.occurred_at < %(within_until)s)
                 and (%(author)s::text is null or lower(g.author) = lower(%(author)s))
                 and (%(threads)s::uuid[] is null or g.thread_id = any (%(threads)s))
                 and (%(taxonomy)s::ltree is null or g.taxonomy <@ %(taxonomy)s
                      or g.taxonomy is null and g.thread_id = any (%(branch)s::uuid[]))
               offset 0))
    order by m.valid_from desc limit %(at_most)s
) as s
order by s.valid_from desc, s.memory_id limit %(at_most)s;

-- last_person: the person whom the latest messages name, but none of those who write them.
-- (The condition on the time says nothing; it leads the planner to the index in order of time.)
with recent as materialized (
    select owner_id as message_id, lower(author) as author, occurred_at, passage_id
    from everlore.passage
    where workspace_id = %(workspace)s and layer = 'said' and occurred_at > '-infinity' order by occurred_at desc limit 200
)
select e.entity_id, e.name
from recent cross join lateral (
    select entity_id from everlore.mention where workspace_id = %(workspace)s and message_id = recent.message_id offset 0
) as x cross join lateral (
    select entity_id, name from everlore.entity
    where workspace_id = %(workspace)s and entity_id = x.entity_id and type = 'person' offset 0
) as e
where lower(e.name) not in (select author from recent)
order by recent.occurred_at desc, recent.passage_id desc limit 1;

-- note_uses: how often memories were used since, and when last; one that somebody else is writing to is left out
update everlore.memory m set access_count = m.access_count + free.uses, last_access_at = greatest(m.last_access_at, free.at)
from (
    select held.memory_id, given.uses, given.at
    from unnest(%(memories)s::uuid[], %(uses)s::integer[], %(times)s::timestamptz[]) as given (memory_id, uses, at)
    cross join lateral (
        select memory_id from everlore.memory
        where workspace_id = %(workspace)s and memory_id = given.memory_id offset 0 for update skip locked
    ) as held
    offset 0
) as free
where m.workspace_id = %(workspace)s and m.memory_id = free.memory_id
returning m.memory_id;
