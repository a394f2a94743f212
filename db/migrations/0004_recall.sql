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
SET hnsw.ef_search = 100
SET hnsw.max_scan_tuples = 20000
SET enable_sort = on
AS $$
#variable_conflict use_column
DECLARE
  g tokens := current_grant();
  tsq tsquery := any_lexeme(left(recall.query, 10000));
  search org_search := (SELECT s FROM org_search s WHERE s.org_id = g.org_id AND s.stamp = recall.stamp);
  places integer := CASE WHEN numnode(tsq) > 0 THEN 50 ELSE greatest(20, 2 * recall.max_hits) END;
  near uuid[];
  near_scores real[];
  said uuid[];
  said_scores real[];
  newest uuid[];
  visible CONSTANT text := $v$
    m.erased_at IS NULL AND (m.kind = 'rule' OR m.expires_at > now()) AND m.tier = ANY ($2) AND CASE
      WHEN $3::timestamptz IS NULL THEN m.status = 'active'
      ELSE m.status IN ('active', 'superseded') AND m.valid_from <= $3
       AND coalesce(m.valid_to, 'infinity') > $3 END
    AND (m.scope_kind = 'org' OR (m.scope_kind = 'user' AND m.scope_value = $4)
      OR (m.scope_kind = 'agent' AND m.scope_value = $5) OR (m.scope_kind = 'project' AND m.scope_value = $6)
      OR (m.scope_kind = 'workflow' AND m.scope_value = $7)) $v$;
BEGIN
  IF g.id IS NULL THEN
    RAISE EXCEPTION 'no grant: the token is unknown, expired, revoked or made for another door'
      USING ERRCODE = 'insufficient_privilege';
  ELSIF recall.vector IS NOT NULL AND NOT EXISTS (SELECT FROM stamps s WHERE s.id = recall.stamp) THEN
    RAISE EXCEPTION 'a vector needs the stamp it belongs to; there is no stamp %', coalesce(recall.stamp::text, 'given')
      USING ERRCODE = 'invalid_parameter_value';
  ELSIF recall.max_hits NOT BETWEEN 1 AND 100 OR length(recall.query) > 10000 THEN
    RAISE EXCEPTION 'a recall asks for 1 to 100 hits, in at most 10,000 characters'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF recall.vector IS NOT NULL AND search.ann THEN
    -- The index looks at no more rows than would cost about what all the org's cost exactly. Until statistics know how
    -- many rows are in it the planner would sort them instead. Both are undone on return.
    PERFORM set_config('enable_sort', 'off', true),
            set_config('hnsw.max_scan_tuples', greatest(1000, search.embedded / 4)::text, true);
    EXECUTE format($v$
      SELECT array_agg(x.id ORDER BY x.score DESC, x.id), array_agg(x.score ORDER BY x.score DESC, x.id) FROM (
        SELECT m.id, (1 - (e.vector <=> $8))::real AS score
        FROM %I e, LATERAL (SELECT m.id FROM memories m WHERE m.id = e.memory_id AND %s OFFSET 0) m
        WHERE e.org_id = $1 AND e.ann ORDER BY e.vector <=> $8 LIMIT $9) x $v$, 'embeddings_' || recall.stamp, visible)
    INTO near, near_scores
    USING g.org_id, g.tiers, recall.as_of, g.user_id, g.agent, g.project, g.workflow, recall.vector, places;
    PERFORM set_config('enable_sort', 'on', true);
  END IF;
  -- Exactly where the org is small, and where the index gave less than it was asked for, as it does when little of
  -- what lies near is for this reader. Ordered before anything is joined: what may be seen is looked up for the nearest.
  IF recall.vector IS NOT NULL AND coalesce(cardinality(near), 0) < places THEN
    EXECUTE format($v$
      SELECT array_agg(x.id ORDER BY x.score DESC, x.id), array_agg(x.score ORDER BY x.score DESC, x.id) FROM (
        SELECT m.id, (1 - e.distance)::real AS score
        FROM (SELECT e.memory_id, e.vector <=> $8 AS distance FROM %I e WHERE e.org_id = $1
              ORDER BY distance OFFSET 0) e,
        LATERAL (SELECT m.id FROM memories m WHERE m.id = e.memory_id AND %s OFFSET 0) m
        ORDER BY e.distance LIMIT $9) x $v$, 'embeddings_' || recall.stamp, visible)
    INTO near, near_scores
    USING g.org_id, g.tiers, recall.as_of, g.user_id, g.agent, g.project, g.workflow, recall.vector, places;
  END IF;
  IF numnode(tsq) > 0 THEN
    EXECUTE format($l$
      SELECT array_agg(x.id ORDER BY x.score DESC, x.id), array_agg(x.score ORDER BY x.score DESC, x.id) FROM (
        SELECT m.id, ts_rank_cd(m.lexemes, $8, 32)::real AS score FROM memories m
        WHERE m.org_id = $1 AND m.lexemes @@ $8 AND m.status IN ('active', 'superseded') AND %s
        ORDER BY 2 DESC, 1 LIMIT $9) x $l$, visible)
    INTO said, said_scores
    USING g.org_id, g.tiers, recall.as_of, g.user_id, g.agent, g.project, g.workflow, tsq, places;
  END IF;
  IF near IS NULL AND said IS NULL THEN
    EXECUTE format($n$
      SELECT array_agg(x.id ORDER BY x.observed_at DESC, x.id) FROM (
        SELECT m.id, m.observed_at FROM memories m
        WHERE m.org_id = $1 AND m.status IN ('active', 'superseded') AND %s
        ORDER BY m.observed_at DESC, m.id LIMIT $8) x $n$, visible)
    INTO newest
    USING g.org_id, g.tiers, recall.as_of, g.user_id, g.agent, g.project, g.workflow, recall.max_hits;
  END IF;
  RETURN QUERY
    WITH by_vector AS (SELECT * FROM unnest(near, near_scores) WITH ORDINALITY x(id, score, rank)),
    by_lexeme AS (SELECT * FROM unnest(said, said_scores) WITH ORDINALITY x(id, score, rank)),
    fused AS (
      SELECT id, v.score AS vector_score, l.score AS lexical_score,
        v.rank::integer AS vector_rank, l.rank::integer AS lexical_rank,
        (coalesce(recall.vector_weight / (60 + v.rank), 0)
          + coalesce(recall.lexical_weight / (60 + l.rank), 0))::real AS combined
      FROM by_vector v FULL JOIN by_lexeme l USING (id) ORDER BY combined DESC, id LIMIT recall.max_hits),
    -- Looked at again, in the statement that records it: it may have been forgotten since.
    chosen AS MATERIALIZED (
      SELECT f.*, m FROM (SELECT * FROM fused UNION ALL SELECT x, NULL, NULL, NULL, NULL, 0 FROM unnest(newest) x) f
      JOIN memories m ON m.id = f.id AND m.erased_at IS NULL
        AND (m.status = 'active' OR m.status = 'superseded' AND recall.as_of IS NOT NULL)),
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
