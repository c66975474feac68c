-- labels: the labels of paths
select path::text, label from everlore.taxonomy_node where workspace_id = %(workspace)s;

-- threads_by_path: how many threads are at which path
select coalesce(t.taxonomy, p.taxonomy)::text, count(*)
from everlore.thread t left join everlore.project p on p.workspace_id = t.workspace_id and p.project_id = t.project_id
where t.workspace_id = %(workspace)s and coalesce(t.taxonomy, p.taxonomy) is not null
group by 1;

-- label_path: what a path is called
insert into everlore.taxonomy_node (workspace_id, path, label, created_at)
values (%(workspace)s, %(path)s::text::ltree, %(label)s, %(now)s)
on conflict (workspace_id, path) do update set label = excluded.label;

-- waiting: suggestions that nobody decided, the most frequent first
select s.suggestion_id, t.name as thread, s.path::text, s.times, s.recorded_at
from everlore.taxonomy_suggestion s cross join lateral (
    select name from everlore.thread where workspace_id = %(workspace)s and thread_id = s.thread_id offset 0
) as t
where s.workspace_id = %(workspace)s and s.decided_at is null
order by s.times desc, s.recorded_at, s.suggestion_id
limit %(at_most)s;

-- lock_suggested: one of them, locked
select s.thread_id, s.path::text, s.decided_at from everlore.taxonomy_suggestion s
where s.workspace_id = %(workspace)s and s.suggestion_id = %(suggestion_id)s for no key update;

-- decide_path: what a person decided
update everlore.taxonomy_suggestion set decided_at = %(now)s, accepted = %(accepted)s
where workspace_id = %(workspace)s and suggestion_id = %(suggestion_id)s;

-- set_path: where a thread belongs
update everlore.thread set taxonomy = %(path)s::text::ltree
where workspace_id = %(workspace)s and thread_id = %(thread_id)s;
