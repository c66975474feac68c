-- missing_roles: those of the named roles that the cluster does not have
select name from unnest(%s::text[]) as name where not exists (select from pg_roles where rolname = name);

-- extensions: of each named extension, whether the server offers it and the schema it is installed in here (or null)
select a.name, true, (select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = a.name)
from pg_available_extensions a
where a.name = any (%s);

-- create_migration_table: the list of what was applied; it stands outside the numbered files because they need it
create table if not exists everlore.migration (
    name text primary key,
    checksum text not null,
    applied_at timestamptz not null default now()
);

-- note_migration: one script was applied
insert into everlore.migration (name, checksum) values (%s, %s);

-- applied_migrations: what was applied, with checksums
select name, checksum from everlore.migration;
