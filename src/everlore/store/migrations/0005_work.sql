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
-- Rows are called dear, so that the index is taken instead of the primary key (and so of every row of the workspace) before the
-- table was ever analysed, too.
create function everlore.handed_out_alike(runs bigint[]) returns table (text_hash bytea, shingles bigint[])
    language plpgsql stable security definer
    set search_path = everlore, public, pg_temp
    set plan_cache_mode = force_custom_plan
    set enable_seqscan = off
    set cpu_tuple_cost = 10
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
    begin
        return query
            select h.text_hash, h.shingles from everlore.handed_out h
            where h.workspace_id = ws and h.shingles && runs;
    end $$;

-- The background steps, as `everlore.work.steps` describes them: `everlore db migrate` writes them here. `scope`: what a job
-- is about. `every`: recording leaves a job whenever so many more positions of a thread are full and it goes on, and where a session ends (of a
-- step on workspaces: whatever is distilled or told leaves one); null: it leaves none. `watermark`: recording raises its mark.
create table everlore.step (
    name text primary key,
    queue text not null,
    scope text not null check (scope in ('thread', 'workspace')),
    every integer check (every > 0),
    watermark boolean not null
);

-- The one door through which a job is left, on the caller's transaction: rows and work are one commit. Only for what is of the
-- current workspace. The lock keeps two workers off one scope; there is no queueing lock, since a second writer that skips
-- because a job is queued loses its wake-up when that job starts before it commits.
create function everlore.defer(called text, scope_id uuid, "close" boolean default false) returns void
    language plpgsql volatile security definer
    set search_path = jobs, pg_temp
    as $$
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

-- After recording: a job for each of the named steps that has something new to do in the thread, which went on from one
-- position to another: so many positions are full, and (of more than one) the thread goes on behind them, so that they stand.
create function everlore.defer_recorded(named text[], thread uuid, went_from integer, went_to integer, session_ended boolean)
    returns void
    language sql volatile
    set search_path = everlore, pg_temp
    as $$
        select everlore.defer(s.name, thread) from everlore.step s
        where s.scope = 'thread' and s.name = any (named) and ((went_to - 1) / s.every > (went_from - 1) / s.every or session_ended and s.every > 1)
        order by s.name
    $$;

-- After something was distilled or told: a job for each step that has something new to do in this workspace.
create function everlore.defer_known() returns void
    language sql volatile
    set search_path = everlore, pg_temp
    as $$
        select everlore.defer(s.name, everlore.current_workspace()) from everlore.step s
        where s.scope = 'workspace' and s.every is not null
        order by s.name
    $$;

-- The scopes that a step has a job for, one that waits, runs or was parked, and whether one of them is being run.
create function everlore.scopes_with_job(called text) returns table (workspace_id uuid, scope_id uuid, running boolean)
    language sql stable
    set search_path = jobs, pg_temp
    as $$
        select (j.args ->> 'workspace_id')::uuid, (j.args ->> 'scope_id')::uuid, bool_or(j.status = 'doing')
        from jobs.procrastinate_jobs j
        where j.task_name = called and j.status in ('todo', 'doing', 'failed')
        group by 1, 2
    $$;

-- What lags and what failed is looked for in all workspaces, which row-level security keeps from every login, the workers' too:
-- each such question is a function that runs as the owner. (A view with its owner's rights would be a query in the step's own
-- file, but a cluster runs a view as whoever asks, and the nodes' policies then hide every row; a policy that lets workers
-- read all would take the lock off everything else that they do.)

-- Threads of all workspaces that lack vectors of one of the named models: for the sweep, so for workers only. Those that nobody
-- has a job for, or (`held`) those whose job is being run.
-- Marks that are behind have a small index of their own. Only a thread that a model has no mark in at all (it was written to
-- while the model was made known) must be looked for among all threads; `thorough` asks for that too.
create function everlore.threads_unindexed(called text, models text[], thorough boolean, held boolean, at_most integer)
    returns table (workspace_id uuid, thread_id uuid)
    language sql stable security definer
    set search_path = everlore, pg_temp
    as $$
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

-- Workspaces where something distilled lacks vectors of one of the named models, and that nobody has a job for, or (`held`)
-- whose job is being run: for the sweep, so for workers only.
create function everlore.workspaces_unindexed(called text, models text[], held boolean, at_most integer) returns setof uuid
    language sql stable security definer
    set search_path = everlore, pg_temp
    as $$
        select w.workspace_id
        from everlore.workspace w left join everlore.scopes_with_job(called) as job on job.workspace_id = w.workspace_id
        where exists (select from everlore.unembedded u join everlore.embedding_model m using (model_id)
                      where u.workspace_id = w.workspace_id and u.refused is null and m.name = any (models))
          and case when held then job.running else job.scope_id is null end
        limit at_most
    $$;

-- Threads of all workspaces that have a window to distil: a whole one, or a shorter last one that nothing was added to since
-- `quiet_since`; and that stands: the path goes on behind it, or was not added to since `settled_since`. Those that nobody has a job for, or (`held`) whose job is being run. For the sweep, so for workers only.
create function everlore.threads_to_distil(
    called text, quiet_since timestamptz, settled_since timestamptz, held boolean, at_most integer)
    returns table (workspace_id uuid, thread_id uuid)
    language sql stable security definer
    set search_path = everlore, pg_temp
    as $$
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

-- Workspaces with keys that nobody said again in time, and that nobody has a job for, or (`held`) whose job is being run: for the
-- sweep, so for workers only.
create function everlore.workspaces_with_old_keys(called text, now timestamptz, held boolean, at_most integer) returns setof uuid
    language sql stable security definer
    set search_path = everlore, pg_temp
    as $$
        select w.workspace_id
        from everlore.workspace w left join everlore.scopes_with_job(called) as job on job.workspace_id = w.workspace_id
        where exists (select from everlore.memory m
                      where m.workspace_id = w.workspace_id and m.tier = 'key' and m.expires_at <= now)
          and case when held then job.running else job.scope_id is null end
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
          and (j.args ->> 'scope_id' = ws::text or j.args ->> 'scope_id' = any (threads::text[]));
        get diagnostics changed = row_count;
        return changed;
    end $$;
