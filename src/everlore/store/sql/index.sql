-- models: the embedding models that the database knows
select model_id, name, dimensions, in_use from everlore.embedding_model order by model_id;

-- model_in_use: the model that answers questions, and whether any thread of this workspace, or anything in another layer than
-- what was said, has passages without its vectors
select m.model_id, m.name, m.dimensions, m.in_use, exists (
    select from everlore.watermark w
    where w.workspace_id = %(workspace)s and w.step = 'vector:' || m.name and w.position < w.written) as messages_behind, exists (
    select from everlore.unembedded u
    where u.workspace_id = %(workspace)s and u.model_id = m.model_id and u.refused is null) as others_behind
from everlore.embedding_model m where m.in_use;

-- name_in_use: the name of the model that answers questions
select name from everlore.embedding_model where in_use;

-- register_model: make a model known; the first is in use at once
select everlore.register_embedding_model(%(name)s, %(dimensions)s);

-- load_mark: how far a step has come with a thread, and how far the thread goes
select w.position, w.written from everlore.watermark w
where w.workspace_id = %(workspace)s and w.step = %(step)s and w.thread_id = %(thread_id)s;

-- load_thread_end: how far the thread goes, for a step that has no mark in it yet
select last_position from everlore.thread where workspace_id = %(workspace)s and thread_id = %(thread_id)s;

-- load_passages: the next passages of a thread after a position, whole messages at a time where they fit
select p.passage_id, m.position, p.text
from everlore.message m cross join lateral (
    select passage_id, sequence, text from everlore.passage
    where workspace_id = %(workspace)s and owner_id = m.message_id offset 0
) as p
where m.workspace_id = %(workspace)s and m.thread_id = %(thread_id)s and m.position > %(position)s and m.position <= %(written)s
order by m.position, p.sequence limit %(at_most)s;

-- load_missing: those passages of a stretch of a thread that have no vector of the model yet and were not refused by it
select p.passage_id, p.text
from everlore.message m cross join lateral (
    select passage_id, sequence, text from everlore.passage
    where workspace_id = %(workspace)s and owner_id = m.message_id offset 0
) as p left join lateral (
    select true as there from everlore.passage_vector
    where workspace_id = %(workspace)s and passage_id = p.passage_id and model_id = %(model_id)s offset 0
) as v on true left join lateral (
    select refused from everlore.unembedded
    where workspace_id = %(workspace)s and model_id = %(model_id)s and passage_id = p.passage_id offset 0
) as u on true
where m.workspace_id = %(workspace)s and m.thread_id = %(thread_id)s and m.position > %(position)s and m.position <= %(upto)s
  and v.there is null and u.refused is null
order by p.sequence;

-- lock_passages: of the given passages, those that still exist, kept as they are until the commit: their layers, too
select p.passage_id
from unnest(%(passages)s::integer[]) as given (passage_id) cross join lateral (
    select passage_id from everlore.passage
    where workspace_id = %(workspace)s and passage_id = given.passage_id offset 0 for share
) as p;

-- quietly: that a staging table is there already is no news
set local client_min_messages = warning;

-- make_staging: where a batch's vectors are copied to first, because COPY into a table under row-level security is refused
create temporary table if not exists staged_vector (passage_id integer, embedding halfvec, tokens bytea) on commit delete rows;

-- copy_vectors: the batch, in COPY's binary form
copy pg_temp.staged_vector (passage_id, embedding, tokens) from stdin (format binary);

-- insert_staged_vectors: vectors of passages that still exist; one that is there already stays
insert into everlore.passage_vector (workspace_id, model_id, passage_id, embedding, layer)
select %(workspace)s, %(model_id)s, s.passage_id, s.embedding, p.layer
from pg_temp.staged_vector s cross join lateral (
    select layer from everlore.passage where workspace_id = %(workspace)s and passage_id = s.passage_id offset 0
) as p
where s.passage_id = any (%(passages)s)
on conflict do nothing;

-- insert_staged_tokens: the same for token vectors
insert into everlore.passage_tokens (workspace_id, model_id, passage_id, tokens)
select %(workspace)s, %(model_id)s, s.passage_id, s.tokens
from pg_temp.staged_vector s
where s.passage_id = any (%(passages)s) and s.tokens is not null
on conflict do nothing;

-- empty_staging: after a batch, for the next one of the same transaction
delete from pg_temp.staged_vector;

-- lock_mark: the step's mark in a thread that still exists, made if need be, locked.
-- (A statement of its own: the next one's snapshot then sees what a rebuild has taken away.)
insert into everlore.watermark (workspace_id, step, thread_id)
select t.workspace_id, %(step)s, t.thread_id from everlore.thread t
where t.workspace_id = %(workspace)s and t.thread_id = %(thread_id)s for key share
on conflict (workspace_id, step, thread_id) do update set position = watermark.position;

-- advance_mark: the step has come so far with the thread, unless vectors were taken away before there meanwhile
update everlore.watermark w set position = greatest(w.position, %(upto)s), written = greatest(w.written, %(upto)s)
where w.workspace_id = %(workspace)s and w.step = %(step)s and w.thread_id = %(thread_id)s and not exists (
    select from everlore.message m cross join lateral (
        select passage_id from everlore.passage where workspace_id = %(workspace)s and owner_id = m.message_id offset 0
    ) as p left join lateral (
        select true as there from everlore.passage_vector
        where workspace_id = %(workspace)s and passage_id = p.passage_id and model_id = %(model_id)s offset 0
    ) as v on true left join lateral (
        select refused from everlore.unembedded
        where workspace_id = %(workspace)s and model_id = %(model_id)s and passage_id = p.passage_id offset 0
    ) as u on true
    where m.workspace_id = %(workspace)s and m.thread_id = %(thread_id)s and m.position > w.position and m.position <= %(upto)s
      and v.there is null and u.refused is null
);

-- behind: threads of this workspace and passages in them that the step has not come to
select count(distinct t.thread_id), count(p.passage_id)
from everlore.thread t
left join everlore.watermark w on w.workspace_id = t.workspace_id and w.thread_id = t.thread_id and w.step = %(step)s
join everlore.passage p on p.workspace_id = t.workspace_id and p.thread_id = t.thread_id and p.position > coalesce(w.position, 0)
where t.workspace_id = %(workspace)s and t.last_position > coalesce(w.position, 0);

-- last_passage: the last passage number of the workspace: not fewer than it has passages
select last_passage from everlore.passage_counter where workspace_id = %(workspace)s;

-- has_vector_index: whether the workspace's partition has its HNSW index for the model and layer
select everlore.has_vector_index(%(model_id)s::smallint, %(layer)s);

-- build_vector_index: make it
select everlore.build_vector_index(%(model_id)s::smallint, %(layer)s);

-- reset_mark: the step begins anew with every thread of the workspace
update everlore.watermark set position = 0 where workspace_id = %(workspace)s and step = %(step)s;

-- forget_vectors: drop the workspace's vectors of a model
delete from everlore.passage_vector where workspace_id = %(workspace)s and model_id = %(model_id)s;

-- forget_tokens: drop the workspace's token vectors of a model
delete from everlore.passage_tokens where workspace_id = %(workspace)s and model_id = %(model_id)s;

-- refuse: passages that still exist and that the model will not take
insert into everlore.unembedded (workspace_id, model_id, passage_id, refused)
select %(workspace)s, %(model_id)s, p.passage_id, given.reason
from unnest(%(passages)s::integer[], %(reasons)s::text[]) as given (passage_id, reason) cross join lateral (
    select passage_id from everlore.passage
    where workspace_id = %(workspace)s and passage_id = given.passage_id offset 0 for key share
) as p
on conflict (workspace_id, model_id, passage_id) do update set refused = excluded.refused;

-- ask_again_known: what models refused is on their lists as before, but for what was said
update everlore.unembedded u set refused = null
from everlore.passage p
where u.workspace_id = %(workspace)s and u.refused is not null
  and p.workspace_id = %(workspace)s and p.passage_id = u.passage_id and p.kind <> 'message';

-- ask_again: what was said and refused is to be embedded again: its step goes back to before it; the threads
with forgotten as (
    delete from everlore.unembedded u using everlore.passage p
    where u.workspace_id = %(workspace)s and u.refused is not null
      and p.workspace_id = %(workspace)s and p.passage_id = u.passage_id and p.kind = 'message'
    returning u.model_id, p.thread_id, p.position
), first as (
    select model_id, thread_id, min(position) as position from forgotten group by model_id, thread_id
)
update everlore.watermark w set position = least(w.position, f.position - 1)
from first f join everlore.embedding_model m on m.model_id = f.model_id
where w.workspace_id = %(workspace)s and w.step = 'vector:' || m.name and w.thread_id = f.thread_id
returning w.thread_id;

-- failures: passages of all workspaces that models refused: those of what was said in threads, or all others
select workspace, workspace_id, thread, thread_id, kind || ' ' || right(owner_id::text, 8) as what, owner_id, model as by, error
from everlore.refused_passages() where %(said)s = (thread_id is not null);

-- forget_list: nothing waits or is refused
delete from everlore.unembedded where workspace_id = %(workspace)s and model_id = %(model_id)s;

-- list_all: all passages but those of what was said are to be embedded again
insert into everlore.unembedded (workspace_id, model_id, passage_id)
select %(workspace)s, %(model_id)s, passage_id from everlore.passage where workspace_id = %(workspace)s and layer <> 'said'
  and kind <> 'message'
on conflict do nothing;

-- threads_lagging: threads of all workspaces that lack vectors of one of the named models
select workspace_id, thread_id from everlore.threads_unindexed(%(step)s, %(models)s, %(thorough)s, %(held)s, %(at_most)s);

-- workspaces_lagging: workspaces where something distilled lacks vectors of one of the named models
select everlore.workspaces_unindexed(%(step)s, %(models)s, %(held)s, %(at_most)s);
