-- open_workspace: the workspace of that name, made if need be
select everlore.open_workspace(%(id)s, %(name)s);

-- workspace_exists: whether there is a workspace of that name
select everlore.workspace_exists(%(name)s);

-- list_workspaces: all of them, with what is in them
select workspace_id, name, created_at, threads, messages, last_at from everlore.list_workspaces();

-- find_workspace: the id of a workspace by its name
select workspace_id from everlore.list_workspaces() where name = %(name)s;

-- delete_workspace: a workspace with all that is in it; answers how many rows of each kind went
select everlore.delete_workspace(%(workspace_id)s);

-- embedding_progress: the embedding models, and how many threads and how much of what is distilled each still lacks
select name, dimensions, in_use, threads_behind, distilled_behind from everlore.embedding_progress();

-- use_embedding_model: switch the model that answers questions
select everlore.use_embedding_model(%(name)s);

-- threads_behind: threads of all workspaces that lack vectors of one of the named models
select workspace_id, thread_id from everlore.threads_behind(%(models)s, %(thorough)s, %(at_most)s);

-- workspaces_unembedded: workspaces where something distilled lacks vectors of one of the named models
select everlore.workspaces_unembedded(%(models)s, %(at_most)s);

-- jobs_by_status: how many jobs wait, run and are parked
select status::text, count(*) from jobs.procrastinate_jobs group by status;

-- parked_jobs: jobs that failed for good, with the reason
select j.id, j.task_name, j.attempts, j.args, f.failed_at, f.error
from jobs.procrastinate_jobs j left join everlore.job_failure f on f.job_id = j.id
where j.status = 'failed' order by j.id;

-- note_failure: why a job failed
insert into everlore.job_failure (job_id, error) values (%(job_id)s, %(error)s)
on conflict (job_id) do update set failed_at = now(), error = excluded.error;

-- forget_failures: of jobs that have succeeded or gone since
delete from everlore.job_failure f where not exists (select from jobs.procrastinate_jobs j where j.id = f.job_id);

-- live_workers: workers that were heard of within the given seconds
select count(*) from jobs.procrastinate_workers where last_heartbeat > now() - make_interval(secs => %(seconds)s);

-- version: of the server
show server_version;
