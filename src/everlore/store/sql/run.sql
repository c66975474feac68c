-- own_timeout: how long the operator lets a statement run, in milliseconds; 0 is for ever
select setting::bigint from pg_settings where name = 'statement_timeout';

-- set_timeout: no statement of this transaction may run longer, from here on
select set_config('statement_timeout', %(milliseconds)s, true);
