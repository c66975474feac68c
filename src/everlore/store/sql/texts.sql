-- of: what messages say. No other query reads it
select m.message_id, m.text
from unnest(%(messages)s::uuid[]) as given (message_id) cross join lateral (
    select message_id, text from everlore.message
    where workspace_id = %(workspace)s and message_id = given.message_id offset 0
) as m;
