-- vector_exact: the nearest passages of a layer of a workspace, all compared
select passage_id, distance
from everlore.vector_exact(%(model_id)s::smallint, %(vector)s::text::halfvec, %(at_most)s, %(layer)s);

-- vector_among: the nearest of the named passages
select passage_id, distance
from everlore.vector_among(%(model_id)s::smallint, %(vector)s::text::halfvec, %(passages)s::integer[], %(at_most)s);

-- vector_hnsw: the nearest passages by the index, under a filter
select passage_id, distance
from everlore.vector_hnsw(%(model_id)s::smallint, %(vector)s::text::halfvec, %(at_most)s, %(since)s, %(until)s, %(author)s,
                          %(threads)s::uuid[], %(taxonomy)s::ltree, %(recorded_by)s, %(branch)s::uuid[],
                          %(layer)s);

-- threads_within: threads of a project or under a taxonomy path
select everlore.threads_within(%(project)s, %(taxonomy)s::ltree);

-- passages_within: passages that a filter leaves, at most so many
select everlore.passages_within(%(at_most)s, %(since)s, %(until)s, %(author)s, %(threads)s::uuid[], %(taxonomy)s::ltree,
                                %(recorded_by)s, %(among)s::integer[], %(branch)s::uuid[]);

-- around: the found passages with their neighbours of the same session, in reading order.
-- (Subtraction is not leakproof: under row-level security a range computed in the join would be checked row by row.)
with seed as materialized (
    select s.thread_id, s.session_id, s.sequence - %(reach)s as first, s.sequence + %(reach)s as last
    from unnest(%(passages)s::integer[]) as given (passage_id) cross join lateral (
        select p.thread_id, p.session_id, p.sequence from everlore.passage p
        where p.workspace_id = %(workspace)s and p.passage_id = given.passage_id offset 0
    ) as s
), near as materialized (
    select distinct on (n.passage_id) n.*
    from seed cross join lateral (
        select p.passage_id, p.owner_id, p.thread_id, p.session_id, p.sequence, p.role, p.author, p.occurred_at, p.length, p.asks
        from everlore.passage p
        where p.workspace_id = %(workspace)s and p.thread_id = seed.thread_id and p.sequence between seed.first and seed.last
          and p.layer = 'said' offset 0
    ) as n
    where n.session_id = seed.session_id
)
select near.passage_id, uuid_send(near.owner_id), uuid_send(near.session_id), near.sequence, near.role, near.author,
       near.occurred_at, near.length, near.asks, v.embedding
from near left join everlore.vectors_of(%(model_id)s::smallint, array(select passage_id from near)) as v using (passage_id)
order by near.thread_id, near.sequence;

-- found: of passages of other layers what relevance is made of; how near a vector is, is worked out where it is
with found as materialized (
    select given.passage_id, p.layer, p.kind
    from unnest(%(passages)s::integer[]) as given (passage_id) cross join lateral (
        select layer, kind from everlore.passage where workspace_id = %(workspace)s and passage_id = given.passage_id offset 0
    ) as p
)
select f.layer::text, f.passage_id, f.kind, 1 - v.distance
from found f left join everlore.vector_among(
    %(model_id)s::smallint, %(vector)s::text::halfvec, %(passages)s::integer[], cardinality(%(passages)s::integer[])
) as v using (passage_id)
order by f.passage_id;

-- tokens: token vectors of passages
select given.passage_id, t.tokens
from unnest(%(passages)s::integer[]) as given (passage_id) cross join lateral (
    select tokens from everlore.passage_tokens
    where workspace_id = %(workspace)s and passage_id = given.passage_id and model_id = %(model_id)s offset 0
) as t;

-- texts: the text of passages
select given.passage_id, p.text
from unnest(%(passages)s::integer[]) as given (passage_id) cross join lateral (
    select text from everlore.passage where workspace_id = %(workspace)s and passage_id = given.passage_id offset 0
) as p;

-- messages: what hits show of their messages beside the texts
select m.message_id, t.name as thread, m.author, m.role, m.occurred_at as at, m.captions, m.off_the_record
from unnest(%(messages)s::uuid[]) as given (message_id) cross join lateral (
    select * from everlore.message where workspace_id = %(workspace)s and message_id = given.message_id offset 0
) as m cross join lateral (
    select name from everlore.thread where workspace_id = %(workspace)s and thread_id = m.thread_id offset 0
) as t;

-- neighbours: messages next to the given ones, in the same session; what was deleted between leaves no hole
with seed as materialized (
    select s.message_id, s.thread_id, s.session_id, s.position
    from unnest(%(messages)s::uuid[]) as given (message_id) cross join lateral (
        select m.message_id, m.thread_id, m.session_id, m.position
        from everlore.message m where m.workspace_id = %(workspace)s and m.message_id = given.message_id offset 0
    ) as s
)
select seed.message_id as near, n.distance, n.message_id, t.name as thread, n.author, n.role, n.occurred_at as at
from seed cross join lateral (
    select -row_number() over (order by m.position desc) as distance, m.*
    from (select * from everlore.message
          where workspace_id = %(workspace)s and thread_id = seed.thread_id and position < seed.position and on_path
          order by position desc limit %(reach)s) as m
    union all
    select row_number() over (order by m.position) as distance, m.*
    from (select * from everlore.message
          where workspace_id = %(workspace)s and thread_id = seed.thread_id and position > seed.position and on_path
          order by position limit %(reach)s) as m
) as n cross join lateral (
    select name from everlore.thread where workspace_id = %(workspace)s and thread_id = n.thread_id offset 0
) as t
where n.session_id = seed.session_id
order by seed.message_id, n.distance;
