-- Vector lanes. Three named functions; the application chooses by the size of what is searched.
-- Each plans anew at every call: a cached plan does not see which workspace is set, and would keep the plan of a small
-- workspace for a large one. The workspace is always the setting, never an argument.

-- Every vector of the workspace, measured: best below about 5,000 passages.
create function everlore.vector_exact(model smallint, question halfvec, at_most integer)
    returns table (passage_id integer, distance real)
    language plpgsql stable
    set search_path = everlore, public, pg_temp
    set plan_cache_mode = force_custom_plan
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
    begin
        return query
            select v.passage_id, (v.embedding <=> question)::real as d
            from everlore.passage_vector v
            where v.workspace_id = ws and v.model_id = model
            order by d, v.passage_id
            limit at_most;
    end $$;

-- The same over named passages only: what a narrow filter leaves.
create function everlore.vector_among(model smallint, question halfvec, passages integer[], at_most integer)
    returns table (passage_id integer, distance real)
    language plpgsql stable
    set search_path = everlore, public, pg_temp
    set plan_cache_mode = force_custom_plan
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
    begin
        return query
            select v.passage_id, (v.embedding <=> question)::real as d
            from everlore.passage_vector v
            where v.workspace_id = ws and v.model_id = model and v.passage_id = any (passages)
            order by d, v.passage_id
            limit at_most;
    end $$;

-- Vectors of named passages, in halfvec's binary form. A function for the sake of its plan: with the workspace a constant
-- only its partition is looked into; joined to the partitioned table itself, each row costs twice as much.
create function everlore.vectors_of(model smallint, passages integer[]) returns table (passage_id integer, embedding bytea)
    language plpgsql stable
    set search_path = everlore, public, pg_temp
    set plan_cache_mode = force_custom_plan
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
    begin
        return query
            select v.passage_id, halfvec_send(v.embedding)
            from everlore.passage_vector v
            where v.workspace_id = ws and v.passage_id = any (passages) and v.model_id = model;
    end $$;

-- By the HNSW index of the workspace's partition: for large workspaces. ef_search 240 finds 95 to 97 % of the true first 50;
-- relaxed order lets the scan go on where a filter (or another workspace of the partition) takes rows away; the limits on
-- how far it goes are raised, because where they are reached rows are left out without a word.
-- The statement names the model and its dimension as literals because the index is made for exactly that expression.
create function everlore.vector_hnsw(
    model smallint, question halfvec, at_most integer,
    since timestamptz default null, until timestamptz default null, by_author text default null,
    in_threads uuid[] default null, under ltree default null, of_kinds text[] default null, branch uuid[] default null)
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
           or in_threads is not null or of_kinds is not null then
            filter := 'and exists (select from everlore.passage p where p.workspace_id = $1 and p.passage_id = v.passage_id
                and ($4 is null or p.occurred_at >= $4) and ($5 is null or p.occurred_at < $5)
                and ($6 is null or lower(p.author) = lower($6)) and ($9 is null or p.kind = any ($9))
                and ($7 is null or p.thread_id = any ($7))
                and ($8 is null or p.taxonomy <@ $8 or p.taxonomy is null and p.thread_id = any ($10)))';
        end if;
        return query execute format(
            'select v.passage_id, (v.embedding::halfvec(%1$s) <=> $2::halfvec(%1$s))::real
             from everlore.passage_vector v
             where v.workspace_id = $1 and v.model_id = %2$s %3$s
             order by v.embedding::halfvec(%1$s) <=> $2::halfvec(%1$s)
             limit $3', dims, model, filter)
            using ws, question, at_most, since, until, by_author, in_threads, under, of_kinds, branch;
    end $$;

-- Threads of a project or under a taxonomy path. ltree's operators are not leakproof, so under row-level security the
-- index would not be used: the function runs as the owner and names the workspace itself.
create function everlore.threads_within(project text, under ltree) returns setof uuid
    language plpgsql stable security definer
    set search_path = everlore, public, pg_temp
    set plan_cache_mode = force_custom_plan
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
    begin
        return query
            select t.thread_id
            from everlore.thread t
            where t.workspace_id = ws
              and (project is null or t.project_id = (
                    select p.project_id from everlore.project p where p.workspace_id = ws and p.name = project))
              and (under is null or t.taxonomy <@ under)
            union all
            select t.thread_id
            from everlore.project p join everlore.thread t on t.workspace_id = p.workspace_id and t.project_id = p.project_id
            where p.workspace_id = ws and p.taxonomy <@ under and t.taxonomy is null
              and (project is null or p.name = project);
    end $$;

-- Messages by the end of their id, as a person types it: `right()` is not leakproof either.
create function everlore.messages_ending(ending text) returns setof uuid
    language plpgsql stable security definer
    set search_path = everlore, pg_temp
    set plan_cache_mode = force_custom_plan
    -- The primary key holds all that is asked for: a small workspace would be read whole.
    set enable_indexonlyscan = off
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
        digits constant text := replace(ending, '-', '');
    begin
        return query
            select m.message_id
            from everlore.message m
            where m.workspace_id = ws
              and right(m.message_id::text, 8) = right(digits, 8)
              and right(replace(m.message_id::text, '-', ''), length(digits)) = digits
            limit 2;
    end $$;

-- The passages that a filter leaves, at most so many: the caller asks for one more than it can use, to learn whether the
-- filter is narrow. A passage has a path of its own only where its message has; otherwise its thread's counts (`branch`: the
-- threads under the path).
create function everlore.passages_within(
    at_most integer, since timestamptz, until timestamptz, by_author text, in_threads uuid[], under ltree, of_kinds text[],
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
                where (since is null or p.occurred_at >= since)
                  and (until is null or p.occurred_at < until)
                  and (by_author is null or lower(p.author) = lower(by_author))
                  and (in_threads is null or p.thread_id = any (in_threads))
                  and (under is null or p.taxonomy <@ under or p.taxonomy is null and p.thread_id = any (branch))
                  and (of_kinds is null or p.kind = any (of_kinds))
                limit at_most;
            return;
        end if;
        return query
            select p.passage_id
            from everlore.passage p
            where p.workspace_id = ws
              and (since is null or p.occurred_at >= since)
              and (until is null or p.occurred_at < until)
              and (by_author is null or lower(p.author) = lower(by_author))
              and (in_threads is null or p.thread_id = any (in_threads))
              and (under is null or p.taxonomy <@ under or p.taxonomy is null and p.thread_id = any (branch))
              and (of_kinds is null or p.kind = any (of_kinds))
            limit at_most;
    end $$;

-- The HNSW index for the workspace's partition and one model. Built in bulk when a workspace has grown large; vectors
-- that come later are inserted one by one. It stands outside schema.sql because models are rows.
create function everlore.vector_index_name(model smallint) returns text
    language sql stable
    set search_path = everlore, pg_temp
    as $$
        select format('%s_model_%s', c.relname, model)
        from pg_class c join pg_inherits i on i.inhrelid = c.oid
        where i.inhparent = 'everlore.passage_vector'::regclass
          and satisfies_hash_partition('everlore.passage_vector'::regclass, 16,
                substring(c.relname from '\d+$')::integer, everlore.current_workspace())
          and everlore.current_workspace() is not null
    $$;

create function everlore.has_vector_index(model smallint) returns boolean
    language sql stable
    set search_path = everlore, pg_temp
    as $$
        select coalesce((select i.indisvalid from pg_index i
                         where i.indexrelid = to_regclass('everlore.' || everlore.vector_index_name(model))), false)
    $$;

create function everlore.build_vector_index(model smallint) returns void
    language plpgsql volatile security definer
    set search_path = everlore, public, pg_temp
    as $$
    declare
        name constant text := everlore.vector_index_name(model);
        dims constant integer := (select m.dimensions from everlore.embedding_model m where m.model_id = model);
    begin
        if name is null or dims is null then
            return;
        end if;
        -- Two at once would both find no index of that name; the second waits here and then finds it.
        execute format('lock table everlore.%I in share update exclusive mode', regexp_replace(name, '_model_\d+$', ''));
        execute format(
            'create index if not exists %I on everlore.%I using hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops)
             where model_id = %s', name, regexp_replace(name, '_model_\d+$', ''), dims, model);
    end $$;

create function everlore.drop_vector_index(model smallint) returns void
    language plpgsql volatile security definer
    set search_path = everlore, public, pg_temp
    as $$
    begin
        execute format('drop index if exists everlore.%I', everlore.vector_index_name(model));
    end $$;
