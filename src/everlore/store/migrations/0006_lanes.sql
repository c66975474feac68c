-- Vector lanes. Three named functions; the application chooses by the size of what is searched.
-- Each plans anew at every call: a cached plan does not see which workspace is set, and would keep the plan of a small
-- workspace for a large one. The workspace is always the setting, never an argument.

-- Every vector of one layer of the workspace, measured: best below about 5,000 passages.
create function everlore.vector_exact(model smallint, question halfvec, at_most integer, in_layer everlore.layer)
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
            where v.workspace_id = ws and v.model_id = model and v.layer = in_layer
            order by d, v.passage_id
            limit at_most;
    end $$;

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
-- The statement names the model, its dimension and the layer as literals because the index is made for exactly that.
-- A filter is for messages: what is in other layers is filtered by what it rests on.
create function everlore.vector_hnsw(
    model smallint, question halfvec, at_most integer,
    since timestamptz default null, until timestamptz default null, by_author text default null,
    in_threads uuid[] default null, under ltree default null, known_by timestamptz default null, branch uuid[] default null,
    in_layer everlore.layer default 'said')
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
                    select from everlore.message m where m.workspace_id = $1 and m.message_id = p.owner_id and m.recorded_at <= $9))
                and ($7 is null or p.thread_id = any ($7))
                and ($8 is null or p.taxonomy <@ $8 or p.taxonomy is null and p.thread_id = any ($10)))';
        end if;
        return query execute format(
            'select v.passage_id, (v.embedding::halfvec(%1$s) <=> $2::halfvec(%1$s))::real
             from everlore.passage_vector v
             where v.workspace_id = $1 and v.model_id = %2$s and v.layer = %4$L %3$s
             order by v.embedding::halfvec(%1$s) <=> $2::halfvec(%1$s)
             limit $3', dims, model, filter, in_layer)
            using ws, question, at_most, since, until, by_author, in_threads, under, known_by, branch;
    end $$;

-- The passages of messages that a filter leaves, at most so many: the caller asks for one more than it can use, to learn whether
-- the filter is narrow. A passage has a path of its own only where its message has; otherwise its thread's counts (`branch`: the
-- threads under the path). `known_by`: of messages that were recorded by then.
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
                      where m.workspace_id = ws and m.message_id = p.owner_id and m.recorded_at <= known_by))
                limit at_most;
            return;
        end if;
        return query
            select p.passage_id
            from everlore.passage p
            where p.workspace_id = ws and p.layer = 'said'
              and (since is null or p.occurred_at >= since)
              and (until is null or p.occurred_at < until)
              and (by_author is null or lower(p.author) = lower(by_author))
              and (in_threads is null or p.thread_id = any (in_threads))
              and (under is null or p.taxonomy <@ under or p.taxonomy is null and p.thread_id = any (branch))
              and (known_by is null or exists (
                      select from everlore.message m
                      where m.workspace_id = ws and m.message_id = p.owner_id and m.recorded_at <= known_by))
            limit at_most;
    end $$;

-- The HNSW indexes: one for each partition, model and layer. Built in bulk when a workspace has grown large; vectors that come
-- later are inserted one by one. They stand outside schema.sql because models are rows.
create function everlore.vector_index_name(model smallint, in_layer everlore.layer) returns text
    language sql stable
    set search_path = everlore, pg_temp
    as $$
        select format('%s_model_%s_%s', c.relname, model, in_layer)
        from pg_class c join pg_inherits i on i.inhrelid = c.oid
        where i.inhparent = 'everlore.passage_vector'::regclass
          and satisfies_hash_partition('everlore.passage_vector'::regclass, 16,
                substring(c.relname from '\d+$')::integer, everlore.current_workspace())
          and everlore.current_workspace() is not null
    $$;

create function everlore.has_vector_index(model smallint, in_layer everlore.layer) returns boolean
    language sql stable
    set search_path = everlore, pg_temp
    as $$
        select coalesce((select i.indisvalid from pg_index i
                         where i.indexrelid = to_regclass('everlore.' || everlore.vector_index_name(model, in_layer))), false)
    $$;

create function everlore.build_vector_index(model smallint, in_layer everlore.layer) returns void
    language plpgsql volatile security definer
    set search_path = everlore, public, pg_temp
    as $$
    declare
        name constant text := everlore.vector_index_name(model, in_layer);
        part constant text := regexp_replace(name, '_model_\d+_[a-z]+$', '');
        dims constant integer := (select m.dimensions from everlore.embedding_model m where m.model_id = model);
    begin
        if name is null or dims is null then
            return;
        end if;
        -- Two at once would both find no index of that name; the second waits here and then finds it.
        execute format('lock table everlore.%I in share update exclusive mode', part);
        execute format(
            'create index if not exists %I on everlore.%I using hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops)
             where model_id = %s and layer = %L', name, part, dims, model, in_layer);
    end $$;

-- A model is known to the database before vectors of it are written. The first one is in use at once. One that becomes known
-- finds the passages of all layers but what was said on its list. The lock waits for commits that are writing to the list, and lets
-- later ones see the model.
create function everlore.register_embedding_model(called text, dims integer) returns smallint
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
                    select p.workspace_id, known.model_id, p.passage_id from everlore.passage p where p.kind <> 'message';
            end if;
        end if;
        if known.dimensions <> dims then
            raise invalid_parameter_value using message = format(
                'the model %s gives %s dimensions; its stored vectors have %s', called, dims, known.dimensions);
        end if;
        return known.model_id;
    end $$;

-- Switches the model that answers questions; refused while any passages lack its vectors.
create function everlore.use_embedding_model(called text) returns void
    language plpgsql volatile security definer
    set search_path = everlore, pg_temp
    as $$
    declare
        behind bigint;
        beside bigint;
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
        select count(*) into beside
        from everlore.unembedded u join everlore.embedding_model m using (model_id) where m.name = called and u.refused is null;
        if beside > 0 then
            raise object_not_in_prerequisite_state
                using message = format('%s memories and facts still lack vectors of %s', beside, called);
        end if;
        update everlore.embedding_model m set in_use = false where m.in_use and m.name <> called;
        update everlore.embedding_model m set in_use = true where m.name = called and not m.in_use;
    end $$;

-- How far the vectors of each model have come, over all workspaces: for the operator's side.
create function everlore.embedding_progress()
    returns table (name text, dimensions integer, in_use boolean, threads_behind bigint, distilled_behind bigint)
    language sql stable security definer
    set search_path = everlore, pg_temp
    as $$
        select m.name, m.dimensions::integer, m.in_use, (
            select count(*) from everlore.thread t left join everlore.watermark w
              on w.workspace_id = t.workspace_id and w.thread_id = t.thread_id and w.step = 'vector:' || m.name
            where t.last_position > coalesce(w.position, 0)), (
            select count(*) from everlore.unembedded u where u.model_id = m.model_id and u.refused is null)
        from everlore.embedding_model m
        order by m.model_id
    $$;

-- Passages of all workspaces that an embedding model will not take: for the operator's side.
create function everlore.refused_passages()
    returns table (workspace text, workspace_id uuid, thread text, thread_id uuid, kind text, owner_id uuid, model text, error text)
    language sql stable security definer
    set search_path = everlore, pg_temp
    as $$
        select w.name, w.workspace_id, t.name, t.thread_id, p.kind, p.owner_id, m.name, u.refused
        from everlore.unembedded u
        join everlore.passage p using (workspace_id, passage_id)
        join everlore.embedding_model m using (model_id)
        join everlore.workspace w using (workspace_id)
        left join everlore.thread t on t.workspace_id = p.workspace_id and t.thread_id = p.thread_id
        where u.refused is not null
        order by w.name, u.passage_id, m.name
    $$;

-- What a question is known again by: 16 bits of a hash of each of its terms, at most 200 of them (the lowest, so that of two long
-- questions the same ones are kept). Enough to tell a question like it, too little to read its words from.
create function everlore.term_digests(question text) returns table (term text, digest integer)
    language sql immutable strict parallel safe
    as $$
        select distinct on (d.digest) w.term, d.digest
        from everlore.query_words(question) as w
        cross join lateral (select ('x' || left(md5(w.term), 4))::bit(16)::integer as digest) as d
        where w.term is not null order by d.digest, w.term limit 200
    $$;

-- A person's word on a source of an answer, a message or a memory in all its versions: whether it answered that question. Of the
-- question there are its digests only. It goes with its source.
create table everlore.feedback (
    workspace_id uuid not null,
    feedback_id uuid not null,
    message_id uuid,
    lineage_id uuid,
    terms integer[] not null check (cardinality(terms) between 1 and 200),
    confirmed boolean not null,
    given_at timestamptz not null,
    primary key (workspace_id, feedback_id),
    unique nulls not distinct (workspace_id, message_id, lineage_id, terms),
    foreign key (workspace_id, message_id) references everlore.message on delete cascade,
    foreign key (workspace_id, lineage_id) references everlore.memory on delete cascade,
    check (num_nonnulls(message_id, lineage_id) = 1)
);
create index feedback_memory on everlore.feedback (workspace_id, lineage_id) where lineage_id is not null;
create index feedback_terms on everlore.feedback using gin (workspace_id, terms);
alter index everlore.feedback_terms set (fastupdate = off);

-- What was said of sources for questions that share at least half of their terms with this one: which terms they share, of how
-- many. `&&` is not leakproof, and rows are called dear: as in `handed_out_alike`.
create function everlore.feedback_alike(question text)
    returns table (message_id uuid, lineage_id uuid, confirmed boolean, shared text[], terms integer)
    language plpgsql stable security definer
    set search_path = everlore, public, pg_temp
    set plan_cache_mode = force_custom_plan
    set enable_seqscan = off
    set cpu_tuple_cost = 10
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
        asked text[];
        digests integer[];
    begin
        -- Most questions are asked where nothing was said of any.
        if not exists (select from everlore.feedback f where f.workspace_id = ws) then
            return;
        end if;
        select array_agg(d.term), array_agg(d.digest) into asked, digests from everlore.term_digests(question) as d;
        return query
            select f.message_id, f.lineage_id, f.confirmed, s.shared, cardinality(f.terms)
            from everlore.feedback f cross join lateral (
                select array_agg(q.term) as shared from unnest(asked, digests) as q (term, digest) where q.digest = any (f.terms)
            ) as s
            where f.workspace_id = ws and f.terms && digests and 2 * cardinality(s.shared) >= cardinality(f.terms)
            order by cardinality(s.shared) desc, f.given_at desc
            limit 1000;
    end $$;
