-- become_owner: see and lock everything, whatever the policies
set role everlore_owner;

-- hold_migrations: nobody migrates meanwhile
select pg_advisory_lock(%(lock)s);

-- may_create_schemas: whether the login may make the two schemas in this database
select has_database_privilege(current_database(), 'create');

-- lock_messages: nobody records until this transaction ends
lock table everlore.message in access exclusive mode;

-- holds_messages: whether there is anything that a restore would replace
select exists (select from everlore.message);

-- drop_schemas: what a migration made in an empty database
drop schema everlore, jobs cascade;

-- applied_names: the migrations that the database has
select name from everlore.migration;

-- count_messages: how many there are, over all workspaces
select count(*) from everlore.message;

-- analyze: a backup brings no statistics, and plans without them are slow
analyze;
