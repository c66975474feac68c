-- lock_state: nobody distils into this workspace meanwhile
select from everlore.distilled_state where workspace_id = %(workspace)s for update;

-- lock_entity: an entity, locked
select entity_id, name, merged_into from everlore.entity
where workspace_id = %(workspace)s and entity_id = %(entity_id)s for update;

-- take_aliases: names of one entity that another does not have yet
update everlore.alias a set entity_id = %(taker)s
where a.workspace_id = %(workspace)s and a.entity_id = %(giver)s
  and (%(only)s::uuid[] is null or a.alias_id = any (%(only)s::uuid[]))
  and not exists (select from everlore.alias b
                  where b.workspace_id = a.workspace_id and b.entity_id = %(taker)s and b.key = a.key)
returning a.alias_id;

-- take_mentions: mentions of one entity that another does not have yet
update everlore.mention a set entity_id = %(taker)s
where a.workspace_id = %(workspace)s and a.entity_id = %(giver)s
  and (%(only)s::uuid[] is null or a.message_id = any (%(only)s::uuid[]))
  and not exists (select from everlore.mention b
                  where b.workspace_id = a.workspace_id and b.entity_id = %(taker)s and b.message_id = a.message_id)
returning a.message_id;

-- take_memories: memories of one entity that another does not have yet
update everlore.memory_entity a set entity_id = %(taker)s
where a.workspace_id = %(workspace)s and a.entity_id = %(giver)s
  and (%(only)s::uuid[] is null or a.lineage_id = any (%(only)s::uuid[]))
  and not exists (select from everlore.memory_entity b
                  where b.workspace_id = a.workspace_id and b.entity_id = %(taker)s and b.lineage_id = a.lineage_id)
returning a.lineage_id;

-- take_subjects: facts of which an entity is the subject, in all versions
update everlore.fact set subject_id = %(taker)s
where workspace_id = %(workspace)s and subject_id = %(giver)s
  and (%(only)s::uuid[] is null or lineage_id = any (%(only)s::uuid[]))
returning lineage_id;

-- take_objects: facts of which an entity is the object, in all versions
update everlore.fact set object_id = %(taker)s, object_key = (%(taker)s::uuid)::text
where workspace_id = %(workspace)s and object_id = %(giver)s
  and (%(only)s::uuid[] is null or lineage_id = any (%(only)s::uuid[]))
returning lineage_id;

-- set_merged: what an entity was merged into, or that it stands for itself again
update everlore.entity set merged_into = %(into)s
where workspace_id = %(workspace)s and entity_id = %(entity_id)s;

-- merged_into: what was merged into an entity, directly
select entity_id from everlore.entity where workspace_id = %(workspace)s and merged_into = %(entity_id)s order by entity_id;

-- next_number: changes are numbered, because several may be of one moment
select coalesce(max((moved ->> 'number')::integer), 0) + 1 from everlore.entity_change where workspace_id = %(workspace)s;

-- insert_change: what was done, so that it can be undone
insert into everlore.entity_change (workspace_id, change_id, kind, kept_id, other_id, moved, made_at)
values (%(workspace)s, %(change_id)s, %(kind)s, %(kept)s, %(other)s, %(moved)s, %(now)s);

-- set_moved: what a change has come to hold since
update everlore.entity_change set moved = %(moved)s
where workspace_id = %(workspace)s and change_id = %(change_id)s;

-- set_undone: a change that was taken back
update everlore.entity_change set undone_at = %(now)s
where workspace_id = %(workspace)s and change_id = %(change_id)s;

-- lock_change: a change, locked
select change_id, kind, kept_id, other_id, moved, made_at, undone_at
from everlore.entity_change where workspace_id = %(workspace)s and change_id = %(change_id)s for no key update;

-- standing_changes: changes of an entity that were not undone
select change_id, kind, kept_id, other_id, moved, made_at, undone_at
from everlore.entity_change
where workspace_id = %(workspace)s and undone_at is null and (kept_id = %(entity_id)s or other_id = %(entity_id)s);

-- list_changes: all changes, the latest first
select change_id, kind, kept_id, other_id, moved, made_at, undone_at
from everlore.entity_change where workspace_id = %(workspace)s
order by made_at desc, (moved ->> 'number')::integer desc limit %(at_most)s;

-- messages_naming: of an entity's messages, those that contain one of the names, in what they are searched by but for the author
select distinct n.message_id
from everlore.mention n cross join lateral (
    select case when author = role then text else substr(text, length(author) + 3) end as text from everlore.passage
    where workspace_id = %(workspace)s and owner_id = n.message_id offset 0
) as p
where n.workspace_id = %(workspace)s and n.entity_id = %(entity_id)s
  and exists (select from unnest(%(names)s::text[]) as given (name)
              where strpos(' ' || everlore.normalise(p.text) || ' ', ' ' || everlore.normalise(given.name) || ' ') > 0);

-- messages_since: of the messages that mention an entity since then, those that name one of these names and none of the others,
-- in what they are searched by or as who wrote them
select n.message_id
from everlore.mention n cross join lateral (
    select author from everlore.message where workspace_id = %(workspace)s and message_id = n.message_id offset 0
) as m cross join lateral (
    select string_agg(text, ' ' order by sequence) as text from everlore.passage
    where workspace_id = %(workspace)s and owner_id = n.message_id offset 0
) as s cross join lateral (
    select ' ' || everlore.normalise(concat_ws(' ; ', m.author, s.text)) || ' ' as words offset 0
) as told
where n.workspace_id = %(workspace)s and n.entity_id = %(entity_id)s and n.recorded_at >= %(since)s
  and exists (select from unnest(%(names)s::text[]) as given (name)
              where strpos(told.words, ' ' || everlore.normalise(given.name) || ' ') > 0)
  and not exists (select from unnest(%(others)s::text[]) as given (name)
                  where strpos(told.words, ' ' || everlore.normalise(given.name) || ' ') > 0);

-- told_since: the same of memories that a person gave directly
select l.lineage_id
from everlore.memory_entity l cross join lateral (
    select m.author, m.content from everlore.memory m
    where m.workspace_id = %(workspace)s and m.lineage_id = l.lineage_id and m.source_kind = 'by hand'
      and m.superseded_at is null
      and exists (select from everlore.memory v
                  where v.workspace_id = %(workspace)s and v.lineage_id = l.lineage_id and v.version = 1
                    and v.recorded_at >= %(since)s)
    offset 0
) as m cross join lateral (
    select ' ' || everlore.normalise(coalesce(m.author, '') || ' ; ' || m.content) || ' ' as words offset 0
) as told
where l.workspace_id = %(workspace)s and l.entity_id = %(entity_id)s
  and exists (select from unnest(%(names)s::text[]) as given (name)
              where strpos(told.words, ' ' || everlore.normalise(given.name) || ' ') > 0)
  and not exists (select from unnest(%(others)s::text[]) as given (name)
                  where strpos(told.words, ' ' || everlore.normalise(given.name) || ' ') > 0);

-- facts_stated_in: facts of an entity that only these messages state, or these memories, which a person gave directly
select f.lineage_id
from (
    select lineage_id from everlore.fact where workspace_id = %(workspace)s and subject_id = %(entity_id)s
    union
    select lineage_id from everlore.fact where workspace_id = %(workspace)s and object_id = %(entity_id)s
) as f cross join lateral (
    select bool_and(case when message_id is not null then message_id = any (%(messages)s::uuid[])
                    else coalesce(memory_lineage_id = any (%(memories)s::uuid[]), false) end) as here
    from everlore.fact_source where workspace_id = %(workspace)s and lineage_id = f.lineage_id offset 0
) as stated
where stated.here;

-- memories_stated_in: memories of an entity that only these messages state
select l.lineage_id
from everlore.memory_entity l
where l.workspace_id = %(workspace)s and l.entity_id = %(entity_id)s
  and exists (select from everlore.memory_source s
              where s.workspace_id = %(workspace)s and s.lineage_id = l.lineage_id
                and s.message_id = any (%(messages)s::uuid[]))
  and not exists (select from everlore.memory_source s
                  where s.workspace_id = %(workspace)s and s.lineage_id = l.lineage_id
                    and (s.message_id is null or s.message_id <> all (%(messages)s::uuid[])));

-- statements_of_both: what the facts of two entities rest on, where both have facts of a kind
select s.source_id, s.lineage_id
from everlore.fact f join everlore.fact_source s on s.workspace_id = f.workspace_id and s.lineage_id = f.fact_id
where f.workspace_id = %(workspace)s and f.version = 1
  and (f.subject_id in (%(kept)s, %(other)s) or f.object_id in (%(kept)s, %(other)s))
  and f.predicate in (select g.predicate from everlore.fact g
                      where g.workspace_id = %(workspace)s and (g.subject_id = %(other)s or g.object_id = %(other)s));

-- statements_back: each statement to the fact that it counted for, as far as both are still there
with before as (
    select s.source_id, s.lineage_id, given.lineage_id as back
    from unnest(%(sources)s::uuid[], %(lineages)s::uuid[]) as given (source_id, lineage_id)
    join everlore.fact_source s on s.workspace_id = %(workspace)s and s.source_id = given.source_id
    where s.lineage_id <> given.lineage_id
      and exists (select from everlore.fact f where f.workspace_id = %(workspace)s and f.fact_id = given.lineage_id)
), kept as (
    insert into everlore.fact_source_before (workspace_id, source_id, lineage_id)
    select %(workspace)s, source_id, lineage_id from before
    on conflict do nothing
)
update everlore.fact_source s set lineage_id = before.back
from before where s.workspace_id = %(workspace)s and s.source_id = before.source_id;

-- remove_unspoken: of two entities one that is called like the other, and that nothing speaks of, no person named and no change
-- may bring back
delete from everlore.entity e
where e.workspace_id = %(workspace)s and e.entity_id = any (%(entities)s::uuid[]) and e.merged_into is null
  and exists (select from everlore.entity o where o.workspace_id = %(workspace)s and o.entity_id = any (%(entities)s::uuid[])
              and o.entity_id <> e.entity_id and o.name = e.name)
  and not exists (select from everlore.mention n where n.workspace_id = %(workspace)s and n.entity_id = e.entity_id)
  and not exists (select from everlore.memory_entity x where x.workspace_id = %(workspace)s and x.entity_id = e.entity_id)
  and not exists (select from everlore.fact f where f.workspace_id = %(workspace)s and f.subject_id = e.entity_id)
  and not exists (select from everlore.fact f where f.workspace_id = %(workspace)s and f.object_id = e.entity_id)
  and not exists (select from everlore.alias a
                  where a.workspace_id = %(workspace)s and a.entity_id = e.entity_id and a.origin = 'by hand')
  and not exists (select from everlore.entity_change c
                  where c.workspace_id = %(workspace)s and c.undone_at is null and c.kept_id = e.entity_id)
  and not exists (select from everlore.entity_change c
                  where c.workspace_id = %(workspace)s and c.undone_at is null and c.other_id = e.entity_id);
