-- insert: passages of a layer under the given numbers
insert into everlore.passage (
    workspace_id, layer, passage_id, kind, owner_id, lineage_id, role, author, occurred_at, taxonomy, text)
select %(workspace)s, %(layer)s, p.*
from unnest(%(numbers)s::integer[], %(kinds)s::text[], %(owners)s::uuid[], %(lineages)s::uuid[], %(roles)s::text[],
            %(authors)s::text[], %(times)s::timestamptz[], %(paths)s::text[]::ltree[], %(texts)s::text[]) as p;

-- to_embed: put passages on the list of every model but the named ones; returns whether any is on it
with listed as (
    insert into everlore.unembedded (workspace_id, model_id, passage_id)
    select %(workspace)s, m.model_id, n
    from everlore.embedding_model m cross join unnest(%(numbers)s::integer[]) as n
    where m.model_id <> all (%(but)s::smallint[])
    returning 1
)
select exists (select from listed);

-- defer: leave the job that embeds them
select everlore.defer_index_distilled();

-- embedded: take passages off a model's list
delete from everlore.unembedded
where workspace_id = %(workspace)s and model_id = %(model_id)s and passage_id = any (%(numbers)s);

-- load: the next passages on a model's list
select u.passage_id as number, p.layer::text, p.text
from (
    select passage_id from everlore.unembedded
    where workspace_id = %(workspace)s and model_id = %(model_id)s
    order by passage_id limit %(at_most)s
) as u cross join lateral (
    select layer, text from everlore.passage where workspace_id = %(workspace)s and passage_id = u.passage_id offset 0
) as p;

-- waiting: how many passages are on a model's list
select count(*) from everlore.unembedded where workspace_id = %(workspace)s and model_id = %(model_id)s;

-- sizes: how many passages are packed in each layer
select layer::text, passages from everlore.lexical_statistics where workspace_id = %(workspace)s;

-- of_lineages: numbers of the passages of some lineages in a layer
select passage_id from everlore.passage
where workspace_id = %(workspace)s and layer = %(layer)s and layer <> 'said' and lineage_id = any (%(lineages)s::uuid[]);

-- of_layer: numbers of all passages of a layer, to pack them anew
select passage_id from everlore.passage where workspace_id = %(workspace)s and layer = %(layer)s and layer <> 'said';

-- remove: passages; vectors and tokens go with them
delete from everlore.passage where workspace_id = %(workspace)s and layer = %(layer)s and passage_id = any (%(numbers)s);

-- vectors: vectors of passages, in binary form
select passage_id, embedding from everlore.vectors_of(%(model_id)s::smallint, %(numbers)s::integer[]);
