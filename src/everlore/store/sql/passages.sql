-- insert: distilled passages under the given numbers
insert into everlore.passage (workspace_id, passage_id, kind, memory_id, fact_id, role, author, occurred_at, taxonomy, text)
select everlore.current_workspace(), p.*
from unnest(%(numbers)s::integer[], %(kinds)s::text[], %(memories)s::uuid[], %(facts)s::uuid[], %(roles)s::text[],
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
select everlore.defer_index_distilled() where exists (select from listed);

-- insert_vectors: vectors of passages that are new
insert into everlore.passage_vector (workspace_id, model_id, passage_id, embedding, distilled)
select %(workspace)s, %(model_id)s, v.passage_id, v.vector::halfvec, true
from unnest(%(numbers)s::integer[], %(vectors)s::text[]) as v (passage_id, vector);

-- insert_tokens: the same for token vectors
insert into everlore.passage_tokens (workspace_id, model_id, passage_id, tokens)
select %(workspace)s, %(model_id)s, v.passage_id, v.tokens
from unnest(%(numbers)s::integer[], %(tokens)s::bytea[]) as v (passage_id, tokens);

-- defer: leave the job that embeds them
select everlore.defer_index_distilled();

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

-- nearest_of_all: to each of some vectors the nearest distilled passages, all compared
select given.place::integer, near.passage_id, near.distance
from unnest(%(vectors)s::text[]) with ordinality as given (vector, place) cross join lateral
    everlore.vector_exact(%(model_id)s::smallint, given.vector::halfvec, %(at_most)s, true) as near
order by given.place, near.distance, near.passage_id;

-- nearest_by_index: the same by the index
select given.place::integer, near.passage_id, near.distance
from unnest(%(vectors)s::text[]) with ordinality as given (vector, place) cross join lateral
    everlore.vector_hnsw(%(model_id)s::smallint, given.vector::halfvec, %(at_most)s, in_distilled => true) as near
order by given.place, near.distance, near.passage_id;
