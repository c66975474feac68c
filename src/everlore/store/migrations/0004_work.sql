-- Running: watermarks, and the one door through which the application may leave a job behind.

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

-- Why a job failed the last time. The queue keeps the job, this keeps the reason; both go when it succeeds.
create table everlore.job_failure (
    job_id bigint primary key,
    failed_at timestamptz not null default now(),
    error text not null
);
