-- Text functions: one normal form for everything that is searched, the same on both sides of a comparison.

-- unaccent() is only STABLE because somebody could alter its dictionary; we name the dictionary and promise not to.
create function everlore.strip_accents(text) returns text
    language sql immutable strict parallel safe
    as $$ select public.unaccent('public.unaccent'::regdictionary, $1) $$;

-- Lower case, accents stripped, everything that is neither a letter nor a digit (of any script) to single spaces.
create function everlore.normalise(text) returns text
    language sql immutable strict parallel safe
    as $$ select btrim(regexp_replace(public.unaccent('public.unaccent'::regdictionary, lower($1)), '[^[:alnum:]]+', ' ', 'g')) $$;

-- The terms of a text for BM25: English stems and stop words; words of other languages pass as they are.
create function everlore.terms(text) returns tsvector
    language sql immutable strict parallel safe
    as $$ select to_tsvector('pg_catalog.english'::regconfig, everlore.normalise($1)) $$;

-- The words of a question in order, each with its term (null for a stop word).
create function everlore.query_words(question text) returns table (word text, term text)
    language sql immutable strict parallel safe
    as $$
        select w.word, (tsvector_to_array(to_tsvector('pg_catalog.english'::regconfig, w.word)))[1]
        from unnest(string_to_array(everlore.normalise(question), ' ')) with ordinality as w (word, place)
        where w.word <> ''
        order by w.place
    $$;

-- The workspace of this transaction; null when there is none, so that every policy answers "no rows".
create function everlore.current_workspace() returns uuid
    language sql stable parallel safe
    -- Bound here and now, not by the caller's search_path: every policy rests on it.
    return nullif(current_setting('everlore.workspace', true), '')::uuid;
