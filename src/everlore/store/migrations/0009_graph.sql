-- The graph: where its edges are read from, and names that are only nearly alike.

-- Edges out of an entity, the latest first: however many there are, a walk reads a handful. Edges into one have fact_object_all.
create index fact_subject_all on everlore.fact (workspace_id, subject_id, valid_from) where object_id is not null;

create index entity_short_id on everlore.entity (workspace_id, right(entity_id::text, 8));
create index entity_change_kept on everlore.entity_change (workspace_id, kept_id);
create index entity_change_other on everlore.entity_change (workspace_id, other_id);

-- Aliases that are spelled nearly like the given names. Trigram operators are not leakproof: under row-level security every
-- alias of the workspace would be compared. The function runs as the owner and names the workspace itself. Rows are called dear,
-- so that the trigram index is taken before the table was ever analysed, too.
create function everlore.aliases_similar(names text[], threshold real, at_most integer)
    returns table (name text, entity_id uuid, variant text, weight real, score real)
    language plpgsql stable security definer
    set search_path = everlore, public, pg_temp
    set plan_cache_mode = force_custom_plan
    set pg_trgm.similarity_threshold = 0.3
    set cpu_tuple_cost = 10
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
    begin
        -- Only until the function returns: the setting above is put back then.
        perform set_config('pg_trgm.similarity_threshold', threshold::text, true);
        return query
            select given.name, found.entity_id, found.variant, found.weight, found.score
            from (select g.name, everlore.normalise(g.name) as normal from unnest(names) as g (name)) as given
            cross join lateral (
                select a.entity_id, a.variant, a.weight, similarity(a.normalised, given.normal) as score
                from everlore.alias a
                where a.workspace_id = ws and a.normalised % given.normal
                order by similarity(a.normalised, given.normal) desc, a.alias_id
                limit at_most
            ) as found;
    end $$;

-- Aliases that contain a word, the shortest first: how "Ali" finds "Ali Camarata".
create function everlore.aliases_with_word(words text[], at_most integer)
    returns table (word text, entity_id uuid, variant text, weight real)
    language plpgsql stable security definer
    set search_path = everlore, public, pg_temp
    set plan_cache_mode = force_custom_plan
    set pg_trgm.strict_word_similarity_threshold = 0.999
    set cpu_tuple_cost = 10
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
    begin
        return query
            select given.word, found.entity_id, found.variant, found.weight
            from (select g.word, everlore.normalise(g.word) as normal from unnest(words) as g (word)) as given
            cross join lateral (
                select a.entity_id, a.variant, a.weight
                from everlore.alias a
                where a.workspace_id = ws and a.normalised %>> given.normal
                order by length(a.normalised), a.alias_id
                limit at_most
            ) as found;
    end $$;

-- Entities by the end of their id, as a person types it.
create function everlore.entities_ending(ending text) returns setof uuid
    language plpgsql stable security definer
    set search_path = everlore, pg_temp
    set plan_cache_mode = force_custom_plan
    as $$
    declare
        ws constant uuid := everlore.current_workspace();
        digits constant text := replace(ending, '-', '');
    begin
        return query
            select e.entity_id
            from everlore.entity e
            where e.workspace_id = ws
              and right(e.entity_id::text, 8) = right(digits, 8)
              and right(replace(e.entity_id::text, '-', ''), length(digits)) = digits
            limit 2;
    end $$;

grant execute on function
    everlore.aliases_similar(text[], real, integer), everlore.aliases_with_word(text[], integer),
    everlore.entities_ending(text)
    to everlore_app, everlore_worker;
