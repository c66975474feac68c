-- vector_exact: the nearest passages of a workspace, all compared
select passage_id, distance from everlore.vector_exact(%(model_id)s::smallint, %(vector)s::text::halfvec, %(at_most)s);

-- vector_among: the nearest of the named passages
select passage_id, distance
from everlore.vector_among(%(model_id)s::smallint, %(vector)s::text::halfvec, %(passages)s::integer[], %(at_most)s);

-- vector_hnsw: the nearest passages by the index, under a filter
select passage_id, distance
from everlore.vector_hnsw(%(model_id)s::smallint, %(vector)s::text::halfvec, %(at_most)s, %(since)s, %(until)s, %(author)s,
                          %(threads)s::uuid[], %(taxonomy)s::ltree, %(kinds)s::text[]);

-- threads_within: threads of a project or under a taxonomy path
select everlore.threads_within(%(project)s, %(taxonomy)s::ltree);

-- passages_within: passages that a filter leaves, at most so many
select everlore.passages_within(%(at_most)s, %(since)s, %(until)s, %(author)s, %(threads)s::uuid[], %(taxonomy)s::ltree,
                                %(kinds)s::text[], %(among)s::integer[]);

-- latest: the latest passages of a stretch of time: what the time lane offers without an embedder
select passage_id from everlore.passage
where occurred_at >= %(since)s and occurred_at < %(until)s
order by occurred_at desc limit %(at_most)s;

-- around: the found passages with their neighbours of the same session, in reading order
select p.passage_id, p.message_id, p.thread_id, p.session_id, p.sequence, p.role, p.author, p.occurred_at, p.length,
       halfvec_send(v.embedding)
from (
    select distinct n.workspace_id, n.passage_id
    from everlore.passage s join everlore.passage n
      on n.workspace_id = s.workspace_id and n.thread_id = s.thread_id and n.session_id = s.session_id
     and n.sequence between s.sequence - %(reach)s and s.sequence + %(reach)s
    where s.passage_id = any (%(passages)s)
) as c
join everlore.passage p on p.workspace_id = c.workspace_id and p.passage_id = c.passage_id
left join everlore.passage_vector v
  on v.workspace_id = p.workspace_id and v.model_id = %(model_id)s and v.passage_id = p.passage_id
order by p.thread_id, p.sequence;

-- tokens: token vectors of passages
select passage_id, tokens from everlore.passage_tokens
where model_id = %(model_id)s and passage_id = any (%(passages)s);

-- texts: the text of passages
select passage_id, text from everlore.passage where passage_id = any (%(passages)s);

-- messages: what hits show of their messages
select m.message_id, t.name, m.author, m.role, m.occurred_at, m.text, m.captions
from everlore.message m join everlore.thread t on t.workspace_id = m.workspace_id and t.thread_id = m.thread_id
where m.message_id = any (%(messages)s);

-- neighbours: messages next to the given ones, in the same session
select s.message_id, n.position - s.position, n.text, n.message_id, t.name, n.author, n.role, n.occurred_at
from everlore.message s
join everlore.message n on n.workspace_id = s.workspace_id and n.thread_id = s.thread_id and n.session_id = s.session_id
 and n.position between s.position - %(reach)s and s.position + %(reach)s and n.position <> s.position
join everlore.thread t on t.workspace_id = n.workspace_id and t.thread_id = n.thread_id
where s.message_id = any (%(messages)s)
order by s.message_id, n.position;

-- deadline: no statement of this transaction may run longer
select set_config('statement_timeout', %(milliseconds)s, true);
