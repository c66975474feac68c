-- missing_roles: those of the named roles that the cluster does not have
select name from unnest(%s::text[]) as name where not exists (select from pg_roles where rolname = name);

-- powers: whether a role is above row-level security, is the owner in all but name, and may plant functions in public
select rolsuper or rolbypassrls, pg_has_role(rolname, 'everlore_owner', 'member'), has_schema_privilege(rolname, 'public', 'create')
from pg_roles where rolname = %s;

-- extensions: of the named extensions those that the server has, with the schema each is installed in here (or null) and the
-- version that is installed, or would be
select a.name, (select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = a.name),
       coalesce(a.installed_version, a.default_version)
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
