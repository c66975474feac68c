-- What was said: workspaces, projects, threads, sessions, messages, and the audit of writes.

create table everlore.workspace (
    workspace_id uuid primary key,
    name text not null unique check (length(name) between 1 and 200),
    created_at timestamptz not null default now()
);

create table everlore.project (
    workspace_id uuid not null references everlore.workspace on delete cascade,
    project_id uuid not null,
    name text not null check (length(name) between 1 and 200),
    taxonomy ltree,
    created_at timestamptz not null default now(),
    primary key (workspace_id, project_id),
    unique (workspace_id, name)
);
create index project_taxonomy on everlore.project using gist (workspace_id, taxonomy);

-- `last_position`, `last_sequence`: numbers given out so far to messages and passages, under this row's lock.
-- `messages`: how many it holds now; `off_path`: how many of them are not on its path. `tip_id`: the last message of the path, which
-- the next one follows. `reconciled`: its client sends its whole history with every call.
-- `last_session_id`, `last_at`: where the conversation stands, for the rule of the six-hour gap.
create table everlore.thread (
    workspace_id uuid not null references everlore.workspace on delete cascade,
    thread_id uuid not null,
    name text not null check (length(name) between 1 and 200),
    project_id uuid,
    taxonomy ltree,
    last_position integer not null default 0,
    last_sequence integer not null default 0,
    messages integer not null default 0,
    off_path integer not null default 0,
    tip_id uuid,
    reconciled boolean not null default false,
    last_session_id uuid,
    last_at timestamptz,
    created_at timestamptz not null default now(),
    primary key (workspace_id, thread_id),
    unique (workspace_id, name),
    foreign key (workspace_id, project_id) references everlore.project
);
create index thread_project on everlore.thread (workspace_id, project_id) where project_id is not null;
create index thread_taxonomy on everlore.thread using gist (workspace_id, taxonomy);

create table everlore.session (
    workspace_id uuid not null,
    session_id uuid not null,
    thread_id uuid not null,
    name text,
    started_at timestamptz not null,
    ended_at timestamptz not null,
    primary key (workspace_id, session_id),
    foreign key (workspace_id, thread_id) references everlore.thread on delete cascade
);
create unique index session_name on everlore.session (workspace_id, thread_id, name) where name is not null;
create index session_time on everlore.session (workspace_id, thread_id, started_at);

-- `text` is read in one place, everlore.store.texts; `characters` is its length. `off_the_record`: kept as a message and never
-- distilled.
-- Messages of a thread form a tree. `parent_id` is the one that a message follows (none at the start; no foreign key: erasing links
-- children to what stays, and `set null` on a part of a key cannot be distributed). `on_path`: it is on the one path that is real. A
-- parent's position is the smaller one, so the path in its order is the path by positions. `revision_of`: the sibling that it takes
-- the place of. `turn_key`: what it says, as everlore.capture.turns has it: the same turn sent again has the same.
create table everlore.message (
    workspace_id uuid not null,
    message_id uuid not null,
    thread_id uuid not null,
    session_id uuid not null,
    position integer not null,
    role text not null check (role in ('user', 'assistant', 'system', 'developer', 'tool')),
    author text not null,
    occurred_at timestamptz not null,
    recorded_at timestamptz not null default now(),
    text text not null,
    characters integer not null,
    captions text[] not null default '{}',
    system_prompt text,
    tool_calls jsonb not null default '[]',
    external_id text,
    reply_to text,
    metadata jsonb not null default '{}',
    taxonomy ltree,
    content_hash bytea not null,
    off_the_record boolean not null default false,
    parent_id uuid,
    on_path boolean not null default true,
    revision_of uuid,
    finish text not null default 'complete' check (finish in ('complete', 'aborted', 'error')),
    turn_key bytea not null,
    primary key (workspace_id, message_id),
    unique (workspace_id, thread_id, position),
    foreign key (workspace_id, thread_id) references everlore.thread on delete cascade,
    foreign key (workspace_id, session_id) references everlore.session
);
-- A revision bears the external id of what it takes the place of.
create unique index message_external_id on everlore.message (workspace_id, thread_id, external_id)
    where external_id is not null and on_path;
create index message_external_id_off_path on everlore.message (workspace_id, thread_id, external_id)
    where external_id is not null and not on_path;
-- The thread behind the key: no other query of a thread is to prefer this index.
create index message_turn on everlore.message (workspace_id, turn_key, thread_id);
-- (Not null: who looks for anything else off the path is not to take this index for it.)
create index message_branch on everlore.message (workspace_id, parent_id) where not on_path and parent_id is not null;
create index message_revision on everlore.message (workspace_id, revision_of) where revision_of is not null;
create index message_session on everlore.message (workspace_id, session_id);
-- A short id is the random end of the UUID.
create index message_short_id on everlore.message (workspace_id, right(message_id::text, 8));

-- Of threads whose client sends its whole history again and again: marks of turns that were erased, which must not come back with
-- the next call (8 bytes of a hash over the turn's key and a neighbour's). They go with the thread.
create table everlore.erased_turn (
    workspace_id uuid not null,
    thread_id uuid not null,
    turn_key bytea not null check (length(turn_key) = 8),
    primary key (workspace_id, thread_id, turn_key),
    foreign key (workspace_id, thread_id) references everlore.thread on delete cascade
);

create table everlore.audit_log (
    workspace_id uuid not null references everlore.workspace on delete cascade,
    audit_id uuid not null,
    at timestamptz not null default now(),
    actor text not null default current_user,
    action text not null,
    subject text,
    detail jsonb not null default '{}',
    primary key (workspace_id, audit_id)
);

-- Threads of a project or under a taxonomy path. ltree's operators are not leakproof, so under row-level security the
-- index would not be used: the function runs as the owner and names the workspace itself.
create function everlore.threads_within(project text, under ltree) returns setof uuid
    language plpgsql stable security definer
    set search_path = everlore, public, pg_temp
    set plan_cache_mode = force_custom_plan
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
    begin
        return query
            select t.thread_id
            from everlore.thread t
            where t.workspace_id = ws
              and (project is null or t.project_id = (
                    select p.project_id from everlore.project p where p.workspace_id = ws and p.name = project))
              and (under is null or t.taxonomy <@ under)
            union all
            select t.thread_id
            from everlore.project p join everlore.thread t on t.workspace_id = p.workspace_id and t.project_id = p.project_id
            where p.workspace_id = ws and p.taxonomy <@ under and t.taxonomy is null
              and (project is null or p.name = project);
    end $$;

-- Messages by the end of their id, as a person types it: `right()` is not leakproof either.
create function everlore.messages_ending(ending text) returns setof uuid
    language plpgsql stable security definer
    set search_path = everlore, pg_temp
    set plan_cache_mode = force_custom_plan
    -- The primary key holds all that is asked for: a small workspace would be read whole.
    set enable_indexonlyscan = off
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
        digits constant text := replace(ending, '-', '');
    begin
        return query
            select m.message_id
            from everlore.message m
            where m.workspace_id = ws
              and right(m.message_id::text, 8) = right(digits, 8)
              and right(replace(m.message_id::text, '-', ''), length(digits)) = digits
            limit 2;
    end $$;

-- The audit log may only be added to. An erased thread's name gives way to its id there; what happened and when stays.
create function everlore.erase_from_audit(thread uuid, called text) returns bigint
    language plpgsql volatile security definer
    set search_path = everlore, pg_temp
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
        changed bigint;
    begin
        update everlore.audit_log a
        set subject = case when a.subject = called then thread::text else a.subject end,
            detail = case when a.detail ->> 'thread' = called
                          then jsonb_set(a.detail, '{thread}', to_jsonb(thread::text)) else a.detail end
        where a.workspace_id = ws and (a.subject = called or a.detail ->> 'thread' = called);
        get diagnostics changed = row_count;
        return changed;
    end $$;
