-- statements_of_predicates: everything that was stated of subjects under some predicates and still counts
select s.source_id, s.lineage_id, f.subject_id, f.predicate, f.object_key, s.said_at, s.valid_from, s.ended, s.corrects,
       s.confidence::float as confidence, s.message_id, s.memory_lineage_id, s.start_at as start, g.position
from unnest(%(subjects)s::uuid[], %(predicates)s::text[]) as given (subject_id, predicate) cross join lateral (
    select lineage_id, subject_id, predicate, object_key from everlore.fact
    where workspace_id = %(workspace)s and subject_id = given.subject_id and predicate = given.predicate
      and superseded_at is null and review is null offset 0
) as f cross join lateral (
    select * from everlore.fact_source
    where workspace_id = %(workspace)s and lineage_id = f.lineage_id and retracted_at is null offset 0
) as s left join lateral (
    select position from everlore.message where workspace_id = %(workspace)s and message_id = s.message_id offset 0
) as g on true;

-- statements_of_objects: the same of single objects
select s.source_id, s.lineage_id, f.subject_id, f.predicate, f.object_key, s.said_at, s.valid_from, s.ended, s.corrects,
       s.confidence::float as confidence, s.message_id, s.memory_lineage_id, s.start_at as start, g.position
from unnest(%(subjects)s::uuid[], %(predicates)s::text[], %(keys)s::text[]) as given (subject_id, predicate, key)
cross join lateral (
    select lineage_id, subject_id, predicate, object_key from everlore.fact
    where workspace_id = %(workspace)s and subject_id = given.subject_id and predicate = given.predicate
      and object_key = given.key and superseded_at is null and review is null offset 0
) as f cross join lateral (
    select * from everlore.fact_source
    where workspace_id = %(workspace)s and lineage_id = f.lineage_id and retracted_at is null offset 0
) as s left join lateral (
    select position from everlore.message where workspace_id = %(workspace)s and message_id = s.message_id offset 0
) as g on true;

-- current_of_predicates: the versions that are believed now, of subjects under some predicates
select f.fact_id, f.lineage_id, f.version, f.subject_id, f.predicate, f.object_id, f.object, f.object_key,
       f.confidence::float as confidence, f.valid_from, f.valid_to, f.superseded_by, f.passage_id, f.confirmed
from unnest(%(subjects)s::uuid[], %(predicates)s::text[]) as given (subject_id, predicate) cross join lateral (
    select * from everlore.fact
    where workspace_id = %(workspace)s and subject_id = given.subject_id and predicate = given.predicate
      and superseded_at is null and review is null offset 0
) as f;

-- current_of_objects: the same of single objects
select f.fact_id, f.lineage_id, f.version, f.subject_id, f.predicate, f.object_id, f.object, f.object_key,
       f.confidence::float as confidence, f.valid_from, f.valid_to, f.superseded_by, f.passage_id, f.confirmed
from unnest(%(subjects)s::uuid[], %(predicates)s::text[], %(keys)s::text[]) as given (subject_id, predicate, key)
cross join lateral (
    select * from everlore.fact
    where workspace_id = %(workspace)s and subject_id = given.subject_id and predicate = given.predicate
      and object_key = given.key and superseded_at is null and review is null offset 0
) as f;

-- rejected_of_predicates: what a person rejected of subjects under some predicates
select f.subject_id, f.predicate, f.object_key, f.lineage_id
from unnest(%(subjects)s::uuid[], %(predicates)s::text[]) as given (subject_id, predicate) cross join lateral (
    select subject_id, predicate, object_key, lineage_id from everlore.fact
    where workspace_id = %(workspace)s and subject_id = given.subject_id and predicate = given.predicate
      and superseded_at is null and review = 'rejected' and review_reason = 'rejected by hand' offset 0
) as f;

-- rejected_of_objects: the same of single objects
select f.subject_id, f.predicate, f.object_key, f.lineage_id
from unnest(%(subjects)s::uuid[], %(predicates)s::text[], %(keys)s::text[]) as given (subject_id, predicate, key)
cross join lateral (
    select subject_id, predicate, object_key, lineage_id from everlore.fact
    where workspace_id = %(workspace)s and subject_id = given.subject_id and predicate = given.predicate
      and object_key = given.key and superseded_at is null and review = 'rejected'
      and review_reason = 'rejected by hand' offset 0
) as f;

-- corrections: what was put right or ended of subjects under some predicates, and in which messages
select f.subject_id, f.predicate, f.object, s.corrects, s.said_at, s.message_id
from unnest(%(subjects)s::uuid[], %(predicates)s::text[]) as given (subject_id, predicate) cross join lateral (
    select lineage_id, subject_id, predicate, object from everlore.fact
    where workspace_id = %(workspace)s and subject_id = given.subject_id and predicate = given.predicate
      and superseded_at is null offset 0
) as f cross join lateral (
    select corrects, said_at, message_id from everlore.fact_source
    where workspace_id = %(workspace)s and lineage_id = f.lineage_id and retracted_at is null and (corrects or ended)
      and message_id is not null offset 0
) as s;

-- insert: versions of facts, first or next ones
insert into everlore.fact (
    workspace_id, fact_id, lineage_id, version, subject_id, predicate, object_id, object, object_key, confidence, valid_from,
    valid_to, superseded_by, confirmed, extractor, extractor_version, passage_id, recorded_at)
select %(workspace)s, f.fact_id, f.lineage_id, f.version, f.subject_id, f.predicate, f.object_id, f.object, f.object_key,
    f.confidence, f.valid_from, f.valid_to, f.superseded_by, f.confirmed, %(extractor)s, %(extractor_version)s, f.passage_id, %(now)s
from jsonb_populate_recordset(null::everlore.fact, %(facts)s::jsonb) as f;

-- close_versions: the ones before were believed until now
update everlore.fact f set superseded_at = %(now)s, superseded_by = coalesce(f.superseded_by, given.fact_id)
from unnest(%(lineages)s::uuid[], %(ids)s::uuid[]) as given (lineage_id, fact_id)
where f.workspace_id = %(workspace)s and f.lineage_id = given.lineage_id and f.superseded_at is null
  and f.fact_id <> given.fact_id;

-- set_confidences: of single versions
update everlore.fact f set confidence = given.confidence
from unnest(%(ids)s::uuid[], %(confidences)s::real[]) as given (fact_id, confidence)
where f.workspace_id = %(workspace)s and f.fact_id = given.fact_id;

-- move_statements: to other facts; that they counted for the ones before is kept
with before as (
    select s.source_id, s.lineage_id, given.lineage_id as now_of
    from unnest(%(sources)s::uuid[], %(lineages)s::uuid[]) as given (source_id, lineage_id)
    join everlore.fact_source s on s.workspace_id = %(workspace)s and s.source_id = given.source_id
    where s.lineage_id <> given.lineage_id
), kept as (
    insert into everlore.fact_source_before (workspace_id, source_id, lineage_id)
    select %(workspace)s, source_id, lineage_id from before
    on conflict do nothing
)
update everlore.fact_source s set lineage_id = before.now_of
from before where s.workspace_id = %(workspace)s and s.source_id = before.source_id;

-- copy_version: the next version: the current one, with some of its columns changed
insert into everlore.fact (
    workspace_id, fact_id, lineage_id, version, subject_id, predicate, object_id, object, object_key, confidence,
    valid_from, valid_to, recorded_at, superseded_at, superseded_by, review, review_reason, confirmed, extractor,
    extractor_version, passage_id)
select
    %(workspace)s, n.fact_id, n.lineage_id, n.version, n.subject_id, n.predicate, n.object_id, n.object, n.object_key,
    n.confidence, n.valid_from, n.valid_to, n.recorded_at, n.superseded_at, n.superseded_by, n.review, n.review_reason,
    n.confirmed, n.extractor, n.extractor_version, n.passage_id
from everlore.fact f cross join lateral jsonb_populate_record(
    f, %(changes)s::jsonb || jsonb_build_object('version', f.version + 1)) as n
where f.workspace_id = %(workspace)s and f.lineage_id = %(lineage_id)s and f.superseded_at is null;

-- add_statements: each one time that something was said
insert into everlore.fact_source (
    workspace_id, source_id, lineage_id, message_id, memory_lineage_id, start_at, end_at, quote, said_at, valid_from, ended,
    corrects, confidence, recorded_at)
select %(workspace)s, s.source_id, s.lineage_id, s.message_id, s.memory_lineage_id, s.start_at, s.end_at, s.quote, s.said_at,
    s.valid_from, s.ended, s.corrects, s.confidence, %(now)s
from jsonb_populate_recordset(null::everlore.fact_source, %(statements)s::jsonb) as s;

-- expressed: facts as they are believed now, by the memories that express them
select s.source_id, s.memory_lineage_id, f.fact_id, f.lineage_id, f.version, f.subject_id, f.predicate, f.object_id, f.object,
       f.object_key, f.confidence::float as confidence, f.valid_from, f.valid_to, f.superseded_by, f.passage_id, f.confirmed
from unnest(%(lineages)s::uuid[]) as given (lineage_id) cross join lateral (
    select * from everlore.fact_source
    where workspace_id = %(workspace)s and memory_lineage_id = given.lineage_id and retracted_at is null
      and not ended offset 0
) as s cross join lateral (
    select * from everlore.fact
    where workspace_id = %(workspace)s and lineage_id = s.lineage_id and superseded_at is null and review is null
    order by version desc limit 1
) as f;

-- set_passages: of all versions of some facts
update everlore.fact f set passage_id = given.passage_id
from unnest(%(lineages)s::uuid[], %(passages)s::integer[]) as given (lineage_id, passage_id)
where f.workspace_id = %(workspace)s and f.lineage_id = given.lineage_id;

-- set_statement_confidence: after a person took a stand
update everlore.fact_source set confidence = %(confidence)s
where workspace_id = %(workspace)s and lineage_id = %(lineage_id)s and retracted_at is null;

-- memories_of: memories that express some facts
select distinct given.lineage_id, s.memory_lineage_id
from unnest(%(lineages)s::uuid[]) as given (lineage_id) cross join lateral (
    select memory_lineage_id from everlore.fact_source
    where workspace_id = %(workspace)s and lineage_id = given.lineage_id and retracted_at is null offset 0
) as s
where s.memory_lineage_id is not null;

-- listed: facts that pass, the surest and latest first. `history`: those that held once, too; but not what never did and nobody
-- says any more (after a merge its statements count for the like of it).
select * from (select f.*, count(*) over () as total from everlore.fact_shown f
where f.workspace_id = %(workspace)s and everlore.believed_at(f.recorded_at, f.superseded_at, %(recorded_at)s)
  and (%(history)s or everlore.true_at(f.valid_from, f.valid_to, %(valid_at)s))
  and (f.valid_to is null or f.valid_to > f.valid_from
       or exists (select from everlore.fact_source s
                  where s.workspace_id = f.workspace_id and s.lineage_id = f.lineage_id and s.retracted_at is null offset 0))
  and (%(subjects)s::uuid[] is null or f.subject_id = any (%(subjects)s))
  and (%(about)s::uuid[] is null or f.subject_id = any (%(about)s) or f.object_id = any (%(about)s))
  and (%(predicate)s::text is null or f.predicate = %(predicate)s)
  and (%(object)s::text is null or strpos(' ' || everlore.normalise(f.object), ' ' || everlore.normalise(%(object)s)) > 0)
  and f.review is not distinct from %(review)s
) as counted
where %(after_at)s::timestamptz is null or (valid_to is null, valid_from, confidence, fact_id)
    < (%(after_holds)s, %(after_at)s, %(after_sure)s::real, %(after_id)s::uuid)
order by valid_to is null desc, valid_from desc, confidence desc, fact_id desc limit %(limit)s;

-- show: one version
select * from everlore.fact_shown where workspace_id = %(workspace)s and fact_id = %(fact_id)s;

-- find: facts whose id ends with what a person typed
select everlore.facts_ending(%(ending)s) limit 2;

-- sources: where facts were stated, with the words, in order of time
select given.lineage_id, s.message_id, s.start_at as start, s.end_at as "end",
       s.quote, g.author, g.role,
       coalesce(g.occurred_at, s.said_at) as at, t.name as thread
from unnest(%(lineages)s::uuid[]) as given (lineage_id) cross join lateral (
    select * from everlore.fact_source
    where workspace_id = %(workspace)s and lineage_id = given.lineage_id
      and everlore.believed_at(recorded_at, retracted_at, %(recorded_at)s) offset 0
) as s
left join lateral (
    select * from everlore.message where workspace_id = %(workspace)s and message_id = s.message_id offset 0
) as g on true
left join lateral (
    select name from everlore.thread where workspace_id = %(workspace)s and thread_id = g.thread_id offset 0
) as t on true
order by coalesce(g.occurred_at, s.said_at), s.source_id;

-- retract_of_memory: what a memory states no longer counts
update everlore.fact_source s set retracted_at = %(retracted_at)s
from everlore.fact f
where s.workspace_id = %(workspace)s and s.memory_lineage_id = %(lineage_id)s and s.retracted_at is null
  and f.workspace_id = s.workspace_id and f.fact_id = s.lineage_id
returning f.subject_id, f.predicate, f.object_key;

-- restore_of_memory: undo that
update everlore.fact_source s set retracted_at = null
from everlore.fact f
where s.workspace_id = %(workspace)s and s.memory_lineage_id = %(lineage_id)s and s.retracted_at = %(retracted_at)s
  and f.workspace_id = s.workspace_id and f.fact_id = s.lineage_id
returning f.subject_id, f.predicate, f.object_key;

-- object_key: what the objects of a fact are compared by
select object_key from everlore.fact where workspace_id = %(workspace)s and fact_id = %(fact_id)s;

-- predicates: what facts say something by
select distinct predicate from everlore.fact where workspace_id = %(workspace)s and superseded_at is null;

-- confirmed: facts that hold, of subjects under some predicates, and that a confirmed memory states or a person confirmed
select f.subject_id, f.predicate, f.object_key, f.object, f.valid_from
from unnest(%(subjects)s::uuid[], %(predicates)s::text[]) as given (subject_id, predicate) cross join lateral (
    select * from everlore.fact
    where workspace_id = %(workspace)s and subject_id = given.subject_id and predicate = given.predicate
      and superseded_at is null and review is null and valid_to is null offset 0
) as f
where f.confirmed or exists (
    select from everlore.fact_source s cross join lateral (
        select confirmed, review from everlore.memory
        where workspace_id = %(workspace)s and lineage_id = s.memory_lineage_id and superseded_at is null
        order by version desc limit 1
    ) as m
    where s.workspace_id = %(workspace)s and s.lineage_id = f.lineage_id and s.retracted_at is null and not s.ended
      and m.confirmed and m.review is null);

-- versions: all of a fact, the first one first
select * from everlore.fact_shown where workspace_id = %(workspace)s and lineage_id = %(lineage_id)s order by version;

-- edges: what some facts say, as they are believed now
select f.subject_id, f.predicate, f.object_key
from unnest(%(lineages)s::uuid[]) as given (lineage_id) cross join lateral (
    select * from everlore.fact
    where workspace_id = %(workspace)s and lineage_id = given.lineage_id and superseded_at is null
      and review is null offset 0
) as f;
