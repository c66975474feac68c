-- mark: how far a thread is distilled, how far it goes, when it was last written to, and where its path ends since when
select coalesce(w.position, 0) as position, t.last_position as written, t.last_at, t.taxonomy::text as taxonomy,
       tip.position as tip, tip.recorded_at as tip_at
from everlore.thread t
left join everlore.message tip on tip.workspace_id = t.workspace_id and tip.message_id = t.tip_id
left join everlore.watermark w on w.workspace_id = t.workspace_id and w.thread_id = t.thread_id and w.step = 'distil'
where t.workspace_id = %(workspace)s and t.thread_id = %(thread_id)s;

-- said: the messages of a stretch of a thread that are on its path, without their texts
select message_id, position, session_id, role, author, occurred_at as at, recorded_at, captions, off_the_record, system_prompt
from everlore.message
where workspace_id = %(workspace)s and thread_id = %(thread_id)s and position >= %(first)s
  and position <= %(last)s and on_path order by position;

-- earlier: the messages of the path before a position, the last one first, without their texts
select message_id, position, session_id, role, author, occurred_at as at, recorded_at, captions, off_the_record, system_prompt
from everlore.message
where workspace_id = %(workspace)s and thread_id = %(thread_id)s
  and position < %(before)s and on_path order by position desc limit %(at_most)s;

-- off_path: the messages of a stretch of a thread that are off its path
select message_id from everlore.message
where workspace_id = %(workspace)s and thread_id = %(thread_id)s and not on_path
  and position >= %(first)s and position <= %(last)s;

-- unmention: messages that are off the path name nobody; returns whom they named
delete from everlore.mention
where workspace_id = %(workspace)s and message_id = any (%(messages)s::uuid[]) returning entity_id;

-- lock_workspace: one commit of what is distilled at a time
select from everlore.distilled_state where workspace_id = %(workspace)s for update;

-- lock_mark: how far the thread is distilled, made if need be, locked
insert into everlore.watermark (workspace_id, step, thread_id)
select t.workspace_id, 'distil', t.thread_id from everlore.thread t
where t.workspace_id = %(workspace)s and t.thread_id = %(thread_id)s for key share
on conflict (workspace_id, step, thread_id) do update set position = watermark.position
returning position;

-- advance: the thread is distilled so far
update everlore.watermark set position = greatest(position, %(upto)s), written = greatest(written, %(upto)s)
where workspace_id = %(workspace)s and step = 'distil' and thread_id = %(thread_id)s;

-- lock_messages: of these messages those that are still there, on the path
select m.message_id from unnest(%(messages)s::uuid[]) as given (message_id) cross join lateral (
    select message_id from everlore.message
    where workspace_id = %(workspace)s and message_id = given.message_id and on_path offset 0 for key share
) as m;

-- on_path: how many messages of a stretch of a thread are on its path
select count(*) from everlore.message
where workspace_id = %(workspace)s and thread_id = %(thread_id)s and on_path
  and position >= %(first)s and position <= %(last)s;

-- lock_again: whether a window is on the list of those to be read anew
select first from everlore.distil_again
where workspace_id = %(workspace)s and thread_id = %(thread_id)s and first = %(first)s for update;

-- retract_statements: what extraction read in some messages no longer counts
update everlore.fact_source s set retracted_at = %(retracted_at)s
from everlore.fact f
where s.workspace_id = %(workspace)s and s.message_id = any (%(messages)s::uuid[]) and s.retracted_at is null
  and f.workspace_id = s.workspace_id and f.fact_id = s.lineage_id and f.extractor is not null
returning f.subject_id, f.predicate, f.object_key;

-- retract_sources: what extraction found in some messages no longer counts
update everlore.memory_source s set retracted_at = %(retracted_at)s
where s.workspace_id = %(workspace)s and s.message_id = any (%(messages)s::uuid[]) and s.retracted_at is null
  and exists (select from everlore.memory m
              where m.workspace_id = s.workspace_id and m.memory_id = s.lineage_id and m.source_kind = 'extracted')
returning s.lineage_id;

-- supersede_windows: what was read of a span before
update everlore.distillation set superseded_at = %(at)s
where workspace_id = %(workspace)s and thread_id = %(thread_id)s and superseded_at is null
  and first <= %(last)s and last >= %(first)s;

-- note: what became of a window
insert into everlore.distillation (
    workspace_id, distillation_id, thread_id, first, last, extractor, extractor_version, memories, facts, rejected, error, distilled_at)
values (%(workspace)s, %(distillation_id)s, %(thread_id)s, %(first)s, %(last)s, %(extractor)s, %(extractor_version)s,
    %(memories)s, %(facts)s, %(rejected)s, %(error)s, %(at)s);

-- windows: of a thread, those that were distilled and overlap a span
select first, last from everlore.distillation
where workspace_id = %(workspace)s and thread_id = %(thread_id)s and superseded_at is null
  and (%(since)s::integer is null or last >= %(since)s) and (%(until)s::integer is null or first <= %(until)s)
order by first;

-- ask_again: have windows read anew
insert into everlore.distil_again (workspace_id, thread_id, first, asked_at)
select %(workspace)s, %(thread_id)s, given.first, %(at)s from unnest(%(firsts)s::integer[]) as given (first)
on conflict do nothing;

-- windows_of: the windows that some messages were read in: thread and first position
select distinct m.thread_id, d.first
from unnest(%(messages)s::uuid[]) as given (message_id) cross join lateral (
    select thread_id, position from everlore.message
    where workspace_id = %(workspace)s and message_id = given.message_id offset 0
) as m cross join lateral (
    select first from everlore.distillation
    where workspace_id = %(workspace)s and thread_id = m.thread_id and superseded_at is null
      and first <= m.position and last >= m.position offset 0
) as d;

-- asked_again: the next window of a thread to be read anew
select d.first, d.last
from everlore.distil_again a join everlore.distillation d
  on d.workspace_id = a.workspace_id and d.thread_id = a.thread_id and d.first = a.first and d.superseded_at is null
where a.workspace_id = %(workspace)s and a.thread_id = %(thread_id)s order by a.first limit 1;

-- take_again: strike a window off that list
delete from everlore.distil_again where workspace_id = %(workspace)s and thread_id = %(thread_id)s and first = %(first)s;

-- waiting: threads and messages that are not distilled, and windows that failed
select count(*) filter (where w.position < w.written), coalesce(sum(w.written - w.position), 0)::bigint,
       (select count(*) from everlore.distillation d
        where d.workspace_id = %(workspace)s and d.error is not null and d.superseded_at is null)
from everlore.watermark w where w.workspace_id = %(workspace)s and w.step = 'distil';

-- to_read: threads, messages and characters that wait to be distilled or to be read anew, and the windows that they are; `again`:
-- those read already, too. A run of new messages ends where the session does and at a pause, and is cut into windows.
with chosen as (
    select t.thread_id, t.last_position, m.position, m.session_id, m.occurred_at, m.recorded_at, m.characters, d.first as read_before
    from everlore.thread t
    left join everlore.watermark w on w.workspace_id = t.workspace_id and w.thread_id = t.thread_id and w.step = 'distil'
    join everlore.message m on m.workspace_id = t.workspace_id and m.thread_id = t.thread_id and m.on_path
    left join lateral (
        select d.first from everlore.distillation d
        where m.position <= coalesce(w.position, 0)
          and d.workspace_id = m.workspace_id and d.thread_id = m.thread_id and d.superseded_at is null
          and m.position between d.first and d.last
          and (%(again)s and (%(since)s::integer is null or d.last >= %(since)s)
                         and (%(until)s::integer is null or d.first <= %(until)s)
            or exists (select from everlore.distil_again a
                       where a.workspace_id = d.workspace_id and a.thread_id = d.thread_id and a.first = d.first))
        limit 1) as d on true
    where t.workspace_id = %(workspace)s and (%(thread)s::text is null or t.name = %(thread)s)
      and (m.position > coalesce(w.position, 0) or d.first is not null)
), begun as (
    select *, read_before is null and coalesce(
        session_id <> lag(session_id) over before
        or occurred_at > lag(occurred_at) over before + %(silence)s::interval
        or occurred_at < lag(occurred_at) over before - %(silence)s::interval, true) as begins
    from chosen
    window before as (partition by thread_id, read_before order by position)
), counted as (
    select *, count(*) filter (where begins) over (partition by thread_id, read_before order by position) as run from begun
), runs as (
    select thread_id, count(*) as messages, sum(characters) as characters,
           case when read_before is not null then 1
                when %(close)s or max(position) < max(last_position) or max(recorded_at) < %(quiet_since)s
                    then (max(position) - min(position) + %(window)s) / %(window)s
                else (max(position) - min(position) + 1) / %(window)s end as windows
    from counted group by thread_id, read_before, run
)
select count(distinct thread_id) as threads, coalesce(sum(messages), 0)::bigint as messages,
       coalesce(sum(characters), 0)::bigint as characters, coalesce(sum(windows), 0)::bigint as windows
from runs;

-- tally: what all reading came to
select count(*) as windows, coalesce(sum(last - first + 1), 0)::bigint as messages,
       coalesce(sum(d.memories), 0)::bigint as memories, coalesce(sum(d.facts), 0)::bigint as facts,
       coalesce(sum(d.rejected), 0)::bigint as rejected, count(d.error) as failed
from everlore.distillation d
where d.workspace_id = %(workspace)s
  and (%(thread)s::text is null or d.thread_id = (
      select t.thread_id from everlore.thread t where t.workspace_id = %(workspace)s and t.name = %(thread)s));

-- unfinished: threads with messages to distil or windows to read anew
select t.thread_id from everlore.thread t
left join everlore.watermark w on w.workspace_id = t.workspace_id and w.thread_id = t.thread_id and w.step = 'distil'
where t.workspace_id = %(workspace)s and (%(thread)s::text is null or t.name = %(thread)s)
  and (t.last_position > coalesce(w.position, 0) or exists (
      select from everlore.distil_again a where a.workspace_id = t.workspace_id and a.thread_id = t.thread_id))
order by t.name;

-- threads_to_distil: of all workspaces
select workspace_id, thread_id from everlore.threads_to_distil('distil', %(quiet_since)s, %(settled_since)s, %(held)s, %(at_most)s);

-- workspaces_with_old_keys: of all workspaces those with keys that nobody said again in time
select everlore.workspaces_with_old_keys(%(step)s, %(now)s, %(held)s, %(at_most)s);

-- failures: windows of all workspaces that could not be read
select workspace, workspace_id, thread, thread_id, 'messages ' || first || ' to ' || last as what, first, last, extractor as by,
       error, failed_at
from everlore.failed_windows();

-- suggest_taxonomy: a path that a thread may belong to
insert into everlore.taxonomy_suggestion (workspace_id, suggestion_id, thread_id, path, recorded_at)
values (%(workspace)s, %(suggestion_id)s, %(thread_id)s, %(path)s::ltree, %(at)s)
on conflict (workspace_id, thread_id, path) do update set times = taxonomy_suggestion.times + 1;

-- count: current memories of the workspace
select count(*) from everlore.memory
where workspace_id = %(workspace)s and tier = 'shown' and superseded_at is null and review is null and forgotten_at is null;
