-- insert: distilled passages under the given numbers
insert into everlore.passage (workspace_id, passage_id, kind, memory_id, fact_id, role, author, occurred_at, taxonomy, text)
select everlore.current_workspace(), p.*
from unnest(%(numbers)s::integer[], %(kinds)s::text[], %(memories)s::uuid[], %(facts)s::uuid[], %(roles)s::text[],
            %(authors)s::text[], %(times)s::timestamptz[], %(paths)s::text[]::ltree[], %(texts)s::text[]) as p;

-- to_embed: put passages on the list of every model but the named ones; returns whether any is on it
with listed as (
    insert into everlore.unembedded (workspace_id, model_id, passage_id)
    select everlore.current_workspace(), m.model_id, n
    from everlore.embedding_model m cross join unnest(%(numbers)s::integer[]) as n
    where m.model_id <> all (%(but)s::smallint[])
    returning 1
)
select exists (select from listed);

-- embedded: take passages off a model's list
delete from everlore.unembedded
where workspace_id = everlore.current_workspace() and model_id = %(model_id)s and passage_id = any (%(numbers)s);

-- load: the next passages on a model's list
select u.passage_id, p.text
from (
    select passage_id from everlore.unembedded
    where workspace_id = everlore.current_workspace() and model_id = %(model_id)s
    order by passage_id limit %(at_most)s
) as u cross join lateral (
    select text from everlore.passage where passage_id = u.passage_id offset 0
) as p;

-- waiting: how many passages are on a model's list
select count(*) from everlore.unembedded
where workspace_id = everlore.current_workspace() and model_id = %(model_id)s;

-- size: how many distilled passages the workspace has
select passages from everlore.lexical_statistics where workspace_id = everlore.current_workspace() and distilled;

-- remove: distilled passages; vectors and tokens go with them
delete from everlore.passage
where workspace_id = everlore.current_workspace() and passage_id = any (%(numbers)s) and kind <> 'message';

-- vectors: vectors of passages, in binary form
select passage_id, embedding from everlore.vectors_of(%(model_id)s::smallint, %(numbers)s::integer[]);
