-- The schema that all migrations together make. Made by scripts/dump_schema.py; do not edit it.

CREATE SCHEMA everlore;

ALTER SCHEMA everlore OWNER TO everlore_owner;

CREATE DOMAIN everlore.layer AS text
	CONSTRAINT layer_check CHECK ((VALUE = ANY (ARRAY['said'::text, 'branches'::text, 'known'::text, 'keys'::text, 'told'::text, 'documents'::text])));

ALTER DOMAIN everlore.layer OWNER TO everlore_owner;

CREATE FUNCTION everlore.aliases_similar(names text[], threshold real, at_most integer) RETURNS TABLE(name text, entity_id uuid, variant text, weight real, score real)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET "pg_trgm.similarity_threshold" TO '0.3'
    SET cpu_tuple_cost TO '10'
    AS $$
    declare
        ws constant uuid := everlore.current_workspace();
    begin
        -- Only until the function returns: the setting above is put back then.
        perform set_config('pg_trgm.similarity_threshold', threshold::text, true);
        return query
            select given.name, found.entity_id, found.variant, found.weight, found.score
            from (select g.name, everlore.normalise(g.name) as normal from unnest(names) as g (name)) as given
            cross join lateral (
                select a.entity_id, a.variant, a.weight, similarity(a.normalised, given.normal) as score
                from everlore.alias a
                where a.workspace_id = ws and a.normalised % given.normal
                order by similarity(a.normalised, given.normal) desc, a.alias_id
                limit at_most
            ) as found;
    end $$;

ALTER FUNCTION everlore.aliases_similar(names text[], threshold real, at_most integer) OWNER TO everlore_owner;

CREATE FUNCTION everlore.aliases_with_word(words text[], at_most integer) RETURNS TABLE(word text, entity_id uuid, variant text, weight real)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET "pg_trgm.strict_word_similarity_threshold" TO '0.999'
    SET cpu_tuple_cost TO '10'
    AS $$
    declare
        ws constant uuid := everlore.current_workspace();
    begin
        return query
            select given.word, found.entity_id, found.variant, found.weight
            from (select g.word, everlore.normalise(g.word) as normal from unnest(words) as g (word)) as given
            cross join lateral (
                select a.entity_id, a.variant, a.weight
                from everlore.alias a
                where a.workspace_id = ws and a.normalised %>> given.normal
                order by length(a.normalised), a.alias_id
                limit at_most
            ) as found;
    end $$;

ALTER FUNCTION everlore.aliases_with_word(words text[], at_most integer) OWNER TO everlore_owner;

CREATE FUNCTION everlore.believed_at(recorded_at timestamp with time zone, closed_at timestamp with time zone, moment timestamp with time zone) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN (moment IS NULL) THEN (closed_at IS NULL) ELSE ((recorded_at <= moment) AND ((closed_at IS NULL) OR (closed_at > moment))) END;

ALTER FUNCTION everlore.believed_at(recorded_at timestamp with time zone, closed_at timestamp with time zone, moment timestamp with time zone) OWNER TO everlore_owner;

CREATE FUNCTION everlore.build_vector_index(model smallint, in_layer everlore.layer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'everlore', 'public', 'pg_temp'
    AS $_$
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
    end $_$;

ALTER FUNCTION everlore.build_vector_index(model smallint, in_layer everlore.layer) OWNER TO everlore_owner;

CREATE FUNCTION everlore.current_workspace() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (NULLIF(current_setting('everlore.workspace'::text, true), ''::text))::uuid;

ALTER FUNCTION everlore.current_workspace() OWNER TO everlore_owner;

CREATE FUNCTION everlore.defer(called text, scope_id uuid, close boolean DEFAULT false) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'jobs', 'pg_temp'
    AS $$
    declare
        ws constant uuid := everlore.current_workspace();
        step record;
    begin
        select * into step from everlore.step s where s.name = called;
        if not found then
            raise undefined_object using message = format('there is no background step %s', called);
        end if;
        if ws is null or step.scope = 'workspace' and scope_id <> ws or step.scope = 'thread' and not exists (
            select from everlore.thread t where t.workspace_id = ws and t.thread_id = scope_id) then
            return;
        end if;
        perform jobs.procrastinate_defer_jobs_v1(array[row(
            step.queue, step.name, 0, step.name || ':' || ws || ':' || scope_id, null,
            jsonb_build_object('workspace_id', ws, 'scope_id', scope_id, 'close', "close"), null
        )::jobs.procrastinate_job_to_defer_v1]);
    end $$;

ALTER FUNCTION everlore.defer(called text, scope_id uuid, close boolean) OWNER TO everlore_owner;

CREATE FUNCTION everlore.defer_known() RETURNS void
    LANGUAGE sql
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
        select everlore.defer(s.name, everlore.current_workspace()) from everlore.step s
        where s.scope = 'workspace' and s.every is not null
        order by s.name
    $$;

ALTER FUNCTION everlore.defer_known() OWNER TO everlore_owner;

CREATE FUNCTION everlore.defer_recorded(named text[], thread uuid, went_from integer, went_to integer, session_ended boolean) RETURNS void
    LANGUAGE sql
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
        select everlore.defer(s.name, thread) from everlore.step s
        where s.scope = 'thread' and s.name = any (named) and ((went_to - 1) / s.every > (went_from - 1) / s.every or session_ended and s.every > 1)
        order by s.name
    $$;

ALTER FUNCTION everlore.defer_recorded(named text[], thread uuid, went_from integer, went_to integer, session_ended boolean) OWNER TO everlore_owner;

CREATE FUNCTION everlore.delete_workspace(ws uuid) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'jobs', 'pg_temp'
    AS $$
    declare
        counts jsonb;
    begin
        perform from everlore.workspace w where w.workspace_id = ws for update;
        select jsonb_build_object(
            'threads', (select count(*) from everlore.thread t where t.workspace_id = ws),
            'messages', (select count(*) from everlore.message m where m.workspace_id = ws),
            'memories', (select count(distinct m.lineage_id) from everlore.memory m where m.workspace_id = ws and m.tier = 'shown'),
            'facts', (select count(distinct f.lineage_id) from everlore.fact f where f.workspace_id = ws),
            'entities', (select count(*) from everlore.entity e where e.workspace_id = ws),
            'passages', (select count(*) from everlore.passage p where p.workspace_id = ws)
        ) into counts;
        delete from everlore.job_failure f using jobs.procrastinate_jobs j
            where j.id = f.job_id and j.args ->> 'workspace_id' = ws::text and j.status <> 'doing';
        delete from jobs.procrastinate_jobs j where j.args ->> 'workspace_id' = ws::text and j.status <> 'doing';
        delete from everlore.workspace w where w.workspace_id = ws;
        return counts;
    end $$;

ALTER FUNCTION everlore.delete_workspace(ws uuid) OWNER TO everlore_owner;

CREATE FUNCTION everlore.embedding_progress() RETURNS TABLE(name text, dimensions integer, in_use boolean, threads_behind bigint, distilled_behind bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
        select m.name, m.dimensions::integer, m.in_use, (
            select count(*) from everlore.thread t left join everlore.watermark w
              on w.workspace_id = t.workspace_id and w.thread_id = t.thread_id and w.step = 'vector:' || m.name
            where t.last_position > coalesce(w.position, 0)), (
            select count(*) from everlore.unembedded u where u.model_id = m.model_id and u.refused is null)
        from everlore.embedding_model m
        order by m.model_id
    $$;

ALTER FUNCTION everlore.embedding_progress() OWNER TO everlore_owner;

CREATE FUNCTION everlore.entities_ending(ending text) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
    declare
        ws constant uuid := everlore.current_workspace();
        digits constant text := replace(ending, '-', '');
    begin
        return query
            select e.entity_id
            from everlore.entity e
            where e.workspace_id = ws
              and right(e.entity_id::text, 8) = right(digits, 8)
              and right(replace(e.entity_id::text, '-', ''), length(digits)) = digits
            limit 2;
    end $$;

ALTER FUNCTION everlore.entities_ending(ending text) OWNER TO everlore_owner;

CREATE FUNCTION everlore.erase_from_audit(thread uuid, called text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
    declare
        ws constant uuid := everlore.current_workspace();
        changed bigint;
    begin
        update everlore.audit_log a
        set subject = case when a.subject = called then thread::text else a.subject end,
            detail = case when a.detail ->> 'thread' = called
                          then jsonb_set(a.detail, '{thread}', to_jsonb(thread::text)) else a.detail end
        where a.workspace_id = ws and (a.subject = called or a.detail ->> 'thread' = called);
        get diagnostics changed = row_count;
        return changed;
    end $$;

ALTER FUNCTION everlore.erase_from_audit(thread uuid, called text) OWNER TO everlore_owner;

CREATE FUNCTION everlore.erase_from_failures(threads uuid[]) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
    declare
        ws constant uuid := everlore.current_workspace();
        changed bigint;
    begin
        update everlore.job_failure f
        set error = coalesce(substring(f.error from '^[A-Za-z]{1,40}'), 'Error') || ' (the words were erased)'
        from jobs.procrastinate_jobs j
        where j.id = f.job_id and j.args ->> 'workspace_id' = ws::text
          and (j.args ->> 'scope_id' = ws::text or j.args ->> 'scope_id' = any (threads::text[]));
        get diagnostics changed = row_count;
        return changed;
    end $$;

ALTER FUNCTION everlore.erase_from_failures(threads uuid[]) OWNER TO everlore_owner;

CREATE FUNCTION everlore.facts_ending(ending text) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
    declare
        ws constant uuid := everlore.current_workspace();
        digits constant text := replace(ending, '-', '');
    begin
        return query
            select f.fact_id
            from everlore.fact f
            where f.workspace_id = ws
              and right(f.fact_id::text, 8) = right(digits, 8)
              and right(replace(f.fact_id::text, '-', ''), length(digits)) = digits
            limit 2;
    end $$;

ALTER FUNCTION everlore.facts_ending(ending text) OWNER TO everlore_owner;

CREATE FUNCTION everlore.failed_windows() RETURNS TABLE(workspace text, workspace_id uuid, thread text, thread_id uuid, first integer, last integer, extractor text, error text, failed_at timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
        select w.name, w.workspace_id, t.name, t.thread_id, d.first, d.last, d.extractor, d.error, d.distilled_at
        from everlore.distillation d join everlore.thread t using (workspace_id, thread_id) join everlore.workspace w using (workspace_id)
        where d.error is not null and d.superseded_at is null
        order by d.distilled_at
    $$;

ALTER FUNCTION everlore.failed_windows() OWNER TO everlore_owner;

CREATE FUNCTION everlore.feedback_alike(question text) RETURNS TABLE(message_id uuid, lineage_id uuid, confirmed boolean, shared text[], terms integer)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET enable_seqscan TO 'off'
    SET cpu_tuple_cost TO '10'
    AS $$
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

ALTER FUNCTION everlore.feedback_alike(question text) OWNER TO everlore_owner;

CREATE FUNCTION everlore.find_workspace(called text) RETURNS uuid
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    AS $$ select w.workspace_id from everlore.workspace w where w.name = called and everlore.current_workspace() is null $$;

ALTER FUNCTION everlore.find_workspace(called text) OWNER TO everlore_owner;

CREATE FUNCTION everlore.handed_out_alike(runs bigint[]) RETURNS TABLE(text_hash bytea, shingles bigint[])
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET enable_seqscan TO 'off'
    SET cpu_tuple_cost TO '10'
    AS $$
    declare
        ws constant uuid := everlore.current_workspace();
    begin
        return query
            select h.text_hash, h.shingles from everlore.handed_out h
            where h.workspace_id = ws and h.shingles && runs;
    end $$;

ALTER FUNCTION everlore.handed_out_alike(runs bigint[]) OWNER TO everlore_owner;

CREATE FUNCTION everlore.has_vector_index(model smallint, in_layer everlore.layer) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
        select coalesce((select i.indisvalid from pg_index i
                         where i.indexrelid = to_regclass('everlore.' || everlore.vector_index_name(model, in_layer))), false)
    $$;

ALTER FUNCTION everlore.has_vector_index(model smallint, in_layer everlore.layer) OWNER TO everlore_owner;

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

CREATE FUNCTION everlore.memories_ending(ending text) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
    declare
        ws constant uuid := everlore.current_workspace();
        digits constant text := replace(ending, '-', '');
    begin
        return query
            select m.memory_id
            from everlore.memory m
            where m.workspace_id = ws
              and right(m.memory_id::text, 8) = right(digits, 8)
              and right(replace(m.memory_id::text, '-', ''), length(digits)) = digits
            limit 2;
    end $$;

ALTER FUNCTION everlore.memories_ending(ending text) OWNER TO everlore_owner;

CREATE FUNCTION everlore.messages_ending(ending text) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET enable_indexonlyscan TO 'off'
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
                insert into everlore.lexical_statistics (workspace_id, layer)
                    select found_id, unnest(array['said', 'branches', 'known', 'keys', 'told', 'documents']);
                insert into everlore.distilled_state (workspace_id) values (found_id);
            end if;
        end if;
        return found_id;
    end $$;

ALTER FUNCTION everlore.open_workspace(id uuid, called text) OWNER TO everlore_owner;

CREATE FUNCTION everlore.passages_within(at_most integer, since timestamp with time zone, until timestamp with time zone, by_author text, in_threads uuid[], under public.ltree, known_by timestamp with time zone, among integer[] DEFAULT NULL::integer[], branch uuid[] DEFAULT NULL::uuid[]) RETURNS SETOF integer
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

ALTER FUNCTION everlore.passages_within(at_most integer, since timestamp with time zone, until timestamp with time zone, by_author text, in_threads uuid[], under public.ltree, known_by timestamp with time zone, among integer[], branch uuid[]) OWNER TO everlore_owner;

CREATE FUNCTION everlore.query_words(question text) RETURNS TABLE(word text, term text)
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
        select w.word, (tsvector_to_array(to_tsvector('pg_catalog.english'::regconfig, w.word)))[1]
        from unnest(string_to_array(everlore.normalise(question), ' ')) with ordinality as w (word, place)
        where w.word <> ''
        order by w.place
    $$;

ALTER FUNCTION everlore.query_words(question text) OWNER TO everlore_owner;

CREATE FUNCTION everlore.refused_passages() RETURNS TABLE(workspace text, workspace_id uuid, thread text, thread_id uuid, kind text, owner_id uuid, model text, error text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
        select w.name, w.workspace_id, t.name, t.thread_id, p.kind, p.owner_id, m.name, u.refused
        from everlore.unembedded u
        join everlore.passage p using (workspace_id, passage_id)
        join everlore.embedding_model m using (model_id)
        join everlore.workspace w using (workspace_id)
        left join everlore.thread t on t.workspace_id = p.workspace_id and t.thread_id = p.thread_id
        where u.refused is not null
        order by w.name, u.passage_id, m.name
    $$;

ALTER FUNCTION everlore.refused_passages() OWNER TO everlore_owner;

CREATE FUNCTION everlore.register_embedding_model(called text, dims integer) RETURNS smallint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
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

ALTER FUNCTION everlore.register_embedding_model(called text, dims integer) OWNER TO everlore_owner;

CREATE FUNCTION everlore.scopes_with_job(called text) RETURNS TABLE(workspace_id uuid, scope_id uuid, running boolean)
    LANGUAGE sql STABLE
    SET search_path TO 'jobs', 'pg_temp'
    AS $$
        select (j.args ->> 'workspace_id')::uuid, (j.args ->> 'scope_id')::uuid, bool_or(j.status = 'doing')
        from jobs.procrastinate_jobs j
        where j.task_name = called and j.status in ('todo', 'doing', 'failed')
        group by 1, 2
    $$;

ALTER FUNCTION everlore.scopes_with_job(called text) OWNER TO everlore_owner;

CREATE FUNCTION everlore.strip_accents(text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $_$ select public.unaccent('public.unaccent'::regdictionary, $1) $_$;

ALTER FUNCTION everlore.strip_accents(text) OWNER TO everlore_owner;

CREATE FUNCTION everlore.term_digests(question text) RETURNS TABLE(term text, digest integer)
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
        select distinct on (d.digest) w.term, d.digest
        from everlore.query_words(question) as w
        cross join lateral (select ('x' || left(md5(w.term), 4))::bit(16)::integer as digest) as d
        where w.term is not null order by d.digest, w.term limit 200
    $$;

ALTER FUNCTION everlore.term_digests(question text) OWNER TO everlore_owner;

CREATE FUNCTION everlore.terms(text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $_$ select to_tsvector('pg_catalog.english'::regconfig, everlore.normalise($1)) $_$;

ALTER FUNCTION everlore.terms(text) OWNER TO everlore_owner;

CREATE FUNCTION everlore.threads_to_distil(called text, quiet_since timestamp with time zone, settled_since timestamp with time zone, held boolean, at_most integer) RETURNS TABLE(workspace_id uuid, thread_id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
        select lagging.workspace_id, lagging.thread_id from (
            select w.workspace_id, w.thread_id
            from everlore.watermark w
            cross join (select s.every from everlore.step s where s.name = called) as step
            left join everlore.thread t on t.workspace_id = w.workspace_id and t.thread_id = w.thread_id
            left join everlore.message tip on tip.workspace_id = t.workspace_id and tip.message_id = t.tip_id
            where w.position < w.written and w.step = called
              and (w.written - w.position >= step.every or not exists (
                  select from everlore.message m
                  where m.workspace_id = w.workspace_id and m.thread_id = w.thread_id and m.position = w.written
                    and m.recorded_at >= quiet_since))
              and (tip.position is null or tip.position > w.position + step.every or tip.recorded_at < settled_since)
            union
            select a.workspace_id, a.thread_id from everlore.distil_again a
        ) as lagging
        left join everlore.scopes_with_job(called) as job
            on job.workspace_id = lagging.workspace_id and job.scope_id = lagging.thread_id
        where case when held then job.running else job.scope_id is null end
        limit at_most
    $$;

ALTER FUNCTION everlore.threads_to_distil(called text, quiet_since timestamp with time zone, settled_since timestamp with time zone, held boolean, at_most integer) OWNER TO everlore_owner;

CREATE FUNCTION everlore.threads_unindexed(called text, models text[], thorough boolean, held boolean, at_most integer) RETURNS TABLE(workspace_id uuid, thread_id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
        select lagging.workspace_id, lagging.thread_id from (
            select w.workspace_id, w.thread_id
            from everlore.watermark w
            where w.position < w.written and w.step = any (select 'vector:' || m from unnest(models) as m)
            union
            select t.workspace_id, t.thread_id
            from everlore.thread t cross join unnest(models) as m
            where thorough and t.last_position > 0 and not exists (
                select from everlore.watermark w
                where w.workspace_id = t.workspace_id and w.step = 'vector:' || m and w.thread_id = t.thread_id)
        ) as lagging
        left join everlore.scopes_with_job(called) as job
            on job.workspace_id = lagging.workspace_id and job.scope_id = lagging.thread_id
        where case when held then job.running else job.scope_id is null end
        limit at_most
    $$;

ALTER FUNCTION everlore.threads_unindexed(called text, models text[], thorough boolean, held boolean, at_most integer) OWNER TO everlore_owner;

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

CREATE FUNCTION everlore.true_at(valid_from timestamp with time zone, valid_to timestamp with time zone, moment timestamp with time zone) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((valid_from <= moment) AND ((valid_to IS NULL) OR (valid_to > moment)));

ALTER FUNCTION everlore.true_at(valid_from timestamp with time zone, valid_to timestamp with time zone, moment timestamp with time zone) OWNER TO everlore_owner;

CREATE FUNCTION everlore.use_embedding_model(called text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
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

CREATE FUNCTION everlore.vector_exact(model smallint, question public.halfvec, at_most integer, in_layer everlore.layer) RETURNS TABLE(passage_id integer, distance real)
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
            where v.workspace_id = ws and v.model_id = model and v.layer = in_layer
            order by d, v.passage_id
            limit at_most;
    end $$;

ALTER FUNCTION everlore.vector_exact(model smallint, question public.halfvec, at_most integer, in_layer everlore.layer) OWNER TO everlore_owner;

CREATE FUNCTION everlore.vector_hnsw(model smallint, question public.halfvec, at_most integer, since timestamp with time zone DEFAULT NULL::timestamp with time zone, until timestamp with time zone DEFAULT NULL::timestamp with time zone, by_author text DEFAULT NULL::text, in_threads uuid[] DEFAULT NULL::uuid[], under public.ltree DEFAULT NULL::public.ltree, known_by timestamp with time zone DEFAULT NULL::timestamp with time zone, branch uuid[] DEFAULT NULL::uuid[], in_layer everlore.layer DEFAULT 'said'::text) RETURNS TABLE(passage_id integer, distance real)
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
    end $_$;

ALTER FUNCTION everlore.vector_hnsw(model smallint, question public.halfvec, at_most integer, since timestamp with time zone, until timestamp with time zone, by_author text, in_threads uuid[], under public.ltree, known_by timestamp with time zone, branch uuid[], in_layer everlore.layer) OWNER TO everlore_owner;

CREATE FUNCTION everlore.vector_index_name(model smallint, in_layer everlore.layer) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'everlore', 'pg_temp'
    AS $_$
        select format('%s_model_%s_%s', c.relname, model, in_layer)
        from pg_class c join pg_inherits i on i.inhrelid = c.oid
        where i.inhparent = 'everlore.passage_vector'::regclass
          and satisfies_hash_partition('everlore.passage_vector'::regclass, 16,
                substring(c.relname from '\d+$')::integer, everlore.current_workspace())
          and everlore.current_workspace() is not null
    $_$;

ALTER FUNCTION everlore.vector_index_name(model smallint, in_layer everlore.layer) OWNER TO everlore_owner;

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

CREATE FUNCTION everlore.workspaces_unindexed(called text, models text[], held boolean, at_most integer) RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
        select w.workspace_id
        from everlore.workspace w left join everlore.scopes_with_job(called) as job on job.workspace_id = w.workspace_id
        where exists (select from everlore.unembedded u join everlore.embedding_model m using (model_id)
                      where u.workspace_id = w.workspace_id and u.refused is null and m.name = any (models))
          and case when held then job.running else job.scope_id is null end
        limit at_most
    $$;

ALTER FUNCTION everlore.workspaces_unindexed(called text, models text[], held boolean, at_most integer) OWNER TO everlore_owner;

CREATE FUNCTION everlore.workspaces_with_old_keys(called text, now timestamp with time zone, held boolean, at_most integer) RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'everlore', 'pg_temp'
    AS $$
        select w.workspace_id
        from everlore.workspace w left join everlore.scopes_with_job(called) as job on job.workspace_id = w.workspace_id
        where exists (select from everlore.memory m
                      where m.workspace_id = w.workspace_id and m.tier = 'key' and m.expires_at <= now)
          and case when held then job.running else job.scope_id is null end
        limit at_most
    $$;

ALTER FUNCTION everlore.workspaces_with_old_keys(called text, now timestamp with time zone, held boolean, at_most integer) OWNER TO everlore_owner;

CREATE TABLE everlore.alias (
    workspace_id uuid NOT NULL,
    alias_id uuid NOT NULL,
    entity_id uuid NOT NULL,
    variant text NOT NULL,
    normalised text GENERATED ALWAYS AS (everlore.normalise(variant)) STORED NOT NULL,
    key text NOT NULL,
    weight real NOT NULL,
    origin text NOT NULL,
    said_at timestamp with time zone,
    recorded_at timestamp with time zone NOT NULL,
    CONSTRAINT alias_origin_check CHECK ((origin = ANY (ARRAY['by hand'::text, 'extracted'::text, 'inferred'::text]))),
    CONSTRAINT alias_variant_check CHECK (((length(variant) >= 1) AND (length(variant) <= 200))),
    CONSTRAINT alias_weight_check CHECK (((weight >= (0)::double precision) AND (weight <= (1)::double precision)))
);

ALTER TABLE everlore.alias OWNER TO everlore_owner;

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

CREATE TABLE everlore.breaker (
    workspace_id uuid NOT NULL,
    model text NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    open_until timestamp with time zone
);

ALTER TABLE everlore.breaker OWNER TO everlore_owner;

CREATE TABLE everlore.context (
    workspace_id uuid NOT NULL,
    context_id uuid NOT NULL,
    parent_id uuid,
    thread_id uuid,
    profile text NOT NULL,
    budget integer NOT NULL,
    made_at timestamp with time zone NOT NULL,
    CONSTRAINT context_budget_check CHECK ((budget >= 0)),
    CONSTRAINT context_profile_check CHECK ((profile = ANY (ARRAY['companion'::text, 'agent'::text, 'lean'::text, 'custom'::text])))
);

ALTER TABLE everlore.context OWNER TO everlore_owner;

CREATE TABLE everlore.context_item (
    workspace_id uuid NOT NULL,
    context_id uuid NOT NULL,
    place integer NOT NULL,
    part text NOT NULL,
    slot text NOT NULL,
    number integer,
    tokens integer NOT NULL,
    message_id uuid,
    memory_id uuid,
    fact_id uuid,
    fact_version uuid,
    words text,
    CONSTRAINT context_item_check CHECK ((num_nonnulls(message_id, memory_id, fact_id) <= 1)),
    CONSTRAINT context_item_part_check CHECK ((part = ANY (ARRAY['head'::text, 'tail'::text])))
);

ALTER TABLE everlore.context_item OWNER TO everlore_owner;

CREATE TABLE everlore.distil_again (
    workspace_id uuid NOT NULL,
    thread_id uuid NOT NULL,
    first integer NOT NULL,
    asked_at timestamp with time zone NOT NULL
);

ALTER TABLE everlore.distil_again OWNER TO everlore_owner;

CREATE TABLE everlore.distillation (
    workspace_id uuid NOT NULL,
    distillation_id uuid NOT NULL,
    thread_id uuid NOT NULL,
    first integer NOT NULL,
    last integer NOT NULL,
    extractor text NOT NULL,
    extractor_version text NOT NULL,
    memories integer NOT NULL,
    facts integer NOT NULL,
    rejected integer NOT NULL,
    error text,
    distilled_at timestamp with time zone NOT NULL,
    superseded_at timestamp with time zone
);

ALTER TABLE everlore.distillation OWNER TO everlore_owner;

CREATE TABLE everlore.distilled_state (
    workspace_id uuid NOT NULL,
    memories bigint DEFAULT 0 NOT NULL
);

ALTER TABLE everlore.distilled_state OWNER TO everlore_owner;

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

CREATE TABLE everlore.entity (
    workspace_id uuid NOT NULL,
    entity_id uuid NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    merged_into uuid,
    CONSTRAINT entity_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT entity_type_check CHECK ((type = ANY (ARRAY['person'::text, 'place'::text, 'organisation'::text, 'project'::text, 'concept'::text, 'technical_term'::text, 'event'::text, 'other'::text])))
);

ALTER TABLE everlore.entity OWNER TO everlore_owner;

CREATE TABLE everlore.entity_change (
    workspace_id uuid NOT NULL,
    change_id uuid NOT NULL,
    kind text NOT NULL,
    kept_id uuid NOT NULL,
    other_id uuid NOT NULL,
    moved jsonb NOT NULL,
    made_at timestamp with time zone NOT NULL,
    undone_at timestamp with time zone,
    CONSTRAINT entity_change_kind_check CHECK ((kind = ANY (ARRAY['merge'::text, 'split'::text])))
);

ALTER TABLE everlore.entity_change OWNER TO everlore_owner;

CREATE TABLE everlore.erased_turn (
    workspace_id uuid NOT NULL,
    thread_id uuid NOT NULL,
    turn_key bytea NOT NULL,
    CONSTRAINT erased_turn_turn_key_check CHECK ((length(turn_key) = 8))
);

ALTER TABLE everlore.erased_turn OWNER TO everlore_owner;

CREATE TABLE everlore.fact (
    workspace_id uuid NOT NULL,
    fact_id uuid NOT NULL,
    lineage_id uuid NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    subject_id uuid NOT NULL,
    predicate text NOT NULL,
    object_id uuid,
    object text NOT NULL,
    object_key text NOT NULL,
    confidence real NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_to timestamp with time zone,
    recorded_at timestamp with time zone NOT NULL,
    superseded_at timestamp with time zone,
    superseded_by uuid,
    review text,
    review_reason text,
    confirmed boolean DEFAULT false NOT NULL,
    extractor text,
    extractor_version text,
    passage_id integer,
    CONSTRAINT fact_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision))),
    CONSTRAINT fact_object_check CHECK (((length(object) >= 1) AND (length(object) <= 500))),
    CONSTRAINT fact_predicate_check CHECK (((length(predicate) >= 1) AND (length(predicate) <= 60))),
    CONSTRAINT fact_review_check CHECK ((review = ANY (ARRAY['suggested'::text, 'rejected'::text, 'quarantined'::text])))
);

ALTER TABLE everlore.fact OWNER TO everlore_owner;

CREATE TABLE everlore.fact_source (
    workspace_id uuid NOT NULL,
    source_id uuid NOT NULL,
    lineage_id uuid NOT NULL,
    message_id uuid,
    memory_lineage_id uuid,
    start_at integer,
    end_at integer,
    quote text,
    said_at timestamp with time zone NOT NULL,
    valid_from timestamp with time zone,
    ended boolean DEFAULT false NOT NULL,
    corrects boolean DEFAULT false NOT NULL,
    confidence real NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    retracted_at timestamp with time zone,
    CONSTRAINT fact_source_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision)))
);

ALTER TABLE everlore.fact_source OWNER TO everlore_owner;

CREATE TABLE everlore.fact_source_before (
    workspace_id uuid NOT NULL,
    source_id uuid NOT NULL,
    lineage_id uuid NOT NULL
);

ALTER TABLE everlore.fact_source_before OWNER TO everlore_owner;

CREATE VIEW everlore.fact_ground WITH (security_invoker='true') AS
 SELECT s.workspace_id,
    s.lineage_id,
    s.source_id,
    s.message_id,
    s.memory_lineage_id,
    s.said_at,
    s.retracted_at
   FROM everlore.fact_source s
UNION ALL
 SELECT b.workspace_id,
    b.lineage_id,
    b.source_id,
    s.message_id,
    s.memory_lineage_id,
    s.said_at,
    s.retracted_at
   FROM (everlore.fact_source_before b
     JOIN everlore.fact_source s ON (((s.workspace_id = b.workspace_id) AND (s.source_id = b.source_id))));

ALTER VIEW everlore.fact_ground OWNER TO everlore_owner;

CREATE VIEW everlore.fact_shown WITH (security_invoker='true') AS
 SELECT fact_id,
    lineage_id,
    version,
    subject_id,
    ( SELECT e.name
           FROM everlore.entity e
          WHERE ((e.workspace_id = f.workspace_id) AND (e.entity_id = f.subject_id))) AS subject,
    predicate,
    object_id,
    COALESCE(( SELECT e.name
           FROM everlore.entity e
          WHERE ((e.workspace_id = f.workspace_id) AND (e.entity_id = f.object_id))), object) AS object,
    confidence,
    valid_from,
    valid_to,
    recorded_at,
    superseded_at,
    superseded_by,
    review,
    review_reason,
    workspace_id,
    object_key,
    passage_id
   FROM everlore.fact f;

ALTER VIEW everlore.fact_shown OWNER TO everlore_owner;

CREATE TABLE everlore.feedback (
    workspace_id uuid NOT NULL,
    feedback_id uuid NOT NULL,
    message_id uuid,
    lineage_id uuid,
    terms integer[] NOT NULL,
    confirmed boolean NOT NULL,
    given_at timestamp with time zone NOT NULL,
    CONSTRAINT feedback_check CHECK ((num_nonnulls(message_id, lineage_id) = 1)),
    CONSTRAINT feedback_terms_check CHECK (((cardinality(terms) >= 1) AND (cardinality(terms) <= 200)))
);

ALTER TABLE everlore.feedback OWNER TO everlore_owner;

CREATE TABLE everlore.handed_out (
    workspace_id uuid NOT NULL,
    text_hash bytea NOT NULL,
    shingles bigint[] NOT NULL,
    handed_out_at timestamp with time zone NOT NULL
);

ALTER TABLE everlore.handed_out OWNER TO everlore_owner;

CREATE TABLE everlore.job_failure (
    job_id bigint NOT NULL,
    failed_at timestamp with time zone DEFAULT now() NOT NULL,
    error text NOT NULL
);

ALTER TABLE everlore.job_failure OWNER TO everlore_owner;

CREATE TABLE everlore.lexical_statistics (
    workspace_id uuid NOT NULL,
    layer everlore.layer NOT NULL,
    passages integer DEFAULT 0 NOT NULL,
    length bigint DEFAULT 0 NOT NULL
);

ALTER TABLE everlore.lexical_statistics OWNER TO everlore_owner;

CREATE TABLE everlore.link_suggestion (
    workspace_id uuid NOT NULL,
    suggestion_id uuid NOT NULL,
    entity_id uuid NOT NULL,
    other_id uuid NOT NULL,
    reason text NOT NULL,
    score real NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    accepted boolean
);

ALTER TABLE everlore.link_suggestion OWNER TO everlore_owner;

CREATE TABLE everlore.memory (
    workspace_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    lineage_id uuid NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    tier text DEFAULT 'shown'::text NOT NULL,
    type text NOT NULL,
    content text NOT NULL,
    category text,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    importance real NOT NULL,
    confidence real NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_to timestamp with time zone,
    recorded_at timestamp with time zone NOT NULL,
    superseded_at timestamp with time zone,
    superseded_by uuid,
    event_at timestamp with time zone,
    expires_at timestamp with time zone,
    generation integer DEFAULT 0 NOT NULL,
    pinned boolean DEFAULT false NOT NULL,
    confirmed boolean DEFAULT false NOT NULL,
    source_kind text NOT NULL,
    review text,
    review_reason text,
    forgotten_at timestamp with time zone,
    author text,
    role text,
    thread_id uuid,
    first_position integer,
    taxonomy public.ltree,
    reasoning text,
    extractor text,
    extractor_version text,
    content_hash bytea NOT NULL,
    passage_id integer,
    access_count integer DEFAULT 0 NOT NULL,
    last_access_at timestamp with time zone,
    CONSTRAINT memory_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision))),
    CONSTRAINT memory_content_check CHECK (((length(content) >= 1) AND (length(content) <= 2000))),
    CONSTRAINT memory_importance_check CHECK (((importance >= (0)::double precision) AND (importance <= (1)::double precision))),
    CONSTRAINT memory_review_check CHECK ((review = ANY (ARRAY['suggested'::text, 'rejected'::text, 'quarantined'::text]))),
    CONSTRAINT memory_source_kind_check CHECK ((source_kind = ANY (ARRAY['extracted'::text, 'by hand'::text]))),
    CONSTRAINT memory_tier_check CHECK ((tier = ANY (ARRAY['shown'::text, 'key'::text]))),
    CONSTRAINT memory_type_check CHECK ((type = ANY (ARRAY['fact'::text, 'preference'::text, 'identity'::text, 'relationship'::text, 'goal'::text, 'task'::text, 'event'::text, 'habit'::text, 'skill'::text, 'lesson'::text, 'decision'::text, 'project'::text, 'system_config'::text, 'blocker'::text, 'reminder'::text, 'note'::text, 'context'::text, 'casual'::text, 'general'::text])))
);

ALTER TABLE everlore.memory OWNER TO everlore_owner;

CREATE TABLE everlore.memory_entity (
    workspace_id uuid NOT NULL,
    lineage_id uuid NOT NULL,
    entity_id uuid NOT NULL
);

ALTER TABLE everlore.memory_entity OWNER TO everlore_owner;

CREATE TABLE everlore.thread (
    workspace_id uuid NOT NULL,
    thread_id uuid NOT NULL,
    name text NOT NULL,
    project_id uuid,
    taxonomy public.ltree,
    last_position integer DEFAULT 0 NOT NULL,
    last_sequence integer DEFAULT 0 NOT NULL,
    messages integer DEFAULT 0 NOT NULL,
    off_path integer DEFAULT 0 NOT NULL,
    tip_id uuid,
    reconciled boolean DEFAULT false NOT NULL,
    last_session_id uuid,
    last_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT thread_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);

ALTER TABLE everlore.thread OWNER TO everlore_owner;

CREATE VIEW everlore.memory_shown WITH (security_invoker='true') AS
 SELECT memory_id,
    lineage_id,
    version,
    tier,
    type,
    content,
    category,
    tags,
    importance,
    confidence,
    valid_from,
    valid_to,
    recorded_at,
    superseded_at,
    superseded_by,
    event_at,
    expires_at,
    generation,
    pinned,
    confirmed,
    source_kind,
    review,
    review_reason,
    forgotten_at,
    author,
    role,
    ( SELECT t.name
           FROM everlore.thread t
          WHERE ((t.workspace_id = m.workspace_id) AND (t.thread_id = m.thread_id))) AS thread,
    (taxonomy)::text AS taxonomy,
    reasoning,
    extractor,
    extractor_version,
    ARRAY( SELECT e.name
           FROM (everlore.memory_entity x
             JOIN everlore.entity e ON (((e.workspace_id = x.workspace_id) AND (e.entity_id = x.entity_id))))
          WHERE ((x.workspace_id = m.workspace_id) AND (x.lineage_id = m.lineage_id))
          ORDER BY e.name) AS entities,
    access_count,
    last_access_at,
    workspace_id,
    thread_id,
    first_position,
    content_hash,
    passage_id,
    taxonomy AS path
   FROM everlore.memory m;

ALTER VIEW everlore.memory_shown OWNER TO everlore_owner;

CREATE TABLE everlore.memory_source (
    workspace_id uuid NOT NULL,
    source_id uuid NOT NULL,
    lineage_id uuid NOT NULL,
    message_id uuid,
    start_at integer,
    end_at integer,
    quote text,
    confidence real NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    retracted_at timestamp with time zone,
    CONSTRAINT memory_source_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision)))
);

ALTER TABLE everlore.memory_source OWNER TO everlore_owner;

CREATE TABLE everlore.mention (
    workspace_id uuid NOT NULL,
    entity_id uuid NOT NULL,
    message_id uuid NOT NULL,
    recorded_at timestamp with time zone NOT NULL
);

ALTER TABLE everlore.mention OWNER TO everlore_owner;

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
    characters integer NOT NULL,
    captions text[] DEFAULT '{}'::text[] NOT NULL,
    system_prompt text,
    tool_calls jsonb DEFAULT '[]'::jsonb NOT NULL,
    external_id text,
    reply_to text,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    taxonomy public.ltree,
    content_hash bytea NOT NULL,
    off_the_record boolean DEFAULT false NOT NULL,
    parent_id uuid,
    on_path boolean DEFAULT true NOT NULL,
    revision_of uuid,
    finish text DEFAULT 'complete'::text NOT NULL,
    turn_key bytea NOT NULL,
    CONSTRAINT message_finish_check CHECK ((finish = ANY (ARRAY['complete'::text, 'aborted'::text, 'error'::text]))),
    CONSTRAINT message_role_check CHECK ((role = ANY (ARRAY['user'::text, 'assistant'::text, 'system'::text, 'developer'::text, 'tool'::text])))
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
    layer everlore.layer NOT NULL,
    owner_id uuid NOT NULL,
    lineage_id uuid NOT NULL,
    thread_id uuid,
    session_id uuid,
    sequence integer,
    "position" integer,
    role text NOT NULL,
    author text NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    taxonomy public.ltree,
    text text NOT NULL,
    length integer GENERATED ALWAYS AS (((length(text) - length(translate(text, ' 
	'::text, ''::text))) + 1)) STORED NOT NULL,
    normalised text GENERATED ALWAYS AS (everlore.normalise(text)) STORED NOT NULL,
    terms tsvector GENERATED ALWAYS AS (everlore.terms(text)) STORED NOT NULL,
    asks boolean GENERATED ALWAYS AS ((regexp_replace(text, '( \[shares [^\n]*\])+$'::text, ''::text) ~ '[?？؟][^[:alnum:]]*$'::text)) STORED NOT NULL,
    CONSTRAINT passage_kind_check CHECK (((length(kind) >= 1) AND (length(kind) <= 60))),
    CONSTRAINT passage_place CHECK ((((layer)::text <> ALL (ARRAY['said'::text, 'branches'::text])) OR ((thread_id IS NOT NULL) AND (session_id IS NOT NULL) AND (sequence IS NOT NULL) AND ("position" IS NOT NULL))))
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
    layer everlore.layer NOT NULL,
    embedding public.halfvec NOT NULL
)
PARTITION BY HASH (workspace_id);

ALTER TABLE everlore.passage_vector OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_0 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    layer everlore.layer CONSTRAINT passage_vector_layer_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_0 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_0 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_1 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    layer everlore.layer CONSTRAINT passage_vector_layer_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_1 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_1 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_10 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    layer everlore.layer CONSTRAINT passage_vector_layer_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_10 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_10 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_11 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    layer everlore.layer CONSTRAINT passage_vector_layer_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_11 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_11 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_12 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    layer everlore.layer CONSTRAINT passage_vector_layer_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_12 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_12 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_13 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    layer everlore.layer CONSTRAINT passage_vector_layer_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_13 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_13 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_14 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    layer everlore.layer CONSTRAINT passage_vector_layer_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_14 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_14 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_15 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    layer everlore.layer CONSTRAINT passage_vector_layer_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_15 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_15 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_2 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    layer everlore.layer CONSTRAINT passage_vector_layer_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_2 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_2 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_3 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    layer everlore.layer CONSTRAINT passage_vector_layer_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_3 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_3 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_4 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    layer everlore.layer CONSTRAINT passage_vector_layer_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_4 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_4 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_5 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    layer everlore.layer CONSTRAINT passage_vector_layer_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_5 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_5 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_6 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    layer everlore.layer CONSTRAINT passage_vector_layer_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_6 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_6 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_7 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    layer everlore.layer CONSTRAINT passage_vector_layer_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_7 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_7 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_8 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    layer everlore.layer CONSTRAINT passage_vector_layer_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_8 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_8 OWNER TO everlore_owner;

CREATE TABLE everlore.passage_vector_9 (
    workspace_id uuid CONSTRAINT passage_vector_workspace_id_not_null NOT NULL,
    model_id smallint CONSTRAINT passage_vector_model_id_not_null NOT NULL,
    passage_id integer CONSTRAINT passage_vector_passage_id_not_null NOT NULL,
    layer everlore.layer CONSTRAINT passage_vector_layer_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT passage_vector_embedding_not_null NOT NULL
);
ALTER TABLE ONLY everlore.passage_vector_9 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE everlore.passage_vector_9 OWNER TO everlore_owner;

CREATE TABLE everlore.posting_block (
    workspace_id uuid NOT NULL,
    layer everlore.layer NOT NULL,
    term text NOT NULL,
    segment integer NOT NULL,
    postings bytea NOT NULL
);
ALTER TABLE ONLY everlore.posting_block ALTER COLUMN postings SET STORAGE EXTERNAL;

ALTER TABLE everlore.posting_block OWNER TO everlore_owner;

CREATE TABLE everlore.posting_segment (
    workspace_id uuid NOT NULL,
    layer everlore.layer NOT NULL,
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

CREATE TABLE everlore.step (
    name text NOT NULL,
    queue text NOT NULL,
    scope text NOT NULL,
    every integer,
    watermark boolean NOT NULL,
    CONSTRAINT step_every_check CHECK ((every > 0)),
    CONSTRAINT step_scope_check CHECK ((scope = ANY (ARRAY['thread'::text, 'workspace'::text])))
);

ALTER TABLE everlore.step OWNER TO everlore_owner;

CREATE TABLE everlore.taxonomy_node (
    workspace_id uuid NOT NULL,
    path public.ltree NOT NULL,
    label text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT taxonomy_node_label_check CHECK (((length(label) >= 1) AND (length(label) <= 200)))
);

ALTER TABLE everlore.taxonomy_node OWNER TO everlore_owner;

CREATE TABLE everlore.taxonomy_suggestion (
    workspace_id uuid NOT NULL,
    suggestion_id uuid NOT NULL,
    thread_id uuid NOT NULL,
    path public.ltree NOT NULL,
    times integer DEFAULT 1 NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    accepted boolean
);

ALTER TABLE everlore.taxonomy_suggestion OWNER TO everlore_owner;

CREATE TABLE everlore.unembedded (
    workspace_id uuid NOT NULL,
    model_id smallint NOT NULL,
    passage_id integer NOT NULL,
    refused text
);

ALTER TABLE everlore.unembedded OWNER TO everlore_owner;

CREATE TABLE everlore.usage (
    workspace_id uuid NOT NULL,
    day date NOT NULL,
    model text NOT NULL,
    calls bigint DEFAULT 0 NOT NULL,
    failed bigint DEFAULT 0 NOT NULL,
    tokens_in bigint DEFAULT 0 NOT NULL,
    tokens_out bigint DEFAULT 0 NOT NULL,
    cost numeric(20,8) DEFAULT 0 NOT NULL
);

ALTER TABLE everlore.usage OWNER TO everlore_owner;

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

ALTER TABLE ONLY everlore.alias
    ADD CONSTRAINT alias_pkey PRIMARY KEY (workspace_id, alias_id);

ALTER TABLE ONLY everlore.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (workspace_id, audit_id);

ALTER TABLE ONLY everlore.breaker
    ADD CONSTRAINT breaker_pkey PRIMARY KEY (workspace_id, model);

ALTER TABLE ONLY everlore.context_item
    ADD CONSTRAINT context_item_pkey PRIMARY KEY (workspace_id, context_id, place);

ALTER TABLE ONLY everlore.context
    ADD CONSTRAINT context_pkey PRIMARY KEY (workspace_id, context_id);

ALTER TABLE ONLY everlore.distil_again
    ADD CONSTRAINT distil_again_pkey PRIMARY KEY (workspace_id, thread_id, first);

ALTER TABLE ONLY everlore.distillation
    ADD CONSTRAINT distillation_pkey PRIMARY KEY (workspace_id, distillation_id);

ALTER TABLE ONLY everlore.distilled_state
    ADD CONSTRAINT distilled_state_pkey PRIMARY KEY (workspace_id);

ALTER TABLE ONLY everlore.embedding_model
    ADD CONSTRAINT embedding_model_name_key UNIQUE (name);

ALTER TABLE ONLY everlore.embedding_model
    ADD CONSTRAINT embedding_model_pkey PRIMARY KEY (model_id);

ALTER TABLE ONLY everlore.entity_change
    ADD CONSTRAINT entity_change_pkey PRIMARY KEY (workspace_id, change_id);

ALTER TABLE ONLY everlore.entity
    ADD CONSTRAINT entity_pkey PRIMARY KEY (workspace_id, entity_id);

ALTER TABLE ONLY everlore.erased_turn
    ADD CONSTRAINT erased_turn_pkey PRIMARY KEY (workspace_id, thread_id, turn_key);

ALTER TABLE ONLY everlore.fact
    ADD CONSTRAINT fact_pkey PRIMARY KEY (workspace_id, fact_id);

ALTER TABLE ONLY everlore.fact_source_before
    ADD CONSTRAINT fact_source_before_pkey PRIMARY KEY (workspace_id, source_id, lineage_id);

ALTER TABLE ONLY everlore.fact_source
    ADD CONSTRAINT fact_source_pkey PRIMARY KEY (workspace_id, source_id);

ALTER TABLE ONLY everlore.feedback
    ADD CONSTRAINT feedback_pkey PRIMARY KEY (workspace_id, feedback_id);

ALTER TABLE ONLY everlore.feedback
    ADD CONSTRAINT feedback_workspace_id_message_id_lineage_id_terms_key UNIQUE NULLS NOT DISTINCT (workspace_id, message_id, lineage_id, terms);

ALTER TABLE ONLY everlore.handed_out
    ADD CONSTRAINT handed_out_pkey PRIMARY KEY (workspace_id, text_hash);

ALTER TABLE ONLY everlore.job_failure
    ADD CONSTRAINT job_failure_pkey PRIMARY KEY (job_id);

ALTER TABLE ONLY everlore.lexical_statistics
    ADD CONSTRAINT lexical_statistics_pkey PRIMARY KEY (workspace_id, layer);

ALTER TABLE ONLY everlore.link_suggestion
    ADD CONSTRAINT link_suggestion_pkey PRIMARY KEY (workspace_id, suggestion_id);

ALTER TABLE ONLY everlore.memory_entity
    ADD CONSTRAINT memory_entity_pkey PRIMARY KEY (workspace_id, lineage_id, entity_id);

ALTER TABLE ONLY everlore.memory
    ADD CONSTRAINT memory_pkey PRIMARY KEY (workspace_id, memory_id);

ALTER TABLE ONLY everlore.memory_source
    ADD CONSTRAINT memory_source_pkey PRIMARY KEY (workspace_id, source_id);

ALTER TABLE ONLY everlore.mention
    ADD CONSTRAINT mention_pkey PRIMARY KEY (workspace_id, entity_id, message_id);

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
    ADD CONSTRAINT posting_block_pkey PRIMARY KEY (workspace_id, term, layer, segment);

ALTER TABLE ONLY everlore.posting_segment
    ADD CONSTRAINT posting_segment_pkey PRIMARY KEY (workspace_id, layer, segment);

ALTER TABLE ONLY everlore.project
    ADD CONSTRAINT project_pkey PRIMARY KEY (workspace_id, project_id);

ALTER TABLE ONLY everlore.project
    ADD CONSTRAINT project_workspace_id_name_key UNIQUE (workspace_id, name);

ALTER TABLE ONLY everlore.session
    ADD CONSTRAINT session_pkey PRIMARY KEY (workspace_id, session_id);

ALTER TABLE ONLY everlore.step
    ADD CONSTRAINT step_pkey PRIMARY KEY (name);

ALTER TABLE ONLY everlore.taxonomy_node
    ADD CONSTRAINT taxonomy_node_pkey PRIMARY KEY (workspace_id, path);

ALTER TABLE ONLY everlore.taxonomy_suggestion
    ADD CONSTRAINT taxonomy_suggestion_pkey PRIMARY KEY (workspace_id, suggestion_id);

ALTER TABLE ONLY everlore.thread
    ADD CONSTRAINT thread_pkey PRIMARY KEY (workspace_id, thread_id);

ALTER TABLE ONLY everlore.thread
    ADD CONSTRAINT thread_workspace_id_name_key UNIQUE (workspace_id, name);

ALTER TABLE ONLY everlore.unembedded
    ADD CONSTRAINT unembedded_pkey PRIMARY KEY (workspace_id, model_id, passage_id);

ALTER TABLE ONLY everlore.usage
    ADD CONSTRAINT usage_pkey PRIMARY KEY (workspace_id, day, model);

ALTER TABLE ONLY everlore.watermark
    ADD CONSTRAINT watermark_pkey PRIMARY KEY (workspace_id, step, thread_id);

ALTER TABLE ONLY everlore.workspace
    ADD CONSTRAINT workspace_name_key UNIQUE (name);

ALTER TABLE ONLY everlore.workspace
    ADD CONSTRAINT workspace_pkey PRIMARY KEY (workspace_id);

CREATE INDEX alias_key ON everlore.alias USING btree (workspace_id, key);

CREATE UNIQUE INDEX alias_of_entity ON everlore.alias USING btree (workspace_id, entity_id, key);

CREATE INDEX alias_trigram ON everlore.alias USING gin (workspace_id, normalised public.gin_trgm_ops);

CREATE INDEX context_item_fact ON everlore.context_item USING btree (workspace_id, fact_id) WHERE (fact_id IS NOT NULL);

CREATE INDEX context_item_memory ON everlore.context_item USING btree (workspace_id, memory_id) WHERE (memory_id IS NOT NULL);

CREATE INDEX context_item_message ON everlore.context_item USING btree (workspace_id, message_id) WHERE (message_id IS NOT NULL);

CREATE INDEX context_made ON everlore.context USING btree (workspace_id, made_at, context_id);

CREATE INDEX context_thread ON everlore.context USING btree (workspace_id, thread_id, made_at);

CREATE INDEX distillation_failed ON everlore.distillation USING btree (workspace_id, thread_id) WHERE (error IS NOT NULL);

CREATE UNIQUE INDEX distillation_window ON everlore.distillation USING btree (workspace_id, thread_id, first) WHERE (superseded_at IS NULL);

CREATE UNIQUE INDEX embedding_model_in_use ON everlore.embedding_model USING btree (in_use) WHERE in_use;

CREATE INDEX entity_change_kept ON everlore.entity_change USING btree (workspace_id, kept_id);

CREATE INDEX entity_change_other ON everlore.entity_change USING btree (workspace_id, other_id);

CREATE INDEX entity_merged ON everlore.entity USING btree (workspace_id, merged_into) WHERE (merged_into IS NOT NULL);

CREATE INDEX entity_name ON everlore.entity USING btree (workspace_id, name) WHERE (merged_into IS NULL);

CREATE INDEX entity_short_id ON everlore.entity USING btree (workspace_id, "right"((entity_id)::text, 8));

CREATE INDEX fact_group ON everlore.fact USING btree (workspace_id, subject_id, predicate, object_key);

CREATE INDEX fact_object ON everlore.fact USING btree (workspace_id, object_id) WHERE ((object_id IS NOT NULL) AND (superseded_at IS NULL));

CREATE INDEX fact_object_all ON everlore.fact USING btree (workspace_id, object_id, valid_from) WHERE (object_id IS NOT NULL);

CREATE INDEX fact_passage ON everlore.fact USING btree (workspace_id, passage_id) WHERE (passage_id IS NOT NULL);

CREATE INDEX fact_short_id ON everlore.fact USING btree (workspace_id, "right"((fact_id)::text, 8));

CREATE INDEX fact_source_before_lineage ON everlore.fact_source_before USING btree (workspace_id, lineage_id);

CREATE INDEX fact_source_lineage ON everlore.fact_source USING btree (workspace_id, lineage_id);

CREATE INDEX fact_source_memory ON everlore.fact_source USING btree (workspace_id, memory_lineage_id) WHERE (memory_lineage_id IS NOT NULL);

CREATE INDEX fact_source_message ON everlore.fact_source USING btree (workspace_id, message_id) WHERE (message_id IS NOT NULL);

CREATE INDEX fact_subject_all ON everlore.fact USING btree (workspace_id, subject_id, valid_from) WHERE (object_id IS NOT NULL);

CREATE INDEX fact_superseded_by ON everlore.fact USING btree (workspace_id, superseded_by) WHERE (superseded_by IS NOT NULL);

CREATE UNIQUE INDEX fact_version ON everlore.fact USING btree (workspace_id, lineage_id, version);

CREATE INDEX feedback_memory ON everlore.feedback USING btree (workspace_id, lineage_id) WHERE (lineage_id IS NOT NULL);

CREATE INDEX feedback_terms ON everlore.feedback USING gin (workspace_id, terms) WITH (fastupdate=off);

CREATE INDEX handed_out_shingles ON everlore.handed_out USING gin (workspace_id, shingles) WITH (fastupdate=off);

CREATE UNIQUE INDEX link_suggestion_pair ON everlore.link_suggestion USING btree (workspace_id, LEAST(entity_id, other_id), GREATEST(entity_id, other_id));

CREATE INDEX memory_core ON everlore.memory USING btree (workspace_id, importance) WHERE ((tier = 'shown'::text) AND (superseded_at IS NULL) AND (review IS NULL) AND (forgotten_at IS NULL));

CREATE INDEX memory_entity_entity ON everlore.memory_entity USING btree (workspace_id, entity_id, lineage_id);

CREATE INDEX memory_hash ON everlore.memory USING btree (workspace_id, content_hash) WHERE (superseded_at IS NULL);

CREATE INDEX memory_keys ON everlore.memory USING btree (workspace_id, expires_at) WHERE (tier = 'key'::text);

CREATE INDEX memory_passage ON everlore.memory USING btree (workspace_id, passage_id) WHERE (passage_id IS NOT NULL);

CREATE INDEX memory_pinned ON everlore.memory USING btree (workspace_id, lineage_id) WHERE (pinned AND (superseded_at IS NULL));

CREATE INDEX memory_review ON everlore.memory USING btree (workspace_id, recorded_at) WHERE ((review IS NOT NULL) AND (superseded_at IS NULL));

CREATE INDEX memory_short_id ON everlore.memory USING btree (workspace_id, "right"((memory_id)::text, 8));

CREATE INDEX memory_source_lineage ON everlore.memory_source USING btree (workspace_id, lineage_id);

CREATE INDEX memory_source_message ON everlore.memory_source USING btree (workspace_id, message_id) WHERE (message_id IS NOT NULL);

CREATE INDEX memory_superseded_by ON everlore.memory USING btree (workspace_id, superseded_by) WHERE (superseded_by IS NOT NULL);

CREATE INDEX memory_type ON everlore.memory USING btree (workspace_id, type, valid_from) WHERE (tier = 'shown'::text);

CREATE UNIQUE INDEX memory_version ON everlore.memory USING btree (workspace_id, lineage_id, version);

CREATE INDEX memory_window ON everlore.memory USING btree (workspace_id, thread_id, first_position);

CREATE INDEX mention_message ON everlore.mention USING btree (workspace_id, message_id, entity_id);

CREATE INDEX message_branch ON everlore.message USING btree (workspace_id, parent_id) WHERE ((NOT on_path) AND (parent_id IS NOT NULL));

CREATE UNIQUE INDEX message_external_id ON everlore.message USING btree (workspace_id, thread_id, external_id) WHERE ((external_id IS NOT NULL) AND on_path);

CREATE INDEX message_external_id_off_path ON everlore.message USING btree (workspace_id, thread_id, external_id) WHERE ((external_id IS NOT NULL) AND (NOT on_path));

CREATE INDEX message_revision ON everlore.message USING btree (workspace_id, revision_of) WHERE (revision_of IS NOT NULL);

CREATE INDEX message_session ON everlore.message USING btree (workspace_id, session_id);

CREATE INDEX message_short_id ON everlore.message USING btree (workspace_id, "right"((message_id)::text, 8));

CREATE INDEX message_turn ON everlore.message USING btree (workspace_id, turn_key, thread_id);

CREATE INDEX passage_author ON everlore.passage USING btree (workspace_id, lower(author), occurred_at);

CREATE INDEX passage_lineage ON everlore.passage USING btree (workspace_id, layer, lineage_id) WHERE ((layer)::text <> 'said'::text);

CREATE INDEX passage_owner ON everlore.passage USING btree (workspace_id, owner_id);

CREATE INDEX passage_taxonomy ON everlore.passage USING gist (workspace_id, taxonomy) WHERE (taxonomy IS NOT NULL);

CREATE INDEX passage_time ON everlore.passage USING btree (workspace_id, occurred_at);

CREATE INDEX passage_vector_beside ON ONLY everlore.passage_vector USING btree (workspace_id, model_id, layer, passage_id) WHERE ((layer)::text <> 'said'::text);

CREATE INDEX passage_vector_0_workspace_id_model_id_layer_passage_id_idx ON everlore.passage_vector_0 USING btree (workspace_id, model_id, layer, passage_id) WHERE ((layer)::text <> 'said'::text);

CREATE INDEX passage_vector_10_workspace_id_model_id_layer_passage_id_idx ON everlore.passage_vector_10 USING btree (workspace_id, model_id, layer, passage_id) WHERE ((layer)::text <> 'said'::text);

CREATE INDEX passage_vector_11_workspace_id_model_id_layer_passage_id_idx ON everlore.passage_vector_11 USING btree (workspace_id, model_id, layer, passage_id) WHERE ((layer)::text <> 'said'::text);

CREATE INDEX passage_vector_12_workspace_id_model_id_layer_passage_id_idx ON everlore.passage_vector_12 USING btree (workspace_id, model_id, layer, passage_id) WHERE ((layer)::text <> 'said'::text);

CREATE INDEX passage_vector_13_workspace_id_model_id_layer_passage_id_idx ON everlore.passage_vector_13 USING btree (workspace_id, model_id, layer, passage_id) WHERE ((layer)::text <> 'said'::text);

CREATE INDEX passage_vector_14_workspace_id_model_id_layer_passage_id_idx ON everlore.passage_vector_14 USING btree (workspace_id, model_id, layer, passage_id) WHERE ((layer)::text <> 'said'::text);

CREATE INDEX passage_vector_15_workspace_id_model_id_layer_passage_id_idx ON everlore.passage_vector_15 USING btree (workspace_id, model_id, layer, passage_id) WHERE ((layer)::text <> 'said'::text);

CREATE INDEX passage_vector_1_workspace_id_model_id_layer_passage_id_idx ON everlore.passage_vector_1 USING btree (workspace_id, model_id, layer, passage_id) WHERE ((layer)::text <> 'said'::text);

CREATE INDEX passage_vector_2_workspace_id_model_id_layer_passage_id_idx ON everlore.passage_vector_2 USING btree (workspace_id, model_id, layer, passage_id) WHERE ((layer)::text <> 'said'::text);

CREATE INDEX passage_vector_3_workspace_id_model_id_layer_passage_id_idx ON everlore.passage_vector_3 USING btree (workspace_id, model_id, layer, passage_id) WHERE ((layer)::text <> 'said'::text);

CREATE INDEX passage_vector_4_workspace_id_model_id_layer_passage_id_idx ON everlore.passage_vector_4 USING btree (workspace_id, model_id, layer, passage_id) WHERE ((layer)::text <> 'said'::text);

CREATE INDEX passage_vector_5_workspace_id_model_id_layer_passage_id_idx ON everlore.passage_vector_5 USING btree (workspace_id, model_id, layer, passage_id) WHERE ((layer)::text <> 'said'::text);

CREATE INDEX passage_vector_6_workspace_id_model_id_layer_passage_id_idx ON everlore.passage_vector_6 USING btree (workspace_id, model_id, layer, passage_id) WHERE ((layer)::text <> 'said'::text);

CREATE INDEX passage_vector_7_workspace_id_model_id_layer_passage_id_idx ON everlore.passage_vector_7 USING btree (workspace_id, model_id, layer, passage_id) WHERE ((layer)::text <> 'said'::text);

CREATE INDEX passage_vector_8_workspace_id_model_id_layer_passage_id_idx ON everlore.passage_vector_8 USING btree (workspace_id, model_id, layer, passage_id) WHERE ((layer)::text <> 'said'::text);

CREATE INDEX passage_vector_9_workspace_id_model_id_layer_passage_id_idx ON everlore.passage_vector_9 USING btree (workspace_id, model_id, layer, passage_id) WHERE ((layer)::text <> 'said'::text);

CREATE INDEX project_taxonomy ON everlore.project USING gist (workspace_id, taxonomy);

CREATE UNIQUE INDEX session_name ON everlore.session USING btree (workspace_id, thread_id, name) WHERE (name IS NOT NULL);

CREATE INDEX session_time ON everlore.session USING btree (workspace_id, thread_id, started_at);

CREATE UNIQUE INDEX taxonomy_suggestion_path ON everlore.taxonomy_suggestion USING btree (workspace_id, thread_id, path);

CREATE INDEX thread_project ON everlore.thread USING btree (workspace_id, project_id) WHERE (project_id IS NOT NULL);

CREATE INDEX thread_taxonomy ON everlore.thread USING gist (workspace_id, taxonomy);

CREATE INDEX watermark_behind ON everlore.watermark USING btree (workspace_id, step, thread_id) INCLUDE ("position", written) WHERE ("position" < written);

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_0_pkey;

ALTER INDEX everlore.passage_vector_beside ATTACH PARTITION everlore.passage_vector_0_workspace_id_model_id_layer_passage_id_idx;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_10_pkey;

ALTER INDEX everlore.passage_vector_beside ATTACH PARTITION everlore.passage_vector_10_workspace_id_model_id_layer_passage_id_idx;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_11_pkey;

ALTER INDEX everlore.passage_vector_beside ATTACH PARTITION everlore.passage_vector_11_workspace_id_model_id_layer_passage_id_idx;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_12_pkey;

ALTER INDEX everlore.passage_vector_beside ATTACH PARTITION everlore.passage_vector_12_workspace_id_model_id_layer_passage_id_idx;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_13_pkey;

ALTER INDEX everlore.passage_vector_beside ATTACH PARTITION everlore.passage_vector_13_workspace_id_model_id_layer_passage_id_idx;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_14_pkey;

ALTER INDEX everlore.passage_vector_beside ATTACH PARTITION everlore.passage_vector_14_workspace_id_model_id_layer_passage_id_idx;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_15_pkey;

ALTER INDEX everlore.passage_vector_beside ATTACH PARTITION everlore.passage_vector_15_workspace_id_model_id_layer_passage_id_idx;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_1_pkey;

ALTER INDEX everlore.passage_vector_beside ATTACH PARTITION everlore.passage_vector_1_workspace_id_model_id_layer_passage_id_idx;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_2_pkey;

ALTER INDEX everlore.passage_vector_beside ATTACH PARTITION everlore.passage_vector_2_workspace_id_model_id_layer_passage_id_idx;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_3_pkey;

ALTER INDEX everlore.passage_vector_beside ATTACH PARTITION everlore.passage_vector_3_workspace_id_model_id_layer_passage_id_idx;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_4_pkey;

ALTER INDEX everlore.passage_vector_beside ATTACH PARTITION everlore.passage_vector_4_workspace_id_model_id_layer_passage_id_idx;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_5_pkey;

ALTER INDEX everlore.passage_vector_beside ATTACH PARTITION everlore.passage_vector_5_workspace_id_model_id_layer_passage_id_idx;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_6_pkey;

ALTER INDEX everlore.passage_vector_beside ATTACH PARTITION everlore.passage_vector_6_workspace_id_model_id_layer_passage_id_idx;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_7_pkey;

ALTER INDEX everlore.passage_vector_beside ATTACH PARTITION everlore.passage_vector_7_workspace_id_model_id_layer_passage_id_idx;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_8_pkey;

ALTER INDEX everlore.passage_vector_beside ATTACH PARTITION everlore.passage_vector_8_workspace_id_model_id_layer_passage_id_idx;

ALTER INDEX everlore.passage_vector_pkey ATTACH PARTITION everlore.passage_vector_9_pkey;

ALTER INDEX everlore.passage_vector_beside ATTACH PARTITION everlore.passage_vector_9_workspace_id_model_id_layer_passage_id_idx;

ALTER TABLE ONLY everlore.alias
    ADD CONSTRAINT alias_workspace_id_entity_id_fkey FOREIGN KEY (workspace_id, entity_id) REFERENCES everlore.entity(workspace_id, entity_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.audit_log
    ADD CONSTRAINT audit_log_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.breaker
    ADD CONSTRAINT breaker_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.context_item
    ADD CONSTRAINT context_item_workspace_id_context_id_fkey FOREIGN KEY (workspace_id, context_id) REFERENCES everlore.context(workspace_id, context_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.context_item
    ADD CONSTRAINT context_item_workspace_id_fact_id_fkey FOREIGN KEY (workspace_id, fact_id) REFERENCES everlore.fact(workspace_id, fact_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.context_item
    ADD CONSTRAINT context_item_workspace_id_memory_id_fkey FOREIGN KEY (workspace_id, memory_id) REFERENCES everlore.memory(workspace_id, memory_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.context_item
    ADD CONSTRAINT context_item_workspace_id_message_id_fkey FOREIGN KEY (workspace_id, message_id) REFERENCES everlore.message(workspace_id, message_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.context
    ADD CONSTRAINT context_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.context
    ADD CONSTRAINT context_workspace_id_thread_id_fkey FOREIGN KEY (workspace_id, thread_id) REFERENCES everlore.thread(workspace_id, thread_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.distil_again
    ADD CONSTRAINT distil_again_workspace_id_thread_id_fkey FOREIGN KEY (workspace_id, thread_id) REFERENCES everlore.thread(workspace_id, thread_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.distillation
    ADD CONSTRAINT distillation_workspace_id_thread_id_fkey FOREIGN KEY (workspace_id, thread_id) REFERENCES everlore.thread(workspace_id, thread_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.distilled_state
    ADD CONSTRAINT distilled_state_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.entity_change
    ADD CONSTRAINT entity_change_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.entity_change
    ADD CONSTRAINT entity_change_workspace_id_kept_id_fkey FOREIGN KEY (workspace_id, kept_id) REFERENCES everlore.entity(workspace_id, entity_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.entity_change
    ADD CONSTRAINT entity_change_workspace_id_other_id_fkey FOREIGN KEY (workspace_id, other_id) REFERENCES everlore.entity(workspace_id, entity_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.entity
    ADD CONSTRAINT entity_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.entity
    ADD CONSTRAINT entity_workspace_id_merged_into_fkey FOREIGN KEY (workspace_id, merged_into) REFERENCES everlore.entity(workspace_id, entity_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.erased_turn
    ADD CONSTRAINT erased_turn_workspace_id_thread_id_fkey FOREIGN KEY (workspace_id, thread_id) REFERENCES everlore.thread(workspace_id, thread_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.fact_source_before
    ADD CONSTRAINT fact_source_before_workspace_id_lineage_id_fkey FOREIGN KEY (workspace_id, lineage_id) REFERENCES everlore.fact(workspace_id, fact_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.fact_source_before
    ADD CONSTRAINT fact_source_before_workspace_id_source_id_fkey FOREIGN KEY (workspace_id, source_id) REFERENCES everlore.fact_source(workspace_id, source_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.fact_source
    ADD CONSTRAINT fact_source_workspace_id_lineage_id_fkey FOREIGN KEY (workspace_id, lineage_id) REFERENCES everlore.fact(workspace_id, fact_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.fact_source
    ADD CONSTRAINT fact_source_workspace_id_memory_lineage_id_fkey FOREIGN KEY (workspace_id, memory_lineage_id) REFERENCES everlore.memory(workspace_id, memory_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.fact_source
    ADD CONSTRAINT fact_source_workspace_id_message_id_fkey FOREIGN KEY (workspace_id, message_id) REFERENCES everlore.message(workspace_id, message_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.fact
    ADD CONSTRAINT fact_workspace_id_lineage_id_fkey FOREIGN KEY (workspace_id, lineage_id) REFERENCES everlore.fact(workspace_id, fact_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.fact
    ADD CONSTRAINT fact_workspace_id_object_id_fkey FOREIGN KEY (workspace_id, object_id) REFERENCES everlore.entity(workspace_id, entity_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.fact
    ADD CONSTRAINT fact_workspace_id_subject_id_fkey FOREIGN KEY (workspace_id, subject_id) REFERENCES everlore.entity(workspace_id, entity_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.feedback
    ADD CONSTRAINT feedback_workspace_id_lineage_id_fkey FOREIGN KEY (workspace_id, lineage_id) REFERENCES everlore.memory(workspace_id, memory_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.feedback
    ADD CONSTRAINT feedback_workspace_id_message_id_fkey FOREIGN KEY (workspace_id, message_id) REFERENCES everlore.message(workspace_id, message_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.handed_out
    ADD CONSTRAINT handed_out_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.lexical_statistics
    ADD CONSTRAINT lexical_statistics_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.link_suggestion
    ADD CONSTRAINT link_suggestion_workspace_id_entity_id_fkey FOREIGN KEY (workspace_id, entity_id) REFERENCES everlore.entity(workspace_id, entity_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.link_suggestion
    ADD CONSTRAINT link_suggestion_workspace_id_other_id_fkey FOREIGN KEY (workspace_id, other_id) REFERENCES everlore.entity(workspace_id, entity_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.memory_entity
    ADD CONSTRAINT memory_entity_workspace_id_entity_id_fkey FOREIGN KEY (workspace_id, entity_id) REFERENCES everlore.entity(workspace_id, entity_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.memory_entity
    ADD CONSTRAINT memory_entity_workspace_id_lineage_id_fkey FOREIGN KEY (workspace_id, lineage_id) REFERENCES everlore.memory(workspace_id, memory_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.memory_source
    ADD CONSTRAINT memory_source_workspace_id_lineage_id_fkey FOREIGN KEY (workspace_id, lineage_id) REFERENCES everlore.memory(workspace_id, memory_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.memory_source
    ADD CONSTRAINT memory_source_workspace_id_message_id_fkey FOREIGN KEY (workspace_id, message_id) REFERENCES everlore.message(workspace_id, message_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.memory
    ADD CONSTRAINT memory_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.memory
    ADD CONSTRAINT memory_workspace_id_lineage_id_fkey FOREIGN KEY (workspace_id, lineage_id) REFERENCES everlore.memory(workspace_id, memory_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.memory
    ADD CONSTRAINT memory_workspace_id_thread_id_fkey FOREIGN KEY (workspace_id, thread_id) REFERENCES everlore.thread(workspace_id, thread_id);

ALTER TABLE ONLY everlore.mention
    ADD CONSTRAINT mention_workspace_id_entity_id_fkey FOREIGN KEY (workspace_id, entity_id) REFERENCES everlore.entity(workspace_id, entity_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.mention
    ADD CONSTRAINT mention_workspace_id_message_id_fkey FOREIGN KEY (workspace_id, message_id) REFERENCES everlore.message(workspace_id, message_id) ON DELETE CASCADE;

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
    ADD CONSTRAINT passage_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.posting_block
    ADD CONSTRAINT posting_block_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.posting_segment
    ADD CONSTRAINT posting_segment_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.project
    ADD CONSTRAINT project_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.session
    ADD CONSTRAINT session_workspace_id_thread_id_fkey FOREIGN KEY (workspace_id, thread_id) REFERENCES everlore.thread(workspace_id, thread_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.taxonomy_node
    ADD CONSTRAINT taxonomy_node_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.taxonomy_suggestion
    ADD CONSTRAINT taxonomy_suggestion_workspace_id_thread_id_fkey FOREIGN KEY (workspace_id, thread_id) REFERENCES everlore.thread(workspace_id, thread_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.thread
    ADD CONSTRAINT thread_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.thread
    ADD CONSTRAINT thread_workspace_id_project_id_fkey FOREIGN KEY (workspace_id, project_id) REFERENCES everlore.project(workspace_id, project_id);

ALTER TABLE ONLY everlore.unembedded
    ADD CONSTRAINT unembedded_model_id_fkey FOREIGN KEY (model_id) REFERENCES everlore.embedding_model(model_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.unembedded
    ADD CONSTRAINT unembedded_workspace_id_passage_id_fkey FOREIGN KEY (workspace_id, passage_id) REFERENCES everlore.passage(workspace_id, passage_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.usage
    ADD CONSTRAINT usage_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES everlore.workspace(workspace_id) ON DELETE CASCADE;

ALTER TABLE ONLY everlore.watermark
    ADD CONSTRAINT watermark_workspace_id_thread_id_fkey FOREIGN KEY (workspace_id, thread_id) REFERENCES everlore.thread(workspace_id, thread_id) ON DELETE CASCADE;

ALTER TABLE everlore.alias ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.audit_log ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.breaker ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.context ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.context_item ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.distil_again ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.distillation ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.distilled_state ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.entity ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.entity_change ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.erased_turn ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.fact ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.fact_source ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.fact_source_before ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.feedback ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.handed_out ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.lexical_statistics ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.link_suggestion ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.memory ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.memory_entity ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.memory_source ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.mention ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.message ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_workspace ON everlore.alias USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.audit_log USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.breaker USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.context USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.context_item USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.distil_again USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.distillation USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.distilled_state USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.entity USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.entity_change USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.erased_turn USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.fact USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.fact_source USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.fact_source_before USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.feedback USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.handed_out USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.lexical_statistics USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.link_suggestion USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.memory USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.memory_entity USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.memory_source USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.mention USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.message USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.passage USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.passage_counter USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.passage_tokens USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.passage_vector USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.posting_block USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.posting_segment USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.project USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.session USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.taxonomy_node USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.taxonomy_suggestion USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.thread USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.unembedded USING ((workspace_id = everlore.current_workspace()));

CREATE POLICY own_workspace ON everlore.usage USING ((workspace_id = everlore.current_workspace()));

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

ALTER TABLE everlore.taxonomy_node ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.taxonomy_suggestion ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.thread ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.unembedded ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.usage ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.watermark ENABLE ROW LEVEL SECURITY;

ALTER TABLE everlore.workspace ENABLE ROW LEVEL SECURITY;

GRANT USAGE ON SCHEMA everlore TO everlore_app;
GRANT USAGE ON SCHEMA everlore TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.aliases_similar(names text[], threshold real, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.aliases_similar(names text[], threshold real, at_most integer) TO everlore_app;
GRANT ALL ON FUNCTION everlore.aliases_similar(names text[], threshold real, at_most integer) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.aliases_with_word(words text[], at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.aliases_with_word(words text[], at_most integer) TO everlore_app;
GRANT ALL ON FUNCTION everlore.aliases_with_word(words text[], at_most integer) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.believed_at(recorded_at timestamp with time zone, closed_at timestamp with time zone, moment timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.believed_at(recorded_at timestamp with time zone, closed_at timestamp with time zone, moment timestamp with time zone) TO everlore_app;
GRANT ALL ON FUNCTION everlore.believed_at(recorded_at timestamp with time zone, closed_at timestamp with time zone, moment timestamp with time zone) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.build_vector_index(model smallint, in_layer everlore.layer) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.build_vector_index(model smallint, in_layer everlore.layer) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.current_workspace() FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.current_workspace() TO everlore_app;
GRANT ALL ON FUNCTION everlore.current_workspace() TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.defer(called text, scope_id uuid, close boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.defer(called text, scope_id uuid, close boolean) TO everlore_app;
GRANT ALL ON FUNCTION everlore.defer(called text, scope_id uuid, close boolean) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.defer_known() FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.defer_known() TO everlore_app;
GRANT ALL ON FUNCTION everlore.defer_known() TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.defer_recorded(named text[], thread uuid, went_from integer, went_to integer, session_ended boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.defer_recorded(named text[], thread uuid, went_from integer, went_to integer, session_ended boolean) TO everlore_app;
GRANT ALL ON FUNCTION everlore.defer_recorded(named text[], thread uuid, went_from integer, went_to integer, session_ended boolean) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.delete_workspace(ws uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.delete_workspace(ws uuid) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.embedding_progress() FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.embedding_progress() TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.entities_ending(ending text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.entities_ending(ending text) TO everlore_app;
GRANT ALL ON FUNCTION everlore.entities_ending(ending text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.erase_from_audit(thread uuid, called text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.erase_from_audit(thread uuid, called text) TO everlore_app;
GRANT ALL ON FUNCTION everlore.erase_from_audit(thread uuid, called text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.erase_from_failures(threads uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.erase_from_failures(threads uuid[]) TO everlore_app;
GRANT ALL ON FUNCTION everlore.erase_from_failures(threads uuid[]) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.facts_ending(ending text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.facts_ending(ending text) TO everlore_app;
GRANT ALL ON FUNCTION everlore.facts_ending(ending text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.failed_windows() FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.failed_windows() TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.feedback_alike(question text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.feedback_alike(question text) TO everlore_app;
GRANT ALL ON FUNCTION everlore.feedback_alike(question text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.find_workspace(called text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.find_workspace(called text) TO everlore_app;
GRANT ALL ON FUNCTION everlore.find_workspace(called text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.handed_out_alike(runs bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.handed_out_alike(runs bigint[]) TO everlore_app;
GRANT ALL ON FUNCTION everlore.handed_out_alike(runs bigint[]) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.has_vector_index(model smallint, in_layer everlore.layer) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.has_vector_index(model smallint, in_layer everlore.layer) TO everlore_app;
GRANT ALL ON FUNCTION everlore.has_vector_index(model smallint, in_layer everlore.layer) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.list_workspaces() FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.list_workspaces() TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.memories_ending(ending text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.memories_ending(ending text) TO everlore_app;
GRANT ALL ON FUNCTION everlore.memories_ending(ending text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.messages_ending(ending text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.messages_ending(ending text) TO everlore_app;
GRANT ALL ON FUNCTION everlore.messages_ending(ending text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.normalise(text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.normalise(text) TO everlore_app;
GRANT ALL ON FUNCTION everlore.normalise(text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.open_workspace(id uuid, called text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.open_workspace(id uuid, called text) TO everlore_app;
GRANT ALL ON FUNCTION everlore.open_workspace(id uuid, called text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.passages_within(at_most integer, since timestamp with time zone, until timestamp with time zone, by_author text, in_threads uuid[], under public.ltree, known_by timestamp with time zone, among integer[], branch uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.passages_within(at_most integer, since timestamp with time zone, until timestamp with time zone, by_author text, in_threads uuid[], under public.ltree, known_by timestamp with time zone, among integer[], branch uuid[]) TO everlore_app;
GRANT ALL ON FUNCTION everlore.passages_within(at_most integer, since timestamp with time zone, until timestamp with time zone, by_author text, in_threads uuid[], under public.ltree, known_by timestamp with time zone, among integer[], branch uuid[]) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.query_words(question text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.query_words(question text) TO everlore_app;
GRANT ALL ON FUNCTION everlore.query_words(question text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.refused_passages() FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.refused_passages() TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.register_embedding_model(called text, dims integer) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.register_embedding_model(called text, dims integer) TO everlore_app;
GRANT ALL ON FUNCTION everlore.register_embedding_model(called text, dims integer) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.scopes_with_job(called text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.scopes_with_job(called text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.strip_accents(text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.strip_accents(text) TO everlore_app;
GRANT ALL ON FUNCTION everlore.strip_accents(text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.term_digests(question text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.term_digests(question text) TO everlore_app;
GRANT ALL ON FUNCTION everlore.term_digests(question text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.terms(text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.terms(text) TO everlore_app;
GRANT ALL ON FUNCTION everlore.terms(text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.threads_to_distil(called text, quiet_since timestamp with time zone, settled_since timestamp with time zone, held boolean, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.threads_to_distil(called text, quiet_since timestamp with time zone, settled_since timestamp with time zone, held boolean, at_most integer) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.threads_unindexed(called text, models text[], thorough boolean, held boolean, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.threads_unindexed(called text, models text[], thorough boolean, held boolean, at_most integer) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.threads_within(project text, under public.ltree) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.threads_within(project text, under public.ltree) TO everlore_app;
GRANT ALL ON FUNCTION everlore.threads_within(project text, under public.ltree) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.true_at(valid_from timestamp with time zone, valid_to timestamp with time zone, moment timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.true_at(valid_from timestamp with time zone, valid_to timestamp with time zone, moment timestamp with time zone) TO everlore_app;
GRANT ALL ON FUNCTION everlore.true_at(valid_from timestamp with time zone, valid_to timestamp with time zone, moment timestamp with time zone) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.use_embedding_model(called text) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.use_embedding_model(called text) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.vector_among(model smallint, question public.halfvec, passages integer[], at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.vector_among(model smallint, question public.halfvec, passages integer[], at_most integer) TO everlore_app;
GRANT ALL ON FUNCTION everlore.vector_among(model smallint, question public.halfvec, passages integer[], at_most integer) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.vector_exact(model smallint, question public.halfvec, at_most integer, in_layer everlore.layer) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.vector_exact(model smallint, question public.halfvec, at_most integer, in_layer everlore.layer) TO everlore_app;
GRANT ALL ON FUNCTION everlore.vector_exact(model smallint, question public.halfvec, at_most integer, in_layer everlore.layer) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.vector_hnsw(model smallint, question public.halfvec, at_most integer, since timestamp with time zone, until timestamp with time zone, by_author text, in_threads uuid[], under public.ltree, known_by timestamp with time zone, branch uuid[], in_layer everlore.layer) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.vector_hnsw(model smallint, question public.halfvec, at_most integer, since timestamp with time zone, until timestamp with time zone, by_author text, in_threads uuid[], under public.ltree, known_by timestamp with time zone, branch uuid[], in_layer everlore.layer) TO everlore_app;
GRANT ALL ON FUNCTION everlore.vector_hnsw(model smallint, question public.halfvec, at_most integer, since timestamp with time zone, until timestamp with time zone, by_author text, in_threads uuid[], under public.ltree, known_by timestamp with time zone, branch uuid[], in_layer everlore.layer) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.vector_index_name(model smallint, in_layer everlore.layer) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.vector_index_name(model smallint, in_layer everlore.layer) TO everlore_app;
GRANT ALL ON FUNCTION everlore.vector_index_name(model smallint, in_layer everlore.layer) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.vectors_of(model smallint, passages integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.vectors_of(model smallint, passages integer[]) TO everlore_app;
GRANT ALL ON FUNCTION everlore.vectors_of(model smallint, passages integer[]) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.workspaces_unindexed(called text, models text[], held boolean, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.workspaces_unindexed(called text, models text[], held boolean, at_most integer) TO everlore_worker;

REVOKE ALL ON FUNCTION everlore.workspaces_with_old_keys(called text, now timestamp with time zone, held boolean, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION everlore.workspaces_with_old_keys(called text, now timestamp with time zone, held boolean, at_most integer) TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.alias TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.alias TO everlore_worker;

GRANT SELECT,INSERT ON TABLE everlore.audit_log TO everlore_app;
GRANT SELECT,INSERT ON TABLE everlore.audit_log TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.breaker TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.breaker TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.context TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.context TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.context_item TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.context_item TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.distil_again TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.distil_again TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.distillation TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.distillation TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.distilled_state TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.distilled_state TO everlore_worker;

GRANT SELECT ON TABLE everlore.embedding_model TO everlore_app;
GRANT SELECT ON TABLE everlore.embedding_model TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.entity TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.entity TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.entity_change TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.entity_change TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.erased_turn TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.erased_turn TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.fact TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.fact TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.fact_source TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.fact_source TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.fact_source_before TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.fact_source_before TO everlore_worker;

GRANT SELECT ON TABLE everlore.fact_ground TO everlore_app;
GRANT SELECT ON TABLE everlore.fact_ground TO everlore_worker;

GRANT SELECT ON TABLE everlore.fact_shown TO everlore_app;
GRANT SELECT ON TABLE everlore.fact_shown TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.feedback TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.feedback TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.handed_out TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.handed_out TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.job_failure TO everlore_worker;

GRANT SELECT,UPDATE ON TABLE everlore.lexical_statistics TO everlore_app;
GRANT SELECT,UPDATE ON TABLE everlore.lexical_statistics TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.link_suggestion TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.link_suggestion TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.memory TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.memory TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.memory_entity TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.memory_entity TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.thread TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.thread TO everlore_worker;

GRANT SELECT ON TABLE everlore.memory_shown TO everlore_app;
GRANT SELECT ON TABLE everlore.memory_shown TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.memory_source TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.memory_source TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.mention TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.mention TO everlore_worker;

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

GRANT SELECT ON TABLE everlore.step TO everlore_app;
GRANT SELECT ON TABLE everlore.step TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.taxonomy_node TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.taxonomy_node TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.taxonomy_suggestion TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.taxonomy_suggestion TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.unembedded TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.unembedded TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.usage TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.usage TO everlore_worker;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.watermark TO everlore_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE everlore.watermark TO everlore_worker;

GRANT SELECT ON TABLE everlore.workspace TO everlore_app;
GRANT SELECT ON TABLE everlore.workspace TO everlore_worker;
