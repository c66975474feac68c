-- keys: the passages of the messages that usable facts rest on, by the passages of those
select k.passage_id, p.passage_id as source, uuid_send(k.message_id) as message_id
from (
    select distinct given.passage_id, s.message_id
    from unnest(%(passages)s::integer[]) as given (passage_id) cross join lateral (
        select distinct lineage_id from everlore.fact
        where workspace_id = %(workspace)s and passage_id = given.passage_id and review is null offset 0
    ) as f cross join lateral (
        select message_id from everlore.fact_source
        where workspace_id = %(workspace)s and lineage_id = f.lineage_id and message_id is not null
          and everlore.believed_at(recorded_at, retracted_at, %(recorded_at)s) offset 0
    ) as s
) as k cross join lateral (
    select passage_id from everlore.passage where workspace_id = %(workspace)s and owner_id = k.message_id offset 0
) as p;

-- facts: usable versions that were believed at the time, under a filter on what they rest on: times are when it was said
select f.*
from unnest(%(passages)s::integer[]) as given (passage_id) cross join lateral (
    select * from everlore.fact_shown
    where workspace_id = %(workspace)s and passage_id = given.passage_id and review is null
      and everlore.believed_at(recorded_at, superseded_at, %(recorded_at)s)
    offset 0
) as f
where %(since)s::timestamptz is null and %(until)s::timestamptz is null and %(author)s::text is null
  and %(threads)s::uuid[] is null and %(taxonomy)s::ltree is null
  or exists (
      select from everlore.fact_source s
      left join lateral (
          select * from everlore.message where workspace_id = %(workspace)s and message_id = s.message_id offset 0
      ) as g on true
      where s.workspace_id = %(workspace)s and s.lineage_id = f.lineage_id
        and everlore.believed_at(s.recorded_at, s.retracted_at, %(recorded_at)s)
        and (%(since)s::timestamptz is null or s.said_at >= %(since)s)
        and (%(until)s::timestamptz is null or s.said_at < %(until)s)
        and (%(author)s::text is null or lower(g.author) = lower(%(author)s))
        and (%(threads)s::uuid[] is null or g.thread_id = any (%(threads)s))
        and (%(taxonomy)s::ltree is null or g.taxonomy <@ %(taxonomy)s
             or g.taxonomy is null and g.thread_id = any (%(branch)s::uuid[]))
      offset 0);

-- citations: the messages that facts rest on, the first said first
select s.lineage_id, g.message_id, t.name as thread, g.author, g.role, g.occurred_at as at
from unnest(%(lineages)s::uuid[]) as given (lineage_id) cross join lateral (
    select distinct lineage_id, message_id from everlore.fact_source
    where workspace_id = %(workspace)s and lineage_id = given.lineage_id and message_id is not null
      and everlore.believed_at(recorded_at, retracted_at, %(recorded_at)s)
    offset 0
) as s cross join lateral (
    select * from everlore.message where workspace_id = %(workspace)s and message_id = s.message_id offset 0
) as g cross join lateral (
    select name from everlore.thread where workspace_id = %(workspace)s and thread_id = g.thread_id offset 0
) as t
order by g.occurred_at, g.message_id;
