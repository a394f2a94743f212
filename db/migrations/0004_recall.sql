-- What agents read, and the record of what was handed out.

CREATE TABLE recalls (
  id uuid PRIMARY KEY,
  org_id integer NOT NULL REFERENCES orgs,
  token_id uuid NOT NULL,
  actor text NOT NULL,
  agent text,
  project text,
  at timestamptz NOT NULL DEFAULT now(),
  mode text NOT NULL CHECK (mode IN ('hybrid', 'lexical', 'vector', 'newest', 'digest')),
  as_of timestamptz,
  -- What was asked for beside the question, which is not kept: how many, fused how, narrowed by what. A path or a subject
  -- may name somebody, so only that there was one is kept.
  request jsonb NOT NULL DEFAULT '{}',
  hits jsonb NOT NULL,
  -- How many candidates both legs gave, and the first of those that were not handed out.
  candidates integer NOT NULL DEFAULT 0,
  passed_over jsonb NOT NULL DEFAULT '[]',
  excluded jsonb NOT NULL,
  block_hash bytea CHECK (length(block_hash) = 32),
  shown uuid[],
  rendered_at timestamptz
);
ALTER TABLE recalls ALTER COLUMN hits SET STATISTICS 0, ALTER COLUMN passed_over SET STATISTICS 0;
CREATE INDEX recalls_at ON recalls (org_id, at);
CREATE INDEX recalls_silent ON recalls (at) WHERE mode = 'digest' AND hits = '[]';

CREATE VIEW promptable WITH (security_barrier) AS
SELECT m.id, m.tier, m.kind, m.namespace, m.scope_kind, m.scope_value, m.content, m.author_kind, m.author,
       m.subject_type, m.subject_id, m.importance, m.occurrences, m.observed_at, m.valid_from, m.expires_at
FROM memories m
WHERE m.org_id = (SELECT org_id FROM current_grant())
  AND m.status = 'active' AND (m.kind = 'rule' OR m.expires_at > now()) AND m.erased_at IS NULL
  AND m.tier = ANY (SELECT unnest(tiers) FROM current_grant())
  AND (m.scope_kind = 'org'
    OR (m.scope_kind = 'user' AND m.scope_value = (SELECT user_id FROM current_grant()))
    OR (m.scope_kind = 'agent' AND m.scope_value = (SELECT agent FROM current_grant()))
    OR (m.scope_kind = 'project' AND m.scope_value = (SELECT project FROM current_grant()))
    OR (m.scope_kind = 'workflow' AND m.scope_value = (SELECT workflow FROM current_grant())));

-- Any of a text's lexemes.
CREATE FUNCTION any_lexeme(query text) RETURNS tsquery LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog AS $$
  SELECT replace(plainto_tsquery('english', query)::text, ' & ', ' | ')::tsquery
$$;

-- The words of a question, in order; at most 32, so that a long one costs no more than a short one.
CREATE FUNCTION words_asked(query text) RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog AS $$
  SELECT array_agg(x.lexeme) FROM (
    SELECT t.lexeme FROM unnest(to_tsvector('english', query)) t ORDER BY t.positions[1], t.lexeme LIMIT 32) x
$$;

-- One lexeme as a tsquery, whatever characters it is of.
CREATE FUNCTION one_lexeme(lexeme text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog AS $$
  SELECT ('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''')::tsquery
$$;

-- Loads the extension's library, so that its settings are known to the function below.
SELECT '[1]'::public.vector;

-- What a question is narrowed to; null where it is not. A scope is matched by whole segments of its path.
CREATE TYPE narrowing AS (
  kinds text[], scope_kind text, scope_path text, subject_type text, subject_id text, since timestamptz,
  until timestamptz
);

-- Whether a bearer may be told a memory, and asked for it. Without settings of its own, so that it is taken into the
-- statement it stands in.
CREATE FUNCTION recallable(m memories, g tokens, as_of timestamptz, n narrowing) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT m.org_id IS NOT DISTINCT FROM g.org_id AND m.erased_at IS NULL AND (m.kind = 'rule' OR m.expires_at > now()) AND m.tier = ANY (g.tiers)
    AND m.status IN ('active', 'superseded') AND CASE WHEN as_of IS NULL THEN m.status = 'active'
      ELSE m.valid_from <= as_of AND coalesce(m.valid_to, 'infinity') > as_of END
    AND (m.scope_kind = 'org' OR (m.scope_kind = 'user' AND m.scope_value = g.user_id)
      OR (m.scope_kind = 'agent' AND m.scope_value = g.agent)
      OR (m.scope_kind = 'project' AND m.scope_value = g.project)
      OR (m.scope_kind = 'workflow' AND m.scope_value = g.workflow))
    AND (n IS NULL OR ((n.kinds IS NULL OR m.kind = ANY (n.kinds))
      AND (n.scope_kind IS NULL OR m.scope_kind = n.scope_kind)
      AND (n.scope_path IS NULL OR m.scope_value = n.scope_path OR starts_with(m.scope_value, n.scope_path || '/'))
      AND (n.subject_type IS NULL OR (m.subject_type = n.subject_type AND m.subject_id = n.subject_id))
      AND (n.since IS NULL OR m.observed_at >= n.since) AND (n.until IS NULL OR m.observed_at < n.until)))
$$;

-- What a recall was asked for, without what may name somebody.
CREATE FUNCTION asked_for(max_hits integer, fusion text, stamp integer, n narrowing) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
RETURN jsonb_strip_nulls(jsonb_build_object('max_hits', max_hits, 'fusion', fusion, 'stamp', stamp, 'kinds', n.kinds,
  'scope_kind', n.scope_kind, 'path', CASE WHEN n.scope_path IS NOT NULL THEN true END,
  'subject', CASE WHEN n.subject_id IS NOT NULL THEN true END, 'since', n.since, 'until', n.until));

-- The turn a memory of kind `turn` is; the turns a fact cites are read where it is a hit.
CREATE FUNCTION turn_number(evidence jsonb) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (evidence -> 0 ->> 'turn')::integer;
CREATE INDEX memories_turns ON memories (run_id, turn_number(evidence)) WHERE kind = 'turn';

-- Reads and records in one call. The org is an ordinary predicate, so that the indexes are usable; the owner of
-- this function may read memories and insert into recalls, nothing else.
-- Each leg is a statement of its own, run only where it has something to look for. By vector it is planned anew each time
-- (EXECUTE), for the size of this org; words go by their index and what comes after by primary key, where one plan is
-- right for all, and kept: planning it cost more than running it.
-- Words: BM25 (Robertson, Zaragoza 2009; k1 1.2, b 0.5) over presence, since a memory is a sentence or two. A turn
-- is worth half its own words, half those that it or a neighbour says. Rows that words find are looked at by their share
-- of 500: a word that has more finds nothing by itself, only what has it beside another; what is found is scored by it.
-- Fusion. weighted: cosine in standard deviations from the mean of unrelated pairs under this stamp, plus 0.4 of the
-- words' score, measured (docs/measurements.md). rrf: reciprocal ranks, k = 60 (Cormack, Clarke, Büttcher 2009);
-- what a stamp without calibration gets. Among equals the important and the recent come first: 0.05 a step of importance,
-- 0.1 halved every thirty days.
-- Floor: without a word in common, and no nearer than all but one in a hundred unrelated pairs, is not found.
CREATE FUNCTION recall(
  query text, vector public.vector DEFAULT NULL, stamp integer DEFAULT NULL, max_hits integer DEFAULT 5,
  as_of timestamptz DEFAULT NULL, narrowed narrowing DEFAULT NULL, fusion text DEFAULT 'weighted'
) RETURNS TABLE (
  recall_id uuid, mode text, excluded jsonb, memory_id uuid, tier text, kind text, status text, content text,
  author_kind text, author text, subject_type text, subject_id text, observed_at timestamptz,
  valid_from timestamptz, valid_to timestamptz, session text, turns integer[], vector_score real, lexical_score real,
  combined_score real, vector_rank integer, lexical_rank integer, allowed text
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = afterword, public, pg_temp
SET hnsw.iterative_scan = 'relaxed_order'
SET hnsw.ef_search = 200
SET hnsw.max_scan_tuples = 20000
SET enable_sort = on
SET enable_seqscan = off  -- a plan may be kept from when the tables were empty
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
  g tokens := current_grant();
  asked text[] := CASE WHEN recall.query <> '' THEN words_asked(left(recall.query, 10000)) END;
  search org_search := (SELECT s FROM org_search s WHERE s.org_id = g.org_id AND s.stamp = recall.stamp);
  indexed bigint := (SELECT s.indexed FROM stamps s WHERE s.id = recall.stamp);
  spread calibrated := (SELECT c FROM calibrated c WHERE c.stamp = recall.stamp AND c.side = 'query');
  space CONSTANT text := 'embeddings_' || recall.stamp;
  by_rank boolean := recall.fusion = 'rrf' OR (recall.vector IS NOT NULL AND (spread.sd > 0) IS NOT TRUE);
  places integer := CASE WHEN asked IS NOT NULL THEN greatest(20, 2 * recall.max_hits) ELSE recall.max_hits END;
  word_rows integer := greatest(100, 500 / cardinality(asked));
  narrow narrowing := CASE WHEN NOT recall.narrowed IS NULL THEN recall.narrowed END;
  near uuid[];
  distances float8[];
  said uuid[];
  said_scores float8[];
  of_org float8;
  further uuid[];
  further_distances float8[];
  newest uuid[];
  all_seen boolean := false;
BEGIN
  IF g.id IS NULL THEN
    RAISE EXCEPTION 'no grant: the token is unknown, expired, revoked or made for another door'
      USING ERRCODE = 'insufficient_privilege';
  ELSIF recall.vector IS NOT NULL AND indexed IS NULL THEN
    RAISE EXCEPTION 'a vector needs the stamp it belongs to; there is no stamp %', coalesce(recall.stamp::text, 'given')
      USING ERRCODE = 'invalid_parameter_value';
  ELSIF recall.max_hits NOT BETWEEN 1 AND 100 OR length(recall.query) > 10000 THEN
    RAISE EXCEPTION 'a recall asks for 1 to 100 hits, in at most 10,000 characters'
      USING ERRCODE = 'invalid_parameter_value';
  ELSIF recall.fusion NOT IN ('weighted', 'rrf') THEN
    RAISE EXCEPTION 'there are two fusions, weighted and rrf' USING ERRCODE = 'invalid_parameter_value';
  ELSIF NOT (recall.narrowed).kinds <@ '{fact,preference,rule,turn}'::text[] THEN
    RAISE EXCEPTION 'a memory is a fact, preference, rule or turn' USING ERRCODE = 'invalid_parameter_value';
  ELSIF (recall.narrowed).scope_path IS NOT NULL AND (recall.narrowed).scope_kind IS NULL THEN
    RAISE EXCEPTION 'a path is one of a kind of scope: name it too' USING ERRCODE = 'invalid_parameter_value';
  ELSIF (recall.narrowed).subject_id IS NULL <> ((recall.narrowed).subject_type IS NULL) THEN
    RAISE EXCEPTION 'a subject is a type and an id' USING ERRCODE = 'invalid_parameter_value';
  ELSIF (recall.narrowed).since >= (recall.narrowed).until THEN
    RAISE EXCEPTION 'a span of time begins before it ends' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF recall.vector IS NULL THEN
    NULL;
  ELSIF search.ann AND search.embedded::float8 ^ 2 > 8.0 * places * (indexed - search.embedded) THEN
    -- One index serves all large orgs: it meets places * indexed / embedded rows before enough are of this one, each at
    -- the cost of eight in an exact search. It looks at no more than cost as much as an exact search, or twice what it
    -- should need, so that who may see little of the org is answered exactly. The larger the index, the wider it is
    -- searched: at 600,000 rows recall@10 was 0.95 with 200 candidates, 0.99 with 800. Until statistics know how many
    -- rows are in it the planner would sort them instead. All is undone on return.
    PERFORM set_config('enable_sort', 'off', true),
            set_config('hnsw.ef_search', least(1000, greatest(100, indexed / 750,
                       1.5 * places * indexed / search.embedded))::int::text,
                       true),
            set_config('hnsw.max_scan_tuples', greatest(1000, search.embedded / 8,
                       2 * places * indexed / search.embedded)::text, true);
    EXECUTE format($v$
      SELECT array_agg(x.id ORDER BY x.distance, x.id), array_agg(x.distance ORDER BY x.distance, x.id) FROM (
        SELECT e.memory_id AS id, e.vector <=> $1 AS distance
        FROM %I e, LATERAL (SELECT FROM memories m WHERE m.id = e.memory_id AND recallable(m, $4, $5, $6) OFFSET 0) m
        WHERE e.org_id = $2 AND e.ann ORDER BY e.vector <=> $1 LIMIT $3) x $v$, space)
    INTO near, distances USING recall.vector, g.org_id, places, g, recall.as_of, narrow;
    PERFORM set_config('enable_sort', 'on', true);
  ELSE
    -- More than are wanted, and then those that may be told: quicker than to look at the rights to each.
    EXECUTE format($v$
      SELECT array_agg(x.id), array_agg(x.distance) FROM (
        SELECT e.memory_id AS id, e.vector <=> $1 AS distance FROM %I e WHERE e.org_id = $2
        ORDER BY distance, id LIMIT $3) x $v$, space)
    INTO near, distances USING recall.vector, g.org_id, 3 * places;
    all_seen := coalesce(cardinality(near), 0) < 3 * places;
    SELECT array_agg(x.id ORDER BY x.n), array_agg(x.distance ORDER BY x.n) INTO near, distances FROM (
      SELECT x.* FROM unnest(near, distances) WITH ORDINALITY x(id, distance, n), (SELECT g, narrow OFFSET 0) r(g, n), LATERAL (
        SELECT FROM memories m WHERE m.id = x.id AND recallable(m, r.g, recall.as_of, r.n) OFFSET 0) m
      ORDER BY x.n LIMIT places) x;
  END IF;
  -- No short answers: where little of what lies near is for this reader, every row of the org is ordered.
  IF recall.vector IS NOT NULL AND NOT all_seen AND coalesce(cardinality(near), 0) < places THEN
    EXECUTE format($v$
      SELECT array_agg(x.id ORDER BY x.distance, x.id), array_agg(x.distance ORDER BY x.distance, x.id) FROM (
        SELECT e.id, e.distance
        FROM (SELECT e.memory_id AS id, e.vector <=> $1 AS distance FROM %I e WHERE e.org_id = $2
              ORDER BY distance OFFSET 0) e,
        LATERAL (SELECT FROM memories m WHERE m.id = e.id AND recallable(m, $4, $5, $6) OFFSET 0) m
        ORDER BY e.distance LIMIT $3) x $v$, space)
    INTO near, distances USING recall.vector, g.org_id, places, g, recall.as_of, narrow;
  END IF;
  -- Below the floor nothing is found by meaning.
  IF spread.p99 IS NOT NULL THEN
    SELECT array_agg(x.id ORDER BY x.n), array_agg(x.distance ORDER BY x.n) INTO near, distances
    FROM unnest(near, distances) WITH ORDINALITY x(id, distance, n) WHERE 1 - x.distance >= spread.p99;
  END IF;
  IF asked IS NOT NULL THEN
    of_org := greatest(100, (SELECT max(s.embedded + s.missing) FROM org_search s WHERE s.org_id = g.org_id));
    -- A word's memories as the index gives them, as many as its share; where it has more, how many is told by how far into
    -- the table the last one lay. Of such words the two rarest find what has both; where all are such, the rarest finds
    -- what was looked at. Rows of variables are read from `reader`: each use of the variable itself copies it.
    WITH reader(g, n) AS MATERIALIZED (SELECT g, narrow),
    held AS MATERIALIZED (
      SELECT w.word, x.* FROM unnest(asked) WITH ORDINALITY w(lexeme, word), reader r, LATERAL (
        SELECT m.ctid AS place, m.id, length(m.lexemes) AS length, CASE WHEN m.kind = 'turn' THEN m.run_id END AS run,
          CASE WHEN m.kind = 'turn' THEN turn_number(m.evidence) END AS turn
        FROM memories m WHERE org_words(m.org_id, m.lexemes) @> ARRAY[g.org_id || ' ' || w.lexeme]
          AND recallable(m, r.g, recall.as_of, r.n) LIMIT word_rows) x),
    counted AS (
      SELECT word, count(*) >= word_rows AS common, CASE WHEN count(*) < word_rows THEN count(*)
        ELSE greatest(count(*), count(*) * pg_relation_size('memories') / 8192
          / ((max(place)::text::point)[0] + 1)) END AS n
      FROM held GROUP BY word),
    weighed AS MATERIALIZED (
      SELECT word, common, NOT common OR (every(common) OVER () AND row_number() OVER (ORDER BY n) = 1) AS finds,
        ln(1 + (greatest(of_org, max(n) OVER ()) - n + 0.5) / (n + 0.5)) AS weight, one_lexeme(asked[word]) AS lexeme
      FROM counted),
    pair AS (
      SELECT array_agg(g.org_id || ' ' || asked[word]) AS both, array_agg(word) FILTER (WHERE NOT finds) AS words
      FROM (SELECT * FROM weighed WHERE common ORDER BY weight DESC LIMIT 2) x HAVING count(*) = 2),
    together AS (
      SELECT p.words, x.* FROM pair p, reader r, LATERAL (
        SELECT m.ctid AS place, m.id, length(m.lexemes) AS length, CASE WHEN m.kind = 'turn' THEN m.run_id END AS run,
          CASE WHEN m.kind = 'turn' THEN turn_number(m.evidence) END AS turn
        FROM memories m WHERE org_words(m.org_id, m.lexemes) @> p.both
          AND recallable(m, r.g, recall.as_of, r.n) LIMIT word_rows) x),
    finding AS MATERIALIZED (
      SELECT h.place, h.id, h.length, h.run, h.turn, w.word, w.weight FROM held h JOIN weighed w USING (word) WHERE w.finds
      UNION ALL
      SELECT t.place, t.id, t.length, t.run, t.turn, w.word, w.weight FROM together t JOIN weighed w ON w.word = ANY (t.words)),
    own AS (
      SELECT id, place, words, share, share * weight AS score FROM (
        SELECT id, any_value(place) AS place, array_agg(word) AS words, sum(weight) AS weight,
          2.2 / (1 + 1.2 * (0.5 + 0.5 * length / avg(length) OVER ())) / CASE WHEN run IS NULL THEN 1 ELSE 2 END AS share
        FROM finding GROUP BY id, run, length) x
      ORDER BY 5 DESC, 1 LIMIT 4 * places),
    around AS (
      SELECT run, turn, sum(weight) / 2 AS score FROM (
        SELECT DISTINCT f.run, f.turn + d AS turn, f.word, f.weight FROM finding f, generate_series(-1, 1) d
        WHERE f.run IS NOT NULL) y
      GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 2 * places),
    found AS (
      SELECT id, any_value(place) AS place, any_value(words) AS words, coalesce(max(share), 0.5) AS share, sum(score) AS score
      FROM (
        SELECT * FROM own
        UNION ALL
        SELECT m.id, m.place, NULL, NULL, a.score FROM around a, reader r, LATERAL (
          SELECT m.id, m.ctid AS place FROM memories m
          WHERE m.run_id = a.run AND turn_number(m.evidence) = a.turn AND m.kind = 'turn'
            AND recallable(m, r.g, recall.as_of, r.n) OFFSET 0) m) y
      GROUP BY id),
    scored AS (
      SELECT f.id, f.score + CASE WHEN (SELECT bool_or(common) FROM weighed) THEN f.share * (
          SELECT coalesce(sum(w.weight), 0) FROM memories m, weighed w
          WHERE m.ctid = f.place AND w.common AND w.word <> ALL (coalesce(f.words, '{}')) AND m.lexemes @@ w.lexeme)
        ELSE 0 END AS score
      FROM found f ORDER BY 2 DESC, 1 LIMIT places)
    SELECT array_agg(id ORDER BY score DESC, id), array_agg(score ORDER BY score DESC, id) INTO said, said_scores FROM scored;
  END IF;
  -- Both scores of every candidate: how near what the words found is, too.
  IF recall.vector IS NOT NULL AND said IS NOT NULL THEN
    EXECUTE format('SELECT array_agg(e.memory_id), array_agg(e.vector <=> $1) FROM %I e WHERE e.memory_id = ANY ($2)',
                   space) INTO further, further_distances
    USING recall.vector, (SELECT array_agg(x) FROM unnest(said) x WHERE x <> ALL (coalesce(near, '{}')));
  END IF;
  IF near IS NULL AND said IS NULL THEN
    EXECUTE $n$
      SELECT array_agg(x.id ORDER BY x.observed_at DESC, x.id) FROM (
        SELECT m.id, m.observed_at FROM memories m WHERE m.org_id = $1 AND recallable(m, $3, $4, $5)
        ORDER BY m.observed_at DESC, m.id LIMIT $2) x $n$
    INTO newest USING g.org_id, recall.max_hits, g, recall.as_of, narrow;
  END IF;
  RETURN QUERY
    WITH by_vector AS (SELECT * FROM unnest(near, distances) WITH ORDINALITY x(id, distance, rank)),
    by_word AS (SELECT * FROM unnest(said, said_scores) WITH ORDINALITY x(id, score, rank)),
    both_legs AS (
      SELECT id, 1 - coalesce(v.distance, u.distance) AS cosine, l.score::real AS score, v.rank::integer AS vector_rank,
        l.rank::integer AS lexical_rank,
        CASE WHEN NOT by_rank
          THEN coalesce((1 - coalesce(v.distance, u.distance) - spread.mean) / spread.sd, 0) + 0.4 * coalesce(l.score, 0)
          ELSE coalesce(1.0 / (60 + v.rank), 0) + coalesce(1.0 / (60 + l.rank), 0) END AS fused
      FROM by_vector v FULL JOIN by_word l USING (id) LEFT JOIN unnest(further, further_distances) u(id, distance) USING (id)
      UNION ALL SELECT x, NULL, NULL, NULL, NULL, 0 FROM unnest(newest) x),
    -- Looked at again, in the statement that records it: it may have been forgotten since. A turn that a fact among
    -- the candidates cites stands in that fact's place, and the fact in the better of both.
    candidates AS MATERIALIZED (
      SELECT f.*, x.m, x.turns, r.session FROM both_legs f, (SELECT g, narrow OFFSET 0) w(g, n), LATERAL (
        SELECT m, CASE WHEN jsonb_array_length(m.evidence) > 0 THEN
          ARRAY(SELECT DISTINCT (e ->> 'turn')::integer FROM jsonb_array_elements(m.evidence) e ORDER BY 1) END AS turns
        FROM memories m WHERE m.id = f.id AND recallable(m, w.g, recall.as_of, w.n) OFFSET 0) x,
      LATERAL (SELECT r.session FROM runs r WHERE r.id = (x.m).run_id OFFSET 0) r),
    folded AS (
      SELECT c.id AS turn, f.id AS fact, c.fused FROM candidates c JOIN candidates f
        ON (c.m).kind = 'turn' AND (f.m).kind <> 'turn' AND f.session = c.session AND f.turns @> c.turns),
    ranked AS (
      SELECT c.*, (greatest(c.fused, (SELECT max(f.fused) FROM folded f WHERE f.fact = c.id))
        + CASE WHEN NOT by_rank AND newest IS NULL THEN 0.05 * ((c.m).importance - 1)
          + 0.1 * 0.5 ^ least(1000, greatest(0, extract(epoch FROM coalesce(recall.as_of, now()) - (c.m).observed_at))
                    / (30 * 86400)) ELSE 0 END)::real AS combined
      FROM candidates c WHERE c.id NOT IN (SELECT f.turn FROM folded f)),
    chosen AS MATERIALIZED (SELECT * FROM ranked ORDER BY combined DESC, (m).observed_at DESC, id LIMIT recall.max_hits),
    recorded AS (
      INSERT INTO recalls (id, org_id, token_id, actor, agent, project, mode, as_of, request, hits, candidates, passed_over,
        excluded)
      SELECT uuidv7(), g.org_id, g.id, g.actor, g.agent, g.project,
        CASE WHEN near IS NULL AND said IS NULL THEN 'newest' WHEN near IS NULL THEN 'lexical'
          WHEN said IS NULL THEN 'vector' ELSE 'hybrid' END, recall.as_of, asked_for(recall.max_hits,
          CASE WHEN by_rank THEN 'rrf' ELSE 'weighted' END, recall.stamp, recall.narrowed),
        coalesce((SELECT jsonb_agg(jsonb_build_object('id', id, 'vector', cosine, 'lexical', score, 'combined', combined,
          'vector_rank', vector_rank, 'lexical_rank', lexical_rank,
          'allowed', (m).scope_kind || ' in ' || (m).namespace) ORDER BY combined DESC, (m).observed_at DESC, id)
          FROM chosen), '[]'),
        (SELECT count(*) FROM candidates),
        coalesce((SELECT jsonb_agg(jsonb_build_object('id', p.id, 'vector', p.cosine, 'lexical', p.score,
          'vector_rank', p.vector_rank, 'lexical_rank', p.lexical_rank, 'behind', p.fact) ORDER BY p.fused DESC, p.id)
          FROM (SELECT c.*, (SELECT f.fact FROM folded f WHERE f.turn = c.id ORDER BY 1 LIMIT 1) AS fact
                FROM candidates c WHERE c.id NOT IN (SELECT id FROM chosen) ORDER BY c.fused DESC, c.id LIMIT 10) p), '[]'),
        CASE WHEN recall.vector IS NOT NULL AND search.missing > 0
          THEN jsonb_build_object('unembedded', search.missing) ELSE '{}' END
      RETURNING id, mode, excluded)
    SELECT r.id, r.mode, r.excluded, (m).id, (m).tier, (m).kind, (m).status, (m).content, (m).author_kind, (m).author,
           (m).subject_type, (m).subject_id, (m).observed_at, (m).valid_from, (m).valid_to, c.session, c.turns,
           c.cosine::real, c.score, c.combined, c.vector_rank, c.lexical_rank,
           (m).scope_kind || coalesce('=' || (m).scope_value, '') || ' in ' || (m).namespace
    FROM recorded r LEFT JOIN chosen c ON true
    ORDER BY c.combined DESC, (m).observed_at DESC, (m).id;
END $$;

-- What the model was shown, once the block is rendered: kept beside the recall, written once. What the recall did not hand
-- out was not shown by it.
CREATE FUNCTION recall_rendered(recall_id uuid, block_hash bytea, shown uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
BEGIN
  UPDATE recalls r SET block_hash = recall_rendered.block_hash, rendered_at = now(),
    shown = ARRAY(SELECT x FROM unnest(recall_rendered.shown) WITH ORDINALITY u(x, n)
                  WHERE r.hits @> jsonb_build_array(jsonb_build_object('id', x)) ORDER BY n)
  WHERE r.id = recall_rendered.recall_id AND r.token_id = (current_grant()).id AND r.block_hash IS NULL;
END $$;
