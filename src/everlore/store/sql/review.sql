-- waiting: what waits for a person, the oldest first, of all kinds; with `ending` what has an id that ends so. `total` counts all
-- that waits; given is what stands behind the key.
select w.kind, w.id, w.state, w.text, w.reason, w.recorded_at, w.one, w.other, w.total
from (select u.*, count(*) over () as total from (
    select 'memory' as kind, m.memory_id as id, m.review as state, m.content as text, coalesce(m.review_reason, '') as reason,
           m.recorded_at, null::uuid as one, null::uuid as other
    from everlore.memory m
    where m.workspace_id = %(workspace)s and m.review is not null and m.superseded_at is null and m.forgotten_at is null
      and m.review_reason is distinct from 'rejected by hand'
    union all
    select 'link', s.suggestion_id, 'suggested', one.name || ' and ' || other.name, s.reason, s.recorded_at, s.entity_id, s.other_id
    from everlore.link_suggestion s
    join everlore.entity one on one.workspace_id = %(workspace)s and one.entity_id = s.entity_id
    join everlore.entity other on other.workspace_id = %(workspace)s and other.entity_id = s.other_id
    where s.workspace_id = %(workspace)s and s.decided_at is null and one.merged_into is null and other.merged_into is null
    union all
    select 'taxonomy', s.suggestion_id, 'suggested', 'thread ' || t.name || ': ' || s.path::text,
           'suggested ' || s.times || ' times', s.recorded_at, null, null
    from everlore.taxonomy_suggestion s
    join everlore.thread t on t.workspace_id = %(workspace)s and t.thread_id = s.thread_id
    where s.workspace_id = %(workspace)s and s.decided_at is null
) as u where %(ending)s::text is null or right(replace(u.id::text, '-', ''), length(%(ending)s)) = %(ending)s) as w
where %(after_at)s::timestamptz is null or (w.recorded_at, w.id) > (%(after_at)s, %(after_id)s::uuid)
order by w.recorded_at, w.id
limit %(at_most)s;
