-- Isolation: row-level security on every table of a workspace, the doors into one, and what each role may do.

do $$
declare
    name text;
begin
    foreach name in array array[
        'workspace', 'project', 'thread', 'session', 'message', 'audit_log', 'passage', 'passage_counter', 'posting_block',
        'posting_segment', 'lexical_statistics', 'passage_vector', 'passage_tokens', 'watermark'] loop
        execute format('alter table everlore.%I enable row level security', name);
        execute format('create policy own_workspace on everlore.%I using (workspace_id = everlore.current_workspace())', name);
    end loop;
    for part in 0..15 loop
        execute format('alter table everlore.passage_vector_%s enable row level security', part);
    end loop;
end $$;

-- The door into a workspace: made if it does not exist, so that the answer tells nobody whether it did.
-- Who is inside one workspace cannot ask for another.
create function everlore.open_workspace(id uuid, called text) returns uuid
    language plpgsql volatile security definer
    set search_path = everlore, pg_temp
    as $$
    declare
        found_id uuid;
    begin
        if everlore.current_workspace() is not null then
            raise insufficient_privilege using message = 'a workspace is open already in this transaction';
        end if;
        select w.workspace_id into found_id from everlore.workspace w where w.name = called;
        if found_id is null then
            insert into everlore.workspace (workspace_id, name) values (id, called)
                on conflict (name) do nothing returning workspace_id into found_id;
            if found_id is null then
                select w.workspace_id into found_id from everlore.workspace w where w.name = called;
            else
                insert into everlore.passage_counter (workspace_id, last_passage) values (found_id, 0);
                insert into everlore.lexical_statistics (workspace_id) values (found_id);
            end if;
        end if;
        return found_id;
    end $$;

-- The id of a workspace, for reading: null if there is none of that name. Who is inside one workspace cannot ask for another.
create function everlore.find_workspace(called text) returns uuid
    language sql stable security definer
    set search_path = everlore, pg_temp
    as $$ select w.workspace_id from everlore.workspace w where w.name = called and everlore.current_workspace() is null $$;

-- All workspaces: for the operator's side, never for the application's role.
create function everlore.list_workspaces()
    returns table (workspace_id uuid, name text, created_at timestamptz, threads bigint, messages bigint, last_at timestamptz)
    language sql stable security definer
    set search_path = everlore, pg_temp
    as $$
        select w.workspace_id, w.name, w.created_at, count(t.thread_id), coalesce(sum(t.messages), 0)::bigint, max(t.last_at)
        from everlore.workspace w left join everlore.thread t using (workspace_id)
        group by w.workspace_id
        order by w.name
    $$;

-- A model is known to the database before vectors of it are written. The first one is in use at once.
create function everlore.register_embedding_model(called text, dims integer) returns smallint
    language plpgsql volatile security definer
    set search_path = everlore, pg_temp
    as $$
    declare
        known everlore.embedding_model;
    begin
        select * into known from everlore.embedding_model m where m.name = called;
        if not found then
            lock table everlore.embedding_model in share row exclusive mode;
            insert into everlore.embedding_model (model_id, name, dimensions, in_use)
                select coalesce(max(m.model_id), 0) + 1, called, dims, count(*) filter (where m.in_use) = 0
                from everlore.embedding_model m
                on conflict (name) do nothing;
            select * into known from everlore.embedding_model m where m.name = called;
        end if;
        if known.dimensions <> dims then
            raise invalid_parameter_value using message = format(
                'the model %s gives %s dimensions; its stored vectors have %s', called, dims, known.dimensions);
        end if;
        return known.model_id;
    end $$;

-- Switches the model that answers questions; refused while any thread has passages without its vectors.
create function everlore.use_embedding_model(called text) returns void
    language plpgsql volatile security definer
    set search_path = everlore, pg_temp
    as $$
    declare
        behind bigint;
    begin
        if not exists (select from everlore.embedding_model m where m.name = called) then
            raise no_data_found using message = format('there is no embedding model %s', called);
        end if;
        select count(*) into behind
        from everlore.thread t left join everlore.watermark w
          on w.workspace_id = t.workspace_id and w.thread_id = t.thread_id and w.step = 'vector:' || called
        where t.last_position > coalesce(w.position, 0);
        if behind > 0 then
            raise object_not_in_prerequisite_state using message = format('%s threads still lack vectors of %s', behind, called);
        end if;
        update everlore.embedding_model m set in_use = false where m.in_use and m.name <> called;
        update everlore.embedding_model m set in_use = true where m.name = called and not m.in_use;
    end $$;

-- How far the vectors of each model have come, over all workspaces: for the operator's side.
create function everlore.embedding_progress()
    returns table (name text, dimensions integer, in_use boolean, threads_behind bigint)
    language sql stable security definer
    set search_path = everlore, pg_temp
    as $$
        select m.name, m.dimensions::integer, m.in_use, (
            select count(*) from everlore.thread t left join everlore.watermark w
              on w.workspace_id = t.workspace_id and w.thread_id = t.thread_id and w.step = 'vector:' || m.name
            where t.last_position > coalesce(w.position, 0))
        from everlore.embedding_model m
        order by m.model_id
    $$;

revoke all on all functions in schema everlore from public;
grant usage on schema everlore to everlore_app, everlore_worker;

-- Both write what they capture and derive, inside one workspace at a time.
grant select on everlore.workspace to everlore_app, everlore_worker;
grant select, insert, update, delete on
    everlore.project, everlore.thread, everlore.session, everlore.message, everlore.passage, everlore.passage_tokens,
    everlore.posting_block, everlore.posting_segment, everlore.watermark, everlore.passage_vector
    to everlore_app, everlore_worker;
grant select, update on everlore.passage_counter, everlore.lexical_statistics to everlore_app, everlore_worker;
grant select, insert on everlore.audit_log to everlore_app, everlore_worker;
grant select on everlore.embedding_model, everlore.step, everlore.migration to everlore_app, everlore_worker;

grant execute on function
    everlore.strip_accents(text), everlore.normalise(text), everlore.terms(text), everlore.query_words(text),
    everlore.current_workspace(), everlore.defer(text, uuid, boolean),
    everlore.defer_recorded(text[], uuid, integer, integer, boolean), everlore.defer_known(),
    everlore.vector_exact(smallint, halfvec, integer), everlore.vector_among(smallint, halfvec, integer[], integer),
    everlore.vectors_of(smallint, integer[]),
    everlore.vector_hnsw(smallint, halfvec, integer, timestamptz, timestamptz, text, uuid[], ltree, text[], uuid[]),
    everlore.threads_within(text, ltree), everlore.messages_ending(text),
    everlore.passages_within(integer, timestamptz, timestamptz, text, uuid[], ltree, text[], integer[], uuid[]),
    everlore.vector_index_name(smallint), everlore.has_vector_index(smallint),
    everlore.open_workspace(uuid, text), everlore.find_workspace(text), everlore.register_embedding_model(text, integer)
    to everlore_app, everlore_worker;
grant execute on function
    everlore.threads_unindexed(text, text[], boolean, boolean, integer), everlore.scopes_with_job(text), everlore.list_workspaces(), 
    everlore.build_vector_index(smallint),
    everlore.drop_vector_index(smallint), everlore.use_embedding_model(text), everlore.embedding_progress()
    to everlore_worker;

grant select, insert, update, delete on everlore.job_failure to everlore_worker;
grant usage on schema jobs to everlore_worker;
grant select, insert, update, delete on all tables in schema jobs to everlore_worker;
grant usage on all sequences in schema jobs to everlore_worker;
revoke all on all functions in schema jobs from public;
grant execute on all functions in schema jobs to everlore_worker;

-- What later migrations make is nobody's until they say so; what the queue's own make is the workers'.
alter default privileges revoke execute on functions from public;
alter default privileges in schema jobs grant select, insert, update, delete on tables to everlore_worker;
alter default privileges in schema jobs grant usage on sequences to everlore_worker;
alter default privileges in schema jobs grant execute on functions to everlore_worker;
