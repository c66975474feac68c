-- place: where a message stands in the tree of its thread
select message_id, thread_id, parent_id, position, on_path, role from everlore.message
where workspace_id = %(workspace)s and message_id = %(message_id)s;

-- up: a message and those that it follows, up to the first that is on the path, which comes first; (a thread's first message has
-- nothing above it)
with recursive up as (
    select message_id, parent_id, position, on_path, session_id, occurred_at from everlore.message
    where workspace_id = %(workspace)s and message_id = %(message_id)s
    union all
    select above.* from up cross join lateral (
        select message_id, parent_id, position, on_path, session_id, occurred_at from everlore.message
        where workspace_id = %(workspace)s and message_id = up.parent_id offset 0
    ) as above
    where not up.on_path
)
select message_id, position, on_path from up order by position;

-- leave: what is on the path behind a position leaves it
update everlore.message set on_path = false
where workspace_id = %(workspace)s and thread_id = %(thread_id)s and on_path and position > %(after)s
returning message_id;

-- join: messages that the path leads by from now on
update everlore.message set on_path = true
where workspace_id = %(workspace)s and message_id = any (%(messages)s::uuid[]);

-- end_at: the path of a thread ends with a message, or (null) is empty
update everlore.thread t set
    tip_id = %(message_id)s, off_path = off_path + %(left)s, last_session_id = m.session_id, last_at = m.occurred_at
from (select 1) as always left join lateral (
    select session_id, occurred_at from everlore.message
    where workspace_id = %(workspace)s and message_id = %(message_id)s offset 0
) as m on true
where t.workspace_id = %(workspace)s and t.thread_id = %(thread_id)s
returning t.thread_id, t.last_position, t.last_sequence, t.last_session_id, t.last_at, t.tip_id;

-- lock: a thread, locked, with where it stands
select thread_id, last_position, last_sequence, last_session_id, last_at, tip_id, name from everlore.thread
where workspace_id = %(workspace)s and thread_id = %(thread_id)s for no key update;

-- counts: how many messages of a thread are on its path, and off it
select messages - off_path, off_path from everlore.thread
where workspace_id = %(workspace)s and thread_id = %(thread_id)s;

-- known_turns: how far the path of a thread says what a history does (`keys`: 16 bytes for each of its turns, one behind the
-- other): those messages, and the position of the last; whether the path goes on, and otherwise; of what comes then (of all, if so),
-- the messages of the thread with these keys, in their order, and the marks of what was erased from the thread
with given as materialized (
    select n + 1 as place, substring(%(keys)s::bytea from 16 * n + 1 for 16) as turn_key
    from generate_series(0, length(%(keys)s::bytea) / 16 - 1) as n
), path as materialized (
    select message_id, position, turn_key, row_number() over (order by position) as place from (
        select message_id, position, turn_key from everlore.message
        where workspace_id = %(workspace)s and thread_id = %(thread_id)s and on_path and role not in ('system', 'developer')
        order by position limit length(%(keys)s::bytea) / 16
    ) as beginning
), same as materialized (
    select coalesce(min(g.place) filter (where p.turn_key is distinct from g.turn_key) - 1, count(*)) as turns
    from given g left join path p on p.place = g.place
), stand as materialized (
    -- Where the path goes on otherwise than the history does, all of it may belong elsewhere.
    select s.turns, coalesce(p.position, 0) as position, s.turns < length(%(keys)s::bytea) / 16 and exists (
        select from everlore.message m
        where m.workspace_id = %(workspace)s and m.thread_id = %(thread_id)s and m.on_path
          and m.role not in ('system', 'developer') and m.position > coalesce(p.position, 0)) as goes_on
    from same s left join path p on p.place = s.turns
), rest as materialized (
    select distinct g.turn_key from given g cross join stand s where g.place > s.turns or s.goes_on
), known as materialized (
    -- (Instructions between turns are none.)
    select m.message_id, coalesce(p.parent_id, m.parent_id) as parent_id, m.turn_key, m.position, m.on_path
    from everlore.message m left join lateral (
        select parent_id from everlore.message
        where workspace_id = %(workspace)s and message_id = m.parent_id and role in ('system', 'developer') offset 0
    ) as p on true
    where m.workspace_id = %(workspace)s and m.thread_id = %(thread_id)s and m.turn_key = any (array(select turn_key from rest))
)
select
    array(select message_id from path where place <= (select turns from stand) order by place),
    (select position from stand),
    (select goes_on from stand),
    array(select message_id from known order by position),
    array(select parent_id from known order by position),
    array(select turn_key from known order by position),
    array(select position from known order by position),
    array(select on_path from known order by position),
    array(select turn_key from everlore.erased_turn where workspace_id = %(workspace)s and thread_id = %(thread_id)s);

-- note_reconciled: the client of a thread sends its whole history with every call
update everlore.thread set reconciled = true
where workspace_id = %(workspace)s and thread_id = %(thread_id)s and not reconciled;

-- between: how many turns of the path lie between two positions
select count(*) from everlore.message
where workspace_id = %(workspace)s and thread_id = %(thread_id)s and on_path and role not in ('system', 'developer')
  and position > %(after)s and position < %(before)s;

-- following: the turn of the path behind a position
select message_id, thread_id, parent_id, position, on_path, role from everlore.message
where workspace_id = %(workspace)s and thread_id = %(thread_id)s and on_path and position > %(after)s
  and role not in ('system', 'developer')
order by position limit 1;

-- following_said: the turn of the path behind a position, with what it says but for its text
select message_id, parent_id, position, role, captions, tool_calls::text as tool_calls from everlore.message
where workspace_id = %(workspace)s and thread_id = %(thread_id)s and on_path and position > %(after)s
  and role not in ('system', 'developer')
order by position limit 1;

-- end_of: the end of the branch that goes on from a message with what was written last
with recursive down as (
    select message_id, 0 as depth from everlore.message
    where workspace_id = %(workspace)s and message_id = %(message_id)s
    union all
    select below.message_id, down.depth + 1 from down cross join lateral (
        select message_id from everlore.message
        where workspace_id = %(workspace)s and parent_id = down.message_id order by position desc limit 1
    ) as below
)
select message_id from down order by depth desc limit 1;

-- note_erased: what is erased does not come back with its client's next call. Marks of a turn between the one before it and the
-- one behind: everlore.capture.turns.erased_marks
insert into everlore.erased_turn (workspace_id, thread_id, turn_key)
select distinct %(workspace)s::uuid, m.thread_id, substring(sha256(marked.words) for 8)
from everlore.message m cross join lateral (
    select '<'::bytea || coalesce((
        select turn_key from everlore.message where workspace_id = %(workspace)s and message_id = m.parent_id), ''::bytea) || m.turn_key
    union all
    select '>'::bytea || m.turn_key || n.turn_key from everlore.message n
    where n.workspace_id = %(workspace)s and n.thread_id = m.thread_id and n.parent_id = m.message_id and n.position > m.position
) as marked (words)
where m.workspace_id = %(workspace)s and m.message_id = any (%(messages)s::uuid[]) and exists (
    select from everlore.thread t where t.workspace_id = %(workspace)s and t.thread_id = m.thread_id and t.reconciled)
on conflict do nothing;

-- relink: what follows a message that is erased follows what that one followed, or what stays of it. (What follows a message of the
-- path on it is the next one by its position.)
with recursive gone as materialized (
    select m.message_id, m.parent_id, m.thread_id, m.position, m.on_path from everlore.message m
    where m.workspace_id = %(workspace)s and m.message_id = any (%(messages)s::uuid[])
), up as (
    select message_id, parent_id from gone
    union all
    select up.message_id, gone.parent_id from up join gone on gone.message_id = up.parent_id
), kept as materialized (
    select u.message_id, u.parent_id from up u where not exists (select from gone where gone.message_id = u.parent_id)
), tips as (
    update everlore.thread t set tip_id = k.parent_id from kept k join gone g on g.message_id = k.message_id
    where t.workspace_id = %(workspace)s and t.thread_id = g.thread_id and t.tip_id = k.message_id
), children as (
    select c.message_id, k.parent_id
    from kept k join gone g on g.message_id = k.message_id cross join lateral (
        select message_id from everlore.message
        where workspace_id = %(workspace)s and thread_id = g.thread_id and on_path and position > g.position
        order by position limit 1
    ) as c
    where g.on_path
    union all
    select c.message_id, k.parent_id
    from kept k cross join lateral (
        select message_id from everlore.message
        where workspace_id = %(workspace)s and parent_id = k.message_id and not on_path offset 0
    ) as c
)
update everlore.message m set parent_id = c.parent_id
from children c
where m.workspace_id = %(workspace)s and m.message_id = c.message_id and m.message_id <> all (%(messages)s::uuid[]);

-- unrevise: nothing takes the place of what is erased
update everlore.message m set revision_of = null
where m.workspace_id = %(workspace)s and m.revision_of = any (%(messages)s::uuid[]);
