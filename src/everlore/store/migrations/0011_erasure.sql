-- What comes back from prompts, and what an erasure must reach that the application has no right to.

-- Looked up far more often than written, and never to wait for a vacuum.
alter index everlore.handed_out_shingles set (fastupdate = off);

-- What was handed out and shares a run of words with a text: `&&` is not leakproof, so no policy lets it use the index.
-- The workspace is compared as text: as a key it would lead to the primary key, and so to every row of the workspace, as long as
-- the table was never analysed. Runs are rare enough to find their rows by themselves.
create function everlore.handed_out_alike(runs bigint[]) returns table (text_hash bytea, shingles bigint[])
    language plpgsql stable security definer
    set search_path = everlore, public, pg_temp
    set plan_cache_mode = force_custom_plan
    set enable_seqscan = off
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
    begin
        return query
            select h.text_hash, h.shingles from everlore.handed_out h
            where h.shingles && runs and h.workspace_id::text = ws::text;
    end $$;

-- The audit log may only be added to. An erased thread's name gives way to its id there; what happened and when stays.
create function everlore.erase_from_audit(thread uuid, called text) returns bigint
    language plpgsql volatile security definer
    set search_path = everlore, pg_temp
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
        changed bigint;
    begin
        update everlore.audit_log a
        set subject = case when a.subject = called then thread::text else a.subject end,
            detail = case when a.detail ->> 'thread' = called
                          then jsonb_set(a.detail, '{thread}', to_jsonb(thread::text)) else a.detail end
        where a.workspace_id = ws and (a.subject = called or a.detail ->> 'thread' = called);
        get diagnostics changed = row_count;
        return changed;
    end $$;

-- Why jobs of these threads failed may quote what was said in them: only the kind of the error stays.
create function everlore.erase_from_failures(threads uuid[]) returns bigint
    language plpgsql volatile security definer
    set search_path = everlore, pg_temp
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
        changed bigint;
    begin
        update everlore.job_failure f
        set error = coalesce(substring(f.error from '^[A-Za-z]{1,40}'), 'Error') || ' (the words were erased)'
        from jobs.procrastinate_jobs j
        where j.id = f.job_id and j.args ->> 'workspace_id' = ws::text
          and (j.args ->> 'scope_id' = ws::text or j.args ->> 'scope_id' = any (threads::text[]));
        get diagnostics changed = row_count;
        return changed;
    end $$;

grant execute on function
    everlore.handed_out_alike(bigint[]), everlore.erase_from_audit(uuid, text), everlore.erase_from_failures(uuid[])
    to everlore_app, everlore_worker;
