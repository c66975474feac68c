-- make_project: the project of that name, if there is none. (An update in its place would lock it against other writers.)
insert into everlore.project (workspace_id, project_id, name)
values (%(workspace)s, %(id)s, %(name)s)
on conflict (workspace_id, name) do nothing;

-- open_thread: the thread of that name, made if need be, locked: positions are given out under this lock
insert into everlore.thread (workspace_id, thread_id, name, project_id, taxonomy)
values (%(workspace)s, %(id)s, %(name)s,
        (select p.project_id from everlore.project p where p.workspace_id = %(workspace)s and p.name = %(project)s), %(taxonomy)s)
on conflict (workspace_id, name) do update set
    project_id = coalesce(excluded.project_id, thread.project_id),
    taxonomy = coalesce(excluded.taxonomy, thread.taxonomy)
returning thread_id, last_position, last_sequence, last_session_id, last_at, tip_id;

-- find_session: the session of that name in the thread
select s.session_id
from everlore.session s join everlore.thread t on t.workspace_id = s.workspace_id and t.thread_id = s.thread_id
where t.workspace_id = %(workspace)s and t.name = %(thread)s and s.name = %(name)s;

-- find_thread: the id of the thread of that name
select thread_id from everlore.thread where workspace_id = %(workspace)s and name = %(name)s;

-- external_ids_on_path: of the given external ids those that messages of a thread's path have
select m.external_id
from unnest(%(external_ids)s::text[]) as given (external_id) cross join lateral (
    select external_id from everlore.message
    where workspace_id = %(workspace)s and thread_id = %(thread_id)s and external_id = given.external_id and on_path offset 0
) as m;

-- known_external_ids: of the given external ids, those that the thread has, with the hash of their content; of revisions the one
-- on the path, else any. (Each half has an index of its own.)
select m.external_id, m.message_id, m.content_hash
from everlore.thread t cross join unnest(%(external_ids)s::text[]) as given (external_id) cross join lateral (
    (select external_id, message_id, content_hash from everlore.message
     where workspace_id = t.workspace_id and thread_id = t.thread_id and external_id = given.external_id and on_path offset 0)
    union all
    (select external_id, message_id, content_hash from everlore.message
     where workspace_id = t.workspace_id and thread_id = t.thread_id and external_id = given.external_id and not on_path offset 0)
    limit 1
) as m
where t.workspace_id = %(workspace)s and t.name = %(thread)s;

-- take_passages: numbers for so many passages; returns the last number given out before
update everlore.passage_counter set last_passage = last_passage + %(count)s
where workspace_id = %(workspace)s
returning last_passage - %(count)s;

-- take_passages_of: the same for who writes to a thread. A step locks how far it is before it takes numbers, and so does this
with locked as materialized (
    select from everlore.watermark where workspace_id = %(workspace)s and thread_id = %(thread_id)s order by step for update
)
update everlore.passage_counter set last_passage = last_passage + %(count)s
where workspace_id = %(workspace)s and (select count(*) from locked) >= 0
returning last_passage - %(count)s;

-- give_back_passages: numbers that were not needed, if nobody took others since
update everlore.passage_counter set last_passage = %(used)s
where workspace_id = %(workspace)s and last_passage = %(last)s;

-- write_messages: messages into the thread, their sessions (each made, or with its span widened), and their passages
with given as materialized (
    select * from json_to_recordset(%(messages)s::json) as m (
        message_id uuid, session_id uuid, position integer, role text, author text, occurred_at timestamptz, text text,
        captions text[], system_prompt text, tool_calls text, external_id text, reply_to text, metadata text, taxonomy ltree,
        content_hash bytea, off_the_record boolean, parent_id uuid, revision_of uuid, finish text, turn_key bytea,
        passages text[], passages_before integer)
), sessions as (
    insert into everlore.session (workspace_id, session_id, thread_id, name, started_at, ended_at)
    select %(workspace)s, g.session_id, %(thread_id)s, %(session)s, min(g.occurred_at), max(g.occurred_at) from given g
    group by g.session_id
    on conflict (workspace_id, session_id) do update set
        started_at = least(session.started_at, excluded.started_at), ended_at = greatest(session.ended_at, excluded.ended_at)
), messages as (
    insert into everlore.message (
        workspace_id, thread_id, recorded_at, message_id, session_id, position, role, author, occurred_at, text, characters,
        captions, system_prompt, tool_calls, external_id, reply_to, metadata, taxonomy, content_hash, off_the_record,
        parent_id, revision_of, finish, turn_key)
    select %(workspace)s, %(thread_id)s, %(recorded_at)s, g.message_id, g.session_id, g.position, g.role, g.author, g.occurred_at,
           g.text, length(g.text), g.captions, g.system_prompt, g.tool_calls::jsonb, g.external_id, g.reply_to,
           g.metadata::jsonb, g.taxonomy, g.content_hash, g.off_the_record, g.parent_id, g.revision_of, g.finish, g.turn_key
    from given g
)
insert into everlore.passage (
    workspace_id, kind, layer, thread_id, passage_id, owner_id, lineage_id, session_id, sequence, position, role, author,
    occurred_at, taxonomy, text)
select %(workspace)s, 'message', 'said', %(thread_id)s, %(last_passage)s + g.passages_before + p.place, g.message_id,
       g.message_id, g.session_id, %(last_sequence)s + g.passages_before + p.place, g.position, g.role, g.author, g.occurred_at,
       g.taxonomy, p.text
from given g cross join lateral unnest(g.passages) with ordinality as p (text, place);

-- write_passages: passages of stored messages into the search index, with what their messages say of them
insert into everlore.passage (
    workspace_id, kind, layer, thread_id, passage_id, owner_id, lineage_id, session_id, sequence, position, role, author,
    occurred_at, taxonomy, text)
select %(workspace)s, 'message', case when m.on_path then 'said' else 'branches' end, %(thread_id)s, p.passage_id, m.message_id, m.message_id, m.session_id, p.sequence,
       p.position, m.role, m.author, m.occurred_at, m.taxonomy, p.text
from unnest(%(numbers)s::integer[], %(positions)s::integer[], %(sequences)s::integer[], %(texts)s::text[])
    as p (passage_id, position, sequence, text)
cross join lateral (
    select message_id, session_id, role, author, occurred_at, taxonomy, on_path from everlore.message
    where workspace_id = %(workspace)s and thread_id = %(thread_id)s and position = p.position offset 0
) as m;

-- messages_to_search: of a thread's messages, the next ones with what is searched of them beside their texts
select message_id, position, role, author, captions from everlore.message
where workspace_id = %(workspace)s and thread_id = %(thread_id)s and position > %(after)s order by position limit %(at_most)s;

-- messages_of_thread: a thread's messages
select message_id from everlore.message where workspace_id = %(workspace)s and thread_id = %(thread_id)s;

-- lock_thread_id: a thread, locked
select from everlore.thread where workspace_id = %(workspace)s and thread_id = %(thread_id)s for no key update;

-- restart_thread: how many passages a thread has after they were made anew
update everlore.thread set last_sequence = %(last_sequence)s
where workspace_id = %(workspace)s and thread_id = %(thread_id)s;

-- restart_watermarks: every step of the search index has the whole thread to do again
update everlore.watermark set position = 0
where workspace_id = %(workspace)s and thread_id = %(thread_id)s and (step = 'lexical' or starts_with(step, 'vector:'));

-- advance: where the thread stands after a call, and that every background step has something to do in it
with advanced as (
    update everlore.thread set
        messages = messages + %(last_position)s - last_position, last_position = %(last_position)s,
        last_sequence = %(last_sequence)s, last_session_id = %(session_id)s, last_at = %(at)s,
        tip_id = %(tip_id)s
    where workspace_id = %(workspace)s and thread_id = %(thread_id)s
)
insert into everlore.watermark (workspace_id, step, thread_id, written)
select %(workspace)s, step, %(thread_id)s, %(last_position)s
from (select 'lexical' union all select 'vector:' || name from everlore.embedding_model
      union all select name from everlore.step where scope = 'thread' and watermark) as steps (step)
on conflict (workspace_id, step, thread_id) do update set written = excluded.written;

-- audit: note a write
insert into everlore.audit_log (workspace_id, audit_id, action, subject, detail)
values (%(workspace)s, %(id)s, %(action)s, %(subject)s, %(detail)s);

-- list_threads: the workspace's threads, the latest first
select t.thread_id, t.name, p.name as project, t.taxonomy::text, t.last_at,
       t.messages - t.off_path as messages, t.off_path
from everlore.thread t left join everlore.project p on p.workspace_id = t.workspace_id and p.project_id = t.project_id
where t.workspace_id = %(workspace)s
order by t.last_at desc nulls last, t.name;

-- find_message: messages whose id ends with what a person typed (8 characters of it are indexed)
select everlore.messages_ending(%(ending)s) limit 2;

-- show_message: all of one message but its text
select m.message_id, t.name as thread, s.name as session, m.position, m.role, m.author, m.occurred_at as at, m.recorded_at,
       m.captions, m.system_prompt, m.tool_calls, m.external_id, m.reply_to, m.metadata, m.taxonomy::text,
       m.off_the_record, m.parent_id, m.on_path, m.revision_of, m.finish
from everlore.message m
join everlore.thread t on t.workspace_id = m.workspace_id and t.thread_id = m.thread_id
join everlore.session s on s.workspace_id = m.workspace_id and s.session_id = m.session_id
where m.workspace_id = %(workspace)s and m.message_id = %(message_id)s;

-- lock_thread: a thread by name, locked
select thread_id from everlore.thread where workspace_id = %(workspace)s and name = %(name)s for no key update;
