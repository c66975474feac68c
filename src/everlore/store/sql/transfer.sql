-- read_counts: how many rows of each kind there are
select 'project', count(*) from everlore.project where workspace_id = %(workspace)s
union all select 'thread', count(*) from everlore.thread where workspace_id = %(workspace)s
union all select 'session', count(*) from everlore.session where workspace_id = %(workspace)s
union all select 'message', count(*) from everlore.message where workspace_id = %(workspace)s
union all select 'erased_turn', count(*) from everlore.erased_turn where workspace_id = %(workspace)s
union all select 'taxonomy_node', count(*) from everlore.taxonomy_node where workspace_id = %(workspace)s
union all select 'taxonomy_suggestion', count(*) from everlore.taxonomy_suggestion where workspace_id = %(workspace)s
union all select 'entity', count(*) from everlore.entity where workspace_id = %(workspace)s
union all select 'alias', count(*) from everlore.alias where workspace_id = %(workspace)s
union all select 'mention', count(*) from everlore.mention where workspace_id = %(workspace)s
union all select 'memory', count(*) from everlore.memory where workspace_id = %(workspace)s
union all select 'memory_source', count(*) from everlore.memory_source where workspace_id = %(workspace)s
union all select 'memory_entity', count(*) from everlore.memory_entity where workspace_id = %(workspace)s
union all select 'fact', count(*) from everlore.fact where workspace_id = %(workspace)s
union all select 'fact_source', count(*) from everlore.fact_source where workspace_id = %(workspace)s
union all select 'fact_source_before', count(*) from everlore.fact_source_before where workspace_id = %(workspace)s
union all select 'entity_change', count(*) from everlore.entity_change where workspace_id = %(workspace)s
union all select 'link_suggestion', count(*) from everlore.link_suggestion where workspace_id = %(workspace)s
union all select 'passage', count(*) from everlore.passage where workspace_id = %(workspace)s and layer <> 'said' and kind <> 'message'
union all select 'feedback', count(*) from everlore.feedback where workspace_id = %(workspace)s
union all select 'context', count(*) from everlore.context where workspace_id = %(workspace)s
union all select 'context_item', count(*) from everlore.context_item where workspace_id = %(workspace)s
union all select 'distillation', count(*) from everlore.distillation where workspace_id = %(workspace)s
union all select 'distil_again', count(*) from everlore.distil_again where workspace_id = %(workspace)s
union all select 'watermark', count(*) from everlore.watermark where workspace_id = %(workspace)s
    and step <> 'lexical' and not starts_with(step, 'vector:')
union all select 'usage', count(*) from everlore.usage where workspace_id = %(workspace)s
union all select 'handed_out', count(*) from everlore.handed_out where workspace_id = %(workspace)s
union all select 'audit_log', count(*) from everlore.audit_log where workspace_id = %(workspace)s;

-- read_project: projects
select (to_jsonb(t) - 'workspace_id')::text from everlore.project t
where t.workspace_id = %(workspace)s order by t.project_id;

-- read_thread: threads, without the number of their passages
select (to_jsonb(t) - 'workspace_id' - 'last_sequence')::text from everlore.thread t
where t.workspace_id = %(workspace)s order by t.thread_id;

-- read_session: sessions
select (to_jsonb(t) - 'workspace_id')::text from everlore.session t
where t.workspace_id = %(workspace)s order by t.session_id;

-- read_message: messages, without their texts
select (to_jsonb(t) - 'workspace_id' - 'text')::text from everlore.message t
where t.workspace_id = %(workspace)s order by t.thread_id, t.position;

-- read_erased_turn: what was erased and must not come back with its client's next call
select (to_jsonb(t) - 'workspace_id')::text from everlore.erased_turn t
where t.workspace_id = %(workspace)s order by t.thread_id, t.turn_key;

-- read_taxonomy_node: labels of the taxonomy
select (to_jsonb(t) - 'workspace_id')::text from everlore.taxonomy_node t
where t.workspace_id = %(workspace)s order by t.path;

-- read_taxonomy_suggestion: paths that were suggested for threads
select (to_jsonb(t) - 'workspace_id')::text from everlore.taxonomy_suggestion t
where t.workspace_id = %(workspace)s order by t.suggestion_id;

-- read_entity: entities, those that others were merged into first
with recursive standing as (
    select entity_id, 0 as merges from everlore.entity where workspace_id = %(workspace)s and merged_into is null
    union all
    select e.entity_id, s.merges + 1
    from standing s join everlore.entity e on e.workspace_id = %(workspace)s and e.merged_into = s.entity_id
)
select (to_jsonb(e) - 'workspace_id')::text
from everlore.entity e join standing s on s.entity_id = e.entity_id
where e.workspace_id = %(workspace)s order by s.merges, e.entity_id;

-- read_alias: names of entities, without their normal forms
select (to_jsonb(t) - 'workspace_id' - 'normalised')::text from everlore.alias t
where t.workspace_id = %(workspace)s order by t.alias_id;

-- read_mention: which messages name which entities
select (to_jsonb(t) - 'workspace_id')::text from everlore.mention t
where t.workspace_id = %(workspace)s order by t.entity_id, t.message_id;

-- read_memory: memories, version by version, with the numbers of their passages as they are exported
with numbered as (
    select passage_id, row_number() over (order by passage_id) as number
    from everlore.passage where workspace_id = %(workspace)s and layer <> 'said' and kind <> 'message'
)
select (to_jsonb(t) - 'workspace_id' || jsonb_build_object('passage_id', n.number))::text
from everlore.memory t left join numbered n on n.passage_id = t.passage_id
where t.workspace_id = %(workspace)s order by t.lineage_id, t.version;

-- read_memory_source: where memories were said
select (to_jsonb(t) - 'workspace_id')::text from everlore.memory_source t
where t.workspace_id = %(workspace)s order by t.source_id;

-- read_memory_entity: which memories speak of which entities
select (to_jsonb(t) - 'workspace_id')::text from everlore.memory_entity t
where t.workspace_id = %(workspace)s order by t.lineage_id, t.entity_id;

-- read_fact: facts, version by version, with the numbers of their passages as they are exported
with numbered as (
    select passage_id, row_number() over (order by passage_id) as number
    from everlore.passage where workspace_id = %(workspace)s and layer <> 'said' and kind <> 'message'
)
select (to_jsonb(t) - 'workspace_id' || jsonb_build_object('passage_id', n.number))::text
from everlore.fact t left join numbered n on n.passage_id = t.passage_id
where t.workspace_id = %(workspace)s order by t.lineage_id, t.version;

-- read_fact_source: every time that a fact was stated
select (to_jsonb(t) - 'workspace_id')::text from everlore.fact_source t
where t.workspace_id = %(workspace)s order by t.source_id;

-- read_fact_source_before: facts that statements counted for before
select (to_jsonb(t) - 'workspace_id')::text from everlore.fact_source_before t
where t.workspace_id = %(workspace)s order by t.source_id, t.lineage_id;

-- read_entity_change: merges and splits, with what undoing them needs
select (to_jsonb(t) - 'workspace_id')::text from everlore.entity_change t
where t.workspace_id = %(workspace)s order by t.change_id;

-- read_link_suggestion: entities that may be one
select (to_jsonb(t) - 'workspace_id')::text from everlore.link_suggestion t
where t.workspace_id = %(workspace)s order by t.suggestion_id;

-- read_passage: what is searched of memories and facts, numbered from 1: only here stands in which words a fact is searched
select jsonb_build_object(
    'passage_id', row_number() over (order by p.passage_id), 'kind', p.kind, 'layer', p.layer, 'owner_id', p.owner_id,
    'lineage_id', p.lineage_id, 'role', p.role, 'author', p.author, 'occurred_at', p.occurred_at, 'taxonomy', p.taxonomy,
    'text', p.text)::text
from everlore.passage p where p.workspace_id = %(workspace)s and p.layer <> 'said' and p.kind <> 'message' order by p.passage_id;

-- read_feedback: what people said of the sources of answers
select (to_jsonb(t) - 'workspace_id')::text from everlore.feedback t
where t.workspace_id = %(workspace)s order by t.feedback_id;

-- read_context: what was put into prompts
select (to_jsonb(t) - 'workspace_id')::text from everlore.context t
where t.workspace_id = %(workspace)s order by t.context_id;

-- read_context_item: what stands in contexts
select (to_jsonb(t) - 'workspace_id')::text from everlore.context_item t
where t.workspace_id = %(workspace)s order by t.context_id, t.place;

-- read_distillation: windows that were read
select (to_jsonb(t) - 'workspace_id')::text from everlore.distillation t
where t.workspace_id = %(workspace)s order by t.distillation_id;

-- read_distil_again: spans that are to be read anew
select (to_jsonb(t) - 'workspace_id')::text from everlore.distil_again t
where t.workspace_id = %(workspace)s order by t.thread_id, t.first;

-- read_watermark: how far threads were distilled; the steps that make the search index begin anew
select (to_jsonb(t) - 'workspace_id')::text from everlore.watermark t
where t.workspace_id = %(workspace)s and t.step <> 'lexical' and not starts_with(t.step, 'vector:') order by t.thread_id, t.step;

-- read_usage: what models cost
select (to_jsonb(t) - 'workspace_id')::text from everlore.usage t
where t.workspace_id = %(workspace)s order by t.day, t.model;

-- read_handed_out: what was handed out, by its hashes
select (to_jsonb(t) - 'workspace_id')::text from everlore.handed_out t
where t.workspace_id = %(workspace)s order by t.text_hash;

-- read_audit_log: the audit log
select (to_jsonb(t) - 'workspace_id')::text from everlore.audit_log t
where t.workspace_id = %(workspace)s order by t.audit_id;

-- write_project: lines of the kind project
insert into everlore.project (workspace_id, project_id, name, taxonomy, created_at)
select %(workspace)s, r.project_id, r.name, r.taxonomy, r.created_at
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.project, line -> 'fields') as r;

-- write_thread: lines of the kind thread
insert into everlore.thread (
    workspace_id, thread_id, name, project_id, taxonomy, last_position, messages, off_path, tip_id, reconciled,
    last_session_id, last_at, created_at)
select %(workspace)s, r.thread_id, r.name, r.project_id, r.taxonomy, r.last_position, r.messages, r.off_path, r.tip_id,
       r.reconciled, r.last_session_id, r.last_at, r.created_at
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.thread, line -> 'fields') as r;

-- write_session: lines of the kind session
insert into everlore.session (workspace_id, session_id, thread_id, name, started_at, ended_at)
select %(workspace)s, r.session_id, r.thread_id, r.name, r.started_at, r.ended_at
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.session, line -> 'fields') as r;

-- write_message: lines of the kind message
insert into everlore.message (
    workspace_id, message_id, thread_id, session_id, position, role, author, occurred_at, recorded_at, text, characters, captions,
    system_prompt, tool_calls, external_id, reply_to, metadata, taxonomy, content_hash, off_the_record, parent_id, on_path,
    revision_of, finish, turn_key)
select %(workspace)s, r.message_id, r.thread_id, r.session_id, r.position, r.role, r.author, r.occurred_at,
       r.recorded_at, r.text, r.characters, r.captions, r.system_prompt, r.tool_calls, r.external_id, r.reply_to, r.metadata,
       r.taxonomy, r.content_hash, r.off_the_record, r.parent_id, r.on_path, r.revision_of, r.finish, r.turn_key
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.message, line -> 'fields') as r;

-- write_erased_turn: lines of the kind erased_turn
insert into everlore.erased_turn (workspace_id, thread_id, turn_key)
select %(workspace)s, r.thread_id, r.turn_key
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.erased_turn, line -> 'fields') as r;

-- write_taxonomy_node: lines of the kind taxonomy_node
insert into everlore.taxonomy_node (workspace_id, path, label, created_at)
select %(workspace)s, r.path, r.label, r.created_at
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.taxonomy_node, line -> 'fields') as r;

-- write_taxonomy_suggestion: lines of the kind taxonomy_suggestion
insert into everlore.taxonomy_suggestion (
    workspace_id, suggestion_id, thread_id, path, times, recorded_at, decided_at, accepted)
select %(workspace)s, r.suggestion_id, r.thread_id, r.path, r.times, r.recorded_at, r.decided_at, r.accepted
from jsonb_array_elements(%(lines)s::jsonb) as line,
     jsonb_populate_record(null::everlore.taxonomy_suggestion, line -> 'fields') as r;

-- write_entity: lines of the kind entity
insert into everlore.entity (workspace_id, entity_id, name, type, recorded_at, merged_into)
select %(workspace)s, r.entity_id, r.name, r.type, r.recorded_at, r.merged_into
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.entity, line -> 'fields') as r;

-- write_alias: lines of the kind alias
insert into everlore.alias (workspace_id, alias_id, entity_id, variant, key, weight, origin, said_at, recorded_at)
select %(workspace)s, r.alias_id, r.entity_id, r.variant, r.key, r.weight, r.origin, r.said_at, r.recorded_at
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.alias, line -> 'fields') as r;

-- write_mention: lines of the kind mention
insert into everlore.mention (workspace_id, entity_id, message_id, recorded_at)
select %(workspace)s, r.entity_id, r.message_id, r.recorded_at
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.mention, line -> 'fields') as r;

-- write_memory: lines of the kind memory
insert into everlore.memory (
    workspace_id, memory_id, lineage_id, version, tier, type, content, category, tags, importance, confidence, valid_from,
    valid_to, recorded_at, superseded_at, superseded_by, event_at, expires_at, generation, pinned, confirmed, source_kind,
    review, review_reason, forgotten_at, author, role, thread_id, first_position, taxonomy, reasoning, extractor,
    extractor_version, content_hash, passage_id, access_count, last_access_at)
select %(workspace)s, r.memory_id, r.lineage_id, r.version, r.tier, r.type, r.content, r.category, r.tags, r.importance,
       r.confidence, r.valid_from, r.valid_to, r.recorded_at, r.superseded_at, r.superseded_by, r.event_at, r.expires_at,
       r.generation, r.pinned, r.confirmed, r.source_kind, r.review, r.review_reason, r.forgotten_at, r.author, r.role,
       r.thread_id, r.first_position, r.taxonomy, r.reasoning, r.extractor, r.extractor_version, r.content_hash, r.passage_id,
       r.access_count, r.last_access_at
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.memory, line -> 'fields') as r;

-- write_memory_source: lines of the kind memory_source
insert into everlore.memory_source (
    workspace_id, source_id, lineage_id, message_id, start_at, end_at, quote, confidence, recorded_at, retracted_at)
select %(workspace)s, r.source_id, r.lineage_id, r.message_id, r.start_at, r.end_at, r.quote, r.confidence,
       r.recorded_at, r.retracted_at
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.memory_source, line -> 'fields') as r;

-- write_memory_entity: lines of the kind memory_entity
insert into everlore.memory_entity (workspace_id, lineage_id, entity_id)
select %(workspace)s, r.lineage_id, r.entity_id
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.memory_entity, line -> 'fields') as r;

-- write_fact: lines of the kind fact
insert into everlore.fact (
    workspace_id, fact_id, lineage_id, version, subject_id, predicate, object_id, object, object_key, confidence, valid_from,
    valid_to, recorded_at, superseded_at, superseded_by, review, review_reason, confirmed, extractor, extractor_version,
    passage_id)
select %(workspace)s, r.fact_id, r.lineage_id, r.version, r.subject_id, r.predicate, r.object_id, r.object,
       r.object_key, r.confidence, r.valid_from, r.valid_to, r.recorded_at, r.superseded_at, r.superseded_by, r.review,
       r.review_reason, r.confirmed, r.extractor, r.extractor_version, r.passage_id
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.fact, line -> 'fields') as r;

-- write_fact_source: lines of the kind fact_source
insert into everlore.fact_source (
    workspace_id, source_id, lineage_id, message_id, memory_lineage_id, start_at, end_at, quote, said_at, valid_from, ended,
    corrects, confidence, recorded_at, retracted_at)
select %(workspace)s, r.source_id, r.lineage_id, r.message_id, r.memory_lineage_id, r.start_at, r.end_at, r.quote,
       r.said_at, r.valid_from, r.ended, r.corrects, r.confidence, r.recorded_at, r.retracted_at
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.fact_source, line -> 'fields') as r;

-- write_fact_source_before: lines of the kind fact_source_before
insert into everlore.fact_source_before (workspace_id, source_id, lineage_id)
select %(workspace)s, r.source_id, r.lineage_id
from jsonb_array_elements(%(lines)s::jsonb) as line,
     jsonb_populate_record(null::everlore.fact_source_before, line -> 'fields') as r;

-- write_entity_change: lines of the kind entity_change
insert into everlore.entity_change (workspace_id, change_id, kind, kept_id, other_id, moved, made_at, undone_at)
select %(workspace)s, r.change_id, r.kind, r.kept_id, r.other_id, r.moved, r.made_at, r.undone_at
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.entity_change, line -> 'fields') as r;

-- write_link_suggestion: lines of the kind link_suggestion
insert into everlore.link_suggestion (
    workspace_id, suggestion_id, entity_id, other_id, reason, score, recorded_at, decided_at, accepted)
select %(workspace)s, r.suggestion_id, r.entity_id, r.other_id, r.reason, r.score, r.recorded_at, r.decided_at,
       r.accepted
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.link_suggestion, line -> 'fields') as r;

-- write_passage: lines of the kind passage
insert into everlore.passage (
    workspace_id, passage_id, kind, layer, owner_id, lineage_id, role, author, occurred_at, taxonomy, text)
select %(workspace)s, r.passage_id, r.kind, r.layer, r.owner_id, r.lineage_id, r.role, r.author, r.occurred_at,
       r.taxonomy, r.text
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.passage, line -> 'fields') as r;

-- write_feedback: lines of the kind feedback
insert into everlore.feedback (workspace_id, feedback_id, message_id, lineage_id, terms, confirmed, given_at)
select %(workspace)s, r.feedback_id, r.message_id, r.lineage_id, r.terms, r.confirmed, r.given_at
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.feedback, line -> 'fields') as r;

-- write_context: lines of the kind context
insert into everlore.context (workspace_id, context_id, parent_id, thread_id, profile, budget, made_at)
select %(workspace)s, r.context_id, r.parent_id, r.thread_id, r.profile, r.budget, r.made_at
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.context, line -> 'fields') as r;

-- write_context_item: lines of the kind context_item
insert into everlore.context_item (
    workspace_id, context_id, place, part, slot, number, tokens, message_id, memory_id, fact_id, fact_version, words)
select %(workspace)s, r.context_id, r.place, r.part, r.slot, r.number, r.tokens, r.message_id, r.memory_id, r.fact_id,
       r.fact_version, r.words
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.context_item, line -> 'fields') as r;

-- write_distillation: lines of the kind distillation
insert into everlore.distillation (
    workspace_id, distillation_id, thread_id, first, last, extractor, extractor_version, memories, facts, rejected, error,
    distilled_at, superseded_at)
select %(workspace)s, r.distillation_id, r.thread_id, r.first, r.last, r.extractor, r.extractor_version, r.memories,
       r.facts, r.rejected, r.error, r.distilled_at, r.superseded_at
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.distillation, line -> 'fields') as r;

-- write_distil_again: lines of the kind distil_again
insert into everlore.distil_again (workspace_id, thread_id, first, asked_at)
select %(workspace)s, r.thread_id, r.first, r.asked_at
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.distil_again, line -> 'fields') as r;

-- write_watermark: lines of the kind watermark
insert into everlore.watermark (workspace_id, step, thread_id, position, written)
select %(workspace)s, r.step, r.thread_id, r.position, r.written
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.watermark, line -> 'fields') as r;

-- write_usage: lines of the kind usage
insert into everlore.usage (workspace_id, day, model, calls, failed, tokens_in, tokens_out, cost)
select %(workspace)s, r.day, r.model, r.calls, r.failed, r.tokens_in, r.tokens_out, r.cost
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.usage, line -> 'fields') as r;

-- write_handed_out: lines of the kind handed_out
insert into everlore.handed_out (workspace_id, text_hash, shingles, handed_out_at)
select %(workspace)s, r.text_hash, r.shingles, r.handed_out_at
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.handed_out, line -> 'fields') as r;

-- write_audit_log: lines of the kind audit_log
insert into everlore.audit_log (workspace_id, audit_id, at, actor, action, subject, detail)
select %(workspace)s, r.audit_id, r.at, r.actor, r.action, r.subject, r.detail
from jsonb_array_elements(%(lines)s::jsonb) as line, jsonb_populate_record(null::everlore.audit_log, line -> 'fields') as r;

-- columns: the columns of a table, with their types and whether they may be null
select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as required
from pg_attribute a
where a.attrelid = ('everlore.' || %(table)s)::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
order by a.attnum;

-- columns_of: the columns that a constraint or a unique index is about
select a.attname from pg_attribute a
where a.attrelid = ('everlore.' || %(table)s)::regclass and a.attname <> 'workspace_id' and a.attnum = any (array(
    select unnest(c.conkey) from pg_constraint c where c.conrelid = a.attrelid and c.conname = %(named)s
    union all select unnest(i.indkey::smallint[]) from pg_index i where i.indexrelid = to_regclass('everlore.' || %(named)s)))
order by a.attnum desc;

-- is_valid: whether a text is a value of a type
select pg_input_is_valid(%(text)s, %(type)s);

-- plainly: times in UTC and bytes in hex, whatever the server is set to
select set_config('TimeZone', 'UTC', true), set_config('bytea_output', 'hex', true), set_config('extra_float_digits', '1', true);

-- begin_steps: every background step has something to do in every thread, but for those whose marks were imported
insert into everlore.watermark (workspace_id, step, thread_id, written)
select %(workspace)s, steps.step, t.thread_id, t.last_position
from everlore.thread t cross join (
    select 'lexical' union all select 'vector:' || name from everlore.embedding_model
    union all select name from everlore.step where scope = 'thread' and watermark) as steps (step)
where t.workspace_id = %(workspace)s and t.last_position > 0
on conflict (workspace_id, step, thread_id) do nothing;

-- leave_jobs: a job for each thread of each of the named steps that has something to do with every single message
select everlore.defer(s.name, t.thread_id)
from everlore.step s cross join everlore.thread t
where s.scope = 'thread' and s.every = 1 and s.name = any (%(steps)s) and t.workspace_id = %(workspace)s and t.last_position > 0;
