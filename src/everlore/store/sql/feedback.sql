-- sources: which of the given ids are messages, and which are memories, with their lineages
select given.id, m.message_id, null::uuid as lineage_id
from unnest(%(ids)s::uuid[]) as given (id) cross join lateral (
    select message_id from everlore.message where workspace_id = %(workspace)s and message_id = given.id offset 0
) as m
union all
select given.id, null, m.lineage_id
from unnest(%(ids)s::uuid[]) as given (id) cross join lateral (
    select lineage_id from everlore.memory where workspace_id = %(workspace)s and memory_id = given.id offset 0
) as m;

-- note: a person's word on sources of the answer to a question, if it has a term; the last word on a source counts
insert into everlore.feedback (workspace_id, feedback_id, message_id, lineage_id, terms, confirmed, given_at)
select %(workspace)s, given.feedback_id, given.message_id, given.lineage_id, asked.terms, given.confirmed, %(at)s
from unnest(%(ids)s::uuid[], %(messages)s::uuid[], %(lineages)s::uuid[], %(confirmed)s::boolean[])
         as given (feedback_id, message_id, lineage_id, confirmed)
cross join (select array_agg(digest order by digest) as terms from everlore.term_digests(%(question)s)) as asked
where asked.terms is not null
on conflict (workspace_id, message_id, lineage_id, terms) do update
    set confirmed = excluded.confirmed, given_at = excluded.given_at;

-- alike: what was said of sources for questions like this one
select coalesce(message_id, lineage_id) as source_id, confirmed, shared, terms from everlore.feedback_alike(%(question)s);
