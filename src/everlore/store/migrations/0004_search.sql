-- The search index: passages, BM25 postings, vectors. All of it is derived and can be rebuilt.

-- The layers of the index: what was said, what was said off the path of its thread, what is known from it, keys to it that are
-- not shown, what was told, documents. Each has postings, statistics and
-- vector indexes of its own, so that a thousand memories change neither the rarity of a word among messages nor what the lanes
-- of messages find. Passage numbers are one row of numbers for all.
-- Text, not an enumeration: only what is leakproof, as equality of texts is, may use an index under row-level security.
create domain everlore.layer as text check (value in ('said', 'branches', 'known', 'keys', 'told', 'documents'));

-- `passage_id` counts up per workspace (gaps are harmless) so that BM25 can add scores up in a plain array;
-- `owner_id` is what says it (a message, a version of a memory): of which `kind`. `lineage_id` is what that belongs to: what all
-- versions have in common. No foreign key leads there (there would be one for each kind): who deletes an owner deletes its passages.
-- `sequence` counts up per thread, so that neighbours are found by one index range; only what was said has a place in a thread.
-- `length` counts the words of the text: what BM25 divides by.
create table everlore.passage (
    workspace_id uuid not null references everlore.workspace on delete cascade,
    passage_id integer not null,
    kind text not null check (length(kind) between 1 and 60),
    layer everlore.layer not null,
    owner_id uuid not null,
    lineage_id uuid not null,
    thread_id uuid,
    session_id uuid,
    sequence integer,
    position integer,
    role text not null,
    author text not null,
    occurred_at timestamptz not null,
    taxonomy ltree,
    text text not null,
    length integer not null generated always as (length(text) - length(translate(text, E' \n\t', '')) + 1) stored,
    normalised text not null generated always as (everlore.normalise(text)) stored,
    terms tsvector not null generated always as (everlore.terms(text)) stored,
    -- Whether it ends with a question; captions, and what is no letter or digit behind the mark, do not count.
    asks boolean not null generated always as
        (regexp_replace(text, '( \[shares [^\n]*\])+$', '') ~ '[?？؟][^[:alnum:]]*$') stored,
    primary key (workspace_id, passage_id),
    unique (workspace_id, thread_id, sequence),
    constraint passage_place check (layer not in ('said', 'branches') or (
        thread_id is not null and session_id is not null and sequence is not null and position is not null))
);
create index passage_owner on everlore.passage (workspace_id, owner_id);
create index passage_lineage on everlore.passage (workspace_id, layer, lineage_id) where layer <> 'said';
create index passage_time on everlore.passage (workspace_id, occurred_at);
create index passage_author on everlore.passage (workspace_id, lower(author), occurred_at);
create index passage_taxonomy on everlore.passage using gist (workspace_id, taxonomy) where taxonomy is not null;

-- Numbers for passages are taken in a transaction of their own, so that writers of one workspace do not wait for each other.
create table everlore.passage_counter (
    workspace_id uuid primary key references everlore.workspace on delete cascade,
    last_passage integer not null
);

-- One row per term and segment. `postings` holds 8 bytes per passage, big-endian:
-- passage_id (4), occurrences of the term (2, saturating), length of the passage (2, saturating).
create table everlore.posting_block (
    workspace_id uuid not null references everlore.workspace on delete cascade,
    layer everlore.layer not null,
    term text not null,
    segment integer not null,
    postings bytea not null,
    primary key (workspace_id, term, layer, segment)
);
alter table everlore.posting_block alter column postings set storage external;

-- A segment is what one run of the packing step wrote; its number is its smallest passage_id.
create table everlore.posting_segment (
    workspace_id uuid not null references everlore.workspace on delete cascade,
    layer everlore.layer not null,
    segment integer not null,
    passages integer not null,
    primary key (workspace_id, layer, segment)
);

-- Totals over all packed passages; its row is the lock under which segments are written.
create table everlore.lexical_statistics (
    workspace_id uuid not null references everlore.workspace on delete cascade,
    layer everlore.layer not null,
    passages integer not null default 0,
    length bigint not null default 0,
    primary key (workspace_id, layer)
);

-- Models that vectors may come from. The one in use answers questions; another may be filling beside it.
create table everlore.embedding_model (
    model_id smallint primary key,
    name text not null unique check (length(name) between 1 and 200),
    dimensions smallint not null check (dimensions between 1 and 4000),
    in_use boolean not null default false,
    created_at timestamptz not null default now()
);
create unique index embedding_model_in_use on everlore.embedding_model (in_use) where in_use;

-- No dimension in the type: every model has rows of its own here, and indexes of its own (see build_vector_index).
create table everlore.passage_vector (
    workspace_id uuid not null,
    model_id smallint not null references everlore.embedding_model,
    passage_id integer not null,
    layer everlore.layer not null,
    embedding halfvec not null,
    primary key (workspace_id, passage_id, model_id),
    foreign key (workspace_id, passage_id) references everlore.passage on delete cascade
) partition by hash (workspace_id);
-- Comparing all vectors of a small layer must not mean reading those of messages.
create index passage_vector_beside on everlore.passage_vector (workspace_id, model_id, layer, passage_id) where layer <> 'said';

-- Vectors of single tokens for late interaction: 128 signed bytes per wordpiece. Rows up to a page stay inline.
create table everlore.passage_tokens (
    workspace_id uuid not null,
    model_id smallint not null references everlore.embedding_model,
    passage_id integer not null,
    tokens bytea not null,
    primary key (workspace_id, passage_id, model_id),
    foreign key (workspace_id, passage_id) references everlore.passage on delete cascade
) with (toast_tuple_target = 8160);
alter table everlore.passage_tokens alter column tokens set storage external;

-- Passages that lack vectors of a model, of all layers but what was said: there watermarks tell. And of all layers those that
-- the model will not take, with the reason (`refused`): they wait for nobody.
create table everlore.unembedded (
    workspace_id uuid not null,
    model_id smallint not null references everlore.embedding_model on delete cascade,
    passage_id integer not null,
    refused text,
    primary key (workspace_id, model_id, passage_id),
    foreign key (workspace_id, passage_id) references everlore.passage on delete cascade
);

do $$
begin
    for part in 0..15 loop
        execute format('create table everlore.passage_vector_%s partition of everlore.passage_vector '
                       'for values with (modulus 16, remainder %s)', part, part);
        execute format('alter table everlore.passage_vector_%s alter column embedding set storage plain', part);
    end loop;
end $$;
