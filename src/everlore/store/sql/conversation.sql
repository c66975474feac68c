-- open_thread: the thread of that name, made if need be, locked: positions are given out under this lock
with made as (
    insert into everlore.thread (workspace_id, thread_id, name, project_id, taxonomy)
    values (everlore.current_workspace(), %(id)s, %(name)s, %(project_id)s, %(taxonomy)s)
    on conflict (workspace_id, name) do update set
        project_id = coalesce(excluded.project_id, thread.project_id),
        taxonomy = coalesce(excluded.taxonomy, thread.taxonomy)
    returning thread_id, last_position, last_sequence, last_session_id, last_at
)
select * from made;

-- make_project: the project of that name, if there is none. (An update in its place would lock it against other writers.)
insert into everlore.project (workspace_id, project_id, name)
values (everlore.current_workspace(), %(id)s, %(name)s)
on conflict (workspace_id, name) do nothing;

-- find_project: the project of that name
select project_id from everlore.project where name = %(name)s;

-- find_thread: the id of the thread of that name
select thread_id from everlore.thread where name = %(name)s;

-- known_external_ids: of the given external ids, those that the thread has, with the hash of their content
select m.external_id, m.message_id, m.content_hash
from everlore.thread t cross join unnest(%(external_ids)s::text[]) as given (external_id) cross join lateral (
    select external_id, message_id, content_hash from everlore.message
    where workspace_id = t.workspace_id and thread_id = t.thread_id and external_id = given.external_id offset 0
) as m
where t.name = %(thread)s;

-- take_passages: numbers for so many passages; returns the last number given out before
update everlore.passage_counter set last_passage = last_passage + %(count)s
where workspace_id = everlore.current_workspace()
returning last_passage - %(count)s;

-- give_back_passages: numbers that were not needed, if nobody took others since
update everlore.passage_counter set last_passage = %(used)s
where workspace_id = everlore.current_workspace() and last_passage = %(last)s;

-- open_session: the session of that name in the thread, or the one to be made, with its span widened
insert into everlore.session (workspace_id, session_id, thread_id, name, started_at, ended_at)
values (everlore.current_workspace(), %(id)s, %(thread_id)s, %(name)s, %(started_at)s, %(ended_at)s)
on conflict (workspace_id, thread_id, name) where name is not null do update set
    started_at = least(session.started_at, excluded.started_at), ended_at = greatest(session.ended_at, excluded.ended_at)
returning session_id;

-- extend_session: a session that goes on
update everlore.session set started_at = least(started_at, %(started_at)s), ended_at = greatest(ended_at, %(ended_at)s)
where workspace_id = everlore.current_workspace() and session_id = %(id)s;

-- make_staging: where a call's rows are copied to first, because COPY into a table under row-level security is refused
create temporary table if not exists staged_message (
    message_id uuid, session_id uuid, position integer, role text, author text, occurred_at timestamptz, text text,
    captions text[], system_prompt text, tool_calls jsonb, external_id text, reply_to text, metadata jsonb, taxonomy ltree,
    content_hash bytea, off_the_record boolean
) on commit delete rows;
create temporary table if not exists staged_passage (
    passage_id integer, position integer, sequence integer, text text
) on commit delete rows;

-- copy_messages: the call's messages
copy pg_temp.staged_message from stdin;

-- copy_passages: the call's passages
copy pg_temp.staged_passage from stdin;

-- insert_messages: from the staging table into the thread
insert into everlore.message (
    workspace_id, thread_id, message_id, session_id, position, role, author, occurred_at, text, captions, system_prompt,
    tool_calls, external_id, reply_to, metadata, taxonomy, content_hash, off_the_record, recorded_at)
select everlore.current_workspace(), %(thread_id)s, s.*, %(recorded_at)s from pg_temp.staged_message s where s.position > %(after)s;

-- insert_passages: from the staging table into the search index, with what their messages say of them
insert into everlore.passage (
    workspace_id, kind, thread_id, passage_id, message_id, session_id, sequence, position, role, author, occurred_at,
    taxonomy, text)
select everlore.current_workspace(), 'message', %(thread_id)s, p.passage_id, m.message_id, m.session_id, p.sequence,
       p.position, m.role, m.author, m.occurred_at, m.taxonomy, p.text
from pg_temp.staged_passage p join pg_temp.staged_message m on m.position = p.position
where p.position > %(after)s and m.position > %(after)s;

-- messages_to_search: of a thread's messages, the next ones with what is searched of them
select position, role, author, text, captions from everlore.message
where thread_id = %(thread_id)s and position > %(after)s order by position limit %(at_most)s;

-- insert_staged_passages: from the staging table into the search index, with what stored messages say of them
insert into everlore.passage (
    workspace_id, kind, thread_id, passage_id, message_id, session_id, sequence, position, role, author, occurred_at,
    taxonomy, text)
select everlore.current_workspace(), 'message', %(thread_id)s, p.passage_id, m.message_id, m.session_id, p.sequence,
       p.position, m.role, m.author, m.occurred_at, m.taxonomy, p.text
from pg_temp.staged_passage p join everlore.message m on m.thread_id = %(thread_id)s and m.position = p.position
where p.position > %(after)s;

-- delete_passages: all passages of a thread; vectors and tokens go with them
delete from everlore.passage where thread_id = %(thread_id)s;

-- lock_thread_id: a thread, locked
select from everlore.thread where thread_id = %(thread_id)s for no key update;

-- restart_thread: how many passages a thread has after they were made anew
update everlore.thread set last_sequence = %(last_sequence)s
where workspace_id = everlore.current_workspace() and thread_id = %(thread_id)s;

-- restart_watermarks: every step of the search index has the whole thread to do again
update everlore.watermark set position = 0
where workspace_id = everlore.current_workspace() and thread_id = %(thread_id)s
  and (step = 'lexical' or starts_with(step, 'vector:'));

-- advance_thread: where the thread stands after a call
update everlore.thread set
    messages = messages + %(last_position)s - last_position, last_position = %(last_position)s, last_sequence = %(last_sequence)s, last_session_id = %(session_id)s, last_at = %(at)s
where workspace_id = everlore.current_workspace() and thread_id = %(thread_id)s;

-- raise_watermarks: every background step has something to do in this thread
insert into everlore.watermark (workspace_id, step, thread_id, written)
select everlore.current_workspace(), step, %(thread_id)s, %(last_position)s
from (select 'lexical' union all select 'vector:' || name from everlore.embedding_model
      union all select name from everlore.step where scope = 'thread' and watermark) as steps (step)
on conflict (workspace_id, step, thread_id) do update set written = excluded.written;

-- audit: note a write
insert into everlore.audit_log (workspace_id, audit_id, action, subject, detail)
values (everlore.current_workspace(), %(id)s, %(action)s, %(subject)s, %(detail)s);

-- list_threads: the workspace's threads, the latest first
select t.thread_id, t.name, p.name, t.taxonomy::text, t.last_at, t.messages
from everlore.thread t left join everlore.project p on p.workspace_id = t.workspace_id and p.project_id = t.project_id
order by t.last_at desc nulls last, t.name;

-- find_message: messages whose id ends with what a person typed (8 characters of it are indexed)
select everlore.messages_ending(%(ending)s) limit 2;

-- show_message: all of one message
select m.message_id, t.name, s.name, m.position, m.role, m.author, m.occurred_at, m.recorded_at, m.text, m.captions,
       m.system_prompt, m.tool_calls, m.external_id, m.reply_to, m.metadata, m.taxonomy::text, m.off_the_record
from everlore.message m
cross join lateral (select name from everlore.thread where thread_id = m.thread_id offset 0) as t
cross join lateral (select name from everlore.session where session_id = m.session_id offset 0) as s
where m.message_id = %(message_id)s;

-- lock_thread_of_message: the thread of a message, locked, so that no step commits into it meanwhile
select t.thread_id, t.name from everlore.thread t
where (t.workspace_id, t.thread_id) = (select workspace_id, thread_id from everlore.message where message_id = %(message_id)s)
for no key update;

-- lock_thread: a thread by name, locked
select thread_id from everlore.thread where name = %(name)s for no key update;

-- passages_of_message: numbers of a message's passages
select passage_id from everlore.passage where message_id = %(message_id)s;

-- passages_of_thread: numbers of a thread's passages
select passage_id from everlore.passage where thread_id = %(thread_id)s;

-- delete_message: the message; its passages, vectors and tokens go with it
delete from everlore.message where message_id = %(message_id)s;

-- count_down: a message fewer in the thread
update everlore.thread set messages = messages - 1
where workspace_id = everlore.current_workspace() and thread_id = %(thread_id)s;

-- delete_empty_sessions: sessions of the thread that no message is left in
delete from everlore.session s
where s.thread_id = %(thread_id)s
  and s.session_id is distinct from (select last_session_id from everlore.thread t where t.thread_id = %(thread_id)s)
  and not exists (select from everlore.message m where m.workspace_id = s.workspace_id and m.session_id = s.session_id);

-- delete_messages_of_thread: all messages of a thread, before the thread itself
delete from everlore.message where thread_id = %(thread_id)s;

-- delete_thread: the thread, with its sessions and watermarks
delete from everlore.thread where thread_id = %(thread_id)s;
