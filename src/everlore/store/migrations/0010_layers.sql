-- Two layers of one search index: what was said, and what was distilled out of it. Each has postings, statistics and vector
-- indexes of its own, so that a thousand memories change neither the rarity of a word among messages nor what the lanes of
-- messages find. Passage numbers are one row of numbers for both.

alter table everlore.posting_block
    add column distilled boolean not null default false,
    drop constraint posting_block_pkey,
    add primary key (workspace_id, term, distilled, segment);

alter table everlore.posting_segment
    add column distilled boolean not null default false,
    drop constraint posting_segment_pkey,
    add primary key (workspace_id, distilled, segment);

alter table everlore.lexical_statistics
    add column distilled boolean not null default false,
    drop constraint lexical_statistics_pkey,
    add primary key (workspace_id, distilled);
insert into everlore.lexical_statistics (workspace_id, distilled) select workspace_id, true from everlore.workspace;

alter table everlore.passage_vector add column distilled boolean not null default false;
-- Comparing all distilled vectors must not mean reading those of messages.
create index passage_vector_distilled on everlore.passage_vector (workspace_id, model_id, passage_id) where distilled;

-- Distilled passages that lack vectors of a model. Messages need no such list: there watermarks tell.
create table everlore.unembedded (
    workspace_id uuid not null,
    model_id smallint not null references everlore.embedding_model on delete cascade,
    passage_id integer not null,
    primary key (workspace_id, model_id, passage_id),
    foreign key (workspace_id, passage_id) references everlore.passage on delete cascade
);
alter table everlore.unembedded enable row level security;
create policy own_workspace on everlore.unembedded using (workspace_id = everlore.current_workspace());
grant select, insert, update, delete on everlore.unembedded to everlore_app, everlore_worker;

create or replace function everlore.open_workspace(id uuid, called text) returns uuid
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
                insert into everlore.lexical_statistics (workspace_id, distilled) values (found_id, false), (found_id, true);
                insert into everlore.distilled_state (workspace_id) values (found_id);
            end if;
        end if;
        return found_id;
    end $$;

-- The vector lanes, now of one layer each.
drop function everlore.vector_exact(smallint, halfvec, integer);
create function everlore.vector_exact(model smallint, question halfvec, at_most integer, in_distilled boolean default false)
    returns table (passage_id integer, distance real)
    language plpgsql stable
    set search_path = everlore, public, pg_temp
    set plan_cache_mode = force_custom_plan
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
    begin
        if in_distilled then
            return query
                select v.passage_id, (v.embedding <=> question)::real as d
                from everlore.passage_vector v
                where v.workspace_id = ws and v.model_id = model and v.distilled
                order by d, v.passage_id
                limit at_most;
            return;
        end if;
        return query
            select v.passage_id, (v.embedding <=> question)::real as d
            from everlore.passage_vector v
            where v.workspace_id = ws and v.model_id = model and not v.distilled
            order by d, v.passage_id
            limit at_most;
    end $$;

-- As before (0005). A filter is for messages: what is distilled is filtered by what it rests on.
-- The layer stands in the statement as a literal, like the model, because the index is made for exactly that condition.
drop function everlore.vector_hnsw(smallint, halfvec, integer, timestamptz, timestamptz, text, uuid[], ltree, text[], uuid[]);
create function everlore.vector_hnsw(
    model smallint, question halfvec, at_most integer,
    since timestamptz default null, until timestamptz default null, by_author text default null,
    in_threads uuid[] default null, under ltree default null, known_by timestamptz default null, branch uuid[] default null,
    in_distilled boolean default false)
    returns table (passage_id integer, distance real)
    language plpgsql stable
    set search_path = everlore, public, pg_temp
    set hnsw.ef_search = 240
    set hnsw.iterative_scan = relaxed_order
    set hnsw.max_scan_tuples = 200000
    set hnsw.scan_mem_multiplier = 4
    set enable_seqscan = off
    set enable_sort = off
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
        dims constant integer := (select m.dimensions from everlore.embedding_model m where m.model_id = model);
        filter text := '';
    begin
        if ws is null or dims is null then
            return;
        end if;
        if coalesce(since, until) is not null or coalesce(by_author, under::text) is not null
           or in_threads is not null or known_by is not null then
            filter := 'and exists (select from everlore.passage p where p.workspace_id = $1 and p.passage_id = v.passage_id
                and ($4 is null or p.occurred_at >= $4) and ($5 is null or p.occurred_at < $5)
                and ($6 is null or lower(p.author) = lower($6)) and ($9 is null or exists (
                    select from everlore.message m where m.workspace_id = $1 and m.message_id = p.message_id and m.recorded_at <= $9))
                and ($7 is null or p.thread_id = any ($7))
                and ($8 is null or p.taxonomy <@ $8 or p.taxonomy is null and p.thread_id = any ($10)))';
        end if;
        return query execute format(
            'select v.passage_id, (v.embedding::halfvec(%1$s) <=> $2::halfvec(%1$s))::real
             from everlore.passage_vector v
             where v.workspace_id = $1 and v.model_id = %2$s and %4$s v.distilled %3$s
             order by v.embedding::halfvec(%1$s) <=> $2::halfvec(%1$s)
             limit $3', dims, model, filter, case when in_distilled then '' else 'not' end)
            using ws, question, at_most, since, until, by_author, in_threads, under, known_by, branch;
    end $$;

-- The passages of messages that a filter leaves: as before (0005), and never what is distilled. `known_by`: of messages that
-- were recorded by then. (That every passage here is of a message, its kind tells.)
drop function everlore.passages_within(integer, timestamptz, timestamptz, text, uuid[], ltree, text[], integer[], uuid[]);
create function everlore.passages_within(
    at_most integer, since timestamptz, until timestamptz, by_author text, in_threads uuid[], under ltree, known_by timestamptz,
    among integer[] default null, branch uuid[] default null)
    returns setof integer
    language plpgsql stable security definer
    set search_path = everlore, public, pg_temp
    set plan_cache_mode = force_custom_plan
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
    begin
        if among is not null then
            -- The same, looked up one by one: the planner must not prefer another index by its guesses.
            return query
                select p.passage_id
                from unnest(among) as given (passage_id) cross join lateral (
                    select * from everlore.passage q
                    where q.workspace_id = ws and q.passage_id = given.passage_id offset 0
                ) as p
                where p.kind = 'message'
                  and (since is null or p.occurred_at >= since)
                  and (until is null or p.occurred_at < until)
                  and (by_author is null or lower(p.author) = lower(by_author))
                  and (in_threads is null or p.thread_id = any (in_threads))
                  and (under is null or p.taxonomy <@ under or p.taxonomy is null and p.thread_id = any (branch))
                  and (known_by is null or exists (
                      select from everlore.message m
                      where m.workspace_id = ws and m.message_id = p.message_id and m.recorded_at <= known_by))
                limit at_most;
            return;
        end if;
        return query
            select p.passage_id
            from everlore.passage p
            where p.workspace_id = ws and p.kind = 'message'
              and (since is null or p.occurred_at >= since)
              and (until is null or p.occurred_at < until)
              and (by_author is null or lower(p.author) = lower(by_author))
              and (in_threads is null or p.thread_id = any (in_threads))
              and (under is null or p.taxonomy <@ under or p.taxonomy is null and p.thread_id = any (branch))
              and (known_by is null or exists (
                      select from everlore.message m
                      where m.workspace_id = ws and m.message_id = p.message_id and m.recorded_at <= known_by))
            limit at_most;
    end $$;

-- HNSW indexes: one for each partition, model and layer. One that was built before there were layers holds both: it stays,
-- for what it finds of the other layer is filtered away.
drop function everlore.vector_index_name(smallint);
create function everlore.vector_index_name(model smallint, in_distilled boolean default false) returns text
    language sql stable
    set search_path = everlore, pg_temp
    as $$
        select format('%s_model_%s%s', c.relname, model, case when in_distilled then '_distilled' else '' end)
        from pg_class c join pg_inherits i on i.inhrelid = c.oid
        where i.inhparent = 'everlore.passage_vector'::regclass
          and satisfies_hash_partition('everlore.passage_vector'::regclass, 16,
                substring(c.relname from '\d+$')::integer, everlore.current_workspace())
          and everlore.current_workspace() is not null
    $$;

drop function everlore.has_vector_index(smallint);
create function everlore.has_vector_index(model smallint, in_distilled boolean default false) returns boolean
    language sql stable
    set search_path = everlore, pg_temp
    as $$
        select coalesce((select i.indisvalid from pg_index i
                         where i.indexrelid = to_regclass('everlore.' || everlore.vector_index_name(model, in_distilled))), false)
    $$;

drop function everlore.build_vector_index(smallint);
create function everlore.build_vector_index(model smallint, in_distilled boolean default false) returns void
    language plpgsql volatile security definer
    set search_path = everlore, public, pg_temp
    as $$
    declare
        name constant text := everlore.vector_index_name(model, in_distilled);
        part constant text := regexp_replace(name, '_model_\d+(_distilled)?$', '');
        dims constant integer := (select m.dimensions from everlore.embedding_model m where m.model_id = model);
    begin
        if name is null or dims is null then
            return;
        end if;
        -- Two at once would both find no index of that name; the second waits here and then finds it.
        execute format('lock table everlore.%I in share update exclusive mode', part);
        execute format(
            'create index if not exists %I on everlore.%I using hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops)
             where model_id = %s and %s distilled', name, part, dims, model, case when in_distilled then '' else 'not' end);
    end $$;

drop function everlore.drop_vector_index(smallint);
create function everlore.drop_vector_index(model smallint, in_distilled boolean default false) returns void
    language plpgsql volatile security definer
    set search_path = everlore, public, pg_temp
    as $$
    begin
        execute format('drop index if exists everlore.%I', everlore.vector_index_name(model, in_distilled));
    end $$;

-- A model that becomes known finds the distilled passages that are there on its list. The lock waits for commits that are
-- writing to the list, and lets later ones see the model.
create or replace function everlore.register_embedding_model(called text, dims integer) returns smallint
    language plpgsql volatile security definer
    set search_path = everlore, pg_temp
    as $$
    declare
        known everlore.embedding_model;
        is_new boolean;
    begin
        select * into known from everlore.embedding_model m where m.name = called;
        if not found then
            lock table everlore.embedding_model in share row exclusive mode;
            insert into everlore.embedding_model (model_id, name, dimensions, in_use)
                select coalesce(max(m.model_id), 0) + 1, called, dims, count(*) filter (where m.in_use) = 0
                from everlore.embedding_model m
                on conflict (name) do nothing;
            is_new := found;
            select * into known from everlore.embedding_model m where m.name = called;
            if is_new then
                lock table everlore.unembedded in share row exclusive mode;
                insert into everlore.unembedded (workspace_id, model_id, passage_id)
                    select p.workspace_id, known.model_id, p.passage_id from everlore.passage p where p.memory_id is not null
                    union all
                    select p.workspace_id, known.model_id, p.passage_id from everlore.passage p where p.fact_id is not null;
            end if;
        end if;
        if known.dimensions <> dims then
            raise invalid_parameter_value using message = format(
                'the model %s gives %s dimensions; its stored vectors have %s', called, dims, known.dimensions);
        end if;
        return known.model_id;
    end $$;

create or replace function everlore.use_embedding_model(called text) returns void
    language plpgsql volatile security definer
    set search_path = everlore, pg_temp
    as $$
    declare
        behind bigint;
        distilled bigint;
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
        select count(*) into distilled
        from everlore.unembedded u join everlore.embedding_model m using (model_id) where m.name = called;
        if distilled > 0 then
            raise object_not_in_prerequisite_state
                using message = format('%s memories and facts still lack vectors of %s', distilled, called);
        end if;
        update everlore.embedding_model m set in_use = false where m.in_use and m.name <> called;
        update everlore.embedding_model m set in_use = true where m.name = called and not m.in_use;
    end $$;

drop function everlore.embedding_progress();
create function everlore.embedding_progress()
    returns table (name text, dimensions integer, in_use boolean, threads_behind bigint, distilled_behind bigint)
    language sql stable security definer
    set search_path = everlore, pg_temp
    as $$
        select m.name, m.dimensions::integer, m.in_use, (
            select count(*) from everlore.thread t left join everlore.watermark w
              on w.workspace_id = t.workspace_id and w.thread_id = t.thread_id and w.step = 'vector:' || m.name
            where t.last_position > coalesce(w.position, 0)), (
            select count(*) from everlore.unembedded u where u.model_id = m.model_id)
        from everlore.embedding_model m
        order by m.model_id
    $$;

-- Workspaces where something distilled lacks vectors of one of the named models, and that nobody has a job for, or (`held`)
-- whose job is being run: for the sweep, so for workers only.
create function everlore.workspaces_unindexed(called text, models text[], held boolean, at_most integer) returns setof uuid
    language sql stable security definer
    set search_path = everlore, pg_temp
    as $$
        select w.workspace_id
        from everlore.workspace w left join everlore.scopes_with_job(called) as job on job.scope_id = w.workspace_id
        where exists (select from everlore.unembedded u join everlore.embedding_model m using (model_id)
                      where u.workspace_id = w.workspace_id and m.name = any (models))
          and case when held then job.running else job.scope_id is null end
        limit at_most
    $$;

grant execute on function
    everlore.vector_exact(smallint, halfvec, integer, boolean),
    everlore.vector_hnsw(smallint, halfvec, integer, timestamptz, timestamptz, text, uuid[], ltree, timestamptz, uuid[], boolean),
    everlore.passages_within(integer, timestamptz, timestamptz, text, uuid[], ltree, timestamptz, integer[], uuid[]),
    everlore.vector_index_name(smallint, boolean), everlore.has_vector_index(smallint, boolean)
    to everlore_app, everlore_worker;
grant execute on function
    everlore.build_vector_index(smallint, boolean), everlore.drop_vector_index(smallint, boolean),
    everlore.embedding_progress(), everlore.workspaces_unindexed(text, text[], boolean, integer)
    to everlore_worker;
