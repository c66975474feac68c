-- messages: messages of a thread behind a position, in their order, without their texts; `branches`: also those off the path
select m.message_id, t.name as thread, s.name as session, m.position, m.role, m.author, m.occurred_at as at, m.recorded_at,
       m.captions, m.system_prompt, m.tool_calls, m.external_id, m.reply_to, m.metadata, m.taxonomy::text as taxonomy,
       m.off_the_record, m.parent_id, m.on_path, m.revision_of, m.finish
from everlore.message m
join everlore.thread t on t.workspace_id = m.workspace_id and t.thread_id = m.thread_id
join everlore.session s on s.workspace_id = m.workspace_id and s.session_id = m.session_id
where m.workspace_id = %(workspace)s and m.thread_id = %(thread_id)s and m.position > %(after)s
  and (%(branches)s or m.on_path)
order by m.position limit %(limit)s;

-- count_messages: how many messages a thread has on its path, and in all
select case when %(branches)s then t.messages else t.messages - t.off_path end from everlore.thread t where t.workspace_id = %(workspace)s and t.thread_id = %(thread_id)s;
