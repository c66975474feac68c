"""Every table, view, sequence, function and type of our schemas has a rule, and the application the rights of the rules."""

from typing import LiteralString, cast

from tests.store.two_workspaces import (
    CALLABLE,
    FUNCTIONS,
    GLOBAL_TABLES,
    PRIVILEGES,
    SCHEMAS,
    TABLES,
    TYPES,
    UNIQUE_WITHOUT_WORKSPACE,
    WORKSPACE_TABLES,
    Two,
    listed,
)


def test_every_table_view_and_sequence_has_a_rule(two: Two) -> None:
    # r table, p partitioned, v view, m materialised view, S sequence, f foreign table
    found = listed(
        two,
        "select n.nspname || '.' || c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace "
        "where n.nspname = any (%s) and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')",
    )
    assert found == TABLES.keys()


def test_every_function_has_a_rule(two: Two) -> None:
    found = listed(
        two,
        "select n.nspname || '.' || p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace "
        "where n.nspname = any (%s)",
    )
    assert {name for name in found if not name.startswith("jobs.")} == FUNCTIONS.keys()


def test_every_type_has_a_rule(two: Two) -> None:
    found = listed(
        two,
        "select n.nspname || '.' || t.typname from pg_type t join pg_namespace n on n.oid = t.typnamespace "
        "where n.nspname = any (%s) and t.typcategory <> 'A' "
        "and not exists (select from pg_class c where c.oid = t.typrelid and c.relkind <> 'c')",
    )
    assert found == TYPES.keys()


def test_there_is_no_schema_of_ours_without_rules(two: Two) -> None:
    found = listed(
        two,
        "select nspname from pg_namespace where nspowner = 'everlore_owner'::regrole or nspname = any (%s)",
    )
    assert found == set(SCHEMAS)


def test_operators_casts_and_triggers_of_ours_there_are_none(two: Two) -> None:
    with two.bound(None, superuser=True) as connection:
        for statement in (
            "select oprname from pg_operator where oprowner = 'everlore_owner'::regrole",
            "select tgname from pg_trigger where tgrelid::regclass::text like 'everlore.%' and not tgisinternal",
            "select rulename from pg_rewrite where ev_class::regclass::text like 'everlore.%' and rulename <> '_RETURN'",
        ):
            assert connection.execute(cast("LiteralString", statement)).fetchall() == []


def test_the_application_has_the_rights_of_the_rules_and_no_other(two: Two) -> None:
    with two.bound(None, superuser=True) as connection:
        for table, (_, rights) in TABLES.items():
            if table.endswith("_seq"):
                for right in ("usage", "select", "update"):
                    row = connection.execute(
                        "select has_sequence_privilege('everlore_app', %s, %s)", [table, right]
                    )
                    assert row.fetchone() == (False,), (table, right)
                continue
            for right in PRIVILEGES:
                if right == "maintain" and connection.info.server_version < 170_000:
                    continue
                row = connection.execute(
                    "select has_table_privilege('everlore_app', %s, %s)", [table, right]
                ).fetchone()
                assert row == (right in rights.split(),), (table, right)
            row = connection.execute(
                "select has_any_column_privilege('everlore_app', %s, 'select,insert,update,references')",
                [table],
            ).fetchone()
            assert row == (bool(rights),), table
        functions = connection.execute(
            "select n.nspname || '.' || p.proname, has_function_privilege('everlore_app', p.oid, 'execute'), "
            "has_function_privilege('public', p.oid, 'execute') "
            "from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = any (%s)",
            [SCHEMAS],
        ).fetchall()
        for name, may, everybody in functions:
            assert may == (FUNCTIONS.get(name) in CALLABLE), name
            assert not everybody, name
        schemas = connection.execute(
            "select nspname, has_schema_privilege('everlore_app', oid, 'usage'), "
            "has_schema_privilege('everlore_app', oid, 'create') from pg_namespace where nspname = any (%s)",
            [[*SCHEMAS, "public"]],
        ).fetchall()
        assert set(schemas) == {("everlore", True, False), ("jobs", False, False), ("public", True, False)}


def test_the_application_is_nobody_else(two: Two) -> None:
    with two.bound(None, superuser=True) as connection:
        row = connection.execute(
            "select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication from pg_roles "
            "where rolname = 'everlore_app'"
        ).fetchone()
        assert row == (False,) * 5
        member = connection.execute(
            "select rolname from pg_roles where rolname <> 'everlore_app' and pg_has_role('everlore_app', oid, 'member')"
        ).fetchall()
        assert member == []
        owned = connection.execute(
            "select oid::regclass::text from pg_class where relowner = 'everlore_app'::regrole "
            "and not pg_is_other_temp_schema(relnamespace) union all "
            "select oid::regprocedure::text from pg_proc where proowner = 'everlore_app'::regrole "
            "and not pg_is_other_temp_schema(pronamespace)"
        ).fetchall()
        assert owned == []


def test_every_table_with_a_workspace_is_a_workspace_table_and_has_its_policy(two: Two) -> None:
    with two.bound(None, superuser=True) as connection:
        with_workspace = connection.execute(
            "select n.nspname || '.' || c.relname, c.relrowsecurity from pg_class c "
            "join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid "
            "where n.nspname = any (%s) and c.relkind in ('r', 'p') and a.attname = 'workspace_id'",
            [SCHEMAS],
        ).fetchall()
        guarded = {name for name, (kind, _) in TABLES.items() if kind in ("workspace_table", "partition")}
        assert dict(with_workspace) == dict.fromkeys(guarded, True)
        policies = connection.execute(
            "select schemaname || '.' || tablename, permissive, roles::text, cmd, qual, with_check from pg_policies "
            "where schemaname = any (%s)",
            [SCHEMAS],
        ).fetchall()
        # Without a check of its own, a policy checks new rows by the same condition.
        condition = "(workspace_id = everlore.current_workspace())"
        assert sorted(policies) == [
            (name, "PERMISSIVE", "{public}", "ALL", condition, None) for name in sorted(WORKSPACE_TABLES)
        ]


def test_every_key_begins_with_the_workspace(two: Two) -> None:
    with two.bound(None, superuser=True) as connection:
        for table in WORKSPACE_TABLES:
            indexes = connection.execute(
                "select i.relname, a.attname, x.indisprimary from pg_index x join pg_class i on i.oid = x.indexrelid "
                "left join pg_attribute a on a.attrelid = x.indrelid and a.attnum = x.indkey[0] "
                "where x.indrelid = %s::regclass and (x.indisunique or i.relkind in ('i', 'I'))",
                [table],
            ).fetchall()
            assert any(primary for *_, primary in indexes), f"{table} has no primary key"
            for name, first, _ in indexes:
                assert first == "workspace_id" or name in UNIQUE_WITHOUT_WORKSPACE, (
                    f"{name} begins with {first}"
                )
            keys = connection.execute(
                "select c.conname, a.attname, f.attname, n.nspname || '.' || r.relname from pg_constraint c "
                "join pg_class r on r.oid = c.confrelid join pg_namespace n on n.oid = r.relnamespace "
                "join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1] "
                "join pg_attribute f on f.attrelid = c.confrelid and f.attnum = c.confkey[1] "
                "where c.contype = 'f' and c.conrelid = %s::regclass",
                [table],
            ).fetchall()
            for name, first, there, refers_to in keys:
                assert refers_to in GLOBAL_TABLES or (first, there) == ("workspace_id", "workspace_id"), name


def test_functions_of_the_owner_choose_for_themselves_where_they_look(two: Two) -> None:
    with two.bound(None, superuser=True) as connection:
        functions = connection.execute(
            "select p.oid::regprocedure::text, n.nspname || '.' || p.proname, pg_get_userbyid(p.proowner), "
            "coalesce(p.proconfig, '{}'), coalesce(p.proargnames, '{}'), p.proargtypes::regtype[]::text[], p.proleakproof "
            "from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = any (%s) and p.prosecdef",
            [SCHEMAS],
        ).fetchall()
        assert functions
        for signature, name, owner, settings, arguments, types, leakproof in functions:
            assert owner == "everlore_owner", signature
            assert not leakproof, signature
            path = next(
                (s.removeprefix("search_path=") for s in settings if s.startswith("search_path=")), None
            )
            assert path is not None, f"{signature} looks wherever its caller likes"
            schemas = path.split(", ")
            # Named last, the caller's temporary schema is searched last; not named, it would be searched first.
            assert schemas[-1] == "pg_temp", signature
            for schema in schemas[:-1]:
                row = connection.execute(
                    "select has_schema_privilege('everlore_app', %s, 'create')", [schema]
                ).fetchone()
                assert row == (False,), (
                    f"{signature} looks in {schema}, where the application may plant its own"
                )
            if FUNCTIONS[name] not in ("door", "operator_only"):
                assert not [a for a in arguments if "workspace" in a], signature
                assert types != ["uuid"] or FUNCTIONS[name] == "outbox", signature
