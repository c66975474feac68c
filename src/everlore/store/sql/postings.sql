-- lock_lexicon: serialises packing, merging and deleting in one layer of a workspace
select from everlore.lexical_statistics where workspace_id = %(workspace)s and layer = %(layer)s for update;

-- tail_size: how many passages of messages no segment holds yet
select count(*)
from everlore.watermark w cross join lateral (
    select message_id from everlore.message
    where workspace_id = %(workspace)s and thread_id = w.thread_id and position > w.position and position <= w.written offset 0
) as m cross join lateral (
    select from everlore.passage where workspace_id = %(workspace)s and owner_id = m.message_id and layer = 'said' offset 0
) as p
where w.workspace_id = %(workspace)s and w.step = 'lexical' and w.position < w.written;

-- lock_behind: threads with unpacked passages, locked; a thread that a writer holds is left for the next time.
-- (A statement of its own: the next one's snapshot then sees every passage up to `written`.)
select thread_id, position, written from everlore.watermark
where workspace_id = %(workspace)s and step = 'lexical' and position < written
for update skip locked;

-- pack: write the named stretches of threads as a new segment; returns its number of passages
with behind as (
    select * from unnest(%(threads)s::uuid[], %(positions)s::integer[], %(written)s::integer[]) as b (thread_id, position, written)
), tail as materialized (
    select p.passage_id, p.length, p.terms
    from behind b cross join lateral (
        select message_id from everlore.message
        where workspace_id = %(workspace)s and thread_id = b.thread_id and position > b.position and position <= b.written offset 0
    ) as m cross join lateral (
        select passage_id, length, terms from everlore.passage
        where workspace_id = %(workspace)s and owner_id = m.message_id and layer = 'said' offset 0
    ) as p
), segment as (
    select min(passage_id) as number, count(*)::integer as passages, coalesce(sum(length), 0) as length from tail
), blocks as (
    insert into everlore.posting_block (workspace_id, layer, term, segment, postings)
    select %(workspace)s, 'said', u.lexeme, (select number from segment), string_agg(
        int8send((t.passage_id::bigint << 32) | (least(cardinality(u.positions), 65535)::bigint << 16)
                 | least(t.length, 65535)), '')
    from tail t, unnest(t.terms) as u
    group by u.lexeme
), noted as (
    insert into everlore.posting_segment (workspace_id, layer, segment, passages)
    select %(workspace)s, 'said', number, passages from segment where passages > 0
), counted as (
    update everlore.lexical_statistics s set passages = s.passages + g.passages, length = s.length + g.length
    from segment g where s.workspace_id = %(workspace)s and s.layer = 'said'
), moved as (
    update everlore.watermark w set position = b.written from behind b
    where w.workspace_id = %(workspace)s and w.step = 'lexical' and w.thread_id = b.thread_id
)
select passages from segment;

-- packed: of the given passages of messages, those that lie in what was packed already
select given.passage_id
from unnest(%(passages)s::integer[]) as given (passage_id) cross join lateral (
    select thread_id, position from everlore.passage
    where workspace_id = %(workspace)s and passage_id = given.passage_id offset 0
) as p
where exists (
    select from everlore.watermark w
    where w.workspace_id = %(workspace)s and w.step = 'lexical' and w.thread_id = p.thread_id and w.position >= p.position);

-- write_segment: write the named passages as a new segment of their layer, of that number or the first passage's
with fresh as materialized (
    select p.passage_id, p.length, p.terms
    from unnest(%(passages)s::integer[]) as given (passage_id) cross join lateral (
        select passage_id, length, terms from everlore.passage
        where workspace_id = %(workspace)s and passage_id = given.passage_id offset 0
    ) as p
), segment as (
    select coalesce(%(segment)s::integer, min(passage_id)) as number, count(*)::integer as passages,
           coalesce(sum(length), 0) as length
    from fresh
), blocks as (
    insert into everlore.posting_block (workspace_id, layer, term, segment, postings)
    select %(workspace)s, %(layer)s, u.lexeme, (select number from segment), string_agg(
        int8send((f.passage_id::bigint << 32) | (least(cardinality(u.positions), 65535)::bigint << 16)
                 | least(f.length, 65535)), '')
    from fresh f, unnest(f.terms) as u
    group by u.lexeme
), noted as (
    insert into everlore.posting_segment (workspace_id, layer, segment, passages)
    select %(workspace)s, %(layer)s, number, passages from segment where passages > 0
)
update everlore.lexical_statistics s set passages = s.passages + g.passages, length = s.length + g.length
from segment g where s.workspace_id = %(workspace)s and s.layer = %(layer)s;

-- segments: the segments of a layer and their sizes
select segment, passages from everlore.posting_segment
where workspace_id = %(workspace)s and layer = %(layer)s order by segment;

-- merge: several segments become one, the first of them
with parts as (
    delete from everlore.posting_block
    where workspace_id = %(workspace)s and layer = %(layer)s and segment = any (%(segments)s)
    returning term, segment, postings
), merged as (
    insert into everlore.posting_block (workspace_id, layer, term, segment, postings)
    select %(workspace)s, %(layer)s, term, %(into)s, string_agg(postings, '' order by segment)
    from parts group by term
), sizes as (
    delete from everlore.posting_segment
    where workspace_id = %(workspace)s and layer = %(layer)s and segment = any (%(segments)s)
    returning passages
)
insert into everlore.posting_segment (workspace_id, layer, segment, passages)
select %(workspace)s, %(layer)s, %(into)s, sum(passages)::integer from sizes;

-- question_words: the words of a question, each with its term
select word, term from everlore.query_words(%(question)s);

-- blocks: the postings of the question's terms, of all layers
select q.term, b.layer::text, b.postings
from (select distinct term from everlore.query_words(%(question)s) where term is not null) as q cross join lateral (
    select layer, postings from everlore.posting_block where workspace_id = %(workspace)s and term = q.term offset 0
) as b;

-- statistics: per layer passages and words in all segments, and the last passage number of the workspace
select s.layer::text, s.passages, s.length, c.last_passage
from everlore.lexical_statistics s join everlore.passage_counter c on c.workspace_id = s.workspace_id
where s.workspace_id = %(workspace)s;

-- tail: the passages that no segment holds yet: number, length, and how often each of the question's terms occurs
select p.passage_id, p.length,
       array(select coalesce(cardinality(u.positions), 0)
             from unnest(array(select distinct term from everlore.query_words(%(question)s) where term is not null)) as q (term)
             left join unnest(p.terms) as u on u.lexeme = q.term order by q.term collate "C")
from everlore.watermark w cross join lateral (
    select message_id from everlore.message
    where workspace_id = %(workspace)s and thread_id = w.thread_id and position > w.position and position <= w.written offset 0
) as m cross join lateral (
    select passage_id, length, terms from everlore.passage
    where workspace_id = %(workspace)s and owner_id = m.message_id and layer = 'said' offset 0
) as p
where w.workspace_id = %(workspace)s and w.step = 'lexical' and w.position < w.written;

-- blocks_of_passages: the blocks that hold any of the given packed passages, locked
select b.term, b.segment, b.postings
from (
    select distinct u.lexeme as term
    from unnest(%(passages)s::integer[]) as given (passage_id) cross join lateral (
        select terms from everlore.passage where workspace_id = %(workspace)s and passage_id = given.passage_id offset 0
    ) as p, unnest(p.terms) as u
) as t cross join lateral (
    select term, segment, postings from everlore.posting_block
    where workspace_id = %(workspace)s and term = t.term and layer = %(layer)s offset 0 for update
) as b;

-- packed_totals: of the given passages, how many are packed and how many words they have; outside of the layer `said` all are
select count(*), coalesce(sum(p.length), 0)
from unnest(%(passages)s::integer[]) as given (passage_id) cross join lateral (
    select layer, thread_id, position, length from everlore.passage
    where workspace_id = %(workspace)s and passage_id = given.passage_id offset 0
) as p
where p.layer <> 'said' or exists (
    select from everlore.watermark w
    where w.workspace_id = %(workspace)s and w.step = 'lexical' and w.thread_id = p.thread_id and w.position >= p.position);

-- rewrite_block: a block without the deleted passages
update everlore.posting_block set postings = %(postings)s
where workspace_id = %(workspace)s and layer = %(layer)s and term = %(term)s and segment = %(segment)s;

-- drop_block: a block that nothing is left in
delete from everlore.posting_block
where workspace_id = %(workspace)s and layer = %(layer)s and term = %(term)s and segment = %(segment)s;

-- subtract: take deleted passages off the totals
update everlore.lexical_statistics set passages = passages - %(passages)s, length = length - %(length)s
where workspace_id = %(workspace)s and layer = %(layer)s;

-- forget_all_postings: the first step of a rebuild
with blocks as (delete from everlore.posting_block where workspace_id = %(workspace)s),
     segments as (delete from everlore.posting_segment where workspace_id = %(workspace)s),
     marks as (update everlore.watermark set position = 0 where workspace_id = %(workspace)s and step = 'lexical')
update everlore.lexical_statistics set passages = 0, length = 0 where workspace_id = %(workspace)s;
