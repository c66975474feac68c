-- The schema that all migrations together make. Made by scripts/dump_schema.py; do not edit it.

CREATE SCHEMA everlore;

ALTER SCHEMA everlore OWNER TO everlore_owner;

CREATE FUNCTION everlore.build_vector_index(model smallint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'everlore', 'public', 'pg_temp'
    AS $_$
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
    end $_$;

ALTER FUNCTION everlore.build_vector_index(model smallint) OWNER TO everlore_owner;

CREATE FUNCTION everlore.current_workspace() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (NULLIF(current_setting('everlore.workspace'::text, true), ''::text))::uuid;

ALTER FUNCTION everlore.current_workspace() OWNER TO everlore_owner;

CREATE FUNCTION everlore.defer_index(thread uuid) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'jobs', 'pg_temp'
    AS $$
        select jobs.procrastinate_defer_jobs_v1(array[row(
            'index', 'index_thread', 0, thread::text, null,
            jsonb_build_object('workspace_id', everlore.current_workspace(), 'thread_id', thread), null
        )::jobs.procrastinate_job_to_defer_v1])
        where everlore.current_workspace() is not null
          and exists (select from everlore.thread t
                      where t.workspace_id = everlore.current_workspace() and t.thread_id = thread)
    $$;

ALTER FUNCTION everlore.defer_index(thread uuid) OWNER TO everlore_owner;

CREATE FUNCTION everlore.drop_vector_index(model smallint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'everlore', 'public', 'pg_temp'
    AS $$
    begin
        execute format('drop index if exists everlore.%I', everlore.vector_index_name(model));
    end $$;

ALTER FUNCTION everlore.drop_vector_index(model smallint) OWNER TO everlore_owner;

CREATE FUNCTION everlore.embedding_progress() RETURNS TABLE(name text, dimensions integer, in_use boolean, threads_behind bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
        select m.name, m.dimensions::integer, m.in_use, (
            select count(*) from everlore.thread t left join everlore.watermark w
              on w.workspace_id = t.workspace_id and w.thread_id = t.thread_id and w.step = 'vector:' || m.name
            where t.last_position > coalesce(w.position, 0))
        from everlore.embedding_model m
        order by m.model_id
    $$;

ALTER FUNCTION everlore.embedding_progress() OWNER TO everlore_owner;

CREATE FUNCTION everlore.has_vector_index(model smallint) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
        select coalesce((select i.indisvalid from pg_index i
                         where i.indexrelid = to_regclass('everlore.' || everlore.vector_index_name(model))), false)
    $$;

ALTER FUNCTION everlore.has_vector_index(model smallint) OWNER TO everlore_owner;

CREATE FUNCTION everlore.list_workspaces() RETURNS TABLE(workspace_id uuid, name text, created_at timestamp with time zone, threads bigint, messages bigint, last_at timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
        select w.workspace_id, w.name, w.created_at, count(t.thread_id), coalesce(sum(t.messages), 0)::bigint, max(t.last_at)
        from everlore.workspace w left join everlore.thread t using (workspace_id)
        group by w.workspace_id
        order by w.name
    $$;

ALTER FUNCTION everlore.list_workspaces() OWNER TO everlore_owner;

CREATE FUNCTION everlore.messages_ending(ending text) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
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

ALTER FUNCTION everlore.messages_ending(ending text) OWNER TO everlore_owner;

CREATE FUNCTION everlore.normalise(text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $_$ select btrim(regexp_replace(public.unaccent('public.unaccent'::regdictionary, lower($1)), '[^[:alnum:]]+', ' ', 'g')) $_$;

ALTER FUNCTION everlore.normalise(text) OWNER TO everlore_owner;

CREATE FUNCTION everlore.open_workspace(id uuid, called text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
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

ALTER FUNCTION everlore.open_workspace(id uuid, called text) OWNER TO everlore_owner;

CREATE FUNCTION everlore.passages_within(at_most integer, since timestamp with time zone, until timestamp with time zone, by_author text, in_threads uuid[], under public.ltree, of_kinds text[], among integer[] DEFAULT NULL::integer[], branch uuid[] DEFAULT NULL::uuid[]) RETURNS SETOF integer
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
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

ALTER FUNCTION everlore.passages_within(at_most integer, since timestamp with time zone, until timestamp with time zone, by_author text, in_threads uuid[], under public.ltree, of_kinds text[], among integer[], branch uuid[]) OWNER TO everlore_owner;

CREATE FUNCTION everlore.query_words(question text) RETURNS TABLE(word text, term text)
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
        select w.word, (tsvector_to_array(to_tsvector('pg_catalog.english'::regconfig, w.word)))[1]
        from unnest(string_to_array(everlore.normalise(question), ' ')) with ordinality as w (word, place)
        where w.word <> ''
        order by w.place
    $$;

ALTER FUNCTION everlore.query_words(question text) OWNER TO everlore_owner;

CREATE FUNCTION everlore.register_embedding_model(called text, dims integer) RETURNS smallint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
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

ALTER FUNCTION everlore.register_embedding_model(called text, dims integer) OWNER TO everlore_owner;

CREATE FUNCTION everlore.strip_accents(text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $_$ select public.unaccent('public.unaccent'::regdictionary, $1) $_$;

ALTER FUNCTION everlore.strip_accents(text) OWNER TO everlore_owner;

CREATE FUNCTION everlore.terms(text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $_$ select to_tsvector('pg_catalog.english'::regconfig, everlore.normalise($1)) $_$;

ALTER FUNCTION everlore.terms(text) OWNER TO everlore_owner;

CREATE FUNCTION everlore.threads_behind(models text[], thorough boolean, at_most integer) RETURNS TABLE(workspace_id uuid, thread_id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
        select w.workspace_id, w.thread_id
        from everlore.watermark w
        where w.position < w.written and w.step = any (select 'vector:' || m from unnest(models) as m)
        union
        select t.workspace_id, t.thread_id
        from everlore.thread t cross join unnest(models) as m
        where thorough and t.last_position > 0 and not exists (
            select from everlore.watermark w
            where w.workspace_id = t.workspace_id and w.step = 'vector:' || m and w.thread_id = t.thread_id)
        limit at_most
    $$;

ALTER FUNCTION everlore.threads_behind(models text[], thorough boolean, at_most integer) OWNER TO everlore_owner;

CREATE FUNCTION everlore.threads_within(project text, under public.ltree) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
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

ALTER FUNCTION everlore.threads_within(project text, under public.ltree) OWNER TO everlore_owner;

CREATE FUNCTION everlore.use_embedding_model(called text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
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

ALTER FUNCTION everlore.use_embedding_model(called text) OWNER TO everlore_owner;

CREATE FUNCTION everlore.vector_among(model smallint, question public.halfvec, passages integer[], at_most integer) RETURNS TABLE(passage_id integer, distance real)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'everlore', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
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

ALTER FUNCTION everlore.vector_among(model smallint, question public.halfvec, passages integer[], at_most integer) OWNER TO everlore_owner;

CREATE FUNCTION everlore.vector_exact(model smallint, question public.halfvec, at_most integer) RETURNS TABLE(passage_id integer, distance real)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'everlore', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
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

ALTER FUNCTION everlore.vector_exact(model smallint, question public.halfvec, at_most integer) OWNER TO everlore_owner;

CREATE FUNCTION everlore.vector_hnsw(model smallint, question public.halfvec, at_most integer, since timestamp with time zone DEFAULT NULL::timestamp with time zone, until timestamp with time zone DEFAULT NULL::timestamp with time zone, by_author text DEFAULT NULL::text, in_threads uuid[] DEFAULT NULL::uuid[], under public.ltree DEFAULT NULL::public.ltree, of_kinds text[] DEFAULT NULL::text[], branch uuid[] DEFAULT NULL::uuid[]) RETURNS TABLE(passage_id integer, distance real)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'everlore', 'public', 'pg_temp'
    SET "hnsw.ef_search" TO '240'
    SET "hnsw.iterative_scan" TO 'relaxed_order'
    SET "hnsw.max_scan_tuples" TO '200000'
    SET "hnsw.scan_mem_multiplier" TO '4'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    AS $_$
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
    end $_$;

ALTER FUNCTION everlore.vector_hnsw(model smallint, question public.halfvec, at_most integer, since timestamp with time zone, until timestamp with time zone, by_author text, in_threads uuid[], under public.ltree, of_kinds text[], branch uuid[]) OWNER TO everlore_owner;

CREATE FUNCTION everlore.vector_index_name(model smallint) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'everlore', 'pg_temp'
    AS $_$
        select format('%s_model_%s', c.relname, model)
        from pg_class c join pg_inherits i on i.inhrelid = c.oid
        where i.inhparent = 'everlore.passage_vector'::regclass
          and satisfies_hash_partition('everlore.passage_vector'::regclass, 16,
                substring(c.relname from '\d+$')::integer, everlore.current_workspace())
          and everlore.current_workspace() is not null
    $_$;

ALTER FUNCTION everlore.vector_index_name(model smallint) OWNER TO everlore_owner;

CREATE FUNCTION everlore.vectors_of(model smallint, passages integer[]) RETURNS TABLE(passage_id integer, embedding bytea)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'everlore', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
    declare
        ws constant uuid := everlore.current_workspace();
    begin
        return query
            select v.passage_id, halfvec_send(v.embedding)
            from everlore.passage_vector v
            where v.workspace_id = ws and v.passage_id = any (passages) and v.model_id = model;
    end $$;

ALTER FUNCTION everlore.vectors_of(model smallint, passages integer[]) OWNER TO everlore_owner;

CREATE FUNCTION everlore.workspace_exists(called text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    AS $$ select exists (select from everlore.workspace w where w.name = called) $$;

ALTER FUNCTION everlore.workspace_exists(called text) OWNER TO everlore_owner;

CREATE TABLE everlore.audit_log (
    workspace_id uuid NOT NULL,
    audit_id uuid NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    actor text DEFAULT CURRENT_USER NOT NULL,
    action text NOT NULL,
    subject text,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL
);

ALTER TABLE everlore.audit_log OWNER TO everlore_owner;

CREATE TABLE everlore.embedding_model (
    model_id smallint NOT NULL,
    name text NOT NULL,
    dimensions smallint NOT NULL,
    in_use boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT embedding_model_dimensions_check CHECK (((dimensions >= 1) AND (dimensions <= 4000))),
    CONSTRAINT embedding_model_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);

ALTER TABLE everlore.embedding_model OWNER TO everlore_owner;

CREATE TABLE everlore.job_failure (
    job_id bigint NOT NULL,
    failed_at timestamp with time zone DEFAULT now() NOT NULL,
    error text NOT NULL
);

ALTER TABLE everlore.job_failure OWNER TO everlore_owner;

CREATE TABLE everlore.lexical_statistics (
    workspace_id uuid NOT NULL,
    passages integer DEFAULT 0 NOT NULL,
    length bigint DEFAULT 0 NOT NULL
);

ALTER TABLE everlore.lexical_statistics OWNER TO everlore_owner;

CREATE TABLE everlore.message (
    workspace_id uuid NOT NULL,
    message_id uuid NOT NULL,
    thread_id uuid NOT NULL,
    session_id uuid NOT NULL,
    "position" integer NOT NULL,
    role text NOT NULL,
    author text NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    text text NOT NULL,
    captions text[] DEFAULT '{}'::text[] NOT NULL,
    system_prompt text,
    tool_calls jsonb DEFAULT '[]'::jsonb NOT NULL,
    external_id text,
    reply_to text,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    taxonomy public.ltree,
    content_hash bytea NOT NULL,
    CONSTRAINT message_role_check CHECK ((role = ANY (ARRAY['user'::text, 'assistant'::text, 'system'::text, 'tool'::text])))
);

ALTER TABLE everlore.message OWNER TO everlore_owner;

CREATE TABLE everlore.migration (
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE everlore.migration OWNER TO everlore_owner;

CREATE TABLE everlore.passage (
    workspace_id uuid NOT NULL,
    passage_id integer NOT NULL,
    kind text NOT NULL,
    message_id uuid,
    thread_id uuid NOT NULL,
    session_id uuid NOT NULL,
    sequence integer NOT NULL,
    "position" integer NOT NULL,
    role text NOT NULL,
    author text NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    taxonomy public.ltree,
    text text NOT NULL,
    length integer GENERATED ALWAYS AS (((length(text) - length(translate(text, ' 
	'::text, ''::text))) + 1)) STORED NOT NULL,
    normalised text GENERATED ALWAYS AS (everlore.normalise(text)) STORED NOT NULL,
    terms tsvector GENERATED ALWAYS AS (everlore.terms(text)) STORED NOT NULL
);

ALTER TABLE everlore.passage OWNER TO everlore_owner;

CREATE TABLE everlore.passage_counter (
    workspace_id uuid NOT NULL,
    last_passage integer NOT NULL
);

ALTER TABLE everlore.passage_counter OWNER TO everlore_owner;

CREATE TABLE everlore.passage_tokens (
    workspace_id uuid NOT NULL,
    model_id smallint NOT NULL,
    passage_id integer NOT NULL,
    tokens bytea NOT NULL
)
WITH (toast_tuple_target='8160');
ALTER TABLE ONLY everlore.passage_tokens ALTER COLUMN tokens SET STORAGE EXTERNAL;

ALTER TABLE everlore.passage_tokens OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector (
    workspace_id uuid NOT NULL,
    model_id smallint NOT NULL,
    passage_id integer NOT NULL,
    embedding public.halfvec NOT NULL
)
PARTITION BY HASH (workspace_id);

ALTER TABLE everlore.passage_vector OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_0 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_0 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_0 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_1 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_1 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_1 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_10 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_10 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_10 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_11 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_11 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_11 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_12 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_12 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_12 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_13 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_13 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_13 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_14 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_14 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_14 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_15 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_15 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_15 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_2 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_2 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_2 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_3 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_3 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_3 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_4 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_4 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_4 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_5 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_5 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_5 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_6 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_6 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_6 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_7 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_7 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_7 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_8 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_8 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_8 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_9 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_9 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_9 OWNER TO everlore_owner;

CREATE TABLE everlore.posting_block (
    workspace_id uuid NOT NULL,
    term text NOT NULL,
    segment integer NOT NULL,
    postings bytea NOT NULL
);
ALTER TABLE ONLY everlore.posting_block ALTER COLUMN postings SET STORAGE EXTERNAL;

ALTER TABLE everlore.posting_block OWNER TO everlore_owner;

CREATE TABLE everlore.posting_segment (
    workspace_id uuid NOT NULL,
    segment integer NOT NULL,
    passages integer NOT NULL
);

ALTER TABLE everlore.posting_segment OWNER TO everlore_owner;

CREATE TABLE everlore.project (
    workspace_id uuid NOT NULL,
    project_id uuid NOT NULL,
    name text NOT NULL,
    taxonomy public.ltree,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT project_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);

ALTER TABLE everlore.project OWNER TO everlore_owner;

CREATE TABLE everlore.session (
    workspace_id uuid NOT NULL,
    session_id uuid NOT NULL,
    thread_id uuid NOT NULL,
    name text,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone NOT NULL
);

ALTER TABLE everlore.session OWNER TO everlore_owner;

CREATE TABLE everlore.thread (
    workspace_id uuid NOT NULL,
    thread_id uuid NOT NULL,
    name text NOT NULL,
    project_id uuid,
    taxonomy public.ltree,
    last_position integer DEFAULT 0 NOT NULL,
    last_sequence integer DEFAULT 0 NOT NULL,
    messages integer DEFAULT 0 NOT NULL,
    last_session_id uuid,
    last_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT thread_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);

ALTER TABLE everlore.thread OWNER TO everlore_owner;

CREATE TABLE everlore.watermark (
    workspace_id uuid NOT NULL,
    step text NOT NULL,
    thread_id uuid NOT NULL,
    "position" integer DEFAULT 0 NOT NULL,
    written integer DEFAULT 0 NOT NULL
);

ALTER TABLE everlore.watermark OWNER TO everlore_owner;

CREATE TABLE everlore.workspace (
    workspace_id uuid NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT workspace_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);

ALTER TABLE everlore.workspace OWNER TO everlore_owner;

ALTER TABLE ONLY everlore.passage_vector ATTACH PARTITION everlore.passage_vector_0 FOR VALUES WITH (modulus 16, remainder 0);

ALTER TABLE ONLY everlore.passage_vector ATTACH PARTITION everlore.passage_vector_1 FOR VALUES WITH (modulus 16, remainder 1);

ALTER TABLE ONLY everlore.passage_vector ATTACH PARTITION everlore.passage_vector_10 FOR VALUES WITH (modulus 16, remainder 10);

ALTER TABLE ONLY everlore.passage_vector ATTACH PARTITION everlore.passage_vector_11 FOR VALUES WITH (modulus 16, remainder 11);

ALTER TABLE ONLY everlore.passage_vector ATTACH PARTITION everlore.passage_vector_12 FOR VALUES WITH (modulus 16, remainder 12);

ALTER TABLE ONLY everlore.passage_vector ATTACH PARTITION everlore.passage_vector_13 FOR VALUES WITH (modulus 16, remainder 13);

ALTER TABLE ONLY everlore.passage_vector ATTACH PARTITION everlore.passage_vector_14 FOR VALUES WITH (modulus 16, remainder 14);

ALTER TABLE ONLY everlore.passage_vector ATTACH PARTITION everlore.passage_vector_15 FOR VALUES WITH (modulus 16, remainder 15);

ALTER TABLE ONLY everlore.passage_vector ATTACH PARTITION everlore.passage_vector_2 FOR VALUES WITH (modulus 16, remainder 2);

ALTER TABLE ONLY everlore.passage_vector ATTACH PARTITION everlore.passage_vector_3 FOR VALUES WITH (modulus 16, remainder 3);

ALTER TABLE ONLY everlore.passage_vector ATTACH PARTITION everlore.passage_vector_4 FOR VALUES WITH (modulus 16, remainder 4);

ALTER TABLE ONLY everlore.passage_vector ATTACH PARTITION everlore.passage_vector_5 FOR VALUES WITH (modulus 16, remainder 5);

ALTER TABLE ONLY everlore.passage_vector ATTACH PARTITION everlore.passage_vector_6 FOR VALUES WITH (modulus 16, remainder 6);

ALTER TABLE ONLY everlore.passage_vector ATTACH PARTITION everlore.passage_vector_7 FOR VALUES WITH (modulus 16, remainder 7);

ALTER TABLE ONLY everlore.passage_vector ATTACH PARTITION everlore.passage_vector_8 FOR VALUES WITH (modulus 16, remainder 8);

ALTER TABLE ONLY everlore.passage_vector ATTACH PARTITION everlore.passage_vector_9 FOR VALUES WITH (modulus 16, remainder 9);

ALTER TABLE ONLY everlore.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (workspace_id, audit_id);

ALTER TABLE ONLY everlore.embedding_model
    ADD CONSTRAINT embedding_model_name_key UNIQUE (name);

ALTER TABLE ONLY everlore.embedding_model
    ADD CONSTRAINT embedding_model_pkey PRIMARY KEY (model_id);

ALTER TABLE ONLY everlore.job_failure
    ADD CONSTRAINT job_failure_pkey PRIMARY KEY (job_id);

ALTER TABLE ONLY everlore.lexical_statistics
    ADD CONSTRAINT lexical_statistics_pkey PRIMARY KEY (workspace_id);

ALTER TABLE ONLY everlore.message
    ADD CONSTRAINT message_pkey PRIMARY KEY (workspace_id, message_id);

ALTER TABLE ONLY everlore.message
    ADD CONSTRAINT message_workspace_id_thread_id_position_key UNIQUE (workspace_id, thread_id, "position");

ALTER TABLE ONLY everlore.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (name);

ALTER TABLE ONLY everlore.passage_counter
    ADD CONSTRAINT passage_counter_pkey PRIMARY KEY (workspace_id);

ALTER TABLE ONLY everlore.passage
    ADD CONSTRAINT passage_pkey PRIMARY KEY (workspace_id, passage_id);

ALTER TABLE ONLY everlore.passage_tokens
    ADD CONSTRAINT passage_tokens_pkey PRIMARY KEY (workspace_id, passage_id, model_id);

ALTER TABLE ONLY everlore.passage_vector
    ADD CONSTRAINT passage_vector_pkey PRIMARY KEY (workspace_id, passage_id, model_id);

ALTER TABLE ONLY everlore.passage_vector_0
    ADD CONSTRAINT passage_vector_0_pkey PRIMARY KEY (workspace_id, passage_id, model_id);

ALTER TABLE ONLY everlore.passage_vector_10
    ADD CONSTRAINT passage_vector_10_pkey PRIMARY KEY (workspace_id, passage_id, model_id);

ALTER TABLE ONLY everlore.passage_vector_11
    ADD CONSTRAINT passage_vector_11_pkey PRIMARY KEY (workspace_id, passage_id, model_id);

ALTER TABLE ONLY everlore.passage_vector_12
    ADD CONSTRAINT passage_vector_12_pkey PRIMARY KEY (workspace_id, passage_id, model_id);

ALTER TABLE ONLY everlore.passage_vector_13
    ADD CONSTRAINT passage_vector_13_pkey PRIMARY KEY (workspace_id, passage_id, model_id);

ALTER TABLE ONLY everlore.passage_vector_14
    ADD CONSTRAINT passage_vector_14_pkey PRIMARY KEY (workspace_id, passage_id, model_id);

ALTER TABLE ONLY everlore.passage_vector_15
    ADD CONSTRAINT passage_vector_15_pkey PRIMARY KEY (workspace_id, passage_id, model_id);

ALTER TABLE ONLY everlore.passage_vector_1
    ADD CONSTRAINT passage_vector_1_pkey PRIMARY KEY (workspace_id, passage_id, model_id);

ALTER TABLE ONLY everlore.passage_vector_2
    ADD CONSTRAINT passage_vector_2_pkey PRIMARY KEY (workspace_id, passage_id, model_id);

ALTER TABLE ONLY everlore.passage_vector_3
    ADD CONSTRAINT passage_vector_3_pkey PRIMARY KEY (workspace_id, passage_id, model_id);

ALTER TABLE ONLY everlore.passage_vector_4
    ADD CONSTRAINT passage_vector_4_pkey PRIMARY KEY (workspace_id, passage_id, model_id);

ALTER TABLE ONLY everlore.passage_vector_5
    ADD CONSTRAINT passage_vector_5_pkey PRIMARY KEY (workspace_id, passage_id, model_id);

ALTER TABLE ONLY everlore.passage_vector_6
    ADD CONSTRAINT passage_vector_6_pkey PRIMARY KEY (workspace_id, passage_id, model_id);

ALTER TABLE ONLY everlore.passage_vector_7
    ADD CONSTRAINT passage_vector_7_pkey PRIMARY KEY (workspace_id, passage_id, model_id);

ALTER TABLE ONLY everlore.passage_vector_8
    ADD CONSTRAINT passage_vector_8_pkey PRIMARY KEY (workspace_id, passage_id, model_id);

ALTER TABLE ONLY everlore.passage_vector_9
    ADD CONSTRAINT passage_vector_9_pkey PRIMARY KEY (workspace_id, passage_id, model_id);

ALTER TABLE ONLY everlore.passage
    ADD CONSTRAINT passage_workspace_id_thread_id_sequence_key UNIQUE (workspace_id, thread_id, sequence);

ALTER TABLE ONLY everlore.posting_block
    ADD CONSTRAINT posting_block_pkey PRIMARY KEY (workspace_id, term, segment);

ALTER TABLE ONLY everlore.posting_segment
    ADD CONSTRAINT posting_segment_pkey PRIMARY KEY (workspace_id, segment);

ALTER TABLE ONLY everlore.project
    ADD CONSTRAINT project_pkey PRIMARY KEY (workspace_id, project_id);

ALTER TABLE ONLY everlore.project
    ADD CONSTRAINT project_workspace_id_name_key UNIQUE (workspace_id, name);

ALTER TABLE ONLY everlore.session
    ADD CONSTRAINT session_pkey PRIMARY KEY (workspace_id, session_id);

ALTER TABLE ONLY everlore.thread
    ADD CONSTRAINT thread_pkey PRIMARY KEY (workspace_id, thread_id);

ALTER TABLE ONLY everlore.thread
    ADD CONSTRAINT thread_workspace_id_name_key UNIQUE (workspace_id, name);

ALTER TABLE ONLY everlore.watermark
    ADD CONSTRAINT watermark_pkey PRIMARY KEY (workspace_id, step, thread_id);

ALTER TABLE ONLY everlore.workspace
    ADD CONSTRAINT workspace_name_key UNIQUE (name);

ALTER TABLE ONLY everlore.workspace
    ADD CONSTRAINT workspace_pkey PRIMARY KEY (workspace_id);

CREATE UNIQUE INDEX embedding_model_in_use ON everlore.embedding_model USING btree (in_use) WHERE in_use;

CREATE UNIQUE INDEX message_external_id ON everlore.message USING btree (workspace_id, thread_id, external_id) WHERE (external_id IS NOT NULL);

CREATE INDEX message_session ON everlore.message USING btree (workspace_id, session_id);

CREATE INDEX message_short_id ON everlore.message USING btree (workspace_id, "right"((message_id)::text, 8));

CREATE INDEX passage_author ON everlore.passage USING btree (workspace_id, lower(author), occurred_at);

CREATE INDEX passage_message ON everlore.passage USING btree (workspace_id, message_id);

CREATE INDEX passage_taxonomy ON everlore.passage USING gist (workspace_id, taxonomy) WHERE (taxonomy IS NOT NULL);

CREATE INDEX passage_time ON everlore.passage USING btree (workspace_id, occurred_at);

CREATE INDEX project_taxonomy ON everlore.project USING gist (workspace_id, taxonomy);

CREATE UNIQUE INDEX session_name ON everlore.session USING btree (workspace_id, thread_id, name) WHERE (name IS NOT NULL);

CREATE INDEX session_time ON everlore.session USING btree (workspace_id, thread_id, started_at);

CREATE INDEX thread_project ON everlore.thread USING btree (workspace_id, project_id) WHERE (project_id IS NOT NULL);

CREATE INDEX thread_taxonomy ON everlore.thread USING gist (workspace_id, taxonomy);

CREATE INDEX watermark_behind ON everlore.watermark USING btree (workspace_id, step, thread_id) INCLUDE ("position", written) WHERE ("position" < written);

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_0_pkey;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_10_pkey;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_11_pkey;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_12_pkey;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_13_pkey;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_14_pkey;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_15_pkey;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_1_pkey;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_2_pkey;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_3_pkey;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_4_pkey;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_5_pkey;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_6_pkey;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_7_pkey;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_8_pkey;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_9_pkey;

ALTER TABLE ONLY everlore.audit_log
    ADD CONSTRAINT audit_log_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.lexical_statistics
    ADD CONSTRAINT lexical_statistics_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.message
    ADD CONSTRAINT message_workspace_id_session_id_fkey FOREIGN KEY (workspace_id, session_id) REFERENCES everlore.session(workspace_id, session_id);

ALTER TABLE ONLY everlore.message
    ADD CONSTRAINT message_workspace_id_thread_id_fkey FOREIGN KEY (workspace_id, thread_id) REFERENCES everlore.thread(workspace_id, thread_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.passage_counter
    ADD CONSTRAINT passage_counter_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.passage_tokens
    ADD CONSTRAINT passage_tokens_model_id_fkey FOREIGN KEY (model_id) REFERENCES everlore.embedding_model(model_id);

ALTER TABLE ONLY everlore.passage_tokens
    ADD CONSTRAINT passage_tokens_workspace_id_passage_id_fkey FOREIGN KEY (workspace_id, passage_id) REFERENCES everlore.passage(workspace_id, passage_id) ON DELETE CASCADE;

ALTER TABLE everlore.passage_vector
    ADD CONSTRAINT passage_vector_model_id_fkey FOREIGN KEY (model_id) REFERENCES everlore.embedding_model(model_id);

ALTER TABLE everlore.passage_vector
    ADD CONSTRAINT passage_vector_workspace_id_passage_id_fkey FOREIGN KEY (workspace_id, passage_id) REFERENCES everlore.passage(workspace_id, passage_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.passage
    ADD CONSTRAINT passage_workspace_id_message_id_fkey FOREIGN KEY (workspace_id, message_id) REFERENCES everlore.message(workspace_id, message_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.posting_block
    ADD CONSTRAINT posting_block_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.posting_segment
    ADD CONSTRAINT posting_segment_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.project
    ADD CONSTRAINT project_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.session
    ADD CONSTRAINT session_workspace_id_thread_id_fkey FOREIGN KEY (workspace_id, thread_id) REFERENCES everlore.thread(workspace_id, thread_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.thread
    ADD CONSTRAINT thread_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.thread
    ADD CONSTRAINT thread_workspace_id_project_id_fkey FOREIGN KEY (workspace_id, project_id) REFERENCES everlore.project(workspace_id, project_id) ON DELETE SET NULL (project_id);

ALTER TABLE ONLY everlore.watermark
    ADD CONSTRAINT watermark_workspace_id_thread_id_fkey FOREIGN KEY (workspace_id, thread_id) REFERENCES everlore.thread(workspace_id, thread_id) ON DELETE CASCADE;

ALTER TABLE everlore.audit_log ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.lexical_statistics ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.message ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_workspace ON everlore.audit_log USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.lexical_statistics USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.message USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.passage USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.passage_counter USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.passage_tokens USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.passage_vector USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.posting_block USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.posting_segment USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.project USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.session USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.thread USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.watermark USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.workspace USING ((workspace_id = everlore.current_workspace()));

ALTER TABLE everlore.passage ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.passage_counter ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.passage_tokens ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.passage_vector ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.passage_vector_0 ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.passage_vector_1 ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.passage_vector_10 ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.passage_vector_11 ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.passage_vector_12 ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.passage_vector_13 ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.passage_vector_14 ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.passage_vector_15 ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.passage_vector_2 ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.passage_vector_3 ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.passage_vector_4 ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.passage_vector_5 ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.passage_vector_6 ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.passage_vector_7 ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.passage_vector_8 ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.passage_vector_9 ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.posting_block ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.posting_segment ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.project ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.session ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.thread ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.watermark ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.workspace ENABLE ROW LEVEL SECURITY;

GRANT USAGE ON SCHEMA everlore TO everlore_app;
GRANT USAGE ON SCHEMA everlore TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.build_vector_index(model smallint) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.build_vector_index(model smallint) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.current_workspace() FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.current_workspace() TO everlore_app;
GRANT ALL ON FUNCTION everlore.current_workspace() TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.defer_index(thread uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.defer_index(thread uuid) TO everlore_app;
GRANT ALL ON FUNCTION everlore.defer_index(thread uuid) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.drop_vector_index(model smallint) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.drop_vector_index(model smallint) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.embedding_progress() FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.embedding_progress() TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.has_vector_index(model smallint) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.has_vector_index(model smallint) TO everlore_app;
GRANT ALL ON FUNCTION everlore.has_vector_index(model smallint) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.list_workspaces() FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.list_workspaces() TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.messages_ending(ending text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.messages_ending(ending text) TO everlore_app;
GRANT ALL ON FUNCTION everlore.messages_ending(ending text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.normalise(text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.normalise(text) TO everlore_app;
GRANT ALL ON FUNCTION everlore.normalise(text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.open_workspace(id uuid, called text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.open_workspace(id uuid, called text) TO everlore_app;
GRANT ALL ON FUNCTION everlore.open_workspace(id uuid, called text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.passages_within(at_most integer, since timestamp with time zone, until timestamp with time zone, by_author text, in_threads uuid[], under public.ltree, of_kinds text[], among integer[], branch uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.passages_within(at_most integer, since timestamp with time zone, until timestamp with time zone, by_author text, in_threads uuid[], under public.ltree, of_kinds text[], among integer[], branch uuid[]) TO everlore_app;
GRANT ALL ON FUNCTION everlore.passages_within(at_most integer, since timestamp with time zone, until timestamp with time zone, by_author text, in_threads uuid[], under public.ltree, of_kinds text[], among integer[], branch uuid[]) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.query_words(question text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.query_words(question text) TO everlore_app;
GRANT ALL ON FUNCTION everlore.query_words(question text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.register_embedding_model(called text, dims integer) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.register_embedding_model(called text, dims integer) TO everlore_app;
GRANT ALL ON FUNCTION everlore.register_embedding_model(called text, dims integer) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.strip_accents(text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.strip_accents(text) TO everlore_app;
GRANT ALL ON FUNCTION everlore.strip_accents(text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.terms(text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.terms(text) TO everlore_app;
GRANT ALL ON FUNCTION everlore.terms(text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.threads_behind(models text[], thorough boolean, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.threads_behind(models text[], thorough boolean, at_most integer) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.threads_within(project text, under public.ltree) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.threads_within(project text, under public.ltree) TO everlore_app;
GRANT ALL ON FUNCTION everlore.threads_within(project text, under public.ltree) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.use_embedding_model(called text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.use_embedding_model(called text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.vector_among(model smallint, question public.halfvec, passages integer[], at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.vector_among(model smallint, question public.halfvec, passages integer[], at_most integer) TO everlore_app;
GRANT ALL ON FUNCTION everlore.vector_among(model smallint, question public.halfvec, passages integer[], at_most integer) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.vector_exact(model smallint, question public.halfvec, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.vector_exact(model smallint, question public.halfvec, at_most integer) TO everlore_app;
GRANT ALL ON FUNCTION everlore.vector_exact(model smallint, question public.halfvec, at_most integer) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.vector_hnsw(model smallint, question public.halfvec, at_most integer, since timestamp with time zone, until timestamp with time zone, by_author text, in_threads uuid[], under public.ltree, of_kinds text[], branch uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.vector_hnsw(model smallint, question public.halfvec, at_most integer, since timestamp with time zone, until timestamp with time zone, by_author text, in_threads uuid[], under public.ltree, of_kinds text[], branch uuid[]) TO everlore_app;
GRANT ALL ON FUNCTION everlore.vector_hnsw(model smallint, question public.halfvec, at_most integer, since timestamp with time zone, until timestamp with time zone, by_author text, in_threads uuid[], under public.ltree, of_kinds text[], branch uuid[]) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.vector_index_name(model smallint) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.vector_index_name(model smallint) TO everlore_app;
GRANT ALL ON FUNCTION everlore.vector_index_name(model smallint) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.vectors_of(model smallint, passages integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.vectors_of(model smallint, passages integer[]) TO everlore_app;
GRANT ALL ON FUNCTION everlore.vectors_of(model smallint, passages integer[]) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.workspace_exists(called text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.workspace_exists(called text) TO everlore_worker;

GRANT SELECT,INSERT ON TABLE everlore.audit_log TO everlore_app;
GRANT SELECT,INSERT ON TABLE everlore.audit_log TO everlore_worker;

GRANT SELECT ON TABLE everlore.embedding_model TO everlore_app;
GRANT SELECT ON TABLE everlore.embedding_model TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.job_failure TO everlore_worker;

GRANT SELECT,UPDATE ON TABLE everlore.lexical_statistics TO everlore_app;
GRANT SELECT,UPDATE ON TABLE everlore.lexical_statistics TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.message TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.message TO everlore_worker;

GRANT SELECT ON TABLE everlore.migration TO everlore_app;
GRANT SELECT ON TABLE everlore.migration TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.passage TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.passage TO everlore_worker;

GRANT SELECT,UPDATE ON TABLE everlore.passage_counter TO everlore_app;
GRANT SELECT,UPDATE ON TABLE everlore.passage_counter TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.passage_tokens TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.passage_tokens TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.passage_vector TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.passage_vector TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.posting_block TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.posting_block TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.posting_segment TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.posting_segment TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.project TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.project TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.session TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.session TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.thread TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.thread TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.watermark TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.watermark TO everlore_worker;

GRANT SELECT ON TABLE everlore.workspace TO everlore_app;
GRANT SELECT ON TABLE everlore.workspace TO everlore_worker;
