-- has_citus: whether this database belongs to a Citus cluster
select to_regproc('create_distributed_table') is not null;

-- tables: ours with what they are to be on a cluster: those of a workspace lie where the workspace lies, those that they all
-- refer to lie on every node, and the others stay with the coordinator. In the order of their names.
select c.relname as name,
       case when c.relname <> 'workspace' and a.attname is not null then 'distributed'
            when c.relname = 'workspace' or exists (
                select from pg_constraint k join pg_attribute o on o.attrelid = k.conrelid and o.attname = 'workspace_id'
                where k.contype = 'f' and k.confrelid = c.oid) then 'reference'
            else 'local' end as kind
from pg_class c join pg_namespace n on n.oid = c.relnamespace
left join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped
where n.nspname = 'everlore' and c.relkind in ('r', 'p') and not c.relispartition
order by c.relname;

-- foreign_keys: all of ours, as they would be written again. Keys of partitions belong to those of their tables.
select k.conname as name, c.relname as "table", r.relname as refers_to, pg_get_constraintdef(k.oid) as definition
from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_class r on r.oid = k.confrelid
join pg_namespace n on n.oid = c.relnamespace
where n.nspname = 'everlore' and k.contype = 'f' and k.conparentid = 0
order by c.relname, k.conname;

-- placed: our tables that are distributed, or on every node, already
select c.relname from citus_tables t join pg_class c on c.oid = t.table_name::oid join pg_namespace n on n.oid = c.relnamespace
where n.nspname = 'everlore';

-- one_after_the_other: tables that refer to those on every node can only be changed node by node
set local citus.multi_shard_modify_mode = 'sequential';
