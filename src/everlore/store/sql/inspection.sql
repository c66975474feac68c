-- login: who we are, and whether policies bind us at all
select session_user, r.rolsuper, r.rolbypassrls from pg_roles r where r.rolname = session_user;

-- roles: ours that the cluster has, and what they could do to isolation
select rolname, rolsuper, rolbypassrls from pg_roles where rolname = any (%(names)s) order by rolname;

-- migrated: whether the list of migrations exists
select to_regclass('everlore.migration') is not null;

-- database_size: of the whole database, in bytes
select pg_database_size(current_database());

-- table_sizes: bytes of each of our tables with its indexes, the largest first; partitions count for their table
select coalesce(p.inhparent::regclass, c.oid::regclass)::text as name, sum(pg_total_relation_size(c.oid))::bigint as bytes
from pg_class c join pg_namespace n on n.oid = c.relnamespace left join pg_inherits p on p.inhrelid = c.oid
where n.nspname in ('everlore', 'jobs') and c.relkind = 'r'
group by 1 order by bytes desc, name;
