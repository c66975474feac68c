-- handed_anything: whether anything was ever handed out in this workspace
select exists (select from everlore.handed_out where workspace_id = %(workspace)s);

-- note: paragraphs that were handed out; one that was before is handed out again
insert into everlore.handed_out (workspace_id, text_hash, shingles, handed_out_at)
values (%(workspace)s, %(digest)s, %(shingles)s, %(at)s)
on conflict (workspace_id, text_hash) do update set handed_out_at = excluded.handed_out_at;

-- same: of the given hashes those that were handed out
select h.text_hash
from unnest(%(digests)s::bytea[]) as given (digest) cross join lateral (
    select text_hash from everlore.handed_out
    where workspace_id = %(workspace)s and text_hash = given.digest offset 0
) as h;

-- alike: the runs of words of all that was handed out and shares one with the given ones
select shingles from everlore.handed_out_alike(%(shingles)s::bigint[]);

-- forget_before: what was handed out long ago comes back no more
delete from everlore.handed_out where workspace_id = %(workspace)s and handed_out_at < %(before)s;
