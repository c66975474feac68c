-- lock_threads: the threads of some messages, locked in one order, so that no step and no writer commits into them meanwhile
select t.thread_id, t.name
from everlore.thread t
where t.workspace_id = %(workspace)s
  and t.thread_id in (select m.thread_id from everlore.message m
                      where m.workspace_id = %(workspace)s and m.message_id = any (%(messages)s::uuid[]))
order by t.thread_id for no key update;

-- messages: all words of messages, whichever column they stand in, but their texts
select m.message_id, m.thread_id, m.position, m.author, m.role, m.captions,
       concat_ws(E'\n', m.system_prompt, m.tool_calls::text, m.metadata::text, m.external_id, m.reply_to) as beside
from everlore.message m where m.workspace_id = %(workspace)s and m.message_id = any (%(messages)s::uuid[])
order by m.thread_id, m.position;

-- sources_of_memory: the messages that a memory rests on, those too that were read anew since
select distinct message_id from everlore.memory_source
where workspace_id = %(workspace)s and lineage_id = %(lineage_id)s and message_id is not null;

-- memories_resting_on: memories with a source in the messages
select distinct lineage_id from everlore.memory_source
where workspace_id = %(workspace)s and message_id = any (%(messages)s::uuid[]);

-- memories_near: memories of windows that had a position of the thread before their eyes
select distinct lineage_id from everlore.memory
where workspace_id = %(workspace)s and thread_id = %(thread_id)s and first_position between %(since)s and %(until)s;

-- versions: all versions of memories, in order
select lineage_id, memory_id, version, tier, content, tags, category, reasoning, review_reason, author, source_kind,
       superseded_at is null as current
from everlore.memory
where workspace_id = %(workspace)s and lineage_id = any (%(lineages)s::uuid[]) order by lineage_id, version;

-- memory_sources: what memories rest on beside the messages: no message is a person's own word
select s.lineage_id, s.message_id, g.thread_id, g.position, g.author, g.role,
       coalesce(g.captions, '{}') as captions
from everlore.memory_source s
left join lateral (
    select * from everlore.message where workspace_id = %(workspace)s and message_id = s.message_id offset 0
) as g on true
where s.workspace_id = %(workspace)s and s.lineage_id = any (%(lineages)s::uuid[]) and s.retracted_at is null
  and (s.message_id is null or s.message_id <> all (%(messages)s::uuid[]))
order by s.lineage_id, g.occurred_at, s.source_id;

-- facts_resting_on: facts with a statement in the messages, or of the memories; those too for which it counted once
select distinct lineage_id from everlore.fact_ground
where workspace_id = %(workspace)s
  and (message_id = any (%(messages)s::uuid[]) or memory_lineage_id = any (%(memories)s::uuid[]));

-- facts_left: facts that rest on nothing but statements which count for these facts now, or are erased
select distinct b.lineage_id
from everlore.fact_source s join everlore.fact_source_before b on b.workspace_id = %(workspace)s and b.source_id = s.source_id
where s.workspace_id = %(workspace)s and s.lineage_id = any (%(lineages)s::uuid[]) and b.lineage_id <> all (%(lineages)s::uuid[])
  and not exists (
      select from everlore.fact_ground g join everlore.fact_source o on o.workspace_id = %(workspace)s and o.source_id = g.source_id
      where g.workspace_id = %(workspace)s and g.lineage_id = b.lineage_id and o.retracted_at is null
        and o.lineage_id <> all (%(lineages)s::uuid[])
        and (o.message_id is null or o.message_id <> all (%(messages)s::uuid[]))
        and (o.memory_lineage_id is null or o.memory_lineage_id <> all (%(memories)s::uuid[])));

-- facts_near: facts stated in a stretch of a thread
select distinct s.lineage_id
from everlore.message m cross join lateral (
    select lineage_id from everlore.fact_ground where workspace_id = %(workspace)s and message_id = m.message_id offset 0
) as s
where m.workspace_id = %(workspace)s and m.thread_id = %(thread_id)s and m.position between %(since)s and %(until)s;

-- facts: what facts say, by version, and the words that they are found by
select f.lineage_id, f.fact_id, f.subject_id, f.predicate, f.object_id, f.object, f.object_key, p.text as indexed
from everlore.fact f left join everlore.passage p on p.workspace_id = %(workspace)s and p.passage_id = f.passage_id
where f.workspace_id = %(workspace)s and f.lineage_id = any (%(lineages)s::uuid[]) order by f.lineage_id, f.version;

-- fact_sources: what facts rest on beside the messages and memories
select s.lineage_id, s.message_id, g.thread_id, g.position, g.author, g.role,
       coalesce(g.captions, '{}') as captions
from everlore.fact_ground s
left join lateral (
    select * from everlore.message where workspace_id = %(workspace)s and message_id = s.message_id offset 0
) as g on true
where s.workspace_id = %(workspace)s and s.lineage_id = any (%(lineages)s::uuid[]) and s.retracted_at is null
  and (s.message_id is null or s.message_id <> all (%(messages)s::uuid[]))
  and (s.memory_lineage_id is null or s.memory_lineage_id <> all (%(memories)s::uuid[]))
order by s.lineage_id, s.said_at, s.source_id;

-- entities_of: entities that the messages name, or that the memories and facts speak of; with all that these were merged with
-- or split from
with recursive named (entity_id) as (
    select entity_id from everlore.mention where workspace_id = %(workspace)s and message_id = any (%(messages)s::uuid[])
    union
    select entity_id from everlore.memory_entity where workspace_id = %(workspace)s and lineage_id = any (%(memories)s::uuid[])
    union
    select subject_id from everlore.fact where workspace_id = %(workspace)s and lineage_id = any (%(facts)s::uuid[])
    union
    select object_id from everlore.fact
    where workspace_id = %(workspace)s and lineage_id = any (%(facts)s::uuid[]) and object_id is not null
), kin (entity_id) as (
    select entity_id from named
    union
    select near.entity_id from kin cross join lateral (
        select merged_into as entity_id from everlore.entity
        where workspace_id = %(workspace)s and entity_id = kin.entity_id and merged_into is not null
        union all
        select entity_id from everlore.entity where workspace_id = %(workspace)s and merged_into = kin.entity_id
        union all
        select other_id from everlore.entity_change where workspace_id = %(workspace)s and kept_id = kin.entity_id
        union all
        select kept_id from everlore.entity_change where workspace_id = %(workspace)s and other_id = kin.entity_id
    ) as near
)
select entity_id from kin;

-- memory_passages: numbers of the passages of versions of memories that are shown
select passage_id from everlore.passage
where workspace_id = %(workspace)s and owner_id = any (%(versions)s::uuid[]) and layer = 'known'
union
select passage_id from everlore.memory
where workspace_id = %(workspace)s and memory_id = any (%(versions)s::uuid[]) and passage_id is not null and tier = 'shown';

-- fact_passages: numbers of the passages of facts
select p.passage_id
from everlore.fact f cross join lateral (
    select passage_id from everlore.passage where workspace_id = %(workspace)s and owner_id = f.fact_id offset 0
) as p
where f.workspace_id = %(workspace)s and f.lineage_id = any (%(lineages)s::uuid[])
union
select passage_id from everlore.fact
where workspace_id = %(workspace)s and lineage_id = any (%(lineages)s::uuid[]) and passage_id is not null;

-- forget_passage: versions whose passage has gone
update everlore.memory set passage_id = null
where workspace_id = %(workspace)s and passage_id = any (%(passages)s::integer[]);

-- superseded_by: current versions of memories that one of these took the place of
select lineage_id from everlore.memory
where workspace_id = %(workspace)s and superseded_at is null and superseded_by = any (%(memories)s::uuid[])
  and lineage_id <> all (%(memories)s::uuid[]);

-- delete_memories: memories with all that hangs on them
delete from everlore.memory where workspace_id = %(workspace)s and memory_id = any (%(lineages)s::uuid[]);

-- delete_versions: some versions of memories
delete from everlore.memory where workspace_id = %(workspace)s and memory_id = any (%(versions)s::uuid[]);

-- delete_facts: facts with all that hangs on them
delete from everlore.fact where workspace_id = %(workspace)s and fact_id = any (%(lineages)s::uuid[]);

-- unpoint_memories: versions that name something erased as their successor name nothing
update everlore.memory m set superseded_by = null
where m.workspace_id = %(workspace)s and m.superseded_by = any (%(gone)s::uuid[]);

-- unpoint_facts: the same for facts
update everlore.fact f set superseded_by = null
where f.workspace_id = %(workspace)s and f.superseded_by = any (%(gone)s::uuid[]);

-- drop_sources: statements of facts that rested on erased memories
delete from everlore.fact_source
where workspace_id = %(workspace)s and memory_lineage_id = any (%(memories)s::uuid[]);

-- clean_memory: all versions of a memory that stays, without what was said about it in other words than its sources'
update everlore.memory set reasoning = null, review_reason = case when review is null then null else 'its reason was erased' end,
    tags = %(tags)s::text[], category = %(category)s, author = %(author)s,
    role = coalesce(%(role)s, role)
where workspace_id = %(workspace)s and lineage_id = %(lineage_id)s;

-- clean_passages: whom the passages of a memory that stays are by
update everlore.passage set author = coalesce(%(author)s, role)
where workspace_id = %(workspace)s and owner_id = any (%(versions)s::uuid[]);

-- delete_messages: messages with their mentions and sources
delete from everlore.message where workspace_id = %(workspace)s and message_id = any (%(messages)s::uuid[])
returning thread_id, on_path;

-- count_down: so many messages fewer in a thread, of which so many were off the path
update everlore.thread set messages = messages - %(count)s, off_path = off_path - %(off_path)s
where workspace_id = %(workspace)s and thread_id = %(thread_id)s;

-- delete_empty_sessions: sessions of the threads that no message is left in
delete from everlore.session s
where s.workspace_id = %(workspace)s and s.thread_id = any (%(threads)s::uuid[])
  and s.session_id is distinct from (
      select last_session_id from everlore.thread t where t.workspace_id = s.workspace_id and t.thread_id = s.thread_id)
  and not exists (select from everlore.message m where m.workspace_id = s.workspace_id and m.session_id = s.session_id);

-- unname_empty_sessions: one that stays, because the next message may join it, keeps no name
update everlore.session s set name = null
where s.workspace_id = %(workspace)s and s.thread_id = any (%(threads)s::uuid[]) and s.name is not null
  and not exists (select from everlore.message m where m.workspace_id = s.workspace_id and m.session_id = s.session_id);

-- clean_distillations: why a window could not be read may quote it
update everlore.distillation set error = 'the words were erased'
where workspace_id = %(workspace)s and thread_id = any (%(threads)s::uuid[]) and error is not null;

-- delete_suggestions: paths that were suggested for the threads, unless a person took them
delete from everlore.taxonomy_suggestion
where workspace_id = %(workspace)s and thread_id = any (%(threads)s::uuid[]) and accepted is distinct from true;

-- entity_names: of entities: name, and what still speaks of them
select e.entity_id, e.name, e.merged_into,
       exists (select from everlore.fact f where f.workspace_id = %(workspace)s and f.subject_id = e.entity_id)
           or exists (select from everlore.fact f where f.workspace_id = %(workspace)s and f.object_id = e.entity_id) as in_facts,
       exists (select from everlore.memory_entity x where x.workspace_id = %(workspace)s and x.entity_id = e.entity_id) as in_memories,
       exists (select from everlore.mention n where n.workspace_id = %(workspace)s and n.entity_id = e.entity_id) as in_messages
from everlore.entity e where e.workspace_id = %(workspace)s and e.entity_id = any (%(entities)s::uuid[]);

-- entity_aliases: the names of entities, the surest first
select a.alias_id, a.entity_id, a.variant, a.origin = 'by hand' as by_hand from everlore.alias a
where a.workspace_id = %(workspace)s and a.entity_id = any (%(entities)s::uuid[])
order by a.entity_id, a.weight desc, a.alias_id;

-- still_named: of pairs of entity and name, those of which every word stands in something that still speaks of the entity, in
-- what a message is searched by. `in_use`: of memories only in those that are
select given.place
from unnest(%(places)s::integer[], %(entities)s::uuid[], %(names)s::text[]) as given (place, entity_id, name)
where exists (
    select from (
        select concat_ws(' ', g.author, s.text) as words
        from everlore.mention n cross join lateral (
            select author from everlore.message where workspace_id = %(workspace)s and message_id = n.message_id offset 0
        ) as g cross join lateral (
            select string_agg(text, ' ' order by sequence) as text from everlore.passage
            where workspace_id = %(workspace)s and owner_id = n.message_id offset 0
        ) as s
        where n.workspace_id = %(workspace)s and n.entity_id = given.entity_id
        union all
        select m.content || ' ' || coalesce(m.author, '')
        from everlore.memory_entity x cross join lateral (
            select content, author from everlore.memory
            where workspace_id = %(workspace)s and lineage_id = x.lineage_id and (not %(in_use)s
                or superseded_at is null and forgotten_at is null and (valid_to is null or valid_to > valid_from)) offset 0
        ) as m
        where x.workspace_id = %(workspace)s and x.entity_id = given.entity_id
    ) as said
    where not exists (
        select from unnest(string_to_array(everlore.normalise(given.name), ' ')) as part (word)
        where length(part.word) > 1 and strpos(' ' || everlore.normalise(said.words) || ' ', ' ' || part.word || ' ') = 0
    )
);

-- delete_entities: entities that nothing speaks of any more
delete from everlore.entity where workspace_id = %(workspace)s and entity_id = any (%(entities)s::uuid[]);

-- delete_aliases: names that nothing says any more
delete from everlore.alias where workspace_id = %(workspace)s and alias_id = any (%(aliases)s::uuid[]);

-- rename: an entity whose name was erased
update everlore.entity set name = %(name)s
where workspace_id = %(workspace)s and entity_id = %(entity_id)s;

-- unlink_memories: an entity that is not named any more in the memories of before
delete from everlore.memory_entity where workspace_id = %(workspace)s and entity_id = %(entity_id)s;

-- clean_link_suggestions: why two entities may be one may quote what was said
update everlore.link_suggestion set reason = 'the words were erased'
where workspace_id = %(workspace)s
  and (entity_id = any (%(entities)s::uuid[]) or other_id = any (%(entities)s::uuid[]));

-- clean_changes: what an undone split would call an entity, where nobody bears that name any more
update everlore.entity_change c set moved = c.moved || '{"renamed": null}'
where c.workspace_id = %(workspace)s and jsonb_typeof(c.moved -> 'renamed') = 'array'
  and exists (select from jsonb_array_elements_text(c.moved -> 'renamed') as given (name)
              where not exists (select from everlore.alias a
                                where a.workspace_id = %(workspace)s and a.variant = given.name));

-- forget_handed_out: what was handed out and shares its words with something erased
delete from everlore.handed_out h
where h.workspace_id = %(workspace)s
  and (h.text_hash = any (%(digests)s::bytea[])
       or h.text_hash in (select a.text_hash from everlore.handed_out_alike(%(shingles)s::bigint[]) as a));

-- clean_failures: why jobs of the threads failed may quote what was said
select everlore.erase_from_failures(%(threads)s::uuid[]);

-- clean_audit: the name of an erased thread gives way to its id
select everlore.erase_from_audit(%(thread_id)s, %(name)s);

-- delete_thread: a thread without messages, with its sessions, watermarks and suggestions; memories that have other sources stay
with kept as (
    update everlore.memory set thread_id = null where workspace_id = %(workspace)s and thread_id = %(thread_id)s
)
delete from everlore.thread where workspace_id = %(workspace)s and thread_id = %(thread_id)s;

-- windows_of: the windows that hold some positions
select distinct d.thread_id, d.first
from unnest(%(threads)s::uuid[], %(positions)s::integer[]) as given (thread_id, position) cross join lateral (
    select thread_id, first from everlore.distillation
    where workspace_id = %(workspace)s and thread_id = given.thread_id and first <= given.position
      and last >= given.position and superseded_at is null offset 0
) as d;
