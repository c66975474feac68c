-- pinned: memories that a person pinned, in use and in view, the latest first
select m.* from everlore.memory_shown m
where m.workspace_id = %(workspace)s and m.tier = 'shown' and m.pinned and m.superseded_at is null and m.review is null
  and m.forgotten_at is null and m.valid_from <= %(now)s and (m.valid_to is null or m.valid_to > %(now)s)
  and (m.expires_at is null or m.expires_at > %(now)s)
order by m.valid_from desc, m.lineage_id limit %(most)s;

-- core: the most important memories in use and in view
select m.* from everlore.memory_shown m
where m.workspace_id = %(workspace)s and m.tier = 'shown' and m.importance >= %(least)s::real and m.superseded_at is null
  and m.review is null and m.forgotten_at is null and m.valid_from <= %(now)s and (m.valid_to is null or m.valid_to > %(now)s)
  and (m.expires_at is null or m.expires_at > %(now)s)
order by m.importance desc, m.valid_from desc, m.lineage_id limit %(most)s;

-- standing: memories of one type in use and in view, the latest first
select m.* from everlore.memory_shown m
where m.workspace_id = %(workspace)s and m.tier = 'shown' and m.type = %(type)s and m.superseded_at is null
  and m.review is null and m.forgotten_at is null and m.valid_from <= %(now)s and (m.valid_to is null or m.valid_to > %(now)s)
  and (m.expires_at is null or m.expires_at > %(now)s)
order by m.valid_from desc, m.lineage_id limit %(most)s;

-- current: memories as they are believed now, whatever became of them
select m.*
from unnest(%(lineages)s::uuid[]) with ordinality as given (lineage_id, place) cross join lateral (
    select * from everlore.memory_shown
    where workspace_id = %(workspace)s and lineage_id = given.lineage_id and superseded_at is null offset 0
) as m
order by given.place;

-- versions: single versions of memories
select m.*
from unnest(%(versions)s::uuid[]) as given (memory_id) cross join lateral (
    select * from everlore.memory_shown where workspace_id = %(workspace)s and memory_id = given.memory_id offset 0
) as m;

-- last_message: when the last message of a thread's path was said
select max(occurred_at) from everlore.message
where workspace_id = %(workspace)s and thread_id = %(thread_id)s and on_path and occurred_at <= %(now)s;

-- passages: the texts of messages in passages, in their order
select p.owner_id, p.text
from unnest(%(messages)s::uuid[]) as given (message_id) cross join lateral (
    select owner_id, text, passage_id from everlore.passage
    where workspace_id = %(workspace)s and owner_id = given.message_id offset 0
) as p
order by p.owner_id, p.passage_id;

-- given: what stands in a context and in those before it, the first one first
with recursive chain as (
    select c.context_id, c.parent_id, 0 as back from everlore.context c
    where c.workspace_id = %(workspace)s and c.context_id = %(context_id)s
    union all
    select c.context_id, c.parent_id, chain.back + 1 from chain
    join everlore.context c on c.workspace_id = %(workspace)s and c.context_id = chain.parent_id
) cycle context_id set again using way
select i.slot, i.number, i.message_id, i.memory_id, m.lineage_id, i.fact_id, i.fact_version
from chain cross join lateral (
    select * from everlore.context_item where workspace_id = %(workspace)s and context_id = chain.context_id offset 0
) as i left join lateral (
    select lineage_id from everlore.memory where workspace_id = %(workspace)s and memory_id = i.memory_id offset 0
) as m on true
where num_nonnulls(i.message_id, i.memory_id, i.fact_id) = 1 and not chain.again
order by chain.back desc, i.place;

-- write: a context
insert into everlore.context (workspace_id, context_id, parent_id, thread_id, profile, budget, made_at)
values (%(workspace)s, %(context_id)s, %(parent_id)s, %(thread_id)s, %(profile)s, %(budget)s, %(made_at)s);

-- write_items: what stands in it
insert into everlore.context_item (
    workspace_id, context_id, place, part, slot, number, tokens, message_id, memory_id, fact_id, fact_version, words)
select %(workspace)s, %(context_id)s, i.*
from unnest(%(places)s::integer[], %(parts)s::text[], %(slots)s::text[], %(numbers)s::integer[], %(tokens)s::integer[],
            %(messages)s::uuid[], %(memories)s::uuid[], %(facts)s::uuid[], %(fact_versions)s::uuid[], %(words)s::text[]) as i;

-- find: contexts whose id ends with what a person typed
select context_id from everlore.context
where workspace_id = %(workspace)s and right(replace(context_id::text, '-', ''), length(%(ending)s)) = %(ending)s limit 2;

-- show: one context
select c.context_id, c.parent_id as since, c.thread_id, t.name as thread, c.made_at as at, c.profile, c.budget,
       coalesce((select jsonb_object_agg(s.slot, s.tokens) from (
           select i.slot, sum(i.tokens) as tokens from everlore.context_item i
           where i.workspace_id = %(workspace)s and i.context_id = c.context_id and i.slot <> '' group by i.slot) as s), '{}') as slots
from everlore.context c
left join everlore.thread t on t.workspace_id = c.workspace_id and t.thread_id = c.thread_id
where c.workspace_id = %(workspace)s and c.context_id = %(context_id)s;

-- listed: contexts, of a thread or of all, the latest first
select c.context_id, c.parent_id as since, c.thread_id, t.name as thread, c.made_at as at, c.profile, c.budget,
       coalesce((select jsonb_object_agg(s.slot, s.tokens) from (
           select i.slot, sum(i.tokens) as tokens from everlore.context_item i
           where i.workspace_id = %(workspace)s and i.context_id = c.context_id and i.slot <> '' group by i.slot) as s), '{}') as slots
from everlore.context c
left join everlore.thread t on t.workspace_id = c.workspace_id and t.thread_id = c.thread_id
where c.workspace_id = %(workspace)s and (%(thread_id)s::uuid is null or c.thread_id = %(thread_id)s)
  and (%(after_at)s::timestamptz is null or (c.made_at, c.context_id) < (%(after_at)s, %(after_id)s::uuid))
order by c.made_at desc, c.context_id desc limit %(limit)s;

-- count: how many contexts there are, of a thread or of all
select count(*) from everlore.context
where workspace_id = %(workspace)s and (%(thread_id)s::uuid is null or thread_id = %(thread_id)s);

-- items: what stands in a context, in its order
select i.part, i.slot, i.number, i.tokens, i.message_id, i.memory_id, m.lineage_id, i.fact_id, i.fact_version, i.words
from everlore.context_item i left join lateral (
    select lineage_id from everlore.memory where workspace_id = %(workspace)s and memory_id = i.memory_id offset 0
) as m on true
where i.workspace_id = %(workspace)s and i.context_id = %(context_id)s
order by i.place;
