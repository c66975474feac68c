-- Contexts: what was put into prompts. The injection log, and the heads of conversations.

-- A context of a conversation, and the one before it. It goes with its thread.
create table everlore.context (
    workspace_id uuid not null references everlore.workspace on delete cascade,
    context_id uuid not null,
    parent_id uuid,
    thread_id uuid,
    profile text not null check (profile in ('companion', 'agent', 'lean', 'custom')),
    budget integer not null check (budget >= 0),
    made_at timestamptz not null,
    primary key (workspace_id, context_id),
    foreign key (workspace_id, thread_id) references everlore.thread on delete cascade
);
create index context_made on everlore.context (workspace_id, made_at, context_id);
create index context_thread on everlore.context (workspace_id, thread_id, made_at);

-- What stands in a context, in its order: a message, a version of a memory, a fact, or words of the template (none of them). An
-- item goes with what it shows. `words`: of the head only, which is all of them in a row: so what is erased is cut out of it.
create table everlore.context_item (
    workspace_id uuid not null,
    context_id uuid not null,
    place integer not null,
    part text not null check (part in ('head', 'tail')),
    slot text not null,
    number integer,
    tokens integer not null,
    message_id uuid,
    memory_id uuid,
    fact_id uuid,
    fact_version uuid,
    words text,
    primary key (workspace_id, context_id, place),
    foreign key (workspace_id, context_id) references everlore.context on delete cascade,
    foreign key (workspace_id, message_id) references everlore.message on delete cascade,
    foreign key (workspace_id, memory_id) references everlore.memory on delete cascade,
    foreign key (workspace_id, fact_id) references everlore.fact on delete cascade,
    check (num_nonnulls(message_id, memory_id, fact_id) <= 1)
);
create index context_item_message on everlore.context_item (workspace_id, message_id) where message_id is not null;
create index context_item_memory on everlore.context_item (workspace_id, memory_id) where memory_id is not null;
create index context_item_fact on everlore.context_item (workspace_id, fact_id) where fact_id is not null;

-- What matters most, for heads.
create index memory_core on everlore.memory (workspace_id, importance)
    where tier = 'shown' and superseded_at is null and review is null and forgotten_at is null;

alter table everlore.context enable row level security;
alter table everlore.context_item enable row level security;
create policy own_workspace on everlore.context using (workspace_id = everlore.current_workspace());
create policy own_workspace on everlore.context_item using (workspace_id = everlore.current_workspace());
grant select, insert, update, delete on everlore.context, everlore.context_item to everlore_app, everlore_worker;
