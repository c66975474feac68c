-- hold_caps: let one reservation of this workspace pass at a time; the row of no model is the lock
insert into everlore.breaker (workspace_id, model) values (%(workspace)s, '')
on conflict (workspace_id, model) do update set failures = 0;

-- breaker: failures in a row of a model, and until when it is left alone
select model, failures, open_until from everlore.breaker
where workspace_id = %(workspace)s and model = %(model)s;

-- spent: what all models together cost on a day
select coalesce(sum(calls), 0)::bigint as calls, coalesce(sum(failed), 0)::bigint as failed,
       coalesce(sum(tokens_in), 0)::bigint as tokens_in, coalesce(sum(tokens_out), 0)::bigint as tokens_out,
       coalesce(sum(cost), 0) as cost
from everlore.usage
where workspace_id = %(workspace)s and day = %(day)s;

-- reserve: count a call before it is made
insert into everlore.usage (workspace_id, day, model, calls)
values (%(workspace)s, %(day)s, %(model)s, 1)
on conflict (workspace_id, day, model) do update set calls = usage.calls + 1;

-- add: what a call turned out to cost
insert into everlore.usage (workspace_id, day, model, failed, tokens_in, tokens_out, cost)
values (%(workspace)s, %(day)s, %(model)s, %(failed)s, %(tokens_in)s, %(tokens_out)s, %(cost)s)
on conflict (workspace_id, day, model) do update set
    failed = usage.failed + excluded.failed,
    tokens_in = usage.tokens_in + excluded.tokens_in,
    tokens_out = usage.tokens_out + excluded.tokens_out,
    cost = usage.cost + excluded.cost;

-- failed_again: one more failure in a row; answers with how many that makes
insert into everlore.breaker (workspace_id, model, failures)
values (%(workspace)s, %(model)s, 1)
on conflict (workspace_id, model) do update set failures = breaker.failures + 1
returning failures;

-- open_until: leave a model alone until then
update everlore.breaker set open_until = %(open_until)s
where workspace_id = %(workspace)s and model = %(model)s;

-- end_cooldown: the next call of a model that is left alone may be its probe
update everlore.breaker set open_until = %(now)s
where workspace_id = %(workspace)s and model = %(model)s and open_until > %(now)s;

-- close_breaker: the model answers again
update everlore.breaker set failures = 0, open_until = null
where workspace_id = %(workspace)s and model = %(model)s and (failures > 0 or open_until is not null);

-- usage: per day and model, the latest day first
select day, model, calls, failed, tokens_in, tokens_out, cost
from everlore.usage
where workspace_id = %(workspace)s and day >= %(since_day)s
order by day desc, model;

-- open_breakers: models that are left alone, or wait for a probe
select model, failures, open_until from everlore.breaker
where workspace_id = %(workspace)s and open_until is not null
order by model;
