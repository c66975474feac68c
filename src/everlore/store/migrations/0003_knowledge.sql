-- What is distilled out of messages: memories, facts, entities and their names; with every source, and every version.

-- Whether a version was believed at a moment (null: now), or a source counted then: recorded by then, and not yet closed, that is
-- superseded or retracted. Every question about the past asks this, and Postgres puts it into the question, so that indexes serve.
create function everlore.believed_at(recorded_at timestamptz, closed_at timestamptz, moment timestamptz) returns boolean
    language sql immutable parallel safe
    return case when moment is null then closed_at is null
           else recorded_at <= moment and (closed_at is null or closed_at > moment) end;

-- Whether something was true in the world at a moment.
create function everlore.true_at(valid_from timestamptz, valid_to timestamptz, moment timestamptz) returns boolean
    language sql immutable parallel safe
    return valid_from <= moment and (valid_to is null or valid_to > moment);

-- One row per version. `lineage_id` is the id of the first version: what belongs to all versions (sources, entities) hangs on
-- that one, and goes with it. `passage_id`: where its words are indexed; versions with the same words share it.
-- `event_at`: when what it tells of happens. `first_position`: the window of the thread that it was distilled from begins there.
-- `tier`: shown, or a key of recall: that is never listed, names no entity, states no fact, and goes at `expires_at`.
create table everlore.memory (
    workspace_id uuid not null references everlore.workspace on delete cascade,
    memory_id uuid not null,
    lineage_id uuid not null,
    version integer not null default 1,
    tier text not null default 'shown' check (tier in ('shown', 'key')),
    type text not null check (type in (
        'fact', 'preference', 'identity', 'relationship', 'goal', 'task', 'event', 'habit', 'skill', 'lesson', 'decision',
        'project', 'system_config', 'blocker', 'reminder', 'note', 'context', 'casual', 'general')),
    content text not null check (length(content) between 1 and 2000),
    category text,
    tags text[] not null default '{}',
    importance real not null check (importance between 0 and 1),
    confidence real not null check (confidence between 0 and 1),
    valid_from timestamptz not null,
    valid_to timestamptz,
    recorded_at timestamptz not null,
    superseded_at timestamptz,
    superseded_by uuid,
    event_at timestamptz,
    expires_at timestamptz,
    generation integer not null default 0,
    pinned boolean not null default false,
    confirmed boolean not null default false,
    source_kind text not null check (source_kind in ('extracted', 'by hand')),
    review text check (review in ('suggested', 'rejected', 'quarantined')),
    review_reason text,
    forgotten_at timestamptz,
    author text,
    role text,
    thread_id uuid,
    first_position integer,
    taxonomy ltree,
    reasoning text,
    extractor text,
    extractor_version text,
    content_hash bytea not null,
    passage_id integer,
    access_count integer not null default 0,
    last_access_at timestamptz,
    primary key (workspace_id, memory_id),
    foreign key (workspace_id, lineage_id) references everlore.memory on delete cascade,
    foreign key (workspace_id, thread_id) references everlore.thread
);
create unique index memory_version on everlore.memory (workspace_id, lineage_id, version);
create index memory_type on everlore.memory (workspace_id, type, valid_from) where tier = 'shown';
create index memory_hash on everlore.memory (workspace_id, content_hash) where superseded_at is null;
create index memory_passage on everlore.memory (workspace_id, passage_id) where passage_id is not null;
create index memory_window on everlore.memory (workspace_id, thread_id, first_position);
create index memory_review on everlore.memory (workspace_id, recorded_at) where review is not null and superseded_at is null;
create index memory_pinned on everlore.memory (workspace_id, lineage_id) where pinned and superseded_at is null;
create index memory_superseded_by on everlore.memory (workspace_id, superseded_by) where superseded_by is not null;
create index memory_short_id on everlore.memory (workspace_id, right(memory_id::text, 8));
create index memory_keys on everlore.memory (workspace_id, expires_at) where tier = 'key';

-- Where a memory was said. `start_at`, `end_at`: characters of the message's text, from 0; `quote`: those characters, so that the
-- text itself need not be at hand. No message: a person told it.
-- `retracted_at`: the words were read anew since, and no longer say this.
create table everlore.memory_source (
    workspace_id uuid not null,
    source_id uuid not null,
    lineage_id uuid not null,
    message_id uuid,
    start_at integer,
    end_at integer,
    quote text,
    confidence real not null check (confidence between 0 and 1),
    recorded_at timestamptz not null,
    retracted_at timestamptz,
    primary key (workspace_id, source_id),
    foreign key (workspace_id, lineage_id) references everlore.memory on delete cascade,
    foreign key (workspace_id, message_id) references everlore.message on delete cascade
);
create index memory_source_lineage on everlore.memory_source (workspace_id, lineage_id);
create index memory_source_message on everlore.memory_source (workspace_id, message_id) where message_id is not null;

-- A person, place, thing. One that was merged points to the one it became; its rows were re-pointed.
create table everlore.entity (
    workspace_id uuid not null references everlore.workspace on delete cascade,
    entity_id uuid not null,
    name text not null check (length(name) between 1 and 200),
    type text not null check (type in (
        'person', 'place', 'organisation', 'project', 'concept', 'technical_term', 'event', 'other')),
    recorded_at timestamptz not null,
    merged_into uuid,
    primary key (workspace_id, entity_id),
    foreign key (workspace_id, merged_into) references everlore.entity on delete cascade
);
create index entity_name on everlore.entity (workspace_id, name) where merged_into is null;
create index entity_merged on everlore.entity (workspace_id, merged_into) where merged_into is not null;
create index entity_short_id on everlore.entity (workspace_id, right(entity_id::text, 8));

-- The names of an entity. `key` is the form in which numerals and abbreviations meet ("Ch35", "Chapter thirty-five");
-- `normalised` the one in which spelling is compared.
create table everlore.alias (
    workspace_id uuid not null,
    alias_id uuid not null,
    entity_id uuid not null,
    variant text not null check (length(variant) between 1 and 200),
    normalised text not null generated always as (everlore.normalise(variant)) stored,
    key text not null,
    weight real not null check (weight between 0 and 1),
    origin text not null check (origin in ('by hand', 'extracted', 'inferred')),
    said_at timestamptz, -- when somebody was first called so, as far as it was his name there
    recorded_at timestamptz not null,
    primary key (workspace_id, alias_id),
    foreign key (workspace_id, entity_id) references everlore.entity on delete cascade
);
create unique index alias_of_entity on everlore.alias (workspace_id, entity_id, key);
create index alias_key on everlore.alias (workspace_id, key);
create index alias_trigram on everlore.alias using gin (workspace_id, normalised public.gin_trgm_ops);

-- Which messages name an entity.
create table everlore.mention (
    workspace_id uuid not null,
    entity_id uuid not null,
    message_id uuid not null,
    recorded_at timestamptz not null,
    primary key (workspace_id, entity_id, message_id),
    foreign key (workspace_id, entity_id) references everlore.entity on delete cascade,
    foreign key (workspace_id, message_id) references everlore.message on delete cascade
);
create index mention_message on everlore.mention (workspace_id, message_id, entity_id);

-- Which memories speak of an entity.
create table everlore.memory_entity (
    workspace_id uuid not null,
    lineage_id uuid not null,
    entity_id uuid not null,
    primary key (workspace_id, lineage_id, entity_id),
    foreign key (workspace_id, lineage_id) references everlore.memory on delete cascade,
    foreign key (workspace_id, entity_id) references everlore.entity on delete cascade
);
create index memory_entity_entity on everlore.memory_entity (workspace_id, entity_id, lineage_id);

-- One row per version, as memories. `object_key` is what objects are compared by: their entity, or their normal form.
create table everlore.fact (
    workspace_id uuid not null,
    fact_id uuid not null,
    lineage_id uuid not null,
    version integer not null default 1,
    subject_id uuid not null,
    predicate text not null check (length(predicate) between 1 and 60),
    object_id uuid,
    object text not null check (length(object) between 1 and 500),
    object_key text not null,
    confidence real not null check (confidence between 0 and 1),
    valid_from timestamptz not null,
    valid_to timestamptz,
    recorded_at timestamptz not null,
    superseded_at timestamptz,
    superseded_by uuid,
    review text check (review in ('suggested', 'rejected', 'quarantined')),
    review_reason text,
    confirmed boolean not null default false,
    extractor text,
    extractor_version text,
    passage_id integer,
    primary key (workspace_id, fact_id),
    foreign key (workspace_id, lineage_id) references everlore.fact on delete cascade,
    foreign key (workspace_id, subject_id) references everlore.entity on delete cascade,
    foreign key (workspace_id, object_id) references everlore.entity on delete cascade
);
create unique index fact_version on everlore.fact (workspace_id, lineage_id, version);
create index fact_object on everlore.fact (workspace_id, object_id) where object_id is not null and superseded_at is null;
create index fact_passage on everlore.fact (workspace_id, passage_id) where passage_id is not null;
create index fact_group on everlore.fact (workspace_id, subject_id, predicate, object_key);
create index fact_superseded_by on everlore.fact (workspace_id, superseded_by) where superseded_by is not null;
create index fact_object_all on everlore.fact (workspace_id, object_id, valid_from) where object_id is not null;
create index fact_short_id on everlore.fact (workspace_id, right(fact_id::text, 8));
-- Edges out of an entity, the latest first: however many there are, a walk reads a handful. Edges into one have fact_object_all.
create index fact_subject_all on everlore.fact (workspace_id, subject_id, valid_from) where object_id is not null;

-- Every time that a fact was stated: what its validity and its confidence are computed from. `said_at`: when it was said.
-- `valid_from`: since when it holds by these words, if they say so. `ended`: it was said to hold no longer. `corrects`: what was said before was never true.
create table everlore.fact_source (
    workspace_id uuid not null,
    source_id uuid not null,
    lineage_id uuid not null,
    message_id uuid,
    memory_lineage_id uuid,
    start_at integer,
    end_at integer,
    quote text,
    said_at timestamptz not null,
    valid_from timestamptz,
    ended boolean not null default false,
    corrects boolean not null default false,
    confidence real not null check (confidence between 0 and 1),
    recorded_at timestamptz not null,
    retracted_at timestamptz,
    primary key (workspace_id, source_id),
    foreign key (workspace_id, lineage_id) references everlore.fact on delete cascade,
    foreign key (workspace_id, message_id) references everlore.message on delete cascade,
    foreign key (workspace_id, memory_lineage_id) references everlore.memory on delete cascade
);
create index fact_source_lineage on everlore.fact_source (workspace_id, lineage_id);
create index fact_source_message on everlore.fact_source (workspace_id, message_id) where message_id is not null;
create index fact_source_memory on everlore.fact_source (workspace_id, memory_lineage_id) where memory_lineage_id is not null;

-- Facts that a statement counted for before it came to count for another: a fact lives as long as a statement that it rested on.
create table everlore.fact_source_before (
    workspace_id uuid not null,
    source_id uuid not null,
    lineage_id uuid not null,
    primary key (workspace_id, source_id, lineage_id),
    foreign key (workspace_id, source_id) references everlore.fact_source on delete cascade,
    foreign key (workspace_id, lineage_id) references everlore.fact on delete cascade
);
create index fact_source_before_lineage on everlore.fact_source_before (workspace_id, lineage_id);

-- What a person did to entities, so that it can be undone: `moved` holds the ids of the rows that were re-pointed.
create table everlore.entity_change (
    workspace_id uuid not null references everlore.workspace on delete cascade,
    change_id uuid not null,
    kind text not null check (kind in ('merge', 'split')),
    kept_id uuid not null,
    other_id uuid not null,
    moved jsonb not null,
    made_at timestamptz not null,
    undone_at timestamptz,
    primary key (workspace_id, change_id),
    foreign key (workspace_id, kept_id) references everlore.entity on delete cascade,
    foreign key (workspace_id, other_id) references everlore.entity on delete cascade
);
create index entity_change_kept on everlore.entity_change (workspace_id, kept_id);
create index entity_change_other on everlore.entity_change (workspace_id, other_id);

-- Two entities that may be one: for a person to decide.
create table everlore.link_suggestion (
    workspace_id uuid not null,
    suggestion_id uuid not null,
    entity_id uuid not null,
    other_id uuid not null,
    reason text not null,
    score real not null,
    recorded_at timestamptz not null,
    decided_at timestamptz,
    accepted boolean,
    primary key (workspace_id, suggestion_id),
    foreign key (workspace_id, entity_id) references everlore.entity on delete cascade,
    foreign key (workspace_id, other_id) references everlore.entity on delete cascade
);
create unique index link_suggestion_pair on everlore.link_suggestion (
    workspace_id, least(entity_id, other_id), greatest(entity_id, other_id));

-- The taxonomy: paths with labels; and paths that were suggested for threads.
create table everlore.taxonomy_node (
    workspace_id uuid not null references everlore.workspace on delete cascade,
    path ltree not null,
    label text not null check (length(label) between 1 and 200),
    created_at timestamptz not null,
    primary key (workspace_id, path)
);

create table everlore.taxonomy_suggestion (
    workspace_id uuid not null,
    suggestion_id uuid not null,
    thread_id uuid not null,
    path ltree not null,
    times integer not null default 1,
    recorded_at timestamptz not null,
    decided_at timestamptz,
    accepted boolean,
    primary key (workspace_id, suggestion_id),
    foreign key (workspace_id, thread_id) references everlore.thread on delete cascade
);
create unique index taxonomy_suggestion_path on everlore.taxonomy_suggestion (workspace_id, thread_id, path);

-- The windows that were distilled: positions `first` to `last` of a thread, by whom. Read anew, a window gets another row and
-- the old one its `superseded_at`. `error`: it could not be read; it waits for a person, and what follows goes on.
create table everlore.distillation (
    workspace_id uuid not null,
    distillation_id uuid not null,
    thread_id uuid not null,
    first integer not null,
    last integer not null,
    extractor text not null,
    extractor_version text not null,
    memories integer not null,
    facts integer not null,
    rejected integer not null,
    error text,
    distilled_at timestamptz not null,
    superseded_at timestamptz,
    primary key (workspace_id, distillation_id),
    foreign key (workspace_id, thread_id) references everlore.thread on delete cascade
);
create unique index distillation_window on everlore.distillation (workspace_id, thread_id, first) where superseded_at is null;
create index distillation_failed on everlore.distillation (workspace_id, thread_id) where error is not null;

-- A span of a thread that a person wants read anew.
create table everlore.distil_again (
    workspace_id uuid not null,
    thread_id uuid not null,
    first integer not null,
    asked_at timestamptz not null,
    primary key (workspace_id, thread_id, first),
    foreign key (workspace_id, thread_id) references everlore.thread on delete cascade
);

-- The lock under which what is new is held against what is known; and how many distilled passages there are.
create table everlore.distilled_state (
    workspace_id uuid primary key references everlore.workspace on delete cascade,
    memories bigint not null default 0
);

-- Rows as they are shown, names beside ids. The policies of whoever asks hold.
create view everlore.memory_shown with (security_invoker = true) as
    select m.memory_id, m.lineage_id, m.version, m.tier, m.type, m.content, m.category, m.tags, m.importance, m.confidence,
           m.valid_from, m.valid_to, m.recorded_at, m.superseded_at, m.superseded_by, m.event_at, m.expires_at, m.generation,
           m.pinned, m.confirmed, m.source_kind, m.review, m.review_reason, m.forgotten_at, m.author, m.role,
           (select t.name from everlore.thread t where t.workspace_id = m.workspace_id and t.thread_id = m.thread_id) as thread,
           m.taxonomy::text as taxonomy, m.reasoning, m.extractor, m.extractor_version,
           array(select e.name from everlore.memory_entity x join everlore.entity e
                 on e.workspace_id = x.workspace_id and e.entity_id = x.entity_id
                 where x.workspace_id = m.workspace_id and x.lineage_id = m.lineage_id order by e.name) as entities,
           m.access_count, m.last_access_at,
           m.workspace_id, m.thread_id, m.first_position, m.content_hash, m.passage_id, m.taxonomy as path
    from everlore.memory m;

create view everlore.fact_shown with (security_invoker = true) as
    select f.fact_id, f.lineage_id, f.version, f.subject_id,
           (select e.name from everlore.entity e where e.workspace_id = f.workspace_id and e.entity_id = f.subject_id) as subject,
           f.predicate, f.object_id,
           coalesce((select e.name from everlore.entity e where e.workspace_id = f.workspace_id and e.entity_id = f.object_id),
                    f.object) as object,
           f.confidence, f.valid_from, f.valid_to, f.recorded_at, f.superseded_at, f.superseded_by, f.review, f.review_reason,
           f.workspace_id, f.object_key, f.passage_id
    from everlore.fact f;

-- What a fact rests on: every statement that counts for it, or did.
create view everlore.fact_ground with (security_invoker = true) as
    select s.workspace_id, s.lineage_id, s.source_id, s.message_id, s.memory_lineage_id, s.said_at, s.retracted_at
    from everlore.fact_source s
    union all
    select b.workspace_id, b.lineage_id, b.source_id, s.message_id, s.memory_lineage_id, s.said_at, s.retracted_at
    from everlore.fact_source_before b
    join everlore.fact_source s on s.workspace_id = b.workspace_id and s.source_id = b.source_id;

-- Ids by their end, as a person types them: memories and facts beside messages.
create function everlore.memories_ending(ending text) returns setof uuid
    language plpgsql stable security definer
    set search_path = everlore, pg_temp
    set plan_cache_mode = force_custom_plan
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
        digits constant text := replace(ending, '-', '');
    begin
        return query
            select m.memory_id
            from everlore.memory m
            where m.workspace_id = ws
              and right(m.memory_id::text, 8) = right(digits, 8)
              and right(replace(m.memory_id::text, '-', ''), length(digits)) = digits
            limit 2;
    end $$;

create function everlore.facts_ending(ending text) returns setof uuid
    language plpgsql stable security definer
    set search_path = everlore, pg_temp
    set plan_cache_mode = force_custom_plan
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
        digits constant text := replace(ending, '-', '');
    begin
        return query
            select f.fact_id
            from everlore.fact f
            where f.workspace_id = ws
              and right(f.fact_id::text, 8) = right(digits, 8)
              and right(replace(f.fact_id::text, '-', ''), length(digits)) = digits
            limit 2;
    end $$;

-- Entities by the end of their id, as a person types it.
create function everlore.entities_ending(ending text) returns setof uuid
    language plpgsql stable security definer
    set search_path = everlore, pg_temp
    set plan_cache_mode = force_custom_plan
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
        digits constant text := replace(ending, '-', '');
    begin
        return query
            select e.entity_id
            from everlore.entity e
            where e.workspace_id = ws
              and right(e.entity_id::text, 8) = right(digits, 8)
              and right(replace(e.entity_id::text, '-', ''), length(digits)) = digits
            limit 2;
    end $$;

-- Aliases that are spelled nearly like the given names. Trigram operators are not leakproof: under row-level security every
-- alias of the workspace would be compared. The function runs as the owner and names the workspace itself. Rows are called dear,
-- so that the trigram index is taken before the table was ever analysed, too.
create function everlore.aliases_similar(names text[], threshold real, at_most integer)
    returns table (name text, entity_id uuid, variant text, weight real, score real)
    language plpgsql stable security definer
    set search_path = everlore, public, pg_temp
    set plan_cache_mode = force_custom_plan
    set pg_trgm.similarity_threshold = 0.3
    set cpu_tuple_cost = 10
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
    begin
        -- Only until the function returns: the setting above is put back then.
        perform set_config('pg_trgm.similarity_threshold', threshold::text, true);
        return query
            select given.name, found.entity_id, found.variant, found.weight, found.score
            from (select g.name, everlore.normalise(g.name) as normal from unnest(names) as g (name)) as given
            cross join lateral (
                select a.entity_id, a.variant, a.weight, similarity(a.normalised, given.normal) as score
                from everlore.alias a
                where a.workspace_id = ws and a.normalised % given.normal
                order by similarity(a.normalised, given.normal) desc, a.alias_id
                limit at_most
            ) as found;
    end $$;

-- Aliases that contain a word, the shortest first: how "Ali" finds "Ali Camarata".
create function everlore.aliases_with_word(words text[], at_most integer)
    returns table (word text, entity_id uuid, variant text, weight real)
    language plpgsql stable security definer
    set search_path = everlore, public, pg_temp
    set plan_cache_mode = force_custom_plan
    set pg_trgm.strict_word_similarity_threshold = 0.999
    set cpu_tuple_cost = 10
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
    begin
        return query
            select given.word, found.entity_id, found.variant, found.weight
            from (select g.word, everlore.normalise(g.word) as normal from unnest(words) as g (word)) as given
            cross join lateral (
                select a.entity_id, a.variant, a.weight
                from everlore.alias a
                where a.workspace_id = ws and a.normalised %>> given.normal
                order by length(a.normalised), a.alias_id
                limit at_most
            ) as found;
    end $$;
