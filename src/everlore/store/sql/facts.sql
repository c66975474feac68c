-- statements: everything that was stated of a group and still counts
select s.source_id, s.lineage_id, f.predicate, f.object_key, s.said_at, s.valid_from, s.ended, s.corrects, s.confidence::float as confidence,
       s.message_id, s.memory_lineage_id
from unnest(%(predicates)s::text[]) as given (predicate) cross join lateral (
    select fact_id, predicate, object_key from everlore.fact
    where workspace_id = %(workspace)s and subject_id = %(subject_id)s and predicate = given.predicate and version = 1
      and review is null offset 0
) as f cross join lateral (
    select * from everlore.fact_source
    where workspace_id = %(workspace)s and lineage_id = f.fact_id and retracted_at is null offset 0
) as s;

-- statements_of_object: the same of one object
select s.source_id, s.lineage_id, f.predicate, f.object_key, s.said_at, s.valid_from, s.ended, s.corrects, s.confidence::float as confidence,
       s.message_id, s.memory_lineage_id
from unnest(%(predicates)s::text[]) as given (predicate) cross join lateral (
    select fact_id, predicate, object_key from everlore.fact
    where workspace_id = %(workspace)s and subject_id = %(subject_id)s and predicate = given.predicate
      and object_key = %(object_key)s
      and version = 1 and review is null offset 0
) as f cross join lateral (
    select * from everlore.fact_source
    where workspace_id = %(workspace)s and lineage_id = f.fact_id and retracted_at is null offset 0
) as s;

-- current_of_group: the versions of a group that are believed now
select f.fact_id, f.lineage_id, f.subject_id, f.predicate, f.object_id, f.object, f.object_key, f.confidence::float as confidence, f.valid_from,
       f.valid_to, f.superseded_by
from everlore.fact f
where f.workspace_id = %(workspace)s and f.subject_id = %(subject_id)s and f.predicate = any (%(predicates)s::text[])
  and f.superseded_at is null and f.review is null;

-- current_of_object: the same of one object
select f.fact_id, f.lineage_id, f.subject_id, f.predicate, f.object_id, f.object, f.object_key, f.confidence::float as confidence, f.valid_from,
       f.valid_to, f.superseded_by
from everlore.fact f
where f.workspace_id = %(workspace)s and f.subject_id = %(subject_id)s and f.predicate = any (%(predicates)s::text[])
  and f.object_key = %(object_key)s
  and f.superseded_at is null and f.review is null;

-- insert: a version; the next number of its lineage
insert into everlore.fact (
    workspace_id, fact_id, lineage_id, version, subject_id, predicate, object_id, object, object_key, confidence, valid_from, valid_to,
    superseded_by, review, review_reason, extractor, extractor_version, passage_id, recorded_at)
select %(workspace)s, %(fact_id)s, %(lineage_id)s,
    coalesce(max(f.version), 0) + 1, %(subject_id)s, %(predicate)s, %(object_id)s, %(object)s, %(object_key)s, %(confidence)s,
    %(valid_from)s, %(valid_to)s, %(superseded_by)s, %(review)s, %(review_reason)s, %(extractor)s, %(extractor_version)s,
    max(f.passage_id), %(recorded_at)s
from everlore.fact f where f.workspace_id = %(workspace)s and f.lineage_id = %(lineage_id)s;

-- close_version: the one before was believed until now
update everlore.fact set superseded_at = %(recorded_at)s, superseded_by = coalesce(superseded_by, %(fact_id)s)
where workspace_id = %(workspace)s and lineage_id = %(lineage_id)s and superseded_at is null and fact_id <> %(fact_id)s;

-- set_confidence: of one version
update everlore.fact set confidence = %(confidence)s
where workspace_id = %(workspace)s and fact_id = %(fact_id)s;

-- set_passages: of all versions of some facts
update everlore.fact f set passage_id = given.passage_id
from unnest(%(lineages)s::uuid[], %(passages)s::integer[]) as given (lineage_id, passage_id)
where f.workspace_id = %(workspace)s and f.lineage_id = given.lineage_id;

-- set_review: a person's word on a fact
update everlore.fact set review = %(review)s, review_reason = %(reason)s
where workspace_id = %(workspace)s and lineage_id = %(lineage_id)s;

-- add_statement: one time that it was said
insert into everlore.fact_source (
    workspace_id, source_id, lineage_id, message_id, memory_lineage_id, start_at, end_at, said_at, valid_from, ended, corrects,
    confidence, recorded_at)
values (%(workspace)s, %(source_id)s, %(lineage_id)s, %(message_id)s, %(memory_lineage_id)s, %(start)s, %(end)s,
    %(said_at)s, %(valid_from)s, %(ended)s, %(corrects)s, %(confidence)s, %(recorded_at)s);

-- move_statements: to another fact
update everlore.fact_source set lineage_id = %(lineage_id)s
where workspace_id = %(workspace)s and source_id = any (%(sources)s::uuid[]);

-- retract_statements: what extraction read in some messages no longer counts
update everlore.fact_source s set retracted_at = %(retracted_at)s
from everlore.fact f
where s.workspace_id = %(workspace)s and s.message_id = any (%(messages)s::uuid[]) and s.retracted_at is null
  and f.workspace_id = s.workspace_id and f.fact_id = s.lineage_id and f.extractor is not null
returning f.subject_id, f.predicate, f.object_key;

-- set_statement_confidence: after a person took a stand
update everlore.fact_source set confidence = %(confidence)s
where workspace_id = %(workspace)s and lineage_id = %(lineage_id)s and retracted_at is null;

-- of_memories: facts as they are believed now, by the memories that express them
select distinct s.memory_lineage_id, f.fact_id, f.lineage_id, f.subject_id, f.predicate, f.object_id, f.object, f.object_key,
       f.confidence::float as confidence, f.valid_from, f.valid_to, f.superseded_by
from unnest(%(lineages)s::uuid[]) as given (lineage_id) cross join lateral (
    select * from everlore.fact_source
    where workspace_id = %(workspace)s and memory_lineage_id = given.lineage_id and retracted_at is null
      and not ended offset 0
) as s cross join lateral (
    select * from everlore.fact
    where workspace_id = %(workspace)s and lineage_id = s.lineage_id and superseded_at is null and review is null
    order by version desc limit 1
) as f;

-- memories_of: memories that express some facts
select distinct s.memory_lineage_id
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
  and (%(object)s::text is null or strpos(everlore.normalise(f.object), everlore.normalise(%(object)s)) > 0)
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
       substring(g.text from s.start_at + 1 for s.end_at - s.start_at) as quote, g.author, g.role,
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

-- rejected: what a person rejected of a subject
select predicate, object_key from everlore.fact
where workspace_id = %(workspace)s and subject_id = %(subject_id)s and predicate = any (%(predicates)s::text[])
  and superseded_at is null and review = 'rejected'
  and review_reason = 'rejected by hand';

-- versions: all of a fact, the first one first
select * from everlore.fact_shown where workspace_id = %(workspace)s and lineage_id = %(lineage_id)s order by version;

-- edges: what some facts say, as they are believed now
select f.subject_id, f.predicate, f.object_key
from unnest(%(lineages)s::uuid[]) as given (lineage_id) cross join lateral (
    select * from everlore.fact
    where workspace_id = %(workspace)s and lineage_id = given.lineage_id and superseded_at is null
      and review is null offset 0
) as f;
