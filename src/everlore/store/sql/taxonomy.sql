-- suggest_path: a path that a thread may belong to; once more if it was suggested before. Not where the thread is already.
insert into everlore.taxonomy_suggestion (workspace_id, suggestion_id, thread_id, path, recorded_at)
select everlore.current_workspace(), %(id)s, t.thread_id, %(path)s::text::ltree, %(now)s
from everlore.thread t
where t.thread_id = %(thread_id)s and t.taxonomy::text is distinct from %(path)s
on conflict (workspace_id, thread_id, path) do update set times = taxonomy_suggestion.times + 1
    where taxonomy_suggestion.decided_at is null;

-- labels: the labels of paths
select path::text, label from everlore.taxonomy_node;

-- threads_by_path: how many threads are at which path
select coalesce(t.taxonomy, p.taxonomy)::text, count(*)
from everlore.thread t left join everlore.project p on p.workspace_id = t.workspace_id and p.project_id = t.project_id
where coalesce(t.taxonomy, p.taxonomy) is not null
group by 1;

-- label_path: what a path is called
insert into everlore.taxonomy_node (workspace_id, path, label, created_at)
values (everlore.current_workspace(), %(path)s::text::ltree, %(label)s, %(now)s)
on conflict (workspace_id, path) do update set label = excluded.label;

-- waiting: suggestions that nobody decided, the most frequent first
select s.suggestion_id, t.name, s.path::text, s.times, s.recorded_at
from everlore.taxonomy_suggestion s cross join lateral (
    select name from everlore.thread where thread_id = s.thread_id offset 0
) as t
where s.decided_at is null
order by s.times desc, s.recorded_at, s.suggestion_id
limit %(at_most)s;

-- lock_suggested: one of them, locked
select s.thread_id, s.path::text, s.decided_at from everlore.taxonomy_suggestion s
where s.suggestion_id = %(suggestion_id)s for no key update;

-- decide_path: what a person decided
update everlore.taxonomy_suggestion set decided_at = %(now)s, accepted = %(accepted)s
where workspace_id = everlore.current_workspace() and suggestion_id = %(suggestion_id)s;

-- set_path: where a thread belongs
update everlore.thread set taxonomy = %(path)s::text::ltree
where workspace_id = everlore.current_workspace() and thread_id = %(thread_id)s;
