-- Isolation of what is distilled, and the doors through which its work is left behind and found.

do $$
declare
    name text;
begin
    foreach name in array array[
        'memory', 'memory_source', 'entity', 'alias', 'mention', 'memory_entity', 'fact', 'fact_source', 'entity_change',
        'link_suggestion', 'taxonomy_node', 'taxonomy_suggestion', 'distillation', 'distil_again', 'usage', 'breaker',
        'handed_out', 'distilled_state'] loop
        execute format('alter table everlore.%I enable row level security', name);
        execute format('create policy own_workspace on everlore.%I using (workspace_id = everlore.current_workspace())', name);
        execute format('grant select, insert, update, delete on everlore.%I to everlore_app, everlore_worker', name);
    end loop;
end $$;

-- Rows as they are shown, names beside ids. The policies of whoever asks hold.
create view everlore.memory_shown with (security_invoker = true) as
    select m.memory_id, m.lineage_id, m.version, m.type, m.content, m.category, m.tags, m.importance, m.confidence,
           m.valid_from, m.valid_to, m.recorded_at, m.superseded_at, m.superseded_by, m.event_at, m.expires_at, m.generation,
           m.pinned, m.confirmed, m.source_kind, m.review, m.review_reason, m.forgotten_at, m.author, m.role,
           (select t.name from everlore.thread t where t.workspace_id = m.workspace_id and t.thread_id = m.thread_id) as thread,
           m.taxonomy::text as taxonomy, m.reasoning, m.extractor, m.extractor_version,
           array(select e.name from everlore.memory_entity x join everlore.entity e
                 on e.workspace_id = x.workspace_id and e.entity_id = x.entity_id
                 where x.workspace_id = m.workspace_id and x.lineage_id = m.lineage_id order by e.name) as entities,
           m.access_count, m.last_access_at,
           m.workspace_id, m.thread_id, m.first_position, m.content_hash, m.passage_id, m.taxonomy as path
    from everlore.memory m;
create view everlore.fact_shown with (security_invoker = true) as
    select f.fact_id, f.lineage_id, f.version, f.subject_id,
           (select e.name from everlore.entity e where e.workspace_id = f.workspace_id and e.entity_id = f.subject_id) as subject,
           f.predicate, f.object_id,
           coalesce((select e.name from everlore.entity e where e.workspace_id = f.workspace_id and e.entity_id = f.object_id),
                    f.object) as object,
           f.confidence, f.valid_from, f.valid_to, f.recorded_at, f.superseded_at, f.superseded_by, f.review, f.review_reason,
           f.workspace_id, f.object_key, f.passage_id
    from everlore.fact f;
grant select on everlore.memory_shown, everlore.fact_shown to everlore_app, everlore_worker;

-- What a person says off the record is kept as a message and never distilled.
alter table everlore.message add column off_the_record boolean not null default false;

insert into everlore.distilled_state (workspace_id) select workspace_id from everlore.workspace;
insert into everlore.watermark (workspace_id, step, thread_id, written)
    select workspace_id, 'distil', thread_id, last_position from everlore.thread;

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
                insert into everlore.lexical_statistics (workspace_id) values (found_id);
                insert into everlore.distilled_state (workspace_id) values (found_id);
            end if;
        end if;
        return found_id;
    end $$;

-- Threads of all workspaces that have a window to distil: a whole one, or a shorter last one that nothing was added to since
-- `quiet_since`; those that nobody has a job for, or (`held`) whose job is being run. For the sweep, so for workers only.
create function everlore.threads_to_distil(called text, quiet_since timestamptz, held boolean, at_most integer)
    returns table (workspace_id uuid, thread_id uuid)
    language sql stable security definer
    set search_path = everlore, pg_temp
    as $$
        select lagging.workspace_id, lagging.thread_id from (
            select w.workspace_id, w.thread_id
            from everlore.watermark w
            where w.position < w.written and w.step = called
              and (w.written - w.position >= (select s.every from everlore.step s where s.name = called) or not exists (
                  select from everlore.message m
                  where m.workspace_id = w.workspace_id and m.thread_id = w.thread_id and m.position = w.written
                    and m.recorded_at >= quiet_since))
            union
            select a.workspace_id, a.thread_id from everlore.distil_again a
        ) as lagging
        left join everlore.scopes_with_job(called) as job on job.scope_id = lagging.thread_id
        where case when held then job.running else job.scope_id is null end
        limit at_most
    $$;

-- Ids by their end, as a person types them: memories and facts beside messages.
create function everlore.memories_ending(ending text) returns setof uuid
    language plpgsql stable security definer
    set search_path = everlore, pg_temp
    set plan_cache_mode = force_custom_plan
    as $$
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

create function everlore.facts_ending(ending text) returns setof uuid
    language plpgsql stable security definer
    set search_path = everlore, pg_temp
    set plan_cache_mode = force_custom_plan
    as $$
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

-- Windows of all workspaces that could not be read: for the operator's side.
create function everlore.failed_windows()
    returns table (workspace text, workspace_id uuid, thread text, thread_id uuid, first integer, last integer,
                   extractor text, error text, failed_at timestamptz)
    language sql stable security definer
    set search_path = everlore, pg_temp
    as $$
        select w.name, w.workspace_id, t.name, t.thread_id, d.first, d.last, d.extractor, d.error, d.distilled_at
        from everlore.distillation d join everlore.thread t using (workspace_id, thread_id) join everlore.workspace w using (workspace_id)
        where d.error is not null and d.superseded_at is null
        order by d.distilled_at
    $$;

grant execute on function
    everlore.memories_ending(text), everlore.facts_ending(text)
    to everlore_app, everlore_worker;
grant execute on function everlore.threads_to_distil(text, timestamptz, boolean, integer), everlore.failed_windows() to everlore_worker;
