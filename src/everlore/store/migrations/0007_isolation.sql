-- Isolation: row-level security on every table of a workspace, the doors into one, and what each role may do.

do $$
declare
    name text;
begin
    for name in select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id'
                where c.relnamespace = 'everlore'::regnamespace and c.relkind in ('r', 'p') loop
        execute format('alter table everlore.%I enable row level security', name);
    end loop;
    -- Partitions have none of their own: whoever does not own them reads them by way of their table only.
    for name in select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id'
                where c.relnamespace = 'everlore'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition loop
        execute format('create policy own_workspace on everlore.%I using (workspace_id = everlore.current_workspace())', name);
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
                insert into everlore.lexical_statistics (workspace_id, layer)
                    select found_id, unnest(array['said', 'branches', 'known', 'keys', 'told', 'documents']);
                insert into everlore.distilled_state (workspace_id) values (found_id);
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

-- Takes a workspace and all that is in it, its waiting jobs included; answers how many rows of each kind went. A job that runs
-- finds nothing any more, and ends. For the operator's side.
create function everlore.delete_workspace(ws uuid) returns jsonb
    language plpgsql volatile security definer
    -- The queue's triggers need it.
    set search_path = jobs, pg_temp
    as $$
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

revoke all on all functions in schema everlore from public;
grant usage on schema everlore to everlore_app, everlore_worker;

-- Both write what they capture and derive, inside one workspace at a time.
grant select on everlore.workspace to everlore_app, everlore_worker;
grant select, insert, update, delete on
    everlore.project, everlore.thread, everlore.session, everlore.message, everlore.erased_turn, everlore.passage, everlore.passage_tokens,
    everlore.posting_block, everlore.posting_segment, everlore.watermark, everlore.passage_vector, everlore.unembedded,
    everlore.memory, everlore.memory_source, everlore.entity, everlore.alias, everlore.mention, everlore.memory_entity,
    everlore.fact, everlore.fact_source, everlore.fact_source_before, everlore.entity_change, everlore.link_suggestion, everlore.taxonomy_node,
    everlore.taxonomy_suggestion, everlore.distillation, everlore.distil_again, everlore.usage, everlore.breaker,
    everlore.handed_out, everlore.distilled_state, everlore.feedback
    to everlore_app, everlore_worker;
grant select on everlore.memory_shown, everlore.fact_shown, everlore.fact_ground to everlore_app, everlore_worker;
grant select, update on everlore.passage_counter, everlore.lexical_statistics to everlore_app, everlore_worker;
grant select, insert on everlore.audit_log to everlore_app, everlore_worker;
grant select on everlore.embedding_model, everlore.step, everlore.migration to everlore_app, everlore_worker;

grant execute on function
    everlore.strip_accents(text), everlore.normalise(text), everlore.terms(text), everlore.query_words(text), everlore.term_digests(text),
    everlore.current_workspace(), everlore.open_workspace(uuid, text), everlore.find_workspace(text),
    everlore.believed_at(timestamptz, timestamptz, timestamptz), everlore.true_at(timestamptz, timestamptz, timestamptz),
    everlore.defer(text, uuid, boolean), everlore.defer_recorded(text[], uuid, integer, integer, boolean),
    everlore.defer_known(),
    everlore.vector_exact(smallint, halfvec, integer, everlore.layer), everlore.vector_among(smallint, halfvec, integer[], integer),
    everlore.vectors_of(smallint, integer[]),
    everlore.vector_hnsw(smallint, halfvec, integer, timestamptz, timestamptz, text, uuid[], ltree, timestamptz, uuid[], everlore.layer),
    everlore.passages_within(integer, timestamptz, timestamptz, text, uuid[], ltree, timestamptz, integer[], uuid[]),
    everlore.vector_index_name(smallint, everlore.layer), everlore.has_vector_index(smallint, everlore.layer),
    everlore.register_embedding_model(text, integer), everlore.threads_within(text, ltree),
    everlore.messages_ending(text), everlore.memories_ending(text), everlore.facts_ending(text), everlore.entities_ending(text),
    everlore.aliases_similar(text[], real, integer), everlore.aliases_with_word(text[], integer),
    everlore.handed_out_alike(bigint[]), everlore.feedback_alike(text), everlore.erase_from_audit(uuid, text), everlore.erase_from_failures(uuid[])
    to everlore_app, everlore_worker;
grant execute on function
    everlore.scopes_with_job(text), everlore.threads_unindexed(text, text[], boolean, boolean, integer),
    everlore.workspaces_unindexed(text, text[], boolean, integer),
    everlore.workspaces_with_old_keys(text, timestamptz, boolean, integer),
    everlore.threads_to_distil(text, timestamptz, timestamptz, boolean, integer), everlore.failed_windows(),
    everlore.list_workspaces(), everlore.delete_workspace(uuid),
    everlore.build_vector_index(smallint, everlore.layer),
    everlore.use_embedding_model(text), everlore.embedding_progress(), everlore.refused_passages()
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
