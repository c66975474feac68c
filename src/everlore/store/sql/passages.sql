-- insert: passages of a layer under the given numbers
insert into everlore.passage (
    workspace_id, layer, passage_id, kind, owner_id, lineage_id, role, author, occurred_at, taxonomy, text)
select %(workspace)s, %(layer)s, p.*
from unnest(%(numbers)s::integer[], %(kinds)s::text[], %(owners)s::uuid[], %(lineages)s::uuid[], %(roles)s::text[],
            %(authors)s::text[], %(times)s::timestamptz[], %(paths)s::text[]::ltree[], %(texts)s::text[]) as p;

-- to_embed: put passages on the list of every model that they have no vector of, and leave the job that embeds them
with listed as (
    insert into everlore.unembedded (workspace_id, model_id, passage_id)
    select %(workspace)s, m.model_id, n
    from everlore.embedding_model m cross join unnest(%(numbers)s::integer[]) as n
    where not exists (select from unnest(%(models)s::smallint[], %(encoded)s::integer[]) as v (model_id, passage_id)
                      where v.model_id = m.model_id and v.passage_id = n)
    returning 1
)
select everlore.defer_known() where exists (select from listed);

-- insert_vectors: vectors of passages that are new
insert into everlore.passage_vector (workspace_id, model_id, passage_id, embedding, layer)
select %(workspace)s, %(model_id)s, v.passage_id, v.vector::halfvec, %(layer)s
from unnest(%(numbers)s::integer[], %(vectors)s::text[]) as v (passage_id, vector);

-- insert_tokens: the same for token vectors
insert into everlore.passage_tokens (workspace_id, model_id, passage_id, tokens)
select %(workspace)s, %(model_id)s, v.passage_id, v.tokens
from unnest(%(numbers)s::integer[], %(tokens)s::bytea[]) as v (passage_id, tokens);

-- embedded: take passages off a model's list
delete from everlore.unembedded
where workspace_id = %(workspace)s and model_id = %(model_id)s and passage_id = any (%(numbers)s);

-- load: the next passages on a model's list
select u.passage_id as number, p.layer::text, p.text
from (
    select passage_id from everlore.unembedded
    where workspace_id = %(workspace)s and model_id = %(model_id)s and refused is null
    order by passage_id limit %(at_most)s
) as u cross join lateral (
    select layer, text from everlore.passage where workspace_id = %(workspace)s and passage_id = u.passage_id offset 0
) as p;

-- waiting: how many passages are on a model's list
select count(*) from everlore.unembedded where workspace_id = %(workspace)s and model_id = %(model_id)s and refused is null;

-- sizes: how many passages are packed in each layer
select layer::text, passages from everlore.lexical_statistics where workspace_id = %(workspace)s;

-- of_lineages: numbers of the passages of some lineages in a layer
select passage_id from everlore.passage
where workspace_id = %(workspace)s and layer = %(layer)s and layer <> 'said' and lineage_id = any (%(lineages)s::uuid[]);

-- of_layer: numbers of all passages of a layer, to pack them anew
select passage_id from everlore.passage where workspace_id = %(workspace)s and layer = %(layer)s and layer <> 'said';

-- remove: passages; vectors and tokens go with them
delete from everlore.passage where workspace_id = %(workspace)s and layer = %(layer)s and passage_id = any (%(numbers)s);

-- of_messages: layers and numbers of the passages of messages
select p.layer::text, p.passage_id
from unnest(%(messages)s::uuid[]) as given (message_id) cross join lateral (
    select layer, passage_id from everlore.passage where workspace_id = %(workspace)s and owner_id = given.message_id offset 0
) as p;

-- owners: what says each of some passages
select p.passage_id, p.owner_id
from unnest(%(numbers)s::integer[]) as given (passage_id) cross join lateral (
    select passage_id, owner_id from everlore.passage
    where workspace_id = %(workspace)s and passage_id = given.passage_id offset 0
) as p;

-- move: passages into another layer
update everlore.passage set layer = %(layer)s where workspace_id = %(workspace)s and passage_id = any (%(numbers)s);

-- move_vectors: vectors of passages into another layer
update everlore.passage_vector set layer = %(layer)s where workspace_id = %(workspace)s and passage_id = any (%(numbers)s);

-- vectors: vectors of passages, in binary form
select passage_id, embedding from everlore.vectors_of(%(model_id)s::smallint, %(numbers)s::integer[]);

-- nearest_of_all: to each of some vectors the nearest passages of a layer, all compared
select given.place::integer, near.passage_id, near.distance
from unnest(%(vectors)s::text[]) with ordinality as given (vector, place) cross join lateral
    everlore.vector_exact(%(model_id)s::smallint, given.vector::halfvec, %(at_most)s, %(layer)s) as near
order by given.place, near.distance, near.passage_id;

-- nearest_by_index: the same by the index
select given.place::integer, near.passage_id, near.distance
from unnest(%(vectors)s::text[]) with ordinality as given (vector, place) cross join lateral
    everlore.vector_hnsw(%(model_id)s::smallint, given.vector::halfvec, %(at_most)s, in_layer => %(layer)s) as near
order by given.place, near.distance, near.passage_id;
