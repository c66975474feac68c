-- insert_entities: new entities
insert into everlore.entity (workspace_id, entity_id, name, type, recorded_at)
select %(workspace)s, e.entity_id, e.name, e.type, %(now)s
from unnest(%(ids)s::uuid[], %(names)s::text[], %(types)s::text[]) as e (entity_id, name, type);

-- add_aliases: names of entities; one that is there keeps the greater weight unless it is given less on purpose, is spelled as
-- given now, and was said first when it was; what a person gave stays so
insert into everlore.alias (workspace_id, alias_id, entity_id, variant, key, weight, origin, said_at, recorded_at)
select %(workspace)s, a.alias_id, a.entity_id, a.variant, a.key, a.weight, a.origin, a.said_at, %(now)s
from unnest(%(ids)s::uuid[], %(entities)s::uuid[], %(variants)s::text[], %(keys)s::text[], %(weights)s::real[],
            %(origins)s::text[], %(said)s::timestamptz[]) as a (alias_id, entity_id, variant, key, weight, origin, said_at)
on conflict (workspace_id, entity_id, key) do update set
    variant = case when alias.origin = 'by hand' then alias.variant else excluded.variant end,
    weight = case when alias.origin = 'by hand' then alias.weight
        when excluded.weight > alias.weight or (excluded.origin = 'inferred' and excluded.weight > 0) then excluded.weight
        else alias.weight end,
    origin = case when alias.origin = 'by hand' then alias.origin
        when excluded.weight > alias.weight or (excluded.origin = 'inferred' and excluded.weight > 0) then excluded.origin
        else alias.origin end,
    said_at = least(alias.said_at, excluded.said_at);

-- names_said: when entities were first called by each of their names
select given.entity_id, a.key, a.said_at, a.origin
from unnest(%(entities)s::uuid[]) as given (entity_id) cross join lateral (
    select key, said_at, origin from everlore.alias
    where workspace_id = %(workspace)s and entity_id = given.entity_id offset 0
) as a;

-- detach_names: short names that may as well be of somebody else
delete from everlore.alias a using unnest(%(entities)s::uuid[], %(keys)s::text[]) as given (entity_id, key)
where a.workspace_id = %(workspace)s and a.entity_id = given.entity_id and a.key = given.key and a.origin = 'inferred';

-- detach_mentions: what was said of some entities, to be read anew
delete from everlore.mention n
where n.workspace_id = %(workspace)s and n.entity_id = any (%(entities)s::uuid[]) returning n.message_id;

-- detach_memories: the extracted memories that speak of some entities, to be read anew
delete from everlore.memory_entity x
where x.workspace_id = %(workspace)s and x.entity_id = any (%(entities)s::uuid[]) and exists (
    select from everlore.memory m
    where m.workspace_id = %(workspace)s and m.memory_id = x.lineage_id and m.source_kind = 'extracted');

-- forget_type: what kind of thing they are is read anew
update everlore.entity set type = 'other' where workspace_id = %(workspace)s and entity_id = any (%(entities)s::uuid[]);

-- find_alias: an entity's alias of that key
select alias_id, variant from everlore.alias
where workspace_id = %(workspace)s and entity_id = %(entity_id)s and key = %(key)s;

-- delete_alias: a name that is none
delete from everlore.alias where workspace_id = %(workspace)s and alias_id = %(alias_id)s;

-- rename: the name that an entity is shown under
update everlore.entity set name = %(name)s
where workspace_id = %(workspace)s and entity_id = %(entity_id)s;

-- change: better names of entities, and what kind of thing they are, once it is known
update everlore.entity e set name = given.name, type = given.type
from unnest(%(ids)s::uuid[], %(names)s::text[], %(types)s::text[]) as given (entity_id, name, type)
where e.workspace_id = %(workspace)s and e.entity_id = given.entity_id;

-- add_mentions: which messages name which entity
insert into everlore.mention (workspace_id, entity_id, message_id, recorded_at)
select %(workspace)s, m.entity_id, m.message_id, %(now)s
from unnest(%(entities)s::uuid[], %(messages)s::uuid[]) as m (entity_id, message_id)
on conflict do nothing;

-- by_keys: the entities that bear a name, by its key. (Whether one was merged is asked behind the fence: without statistics the
-- partial index on names would be taken, which knows no ids.)
select a.key as given, a.entity_id, a.variant, a.weight, a.weight as score
from unnest(%(keys)s::text[]) as given (key) cross join lateral (
    select key, entity_id, variant, weight from everlore.alias
    where workspace_id = %(workspace)s and key = given.key offset 0
) as a cross join lateral (
    select merged_into from everlore.entity where workspace_id = %(workspace)s and entity_id = a.entity_id offset 0
) as e
where e.merged_into is null;

-- called: the entities that bear a name, by its key, with what they are and all of their names
select a.key as given, a.entity_id, a.weight, e.type, array(
    select variant from everlore.alias where workspace_id = %(workspace)s and entity_id = a.entity_id) as names
from unnest(%(keys)s::text[]) as given (key) cross join lateral (
    select key, entity_id, weight from everlore.alias
    where workspace_id = %(workspace)s and key = given.key offset 0
) as a cross join lateral (
    select merged_into, type from everlore.entity where workspace_id = %(workspace)s and entity_id = a.entity_id offset 0
) as e
where e.merged_into is null;

-- names_of: all names of the entities that bear a name, by its key
select a.key as given, a.entity_id, n.variant
from unnest(%(keys)s::text[]) as given (key) cross join lateral (
    select key, entity_id from everlore.alias where workspace_id = %(workspace)s and key = given.key offset 0
) as a cross join lateral (
    select merged_into from everlore.entity where workspace_id = %(workspace)s and entity_id = a.entity_id offset 0
) as e cross join lateral (
    select variant, weight from everlore.alias where workspace_id = %(workspace)s and entity_id = a.entity_id offset 0
) as n
where e.merged_into is null
order by a.key, a.entity_id, n.weight desc, n.variant;

-- similar: the entities whose names are spelled nearly so
select s.name as given, s.entity_id, s.variant, s.weight, s.score, e.type
from everlore.aliases_similar(%(names)s::text[], %(threshold)s::real, %(at_most)s) as s cross join lateral (
    select merged_into, type from everlore.entity where workspace_id = %(workspace)s and entity_id = s.entity_id offset 0
) as e
where e.merged_into is null;

-- with_word: the entities whose names contain a word
select w.word as given, w.entity_id, w.variant, w.weight, w.weight as score
from everlore.aliases_with_word(%(words)s::text[], %(at_most)s) as w cross join lateral (
    select merged_into from everlore.entity where workspace_id = %(workspace)s and entity_id = w.entity_id offset 0
) as e
where e.merged_into is null;

-- entities_ending: entities whose id ends with what a person typed
select everlore.entities_ending(%(ending)s) limit 2;

-- delete_unspoken: of these entities those that nothing speaks of and that no person named, with what was merged into them
delete from everlore.entity e
where e.workspace_id = %(workspace)s and e.entity_id = any (%(entities)s::uuid[]) and e.merged_into is null
  and not exists (select from everlore.alias a
                  where a.workspace_id = %(workspace)s and a.entity_id = e.entity_id and a.origin = 'by hand')
  and not exists (select from everlore.entity_change c
                  where c.workspace_id = %(workspace)s and c.undone_at is null and e.entity_id in (c.kept_id, c.other_id))
  and not exists (select from everlore.mention n where n.workspace_id = %(workspace)s and n.entity_id = e.entity_id)
  and not exists (select from everlore.memory_entity x where x.workspace_id = %(workspace)s and x.entity_id = e.entity_id)
  and not exists (select from everlore.fact f where f.workspace_id = %(workspace)s and f.subject_id = e.entity_id)
  and not exists (select from everlore.fact f where f.workspace_id = %(workspace)s and f.object_id = e.entity_id);

-- surviving: the entity itself, or the one that it was merged into in the end
with recursive chain (entity_id, merged_into) as (
    select entity_id, merged_into from everlore.entity where workspace_id = %(workspace)s and entity_id = %(entity_id)s
    union
    select e.entity_id, e.merged_into from chain cross join lateral (
        select entity_id, merged_into from everlore.entity
        where workspace_id = %(workspace)s and entity_id = chain.merged_into offset 0
    ) as e
)
select entity_id from chain where merged_into is null;

-- load_entities: entities with the number of messages that name them
select e.entity_id, e.name, e.type, e.recorded_at, n.mentions
from unnest(%(entities)s::uuid[]) as given (entity_id) cross join lateral (
    select entity_id, name, type, recorded_at from everlore.entity
    where workspace_id = %(workspace)s and entity_id = given.entity_id offset 0
) as e cross join lateral (
    select count(*) as mentions
    from (
        select from everlore.mention
        where workspace_id = %(workspace)s and entity_id = given.entity_id limit %(count_to)s::bigint
    ) as m
) as n;

-- load_aliases: the names of entities, the surest first
select given.entity_id, a.alias_id, a.variant, a.weight, a.origin
from unnest(%(entities)s::uuid[]) as given (entity_id) cross join lateral (
    select alias_id, variant, weight, origin from everlore.alias
    where workspace_id = %(workspace)s and entity_id = given.entity_id offset 0
) as a
order by given.entity_id, a.weight desc, a.variant;

-- describe: names of entities, whether others bear the same, and the best of their further names to tell them apart by
select e.entity_id, e.name, e.type, others.namesakes, told.variants
from unnest(%(entities)s::uuid[]) as given (entity_id) cross join lateral (
    select entity_id, name, type from everlore.entity
    where workspace_id = %(workspace)s and entity_id = given.entity_id offset 0
) as e cross join lateral (
    select array(
        select n.entity_id from everlore.entity n
        where n.workspace_id = %(workspace)s and n.name = e.name and n.merged_into is null
          and n.entity_id <> e.entity_id limit 20
    ) as namesakes
) as others cross join lateral (
    select case when others.namesakes = '{}' then '{}' else array(
        select a.variant from everlore.alias a
        where a.workspace_id = %(workspace)s and a.entity_id = e.entity_id and a.variant <> e.name
        order by a.weight desc, a.variant limit 20
    ) end as variants
) as told;

-- most_mentioned: the entities that most messages name; of those that none names, the ones that a person named or merged, or that
-- something known speaks of
select e.entity_id
from everlore.entity e left join (
    select entity_id, count(*) as mentions from everlore.mention where workspace_id = %(workspace)s group by entity_id
) as n using (entity_id)
where e.workspace_id = %(workspace)s and e.merged_into is null and (%(type)s::text is null or e.type = %(type)s)
  and (n.mentions is not null
    or exists (select from everlore.alias a
               where a.workspace_id = %(workspace)s and a.entity_id = e.entity_id and a.origin = 'by hand')
    or exists (select from everlore.entity_change c
               where c.workspace_id = %(workspace)s and c.undone_at is null and e.entity_id in (c.kept_id, c.other_id))
    or exists (select from everlore.memory_entity x cross join lateral (
                   select superseded_at, forgotten_at, valid_from, valid_to from everlore.memory
                   where workspace_id = %(workspace)s and lineage_id = x.lineage_id offset 0) as m
               where x.workspace_id = %(workspace)s and x.entity_id = e.entity_id
                 and m.superseded_at is null and m.forgotten_at is null and (m.valid_to is null or m.valid_to > m.valid_from))
    or exists (select from everlore.fact f
               where f.workspace_id = %(workspace)s and f.subject_id = e.entity_id
                 and f.superseded_at is null and (f.valid_to is null or f.valid_to > f.valid_from))
    or exists (select from everlore.fact f
               where f.workspace_id = %(workspace)s and f.object_id = e.entity_id
                 and f.superseded_at is null and (f.valid_to is null or f.valid_to > f.valid_from)))
order by n.mentions desc nulls last, e.name, e.entity_id
limit %(at_most)s;

-- count_facts: how many current facts speak of an entity, as subject or object
select given.entity_id, s.facts + o.facts
from unnest(%(entities)s::uuid[]) as given (entity_id) cross join lateral (
    select count(*) as facts from everlore.fact f
    where f.workspace_id = %(workspace)s and f.subject_id = given.entity_id and f.superseded_at is null and f.review is null
      and (f.valid_to is null or f.valid_to > %(now)s)
) as s cross join lateral (
    select count(*) as facts from (
        -- In the order of its index, which is otherwise not taken before there are statistics.
        select from everlore.fact f
        where f.workspace_id = %(workspace)s and f.object_id = given.entity_id and f.object_id is not null
          and f.valid_from <= %(now)s
          and f.subject_id <> given.entity_id and f.superseded_at is null and f.review is null
          and (f.valid_to is null or f.valid_to > %(now)s)
        order by f.valid_from offset 0
    ) as f
) as o;

-- last_mentions: the last messages that name each entity, with where they stand
select given.entity_id, m.message_id, m.thread_id, m.position, t.project_id, t.taxonomy, m.author
from unnest(%(entities)s::uuid[]) as given (entity_id) cross join lateral (
    select message_id from everlore.mention
    where workspace_id = %(workspace)s and entity_id = given.entity_id order by message_id desc limit %(at_most)s
) as n cross join lateral (
    select message_id, thread_id, position, case when role = 'user' then author end as author
    from everlore.message where workspace_id = %(workspace)s and message_id = n.message_id offset 0
) as m cross join lateral (
    select project_id, taxonomy::text from everlore.thread
    where workspace_id = %(workspace)s and thread_id = m.thread_id offset 0
) as t;

-- mentions_in: which entities the given messages name already
select n.entity_id, n.message_id
from unnest(%(messages)s::uuid[]) as given (message_id) cross join lateral (
    select entity_id, message_id from everlore.mention
    where workspace_id = %(workspace)s and message_id = given.message_id offset 0
) as n;

-- places_of: where messages stand
select m.message_id, m.thread_id, m.position, t.project_id, t.taxonomy, m.author
from unnest(%(messages)s::uuid[]) as given (message_id) cross join lateral (
    select message_id, thread_id, position, case when role = 'user' then author end as author
    from everlore.message where workspace_id = %(workspace)s and message_id = given.message_id offset 0
) as m cross join lateral (
    select project_id, taxonomy::text from everlore.thread
    where workspace_id = %(workspace)s and thread_id = m.thread_id offset 0
) as t;

-- stated: the current objects of some predicates, of each entity
select given.entity_id, f.predicate, f.object_id, f.object, f.valid_from
from unnest(%(entities)s::uuid[]) as given (entity_id) cross join lateral (
    select predicate, object_id, object, valid_from from everlore.fact
    where workspace_id = %(workspace)s and subject_id = given.entity_id and predicate = any (%(predicates)s::text[])
      and superseded_at is null
      and review is null and valid_to is null offset 0
) as f;

-- suggest_links: pairs that may be one, unless they were suggested before
insert into everlore.link_suggestion (workspace_id, suggestion_id, entity_id, other_id, reason, score, recorded_at)
select %(workspace)s, s.suggestion_id, s.entity_id, s.other_id, s.reason, s.score, %(now)s
from unnest(%(ids)s::uuid[], %(entities)s::uuid[], %(others)s::uuid[], %(reasons)s::text[], %(scores)s::real[])
    as s (suggestion_id, entity_id, other_id, reason, score)
on conflict do nothing;

-- link_suggestions: pairs that wait for a decision and are still two, the likeliest first
select s.suggestion_id, s.entity_id, s.other_id, s.reason, s.score, s.recorded_at
from everlore.link_suggestion s cross join lateral (
    select merged_into from everlore.entity where workspace_id = %(workspace)s and entity_id = s.entity_id offset 0
) as one cross join lateral (
    select merged_into from everlore.entity where workspace_id = %(workspace)s and entity_id = s.other_id offset 0
) as other
where s.workspace_id = %(workspace)s and s.decided_at is null and one.merged_into is null and other.merged_into is null
order by s.score desc, s.recorded_at, s.suggestion_id
limit %(at_most)s;

-- link_suggestion: one of them, locked
select entity_id, other_id, decided_at from everlore.link_suggestion
where workspace_id = %(workspace)s and suggestion_id = %(suggestion_id)s for no key update;

-- decide_link: what a person decided
update everlore.link_suggestion set decided_at = %(now)s, accepted = %(accepted)s
where workspace_id = %(workspace)s and suggestion_id = %(suggestion_id)s;
