-- defer: leave a job of a step
select everlore.defer(%(step)s, %(scope_id)s, %(close)s);

-- defer_recorded: leave the jobs of those of the named steps that have something new to do in a thread
select everlore.defer_recorded(%(steps)s::text[], %(thread_id)s, %(went_from)s, %(went_to)s, %(session_ended)s);

-- defer_known: leave the jobs of the steps that follow what is distilled or told
select everlore.defer_known();

-- steps: the background steps that the database knows
select name, queue, scope, every, watermark from everlore.step order by name;

-- describe_step: make a step known, or known anew
insert into everlore.step (name, queue, scope, every, watermark)
values (%(name)s, %(queue)s, %(scope)s, %(every)s, %(watermark)s)
on conflict (name) do update set queue = excluded.queue, scope = excluded.scope, every = excluded.every,
    watermark = excluded.watermark;

-- by_step: how many jobs of each step wait, run and are parked
select task_name, status::text, count(*) from jobs.procrastinate_jobs group by task_name, status order by task_name, status;

-- parked: jobs that failed for good, with the reason, and the memory and thread that they are about
select j.id as job_id, j.task_name as step, coalesce(w.name, '') as workspace, (j.args ->> 'workspace_id')::uuid as workspace_id,
       (j.args ->> 'scope_id')::uuid as scope_id, coalesce((j.args ->> 'close')::boolean, false) as close, j.attempts,
       f.failed_at, f.error
from jobs.procrastinate_jobs j
left join everlore.job_failure f on f.job_id = j.id
left join everlore.list_workspaces() w on w.workspace_id = (j.args ->> 'workspace_id')::uuid
where j.status = 'failed' order by j.id;

-- note_failure: why a job failed
insert into everlore.job_failure (job_id, error) values (%(job_id)s, %(error)s)
on conflict (job_id) do update set failed_at = now(), error = excluded.error;

-- forget_failures: of jobs that have succeeded or gone since
delete from everlore.job_failure f where not exists (select from jobs.procrastinate_jobs j where j.id = f.job_id);

-- live_lanes: lanes of workers that were heard of within the given seconds
select count(*) from jobs.procrastinate_workers where last_heartbeat > now() - make_interval(secs => %(seconds)s);

-- put_off: jobs of a step that wait for a moment, of the given scopes
select id from jobs.procrastinate_jobs
where task_name = %(step)s and status = 'todo' and scheduled_at is not null
  and lock = any (%(locks)s);

-- put_off_until: jobs of a workspace that wait for a moment within a second of the given ones (the queue may keep whole seconds)
select j.id as job_id, j.task_name as step, (j.args ->> 'scope_id')::uuid as scope_id,
       coalesce((j.args ->> 'close')::boolean, false) as close
from jobs.procrastinate_jobs j
where j.status = 'todo' and (j.args ->> 'workspace_id')::uuid = %(workspace_id)s and exists (
    select from unnest(%(times)s::timestamptz[]) as t where abs(extract(epoch from j.scheduled_at - t)) < 1);

-- unfinished: of the given scopes those with a job of the step that runs, or may run now. Behind one that is put off nothing moves
select lock from jobs.procrastinate_jobs
where task_name = %(step)s and status in ('todo', 'doing') and lock = any (%(locks)s)
group by lock
having bool_or(status = 'doing') or not bool_or(scheduled_at is not null);
