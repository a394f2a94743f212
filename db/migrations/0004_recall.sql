-- What agents read, and the record of what was handed out.

CREATE TABLE recalls (
  id uuid PRIMARY KEY,
  org_id integer NOT NULL REFERENCES orgs,
  token_id uuid NOT NULL,
  actor text NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  mode text NOT NULL CHECK (mode IN ('hybrid', 'lexical', 'newest')),
  as_of timestamptz,
  hits jsonb NOT NULL,
  excluded jsonb NOT NULL,
  block_hash bytea CHECK (length(block_hash) = 32),
  rendered_at timestamptz
);
ALTER TABLE recalls ALTER COLUMN hits SET STATISTICS 0;
CREATE INDEX recalls_at ON recalls (org_id, at);

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

-- Any of the query's lexemes; ranking decides how many matter.
CREATE FUNCTION any_lexeme(query text) RETURNS tsquery LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog AS $$
  SELECT replace(plainto_tsquery('english', query)::text, ' & ', ' | ')::tsquery
$$;

-- Loads the extension's library, so that its settings are known to the function below.
SELECT '[1]'::public.vector;

-- Whether a bearer may be told a memory. Without settings of its own, so that it is taken into the statement it stands in.
CREATE FUNCTION recallable(m memories, g tokens, as_of timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT m.erased_at IS NULL AND (m.kind = 'rule' OR m.expires_at > now()) AND m.tier = ANY (g.tiers)
    AND m.status IN ('active', 'superseded') AND CASE WHEN as_of IS NULL THEN m.status = 'active'
      ELSE m.valid_from <= as_of AND coalesce(m.valid_to, 'infinity') > as_of END
    AND (m.scope_kind = 'org' OR (m.scope_kind = 'user' AND m.scope_value = g.user_id)
      OR (m.scope_kind = 'agent' AND m.scope_value = g.agent)
      OR (m.scope_kind = 'project' AND m.scope_value = g.project)
      OR (m.scope_kind = 'workflow' AND m.scope_value = g.workflow))
$$;

-- Reads and records in one call. The org is an ordinary predicate, so that the indexes are usable; the owner of
-- this function may read memories and insert into recalls, nothing else.
-- Each leg is a statement of its own, planned anew each time (EXECUTE) for the size of this org, and only where it has
-- something to look for: planning all in one statement cost 1.5 ms a call. What comes after goes by primary key, where
-- one plan is right for all.
-- Fusion: weighted reciprocal ranks, k = 60 (Cormack, Clarke, Büttcher 2009).
CREATE FUNCTION recall(
  query text, vector public.vector DEFAULT NULL, stamp integer DEFAULT NULL, max_hits integer DEFAULT 5,
  as_of timestamptz DEFAULT NULL, vector_weight real DEFAULT 1, lexical_weight real DEFAULT 1
) RETURNS TABLE (
  recall_id uuid, mode text, excluded jsonb, memory_id uuid, tier text, kind text, status text, content text,
  author_kind text, author text, subject_type text, subject_id text, observed_at timestamptz,
  valid_from timestamptz, valid_to timestamptz, vector_score real, lexical_score real, combined_score real,
  vector_rank integer, lexical_rank integer, allowed text
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = afterword, public, pg_temp
SET hnsw.iterative_scan = 'relaxed_order'
SET hnsw.ef_search = 200
SET hnsw.max_scan_tuples = 20000
SET enable_sort = on
AS $$
#variable_conflict use_column
DECLARE
  g tokens := current_grant();
  tsq tsquery := CASE WHEN recall.query <> '' THEN any_lexeme(left(recall.query, 10000)) END;
  search org_search := (SELECT s FROM org_search s WHERE s.org_id = g.org_id AND s.stamp = recall.stamp);
  indexed bigint := (SELECT s.indexed FROM stamps s WHERE s.id = recall.stamp);
  space CONSTANT text := 'embeddings_' || recall.stamp;
  places integer := CASE WHEN numnode(tsq) > 0 THEN greatest(50, recall.max_hits) ELSE recall.max_hits END;
  near uuid[];
  distances float8[];
  said uuid[];
  said_scores real[];
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
        FROM %I e, LATERAL (SELECT FROM memories m WHERE m.id = e.memory_id AND recallable(m, $4, $5) OFFSET 0) m
        WHERE e.org_id = $2 AND e.ann ORDER BY e.vector <=> $1 LIMIT $3) x $v$, space)
    INTO near, distances USING recall.vector, g.org_id, places, g, recall.as_of;
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
      SELECT x.* FROM unnest(near, distances) WITH ORDINALITY x(id, distance, n) JOIN memories m ON m.id = x.id
      WHERE recallable(m, g, recall.as_of) ORDER BY x.n LIMIT places) x;
  END IF;
  -- No short answers: where little of what lies near is for this reader, every row of the org is ordered.
  IF recall.vector IS NOT NULL AND NOT all_seen AND coalesce(cardinality(near), 0) < places THEN
    EXECUTE format($v$
      SELECT array_agg(x.id ORDER BY x.distance, x.id), array_agg(x.distance ORDER BY x.distance, x.id) FROM (
        SELECT e.id, e.distance
        FROM (SELECT e.memory_id AS id, e.vector <=> $1 AS distance FROM %I e WHERE e.org_id = $2
              ORDER BY distance OFFSET 0) e,
        LATERAL (SELECT FROM memories m WHERE m.id = e.id AND recallable(m, $4, $5) OFFSET 0) m
        ORDER BY e.distance LIMIT $3) x $v$, space)
    INTO near, distances USING recall.vector, g.org_id, places, g, recall.as_of;
  END IF;
  IF numnode(tsq) > 0 THEN
    EXECUTE $l$
      SELECT array_agg(x.id ORDER BY x.score DESC, x.id), array_agg(x.score ORDER BY x.score DESC, x.id) FROM (
        SELECT m.id, ts_rank_cd(m.lexemes, $1, 32)::real AS score FROM memories m
        WHERE m.org_id = $2 AND m.lexemes @@ $1 AND recallable(m, $4, $5) ORDER BY 2 DESC, 1 LIMIT $3) x $l$
    INTO said, said_scores USING tsq, g.org_id, places, g, recall.as_of;
  END IF;
  IF near IS NULL AND said IS NULL THEN
    EXECUTE $n$
      SELECT array_agg(x.id ORDER BY x.observed_at DESC, x.id) FROM (
        SELECT m.id, m.observed_at FROM memories m WHERE m.org_id = $1 AND recallable(m, $3, $4)
        ORDER BY m.observed_at DESC, m.id LIMIT $2) x $n$
    INTO newest USING g.org_id, recall.max_hits, g, recall.as_of;
  END IF;
  RETURN QUERY
    WITH by_vector AS (SELECT * FROM unnest(near, distances) WITH ORDINALITY x(id, distance, rank)),
    by_lexeme AS (SELECT * FROM unnest(said, said_scores) WITH ORDINALITY x(id, score, rank)),
    fused AS (
      SELECT id, (1 - v.distance)::real AS vector_score, l.score AS lexical_score,
        v.rank::integer AS vector_rank, l.rank::integer AS lexical_rank,
        (coalesce(recall.vector_weight / (60 + v.rank), 0)
          + coalesce(recall.lexical_weight / (60 + l.rank), 0))::real AS combined
      FROM by_vector v FULL JOIN by_lexeme l USING (id) ORDER BY combined DESC, id LIMIT recall.max_hits),
    -- Looked at again, in the statement that records it: it may have been forgotten since.
    chosen AS MATERIALIZED (
      SELECT f.*, m FROM (SELECT * FROM fused UNION ALL SELECT x, NULL, NULL, NULL, NULL, 0 FROM unnest(newest) x) f
      JOIN memories m ON m.id = f.id AND recallable(m, g, recall.as_of)),
    recorded AS (
      INSERT INTO recalls (id, org_id, token_id, actor, mode, as_of, hits, excluded)
      SELECT uuidv7(), g.org_id, g.id, g.actor,
        CASE WHEN near IS NULL AND said IS NULL THEN 'newest' WHEN recall.vector IS NOT NULL THEN 'hybrid'
          ELSE 'lexical' END, recall.as_of,
        coalesce((SELECT jsonb_agg(jsonb_build_object('id', id, 'vector', vector_score, 'lexical', lexical_score,
          'combined', combined) ORDER BY combined DESC, id) FROM chosen), '[]'),
        CASE WHEN recall.vector IS NOT NULL AND search.missing > 0
          THEN jsonb_build_object('unembedded', search.missing) ELSE '{}' END
      RETURNING id, mode, excluded)
    SELECT r.id, r.mode, r.excluded, (m).id, (m).tier, (m).kind, (m).status, (m).content, (m).author_kind, (m).author,
           (m).subject_type, (m).subject_id, (m).observed_at, (m).valid_from, (m).valid_to, c.vector_score,
           c.lexical_score, c.combined, c.vector_rank, c.lexical_rank,
           (m).scope_kind || coalesce('=' || (m).scope_value, '') || ' in ' || (m).namespace
    FROM recorded r LEFT JOIN chosen c ON true
    ORDER BY c.combined DESC, (m).observed_at DESC, (m).id;
END $$;

-- What the model was shown, once the block is rendered: kept beside the recall, written once.
CREATE FUNCTION recall_rendered(recall_id uuid, block_hash bytea) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
BEGIN
  UPDATE recalls r SET block_hash = recall_rendered.block_hash, rendered_at = now()
  WHERE r.id = recall_rendered.recall_id AND r.token_id = (current_grant()).id AND r.block_hash IS NULL;
END $$;
