-- fact_edges: at each given entity its facts to others: of the latest so many the surest. (Read by index in order of time, so
-- that one which is linked to everything costs no more than another.)
select given.entity_id, e.subject_id, e.predicate, e.object_id, e.lineage_id, e.confidence, e.valid_from, e.valid_to
from unnest(%(entities)s::uuid[]) as given (entity_id) cross join lateral (
    select * from (
        (select f.subject_id, f.predicate, f.object_id, f.lineage_id, f.confidence, f.valid_from, f.valid_to
         from everlore.fact f
         where f.workspace_id = %(workspace)s and f.subject_id = given.entity_id and f.object_id is not null
           and everlore.true_at(f.valid_from, f.valid_to, %(valid_at)s) and f.review is null
           and everlore.believed_at(f.recorded_at, f.superseded_at, %(recorded_at)s)
         order by f.valid_from desc limit %(read)s)
        union all
        (select f.subject_id, f.predicate, f.object_id, f.lineage_id, f.confidence, f.valid_from, f.valid_to
         from everlore.fact f
         where f.workspace_id = %(workspace)s and f.object_id = given.entity_id and f.object_id is not null
           and everlore.true_at(f.valid_from, f.valid_to, %(valid_at)s) and f.review is null
           and everlore.believed_at(f.recorded_at, f.superseded_at, %(recorded_at)s)
         order by f.valid_from desc limit %(read)s)
    ) as near
    where near.subject_id <> near.object_id
    order by near.confidence desc, near.valid_from desc, near.lineage_id
    limit %(fan_out)s
) as e;

-- facts_between: the facts that join given subjects to given objects, each found by its key. (First the predicates of each
-- subject, from one to the next, so that one with very many facts costs no more than another.)
with recursive said (subject_id, predicate, number) as (
    select given.subject_id, p.predicate, 1
    from unnest(%(subjects)s::uuid[]) as given (subject_id) cross join lateral (
        select f.predicate from everlore.fact f
        where f.workspace_id = %(workspace)s and f.subject_id = given.subject_id order by f.predicate limit 1
    ) as p
    union all
    select said.subject_id, p.predicate, said.number + 1
    from said cross join lateral (
        select f.predicate from everlore.fact f
        where f.workspace_id = %(workspace)s and f.subject_id = said.subject_id
          and f.predicate > said.predicate order by f.predicate limit 1
    ) as p
    where said.number < %(predicates)s
)
select e.subject_id, e.predicate, e.object_id, e.lineage_id, e.confidence, e.valid_from, e.valid_to
from said cross join unnest(%(objects)s::uuid[]) as given (object_id) cross join lateral (
    select f.subject_id, f.predicate, f.object_id, f.lineage_id, f.confidence, f.valid_from, f.valid_to
    from everlore.fact f
    where f.workspace_id = %(workspace)s and f.subject_id = said.subject_id and f.predicate = said.predicate
      and f.object_key = given.object_id::text
      and f.object_id = given.object_id and f.subject_id <> given.object_id
      and everlore.true_at(f.valid_from, f.valid_to, %(valid_at)s) and f.review is null
      and everlore.believed_at(f.recorded_at, f.superseded_at, %(recorded_at)s)
    offset 0
) as e
order by e.confidence desc, e.valid_from desc, e.lineage_id;

-- shared_memories: at each given entity the others that its latest memories speak of, and whether it has more memories
select given.entity_id, o.entity_id, array_agg(v.lineage_id order by v.lineage_id), max(v.confidence), min(v.valid_from),
       bool_or(more.are)
from unnest(%(entities)s::uuid[]) as given (entity_id) cross join lateral (
    select exists (select from everlore.memory_entity n
                   where n.workspace_id = %(workspace)s and n.entity_id = given.entity_id
                   order by n.lineage_id desc offset %(read)s) as are
    offset 0
) as more cross join lateral (
    select l.lineage_id from everlore.memory_entity l where l.workspace_id = %(workspace)s and l.entity_id = given.entity_id
    order by l.lineage_id desc limit %(read)s
) as l cross join lateral (
    select m.lineage_id, m.confidence, m.valid_from from everlore.memory m
    where m.workspace_id = %(workspace)s and m.lineage_id = l.lineage_id and m.review is null and m.forgotten_at is null
      and (%(valid_at)s::timestamptz is null or m.valid_from <= %(valid_at)s)
      and (m.valid_to is null or m.valid_to > coalesce(%(valid_at)s, %(now)s))
      and everlore.believed_at(m.recorded_at, m.superseded_at, %(recorded_at)s)
    order by m.version desc limit 1
) as v cross join lateral (
    select entity_id from everlore.memory_entity
    where workspace_id = %(workspace)s and lineage_id = l.lineage_id limit %(fan_out)s
) as o
where o.entity_id <> given.entity_id
group by given.entity_id, o.entity_id;

-- memories_of: the latest memories of each given entity that may be recalled
select given.entity_id, v.lineage_id, v.importance, v.valid_from
from unnest(%(entities)s::uuid[]) as given (entity_id) cross join lateral (
    select l.lineage_id from everlore.memory_entity l where l.workspace_id = %(workspace)s and l.entity_id = given.entity_id
    order by l.lineage_id desc limit %(read)s
) as l cross join lateral (
    select m.lineage_id, m.importance, m.valid_from from everlore.memory m
    where m.workspace_id = %(workspace)s and m.lineage_id = l.lineage_id and m.review is null and m.forgotten_at is null
      and (%(valid_at)s::timestamptz is null or m.valid_from <= %(valid_at)s)
      and (m.valid_to is null or m.valid_to > coalesce(%(valid_at)s, %(now)s))
      and (m.expires_at is null or m.expires_at > coalesce(%(valid_at)s, %(now)s) or %(include_expired)s)
      and everlore.believed_at(m.recorded_at, m.superseded_at, %(recorded_at)s)
    order by m.version desc limit 1
) as v;

-- facts_of: the facts that speak of an entity, as subject or object, the latest first
select f.fact_id, f.lineage_id, f.version, f.subject_id, s.name as subject, f.predicate, f.object_id,
       coalesce(o.name, f.object) as object,
       f.confidence, f.valid_from, f.valid_to, f.recorded_at, f.superseded_at, f.superseded_by, f.review, f.review_reason
from (
    select * from everlore.fact where workspace_id = %(workspace)s and subject_id = %(entity_id)s
    union
    select * from everlore.fact where workspace_id = %(workspace)s and object_id = %(entity_id)s
) as f cross join lateral (
    select name from everlore.entity where workspace_id = %(workspace)s and entity_id = f.subject_id offset 0
) as s left join lateral (
    select name from everlore.entity where workspace_id = %(workspace)s and entity_id = f.object_id offset 0
) as o on true
where everlore.true_at(f.valid_from, f.valid_to, %(valid_at)s) and f.review is null
  and everlore.believed_at(f.recorded_at, f.superseded_at, %(recorded_at)s)
order by f.valid_from desc, f.fact_id
limit %(at_most)s;
