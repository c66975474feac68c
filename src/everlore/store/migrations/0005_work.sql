-- Running: watermarks, the doors through which the application may leave a job behind, what the sweep asks for, and what models cost.

-- How far each background step has come with each thread, in message positions. `written` is how far the thread went
-- when the row was last touched by a writer; a row with position < written is work to do.
create table everlore.watermark (
    workspace_id uuid not null,
    step text not null,
    thread_id uuid not null,
    position integer not null default 0,
    written integer not null default 0,
    primary key (workspace_id, step, thread_id),
    foreign key (workspace_id, thread_id) references everlore.thread on delete cascade
);
create index watermark_behind on everlore.watermark (workspace_id, step, thread_id) include (position, written)
    where position < written;

-- Why a job failed the last time. The queue keeps the job, this keeps the reason; both go when it succeeds.
create table everlore.job_failure (
    job_id bigint primary key,
    failed_at timestamptz not null default now(),
    error text not null
);

-- What models cost: per workspace, day (UTC) and model. `cost` is in the currency of the prices that were given.
create table everlore.usage (
    workspace_id uuid not null references everlore.workspace on delete cascade,
    day date not null,
    model text not null,
    calls bigint not null default 0,
    failed bigint not null default 0,
    tokens_in bigint not null default 0,
    tokens_out bigint not null default 0,
    cost numeric(20, 8) not null default 0,
    primary key (workspace_id, day, model)
);

-- The breaker: failures in a row of a model in a workspace, and until when it is left alone.
create table everlore.breaker (
    workspace_id uuid not null references everlore.workspace on delete cascade,
    model text not null,
    failures integer not null default 0,
    open_until timestamptz,
    primary key (workspace_id, model)
);

-- Text that Everlore handed out, by hash and by shingles, so that it is recognised when it comes back in a transcript.
create table everlore.handed_out (
    workspace_id uuid not null references everlore.workspace on delete cascade,
    text_hash bytea not null,
    shingles bigint[] not null,
    handed_out_at timestamptz not null,
    primary key (workspace_id, text_hash)
);
create index handed_out_shingles on everlore.handed_out using gin (workspace_id, shingles);
-- Looked up far more often than written, and never to wait for a vacuum.
alter index everlore.handed_out_shingles set (fastupdate = off);

-- What was handed out and shares a run of words with a text: `&&` is not leakproof, so no policy lets it use the index.
-- The workspace is compared as text: as a key it would lead to the primary key, and so to every row of the workspace, as long as
-- the table was never analysed. Runs are rare enough to find their rows by themselves.
create function everlore.handed_out_alike(runs bigint[]) returns table (text_hash bytea, shingles bigint[])
    language plpgsql stable security definer
    set search_path = everlore, public, pg_temp
    set plan_cache_mode = force_custom_plan
    set enable_seqscan = off
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
    begin
        return query
            select h.text_hash, h.shingles from everlore.handed_out h
            where h.shingles && runs and h.workspace_id::text = ws::text;
    end $$;

-- Leaves a job for this workspace's thread on the caller's transaction: message and work are one commit.
-- The lock keeps two workers off one thread.
create function everlore.defer_index(thread uuid) returns void
    language sql volatile security definer
    set search_path = jobs, pg_temp
    as $$
        select jobs.procrastinate_defer_jobs_v1(array[row(
            'index', 'index_thread', 0, thread::text, null,
            jsonb_build_object('workspace_id', everlore.current_workspace(), 'thread_id', thread), null
        )::jobs.procrastinate_job_to_defer_v1])
        where everlore.current_workspace() is not null
          and exists (select from everlore.thread t
                      where t.workspace_id = everlore.current_workspace() and t.thread_id = thread)
    $$;

-- Leaves a job on the caller's transaction that embeds what is distilled in this workspace.
create function everlore.defer_index_distilled() returns void
    language sql volatile security definer
    set search_path = jobs, pg_temp
    as $$
        select jobs.procrastinate_defer_jobs_v1(array[row(
            'index', 'index_distilled', 0, 'distilled:' || everlore.current_workspace()::text, null,
            jsonb_build_object('workspace_id', everlore.current_workspace()), null
        )::jobs.procrastinate_job_to_defer_v1])
        where everlore.current_workspace() is not null
    $$;

-- Leaves a distil job for this workspace's thread on the caller's transaction. Its lock keeps two workers off one thread, and
-- is another than that of indexing: a slow model must not hold up search.
create function everlore.defer_distil(thread uuid) returns void
    language sql volatile security definer
    set search_path = jobs, pg_temp
    as $$
        select jobs.procrastinate_defer_jobs_v1(array[row(
            'distil', 'distil_thread', 0, 'distil:' || thread::text, null,
            jsonb_build_object('workspace_id', everlore.current_workspace(), 'thread_id', thread), null
        )::jobs.procrastinate_job_to_defer_v1])
        where everlore.current_workspace() is not null
          and exists (select from everlore.thread t
                      where t.workspace_id = everlore.current_workspace() and t.thread_id = thread)
    $$;

-- Threads of all workspaces that lack vectors of one of the named models: for the sweep, so for workers only.
-- Marks that are behind have a small index of their own. Only a thread that a model has no mark in at all (it was written to
-- while the model was made known) must be looked for among all threads; `thorough` asks for that too.
create function everlore.threads_behind(models text[], thorough boolean, at_most integer)
    returns table (workspace_id uuid, thread_id uuid)
    language sql stable security definer
    set search_path = everlore, pg_temp
    as $$
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

-- Workspaces where something distilled lacks vectors of one of the named models: for the sweep, so for workers only.
create function everlore.workspaces_unembedded(models text[], at_most integer) returns setof uuid
    language sql stable security definer
    set search_path = everlore, pg_temp
    as $$
        select w.workspace_id
        from everlore.workspace w
        where exists (select from everlore.unembedded u join everlore.embedding_model m using (model_id)
                      where u.workspace_id = w.workspace_id and m.name = any (models))
        limit at_most
    $$;

-- Threads of all workspaces that have a window to distil: a whole one, or a shorter last one that nothing was added to since
-- `quiet_since`. For the sweep, so for workers only.
create function everlore.threads_to_distil(quiet_since timestamptz, at_most integer)
    returns table (workspace_id uuid, thread_id uuid)
    language sql stable security definer
    set search_path = everlore, pg_temp
    as $$
        select w.workspace_id, w.thread_id
        from everlore.watermark w
        where w.position < w.written and w.step = 'distil'
          and (w.written - w.position >= 10 or not exists (
              select from everlore.message m
              where m.workspace_id = w.workspace_id and m.thread_id = w.thread_id and m.position = w.written
                and m.recorded_at >= quiet_since))
        union
        select a.workspace_id, a.thread_id from everlore.distil_again a
        limit at_most
    $$;

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

-- Why jobs of these threads failed may quote what was said in them: only the kind of the error stays.
create function everlore.erase_from_failures(threads uuid[]) returns bigint
    language plpgsql volatile security definer
    set search_path = everlore, pg_temp
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
        changed bigint;
    begin
        update everlore.job_failure f
        set error = coalesce(substring(f.error from '^[A-Za-z]{1,40}'), 'Error') || ' (the words were erased)'
        from jobs.procrastinate_jobs j
        where j.id = f.job_id and j.args ->> 'workspace_id' = ws::text
          and (j.args ->> 'thread_id' is null or j.args ->> 'thread_id' = any (threads::text[]));
        get diagnostics changed = row_count;
        return changed;
    end $$;
